"""Fingerprints: planted phases, statistics against their plain definitions, padding, training parts."""

import warnings

import numpy as np
import pytest

from tests.phases.planted_runs import COUNTERS, planted, samples_of
from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.records import pack, unpack
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.fingerprints import (
    STATISTICS,
    FingerprintSettings,
    RenormalisedRuns,
    adf_statistic,
    can_renormalise,
    fingerprint,
    fingerprints_of,
    fit_normaliser,
    phase_statistics,
    stretches_of,
)
from workprof.phases.runs import runs_of

SETTINGS = FingerprintSettings()


@pytest.mark.parametrize(
    ("series", "statistic"), [([0, 1, 0, 2, 1, 3], -1.5627711), ([1, 2, 1, 3, 2, 2, 1, 4], -3.4187333)]
)
def test_adf_of_the_worked_values(series, statistic):
    assert adf_statistic(np.array(series, dtype=float)) == pytest.approx(statistic, abs=1e-7)


def test_adf_equals_statsmodels():
    from statsmodels.tsa.stattools import adfuller

    draw = np.random.default_rng(0)
    for n in (6, 15, 40):
        series = draw.normal(size=n).cumsum() * 0.3 + draw.normal(size=n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = adfuller(series, maxlag=0, regression="c", autolag=None)[0]
        assert adf_statistic(series) == pytest.approx(float(np.clip(wanted, -10, 10)), abs=1e-9)


@pytest.mark.parametrize("series", [[], [1.0], [1.0, 2, 3, 4], [5.0] * 9, [0.0, 1, 2, 3, 4, 5, 6]])
def test_adf_is_zero_where_it_says_nothing(series):
    assert adf_statistic(np.array(series)) == 0


def test_statistics_of_phases_are_what_numpy_says():
    series = np.random.default_rng(1).normal(size=23)
    found = phase_statistics(series, np.array([9]))
    for row, piece in zip(found, (series[:9], series[9:]), strict=True):
        wanted = [piece.mean(), np.median(piece), piece.var(), adf_statistic(piece)]
        assert np.allclose(row, [*wanted, *np.quantile(piece, (0.1, 0.25, 0.75, 0.9))])


def test_shares_of_the_other_distribution_add_up():
    found = phase_statistics(np.array([-0.1, 0.3, 0.7, 1.5, -5.0]), np.array([], dtype=np.int64), "hist")
    assert found.shape == (1, len(STATISTICS["hist"]))
    assert found[0, 4:].tolist() == [0.2, 0.2, 0.2, 0.2, 0.2]


def test_missing_samples_are_left_out_of_statistics():
    found = phase_statistics(np.array([1.0, np.nan, 3, np.nan, np.nan]), np.array([3]))
    assert found[0, 0] == 2
    assert (found[1] == 0).all()


def test_planted_phases_are_found_and_padding_is_told_from_phases():
    step = np.repeat([2.0, 50], 15) + np.random.default_rng(2).normal(0, 0.1, 30)
    flat = 5 + np.random.default_rng(3).normal(0, 0.1, 30)
    runs = runs_of(samples_of({("w", "1"): {"step": step, "flat": flat, "fixed": 1.0}}), ("step", "flat", "fixed"))
    found = fingerprints_of(runs, SETTINGS).prints[0]
    assert found.n_phases.tolist() == [2, 1, 1]
    assert found.boundaries_of(0).tolist() == [15]
    assert found.values.shape == (3, 2, 8)
    assert (found.values[1, 1] == 0).all()
    assert found.flags.tolist() == [False, False, True]
    assert found.weights_of(0).tolist() == [0.5, 0.5]


def test_digests_are_mean_and_deviation_of_the_whole_run():
    runs = runs_of(planted(2, 2), COUNTERS)
    settings = FingerprintSettings(log=False)
    known = fit_normaliser(runs.runs, COUNTERS, settings)
    for run in runs.runs:
        whole = (run.values - known.mean[:, None]) / known.sd[:, None]
        wanted = np.concatenate([whole.mean(axis=1), whole.std(axis=1)])
        assert np.allclose(stretches_of(fingerprint(run, known, settings)).digest, wanted)


def test_moved_fingerprints_equal_those_made_anew():
    runs = runs_of(planted(3, 3, seed=4), COUNTERS)
    found, others = RenormalisedRuns(runs, SETTINGS).of([0, 3, 6], [1, 8])
    known = fit_normaliser([runs.runs[i] for i in (0, 3, 6)], COUNTERS, SETTINGS)
    for i, one in zip((0, 3, 6, 1, 8), (*found.prints, *others), strict=True):
        anew = fingerprint(runs.runs[i], known, SETTINGS)
        assert np.allclose(one.values, anew.values)
        assert one.n_phases.tolist() == anew.n_phases.tolist()
        assert np.array_equal(one.starts, anew.starts)


def test_what_depends_on_mean_and_deviation_is_made_anew():
    assert can_renormalise(SETTINGS)
    for other in (
        FingerprintSettings(absolute=True),
        FingerprintSettings("run"),
        FingerprintSettings(distribution="hist"),
        FingerprintSettings(change_points=ChangePointSettings(mode="faithful")),
    ):
        assert not can_renormalise(other)
    runs = runs_of(planted(2, 2), COUNTERS)
    absolute = FingerprintSettings(absolute=True)
    found, _ = RenormalisedRuns(runs, absolute).of([0, 2], [1])
    assert np.array_equal(found.prints[0].values, fingerprint(runs.runs[0], found.normaliser, absolute).values)


def test_a_counter_that_is_constant_in_training_is_zero_in_a_run_where_it_moves():
    draw = np.random.default_rng(5)
    still = {"a": draw.normal(5, 1, 30), "b": 2.0}
    moves = {"a": draw.normal(5, 1, 30), "b": np.repeat([2.0, 9], 15)}
    runs = runs_of(samples_of({("w", "1"): still, ("w", "2"): still, ("v", "1"): moves}), ("a", "b"))
    found, (one,) = RenormalisedRuns(runs, SETTINGS).of([1, 2], [0])
    assert found.normaliser.constant == ("b",)
    assert (one.values[1] == 0).all()
    assert one.n_phases[1] == 1


def test_permuting_the_counters_permutes_the_fingerprint():
    samples = planted(2, 2)
    order = COUNTERS[::-1]
    one, other = (fingerprints_of(runs_of(samples, names), SETTINGS).prints[0] for names in (COUNTERS, order))
    assert np.allclose(one.values, other.values[::-1])


def test_fingerprints_can_be_kept():
    found = fingerprints_of(runs_of(planted(2, 2), COUNTERS), SETTINGS)
    again = unpack(type(found), pack(found))
    assert np.array_equal(again.prints[1].values, found.prints[1].values)
    assert again.normaliser.counters == found.normaliser.counters


@pytest.mark.slow
@needs_shared_data
def test_real_runs_have_several_phases_and_finite_statistics():
    import pandas as pd

    samples = pd.read_csv(FOLDER / "telemetry" / "runs.csv")
    runs = runs_of(samples[samples["workload"].isin(["redis", "compress"])])
    assert len(runs.counters) == 72
    for one in fingerprints_of(runs, SETTINGS).prints:
        assert np.isfinite(one.values).all()
        assert 2 <= one.phases <= 8
