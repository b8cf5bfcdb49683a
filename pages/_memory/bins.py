"""Bins of one task or one profile: searched or set by hand, with saving and risk at once."""

from __future__ import annotations

from dataclasses import replace

from pages._memory import asking, bin_form, bin_views, edge_form, profile_bins, profile_scope
from pages._memory.asking import Asked
from pages._parts import figures
from workprof.charts.memory import bin_headlines, bins_scenario
from workprof.memory.bin_search import BinSettings


def bins(asked: Asked) -> None:
    """Show the controls, the effect of the edges, and what more bins would bring."""
    if asking.needs_requests(asked):
        return
    scope = profile_scope.chosen(asked)
    searched = bin_form.settings(asked)
    edges = edge_form.typed()
    if scope is None:
        _of_task(asked, searched, edges)
    else:
        profile_bins.profile_bins(asked, scope, searched, edges)


def _of_task(asked: Asked, searched: BinSettings, edges: tuple[float, ...]) -> None:
    found = asked.workbench.bins(asked.dataset.hash, replace(searched, edges_bytes=edges))
    figures.headline_row(bin_headlines(found))
    bin_views.edges(asked, found, "", lambda name: bins_scenario(found, asked.dataset, name))
    bin_views.improvement(asked.workbench.improvement(asked.dataset.hash, searched), found)
