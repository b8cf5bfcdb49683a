"""From settings to a trained forecaster: what it predicts, how long training takes, the button, the running jobs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from pages._frame import link
from pages._frame.errors import guard, lacking
from pages._frame.visit import Visit
from pages._parts import figures, forms, running_work
from workprof.answers.forecasts import Naming
from workprof.answers.how_long import training_time
from workprof.core.fields import read, write
from workprof.forecasts import questions
from workprof.forecasts.classifier import ClassifierModel
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench.forecasts import LoadedHeldOut

PROFILES_PAGE = "pages/profiles.py"
LEARNED = questions.FORECASTER.leaf("classifier.profiles")
SHOWN = "profiles_shown"
MODE_BEFORE = "classify_mode_before"
TRAIN_NEXT = "classify_train_next"
"""Dataset and settings that one button finds profiles for and then trains."""


@dataclass(frozen=True)
class View:
    """A trained forecaster on the page, the one that did not see some jobs, and what the profiles are called."""

    visit: Visit
    dataset: Dataset
    settings: ForecasterSettings
    loaded: LoadedForecaster
    held_out: LoadedHeldOut | None
    naming: Naming

    @property
    def model(self) -> ClassifierModel:
        """The classifier."""
        return self.loaded.forecaster.classifier


def form(visit: Visit, dataset: Dataset) -> ForecasterSettings:
    """Show the settings of a forecaster and return them; nothing is trained before a button says so.

    Raises:
        SettingsError: when they cannot be used.
    """
    return forms.settings(
        visit,
        dataset,
        questions.FORECASTER,
        main=("classifier.mode", "classifier.profiles", "classifier.fields"),
        own={LEARNED.path: partial(_profiles_learned, dataset)},
    )


def _profiles_learned(dataset: Dataset) -> ProfileSettings:
    """Return the clustering of the link, else that last shown on the Profiles page, else the mode's default one.

    It has no control here: the Profiles page has them. The address names it where it is not the default.
    """
    key, mode = LEARNED.key(questions.CLASSIFY), st.session_state["classify_mode"]
    other_mode = st.session_state.get(MODE_BEFORE, mode) != mode
    st.session_state[MODE_BEFORE] = mode
    settings: ProfileSettings | None = None if other_mode else link.read(key, partial(read, LEARNED), None)
    if settings is None:
        of_dataset, shown = st.session_state.get(SHOWN, ("", None))
        fits = of_dataset == dataset.hash and shown.mode == mode
        settings = shown if fits else ProfileSettings(mode=mode)
    text = "" if settings == ProfileSettings(mode=mode) else write(LEARNED, settings)
    if not text:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != text:
        st.query_params[key] = text
    return settings


def trained(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> LoadedForecaster | None:
    """Return the forecaster with its trees in memory; where there is none, show the next step."""
    result = visit.workbench.forecaster.cached(dataset.hash, settings)
    if result.result is not None:
        return visit.workbench.loaded_forecaster(dataset.hash, settings)
    profiles = settings.classifier.profiles
    if visit.workbench.profiles.cached(dataset.hash, profiles).result is None:
        _profiles_first(visit, dataset, settings)
        return None
    if st.session_state.get(TRAIN_NEXT) == (dataset.hash, settings):
        del st.session_state[TRAIN_NEXT]
        _train(visit, dataset, settings)
        st.rerun()
    if result.job is None or not result.job.active:
        _offer(visit, dataset, settings)
    running_work.job_panel(visit.app_state, result.job, "Training")
    return None


def _offer(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Show what a classifier gives, how long training takes here, and the button that starts it."""
    learned = _words(settings.classifier.profiles, visit, dataset)
    figures.headline("Train a model that predicts a job's profile, duration and memory before it runs.")
    st.markdown(
        f"It learns **{learned}** from fields known at submission. You get each prediction with an interval, the "
        f"reasons for it, and its reliability on jobs that were held out. {_takes(visit, dataset)}"
    )
    if st.button("Train classifier", type="primary", icon=":material/model_training:"):
        with guard():
            _train(visit, dataset, settings)
            st.rerun()


def _train(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    visit.workbench.forecaster.start(dataset.hash, settings)
    start_checks(visit, dataset, settings)


def start_checks(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Start what the predictions are checked with: held-out jobs, and validation under every split."""
    visit.workbench.held_out.start(dataset.hash, settings)
    if visit.workbench.classifier_evaluation.cached(dataset.hash, settings.classifier).result is None:
        visit.workbench.classifier_evaluation.start(dataset.hash, settings.classifier)


def _profiles_first(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Show that the profiles are missing: one button finds them and trains, a link leads to their page."""
    profiles = settings.classifier.profiles
    result = visit.workbench.profiles.cached(dataset.hash, profiles)
    if result.refusal:
        lacking(f"a classifier learns profiles, and this dataset can have none: {result.refusal}")
        return
    figures.headline("Find profiles, then train a model that predicts a job's profile before it runs.")
    running = result.job is not None and result.job.active
    if not running:
        st.session_state.pop(TRAIN_NEXT, None)
        st.markdown(f"This dataset has no profiles with these settings yet. {_takes(visit, dataset)}")
    running_work.job_panel(visit.app_state, result.job, "Finding profiles")
    if running:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Find profiles and train", type="primary", icon=":material/play_arrow:"):
            with guard():
                visit.workbench.profiles.start(dataset.hash, profiles)
                st.session_state[TRAIN_NEXT] = (dataset.hash, settings)
                st.rerun()
        st.page_link(PROFILES_PAGE, label="Open the Profiles page", icon=":material/bubble_chart:")


def _words(settings: ProfileSettings, visit: Visit, dataset: Dataset) -> str:
    """Return which profiles these are, for people."""
    fit = visit.workbench.profiles.cached(dataset.hash, settings).result
    size = f"at least {settings.min_cluster_size:,} runs each" if settings.min_cluster_size else "default size"
    what = f"{settings.algorithm.upper()}, {settings.metric.capitalize()}, {size}"
    return f"{fit.scores.n_clusters} profiles ({what})" if fit else f"profiles ({what})"


def _takes(visit: Visit, dataset: Dataset) -> str:
    return training_time(running_work.earlier(visit, questions.FORECASTER.name), dataset.finished_rows)
