"""Kept scenarios of a ranking, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workprof.charts.nodes.words import moment_words
from workprof.nodes.ranking import NodeScenario, Ranking
from workprof.nodes.selection import RankSettings
from workprof.units import format_share


def node_scenario_table(scenarios: tuple[NodeScenario, ...]) -> pd.DataFrame:
    """Return one line per scenario with its settings in words."""
    return pd.DataFrame(
        [{"scenario": one.name, **settings_words(one.settings), "kept": one.created} for one in scenarios]
    )


def settings_words(settings: RankSettings) -> dict[str, str]:
    """Return the settings of a ranking in words."""
    ends = [moment_words(end) if end is not None else "any time" for end in (settings.since_s, settings.until_s)]
    return {
        "weights": ", ".join(f"{name} {format_share(share)}" for name, share in settings.shares.items() if share > 0),
        "score": settings.score,
        "runs left out": settings.exclude,
        "window": "all" if ends == ["any time"] * 2 else " to ".join(ends),
        "nodes": ", ".join(settings.nodes) or "all",
        "prices": ", ".join(f"{node} {price:g}" for node, price in settings.prices_per_h.items()) or "none",
    }


def node_comparison_table(rankings: Mapping[str, Ranking]) -> pd.DataFrame:
    """Return one line per node with its place and score in every scenario; a node that is not in one has no value."""
    found: dict[str, dict[str, object]] = {}
    for name, ranking in rankings.items():
        for one in ranking.nodes:
            line = found.setdefault(one.node, {"node": one.node})
            line |= {f"{name}: place": one.rank, f"{name}: score": one.score}
            if ranking.settings.prices_per_h:
                line[f"{name}: score / price"] = one.price_performance
    return pd.DataFrame(list(found.values()))


def leaders_sentence(rankings: Mapping[str, Ranking]) -> str:
    """Return which node is first in which scenario."""
    first = {name: [one.node for one in ranking.nodes if one.rank == 1] for name, ranking in rankings.items()}
    if len({tuple(nodes) for nodes in first.values()}) == 1 and len(first) > 1:
        nodes = " and ".join(next(iter(first.values()))) or "No node"
        return f"{nodes} is first in all {len(first)} scenarios."
    told = [f"{' and '.join(nodes) or 'no node'} in {name}" for name, nodes in first.items()]
    return f"First: {'; '.join(told)}."
