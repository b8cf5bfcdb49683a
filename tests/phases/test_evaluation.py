"""Evaluation: planted workloads, another dataset to learn from, figures that must agree with one another."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.phases.planted_runs import planted
from tests.shared_data import FOLDER, needs_shared_data
from workprof.answers.recognition import evaluation_answer, splits_note
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.core.stats import wilson
from workprof.phases.evaluation import Evaluation, EvaluationSettings, evaluate
from workprof.phases.library import LibrarySettings, faithful_library
from workprof.phases.runs import runs_of
from workprof.phases.timeline import DetectSettings, detect
from workprof.phases.trials import stratified_splits

SMALL = EvaluationSettings(splits=2, open_splits=1)


@pytest.fixture(scope="module")
def samples():
    return planted(4, 4, seed=11)


@pytest.fixture(scope="module")
def found(samples):
    told = []
    result = evaluate({"samples": samples}, SMALL, lambda share, message: told.append(share))
    assert told == sorted(told)
    return result


@pytest.mark.slow
def test_planted_workloads_are_recognised(found):
    assert found.known.accuracy == 1.0
    assert found.known.n_test == 8
    assert (np.diag(found.known.confusion) == 2).all()
    assert found.baselines["majority"] == pytest.approx(1 / 4)
    assert set(found.known.learners) == {"pair_model", "boosted_fingerprints", "nearest_ed", "nearest_dtw"}


@pytest.mark.slow
def test_every_workload_is_left_out_once(found):
    assert [one.workload for one in found.unknown] == ["w0", "w1", "w2", "w3"]
    for one in found.unknown:
        assert one.n == 4
        assert one.workload not in one.nearest
        assert sum(one.nearest.values()) == pytest.approx(1)
    assert found.rejected_share == pytest.approx(np.mean([one.rejected_share for one in found.unknown]))
    assert found.rejected_interval == wilson(4 * found.rejected_share, 4)
    ends = found.rejected_interval
    words = evaluation_answer(found).sentence
    assert f"unknown workloads are rejected (95 % interval {ends.low * 100:.0f} to {ends.high * 100:.0f} %)" in words


@pytest.mark.slow
def test_known_runs_that_are_rejected_have_an_interval_by_run(found, samples):
    """Four workloads of four runs: one run of each is held back, and asked again in every training part."""
    assert found.false_reject_interval == wilson(4 * found.false_reject_share, 4)
    n_runs = len({int(run) for split in stratified_splits(runs_of(samples).workloads, 2, 0.3, 0) for run in split.test})
    assert found.known.accuracy_interval == wilson(n_runs * found.known.accuracy, n_runs)
    assert f"Over different runs: 95 % interval {100 * found.known.accuracy_interval.low:.0f}" in splits_note(
        found.known
    )
    asked = samples[samples["run"].isin(["1", "2"])]
    other = evaluate({"train": samples, "samples": asked}, replace(SMALL, trained_elsewhere=True))
    assert other.false_reject_interval == wilson(8 * other.false_reject_share, 8)
    words = evaluation_answer(found).sentence
    assert f"95 % interval {found.false_reject_interval.low * 100:.0f} to" in words


@pytest.mark.slow
def test_curves_fall_as_c_grows(found):
    assert [one.measure for one in found.curves] == ["pair_model", "ed", "dtw", "either", "both"]
    for curve in found.curves:
        assert (np.diff(curve.rejected) <= 0).all()
        assert (np.diff(curve.false_rejects) <= 0).all()
    measure = {one.measure: one for one in found.curves}
    assert (measure["either"].rejected >= measure["both"].rejected).all()


@pytest.mark.slow
def test_distances_inside_each_workload(found):
    assert [one.n_pairs for one in found.distances] == [6] * 4
    assert all(one.ed_mean > 0 and one.dtw_mean > 0 for one in found.distances)


@pytest.mark.slow
def test_evaluations_can_be_kept(found):
    again = unpack(Evaluation, pack(found))
    assert again.unknown == found.unknown
    assert np.array_equal(again.known.confusion, found.known.confusion)


@pytest.mark.slow
def test_another_dataset_to_learn_from(samples):
    train = samples[(samples["workload"] != "w3") & (samples["run"] != "4")]
    test = samples[(samples["workload"] == "w3") | (samples["run"] == "4")]
    found = evaluate({"samples": test, "train": train}, EvaluationSettings(trained_elsewhere=True))
    assert found.known.accuracy == 1.0
    assert (found.known.n_splits, found.known.n_test) == (1, 3)
    assert [(one.workload, one.n) for one in found.unknown] == [("w3", 4)]
    assert len(found.distances) == 3


@pytest.mark.slow
def test_labels_of_tested_runs_decide_nothing_but_the_figures(samples):
    train = samples[samples["run"] != "4"]
    test = samples[samples["run"] == "4"]
    renamed = test.assign(workload=test["workload"].replace({"w0": "strange"}))
    one, other = (
        evaluate({"samples": some, "train": train}, EvaluationSettings(trained_elsewhere=True))
        for some in (test, renamed)
    )
    assert other.unknown[0].nearest == {"w0": 1.0}
    assert one.c == other.c


@pytest.mark.slow
def test_without_a_limit_no_share_is_rejected_and_none_is_not(samples):
    found = evaluate({"samples": samples[samples["run"] != "4"]}, EvaluationSettings(splits=1, open_splits=1))
    shares = [found.rejected_share, found.false_reject_share, found.known.accuracy_with_rejections]
    shares += [one.rejected_share for one in found.unknown]
    assert len(shares) == 7
    assert np.isnan([found.c, *shares]).all()
    assert found.false_reject_interval.high == 1.0


@pytest.mark.slow
def test_workloads_can_be_left_out_together(samples):
    settings = EvaluationSettings(splits=1, open_splits=1, left_out=("w1", "w3"))
    found = evaluate({"samples": samples}, settings)
    assert [(one.workload, one.n) for one in found.unknown] == [("w1", 4), ("w3", 4)]
    assert {name for one in found.unknown for name in one.nearest} <= {"w0", "w2"}
    with pytest.raises(SettingsError, match="cannot be excluded"):
        evaluate({"samples": samples}, EvaluationSettings(splits=1, open_splits=1, left_out=("w9",)))


@pytest.mark.slow
def test_runs_without_a_label_are_left_out_and_counted(samples):
    unlabelled = samples.assign(workload=samples["workload"].replace({"w3": None}))
    found = evaluate({"samples": unlabelled}, EvaluationSettings(splits=1, open_splits=0))
    assert "4 runs without a workload are excluded" in found.notes
    assert found.unknown == ()
    assert np.isnan(found.rejected_share)


@pytest.mark.slow
def test_faithful_evaluation_is_by_distance_and_learner(samples):
    settings = EvaluationSettings(faithful_library(), splits=2, open_splits=1)
    found = evaluate({"samples": samples[samples["workload"] != "w3"]}, settings)
    assert found.mode == "faithful"
    assert found.c == 1.0
    assert [one.measure for one in found.curves] == ["ed", "dtw", "either", "both"]
    assert found.known.accuracy == found.known.learners["boosted_fingerprints"]


def test_too_few_runs_are_refused(samples):
    with pytest.raises(NotEnoughData, match="record two of two"):
        evaluate({"samples": samples[samples["run"] == "1"]}, SMALL)
    with pytest.raises(SettingsError, match="splits is 0"):
        EvaluationSettings(splits=0)


def test_phases_of_one_run_are_in_its_own_unit(samples):
    found = detect({"samples": samples}, DetectSettings("w1/2"))
    run = samples[(samples["workload"] == "w1") & (samples["run"] == "2")]
    first = found.counters[0]
    assert first.start_s[0] == 0
    assert first.end_s[-1] == 30
    assert np.array_equal(first.start_s[1:], first.change_points_s)
    change = int(first.change_points_s[0]) if len(first.change_points_s) else 30
    assert first.mean[0] == pytest.approx(run[first.counter].to_numpy()[:change].mean())


@pytest.mark.soak
@needs_shared_data
def test_real_workloads_are_recognised_better_than_by_any_baseline():
    samples = pd.read_csv(FOLDER / "telemetry" / "runs.csv")
    found = evaluate({"samples": samples}, EvaluationSettings(splits=20, open_splits=2))
    assert len(found.counters) == 72
    assert found.known.accuracy >= 0.95
    assert found.known.accuracy >= max(found.baselines.values())
    assert found.rejected_share >= 0.8
    assert found.false_reject_share <= 0.1


def test_settings_have_the_published_values():
    settings = faithful_library()
    assert (settings.fingerprints.normalise, settings.fingerprints.absolute, settings.fingerprints.log) == (
        "run",
        True,
        False,
    )
    assert (settings.match.c, settings.match.two_sided, settings.match.flat) == (1.0, True, True)
    assert LibrarySettings().mode == "corrected"
