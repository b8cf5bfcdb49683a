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
    bandwidths_s: Floats,
    levels: Floats,
    result: Floats,
    level_of: Ints,
    counts: Ints,
) -> None:
    """Fill `result` with weighted quantiles of the jobs nearest in time in the first cell that has enough of them.

    Of the jobs (n_cells, n_jobs): keys at each level, rising; times in s, rising within a key; targets, and units, of
    which those of the query's own are passed over. A cell needs `fewest` (n_cells,) jobs, of `window` at most. Of the
    queries: keys (n_cells, n_queries), times, and units, -1 = none of the jobs'. A job a bandwidth away counts 1/e of
    one at the same time; levels rise. Results, left as they are where no cell has enough: (n_bandwidths, n_queries,
    n_levels), the cell used, and the jobs used.
    """
    window = 64
    held, apart, order = np.empty(window), np.empty(window), np.empty(window, np.int64)
    weights = np.empty(window)
    for i in range(len(query_times)):
        for cell in range(len(fewest)):
            first = _first_at(cells[cell], 0, cells.shape[1], keys[cell, i], False)
            last = _first_at(cells[cell], first, cells.shape[1], keys[cell, i], True)
            right = _first_at(times[cell], first, last, query_times[i], False)
            left, n = right - 1, 0
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
                    apart[n] = abs(times[cell, j] - query_times[i])
                    n += 1
            if n == 0 or n < fewest[cell]:
                continue
            level_of[i], counts[i] = cell, n
            sort_pairs(held[:n], order[:n])
            for b in range(len(bandwidths_s)):
                _weigh(apart[:n], bandwidths_s[b], weights[:n])
                _quantiles(held[:n], order[:n], weights[:n], levels, result[b, i])
            break


@compiled_within
def _weigh(apart: Floats, bandwidth_s: float, weights: Floats) -> None:
    """Fill the weights of jobs so far apart in time, in s, from the query."""
    for k in range(len(apart)):
        weights[k] = np.exp(-apart[k] / bandwidth_s) + 1e-9


@compiled_within
def _quantiles(held: Floats, order: Ints, weights: Floats, levels: Floats, result: Floats) -> None:
    """Fill the quantiles of rising values, each of which has the weight at its place in `order`."""
    total, risen, level = 0.0, 0.0, 0
    for k in range(len(weights)):
        total += weights[k]
    for k in range(len(held)):
        risen += weights[order[k]]
        while level < len(levels) and (risen >= levels[level] * total or k == len(held) - 1):
            result[level] = held[k]
            level += 1


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
