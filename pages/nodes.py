"""Nodes: which node is how much better, for which work, and which one has gone bad?"""

from __future__ import annotations

import streamlit as st

from pages import (
    _nodes_advice,
    _nodes_asked,
    _nodes_degradation,
    _nodes_detect,
    _nodes_groups,
    _nodes_ranking,
    _nodes_scenarios,
    _nodes_transfer,
    _reset,
    _shell,
)
from pages._errors import guard
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Nodes",
    "Which node is how much better, for which work, and which one has gone bad?",
    "Nodes needs benchmark runs with the columns node, benchmark, argv, started, finished, rc and stdout, as "
    "`workprof nodes suite` writes them; three runs of each benchmark on each node give a ranking.",
    "benchmarks",
)
NEED_NO_RANKING = ("Degradation", "Transfer", "Scenarios")
VIEWS = {
    "Ranking": _nodes_ranking.ranking,
    "Groups": _nodes_groups.groups,
    "For a profile": _nodes_advice.advice,
    "Degradation": _nodes_degradation.degradation,
    "Transfer": _nodes_transfer.transfer,
    "Scenarios": _nodes_scenarios.scenarios,
}


def body(visit: _shell.Visit, dataset: Dataset) -> None:
    """Show the shared controls, then the chosen view."""
    _reset.reset("nodes")
    asked = _nodes_asked.asked(visit, dataset)
    tabs = st.tabs(list(VIEWS), key=_nodes_asked.TAB, on_change="rerun", bind="query-params")
    for tab, (name, show) in zip(tabs, VIEWS.items(), strict=True):
        if tab.open:
            with tab, guard():
                if name in NEED_NO_RANKING or not _nodes_detect.missing(asked):
                    show(asked)


_shell.run(PAGE, body)
