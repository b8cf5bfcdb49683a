"""From settings to a trained forecaster: what it predicts, how long training takes, the button, the running jobs."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from pages._frame import link
from pages._frame.errors import lacking
from pages._frame.visit import Visit
from pages._parts import clusterings, figures, forms, long_question
from pages._parts.long_question import LongQuestion
from workprof.answers.durations import ObservedView, group_names
from workprof.answers.forecasts import Naming
from workprof.charts.durations.observed import observed_ecdf
from workprof.core.fields import read, write
from workprof.forecasts import questions
from workprof.forecasts.classifier import ClassifierModel, ClassifierSettings
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import EVERYTHING, DurationSettings
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.forecasts.held_out import HeldOut
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench.forecasts import LoadedHeldOut

PROFILES_PAGE = "pages/profiles.py"
LEARNED = questions.FORECASTER.leaf("classifier.profiles")
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
    """Return the clustering of the link, else that of every page, else the mode's default one.

    It has no control here: the Profiles page has them. The address names it where it is not the default.
    """
    key, mode = LEARNED.key(questions.CLASSIFY), st.session_state["classify_mode"]
    other_mode = st.session_state.get(MODE_BEFORE, mode) != mode
    st.session_state[MODE_BEFORE] = mode
    settings: ProfileSettings | None = None if other_mode else link.read(key, partial(read, LEARNED), None)
    if settings is None:
        used = clusterings.everywhere(dataset)
        settings = used if used.mode == mode else ProfileSettings(mode=mode)
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
    figures.headline("A model predicts a job's profile, duration and memory before it runs.")
    learned = _words(settings.classifier.profiles, visit, dataset)
    question = LongQuestion(
        "classify_train",
        settings,
        visit.workbench.forecaster,
        "Train classifier",
        lambda: f"It learns **{learned}** from fields known at submission; predictions have intervals and reasons.",
        "Training",
        icon=":material/model_training:",
        pressed=partial(_start_checks, visit, dataset, settings),
    )
    long_question.work(visit, dataset, question, result)
    _meanwhile(visit, dataset)
    return None


def _meanwhile(visit: Visit, dataset: Dataset) -> None:
    """Show what is known without a model: how long the runs took, by task where they have any."""
    columns = {column.name for column in visit.workbench.columns(dataset.hash)}
    if "duration_s" not in columns:
        return
    by = next((name for name in ("task_name", "workload", "user") if name in columns), EVERYTHING)
    known = visit.workbench.observed_durations(dataset.hash, DurationSettings(by=by))
    st.caption("Meanwhile: how long the runs of this dataset took.")
    figures.show(observed_ecdf(known, group_names(known), ObservedView()), key="classify_meanwhile")


def _train(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    visit.workbench.forecaster.start(dataset.hash, settings)
    _start_checks(visit, dataset, settings)


def _start_checks(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    visit.workbench.held_out.start(dataset.hash, settings)
    _validate(visit, dataset, settings.classifier)


def _validate(visit: Visit, dataset: Dataset, settings: ClassifierSettings) -> None:
    if visit.workbench.classifier_evaluation.cached(dataset.hash, settings).result is None:
        visit.workbench.classifier_evaluation.start(dataset.hash, settings)


def checks(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Show the work that checks the predictions, held-out jobs and validation under every split, until it is done."""
    offer_held_out(visit, dataset, settings)
    long_question.offer(visit, dataset, validation(visit, settings.classifier))


def offer_held_out(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Show the work that holds jobs out, until it is done."""
    held: LongQuestion[ForecasterSettings, HeldOut] = LongQuestion(
        "classify_check",
        settings,
        visit.workbench.held_out,
        "Hold out jobs",
        lambda: "Nothing was held out yet: a training without one job in twenty predicts these.",
        "Predicting held-out jobs",
        icon=":material/fact_check:",
        pressed=lambda: _validate(visit, dataset, settings.classifier),
    )
    long_question.offer(visit, dataset, held)


def validation(visit: Visit, settings: ClassifierSettings) -> LongQuestion[Any, ClassifierEvaluation]:
    """Return the question how often the predicted profile is correct."""
    return LongQuestion(
        "classify_validate",
        settings,
        visit.workbench.classifier_evaluation,
        "Validate under four splits",
        lambda: "Not validated yet. It is tested under four splits: random (as published), by job, group and time.",
        "Validating the classifier",
    )


def _profiles_first(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> None:
    """Show that the profiles are missing: one button finds them and trains, a link leads to their page."""
    profiles = settings.classifier.profiles
    result = visit.workbench.profiles.cached(dataset.hash, profiles)
    if result.refusal:
        lacking(f"a classifier learns profiles, and this dataset can have none: {result.refusal}")
        return
    figures.headline("Find profiles, then train a model that predicts a job's profile before it runs.")
    words = "This dataset has no profiles with these settings yet."
    question = clusterings.found_by("classify_find", visit, dataset, profiles, "Find profiles and train", words)
    question = replace(question, pressed=lambda: st.session_state.update({TRAIN_NEXT: (dataset.hash, settings)}))
    if not long_question.work(visit, dataset, question, result):
        st.page_link(PROFILES_PAGE, label="Open the Profiles page", icon=":material/bubble_chart:")
    _meanwhile(visit, dataset)


def _words(settings: ProfileSettings, visit: Visit, dataset: Dataset) -> str:
    """Return which profiles these are, for people."""
    fit = visit.workbench.profiles.cached(dataset.hash, settings).result
    size = f"at least {settings.min_cluster_size:,} runs each" if settings.min_cluster_size else "default size"
    what = f"{settings.algorithm.upper()}, {settings.metric.capitalize()}, {size}"
    return f"{fit.scores.n_clusters} profiles ({what})" if fit else f"profiles ({what})"
