"""Nodes side by side: places and ties, ratios of pairs, changes over time, and nodes worse than their own history."""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from workprof.core.arrays import Bools, Floats
from workprof.core.units import format_share
from workprof.nodes.histories import LEAST_SCALE
from workprof.nodes.scores import (
    LEAST_RUNS,
    OVERALL,
    Levels,
    NodeScores,
    aspect_weights,
    levels_of,
    node_scores,
    overall_weights,
)
from workprof.nodes.selection import OrientedRuns, RankSettings


@dataclass(frozen=True)
class AspectScore:
    """Score of a node in one aspect."""

    score: float  # 1 = geometric mean of the nodes, twice as good = twice the score; NaN where it cannot be told
    low: float  # and `high`: ends of its interval; NaN with fewer than 3 runs of a benchmark
    high: float
    rank: int | None  # place, 1 = best; None without an interval
    n_runs: int  # behind the thinnest of its medians


@dataclass(frozen=True)
class Degraded:
    """A node whose newest runs are worse than its own earlier ones."""

    benchmark: str  # that shows it
    share: float  # by which its newest run lies below the median of the earlier ones, without a repetition
    reason: str  # in words, with figures
    action: str  # 're-run' (one run says so) or 'exclude' (a repetition agrees)


@dataclass(frozen=True)
class Change:
    """Score of the later runs / score of the earlier ones of the same node; the halves meet at `split_s`."""

    ratio: float
    low: float
    high: float
    split_s: float


@dataclass(frozen=True)
class PairRatio:
    """How many times as good one node is as another, on the metrics that both have."""

    aspect: str  # or 'overall'
    node: str
    other: str
    ratio: float  # score of `node` / score of `other`, at least 1
    low: float  # and `high`: ends of its interval; NaN with fewer than 3 runs
    high: float
    clear: bool  # whether the interval excludes 1; only then is a node called faster
    metrics: tuple[str, ...]  # that were compared


@dataclass(frozen=True)
class LeaveOut:
    """The ranking without one benchmark."""

    benchmark: str
    order: tuple[str, ...]  # ranked nodes, best first
    same_order: bool  # as with all benchmarks, but for nodes that are tied


MOST_NODES_IN_PAIRS = 40
"""Above it the best node alone is compared with the others: pairs grow with the square of the nodes."""


def interval(draws: Floats, confidence: float) -> tuple[float, float]:
    """The ends of the percentile interval of exp(draws); NaN without draws."""
    seen = draws[np.isfinite(draws)]
    if not len(seen):
        return float("nan"), float("nan")
    tail = 50 * (1 - confidence)
    low, high = np.exp(np.percentile(seen, [tail, 100 - tail]))
    return float(low), float(high)


def aspect_scores(one: NodeScores, confidence: float) -> list[AspectScore]:
    """The score of each node; its rank is None where it has no interval, or is alone."""
    rankable = np.isfinite(one.log) & (one.fewest >= LEAST_RUNS)
    ranks: dict[int, int] = {}
    if rankable.sum() > 1:
        best_first = sorted(np.flatnonzero(rankable).tolist(), key=lambda row: -one.log[row])
        ranks = {row: rank for rank, row in enumerate(best_first, start=1)}
    scores = []
    for row in range(len(one.log)):
        low, high = interval(one.draws[:, row], confidence)
        scores.append(AspectScore(float(np.exp(one.log[row])), low, high, ranks.get(row), int(one.fewest[row])))
    return scores


def tied_with(names: tuple[str, ...], scores: list[AspectScore]) -> list[tuple[str, ...]]:
    """For each ranked node the other ranked ones whose interval overlaps its own."""
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
    """Every pair of nodes in every aspect and overall, the better one first; of many nodes those with `best` only."""
    n = len(levels.nodes)
    rows: Iterable[tuple[int, int]] = itertools.combinations(range(n), 2)
    if n > MOST_NODES_IN_PAIRS:
        first = levels.nodes.index(best)
        rows = [(first, row) for row in range(n) if row != first]
    return tuple(pair for a, b in rows for pair in _pair(levels, (a, b), shares, confidence))


def _pair(levels: Levels, rows: tuple[int, int], shares: dict[str, float], confidence: float) -> list[PairRatio]:
    chosen = np.isin(np.arange(len(levels.nodes)), rows)
    weights = aspect_weights(levels, chosen)
    both = {name: row for name, row in weights.items() if np.isfinite(levels.level[np.ix_(chosen, row > 0)]).all()}
    overall = overall_weights(both, shares)
    lines = both if overall is None else {OVERALL: overall, **both}
    a, b = rows
    pairs = []
    for name, row in lines.items():
        used = row > 0
        log = float((levels.level[a, used] - levels.level[b, used]) @ row[used])
        draws = (levels.draws[:, a, used] - levels.draws[:, b, used]) @ row[used]
        better, other, sign = (a, b, 1) if log >= 0 else (b, a, -1)
        low, high = interval(sign * draws, confidence)
        metrics = tuple(levels.metrics[i] for i in np.flatnonzero(used))
        names = levels.nodes[better], levels.nodes[other]
        pairs.append(PairRatio(name, *names, float(np.exp(abs(log))), low, high, bool(low > 1), metrics))
    return pairs


def leave_outs(
    levels: Levels, shares: dict[str, float], order: tuple[str, ...], ties: Mapping[str, Collection[str]]
) -> tuple[LeaveOut, ...]:
    """The order of the ranked nodes without each benchmark; one that alone carries the score cannot go.

    `ties`: node -> the nodes that it is tied with. Which of them comes first is chance, and no other order.
    """
    results = []
    measured = [
        name
        for i, name in enumerate(levels.benchmarks)
        if levels.n_values[:, i].any() and shares.get(levels.aspects[i], 0.0) > 0
    ]
    for benchmark in dict.fromkeys(measured):
        others = np.array([name != benchmark for name in levels.benchmarks])
        rest = Levels(
            levels.nodes,
            tuple(np.array(levels.metrics)[others].tolist()),
            tuple(np.array(levels.benchmarks)[others].tolist()),
            tuple(np.array(levels.aspects)[others].tolist()),
            levels.level[:, others],
            levels.draws[:, :, others],
            levels.n_values[:, others],
            levels.by_campaign[:, others],
        )
        overall = overall_weights(aspect_weights(rest), shares) if others.any() else None
        if overall is None:
            continue
        one = node_scores(OVERALL, rest, overall)
        by_score = sorted(order, key=lambda name: -one.log[levels.nodes.index(name)])
        if all(np.isfinite(one.log[levels.nodes.index(name)]) for name in order):
            place = {name: at for at, name in enumerate(by_score)}
            pairs = itertools.combinations(order, 2)
            same = all(place[first] < place[then] or then in ties[first] for first, then in pairs)
            results.append(LeaveOut(benchmark, tuple(by_score), same))
    return tuple(results)


LATER, EARLIER = 1, 2
"""Added to the seed, so that the two windows are resampled apart."""


def changes(runs: OrientedRuns, nodes: tuple[str, ...], settings: RankSettings) -> list[Change | None]:
    """Of each node the score of its later runs / of its earlier ones; None without 3 runs in both.

    The later runs are those of the window, the earlier ones those of as long a time before it; without a window they
    are the two halves. `runs` are all that are not excluded for another reason than the window.
    """
    started_s = runs.started_s
    if not np.isfinite(started_s).any():
        return [None] * len(nodes)
    if settings.since_s is None:
        split_s = float(np.nanmedian(started_s))
        in_earlier, in_later = started_s < split_s, started_s >= split_s
    else:
        split_s = settings.since_s
        until_s = float(np.nanmax(started_s)) if settings.until_s is None else settings.until_s
        in_earlier = (started_s >= 2 * split_s - until_s) & (started_s < split_s)
        in_later = (started_s >= split_s) & (started_s <= until_s)

    def levels_in(chosen: Bools, seed: int) -> Levels:
        part = replace(
            runs,
            node=runs.node[chosen],
            benchmark=runs.benchmark[chosen],
            started_s=started_s[chosen],
            logs=runs.logs[chosen],
        )
        return levels_of(part, nodes, settings.n_draws, seed)

    earlier = levels_in(in_earlier, settings.seed + EARLIER)
    later = levels_in(in_later, settings.seed + LATER)
    return [_change(earlier, later, row, settings, split_s) for row in range(len(nodes))]


def _change(earlier: Levels, later: Levels, row: int, settings: RankSettings, split_s: float) -> Change | None:
    both = replace(later, level=np.where(np.isfinite(earlier.level), later.level, np.nan))
    weights = overall_weights(aspect_weights(both, np.arange(len(later.nodes)) == row), settings.shares)
    if weights is None:
        return None
    used = weights > 0
    draws = (later.draws[:, row, used] - earlier.draws[:, row, used]) @ weights[used]
    low, high = interval(draws, settings.confidence)
    if not np.isfinite(low):
        return None
    ratio = float(np.exp((later.level[row, used] - earlier.level[row, used]) @ weights[used]))
    return Change(ratio, low, high, split_s)


LEAST_EARLIER = 3
"""Earlier runs; with fewer there is not enough history."""

CUT = 3.5
"""Robust z-score from which a value is an outlier. Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers,
1993, for 0.6745 (x - median) / MAD."""

MAD_TO_SD = 1.4826
FEW_VALUES = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.2, 7: 1.14, 8: 1.129, 9: 1.107}
"""Number of values -> what makes up for the MAD of so few, which is too small; n / (n - 0.8) above nine.

Source: Croux and Rousseeuw, Time-efficient algorithms for two highly robust estimators of scale, COMPSTAT 1992.
"""
RERUN, EXCLUDE = "re-run", "exclude"


def degraded_nodes(runs: OrientedRuns, nodes: tuple[str, ...]) -> tuple[list[Degraded | None], list[bool]]:
    """For each node what its newest runs show, the worst benchmark, None = no sign; and whether it has runs to judge.

    The newest run of each benchmark is compared with all earlier ones of the node by median and MAD of the mean of its
    oriented logarithms. A spread below the typical one of that benchmark is taken as the typical one. If the run before
    it was already as bad, the repetition agrees and the node should be excluded; else the benchmark is to be run again.
    Runs without a time take no part. Of steady nodes with six benchmarks at most 4 % are to be run again, whatever the
    number of runs; without the corrections for few runs it was 11 %.
    """
    benchmarks = tuple(dict.fromkeys(runs.benchmarks))
    histories = {(node, name): _history(runs, node, name) for node in nodes for name in benchmarks}
    worst: list[Degraded | None] = []
    judged: list[bool] = []
    for node in nodes:
        degraded, worst_z = None, 0.0
        for benchmark in benchmarks:
            history = histories[node, benchmark]
            if len(history) <= LEAST_EARLIER:
                continue
            typical = typical_spread([histories[other, benchmark] for other in nodes])
            z = badness(history[:-1], history[-1], typical)
            if z >= CUT and z > worst_z:
                degraded, worst_z = _degraded(benchmark, history, typical), z
        worst.append(degraded)
        judged.append(any(len(histories[node, benchmark]) > LEAST_EARLIER for benchmark in benchmarks))
    return worst, judged


def _degraded(benchmark: str, history: Floats, typical: float) -> Degraded:
    repeated = len(history) > LEAST_EARLIER + 1 and badness(history[:-2], history[-2], typical) >= CUT
    earlier = history[: -2 if repeated else -1]
    share = 1 - float(np.exp(history[-1] - np.median(earlier)))
    runs = "newest two runs" if repeated else "newest run"
    reason = f"{benchmark} slowed by {format_share(share, 0)} in its {runs}, against {len(earlier)} earlier ones"
    return Degraded(benchmark, share, reason, EXCLUDE if repeated else RERUN)


def badness(earlier: Floats, newest: float, typical: float) -> float:
    """How many robust standard deviations, of 1 % at least, a run lies below the median of the earlier ones.

    That median spreads itself: by pi / 2n of the variance of a run.
    """
    spread = max(robust_spread(earlier), typical, LEAST_SCALE) * math.sqrt(1 + math.pi / (2 * len(earlier)))
    return (float(np.median(earlier)) - newest) / spread


def robust_spread(values: Floats) -> float:
    """The standard deviation of (n,) values, from their MAD."""
    few = FEW_VALUES.get(len(values), len(values) / (len(values) - 0.8))
    return few * MAD_TO_SD * float(np.median(np.abs(values - np.median(values))))


def typical_spread(histories: list[Floats]) -> float:
    """The median over the nodes of the spread of a benchmark; 0 without a history."""
    spreads = [robust_spread(one) for one in histories if len(one) > LEAST_EARLIER]
    return float(np.median(spreads)) if spreads else 0.0


def _history(runs: OrientedRuns, node: str, benchmark: str) -> Floats:
    """The mean oriented logarithm of each dated run of a benchmark on a node that has every metric, oldest first."""
    here = np.flatnonzero((runs.node == node) & (runs.benchmark == benchmark) & np.isfinite(runs.started_s))
    own = np.flatnonzero(np.array(runs.benchmarks) == benchmark)
    here = here[np.argsort(runs.started_s[here], kind="stable")]
    means: Floats = runs.logs[np.ix_(here, own)].mean(axis=1)
    return means[np.isfinite(means)]
