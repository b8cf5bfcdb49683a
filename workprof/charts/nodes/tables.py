"""Tables of nodes: places, pairs, what the order hangs on, what is not in the score."""

from __future__ import annotations

import math

import pandas as pd

from workprof.charts.nodes.ranked import OVERALL
from workprof.charts.nodes.words import NO_DATA, change_words, faster_words, nodes_words, percent_more
from workprof.charts.shapes import Headline
from workprof.charts.text import counted
from workprof.nodes.ranking import RankedNode, Ranking

CLEAR = {"re-run": "Run the benchmark again to confirm.", "exclude": "Take the node out until it is repaired."}


def ranking_headlines(found: Ranking) -> tuple[Headline, ...]:
    """Return the best node, its lead, what is degraded, and what the ranking stands on."""
    ranked = [one for one in found.nodes if one.rank]
    degraded = [one for one in found.nodes if one.degraded]
    same = sum(one.same_order for one in found.leave_outs)
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
        Headline(
            "Runs", f"{found.n_runs:,}", "That the ranking stands on.", f"{sum(found.left_out.values()):,} left out"
        ),
    ]
    if found.leave_outs:
        told = f"{same} of {len(found.leave_outs)}"
        lines.append(Headline("Order holds", told, "Without one benchmark the order stays the same, so often."))
    return tuple(lines)


def _lead(ranked: list[RankedNode]) -> str:
    return f"{ranked[0].score / ranked[-1].score:.2f} times" if len(ranked) > 1 else NO_DATA


def node_table(found: Ranking) -> pd.DataFrame:
    """Return one line per node: place, score, change, degradation with its reason, price and score per price."""
    return pd.DataFrame([_line(one) for one in found.nodes])


def _line(one: RankedNode) -> dict[str, object]:
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


def pair_table(found: Ranking, aspect: str = OVERALL) -> pd.DataFrame:
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
            for one in found.pairs
            if one.aspect == aspect
        ]
    )


def leave_out_table(found: Ranking) -> pd.DataFrame:
    """Return the order without each benchmark."""
    return pd.DataFrame(
        [
            {
                "without": one.benchmark,
                "order": " > ".join(one.order),
                "reading": "the same order" if one.same_order else "another order",
            }
            for one in found.leave_outs
        ]
    )


def robustness_sentence(found: Ranking) -> str:
    """Return what the order hangs on."""
    if not found.leave_outs:
        return "No benchmark can be left out: one carries the whole score, or nothing is ranked."
    hang = [one.benchmark for one in found.leave_outs if not one.same_order]
    if not hang:
        return f"The order stays the same without any one of {counted(len(found.leave_outs), 'benchmark')}."
    return f"The order changes without {', '.join(hang)}."


def dropped_table(found: Ranking) -> pd.DataFrame:
    """Return what was measured and is not in the score, with the reason."""
    return pd.DataFrame([{"metric": one.metric, "reason": one.reason} for one in found.dropped_metrics])


def dropped_sentence(found: Ranking) -> str:
    """Return how many metrics make the score, and how many do not."""
    used = sum(len(metrics) for metrics in found.metrics.values())
    total = used + len(found.dropped_metrics)
    return f"{used} of {total} measured metrics make the score; each other one is listed with its reason."


def degraded_sentences(found: Ranking) -> tuple[str, ...]:
    """Return for each degraded node its reason and what to do."""
    return tuple(
        f"{one.node}: {one.degraded.reason}. {CLEAR[one.degraded.action]}" for one in found.nodes if one.degraded
    )


def change_table(found: Ranking) -> pd.DataFrame:
    """Return how each node changed between the two windows."""
    return pd.DataFrame(
        [
            {
                "node": one.node,
                "ratio": one.change.ratio,
                "low": one.change.low,
                "high": one.change.high,
                "reading": change_words(one.change.ratio, one.change.low, one.change.high),
                "by": percent_more(one.change.ratio),
            }
            for one in found.nodes
            if one.change and math.isfinite(one.change.ratio)
        ]
    )
