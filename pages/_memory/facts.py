"""Which facts go with the use of memory; those of after the run are labelled and can be hidden."""

from __future__ import annotations

import streamlit as st

from pages._memory.asking import Asked
from pages._parts import figures
from pages._parts.controls import choice
from workprof.charts.memory.boxes import fact_bars, fact_scatter, facts_of_task
from workprof.memory.assessment import Assessment
from workprof.memory.facts import FactPointsSettings


def facts(asked: Asked, found: Assessment) -> None:
    """Show the strongest facts of the chosen task, or over all tasks."""
    with st.container(horizontal=True):
        every = st.toggle(
            "Over all tasks",
            key="memory_facts_all",
            bind="query-params",
            help="Else the facts of the task chosen above.",
        )
        after = st.toggle(
            "With facts of after the run",
            value=True,
            key="memory_facts_after",
            bind="query-params",
            help="They explain, but no prediction may use them.",
        )
    task = "" if every else asked.task
    chart = fact_bars(found.features, task, after=after)
    if chart is None:
        st.info("This task has too few runs, or no column that varies, to test any fact.", icon=":material/info:")
    else:
        figures.show(chart, key="memory_facts")
        names = tuple(fact.column for fact in facts_of_task(found.features, task, after=after))
        _one(asked, task, choice("One fact", "memory_fact", names, "Against the memory used; the strongest first."))


def _one(asked: Asked, task: str, column: str) -> None:
    """Show one fact: points of a number, boxes of a category."""
    found = asked.workbench.fact_points(asked.dataset.hash, FactPointsSettings(column, task, asked.target))
    figures.show(fact_scatter(found), key=f"memory_fact_{found.kind}")
