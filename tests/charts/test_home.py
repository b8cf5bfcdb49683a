"""The figures of Home: every one with its meaning; what a trace lacks is 'no data' with the column that is missing."""

import dataclasses

import numpy as np
import pytest

from tests.charts.records_for_memory import recommended
from tests.charts.records_for_tests import fit
from workprof.charts.home import benchmark_headlines, home_headlines, measured_sentence, telemetry_headlines
from workprof.core.units import format_share
from workprof.store.reports import Column, ColumnProfile, Dataset

DATASET = Dataset("demo", "ab" * 16, "jobs", "pai-sample", 1000, 900, "2026-01-02T03:04:05+00:00", "corrected", "x.csv")
COLUMNS = ("job_name", "user", "node", "duration_s", "requested_memory_bytes", "peak_memory_bytes")


def column(name, *, missing=0.0, median=2.0**31):
    words = name in ("job_name", "user", "node", "benchmark")
    numbers = (np.nan,) * 4 if words else (1.0, median, 2.0**33, 2.0**34)
    return ColumnProfile(
        Column(name, "VARCHAR" if words else "DOUBLE", "", name, not words),
        1000,
        missing,
        42,
        *numbers,
        (),
        np.array([], int),
    )


def told(columns=COLUMNS, profiles=None, recommendation=None):
    found = home_headlines(DATASET, tuple(column(name) for name in columns), profiles, recommendation)
    return {item.label: item for item in found}


def test_a_whole_trace_has_every_figure():
    found = told(profiles=fit(), recommendation=recommended())
    assert list(found) == [
        *(
            "Jobs",
            "Users",
            "Nodes",
            "Median duration",
            "Median peak memory",
            "Clustered",
            "Memory saving",
            "Kills",
        )
    ]
    assert (found["Jobs"].value, found["Jobs"].detail) == ("42", "1,000 runs")
    assert "900 of 1,000 runs have finished" in found["Jobs"].meaning
    assert (found["Median peak memory"].value, found["Median peak memory"].detail) == ("2.15 GB", "of 2.15 GB asked")
    assert (found["Clustered"].value, found["Clustered"].detail) == ("82.6 %", "3 profiles")
    assert all(item.meaning.endswith(".") for item in found.values())


def test_saving_and_kills_are_those_of_the_recommendation_and_stand_together():
    found, record = told(recommendation=recommended()), recommended()
    assert found["Memory saving"].value == format_share(record.recommended.saved_share)
    assert found["Kills"].value == f"{record.recommended.failures:,}"
    assert found["Kills"].detail == f"enforced: {record.enforced.failures:,}"


def test_kept_requests_are_said_to_be_kept():
    kept = dataclasses.replace(recommended(), kept=True, recommended=recommended().requested)
    found = told(recommendation=kept)
    assert (found["Memory saving"].value, found["Memory saving"].detail) == ("0.0 %", "keep the requests")


def test_what_is_not_computed_is_not_yet():
    found = told()
    assert {found[name].value for name in ("Clustered", "Memory saving", "Kills")} == {"not yet"}


@pytest.mark.parametrize(
    ("missing", "labels"),
    [
        ("user", ["Users"]),
        ("node", ["Nodes"]),
        ("duration_s", ["Median duration", "Memory saving", "Kills"]),
        ("peak_memory_bytes", ["Median peak memory", "Memory saving", "Kills"]),
        ("requested_memory_bytes", ["Memory saving", "Kills"]),
    ],
)
def test_a_missing_column_is_named(missing, labels):
    found = told([name for name in COLUMNS if name != missing])
    lacking = [item for item in found.values() if item.value == "no data"]
    assert [item.label for item in lacking] == labels
    assert {item.detail for item in lacking} == {"column missing"}
    assert all(f"no values of {missing};" in item.meaning for item in lacking)


def test_without_names_of_jobs_the_rows_are_counted():
    found = told([name for name in COLUMNS if name != "job_name"])
    assert found["Runs"].value == "1,000"


def test_an_empty_column_counts_as_missing():
    columns = (column("user", missing=1.0),)
    found = {item.label: item.value for item in home_headlines(DATASET, columns, None, None)}
    assert found["Users"] == "no data"


def test_measured_datasets_have_figures_and_a_sentence():
    runs = benchmark_headlines(DATASET, tuple(column(name) for name in ("node", "benchmark", "started_s")))
    assert [item.label for item in runs] == ["Runs", "Nodes", "Benchmarks", "Period"]
    assert measured_sentence(DATASET, runs) == "demo: 1,000 runs, 42 nodes and 42 benchmarks."
    samples = telemetry_headlines(DATASET, tuple(column(name) for name in ("t", "cpu.user%", "node")), 18, 6)
    assert measured_sentence(DATASET, samples) == "demo: 1,000 samples, 18 runs, 6 workloads and 1 counter."
