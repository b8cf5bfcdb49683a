"""Nodes: which node is fastest for which work, and which has degraded?"""

from __future__ import annotations

from pages import _shell
from pages._frame.visit import Visit
from pages._nodes import context, degradation, groups, ranking, scenarios, transfer
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Nodes",
    "Which node is fastest for which work, and which has degraded?",
    "Nodes needs benchmark runs with the columns node, benchmark, argv, started, finished, rc and stdout, as "
    "`workprof nodes suite` writes them; three runs of each benchmark on each node give a ranking.",
    "benchmarks",
    resets=True,
)
VIEWS = {
    "Ranking": ranking.ranking,
    "Degradation": degradation.degradation,
    "Groups": groups.groups,
    "Transfer": transfer.transfer,
    "Scenarios": scenarios.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the chosen view."""
    context.arrive()
    tabs.show_open(context.TAB, VIEWS, context.PageContext(visit, dataset))


_shell.run(PAGE, body)
