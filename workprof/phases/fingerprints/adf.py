"""How strongly a phase pulls back to its mean: the Dickey-Fuller statistic."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats

SHORTEST = 5
FLAT_X = 1e-12
FLAT_RESIDUAL = 1e-18
BOUND = 10.0
"""Else the statistic of one counter would rule every distance."""


def adf_statistic(values: Floats) -> float:
    """Return the augmented Dickey-Fuller statistic of a series (n,) with a constant and no lag, within ±10.

    Fewer than 5 samples, a constant series and one that follows its own past exactly give 0.

    Source:
        Closed form of statsmodels' adfuller(maxlag=0, regression='c', autolag=None); phases are too short for lags.
        The bounds and the zeros are ours.
    """
    if len(values) < SHORTEST:
        return 0.0
    steps = np.diff(values)
    before = values[:-1] - values[:-1].mean()
    power = float(before @ before)
    if power < FLAT_X:
        return 0.0
    slope = float(before @ steps) / power
    residuals = steps - steps.mean() - slope * before
    variance = float(residuals @ residuals) / (len(steps) - 2)
    if variance < FLAT_RESIDUAL:
        return 0.0
    return float(np.clip(slope * np.sqrt(power / variance), -BOUND, BOUND))
