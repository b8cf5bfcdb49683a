"""Simple detectors, distances, probabilities and figures: against slow versions, libraries and planted truth."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, recall_score

from tests.nodes.run_frames import frame_of, simulated
from workprof.core.errors import NotEnoughData
from workprof.nodes.baselines import best_feature_weights, fit_forest, fit_logistic, fit_rule
from workprof.nodes.calibration import (
    AS_GIVEN,
    LabelledVerdicts,
    alarm_threshold,
    average_precision,
    calibrated,
    detector_figures,
    judge,
    learn_calibration,
    logistic,
    p_value_verdict,
    p_values,
    probability_of,
    reliability,
)
from workprof.nodes.detection_data import RULES, detection_data, fold_shares, out_of_fold_scores
from workprof.nodes.histories import first_share, log_values, run_table
from workprof.nodes.parsed_runs import parse_runs
from workprof.synthetic.benchmarks import BenchmarkTraceSettings, benchmark_trace

pytestmark = pytest.mark.slow


def data_from(frame, share=0.6):
    table = run_table(parse_runs(frame))
    return detection_data(table, first_share(table, share), seed=0)


@pytest.fixture(scope="module")
def frame():
    return simulated(nodes=2, repeat=25, seed=1)


@pytest.fixture(scope="module")
def data(frame):
    return data_from(frame)


def test_distances_are_scaled_logarithms_of_ratios_to_the_history(data):
    table, place = data.table, 40
    row = int(data.rows[place])
    column = table.parsed.metrics.index(f"{table.parsed.benchmark[row]}.latency_avg")
    past = data.histories.normal_before(row, data.known_normal)
    ratio = np.log(table.values[row, column] / np.median(table.values[past, column]))
    scale = data.scale.spread[0, table.type_id[row], column]
    assert data.distances.to_median[place, column] == pytest.approx(ratio / scale)
    assert np.isfinite(log_values(table, data.scale.floor)[row, column])


def test_distances_do_not_depend_on_the_unit(data):
    """Every metric in another unit: the same distances, because they are of ratios."""
    import dataclasses

    other = dataclasses.replace(data.table, values=data.table.values * 1024.0)
    again = detection_data(other, first_share(other, 0.6), seed=0)
    np.testing.assert_allclose(again.distances.to_median, data.distances.to_median, atol=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_rules_rank_stressed_runs_first(data, name):
    scores = fit_rule(data, name).out_of_fold
    assert average_precision(scores, data.anomalous) > 0.8


def test_fitted_detectors_beat_the_rules_on_later_runs(data):
    test = np.flatnonzero(~data.train & data.table.usable)
    truth = data.table.label[test] == 1
    weights = best_feature_weights(data, seed=0)
    told = {}
    for name, fitted in (
        ("logistic", fit_logistic(data, weights)),
        ("isolation-forest", fit_forest(data, 0)),
        ("robust-z", fit_rule(data, "robust-z")),
    ):
        detector = calibrated(data, name, fitted, 0.05)
        judged = judge(data, fitted.score, detector.verdict, test)
        told[name] = f1_score(truth, judged.flag[test])
    assert told["logistic"] >= max(0.9, told["robust-z"])
    assert told["isolation-forest"] > 0.7


def test_each_fold_is_scored_by_a_model_that_has_not_seen_it(data):
    shares = fold_shares(data)
    dealt, later = out_of_fold_scores(data, shares)
    assert (dealt == 0).all()
    assert (later[data.time_block > 0] == 0).all()
    assert np.isnan(later[data.time_block == 0]).all()


def judged_by(frame, name):
    data = data_from(frame)
    fitted = fit_logistic(data, best_feature_weights(data, 0)) if name == "logistic" else fit_rule(data, name)
    test = np.flatnonzero(~data.train & data.table.usable)
    return data, judge(data, fitted.score, calibrated(data, name, fitted, 0.05).verdict, test)


@pytest.mark.parametrize("name", ["logistic", "ewma"])
def test_a_verdict_never_depends_on_later_runs(frame, name):
    data, before = judged_by(frame, name)
    judged = np.flatnonzero(np.isfinite(before.value))
    cut = np.median(data.table.parsed.started_s[judged])
    later = frame["started_s"] > cut
    assert not data.train[later.to_numpy()].all()
    changed = frame.copy()
    swapped = later & ~data.train
    numbers = changed.loc[swapped, "stdout"].str.replace(
        r"\b([1-9])", lambda found: str(10 - int(found[1])), regex=True
    )
    changed.loc[swapped, "stdout"] = numbers
    changed.loc[swapped, "stressed"] = True
    again = judged_by(changed, name)[1]
    same = judged[data.table.parsed.started_s[judged] <= cut]
    assert len(same) > 30
    np.testing.assert_array_equal(again.value[same], before.value[same])
    assert not np.array_equal(again.value, before.value, equal_nan=True)


@pytest.mark.soak
def test_the_order_of_rows_and_the_names_of_nodes_change_nothing(frame):
    _, before = judged_by(frame, "logistic")
    turned = frame.iloc[::-1].reset_index(drop=True)
    _, turned_verdicts = judged_by(turned, "logistic")
    np.testing.assert_allclose(turned_verdicts.value[::-1], before.value, atol=1e-9)
    renamed = frame.assign(node=frame["node"].map({"node-1": "zeta", "node-2": "alpha"}))
    np.testing.assert_allclose(judged_by(renamed, "logistic")[1].value, before.value, atol=1e-6)


def test_no_history_no_verdict():
    with pytest.raises(NotEnoughData, match="three earlier normal runs"):
        data_from(simulated(nodes=2, repeat=5, seed=0))


def test_runs_of_other_parameters_are_not_pooled(frame):
    other = frame.copy()
    other.loc[::2, "argv"] = other.loc[::2, "argv"].str.replace("--bs=256k", "--bs=4k")
    table = run_table(parse_runs(other))
    assert len(np.unique(table.cell)) == len(np.unique(table.group)) + 2


def test_platt_recovers_a_logistic_curve():
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 2, 190)
    anomalous = rng.random(190) < logistic(1.5 * scores - 1)
    found = learn_calibration(scores, anomalous)
    assert found.method == "platt"
    assert found.slope == pytest.approx(1.5, abs=0.5)
    assert probability_of(found, np.array([-50.0, 50.0])) == pytest.approx([0, 1], abs=1e-6)
    backwards = learn_calibration(-scores, anomalous)
    assert backwards.slope == 0, "a score that points the wrong way says nothing"


def test_many_runs_get_an_isotonic_curve_that_holds():
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 2, 4000)
    truth = logistic(scores**3)
    found = learn_calibration(scores[:2000], rng.random(2000) < truth[:2000])
    assert found.method == "isotonic"
    told = probability_of(found, scores[2000:])
    held = rng.random(2000) < truth[2000:]
    assert reliability(told, held).error < 0.04
    assert 0 < told.min() < told.max() < 1


def test_one_class_is_not_calibrated():
    assert learn_calibration(np.array([1.0, 2.0]), np.array([False, False])) is AS_GIVEN


def test_the_threshold_keeps_the_budget_of_false_alarms():
    rng = np.random.default_rng(0)
    told, anomalous = rng.random(1000), rng.random(1000) < 0.2
    for share in (0.01, 0.1, 0.3):
        flagged = told >= alarm_threshold(told, anomalous, share)
        assert flagged[~anomalous].mean() <= share
    assert alarm_threshold(told * 0.4, anomalous, 0.05) == 0.5


def test_figures_equal_the_library():
    rng = np.random.default_rng(2)
    told, truth = np.round(rng.random(300), 2), rng.random(300) < 0.3
    told = np.clip(told + 0.3 * truth, 0, 1)
    flag = told >= 0.6
    found = detector_figures(LabelledVerdicts(told, flag, truth), 0.6, 0.0, seed=0)
    assert found.f1_anomalous == pytest.approx(f1_score(truth, flag))
    assert found.f1_normal == pytest.approx(f1_score(~truth, ~flag))
    assert found.weighted_accuracy == pytest.approx(recall_score(truth, flag, average="weighted"))
    assert found.pr_auc == pytest.approx(average_precision_score(truth, told))
    assert found.brier == pytest.approx(brier_score_loss(truth, told))
    assert found.f1_anomalous_interval[0] < found.f1_anomalous < found.f1_anomalous_interval[1]


def test_p_values_are_ranks():
    np.testing.assert_allclose(
        p_values(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 2.5, 9.0])), [1, 0.75, 0.5, 0.25]
    )


@pytest.mark.parametrize("contamination", [0.0, 0.1, 0.2])
def test_p_values_hold_without_labels(contamination):
    """Of normal runs at most about the budget is flagged, whatever share of the unlabelled history is not normal."""
    trace = benchmark_trace(
        BenchmarkTraceSettings(nodes=3, repeat=60, stressed_share=contamination, labelled=False, seed=7)
    )
    data = data_from(frame_of(trace.lines))
    assert not data.supervised
    fitted = fit_rule(data, "mahalanobis")
    test = np.flatnonzero(~data.train & data.table.usable)
    judged = judge(data, fitted.score, p_value_verdict(data, fitted.out_of_fold, 0.05), test)
    strength = np.array(trace.strength)[test]
    flagged = judged.flag[test]
    assert flagged[strength == 0].mean() < 0.05 + 0.04
    if contamination == 0:
        told = np.sort(judged.value[test])
        uniform = (np.arange(len(told)) + 0.5) / len(told)
        assert np.abs(told - uniform).max() < 0.12
    else:
        assert flagged[strength > 0.7].mean() > 3 * max(flagged[strength == 0].mean(), 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("drift", [-1.0, 0.5])
def test_slow_drift_is_no_alarm(drift):
    """Every rate falls to a third, or rises by half, over the whole history: runs are judged by the recent ones."""
    _, judged = judged_by(simulated(nodes=2, repeat=60, seed=5, drift=drift), "logistic")
    data = data_from(simulated(nodes=2, repeat=60, seed=5, drift=drift))
    test = np.flatnonzero(np.isfinite(judged.value))
    good = data.table.label[test] == 0
    assert judged.flag[test][good].mean() < 0.05
    assert judged.flag[test][~good].mean() > 0.9
