"""The feedback loop: what finished jobs say of the forecasts, and whether another clustering is due."""

from __future__ import annotations

import streamlit as st

from pages._classify import feedback_drift, feedback_jobs
from pages._classify.view import View
from pages._frame.errors import guard
from pages._parts import figures, running_work
from pages._parts.controls import LARGEST_AMOUNT, count, number
from workprof.charts.feedback import acquires_history, advice_sentence, feedback_headlines
from workprof.forecasts.feedback.drift import FeedbackNow
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.feedback.model import RefitSettings

DEFAULT = FeedbackSettings()


def feedback(view: View) -> None:
    """Show how to fold finished jobs in, and what they have shown."""
    st.markdown(
        "Finished jobs are filed under the profile nearest to what they measured and compared with what would have "
        "been said of them. Estimates per profile follow; drift beyond chance is named; another clustering is advised "
        "when it is due."
    )
    with guard():
        settings = _settings(view)
        if view.visit.readonly:
            st.info("This server is read-only: finished jobs cannot be kept here.", icon=":material/lock:")
        if not _ready(view, settings):
            return
        if not view.visit.readonly:
            feedback_jobs.observe(view, settings)
        now = view.visit.workbench.feedback(view.dataset.hash, settings)
        if now is None:
            st.info("No finished job was observed yet.", icon=":material/info:")
            return
        _stands(view, now)
        _refit(view, settings, now)


def _settings(view: View) -> FeedbackSettings:
    with st.expander("Window and decay", icon=":material/tune:"), st.grid(min_column_width=240, gap="small"):
        window = count(
            "Newest jobs per profile", "feedback_window", DEFAULT.window_jobs, "Older ones are let go.", least=20
        )
        half_life = number(
            "Half-life (days, 0 = no decay)",
            "feedback_half_life",
            DEFAULT.half_life_days,
            (0.0, LARGEST_AMOUNT),
            "After so many days on the trace's clock a job counts half.",
            step=5.0,
        )
    return FeedbackSettings(forecaster=view.settings, window_jobs=window, half_life_days=half_life)


def _ready(view: View, settings: FeedbackSettings) -> bool:
    """Return whether what finished jobs are compared with is there; else show the way to it."""
    answer = view.visit.workbench.feedback_model.cached(view.dataset.hash, settings.forecaster)
    if answer.result is not None:
        return True
    running_work.job_panel(view.visit.house, answer.job, "Preparing the comparison")
    running = answer.job is not None and answer.job.active
    if not running and st.button("Prepare the comparison", type="primary", icon=":material/play_arrow:"):
        view.visit.workbench.feedback_model.start(view.dataset.hash, settings.forecaster)
        st.rerun()
    if not running:
        st.caption("Files the jobs of the fit as new ones will be, and measures how wrong the estimates were on them.")
    return False


def _stands(view: View, now: FeedbackNow) -> None:
    figures.headline_row(feedback_headlines(now.state, now.assessment))
    advised = now.assessment.recluster_advised
    show = st.warning if advised else st.success
    show(advice_sentence(now.assessment), icon=":material/update:" if advised else ":material/check_circle:")
    figures.show(acquires_history(now.state.history), key="feedback_history")
    feedback_drift.drift(view, now)


def _refit(view: View, settings: FeedbackSettings, now: FeedbackNow) -> None:
    """Show the refit: its button, its job, and that it is in use."""
    if view.visit.readonly:
        return
    workbench = view.visit.workbench
    answer = workbench.refit.cached(view.dataset.hash, RefitSettings(settings.forecaster, ""))
    if answer.result is not None and now.state.model_key != answer.key:
        workbench.adopt_refit(view.dataset.hash, answer.key, settings)
        st.rerun()
    if answer.result is not None:
        st.caption("Profiles and forecaster were made anew with these finished jobs; the loop follows them now.")
        return
    running_work.job_panel(view.visit.house, answer.job, "Clustering and training again")
    if (answer.job is None or not answer.job.active) and st.button(
        "Cluster and train again with the finished jobs",
        type="primary" if now.assessment.recluster_advised else "secondary",
        icon=":material/model_training:",
    ):
        workbench.refit.start(view.dataset.hash, RefitSettings(settings.forecaster, ""))
        st.rerun()
