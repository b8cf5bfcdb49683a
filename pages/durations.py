"""Durations: how long do jobs take, and how far off is what we say of it beforehand?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from pages import _shell
from pages._frame import datasets, header
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import clusterings, figures, forms, long_question, running_work, tables, tabs
from pages._parts.controls import LARGEST_AMOUNT, choice, number
from pages._parts.long_question import LongQuestion
from workprof.charts.durations.errors import (
    MEASURES,
    ErrorView,
    error_cdf,
    error_headlines,
    interval_sentence,
    predictor_table,
    predictor_words,
    profile_error_boxes,
)
from workprof.charts.durations.observed import (
    ObservedView,
    group_curve,
    group_names,
    observed_ecdf,
    quantile_table,
    quantile_words,
)
from workprof.charts.estimate import evaluation_estimate
from workprof.charts.profiles.overview import profile_names
from workprof.charts.text import markdown_text
from workprof.core.units import GB, format_duration
from workprof.forecasts import questions
from workprof.forecasts.durations import EVERYTHING, GROUPINGS, PROFILE, ObservedDurations
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import TARGETS, EstimateEvaluationSettings
from workprof.inputs import safe_name
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Durations",
    "How long do jobs take, and how far off is what can be said of it before they run?",
    "Durations need a dataset with a duration (or memory, CPU or GPU use) per row; errors of predictions also need "
    "metadata such as user, task or group.",
    resets=True,
)
LIMIT_UNITS = {"s": ("SLO (s, 0 = none)", 1.0), "B": ("Limit (GB, 0 = none)", float(GB))}
TOGETHER, EACH = "together", "one each"
LAYOUTS = (TOGETHER, EACH)
PUBLISHED = "Published definitions: the published estimators per predicted profile, on the published five fields."


@dataclass(frozen=True)
class Shared:
    """What the page is about: the visit, the dataset, the quantity, the cursor (per cent), the clustering."""

    visit: Visit
    dataset: Dataset
    target: str
    percentile: float
    clustering: ProfileSettings

    def fit(self) -> ProfileFit | None:
        """Return the clustering's profiles where they are stored."""
        return self.visit.workbench.profiles.cached(self.dataset.hash, self.clustering).result

    def names(self) -> dict[int, str]:
        """Return what its profiles are called; nothing where they are not stored."""
        fit = self.fit()
        if fit is None:
            return {}
        return profile_names(fit, self.visit.workbench.profile_notes(self.dataset.hash, self.clustering))


def _shared(visit: Visit, dataset: Dataset) -> Shared | None:
    """Show the shared controls and return what was chosen, or None (and what is missing) without any quantity."""
    present = {column.name for column in visit.workbench.columns(dataset.hash)}
    targets = tuple(name for name in TARGETS if name in present)
    if not targets:
        datasets.empty_state(visit, f"This dataset has none of the columns {', '.join(TARGETS)}.")
        return None
    with st.grid(min_column_width=220, gap="small"):
        target = forms.control(questions.OBSERVED_DURATIONS.leaf("target"), questions.DURATIONS, targets)
        meaning = "80: what 80 % of the jobs, or of the errors, do not exceed."
        percentile = number("Percentile cursor (%)", "durations_percentile", 80.0, (1.0, 99.9), meaning, step=5.0)
        clustering = clusterings.clustering(visit, dataset)
    return Shared(visit, dataset, target, percentile, clustering)


def observed(shared: Shared) -> None:
    """Show the curves of the chosen groups; without profiles, of all jobs."""
    present = {column.name for column in shared.visit.workbench.columns(shared.dataset.hash)}
    groupings = tuple(name for name in GROUPINGS if name in (PROFILE, EVERYTHING) or name in present)
    settings = forms.settings(
        shared.visit,
        shared.dataset,
        questions.OBSERVED_DURATIONS,
        main=("by", "confidence"),
        given={"target": shared.target},
        own={"by": lambda: forms.control(questions.OBSERVED_DURATIONS.leaf("by"), questions.DURATIONS, groupings)},
    )
    with st.grid(min_column_width=220, gap="small"):
        layout = choice("Curves", "durations_layout", LAYOUTS, "In one picture, or a small one for each group.")
        slo = _limit(shared.target)
    view = _observed_view(shared, slo)
    if settings.by == PROFILE and shared.fit() is None:
        clusterings.missing(shared.visit, shared.dataset, shared.clustering, "Curves per profile")
        settings = replace(settings, by=EVERYTHING)
    with guard():
        result = shared.visit.workbench.observed_durations(shared.dataset.hash, settings, fit=shared.clustering)
        _curves(shared, result, view, layout)


def _observed_view(shared: Shared, slo: float) -> ObservedView:
    with st.container(horizontal=True):
        log = st.toggle("Logarithmic axis", value=True, key="durations_log", bind="query-params")
        complementary = st.toggle(
            "Show share still running",
            key="durations_complement",
            bind="query-params",
            help="The share above instead of below.",
        )
        bands = st.toggle(
            "Bands",
            value=True,
            key="durations_bands",
            bind="query-params",
            help="Each holds the whole curve.",
        )
    return ObservedView(log_x=log, complementary=complementary, percentile=shared.percentile, limit=slo, bands=bands)


def _curves(shared: Shared, result: ObservedDurations, view: ObservedView, layout: str) -> None:
    names = group_names(result, shared.names() if result.settings.by == PROFILE else {})
    chart = observed_ecdf(result, names, view)
    if layout == TOGETHER or not result.groups:
        figures.show(chart, key="durations_observed")
    else:
        st.markdown(f"**{markdown_text(chart.takeaway, figures.LONGEST_SENTENCE)}**")
        _each(result, names, view)
        st.caption(markdown_text(chart.note, figures.LONGEST_SENTENCE))
    st.header("Quantiles")
    table = quantile_table(result, names, view)
    tables.show(
        quantile_words(table, result.settings.target),
        key="durations_quantiles",
        alt=f"Quantiles of {len(table)} groups",
        column_config=tables.headings(table.columns, {"rows": st.column_config.NumberColumn(format="localized")}),
    )
    tables.csv(
        table,
        f"{safe_name(shared.dataset.name)}-{chart.name}-quantiles",
        "durations_quantiles_csv",
        f"CSV, all {len(table)} lines",
    )


def _each(result: ObservedDurations, names: tuple[str, ...], view: ObservedView) -> None:
    with st.grid(min_column_width=320, gap="small"):
        for position, name in enumerate(names):
            with st.container(border=True):
                st.markdown(f"**{markdown_text(name)}**")
                figures.small(group_curve(result, names, position, view), key=f"durations_each_{position}")


def _limit(target: str) -> float:
    """Show the SLO of a quantity and return it in the quantity's own unit; 0 = none."""
    words, factor = LIMIT_UNITS.get(TARGETS[target], ("Limit (%, 0 = none)", 1.0))
    key = "durations_slo" if target == "duration_s" else f"durations_limit_{target}"
    meaning = "The share of jobs that keep it is read from every curve."
    return number(words, key, 0.0, (0.0, LARGEST_AMOUNT), meaning) * factor


def errors(shared: Shared) -> None:
    """Show the settings, the running job, and the newest errors there are."""
    settings = forms.settings(
        shared.visit,
        shared.dataset,
        questions.EVALUATE_ESTIMATES,
        main=("estimates.split", "estimates.mode"),
        given={"estimates.target": shared.target, "profiles": shared.clustering},
    )
    view = _error_view(shared)
    with guard():
        workbench = shared.visit.workbench
        question = LongQuestion(
            name="durations_start",
            settings=settings,
            ask=workbench.estimate_evaluation,
            button="Evaluate predictors",
            before=partial(_before, shared, settings),
            what="Evaluating predictors",
            told=lambda one: f"{one.settings.target}, {one.settings.split}, {one.settings.mode}",
        )
        result = long_question.result(shared.visit, shared.dataset, question)
        if result is not None:
            _show_errors(shared, result, view)


def _error_view(shared: Shared) -> ErrorView:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        measure = choice(
            "Error measure",
            "durations_measure",
            tuple(MEASURES),
            "ratio: what the paper computes and reads as per cent. percent: the same times 100. factor: how many times "
            "too high or too low. signed: below 0 promised too little.",
        )
        baselines = st.toggle("Baselines", value=True, key="durations_baselines", bind="query-params")
        published = st.toggle(
            "Published run",
            value=True,
            key="durations_published",
            bind="query-params",
            help="Ratio and percent only. Other jobs and another model: a reference, not a comparison.",
        )
    return ErrorView(measure, shared.percentile, baselines, published)


def _before(shared: Shared, settings: EstimateEvaluationSettings) -> str:
    if shared.fit() is None:
        clusterings.missing(shared.visit, shared.dataset, shared.clustering, "Predictors from profiles")
    earlier = running_work.earlier(shared.visit, questions.EVALUATE_ESTIMATES.name)
    took = evaluation_estimate(settings, shared.dataset.finished_rows, earlier)
    return f"Not evaluated with these settings yet. {took}"


def _show_errors(shared: Shared, result: EstimateEvaluation, view: ErrorView) -> None:
    """Show one evaluation from all sides."""
    if result.settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    figures.headline_row(error_headlines(result))
    st.markdown(f"**{markdown_text(interval_sentence(result), 400)}**")
    if result.notes:
        st.caption(markdown_text("; ".join(result.notes), 600))
    figures.show(error_cdf(result, view), key=f"durations_errors_{view.measure}")
    _predictors(shared, result, view)
    st.header("Errors per profile")
    boxes = profile_error_boxes(result, shared.names())
    if boxes is None:
        st.info("The jobs' profiles were not known to this test; find profiles and test again.", icon=":material/info:")
    else:
        figures.show(boxes, key="durations_boxes")
    st.caption(
        f"{result.n_test:,} tested jobs, seed {result.settings.seed}, computed in {format_duration(result.seconds)}; "
        f"dataset {shared.dataset.hash[:8]}."
    )


def _predictors(shared: Shared, result: EstimateEvaluation, view: ErrorView) -> None:
    st.header("Predictors")
    table = predictor_table(result, baselines=view.baselines)
    words = predictor_words(table, result.settings.target)
    tables.show(
        words,
        key="durations_predictors",
        alt=f"Errors of {len(table)} predictors",
        column_config=tables.headings(words.columns),
    )
    name = f"{safe_name(shared.dataset.name)}-{result.settings.target}-{result.settings.split}-predictors"
    tables.csv(table, name, "durations_predictors_csv", f"CSV, all {len(table)} lines")
    if result.choices:
        turns = (f"{turn}. {markdown_text(words, 200)}" for turn, words in enumerate(result.choices, start=1))
        with st.expander("Model chosen per fold", icon=":material/fact_check:"):
            st.markdown("\n".join(turns))


VIEWS = {"Observed": observed, "Prediction error": errors}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the quantity that is looked at, then what was observed or how far the predictors are off."""
    forms.arrive(questions.DURATIONS, [one for one in questions.QUESTIONS if one.page == questions.DURATIONS])
    shared = _shared(visit, dataset)
    if shared is not None:
        tabs.show_open("durations_tab", VIEWS, shared)


_shell.run(PAGE, body)
