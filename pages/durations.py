"""Durations: how long jobs take, and how well that can be predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages import _shell
from pages._frame import datasets, header, link, look
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import clusterings, controls, figures, forms, long_question, tables, tabs
from pages._parts.controls import LARGEST_AMOUNT, choice, number
from pages._parts.long_question import LongQuestion
from workprof.answers.durations import ObservedView, group_names, observed_sentence, quantile_table
from workprof.answers.estimates import (
    MEASURES,
    ErrorView,
    baseline_sentence,
    choice_words,
    error_figures,
    interval_sentence,
    interval_table,
    predictor_table,
    tested_words,
)
from workprof.answers.how_long import computed_words
from workprof.charts.durations.errors import error_cdf, profile_error_boxes
from workprof.charts.durations.observed import group_curves, observed_ecdf, observed_name
from workprof.charts.profiles.overview import profile_names
from workprof.core.units import GB
from workprof.core.words import label, markdown_text
from workprof.forecasts import questions
from workprof.forecasts.durations import EVERYTHING, GROUPINGS, PROFILE, ObservedDurations
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import TARGETS, EstimateEvaluationSettings
from workprof.forecasts.splits import SPLITS, SPLITS_SHOWN
from workprof.inputs import safe_name
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Durations",
    "How long do jobs take, and how well can we predict it?",
    "Durations need a dataset with a duration (or memory, CPU or GPU use) per run; prediction errors also need "
    "metadata such as user, task or group.",
    resets=True,
)
LIMIT_UNITS = {"s": ("SLO (s, 0 = none)", 1.0), "B": ("Limit (GB, 0 = none)", float(GB))}
TOGETHER, EACH = "together", "one each"
BY = questions.OBSERVED_DURATIONS.leaf("by")
LAYOUTS = {EACH: "Small multiples", TOGETHER: "Overlaid"}
PUBLISHED = "As published: the published estimators per predicted profile, on the published five fields."


@dataclass(frozen=True)
class Shared:
    """What a view is about: the visit, the dataset, the quantity, the cursor (per cent), the clustering."""

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


def _quantity(targets: tuple[str, ...]) -> str:
    target: str = forms.control(questions.OBSERVED_DURATIONS.leaf("target"), questions.DURATIONS, targets)
    return target


def _percentile() -> float:
    meaning = "80: the value that 80 % of the runs, or of the errors, do not exceed."
    return number("Percentile (%)", "durations_percentile", 80.0, (1.0, 99.9), meaning, step=5.0)


def observed(visit: Visit, dataset: Dataset, targets: tuple[str, ...]) -> None:
    """Show the curves of the chosen groups; without profiles, of all runs."""
    first = st.container()
    present = {column.name for column in visit.workbench.columns(dataset.hash)}
    never = bool(visit.workbench.profiles.cached(dataset.hash, clusterings.everywhere(dataset)).refusal)
    linked = link.read(BY.key(questions.DURATIONS), str, "")
    held = present | {EVERYTHING} | ({PROFILE} if linked == PROFILE or not never else set())
    groupings = tuple(name for name in GROUPINGS if name in held)
    with st.grid(min_column_width=150, gap="small"):  # two on a phone
        target = _quantity(targets)
        by = forms.control(BY, questions.DURATIONS, groupings)
        percentile = _percentile()
        layout = choice("Layout", "durations_layout", tuple(LAYOUTS), "Small charts, or one chart.", shown=LAYOUTS)
    below = st.container()
    with controls.fold("Chart settings", "durations_settings"):
        with st.grid(min_column_width=150, gap="small"):  # two on a phone
            clustering = clusterings.clustering(visit, dataset)
            slo = _limit(target)
        given = {"target": target, "by": by}
        settings = forms.settings(visit, dataset, questions.OBSERVED_DURATIONS, main=("confidence",), given=given)
        view = _observed_view(percentile, slo)
    shared = Shared(visit, dataset, target, percentile, clustering)
    if settings.by == PROFILE and shared.fit() is None:
        with first:
            clusterings.missing(visit, dataset, clustering, "Curves per profile")
        settings = replace(settings, by=EVERYTHING)
    with below, guard():
        result = visit.workbench.observed_durations(dataset.hash, settings, fit=clustering)
        _curves(shared, result, view, layout, first)


def _observed_view(percentile: float, slo: float) -> ObservedView:
    with st.container(horizontal=True):
        log = st.toggle("Logarithmic axis", value=True, key="durations_log", bind="query-params")
        complementary = st.toggle(
            "Show share still running",
            key="durations_complement",
            bind="query-params",
            help="The share above instead of below.",
        )
        bands = st.toggle(
            "Confidence bands",
            value=True,
            key="durations_bands",
            bind="query-params",
            help="Each holds the whole true curve with the stated confidence.",
        )
    return ObservedView(log_x=log, complementary=complementary, percentile=percentile, limit=slo, bands=bands)


def _curves(shared: Shared, result: ObservedDurations, view: ObservedView, layout: str, first: DeltaGenerator) -> None:
    names = group_names(result, shared.names() if result.settings.by == PROFILE else {})
    with first:
        figures.headline(markdown_text(observed_sentence(result, names, view), figures.LONGEST_SENTENCE))
    together = layout == TOGETHER or not result.groups
    chart = observed_ecdf(result, names, view) if together else group_curves(result, names, view, narrow=look.narrow())
    figures.show(chart, key=f"durations_{'observed' if together else 'each'}", sentence=False)
    st.header("Quantiles")
    table = quantile_table(result, names, view)
    tables.answer(table, key="durations_quantiles", alt=f"Quantiles of {len(table.rows)} groups")
    tables.csv(
        table.frame,
        f"{safe_name(shared.dataset.name)}-{observed_name(result)}-quantiles",
        "durations_quantiles_csv",
        "Download CSV",
    )


def _limit(target: str) -> float:
    """Show the SLO of a quantity and return it in the quantity's own unit; 0 = none."""
    words, factor = LIMIT_UNITS.get(TARGETS[target], ("Limit (%, 0 = none)", 1.0))
    key = "durations_slo" if target == "duration_s" else f"durations_limit_{target}"
    if key.endswith("_bytes"):
        former, key = key, key.removesuffix("_bytes") + "_gb"
        link.in_gb(former, key)
    meaning = "The share of runs that meet it is read from every curve."
    return number(words, key, 0.0, (0.0, LARGEST_AMOUNT), meaning) * factor


def errors(visit: Visit, dataset: Dataset, targets: tuple[str, ...]) -> None:
    """Show the newest errors there are, the running job, and the settings."""
    first = st.container()
    with st.grid(min_column_width=150, gap="small"):  # two on a phone
        target = _quantity(targets)
        percentile = _percentile()
        measure = choice(
            "Error measure",
            "durations_measure",
            tuple(MEASURES),
            "Relative error: |predicted − true| / true, which the paper computes. Factor: how many times too high or "
            "too low. Signed error: below 0 under-predicts.",
            shown={name: one.label for name, one in MEASURES.items()},
        )
    below = st.container()
    with controls.fold("Evaluation settings", "durations_evaluation"):
        clustering = clusterings.clustering(visit, dataset)
        shared = Shared(visit, dataset, target, percentile, clustering)
        settings = forms.settings(
            visit,
            dataset,
            questions.EVALUATE_ESTIMATES,
            main=("estimates.split", "estimates.mode"),
            given={"estimates.target": target, "profiles": clustering},
        )
        view = _error_view(measure, percentile)
    one_fold = replace(settings, estimates=replace(settings.estimates, split="by_time"))
    with first, guard():
        workbench = visit.workbench
        question = LongQuestion(
            name="durations_start",
            settings=settings,
            compute=workbench.estimate_evaluation,
            button="Evaluate predictors",
            before=partial(_before, shared),
            what="Evaluating predictors",
            describe=_settings_words,
            tells=True,
            outlives=True,
            part=(one_fold, 0.1, "one fold, earlier runs against later ones"),
        )
        result = long_question.result(visit, dataset, question)
        if result is not None:
            _show_errors(shared, settings, result, view, below)


def _settings_words(result: EstimateEvaluation) -> str:
    one = result.settings
    mode = "as published" if one.mode == "faithful" else "default"
    return f"{label(one.target)}, split {one.split.replace('_', ' ')}, {mode}"


def _error_view(measure: str, percentile: float) -> ErrorView:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        baselines = st.toggle("Baselines", value=True, key="durations_baselines", bind="query-params")
        published = st.toggle(
            "Published results",
            value=True,
            key="durations_published",
            bind="query-params",
            help="For the relative error. Other jobs and another model: a reference, not a comparison.",
        )
    return ErrorView(measure, percentile, baselines, published)


def _before(shared: Shared) -> str:
    if shared.fit() is None:
        clusterings.missing(shared.visit, shared.dataset, shared.clustering, "Predictors from profiles")
    return "Not evaluated with these settings yet."


def _show_errors(
    shared: Shared,
    settings: EstimateEvaluationSettings,
    result: EstimateEvaluation,
    view: ErrorView,
    below: DeltaGenerator,
) -> None:
    """Show one evaluation: answer, error curves and figures first, then every predictor and profile."""
    if result.settings.mode == "faithful":
        header.published_flag()
        st.caption(PUBLISHED)
    chart = error_cdf(result, view)
    figures.headline(markdown_text(chart.takeaway, figures.LONGEST_SENTENCE))
    figures.headline_row(error_figures(result))
    figures.show(chart, key=f"durations_errors_{view.measure}", sentence=False)
    with below:
        if held := interval_sentence(result):
            st.markdown(f"**{markdown_text(held, 600)}**")
        _intervals(shared, settings, result)
        for words in (choice_words(result), baseline_sentence(result)):
            if words:
                st.caption(markdown_text(words, 800))
        _predictors(shared, result, view)
        figures.fold("Errors per profile", "durations_profiles", _boxes, shared, result)
        if result.choices:
            figures.fold("Model chosen per fold", "durations_choices", _choices, result)
        notes = "".join(f" {one[:1].upper()}{one[1:]}." for one in result.notes)
        st.caption(
            markdown_text(
                f"{tested_words(result)}, seed {result.settings.seed}, "
                f"{computed_words(result.seconds, shared.dataset.hash)}.{notes}",
                800,
            )
        )


def _intervals(shared: Shared, settings: EstimateEvaluationSettings, result: EstimateEvaluation) -> None:
    """Show coverage and width under every split that was evaluated with these settings."""
    if result.interval is None:
        return
    like_it = replace(settings, estimates=result.settings)
    outcome = shared.visit.workbench.estimate_evaluations(shared.dataset.hash, like_it) | {
        result.settings.split: result
    }
    table = interval_table(outcome)
    tables.answer(table, key="durations_intervals", alt=f"Coverage of the interval under {len(outcome)} splits")
    if missing := [SPLITS_SHOWN[split].lower() for split in SPLITS if split not in outcome]:
        st.caption(f"Not evaluated with these settings yet: {', '.join(missing)}.")


def _boxes(shared: Shared, result: EstimateEvaluation) -> None:
    boxes = profile_error_boxes(result, shared.names())
    if boxes is None:
        st.info("This evaluation did not know the profiles; find profiles and evaluate again.", icon=":material/info:")
    else:
        figures.show(boxes, key="durations_boxes")


def _choices(result: EstimateEvaluation) -> None:
    st.markdown("\n".join(f"{fold}. {markdown_text(words, 200)}" for fold, words in enumerate(result.choices, start=1)))


def _predictors(shared: Shared, result: EstimateEvaluation, view: ErrorView) -> None:
    table = predictor_table(result, baselines=view.baselines)
    tables.answer(table, key="durations_predictors", alt=f"Errors of {len(table.rows)} predictors")
    name = f"{safe_name(shared.dataset.name)}-{result.settings.target}-{result.settings.split}-predictors"
    tables.csv(table.frame, name, "durations_predictors_csv", "Download CSV")


VIEWS = {"Observed": observed, "Prediction error": errors}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what was observed, or how far the predictors are off."""
    forms.arrive(questions.DURATIONS, [one for one in questions.QUESTIONS if one.page == questions.DURATIONS])
    present = {column.name for column in visit.workbench.columns(dataset.hash)}
    targets = tuple(name for name in TARGETS if name in present)
    if targets:
        tabs.show_open("durations_tab", VIEWS, visit, dataset, targets)
    else:
        lacking = ", ".join(label(name) for name in TARGETS)
        datasets.empty_state(visit, f"This dataset has none of these quantities: {lacking}.")


_shell.run(PAGE, body)
