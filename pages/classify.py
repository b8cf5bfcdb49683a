"""Classify: a job's profile, duration and memory before it runs, and how reliable that is."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._classify import batch, drift, model, one_job, training
from pages._frame import header
from pages._frame.visit import Visit
from pages._parts import controls, forms, tabs
from workprof.answers.forecasts import PUBLISHED, Naming
from workprof.charts.profiles.overview import profile_names
from workprof.forecasts import questions
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Classify",
    "Predict a job's profile, duration and memory before it runs.",
    "Classifying needs a dataset with submit-time metadata (job name, user, task, group or workload, or the request) "
    "and profiles of its jobs.",
    resets=True,
)
OF_PAGE = [one for one in questions.QUESTIONS if one.page == questions.CLASSIFY]
VIEWS = {
    "One job": one_job.one_job,
    "Batch": batch.batch,
    "Model": model.model,
    "Drift": drift.drift,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the views of a trained classifier, or the way to one; its settings fold below."""
    forms.arrive(questions.CLASSIFY, (*OF_PAGE, questions.OBSERVE))
    above = st.container()
    with controls.fold("Classifier settings", "classify_settings"):
        settings = training.form(visit, dataset)
    with above:
        if settings.classifier.mode == "faithful":
            header.published_flag()
            st.caption(PUBLISHED)
        loaded = training.trained(visit, dataset, settings)
        if loaded is None:
            return
        held_out = visit.workbench.loaded_held_out(dataset.hash, settings)
        naming = _naming(visit, dataset, settings)
        tabs.show_open("classify_tab", VIEWS, training.View(visit, dataset, settings, loaded, held_out, naming))


def _naming(visit: Visit, dataset: Dataset, settings: ForecasterSettings) -> Naming:
    """Return what the profiles are called, with the names that users gave."""
    profiles = settings.classifier.profiles
    fit = visit.workbench.profiles.cached(dataset.hash, profiles).result
    names = profile_names(fit, visit.workbench.profile_notes(dataset.hash, profiles)) if fit else {}
    return Naming(names, settings.classifier.mode)


_shell.run(PAGE, body)
