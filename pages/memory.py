"""Memory: what do jobs ask for and use, what would other sizes save, and what would they break?"""

from __future__ import annotations

import streamlit as st

from pages import (
    _memory_asked,
    _memory_bins,
    _memory_models,
    _memory_policies,
    _memory_rollup,
    _memory_scenarios,
    _memory_tasks,
    _reset,
    _shell,
)
from pages._errors import guard
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Memory",
    "What do jobs ask for and use, what would other sizes save, and what would they break?",
    "Memory needs a dataset with the columns peak_memory_bytes and duration_s, and for savings "
    "requested_memory_bytes (or one request for all, set here).",
)
VIEWS = {
    "Tasks": _memory_tasks.tasks,
    "Bins": _memory_bins.bins,
    "Models": _memory_models.models,
    "Policies": _memory_policies.policies,
    "Roll-up": _memory_rollup.rollup,
    "Scenarios": _memory_scenarios.scenarios,
}


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show what the page is about, then the chosen view."""
    _reset.reset("memory")
    asked = _memory_asked.asked(visit, dataset)
    if asked is None:
        return
    tabs = st.tabs(list(VIEWS), key=_memory_asked.TAB, on_change="rerun", bind="query-params")
    for tab, show in zip(tabs, VIEWS.values(), strict=True):
        if tab.open:
            with tab, guard():
                show(asked)


_shell.run(PAGE, body)
