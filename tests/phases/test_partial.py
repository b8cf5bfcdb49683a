"""Parts of runs: places are the cheapest there are, a piece is found where it was cut, planted workloads are told."""

import numpy as np
import pandas as pd
import pytest

from tests.phases.planted_runs import planted
from workprof.answers.partial import course_answer, course_sentence, early_answer
from workprof.charts.phases.partial import course_chart, early_chart
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.phases.early import Early, EarlySettings, early
from workprof.phases.kernels import least_costs
from workprof.phases.library import LibraryEdits, LibrarySettings, RunLabel
from workprof.phases.partial import Course, CoursePoint, CourseSettings, _sharpness, course, fit_recogniser, times_of
from workprof.phases.runs import Run, runs_of

pytestmark = pytest.mark.slow


def slowly(distances, first, length):
    """Return the least mean over a window laid over the other series at every offset, and the offset."""
    found = []
    whole = distances.shape[1]
    for shift in range(min(0, whole - length), max(0, whole - length) + 1):
        pairs = [(first + at, at + shift) for at in range(length) if 0 <= at + shift < whole]
        found.append((np.mean([distances[i, j] for i, j in pairs]), shift))
    return min(found, key=lambda one: (round(one[0], 12), found.index(one)))


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_place_of_a_window_is_that_of_every_offset_tried(seed):
    draw = np.random.default_rng(seed)
    lengths = draw.integers(3, 30, 4)
    rows = int(draw.integers(8, 25))
    distances = draw.normal(0, 1, (rows, int(lengths.sum())))
    firsts = np.array([0, 2, rows - 5], dtype=np.int64)
    long = np.array([rows, 4, 5], dtype=np.int64)
    edges = np.cumsum([0, *lengths]).astype(np.int64)
    costs, places = least_costs(distances, edges, firsts, long)
    for part in range(3):
        for known in range(4):
            own = distances[:, edges[known] : edges[known + 1]]
            cost, place = slowly(own, firsts[part], long[part])
            assert costs[part, known] == pytest.approx(cost, abs=1e-9)
            assert places[part, known] == place


def cut(samples, workload, run, first, last, name="piece"):
    """Return the samples with a further run, without a label: some seconds of one, from 1 s on, a little disturbed."""
    own = samples[(samples.workload == workload) & (samples.run == run) & samples.t.between(first, last)]
    counters = [column for column in samples if column.startswith("c")]
    noise = np.random.default_rng(0).normal(1, 0.01, own[counters].shape)
    piece = own.assign(workload="", run=name, t=own.t - own.t.min() + 1)
    piece[counters] = own[counters] * noise
    return pd.concat([samples, piece], ignore_index=True)


@pytest.fixture(scope="module")
def samples():
    return planted()


@pytest.mark.parametrize(("first", "last"), [(9, 16), (1, 8), (21, 30)])
def test_a_small_part_of_a_run_is_found_where_it_was_cut(samples, first, last):
    result = course({"samples": cut(samples, "w3", "2", first, last)}, CourseSettings("piece", every=2))
    assert [one.seconds for one in result.points] == list(range(2, last - first + 2, 2))
    for one in result.points:
        assert (one.workload, one.run, one.from_s) == ("w3", "w3/2", first - 1)
        assert 0.9 < one.probability <= 1
    assert result.probabilities.sum(axis=1) == pytest.approx(1)


def test_a_run_that_outlasts_the_known_ones_is_laid_under_them(samples):
    long = cut(samples, "w1", "1", 1, 30)
    own = long[long.run == "piece"]
    before = own.iloc[:6].assign(t=own.t[:6])
    whole = pd.concat([samples, before, own.assign(t=own.t + 6)], ignore_index=True)
    result = course({"samples": whole}, CourseSettings("piece", every=36))
    assert (result.points[-1].run, result.points[-1].from_s) == ("w1/1", -6)


def test_an_excluded_workload_is_unknown_and_a_known_one_is_not(samples):
    left_out = LibraryEdits(tuple(RunLabel("w2", str(run), "") for run in range(1, 5)))
    odd = course({"samples": samples}, CourseSettings("w2/1", edits=left_out))
    assert {one.workload for one in odd.points} == {"unknown"}
    assert "no known workload" in course_answer(odd).sentence
    known = course({"samples": samples}, CourseSettings("w2/1"))
    assert {one.workload for one in known.points} == {"w2"}
    assert known.n_known == 19
    assert set(known.points[0].counters) <= {column for column in samples if column.startswith("c")}


def test_known_runs_may_come_from_another_dataset_and_lack_counters(samples):
    asked = samples[samples.workload == "w0"].drop(columns=["c1"])
    others = samples[samples.workload != "w0"]
    result = course({"samples": asked, "train": samples.drop(columns=["c5"])}, CourseSettings("w0/1"))
    assert {one.nearest for one in result.points} == {"w0"}
    told = course(
        {"samples": samples.assign(c1=np.where(samples.workload == "w0", np.nan, samples.c1)), "train": others},
        CourseSettings("w0/1"),
    )
    assert {one.workload for one in told.points} == {"unknown"}
    lacking = samples.assign(c1=np.where((samples.workload == "w0") & (samples.run == "1"), np.nan, samples.c1))
    result = course({"samples": lacking}, CourseSettings("w0/1"))
    assert {one.workload for one in result.points} == {"w0"}
    assert any("c1 is not recorded" in note for note in result.notes)
    assert all("c1" not in one.counters for one in result.points)


def test_too_few_runs_have_no_threshold(samples):
    two = samples[samples.run.isin(["1", "2"])]
    result = course({"samples": two}, CourseSettings("w4/1"))
    assert {one.nearest for one in result.points} == {"w4"}
    assert all(np.isnan(one.limit) for one in result.points)
    assert any("too few runs" in note for note in result.notes)
    with pytest.raises(NotEnoughData):
        course({"samples": samples[samples.workload == "w0"].iloc[:60]}, CourseSettings("w0/1"))
    with pytest.raises(SettingsError):
        course({"samples": samples}, CourseSettings("nobody"))


def test_times_are_multiples_thinned_evenly(samples):
    runs = runs_of(samples).runs
    assert times_of(runs, 1.0, 5.0).tolist() == [5, 10, 15, 20, 25, 30]
    assert times_of(runs, 1.0, 70.0).tolist() == [30]
    thinned = times_of(runs, 1.0, 0.2)
    assert len(thinned) == 24
    assert (thinned[0], thinned[-1]) == (1, 30)


def test_probabilities_stay_below_one_where_all_held_back_runs_were_right():
    """The likeliest power of a grid, and the more runs are right the surer."""
    draw = np.random.default_rng(0)
    found = []
    for n in (6, 60):
        costs = draw.uniform(1, 2, (n, 3))
        costs[np.arange(n), np.arange(n) % 3] = 0
        power = _sharpness(costs, np.arange(n) % 3)
        odd = 1 / (n + 2)
        wanted = np.where(costs == 0, 1 - odd, odd / 2)
        grid = np.exp(np.linspace(-3, 5, 2001))
        shares = np.exp(-grid[:, None, None] * costs)
        shares /= shares.sum(axis=-1, keepdims=True)
        best = grid[np.argmax((wanted * np.log(np.maximum(shares, 1e-300))).sum(axis=(1, 2)))]
        assert power == pytest.approx(best, rel=0.01)
        found.append(power)
    assert found[0] < found[1]


@pytest.fixture(scope="module")
def measured(samples):
    return early({"samples": samples}, EarlySettings(every=10))


def test_planted_workloads_are_recognised_early_and_unknown_ones_rejected(measured):
    assert [one.seconds for one in measured.points] == [10, 20, 30]
    assert (measured.n_runs, measured.n_workloads) == (20, 5)
    for one in measured.points:
        assert min(one.right, one.right_anywhere, one.phases, one.trees) >= 0.95
        assert one.known_rejected <= 0.25
        assert one.unknown_rejected >= 0.9
        assert one.right_interval.low < one.right <= one.right_interval.high <= 1


def test_figures_are_those_of_runs_held_back_one_after_the_other(samples, measured):
    """Counted anew, run by run: the fold of a run is its place in its workload."""
    runs = runs_of(samples)
    right, rejected = [], []
    for fold in range(4):
        train = [run for run in runs.runs if int(run.run) - 1 != fold]
        known = fit_recogniser(train, runs.counters, runs.step_s, np.array([10.0, 20.0, 30.0]), LibrarySettings())
        for run in runs.runs:
            if int(run.run) - 1 == fold:
                points, _ = known.course(run)
                right.append([one.nearest == run.workload for one in points])
                rejected.append([one.workload == "unknown" for one in points])
    assert [one.right for one in measured.points] == pytest.approx(np.mean(right, axis=0))
    assert [one.known_rejected for one in measured.points] == pytest.approx(np.mean(rejected, axis=0))


def test_a_single_source_tells_what_it_has(samples):
    """Two workloads apart by one source alone are told by it, and not by the other."""
    two = samples[samples.workload.isin(["w0", "w1"])].rename(columns={"c0": "cpu.a", "c1": "cpu.b", "c2": "net.a"})
    two = two[["workload", "run", "t", "cpu.a", "cpu.b", "net.a"]]
    two["net.a"] = np.random.default_rng(0).uniform(1, 2, len(two))
    result = early({"samples": two}, EarlySettings(every=15, excluded=False))
    best, worst = result.sources
    assert (best.source, best.n_counters, worst.source, worst.n_counters) == ("cpu", 2, "net", 1)
    assert best.right.min() > worst.right.max()
    assert np.isnan(result.points[0].unknown_rejected)


def test_records_come_back_and_are_told(samples, measured):
    followed = course({"samples": samples}, CourseSettings("w1/1", every=10))
    for result, kind in ((followed, Course), (measured, Early)):
        assert unpack(kind, pack(result)).points == result.points
    assert course_answer(followed).sentence.startswith("w1/1 matches “w1” from 10 s on")
    assert len(course_answer(followed).tables[0].rows) == 3
    assert early_answer(measured).sentence.startswith("100 % of held-back runs are recognised after 10 s")
    assert list(course_chart(followed).data["seen_s"]) == [10, 20, 30]
    assert {"recognised_any_part", "unknown_rejected_low"} <= set(early_chart(measured).data)


def test_without_a_threshold_nothing_is_counted_as_not_rejected(samples):
    """Three runs of a workload leave two to learn from."""
    result = early({"samples": samples[samples.run != "4"]}, EarlySettings(every=30))
    assert np.isnan([result.points[0].known_rejected, result.points[0].unknown_rejected]).all()
    assert any(note.startswith("too few runs") for note in early_answer(result).notes)


def test_one_workload_alone_cannot_be_measured(samples):
    with pytest.raises(NotEnoughData):
        early({"samples": samples[samples.workload == "w0"]}, EarlySettings())


def test_a_run_shorter_than_the_time_between_answers_is_answered_at_its_end():
    assert times_of([Run("", "1", np.zeros((1, 3)), 0.0, 0, ())], 1.0, 5.0).tolist() == [3.0]


def test_what_is_as_like_another_workload_is_no_match():
    point = CoursePoint(5.0, "a", "a", 0.49, "b", -9.0, -1.0, "a/1", 0.0, ())
    of = Course("x", ("a", "b", "c"), (point,), np.array([[0.49, 0.48, 0.03]]), 9, (), 0.0)
    assert course_sentence(of) == "x is nearest to “a” from 5 s on (probability 49.0 %)."
