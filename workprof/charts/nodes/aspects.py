"""Nodes by aspect as parallel coordinates: one line a node, one place an aspect, on a scale of ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from workprof.charts.nodes.words import node_name, score_words
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import mark
from workprof.nodes.ranking import RankedNode, Ranking
from workprof.units import format_share

MOST_NODES = 24
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 5, 10, 20, 50, 100)
_DASHES = ("solid", "dash", "dot", "dashdot")


def aspect_lines(found: Ranking) -> Chart:
    """Return the scores of the nodes in every aspect; the best ranked nodes where there are many."""
    nodes, aspects = found.nodes[:MOST_NODES], list(found.metrics)
    takeaway = aspects_sentence(found)
    shown = "" if len(nodes) == len(found.nodes) else f"The first {len(nodes)} of {len(found.nodes)} nodes. "
    return Chart(
        name="node-aspects",
        figure=figure_of(
            [_line(number, one, aspects) for number, one in enumerate(nodes)],
            x={
                "title": "Aspect",
                "tickvals": list(range(len(aspects))),
                "ticktext": aspects,
                "range": [-0.3, len(aspects) - 0.7],
                "zeroline": False,
            },
            y=_score_axis(nodes, published=found.published),
            height=400,
            showlegend=True,
        ),
        takeaway=takeaway,
        alt=f"Scores of {len(nodes)} nodes in {', '.join(aspects)}. {takeaway}",
        data=aspect_table(found),
        note=f"{shown}Logarithmic: equal distances are equal ratios. Bars: intervals of "
        f"{format_share(found.settings.confidence, 0)}; nodes without one have fewer than 3 runs of a benchmark.",
    )


def aspects_sentence(found: Ranking) -> str:
    """Return in which aspects the nodes differ clearly."""
    if len(found.nodes) < 2:
        return "One node alone has nothing to be compared with."
    if found.published:
        return "The published score ranks the nodes in each aspect; it does not say by how much they differ."
    clear = {one.aspect for one in found.pairs if one.clear}
    differ = [name for name in found.metrics if name in clear]
    alike = [name for name in found.metrics if name not in clear]
    if not any(math.isfinite(one.low) for one in found.pairs):
        return "With fewer than 3 runs of a benchmark on each node no aspect can tell the nodes apart."
    if not differ:
        return "No aspect tells the nodes apart."
    rest = f", not in {', '.join(alike)}" if alike else ""
    return f"Nodes differ clearly in {', '.join(differ)}{rest}."


def aspect_table(found: Ranking) -> pd.DataFrame:
    """Return one line per node and aspect."""
    return pd.DataFrame(
        [
            {"node": one.node, "aspect": name, "score": own.score, "low": own.low, "high": own.high, "rank": own.rank}
            | {"runs": own.n_runs}
            for one in found.nodes
            for name, own in one.aspects.items()
        ]
    )


def _line(number: int, one: RankedNode, aspects: Sequence[str]) -> dict[str, Any]:
    look, scores = mark(number), [one.aspects[name] for name in aspects]
    known = [math.isfinite(own.low) for own in scores]
    shift = (number % 5 - 2) * 0.03  # intervals of neighbours would hide each other
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": node_name(one.node),
        "x": [place + shift for place in range(len(aspects))],
        "y": [own.score if math.isfinite(own.score) and own.score > 0 else None for own in scores],
        "line": {"color": look.colour, "dash": _DASHES[number // 8 % len(_DASHES)], "width": 2},
        "marker": {"color": look.colour, "symbol": look.symbol if number >= 8 else _symbol(number), "size": 10},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [own.high - own.score if ok else 0.0 for own, ok in zip(scores, known, strict=True)],
            "arrayminus": [own.score - own.low if ok else 0.0 for own, ok in zip(scores, known, strict=True)],
            "color": look.colour,
        },
        "hovertext": [f"{node_name(one.node)}, {name}: {score_words(one.aspects[name])}" for name in aspects],
        "hoverinfo": "text",
    }


def _symbol(number: int) -> str:
    return ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")[number % 8]


def _score_axis(nodes: Sequence[RankedNode], *, published: bool) -> dict[str, Any]:
    values = [
        value
        for one in nodes
        for own in one.aspects.values()
        for value in (own.score, own.low, own.high)
        if math.isfinite(value) and value > 0
    ] or [1.0]
    low, high = min(values), max(values)
    ticks = [tick for tick in _TICKS if low / 1.2 <= tick <= high * 1.2] or [1]
    return {
        "title": "10-norm of the code" if published else "Score (1 = geometric mean)",
        "type": "log",
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
        "range": [math.log10(low) - 0.08, math.log10(high) + 0.08],
    }
