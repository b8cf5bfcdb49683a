"""One job, picked among the past ones or described by its fields: its profile, its needs, the jobs alike, and why."""

from __future__ import annotations

import math
import secrets
import time

import pandas as pd
import streamlit as st

from pages._classify.training import View
from pages._frame import cross_link
from pages._frame.cross_link import Link, Parameters
from pages._frame.errors import guard
from pages._parts import clusterings, figures, tables
from workprof.charts.classify.job import additivity, estimate_rows, past_jobs_table, top_three, waterfall
from workprof.charts.profiles.jobs import Selection
from workprof.charts.text import formatted, label, markdown_text, shortened, title, visible
from workprof.core.question import parameters_of
from workprof.core.units import GIB, format_duration, format_share
from workprof.forecasts.encoder import SUBMIT_FIELDS, FieldValues, NumberRange
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.forecaster import Forecasts
from workprof.forecasts.history import TIMES
from workprof.profiles.metadata import NOT_GIVEN
from workprof.profiles.questions import FIT

SOURCE, PAST, FIELDS = "classify_from", "past job", "own fields"
JOB, SEARCH, HITS, ROUND = "classify_job", "classify_search", "classify_hits", "classify_round"
MOST_HITS = 20
LARGEST_SEED = 2**31
CLASS, TARGET = "classify_class", "classify_target"
LIKELIEST = "likeliest"
N_NEAREST = 10
UNSEEN = "unseen value"
MOST_LISTED = 200
LARGEST_GIVEN = 1e15
_GIB = "_gib"


def one_job(view: View) -> None:
    """Show how to give a job, and what is said of it."""
    source = st.segmented_control(
        "The job", (PAST, FIELDS), default=PAST, required=True, key=SOURCE, bind="query-params"
    )
    with guard():
        if source == FIELDS:
            _result(view, _own_fields(view), row_id=None)
            return
        row_id = _picked(view)
        if row_id is None:
            st.info("Search for a job, give its row number, or draw one.", icon=":material/info:")
            return
        _past(view, row_id)


def _picked(view: View) -> int | None:
    """Show the search and the other ways to a past job, and return its row number."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Search past jobs",
            key=SEARCH,
            bind="query-params",
            max_chars=200,
            placeholder="words of job, task, user, group or workload",
            help="Every word must stand in some field of the job. A whole number also finds the row of that number.",
        )
        row_id = st.number_input(
            "Row number",
            min_value=0,
            max_value=max(view.dataset.rows - 1, 0),
            value=None,
            step=1,
            key=JOB,
            bind="query-params",
            width=150,
            placeholder="none",
        )
        st.button("Random job", icon=":material/casino:", key="classify_random", on_click=_draw, args=(view,))
    if text:
        _hits(view, text)
    return None if row_id is None else int(row_id)


def _hits(view: View, text: str) -> None:
    hits = view.visit.workbench.search_jobs(view.dataset.hash, text, MOST_HITS)
    if hits.empty:
        st.caption(f"No job has “{markdown_text(text)}” in its fields.")
        return
    more = f" The first {MOST_HITS}; more words narrow it down." if len(hits) == MOST_HITS else ""
    st.caption(f"{len(hits)} found. Select a line to classify that job.{more}")
    key = f"{HITS}_{st.session_state.get(ROUND, 0)}"
    tables.show(
        hits,
        key=key,
        alt=f"{len(hits)} jobs that match the search",
        height=220 if len(hits) > 5 else "content",
        selection_mode="single-row",
        on_select=lambda: _select(key, hits),
    )


def _select(key: str, hits: pd.DataFrame) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows and rows[0] < len(hits):
        st.session_state[JOB] = int(hits["row_id"].iloc[rows[0]])


def _draw(view: View) -> None:
    with guard():
        st.session_state[JOB] = view.visit.workbench.random_job(view.dataset.hash, secrets.randbelow(LARGEST_SEED))
        st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1  # a new table: its selection is another job


def _past(view: View, row_id: int) -> None:
    past = view.visit.workbench.past_jobs(view.dataset.hash, [row_id])
    known = [name for name in (*SUBMIT_FIELDS, *TIMES) if name in past.columns]
    given = past[known]
    texts = {name: given[name].iloc[0] for name in known}
    told = [f"{name} {shortened(text, 24)}" for name, text in texts.items() if isinstance(text, str)]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Row {row_id}**: {markdown_text(', '.join(told), 300)}", width="stretch")
        st.button("Edit its fields", icon=":material/edit:", key="classify_edit", on_click=_edit, args=(view, given))
    _result(view, given, row_id=row_id, past=past)


def _edit(view: View, given: pd.DataFrame) -> None:
    _fill(view, given)
    st.session_state[SOURCE] = FIELDS


def _result(view: View, job: pd.DataFrame, row_id: int | None, past: pd.DataFrame | None = None) -> None:
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
        figures.show(estimate_rows(said.estimates, 0, view.settings.nominal), key="classify_needs")
    _links(view, int(said.profiles.top[0][0]))
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


def key_of(field: str) -> str:
    """Return the control and the address parameter of a field; memory is given in GiB."""
    return f"classify_{field.removesuffix('_bytes')}{_GIB if field.endswith('_bytes') else ''}"


def _own_fields(view: View) -> pd.DataFrame:
    """Show a control per field and return the job that they describe, as a table of one row."""
    encoder = view.model.encoder
    with st.grid(min_column_width=220, gap="small"):
        values: dict[str, object] = {seen.field: _category(seen) for seen in encoder.categories}
        values |= {number.field: _number(number) for number in encoder.numbers}
    outside = [words for number in encoder.numbers if (words := _outside(number, values[number.field]))]
    if outside:
        st.warning(
            f"Outside what training saw: {'; '.join(outside)}. Trees cannot reach beyond it: the answer is that of the "
            "nearest end.",
            icon=":material/warning:",
        )
    return pd.DataFrame({name: pd.Series([value], dtype="object") for name, value in values.items()})


def _fill(view: View, given: pd.DataFrame) -> None:
    """Make the controls say a job (for a button's `on_click`)."""
    for seen in view.model.encoder.categories:
        value = given[seen.field].iloc[0] if seen.field in given.columns else None
        st.session_state[key_of(seen.field)] = NOT_GIVEN if pd.isna(value) else str(value)
    for number in view.model.encoder.numbers:
        value = given[number.field].iloc[0] if number.field in given.columns else None
        scale = GIB if number.field.endswith("_bytes") else 1
        st.session_state[key_of(number.field)] = None if pd.isna(value) else float(value) / scale


def unknown_text(seen: FieldValues) -> str:
    """Return a text that training did not see in this field."""
    text, known = UNSEEN, {*seen.kept, *seen.rare}
    while text in known:
        text += "?"
    return text


def _category(seen: FieldValues) -> str | None:
    known = (*seen.kept, *seen.rare)
    options = [UNSEEN, NOT_GIVEN, *known[:MOST_LISTED]]
    rest = f" The {MOST_LISTED} most frequent are listed; type any other." if len(known) > MOST_LISTED else ""
    chosen = st.selectbox(
        title(seen.field),
        options,
        index=min(2, len(options) - 1),
        format_func=visible,
        key=key_of(seen.field),
        bind="query-params",
        accept_new_options=True,
        help=f"{len(known):,} values were seen in training.{rest} A text that was not seen counts as unseen.",
    )
    if chosen in (None, NOT_GIVEN):
        return None
    return unknown_text(seen) if chosen == UNSEEN else str(chosen)


def _number(number: NumberRange) -> float | None:
    scale = GIB if number.field.endswith("_bytes") else 1
    given = st.number_input(
        title(number.field, "GiB") if scale == GIB else title(number.field),
        min_value=-LARGEST_GIVEN,
        max_value=LARGEST_GIVEN,
        value=None,
        format="%.8g",
        key=key_of(number.field),
        bind="query-params",
        placeholder=NOT_GIVEN,
        help=f"In training: {_ends(number)}. Empty: not given.",
    )
    return None if given is None else float(given) * scale


def _ends(number: NumberRange) -> str:
    if math.isnan(number.lowest):
        return "never given"
    return f"{formatted(number.field, number.lowest)} to {formatted(number.field, number.highest)}"


def _outside(number: NumberRange, value: object) -> str:
    """Return what is out of range, '' where nothing is."""
    if not isinstance(value, float) or math.isnan(number.lowest) or number.lowest <= value <= number.highest:
        return ""
    return markdown_text(f"{label(number.field)} {formatted(number.field, value)} (training: {_ends(number)})", 160)


def _links(view: View, profile: int) -> None:
    """Show the links of a profile."""
    name, dataset = markdown_text(view.naming.name(profile), 40), view.dataset.hash
    with st.container(horizontal=True, gap="small"):
        cross_link.follow(
            Link(f"Jobs of {name}", "profiles", dataset, _jobs_of(view, profile), "list", "On the profiles' map."),
            "classify_to_profile",
        )
        cross_link.follow(
            Link("Durations of the profiles", "durations", dataset, _durations(view), "timer", "How long each takes."),
            "classify_to_durations",
        )


def _jobs_of(view: View, profile: int) -> Parameters:
    """Return the clustering that was learned, its map, and the profile's rows on it."""
    selected = Selection(profiles=(profile,)).text()
    settings = parameters_of(FIT, view.settings.classifier.profiles)
    return {**settings, "profiles_tab": "Map", "profiles_selected": selected}


def _durations(view: View) -> Parameters:
    fit = view.visit.workbench.profiles.cached(view.dataset.hash, view.settings.classifier.profiles).result
    if fit is None:
        return {"durations_by": "profile"}
    name = clusterings.name_of(view.visit, view.dataset, fit.settings)
    return {"durations_by": "profile", "durations_clustering": name}
