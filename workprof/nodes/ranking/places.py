"""Places: which node stands where, with whom it is tied, and by how much one is better than another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.ranking.aspect_scores import OVERALL, Scored, aspect_weights, mixed, scored
from workprof.nodes.ranking.medians import LEAST_RUNS, Levels
from workprof.nodes.ranking.records import AspectScore, LeaveOut, PairRatio

MOST_NODES_IN_PAIRS = 40
"""Above it the best node alone is compared with the others: pairs grow with the square of the nodes."""


def interval(draws: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of the percentile interval of exp(draws); NaN without draws."""
    seen = draws[np.isfinite(draws)]
    if not len(seen):
        return float("nan"), float("nan")
    tail = 50 * (1 - confidence)
    low, high = np.exp(np.percentile(seen, [tail, 100 - tail]))
    return float(low), float(high)


def rankable(one: Scored) -> Bools:
    """Return (n_nodes,) whether a node has a score and at least 3 runs of each of its benchmarks."""
    return np.isfinite(one.log) & (one.fewest >= LEAST_RUNS)


def ranks(one: Scored) -> list[int | None]:
    """Return the place of each node, 1 = best; None where it has no interval, or is alone."""
    able = rankable(one)
    places: list[int | None] = [None] * len(one.log)
    if able.sum() > 1:
        order = sorted(np.flatnonzero(able), key=lambda row: -one.log[row])
        for place, row in enumerate(order, start=1):
            places[row] = place
    return places


def aspect_scores(one: Scored, confidence: float) -> list[AspectScore]:
    """Return the score of each node."""
    found = []
    for row, place in enumerate(ranks(one)):
        low, high = interval(one.draws[:, row], confidence)
        found.append(AspectScore(float(np.exp(one.log[row])), low, high, place, int(one.fewest[row])))
    return found


def tied_with(names: tuple[str, ...], scores: list[AspectScore]) -> list[tuple[str, ...]]:
    """Return for each ranked node the other ranked ones whose interval overlaps its own."""
    ties = []
    for row, one in enumerate(scores):
        others = (
            names[j]
            for j, other in enumerate(scores)
            if j != row and one.rank and other.rank and one.low <= other.high and other.low <= one.high
        )
        ties.append(tuple(others))
    return ties


def pair_ratios(levels: Levels, shares: dict[str, float], best: str, confidence: float) -> tuple[PairRatio, ...]:
    """Return every pair of nodes in every aspect and overall, the better one first.

    Args:
        levels: of all nodes.
        shares: weight of each aspect.
        best: name of the first node; with many nodes the others are compared with it only.
        confidence: of the intervals.
    """
    n = len(levels.nodes)
    rows: Iterable[tuple[int, int]] = itertools.combinations(range(n), 2)
    if n > MOST_NODES_IN_PAIRS:
        first = levels.nodes.index(best)
        rows = [(first, row) for row in range(n) if row != first]
    return tuple(pair for a, b in rows for pair in _pair(levels, (a, b), shares, confidence))


def _pair(levels: Levels, rows: tuple[int, int], shares: dict[str, float], confidence: float) -> list[PairRatio]:
    chosen = np.isin(np.arange(len(levels.nodes)), rows)
    weights = aspect_weights(levels, ASPECT_OF, chosen)
    both = {name: row for name, row in weights.items() if np.isfinite(levels.level[np.ix_(chosen, row > 0)]).all()}
    mix = mixed(both, shares)
    lines = both if mix is None else {OVERALL: mix, **both}
    a, b = rows
    found = []
    for name, row in lines.items():
        used = row > 0
        log = float((levels.level[a, used] - levels.level[b, used]) @ row[used])
        draws = (levels.draws[:, a, used] - levels.draws[:, b, used]) @ row[used]
        better, other, sign = (a, b, 1) if log >= 0 else (b, a, -1)
        low, high = interval(sign * draws, confidence)
        metrics = tuple(levels.metrics[i] for i in np.flatnonzero(used))
        names = levels.nodes[better], levels.nodes[other]
        found.append(PairRatio(name, *names, float(np.exp(abs(log))), low, high, bool(low > 1), metrics))
    return found


def leave_outs(levels: Levels, shares: dict[str, float], order: tuple[str, ...]) -> tuple[LeaveOut, ...]:
    """Return the order of the ranked nodes without each benchmark; one that alone carries the score cannot go."""
    found = []
    measured = [
        name
        for i, name in enumerate(levels.benchmarks)
        if levels.n_values[:, i].any() and shares.get(ASPECT_OF[name], 0.0) > 0
    ]
    for benchmark in dict.fromkeys(measured):
        kept = np.array([name != benchmark for name in levels.benchmarks])
        rest = Levels(
            levels.nodes,
            tuple(np.array(levels.metrics)[kept].tolist()),
            tuple(np.array(levels.benchmarks)[kept].tolist()),
            levels.level[:, kept],
            levels.draws[:, :, kept],
            levels.n_values[:, kept],
            levels.by_campaign[:, kept],
        )
        mix = mixed(aspect_weights(rest, ASPECT_OF), shares) if kept.any() else None
        if mix is None:
            continue
        one = scored(OVERALL, rest, mix)
        by_score = sorted(order, key=lambda name: -one.log[levels.nodes.index(name)])
        if all(np.isfinite(one.log[levels.nodes.index(name)]) for name in order):
            found.append(LeaveOut(benchmark, tuple(by_score), tuple(by_score) == order))
    return tuple(found)
