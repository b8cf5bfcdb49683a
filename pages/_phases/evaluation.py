"""How well known workloads are recognised, and unknown ones rejected."""

from __future__ import annotations

import streamlit as st

from pages._parts import earlier_result, figures, long_question
from pages._parts.controls import choice, count
from pages._parts.long_question import LongQuestion
from pages._phases import known_workloads
from pages._phases.asking import Asked
from workprof.charts.phases.evaluation import (
    TABLE_THREE,
    confusion_chart,
    evaluation_headlines,
    evaluation_sentence,
    inner_table,
    known_bars,
    known_table,
    measures_of,
    open_curve,
    unknown_table,
)
from workprof.charts.phases.timeline import NOT_THE_PAPER
from workprof.charts.text import markdown_text
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.units import format_duration
from workprof.workbench.phases import EVALUATE


def evaluation(asked: Asked) -> None:
    """Show what is evaluated on what, the job, and its result."""
    source = known_workloads.chosen(asked, "Learned from")
    settings = _settings(asked, elsewhere=bool(source.train_hash))
    train = source.train_hash or None
    found = long_question.result(
        asked.visit,
        asked.dataset,
        LongQuestion(
            name=f"phases_start_evaluation_{source.train_hash[:8]}",
            settings=settings,
            answer=lambda dataset, own: asked.workbench.evaluate_phases_answer(dataset, own, train),
            start=lambda dataset, own: asked.workbench.start_evaluate_phases(dataset, own, train),
            button="Evaluate",
            before=lambda: f"Not evaluated with these settings yet. {_took(asked)}",
            what="Evaluating",
        ),
    )
    if found is not None:
        _found(found)


def _took(asked: Asked) -> str:
    earlier = earlier_result.runs(asked.visit, EVALUATE.name)
    return f"The last one here took {format_duration(earlier[0].seconds)}." if earlier else "It takes some minutes."


def _settings(asked: Asked, *, elsewhere: bool) -> EvaluationSettings:
    if elsewhere:
        return EvaluationSettings(library=asked.library)
    with st.grid(min_column_width=200, gap="small"):
        splits = count(
            "Splits",
            "phases_splits",
            EvaluationSettings.splits,
            "Repeated, within each workload: 70 % to learn.",
            least=1,
        )
        leaving = count(
            "Of these with workloads left out",
            "phases_open_splits",
            EvaluationSettings.open_splits,
            "Each workload is left out in turn and must be answered unknown; these take long.",
        )
    splits = min(splits, 1000)
    return EvaluationSettings(library=asked.library, splits=splits, open_splits=min(leaving, splits))


def _found(found: Evaluation) -> None:
    figures.headline_row(evaluation_headlines(found))
    bars = known_bars(found)
    if bars is None:
        st.markdown(f"**{markdown_text(evaluation_sentence(found), 500)}**")
    else:
        figures.show(bars, key="phases_known")
    for note in found.notes:
        st.caption(f":material/info: {markdown_text(note, 400)}")
    _open_set(found)
    _known(found)
    st.header("Distances within workloads (Table IV)")
    figures.table(inner_table(found), "phases-distances", key="phases_inner", alt="Distances within each workload")
    st.caption(NOT_THE_PAPER)


def _open_set(found: Evaluation) -> None:
    if not found.unknown:
        return
    st.header("Unknown workloads (Table III)")
    measures = measures_of(found)
    if measures:
        by = choice("Rejected by", "phases_open_by", measures, "What a run's unlikeness is measured by.")
        chart = open_curve(found, by)
        if chart is not None:
            figures.show(chart, key=f"phases_open_{by}")
    figures.table(unknown_table(found), "phases-unknown", key="phases_unknown", alt="Rejected share by workload")
    st.caption(f"Published: {TABLE_THREE}")


def _known(found: Evaluation) -> None:
    if found.known is None:
        return
    st.header("Known workloads (Table II)")
    figures.table(known_table(found), "phases-known", key="phases_classes", alt="Precision, recall and F1 by workload")
    figures.show(confusion_chart(found.known), key="phases_confusion")
