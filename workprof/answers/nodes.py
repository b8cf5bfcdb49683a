"""What is said of nodes: which is best for which work, which has degraded, and how far a ranking carries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workprof.core.answer import Answer, Table
from workprof.core.arrays import Floats
from workprof.core.records import to_json
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, listed
from workprof.nodes.advice import Advice
from workprof.nodes.allocation import Allocation
from workprof.nodes.comparisons import AspectScore, PairRatio
from workprof.nodes.detection import Detection, ScoredRuns
from workprof.nodes.groups import Groups
from workprof.nodes.ranking import RankedNode, Ranking, per_price
from workprof.nodes.runtime_intervals import Coverage
from workprof.nodes.scores import OVERALL
from workprof.nodes.search import RANDOM, Search
from workprof.nodes.transfer import Transfer

NO_DATA = "no data"


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


def nodes_words(count: int) -> str:
    """Return '1 node' or '3 nodes'."""
    return counted(count, "node")


def ranking_sentence(result: Ranking) -> str:
    """Return who is best and by how much, or why there is no ranking."""
    ranked = [one for one in result.nodes if one.rank]
    if not ranked:
        reason = result.nodes[0].reason if result.nodes else "no node"
        return f"There is no ranking: {reason}."
    best = ranked[0]
    pair = best_pair(result.pairs, best.node, ranked[1].node)
    if pair is None:
        return f"{best.node} scores highest: {score_words(best)}."
    if not best.tied_with:
        return f"{faster_words(pair)}."
    return f"{faster_words(pair)}: {best.node} is tied with {listed(best.tied_with)}."


def price_sentence(result: Ranking) -> str:
    """Return which node gives most for its price and by how much, for a ranking of `per_price`."""
    ranked = [one for one in result.nodes if one.rank]
    if not ranked:
        return "No ranked node has a price."
    best = ranked[0]
    if len(ranked) == 1:
        return f"{best.node} is the only node with a price: {best.score:.3g} per unit of price."
    pair = best_pair(result.pairs, best.node, ranked[1].node)
    if pair is None:
        return f"{best.node} gives most for its price: {best.score:.3g} per unit of price."
    if best.tied_with:
        return f"{listed([best.node, *best.tied_with])} do not differ clearly in score per price."
    ends = f" ({percent_more(pair.low)} to {percent_more(pair.high)})" if math.isfinite(pair.low) else ""
    return f"{best.node} gives most for its price: {percent_more(pair.ratio)} more than {pair.other}{ends}."


def decision_sentence(result: Ranking, work: str = "") -> str:
    """Return which node to take and which are degraded: the fastest one, and with prices what gives most for them.

    Args:
        result: ranking by score.
        work: what the nodes are for, such as a profile's name; '' = work of any kind.
    """
    head = f"For {work}: " if work else ""
    fastest = ranking_sentence(result)
    degraded = [one.node for one in result.nodes if one.degraded]
    more = f", {len(degraded) - 3} more" if len(degraded) > 3 else ""
    bad = f" Degraded: {', '.join(degraded[:3])}{more}." if degraded else ""
    if not any(one.price_per_h > 0 and one.rank for one in result.nodes):
        return f"{head}{fastest}{bad}"
    return f"{head}{price_sentence(per_price(result))} Price aside, {fastest}{bad}"


def best_pair(pairs: Sequence[PairRatio], one: str, other: str, aspect: str = OVERALL) -> PairRatio | None:
    """Return the comparison of two nodes in an aspect, None where there is none."""
    return next((pair for pair in pairs if pair.aspect == aspect and {pair.node, pair.other} == {one, other}), None)


def resource(aspect: str) -> str:
    """Return an aspect of nodes as people write it: 'CPU' for cpu."""
    return "CPU" if aspect == "cpu" else aspect


def weight_words(shares: Mapping[str, float]) -> str:
    """Return weights above 0: 'CPU 50 %, disk 50 %'."""
    return ", ".join(f"{resource(name)} {format_share(share, 0)}" for name, share in shares.items() if share > 0)


CLEAR = {"re-run": "Run the benchmark again to confirm.", "exclude": "Take the node out until it is repaired."}


def robustness_sentence(result: Ranking) -> str:
    """Return what the order hangs on."""
    if not result.leave_outs:
        return "No benchmark can be excluded: one carries the whole score, or nothing is ranked."
    hang = [one.benchmark for one in result.leave_outs if not one.same_order]
    if not hang:
        return f"The order stays the same without any one of {counted(len(result.leave_outs), 'benchmark')}."
    return f"The order changes without {', '.join(hang)}."


def degraded_sentences(result: Ranking) -> tuple[str, ...]:
    """Return for each degraded node its reason and what to do."""
    return tuple(
        f"{one.node}: {one.degraded.reason}. {CLEAR[one.degraded.action]}" for one in result.nodes if one.degraded
    )


def leaders_sentence(rankings: Mapping[str, Ranking]) -> str:
    """Return which node is first in which scenario."""
    first = {name: [one.node for one in ranking.nodes if one.rank == 1] for name, ranking in rankings.items()}
    if len({tuple(nodes) for nodes in first.values()}) == 1 and len(first) > 1:
        nodes = " and ".join(next(iter(first.values()))) or "No node"
        return f"{nodes} is first in all {len(first)} scenarios."
    leaders = [f"{' and '.join(nodes) or 'no node'} in {name}" for name, nodes in first.items()]
    return f"First: {'; '.join(leaders)}."


MOST_NAMED = 6


def groups_sentence(result: Groups) -> str:
    """Return how many groups there are and who is in them."""
    if not result.groups:
        return "There are no groups."
    if result.k == 1:
        return f"All {nodes_words(len(result.groups[0].nodes))} form one group: none stands apart."
    return f"{result.k} groups: {'; '.join(members_words(one.nodes) for one in result.groups)}."


def members_words(nodes: Sequence[str]) -> str:
    """The first names of a group."""
    return ", ".join(nodes[:MOST_NAMED]) + (" …" if len(nodes) > MOST_NAMED else "")


def advice_sentence(result: Advice, profile: str = "") -> str:
    """Return which node suits the profile, by its name or else its number, and what gives most for its price."""
    work = f"{profile or f'profile {result.settings.profile}'} ({counted(result.n_jobs, 'run')})"
    return decision_sentence(result.ranking, work)


def allocation_sentence(result: Allocation) -> str:
    """Return how many kinds of jobs each group of nodes suits best."""
    if len(result.groups) == 1:
        return f"All {nodes_words(len(result.groups[0].nodes))} form one group, so that nothing can be allocated."
    best = [one.groups[0] for one in result.kinds]
    parts = [
        f"{best.count(number):,} on group {number} ({members_words(one.nodes)})"
        for number, one in enumerate(result.groups)
        if number in best
    ]
    return f"{counted(len(best), 'kind')} of jobs by what they use: {'; '.join(parts)}."


def transfer_sentence(result: Transfer) -> str:
    """Return how far off our method is, beside no scaling at all."""
    ours, plain = result.methods.get(result.default), result.methods.get("none")
    if ours is None:
        return f"workprof's factor could not be computed: {result.left_out.get(result.default, 'it was not chosen')}."
    rest = f", without scaling {format_share(plain.median)}" if plain else ""
    return f"Half of {ours.n:,} predictions are within {format_share(ours.median)} of the measured runtime{rest}."


def interval_sentence(coverage: Coverage | None) -> str:
    """Return how often the intervals held; '' where there are none."""
    if coverage is None or not coverage.n or not math.isfinite(coverage.share):
        return ""
    return (
        f"{format_share(coverage.confidence, 0)} intervals held {format_share(coverage.share)} of {coverage.n:,} "
        f"runtimes of unseen {coverage.held_out}s; upper end / lower end {coverage.median_width:.2f}."
    )


def degraded_now(result: Detection) -> dict[str, tuple[str, ...]]:
    """Return node -> the benchmarks whose newest run is flagged, the nodes with most of them first."""
    runs, bad = result.runs, {}
    for node in sorted({str(name) for name in runs.node}):
        here = np.flatnonzero(runs.node == node)
        newest = {str(runs.benchmark[row]): row for row in here[np.argsort(runs.started_s[here], kind="stable")]}
        if flagged := tuple(sorted(name for name, row in newest.items() if runs.flag[row])):
            bad[node] = flagged
    return dict(sorted(bad.items(), key=lambda item: -len(item[1])))


def degradation_sentence(result: Detection) -> str:
    """Return which nodes are degraded now, and how many runs are flagged."""
    runs, now = result.runs, degraded_now(result)
    if not len(runs.flag):
        return "No run could be judged: each needs three earlier normal ones."
    count = f"{int((runs.flag & runs.tested).sum()):,} of {int(runs.tested.sum()):,} newer runs are flagged"
    if not now:
        return f"No node is degraded in its newest runs; {count}."
    named = [f"{node} ({', '.join(names)})" for node, names in list(now.items())[:3]]
    rest = f" and {len(now) - 3} more" if len(now) > 3 else ""
    return f"Degraded in the newest runs: {', '.join(named)}{rest}; {count}."


MOST_DRIVERS = 3


def evidence(result: Detection) -> Floats:
    """Return (n_runs,) what the flags go by: the probability, or without labels the p-value."""
    return result.runs.p_anomalous if result.supervised else result.runs.p_value


def drivers_words(result: Detection, row: int) -> str:
    """Return the metrics that lie furthest from the run's history: 'events_per_second -15.2, ...'."""
    drivers = result.runs.drivers[row][:MOST_DRIVERS]
    return ", ".join(f"{one.metric.rpartition('.')[2] or one.metric} {one.size:+.1f}" for one in drivers)


SENTENCE_TRIALS = 6
"""Trials after which the sentence compares; the last one where there are fewer."""


def search_sentence(result: Search) -> str:
    """Return how near to the cheapest the searches come, and what the scores of nodes change."""
    after = min(SENTENCE_TRIALS, result.settings.trials)
    kind = list(result.curves)[-1]
    mean = float(result.curves[kind].mean[after - 1])
    words = f"After {counted(after, 'trial')} the best configuration costs {more_words(mean)} on average"
    if not result.differences:
        return f"{words} ({counted(result.settings.seeds, 'seed')} of each workload)."
    one = result.differences[after - 1]
    verdict = "fewer" if one.high < 0 else "more" if one.low > 0 else "no clear difference"
    text = f"{100 * one.mean:+.1f} points [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
    compared = f"{verdict}: {text}" if verdict.startswith("no") else f"{text}, {verdict} than without"
    return f"{words} with node scores; against searches without them {compared}."


def random_sentence(result: Search) -> str:
    """Return what the optimiser gains over random search, which begins with the same trial."""
    after = min(SENTENCE_TRIALS, result.settings.trials)
    kind = list(result.curves)[-1]
    ours, chance = (float(result.curves[name].mean[after - 1]) for name in (kind, RANDOM))
    gain = 100 * (1 - ours / chance)
    words = f"{gain:.1f} % less" if gain >= 0 else f"{-gain:.1f} % more"
    reached = more_words(chance)
    return f"Random search after {counted(after, 'trial')}: {reached}; the search {kind} costs {words} than that."


def more_words(ratio: float) -> str:
    """A cost beside the least: '12.0 % more than the cheapest'."""
    return f"{100 * (ratio - 1):.1f} % more than the cheapest"


def _node_columns(nodes: Sequence[RankedNode]) -> tuple[Column, ...]:
    """Of the table of nodes: place, score, each resource, price and health."""
    aspects = list(nodes[0].aspects) if nodes else []
    return (
        Column("rank", lambda one: one.rank or None, "Place"),
        Column("node", heading="Node"),
        Column("score_words", score_words, "Score (95 % interval)"),
        Column("tied_with", lambda one: ", ".join(one.tied_with), "Tied with", optional=True),
        *(Column(name, _aspect_words(name), resource(name)) for name in aspects),
        Column("price_performance", heading="Score / price", form="%.3g", optional=True),
        Column("degraded", lambda one: one.degraded.action if one.degraded else "", "Degraded", optional=True),
    )


def _aspect_words(name: str) -> Any:
    return lambda one: score_words(one.aspects[name])


def rank_answer(result: Ranking) -> Answer:
    """Which node is fastest for which work."""
    clear = [one for one in result.pairs if one.aspect == OVERALL and one.clear][:SHOWN_PAIRS]
    left_out = ", ".join(f"{count} {reason}" for reason, count in result.left_out.items())
    unit = "10-norm of the code" if result.published else "1 = geometric mean of the nodes"
    rests = f"{counted(result.n_runs, 'run')}{f' ({left_out} excluded)' if left_out else ''}"
    alike = (f"Differences within noise: {', '.join(result.alike)}.",) if result.alike else ()
    hang = (robustness_sentence(result),) if any(not one.same_order for one in result.leave_outs) else ()
    return Answer(
        decision_sentence(result),
        tables=(
            Table("nodes", f"Score ({unit})", _node_columns(result.nodes), result.nodes),
            Table("pairs", "Clear differences", (Column("in_words", faster_words, "Difference"),), clear),
        ),
        notes=(
            *result.notes,
            *degraded_sentences(result),
            f"The ranking rests on {rests}; weights: {weight_words(result.shares) or 'none'}.",
            *alike,
            *hang,
        ),
        document={
            "score": result.settings.score,
            "published": result.published,
            "weights": result.shares,
            "nodes": [_node(one) for one in result.nodes],
            "pairs": [asdict(one) for one in result.pairs],
            "without": [asdict(one) for one in result.leave_outs],
            "metrics": result.metrics,
            "dropped_metrics": [asdict(one) for one in result.dropped_metrics],
            "not_pooled": [asdict(one) for one in result.not_pooled],
            "n_runs": result.n_runs,
            "left_out": result.left_out,
        },
    )


SHOWN_PAIRS = 12


def _node(one: RankedNode) -> dict[str, Any]:
    return {
        "node": one.node,
        "score": one.score,
        "interval": _interval(one),
        "rank": one.rank,
        "tied_with": list(one.tied_with),
        "aspects": {
            name: {"score": own.score, "interval": _interval(own), "rank": own.rank, "n_runs": own.n_runs}
            for name, own in one.aspects.items()
        },
        "n_runs": one.n_runs,
        "price_per_h": one.price_per_h,
        "price_performance": one.price_performance,
        "degraded": asdict(one.degraded) if one.degraded else None,
        "change": asdict(one.change) if one.change else None,
        "reason": one.reason,
    }


def _interval(one: RankedNode | AspectScore) -> list[float] | None:
    return None if math.isnan(one.low) else [one.low, one.high]  # NaN: fewer than 3 runs


@dataclass(frozen=True)
class _Group:
    """A group of nodes with its number."""

    number: int
    nodes: str
    group: Any


def _grouped(groups: Sequence[Any]) -> list[_Group]:
    return [_Group(number, ", ".join(one.nodes), one) for number, one in enumerate(groups)]


GROUP = (Column("group", "number", "Group"), Column("nodes", heading="Nodes"))


def groups_answer(result: Groups) -> Answer:
    """Which nodes are alike."""
    aspects = list(result.groups[0].labels) if result.groups else []
    labels = tuple(Column(f"{name}_label", _label_of(name), resource(name)) for name in aspects)
    sure = [
        f"{word} {value:.2f}"
        for word, value in (("mean silhouette", result.silhouette), ("stability", result.stability))
        if not math.isnan(value)
    ]
    return Answer(
        groups_sentence(result),
        tables=(Table("groups", "Groups", (*GROUP, *labels), _grouped(result.groups)),),
        notes=(*result.notes, *([f"How sure that is: {', '.join(sure)}."] if sure else [])),
        document={
            "groups": [asdict(one) for one in result.groups],
            **{
                name: getattr(result, name)
                for name in (
                    *("k", "silhouette", "aspects", "silhouettes", "stability", "reference_rand", "not_grouped"),
                    "published",
                )
            },
        },
    )


def _label_of(name: str) -> Any:
    return lambda one: one.group.labels[name]


USES = (
    Column("aspect", lambda one: resource(one.aspect), "Resource"),
    Column("share", heading="Used", unit="share"),
    Column("source", heading="What is used, of what"),
)


def advice_answer(result: Advice) -> Answer:
    """Which node suits the jobs of a profile."""
    uses = [one for one in result.uses if math.isfinite(one.share)]
    return Answer(
        advice_sentence(result),
        tables=(
            Table("uses", f"Weights: {weight_words(result.weights) or 'none'}", USES, uses),
            Table("nodes", "Nodes", _node_columns(result.ranking.nodes), result.ranking.nodes),
        ),
        notes=tuple(result.notes),
        document={
            "profile": result.settings.profile,
            "n_jobs": result.n_jobs,
            "weights": result.weights,
            "proposed": result.proposed,
            "uses": [asdict(one) for one in result.uses],
            "nodes": [_node(one) for one in result.ranking.nodes],
        },
    )


def allocation_answer(result: Allocation) -> Answer:
    """Which kind of jobs belongs on which group of nodes."""
    k = len(result.groups)
    ranks = tuple(
        Column(f"{name}_rank", _rank_of(name, k), f"{resource(name)}: 1 = weakest") for name in _ranked(result)
    )
    kinds = (
        Column("kind", "name", "Kind of jobs"),
        Column("runs", "n_jobs", "Runs", unit="count"),
        *(Column(f"{name}_label", _use_of(name, k), f"{resource(name)}: 1 = uses least") for name in _labelled(result)),
        Column("best_groups", lambda one: ", ".join(map(str, one.groups)), "Groups, best first"),
    )
    places = Column("places", "group.places", "Places", unit="count")
    return Answer(
        allocation_sentence(result),
        tables=(
            Table("groups", "Groups of nodes", (*GROUP, places, *ranks), _grouped(result.groups)),
            Table("kinds", "Kinds of jobs", kinds, result.kinds),
        ),
        notes=tuple(result.notes),
        document={
            "by": result.settings.by,
            "n_jobs": result.n_jobs,
            "groups": [asdict(one) for one in result.groups],
            "resources": [asdict(one) for one in result.resources],
            "kinds": [asdict(one) for one in result.kinds],
        },
    )


def _ranked(result: Allocation) -> list[str]:
    return list(result.groups[0].ranks) if result.groups else []


def _labelled(result: Allocation) -> list[str]:
    return list(result.kinds[0].labels) if result.kinds else []


def _rank_of(name: str, k: int) -> Any:
    return lambda one: f"{one.group.ranks[name]} of {k}"


def _use_of(name: str, k: int) -> Any:
    return lambda one: f"{one.labels[name]} of {k}" if one.labels[name] else "not known"


@dataclass(frozen=True)
class _Named:
    """A method or detector with its name and its figures."""

    name: str
    of: Any


DETECTORS = (
    Column("detector", "name", "Detector"),
    Column("f1_anomalous", "of.f1_anomalous", "F1 degraded", "%.3f"),
    Column("f1_normal", "of.f1_normal", "F1 normal", "%.3f"),
    Column("weighted_accuracy", "of.weighted_accuracy", "Weighted accuracy", "%.3f"),
    Column("pr_auc", "of.pr_auc", "PR-AUC", "%.3f"),
    Column("brier", "of.brier", "Brier score", "%.3f"),
)


@dataclass(frozen=True)
class _Flagged:
    """A flagged run."""

    node: str
    benchmark: str
    started: str
    evidence: float
    drivers: str


def detection_answer(result: Detection) -> Answer:
    """Which nodes are degraded now, by which detector, and which runs are flagged."""
    runs = result.runs
    rows = [
        _Flagged(
            str(runs.node[row]),
            str(runs.benchmark[row]),
            f"{runs.started_s[row]:.0f}",
            float(evidence(result)[row]),
            drivers_words(result, int(row)),
        )
        for row in np.flatnonzero(runs.flag & runs.tested)
    ]
    flagged = (
        Column("node", heading="Node"),
        Column("benchmark", heading="Benchmark"),
        Column("started", heading="Started (epoch, s)"),
        Column("evidence", heading="Probability" if result.supervised else "p-value", form="%.3f"),
        Column("drivers", heading="Furthest from its history"),
    )
    detectors = [
        _Named(name + (" (used)" if name == result.detector else ""), one) for name, one in result.detectors.items()
    ]
    parts = result.parts
    return Answer(
        degradation_sentence(result),
        tables=(
            Table("runs", "Flagged runs", flagged, rows),
            Table("detectors", "Detectors", DETECTORS, detectors),
        ),
        notes=(
            *(["Published definitions."] if result.published else []),
            *result.messages,
            f"{parts.n_scored} of {parts.n_test} runs are judged by {result.detector}, trained on {parts.by} "
            f"({parts.n_train_scored} labelled, {parts.n_train_anomalous} of them under load).",
            f"Network: mean squared reconstruction error {result.model.mse:.4f}; it names the benchmark of "
            f"{format_share(result.model.type_accuracy)} of the runs.",
        ),
        document={
            "mode": result.settings.mode,
            "published_definitions": result.published,
            "supervised": result.supervised,
            "detector": result.detector,
            "threshold": result.threshold,
            "model": asdict(result.model),
            "detectors": {name: asdict(one) for name, one in result.detectors.items()},
            "runs": _runs(runs),
            "not_scored": len(result.not_scored),
            "not_scored_runs": [asdict(one) for one in result.not_scored],
            "parts": asdict(parts),
            "calibration": asdict(result.calibration) if result.calibration else None,
            "recipe": asdict(result.network.recipe),
            "dropped_metrics": [asdict(one) for one in result.dropped],
            "orientations": [asdict(one) | {"disagree": one.disagree} for one in result.orientations],
            "messages": list(result.messages),
            "seconds": result.seconds,
        },
    )


def _runs(runs: ScoredRuns) -> list[dict[str, Any]]:
    return [
        {
            "row_id": runs.row_id[place],
            "node": str(runs.node[place]),
            "benchmark": str(runs.benchmark[place]),
            "started": float(runs.started_s[place]),
            "stressed": None if runs.label[place] < 0 else bool(runs.label[place]),
            "p_anomalous": float(runs.p_anomalous[place]),
            "p_value": float(runs.p_value[place]),
            "flag": bool(runs.flag[place]),
            "drivers": [asdict(one) for one in runs.drivers[place]],
            "reconstruction_error": float(runs.reconstruction_error[place]),
        }
        for place in np.flatnonzero(runs.tested)
    ]


TRANSFERRED = (
    Column("method", "name", "Method"),
    Column("median", "of.median", "Median error", "%.4f", help="Error = |predicted - measured| / measured."),
    Column("p90", "of.p90", "P90", "%.4f"),
    Column("p95", "of.p95", "P95", "%.4f"),
    Column("n", "of.n", "Predictions", unit="count"),
)


def transfer_answer(result: Transfer, interval: Coverage | None) -> Answer:
    """How far runtimes carry over to other machines."""
    notes = [f"{name} is excluded: {reason}" for name, reason in result.left_out.items()]
    if result.history:
        notes.append(f"runs on {', '.join(result.history)} tell how each task follows the scores")
    if result.n_untrained:
        notes.append(f"{result.n_untrained} tasks and parts have one local run only; nothing is predicted from it")
    if result.n_absent:
        notes.append(f"{result.n_absent} predictions cannot be judged: the target has no run of the task")
    held = interval_sentence(interval)
    methods = [
        _Named(name + (" (default)" if name == result.default else ""), one) for name, one in result.methods.items()
    ]
    return Answer(
        transfer_sentence(result),
        tables=(Table("methods", "Error = |predicted - measured| / measured", TRANSFERRED, methods),),
        notes=(*notes, *([held] if held else [])),
        document={
            "methods": {name: asdict(one) for name, one in result.methods.items()},
            "default": result.default,
            "left_out": result.left_out,
            "n_untrained": result.n_untrained,
            "n_absent": result.n_absent,
            "history": list(result.history),
            "interval": asdict(interval) if interval else None,
        },
    )


TRIALS = (
    Column("workload", heading="Workload", optional=True),
    Column("trial", heading="Trial", unit="count"),
    Column("configuration", heading="Configuration"),
    Column("runtime_s", heading="Runtime (s)", form="%,.1f"),
    Column("cost", heading="Cost", form="%,.4g"),
    Column("best_cost", heading="Least cost so far", form="%,.4g"),
)


def search_answer(result: Search) -> Answer:
    """How near to the cheapest configuration a search comes, trial by trial."""
    steps = range(result.settings.trials)
    curves = [Column("trials", lambda step: step + 1, "Trials", unit="count")]
    curves += [Column(f"{kind.replace(' ', '_')}_found", _curve_words(result, kind), kind) for kind in result.curves]
    if result.differences:
        curves.append(Column("difference", lambda step: _difference(result, step), "Difference (95 % interval)"))
    cheapest = ", ".join(f"{best} for {name}" if name else best for name, best in result.workloads.items())
    words = f"Mean cost / least cost of {result.settings.seeds} searches (share that found the cheapest)"
    return Answer(
        search_sentence(result),
        tables=(Table("path", "The first search", TRIALS, result.path), Table("curves", words, tuple(curves), steps)),
        notes=(
            *result.notes,
            random_sentence(result),
            f"{result.n_configurations} configurations; cheapest: {cheapest}.",
        ),
        document={
            "optimizer": result.settings.optimizer,
            "n_configurations": result.n_configurations,
            "seeds": result.settings.seeds,
            "cheapest": result.workloads,
            "least_costs": result.least_costs,
            "curves": to_json(result.curves),
            "path": [asdict(one) for one in result.path],
            "differences": [asdict(one) for one in result.differences],
        },
    )


def _curve_words(result: Search, kind: str) -> Any:
    curve = result.curves[kind]
    return lambda step: f"{curve.mean[step]:.3f} ({format_share(float(curve.found_share[step]))})"


def _difference(result: Search, step: int) -> str:
    one = result.differences[step]
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
