"""The figures of Home: every one with its meaning; what a trace lacks is 'no data' with the column that is missing."""

import dataclasses

import numpy as np
import pytest

from tests.charts.records_for_memory import jobs, verdict
from tests.memory.test_over_time import trace
from workprof.answers.home import as_of_words, deeds
from workprof.answers.over_time import judged_sentence, memory_sentence
from workprof.answers.verdict import notes, untested_words, why
from workprof.charts.home import (
    benchmark_headlines,
    home_headlines,
    measured_sentence,
    next_steps,
    telemetry_headlines,
    trace_headlines,
)
from workprof.core.units import compact, format_share
from workprof.memory.over_time import OverTimeSettings, over_time_of
from workprof.memory.resources import MEMORY
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.memory.verdict_rows import FULL, LOWER
from workprof.store.reports import Column, ColumnProfile, Counts, Dataset

DATASET = Dataset("demo", "ab" * 16, "jobs", "pai-sample", 1000, 900, "2026-01-02T03:04:05+00:00", "corrected", "x.csv")
COLUMNS = ("job_name", "user", "node", "duration_s", "requested_memory_bytes", "peak_memory_bytes")


def over_time():
    return over_time_of({"jobs": trace()}, OverTimeSettings(by="task"))


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


COUNTS = Counts(1000, 900, 0, 0, 42, 7, (("out of memory", 3), ("timed out", 0), ("killed", 0), ("failed", 97)))


def told(columns=COLUMNS, verdict=None, over_time=None, counts=COUNTS):
    found = home_headlines(tuple(column(name) for name in columns), over_time, verdict, counts)
    return {item.label: item for item in found}


def traced(columns=COLUMNS):
    return {item.label: item for item in trace_headlines(DATASET, tuple(column(name) for name in columns))}


def test_a_whole_trace_has_four_figures():
    record = over_time()
    found = told(verdict=verdict(), over_time=record)
    assert list(found) == ["Requested", "Unused", "Saved", "Killed or failed"]
    assert found["Requested"].value == f"{compact(record.total_requested)} GB·h"
    assert found["Unused"].value == f"{compact(record.total_unused)} GB·h"
    assert found["Unused"].detail == f"{100 * record.total_unused / record.total_requested:.0f} % of requested"
    assert (found["Killed or failed"].value, found["Killed or failed"].detail) == ("100", "3 out of memory, 97 failed")
    assert all(item.meaning.endswith(".") for item in found.values())


def test_the_data_behind_it_has_four_more():
    found = traced()
    assert list(found) == ["Jobs", "Nodes", "Median duration", "Median peak memory"]
    assert (found["Jobs"].value, found["Jobs"].detail) == ("42", "1,000 runs")
    assert "900 of 1,000 runs have finished" in found["Jobs"].meaning
    assert (found["Median peak memory"].value, found["Median peak memory"].detail) == ("2.15 GB", "2.15 GB requested")


def test_the_answer_is_one_number_and_below_it_of_which_runs():
    sums = {"total_requested": 233_345.0, "total_used": 76_000.0, "total_unused": 158_123.0}
    record = dataclasses.replace(over_time(), n_judged=15_000, **sums)
    assert memory_sentence(record) == "68 % of requested memory is never used: 158,000 of 233,000 GB·h."
    assert judged_sentence(record, 15_000, 63) == "Of 15,000 runs by 63 users."
    assert judged_sentence(dataclasses.replace(record, n_judged=1), 1, None) == "Of 1 run."


def test_use_above_the_requests_is_why_used_and_unused_are_more_than_all():
    record = dataclasses.replace(over_time(), n_judged=9, total_requested=1000.0, total_used=350.0, total_unused=680.0)
    words = judged_sentence(record, 9, None)
    assert words == "Of 9 runs. Another 3 % is used above the requests."


def test_nothing_requested_is_said_and_no_share_of_it():
    record = dataclasses.replace(over_time(), total_requested=0.0, total_used=0.0, total_unused=0.0)
    assert memory_sentence(record) == "No run held requested memory for any time."


def test_what_to_do_next_is_the_largest_row_and_what_breaks():
    record = over_time()
    names = dict(zip(record.rows, "ABCD", strict=False))
    enforced = jobs().assign(row_id=range(len(jobs())), finished=True)
    enforced.loc[:6, "peak_memory_bytes"] = enforced["requested_memory_bytes"] + 1e9
    steps = next_steps(record, names, verdict_of({"jobs": enforced}, VerdictSettings()))
    assert [what for _, what in steps] == ["waste", "breaks", "cut", "nodes"]
    assert steps[0][0] == f"Biggest waste: A, {compact(record.unused[0].sum())} GB·h unused"
    assert steps[1][0] == "What breaks: 7 runs if requests were enforced"
    assert [words for words, _ in steps[2:]] == ["What if all requests are cut by 30 %", "How many 64 GB nodes"]
    assert next_steps(None, {}, None) == ()


def test_saving_and_kills_are_those_of_the_verdict_and_stand_together():
    record = verdict()
    found, judged = told(verdict=record), record.memory.judged
    assert found["Saved"].value == format_share(judged.saved_share)
    kills = "no kill" if not judged.kills else f"{judged.kills} kill{'s' * (judged.kills > 1)}"
    assert found["Saved"].detail == f"at {kills} in {judged.n_runs:,} later runs"


def test_what_is_not_computed_is_not_yet():
    assert [item.value for item in told().values()] == ["not yet", "not yet", "not yet", "100"]


def test_a_trace_that_says_nothing_of_ends_has_no_count_of_them():
    silent = told(counts=dataclasses.replace(COUNTS, ended=(), tells_ends=False))["Killed or failed"]
    assert (silent.value, silent.detail) == ("no data", "column missing")
    none = told(counts=dataclasses.replace(COUNTS, ended=(("failed", 0),)))["Killed or failed"]
    assert (none.value, none.detail) == ("0", "of 1,000 runs")


def test_what_to_do_is_a_row_with_its_saving_and_its_price():
    record = verdict()
    first = next(row for row in record.memory.rows if row.action != "keep")
    (plain,) = deeds(record, 1)
    (priced,) = deeds(record, 1, 0.5, "USD")
    assert plain.row == priced.row == first
    assert plain.what == f"Lower HEAVY: {first.request:.3g} → {first.size:.3g} GB"
    assert plain.saves == f"−{compact(first.saved)} GB·h"
    assert priced.saves.startswith(f"{plain.saves}, ")
    assert priced.saves.endswith(" USD")
    assert float(priced.saves.split()[-2].replace(",", "")) == pytest.approx(first.saved / 2, rel=0.005)


def test_what_no_later_run_tests_is_told_with_its_share_of_the_unused():
    record = verdict()
    assert untested_words(record) == ""
    rows = tuple(dataclasses.replace(row, saved=0.0) if row.action == LOWER else row for row in record.memory.rows)
    lowered = [row.unused for row in rows if row.action == LOWER]
    share = sum(lowered) / record.memory.trace.unused
    untested = dataclasses.replace(
        record, resources=(dataclasses.replace(record.memory, rows=rows), *record.resources[1:])
    )
    words = untested_words(untested)
    assert words.startswith(f"Not in the saving: {len(lowered)} lowered row")
    assert words.endswith(f"with {format_share(share)} of the unused memory.")
    assert words in notes(untested)


@pytest.mark.parametrize(
    ("changed", "saves"),
    [
        ({"saved": 0.0, "n_judged": 0, "unused": 2_534.0}, "2.53 k GB·h unused, no later run yet"),
        ({"saved": 0.0, "n_judged": 3, "unused": 9.0}, "9 GB·h unused, not yet lowered for its later runs"),
        ({"saved": 0.0, "n_judged": 0, "action": "raise"}, ""),
        ({"saved": -2.5, "n_judged": 3}, "2.5 GB·h more on later runs"),
    ],
)
def test_what_saves_nothing_says_why(changed, saves):
    record = verdict()
    rows = tuple(dataclasses.replace(row, **changed) if row.action != "keep" else row for row in record.memory.rows)
    memory = dataclasses.replace(record.memory, rows=rows)
    record = dataclasses.replace(record, resources=(memory, *record.resources[1:]))
    assert deeds(record, 1)[0].saves == saves


@pytest.mark.parametrize(
    ("missing", "labels"),
    [
        ("node", ["Nodes"]),
        ("duration_s", ["Requested", "Unused", "Saved", "Median duration"]),
        ("peak_memory_bytes", ["Requested", "Unused", "Saved", "Median peak memory"]),
        ("requested_memory_bytes", ["Requested", "Unused", "Saved"]),
    ],
)
def test_a_missing_column_is_named(missing, labels):
    there = [name for name in COLUMNS if name != missing]
    lacking = [item for item in (told(there) | traced(there)).values() if item.value == "no data"]
    assert [item.label for item in lacking] == labels
    assert {item.detail for item in lacking} == {"column missing"}
    assert all(f"no values of {missing};" in item.meaning for item in lacking)


def test_without_names_of_jobs_the_rows_are_counted():
    found = traced([name for name in COLUMNS if name != "job_name"])
    assert found["Runs"].value == "1,000"


def test_an_empty_column_counts_as_missing():
    columns = (column("node", missing=1.0),)
    found = {item.label: item.value for item in trace_headlines(DATASET, columns)}
    assert found["Nodes"] == "no data"


def test_measured_datasets_have_figures_and_a_sentence():
    runs = benchmark_headlines(DATASET, tuple(column(name) for name in ("node", "benchmark", "started_s")))
    assert [item.label for item in runs] == ["Runs", "Nodes", "Benchmarks", "Period"]
    assert measured_sentence(DATASET, runs) == "demo: 1,000 runs, 42 nodes and 42 benchmarks."
    samples = telemetry_headlines(DATASET, tuple(column(name) for name in ("t", "cpu.user%", "node")), 18, 6)
    assert measured_sentence(DATASET, samples) == "demo: 1,000 samples, 18 runs, 6 workloads and 1 counter."


def test_the_sentence_says_of_how_many_runs_its_sums_are():
    """902 runs are in the trace, 719 of them finished with a request and a use."""
    record = dataclasses.replace(over_time(), n_judged=719)
    words = judged_sentence(record, 902, 7)
    assert words.startswith("Of 719 of 902 runs by 7 users, which finished with a request and a use.")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (90, "1 min 30 s ago"),
        (2 * 86_400, "2 d 0 h ago"),
        (3 * 86_400, "3 days ago"),
        (1329.9 * 86_400, "3.6 years ago"),
    ],
)
def test_the_age_of_a_trace_is_told_as_people_say_it(seconds, words):
    assert as_of_words(1_700_000_000, 1_700_000_000 + seconds) == f"As of 2023-11-14 22:13 UTC, {words}."


def test_a_row_whose_runs_use_more_than_they_request_says_that_nobody_stops_them():
    full = dataclasses.replace(verdict().memory.rows[0], reason=FULL, request=2.0, largest=5.0, n_killed=0, n_runs=9)
    assert why(full, MEMORY, "GB") == "kept: requests are not enforced, runs used up to 5 of 2 GB"
    for kept in (dataclasses.replace(full, n_killed=1), dataclasses.replace(full, request=5.0)):
        assert why(kept, MEMORY, "GB") == f"kept: largest of 9 runs used 5 of {kept.request:g} GB"
