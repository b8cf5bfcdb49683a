"""What all views of the Memory page share: the task, what is sized for, the request of runs that have none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages._frame import empty_state
from pages._frame.visit import Visit
from pages._memory import scope
from pages._memory.scope import TASK
from pages._parts.controls import choice
from workprof.charts.memory.tasks import task_labels
from workprof.memory.assessment import Assessment, AssessmentSettings, ClassSettings
from workprof.memory.usage import USAGE_COLUMNS
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

TAB = "memory_tab"
NEEDED = ("duration_s",)
REQUEST = "requested_memory_bytes"


@dataclass(frozen=True)
class Asked:
    """What the page is about.

    Attributes:
        visit: this run of the page.
        dataset: looked at.
        target: what counts as use.
        request_bytes: of runs without a request; 0 = none.
        columns: names that the dataset has.
        task: name, '' = all tasks.
    """

    visit: Visit
    dataset: Dataset
    target: str
    request_bytes: float
    columns: frozenset[str]
    task: str = field(default="")

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.visit.workbench

    @property
    def shared(self) -> dict[str, Any]:
        """The settings of a question on the task that all views of the page share, by their paths."""
        return {"task": self.task, "request_bytes": self.request_bytes, "target": self.target}

    @property
    def has_requests(self) -> bool:
        """Whether savings can be told."""
        return REQUEST in self.columns or self.request_bytes > 0


def asked(visit: Visit, dataset: Dataset) -> Asked | None:
    """Show the shared controls and return what was chosen; None (and what is missing) where the page cannot work."""
    columns = frozenset(column.name for column in visit.workbench.columns(dataset.hash))
    targets = tuple(name for name, column in USAGE_COLUMNS.items() if column in columns)
    missing = [name for name in NEEDED if name not in columns]
    if not targets:
        missing = ["peak_memory_bytes (or rss)", *missing]
    if missing:
        empty_state.empty_state(
            visit, f"This dataset has no column {' and no column '.join(missing)}, which sizing needs."
        )
        return None
    with st.grid(min_column_width=220, gap="small"):
        target = choice(
            "Sized for",
            "memory_target",
            targets,
            "peak_rss: the largest use of a run, which decides whether it is killed. rss: what the published harness "
            "compares with.",
        )
        request = scope.flat_request()
        chosen = Asked(visit, dataset, target, request, columns)
        task = scope.chosen_task(task_labels([one.task for one in assessment(chosen).tasks]))
    if not chosen.has_requests:
        st.info(
            f"This dataset has no column {REQUEST}: give the request of every run above as **Flat request (GB)** to "
            "see what is wasted and saved.",
            icon=":material/info:",
        )
    return Asked(visit, dataset, target, request, columns, task)


def assessment(asked: Asked, classes: ClassSettings | None = None) -> Assessment:
    """Return what tasks ask for and use; the first time it is measured, which is said."""
    settings = AssessmentSettings(asked.target, asked.request_bytes, classes or ClassSettings())
    with st.spinner("Measuring what is asked for and used…", show_time=True):
        return asked.workbench.assessment(asked.dataset.hash, settings)


def needs_requests(asked: Asked) -> bool:
    """Return whether requests are missing, and say so."""
    if asked.has_requests:
        return False
    st.info("Savings compare with requests, and this dataset has none.", icon=":material/info:")
    return True


def open_task(label: str, tab: str) -> None:
    """Make a task the one that the page is about, in another view (a callback)."""
    st.session_state[TASK] = label
    st.query_params[TAB] = tab
