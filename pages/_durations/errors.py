"""How far every predictor is off on jobs that its training never saw; computed in the background."""

from __future__ import annotations

import streamlit as st

from pages._durations import chosen_clustering, error_form
from pages._durations.asking import Asked
from pages._frame import header
from pages._frame.errors import guard
from pages._parts import earlier_result, figures, running_work, terms
from pages._parts.downloads import csv
from workprof.charts.durations import (
    ErrorView,
    error_cdf,
    error_headlines,
    evaluation_estimate,
    interval_sentence,
    predictor_table,
    predictor_words,
    profile_error_boxes,
)
from workprof.charts.text import markdown_text
from workprof.inputs import safe_name
from workprof.profiles.estimation.evaluation import EstimateEvaluation
from workprof.profiles.estimation.settings import EstimateEvaluationSettings
from workprof.units import format_duration
from workprof.workbench.forecasts import ESTIMATES

SHOWN = "durations_shown"
PUBLISHED = "Published definitions: the published estimators per predicted profile, on the published five fields."


def errors(asked: Asked) -> None:
    """Show the settings, the running job, and the newest errors there are."""
    settings, view = error_form.controls(asked)
    with guard():
        answer = asked.visit.workbench.estimate_evaluation_answer(asked.dataset.hash, settings)
        if answer.result is not None:
            st.session_state[SHOWN] = (asked.dataset.hash, settings)
            _result(asked, answer.result, view)
            return
        running = answer.job is not None and answer.job.active
        if not running:
            _ask(asked, settings)
        running_work.job_panel(asked.visit.house, answer.job, "Testing the predictors")
        _previous(asked, view, running=running)


def _ask(asked: Asked, settings: EstimateEvaluationSettings) -> None:
    """Show that these settings have no result yet, and the button that changes it."""
    if asked.fit() is None:
        chosen_clustering.missing(asked.visit, asked.dataset, asked.clustering, "Predictors from profiles")
    with st.container(border=True):
        earlier = earlier_result.runs(asked.visit, ESTIMATES.name)
        st.markdown(
            "No errors for these settings yet. " + evaluation_estimate(settings, asked.dataset.finished_rows, earlier)
        )
        if st.button("Test the predictors", type="primary", icon=":material/play_arrow:", key="durations_start"):
            asked.visit.workbench.start_estimate_evaluation(asked.dataset.hash, settings)
            st.rerun()


def _result(asked: Asked, found: EstimateEvaluation, view: ErrorView) -> None:
    """Show one evaluation from all sides."""
    if found.settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    figures.headline_row(error_headlines(found))
    st.markdown(f"**{markdown_text(interval_sentence(found), 400)}**")
    if found.notes:
        st.caption(markdown_text("; ".join(found.notes), 600))
    figures.show(error_cdf(found, view), key=f"durations_errors_{view.measure}")
    _predictors(asked, found, view)
    st.header("Errors per profile")
    boxes = profile_error_boxes(found, asked.names())
    if boxes is None:
        st.info("The jobs' profiles were not known to this test; find profiles and test again.", icon=":material/info:")
    else:
        figures.show(boxes, key="durations_boxes")
    st.caption(
        f"{found.n_test:,} tested jobs, seed {found.settings.seed}, computed in {format_duration(found.seconds)}; "
        f"dataset {asked.dataset.hash[:8]}."
    )


def _predictors(asked: Asked, found: EstimateEvaluation, view: ErrorView) -> None:
    st.header("Predictors")
    table = predictor_table(found, baselines=view.baselines)
    words = predictor_words(table, found.settings.target)
    st.dataframe(
        words,
        hide_index=True,
        key="durations_predictors",
        alt=f"Errors of {len(table)} predictors",
        column_config=terms.columns(words.columns),
    )
    name = f"{safe_name(asked.dataset.name)}-{found.settings.target}-{found.settings.split}-predictors"
    csv(table, name, "durations_predictors_csv", f"CSV, all {len(table)} lines")
    if found.choices:
        turns = (f"{turn}. {markdown_text(words, 200)}" for turn, words in enumerate(found.choices, start=1))
        with st.expander("What each turn chose", icon=":material/fact_check:"):
            st.markdown("\n".join(turns))


def _previous(asked: Asked, view: ErrorView, *, running: bool) -> None:
    """Show the result of the previous settings under a banner, where this session has one."""
    of_dataset, settings = st.session_state.get(SHOWN, ("", None))
    if of_dataset != asked.dataset.hash or settings is None:
        return
    kept = asked.visit.workbench.estimate_evaluation_answer(of_dataset, settings).result
    if kept is None:
        return
    todo = "the new ones are being tested" if running else "press **Test the predictors** to renew it"
    st.warning(
        f"What follows is based on previous settings ({kept.settings.target}, {kept.settings.split}, "
        f"{kept.settings.mode}); {todo}.",
        icon=":material/history:",
    )
    _result(asked, kept, view)
