"""Scores, ratios and moments of nodes as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from workprof.charts.text import counted, plotly_text
from workprof.nodes.comparisons import AspectScore, PairRatio
from workprof.nodes.ranking import RankedNode

NO_DATA = "no data"


def node_name(node: str) -> str:
    """Return a node's name for a figure."""
    return plotly_text(node, 40) or "(no name)"


def row_names(nodes: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure, a number where two would look alike."""
    names = [node_name(node) for node in nodes]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]


def score_words(one: RankedNode | AspectScore) -> str:
    """Return '1.98 (1.96 to 2.00)', without the interval where there is none."""
    if not math.isfinite(one.score):
        return NO_DATA
    return f"{one.score:.2f}" if not math.isfinite(one.low) else f"{one.score:.2f} ({one.low:.2f} to {one.high:.2f})"


def faster_words(one: PairRatio) -> str:
    """Return 'a is 97 % faster than b (93 % to 102 %)', or that the two do not differ clearly, or why it is open."""
    if not math.isfinite(one.low):
        return f"{one.node} measures {percent_more(one.ratio)} above {one.other}, from fewer than 3 runs"
    if not one.clear:
        return f"{one.node} and {one.other} do not differ clearly"
    ends = f"{percent_more(one.low)} to {percent_more(one.high)}"
    return f"{one.node} is {percent_more(one.ratio)} faster than {one.other} ({ends})"


def percent_more(ratio: float) -> str:
    """Return a ratio as a difference in per cent: 1.97 -> '97 %'."""
    return f"{(ratio - 1) * 100:,.0f} %" if math.isfinite(ratio) else NO_DATA


def change_words(ratio: float, low: float, high: float) -> str:
    """Return 'faster by 12 %', 'slower by 8 %' or 'as before' where the interval holds 1."""
    if not (low > 1 or high < 1):
        return "as before"
    return f"{'faster' if ratio > 1 else 'slower'} by {abs(ratio - 1) * 100:.0f} %"


def moment_words(epoch_s: float) -> str:
    """Return a time in UTC: '2026-11-21 17:36'."""
    if not math.isfinite(epoch_s):
        return "no time"
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")


def nodes_words(count: int) -> str:
    """Return '1 node' or '3 nodes'."""
    return counted(count, "node")
