"""Levels of nodes: the median of each metric in logarithms, and what resampled runs would have made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints
from workprof.records import digest

LEAST_RUNS = 3
"""Of a benchmark on a node; with fewer there is no interval and no rank (perona.md 4.2)."""

CAMPAIGN_GAP_S = 6 * 3600.0
"""A pause of this length between any two runs of a dataset starts a new measurement campaign."""

LEAST_CAMPAIGNS = 3
"""Whole campaigns are resampled from this many on: two of them could only be drawn in three ways."""


@dataclass(frozen=True)
class OrientedRuns:
    """Runs with their metrics turned so that more is better.

    Attributes:
        node, benchmark: (n_runs,) texts.
        started_s: (n_runs,).
        logs: (n_runs, n_metrics) direction times ln of the value; NaN where there is none.
        metrics: full names of the columns.
        benchmarks: benchmark of each column.
    """

    node: NDArray[Any]
    benchmark: NDArray[Any]
    started_s: Floats
    logs: Floats
    metrics: tuple[str, ...]
    benchmarks: tuple[str, ...]


@dataclass(frozen=True)
class Levels:
    """Medians of the oriented metrics by node.

    Attributes:
        nodes: names in order.
        metrics, benchmarks: of the columns.
        level: (n_nodes, n_metrics); NaN where the node has no value.
        draws: (n_draws, n_nodes, n_metrics) of resampled runs; NaN with fewer than 3 values.
        n_values: (n_nodes, n_metrics) values behind a median.
        by_campaign: (n_nodes, n_metrics) whether whole campaigns were resampled.
    """

    nodes: tuple[str, ...]
    metrics: tuple[str, ...]
    benchmarks: tuple[str, ...]
    level: Floats
    draws: Floats
    n_values: Ints
    by_campaign: NDArray[np.bool_]


def levels_of(runs: OrientedRuns, nodes: tuple[str, ...], n_draws: int, seed: int) -> Levels:
    """Return the levels of the nodes; the order of rows changes nothing.

    Source: perona.md 4.2; runs are resampled within (node, benchmark), whole campaigns where there are several.
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
    return Levels(nodes, runs.metrics, runs.benchmarks, level, draws, n_values, by_campaign)


def campaigns(started_s: Floats) -> Ints:
    """Return (n_runs,) number of the campaign that each run belongs to, from the start times of all runs."""
    order = np.argsort(started_s, kind="stable")
    number = np.empty(len(started_s), dtype=np.int64)
    number[order] = np.cumsum(np.diff(started_s[order], prepend=started_s[order][:1]) > CAMPAIGN_GAP_S)
    return number


def multiplicities(campaign: Ints, n_draws: int, key: tuple[int, str, str]) -> Ints:
    """Return (n_draws, n_runs) how often each run is in each resample.

    Args:
        campaign: (n_runs,) campaign of each run.
        n_draws: resamples.
        key: seed, node and benchmark; a group's draws do not depend on which others there are.
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
    """Return (n_draws,) median of the values, each as often as its weight says; NaN where nothing is left.

    Args:
        values: (n,), NaN = not counted.
        weights: (n_draws, n).
    """
    finite = np.flatnonzero(np.isfinite(values))
    order = finite[np.argsort(values[finite], kind="stable")]
    ranked = values[order]
    reached = np.cumsum(weights[:, order], axis=1)
    total = reached[:, -1]
    lower = (reached > ((total - 1) // 2)[:, None]).argmax(axis=1)
    upper = (reached > (total // 2)[:, None]).argmax(axis=1)
    medians = (ranked[lower] + ranked[upper]) / 2
    return np.where(total > 0, medians, np.nan)
