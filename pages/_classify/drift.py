"""Drift: finished jobs compared with their predictions, and whether another clustering is due."""

from pathlib import Path

import streamlit as st

from pages._classify.training import View, offer_held_out
from pages._frame.errors import guard
from pages._parts import controls, figures, forms, long_question, running_work, tables
from pages._parts.long_question import LongQuestion
from workprof.answers.feedback import (
    advice_sentence,
    drift_table,
    feedback_figures,
    needs_table,
    observed_sentence,
    observed_words,
)
from workprof.charts.classify.held_out import held_out_scatter
from workprof.charts.feedback import acquires_history, drift_bars
from workprof.core.progress import Progress
from workprof.core.text import visible
from workprof.core.words import label, markdown_text
from workprof.forecasts import questions
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.feedback.drift import FeedbackNow
from workprof.forecasts.feedback.loop import FeedbackSettings, Observed
from workprof.forecasts.feedback.model import RefitSettings
from workprof.inputs import spool_upload
from workprof.profiles.names import with_names

FILE, DATASET = "file", "dataset"
WORK = "work_feedback"
LARGEST_MB = 500


def drift(view: View) -> None:
    """Show whether predictions still hold for the jobs that finished, then how to add more of those."""
    first = st.container()
    with guard():
        with controls.fold("Drift settings", "feedback_settings"):
            settings = forms.settings(
                view.visit,
                view.dataset,
                questions.OBSERVE,
                main=("window_jobs", "half_life_days"),
                given=forms.within("forecaster", view.settings),
            )
        with first:
            _state(view, settings)


def _state(view: View, settings: FeedbackSettings) -> None:
    now = view.visit.workbench.feedback(view.dataset.hash, settings)
    if now is None:
        figures.headline("No finished job is compared yet. Below: how runs that training did not see were predicted.")
        offer_held_out(view.visit, view.dataset, view.settings)
        if view.held_out is not None and view.held_out.held_out.compared:
            held = view.held_out.held_out
            figures.show(held_out_scatter(held, next(iter(held.compared)), None), key="feedback_held_out")
    else:
        advice = with_names(advice_sentence(now.assessment), view.naming.names)
        figures.headline(markdown_text(f"{observed_words(now.state)}. {advice}", 400))
        _stands(view, now)
    if view.visit.refusal:
        st.info(f"{view.visit.refusal.removesuffix('.')}: finished jobs cannot be added.", icon=":material/lock:")
    if not _ready(view, settings):
        return
    if not view.visit.readonly:
        _observe(view, settings)
    if now is not None:
        _refit(view, settings, now)


def _ready(view: View, settings: FeedbackSettings) -> bool:
    """Return whether the baseline that finished jobs are compared with is there; else show the way to it."""
    question = LongQuestion(
        "feedback_baseline",
        settings.forecaster,
        view.visit.workbench.feedback_model,
        "Build drift baseline",
        lambda: "Assigns the training jobs to profiles as new ones will be, and measures the errors on them.",
        "Building the drift baseline",
    )
    return long_question.result(view.visit, view.dataset, question) is not None


def _stands(view: View, now: FeedbackNow) -> None:
    figures.headline_row(feedback_figures(now.state, now.assessment))
    _by_profile(view, now)
    figures.fold("Clustering quality over time", "feedback_quality", _history, now)


def _history(now: FeedbackNow) -> None:
    figures.show(acquires_history(now.state.history), key="feedback_history")


def _refit(view: View, settings: FeedbackSettings, now: FeedbackNow) -> None:
    """Show the refit: its button, its job, and that it is in use."""
    if view.visit.readonly:
        return
    workbench = view.visit.workbench
    result = workbench.refit.cached(view.dataset.hash, RefitSettings(settings.forecaster, ""))
    if result.result is not None and now.state.model_key != result.key:
        workbench.adopt_refit(view.dataset.hash, result.key, settings)
        st.rerun()
    if result.result is not None:
        st.caption("Profiles and classifier were trained again with these finished jobs.")
        return
    running_work.job_panel(view.visit.app_state, result.job, "Clustering and training again")
    if (result.job is None or not result.job.active) and st.button(
        "Cluster and train again with the finished jobs",
        type="primary" if now.assessment.recluster_advised else "secondary",
        icon=":material/model_training:",
    ):
        workbench.refit.start(view.dataset.hash, RefitSettings(settings.forecaster, ""))
        st.rerun()


def _observe(view: View, settings: FeedbackSettings) -> None:
    """Show how to give finished jobs, fold them in when asked, and say what became of them."""
    with st.container(border=True):
        source = st.segmented_control(
            "Add finished jobs from a",
            (FILE, DATASET),
            default=FILE,
            required=True,
            key="feedback_from",
            bind="query-params",
        )
        observed = running_work.follow(view.visit.app_state.observed, WORK)
        busy = observed is not None and observed.active
        if source == FILE:
            _from_file(view, settings, busy=busy)
        else:
            _from_dataset(view, settings, busy=busy)
        if observed is not None and observed.result is None:
            running_work.task_panel(view.visit.app_state.observed, observed, "Comparing the jobs of")
        elif observed is not None and observed.result is not None and observed.result[0] == view.dataset.hash:
            _observed_text(observed.label, observed.result[1])


def _from_file(view: View, settings: FeedbackSettings, *, busy: bool) -> None:
    upload = st.file_uploader(
        "A trace of finished jobs, in any format that the Data page reads",
        key="feedback_upload",
        max_upload_size=LARGEST_MB,
    )
    if upload is not None and _pressed("feedback_observe_file", busy=busy):
        with guard():
            source = spool_upload(upload, upload.name, view.visit.app_state.settings.home)
            _fold_in(view, settings, source.label, source.path, source.folder)


def _from_dataset(view: View, settings: FeedbackSettings, *, busy: bool) -> None:
    names = {
        f"{entry.name} ({entry.hash[:8]})": entry.hash
        for entry in view.visit.workbench.datasets()
        if entry.kind == "jobs"
    }
    chosen = st.selectbox(
        "Dataset",
        list(names),
        index=None,
        format_func=visible,
        key="feedback_dataset",
        bind="query-params",
        placeholder="choose one",
    )
    if chosen and _pressed("feedback_observe_dataset", busy=busy):
        _fold_in(view, settings, chosen, names[chosen])


def _pressed(key: str, *, busy: bool) -> bool:
    return st.button("Compare", type="primary", icon=":material/play_arrow:", key=key, disabled=busy)


def _fold_in(view: View, settings: FeedbackSettings, label: str, jobs: Path | str, discard: Path | None = None) -> None:
    """Observe in the background; `discard` is a folder of ours, removed once it has ended."""
    workbench, dataset = view.visit.workbench, view.dataset.hash

    def observe(progress: Progress) -> tuple[str, Observed]:
        return dataset, workbench.observe(dataset, jobs, settings, progress)

    running_work.begun(WORK, view.visit.app_state.observed.begin(label, observe, discard=discard).key)
    st.rerun()


def _observed_text(label: str, result: Observed) -> None:
    notes = "".join(f"\n- {markdown_text(note, 400)}" for note in result.notes)
    st.success(f"{markdown_text(label)}: {observed_sentence(result)}{notes}", icon=":material/check_circle:")


def _by_profile(view: View, now: FeedbackNow) -> None:
    """Show the drift of one target in every profile, and its quantiles now and at the fit."""
    targets = {label(name): name for name in now.state.targets}
    chosen = st.selectbox("Drift of", list(targets), key="feedback_target", bind="query-params", width=300)
    target = targets[chosen]
    names = view.naming.names
    chart = drift_bars(now.assessment.drift, target, names)
    if len(chart.data):
        figures.show(chart, key=f"feedback_drift_{target}")
    else:
        st.caption(chart.takeaway)
    figures.fold("Drift of every profile and quantity", "feedback_all", _every, view, now)
    figures.fold("What jobs need now", "feedback_now", _needs, view, now, target)


def _every(view: View, now: FeedbackNow) -> None:
    table = drift_table(now.assessment.drift, view.naming.names)
    tables.saved(table, "drift", key="feedback_drift_table", alt=f"Drift of {len(table.rows)} pairs")


def _needs(view: View, now: FeedbackNow, target: str) -> None:
    st.caption(f"Quantiles now and in the training data: {label(target)} ({TARGETS[target]}).")
    needs = needs_table(now, target, view.naming.names)
    tables.saved(needs, f"needs-{target}", key="feedback_needs", alt=f"Needs of {len(needs.rows)} profiles")
