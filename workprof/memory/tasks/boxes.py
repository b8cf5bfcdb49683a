"""Box plots of what tasks use: quartiles, whiskers, and the runs beyond them, thinned but never the extremes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats

WHISKER_REACH = 1.5
"""Whiskers end at the last run within this many inter-quartile ranges of the box (Tukey)."""

MOST_EXTREMES = 100


@dataclass(frozen=True)
class Box:
    """A box plot of one task, in GB (1e9 bytes).

    Attributes:
        task: its name.
        n: runs.
        q1_gb, median_gb, q3_gb: of the use.
        low_gb, high_gb: ends of the whiskers.
        extremes_gb: runs beyond the whiskers, at most `MOST_EXTREMES`, the smallest and the largest among them.
        n_extremes: how many there are.
    """

    task: str
    n: int
    q1_gb: float
    median_gb: float
    q3_gb: float
    low_gb: float
    high_gb: float
    extremes_gb: Floats
    n_extremes: int


def box_of(task: str, used_gb: Floats) -> Box:
    """Return the box plot of (n,) uses, n > 0."""
    values = np.sort(used_gb)
    q1, median, q3 = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = WHISKER_REACH * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = float(inside[0]), float(inside[-1])
    extremes = values[(values < low) | (values > high)]
    kept = extremes
    if len(extremes) > MOST_EXTREMES:
        kept = extremes[np.linspace(0, len(extremes) - 1, MOST_EXTREMES).round().astype(np.int64)]
    return Box(task, len(values), q1, median, q3, low, high, kept, len(extremes))
