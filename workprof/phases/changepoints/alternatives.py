"""Change points by the methods of ruptures, under their own names."""

from __future__ import annotations

import math

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.phases.changepoints.settings import ChangePointSettings

SQUARES_PENALTY = 3.5
"""Of 'pelt' and 'binseg', x log T x counters, in noise variances: 1 % of 300 draws of 30 samples of pure noise showed a
change, where the noise was known."""

KERNEL_PENALTY = 0.75
"""Of 'kernel', x log T, in samples; the same draws: about 1 %."""

_GAMMA = 0.5
"""Width of the Gaussian kernel: one noise sd."""


def alternative_changes(values: Floats, settings: ChangePointSettings) -> Ints:
    """Return the changes (n,) of counters that share them, rising.

    'pelt' is the exact search for the least sum of squares and penalties; it runs as ruptures' kernel search with the
    linear kernel, which is the same cost in compiled code. 'binseg' splits in two again and again. 'kernel' uses the
    Gaussian kernel, so it also sees changes of the spread.

    Args:
        values: (n_counters, T) finite, in units of their noise.
        settings: method, penalty, shortest phase.

    Source:
        ruptures (Truong, Oudre & Vayatis 2020): KernelCPD, Binseg.
    """
    import ruptures  # noqa: PLC0415  heavy: scipy

    points = np.ascontiguousarray(values.T)
    shortest = max(settings.min_samples, 1)
    if len(points) < 2 * shortest:
        return np.zeros(0, np.int64)
    if settings.method == "binseg":
        search = ruptures.Binseg("l2", min_size=shortest, jump=1)
    elif settings.method == "pelt":
        search = ruptures.KernelCPD("linear", min_size=shortest)
    else:
        search = ruptures.KernelCPD("rbf", min_size=shortest, params={"gamma": _GAMMA / points.shape[1]})
    ends = search.fit(points).predict(pen=_penalty(settings, *points.shape))
    return np.array(ends[:-1], dtype=np.int64)


def _penalty(settings: ChangePointSettings, n_samples: int, n_counters: int) -> float:
    if settings.penalty is not None:
        return settings.penalty
    by_length = math.log(n_samples)
    return KERNEL_PENALTY * by_length if settings.method == "kernel" else SQUARES_PENALTY * by_length * n_counters
