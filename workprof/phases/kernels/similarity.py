"""Compiled warping path: flattened fingerprints are series of thousands of numbers."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats
from workprof.compiled import compiled


@compiled
def warping_cost(first: Floats, second: Floats) -> float:
    """Return the least sum of Manhattan distances along a path of steps down, right and both.

    Args:
        first: (n, d) sequence of points.
        second: (m, d) likewise.
    """
    n, m, d = first.shape[0], second.shape[0], first.shape[1]
    row = np.empty(m)
    for i in range(n):
        corner = 0.0 if i == 0 else row[0]
        for j in range(m):
            local = 0.0
            for axis in range(d):
                local += abs(first[i, axis] - second[j, axis])
            above = row[j]
            if i == 0:
                best = 0.0 if j == 0 else row[j - 1]
            elif j == 0:
                best = above
            else:
                best = min(above, corner, row[j - 1])
            row[j] = local + best
            corner = above
    return float(row[m - 1])
