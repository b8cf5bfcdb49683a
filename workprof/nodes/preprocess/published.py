"""The published preparation of metrics: totals to rates, selection by spread, orientation by skew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.nodes.detection.run_table import RunTable
from workprof.nodes.metrics import METRICS
from workprof.nodes.preprocess.preprocess import (
    LEAST_DISTINCT,
    DroppedMetric,
    Orientation,
    Preparation,
    direction_by_data,
    fitted_scaling,
)

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
    """Return the table with totals as rates and values in the published units."""
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
    """Return the published preparation of a `published_table`.

    Args:
        table: the runs.
        train: positions of training runs.

    Raises:
        NotEnoughData: when no metric is left.

    Source:
        perona.md 2.1, steps 2 to 6. Ours differs where a run lacks a metric: NaN there, 0 as published.
    """
    kept, dropped = [], []
    for column, name in enumerate(table.parsed.metrics):
        reason = reason_published(name, table.values[train, column])
        if reason:
            dropped.append(DroppedMetric(name, reason))
        else:
            kept.append(column)
    if not kept:
        raise NotEnoughData("no metric is left by the published selection; use mode corrected")
    columns = np.array(kept, dtype=np.int64)
    told = tuple(_oriented(table.parsed.metrics[column], table.values[train, column]) for column in kept)
    return Preparation(fitted_scaling(table, train, columns, told, np.full(len(columns), np.nan)), tuple(dropped), told)


def reason_published(name: str, values: Floats) -> str:
    """Return why the published selection leaves a metric out, '' where it keeps it."""
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


def _oriented(name: str, values: Floats) -> Orientation:
    by_data = direction_by_data(name, values[np.isfinite(values)])
    return Orientation(name, METRICS[name].direction, by_data, by_data)


def _converted(name: str, values: Floats) -> Floats:
    unit = METRICS[name].unit
    if unit == "s/B":
        return np.asarray(1e-6 / np.where(values > 0, values, np.nan))
    if "msg_rate" in name:
        return values / 1e3
    if any(part in name for part in PERCENT):
        return values * 100
    return values * PUBLISHED_UNIT.get(unit, 1.0)
