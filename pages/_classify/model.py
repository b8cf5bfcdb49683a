"""How reliable the classifier is, and what it uses."""

import streamlit as st

from pages._classify.alternatives import alternatives
from pages._classify.effects import effects
from pages._classify.training import View, validation
from pages._frame import link
from pages._frame.errors import guard
from pages._parts import controls, figures, forms, long_question, tables
from workprof.answers.classifier import (
    CALIBRATION_NOTE,
    SPLIT_NAMES,
    calibration_table,
    labels_table,
    missed_table,
    strict_split,
)
from workprof.answers.forecasts import Naming
from workprof.charts.classify.job import forecaster_card
from workprof.charts.classify.model import (
    SHOWN_AS,
    confusion_heatmap,
    field_bars,
    reliability_diagram,
    split_bars,
    table_five,
    value_bars,
)
from workprof.core.answer import Table
from workprof.core.fields import get
from workprof.core.units import format_duration
from workprof.core.words import label, markdown_text
from workprof.forecasts import questions
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, SplitScores
from workprof.forecasts.explain import GlobalExplanation

EXPLAINED_AT_ONCE = 5_000
"""Up to so many runs it takes a second or two."""
CELLS = {"row %": "Share of actual", "rows": "Runs"}


def model(view: View) -> None:
    """Show how reliable the classifier is and what it uses, then its errors and its card."""
    first = st.container()
    left, right = st.columns(2, gap="medium")
    with left, guard():
        result = _evaluation(view)
        if result is not None:
            chart = split_bars(result, view.naming)
            with first:
                figures.headline(markdown_text(chart.takeaway, figures.LONGEST_SENTENCE))
            st.markdown("**Scores by split of training and test runs**")
            figures.show(chart, key="classify_splits", sentence=False)
            _labels(result)
    with right, guard():
        above = st.container()
        explained = _explanation(view)
        if explained is not None:
            with above:
                _importance(view, explained)
    if result is not None:
        _scores(view, result)
    if explained is not None and explained.additive:
        figures.fold("Importance of single values and runs", "classify_shap", _details, view, explained)
    figures.fold("Other classifiers, and their rules", "classify_alternatives_fold", alternatives, view)
    figures.fold("Method", "classify_method", _about, view)


def _evaluation(view: View) -> ClassifierEvaluation | None:
    """Return the evaluation if it is kept; else show its job, or the button that starts it."""
    question = questions.EVALUATE_CLASSIFIER
    own = {leaf.path: get(view.settings.classifier, leaf.path) for leaf in question.leaves if leaf.path != "cluster_on"}
    settings = forms.settings(view.visit, view.dataset, question, main=("cluster_on",), given=own)
    return long_question.result(view.visit, view.dataset, validation(view.visit, settings))


def _labels(result: ClassifierEvaluation) -> None:
    """Say where the profiles to predict come from and, where both were tested, what that is worth."""
    if not result.beside:
        st.caption("Test runs were part of the clustering.")
        return
    st.caption(
        "Each fold's training runs were clustered alone and its test runs assigned to those profiles; beside it the "
        "profiles of all runs. Agreement: adjusted Rand index of both on the test runs."
    )
    alt = "Scores with profiles of the training runs and of all runs, by split"
    tables.answer(labels_table(result), key="classify_labels_table", alt=alt)


def _scores(view: View, result: ClassifierEvaluation) -> None:
    naming = view.naming
    with st.container(horizontal=True, vertical_alignment="bottom"):
        link.respell("classify_split", {words: name for name, words in SPLIT_NAMES.items()}.get)  # former links
        split = controls.choice(
            "Split",
            "classify_split",
            tuple(result.splits),
            "How training and test runs are kept apart.",
            index=list(result.splits).index(strict_split(result)),
            shown=SPLIT_NAMES,
        )
        shown_as = controls.choice("Cells", "classify_cells", SHOWN_AS, shown=CELLS, row=True)
    scores = result.splits[split]
    figures.show(confusion_heatmap(scores, naming, shown_as), key=f"classify_confusion_{split}_{shown_as}")
    missed = missed_table(result, naming)
    if missed.rows:
        figures.fold(missed.title, "classify_missed", _missed, missed)
    figures.fold("Precision and recall of every profile", "classify_scores", _table_five, scores, naming)
    figures.fold("Calibration of the probabilities", "classify_calibration", _calibration, result, scores, naming)


def _missed(table: Table) -> None:
    st.caption("Recall under each split; – = no test run. None of these profiles can be predicted where it is 0.")
    alt = f"{len(table.rows)} profiles that are not recognised"
    tables.saved(table, table.name, key="classify_missed_table", alt=alt)


def _table_five(scores: SplitScores, naming: Naming) -> None:
    figures.show(table_five(scores, naming), key=f"classify_table_{SPLIT_NAMES[scores.split]}")


def _calibration(result: ClassifierEvaluation, scores: SplitScores, naming: Naming) -> None:
    figures.show(reliability_diagram(scores, naming), key=f"classify_reliability_{SPLIT_NAMES[scores.split]}")
    st.caption(CALIBRATION_NOTE)
    table = calibration_table(result)
    alt = "Calibration of the probabilities by split"
    tables.saved(table, table.name, key="classify_calibration_table", alt=alt)


def _about(view: View) -> None:
    model = view.model
    left_out = view.loaded.forecaster.left_out
    notes = [*model.notes, *(f"{label(target)} is not predicted: {why}" for target, why in left_out.items())]
    st.markdown("\n".join(f"- {markdown_text(note, 400)}" for note in notes))
    st.caption(
        f"{model.n_rows:,} training runs, {len(model.classes)} classes, {len(model.encoder.fields)} inputs, seed "
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
    with controls.fold("Sample for feature importance", "classify_explained"):
        settings = forms.settings(
            view.visit,
            view.dataset,
            questions.EXPLAIN,
            main=("n_sampled",),
            given=forms.within("forecaster", view.settings),
        )
    cached = view.visit.workbench.global_explanation.cached(view.dataset.hash, settings).result
    words = f"Explain {settings.n_sampled:,} runs"
    at_once = view.visit.app_state.settings.ahead_s > 0 and settings.n_sampled <= EXPLAINED_AT_ONCE
    if cached is not None or not (at_once or st.button(words, icon=":material/play_arrow:", key="classify_explain")):
        return cached
    bar = st.progress(0.0, text="Computing feature importance")

    def report_progress(share: float | None, words: str) -> None:
        bar.progress(share or 0.0, text=words)

    view.visit.workbench.global_explanation(view.dataset.hash, settings, report_progress)
    st.rerun()


def _importance(view: View, result: GlobalExplanation) -> None:
    """Show what matters most, by field."""
    if not result.additive:
        st.warning(
            f"The SHAP values do not add up (largest gap {result.additivity_error:.2g}); the charts are hidden because "
            "they would be wrong.",
            icon=":material/warning:",
        )
        return
    figures.show(field_bars(result, view.naming), key="classify_shap_fields")


def _details(view: View, result: GlobalExplanation) -> None:
    figures.show(value_bars(result, view.naming), key="classify_shap_values")
    effects(view, result)
