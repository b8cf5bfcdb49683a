"""The live prediction of the tour: a job that training never saw, what is predicted of it, and what really happened."""

import secrets
from typing import Any

import streamlit as st

from pages._frame.visit import AppState
from pages._parts import figures, running_work
from workprof.answers.forecasts import Naming, forecast_sentence, hit_sentence
from workprof.charts.classify.job import top_three
from workprof.charts.profiles.overview import profile_names
from workprof.core.arrays import SUBMITTED
from workprof.core.words import markdown_text
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimates import what_happened
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.workbench.forecasts import LoadedHeldOut

JOB = "tour_job"


def live(app_state: AppState, dataset: str) -> None:
    """Show a prediction with a button for another job; until jobs are held out, the button that does that."""
    held = app_state.workbench.loaded_held_out(dataset, ForecasterSettings())
    if held is not None:
        _predicted(app_state, dataset, held)
        return
    result = app_state.workbench.held_out.cached(dataset, ForecasterSettings())
    running = result.job is not None and result.job.active
    if not running and not app_state.settings.readonly:
        words = "Trains without one job in twenty, about two minutes; then each of those jobs can be predicted here."
        if st.button(
            "Hold out jobs to predict live", key="tour_hold_out", icon=":material/model_training:", help=words
        ):
            app_state.workbench.held_out.start(dataset, ForecasterSettings())
            st.rerun()
    running_work.job_panel(app_state, result.job, "Holding out jobs")


def _predicted(app_state: AppState, dataset: str, held: LoadedHeldOut) -> None:
    workbench, rows = app_state.workbench, held.held_out.row_ids.tolist()
    drawn: Any = st.session_state.get(JOB)
    row_id: int = drawn if drawn in rows else held.held_out.example
    past = workbench.past_jobs(dataset, [row_id])
    forecasts = held.forecaster.forecast(past[[name for name in (*SUBMIT_FIELDS, *SUBMITTED) if name in past.columns]])
    classifier = held.forecaster.forecaster.classifier
    fit = workbench.profiles(dataset, classifier.settings.profiles)
    named = profile_names(fit, workbench.profile_notes(dataset, classifier.settings.profiles))
    naming = Naming(named, classifier.settings.mode)
    profile = dict(zip(fit.row_ids.tolist(), fit.labels.tolist(), strict=True)).get(row_id)
    words, button = st.columns([4, 1], vertical_alignment="center")
    sentence = forecast_sentence(forecasts, naming, f"Held-out run {row_id}", what_happened(past), profile)
    words.markdown(f"**Live.** {markdown_text(sentence, 400)}")
    for target in held.held_out.compared:
        words.caption(markdown_text(hit_sentence(held.held_out, target), 300))
    with button:
        st.button("Another job", key="tour_another", icon=":material/casino:", on_click=_draw, args=(rows,))
    figures.small(top_three(forecasts.profiles, 0, classifier.tuning.threshold, naming), key="tour_top_three")


def _draw(rows: list[int]) -> None:
    """Make another run of a held-out job the one that is predicted (a callback)."""
    st.session_state[JOB] = int(secrets.choice(rows))
