"""How well known workloads are recognised, and unknown ones rejected."""

from dataclasses import replace

import streamlit as st

from pages._frame import look
from pages._parts import figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from pages._phases.form import PageContext, source_of
from pages._phases.methods import early
from workprof.answers.recognition import (
    NOT_THE_PAPER,
    TABLE_THREE,
    evaluation_figures,
    evaluation_sentence,
    inner_table,
    known_table,
    measure_words,
    unknown_table,
)
from workprof.charts.phases.evaluation import confusion_chart, known_bars, measures_of, open_curve
from workprof.core.words import markdown_text
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.questions import EVALUATE

FEW_SHARE = 0.15
"""Of the work that two splits of known workloads are."""


def evaluation(context: PageContext) -> None:
    """Show what is evaluated on what, the job, and its result."""
    first = st.container()
    train = source_of(context, "Trained on")
    settings = EvaluationSettings(context.library, train_hash=train)
    if not train:  # else nothing is split
        shared = context.shared | {"train_hash": train}
        main, title = ("splits", "open_splits"), "More settings of the evaluation"
        settings = forms.settings(context.visit, context.dataset, EVALUATE, main, shared, rest_of=title)
    figures.fold("How soon", "phases_early", early, context)
    compute = context.workbench.evaluate_phases
    with first:
        result = long_question.result(
            context.visit,
            context.dataset,
            LongQuestion(
                name=f"phases_start_evaluation_{train[:8]}",
                settings=settings,
                compute=compute,
                button="Evaluate",
                before=lambda: "Not evaluated with these settings yet.",
                what="Evaluating",
                part=None if train else (replace(settings, splits=2, open_splits=0), FEW_SHARE, "two splits"),
            ),
        )
        if result is None:
            return
        figures.headline(markdown_text(evaluation_sentence(result), 500))
        figures.headline_row(evaluation_figures(result))
        bars = known_bars(result)
        if bars is not None:
            figures.show(bars, key="phases_known", sentence=False)
    _shown(result)


def _shown(result: Evaluation) -> None:
    for note in result.notes:
        st.caption(f":material/info: {markdown_text(note, 400)}")
    wide = not look.narrow()
    if result.unknown:
        with st.expander("Unknown workloads", expanded=wide):
            _unknown(result)
    if result.known is not None:
        with st.expander("Known workloads", expanded=wide):
            alt = "Precision, recall and F1 by workload"
            tables.saved(known_table(result), "phases-known", key="phases_classes", alt=alt)
            st.caption("As in Table II of the paper.")
            figures.show(confusion_chart(result.known), key="phases_confusion")
    figures.fold("Distances within workloads", "phases_within", _within, result)


def _unknown(result: Evaluation) -> None:
    measures = measures_of(result)
    if measures:
        shown = {name: measure_words(name) for name in measures}
        by = choice("Distance", "phases_open_by", measures, "Above the threshold of it a run is rejected.", shown=shown)
        chart = open_curve(result, by)
        if chart is not None:
            figures.show(chart, key=f"phases_open_{by}")
    alt = "Rejected share by workload"
    tables.saved(unknown_table(result), "phases-unknown", key="phases_unknown", alt=alt)
    st.caption(f"As in Table III of the paper: {TABLE_THREE}")


def _within(result: Evaluation) -> None:
    tables.saved(inner_table(result), "phases-distances", key="phases_inner", alt="Distances within each workload")
    st.caption(NOT_THE_PAPER)
