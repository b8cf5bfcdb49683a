"""The ECDF of what a task's runs used, by count and by time, thinned for drawing but exact in its upper tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats

MOST_POINTS = 2_000
TAIL_POINTS = 250
"""The largest values are kept one by one: they decide about failures."""


@dataclass(frozen=True)
class UsageCurve:
    """Points of an ECDF.

    Attributes:
        used_bytes: (n_points,) increasing.
        share: (n_points,) of the runs that used at most that much.
        hours_share: (n_points,) of the hours of those runs; the shares of runs again when no run took time.
        exact: whether every run is a point.
    """

    used_bytes: Floats
    share: Floats
    hours_share: Floats
    exact: bool


def usage_curve(used_bytes: Floats, hours: Floats) -> UsageCurve:
    """Return the ECDF of (n,) uses, with at most `MOST_POINTS` points."""
    order = np.argsort(used_bytes, kind="stable")
    values, n = used_bytes[order], len(used_bytes)
    share = np.arange(1, n + 1) / n
    passed = np.cumsum(hours[order])
    hours_share = passed / passed[-1] if passed[-1] > 0 else share
    kept = np.arange(n)
    if n > MOST_POINTS:
        body = np.linspace(0, n - TAIL_POINTS - 1, MOST_POINTS - TAIL_POINTS).round().astype(np.int64)
        kept = np.concatenate([np.unique(body), np.arange(n - TAIL_POINTS, n)])
    return UsageCurve(values[kept], share[kept], hours_share[kept], n <= MOST_POINTS)
