"""Figures and tables of a dataset."""

from dataclasses import replace

import numpy as np
import pytest

from workprof.charts.data import (
    catalogue_table,
    check_table,
    column_kind,
    column_table,
    coverage_chart,
    ingest_sentence,
    join_table,
    validity_sentence,
)
from workprof.charts.home import dataset_headlines, overview_sentence, unended_words
from workprof.store.reports import Check, Column, ColumnProfile, Counts, Dataset, IngestReport, JoinStep, TimeCoverage

DATASET = Dataset("demo", "ab" * 16, "jobs", "pai-sample", 1000, 900, "2026-01-02T03:04:05+00:00", "corrected", "x.csv")


def report(**changes):
    fields = {
        "dataset": "demo",
        "hash": "ab" * 16,
        "kind": "jobs",
        "format": "generic",
        "rows_read": 10,
        "rows": 9,
        "rejected": 1,
        "rejects_file": None,
        "joins": (JoinStep("instances", 10, 30, 3.0),),
        "checks": (Check("a", "info", 5, "five"), Check("b", "error", 1, "one"), Check("c", "warning", 2, "two")),
        "seconds": 0.5,
    }
    return IngestReport(**(fields | changes))


def profile(name, numeric=True, median=10.0):
    column = Column(name, "DOUBLE" if numeric else "VARCHAR", "s", name, numeric)
    values = (1.0, median, 20.0, 30.0) if numeric else (np.nan,) * 4
    return ColumnProfile(column, 1000, 0.25, 42, *values, (("x", 3),), np.arange(24) if numeric else np.array([], int))


def test_time_coverage_has_units_and_counts_what_it_leaves_out():
    chart = coverage_chart(TimeCoverage(np.arange(5) * 3600.0, np.array([1, 0, 2, 3]), 7))
    assert chart.figure.layout.yaxis.title.text == "Runs per 1 h"
    assert chart.figure.layout.xaxis.title.text == "Start (day of the trace)"
    assert "Runs start over 4 h 00 min; 1 of 4 bins are empty" in chart.takeaway
    assert "7 runs without a start time" in chart.note
    assert (chart.figure.data[0].x * 24 == np.arange(4) + 0.5).all()  # bars stand over their bins


def test_starts_at_one_moment_have_that_moment_on_the_axis_and_no_parts_of_a_second():
    axis = coverage_chart(TimeCoverage(1.7e9 + np.array([0.0, 1.0]), np.array([1]), 0, 0.0)).figure.layout.xaxis
    assert [tick.timestamp() for tick in axis.tickvals] == [1.7e9]


def test_real_dates_are_shown_as_dates():
    chart = coverage_chart(TimeCoverage(1.7e9 + np.arange(3) * 3600.0, np.array([1, 2]), 0))
    assert chart.figure.layout.xaxis.title.text == "Start (date, UTC)"


def test_without_start_times_there_is_no_coverage():
    assert coverage_chart(TimeCoverage(np.array([]), np.array([], int), 10)) is None


def test_columns_are_written_with_units_and_a_histogram():
    table = column_table((profile("duration_s", median=600.0), profile("user", numeric=False)))
    assert list(table["median"]) == ["10 min 00 s", ""]
    assert table["histogram"][0] == list(range(24))
    assert table["missing"][0] == pytest.approx(0.25)


def test_findings_stand_gravest_first_with_words_and_signs():
    assert list(check_table(report())["level"]) == ["✖\u00a0error", "⚠\u00a0warning", "ℹ\u00a0info"]


def test_joins_and_catalogue():
    assert join_table(report())["fan-out"][0] == 3
    assert catalogue_table((DATASET,))["hash"][0] == "abababab"


def test_an_ingest_is_told_in_one_sentence():
    assert ingest_sentence(report()).startswith("10 rows read, 1 rejected; 9 rows loaded (90.0 %)")
    assert "already loaded" in ingest_sentence(report(already_loaded=True))


def test_the_overview_leaves_out_what_a_dataset_lacks():
    columns = (profile("duration_s", median=60.0), profile("user", numeric=False))
    labels = [item.label for item in dataset_headlines(DATASET, columns)]
    assert labels == ["Runs", "Finished", "Users", "Median duration"]
    counts = Counts(1_000, 900, 30, 20, 80, 42)
    told = overview_sentence(DATASET, columns, counts)
    assert "holds 1,000 runs of 80 jobs by 42 users; half of them end within 1 min" in told
    assert "no durations" in overview_sentence(DATASET, (), counts)
    (apart,) = unended_words(counts, columns)
    assert "30 still running at the end of the trace, 20 never started" in apart
    assert "no size rests on them" in apart
    (sized,) = unended_words(counts, (profile("windows", numeric=False),))
    assert sized.endswith("20 never started. Sizes rest on windows of services that run on.")
    assert unended_words(replace(counts, running=0, never_started=0), columns) == ()


@pytest.mark.parametrize(("hours", "words"), [(0, "UTC"), (5.5, "UTC+05:30"), (-3, "UTC-03:00"), (8, "UTC+08:00")])
def test_the_time_axis_names_its_zone_and_moves_with_it(hours, words):
    coverage = TimeCoverage(1.7e9 + np.arange(3) * 3600.0, np.array([1, 2]), 0)
    utc, local = coverage_chart(coverage), coverage_chart(coverage, hours)
    assert local.figure.layout.xaxis.title.text == f"Start (date, {words})"
    moved = local.figure.data[0].x[0] - utc.figure.data[0].x[0]
    assert moved.total_seconds() == hours * 3600
    assert local.data.equals(utc.data)


def test_offsets_of_a_trace_know_no_zone():
    chart = coverage_chart(TimeCoverage(np.arange(3) * 3600.0, np.array([1, 2]), 0), 8.0)
    assert chart.figure.layout.xaxis.title.text == "Start (day of the trace)"


@pytest.mark.parametrize("name", ["start_time_s", "started_s"])
def test_dates_in_columns_are_written_as_dates(name):
    dates = ColumnProfile(
        Column(name, "DOUBLE", "s", "start", True),
        rows=4,
        missing_share=0.0,
        distinct=4,
        minimum=1_681_078_320.0,
        median=1_681_078_380.0,
        p95=1_681_164_720.0,
        maximum=float("nan"),
        top=(),
        histogram=np.arange(24),
    )
    line = column_table((dates,)).iloc[0]
    assert list(line[["min", "median", "p95", "max"]]) == [
        "2023-04-09 22:12",
        "2023-04-09 22:13",
        "2023-04-10 22:12",
        "no data",
    ]
    assert line["unit"] == "date, UTC"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("VARCHAR", "text"),
        ("BIGINT", "number"),
        ("UINTEGER", "number"),
        ("DECIMAL(18,3)", "number"),
        ("TIMESTAMP WITH TIME ZONE", "time"),
        ("BOOLEAN", "yes/no"),
        ("STRUCT(a INTEGER)", "STRUCT(a INTEGER)"),
    ],
)
def test_types_of_columns_are_told_in_plain_words(name, kind):
    assert column_kind(name) == kind


def test_lines_of_steps_are_no_rows_that_got_lost():
    steps = Check("steps", "info", 63, "63 lines of steps were folded into their jobs")
    told = ingest_sentence(report(rows_read=104, rows=41, rejected=0, checks=(steps,)))
    assert told.startswith("41 rows and 63 lines of steps read, none rejected; 41 rows loaded (100 %)")


def test_a_dataset_leads_with_whether_it_is_valid():
    assert validity_sentence(DATASET, report()) == "1,000 runs loaded, 1 rejected; 2 checks need a look."
    assert validity_sentence(DATASET, report(checks=(), rejected=0)).endswith("0 rejected; all checks passed.")
    assert "3 lines lost; 1 check needs a look" in validity_sentence(
        DATASET, report(lost=3, checks=(Check("c", "warning", 2, "two"), Check("a", "info", 5, "five")))
    )
    counters = replace(DATASET, kind="telemetry", rows=1)
    assert validity_sentence(counters, report()).startswith("1 sample loaded")


def test_a_part_says_what_is_told_of_the_whole_dataset():
    part = report(hash=f"{'ab' * 16}?user=ann", kind="jobs", rows_read=400, rows=83, rejected=0)
    assert (
        validity_sentence(DATASET, part)
        == "83 of 400 runs are in this part; of the whole dataset, 2 checks need a look."
    )
    assert ingest_sentence(part).startswith("83 of 400 runs are in this part; rejected rows, lines and checks are of")


def test_a_round_width_is_named_in_words():
    def axis(width_s):
        edges = np.arange(3) * width_s
        return coverage_chart(TimeCoverage(edges, np.array([1, 2]), 0, 1.9 * width_s)).figure.layout.yaxis.title.text

    assert [axis(width) for width in (60, 43_200, 7 * 86_400, 90.5)] == [
        "Runs per 1 min",
        "Runs per 12 h",
        "Runs per 7 d",
        "Runs per 1 min 30 s",
    ]
