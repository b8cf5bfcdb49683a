"""Samples whose rows count unequally and come in bunches: effective size, quantiles, and how far two lie apart."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.units import DAY_S

Units = NDArray[np.uint64]

PSI_BINS = 10
PSI_FLOOR = 1e-3
"""Smallest share of a bin: an empty one would make the index infinite."""


@dataclass(frozen=True)
class WeightedSample:
    """Values with weights."""

    values: Floats  # (n,) rising, finite
    weights: Floats  # (n,) above 0
    effective: float  # independent, equally weighted values that tell as much

    def __len__(self) -> int:
        return len(self.values)


def weighted_sample(values: Floats, weights: Floats, units: Units) -> WeightedSample:
    """The finite values as a sample; `units` (n,) come in one bunch (rows of one job)."""
    good = np.isfinite(values) & (weights > 0)
    order = np.argsort(values[good], kind="stable")
    ordered, counted = values[good][order], weights[good][order]
    return WeightedSample(ordered, counted, effective_size(counted, units[good][order]))


def effective_size(weights: Floats, units: Units | Ints) -> float:
    """How many independent values a sample is worth; 0 for none.

    Source: Kish 1965: (sum of weights)^2 / sum of squared weights. Ours adds the weights of a unit first, as if its
    rows were copies of one another, so that a job of 1,000 instances cannot shout 1,000 times.
    """
    if not len(weights):
        return 0.0
    per_unit = np.bincount(np.unique(units, return_inverse=True)[1], weights=weights)
    return float(per_unit.sum() ** 2 / (per_unit**2).sum())


def decay_weights(times_s: Floats, now_s: float, half_life_days: float) -> Floats:
    """(n,) 0.5 ** (age / half-life); 1 without a half-life, and for a row without a time."""
    if half_life_days <= 0 or not math.isfinite(now_s):
        return np.ones(len(times_s))
    age_days = np.maximum(0.0, now_s - np.where(np.isfinite(times_s), times_s, now_s)) / DAY_S
    return np.asarray(np.maximum(0.5 ** (age_days / half_life_days), 1e-12), dtype=np.float64)


def weighted_quantiles(sample: WeightedSample, levels: Floats) -> Floats:
    """The smallest values at which the cumulative share reaches each level; NaN for an empty sample."""
    if not len(sample):
        return np.full(len(levels), np.nan)
    reached = np.cumsum(sample.weights)
    places = np.searchsorted(reached, levels * reached[-1] * (1 - 1e-12), side="left")
    return np.asarray(sample.values[np.minimum(places, len(sample) - 1)], dtype=np.float64)


def merged(one: WeightedSample, other: WeightedSample, other_weight: float) -> WeightedSample:
    """Both samples as one: the first counts its effective size, the second `other_weight` in all."""
    if not len(other) or other_weight <= 0:
        return one
    first = one.weights * (one.effective / one.weights.sum()) if len(one) else one.weights
    second = other.weights * (other_weight / other.weights.sum())
    values = np.concatenate([one.values, other.values])
    order = np.argsort(values, kind="stable")
    return WeightedSample(values[order], np.concatenate([first, second])[order], one.effective + other_weight)


def share_below(sample: WeightedSample, at: Floats, *, with_ties: bool = True) -> Floats:
    """(n_at,) weighted share of values up to each point (below it, without ties)."""
    reached = np.concatenate([[0.0], np.cumsum(sample.weights)])
    places = np.searchsorted(sample.values, at, side="right" if with_ties else "left")
    return np.asarray(reached[places] / reached[-1], dtype=np.float64)


def ks_distance(one: WeightedSample, other: WeightedSample) -> float:
    """The largest vertical distance of the two distribution functions, 0-1."""
    points = np.concatenate([one.values, other.values])
    return float(np.abs(share_below(one, points) - share_below(other, points)).max())


def ks_probability(distance: float, one: WeightedSample, other: WeightedSample) -> float:
    """How likely so large a distance is where both samples come from one distribution.

    Source: Kolmogorov's limit with Stephens' (1970) correction for small samples. Ours takes effective sizes; with ties
    it errs on the side of no alarm.
    """
    from scipy.special import kolmogorov  # noqa: PLC0415  heavy

    root = math.sqrt(one.effective * other.effective / (one.effective + other.effective))
    return float(kolmogorov((root + 0.12 + 0.11 / root) * distance))


def shift_probability(one: WeightedSample, other: WeightedSample) -> float:
    """How likely so uneven a ranking is where both come from one distribution (two-sided rank-sum test).

    Source: Wilcoxon, Mann and Whitney, normal approximation with the correction for ties. Ours takes effective sizes.
    """
    wins = share_below(one, other.values, with_ties=False)
    wins = 0.5 * (wins + share_below(one, other.values))
    advantage = float(np.average(wins, weights=other.weights)) - 0.5
    values = np.concatenate([one.values, other.values])
    shares = np.concatenate([one.weights / one.weights.sum(), other.weights / other.weights.sum()]) / 2
    tied = np.bincount(np.unique(values, return_inverse=True)[1], weights=shares)
    untied = max(0.0, 1.0 - float((tied**3).sum()))
    n, m = one.effective, other.effective
    spread = math.sqrt((n + m + 1) / (12 * n * m) * untied)
    return math.erfc(abs(advantage) / spread / math.sqrt(2)) if spread > 0 else 1.0


def stability_index(now: WeightedSample, before: WeightedSample) -> float:
    """The population stability index over the tenths of `before`; below 0.1 little, above 0.25 much."""
    edges = np.unique(weighted_quantiles(before, np.linspace(0, 1, PSI_BINS + 1)[1:-1]))
    shares = []
    for sample in (now, before):
        reached = np.concatenate([[0.0], share_below(sample, edges), [1.0]])
        shares.append(np.maximum(np.diff(reached), PSI_FLOOR))
    return float(((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum())


def median_interval(sample: WeightedSample, confidence: float = 0.95) -> tuple[float, float, float]:
    """Lower end, median and upper end from the order statistics that a normal approximation picks."""
    from scipy.special import ndtri  # noqa: PLC0415  heavy

    reach = float(ndtri(0.5 + confidence / 2)) * 0.5 / math.sqrt(max(sample.effective, 1.0))
    levels = np.clip(np.array([0.5 - reach, 0.5, 0.5 + reach]), 0.0, 1.0)
    low, middle, high = weighted_quantiles(sample, levels)
    return float(low), float(middle), float(high)
