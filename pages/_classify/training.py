"""From settings to a trained forecaster: what is missing, the button that starts it, the running job."""

from __future__ import annotations

import streamlit as st

from pages._classify import learned_profiles
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import earlier_result, running_work
from workprof.forecasts import questions
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.units import format_duration

PROFILES = "pages/profiles.py"


def trained(visit: Visit, dataset: Dataset, asked: ForecasterSettings) -> LoadedForecaster | None:
    """Return the forecaster with its trees in memory; where there is none, show the next step."""
    answer = visit.workbench.forecaster.cached(dataset.hash, asked)
    if answer.result is not None:
        return visit.workbench.loaded_forecaster(dataset.hash, asked)
    profiles = asked.classifier.profiles
    if visit.workbench.profiles.cached(dataset.hash, profiles).result is None:
        _profiles_first(visit, dataset, profiles)
        return None
    running = answer.job is not None and answer.job.active
    running_work.job_panel(visit.house, answer.job, "Training")
    if not running:
        _offer(visit, dataset, asked)
    return None


def _offer(visit: Visit, dataset: Dataset, asked: ForecasterSettings) -> None:
    """Show what will be learned, and the button that starts it."""
    with st.container(border=True):
        learned = learned_profiles.words(asked.classifier.profiles, visit, dataset)
        st.markdown(
            f"No classifier with these settings yet. It learns to tell the **{learned}** of this dataset from what is "
            f"known when a job is submitted, and what each job will need. {_earlier_times(visit)}"
        )
        if st.button("Train on current profiles", type="primary", icon=":material/model_training:"):
            with guard():
                visit.workbench.forecaster.start(dataset.hash, asked)
                st.rerun()


def _earlier_times(visit: Visit) -> str:
    """Return what the last training here took."""
    runs = earlier_result.runs(visit, questions.FORECASTER.name)
    if not runs:
        return "No training ran here yet; 15,000 rows take some minutes."
    last = runs[0]
    return f"The last training here took {format_duration(last.seconds)} on {last.n_rows:,} rows."


def _profiles_first(visit: Visit, dataset: Dataset, settings: ProfileSettings) -> None:
    """Show that the profiles are missing, and two ways to them."""
    job = visit.workbench.profiles.cached(dataset.hash, settings).job
    st.info(
        "A classifier learns profiles, and this dataset has none with these settings yet: find them first, here or on "
        "the Profiles page.",
        icon=":material/info:",
    )
    running_work.job_panel(visit.house, job, "Finding profiles")
    if job is not None and job.active:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Find profiles", type="primary", icon=":material/play_arrow:"):
            with guard():
                visit.workbench.profiles.start(dataset.hash, settings)
                st.rerun()
        st.page_link(PROFILES, label="Open the Profiles page", icon=":material/bubble_chart:")
