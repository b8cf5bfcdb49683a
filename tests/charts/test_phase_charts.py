"""Figures and tables of phases: they draw what the records hold, say it in words, and make names safe."""

import dataclasses
import io
import itertools
import json
import math

import numpy as np
import pytest

from tests.charts import records_for_phases as given
from tests.charts.records_for_tests import HOSTILE
from workprof.answers.phases import phase_table, seconds, timeline_sentence
from workprof.answers.recognition import (
    evaluation_answer,
    evaluation_figures,
    evaluation_sentence,
    inner_table,
    known_table,
    library_sentence,
    match_figures,
    match_sentence,
    match_table,
    threshold_table,
    unknown_table,
    verdict_words,
)
from workprof.charts.phases.evaluation import confusion_chart, distance_matrix, known_bars, measures_of, open_curve
from workprof.charts.phases.fingerprints import EVERY, alignment_chart, fingerprint_chart, overlay_chart
from workprof.charts.phases.matches import match_chart, match_report, scores_chart
from workprof.charts.phases.timeline import (
    MOST_POINTS,
    counter_names,
    counter_unit,
    fingerprint_json,
    fingerprint_npz,
    most_moving,
    strength,
    timeline_chart,
)
from workprof.charts.shapes import NEUTRAL
from workprof.charts.theme import COLOURS
from workprof.core.units import number
from workprof.phases.library import LibraryEdits, RunLabel, faithful_library
from workprof.phases.timeline import OwnBoundaries

ALL = given.COUNTERS
FIGURES = {
    "timeline": lambda: timeline_chart(given.timeline(), ALL),
    "timeline of one": lambda: timeline_chart(given.timeline(f"{HOSTILE}/1"), (given.CPU,)),
    "window": lambda: timeline_chart(given.timeline(from_s=2.0, to_s=5.0), ALL),
    "fingerprint": lambda: fingerprint_chart(given.timeline(), "mean", ALL),
    "every statistic": lambda: fingerprint_chart(given.timeline(), EVERY, ALL),
    "scores": lambda: scores_chart(given.scored_match()),
    "match": lambda: match_chart(given.scored_match(), "euclidean"),
    "match by dtw": lambda: match_chart(given.match(), "dtw"),
    "match as published": lambda: match_chart(given.match(), "euclidean"),
    "library": lambda: distance_matrix(given.library(), "euclidean"),
    "library by dtw": lambda: distance_matrix(given.library(), "dtw"),
    "overlay": lambda: overlay_chart(given.aligned()),
    "alignment": lambda: alignment_chart(given.aligned(), 1),
    "known": lambda: known_bars(given.evaluation()),
    "confusion": lambda: confusion_chart(given.known_figures()),
    "open set": lambda: open_curve(given.evaluation(), "pair_model"),
}


def lines(chart, axis):
    """Return where lines stand in one panel."""
    return [shape.x0 for shape in chart.figure.layout.shapes if shape.type == "line" and shape.yref == axis]


def test_the_timeline_draws_the_planted_steps_of_each_panel():
    chart = timeline_chart(given.timeline(), (given.CPU, given.NET, given.FLAT))
    assert lines(chart, "y domain") == [8.0, 16.0]
    assert lines(chart, "y2 domain") == [8.0, 16.0]
    assert lines(chart, "y3 domain") == []
    assert {trace.xaxis for trace in chart.figure.data} == {"x"}
    assert [trace.yaxis for trace in chart.figure.data] == ["y", "y2", "y3", "y4"]
    assert chart.takeaway.startswith("two steps/1 has three phases: 0-8 s near average, 8-16 s ")


def test_a_sample_holds_for_the_step_that_it_ends():
    found = given.timeline()
    trace = timeline_chart(found, (given.CPU,)).figure.data[0]
    assert trace.line.shape == "vh"
    x, y = np.asarray(trace.x, float), np.asarray(trace.y, float)
    assert x[0] == found.start_s == 0
    assert x[-1] == found.end_s == given.SAMPLES
    assert y[1:] == pytest.approx(found.recorded[0])


def test_panels_do_not_overlap_and_have_their_units():
    layout = timeline_chart(given.timeline(), ALL).figure.layout
    domains = [layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3", "yaxis4", "yaxis5")]
    for above, below in itertools.pairwise(domains):
        assert 0 <= below[0] < below[1] < above[0] <= 1
    assert layout.yaxis.title.text == "%"
    assert layout.yaxis2.title.text == "kB per s"
    assert layout.yaxis4.title.text == "MB"


def test_the_strip_is_the_share_of_searched_counters():
    found = given.timeline()
    strip = timeline_chart(found, (given.CPU,)).figure.data[-1]
    assert strip.type == "bar"
    assert np.asarray(strip.y, float) == pytest.approx(found.agreement)
    assert found.agreement[8] == pytest.approx(2 / 3)  # the noisy counter does not change, the constant one is left out


def test_boundaries_of_ones_own_are_dashed_and_count():
    found = given.timeline(own=(OwnBoundaries(given.CPU, (4.0, 12.0)),))
    chart = timeline_chart(found, (given.CPU, given.NET))
    assert lines(chart, "y domain") == [4.0, 12.0]
    assert lines(chart, "y2 domain") == [8.0, 16.0]
    dashes = [shape.line.dash for shape in chart.figure.layout.shapes if shape.type == "line"]
    assert dashes == ["dash", "dash", "solid", "solid"]
    table = phase_table(found, (given.CPU,)).frame()
    assert list(table["start_s"]) == [0, 4, 12]
    assert table["by_hand"].all()
    own = given.samples().query("workload == 'two steps' and run == '1'")[given.CPU].to_numpy()
    assert table["recorded_mean"].to_numpy() == pytest.approx([own[:4].mean(), own[4:12].mean(), own[12:].mean()])


def test_phases_set_by_hand_everywhere_are_called_so():
    found = given.timeline(own=(OwnBoundaries("", (6.0,)),))
    assert timeline_sentence(found) == "two steps/1: 2 phases, set by hand for every counter."


def test_a_long_line_keeps_its_extremes():
    found = given.timeline()
    long = 20_000
    recorded = np.zeros((len(found.counters), long))
    recorded[0, 12_345], recorded[0, 17] = 9.0, -4.0
    recorded[1] = np.nan
    stretched = type(found)(
        **{**vars(found), "recorded": recorded, "agreement": np.zeros(long)},
    )
    chart = timeline_chart(stretched, (given.CPU, given.NET))
    drawn = np.asarray(chart.figure.data[0].y, float)
    assert len(drawn) <= MOST_POINTS
    assert drawn.max() == 9.0
    assert drawn.min() == -4.0
    assert len(chart.figure.data[-1].y) <= MOST_POINTS
    assert "least and the largest" in chart.note


def test_the_counters_that_move_most_come_first_and_constant_ones_last():
    order = most_moving(given.timeline(), 4)
    assert set(order[:3]) == {given.CPU, given.NET, given.ODD}
    assert order[3] == given.FLAT
    found = given.timeline()
    far = dict(zip(found.counters, strength(found), strict=True))
    assert far[given.FLAT] == far[given.ODD] == 0
    (place,) = (place for place, name in enumerate(found.counters) if name == given.CPU)
    levels = found.statistic("mean")[place, :3]
    assert far[given.CPU] == pytest.approx(levels.std())  # three phases of eight samples
    assert order[:2] == tuple(sorted((given.CPU, given.NET), key=lambda name: -far[name]))


def test_padding_is_crossed_out_and_named_no_phase():
    found = given.timeline()
    chart = fingerprint_chart(found, "mean", ALL)
    cells, crossed = chart.figure.data
    z = np.asarray(cells.z, float)
    assert np.isnan(z).sum() == len(crossed.x) == int((3 - found.fingerprint.n_phases).sum()) == 4
    assert crossed.name == "no phase"
    assert np.asarray(cells.z, float)[0] == pytest.approx(found.fingerprint.values[0, :, 0])
    assert list(chart.data["padding"]).count(True) == 4
    every = fingerprint_chart(found, EVERY, ALL).figure.data[0]
    assert np.asarray(every.z, float).shape == (4, 3 * 8)


def test_files_of_a_fingerprint_hold_its_numbers():
    found = given.timeline()
    document = json.loads(fingerprint_json(found, "abc"))
    assert document["dataset"] == "abc"
    assert document["counters"] == list(ALL)
    assert document["fingerprint"]["n_phases"] == [3, 3, 1, 1]
    with np.load(io.BytesIO(fingerprint_npz(found)), allow_pickle=False) as file:
        assert file["values"] == pytest.approx(found.fingerprint.values)
        assert tuple(file["counters"]) == ALL
        assert list(file["statistics"]) == list(found.statistics)
        assert list(file["n_phases"]) == [3, 3, 1, 1]


def test_the_phases_table_covers_the_run():
    table = phase_table(given.timeline()).frame()
    assert list(dict.fromkeys(table["counter"])) == list(ALL)
    for _, own in table.groupby("counter"):
        assert own["start_s"].iloc[0] == 0
        assert own["end_s"].iloc[-1] == given.SAMPLES
        assert list(own["start_s"].iloc[1:]) == list(own["end_s"].iloc[:-1])


def test_the_verdict_is_a_word_and_the_match_tells_the_nearest():
    found = given.scored_match()
    assert verdict_words(found.verdict) == "same as one step"
    shown = {line.label: line for line in match_figures(found)}
    assert (shown["Workload"].value, shown["Workload"].detail) == ("one step", "match")
    assert (shown["Next workload"].value, shown["Next workload"].detail) == ("two steps", "distance 4")
    assert match_sentence(found) == "one step/1 matches “one step” (distance −1.5, threshold 0.5)."
    unknown = dataclasses.replace(found, verdict=dataclasses.replace(found.verdict, workload="unknown", score=0.7))
    assert match_sentence(unknown).startswith(
        "one step/1 matches no known workload; the nearest is “one step” (distance"
    )
    doubtful = dataclasses.replace(found, verdict=dataclasses.replace(found.verdict, agree=False))
    assert "the distance measures disagree" in match_sentence(doubtful)
    few = dataclasses.replace(found, verdict=dataclasses.replace(found.verdict, limit=math.nan))
    assert "too few runs are known for a threshold" in match_sentence(few)
    table = match_table(found, "euclidean").frame()
    assert len(table) == 3 * given.RUNS - 1
    assert table["distance_ed"].is_monotonic_increasing
    assert match_table(found, "dtw").frame()["distance_dtw"].is_monotonic_increasing


def test_verdicts_in_words():
    sure = type(given.match().verdict)("redis", "redis", 1.0, 2.0, 0.5, 0.5, True, "why")
    words = {
        "same as redis": {},
        "similar to redis": {"agree": False},
        "unknown": {"workload": "unknown"},
    }
    for said, change in words.items():
        assert verdict_words(type(sure)(**{**vars(sure), **change})) == said
    assert verdict_words(type(sure)(**{**vars(sure), "limit": math.nan})) == "similar to redis"


def test_the_threshold_band_stands_where_distance_decides():
    published = match_chart(given.match(), "euclidean")
    (band,) = published.figure.layout.shapes
    assert band.x1 == given.match().verdict.limit
    assert scores_chart(given.match()) is None
    assert not match_chart(given.match(), "dtw").figure.layout.shapes
    assert not match_chart(given.scored_match(), "euclidean").figure.layout.shapes


@pytest.mark.parametrize(
    ("workload", "agree", "place"), [("one step", True, 2), ("one step", False, 1), ("unknown", True, 4)]
)
def test_a_verdict_has_one_colour_and_no_other_run_is_marked(workload, agree, place):
    whole = given.scored_match()
    found = dataclasses.replace(whole, verdict=dataclasses.replace(whole.verdict, workload=workload, agree=agree))
    for chart, rows in (
        (scores_chart(found), sorted(found.scores, key=lambda name: found.scores[name])),
        (match_chart(found, "dtw"), match_table(found, "dtw").frame()["workload"]),
    ):
        colours = dict(zip(rows, chart.figure.data[0].marker.color, strict=False))
        assert colours.pop("one step") == COLOURS[place]
        assert set(colours.values()) == {NEUTRAL}


def test_two_aligned_runs_are_drawn_over_each_other():
    found = given.aligned()
    chart = overlay_chart(found)
    assert len(chart.figure.data) == 2 * len(found.counters[:4])
    second, first = chart.figure.data[:2]
    assert (first.name, second.name) == ("one step/1", "two steps/1")
    assert np.asarray(first.y, float)[1:] == pytest.approx(found.first_recorded[0])
    assert np.asarray(first.x, float)[0] == 0
    moved = np.asarray(second.y, float)[1:]
    path = found.alignment.path
    for at in (0, 5, given.SAMPLES - 1):
        own = found.second_recorded[0, path[path[:, 0] == at, 1]]
        assert moved[at] == pytest.approx(own.mean())
    assert found.counters[0] in (given.CPU, given.NET)
    assert overlay_chart(found, (given.ODD,)).figure.layout.yaxis.title.text == "MB"


def test_the_scores_have_their_limit():
    found = given.scored_match()
    (line,) = scores_chart(found).figure.layout.shapes
    assert line.x0 == found.verdict.limit


def test_the_match_report_is_complete():
    report = json.loads(match_report(given.match(), faithful_library(), "abc"))
    assert report["unknown"] == "one step/1"
    assert report["verdict"]["nearest"] == "one step"
    assert len(report["matches"]) == 3 * given.RUNS - 1
    assert report["settings"]["mode"] == "faithful"


def test_the_path_rises_from_start_to_end_of_both_runs():
    chart = alignment_chart(given.aligned(), 1)
    path = chart.data
    assert path["first_s"].is_monotonic_increasing
    assert path["second_s"].is_monotonic_increasing
    assert list(path.iloc[0]) == [1, 1]
    assert list(path.iloc[-1]) == [given.SAMPLES, given.SAMPLES]
    assert "1 phase into" in chart.note


def test_the_matrix_is_symmetric_and_tells_how_often_the_nearest_is_right():
    found = given.library()
    assert found.distances_ed == pytest.approx(found.distances_ed.T)
    assert np.diagonal(found.distances_dtw).max() == 0
    others = [min((found.distances_ed[i, j], found.workloads[j]) for j in range(12) if j != i)[1] for i in range(12)]
    right = sum(one == own for one, own in zip(others, found.workloads, strict=True))
    assert f"{right} of 12 runs" in library_sentence(found, "euclidean")
    z = np.asarray(distance_matrix(found, "euclidean").figure.data[0].z, float)
    assert np.isnan(np.diagonal(z)).all()
    table = threshold_table(found).frame()
    assert list(table["workload"]) == sorted(given.STEPS)
    limits = table["euclidean_mean"] + found.c["ed"] * table["euclidean_sd"]
    assert list(table["euclidean_limit"]) == pytest.approx(list(limits))


def test_labels_given_by_hand_change_the_library_and_the_match():
    out = LibraryEdits(tuple(RunLabel("one step", str(run), "") for run in range(1, 5)))
    assert set(given.library(out).workloads) == {"two steps", HOSTILE}
    assert given.match(edits=out).verdict.nearest != "one step"
    renamed = LibraryEdits(tuple(RunLabel("one step", str(run), "a new name") for run in range(1, 5)))
    assert given.match(edits=renamed).verdict.nearest == "a new name"
    merged = LibraryEdits(tuple(RunLabel("one step", str(run), "two steps") for run in range(1, 5)))
    assert len(given.library(merged).names) == 12
    assert len(set(zip(given.library(merged).workloads, given.library(merged).names, strict=True))) == 12


def test_the_evaluation_stands_beside_its_baselines():
    found = given.evaluation()
    chart = known_bars(found)
    bars = dict(zip(chart.data["way"], chart.data["accuracy"], strict=True))
    assert bars["workprof (default)"] == found.known.accuracy
    assert bars["baseline: nearest counter means"] == 0.75
    assert "91.7 %" in chart.takeaway
    assert "nearest counter means 75.0 %" in chart.takeaway
    patterns = chart.figure.data[0].marker.pattern.shape
    assert patterns.count("/") == len(found.baselines)
    shown = {line.label: line.value for line in evaluation_figures(found)}
    assert shown["Unknown rejected"] == "62.5 %"
    assert shown["Known rejected"] == "10.0 %"


def test_what_was_not_evaluated_is_said():
    assert known_bars(given.evaluation(known=False)) is None
    assert open_curve(given.evaluation(unknown=False), "pair_model") is None
    assert "Nothing could be evaluated" in evaluation_sentence(given.evaluation(known=False, unknown=False))
    shown = {line.label: line.value for line in evaluation_figures(given.evaluation(known=False))}
    assert shown["Accuracy"] == "no data"
    none_left_out = dataclasses.replace(given.evaluation(unknown=False), c=float("nan"))
    shown = {line.label: line.value for line in evaluation_figures(none_left_out)}
    assert (shown["Unknown rejected"], shown["Known rejected"]) == ("not tested", "not tested")
    assert "no unknown workload was tested, so none could be rejected" in evaluation_answer(none_left_out).notes


def test_where_too_few_runs_are_learned_for_a_threshold_no_rejection_is_claimed():
    found = dataclasses.replace(given.evaluation(), c=float("nan"), rejected_share=0.0, false_reject_share=0.0)
    assert "None can be called unknown" in evaluation_sentence(found)
    assert "0.0 %" not in evaluation_sentence(found)
    shown = {line.label: line.value for line in evaluation_figures(found)}
    assert [shown[name] for name in ("With rejections", "Unknown rejected", "Known rejected")] == ["no threshold"] * 3
    assert measures_of(found) == ()


def test_the_open_set_curve_marks_the_chosen_c_and_names_the_best():
    chart = open_curve(given.evaluation(), "pair_model")
    assert [shape.x0 for shape in chart.figure.layout.shapes] == [1.25]
    assert not open_curve(given.evaluation(), "ed").figure.layout.shapes
    curve = given.evaluation().curves[0]
    best = curve.rejected[curve.false_rejects <= 0.1].max()
    assert f"{best * 100:.1f} %" in chart.takeaway
    assert measures_of(given.evaluation()) == ("pair_model", "ed")


def test_the_confusion_counts_wrong_answers():
    chart = confusion_chart(given.known_figures())
    assert chart.takeaway == "2 answers of 24 are wrong."
    assert len(chart.figure.layout.annotations) == 5


def test_workloads_that_begin_alike_stay_apart_in_the_confusion():
    known = given.known_figures()
    names = tuple(f"spark-sql-tpcds-with-query-{at}" for at in range(len(known.workloads)))
    heat = confusion_chart(dataclasses.replace(known, workloads=names)).figure.data[0]
    assert len(set(heat.x)) == len(set(heat.y)) == len(names)


def test_the_tables_of_the_paper_have_ours_and_theirs():
    known = known_table(given.evaluation()).frame()
    assert list(known["workload"][:3]) == ["two steps", "one step", HOSTILE]
    assert known["f1"].iloc[-1] == 0.93
    unknown = unknown_table(given.evaluation()).frame()
    assert list(unknown["workload"]) == [HOSTILE, "one step"]
    assert unknown["nearest"].iloc[1].startswith("two steps 75 %")
    inner = inner_table(given.evaluation()).frame()
    assert len(inner) == 2 + 6
    assert inner["dtw_mean"].iloc[2] == 211.9
    assert not known_table(given.evaluation(known=False)).rows


def test_names_units_and_numbers_as_people_read_them():
    assert [counter_unit(name) for name in ("cpu.user%", "a/s", "b_kb/s", "c_ms/s", "d_mb", "load1")] == [
        "%",
        "per s",
        "kB per s",
        "ms per s",
        "MB",
        "",
    ]
    long = [f"{'x' * 60}{end}" for end in ("a", "a", "b")]
    assert len(set(counter_names(long))) == 3
    assert seconds(12.0) == "12 s"
    assert seconds(math.nan) == number(math.nan) == "no data"
