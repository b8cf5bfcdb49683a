"""Scores of nodes that keep ratios: a node that is c times better on every metric scores c times higher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.ranking.medians import Levels

OVERALL = "overall"


@dataclass(frozen=True)
class Scored:
    """One score of every node.

    Attributes:
        name: an aspect, or 'overall'.
        log: (n_nodes,) ln of the score; NaN where a metric is missing. The geometric mean of the nodes is 1.
        draws: (n_draws, n_nodes) the same of resampled runs, on the same scale; NaN without an interval.
        fewest: (n_nodes,) runs behind the thinnest of its medians.
        metrics: that it is made of.
    """

    name: str
    log: Floats
    draws: Floats
    fewest: Ints
    metrics: tuple[str, ...]


def aspect_weights(levels: Levels, aspect_of: Mapping[str, str], nodes: Bools | None = None) -> dict[str, Floats]:
    """Return for each aspect the weight of each metric: benchmarks count alike, and metrics within a benchmark.

    Args:
        levels: of all nodes.
        aspect_of: benchmark -> aspect.
        nodes: (n_nodes,) that are compared; None = all. Only metrics that all of them have count, among those nodes
            that have the aspect at all.

    Source: perona.md 4.2.
    """
    chosen = np.ones(len(levels.nodes), dtype=np.bool_) if nodes is None else nodes
    known = np.isfinite(levels.level[chosen])
    weights: dict[str, Floats] = {}
    for aspect in (one for one in ASPECTS if one in {aspect_of[name] for name in levels.benchmarks}):
        member = np.array([aspect_of[name] == aspect for name in levels.benchmarks])
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


def mixed(weights: Mapping[str, Floats], shares: Mapping[str, float]) -> Floats | None:
    """Return the weight of each metric in the overall score, or None where no aspect counts.

    Args:
        weights: aspect -> weights of the metrics.
        shares: aspect -> weight of the aspect; those that nobody was measured on are passed over.
    """
    counted = {name: shares.get(name, 0.0) for name in weights if shares.get(name, 0.0) > 0}
    if not counted:
        return None
    total = sum(counted.values())
    mix: Floats = np.sum([weights[name] * share / total for name, share in counted.items()], axis=0)
    return mix


def scored(name: str, levels: Levels, weights: Floats) -> Scored:
    """Return the score that weights of the metrics make."""
    used = weights > 0
    raw = levels.level[:, used] @ weights[used]
    centre = float(np.mean(raw[np.isfinite(raw)])) if np.isfinite(raw).any() else 0.0
    draws = levels.draws[:, :, used] @ weights[used]
    fewest = levels.n_values[:, used].min(axis=1)
    metrics = tuple(levels.metrics[i] for i in np.flatnonzero(used))
    return Scored(name, raw - centre, draws - centre, fewest, metrics)


def all_scores(
    levels: Levels, aspect_of: Mapping[str, str], shares: Mapping[str, float]
) -> tuple[dict[str, Scored], Scored | None]:
    """Return the score of each aspect, and the overall one where any aspect counts."""
    weights = aspect_weights(levels, aspect_of)
    aspects = {name: scored(name, levels, row) for name, row in weights.items()}
    mix = mixed(weights, shares)
    return aspects, None if mix is None else scored(OVERALL, levels, mix)
