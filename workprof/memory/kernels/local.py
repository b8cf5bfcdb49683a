"""The compiled loop of the local minimum-waste policy."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.compiled import compiled
from workprof.memory.kernels.forecasts import nearness

WINDOW = 400
"""Known runs that are looked at: the latest ones."""

SHARE, FEWEST = 0.15, 8


@compiled
def local_sizes(rows: Floats, n_known: int, margin: float, lift: float) -> Floats:
    """Return (n - n_known,) sizes of the runs after the initial history.

    Args:
        rows: (3, n) sizes (bytes), hours, log inputs.
        n_known: runs of the initial history.
        margin: candidates are this times a known size.
        lift: size after a failure over the largest known size.
    """
    n = rows.shape[1]
    out, seen = np.empty(n - n_known), rows[0, :n_known].max()
    for t in range(n_known, n):
        start = max(0, t - WINDOW)
        order = np.argsort(rows[0, start:t])
        distances = np.abs(rows[2, start:t] - rows[2, t])
        weights = nearness(distances, np.sort(distances), SHARE, FEWEST)
        sizes = rows[0, start:t][order]
        work = (weights * rows[1, start:t])[order]
        near = weights[order] > 0
        all_work = work.sum()
        best_cost, tail, reached = np.inf, all_work, 0
        for a in range(len(sizes)):
            size = margin * sizes[a]
            while reached < len(sizes) and sizes[reached] <= size:
                tail -= work[reached]
                reached += 1
            cost = size * all_work + lift * seen * max(tail, 0.0)
            if near[a] and cost < best_cost:
                out[t - n_known], best_cost = size, cost
        seen = max(seen, rows[0, t])
    return out
