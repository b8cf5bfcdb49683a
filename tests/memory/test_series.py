"""Series taken apart: planted trends, seasons, steps and anomalies are found, in noise nothing is."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from workprof.core.units import DAY_S
from workprof.memory.demand import LEVEL, forecast
from workprof.memory.series import _alike, _trend, bridged, continued, taken_apart
from workprof.synthetic.demand import MONDAY_S, DemandTrace, demand_trace

WEEKS = [("week", 7, 0)]
EFFECTS = np.array([6.0, 4, 2, 0, -2, -4, -6])


def drawn(n_draws, days, name, period):
    """Yield (parts, truth) of the arrivals of drawn traces, in bins of which a season has so many."""
    width = {"week": 7 * DAY_S, "day": DAY_S}[name] / period
    for seed in range(n_draws):
        jobs, truth = demand_trace(DemandTrace(days=days, seed=seed))
        bins = ((jobs["start_time_s"] - MONDAY_S) // width).astype(int)
        yield taken_apart(np.bincount(bins).astype(float), [(name, period, 0)]), truth


@pytest.mark.slow
def test_trend_season_and_anomalies_that_were_planted_are_within_their_intervals_and_found():
    trend, season, hits, alarms, misses = [], [], 0, 0, 0
    for parts, truth in drawn(200, 84, "week", 7):
        trend.append(parts.trend.low <= truth.per_week / 7 <= parts.trend.high)
        season += [float((np.abs(one.effects - truth.week) <= one.reach).mean()) for one in parts.seasons]
        told, planted = set(parts.anomalies.tolist()), set(truth.bursts.tolist())
        hits, alarms, misses = hits + len(told & planted), alarms + len(told - planted), misses + len(planted - told)
    assert np.mean(trend) >= 0.9
    assert len(season) >= 190 and np.mean(season) >= 0.9
    assert 2 * hits / (2 * hits + alarms + misses) >= 0.9
    assert alarms / (200 * 84) <= 0.01


@pytest.mark.slow
def test_seasons_of_a_day_are_found_in_hours():
    found = [(parts.seasons[0], truth) for parts, truth in drawn(40, 21, "day", 24)]
    within = [float((np.abs(season.effects - truth.day) <= season.reach).mean()) for season, truth in found]
    assert np.mean(within) >= 0.9


def test_steps_and_anomalies_are_told_apart():
    rng = np.random.default_rng(0)
    at = np.arange(120)
    values = rng.poisson(60 + EFFECTS[at % 7] + np.where(at >= 70, 30, 0)).astype(float)
    values[[20, 90]] *= 2.2
    parts = taken_apart(values, WEEKS)
    assert len(parts.changes) == 1 and abs(parts.changes[0] - 70) <= 2
    assert parts.anomalies.tolist() == [20, 90]


def test_noise_has_no_season_few_trends_and_no_steps():
    rng = np.random.default_rng(1)
    found = [taken_apart(rng.normal(50, 5, 98), WEEKS) for _ in range(40)]
    assert sum(bool(one.seasons) for one in found) <= 2
    assert sum(len(one.changes) > 0 for one in found) <= 1
    assert sum(one.trend.sure for one in found) <= 4
    assert sum(len(one.anomalies) for one in found) <= 0.01 * 98 * 40


def test_a_season_without_noise_is_exact():
    at = np.arange(84)
    parts = taken_apart(50 + 0.5 * at + EFFECTS[(at + 3) % 7], [("week", 7, 3)])
    assert parts.seasons[0].effects == pytest.approx(EFFECTS, abs=1e-6)
    assert parts.trend.per_bin == pytest.approx(0.5, abs=1e-6)
    assert not len(parts.anomalies) and not len(parts.changes)


@pytest.mark.parametrize("values", [np.full(60, 5.1), np.zeros(60), np.full(9, 0.3)])
def test_what_never_moves_has_nothing(values):
    parts = taken_apart(values, WEEKS)
    assert parts.seasons == () and not len(parts.changes) and not len(parts.anomalies)
    assert parts.trend.per_bin == 0 and not parts.trend.sure
    assert parts.expected == pytest.approx(values)


def test_bursts_among_zeros_are_anomalies():
    values = np.zeros(138)
    values[[11, 24, 110]] = 13, 15, 20
    assert taken_apart(values, WEEKS).anomalies.tolist() == [11, 24, 110]


def test_the_trend_is_the_median_of_all_slopes_and_its_interval_theirs():
    values = np.random.default_rng(2).normal(0, 1, 25) + 0.1 * np.arange(25)
    slopes = sorted((values[b] - values[a]) / (b - a) for a, b in itertools.combinations(range(25), 2))
    found = _trend(values)
    assert found.per_bin == pytest.approx(np.median(slopes))
    n = len(values)
    half = norm.isf(0.025) * math.sqrt(_alike(values - found.per_bin * np.arange(n)) * n * (n - 1) * (2 * n + 5) / 18)
    ends = min(round((len(slopes) + half) / 2), len(slopes) - 1), max(round((len(slopes) - half) / 2) - 1, 0)
    assert (found.high, found.low) == pytest.approx([slopes[end] for end in ends])


def test_neighbours_that_are_alike_widen_the_interval_as_a_loop_says():
    rng = np.random.default_rng(3)
    values = np.zeros(80)
    for at in range(1, 80):
        values[at] = 0.7 * values[at - 1] + rng.normal()
    ranks = np.argsort(np.argsort(values)) + 1 - 81 / 2
    total = 0.0
    for lag in range(1, 21):
        alike = sum(ranks[at] * ranks[at + lag] for at in range(80 - lag)) / sum(ranks**2)
        if abs(alike) > 1.96 / math.sqrt(80):
            total += (80 - lag) * (79 - lag) * (78 - lag) * alike
    assert _alike(values) == pytest.approx(1 + 2 / (80 * 79 * 78) * total) and _alike(values) > 1.5
    assert _alike(rng.permutation(values)) < 1.5


def test_gaps_are_bridged():
    assert bridged(np.array([np.nan, 1, np.nan, 3, np.nan])).tolist() == [1, 1, 2, 3, 3]


def test_what_comes_is_the_last_level_with_line_and_season():
    at = np.arange(112)
    values = np.where(at < 60, 20.0, 50.0) + EFFECTS[at % 7]
    days, flat, told = continued(values, WEEKS, 14)
    assert told and days == pytest.approx(50 + EFFECTS[np.arange(112, 126) % 7], abs=1.0)
    assert flat == pytest.approx(np.full(14, 50.0), abs=1.0)


def future(kind, rng):
    at = np.arange(126 + 28)
    rate = {
        "season": 60 + 2.5 * EFFECTS[at % 7] + 0.15 * at,
        "trend": 40 + 0.4 * at,
        "noise": np.full(len(at), 60.0),
    }[kind]
    values = rng.poisson(rate).astype(float)
    values[rng.choice(126, 3, replace=False)] *= 2
    return values[:126], values[126:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["season", "trend"])
def test_a_forecast_that_is_shown_beats_the_last_week_in_weeks_that_nobody_saw(kind):
    rng = np.random.default_rng(4)
    errors, naive, within = [], [], []
    for _ in range(12):
        past, later = future(kind, rng)
        found = forecast(past, WEEKS, 4)
        if found.why_not:
            continue
        assert found.error < min(found.error_naive, found.error_level)
        errors.append(np.abs(found.days - later).mean())
        naive.append(np.abs(np.tile(past[-7:], 4) - later).mean())
        weeks = later.reshape(4, 7).mean(axis=1)
        within += ((found.low <= weeks) & (weeks <= found.high)).tolist()
    assert len(errors) >= 8
    assert np.mean(errors) < 0.85 * np.mean(naive)
    assert np.mean(within) >= 0.8


@pytest.mark.slow
def test_no_forecast_of_noise_is_shown():
    rng = np.random.default_rng(5)
    found = [forecast(future("noise", rng)[0], WEEKS, 4) for _ in range(20)]
    shown = [one for one in found if not one.why_not]
    assert len(shown) <= 1
    assert all(one.why_not == LEVEL or len(one.weeks) == 0 for one in found if one.why_not)
