"""Home for what machines measured: benchmark runs and counters, with the page that answers questions about them."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from pages._parts import figures
from workprof.charts.home import benchmark_headlines, measured_sentence, telemetry_headlines
from workprof.charts.shapes import Headline
from workprof.charts.text import markdown_text
from workprof.formats.measured import BENCHMARKS
from workprof.store.reports import Dataset

NODES = "Which node is how much better, and which has gone bad."
PHASES = "Which phases each run goes through, and which known workload it is like."


def measured(visit: Visit, dataset: Dataset) -> None:
    """Show what the dataset holds, and the next step."""
    shown = _figures_of(visit, dataset)
    st.markdown(f"**{markdown_text(measured_sentence(dataset, shown), 400)}**")
    figures.headline_row(shown)
    st.header("Steps")
    with st.container(horizontal=True):
        if dataset.kind == BENCHMARKS:
            st.page_link("pages/nodes.py", label="Rank the nodes", icon=":material/dns:", help=NODES)
        else:
            st.page_link("pages/phases.py", label="Look at the phases", icon=":material/timeline:", help=PHASES)
        st.page_link("pages/data.py", label="Inspect the data", icon=":material/database:")


def _figures_of(visit: Visit, dataset: Dataset) -> tuple[Headline, ...]:
    columns = visit.workbench.column_profiles(dataset.hash)
    if dataset.kind == BENCHMARKS:
        return benchmark_headlines(dataset, columns)
    runs = visit.workbench.phase_runs(dataset.hash)
    return telemetry_headlines(dataset, columns, len(runs.runs), len(runs.workloads))
