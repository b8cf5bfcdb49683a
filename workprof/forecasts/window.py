"""The compiled loop over the jobs of one history cell that lie nearest in time."""

from __future__ import annotations

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled


@compiled
def window_quantiles(  # noqa: PLR0913, PLR0917  a compiled loop takes arrays, not records
    span: Ints,
    times: Floats,
    targets: Floats,
    units: Ints,
    query_times: Floats,
    query_units: Ints,
    bandwidth_s: float,
    levels: Floats,
    found: Floats,
    counts: Ints,
) -> None:
    """Fill `found` with weighted quantiles of the jobs of a cell that are nearest in time, and `counts` with how many.

    Args:
        span: (n_queries, 3) first and last + 1 of the query's cell in the sorted jobs, and where its time falls.
        times: (n_jobs,) s, rising within a cell.
        targets: (n_jobs,) what they needed.
        units: (n_jobs,) what stays together; jobs of the query's own unit are passed over.
        query_times: (n_queries,) s.
        query_units: (n_queries,) -1 = none of the jobs'.
        bandwidth_s: a job this far away counts 1/e of one at the same time.
        levels: (n_levels,) rising.
        found: (n_queries, n_levels), left as it is where no job counts.
        counts: (n_queries,) jobs used; `window` at most.
    """
    window = 64
    held, weights = np.empty(window), np.empty(window)
    for i in range(len(span)):
        left, right, n = span[i, 2] - 1, span[i, 2], 0
        while n < window and (left >= span[i, 0] or right < span[i, 1]):
            take_left = right >= span[i, 1]
            if left >= span[i, 0] and not take_left:
                take_left = query_times[i] - times[left] <= times[right] - query_times[i]
            j = left if take_left else right
            if take_left:
                left -= 1
            else:
                right += 1
            if units[j] != query_units[i]:
                held[n] = targets[j]
                weights[n] = np.exp(-abs(times[j] - query_times[i]) / bandwidth_s) + 1e-9
                n += 1
        counts[i] = n
        if n == 0:
            continue
        order = np.argsort(held[:n])
        total, risen, level = weights[:n].sum(), 0.0, 0
        for k in range(n):
            risen += weights[order[k]]
            while level < len(levels) and (risen >= levels[level] * total or k == n - 1):
                found[i, level] = held[order[k]]
                level += 1
