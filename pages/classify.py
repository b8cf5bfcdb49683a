"""Classify: which profile will this job have, what will it need, and how far can that be believed?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._classify import batch, feedback, form, job, model, training
from pages._classify.view import View
from pages._frame import header, reset
from pages._frame.visit import Visit
from pages._parts import tabs
from workprof.charts.classify.job import PUBLISHED, Naming
from workprof.charts.profiles.overview import profile_names
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Classify",
    "Which profile will this job have, what will it need, and how far can that be believed?",
    "Classifying needs a dataset with submit-time metadata (job name, user, task, group or workload, or the plan) and "
    "profiles of its jobs.",
)
VIEWS = {
    "One job": job.one_job,
    "Batch": batch.batch,
    "Model": model.model,
    "Finished jobs": feedback.feedback,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the settings, the way to a trained classifier, and what it says."""
    reset.reset("classify")
    asked = form.form(visit, dataset)
    if asked.classifier.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    loaded = training.trained(visit, dataset, asked)
    if loaded is None:
        return
    view = View(visit, dataset, asked, loaded, _naming(visit, dataset, asked))
    tabs.show_open("classify_tab", VIEWS, view)


def _naming(visit: Visit, dataset: Dataset, asked: ForecasterSettings) -> Naming:
    """Return what the profiles are called, with the names that users gave."""
    profiles = asked.classifier.profiles
    fit = visit.workbench.profiles.cached(dataset.hash, profiles).result
    names = profile_names(fit, visit.workbench.profile_notes(dataset.hash, profiles)) if fit else {}
    return Naming(names, asked.classifier.mode)


_shell.run(PAGE, body)
