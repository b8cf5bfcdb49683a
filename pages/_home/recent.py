"""What was computed last, of whichever dataset, each a click away."""

from __future__ import annotations

import streamlit as st

from pages._frame import cross_link
from pages._frame.visit import Visit
from pages._runs import links
from workprof.charts.runs import recent_line
from workprof.charts.text import markdown_text
from workprof.workbench.runs import KeptRun

SHOWN = 5


def recent(visit: Visit) -> None:
    """Show the newest kept runs with the page that opens each, and the way to all of them."""
    runs = visit.workbench.kept_runs()
    if not runs:
        return
    st.header("Recent runs")
    for position, run in enumerate(runs[:SHOWN]):
        _line(visit, run, position)
    st.page_link("pages/runs.py", label=f"All {len(runs):,} runs", icon=":material/history:")


def _line(visit: Visit, run: KeptRun, position: int) -> None:
    page = links.page_of(run.step)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(markdown_text(recent_line(run), 160), width="stretch")
        if st.button(f"Open on {page.capitalize()}", key=f"home_run_{position}", icon=":material/open_in_new:"):
            settings = visit.workbench.run_again(run.run).settings
            cross_link.go(page, links.parameters_of(run.step, run.dataset_hash, settings))
