"""Runs: what was computed, with which settings, and how do I have it again?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import tables
from pages._runs import one, table
from workprof.charts.runs import job_table
from workprof.charts.text import markdown_text
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Runs",
    "What was computed, with which settings, and how do I have it again?",
    "Every computation is kept with its settings, seed and versions.",
    kind="",
)


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the kept runs, the chosen one, and another beside it."""
    _open_jobs(visit)
    runs = visit.workbench.kept_runs()
    if not runs:
        st.info(
            f"Nothing is computed yet. Open Profiles or Memory for {markdown_text(dataset.name)}: what they find is "
            "kept here.",
            icon=":material/info:",
        )
        return
    chosen = table.choose(runs)
    if chosen is None:
        return
    with guard():
        one.one(visit, chosen)
    with guard():
        one.compare(visit, runs, chosen)


def _open_jobs(visit: Visit) -> None:
    """Show what waits, runs, failed or was cancelled since the server started."""
    jobs = visit.workbench.open_jobs()
    if jobs:
        st.header("Without a result")
        tables.show(job_table(jobs), key="runs_jobs", alt=f"{len(jobs)} jobs without a result")
        st.caption("Since the server started. A job that runs can be cancelled on its own page.")


def empty(visit: Visit) -> None:
    """Show the way to a first dataset."""
    datasets.empty_state(visit, PAGE.needs)


_shell.run(PAGE, body, empty)
