"""Minimum expected waste, over all known runs or over those with a like input."""

from __future__ import annotations

import numpy as np

from workprof.memory.policies.sequence import Sequence, held_until_next, refits
from workprof.memory.retry import RetrySettings, Sizes

MARGIN, LIFT = 1.02, 1.05


class MinWaste:
    """Of the known uses x 1.02, the one of least c x sum of hours + 1.05 x largest use x hours of the runs above c.

    After a failure 1.05 x the largest use, then doubled. Source: memory.md 2.2 (no input).
    """

    name = "min_waste"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes."""
        points = refits(runs)
        first = held_until_next(np.array([_cheapest(runs, int(n)) for n in points]), points, runs)
        return Sizes(first, LIFT * runs.max_seen_bytes[:, None])


class LocalMinWaste:
    """The same with every run weighted by its hours x a Gaussian of its distance in log(1 + input).

    The width reaches the k-th nearest run, k = min(n, max(8, 0.15 n)); beyond three widths runs are left out; the
    largest use is that of the whole history. Of more than 400 known runs the latest 400 are looked at.

    Source: memory.md 2.2.
    """

    name = "local_min_waste"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes."""
        from workprof.memory.kernels.local import local_sizes  # noqa: PLC0415  numba

        logs = np.log1p(np.maximum(runs.inputs, 0.0))
        first = local_sizes(np.array([runs.used_bytes, runs.hours, logs]), runs.n_known, MARGIN, LIFT)
        return Sizes(first, LIFT * runs.max_seen_bytes[:, None])


def _cheapest(runs: Sequence, n: int) -> float:
    order = np.argsort(runs.used_bytes[:n])
    used, hours = runs.used_bytes[:n][order], runs.hours[:n][order]
    sizes, up_to = MARGIN * used, np.cumsum(hours)
    covered = up_to[np.searchsorted(used, sizes, side="right") - 1]
    return float(sizes[(sizes * up_to[-1] + LIFT * used[-1] * (up_to[-1] - covered)).argmin()])
