"""Scores of nodes that keep ratios, from medians and what resampled runs would have made of them; the published norm.

A node that is c times better on every metric scores c times higher. The published 10-norm of the codes ranks, it does
not measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.records import digest
from workprof.nodes.metrics import ASPECT_OF, ASPECTS
from workprof.nodes.selection import OrientedRuns, RankSettings

LEAST_RUNS = 3
"""Of a benchmark on a node; with fewer there is no interval and no rank."""
CAMPAIGN_GAP_S = 6 * 3600.0
"""A pause of this length between any two runs of a dataset starts a new measurement campaign."""
LEAST_CAMPAIGNS = 3
"""Whole campaigns are resampled from this many on: two of them could only be drawn in three ways."""


@dataclass(frozen=True)
class Levels:
    """Medians of the oriented metrics by node."""

    nodes: tuple[str, ...]  # names in order
    metrics: tuple[str, ...]  # and `benchmarks`, `aspects`: of the columns
    benchmarks: tuple[str, ...]
    aspects: tuple[str, ...]
    level: Floats  # (n_nodes, n_metrics); NaN where the node has no value
    draws: Floats  # (n_draws, n_nodes, n_metrics) of resampled runs; NaN with fewer than 3 values
    n_values: Ints  # (n_nodes, n_metrics) values behind a median
    by_campaign: NDArray[np.bool_]  # (n_nodes, n_metrics) whether whole campaigns were resampled


def levels_of(runs: OrientedRuns, nodes: tuple[str, ...], n_draws: int, seed: int) -> Levels:
    """The levels of the nodes; the order of rows changes nothing.

    Runs are resampled within (node, benchmark), whole campaigns where there are several.
    """
    shape = len(nodes), len(runs.metrics)
    level, draws = np.full(shape, np.nan), np.full((n_draws, *shape), np.nan)
    n_values, by_campaign = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_)
    campaign = campaigns(runs.started_s)
    for row, node in enumerate(nodes):
        for benchmark in dict.fromkeys(runs.benchmarks):
            here = np.flatnonzero((runs.node == node) & (runs.benchmark == benchmark))
            here = here[np.lexsort((*runs.logs[here].T, runs.started_s[here]))]
            weights = multiplicities(campaign[here], n_draws, (seed, node, benchmark))
            whole = len(np.unique(campaign[here])) >= LEAST_CAMPAIGNS
            for column in (i for i, name in enumerate(runs.benchmarks) if name == benchmark):
                values = runs.logs[here, column]
                n_values[row, column] = count = int(np.isfinite(values).sum())
                level[row, column] = np.median(values[np.isfinite(values)]) if count else np.nan
                by_campaign[row, column] = whole
                if count >= LEAST_RUNS:
                    draws[:, row, column] = weighted_medians(values, weights)
    return Levels(nodes, runs.metrics, runs.benchmarks, runs.aspects, level, draws, n_values, by_campaign)


def campaigns(started_s: Floats) -> Ints:
    """(n_runs,) number of the campaign that each run belongs to, from the start times of all runs."""
    order = np.argsort(started_s, kind="stable")
    number = np.empty(len(started_s), dtype=np.int64)
    number[order] = np.cumsum(np.diff(started_s[order], prepend=started_s[order][:1]) > CAMPAIGN_GAP_S)
    return number


def multiplicities(campaign: Ints, n_draws: int, key: tuple[int, str, str]) -> Ints:
    """(n_draws, n_runs) how often each run is in each resample of campaigns.

    By the key (seed, node and benchmark) a group's draws do not depend on which others there are.
    """
    seed, node, benchmark = key
    random = np.random.default_rng([seed, int(digest(f"{node}\0{benchmark}", size=8), 16)])
    names, members = np.unique(campaign, return_inverse=True)
    if len(names) >= LEAST_CAMPAIGNS:
        drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=n_draws)
        return np.asarray(drawn[:, members], dtype=np.int64)
    n = len(campaign)
    if not n:
        return np.zeros((n_draws, 0), dtype=np.int64)
    return np.asarray(random.multinomial(n, np.full(n, 1 / n), size=n_draws), dtype=np.int64)


def weighted_medians(values: Floats, weights: Ints) -> Floats:
    """(n_draws,) median of the values (n,), each as often as its weight (n_draws, n) says; NaN is left out."""
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.argsort(values[finite], kind="stable")]
    ranked = values[order]
    reached = np.cumsum(weights[:, order], axis=1)
    total = reached[:, -1]
    lower = (reached > ((total - 1) // 2)[:, None]).argmax(axis=1)
    upper = (reached > (total // 2)[:, None]).argmax(axis=1)
    medians = (ranked[lower] + ranked[upper]) / 2
    return np.where(total > 0, medians, np.nan)


OVERALL = "overall"


@dataclass(frozen=True)
class NodeScores:
    """One score of all nodes."""

    name: str  # an aspect, or 'overall'
    log: Floats  # (n_nodes,) ln of the score; NaN where a metric is missing. The geometric mean of the nodes is 1
    draws: Floats  # (n_draws, n_nodes) the same of resampled runs, on the same scale; NaN without an interval
    fewest: Ints  # (n_nodes,) runs behind the thinnest of its medians
    metrics: tuple[str, ...]  # that it is made of


def aspect_weights(levels: Levels, nodes: Bools | None = None) -> dict[str, Floats]:
    """For each aspect the weight of each metric: benchmarks count alike, and metrics within a benchmark.

    Only metrics that all compared `nodes` (n_nodes,) have count, among those nodes that have the aspect at all.
    """
    chosen = np.ones(len(levels.nodes), dtype=np.bool_) if nodes is None else nodes
    known = np.isfinite(levels.level[chosen])
    weights: dict[str, Floats] = {}
    for aspect in (one for one in dict.fromkeys((*ASPECTS, *levels.aspects)) if one in levels.aspects):
        member = np.array([name == aspect for name in levels.aspects])
        measured = known[:, member].any(axis=1)
        common = member & known[measured].all(axis=0) & bool(measured.any())
        benchmarks = {levels.benchmarks[i] for i in np.flatnonzero(common)}
        if not benchmarks:
            continue
        row = np.zeros(len(levels.metrics))
        for benchmark in benchmarks:
            own = common & np.array([name == benchmark for name in levels.benchmarks])
            row[own] = 1 / (len(benchmarks) * own.sum())
        weights[aspect] = row
    return weights


def overall_weights(weights: Mapping[str, Floats], shares: Mapping[str, float]) -> Floats | None:
    """The weight of each metric in the overall score, None where no aspect counts; unmeasured ones are passed over."""
    counted = {name: shares.get(name, 0.0) for name in weights if shares.get(name, 0.0) > 0}
    if not counted:
        return None
    total = sum(counted.values())
    overall: Floats = np.sum([weights[name] * share / total for name, share in counted.items()], axis=0)
    return overall


def node_scores(name: str, levels: Levels, weights: Floats) -> NodeScores:
    """The score that weights of the metrics make."""
    used = weights > 0
    raw = levels.level[:, used] @ weights[used]
    centre = float(np.mean(raw[np.isfinite(raw)])) if np.isfinite(raw).any() else 0.0
    draws = levels.draws[:, :, used] @ weights[used]
    fewest = levels.n_values[:, used].min(axis=1)
    metrics = tuple(levels.metrics[i] for i in np.flatnonzero(used))
    return NodeScores(name, raw - centre, draws - centre, fewest, metrics)


def scores_of_aspects(levels: Levels, shares: Mapping[str, float]) -> tuple[dict[str, NodeScores], NodeScores | None]:
    """The score of each aspect, and the overall one where any aspect counts."""
    weights = aspect_weights(levels)
    aspects = {name: node_scores(name, levels, row) for name, row in weights.items()}
    overall = overall_weights(weights, shares)
    return aspects, None if overall is None else node_scores(OVERALL, levels, overall)


def norm_scores(
    norms: pd.DataFrame, nodes: tuple[str, ...], settings: RankSettings
) -> tuple[dict[str, NodeScores], NodeScores | None]:
    """The published score of each aspect and overall, higher is better; of columns row_id, node, benchmark and norm.

    Source: Perona (Scheinert et al. 2022): mean norm per node and type, divided by the largest of the nodes; disk = fio
    + ioping, network = iperf3 + qperf. The overall score is their weighted sum, as in the weighting of CherryPick.
    Intervals are ours.
    """
    types = sorted(set(norms["benchmark"]) & set(ASPECT_OF))
    parts = {name: _type_score(norms[norms["benchmark"] == name], nodes, settings) for name in types}
    members = {aspect: [name for name in types if ASPECT_OF[name] == aspect] for aspect in ASPECTS}
    aspects = {
        aspect: _sum(aspect, {name: (1.0, parts[name]) for name in own}) for aspect, own in members.items() if own
    }
    counted = {aspect: settings.shares[aspect] for aspect in aspects if settings.shares[aspect] > 0}
    if not counted:
        return aspects, None
    lines = {name: (share, parts[name]) for aspect, share in counted.items() for name in members[aspect]}
    return aspects, _sum(OVERALL, lines)


def _type_score(norms: pd.DataFrame, nodes: tuple[str, ...], settings: RankSettings) -> tuple[Floats, Floats, Floats]:
    """(n_nodes,) means, (n_draws, n_nodes) resampled means, both over the largest mean, and (n_nodes,) runs."""
    means, runs = np.full(len(nodes), np.nan), np.zeros(len(nodes))
    draws = np.full((settings.n_draws, len(nodes)), np.nan)
    for row, node in enumerate(nodes):
        own = np.sort(norms.loc[norms["node"] == node, "norm"].to_numpy(dtype=np.float64))
        runs[row] = len(own)
        if len(own):
            means[row] = own.mean()
        if len(own) >= LEAST_RUNS:
            key = settings.seed, node, str(norms["benchmark"].iloc[0])
            weights = multiplicities(np.zeros(len(own), dtype=np.int64), settings.n_draws, key)
            draws[:, row] = weights @ own / len(own)
    largest = float(np.nanmax(means)) or 1.0
    return means / largest, draws / largest, runs


def _sum(name: str, lines: Mapping[str, tuple[float, tuple[Floats, Floats, Floats]]]) -> NodeScores:
    score = np.sum([share * part[0] for share, part in lines.values()], axis=0)
    draws = np.sum([share * part[1] for share, part in lines.values()], axis=0)
    fewest = np.min([part[2] for _, part in lines.values()], axis=0).astype(np.int64)
    metrics = tuple(f"{benchmark}.code_norm" for benchmark in lines)
    with np.errstate(divide="ignore"):
        return NodeScores(name, np.log(score), np.log(draws), fewest, metrics)
