"""Nodes: which node is how much better, for which work, and which one has gone bad?"""

from __future__ import annotations

from collections.abc import Callable

from pages import _shell
from pages._frame.visit import Visit
from pages._nodes import degradation, ranking, transfer
from pages._nodes.context import TAB, PageContext, context
from pages._parts import tabs
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Nodes",
    "Which node is how much better, for which work, and which one has gone bad?",
    "Nodes needs benchmark runs with the columns node, benchmark, argv, started, finished, rc and stdout, as "
    "`workprof nodes suite` writes them; three runs of each benchmark on each node give a ranking.",
    "benchmarks",
    resets=True,
)


def _ranked(show: Callable[[PageContext], None]) -> Callable[[PageContext], None]:
    """Return a view of the ranking: it comes after the detection where the settings need one."""

    def shown(context: PageContext) -> None:
        if not degradation.missing(context):
            show(context)

    return shown


VIEWS = {
    "Ranking": _ranked(ranking.ranking),
    "Groups": _ranked(ranking.groups),
    "For a profile": _ranked(ranking.advice),
    "Degradation": degradation.degradation,
    "Transfer": transfer.transfer,
    "Scenarios": ranking.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the shared controls, then the chosen view."""
    tabs.show_open(TAB, VIEWS, context(visit, dataset))


_shell.run(PAGE, body)
