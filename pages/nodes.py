"""Nodes: which node is how much better, for which work, and which one has gone bad?"""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame import reset
from pages._frame.errors import guard
from pages._frame.visit import Visit
from pages._nodes import asking, degradation, detect, groups, profile_advice, ranking, scenarios, transfer
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
    "Ranking": ranking.ranking,
    "Groups": groups.groups,
    "For a profile": profile_advice.advice,
    "Degradation": degradation.degradation,
    "Transfer": transfer.transfer,
    "Scenarios": scenarios.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the shared controls, then the chosen view."""
    reset.reset("nodes")
    asked = asking.asked(visit, dataset)
    tabs = st.tabs(list(VIEWS), key=asking.TAB, on_change="rerun", bind="query-params")
    for tab, (name, show) in zip(tabs, VIEWS.items(), strict=True):
        if tab.open:
            with tab, guard():
                if name in NEED_NO_RANKING or not detect.missing(asked):
                    show(asked)


_shell.run(PAGE, body)
