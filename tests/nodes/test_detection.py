"""Detection as it is asked for: planted stress, the development runs, leaks, other datasets, no labels, few runs."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from tests.nodes.run_frames import frame_of, real_runs, simulated
from tests.shared_data import needs_shared_data
from workprof.answers.degradation import detection_answer
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.nodes.baselines import best_feature_weights
from workprof.nodes.calibration import f1
from workprof.nodes.detection import Detection, detect_degradation, principal_axes
from workprof.nodes.detection_data import BASELINES, COMBINED, PERONA, DetectSettings, detection_data
from workprof.nodes.histories import first_share, run_table
from workprof.nodes.network import SPACE, Recipe
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.perona import search_recipe
from workprof.synthetic.benchmarks import BenchmarkTraceSettings, benchmark_trace, write_benchmark_trace

QUICK = DetectSettings(epochs=4)


@pytest.fixture(scope="module")
def frame():
    return simulated(nodes=2, repeat=16, seed=11)


@pytest.fixture(scope="module")
def found(frame):
    return detect_degradation({"runs": frame}, QUICK)


@pytest.mark.soak
@needs_shared_data
def test_the_bars_on_real_runs():
    found = detect_degradation({"runs": real_runs()}, DetectSettings())
    used = found.detectors[found.detector]
    assert found.model.type_accuracy == 1
    assert found.model.mse <= 0.01
    assert used.weighted_accuracy >= 0.95
    assert used.f1_normal >= 0.97
    assert used.f1_anomalous >= 0.88
    for name in BASELINES:
        assert used.f1_anomalous >= found.detectors[name].f1_anomalous, name
        assert used.weighted_accuracy >= found.detectors[name].weighted_accuracy, name
    assert found.detectors[PERONA].f1_anomalous >= 0.88
    assert used.pr_auc > 0.95
    assert used.reliability.error < 0.1
    assert found.parts.n_train + found.parts.n_test == 432
    assert found.not_scored == ()


@pytest.mark.slow
def test_planted_stress_is_found(found):
    runs = found.runs
    tested = runs.tested
    assert f1(runs.flag[tested], runs.label[tested] == 1) > 0.85
    assert set(found.detectors) == {PERONA, *BASELINES, COMBINED}
    assert found.supervised
    assert not found.published
    assert ((runs.p_anomalous >= 0) & (runs.p_anomalous <= 1)).all()
    assert np.isnan(runs.p_value).all()
    assert (runs.flag == (runs.p_anomalous >= found.threshold)).all()
    assert runs.codes.shape == (len(tested), 32)
    flagged = [drivers for drivers, flag in zip(runs.drivers, runs.flag, strict=True) if flag]
    assert all(drivers for drivers in flagged)


@pytest.mark.slow
def test_every_run_is_judged_or_told_why_not(frame, found):
    parts = found.parts
    assert parts.n_train + parts.n_test == len(frame)
    assert parts.n_scored == found.runs.tested.sum()
    assert parts.n_scored + len(found.not_scored) == parts.n_test
    problems = {one.position for one in parse_runs(frame).problems}
    assert {one.row_id for one in found.not_scored if "limit" in one.reason} <= problems


@pytest.mark.slow
def test_the_record_comes_back_and_answers_in_json(found):
    back = unpack(Detection, pack(found))
    np.testing.assert_array_equal(back.runs.codes, found.runs.codes)
    assert back.detectors.keys() == found.detectors.keys()
    answer = json.loads(json.dumps(answer_json(detection_answer(found)), allow_nan=False))
    assert {"mse", "type_accuracy"} <= set(answer["model"])
    figures = {"f1_normal", "f1_anomalous", "weighted_accuracy", "pr_auc", "brier"}
    assert all(figures <= set(one) for one in answer["detectors"].values())
    assert len(answer["runs"]) == found.parts.n_scored
    assert {"node", "benchmark", "started", "p_anomalous", "flag", "drivers"} <= set(answer["runs"][0])
    assert answer["not_scored"] == len(found.not_scored)


@pytest.mark.slow
def test_a_later_run_changes_no_earlier_verdict(frame, found):
    runs = found.runs
    last = np.argsort(runs.started_s)[-25:]
    assert runs.tested[last].all()
    rows = frame["row_id"].isin(runs.row_id[last])
    changed = frame.copy()
    changed.loc[rows, "stdout"] = changed.loc[rows, "stdout"].str.replace("1", "7")
    changed.loc[rows, "stressed"] = True
    again = detect_degradation({"runs": changed}, QUICK).runs
    cut = runs.started_s[last].min()
    before, after = runs.started_s < cut, again.started_s < cut
    np.testing.assert_array_equal(runs.row_id[before], again.row_id[after])
    np.testing.assert_array_equal(runs.p_anomalous[before], again.p_anomalous[after])
    np.testing.assert_array_equal(runs.flag[before], again.flag[after])


@pytest.mark.slow
def test_the_order_of_rows_decides_nothing(frame):
    """Not even of runs that began together: the ids only number the rows of a file."""
    together = frame.assign(started_s=frame["started_s"] // 3600 * 3600, finished_s=frame["started_s"] // 3600 * 3600)
    shuffled = together.sample(frac=1, random_state=3).assign(row_id=np.arange(len(frame)))
    first, second = (detect_degradation({"runs": one}, DetectSettings(epochs=2)) for one in (together, shuffled))
    for name in ("node", "benchmark", "started_s", "p_anomalous", "flag", "codes", "reconstruction_error", "map_xy"):
        np.testing.assert_array_equal(getattr(first.runs, name), getattr(second.runs, name), name)
    assert first.runs.drivers == second.runs.drivers
    assert repr(first.detectors) == repr(second.detectors)


@pytest.mark.soak
def test_another_dataset_to_train_on():
    """Nodes that it lacks are judged once they have three normal runs of their own; runs that it has are told of."""
    train = simulated(nodes=2, repeat=16, seed=11)
    other = simulated(nodes=1, repeat=8, seed=12).assign(node="new", started_s=lambda frame: frame["started_s"] + 1e6)
    judged = pd.concat([other, train.tail(6)], ignore_index=True)
    found = detect_degradation({"runs": judged, "train": train}, QUICK)
    assert found.parts.by == "another dataset"
    assert found.parts.n_train == len(train)
    assert found.parts.n_scored + len(found.not_scored) == len(judged)
    assert any("6 judged runs are in the training part, too" in message for message in found.messages)
    few = [one for one in found.not_scored if "three" in one.reason or "3" in one.reason]
    assert len(few) >= 6 * 3
    assert found.runs.tested[found.runs.node == "new"].all()
    new = found.runs.tested & (found.runs.node == "new")
    assert f1(found.runs.flag[new], found.runs.label[new] == 1) > 0.7


@pytest.mark.soak
@pytest.mark.slow
def test_without_labels_there_are_p_values(frame):
    unlabelled = frame.assign(stressed=np.nan)
    found = detect_degradation({"runs": unlabelled}, dataclasses.replace(QUICK, epochs=2))
    assert not found.supervised
    assert found.detector == "mahalanobis"
    assert np.isnan(found.runs.p_anomalous).all()
    tested = found.runs.tested
    assert ((found.runs.p_value[tested] > 0) & (found.runs.p_value[tested] <= 1)).all()
    assert any("p-values" in message for message in found.messages)
    chance = next(message for message in found.messages if message.startswith("by chance alone about "))
    assert f"about {0.05 * tested.sum():.0f} of {tested.sum()} judged runs" in chance
    assert chance.endswith("runs that are better than their history are flagged, too")
    assert found.detectors == {}
    assert found.calibration is None
    with pytest.raises(SettingsError, match="no labels to learn from"):
        detect_degradation({"runs": unlabelled}, DetectSettings(detector="logistic", epochs=1))


@pytest.mark.soak
def test_a_search_stays_inside_the_space_and_the_training_part(frame):
    settings = DetectSettings(trials=1, epochs=1)
    table = run_table(parse_runs(frame))
    data = detection_data(table, first_share(table, 0.6), seed=0)
    told = []
    found = search_recipe(
        data, best_feature_weights(data, 0), settings, Recipe(epochs=1), lambda share, message: told.append(message)
    )
    assert told == ["Trying recipe 1 of 1"]
    assert (found.epochs, found.strict) == (1, True)
    tested = ~data.train
    garbled = dataclasses.replace(table, values=np.where(tested[:, None], table.values * 5, table.values))  # noqa: PD011  no frame
    other = detection_data(garbled, first_share(garbled, 0.6), seed=0)
    assert search_recipe(other, best_feature_weights(other, 0), settings, Recipe(epochs=1)) == found


@pytest.mark.soak
@pytest.mark.slow
def test_published_definitions_are_labelled(frame):
    found = detect_degradation({"runs": frame}, DetectSettings(mode="faithful", epochs=2, trials=1))
    assert found.published
    recipe = dataclasses.asdict(found.network.recipe)
    assert all(recipe[name] in values for name, values in SPACE.items())
    assert (found.network.recipe.epochs, found.network.recipe.reconstruction_weight) == (2, 1.0)
    assert found.detector == PERONA
    assert found.threshold == 0.5
    assert not found.network.recipe.strict
    assert "evidence" not in found.network.weights


def test_too_few_runs_are_refused():
    with pytest.raises(NotEnoughData, match="there are no runs"):
        detect_degradation({"runs": frame_of([])}, QUICK)
    with pytest.raises(NotEnoughData, match="three earlier normal runs"):
        detect_degradation({"runs": simulated(nodes=1, repeat=4)}, QUICK)


def test_principal_axes_hold_the_spread():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(50, 1)) * np.arange(1, 33)[None, :] + 0.01 * rng.normal(size=(50, 32))
    placed = principal_axes(codes)
    assert placed[:, 0].var() > 0.999 * codes.var(axis=0).sum() * 50 / 50
    assert principal_axes(codes[:1]).tolist() == [[0, 0]]
    assert principal_axes(codes[:0]).shape == (0, 2)


def test_the_simulator_tells_the_truth(tmp_path):
    settings = BenchmarkTraceSettings(nodes=2, repeat=10, seed=4)
    trace = benchmark_trace(settings)
    assert trace == benchmark_trace(settings)
    assert trace != benchmark_trace(dataclasses.replace(settings, seed=5))
    assert [line["stressed"] for line in trace.lines] == [strength > 0 for strength in trace.strength]
    parsed = parse_runs(frame_of(trace.lines))
    assert len(parsed.problems) == sum(line["rc"] != 0 for line in trace.lines)
    events = parsed.values[:, parsed.metrics.index("cpu-sysbench.events_per_second")]  # noqa: PD011  no frame
    free = np.array(trace.strength) == 0
    medians = [np.nanmedian(events[free & (parsed.node == node)]) for node in trace.speed]
    assert medians[0] / medians[1] == pytest.approx(2, rel=0.05)
    report = write_benchmark_trace(tmp_path / "runs.jsonl", settings)
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert report.rows == len(lines) == 120
    assert lines[0]["truth_strength"] == trace.strength[0]


@pytest.mark.parametrize(
    "changed", [{"nodes": 0}, {"repeat": 0}, {"stressed_share": 2}, {"intensity": (0.9, 0.1)}, {"drift": 9}]
)
def test_the_simulator_refuses_what_it_cannot_draw(changed):
    with pytest.raises(SettingsError):
        BenchmarkTraceSettings(**changed)
