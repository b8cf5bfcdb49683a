"""An ECDF with a band, thinned for drawing but exact in its tails.

The band is that of Dvoretzky, Kiefer and Wolfowitz with Massart's constant: the whole true curve lies inside it with
the stated confidence when rows are independent. Rows of one job are not: where jobs are named, the rows are replaced
by their effective number of jobs, as if the rows of a job were copies of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints

FEWEST_ROWS = 30
"""Groups worth fewer independent rows are flagged: their curve is mostly chance."""

MOST_POINTS = 2_000
TAIL_POINTS = 250
"""Of the points of a thinned curve: the smallest and the largest values, each kept."""


@dataclass(frozen=True)
class DurationCurve:
    """The ECDF of one group.

    Attributes:
        name: value of the grouping column; 'other' and 'all' for the sums.
        n_merged: groups that 'other' stands for, else 0.
        n_rows: rows.
        n_effective: rows as the band counts them (see `effective_rows`).
        few: worth fewer than `FEWEST_ROWS` independent rows, as every group with fewer rows is.
        points: (n_points,) distinct values, rising, in the target's unit.
        shares: (n_points,) share of the rows at or below each point; the last is 1.
        grid_step: largest share between two neighbours where values were left out; 0 = every value is there.
        band: half-width of the band, in shares; the band is cut to 0-1.
    """

    name: str
    n_merged: int
    n_rows: int
    n_effective: float
    few: bool
    points: Floats
    shares: Floats
    grid_step: float
    band: float


def share_within(curve: DurationCurve, limit: float) -> float:
    """Return the share of rows at or below a limit (low by less than `curve.grid_step` where values were left out)."""
    at = int(np.searchsorted(curve.points, limit, side="right"))
    return float(curve.shares[at - 1]) if at else 0.0


def value_at(curve: DurationCurve, share: float) -> float:
    """Return the smallest kept value that at least a share of the rows does not exceed ('80 % finish within ...')."""
    at = int(np.searchsorted(curve.shares, share - 1e-12, side="left"))
    return float(curve.points[min(at, len(curve.points) - 1)])


def effective_rows(counts: Ints) -> float:
    """Return the number of independent rows that rows of jobs are worth if a job's rows were copies of each other.

    Args:
        counts: rows of each job.

    Source:
        Kish's effective sample size, (sum of counts)^2 / (sum of squares): with it Hoeffding's inequality holds at each
        point for fully dependent rows, so the band is cautious where they are less so.
    """
    return float(counts.sum() ** 2 / np.square(counts, dtype=np.float64).sum())


def band_half_width(n_effective: float, confidence: float) -> float:
    """Return sqrt(ln(2 / (1 - confidence)) / (2 n)).

    Source:
        Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality.
    """
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n_effective))


def thinned(values: Floats) -> tuple[Floats, Floats, float]:
    """Return distinct values, the share at or below each, and the largest share skipped between two neighbours."""
    distinct, counts = np.unique(values, return_counts=True)
    shares = np.cumsum(counts) / len(values)
    shares[-1] = 1.0
    if len(distinct) <= MOST_POINTS:
        return distinct, shares, 0.0
    last = len(distinct) - 1 - TAIL_POINTS
    levels = np.linspace(shares[TAIL_POINTS - 1], shares[last], MOST_POINTS - 2 * TAIL_POINTS)
    inner = np.searchsorted(shares, levels, side="left")
    kept = np.unique(np.concatenate([np.arange(TAIL_POINTS), inner, np.arange(last + 1, len(distinct))]))
    skipped = np.diff(shares[kept])[np.diff(kept) > 1]
    return distinct[kept], shares[kept], float(skipped.max(initial=0.0))
