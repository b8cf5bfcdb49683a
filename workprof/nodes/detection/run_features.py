"""What the supervised detectors see of a run: a few figures that mean the same for every benchmark, and all metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.nodes.detection.evidence import Distances, Yardstick
from workprof.nodes.detection.run_table import RunTable

CLIPPED = 20.0
SHRUNK = 0.5
"""Of the correlation towards independence: there are few runs per metric."""


@dataclass(frozen=True)
class MetricSpace:
    """Inverse correlations of the metrics' distances, one matrix per benchmark.

    Attributes:
        inverse: per benchmark (n_own, n_own).
        columns: per benchmark the positions of its metrics that vary.
    """

    inverse: tuple[Floats, ...]
    columns: tuple[Ints, ...]


def learn_space(table: RunTable, yardstick: Yardstick, rows: Ints, apart: Floats) -> MetricSpace:
    """Return the correlations of normal runs' distances.

    Args:
        table: the runs.
        yardstick: floors and scales.
        rows: positions of normal training runs.
        apart: (n_rows, n_columns) their distances.
    """
    inverse, columns = [], []
    for kind in range(len(table.types)):
        own = np.flatnonzero((table.owner == kind) & np.isfinite(yardstick.scale[0, kind, : yardstick.n_metrics]))
        mine = np.clip(apart[table.type_id[rows] == kind][:, own], -4, 4)
        correlation = mine.T @ mine / max(len(mine), 1)
        inverse.append(np.linalg.inv(SHRUNK * correlation + (1 - SHRUNK) * np.eye(len(own))))
        columns.append(own.astype(np.int64))
    return MetricSpace(tuple(inverse), tuple(columns))


def lengths(table: RunTable, space: MetricSpace, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows,) Mahalanobis lengths per metric: about 1 for a normal run."""
    found = np.zeros(len(rows))
    for kind, (inverse, own) in enumerate(zip(space.inverse, space.columns, strict=True)):
        here = np.flatnonzero(table.type_id[rows] == kind)
        mine = np.clip(apart[here][:, own], -CLIPPED, CLIPPED)
        found[here] = np.sqrt(np.maximum(np.einsum("ri,ij,rj->r", mine, inverse, mine), 0) / max(len(own), 1))
    return found


def worst_scored(table: RunTable, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows,) how far the worst metric of the aspect's score lies on its bad side; 0 without one."""
    scored = np.flatnonzero(table.scored)
    bad = -(apart[:, scored] * table.sign[scored])
    own = table.owner[scored][None, :] == table.type_id[rows][:, None]
    return np.where(own.any(axis=1), np.where(own, bad, -np.inf).max(axis=1, initial=-np.inf), 0.0)


def summary(table: RunTable, space: MetricSpace, rows: Ints, apart: Floats) -> Floats:
    """Return (n_rows, 8) figures that mean the same for every benchmark, on a scale that tames large ones.

    Mean and worst of the scored metrics, worst, median and mean of all directed ones (negative = worse than the
    history), length, largest and median distance of any metric.
    """
    found = np.zeros((len(rows), 8))
    for place, row in enumerate(rows.tolist()):
        own = space.columns[table.type_id[row]]
        mine, sign, scored = apart[place, own], table.sign[own], table.scored[own]
        directed, primary = (mine * sign)[sign != 0], (mine * sign)[scored]
        found[place, :2] = (primary.mean(), primary.min()) if len(primary) else (0, 0)
        found[place, 2:5] = (directed.min(), np.median(directed), directed.mean()) if len(directed) else (0, 0, 0)
        found[place, 6:] = (np.abs(mine).max(), np.median(np.abs(mine))) if len(mine) else (0, 0)
    found[:, 5] = lengths(table, space, rows, apart)
    return np.asarray(np.arcsinh(found))


@dataclass(frozen=True)
class RunFeatures:
    """Features of scored runs in blocks, so that a model can weigh the blocks.

    Attributes:
        general: (n, 8) of `summary`.
        own: (n, n_metrics) distances of the run's own metrics; 0 for those of other benchmarks.
        host: (n, n_types * n_host) distances of the host's values, in the columns of the run's benchmark.
        type_id: (n,).
    """

    general: Floats
    own: Floats
    host: Floats
    type_id: Ints


def run_features(
    table: RunTable, yardstick: Yardstick, space: MetricSpace, rows: Ints, apart: Distances
) -> RunFeatures:
    """Return the features of runs from their distances to the median of their history."""
    tame = np.arcsinh(apart.to_median)
    n_metrics = yardstick.n_metrics
    type_id = table.type_id[rows]
    n_host = tame.shape[1] - n_metrics
    host = np.zeros((len(rows), len(table.types), n_host))
    host[np.arange(len(rows)), type_id] = tame[:, n_metrics:]
    own = np.where(table.owner[None, :] == type_id[:, None], tame[:, :n_metrics], 0.0)
    return RunFeatures(summary(table, space, rows, apart.to_median), own, host.reshape(len(rows), -1), type_id)
