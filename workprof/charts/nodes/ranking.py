"""Rankings of nodes: bars, aspects, tables and sentences, and two rankings side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from workprof.answers.nodes import (
    NO_DATA,
    change_words,
    faster_words,
    nodes_words,
    price_sentence,
    ranking_sentence,
    resource,
    score_words,
    weight_words,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import listed, plotly_text
from workprof.charts.theme import COLOURS
from workprof.core.units import format_share
from workprof.nodes.ranking import NodeScenario, RankedNode, Ranking
from workprof.nodes.selection import RankSettings


def node_name(node: str) -> str:
    """Return a node's name for a figure."""
    return plotly_text(node, 40) or "(no name)"


def row_names(nodes: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure, a number where two would look alike."""
    names = [node_name(node) for node in nodes]
    return [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]


def moment_words(epoch_s: float) -> str:
    """Return a time in UTC: '2026-11-21 17:36'."""
    if not math.isfinite(epoch_s):
        return "no time"
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")


OVERALL = "overall"
BEST, RIVAL, DEGRADED = "#1f7a4d", "#626a75", "#c8443f"
"""Of bars with white words on them: 4.5:1 for the words, 3:1 against both pages."""

BRACKET_X = 1.012
UNIT = "Score (1 = geometric mean of the nodes)"
PRICE_UNIT = "Score per unit of price"
PUBLISHED_UNIT = "10-norm of the code (as published)"


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
        data=ranked_table(result),
        note=_note(result, tied=bool(tie_spans(drawn))),
    )


LEAST_HEIGHT, HEADROOM_PX, ROW_PX = 200, 80, 34


def ranked_table(result: Ranking) -> pd.DataFrame:
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
            for one in result.nodes
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
    return shapes.bars(
        [one.score for one in nodes] or [None],
        list(rows) or [None],
        colour=[_colour(one) for one in nodes] or RIVAL,
        hover=None,
        error_x=shapes.interval(
            [one.score for one in nodes],
            [one.low for one in nodes],
            [one.high for one in nodes],
            colour=NEUTRAL,
            width=2,
        ),
        text=[_label(one) for one in nodes],
        textposition="auto",
        insidetextanchor="start",
        insidetextfont={"color": "#ffffff"},
        hovertext=[f"{row}: {score_words(one)}, {one.n_runs} runs" for row, one in zip(rows, nodes, strict=True)],
        hoverinfo="text",
    )


def _colour(one: RankedNode) -> str:
    """Return green for the best node, red for a degraded one, grey for the others."""
    if one.degraded:
        return DEGRADED
    return BEST if one.rank == 1 else RIVAL


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
    y = (first + last) / 2
    return shapes.words("tie", x=BRACKET_X + 0.004, y=y, xref="paper", yref="y", xanchor="left", size=None)


def _note(result: Ranking, *, tied: bool) -> str:
    sure = format_share(result.settings.confidence, 0)
    runs = f"{result.n_runs:,} runs, {sure} intervals"
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in result.left_out.items())
    sized = "" if result.settings.prices_per_h else " Whole nodes are compared, whatever their size."
    return (
        f"{runs}{f'; excluded: {reasons}' if reasons else ''}.{' Bracket: no clear difference.' if tied else ''}{sized}"
    )


MOST_NODES = 24
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 0.7, 1, 1.4, 2, 4, 5, 10, 20, 50, 100)
_DASHES = ("solid", "dash", "dot", "dashdot")


def aspect_lines(result: Ranking) -> Chart:
    """Return the scores of the nodes in every aspect; the best ranked nodes where there are many."""
    nodes, aspects = result.nodes[:MOST_NODES], list(result.metrics)
    shown = "" if len(nodes) == len(result.nodes) else f"The first {len(nodes)} of {len(result.nodes)} nodes. "
    return Chart(
        name="node-aspects",
        figure=figure_of(
            [_aspects_line(number, one, aspects) for number, one in enumerate(nodes)],
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
        note=f"{shown}Logarithmic: equal distances are equal ratios. Bars: intervals of "
        f"{format_share(result.settings.confidence, 0)}; nodes without one have fewer than 3 runs of a benchmark.",
    )


def aspects_sentence(result: Ranking) -> str:
    """Return in which resources the nodes differ clearly."""
    if len(result.nodes) < 2:
        return "One node alone has nothing to be compared with."
    if result.published:
        return "The published score ranks the nodes in each resource, without a measure of the difference."
    clear = {one.aspect for one in result.pairs if one.clear}
    differ = [resource(name) for name in result.metrics if name in clear]
    alike = [resource(name) for name in result.metrics if name not in clear]
    if not any(math.isfinite(one.low) for one in result.pairs):
        return "With fewer than 3 runs of a benchmark on each node no resource can be compared."
    if not differ:
        return "Differences are within noise in every resource."
    rest = f"; in {listed(alike)} differences are within noise" if alike else ""
    return f"Nodes differ clearly in {listed(differ)}{rest}."


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


def _aspects_line(number: int, one: RankedNode, aspects: Sequence[str]) -> dict[str, Any]:
    colour, scores = _line_colour(one), [one.aspects[name] for name in aspects]
    shift = (number % 5 - 2) * 0.03  # intervals of neighbours would hide each other
    return shapes.line(
        [place + shift for place in range(len(aspects))],
        [own.score if math.isfinite(own.score) and own.score > 0 else None for own in scores],
        name=node_name(one.node),
        colour=colour,
        width=3 if one.rank == 1 else 1.6,
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


def _line_colour(one: RankedNode) -> str:
    """Return the colour of a line: the best node stands out, and a degraded one."""
    if one.degraded:
        return COLOURS[4]
    return COLOURS[2] if one.rank == 1 else NEUTRAL


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


def ranking_headlines(result: Ranking) -> tuple[Headline, ...]:
    """Return the best node, its lead, what is degraded, and how robust the order is."""
    ranked = [one for one in result.nodes if one.rank]
    degraded = [one for one in result.nodes if one.degraded]
    same = sum(one.same_order for one in result.leave_outs)
    lines = [
        Headline(
            "Best node",
            ranked[0].node if ranked else NO_DATA,
            "By the weighted score.",
            f"tied with {', '.join(ranked[0].tied_with)}" if ranked and ranked[0].tied_with else "",
        ),
        Headline("Best / worst", _lead(ranked), "Score of the best node / score of the worst one that is ranked."),
        Headline(
            "Degraded",
            nodes_words(len(degraded)),
            "Nodes whose newest run lies far below their own history.",
            ", ".join(one.node for one in degraded),
        ),
    ]
    if result.leave_outs:
        text = f"{same} of {len(result.leave_outs)}"
        lines.append(Headline("Ranking robust", text, "Same order when one benchmark is excluded: how often."))
    return tuple(lines)


def _lead(ranked: list[RankedNode]) -> str:
    return f"{ranked[0].score / ranked[-1].score:.1f} ×" if len(ranked) > 1 else NO_DATA


def node_table(result: Ranking) -> pd.DataFrame:
    """Return one line per node: place, score, change, degradation with its reason, price and score per price."""
    return pd.DataFrame([_tables_line(one) for one in result.nodes])


def _tables_line(one: RankedNode) -> dict[str, object]:
    change, bad = one.change, one.degraded
    return {
        "rank": one.rank,
        "node": one.node,
        "score": one.score,
        "low": one.low,
        "high": one.high,
        "tied_with": ", ".join(one.tied_with),
        "change": "too few runs" if change is None else change_words(change.ratio, change.low, change.high),
        "degraded": "no sign" if bad is None else f"{bad.action}: {bad.reason}",
        "price_per_h": one.price_per_h,
        "price_performance": one.price_performance,
        **{name: own.score for name, own in one.aspects.items()},
        "runs": one.n_runs,
        "no_rank_because": one.reason,
    }


def pair_table(result: Ranking, aspect: str = OVERALL) -> pd.DataFrame:
    """Return one line per pair of nodes in an aspect."""
    return pd.DataFrame(
        [
            {
                "better": one.node,
                "other": one.other,
                "times_as_good": one.ratio,
                "low": one.low,
                "high": one.high,
                "clear": one.clear,
                "in_words": faster_words(one),
                "metrics": ", ".join(one.metrics),
            }
            for one in result.pairs
            if one.aspect == aspect
        ]
    )


def leave_out_table(result: Ranking) -> pd.DataFrame:
    """Return the order without each benchmark."""
    return pd.DataFrame(
        [
            {
                "without": one.benchmark,
                "order": " > ".join(one.order),
                "reading": "the same order" if one.same_order else "another order",
            }
            for one in result.leave_outs
        ]
    )


def dropped_table(result: Ranking) -> pd.DataFrame:
    """Return what was measured and is not in the score, with the reason."""
    return pd.DataFrame([{"metric": one.metric, "reason": one.reason} for one in result.dropped_metrics])


def dropped_sentence(result: Ranking) -> str:
    """Return how many metrics make the score, and how many do not."""
    used = sum(len(metrics) for metrics in result.metrics.values())
    total = used + len(result.dropped_metrics)
    return f"{used} of {total} measured metrics make the score; each other one is listed with its reason."


def node_scenario_table(scenarios: tuple[NodeScenario, ...]) -> pd.DataFrame:
    """Return one line per scenario with its settings in words."""
    return pd.DataFrame(
        [{"scenario": one.name, **settings_words(one.settings), "kept": one.created} for one in scenarios]
    )


def settings_words(settings: RankSettings) -> dict[str, str]:
    """Return the settings of a ranking in words."""
    ends = [moment_words(end) if end is not None else "any time" for end in (settings.since_s, settings.until_s)]
    return {
        "weights": weight_words(settings.shares),
        "score": settings.score,
        "runs left out": settings.exclude,
        "window": "all" if ends == ["any time"] * 2 else " to ".join(ends),
        "nodes": ", ".join(settings.nodes) or "all",
        "prices": ", ".join(f"{node} {price:g}" for node, price in settings.prices_per_h.items()) or "none",
    }


def node_comparison_table(rankings: Mapping[str, Ranking]) -> pd.DataFrame:
    """Return one line per node with its place and score in every scenario; a node that is not in one has no value."""
    result: dict[str, dict[str, object]] = {}
    for name, ranking in rankings.items():
        for one in ranking.nodes:
            line = result.setdefault(one.node, {"node": one.node})
            line |= {f"{name}: place": one.rank, f"{name}: score": one.score}
            if ranking.settings.prices_per_h:
                line[f"{name}: score / price"] = one.price_performance
    return pd.DataFrame(list(result.values()))
