"""Rankings, groups and advice on nodes as text for people."""

from __future__ import annotations

import math

from workprof.cli.console import table
from workprof.nodes.advice import Advice
from workprof.nodes.comparisons import AspectScore
from workprof.nodes.groups import Groups
from workprof.nodes.ranking import RankedNode, Ranking
from workprof.nodes.scores import OVERALL
from workprof.units import format_share

SHOWN_PAIRS = 12


def ranking_text(found: Ranking) -> str:
    """Return the nodes, who is how much better, and what is degraded."""
    parts = [
        f"{found.n_runs} runs; weights {weights_text(found.shares)}; "
        f"{'10-norm of the code' if found.published else '1 = geometric mean of the nodes'}",
        nodes_table(found.nodes),
    ]
    clear = [one for one in found.pairs if one.aspect == OVERALL and one.clear][:SHOWN_PAIRS]
    parts += [
        "\n".join(
            f"{one.node} is {one.ratio - 1:.0%} faster than {one.other} ({one.low - 1:.0%} to {one.high - 1:.0%})"
            for one in clear
        )
    ]
    hang = [one.benchmark for one in found.leave_outs if not one.same_order]
    if hang:
        parts.append(f"without {' or '.join(hang)} the order is another one")
    parts += [f"{one.node}: {one.degraded.reason}; {one.degraded.action}" for one in found.nodes if one.degraded]
    return "\n\n".join(part for part in parts if part)


def groups_text(found: Groups) -> str:
    """Return the groups with their labels."""
    rows: list[dict[str, object]] = [
        {"group": number, "nodes": ", ".join(one.nodes)} | one.labels for number, one in enumerate(found.groups)
    ]
    silhouette = "" if math.isnan(found.silhouette) else f", mean silhouette {found.silhouette:.2f}"
    stability = "" if math.isnan(found.stability) else f", stability {found.stability:.2f}"
    return f"{found.k} groups{silhouette}{stability}\n\n{table(rows)}"


def advice_text(found: Advice) -> str:
    """Return the weights with their reasons, and the nodes."""
    uses = [f"{one.aspect}: {format_share(one.share)} ({one.source})" for one in found.uses if math.isfinite(one.share)]
    head = f"profile {found.settings.profile}, {found.n_jobs:,} jobs; weights {weights_text(found.weights)}"
    return "\n\n".join([head, "\n".join(uses), nodes_table(found.ranking.nodes)])


def nodes_table(nodes: tuple[RankedNode, ...]) -> str:
    """Return one line per node."""
    aspects = list(nodes[0].aspects) if nodes else []
    return table(
        [
            {
                "rank": one.rank or "-",
                "node": one.node,
                "score": with_interval(one),
                "tied with": ", ".join(one.tied_with),
                **{name: with_interval(one.aspects[name]) for name in aspects},
                "score/price": "" if math.isnan(one.price_performance) else f"{one.price_performance:.3g}",
                "degraded": one.degraded.action if one.degraded else "",
            }
            for one in nodes
        ]
    )


def with_interval(one: RankedNode | AspectScore) -> str:
    """Return a score with its interval: '1.98 (1.96-2.00)'."""
    if math.isnan(one.score):
        return "no data"
    return f"{one.score:.2f}" if math.isnan(one.low) else f"{one.score:.2f} ({one.low:.2f}-{one.high:.2f})"


def weights_text(shares: dict[str, float]) -> str:
    """Return the weights: 'cpu 50.0 %, disk 50.0 %'."""
    return ", ".join(f"{name} {format_share(share)}" for name, share in shares.items()) or "none"
