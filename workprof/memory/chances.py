"""How likely the next run of a key uses more than a size: learned on the past of all keys, forward in time.

The next run exceeds the largest of n independent ones with probability 1 / (n + 1). How far it goes beyond depends on
how the uses of its key are spread, and now and then a key changes as a whole. So, with w runs worth of history, s the
spread of the key's log use and m the size over the largest known use:

    P(use > m x largest) = exp(b0 - b1 log(w + 1)) x f x ((1 - h) (1 + z / 3)^(-3 b2) + h m^(-1 / t))
    z = log m x sqrt(2 log(w + 1)) / s

The first term is the chance of a record, the second how far a record of a stable key goes (a Lomax distribution), the
third how far a key goes that changes. All are learned from ended runs of the trace, with weak priors; f is the key's
own records over the expected ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.memory.known import Known

FEWEST_KNOWN = 2
"""A key with fewer ended runs has no chances."""

PRIOR_SPREAD, PRIOR_SPREAD_RUNS, KEY_SPREAD_RUNS = 0.2, 2.0, 3.0
"""Of log use, what it weighs in the pooled spread, and what the pooled one weighs in a key's."""
PRIOR_RECORD = np.array([0.0, 1.0]), np.array([1.0, 4.0])
"""b0 and b1 of independent runs, and the precisions of both."""
PRIOR_TAIL_RUNS = 2.0
PRIOR_HEAVY, PRIOR_HEAVY_RUNS = 0.1, 10.0
PRIOR_SCALE, PRIOR_SCALE_RUNS = 0.5, 5.0
PRIOR_KEY_RECORDS = 2.0
PRIOR_LONGER_RUNS, MOST_LONGER = 5.0, 5.0
BY_MORE_THAN = 1e-9
"""A run exceeds a size by more than this share of it."""
STEPS, TINY = 60, 1e-300


@dataclass(frozen=True)
class Chances:
    """A fitted model of one level of keys."""

    record: Floats  # (2,) b0, b1
    tail: float  # b2
    heavy_share: float  # h
    heavy_scale: float  # t
    spread: float  # pooled, of log use
    key_factor: Floats  # (n_keys,) f
    longer: float  # hours of runs that exceed the largest known use, over the mean hours of their key; 1 to 5
    n_runs: int  # learned from
    n_records: int  # of them, above the largest known use


def fit_chances(known: Known, key: Ints, n_keys: int, use: Floats, booked: tuple[Floats, Floats, float]) -> Chances:
    """Return the model of runs that have ended.

    Args:
        known: (n,) of each run at its own moment.
        key: (n,) codes below `n_keys`.
        n_keys: of the level.
        use: (n,) what they used.
        booked: (n,) request x hours, (n,) request x mean hours of the key, and the mean of all runs.

    Source:
        b0, b1: maximum a posteriori of a binomial model with a logarithmic link (Newton); b2, h, t: expectation
        maximisation of the mixture. Conditional quantiles of the forecaster and tags of samples gained nothing.
    """
    counts = known.n >= FEWEST_KNOWN
    some, code, used = known.take(counts), key[counts], use[counts]
    beyond = np.log(used / np.maximum(some.largest, TINY)) if len(used) else np.zeros(0)
    exceeds = beyond > BY_MORE_THAN
    variance = (some.squares.sum() + PRIOR_SPREAD**2 * PRIOR_SPREAD_RUNS) / (
        np.maximum(some.n - 1, 0).sum() + PRIOR_SPREAD_RUNS
    )
    record = _fit_records(np.log(some.weight + 1), exceeds)
    spread = spread_of(some, variance)
    unit = (np.sqrt(2 * np.log(some.weight + 1)) / spread)[exceeds]
    tail, share, scale = _fit_beyond(beyond[exceeds], unit)
    expected = np.bincount(code, record_chance(record, some.weight), n_keys)
    seen = np.bincount(code, exceeds, n_keys)
    held, mean_held, mean = booked
    own, usual = held[counts][exceeds].sum(), mean_held[counts][exceeds].sum()
    longer = (own + PRIOR_LONGER_RUNS * mean) / (usual + PRIOR_LONGER_RUNS * mean) if mean > 0 else 1.0
    return Chances(
        record=record,
        tail=tail,
        heavy_share=share,
        heavy_scale=scale,
        spread=float(np.sqrt(variance)),
        key_factor=(seen + PRIOR_KEY_RECORDS) / (expected + PRIOR_KEY_RECORDS),
        longer=float(np.clip(longer, 1.0, MOST_LONGER)),
        n_runs=len(used),
        n_records=int(exceeds.sum()),
    )


def spread_of(known: Known, variance: float) -> Floats:
    """Return (m,) spreads of log use by key, shrunk to the pooled variance."""
    result: Floats = np.sqrt(
        (known.squares + variance * KEY_SPREAD_RUNS) / (np.maximum(known.n - 1, 0) + KEY_SPREAD_RUNS)
    )
    return result


def record_chance(record: Floats, weight: Floats) -> Floats:
    """Return (m,) chances that the next run exceeds the largest known use."""
    result: Floats = np.clip(np.exp(record[0] - record[1] * np.log(weight + 1)), 0.0, 0.95)
    return result


def _fit_records(log_weight: Floats, exceeds: Bools) -> Floats:
    (start, precision), seen = PRIOR_RECORD, exceeds.astype(np.float64)
    at = start.copy()
    for _ in range(STEPS):
        chance = np.clip(np.exp(at[0] - at[1] * log_weight), 1e-9, 0.95)
        miss, curve = (seen - chance) / (1 - chance), chance / (1 - chance)
        slope = np.array([miss.sum(), -(miss * log_weight).sum()]) - precision * (at - start)
        cross = -(curve * log_weight).sum()
        bend = np.array([[curve.sum(), cross], [cross, (curve * log_weight**2).sum()]]) + np.diag(precision)
        step = np.clip(np.linalg.solve(bend, slope), -0.5, 0.5)
        at = at + step
        if np.abs(step).max() < 1e-7:
            break
    return at


def _fit_beyond(beyond: Floats, unit: Floats) -> tuple[float, float, float]:
    """Return b2, h and t of (n,) log ratios above 0, `unit` x which is z."""
    z = beyond * unit
    third = 3 * np.log1p(z / 3)
    tail, share, scale = (len(z) + PRIOR_TAIL_RUNS) / (third.sum() + PRIOR_TAIL_RUNS), PRIOR_HEAVY, PRIOR_SCALE
    for _ in range(2 * STEPS):
        stable = (1 - share) * tail / (1 + z / 3) ** (3 * tail + 1) * unit
        heavy = share * np.exp(-beyond / scale) / scale
        own = heavy / (stable + heavy + TINY)
        before = tail, share, scale
        share = (own.sum() + PRIOR_HEAVY * PRIOR_HEAVY_RUNS) / (len(z) + PRIOR_HEAVY_RUNS)
        scale = ((own * beyond).sum() + PRIOR_SCALE * PRIOR_SCALE_RUNS) / (own.sum() + PRIOR_SCALE_RUNS)
        tail = ((1 - own).sum() + PRIOR_TAIL_RUNS) / (((1 - own) * third).sum() + PRIOR_TAIL_RUNS)
        if max(abs(a - b) for a, b in zip(before, (tail, share, scale), strict=True)) < 1e-8:
            break
    return float(tail), float(share), float(scale)
