"""The phase model, the learner and what they are compared with, on planted workloads."""

from dataclasses import replace

import numpy as np
import pytest

from tests.phases.planted_runs import COUNTERS, planted, samples_of
from workprof.core.errors import NotEnoughData
from workprof.phases.detector import fit_detector, fit_phase_model
from workprof.phases.fingerprints import FingerprintSettings, fingerprints_of, stretches_of
from workprof.phases.library import LibrarySettings
from workprof.phases.runs import runs_of
from workprof.phases.similarity import MatchSettings
from workprof.phases.trials import baseline_predictions, fit_learner, flattened, stratified_splits

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs():
    return runs_of(planted(5, 5, seed=7), COUNTERS)


@pytest.fixture(scope="module")
def prints(runs):
    return fingerprints_of(runs, FingerprintSettings()).prints


def numbers(prints):
    return np.array([int(one.workload[1:]) for one in prints])


def test_planted_workloads_are_told_apart(prints):
    train, test = prints[::2], prints[1::2]
    model = fit_phase_model([stretches_of(one) for one in train], numbers(train), 0)
    assert (model.unlikeness([stretches_of(one) for one in test]).argmin(axis=1) == numbers(test)).all()
    learner = fit_learner(train, 0)
    best = [learner.workloads[i] for i in learner.probabilities(test).argmax(axis=1)]
    assert np.mean([a == b.workload for a, b in zip(best, test, strict=True)]) > 0.8


def drawn(levels, seed, n_runs=4):
    """Runs of workloads whose two phases have these levels (n_workloads, 2, 8), after the logarithm."""
    draw, runs = np.random.default_rng(seed), {}
    for workload, own in enumerate(levels):
        for run in range(n_runs):
            level = own + draw.normal(0, 0.2, 8)
            change = int(draw.integers(14, 17))
            log = np.repeat(level, [change, 30 - change], axis=0) + draw.normal(0, 0.2, (30, 8))
            runs[f"w{workload}", str(run)] = {
                f"c{i}": np.expm1(np.maximum(column, 0)) for i, column in enumerate(log.T)
            }
    return fingerprints_of(runs_of(samples_of(runs)), FingerprintSettings()).prints


@pytest.mark.parametrize(("apart", "least", "most"), [(0.0, 0.0, 0.4), (2.0, 0.7, 1.0)])
def test_a_pair_is_told_apart_by_one_counter_and_never_by_none(apart, least, most):
    levels = np.random.default_rng(5).normal(5, 1, (6, 2, 8))
    levels[5] = levels[4] + apart * (np.arange(8) == 3)  # ten deviations within workloads
    prints = drawn(levels, 6)
    known = [one for one in prints if one.workload != "w5"]
    detector = fit_detector([stretches_of(one) for one in known], [one.workload for one in known], LibrarySettings())
    asked = [stretches_of(one) for one in prints if one.workload == "w5"]
    assert least <= np.mean(detector.model.unlikeness(asked).min(axis=1) > detector.limit) <= most


def test_models_repeat_with_their_seed(prints):
    known, asked = ([stretches_of(one) for one in prints[first::2]] for first in (0, 1))
    one, again, other = (fit_phase_model(known, numbers(prints[::2]), seed).unlikeness(asked) for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.filterwarnings("error")
def test_runs_that_are_copies_of_each_other_are_recognised(prints):
    known, asked = [one for one in prints[::5] for _ in range(4)], prints[::5]
    model = fit_phase_model([stretches_of(one) for one in known], numbers(known), 0)
    scores = model.unlikeness([stretches_of(one) for one in asked])
    assert np.isfinite(scores).all()
    assert scores.argmin(axis=1).tolist() == numbers(asked).tolist()


def test_the_limit_keeps_known_runs_and_rejects_a_workload_that_was_left_out(prints):
    known = tuple(one for one in prints if one.workload != "w4")
    detector = fit_detector([stretches_of(one) for one in known], [one.workload for one in known], LibrarySettings())
    strange = tuple(one for one in prints if one.workload == "w4")
    assert (detector.model.unlikeness([stretches_of(one) for one in strange]).min(axis=1) > detector.limit).all()
    assert detector.limits.right.mean() > 0.9
    given = fit_detector(
        [stretches_of(one) for one in known],
        [one.workload for one in known],
        LibrarySettings(match=MatchSettings(c=2.0)),
    )
    assert given.c == pytest.approx(2.0)


def test_fingerprints_are_cut_and_padded_to_a_number_of_phases(prints):
    values = prints[0].values
    shape = len(values), prints[0].phases + 2, values.shape[2]
    padded = flattened(prints[:1], shape[1]).reshape(shape)
    assert np.array_equal(padded[:, :-2], values)
    assert not padded[:, -2:].any()
    assert np.array_equal(flattened(prints[:1], 1)[0], values[:, 0].ravel())


def test_longer_runs_are_cut_to_the_phases_of_training(prints):
    short = tuple(one for one in prints if one.phases == min(p.phases for p in prints))
    long = tuple(one for one in prints if one.phases > short[0].phases)
    learner = fit_learner(short, 0) if len({one.workload for one in short}) > 1 else fit_learner(prints, 0)
    assert learner.truncated(long).sum() in (0, len(long))
    assert np.allclose(learner.probabilities(prints).sum(axis=1), 1)


def test_one_workload_or_one_run_of_each_teaches_nothing(prints):
    with pytest.raises(NotEnoughData, match="two runs of at least two workloads"):
        fit_phase_model([stretches_of(one) for one in prints[:5]], numbers(prints[:5]), 0)
    with pytest.raises(NotEnoughData, match="two runs of at least two workloads"):
        fit_phase_model([stretches_of(one) for one in prints[::5]], numbers(prints[::5]), 0)
    with pytest.raises(NotEnoughData, match="at least two"):
        fit_learner(prints[:5], 0)


def test_baselines(runs):
    train, test = runs.runs[::2], runs.runs[1::2]
    found = baseline_predictions(train, test, 0)
    truth = [run.workload for run in test]
    assert len(set(found["majority"])) == 1
    means = np.array([run.values.mean(axis=1) for run in train])
    scale = (means - means.mean(axis=0)) / means.std(axis=0)
    asked = (np.array([run.values.mean(axis=1) for run in test]) - means.mean(axis=0)) / means.std(axis=0)
    nearest = [train[((scale - one) ** 2).sum(axis=1).argmin()].workload for one in asked]
    assert found["nearest_means"] == nearest
    assert np.mean([a == b for a, b in zip(found["boosted_means"], truth, strict=True)]) > 0.5


def test_a_counter_that_a_run_lacks_does_not_part_it_from_its_like(runs):
    def lacking(run, counter):
        return replace(run, values=np.where(np.arange(len(COUNTERS))[:, None] == counter, np.nan, run.values))

    train, test = runs.runs[::2], runs.runs[1::2]
    for counter in range(len(COUNTERS)):
        some = baseline_predictions(train, [lacking(run, counter) for run in test], 0)
        assert some["nearest_means"] == [run.workload for run in test]
        if counter < 2:
            nobody = baseline_predictions([lacking(run, counter) for run in train], test, 0)
            assert nobody["nearest_means"] == some["nearest_means"]


def test_splits_hold_back_runs_of_every_workload():
    labels = ["a"] * 4 + ["b"] * 10 + ["c"]
    for split in stratified_splits(labels, 5, 0.3, 0):
        assert sorted(np.array(labels)[split.test]) == ["a"] + ["b"] * 3
        assert set(split.train) | set(split.test) == set(range(15))
        assert not set(split.train) & set(split.test)
    again = stratified_splits(labels, 5, 0.3, 0)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(stratified_splits(labels, 5, 0.3, 0), again, strict=True))
