"""Phases: which phases does a workload go through, and which known workload is it?"""

from __future__ import annotations

import streamlit as st

from pages import (
    _phases_asked,
    _phases_evaluation,
    _phases_fingerprint,
    _phases_library,
    _phases_live,
    _phases_match,
    _phases_timeline,
    _reset,
    _shell,
)
from pages._errors import guard
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Phases",
    "Which phases does a workload go through, and which known workload is it?",
    "Phases needs a dataset of counters by the second (columns workload, run, t and counters), such as `workprof "
    "record` writes.",
    kind="telemetry",
)
VIEWS = {
    "Timeline": _phases_timeline.timeline,
    "Fingerprint": _phases_fingerprint.fingerprint,
    "Match": _phases_match.match,
    "Library": _phases_library.library,
    "Evaluation": _phases_evaluation.evaluation,
    "Live": _phases_live.live,
}


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show what the page is about, then the chosen view."""
    _reset.reset("phases")
    asked = _phases_asked.asked(visit, dataset)
    if asked is None:
        return
    tabs = st.tabs(list(VIEWS), key=_phases_asked.TAB, on_change="rerun", bind="query-params")
    for tab, show in zip(tabs, VIEWS.values(), strict=True):
        if tab.open:
            with tab, guard():
                show(asked)


_shell.run(PAGE, body)
