"""Planted steps of 3 noise sd are found where they are, and pure noise has none, in the default setting.

A draw counts as right when the changes found are as many as planted, each within 2 samples.
docs/results.md has the shares of more draws (`python -m tests.docs.recognition steps`).

The plain priors of `mode="faithful"` report a change in a quarter of the noise of 30 samples.
"""

import numpy as np
import pytest

from workprof.phases.changepoints import ChangePointSettings, change_points

pytestmark = pytest.mark.slow

DRAWS = 500
DEFAULT = ChangePointSettings()


def planted(n_samples, cuts, seed, draws=DRAWS):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(draws, n_samples))
    for cut in cuts:
        y[:, cut:] += 3 * rng.choice([-1, 1], size=(draws, 1))
    return y


def standardised(y):
    return (y - y.mean(axis=1, keepdims=True)) / y.std(axis=1, keepdims=True)


def trained(y):
    """By a level and a spread of other runs, as a library does; the signs are kept."""
    return (y + 40.0) / 250.0


def folded(y):
    """The same with the absolute value, at a level that noise does not take to the other side."""
    return np.abs((y - 12.0) / 4.0)


def right_share(found, cuts):
    each = [found.boundaries_of(i).tolist() for i in range(len(found.offsets) - 1)]
    right = [len(b) == len(cuts) and all(abs(x - c) <= 2 for x, c in zip(b, cuts, strict=True)) for b in each]
    return np.mean(right)


LENGTHS = [30, 300, pytest.param(3600, marks=pytest.mark.soak)]


@pytest.mark.parametrize("n_samples", LENGTHS)
@pytest.mark.parametrize("steps", [1, 2])
def test_steps_are_found_where_they_are(n_samples, steps):
    cuts = [n_samples * (i + 1) // (steps + 1) for i in range(steps)]
    assert right_share(change_points(planted(n_samples, cuts, steps)), cuts) >= 0.95


@pytest.mark.parametrize("n_samples", LENGTHS)
def test_pure_noise_has_no_change(n_samples):
    assert np.mean(change_points(planted(n_samples, [], 3)).n_phases > 1) <= 0.05


@pytest.mark.parametrize("normalised", [standardised, trained, folded])
@pytest.mark.parametrize("n_samples", [30, 120])
def test_the_same_holds_for_normalised_counters(normalised, n_samples):
    cuts = [n_samples // 2]
    assert right_share(change_points(normalised(planted(n_samples, cuts, 4))), cuts) >= 0.95
    assert np.mean(change_points(normalised(planted(n_samples, [], 5))).n_phases > 1) <= 0.05


@pytest.mark.parametrize("n_samples", [30, 300])
def test_the_path_is_as_good(n_samples):
    """Not at every length: of 120 samples of noise the path finds a change in 7 %, the default in 3 %."""
    path = ChangePointSettings(readout="path")
    cuts = [n_samples // 2]
    assert right_share(change_points(planted(n_samples, cuts, 6), path), cuts) >= 0.95
    assert np.mean(change_points(planted(n_samples, [], 7), path).n_phases > 1) <= 0.05


def test_plain_priors_are_not():
    faithful = ChangePointSettings(mode="faithful")
    assert np.mean(change_points(planted(30, [], 8), faithful).n_phases > 1) > 0.15


def test_neither_level_nor_unit_of_a_counter_matters():
    y = planted(120, [40, 80], 9, draws=40)
    units = np.random.default_rng(0).uniform(-9, 9, 40)
    moved = y * np.exp(units)[:, None] + 100 * units[:, None]
    assert change_points(moved).starts.tolist() == change_points(y).starts.tolist()


def test_a_change_of_the_spread_is_a_phase():
    y = np.random.default_rng(10).normal(size=(100, 120))
    y[:, 60:] *= 6
    found = change_points(y)
    assert np.mean([np.any(np.abs(found.boundaries_of(i) - 60) <= 8) for i in range(100)]) >= 0.9


def test_joint_phases_find_what_no_single_counter_shows():
    y = np.random.default_rng(11).normal(size=(40, 60))
    y[:, 30:] += 0.5
    joint = change_points(y, ChangePointSettings(phases="joint"))
    assert {tuple(joint.boundaries_of(i)) for i in range(40)} == {(30,)}
    assert np.mean(change_points(y).n_phases > 1) < 0.5


@pytest.mark.parametrize("method", ["pelt", "binseg", "kernel"])
def test_the_alternatives_find_a_step(method):
    chosen = ChangePointSettings(method=method)
    assert right_share(change_points(planted(30, [15], 12, draws=200), chosen), [15]) >= 0.9
    assert np.mean(change_points(planted(30, [], 13, draws=200), chosen).n_phases > 1) <= 0.1
    joint = change_points(planted(30, [15], 12, draws=5), ChangePointSettings(method=method, phases="joint"))
    assert joint.boundaries_of(0).tolist() == [15]
    assert np.isnan(joint.log_evidence).all()
