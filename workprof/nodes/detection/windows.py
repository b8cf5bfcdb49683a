"""Windows: a run and its last three normal predecessors, with what lies between them on the edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.run_table import Histories, RunTable

SIZE = 4
BETWEEN = 7
"""Numbers of an edge beside the host values of its two runs."""

HORIZONS_S = (60.0, 3600.0, 86400.0, 604800.0)
NOTHING = -1.0


@dataclass(frozen=True)
class Windows:
    """Windows of four runs; the first three are normal, the last one is judged.

    Attributes:
        rows: (n, 4) positions in the table, by time.
        before: (n, 4) whether the run right before each was anomalous; -1 for the first of the window.
        between: (n, 4, 4) anomalous runs of the cell between run a and run b, [window, b, a]; -1 for a = b.
    """

    rows: Ints
    before: Floats
    between: Floats

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class HostScaling:
    """How host values become numbers from 0 to 1, learned from training runs; all (n_host,).

    Attributes:
        low, high: range of the training runs.
        inverted: 1 / (value + .001), as published, else the logarithm of 1 + value.
    """

    low: Floats
    high: Floats
    inverted: bool


def windows_of(histories: Histories, rows: Ints, normal: Bools) -> Windows:
    """Return the windows of rows that have three earlier normal runs; `normal` is (n_runs,).

    Source:
        perona.md 3.1. A run is judged by what `normal` says of those before it: labels in training, verdicts later.
    """
    places = np.array([[*histories.normal_before(row, normal)[-(SIZE - 1) :], row] for row in rows.tolist()])
    places = places.reshape(-1, SIZE).astype(np.int64)
    before, between = np.full(places.shape, NOTHING), np.full((len(places), SIZE, SIZE), NOTHING)
    for window, members in enumerate(places.tolist()):
        earlier = histories.before(members[-1])
        place_of = {row: place for place, row in enumerate(earlier.tolist())}
        seen = np.append(0, np.cumsum(~normal[earlier]))
        at = np.array([*(place_of[row] for row in members[:-1]), len(earlier)])
        before[window, 1:] = [float(not normal[earlier[place - 1]]) for place in at[1:]]
        for later in range(SIZE):
            between[window, later, :later] = seen[at[later]] - seen[at[:later]]
    return Windows(places, before, between)


def edge_mask(normal: Bools) -> Bools:
    """Return (n, 4, 4) which edges a -> b exist, [window, b, a]: earlier normal runs, and each run itself.

    Args:
        normal: (n, 4).
    """
    earlier = np.tril(np.ones((SIZE, SIZE), dtype=bool))
    return np.asarray(earlier & (normal[:, None, :] | np.eye(SIZE, dtype=bool)))


def learn_host_scaling(table: RunTable, train: Ints, *, inverted: bool) -> HostScaling:
    """Return the range of host values over training runs; a value that no run has keeps the range 0 to 1."""
    values = _host_numbers(table.host[train], inverted=inverted)
    known = np.isfinite(values).any(axis=0)
    low, high = np.zeros(values.shape[1]), np.ones(values.shape[1])
    low[known], high[known] = np.nanmin(values[:, known], axis=0), np.nanmax(values[:, known], axis=0)
    return HostScaling(low, high, inverted)


def edges_of(table: RunTable, windows: Windows, scaling: HostScaling) -> Floats:
    """Return (n, 4, 4, 2 n_host + 7) numbers of the edges a -> b, [window, b, a].

    Host values of a, closeness 2^-(b-a), what `Windows` tells, four views of the time between, host values of b;
    a missing host value is 0.5.

    Source:
        perona.md 3.1. Its host values are differences to the minute before the run; ours are the run's own where
        nothing was recorded before it.
    """
    hosts = _host_numbers(table.host, inverted=scaling.inverted)
    span = np.where(scaling.high > scaling.low, scaling.high - scaling.low, 1.0)
    hosts = np.nan_to_num((hosts - scaling.low) / span, nan=0.5)[windows.rows]  # (n, 4, n_host)
    started = table.parsed.started_s[windows.rows]
    apart = np.maximum(started[:, :, None] - started[:, None, :], 0.0)
    steps = np.maximum(np.arange(SIZE)[:, None] - np.arange(SIZE)[None, :], 0)
    n, shape = len(windows), (len(windows), SIZE, SIZE)
    parts = [
        np.broadcast_to(hosts[:, None, :, :], (*shape, hosts.shape[-1])),
        np.broadcast_to(0.5**steps, shape)[..., None],
        np.broadcast_to(windows.before[:, :, None], shape)[..., None],
        windows.between[..., None],
        np.stack([0.5 ** np.log1p(apart / horizon) for horizon in HORIZONS_S], axis=-1),
        np.broadcast_to(hosts[:, :, None, :], (*shape, hosts.shape[-1])),
    ]
    return np.concatenate(parts, axis=-1).reshape(n, SIZE, SIZE, 2 * hosts.shape[-1] + BETWEEN)


def _host_numbers(host: Floats, *, inverted: bool) -> Floats:
    return np.asarray(1 / (host + 0.001) if inverted else np.log1p(np.maximum(host, 0.0)))
