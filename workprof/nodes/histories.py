"""Runs by time: the comparable ones before each, and how far it lies from them.

Distances are logarithmic, metric by metric, on a scale that normal training runs set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.nodes.metrics import CONTEXT, HIGHER, METRICS
from workprof.nodes.parsed_runs import ParsedRuns

UNKNOWN = -1


@dataclass(frozen=True)
class RunTable:
    """Parsed runs with numbers for their type and their history."""

    parsed: ParsedRuns
    types: tuple[str, ...]  # benchmarks that occur, sorted
    type_id: Ints  # (n_runs,) position in `types`
    group: Ints  # (n_runs,) one number per (node, benchmark): what a split by time cuts
    cell: Ints  # (n_runs,) one number per (node, benchmark, parameters): what may be compared
    order: Ints  # (n_runs,) positions from the earliest to the latest run
    label: Ints  # (n_runs,) 1 stressed, 0 not, -1 unknown
    usable: Bools  # (n_runs,) False for failed runs and rows that repeat another
    values: Floats  # (n_runs, n_metrics) NaN where absent
    host: Floats  # (n_runs, n_host) NaN where absent
    sign: Ints  # (n_metrics,) 1 higher is better, -1 lower is better, 0 context
    scored: Bools  # (n_metrics,) part of an aspect's score
    owner: Ints  # (n_metrics,) position in `types` of the benchmark that reports it, -1 for none that occurs

    def __len__(self) -> int:
        return len(self.type_id)


def run_table(parsed: ParsedRuns) -> RunTable:
    """The table of parsed runs; those of one time are ordered by what they are: the order of rows decides nothing."""
    types, type_id = np.unique(parsed.benchmark, return_inverse=True)
    known = [METRICS[name] for name in parsed.metrics]
    positions = {str(name): place for place, name in enumerate(types)}
    parameters = np.array(parsed.parameters, dtype=np.str_)
    measured = np.nan_to_num(np.hstack([parsed.values, parsed.host]), nan=-np.inf).T[::-1]
    times = (parsed.finished_s, parsed.started_s)
    what = (parsed.row_ids, parsed.stressed, *measured, parameters, parsed.benchmark, parsed.node)
    return RunTable(
        parsed=parsed,
        types=tuple(positions),
        type_id=type_id.astype(np.int64),
        group=_numbered(parsed.node, parsed.benchmark),
        cell=_numbered(parsed.node, parsed.benchmark, parameters),
        order=np.lexsort((*what, *times)).astype(np.int64),
        label=parsed.stressed.astype(np.int64),
        usable=np.asarray(np.isfinite(parsed.values).any(axis=1)) & ~parsed.repeated,
        values=parsed.values,
        host=parsed.host,
        sign=np.array([0 if one.direction == CONTEXT else 1 if one.direction == HIGHER else -1 for one in known]),
        scored=np.array([one.scored for one in known], dtype=bool),
        owner=np.array([positions.get(one.benchmark, -1) for one in known], dtype=np.int64),
    )


def _numbered(*texts: NDArray[Any]) -> Ints:
    """One number per combination of texts."""
    if not len(texts[0]):
        return np.zeros(0, dtype=np.int64)
    codes = np.column_stack([np.unique(one, return_inverse=True)[1] for one in texts])
    numbers: Ints = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers


class Histories:
    """For every run the comparable runs before it, by time."""

    def __init__(self, table: RunTable) -> None:
        self._earlier: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(table)
        so_far: dict[int, list[int]] = {}
        for row in table.order.tolist():
            if not table.usable[row]:
                continue
            cell = so_far.setdefault(int(table.cell[row]), [])
            self._earlier[row] = np.array(cell, dtype=np.int64)
            cell.append(row)

    def before(self, row: int) -> Ints:
        """Every usable run of the same cell before this one, the earliest first."""
        return self._earlier[row]

    def normal_before(self, row: int, normal: Bools) -> Ints:
        """Those of them that `normal` (n_runs,) marks."""
        earlier = self._earlier[row]
        return earlier[normal[earlier]]


def first_share(table: RunTable, share: float) -> Bools:
    """(n_runs,) True for the first `share` of the runs of each (node, benchmark) by time, rounded down."""
    first = np.zeros(len(table), dtype=bool)
    groups = table.group[table.order]
    for group in np.unique(groups):
        rows = table.order[groups == group]
        first[rows[: int(share * len(rows) + 1e-9)]] = True
    return first


def rounds(table: RunTable, rows: Ints) -> list[Ints]:
    """Rows in rounds: the first of every cell, then the second, ...; none needs the verdict of its own round."""
    wanted = np.zeros(len(table), dtype=bool)
    wanted[rows] = True
    counts: dict[int, int] = {}
    by_round: list[list[int]] = []
    for row in table.order[wanted[table.order]].tolist():
        number = counts.get(int(table.cell[row]), 0)
        counts[int(table.cell[row])] = number + 1
        if number == len(by_round):
            by_round.append([])
        by_round[number].append(row)
    return [np.array(members, dtype=np.int64) for members in by_round]


LEAST_HISTORY = 3
"""Earlier normal runs that a verdict needs, as in Perona."""

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
    """Logarithmic distances of runs from their histories, in scales; 0 where a metric is absent."""

    to_median: Floats  # (n, n_columns) from the median of the history; metrics first, then host values
    to_three: Floats  # (n, n_columns) from the mean of the last three normal runs
    to_ewma: Floats  # (n, n_columns) from the exponentially weighted mean


@dataclass(frozen=True)
class DistanceScale:
    """What distances are measured with, learned from training runs."""

    floor: Floats  # (n_types, n_columns) the least value that a logarithm is taken of; NaN = the metric is not used
    spread: Floats  # (3, n_types, n_columns) of the three distances
    n_metrics: int  # columns that are metrics; the others are host values


def log_values(table: RunTable, floor: Floats) -> Floats:
    """(n_runs, n_columns) logarithms of metrics and host values; NaN where absent or not used."""
    both = np.hstack([table.values, table.host])
    least = floor[table.type_id]
    logs: Floats = np.log(np.maximum(np.where(np.isfinite(least), both, np.nan), np.where(least > 0, least, 1.0)))
    return logs


def with_history(histories: Histories, rows: Ints, normal: Bools) -> Ints:
    """Those of the rows that have enough earlier normal runs."""
    enough = [row for row in rows.tolist() if len(histories.normal_before(row, normal)) >= LEAST_HISTORY]
    return np.array(enough, dtype=np.int64)


def residuals(logs: Floats, histories: Histories, rows: Ints, normal: Bools) -> Floats:
    """(3, n_rows, n_columns) logarithmic distances from median, last three and EWMA of the normal runs before.

    `logs` is (n_runs, n_columns), `normal` (n_runs,); each row has enough history.
    """
    centre = np.full((3, len(rows), logs.shape[1]), np.nan)
    for place, row in enumerate(rows.tolist()):
        past = logs[histories.normal_before(row, normal)[-LONGEST_HISTORY:]]
        weights = EWMA_WEIGHT * (1 - EWMA_WEIGHT) ** np.arange(len(past))[::-1]
        used = np.isfinite(past).all(axis=0)
        past = past[:, used]
        centre[0, place, used] = np.median(past, axis=0)
        centre[1, place, used] = past[-LEAST_HISTORY:].mean(axis=0)
        centre[2, place, used] = weights @ past / weights.sum()
    return np.asarray(logs[rows] - centre)


def learn_distance_scale(table: RunTable, histories: Histories, train: Ints, normal: Bools) -> DistanceScale:
    """Floors and scales learned from training runs; `normal` is (n_runs,).

    Raises NotEnoughData when no training run has three normal ones before it.
    """
    floor = _floors(table, train)
    judged = with_history(histories, train[normal[train]], normal)
    if not len(judged):
        raise NotEnoughData(
            "no training run has three earlier normal runs of the same node, benchmark and parameters; measure more"
        )
    residual = residuals(log_values(table, floor), histories, judged, normal)
    spread = np.array([_spreads(one, table.type_id[judged], len(table.types)) for one in residual])
    return DistanceScale(floor, spread, table.values.shape[1])


def history_distances(
    table: RunTable, histories: Histories, scale: DistanceScale, rows: Ints, normal: Bools
) -> Distances:
    """The distances of rows, each with enough history, from the normal runs before them."""
    residual = residuals(log_values(table, scale.floor), histories, rows, normal)
    scaled = np.nan_to_num(residual / scale.spread[:, table.type_id[rows]])
    return Distances(scaled[0], scaled[1], scaled[2])


def _floors(table: RunTable, train: Ints) -> Floats:
    """(n_types, n_columns); NaN where a type has no positive value of a metric."""
    both = np.hstack([table.values, table.host])
    floors = np.full((len(table.types), both.shape[1]), np.nan)
    for kind in range(len(table.types)):
        rows = both[train[table.type_id[train] == kind]]
        for column in range(both.shape[1]):
            positive = rows[:, column][rows[:, column] > 0]
            if len(positive):
                floors[kind, column] = np.median(positive) * FLOOR_SHARE
    return floors


def _spreads(residual: Floats, type_id: Ints, n_types: int) -> Floats:
    """(n_types, n_columns) robust scales; infinite where nothing is known, so that the distance is 0."""
    spreads = np.full((n_types, residual.shape[1]), np.inf)
    for kind in np.unique(type_id).tolist():
        rows = residual[type_id == kind]
        known = np.isfinite(rows).any(axis=0)
        spread = TO_NORMAL * np.nanmedian(np.abs(rows[:, known]), axis=0)
        wide = HEAVY_TAIL_SHARE * np.sqrt(np.nanmean(rows[:, known] ** 2, axis=0))
        spreads[kind, known] = np.maximum(np.maximum(spread, wide), LEAST_SCALE)
    return spreads
