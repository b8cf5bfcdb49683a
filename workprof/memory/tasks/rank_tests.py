"""Tests on ranks: does a number, or a category, go with a quantity."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class RankTest:
    """What a test says.

    Attributes:
        n: rows.
        correlation: -1 to 1; NaN for categories.
        low, high: 95 % interval of the correlation; NaN for categories.
        strength: 0-1.
        p_value: 0-1.
    """

    n: int
    correlation: float
    low: float
    high: float
    strength: float
    p_value: float


def spearman(values: Floats, used: Floats) -> RankTest | None:
    """Return Spearman's rank correlation; None where one side does not vary.

    Source:
        The interval is that of Bonett and Wright 2000 on Fisher's scale; the probability is that of Student's t.
    """
    from scipy.special import stdtr  # noqa: PLC0415  heavy

    correlation, n = _correlation(_ranks(values), _ranks(used)), len(values)
    if math.isnan(correlation):
        return None
    bound = min(abs(correlation), 1 - 1e-15)
    reach = Z_95 * math.sqrt((1 + bound**2 / 2) / (n - 3))
    centre = math.copysign(math.atanh(bound), correlation)
    t = bound * math.sqrt((n - 2) / (1 - bound**2))
    return RankTest(
        n=n,
        correlation=correlation,
        low=math.tanh(centre - reach),
        high=math.tanh(centre + reach),
        strength=abs(correlation),
        p_value=float(2 * stdtr(n - 2, -t)),
    )


def explained_by_groups(codes: Floats, used: Floats) -> RankTest | None:
    """Return how much of the ranks the groups explain; None where one side does not vary or every row is a group.

    Strength is the root of epsilon squared, (H - k + 1) / (n - k), floored at 0: so that it compares with a
    correlation, and groups of pure chance have about 0 however many they are.

    Source:
        Kruskal and Wallis 1952, H with the correction for ties, probability by chi squared; epsilon
        squared, Kelley 1935.
    """
    from scipy.special import chdtrc  # noqa: PLC0415  heavy

    ranks, n = _ranks(used), len(used)
    groups = np.unique(codes, return_inverse=True)[1]
    sizes, sums = np.bincount(groups), np.bincount(groups, weights=ranks)
    k, spread = len(sizes), float(((ranks - ranks.mean()) ** 2).sum())
    if k < 2 or k >= n or spread <= 0:
        return None
    between = float((sums**2 / sizes).sum()) - n * float(ranks.mean()) ** 2
    h = (n - 1) * between / spread
    explained = min(1.0, max(0.0, (h - k + 1) / (n - k)))
    nothing = float("nan")
    return RankTest(n, nothing, nothing, nothing, math.sqrt(explained), float(chdtrc(k - 1, max(h, 0.0))))


def holm(probabilities: list[float]) -> list[float]:
    """Return the probabilities adjusted so that the chance of any false finding is kept.

    Source:
        Holm 1979; nothing differs.
    """
    given = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    steps = np.minimum(1.0, given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty(len(given))
    adjusted[order] = np.maximum.accumulate(steps)
    return [float(p) for p in adjusted]


def _ranks(values: Floats) -> Floats:
    """Return (n,) ranks from 1, ties in the middle."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: Floats = (ends - (counts - 1) / 2).astype(np.float64)
    return middles[place]


def _correlation(one: Floats, other: Floats) -> float:
    a, b = one - one.mean(), other - other.mean()
    below = math.sqrt(float((a**2).sum()) * float((b**2).sum()))
    return float((a * b).sum()) / below if below > 0 else float("nan")
