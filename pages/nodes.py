"""Nodes: which node is fastest for which work, and which has degraded?"""

from __future__ import annotations

from pages import _shell
from pages._frame import datasets
from pages._frame.visit import Visit
from pages._nodes import context, degradation, groups, history, ranking, scenarios, search, transfer
from pages._parts import tabs
from workprof.formats.measured import CONFIGURATIONS
from workprof.nodes.questions import HISTORY, SEARCH
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Nodes",
    "Which node is fastest for which work, and which has degraded?",
    "Nodes needs benchmark runs, as `workprof nodes suite` writes them. Their columns are node, benchmark, argv, "
    "started, finished, rc and stdout. Three runs of each benchmark on each node give a ranking.",
    "benchmarks",
    resets=True,
)
VIEWS = {
    "Ranking": ranking.ranking,
    "Degradation": degradation.degradation,
    HISTORY.tab: history.history,
    "Groups": groups.groups,
    "Transfer": transfer.transfer,
    SEARCH.tab: search.search,
    "Scenarios": scenarios.scenarios,
}


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the chosen view."""
    context.arrive()
    tabs.show_open(context.TAB, VIEWS, context.PageContext(visit, dataset))


def empty(visit: Visit) -> None:
    """Show the search where a table of configurations is all there is, else what the page needs."""
    if any(one.kind == CONFIGURATIONS for one in visit.workbench.datasets()):
        search.search_of(visit)
    else:
        datasets.empty_state(visit, PAGE.needs, PAGE.kind)


_shell.run(PAGE, body, empty)
