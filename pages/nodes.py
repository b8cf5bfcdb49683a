"""Nodes: which node is how much better, for which work, and which one has gone bad?"""

from __future__ import annotations

from collections.abc import Callable

from pages import _shell
from pages._frame import reset
from pages._frame.visit import Visit
from pages._nodes import asking, degradation, detect, groups, profile_advice, ranking, scenarios, transfer
from pages._nodes.asking import Asked
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Nodes",
    "Which node is how much better, for which work, and which one has gone bad?",
    "Nodes needs benchmark runs with the columns node, benchmark, argv, started, finished, rc and stdout, as "
    "`workprof nodes suite` writes them; three runs of each benchmark on each node give a ranking.",
    "benchmarks",
)


def _ranked(show: Callable[[Asked], None]) -> Callable[[Asked], None]:
    """Return a view of the ranking: it comes after the detection where the settings need one."""

    def shown(asked: Asked) -> None:
        if not detect.missing(asked):
            show(asked)

    return shown


VIEWS = {
    "Ranking": _ranked(ranking.ranking),
    "Groups": _ranked(groups.groups),
    "For a profile": _ranked(profile_advice.advice),
    "Degradation": degradation.degradation,
    "Transfer": transfer.transfer,
    "Scenarios": scenarios.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the shared controls, then the chosen view."""
    reset.reset("nodes")
    asked = asking.asked(visit, dataset)
    tabs.show_open(asking.TAB, VIEWS, asked)


_shell.run(PAGE, body)
