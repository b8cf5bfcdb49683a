"""Tovar's first allocation: the size that would have wasted least, with one retry at the largest use seen."""

from __future__ import annotations

import numpy as np

from workprof.memory.policies.sequence import Sequence, held_until_next, refits
from workprof.memory.retry import RetrySettings, Sizes


class Tovar:
    """Over the known uses a: the least of a x mean hours + a_max x mean over all runs of the hours where use > a.

    After a failure the largest use, then a whole node.

    Source: Tovar et al., equation 1 (waste mode), as in memory.md 2.2. Of equal costs the largest size is taken.
    """

    name = "tovar"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes."""
        points = refits(runs)
        first = held_until_next(np.array([least_waste(runs, int(n)) for n in points]), points, runs)
        return Sizes(first, runs.max_seen_bytes[:, None], beyond="node")


def least_waste(runs: Sequence, n: int) -> float:
    """Return the size of the first n runs."""
    order = np.argsort(runs.used_bytes[:n], kind="stable")
    used, hours = runs.used_bytes[:n][order], runs.hours[:n][order]
    distinct, first = np.unique(used, return_index=True)
    up_to = np.concatenate(([0.0], np.cumsum(hours)))
    above = up_to[-1] - up_to[np.append(first[1:], n)]
    cost = (distinct * up_to[-1] + used[-1] * above) / n
    return float(distinct[::-1][cost[::-1].argmin()])
