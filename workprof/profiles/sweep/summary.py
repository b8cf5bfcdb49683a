"""What a sweep says: its best run, Table IV, how much the winner hangs on the target, and how two runs differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workprof.errors import SettingsError
from workprof.profiles.scores.scores import acquires, adjusted_rand, scores_v3
from workprof.profiles.sweep.sweep import SweepRun

SUMMARISED = ("n_outliers", "n_clusters", "mean_cluster_size", "avg_silhouette", "davies_bouldin", "acquires")
TARGETS = (10, 20, 26, 50, 100)
"""Targets of the sensitivity table in polarisprofiler.md, section 2, and the published 26."""


@dataclass(frozen=True)
class ScoreSummary:
    """One score over the runs of one algorithm; NaN where no run has it (a row of Table IV)."""

    algorithm: str
    score: str
    runs: int
    mean: float
    std: float
    minimum: float
    median: float
    maximum: float


@dataclass(frozen=True)
class TargetWinner:
    """The best run by ACQUIRES when another number of clusters is rewarded; `run` is its position, -1 = none."""

    target_clusters: int
    run: int
    acquires: float


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side.

    Attributes:
        adjusted_rand: over the rows that neither run calls an outlier; NaN where there are none.
        adjusted_rand_all: over all common rows, outliers as a cluster.
        row_ids: rows that moved: out of or into the outliers, or not to the cluster that took most of theirs.
        before, after: (n_moved,) labels of those rows.
        n_common: rows that both runs clustered.
        overlap: (n_before + 1, n_after + 1) rows per pair of labels, outliers first.
    """

    adjusted_rand: float
    adjusted_rand_all: float
    row_ids: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    n_common: int
    overlap: NDArray[np.int64]


def at_target(run: SweepRun, target_clusters: int) -> SweepRun:
    """Return a run with the scores that depend on the target number of clusters taken at another target."""
    given = run.scores
    ingredients = (given.avg_silhouette, given.n_clusters, given.n_outliers, given.n_rows, target_clusters)
    scores = replace(given, acquires=acquires(*ingredients), scores_v3=scores_v3(*ingredients))
    return replace(run, scores=scores, settings=replace(run.settings, target_clusters=target_clusters))


def best_run(runs: Sequence[SweepRun]) -> int:
    """Return the position of the run with the highest ACQUIRES, -1 where no run has one."""
    scores = [run.scores.acquires if math.isfinite(run.scores.acquires) else -math.inf for run in runs]
    best = int(np.argmax(scores)) if scores else -1
    return best if best >= 0 and math.isfinite(scores[best]) else -1


def summarise_runs(runs: Sequence[SweepRun]) -> tuple[ScoreSummary, ...]:
    """Return Table IV: every score over the runs of every algorithm."""
    rows = []
    for algorithm in dict.fromkeys(run.settings.algorithm for run in runs):
        for score in SUMMARISED:
            values = np.array([getattr(run.scores, score) for run in runs if run.settings.algorithm == algorithm])
            rows.append(_summary(algorithm, score, values[np.isfinite(values)]))
    return tuple(rows)


def winners_by_target(runs: Sequence[SweepRun], targets: Sequence[int] = TARGETS) -> tuple[TargetWinner, ...]:
    """Return the winner for every target number of clusters: the published 26 is its own winner's count."""
    found = []
    for target in targets:
        scores = np.array([at_target(run, target).scores.acquires for run in runs])
        run = int(np.nanargmax(scores)) if np.isfinite(scores).any() else -1
        found.append(TargetWinner(target, run, float(scores[run]) if run >= 0 else math.nan))
    return tuple(found)


def compare_runs(
    before: SweepRun, after: SweepRun, ids_before: NDArray[np.int64], ids_after: NDArray[np.int64]
) -> RunComparison:
    """Return how two runs differ on the rows that both clustered.

    Args:
        before: a run.
        after: another run of the same dataset.
        ids_before: (n_rows,) the rows that `before` clustered, rising.
        ids_after: (n_rows,) the rows that `after` clustered, rising.

    Raises:
        SettingsError: when they have no row in common.
    """
    common, at_before, at_after = np.intersect1d(ids_before, ids_after, assume_unique=True, return_indices=True)
    if not len(common):
        raise SettingsError("the two runs clustered different rows; choose runs of the same sample")
    a, b = before.labels[at_before].astype(np.int64), after.labels[at_after].astype(np.int64)
    overlap = np.zeros((a.max() + 2, b.max() + 2), dtype=np.int64)
    np.add.at(overlap, (a + 1, b + 1), 1)
    moved = _heirs(overlap)[a + 1] != b + 1
    inside = (a >= 0) & (b >= 0)
    return RunComparison(
        adjusted_rand=adjusted_rand(a[inside], b[inside]) if inside.any() else math.nan,
        adjusted_rand_all=adjusted_rand(a + 1, b + 1),
        row_ids=common[moved],
        before=a[moved],
        after=b[moved],
        n_common=len(common),
        overlap=overlap,
    )


def _heirs(overlap: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each row of the overlap the column that its cluster became; outliers stay outliers, -1 = dissolved."""
    heirs = overlap[:, 1:].argmax(axis=1) + 1 if overlap.shape[1] > 1 else np.full(len(overlap), -1)
    heirs[overlap[:, 1:].sum(axis=1) == 0] = -1
    heirs[0] = 0
    return heirs


def _summary(algorithm: str, score: str, values: NDArray[np.float64]) -> ScoreSummary:
    if not len(values):
        return ScoreSummary(algorithm, score, 0, *[math.nan] * 5)
    std = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    low, middle, high = (float(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))
    return ScoreSummary(algorithm, score, len(values), float(values.mean()), std, low, middle, high)
