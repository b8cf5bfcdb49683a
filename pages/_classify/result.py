"""What is said of one job: its profile, its needs, the past jobs alike, and why."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from pages._classify import links
from pages._classify.view import View
from pages._parts import figures
from workprof.charts.classify.job import additivity, estimate_rows, past_jobs_table, top_three, waterfall
from workprof.charts.text import formatted, label, markdown_text, visible
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.forecaster import Forecasts
from workprof.units import format_duration, format_share

CLASS, TARGET = "classify_class", "classify_target"
LIKELIEST = "likeliest"
N_NEAREST = 10


def result(view: View, job: pd.DataFrame, row_id: int | None, past: pd.DataFrame | None = None) -> None:
    """Show everything about a job; `past` is its row with what really happened, where it is a past one."""
    started = time.perf_counter()
    said = view.loaded.forecast(job)
    tuning = view.model.tuning
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("Profile")
        figures.show(top_three(said.profiles, 0, tuning.threshold, view.naming), key="classify_top")
    with right:
        st.header("What it will need")
        figures.show(estimate_rows(said.estimates, 0, view.settings.nominal, view.naming), key="classify_needs")
    links.links(view, int(said.profiles.top[0][0]))
    if past is not None and row_id is not None:
        _what_happened(view, row_id, past)
    _why(view, job)
    _nearest(view, job, said)
    st.caption(f"Answered in {format_duration(time.perf_counter() - started)} on this server.")


def _what_happened(view: View, row_id: int, past: pd.DataFrame) -> None:
    """Show what the past job really was, and that training knew it."""
    profile = _profiles(view).get(row_id)
    found = [f"{label(name)} {formatted(name, float(past[name].iloc[0]))}" for name in TARGETS if name in past.columns]
    truth = "not clustered" if profile is None else view.naming.name(profile)
    st.markdown(f"**What really happened:** {markdown_text('; '.join([truth, *found]), 300)}.")
    st.caption(
        "Training saw this job too, so the answer is better than for a new one; the Model tab tells how good it is for "
        "those."
    )


def _why(view: View, job: pd.DataFrame) -> None:
    st.header("Why")
    classes = [int(profile) for profile in view.model.classes]
    names = {LIKELIEST: None} | {f"{view.naming.name(profile)} ({profile})": profile for profile in classes}
    chosen = st.selectbox(
        "Class that is explained",
        list(names),
        format_func=visible,
        key=CLASS,
        bind="query-params",
        width=300,
        help="Why, or why not.",
    )
    found = view.loaded.explain(job, names[chosen])
    if not found.additive:
        st.warning(f"{additivity(found)} The figure is left out: it would be wrong.", icon=":material/warning:")
        return
    st.markdown(
        f"Class **{markdown_text(view.naming.name(found.profile))}**, probability {format_share(found.probability)}: "
        f"score {found.output:.2f}, expected {found.base:.2f}."
    )
    figures.show(waterfall(found, view.naming), key="classify_waterfall")
    st.markdown("\n".join(f"- {markdown_text(sentence, 200)}" for sentence in found.sentences))


def _nearest(view: View, job: pd.DataFrame, said: Forecasts) -> None:
    st.header("Nearest past jobs")
    if not said.estimates:
        st.caption("No target can be estimated for this dataset, so there are no weights.")
        return
    target = st.selectbox(
        "That weigh most in the estimate of",
        list(said.estimates),
        format_func=label,
        key=TARGET,
        bind="query-params",
        width=300,
    )
    nearest = view.loaded.nearest(job, target, N_NEAREST)
    past = view.visit.workbench.past_jobs(view.dataset.hash, nearest.positions.tolist())
    table = past_jobs_table(past, nearest, _profiles(view), view.naming)
    figures.table(table, "nearest-jobs", key="classify_nearest", alt=f"{len(table)} past jobs, the heaviest first")


def _profiles(view: View) -> dict[int, int]:
    """Return row id -> profile of the clustering that was learned."""
    found = view.visit.workbench.profiles.cached(view.dataset.hash, view.settings.classifier.profiles).result
    if found is None:
        return {}
    return dict(zip(found.row_ids.tolist(), found.labels.tolist(), strict=True))
