"""Rankings of nodes drawn: a bar of each, and the resources as lines."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from workprof.answers.nodes import (
    aspects_note,
    aspects_sentence,
    bar_words,
    bars_note,
    node_table,
    price_sentence,
    ranking_sentence,
    resource,
    score_words,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, drawn_once, figure_of, rows_axis
from workprof.charts.theme import COLOURS
from workprof.core.words import listed, plotly_text
from workprof.nodes.ranking import RankedNode, Ranking


def node_name(node: str) -> str:
    """Return a node's name for a figure."""
    return plotly_text(node, 40) or "(no name)"


def row_names(nodes: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure, a number where two would look alike."""
    names = [node_name(node) for node in nodes]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]


BEST, RIVAL, DEGRADED = "#1f7a4d", "#626a75", "#c8443f"
"""Of bars with white words on them: 4.5:1 for the words, 3:1 against both pages."""

BRACKET_X = 1.012
UNIT = "Score (1 = geometric mean of the nodes)"
PRICE_UNIT = "Score per unit of price"
PUBLISHED_UNIT = "10-norm of the code (as published)"


@drawn_once
def ranked_bars(result: Ranking, *, priced: bool = False) -> Chart:
    """Return the score of every node, best first; `priced`: it is one of `per_price`."""
    drawn = [one for one in result.nodes if math.isfinite(one.score)]
    rows = row_names([one.node for one in drawn])
    ends = [one.high if math.isfinite(one.high) else one.score for one in drawn]
    unit = PRICE_UNIT if priced else PUBLISHED_UNIT if result.published else UNIT
    return Chart(
        name="node-ranking",
        figure=figure_of(
            [_bars(drawn, rows)],
            x={"title": unit, "range": [0, 1.12 * max(ends, default=1.0)]},
            y=rows_axis(rows),
            height=max(LEAST_HEIGHT, HEADROOM_PX + ROW_PX * len(rows)),
            shapes=[line for first, last in tie_spans(drawn) for line in _bracket(first, last)],
            annotations=[_tie_word(first, last) for first, last in tie_spans(drawn)],
            margin={"l": 8, "r": 48, "t": 8, "b": 8},
        ),
        takeaway=price_sentence(result) if priced else ranking_sentence(result),
        shows=f"Bars of the score of {len(drawn)} nodes with intervals.",
        data=node_table(result).frame(),
        note=bars_note(result, tied=bool(tie_spans(drawn))),
    )


LEAST_HEIGHT, HEADROOM_PX, ROW_PX = 200, 80, 34


def tie_spans(nodes: Sequence[RankedNode]) -> list[tuple[int, int]]:
    """Return first and last row of every stretch of neighbours that are all tied with each other, longest ones only."""
    spans: list[tuple[int, int]] = []
    for first in range(len(nodes)):
        last = first
        while last + 1 < len(nodes) and all(
            nodes[last + 1].node in nodes[row].tied_with for row in range(first, last + 1)
        ):
            last += 1
        if last > first and not any(there <= first and last <= end for there, end in spans):
            spans.append((first, last))
    return spans


def best_healthy(nodes: Sequence[RankedNode]) -> RankedNode | None:
    """Return the first ranked node that has not degraded."""
    return next((one for one in nodes if one.rank and not one.degraded), None)


def _bars(nodes: Sequence[RankedNode], rows: Sequence[str]) -> dict[str, Any]:
    words, best = [bar_words(one, row) for row, one in zip(rows, nodes, strict=True)], best_healthy(nodes)
    return shapes.bars(
        [one.score for one in nodes] or [None],
        list(rows) or [None],
        colour=[_colour(one, best) for one in nodes] or RIVAL,
        hover=None,
        error_x=shapes.interval(
            [one.score for one in nodes],
            [one.low for one in nodes],
            [one.high for one in nodes],
            colour=NEUTRAL,
            width=2,
        ),
        text=[inside for inside, _ in words],
        textposition="auto",
        insidetextanchor="start",
        insidetextfont={"color": "#ffffff"},
        hovertext=[whole for _, whole in words],
        hoverinfo="text",
    )


def _colour(one: RankedNode, best: RankedNode | None) -> str:
    """Return green for the best healthy node, red for a degraded one, grey for the others."""
    if one.degraded:
        return DEGRADED
    return BEST if one is best else RIVAL


def _bracket(first: int, last: int) -> list[dict[str, Any]]:
    line = {"color": NEUTRAL, "width": 2}
    ends = {"type": "line", "xref": "paper", "yref": "y", "line": line}
    low, high = first - 0.3, last + 0.3
    upright = {**ends, "x0": BRACKET_X, "x1": BRACKET_X, "y0": low, "y1": high}
    return [upright, *({**ends, "x0": BRACKET_X - 0.008, "x1": BRACKET_X, "y0": y, "y1": y} for y in (low, high))]


def _tie_word(first: int, last: int) -> dict[str, Any]:
    y = (first + last) / 2
    return shapes.words("tie", x=BRACKET_X + 0.004, y=y, xref="paper", yref="y", xanchor="left", size=None)


MOST_NODES = 24
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 5, 10, 20, 50, 100)
_DASHES = ("solid", "dash", "dot", "dashdot")


@drawn_once
def aspect_lines(result: Ranking) -> Chart:
    """Return the scores of the nodes in every aspect; the best ranked nodes where there are many."""
    nodes, aspects = result.nodes[:MOST_NODES], list(result.metrics)
    best = best_healthy(result.nodes)
    return Chart(
        name="node-aspects",
        figure=figure_of(
            [_aspects_line(number, one, aspects, best) for number, one in enumerate(nodes)],
            x={
                "title": "Resource",
                "tickvals": list(range(len(aspects))),
                "ticktext": [resource(name) for name in aspects],
                "range": [-0.3, len(aspects) - 0.7],
                "zeroline": False,
            },
            y=_score_axis(nodes, published=result.published),
            height=340,
            showlegend=True,
        ),
        takeaway=aspects_sentence(result),
        shows=f"Scores of {len(nodes)} nodes in {listed([resource(name) for name in aspects])}.",
        data=aspect_table(result),
        note=aspects_note(result, len(nodes)),
    )


def aspect_table(result: Ranking) -> pd.DataFrame:
    """Return one line per node and aspect."""
    return pd.DataFrame(
        [
            {"node": one.node, "aspect": name, "score": own.score, "low": own.low, "high": own.high, "rank": own.rank}
            | {"runs": own.n_runs}
            for one in result.nodes
            for name, own in one.aspects.items()
        ]
    )


def _aspects_line(number: int, one: RankedNode, aspects: Sequence[str], best: RankedNode | None) -> dict[str, Any]:
    colour, scores = _line_colour(one, best), [one.aspects[name] for name in aspects]
    shift = (number % 5 - 2) * 0.03  # intervals of neighbours would hide each other
    return shapes.line(
        [place + shift for place in range(len(aspects))],
        [own.score if math.isfinite(own.score) and own.score > 0 else None for own in scores],
        name=node_name(one.node),
        colour=colour,
        width=3 if one is best else 1.6,
        dash=_DASHES[number // 8 % len(_DASHES)],
        mode="lines+markers",
        hover=None,
        marker={"color": colour, "symbol": _symbol(number), "size": 10},
        error_y=shapes.interval(
            [own.score for own in scores], [own.low for own in scores], [own.high for own in scores], colour=colour
        ),
        hovertext=[f"{node_name(one.node)}, {resource(name)}: {score_words(one.aspects[name])}" for name in aspects],
        hoverinfo="text",
    )


def _line_colour(one: RankedNode, best: RankedNode | None) -> str:
    """Return the colour of a line: the best healthy node stands out, and a degraded one."""
    if one.degraded:
        return COLOURS[4]
    return COLOURS[2] if one is best else NEUTRAL


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
