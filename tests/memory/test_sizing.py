"""Our policy: equal to its slow version, and right where the truth is planted."""

import numpy as np
import pytest

from tests.memory.naive_sizing import first_sizes
from workprof.core.errors import SettingsError
from workprof.memory.policies import CAUTIOUS, DEFAULT, Sequence, SizingSettings, Workprof
from workprof.memory.retry import RetrySettings

RETRY = RetrySettings()


def sequence(used, hours, inputs, n_known):
    asked = np.full(len(used), np.nan)
    return Sequence("t", used, hours, asked, inputs, n_known, float((used * hours)[:n_known].mean()))


def planted(n=60, n_known=20, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    inputs = rng.lognormal(3, 1, n)
    return sequence(1e9 * (0.5 + inputs / 10) * rng.lognormal(0, noise, n), rng.lognormal(0, 0.5, n), inputs, n_known)


@pytest.mark.slow
def test_equals_the_slow_version_on_few_runs():
    runs = planted(18, 12, 3)
    np.testing.assert_allclose(Workprof(DEFAULT).sizes(runs, RETRY).first_bytes, first_sizes(runs, DEFAULT), rtol=1e-9)


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("settings", [DEFAULT, CAUTIOUS, SizingSettings(price_runs=5.0, quorum=0.9)])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.soak)])
def test_equals_the_slow_version(settings, seed):
    runs = planted(32, 14, seed)
    found = Workprof(settings).sizes(runs, RETRY).first_bytes
    np.testing.assert_allclose(found, first_sizes(runs, settings), rtol=1e-9)


def test_a_line_is_found_and_followed():
    """Use = 0.5 GB + input / 10 without noise: after the history nothing fails and hardly anything is wasted."""
    runs = planted(noise=0.0)
    found = Workprof(DEFAULT).sizes(runs, RETRY).first_bytes
    used = runs.used_bytes[runs.n_known :]
    assert (found >= used * (1 - 1e-9)).all()
    assert np.median(found / used) < 1.03


def test_two_sizes_of_one_task_pay_for_the_small_one_only_where_it_is_cheaper():
    """9 of 10 runs use 1 GB, one uses 10: start small. 9 of 10 use 9 GB: start large."""
    rng = np.random.default_rng(0)
    for share, large, start in ((0.1, 10e9, 1e9), (0.9, 9e9, 9e9)):
        used = np.where(rng.random(200) < share, large, 1e9)
        runs = sequence(used, np.ones(200), np.zeros(200), 60)
        found = Workprof(SizingSettings(price_runs=0.0)).sizes(runs, RETRY).first_bytes
        assert np.median(found) == pytest.approx(start, rel=0.06)


def test_cheap_attempts_are_risked():
    """Where a failed attempt dies at once, smaller sizes are tried first."""
    runs = sequence(np.random.default_rng(0).lognormal(21, 0.5, 150), np.ones(150), np.zeros(150), 50)
    policy = Workprof(SizingSettings(price_runs=0.0, by_input=False))
    soon = policy.sizes(runs, RetrySettings(time_to_failure=0.0)).first_bytes
    late = policy.sizes(runs, RetrySettings(time_to_failure=1.0)).first_bytes
    assert np.median(soon) < np.median(late)


def test_price_raises_sizes_and_tight_tasks_get_little_headroom():
    tight = sequence(1e9 * (1 + 1e-3 * np.random.default_rng(0).random(100)), np.ones(100), np.zeros(100), 50)
    loose = sequence(np.random.default_rng(0).lognormal(20, 0.5, 100), np.ones(100), np.zeros(100), 50)
    over = {}
    for name, runs in (("tight", tight), ("loose", loose)):
        sizes = [Workprof(SizingSettings(price_runs=p, by_input=False)).sizes(runs, RETRY) for p in (0.0, 10.0, 1000.0)]
        medians = [float(np.median(one.first_bytes)) for one in sizes]
        assert medians == sorted(medians)
        over[name] = medians[-1] / runs.used_bytes.max()
    assert over["tight"] < 1.2
    assert over["loose"] > 1.3


def test_steps_rise_and_end_above_the_largest_seen():
    runs = planted()
    found = Workprof(DEFAULT).sizes(runs, RETRY)
    assert (np.diff(found.steps_bytes, axis=1) >= 0).all()
    assert (found.steps_bytes[:, 1] >= 1.05 * runs.max_seen_bytes).all()


def test_a_heavier_tail_is_lifted_further_after_a_failure():
    """A run above all seen ones: little above them where the largest are alike, far where they are far apart."""
    lifts = []
    for spread in (0.001, 0.05, 0.5):
        used = 1e9 * np.random.default_rng(0).lognormal(0, spread, 60)
        runs = sequence(used, np.ones(60), np.zeros(60), 30)
        found = Workprof(SizingSettings(lift=1.0)).sizes(runs, RETRY).steps_bytes[:, 1]
        lifts.append(float(np.median(found / runs.max_seen_bytes)))
    assert lifts == sorted(lifts)
    assert lifts[0] < 1.1
    assert lifts[2] > 1.3


def test_cautious_stays_between_runs_alike_and_the_size_of_krr():
    runs = planted(120, 40, noise=0.02)
    found = Workprof(CAUTIOUS).sizes(runs, RETRY).first_bytes
    krr = 1.15 * runs.max_seen_bytes
    assert (found <= krr * (1 + 1e-12)).mean() > 0.9  # more only where it costs next to nothing
    assert found.mean() < 0.5 * krr.mean()
    assert (found < runs.used_bytes[40:]).sum() <= (krr < runs.used_bytes[40:]).sum()


def test_cautious_follows_no_line_below_the_smallest_input_seen():
    """Use rises with the input and is level below it: a small input alone is no evidence of a small run."""
    inputs = np.concatenate([np.linspace(10, 20, 40), [0.1]])
    runs = sequence(1e8 * np.maximum(inputs, 10.0), np.ones(41), inputs, 40)
    assert Workprof(CAUTIOUS).sizes(runs, RETRY).first_bytes[0] >= runs.used_bytes[:8].max()


def test_the_unit_of_memory_changes_nothing():
    runs = planted()
    scaled = sequence(runs.used_bytes * 1024, runs.hours * 60, runs.inputs, runs.n_known)
    one, other = (Workprof(DEFAULT).sizes(each, RETRY).first_bytes for each in (runs, scaled))
    np.testing.assert_allclose(other, one * 1024, rtol=1e-9)


def test_long_tasks_look_at_their_latest_runs():
    """A task that changes for good is followed; contests get rare and the sizes stay sensible."""
    rng = np.random.default_rng(0)
    used = np.concatenate([rng.normal(8e9, 1e8, 500), rng.normal(1e9, 1e7, 800)])
    runs = sequence(used, np.ones(1300), np.zeros(1300), 10)
    late = Workprof(DEFAULT).sizes(runs, RETRY).first_bytes[-300:]
    assert (late < 1.2e9).all()
    assert (late < used[-300:]).mean() < 0.05


@pytest.mark.parametrize(
    "wrong", [{"price_runs": -1.0}, {"quorum": 0.0}, {"jump_share": 2.0}, {"lift": 0.5}, {"least_scale": 0.0}]
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingsError):
        SizingSettings(**wrong)
