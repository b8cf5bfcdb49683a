"""Figures of the classifier: what they draw adds up, what they say is true, hostile texts stay texts."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.charts.records_for_classify import (
    CLASSES,
    FAITHFUL,
    NAMES,
    NAMING,
    SPLITS,
    estimates,
    evaluation,
    explanation,
    global_explanation,
    predictions,
    scores,
)
from tests.charts.records_for_tests import HOSTILE
from workprof.answers.classifier import confusion_note, fields_sentence, interactions_sentence, missed_table
from workprof.answers.forecasts import PUBLISHED, additivity, example_words, request_sentence
from workprof.answers.verdict import why_found
from workprof.charts.classify.effects import beeswarm, dependence, interaction_heatmap, odds_axis, offsets, profile_bars
from workprof.charts.classify.held_out import held_out_scatter
from workprof.charts.classify.job import estimate_rows, past_jobs_table, predictions_table, top_three, waterfall
from workprof.charts.classify.model import (
    SHOWN_AS,
    confusion_heatmap,
    field_bars,
    reliability_diagram,
    split_bars,
    table_five,
    value_bars,
)
from workprof.charts.theme import COLOURS, text_px
from workprof.core.stats import Interval
from workprof.core.units import odds_times
from workprof.forecasts.estimates import Happened, NearestJobs
from workprof.forecasts.forecaster import ForecasterSettings, Forecasts
from workprof.forecasts.held_out import Compared, HeldOut
from workprof.memory.resources import MEMORY
from workprof.memory.verdict_rows import ROOM
from workprof.memory.verdict_sizes import Found

NEEDS = {
    "duration_s": estimates("duration_s", 3_780.0, 60.0, 90_000.0),
    "peak_memory_bytes": estimates("peak_memory_bytes", 2.0 * 1024**3, 1e9, 9e9),
    "gpu_usage_percent": estimates("gpu_usage_percent", 0.0, 0.0, 12.0),
}

EVERY = {
    "top": lambda naming: top_three(predictions(), 0, 0.6, naming),
    "needs": lambda naming: estimate_rows(NEEDS, 0, 0.9),
    "waterfall": lambda naming: waterfall(explanation(), naming),
    "splits": lambda naming: split_bars(evaluation(), naming),
    "table": lambda naming: table_five(scores(), naming),
    "confusion": lambda naming: confusion_heatmap(scores(), naming),
    "calibration": lambda naming: reliability_diagram(scores(), naming),
    "fields": lambda naming: field_bars(global_explanation(), naming),
    "values": lambda naming: value_bars(global_explanation(), naming),
    "swarm": lambda naming: beeswarm(global_explanation(), naming),
    "swarm of a profile": lambda naming: beeswarm(global_explanation(), naming, int(CLASSES[1])),
    "fields of a profile": lambda naming: profile_bars(global_explanation(), naming, int(CLASSES[1])),
    "dependence on a name": lambda naming: dependence(global_explanation(), naming, "user"),
    "dependence on a number": lambda naming: dependence(global_explanation(), naming, "requested_memory_bytes"),
    "interactions": lambda naming: interaction_heatmap(global_explanation(), naming),
}


def test_interactions_are_told_of_one_profile_s_odds():
    found, more = global_explanation(), 5
    words = interactions_sentence(replace(found, classes=np.arange(1)))
    assert (
        words == "User and requested memory act together most: they change the odds of a profile 1.5-fold on average."
    )
    fields = tuple({"user": "requested_cpu_percent"}.get(name, name) for name in found.fields)
    assert interactions_sentence(replace(found, fields=fields)).startswith("Requested CPU and requested memory act")
    each = replace(found, classes=np.arange(more), interactions=found.interactions * more)  # a sum over the profiles
    assert interactions_sentence(each) == words


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"needs"}))
def test_published_definitions_are_flagged_on_every_figure_of_the_classifier(name):
    assert PUBLISHED in EVERY[name](FAITHFUL).note
    assert PUBLISHED not in EVERY[name](NAMING).note


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (0, "Predicted profile: P7, probability 95 %."),
        (1, "No profile predicted: no profile reaches the required probability of 60 %."),
        (2, "No profile predicted: similar jobs are mostly outliers. The most likely one would be P7 (6 %)."),
    ],
)
def test_the_answer_or_why_there_is_none(row, words):
    chart = top_three(predictions(), row, 0.6, NAMING)
    assert chart.takeaway.startswith(words)
    assert chart.data["probability"].is_monotonic_decreasing
    assert len(chart.figure.layout.shapes) == 1
    coloured = [colour for colour in chart.figure.data[0].marker.color if colour == COLOURS[0]]
    assert len(coloured) == (1 if row == 0 else 0)


def test_a_waterfall_adds_up_and_names_what_training_did_not_know():
    found = explanation()
    chart = waterfall(found, NAMING)
    bars = chart.figure.data[0]
    assert sum(bars.x[:-1]) == pytest.approx(bars.x[-1])
    assert list(bars.measure) == ["absolute", "relative", "relative", "relative", "total"]
    assert "(unseen)" in chart.figure.layout.yaxis.ticktext[1]
    assert "The contributions add up to the odds." in chart.note
    assert "do not add up to the odds (gap" in additivity(explanation(additive=False))
    assert chart.takeaway == "This user, unseen in training, raises the odds of P7 4.5-fold."
    axis = chart.figure.layout.xaxis
    assert axis.ticktext[axis.tickvals.index(0)] == "× 1"
    assert len(axis.tickvals) >= 3 and axis.showticklabels is not False


def test_names_leave_the_bars_of_a_waterfall_half_of_a_narrow_column_and_are_whole_under_the_pointer():
    found = explanation()
    long = "a long value of the field " * 4
    figure = waterfall(replace(found, values=(long, "ps", "2 GiB")), NAMING).light
    ticks = figure.layout.yaxis.ticktext
    assert ticks[1].endswith("… (unseen)") and max(map(text_px, "<br>".join(ticks).split("<br>"))) < 150
    assert long.strip() in figure.data[0].hovertext[1]
    rising = waterfall(replace(found, contributions=np.abs(found.contributions)), NAMING).figure
    assert rising.layout.xaxis.range[0] == found.base  # room is where a number stands
    assert figure.data[0].hovertext[0] == f"average job: {found.base:+.2f} log-odds"


def test_the_needs_stand_within_their_axes_and_a_zero_has_a_place():
    chart = estimate_rows(NEEDS, 0, 0.9)
    few = {target: replace(one, covers=np.array([5 / 6])) for target, one in NEEDS.items()}
    assert "Too few past jobs for 90 %: the interval covers about 83 % (" in estimate_rows(few, 0, 0.9).note
    assert "Too few" not in chart.note
    for place in range(1, 4):
        axis = chart.figure.layout[f"xaxis{place if place > 1 else ''}"]
        low, high = 10 ** axis.range[0], 10 ** axis.range[1]
        mine = [trace for trace in chart.figure.data if trace.xaxis == f"x{place if place > 1 else ''}"]
        assert len(mine) == 4
        assert all(low * 0.999 <= x <= high for trace in mine for x in trace.x)
        assert all(low <= tick <= high for tick in axis.tickvals)
        assert 2 <= len(axis.tickvals) <= 4
    assert chart.takeaway == "Predicted: 1 h 03 min, 2.15 GB, GPU usage 0 %."
    assert chart.data["point"].tolist() == [3_780.0, 2.0 * 1024**3, 0.0]


def test_a_job_that_is_like_none_is_said_to_be_so():
    alone = {target: replace(one, count=np.array([0])) for target, one in NEEDS.items()}
    assert "no past run is similar" in estimate_rows(alone, 0, 0.9).alt
    assert "from 12 similar past runs" in estimate_rows(NEEDS, 0, 0.9).alt


def test_it_is_said_where_quantiles_need_not_hold_and_where_a_guess_may_lie_outside_them():
    plain = estimate_rows(NEEDS, 0, 0.9).note
    assert "kept between p10 and p90. Thick" in plain and "as trained" not in plain
    later = {target: replace(one, calibrated=False, bounded=target != "duration_s") for target, one in NEEDS.items()}
    note = estimate_rows(later, 0, 0.9).note
    assert "p90 but for duration: validation runs are clearly better predicted without." in note
    assert note.endswith("Quartiles are as trained: forward in time, past runs are no measure of how far they hold.")


@pytest.mark.parametrize(("point", "place"), [(70.0, "below"), (80_000.0, "above"), (3_780.0, "")])
def test_a_best_guess_outside_the_quartiles_is_said_to_be(point, place):
    """Guess and quartiles come from different predictors; the stroke is the quartiles' own median."""
    needs = {"duration_s": replace(NEEDS["duration_s"], point=np.array([point]))}
    chart = estimate_rows(needs, 0, 0.9)
    assert (f"Outside its quartiles: duration {place}." in chart.note) == bool(place)
    stroke = next(trace for trace in chart.figure.data if len({*trace.x}) == 1 and trace.mode == "lines")
    assert stroke.x[0] == 3_780.0
    thick = max((trace for trace in chart.figure.data if trace.mode == "lines"), key=lambda trace: trace.line.width)
    assert thick.x[0] <= stroke.x[0] <= thick.x[1]


def test_without_targets_there_is_a_sentence():
    assert "No quantity can be predicted" in estimate_rows({}, 0, 0.9).takeaway


def test_what_really_happened_is_a_cross_within_its_axis_also_beyond_the_interval():
    actual = {"duration_s": 400_000.0, "peak_memory_bytes": 1.5e9}
    ran = {"duration_s": Happened(400_000.0), "peak_memory_bytes": Happened(1.5e9, at_least=True)}
    chart = estimate_rows(NEEDS, 0, 0.9, ran)
    crosses = [trace for trace in chart.figure.data if trace.marker.symbol == "x"]
    assert [trace.x[0] for trace in crosses] == list(actual.values())
    for trace in crosses:
        low, high = chart.figure.layout[trace.xaxis.replace("x", "xaxis")].range
        assert low <= math.log10(trace.x[0]) <= high
    assert chart.data["actual"].tolist()[:2] == list(actual.values())
    assert math.isnan(chart.data["actual"].iloc[2])
    assert "actual 4 d 15 h" in chart.alt and "actual at least 1.5 GB" in chart.alt
    assert "cross" in chart.note
    assert "cross" not in estimate_rows(NEEDS, 0, 0.9).note


def test_the_leak_is_called_out_with_both_figures():
    chart = split_bars(evaluation(), NAMING)
    leaky, honest = (evaluation().splits[name].accuracy for name in ("random", "by_group"))
    assert f"predicted correctly for {100 * honest:.0f} % of the runs of new groups" in chart.takeaway
    assert f"A random split overstates this: {100 * leaky:.0f} %" in chart.takeaway
    without = evaluation().splits["by_group"].abstained_share
    assert (f"; {100 * without:.0f} % get no profile)" in chart.takeaway) == (without >= 0.02)
    assert [bar.name for bar in chart.figure.data if bar.marker.color == COLOURS[0]] == ["by group"]
    assert list(chart.data["split"]) == list(SPLITS)
    assert len(chart.figure.data) == 4


@pytest.mark.parametrize(
    ("rights", "words"),
    [
        ({"random": 0.9, "by_group": 0.9}, "A random split gives about the same (93 %)"),
        ({"random": 0.9, "by_job": 0.5}, "of the runs of new jobs"),
        ({"by_time": 0.5}, "of the runs of later jobs"),
        ({"random": 0.9, "by_job": 0.9, "by_time": 0.5}, "Of later jobs "),
    ],
)
def test_the_sentence_of_the_splits_that_could_be_made(rights, words):
    chart = split_bars(evaluation(rights, {"by_group": "no column group"}), NAMING)
    assert words in chart.takeaway
    assert "no column group" in chart.note


def test_later_jobs_are_spoken_of_only_where_they_are_harder():
    even = split_bars(evaluation({"random": 0.9, "by_job": 0.9, "by_time": 0.9}, {}), NAMING)
    assert "Later" not in even.takeaway


def test_table_five_has_the_worst_on_top_and_every_row_of_support():
    record = scores(right=0.3)
    chart = table_five(record, NAMING)
    assert chart.data["f1"].is_monotonic_increasing
    assert chart.data["support"].sum() == record.n_test
    assert "weighted F1" in chart.takeaway
    assert "P7" in chart.takeaway
    assert "Every profile is recognised" in table_five(scores(right=1.0), NAMING).takeaway


@pytest.mark.parametrize("shown_as", SHOWN_AS)
def test_the_confusion_matrix_as_rows_and_as_shares(shown_as):
    record = scores(right=0.8)
    chart = confusion_heatmap(record, NAMING, shown_as)
    numbers = chart.data.drop(columns=[chart.data.columns[0], "support"]).to_numpy()
    totals = record.confusion.counts.sum(axis=1)
    assert numbers.sum(axis=1) == pytest.approx(totals if shown_as == "rows" else np.full(len(totals), 100.0), abs=0.2)
    assert chart.data["support"].tolist() == totals.tolist()
    assert len(chart.figure.layout.annotations) == int((record.confusion.counts > 0).sum())


def test_the_classes_that_a_matrix_leaves_out_are_counted():
    assert confusion_note(scores(), 1).endswith(" The table also has 1 class row with fewer errors.")
    assert confusion_note(scores(), 2).endswith(" The table also has 2 class rows with fewer errors.")


def test_the_confusion_matrix_has_the_most_errors_first_and_only_errors_in_colour():
    """By hand: profile 7 is predicted as 0 twenty times, profile 0 as nothing twenty times; outliers never err."""
    record = scores(right=0.8)
    right, errors = confusion_heatmap(record, NAMING).figure.data
    assert errors.y[0].startswith("P0")
    assert list(errors.y)[1:] == ["Unclustered", "P7"]
    diagonal = np.eye(3, dtype=bool)
    assert np.isnan(np.array(right.z)[~diagonal]).all()
    assert np.isnan(np.array(errors.z)[diagonal]).all()
    assert np.array(right.z)[diagonal].tolist() == [0.8, 1.0, 0.8]
    assert np.array(errors.z)[2, 0] == 0.2
    assert errors.colorscale[0][1].endswith(",0)")
    assert "actual P7" in errors.customdata[2][0]


def test_no_mistake_is_said_so():
    assert confusion_heatmap(scores(right=1.0), NAMING).takeaway == "Every run is predicted correctly."


def test_profiles_that_are_never_recognised_stand_in_one_table():
    found = evaluation({"random": 1.0, "by_job": 0.5, "by_group": 0.0}, {})
    table = missed_table(found, NAMING).frame()
    assert table["profile"].tolist() == [NAMES[0], "P7"]
    assert table["runs"].tolist() == [100, 100]
    assert table["recall_random"].tolist() == [1.0, 1.0]
    assert table["recall_by_job"].tolist() == [0.5, 0.5]
    assert table["recall_by_group"].tolist() == [0.0, 0.0]
    assert not missed_table(evaluation({"random": 1.0}, {}), NAMING).rows


@pytest.mark.parametrize(("right", "words"), [(0.95, "well calibrated"), (0.5, "overconfident")])
def test_calibration_is_read_from_the_record(right, words):
    chart = reliability_diagram(scores(right=right), NAMING)
    assert words in chart.takeaway
    assert chart.data["rows"].sum() == 300
    assert len(chart.figure.data[1].x) == 1


def test_importance_adds_up_the_classes_and_states_its_sample():
    found = global_explanation()
    for chart, means in (
        (field_bars(found, NAMING), found.by_field),
        (value_bars(found, NAMING), found.by_value),
    ):
        (bars,) = chart.figure.data
        assert np.array(bars.x) == pytest.approx(means.sum(axis=1))
        assert "60 of 5,000 runs, seed 3" in chart.note
        assert "The contributions add up to the odds." in chart.note
    assert "do not add up to the odds (gap" in field_bars(global_explanation(additive=False), NAMING).note
    assert field_bars(found, NAMING).takeaway.startswith("Most of the effect on the odds is from user (80 %)")
    assert (
        fields_sentence(["user", "group"], np.array([9.0, 0.01]))
        == "Most of the effect on the odds is from user (100 %)."
    )


@pytest.mark.parametrize(
    ("largest", "words"),
    [
        (0.5, ["÷ 1.5", "÷ 1.2", "÷ 1.1", "× 1", "× 1.1", "× 1.2", "× 1.5"]),
        (2.5, ["÷ 10", "÷ 5", "÷ 2", "× 1", "× 2", "× 5", "× 10"]),
        (7.0, ["÷ 1,000", "÷ 100", "÷ 10", "× 1", "× 10", "× 100", "× 1,000"]),
        (20.7, ["÷ 10<sup>6</sup>", "÷ 10<sup>3</sup>", "× 1", "× 10<sup>3</sup>", "× 10<sup>6</sup>"]),
    ],
)
def test_an_axis_of_effects_says_how_many_times_larger_the_odds_become(largest, words):
    axis = odds_axis(np.array([[-largest, 0.0], [largest / 3, 0.1]]))
    assert axis["ticktext"] == words
    assert axis["tickvals"][len(words) // 2] == 0
    assert max(axis["tickvals"]) <= largest


def test_a_beeswarm_has_a_dot_per_job_and_field_in_its_own_band():
    found = global_explanation()
    chart = beeswarm(found, NAMING)
    assert len(chart.figure.data) == 2
    for place, dots in enumerate(chart.figure.data):
        assert np.array(dots.x) == pytest.approx(found.effects_on()[:, place])
        assert np.abs(np.array(dots.y) - place).max() < 0.5
    assert len(chart.data) == found.n_sampled
    assert chart.takeaway.startswith("User matters most")


def test_views_of_a_profile_are_drawn_from_its_part_of_the_matrix():
    found, profile = global_explanation(), int(CLASSES[1])
    own = found.effects[:, :, 1]
    assert np.array_equal(found.effects_on(profile), own)
    assert profile_bars(found, NAMING, profile).data["mean_abs_shap"].tolist() == sorted(
        np.abs(own).mean(axis=0), reverse=True
    )
    chart = dependence(found, NAMING, "requested_memory_bytes", profile)
    assert np.array_equal(chart.figure.data[0].y, own[:, 1])
    assert np.array_equal(chart.figure.data[0].x, found.numbers[:, 1])
    assert interaction_heatmap(found, NAMING).data["mean_abs_interaction"].tolist() == [0.4]


def test_dots_of_one_value_stand_apart_and_a_lone_one_in_the_middle():
    heights = offsets(np.array([0.0, 0.0, 0.0, 1.0]))
    assert len(set(heights[:3])) == 3
    assert heights[3] == 0
    assert offsets(np.zeros(1)).tolist() == [0.0]


def test_answers_for_many_jobs_keep_every_row_and_its_reason():
    said = Forecasts(predictions(), {"duration_s": estimates("duration_s", 10.0, 1.0, 100.0)})
    said = Forecasts(said.profiles, {})
    jobs = pd.DataFrame({"user": ["a", HOSTILE, None]}, index=[7, 8, 9])
    table = predictions_table(jobs, said, FAITHFUL, first_row=5)
    assert table["row"].tolist() == [5, 6, 7]
    assert table["profile"].tolist() == [7, -1, -1]
    assert table["abstained"].tolist() == [False, True, True]
    assert table["reason"].iloc[0] == ""
    assert "required probability" in table["reason"].iloc[1]
    assert set(table["definitions"]) == {"as published"}
    assert table["user"].iloc[1] == HOSTILE


def test_past_jobs_have_weights_and_units():
    past = pd.DataFrame(
        {"row_id": [3, 9], "user": ["a", "b"], "start_time_s": [1.0, 2.0], "duration_s": [3_780.0, math.nan]}
    )
    unfinished = past.assign(finished=False, status="CANCELLED")
    nearest = NearestJobs(np.array([3, 9]), np.array([0.5, 0.25]))
    table, file = (past_jobs_table(past, nearest, {3: 7}, NAMING, file=one) for one in (False, True))
    assert list(table.columns) == ["row_id", "weight", "profile", "duration_s", "user"]
    assert table["weight"].tolist() == ["50.0 %", "25.0 %"]
    assert table["profile"].tolist() == ["P7", ""]
    assert table["duration_s"].tolist() == ["1 h 03 min", "no data"]
    assert past_jobs_table(unfinished, nearest, {}, NAMING)["duration_s"].tolist() == ["at least 1 h 03 min", "no data"]
    assert list(file.columns) == list(table.columns)
    assert file["weight"].tolist() == [0.5, 0.25]
    assert file["duration_s"].tolist()[0] == 3_780 and math.isnan(file["duration_s"].iloc[1])


def held(target="peak_memory_bytes", n=200):
    """Return held-out runs of which every fourth is outside its interval."""
    point = np.geomspace(1e9, 1e11, n)
    actual = np.where(np.arange(n) % 4, point * 1.1, point * 9)
    one = Compared(point, point / 2, point * 2, actual)
    nothing: Any = None
    return HeldOut(ForecasterSettings(), nothing, "by_job", np.arange(n) + 100, {target: one}, 150, 1000, 1.0)


def test_held_out_runs_stand_with_the_one_in_question_ringed_and_the_hit_rate_of_all():
    given = held()
    chart = held_out_scatter(given, "peak_memory_bytes", 150)
    assert chart.takeaway.startswith("75 % of 200 held-out runs lie inside their 90 % interval")
    assert 40 <= len(chart.data) <= 41
    ring = next(trace for trace in chart.figure.data if trace.name == "this run")
    one = given.compared["peak_memory_bytes"]
    assert (ring.x[0], ring.y[0]) == (one.point[50], one.actual[50])
    assert len(next(trace for trace in chart.figure.data if trace.name == "outside").x) == (~chart.data["inside"]).sum()
    without = held_out_scatter(given, "peak_memory_bytes", None)
    assert not any(trace.name == "this run" for trace in without.figure.data)


def test_an_example_beyond_its_interval_is_said_to_be_one():
    inside, beyond = (replace(held(), example=at) for at in (101, 104))
    assert "its needs lie inside their intervals" in example_words(inside)
    assert example_words(beyond).endswith("none with a predicted profile has all its needs inside their intervals.")


def test_runs_without_a_fact_are_neither_drawn_nor_counted():
    given = held()
    one = given.compared["peak_memory_bytes"]
    actual = np.where(np.arange(200) < 100, np.nan, one.actual)
    given = replace(given, compared={"peak_memory_bytes": replace(one, actual=actual)})
    chart = held_out_scatter(given, "peak_memory_bytes", 101)
    assert "of 100 held-out runs" in chart.takeaway
    assert chart.data["actual"].notna().all() and 101 not in set(chart.data["run"])


def test_reasons_are_odds():
    chart = waterfall(explanation(), NAMING)
    texts = chart.figure.data[0].text
    assert (texts[0], texts[-1]) == ("", "")
    assert all(text[0] in "×÷" for text in texts[1:-1])
    assert odds_times(math.log(11)) == "× 11" and odds_times(-math.log(2.4)) == "÷ 2.4"
    assert odds_times(-math.log(1.03)) == "÷ 1.03" and odds_times(-1e-4) == odds_times(0) == "× 1"


def roomy(**judged):
    return SimpleNamespace(
        reason=ROOM, largest=18.0, smallest=2.0, request=32.0, size=20.0, n_runs=12, n_killed=0, n_above=0, **judged
    )


@pytest.mark.parametrize(
    ("request_gb", "words"),
    [
        (32.0, "Request 20 GB in place of 32 GB: largest of 12 runs used 18 of 32 GB."),
        (None, "Request 20 GB: largest of 12 runs used 18 of 32 GB."),
        (20.0, "Keep the request of 20 GB: largest of 12 runs used 18 of 32 GB."),
    ],
)
def test_what_to_request_is_the_row_of_the_plan(request_gb, words):
    row = roomy(n_judged=6, saved=1.0)
    assert request_sentence(Found(row, 20.0, ""), request_gb) == words


@pytest.mark.parametrize(("n_judged", "why"), [(0, "no later run yet"), (6, "not yet lowered for its later runs")])
def test_a_row_that_saved_nothing_says_why(n_judged, why):
    row = roomy(n_judged=n_judged, saved=0.0)
    assert request_sentence(Found(row, 20.0, ""), None) == f"Request 20 GB: largest of 12 runs used 18 of 32 GB; {why}."


@pytest.mark.parametrize(
    ("asked", "kills"), [(4.0, None), (19.0, None), (20.0, (0.3, 9.0)), (32.0, (0.3, 9.0)), (40.0, (0.0, 9.0))]
)
def test_kills_are_told_of_the_size_that_is_given(asked, kills):
    row = roomy(n_judged=6, saved=1.0, kills_per_1000=Interval(0.3, 9.0))
    found = Found(row, 20.0 if asked == 32.0 else asked, "")
    assert found.kills_per_1000 == (None if kills is None else Interval(*kills))
    over = "; 12 runs used up to 18 GB, more than this request" in why_found(found, MEMORY, "GB")
    assert over == (asked < row.largest)


def test_what_to_request_without_a_row_says_why():
    assert request_sentence(Found(None, 8.0, "no run of user 'x' is known"), 8.0) == (
        "Request 8 GB, as now: no run of user 'x' is known."
    )
    assert request_sentence(Found(None, None, "no run of user 'x' is known"), None).startswith("No size is known")
