"""The pair model, the learner and what they are compared with, on planted workloads."""

import numpy as np
import pytest

from tests.phases.planted_runs import COUNTERS, planted
from workprof.core.errors import NotEnoughData
from workprof.phases.detector import fit_detector, fit_pair_model
from workprof.phases.fingerprints import FingerprintSettings, feature_vectors, fingerprints_of
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
    model = fit_pair_model(feature_vectors(train), numbers(train), 0)
    assert (model.unlikeness(feature_vectors(test)).argmin(axis=1) == numbers(test)).all()
    learner = fit_learner(train, 0)
    best = [learner.workloads[i] for i in learner.probabilities(test).argmax(axis=1)]
    assert np.mean([a == b.workload for a, b in zip(best, test, strict=True)]) > 0.8


def test_models_repeat_with_their_seed(prints):
    one, again, other = (fit_pair_model(feature_vectors(prints), numbers(prints), seed) for seed in (1, 1, 2))
    asked = feature_vectors(prints[:4])
    assert np.array_equal(one.unlikeness(asked), again.unlikeness(asked))
    assert not np.array_equal(one.unlikeness(asked), other.unlikeness(asked))


def test_the_limit_keeps_known_runs_and_rejects_a_workload_that_was_left_out(prints):
    known = tuple(one for one in prints if one.workload != "w4")
    detector = fit_detector(feature_vectors(known), [one.workload for one in known], LibrarySettings())
    strange = tuple(one for one in prints if one.workload == "w4")
    assert (detector.model.unlikeness(feature_vectors(strange)).min(axis=1) > detector.limit).all()
    assert detector.limits.right.mean() > 0.9
    given = fit_detector(
        feature_vectors(known), [one.workload for one in known], LibrarySettings(match=MatchSettings(c=2.0))
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
        fit_pair_model(feature_vectors(prints[:5]), numbers(prints[:5]), 0)
    with pytest.raises(NotEnoughData, match="two runs of at least two workloads"):
        fit_pair_model(feature_vectors(prints[::5]), numbers(prints[::5]), 0)
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


def test_splits_hold_back_runs_of_every_workload():
    labels = ["a"] * 4 + ["b"] * 10 + ["c"]
    for split in stratified_splits(labels, 5, 0.3, 0):
        assert sorted(np.array(labels)[split.test]) == ["a"] + ["b"] * 3
        assert set(split.train) | set(split.test) == set(range(15))
        assert not set(split.train) & set(split.test)
    again = stratified_splits(labels, 5, 0.3, 0)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(stratified_splits(labels, 5, 0.3, 0), again, strict=True))
