"""Figures and tables of a dataset."""

import numpy as np
import pytest

from workprof.charts.data import catalogue_table, check_table, column_table, coverage_chart, ingest_sentence, join_table
from workprof.charts.overview import dataset_headlines, overview_sentence
from workprof.store.reports import Check, Column, ColumnProfile, Dataset, IngestReport, JoinStep, TimeCoverage

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
    assert chart.figure.layout.yaxis.title.text == "Rows per 1 h 00 min"
    assert chart.figure.layout.xaxis.title.text == "Start (days since the first start)"
    assert "1 of 4 time bins are empty" in chart.takeaway
    assert "7 rows without a start time" in chart.note


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
    assert list(check_table(report())["level"]) == ["✖ error", "⚠ warning", "ℹ info"]


def test_joins_and_catalogue():
    assert join_table(report())["fan-out"][0] == 3
    assert catalogue_table((DATASET,))["hash"][0] == "abababab"


def test_an_ingest_is_told_in_one_sentence():
    assert ingest_sentence(report()).startswith("10 rows read, 1 rejected; 9 rows kept (90.0 %)")
    assert "already loaded" in ingest_sentence(report(already_loaded=True))


def test_the_overview_leaves_out_what_a_dataset_lacks():
    columns = (profile("duration_s", median=60.0), profile("user", numeric=False))
    labels = [item.label for item in dataset_headlines(DATASET, columns)]
    assert labels == ["Rows", "Finished", "Users", "Median duration"]
    assert "42 users" in overview_sentence(DATASET, columns)
    assert "no durations" in overview_sentence(DATASET, ())
