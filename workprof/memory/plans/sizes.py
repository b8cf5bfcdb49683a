"""One size for all runs of a task, chosen from its history: the rules of a plan."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workprof.arrays import Floats

MAX_SEEN, PERCENTILE, LEAST_WASTE, CLASS_SIZES = "max_seen", "percentile", "least_waste", "class_sizes"
RULES = (MAX_SEEN, PERCENTILE, LEAST_WASTE, CLASS_SIZES)

MOST_CANDIDATES = 256

SizeRule = Callable[[Floats, Floats], float]
"""Uses and hours of a history, both (n,) with n > 0, to a size; all bytes."""


def max_seen(used_bytes: Floats, hours: Floats) -> float:
    """Return the largest use."""
    return float(used_bytes.max())


def percentile(share: float) -> SizeRule:
    """Return the rule that takes the use which a share of the runs (0-1) do not exceed."""
    return lambda used_bytes, hours: float(np.quantile(used_bytes, share))


def least_waste(used_bytes: Floats, hours: Floats) -> float:
    """Return the use that is the cheapest size when a failed run comes back with size x attempt, each attempt in full.

    A run of use u costs c x (1 + 2 + .. + a) x hours at a size c, a = u / c rounded up. Runs of no time at all count as
    one each. Of more than `MOST_CANDIDATES` runs, as many quantiles are tried, the largest use among them.
    """
    weights = hours if hours.sum() > 0 else np.ones(len(used_bytes))
    levels = np.linspace(0, 1, min(len(used_bytes), MOST_CANDIDATES))
    candidates = np.unique(np.quantile(used_bytes, levels, method="higher"))
    costs = [size_cost(size, used_bytes, weights) for size in candidates.tolist()]
    return float(candidates[int(np.argmin(costs))])


def size_cost(size: float, used_bytes: Floats, weights: Floats) -> float:
    """Return what (n,) runs cost at a size, with size x attempt after each failure."""
    attempts = np.ceil(used_bytes / size)
    return float((size * attempts * (attempts + 1) / 2 * weights).sum())
