"""Bins of one task: searched or set by hand, with saving and risk at once."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._memory import asking, bin_form, edge_form, keep
from pages._memory.asking import Asked
from pages._parts import figures
from workprof.charts.memory import bin_headlines, bins_scenario, improvement_chart, usage_ecdf
from workprof.charts.text import markdown_text
from workprof.memory.bins.bins import GIVEN


def bins(asked: Asked) -> None:
    """Show the controls, the effect of the edges, and what more bins would bring."""
    if asking.needs_requests(asked):
        return
    searched = bin_form.settings(asked)
    edges = edge_form.typed()
    found = asked.workbench.bins(asked.dataset.hash, replace(searched, edges_bytes=edges))
    figures.headline_row(bin_headlines(found))
    for message in found.messages:
        st.caption(f":material/info: {markdown_text(message[:1].upper() + message[1:], 300)}.")
    figures.show(usage_ecdf(found), key="memory_usage")
    edge_form.table(found)
    keep.keep(asked, "memory_keep_bins", lambda name: bins_scenario(found, asked.dataset, name))
    st.header("How many bins")
    curve = asked.workbench.improvement(asked.dataset.hash, searched)
    figures.show(improvement_chart(curve, searched.k), key="memory_improvement")
    if found.search == GIVEN:
        st.caption("The curve is of the best edges of every number, not of the edges set by hand.")
