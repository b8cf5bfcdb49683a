"""Which node is how much better: places with intervals, ties, reasons for no place, and what the ranking stands on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from workprof.core.arrays import Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.progress import Progress
from workprof.core.shown import Shown
from workprof.core.words import listed
from workprof.nodes.comparisons import (
    LEAST_EARLIER,
    AspectScore,
    Change,
    Degraded,
    LeaveOut,
    PairRatio,
    aspect_scores,
    changes,
    degraded_nodes,
    leave_outs,
    pair_ratios,
    tied_with,
)
from workprof.nodes.groups import LEVEL, nodes_differ
from workprof.nodes.parsed_runs import ParsedRuns, parse_runs
from workprof.nodes.scores import LEAST_RUNS, OVERALL, Levels, NodeScores, levels_of, norm_scores, scores_of_aspects
from workprof.nodes.selection import (
    EXCLUDE_NONE,
    FLAGGED,
    PERONA,
    STRESSED,
    DroppedMetric,
    MeasuredSettings,
    NotPooled,
    OrientedRuns,
    RankSettings,
    Selection,
    dropped_metrics,
    failed_words,
    newest_failed,
    oriented,
    select,
    values_without_ratio,
)


@dataclass(frozen=True)
class RankedNode:
    """One node."""

    node: str
    score: float  # and `low`, `high`: overall, see `AspectScore`
    low: float
    high: float
    rank: int | None  # place by score, 1 = best; None where the node is not ranked, which `reason` tells
    # ranked nodes that are not clearly better or worse: the interval of the ratio of the two holds 1, or, where the two
    # are not compared, their intervals overlap
    tied_with: tuple[str, ...]
    aspects: dict[str, AspectScore]  # aspect -> score
    n_runs: int  # used
    price_per_h: float  # and `price_performance`: NaN without a price
    price_performance: float
    degraded: Degraded | None  # None = no sign of it
    judged: bool  # whether a benchmark has runs enough for such a sign
    change: Change | None  # None = not enough runs in both halves
    reason: str  # why there is no rank, '' = there is one


@dataclass(frozen=True, repr=False)
class Ranking(Shown):
    """Nodes by score."""

    settings: RankSettings
    nodes: tuple[RankedNode, ...]  # ranked ones first, best first; then the others by name
    pairs: tuple[PairRatio, ...]
    leave_outs: tuple[LeaveOut, ...]
    shares: dict[str, float]  # weight of each aspect that counted, summing to 1
    metrics: dict[str, tuple[str, ...]]  # aspect -> metrics in its score
    dropped_metrics: tuple[DroppedMetric, ...]
    not_pooled: tuple[NotPooled, ...]
    n_runs: int
    left_out: dict[str, int]  # reason -> runs
    notes: tuple[str, ...]
    published: bool  # whether the definitions are the published ones
    # aspects in which the nodes differ by no more than their runs do: no pair of nodes is called different in them, nor
    # overall where every aspect behind it is one of them
    alike: tuple[str, ...]


PUBLISHED_NOTE = (
    "published definitions: the 10-norm of a code ranks and does not measure (eight metrics at .5 give 1.0008, at 1 "
    "they give 1.246), so it does not say how much faster a node is"
)
NO_SCORE = AspectScore(float("nan"), float("nan"), float("nan"), None, 0)


def rank_nodes(frames: Mapping[str, pd.DataFrame], settings: RankSettings, progress: Progress) -> Ranking:
    """Nodes by score.

    `frames`: 'runs', raw; for exclude='flagged' also 'flagged' with row_id; for score='perona' also 'norms'.

    Raises:
        NotEnoughData: when no run can be compared, or the published score lacks its codes.
        SettingsError: for a node that there is not.

    Source: ours, see `scores_of_aspects`; score='perona' is Perona's (Scheinert et al. 2022), see `norm_scores`. Pairs
    are compared in the aspects in which the nodes differ at all (Fisher's protected comparisons).
    """
    progress(0.1, "reading the runs")
    parsed = parse_runs(frames["runs"])
    flagged = frames["flagged"]["row_id"].to_numpy(dtype=np.int64) if "flagged" in frames else None
    selection = select(parsed, settings, flagged)
    runs = oriented(parsed, selection.positions)

    progress(0.4, "resampling the runs")
    levels = levels_of(runs, selection.nodes, settings.n_draws, settings.seed)
    if settings.score == PERONA:
        norms = _norms_of_runs(frames.get("norms"), parsed.row_ids[selection.positions])
        aspects, overall = norm_scores(norms, selection.nodes, settings)
    else:
        aspects, overall = scores_of_aspects(levels, settings.shares)

    progress(0.7, "comparing the nodes")
    anytime = select(parsed, replace(settings, since_s=None, until_s=None), flagged)
    result = _compared(runs, oriented(parsed, anytime.positions), levels, (aspects, overall), settings)
    progress(1.0, "done")
    used = {metric for one in aspects.values() for metric in one.metrics}
    return replace(
        result,
        dropped_metrics=dropped_metrics(parsed, selection.positions, used),
        not_pooled=selection.not_pooled,
        left_out=selection.left_out,
        notes=ranking_notes(parsed, selection, levels, result.nodes, settings),
    )


def _compared(
    runs: OrientedRuns,
    anytime: OrientedRuns,
    levels: Levels,
    scores: tuple[Mapping[str, NodeScores], NodeScores | None],
    settings: RankSettings,
) -> Ranking:
    """The ranking of scores by aspect and overall, with nothing said of what was left out."""
    aspects, overall = scores
    published = settings.score == PERONA
    nodes = _ranked_nodes(aspects, overall, runs, levels.nodes, settings)
    changed = changes(anytime, levels.nodes, settings)
    told = zip(nodes, changed, *degraded_nodes(runs, levels.nodes), strict=True)
    nodes = [replace(one, change=c, degraded=d, judged=j) for one, c, d, j in told]
    nodes.sort(key=lambda one: (one.rank is None, one.rank or 0, one.node))
    order = tuple(one.node for one in nodes if one.rank)
    pairs = () if published else pair_ratios(levels, settings.shares, nodes[0].node, settings.confidence)
    counted = {name: share for name, share in settings.shares.items() if name in aspects and share > 0}
    alike = () if published else _alike(aspects)
    differ = {metric for name, one in aspects.items() if name not in alike for metric in one.metrics}
    pairs = tuple(replace(one, clear=one.clear and not differ.isdisjoint(one.metrics)) for one in pairs)
    nodes = [
        replace(one, tied_with=_ties(one.node, order, order if counted.keys() <= set(alike) else one.tied_with, pairs))
        for one in nodes
    ]
    ties = {one.node: one.tied_with for one in nodes}
    return Ranking(
        settings=settings,
        nodes=tuple(nodes),
        pairs=pairs,
        leave_outs=() if published or not order else leave_outs(levels, settings.shares, order, ties),
        shares={name: share / sum(counted.values()) for name, share in counted.items()},
        metrics={name: one.metrics for name, one in aspects.items()},
        dropped_metrics=(),
        not_pooled=(),
        n_runs=len(runs.node),
        left_out={},
        notes=(),
        published=published,
        alike=alike,
    )


def _alike(aspects: Mapping[str, NodeScores]) -> tuple[str, ...]:
    """The aspects in which those nodes that have an interval do not differ, see `nodes_differ`."""
    alike = []
    for name, one in aspects.items():
        known = np.isfinite(one.log) & (one.fewest >= LEAST_RUNS)
        fewest = int(one.fewest[known].min(initial=np.iinfo(np.int64).max))
        if known.sum() > 1 and not nodes_differ(one.log[known], one.draws[:, known], fewest, LEVEL / len(aspects)):
            alike.append(name)
    return tuple(alike)


def rank_measured(measured: pd.DataFrame, settings: MeasuredSettings) -> Ranking:
    """The nodes by the metrics of a table: each metric is an aspect of its own unless the table says of which.

    A line is a run: the metrics of a benchmark that share a start are one run only where they stand in a line each,
    and are resampled metric by metric.

    `measured` has the columns node, metric, value and higher_is_better; benchmark, aspect and started_s where known.
    Values of 0 and below have no ratio and are left out, counted.

    Raises:
        NotEnoughData: when no value is left.
        SettingsError: when a metric has two directions, benchmarks or aspects.

    Source: as `rank_nodes`, score='ratio'.
    """
    values = measured["value"].to_numpy(dtype=np.float64)
    usable = np.isfinite(values) & (values > 0)
    if not usable.any():
        raise NotEnoughData(f"none of {len(values):,} values is above 0, and a ratio needs that; check the column")
    used = measured[usable]
    about = used.drop_duplicates(["metric", "higher_is_better", "benchmark", "aspect"])
    twice = about["metric"][about["metric"].duplicated()]
    if len(twice):
        raise SettingsError(f"metric {twice.iloc[0]!r} has two directions, benchmarks or aspects; give it one of each")
    names = about["metric"].tolist()
    column = used["metric"].map({name: place for place, name in enumerate(names)}).to_numpy(dtype=np.int64)
    sign = np.where(used["higher_is_better"].to_numpy(dtype=bool), 1.0, -1.0)
    logs = np.full((len(used), len(names)), np.nan)
    logs[np.arange(len(used)), column] = sign * np.log(values[usable])
    runs = OrientedRuns(
        node=used["node"].to_numpy(dtype=object),
        benchmark=used["benchmark"].to_numpy(dtype=object),
        started_s=used["started_s"].to_numpy(dtype=np.float64),
        logs=logs,
        metrics=tuple(names),
        benchmarks=tuple(about["benchmark"]),
        aspects=tuple(about["aspect"]),
    )
    settings = replace(settings, aspects=tuple(dict.fromkeys((*settings.weights_of, *runs.aspects))))
    nodes = tuple(sorted({str(node) for node in measured["node"]}))
    levels = levels_of(runs, nodes, settings.n_draws, settings.seed)
    result = _compared(runs, runs, levels, scores_of_aspects(levels, settings.shares), settings)
    notes = [] if any(one.rank for one in result.nodes) else _why_none(result.nodes)
    notes += _narrow_intervals(result.nodes)
    undated = int(np.isnan(runs.started_s).sum())
    if undated and len(runs.node) > LEAST_EARLIER:
        which = "no value has" if undated == len(runs.node) else f"{undated:,} of {len(runs.node):,} values lack"
        notes.append(f"{which} a time: without it none shows whether its node has slowed down")
    left_out = {"without a value above 0": int((~usable).sum())} if not usable.all() else {}
    return replace(result, left_out=left_out, notes=(*notes, *_what_is_not_compared(levels, settings)))


def _why_none(nodes: Sequence[RankedNode]) -> list[str]:
    return [f"no ranking: {'; '.join(dict.fromkeys(one.reason for one in nodes))}"]


def _ties(node: str, order: Sequence[str], overlapping: Sequence[str], pairs: Sequence[PairRatio]) -> tuple[str, ...]:
    """The ranked nodes that the ratio of the pair does not tell apart, or without one the interval of each."""
    own = [one for one in pairs if one.aspect == OVERALL and node in (one.node, one.other)]
    clear = {one.other if one.node == node else one.node: one.clear for one in own}
    ranked = [other for other in order if other != node] if node in order else []
    return tuple(other for other in ranked if not clear.get(other, other not in overlapping))


def _norms_of_runs(norms: pd.DataFrame | None, row_ids: Ints) -> pd.DataFrame:
    if norms is None or norms.empty:
        raise NotEnoughData("the published score needs the codes of the network; run the detection of degradation")
    chosen = norms[norms["row_id"].isin(row_ids)]
    if chosen.empty:
        raise NotEnoughData("none of the chosen runs has a code of the network; choose more runs")
    return chosen


def _ranked_nodes(
    aspects: Mapping[str, NodeScores],
    overall: NodeScores | None,
    runs: OrientedRuns,
    names: tuple[str, ...],
    settings: RankSettings,
) -> list[RankedNode]:
    """The nodes in the order of `names`, change and degradation not yet looked at."""
    by_aspect = {name: aspect_scores(one, settings.confidence) for name, one in aspects.items()}
    total = aspect_scores(overall, settings.confidence) if overall else [NO_SCORE] * len(names)
    ties = tied_with(names, total)
    ranked = []
    for row, (node, one) in enumerate(zip(names, total, strict=True)):
        own = {name: scores[row] for name, scores in by_aspect.items()}
        price_per_h = settings.prices_per_h.get(node, math.nan)
        ranked.append(
            RankedNode(
                node=node,
                score=one.score,
                low=one.low,
                high=one.high,
                rank=one.rank,
                tied_with=ties[row],
                aspects=own,
                n_runs=int((runs.node == node).sum()),
                price_per_h=price_per_h,
                price_performance=one.score / price_per_h if price_per_h > 0 else math.nan,
                degraded=None,
                judged=False,
                change=None,
                reason="" if one.rank else _why_no_rank(one, own, settings, alone=len(names) == 1),
            )
        )
    return ranked


ENOUGH_RUNS = 5
"""Of a benchmark on a node, for an interval that holds about what it should."""


def _narrow_intervals(nodes: Sequence[RankedNode]) -> list[str]:
    """What intervals of few runs hold: of 320 equal nodes each, by 1,000 resamples of runs that spread by 5 %."""
    few = sorted(
        one.node for one in nodes if any(LEAST_RUNS <= each.n_runs < ENOUGH_RUNS for each in one.aspects.values())
    )
    if not few:
        return []
    return [
        f"fewer than {ENOUGH_RUNS} runs of a benchmark ({listed(few)}): intervals are too narrow; those of 95 % hold "
        "the truth in 80 % of cases with three runs, 89 % with four, 94 % with five"
    ]


def _why_no_rank(one: AspectScore, own: dict[str, AspectScore], settings: RankSettings, *, alone: bool) -> str:
    if alone:
        return "the only node: there is nothing to compare it with"
    lacking = [name for name, score in own.items() if settings.shares[name] > 0 and not np.isfinite(score.score)]
    if lacking:
        return f"no usable run of {', '.join(lacking)}; run it there, or give it the weight 0"
    if not np.isfinite(one.score):
        return "no aspect with a weight above 0 was measured on every node"
    if one.n_runs < LEAST_RUNS:
        few = [name for name, score in own.items() if settings.shares[name] > 0 and score.n_runs < LEAST_RUNS]
        return f"fewer than {LEAST_RUNS} runs of a benchmark ({', '.join(few)}): values only, no rank"
    return "no other node can be ranked: there is nothing to compare it with"


def ranking_notes(
    parsed: ParsedRuns, selection: Selection, levels: Levels, nodes: Sequence[RankedNode], settings: RankSettings
) -> tuple[str, ...]:
    """What a reader of a ranking must know, the gravest first."""
    notes = [PUBLISHED_NOTE] if settings.score == PERONA else []
    if not any(one.rank for one in nodes):
        notes += _why_none(nodes)
    notes += [
        f"{one.n_runs} runs of {one.benchmark} on {', '.join(one.nodes)} have other parameters than most and are not "
        f"pooled: {one.parameters} instead of {one.compared_with}"
        for one in selection.not_pooled
    ]
    notes += [*_what_is_not_compared(levels, settings), *_narrow_intervals(nodes)]
    for name, count in values_without_ratio(parsed, selection.positions).items():
        notes.append(f"{count} values of {name} are 0 or less and excluded")
    stressed = parsed.stressed[selection.positions]
    if settings.exclude in (EXCLUDE_NONE, FLAGGED) and (n_stressed := int((stressed == 1).sum())):
        notes.append(f"{n_stressed} of {len(stressed)} runs were under load; they are included, as medians are robust")
    if settings.exclude == STRESSED and (n_unknown := int((stressed < 0).sum())):
        notes.append(
            f"{n_unknown} of {len(stressed)} runs are not labelled as under load or idle; they are included, unless "
            "runs that are flagged as degraded are excluded"
        )
    failed = {name: own for name, own in newest_failed(parsed, settings.exclude).items() if name in levels.nodes}
    if failed:
        notes.append(f"newest runs failed, measured 0 or cannot be read: {failed_words(failed)}; they are in no score")
    if any(one.degraded for one in nodes):
        notes.append("degraded: by newest runs against all earlier ones; Over time follows every run, and may differ")
    if levels.by_campaign.any():
        notes.append("whole measurement campaigns were resampled where a benchmark has three or more of them")
    return tuple(notes)


def _what_is_not_compared(levels: Levels, settings: RankSettings) -> list[str]:
    """Which weighted aspects nobody was measured on, and which metrics only some nodes have."""
    notes = []
    known = levels.n_values > 0
    for aspect, share in settings.shares.items():
        member = np.array([name == aspect for name in levels.aspects])
        if share > 0 and not known[:, member].any():
            notes.append(f"nobody was measured on {aspect}: it does not count")
            continue
        measured = known[:, member].any(axis=1)
        for column in np.flatnonzero(member & known.any(axis=0) & ~known[measured].all(axis=0)):
            without = [levels.nodes[row] for row in np.flatnonzero(measured & ~known[:, column])]
            notes.append(f"{levels.metrics[column]} is not compared: no value on {', '.join(without)}")
    return notes


def per_price(result: Ranking) -> Ranking:
    """The same nodes by score per unit of money and hour; those without a price have no place.

    Scores, intervals and pairs are divided by the prices, which are taken as exact; aspects stay as they are, and no
    benchmark is left out in turn.
    """
    ranked = sorted(
        (one for one in result.nodes if one.rank and one.price_per_h > 0), key=lambda one: -one.price_performance
    )
    lines = [
        AspectScore(one.price_performance, one.low / one.price_per_h, one.high / one.price_per_h, place, one.n_runs)
        for place, one in enumerate(ranked, start=1)
    ]
    names = tuple(one.node for one in ranked)
    others = [
        replace(
            one, score=math.nan, low=math.nan, high=math.nan, rank=None, tied_with=(), reason=one.reason or "no price"
        )
        for one in result.nodes
        if one.node not in names
    ]
    prices = {one.node: one.price_per_h for one in ranked}
    pairs = tuple(
        _pair_per_price(one, prices[one.other] / prices[one.node])
        for one in result.pairs
        if one.aspect == OVERALL and {one.node, one.other} <= prices.keys()
    )
    nodes = [
        replace(one, score=own.score, low=own.low, high=own.high, rank=own.rank)
        for one, own in zip(ranked, lines, strict=True)
    ]
    nodes = [
        replace(one, tied_with=_ties(one.node, names, ties, pairs))
        for one, ties in zip(nodes, tied_with(names, lines), strict=True)
    ]
    return replace(result, nodes=(*nodes, *others), pairs=pairs, leave_outs=())


def _pair_per_price(one: PairRatio, factor: float) -> PairRatio:
    low = one.low if one.clear else min(one.low, 1.0)  # without a clear difference the two may be equal
    ratio, low, high = one.ratio * factor, low * factor, one.high * factor
    if ratio < 1:
        ratio, low, high = 1 / ratio, 1 / high, 1 / low
        one = replace(one, node=one.other, other=one.node)
    return replace(one, ratio=ratio, low=low, high=high, clear=low > 1)


MOST_NAME = 80
MOST_COMPARED = 4


@dataclass(frozen=True)
class NodeScenario:
    """One scenario, as it is kept and compared; raises SettingsError for a name that is empty or too long."""

    name: str  # given by the user, not empty
    dataset_hash: str  # of the benchmark runs
    settings: RankSettings  # of the ranking: weights, prices, window, what is left out
    created: str = ""  # time in ISO form, '' = not kept

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MOST_NAME:
            raise SettingsError(
                f"the scenario is called {self.name[:20]!r}; give a name of 1 to {MOST_NAME} characters"
            )
