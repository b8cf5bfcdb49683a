"""The metrics that lie farthest from a run's history."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.records import Driver
from workprof.nodes.detection.scene import Scene

N_DRIVERS = 5
LEAST_SIZE = 1.0
"""In scales: what lies closer drives nothing."""


def drivers_of(scene: Scene, rows: Ints, normal: Bools) -> tuple[tuple[Driver, ...], ...]:
    """Return the drivers of each row, the largest first; `normal` (n_runs,) tells what it is compared with."""
    table = scene.table
    apart = scene.apart_of(rows, normal).to_median
    sign = np.append(np.where(table.sign == 0, 1, table.sign), np.ones(table.host.shape[1], dtype=np.int64))
    names = [*table.parsed.metrics, *(f"host.{name}" for name in table.parsed.host_names)]
    return tuple(_largest(names, one * sign) for one in apart)


def _largest(names: list[str], sizes: Floats) -> tuple[Driver, ...]:
    order = np.argsort(-np.abs(sizes), kind="stable")[:N_DRIVERS]
    return tuple(Driver(names[place], float(sizes[place])) for place in order if abs(sizes[place]) >= LEAST_SIZE)
