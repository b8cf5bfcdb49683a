"""Two runs of a sweep side by side: agreement, overlap, and the jobs that moved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

from pages._frame.errors import guard
from pages._parts import figures, tables
from workprof.charts.downloads import csv_bytes
from workprof.charts.sweep.maps import comparison_headlines, moved_jobs, overlap_heatmap
from workprof.charts.sweep.runs import run_names, runner_up
from workprof.profiles.sweep import RunComparison

if TYPE_CHECKING:
    from pages._sweep.context import View

TAB, TABS = "Compare two", "sweep_tab"
FIRST, SECOND = "sweep_before", "sweep_after"
ROWS_A_PAGE = 50


def choose(first: str, second: str) -> None:
    """Make two runs the ones that are compared and turn to them (for a button's `on_click`)."""
    st.session_state[FIRST], st.session_state[SECOND], st.query_params[TABS] = first, second, TAB


@st.fragment
def compare(view: View) -> None:
    """Show two selectors, and how the runs that they name differ."""
    names = run_names(view.state.runs)
    if len(names) < 2:
        st.info("Two finished runs are needed for a comparison.", icon=":material/info:")
        return
    with guard():
        best = max(view.state.best, 0)
        second_best = runner_up(view.state.runs, best)
        with st.container(horizontal=True):
            first = _pick("First run", names, best, FIRST)
            second = _pick("Second run", names, second_best, SECOND)
        comparison = view.visit.workbench.compare_sweep_runs(
            view.dataset.hash, view.state.settings, names.index(first), names.index(second)
        )
        figures.headline_row(comparison_headlines(comparison))
        figures.show(overlap_heatmap(comparison, first, second), key=f"sweep_overlap_{first}_{second}")
        _moved(view, comparison)


def _pick(words: str, names: tuple[str, ...], default: int, key: str) -> str:
    chosen: str = st.selectbox(words, names, index=default, key=key, bind="query-params")
    return chosen


def _moved(view: View, comparison: RunComparison) -> None:
    ids = comparison.row_ids
    st.markdown(f"**Jobs that moved: {len(ids):,}**")
    if not len(ids):
        st.caption("Every row stayed with most of its group.")
        return
    pages = math.ceil(len(ids) / ROWS_A_PAGE)
    page = st.pagination(pages, key="sweep_moved_page", bind="query-params") if pages > 1 else 1
    shown = ids[(page - 1) * ROWS_A_PAGE : page * ROWS_A_PAGE].tolist()
    workbench, dataset = view.visit.workbench, view.dataset.hash
    tables.show(
        moved_jobs(workbench.rows(dataset, shown), comparison),
        hide_index=True,
        key="sweep_moved",
        alt=f"{len(shown)} of {len(ids)} jobs that moved, page {page}",
    )
    st.download_button(
        f"CSV, all {len(ids):,} moved rows",
        data=lambda: csv_bytes(moved_jobs(workbench.rows(dataset, ids.tolist()), comparison)),
        file_name="moved-jobs.csv",
        mime="text/csv",
        on_click="ignore",
        key="sweep_moved_csv",
        icon=":material/download:",
    )
