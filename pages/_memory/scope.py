"""Which task the Memory page is about, and the request of runs that have none."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._memory import other_names
from pages._parts.controls import choice
from workprof.charts.text import markdown_text
from workprof.units import GB

TASK = "memory_task"
EVERY_TASK = "all tasks"


def flat_request() -> float:
    """Show the field and return the request in bytes; 0 = none."""
    value = st.number_input(
        "Flat request (GB, 0 = none)",
        min_value=0.0,
        value=0.0,
        format="%g",
        key="memory_request",
        bind="query-params",
        help="The request of runs that have none in the table; GB = 1e9 bytes.",
    )
    return float(value) * GB


def _as_label(wanted: str, labels: Mapping[str, str]) -> str:
    """Return what a link calls a task as the list calls it: links of other pages give the full name."""
    found = next((label for label, name in labels.items() if name == wanted and wanted not in labels), wanted)
    if found != wanted:
        other_names.take(TASK, found)
    return found


def task(labels: Mapping[str, str]) -> str:
    """Show the tasks, the one that wastes most first, and return the chosen one's name; '' = all tasks."""
    options = dict(labels) | {EVERY_TASK: ""}
    wanted = _as_label(st.query_params.get(TASK, EVERY_TASK), labels)
    chosen = choice(
        "Task",
        TASK,
        tuple(options),
        "Of the bins, the models and the facts; the one that wastes most GB·h first. Tasks of a path show its end.",
    )
    if wanted not in options:
        st.warning(
            f"This link is about the task {markdown_text(wanted, 80)}, which this dataset does not have.",
            icon=":material/link_off:",
        )
    return options[chosen]
