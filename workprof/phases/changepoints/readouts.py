"""From the trail of the recursion to the samples at which phases begin.

A change is the 0-based number of the first sample of the new phase.

Source:
    CWD reads its recursion off without saying how. `path` is consistent: every change belongs to one explanation of
    the whole series. `drop` is what an observer sees as it happens: early changes that later samples refute are in it,
    and the same change may come twice. `exact` is the most probable segmentation (Fearnhead, Statistics and Computing
    16, 2006), under the same prior; the recursion only sums what this takes the largest of.
"""

from __future__ import annotations

import numpy as np

from workprof.arrays import Ints
from workprof.phases.kernels.run_lengths import Trail


def changes_of(trail: Trail, readout: str) -> Ints:
    """Return the changes (n,) that 'path', 'exact' or 'drop' reads, in the order of time."""
    if readout == "drop":
        return _drops(trail.run_or_change)
    return _steps_back(trail.run if readout == "path" else trail.last)


def _steps_back(lengths: Ints) -> Ints:
    """Return where the stretches begin when each sample knows the length of the one that ends with it."""
    changes, end = [], len(lengths)
    while end > 0:
        end -= int(lengths[end - 1])
        if end > 0:
            changes.append(end)
    return np.array(changes[::-1], dtype=np.int64)


def _drops(run_lengths: Ints) -> Ints:
    """Return t - r_t of every t at which the most probable run length did not grow."""
    seen = np.concatenate([np.zeros(1, np.int64), run_lengths])
    falls = np.flatnonzero(seen[1:] <= seen[:-1]) + 1
    changes = falls - seen[falls]
    result: Ints = changes[(changes > 0) & (changes < len(run_lengths))]
    return result
