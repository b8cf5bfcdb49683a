"""How far every predictor is off on jobs that its training never saw; computed in the background."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._durations import chosen_clustering, error_form
from pages._durations.asking import Asked
from pages._frame import header
from pages._frame.errors import guard
from pages._parts import earlier_result, figures, long_question, tables, terms
from pages._parts.downloads import csv
from pages._parts.long_question import LongQuestion
from workprof.charts.durations.errors import (
    ErrorView,
    error_cdf,
    error_headlines,
    interval_sentence,
    predictor_table,
    predictor_words,
    profile_error_boxes,
)
from workprof.charts.estimate import evaluation_estimate
from workprof.charts.text import markdown_text
from workprof.forecasts import questions
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.inputs import safe_name
from workprof.units import format_duration

PUBLISHED = "Published definitions: the published estimators per predicted profile, on the published five fields."


def errors(asked: Asked) -> None:
    """Show the settings, the running job, and the newest errors there are."""
    settings, view = error_form.controls(asked)
    with guard():
        workbench = asked.visit.workbench
        question = LongQuestion(
            name="durations_start",
            settings=settings,
            answer=workbench.estimate_evaluation.cached,
            start=workbench.estimate_evaluation.start,
            button="Test the predictors",
            before=partial(_before, asked, settings),
            what="Testing the predictors",
            told=lambda kept: f"{kept.settings.target}, {kept.settings.split}, {kept.settings.mode}",
        )
        found = long_question.result(asked.visit, asked.dataset, question)
        if found is not None:
            _result(asked, found, view)


def _before(asked: Asked, settings: EstimateEvaluationSettings) -> str:
    if asked.fit() is None:
        chosen_clustering.missing(asked.visit, asked.dataset, asked.clustering, "Predictors from profiles")
    earlier = earlier_result.runs(asked.visit, questions.EVALUATE_ESTIMATES.name)
    took = evaluation_estimate(settings, asked.dataset.finished_rows, earlier)
    return f"No errors for these settings yet. {took}"


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
    tables.show(
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
