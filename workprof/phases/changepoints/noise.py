"""How much a series jitters from sample to sample, whatever its level does."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats

KEPT_SHARE = 0.9
"""Of the differences, the smallest; the rest may be steps or spikes."""

_KEPT_MEAN_SQUARE = 0.6230
"""Mean square of a standard normal variable within its central 90 %."""

FLOOR_SHARE = 0.1
"""Of the noise that all differences together show. It decides where nearly all samples are equal."""


def noise_sd(series: Floats) -> Floats:
    """Return the noise sd of each counter, in its own unit; 0 for a constant one.

    Successive differences of a phase have twice the variance of its noise, and a step spoils only one of them. So the
    noise is the root mean square of the smallest 90 % of the differences, made to be right for normal noise. A counter
    that hardly ever moves (a count that is nearly always 0) would have no noise then, and each spike would be a phase:
    its noise is at least a tenth of what all differences say.

    Args:
        series: (n_counters, T) finite, T >= 2.

    Returns:
        (n_counters,).

    Source:
        Difference-based variance (von Neumann); CWD leaves the scale of its prior open.
    """
    squares = np.sort(np.diff(series, axis=1) ** 2, axis=1)
    kept = max(1, round(KEPT_SHARE * squares.shape[1]))
    inner = np.sqrt(squares[:, :kept].mean(axis=1) / _KEPT_MEAN_SQUARE / 2)
    whole = np.sqrt(squares.mean(axis=1) / 2)
    result: Floats = np.maximum(inner, FLOOR_SHARE * whole)
    return result
