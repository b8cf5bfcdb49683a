"""The compiled look-up of a job's history cell and of the jobs in it that lie nearest in time."""

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled, compiled_within, sort_pairs

Keys = NDArray[np.uint64]


@compiled
def window_quantiles(  # noqa: PLR0913, PLR0917  a compiled loop takes arrays, not records
    cells: Keys,
    times: Floats,
    targets: Floats,
    units: Ints,
    fewest: Ints,
    keys: Keys,
    query_times: Floats,
    query_units: Ints,
    bandwidth_s: float,
    levels: Floats,
    result: Floats,
    level_of: Ints,
    counts: Ints,
) -> None:
    """Fill `result` with weighted quantiles of the jobs nearest in time in the first cell that has enough of them.

    Of the jobs (n_cells, n_jobs): keys at each level, rising; times in s, rising within a key; targets, and units, of
    which those of the query's own are passed over. A cell needs `fewest` (n_cells,) jobs, of `window` at most. Of the
    queries: keys (n_cells, n_queries), times, and units, -1 = none of the jobs'. A job `bandwidth_s` away counts 1/e of
    one at the same time; levels rise. Results, left as they are where no cell has enough: (n_queries, n_levels), the
    cell used, and the jobs used.
    """
    window = 64
    held, weights, order = np.empty(window), np.empty(window), np.empty(window, np.int64)
    for i in range(len(query_times)):
        for cell in range(len(fewest)):
            first = _first_at(cells[cell], 0, cells.shape[1], keys[cell, i], False)
            last = _first_at(cells[cell], first, cells.shape[1], keys[cell, i], True)
            right = _first_at(times[cell], first, last, query_times[i], False)
            left, n, total = right - 1, 0, 0.0
            while n < window and (left >= first or right < last):
                take_left = right >= last
                if left >= first and not take_left:
                    take_left = query_times[i] - times[cell, left] <= times[cell, right] - query_times[i]
                j = left if take_left else right
                if take_left:
                    left -= 1
                else:
                    right += 1
                if units[cell, j] != query_units[i]:
                    held[n], order[n] = targets[cell, j], n
                    weights[n] = np.exp(-abs(times[cell, j] - query_times[i]) / bandwidth_s) + 1e-9
                    total += weights[n]
                    n += 1
            if n == 0 or n < fewest[cell]:
                continue
            level_of[i], counts[i] = cell, n
            sort_pairs(held[:n], order[:n])
            risen, level = 0.0, 0
            for k in range(n):
                risen += weights[order[k]]
                while level < len(levels) and (risen >= levels[level] * total or k == n - 1):
                    result[i, level] = held[k]
                    level += 1
            break


@compiled_within
def _first_at(values: Floats | Keys, first: int, last: int, wanted: float, beyond: bool) -> int:
    """The first position in rising values[first:last] that is not below (beyond: above) the wanted one."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted or (beyond and values[middle] == wanted):
            first = middle + 1
        else:
            last = middle
    return first
