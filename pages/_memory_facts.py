"""Which facts go with the use of memory; those of after the run are labelled and can be hidden."""

from __future__ import annotations

import streamlit as st

from pages import _figures
from pages._memory_asked import Asked
from workprof.charts.memory import fact_bars
from workprof.memory.assessment import Assessment


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
    chart = fact_bars(found.features, "" if every else asked.task, after=after)
    if chart is None:
        st.info("This task has too few runs, or no column that varies, to test any fact.", icon=":material/info:")
    else:
        _figures.show(chart, key="memory_facts")
