"""Metrics as inputs of the network: which are kept, which way they point, and numbers from 0 to 1.

Ours first, then the published preparation: totals to rates, selection by spread, orientation by skew.
"""

from dataclasses import dataclass, replace

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.nodes.histories import RunTable
from workprof.nodes.metrics import CONTEXT, HIGHER, LOWER, METRICS

LEAST_DISTINCT = 4
LEAST_SPREAD = 0.01
"""Standard deviation / |mean|: what varies by less than one percent tells nothing. Published: `LEAST_DEVIATION`."""

FLOOR_SHARE = 1e-3


@dataclass(frozen=True)
class DroppedMetric:
    """A metric that the network does not see, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Orientation:
    """Which way a metric points."""

    name: str  # of the metric
    declared: str  # 'higher', 'lower' or 'context', see `workprof.nodes.metrics`
    by_data: str  # 'higher' or 'lower', from the skew of the training runs
    used: str  # the one that this mode goes by

    @property
    def disagree(self) -> bool:
        """Whether the data point the other way than what is declared."""
        return self.declared not in {CONTEXT, self.by_data}


@dataclass(frozen=True)
class Scaling:
    """How values become inputs, learned from training runs; all arrays are (n_columns,)."""

    position: Ints  # column of the table's values
    owner: Ints  # benchmark type that reports the metric
    reflect: Bools  # lower is better, so that the scale is turned round
    floor: Floats  # least value that a logarithm is taken of; NaN = no logarithm
    low: Floats  # and `high`: range of the training runs, after the logarithm
    high: Floats
    fill: Floats  # mean input of the training runs, which stands where a run has no such metric
    directed: Bools  # whether the metric points anywhere


@dataclass(frozen=True)
class Preparation:
    """The learned inputs, what was left out, and which way everything points."""

    scaling: Scaling
    dropped: tuple[DroppedMetric, ...]
    orientations: tuple[Orientation, ...]


def learn_preparation(table: RunTable, train: Ints) -> Preparation:
    """How metrics become inputs, learned from training runs.

    Raises NotEnoughData when no metric varies.

    Source: Ours, after `learn_published`: keeps by relative spread, orients by declaration, takes logarithms so that
    ratios keep their size on every machine, and never fills in a value where reconstruction is judged.
    """
    used, dropped = [], []
    for column, name in enumerate(table.parsed.metrics):
        reason = reason_to_drop(table.values[train, column])
        if reason:
            dropped.append(DroppedMetric(name, reason))
        else:
            used.append(column)
    if not used:
        raise NotEnoughData("no metric varies over the training runs; measure more runs or other nodes")
    columns = np.array(used, dtype=np.int64)
    orientations = tuple(orientation_of(table.parsed.metrics[column], table.values[train, column]) for column in used)
    values = table.values[np.ix_(train, columns)]
    floor = np.array([np.median(one[one > 0]) * FLOOR_SHARE for one in values.T])
    return Preparation(fitted_scaling(table, train, columns, orientations, floor), tuple(dropped), orientations)


def reason_to_drop(values: Floats) -> str:
    """Why a metric is of no use to the network, '' where it is of use."""
    known = values[np.isfinite(values)]
    if not len(known):
        return "absent in training"
    if not (known > 0).any():
        return "never above zero"
    if len(np.unique(known)) < LEAST_DISTINCT:
        return f"fewer than {LEAST_DISTINCT} distinct values"
    if known.std() < LEAST_SPREAD * abs(known.mean()):
        return f"varies by less than {LEAST_SPREAD:.0%}"
    return ""


def orientation_of(name: str, values: Floats) -> Orientation:
    """Which way a metric points: as declared, or by its values where nothing is declared for it."""
    by_data = direction_by_data(name, values[np.isfinite(values)])
    declared = METRICS[name].direction if name in METRICS else ""
    return Orientation(name, declared or CONTEXT, by_data, declared or by_data)


def direction_by_data(name: str, values: Floats) -> str:
    """The published guess: a metric whose upper tail is the shorter one is better when higher.

    Source: Perona's public code.
    """
    if "stdev" in name or "stddev" in name:
        return LOWER
    if "msg_rate" in name:
        return HIGHER
    low, middle, high = values.min(), np.median(values), values.max()
    return HIGHER if abs(high - middle) <= abs(middle - low) else LOWER


def inputs_of(table: RunTable, scaling: Scaling) -> Floats:
    """(n_runs, n_columns) inputs; the training runs lie in 0 to 1, later ones may leave it."""
    scaled = _scaled(table.values[:, scaling.position], scaling)
    return np.where(np.isfinite(scaled), scaled, scaling.fill)


def owned(table: RunTable, scaling: Scaling) -> Bools:
    """(n_runs, n_columns): where an input was measured."""
    return np.isfinite(table.values[:, scaling.position])


def fitted_scaling(
    table: RunTable, train: Ints, columns: Ints, orientations: tuple[Orientation, ...], floor: Floats
) -> Scaling:
    """The scaling of columns that fills 0 to 1 over the training runs.

    `floor` (n_columns,) is the least value that a logarithm is taken of; NaN = no logarithm.
    """
    values = table.values[np.ix_(train, columns)]
    logs = _logs(values, floor)
    blank = Scaling(
        position=columns,
        owner=table.owner[columns],
        reflect=np.array([one.used == LOWER for one in orientations]),
        floor=floor,
        low=np.nanmin(logs, axis=0),
        high=np.nanmax(logs, axis=0),
        fill=np.zeros(len(columns)),
        directed=np.array([one.used != CONTEXT for one in orientations]),
    )
    return replace(blank, fill=np.nanmean(_scaled(values, blank), axis=0))


def _scaled(values: Floats, scaling: Scaling) -> Floats:
    logs = _logs(values, scaling.floor)
    share = (logs - scaling.low) / np.where(scaling.high > scaling.low, scaling.high - scaling.low, 1.0)
    return np.where(scaling.reflect, 1 - share, share)


def _logs(values: Floats, floor: Floats) -> Floats:
    taken = np.isfinite(floor)
    return np.where(taken, np.log(np.maximum(values, np.where(taken, floor, 1.0))), values)


EXCLUDED = (
    *("duration", "disk_util", "_min", "_max", "real_time", "cpu_time", "_cpus_", "_cpu_util_"),
    *("disk-fio.cpu_usr", "disk-fio.cpu_sys"),
)
LEAST_DEVIATION = 0.01

MB = 2.0**20
PUBLISHED_UNIT = {"s": 1.0, "B": 1 / MB, "B/s": 1 / MB, "1/s": 1.0, "1": 1.0}
"""From our units to those that the published rule of spread goes by; costs (s/B) become MB/s, shares percent."""

PERCENT = ("cpu_util", "cpus_", "disk_util", "cpu_usr", "cpu_sys")
TOTALS = {
    **{
        f"{tool}-sysbench.{name}": f"{tool}-sysbench.total_time"
        for tool in ("cpu", "memory")
        for name in ("latency_sum", "total_number_of_events")
    },
    "memory-sysbench.transfer_size": "memory-sysbench.total_time",
    "disk-ioping.transfer_size": "disk-ioping.total_duration",
    **{
        f"network-qperf.{test}_{side}_{name}": f"network-qperf.{test}_{side}_real_time"
        for test, side, names in (
            ("tcp_bw", "send", ("bytes", "msgs")),
            ("tcp_bw", "recv", ("bytes", "msgs")),
            ("tcp_lat", "loc", ("send_bytes", "recv_bytes", "send_msgs", "recv_msgs")),
            ("tcp_lat", "rem", ("send_bytes", "recv_bytes", "send_msgs", "recv_msgs")),
        )
        for name in names
    },
}
"""Total -> the time it is divided by; those of iperf3 are divided by the time on the wall."""

ON_THE_WALL = tuple(
    f"network-iperf3.{way}_transfer_{name}"
    for way in ("tx_c", "rx_c")
    for name in ("size_sender", "size_receiver", "retr_sender")
)


def published_table(table: RunTable) -> RunTable:
    """The table with totals as rates and values in the published units."""
    values = table.values.copy()
    places = {name: place for place, name in enumerate(table.parsed.metrics)}
    for total, time in TOTALS.items():
        seconds = table.values[:, places[time]]
        values[:, places[total]] /= np.where(seconds > 0, seconds, np.nan)
    wall = table.parsed.finished_s - table.parsed.started_s
    for total in ON_THE_WALL:
        values[:, places[total]] /= np.where(wall > 0, wall, np.nan)
    for name, place in places.items():
        values[:, place] = _converted(name, values[:, place])
    return replace(table, values=values)


def learn_published(table: RunTable, train: Ints) -> Preparation:
    """The published preparation of a `published_table`.

    Raises NotEnoughData when no metric is left.

    Source: Perona's public code. Ours differs where a run lacks a metric: NaN there, 0 as published.
    """
    used, dropped = [], []
    for column, name in enumerate(table.parsed.metrics):
        reason = reason_published(name, table.values[train, column])
        if reason:
            dropped.append(DroppedMetric(name, reason))
        else:
            used.append(column)
    if not used:
        raise NotEnoughData("no metric is left by the published selection; use mode corrected")
    columns = np.array(used, dtype=np.int64)
    orientations = []
    for column in used:
        name, values = table.parsed.metrics[column], table.values[train, column]
        by_data = direction_by_data(name, values[np.isfinite(values)])
        orientations.append(Orientation(name, METRICS[name].direction, by_data, used=by_data))
    no_logarithm = np.full(len(columns), np.nan)
    scaling = fitted_scaling(table, train, columns, tuple(orientations), no_logarithm)
    return Preparation(scaling, tuple(dropped), tuple(orientations))


def reason_published(name: str, values: Floats) -> str:
    """Why the published selection leaves a metric out, '' where it keeps it."""
    if not METRICS[name].published:
        return "not one of the published metrics"
    known = values[np.isfinite(values)]
    if not len(known):
        return "absent in training"
    if any(part in name for part in EXCLUDED):
        return "excluded by name"
    if len(np.unique(known)) < LEAST_DISTINCT or not (known > 0).any():
        return f"fewer than {LEAST_DISTINCT} distinct values or none above zero"
    return "" if known.std() >= LEAST_DEVIATION else f"standard deviation below {LEAST_DEVIATION} in published units"


def _converted(name: str, values: Floats) -> Floats:
    unit = METRICS[name].unit
    if unit == "s/B":
        return np.asarray(1e-6 / np.where(values > 0, values, np.nan))
    if "msg_rate" in name:
        return values / 1e3
    if any(part in name for part in PERCENT):
        return values * 100
    return values * PUBLISHED_UNIT.get(unit, 1.0)
