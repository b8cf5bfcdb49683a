"""How far a run lies from its own history, metric by metric, on a scale that normal training runs set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData
from workprof.nodes.detection.run_table import Histories, RunTable

LEAST_HISTORY = 3
"""Earlier normal runs that a verdict needs. Source: perona.md 3.1."""

LONGEST_HISTORY = 50
EWMA_WEIGHT = 0.3
"""Of the newest run. Source: 0.2 to 0.3 is the textbook range (Montgomery, Statistical Quality Control)."""

LEAST_SCALE = 0.01
"""One percent: no metric is judged finer."""

TO_NORMAL = 1.4826
"""From the median absolute deviation to the standard deviation of a normal distribution."""

FLOOR_SHARE = 1e-3
"""Zeros count as this share of a metric's median, so that they have a logarithm."""

HEAVY_TAIL_SHARE = 0.5
"""A scale is at least this share of the standard deviation, so that a rare but normal jump is no alarm."""


@dataclass(frozen=True)
class Distances:
    """Logarithmic distances of runs from their histories, in scales; 0 where a metric is absent.

    Attributes:
        to_median: (n, n_columns) from the median of the history; metrics first, then host values.
        to_three: (n, n_columns) from the mean of the last three normal runs.
        to_ewma: (n, n_columns) from the exponentially weighted mean.
    """

    to_median: Floats
    to_three: Floats
    to_ewma: Floats


@dataclass(frozen=True)
class Yardstick:
    """What distances are measured with, learned from training runs.

    Attributes:
        floor: (n_types, n_columns) the least value that a logarithm is taken of; NaN = the metric is not used.
        scale: (3, n_types, n_columns) of the three distances.
        n_metrics: columns that are metrics; the others are host values.
    """

    floor: Floats
    scale: Floats
    n_metrics: int


def log_values(table: RunTable, floor: Floats) -> Floats:
    """Return (n_runs, n_columns) logarithms of metrics and host values; NaN where absent or not used."""
    both = np.hstack([table.values, table.host])
    least = floor[table.type_id]
    logs: Floats = np.log(np.maximum(np.where(np.isfinite(least), both, np.nan), np.where(least > 0, least, 1.0)))
    return logs


def with_history(histories: Histories, rows: Ints, normal: Bools) -> Ints:
    """Return those of the rows that have enough earlier normal runs."""
    enough = [row for row in rows.tolist() if len(histories.normal_before(row, normal)) >= LEAST_HISTORY]
    return np.array(enough, dtype=np.int64)


def residuals(logs: Floats, histories: Histories, rows: Ints, normal: Bools) -> Floats:
    """Return (3, n_rows, n_columns) logarithmic distances from median, last three and EWMA of the normal runs before.

    Args:
        logs: (n_runs, n_columns).
        histories: of the runs.
        rows: positions, each with enough history.
        normal: (n_runs,) which runs count as normal.
    """
    found = np.full((3, len(rows), logs.shape[1]), np.nan)
    for place, row in enumerate(rows.tolist()):
        past = logs[histories.normal_before(row, normal)[-LONGEST_HISTORY:]]
        weights = EWMA_WEIGHT * (1 - EWMA_WEIGHT) ** np.arange(len(past))[::-1]
        used = np.isfinite(past).all(axis=0)
        past = past[:, used]
        found[0, place, used] = np.median(past, axis=0)
        found[1, place, used] = past[-LEAST_HISTORY:].mean(axis=0)
        found[2, place, used] = weights @ past / weights.sum()
    return np.asarray(logs[rows] - found)


def learn_yardstick(table: RunTable, histories: Histories, train: Ints, normal: Bools) -> Yardstick:
    """Return floors and scales learned from training runs.

    Args:
        table: the runs.
        histories: of the runs.
        train: positions of training runs.
        normal: (n_runs,) which of them count as normal.

    Raises:
        NotEnoughData: when no training run has three normal ones before it.
    """
    floor = _floors(table, train)
    judged = with_history(histories, train[normal[train]], normal)
    if not len(judged):
        raise NotEnoughData(
            "no training run has three earlier normal runs of the same node, benchmark and parameters; measure more"
        )
    apart = residuals(log_values(table, floor), histories, judged, normal)
    scale = np.array([_scales(one, table.type_id[judged], len(table.types)) for one in apart])
    return Yardstick(floor, scale, table.values.shape[1])


def distances(table: RunTable, histories: Histories, yardstick: Yardstick, rows: Ints, normal: Bools) -> Distances:
    """Return the distances of rows, each with enough history, from the normal runs before them."""
    apart = residuals(log_values(table, yardstick.floor), histories, rows, normal)
    told = np.nan_to_num(apart / yardstick.scale[:, table.type_id[rows]])
    return Distances(told[0], told[1], told[2])


def _floors(table: RunTable, train: Ints) -> Floats:
    """Return (n_types, n_columns); NaN where a type has no positive value of a metric."""
    both = np.hstack([table.values, table.host])
    found = np.full((len(table.types), both.shape[1]), np.nan)
    for kind in range(len(table.types)):
        rows = both[train[table.type_id[train] == kind]]
        for column in range(both.shape[1]):
            positive = rows[:, column][rows[:, column] > 0]
            if len(positive):
                found[kind, column] = np.median(positive) * FLOOR_SHARE
    return found


def _scales(apart: Floats, type_id: Ints, n_types: int) -> Floats:
    """Return (n_types, n_columns) robust scales; infinite where nothing is known, so that the distance is 0."""
    found = np.full((n_types, apart.shape[1]), np.inf)
    for kind in np.unique(type_id).tolist():
        rows = apart[type_id == kind]
        known = np.isfinite(rows).any(axis=0)
        spread = TO_NORMAL * np.nanmedian(np.abs(rows[:, known]), axis=0)
        wide = HEAVY_TAIL_SHARE * np.sqrt(np.nanmean(rows[:, known] ** 2, axis=0))
        found[kind, known] = np.maximum(np.maximum(spread, wide), LEAST_SCALE)
    return found
