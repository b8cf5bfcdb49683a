"""Runs: computed results, to reopen, compare and reproduce, and campaigns of runs."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import datasets
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._parts import tables
from pages._runs import campaigns, one, table
from workprof.answers.saved_runs import job_table
from workprof.core.words import markdown_text
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Runs",
    "Computed results: reopen, compare, reproduce.",
    "Every result is saved with its settings, seed and versions.",
    kind="",
    resets=True,
)


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the saved results, the chosen one, another beside it, the jobs that have none, and campaigns."""
    runs = visit.workbench.stored_runs()
    if not runs:
        _open_jobs(visit)
        _campaigns(visit)
        st.info(
            f"Nothing is computed yet. Open Profiles or Memory for {markdown_text(dataset.name)}: their results are "
            "saved here.",
            icon=":material/info:",
        )
        return
    chosen = table.choose(runs)
    if chosen is not None:
        with guard():
            one.one(visit, chosen)
        with guard():
            one.compare(visit, runs, chosen)
    _open_jobs(visit)
    _campaigns(visit)


def _campaigns(visit: Visit) -> None:
    with guard():
        campaigns.show(visit)


def _open_jobs(visit: Visit) -> None:
    """Show what waits, runs, failed or was cancelled since the server started."""
    jobs = visit.workbench.open_jobs()
    if jobs:
        st.header("Running, failed and cancelled")
        result = job_table(jobs)
        alt = f"{len(jobs)} computations without a result"
        tables.show(result, key="runs_jobs", alt=alt, column_config={"step": None})
        st.caption("Since the server started. A running computation can be cancelled on its own page.")


def empty(visit: Visit) -> None:
    """Show the way to a first dataset."""
    datasets.empty_state(visit, PAGE.needs)
    _campaigns(visit)


_shell.run(PAGE, body, empty)
