"""Statistics that every room shares: intervals of shares and of savings, adjusted probabilities."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import SettingsError

FEWEST_RUNS = 34
"""Below it a figure carries the badge 'too few runs' (the published harness leaves such tasks out)."""

RESAMPLES = 400
MOST_BLOCKS = 2000
"""More runs than this are resampled in so many blocks of about equal size, drawn at random."""


@dataclass(frozen=True)
class Interval:
    """Ends of an interval at a confidence (0-1)."""

    low: float
    high: float
    confidence: float = 0.95


RELIABILITY_BINS = 10


def reliability_bins(probability: Floats, right: Bools) -> tuple[Ints, Floats, Floats, float]:
    """How far stated probabilities (n,) hold, in ten equal bins from 0 to 1.

    Returned are (10,) cases in each bin; (10,) mean stated probability and (10,) share that came true, NaN in an empty
    bin; the expected calibration error 0-1, |stated - observed| weighted by cases, NaN without any.

    Source: Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015.
    """
    bins = np.clip((probability * RELIABILITY_BINS).astype(np.int64), 0, RELIABILITY_BINS - 1)
    rows = np.bincount(bins, minlength=RELIABILITY_BINS).astype(np.int64)
    filled = np.where(rows > 0, rows, np.nan)
    stated = np.bincount(bins, weights=probability, minlength=RELIABILITY_BINS) / filled
    observed = np.bincount(bins, weights=right, minlength=RELIABILITY_BINS) / filled
    error = float(np.nansum(np.abs(stated - observed) * rows) / rows.sum()) if rows.sum() else float("nan")
    return rows, stated, observed, error


def too_few(n_runs: int) -> bool:
    """Whether so many runs are too few to advise on."""
    return n_runs < FEWEST_RUNS


def wilson(events: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share; 0 to 1 without a trial. A mean of events over seeds need not be whole.

    Source: Wilson (1927); 0 of 440 gives at most 0.87 %.
    """
    if not 0 < confidence < 1:
        raise SettingsError(f"confidence is {confidence}; give a share between 0 and 1")
    if n <= 0:
        return Interval(0.0, 1.0, confidence)
    z, share = NormalDist().inv_cdf(0.5 + confidence / 2), events / n
    centre = share + z * z / (2 * n)
    reach = z * math.sqrt(max(share * (1 - share), 0.0) / n + z * z / (4 * n * n))
    base = 1 + z * z / n
    low = (centre - reach) / base if events else 0.0  # exact at both ends, whatever the rounding
    high = (centre + reach) / base if events != n else 1.0
    return Interval(max(0.0, low), min(1.0, high), confidence)


def saving_interval(charged: Floats, before: Floats, seed: int = 0, confidence: float = 0.95) -> Interval:
    """Bootstrap interval, over runs, of 1 - sum(charged) / sum(before), in GB·h; NaN where nothing was before."""
    if not len(charged) or not before.sum() > 0:
        return Interval(math.nan, math.nan, confidence)
    rng = np.random.default_rng(seed)
    blocks = min(len(charged), MOST_BLOCKS)
    place = np.arange(len(charged)) % blocks
    rng.shuffle(place)
    after, now = np.bincount(place, charged, blocks), np.bincount(place, before, blocks)
    drawn = rng.integers(0, blocks, (RESAMPLES, blocks))
    base = now[drawn].sum(axis=1)
    ratios = 1 - after[drawn].sum(axis=1)[base > 0] / base[base > 0]
    tail = (1 - confidence) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return Interval(float(low), float(high), confidence)


def holm(probabilities: list[float]) -> list[float]:
    """The probabilities adjusted so that the chance of any false finding is kept.

    Source: Holm 1979; nothing differs.
    """
    given = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    steps = np.minimum(1.0, given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty(len(given))
    adjusted[order] = np.maximum.accumulate(steps)
    return [float(p) for p in adjusted]
