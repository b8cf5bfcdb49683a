"""Nodes by score: bars from 0, so that lengths keep the ratios, with intervals and brackets over ties."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from workprof.charts.nodes.words import faster_words, row_names, score_words
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import rows_height
from workprof.nodes.comparisons import PairRatio
from workprof.nodes.ranking import RankedNode, Ranking
from workprof.units import format_share

OVERALL = "overall"
RANKED, DEGRADED, UNRANKED = "#2c72c6", "#c8443f", "#626a75"
"""Of bars with white words on them: 4.5:1 for the words, 3:1 against both pages."""

BRACKET_X = 1.012
UNIT = "Score (1 = geometric mean of the nodes)"
PUBLISHED_UNIT = "10-norm of the code (as published)"


def ranked_bars(found: Ranking) -> Chart:
    """Return the score of every node, best first."""
    drawn = [one for one in found.nodes if math.isfinite(one.score)]
    rows = row_names([one.node for one in drawn])
    ends = [one.high if math.isfinite(one.high) else one.score for one in drawn]
    takeaway = ranking_sentence(found)
    return Chart(
        name="node-ranking",
        figure=figure_of(
            [_bars(drawn, rows)],
            x={"title": PUBLISHED_UNIT if found.published else UNIT, "range": [0, 1.12 * max(ends, default=1.0)]},
            y=rows_axis(rows),
            height=rows_height(len(rows)),
            shapes=[line for first, last in tie_spans(drawn) for line in _bracket(first, last)],
            annotations=[_tie_word(first, last) for first, last in tie_spans(drawn)],
            margin={"l": 8, "r": 48, "t": 24, "b": 8},
        ),
        takeaway=takeaway,
        alt=f"Bars of the score of {len(drawn)} nodes with intervals. {takeaway}",
        data=ranked_table(found),
        note=_note(found),
    )


def ranking_sentence(found: Ranking) -> str:
    """Return who is best and by how much, or why there is no ranking."""
    ranked = [one for one in found.nodes if one.rank]
    if not ranked:
        reason = found.nodes[0].reason if found.nodes else "no node"
        return f"There is no ranking: {reason}."
    best = ranked[0]
    pair = best_pair(found.pairs, best.node, ranked[1].node)
    if pair is None:
        return f"{best.node} scores highest: {score_words(best)}."
    if not best.tied_with:
        return f"{faster_words(pair)}."
    tie = f"{best.node} is tied with {', '.join(best.tied_with)}"
    return f"{faster_words(pair)}{', though their own intervals overlap' if pair.clear else ''}: {tie}."


def best_pair(pairs: Sequence[PairRatio], one: str, other: str, aspect: str = OVERALL) -> PairRatio | None:
    """Return the comparison of two nodes in an aspect, None where there is none."""
    return next((pair for pair in pairs if pair.aspect == aspect and {pair.node, pair.other} == {one, other}), None)


def ranked_table(found: Ranking) -> pd.DataFrame:
    """Return one line per node."""
    return pd.DataFrame(
        [
            {
                "rank": one.rank,
                "node": one.node,
                "score": one.score,
                "low": one.low,
                "high": one.high,
                "tied_with": ", ".join(one.tied_with),
                "runs": one.n_runs,
            }
            for one in found.nodes
        ]
    )


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


def _bars(nodes: Sequence[RankedNode], rows: Sequence[str]) -> dict[str, Any]:
    known = [math.isfinite(one.low) for one in nodes]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [one.score for one in nodes] or [None],
        "y": list(rows) or [None],
        "marker": {"color": [_colour(one) for one in nodes] or UNRANKED},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.score if ok else 0.0 for one, ok in zip(nodes, known, strict=True)],
            "arrayminus": [one.score - one.low if ok else 0.0 for one, ok in zip(nodes, known, strict=True)],
            "color": NEUTRAL,
            "thickness": 2,
        },
        "text": [_label(one) for one in nodes],
        "textposition": "auto",  # beside a bar that is too short for its words
        "insidetextanchor": "start",
        "insidetextfont": {"color": "#ffffff"},
        "cliponaxis": False,
        "hovertext": [f"{row}: {score_words(one)}, {one.n_runs} runs" for row, one in zip(rows, nodes, strict=True)],
        "hoverinfo": "text",
    }


def _colour(one: RankedNode) -> str:
    if one.rank is None:
        return UNRANKED
    return DEGRADED if one.degraded else RANKED


def _label(one: RankedNode) -> str:
    place = f"{one.rank}:" if one.rank else "not ranked:"
    return f"{place} {one.score:.2f}{', degraded' if one.degraded else ''}"


def _bracket(first: int, last: int) -> list[dict[str, Any]]:
    line = {"color": NEUTRAL, "width": 2}
    ends = {"type": "line", "xref": "paper", "yref": "y", "line": line}
    low, high = first - 0.3, last + 0.3
    upright = {**ends, "x0": BRACKET_X, "x1": BRACKET_X, "y0": low, "y1": high}
    return [upright, *({**ends, "x0": BRACKET_X - 0.008, "x1": BRACKET_X, "y0": y, "y1": y} for y in (low, high))]


def _tie_word(first: int, last: int) -> dict[str, Any]:
    place = {"xref": "paper", "yref": "y", "x": BRACKET_X + 0.004, "y": (first + last) / 2}
    return {**place, "text": "tie", "showarrow": False, "xanchor": "left"}


def _note(found: Ranking) -> str:
    sure = format_share(found.settings.confidence, 0)
    told = f"{found.n_runs:,} runs; intervals of {sure} from {found.settings.n_draws:,} resamples"
    left = sum(found.left_out.values())
    reasons = (
        f"; left out: {', '.join(f'{count:,} {reason}' for reason, count in found.left_out.items())}" if left else ""
    )
    return f"{told}{reasons}. Brackets: overlapping intervals."
