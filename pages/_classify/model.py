"""How good the classifier is, and what it looks at."""

from __future__ import annotations

import streamlit as st

from pages._classify.training import View
from pages._frame.errors import guard
from pages._parts import figures, forms, running_work
from workprof.charts.classify.job import forecaster_card
from workprof.charts.classify.model import (
    SHOWN_AS,
    SPLIT_NAMES,
    beeswarm,
    confusion_heatmap,
    field_bars,
    reliability_diagram,
    split_bars,
    table_five,
    value_bars,
)
from workprof.charts.downloads import parquet_bytes
from workprof.charts.text import markdown_text
from workprof.core.units import format_duration
from workprof.forecasts import questions
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.explain import GlobalExplanation


def model(view: View) -> None:
    """Show the evaluation, what the classifier looks at, and its card."""
    st.header("How far to believe it")
    with guard():
        result = _evaluation(view)
        if result is not None:
            _scores(view, result)
    st.header("What it looks at")
    with guard():
        explained = _explanation(view)
        if explained is not None:
            _importance(view, explained)
    st.header("The model")
    _about(view)


def _evaluation(view: View) -> ClassifierEvaluation | None:
    """Return the evaluation if it is kept; else show its job, or the button that starts it."""
    workbench, settings = view.visit.workbench, view.settings.classifier
    answer = workbench.classifier_evaluation.cached(view.dataset.hash, settings)
    if answer.result is not None:
        return answer.result
    running_work.job_panel(view.visit.app_state, answer.job, "Evaluation")
    if answer.job is None or not answer.job.active:
        st.caption(
            "Trains and tests the classifier under four splits: random (as published), by job, by group and by time."
        )
        if st.button("Evaluate under four splits", type="primary", icon=":material/play_arrow:"):
            workbench.classifier_evaluation.start(view.dataset.hash, settings)
            st.rerun()
    return None


def _scores(view: View, result: ClassifierEvaluation) -> None:
    naming = view.naming
    if result.notes:
        st.info("\n".join(f"- {markdown_text(note, 400)}" for note in result.notes), icon=":material/info:")
    figures.show(split_bars(result, naming), key="classify_splits")
    names = {SPLIT_NAMES[split]: split for split in result.splits}
    chosen = st.selectbox(
        "Details of the split",
        list(names),
        index=list(names.values()).index(result.shown),
        key="classify_split",
        bind="query-params",
        width=300,
    )
    scores = result.splits[names[chosen]]
    figures.show(table_five(scores, naming), key=f"classify_table_{chosen}")
    _cells(view, result, names[chosen])
    figures.show(reliability_diagram(scores, naming), key=f"classify_reliability_{chosen}")


def _cells(view: View, result: ClassifierEvaluation, split: str) -> None:
    shown_as = st.segmented_control(
        "Cells and table hold", SHOWN_AS, default=SHOWN_AS[0], required=True, key="classify_cells", bind="query-params"
    )
    chart = confusion_heatmap(result.splits[split], view.naming, shown_as or SHOWN_AS[0])
    figures.show(chart, key=f"classify_confusion_{split}_{shown_as}")


def _about(view: View) -> None:
    model = view.model
    left_out = view.loaded.forecaster.left_out
    notes = [*model.notes, *(f"{target} is not estimated: {why}" for target, why in left_out.items())]
    st.markdown("\n".join(f"- {markdown_text(note, 400)}" for note in notes))
    st.caption(
        f"{model.n_rows:,} training rows, {len(model.classes)} classes, {len(model.encoder.fields)} inputs, seed "
        f"{model.settings.seed}, trained in {format_duration(view.loaded.forecaster.seconds)}."
    )
    st.download_button(
        "Model card (JSON)",
        data=lambda: forecaster_card(view.loaded.forecaster, view.dataset, view.naming),
        file_name="classifier-card.json",
        mime="application/json",
        on_click="ignore",
        icon=":material/download:",
    )


def _explanation(view: View) -> GlobalExplanation | None:
    """Return the global SHAP values if they are cached; else the button that computes them, with progress."""
    settings = forms.settings(
        view.visit,
        view.dataset,
        questions.EXPLAIN,
        main=("n_sampled",),
        given=forms.within("forecaster", view.settings),
    )
    cached = view.visit.workbench.global_explanation.cached(view.dataset.hash, settings).result
    if cached is not None or not st.button(f"Explain {settings.n_sampled:,} jobs", icon=":material/play_arrow:"):
        return cached
    bar = st.progress(0.0, text="Explaining a sample of the jobs")

    def tell(share: float | None, words: str) -> None:
        bar.progress(share or 0.0, text=words)

    view.visit.workbench.global_explanation(view.dataset.hash, settings, tell)
    st.rerun()


def _importance(view: View, result: GlobalExplanation) -> None:
    """Show what weighs most, by field, by value and job by job."""
    if not result.additive:
        st.warning(
            f"The SHAP values do not add up (largest gap {result.additivity_error:.1e}); the figures would be wrong "
            "and are left out.",
            icon=":material/warning:",
        )
        return
    fields, values, swarm = (figure(result, view.naming) for figure in (field_bars, value_bars, beeswarm))
    figures.show(fields, key="classify_shap_fields")
    figures.show(values, key="classify_shap_values")
    figures.show(swarm, key="classify_shap_swarm")
    st.download_button(
        f"SHAP values of {result.n_sampled:,} jobs (Parquet)",
        data=lambda: parquet_bytes(swarm.data),
        file_name="shap-values.parquet",
        on_click="ignore",
        icon=":material/download:",
    )
