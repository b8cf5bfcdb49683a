"""Bins as a picture, a table and a curve: the same for a task and for a profile."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._memory import edge_form, keep
from pages._memory.asking import Asked
from pages._parts import figures
from workprof.charts.memory.bins import improvement_chart, usage_ecdf
from workprof.charts.text import markdown_text
from workprof.memory.bins import GIVEN, Bins, ImprovementCurve
from workprof.memory.scenarios import Scenario


def edges(asked: Asked, found: Bins, about: str, draft: Callable[[str], Scenario]) -> None:
    """Show the edges over what the runs used, the table that edits them, and the field that keeps them."""
    for message in found.messages:
        st.caption(f":material/info: {markdown_text(message[:1].upper() + message[1:], 300)}.")
    figures.show(usage_ecdf(found, about), key="memory_usage")
    edge_form.table(found)
    keep.keep(asked, "memory_keep_bins", draft)


def improvement(curve: ImprovementCurve, found: Bins) -> None:
    """Show what more bins would bring."""
    st.header("How many bins")
    figures.show(improvement_chart(curve, found.settings.k), key="memory_improvement")
    if found.search == GIVEN:
        st.caption("The curve is of the best edges of every number, not of the edges set by hand.")
