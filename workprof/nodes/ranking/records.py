"""What a ranking of nodes returns."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.nodes.ranking.settings import RankSettings


@dataclass(frozen=True)
class AspectScore:
    """Score of a node in one aspect.

    Attributes:
        score: 1 = geometric mean of the nodes, twice as good = twice the score; NaN where it cannot be told.
        low, high: ends of its interval; NaN with fewer than 3 runs of a benchmark.
        rank: place, 1 = best; None without an interval.
        n_runs: behind the thinnest of its medians.
    """

    score: float
    low: float
    high: float
    rank: int | None
    n_runs: int


@dataclass(frozen=True)
class Degraded:
    """A node whose newest runs are worse than its own earlier ones.

    Attributes:
        benchmark: that shows it.
        reason: in words, with figures.
        action: 're-run' (one run says so) or 'exclude' (a repetition agrees).
    """

    benchmark: str
    reason: str
    action: str


@dataclass(frozen=True)
class Change:
    """Score of the later runs / score of the earlier ones of the same node; the halves meet at `split_s`."""

    ratio: float
    low: float
    high: float
    split_s: float


@dataclass(frozen=True)
class RankedNode:
    """One node.

    Attributes:
        score, low, high: overall, see `AspectScore`.
        rank: place by score, 1 = best; None where the node is not ranked, which `reason` tells.
        tied_with: ranked nodes whose interval overlaps this one's.
        aspects: aspect -> score.
        n_runs: used.
        price_per_h, price_performance: NaN without a price.
        degraded: None = no sign of it.
        change: None = not enough runs in both halves.
        reason: why there is no rank, '' = there is one.
    """

    node: str
    score: float
    low: float
    high: float
    rank: int | None
    tied_with: tuple[str, ...]
    aspects: dict[str, AspectScore]
    n_runs: int
    price_per_h: float
    price_performance: float
    degraded: Degraded | None
    change: Change | None
    reason: str


@dataclass(frozen=True)
class PairRatio:
    """How many times as good one node is as another, on the metrics that both have.

    Attributes:
        aspect: or 'overall'.
        ratio: score of `node` / score of `other`, at least 1.
        low, high: ends of its interval; NaN with fewer than 3 runs.
        clear: whether the interval excludes 1; only then is a node called faster.
        metrics: that were compared.
    """

    aspect: str
    node: str
    other: str
    ratio: float
    low: float
    high: float
    clear: bool
    metrics: tuple[str, ...]


@dataclass(frozen=True)
class LeaveOut:
    """The ranking without one benchmark.

    Attributes:
        order: ranked nodes, best first.
        same_order: as with all benchmarks.
    """

    benchmark: str
    order: tuple[str, ...]
    same_order: bool


@dataclass(frozen=True)
class DroppedMetric:
    """A metric that was measured and is not in the score, and why."""

    metric: str
    reason: str


@dataclass(frozen=True)
class NotPooled:
    """Runs that cannot be compared with the others, because their parameters differ."""

    benchmark: str
    parameters: str
    compared_with: str
    n_runs: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """Nodes by score.

    Attributes:
        nodes: ranked ones first, best first; then the others by name.
        shares: weight of each aspect that counted, summing to 1.
        metrics: aspect -> metrics in its score.
        left_out: reason -> runs.
        published: whether the published definitions were asked for.
    """

    settings: RankSettings
    nodes: tuple[RankedNode, ...]
    pairs: tuple[PairRatio, ...]
    leave_outs: tuple[LeaveOut, ...]
    shares: dict[str, float]
    metrics: dict[str, tuple[str, ...]]
    dropped_metrics: tuple[DroppedMetric, ...]
    not_pooled: tuple[NotPooled, ...]
    n_runs: int
    left_out: dict[str, int]
    notes: tuple[str, ...]
    published: bool
