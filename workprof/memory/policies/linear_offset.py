"""A straight line through the inputs, shifted by the offset that would have wasted least."""

from __future__ import annotations

import numpy as np

from workprof.memory.policies.sequence import Sequence, held_until_next, refits
from workprof.memory.retry import RetrySettings, Sizes


class LinearOffset:
    """The least-squares line of use on input + the offset of least replayed charge among the line's own errors.

    After a failure the largest use seen, then doubled. Source: memory.md 2.2 (ours).
    """

    name = "linear_offset"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes; a line that falls below the smallest use seen is followed down to half of that."""
        points = refits(runs)
        fits = held_until_next(np.array([_fit(runs, int(n)) for n in points]), points, runs)
        line = fits[:, 0] + fits[:, 1] * runs.inputs[runs.n_known :]
        return Sizes(np.maximum(line, fits[:, 2] / 2), runs.max_seen_bytes[:, None])


def _fit(runs: Sequence, n: int) -> tuple[float, float, float]:
    """Return intercept with the offset, slope, and smallest use of the first n runs."""
    x, used, hours = runs.inputs[:n], runs.used_bytes[:n], runs.hours[:n]
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ used) / spread if spread > 0 else 0.0
    intercept = float(used.mean()) - slope * float(x.mean())
    errors = used - intercept - slope * x
    order = np.argsort(errors)
    tail = hours.sum() - np.cumsum(hours[order])
    cost = errors[order] * hours.sum() + used.max() * tail
    return intercept + float(errors[order][cost.argmin()]), slope, float(used.min())
