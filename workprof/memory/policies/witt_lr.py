"""Witt's linear regression: use on input, raised by the spread of its own past errors."""

from __future__ import annotations

import math

import numpy as np

from workprof.memory.policies.sequence import Sequence
from workprof.memory.retry import RetrySettings, Sizes


class WittLr:
    """The least-squares line of use on input x (1 + s); s = spread of the line's past relative errors, 0 at first.

    Source: memory.md 2.2 (STD: the population standard deviation of (used - predicted) / used). Isolated: the errors
    belong to one task, which the published harness shares between tasks and variants by mistake (2.3). A line below
    zero is floored by the simulator, and such a run is lifted to the largest use seen; others are doubled.
    """

    name = "witt_lr"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes; running sums, so that a run costs the same however many are known."""
        n_known, line = runs.n_known, _Line()
        for x, y in zip(runs.inputs[:n_known].tolist(), runs.used_bytes[:n_known].tolist(), strict=True):
            line.add(x, y)
        first, negative = np.empty(runs.n_sized), np.zeros(runs.n_sized, dtype=bool)
        mean, squares = 0.0, 0.0
        online = zip(runs.inputs[n_known:].tolist(), runs.used_bytes[n_known:].tolist(), strict=True)
        for i, (x, y) in enumerate(online):
            predicted = line.at(x)
            spread = math.sqrt(squares / i) if i else 0.0
            first[i], negative[i] = predicted * (1 + spread), predicted < 0
            error = (y - predicted) / y
            step = error - mean
            mean += step / (i + 1)
            squares += step * (error - mean)
            line.add(x, y)
        steps = np.where(negative, runs.max_seen_bytes, np.nan)
        return Sizes(first, steps[:, None])


class _Line:
    """A least-squares line that takes points one by one (Welford's sums: no cancellation between large squares)."""

    def __init__(self) -> None:
        self.n = 0
        self.mean_x = self.mean_y = self.spread = self.together = 0.0

    def add(self, x: float, y: float) -> None:
        self.n += 1
        step = x - self.mean_x
        self.mean_x += step / self.n
        self.mean_y += (y - self.mean_y) / self.n
        self.spread += step * (x - self.mean_x)
        self.together += step * (y - self.mean_y)

    def at(self, x: float) -> float:
        slope = self.together / self.spread if self.spread > 0 else 0.0
        return self.mean_y + slope * (x - self.mean_x)
