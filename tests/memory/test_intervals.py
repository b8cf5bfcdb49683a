"""Intervals: published ones, coverage on drawn data, and what is too few."""

import numpy as np
import pytest

from workprof.core.errors import SettingsError
from workprof.core.stats import MOST_BLOCKS, saving_interval, too_few, wilson


@pytest.mark.parametrize(("events", "low", "high"), [(0, 0.0, 0.87), (1, 0.04, 1.28), (5, 0.5, 2.6), (9, 1.1, 3.8)])
def test_wilson_of_440(events, low, high):
    """In per cent."""
    found = wilson(events, 440)
    assert (100 * found.low, 100 * found.high) == pytest.approx((low, high), abs=0.06)


def test_wilson_covers():
    rng = np.random.default_rng(0)
    inside = [wilson(float(k), 60).low <= 0.1 <= wilson(float(k), 60).high for k in rng.binomial(60, 0.1, 2000)]
    assert 0.93 <= np.mean(inside) <= 0.98


def test_wilson_of_nothing():
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    with pytest.raises(SettingsError):
        wilson(1, 2, 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, MOST_BLOCKS * 3])
def test_saving_covers_its_truth(n):
    """Runs save 20 % of their own size on average; the interval of each of 60 tables holds that about 57 times."""
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        before = rng.lognormal(0, 0.5, n)
        after = before * rng.uniform(0.6, 1.0, n)
        found = saving_interval(after, before, seed)
        held += found.low <= 0.2 <= found.high
    assert held >= 52


def test_saving_of_nothing():
    assert np.isnan(saving_interval(np.zeros(0), np.zeros(0)).low)
    assert np.isnan(saving_interval(np.ones(3), np.zeros(3)).high)


def test_too_few():
    assert too_few(33)
    assert not too_few(34)
