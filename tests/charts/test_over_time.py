"""Memory over time in figures: bars, heat map, cells that can be clicked, bursts by name, words of times."""

import dataclasses

import numpy as np
import pytest

from tests.memory.test_over_time import burst, trace
from workprof.answers.over_time import (
    called,
    cell_words,
    cells_table,
    largest_named,
    left_out_words,
    moment,
    over_time_answer,
    over_time_runs_answer,
    over_time_sentence,
    row_names,
)
from workprof.charts.over_time import IDLE_SCALE, MOST_DRAWN, over_time_chart
from workprof.charts.theme import readable
from workprof.core.answer import to_frame
from workprof.core.units import compact, format_share
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.over_time import OverTimeRunsSettings, OverTimeSettings, over_time_of, over_time_runs_of

PROFILES = ("bert · worker, low GPU (P0)", "bert · ps (P1)", "a name of the user's own (P2)", "Unclustered")


def found_of(jobs, by="task", bins="day", **further):
    return over_time_of({"jobs": jobs}, OverTimeSettings(by, bins, **further))


def clustered(labels=(-1, 0, 1, 2)):
    jobs = trace()
    jobs[PROFILE_COLUMN] = np.resize(np.array(labels, dtype=float), len(jobs))
    return jobs


def shown(jobs, by="task", **further):
    found = found_of(jobs, by, **further)
    names = row_names(found, PROFILES)
    return found, names, over_time_chart(found, names)


def test_bars_are_the_sums_of_the_rows_and_cells_the_unused_memory():
    found, _, chart = shown(trace())
    requested, used, heat, cells = chart.figure.data
    assert list(requested.y) == pytest.approx(found.requested.sum(axis=0))
    assert list(used.y) == pytest.approx(found.used.sum(axis=0))
    drawn = np.array(heat.z, dtype=float)
    some = found.unused > 0
    assert np.isnan(drawn[~some]).all()  # nothing unused: the ground of the page
    floor = heat.zmax - 4
    assert drawn[some] == pytest.approx(np.maximum(np.log10(found.unused[some]), floor))
    assert len(cells.x) == some.sum()


@pytest.mark.parametrize("count", [1, 2, 9])
def test_a_row_has_the_height_of_its_name_however_few_there_are(count):
    _, _, chart = shown(trace(user=[f"u{place % count}" for place in range(400)]), "user")
    layout = chart.light.layout
    plot = layout.height - layout.margin.t - layout.margin.b
    assert (layout.yaxis.domain[1] - layout.yaxis.domain[0]) * plot / count > 18.5


def test_every_cell_has_a_point_that_names_it_for_a_click():
    found, names, chart = shown(trace())
    cells = chart.figure.data[3]
    assert (cells.mode, cells.text) == ("text", "")  # unseen
    for (row, place), words in zip(cells.customdata, cells.hovertext, strict=True):
        value = found.unused[found.rows.index(row), int(place)]
        assert words.startswith(f"{names[row]}, {moment(found, int(place))}: {compact(value)} GB·h unused")


def test_colours_are_one_hue_that_begins_at_the_ground_of_both_themes():
    hues = {colour.rpartition(",")[0] for _, colour in IDLE_SCALE}
    alphas = [float(colour.rpartition(",")[2].rstrip(")")) for _, colour in IDLE_SCALE]
    assert len(hues) == 1
    assert alphas == sorted(alphas)
    assert (alphas[0] < 0.1, alphas[-1]) == (True, 1.0)
    for dark in (True, False):
        readable(shown(trace())[2].figure, dark=dark)


def test_rows_beyond_the_most_are_drawn_in_one():
    users = np.random.default_rng(1).choice([f"user {n}" for n in range(30)], 400)
    found, _, chart = shown(trace(user=users), "user")
    heat, cells = chart.figure.data[2:]
    assert len(heat.y) == MOST_DRAWN
    assert heat.y[-1] == f"{30 - MOST_DRAWN + 1} others"
    assert {row for row, _ in cells.customdata} == {*found.rows[: MOST_DRAWN - 1], ""}
    assert len(chart.data) == np.count_nonzero(found.n_runs)  # the data has all of them


def test_profiles_have_their_names_and_short_ones_on_the_axis():
    found, names, chart = shown(clustered(), "profile")
    assert set(names.values()) == set(PROFILES)
    assert names["no profile"] == "Unclustered"
    axis = list(chart.figure.data[2].y)
    assert {"bert · worker (P0)", "bert · ps (P1)", "Unclustered"} < set(axis)
    assert len(set(axis)) == len(found.rows)


def test_long_names_that_end_alike_keep_both_ends_and_fit_a_phone():
    jobs = trace()
    names = ["FLOW:QUANTIFY_SALMON:SALMON_QUANT", "FLOW:QUANTIFY_STAR_SALMON:SALMON_QUANT", "FLOW:FASTQC"]
    jobs["task_name"] = np.resize(np.array(names), len(jobs))
    _, _, chart = shown(jobs)
    axis = list(chart.figure.data[2].y)
    assert {"QUANTIFY_SALM…_QUANT", "QUANTIFY_STAR…_QUANT", "FASTQC"} == set(axis)


def test_names_that_are_alike_at_both_ends_stay_rows_of_their_own():
    jobs = trace()
    names = [f"{'a' * 45}-{at}-{'z' * 45}" for at in range(3)]
    jobs["task_name"] = np.resize(np.array(names), len(jobs))
    found, _, chart = shown(jobs)
    assert len(set(chart.figure.data[2].y)) == len(found.rows) == 3


def test_the_sentence_names_the_largest_profile_before_what_is_in_none():
    found, names, chart = shown(clustered((-1, -1, -1, 0, 1)), "profile")
    assert found.rows[0] == "no profile"
    assert largest_named(found) == 1
    share = format_share(found.unused[1].sum() / found.unused.sum(), 0)
    assert chart.takeaway.startswith(f"Of all profiles, {names[found.rows[1]]} wastes most: {share}.")
    share = format_share(found.unused[0].sum() / found.unused.sum(), 0)
    assert chart.takeaway.endswith(f" Unclustered runs waste {share}.")
    shell = over_time_answer(called(found, list(names.values())))
    assert shell.sentence.endswith(f" Unclustered runs waste {share}.")
    assert "Of all profiles, Unclustered" not in shell.sentence
    assert largest_named(found_of(clustered((-1,)), "profile")) == 0


def test_bursts_are_named_with_their_day_and_leave_the_scale_of_the_others():
    found, _, chart = shown(burst())
    share = format_share(found.bursts[0].share, 0)
    assert chart.takeaway.endswith(f" Includes a peak of one day: b, {moment(found, 10)} ({share}).")
    top = chart.figure.layout.yaxis2.range[1]
    assert top < found.requested.sum(axis=0).max()
    assert f"Off the scale: {moment(found, 10)}." in chart.note
    assert compact(found.requested[:, 10].sum()) in chart.figure.layout.annotations[0].text
    without, _, other = shown(burst(), leave_out_bursts=True)
    assert "Excludes a peak of one day: b" in other.takeaway
    totals = [one.text for one in other.figure.layout.annotations]
    assert totals == [*(compact(total) for total in without.unused.sum(axis=1)), "unused"]
    assert without.unused[:, 10].sum() < found.unused[:, 10].sum()


def test_a_trace_without_waste_says_so():
    found = found_of(trace(peak_memory_bytes=1e12))
    assert over_time_sentence(found, row_names(found, ())) == "No run leaves requested memory unused."
    assert len(over_time_chart(found, row_names(found, ())).figure.data) == 4


def test_times_are_dates_where_the_clock_has_them_else_counted_from_the_start():
    found = found_of(trace())
    assert moment(found, 0) == "15 Nov"
    hours = found_of(trace(), bins="6h")
    assert moment(hours, 1) == "15 Nov 06:00"
    years = found_of(trace(days=400), bins="week")
    assert moment(years, 0).endswith(" 2023")
    offsets = trace()
    offsets[["start_time_s", "end_time_s"]] -= 1_700_000_000.0 - 60 * 86_400
    counted, _, chart = shown(offsets)
    assert [moment(counted, place) for place in (0, 9)] == ["day 60", "day 69"]
    assert moment(found_of(offsets, bins="6h"), 1) == "day 60 12:00"
    assert chart.figure.layout.xaxis.title.text == "Day of the trace"
    assert list(chart.figure.data[0].x[:3]) == [60, 61, 62]


def test_runs_in_no_bin_are_counted_in_the_note():
    found = dataclasses.replace(found_of(trace()), n_without_time=3, n_not_judged=1, n_unfinished=2)
    assert left_out_words(found) == (
        "1 finished run without request, use or run time is excluded; 2 runs that did not finish are excluded; "
        "3 runs without times are in the sums, in no bin."
    )
    assert left_out_words(dataclasses.replace(found, n_without_time=0, n_not_judged=0, n_unfinished=0)) == ""


def test_names_of_a_file_are_shown_as_they_are():
    found, _, chart = shown(trace(task_name=np.resize(["<b>x</b>", "a", "b", "c"], 400)))
    assert "&lt;b&gt;x&lt;/b&gt;" in chart.figure.data[2].y
    assert found.rows.count("<b>x</b>") == 1


def test_a_cell_has_a_sentence_and_a_table():
    jobs = trace()
    found = found_of(jobs)
    runs = over_time_runs_of({"jobs": jobs}, OverTimeRunsSettings(found.settings, found.rows[0], 3, 10_000))
    told = over_time_runs_answer(runs, cell_words(found, runs, row_names(found, ())))
    assert told.sentence == (
        f"{runs.n_runs} runs of {found.rows[0]}, {moment(found, 3)}: {compact(found.unused[0, 3])} GB·h unused."
    )
    table = to_frame(told)
    assert table["unused_gb_h"].sum() == pytest.approx(found.unused[0, 3])
    assert cells_table(found, row_names(found, ())).frame()["unused_gb_h"].sum() == pytest.approx(found.unused.sum())
