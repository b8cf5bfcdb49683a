"""Nodes needed: the runs replayed on nodes, as requested and as the plan sizes them."""

import streamlit as st

from pages._memory.scope import PageContext
from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from workprof.answers.schedule import NOT_YET, first_notes, further_notes, schedule_answer
from workprof.charts.memory.schedule import waits_chart
from workprof.charts.shapes import headlines
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.questions import SCHEDULE
from workprof.memory.schedule import Schedule, ScheduleSettings

MAIN = ("nodes", "memory_bytes", "cpus", "gpus", "kinds", "most_wait_min", "order", "place")


def nodes_needed(context: PageContext) -> None:
    """Show the answer, the settings, the waits by number of nodes, and what was replayed."""
    top = st.container()
    given = {"verdict.target": context.target, "verdict.request_bytes": context.request_bytes}
    settings = forms.settings(context.visit, context.dataset, SCHEDULE, MAIN, given)
    result = long_question.result(context.visit, context.dataset, _long(context, settings))
    if result is None:
        return
    told = schedule_answer(result)
    with top:
        figures.headline(markdown_text(told.sentence, 300))
        figures.headline_row(headlines(told))
        for words in first_notes(result):
            st.caption(markdown_text(words, 400))
    figures.show(waits_chart(result), key="memory_schedule", sentence=False)
    tables.saved(
        told.table(), f"{safe_name(context.dataset.name)}-nodes", key="memory_schedule_table", alt=told.sentence
    )
    figures.fold("Method", "memory_schedule_method", _method, result, icon=":material/function:")


def _long(context: PageContext, settings: ScheduleSettings) -> LongQuestion[ScheduleSettings, Schedule]:
    return LongQuestion(
        name="memory_schedule_run",
        settings=settings,
        compute=context.workbench.schedule,
        button="Replay the runs",
        before=lambda: NOT_YET,
        what="Replaying the runs",
        outlives=True,
    )


def _method(result: Schedule) -> None:
    for words in further_notes(result):
        st.caption(markdown_text(words, 400))
