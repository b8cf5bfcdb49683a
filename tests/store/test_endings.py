"""Rows without an end or a start: running, never started, or ended with a time that follows from the others."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from workprof.core.causes import (
    CAUSES,
    FAILED,
    KILLED,
    NEVER_STARTED,
    OUT_OF_MEMORY,
    RUNNING,
    TIMED_OUT,
    WAITING,
    cause_of,
    causes_of,
    starts_of,
)
from workprof.core.units import HOUR_S
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import MEMORY, LedgerSettings
from workprof.store.endings import MOST_SPELLINGS
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

TIMES = ["submit_time_s", "start_time_s", "end_time_s", "duration_s", "status"]


def loaded(store, write, text, name="trace.csv"):
    report = store.ingest([write(name, text)], IngestOptions())
    have = [column.name for column in store.columns(report.hash)]
    frame = store.frame(report.hash, [column for column in (*TIMES, "job_name") if column in have], finished_only=False)
    return report, frame.set_index("job_name"), {check.name: check.count for check in report.checks}


def test_an_empty_end_without_a_status_is_running_and_not_finished(store, write):
    text = "job_name,submit_time_s,start_time_s,end_time_s,requested_memory_bytes,peak_memory_bytes\n"
    text += "done,90,100,400,1e9,5e8\ngoing,95,150,,2e9,1e9\nwaits,700,,,1e9,\nused,80,,,1e9,4e8\n"
    report, frame, checks = loaded(store, write, text)
    assert (report.rows, report.rejected, report.running, report.never_started) == (4, 0, 1, 1)
    assert store.dataset(report.hash).finished_rows == 2
    assert frame["finished"].to_dict() == {"done": True, "going": False, "waits": False, "used": True}
    assert frame["duration_s"]["done"] == 300
    assert frame["duration_s"]["going"] == 700 - 150  # to the last moment of all, the submission of another
    assert np.isnan(frame["duration_s"]["waits"])
    assert np.isnan(frame["end_time_s"]["going"])
    assert (frame["status"]["going"], frame["status"]["waits"]) == ("running", "waiting")
    assert frame["status"].isna()["done"]
    assert (checks["running"], checks["never started"]) == (1, 1)
    assert checks["not finished"] == 2
    (told,) = [check.message for check in report.checks if check.name == "running"]
    assert told == "1 run still running at the end of the trace; its time counts to its last moment"


def test_a_status_decides_where_there_is_one(store, write):
    text = "job_name,start_time_s,end_time_s,status\n"
    text += "a,0,100,completed\nb,10,,Running\nc,10,,failed\nd,10,,completed\ne,10,90,RUNNING\nf,,,Pending\n"
    text += "g,10,,odd word\nh,10,, \ni,,50,failed\n"
    report, frame, checks = loaded(store, write, text)
    assert frame["status"].to_dict() | {"h": "running"} == {
        "a": "completed", "b": "Running", "c": "failed", "d": "completed", "e": "RUNNING", "f": "Pending",
        "g": "odd word", "h": "running", "i": "failed",
    }  # fmt: skip
    np.testing.assert_array_equal(frame["duration_s"], [100, 90, np.nan, np.nan, 80, np.nan, np.nan, 90, np.nan])
    assert (report.running, report.never_started) == (3, 1)
    assert checks["not finished"] == 7
    assert frame["finished"].tolist() == [True, False, False, True, False, False, False, False, False]


@pytest.mark.parametrize("spellings", [1, MOST_SPELLINGS, 3 * MOST_SPELLINGS])
def test_statuses_in_many_spellings_mean_what_each_means(store, write, spellings):
    rows = [f"r{at},10,,Running for {at}\nw{at},,, PENDING {at}\nd{at},0,5,done {at}\n" for at in range(spellings)]
    report, frame, _ = loaded(store, write, "job_name,start_time_s,end_time_s,status\n" + "".join(rows))
    assert (report.running, report.never_started) == (spellings, spellings)
    assert frame["duration_s"].notna().sum() == 2 * spellings  # a running one lasts so far


def test_slurm_keeps_what_a_running_job_has_used_so_far(store, write):
    text = "JobID|State|Submit|Start|End|Elapsed|ReqMem\n"
    text += "1|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|4G\n"
    text += "2|RUNNING|2024-05-01T10:00:00|2024-05-01T10:00:10|Unknown|00:59:00|4G\n"
    text += "3|PENDING|2024-05-01T10:30:00|Unknown|Unknown|00:00:00|4G\n"
    text += "4|CANCELLED by 7|2024-05-01T10:30:00|None|2024-05-01T10:40:00|00:00:00|4G\n"
    text += "5|CANCELLED by 7|2024-05-01T10:30:00|2024-05-01T10:35:00|2024-05-01T10:40:00|00:05:00|4G\n"
    report, frame, checks = loaded(store, write, text, "sacct.txt")
    assert (report.format, report.running, report.never_started, report.rejected) == ("slurm", 1, 2, 0)
    assert frame["duration_s"].tolist() == [3600, 3540, 0, 0, 300]
    assert np.isnan(frame["end_time_s"]["2"])
    assert (checks["zero duration"], checks["not finished"]) == (2, 4)
    assert [CAUSES[code] for code in causes_of(frame)[1:]] == [RUNNING, WAITING, NEVER_STARTED, KILLED]
    assert dict(store.counts(report.hash).ended)[KILLED] == 1


@pytest.mark.parametrize("state", ["CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "COMPLETING"])
def test_a_job_of_slurm_runs_in_every_state_between_its_start_and_its_end(store, write, state):
    text = "JobID|State|Submit|Start|End|Elapsed|ReqMem\n"
    text += "1|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:00:10|2024-05-01T11:00:10|01:00:00|4G\n"
    text += f"2|{state}|2024-05-01T10:00:00|2024-05-01T10:00:10|Unknown|00:59:00|4G\n"
    report, frame, _ = loaded(store, write, text, "sacct.txt")
    assert (report.running, frame["duration_s"]["2"]) == (1, 3540)
    assert np.isnan(frame["end_time_s"]["2"])


def test_ends_and_starts_follow_from_durations(store, write):
    report, frame, _ = loaded(store, write, "job_name,start_time_s,duration_s\na,100,50\nb,7,\nc,120,0\n")
    assert frame["end_time_s"].tolist()[::2] == [150, 120]
    assert (report.running, frame["duration_s"]["b"]) == (1, 143)
    _, frame, _ = loaded(store, write, "job_name,end_time_s,duration_s\na,100,50\nb,7,-3\n", "ends.csv")
    assert frame["start_time_s"]["a"] == 50
    assert np.isnan(frame["start_time_s"]["b"])


def test_a_trace_that_tells_no_end_is_not_running_for_having_durations(store, write):
    report, frame, _ = loaded(store, write, "job_name,start_time_s,end_time_s,duration_s\na,100,,50\nb,200,,60\n")
    assert (report.running, frame["end_time_s"].tolist()) == (0, [150, 260])
    report, frame, _ = loaded(
        store, write, "job_name,start_time_s,end_time_s,duration_s\na,100,150,50\nb,200,,60\n", "b"
    )
    assert (report.running, frame["duration_s"].tolist()) == (1, [50, 60])


def test_all_rows_may_run_and_a_start_may_be_the_last_moment(store, write):
    report, frame, _ = loaded(store, write, "job_name,start_time_s,end_time_s\na,100,\nb,250,\n")
    assert (report.rows, report.running, store.dataset(report.hash).finished_rows) == (2, 2, 0)
    assert frame["duration_s"].tolist() == [150, 0]


def test_an_end_before_its_start_is_counted_and_no_duration(store, write):
    report, frame, checks = loaded(store, write, "job_name,start_time_s,end_time_s\na,100,50\nb,10,10\n")
    assert (checks["end before start"], checks["no duration"], checks["zero duration"]) == (1, 1, 1)
    assert report.running == 0
    assert np.isnan(frame["duration_s"]["a"])


QUEUED = "JOBID|STATE|START_TIME|END_TIME|TIME|TIME_LIMIT|NAME\n"


def test_ends_and_starts_that_are_to_come_are_not_known(store, write):
    text = QUEUED.replace("|TIME|TIME_LIMIT", "")
    text += "1|RUNNING|2024-05-01T10:00:00|2024-05-01T22:00:00|fit\n"
    text += "2|RUNNING|2024-05-01T12:00:00|2024-05-03T12:00:00|fit\n"
    text += "3|PENDING|2024-05-02T10:00:00|2024-05-04T10:00:00|fit\n"
    text += "4|COMPLETED|2024-05-01T10:00:00|2024-05-01T11:00:00|fit\n"
    report, frame, checks = loaded(store, write, text, "squeue.txt")
    assert (report.running, report.never_started, checks["moments to come"]) == (2, 1, 3)
    np.testing.assert_array_equal(frame["duration_s"], [7200, 0, np.nan, 3600])
    assert frame["end_time_s"].isna().tolist() == [True, True, True, False]


def test_what_squeue_calls_time_is_how_long_a_job_ran(store, write):
    text = QUEUED + "1|RUNNING|2024-05-01T10:00:00|2024-05-03T10:00:00|2:10:00|2-00:00:00|fit\n"
    text += "2|RUNNING|2024-05-01T12:00:00|2024-05-03T12:00:00|10:00|2-00:00:00|fit\n"
    _, frame, checks = loaded(store, write, text, "squeue.txt")
    assert (frame["duration_s"].tolist(), checks["moments to come"]) == ([7800, 600], 2)
    text = QUEUED + "1|RUNNING|2024-05-01T10:00:00|2024-05-03T10:00:00|2:10:00|2-00:00:00|fit\n"
    _, frame, _ = loaded(store, write, text, "one.txt")
    assert (frame["duration_s"].tolist(), frame["end_time_s"].isna().all()) == ([7800], True)


def test_ends_of_running_rows_at_one_moment_are_that_of_the_export(store, write):
    text = "job_name,start_time_s,end_time_s,status\na,0,100,done\nb,50,900,running\nc,70,900,running\n"
    _, frame, checks = loaded(store, write, text)
    assert (frame["duration_s"].tolist(), "moments to come" in checks) == ([100, 850, 830], False)
    text = "job_name,start_time_s,end_time_s,duration_s,status\na,0,100,100,done\n"
    text += "b,50,900,850,running\nc,70,9000,8930,running\n"  # the duration says so, too
    _, frame, checks = loaded(store, write, text, "own.csv")
    assert (frame["duration_s"].tolist(), "moments to come" in checks) == ([100, 850, 8930], False)


@pytest.mark.parametrize(
    ("words", "count", "level"),
    [
        (("ENDED_OK", "ENDED_OK", "FAILED"), 2, "warning"),
        (("done", "done", "Unstable", "failed", "Crashed"), 1, "info"),
        (("done", "137", "0:9", "", "RUNNING", "OUT_OF_ME+"), 0, ""),
    ],
)
def test_statuses_that_are_no_known_words_are_told(store, write, words, count, level):
    rows = "".join(f"j{at},0,60,{word}\n" for at, word in enumerate(words))
    report, *_ = loaded(store, write, f"job_name,start_time_s,end_time_s,status\n{rows}")
    found = [(check.count, check.level) for check in report.checks if check.name == "unknown statuses"]
    assert found == ([(count, level)] if count else [])


@pytest.mark.parametrize("word", ["skipped", "manual", "NOT_BUILT", "not_run", "upstream_failed"])
def test_jobs_that_are_passed_over_never_started(store, write, word):
    text = f"job_name,start_time_s,end_time_s,status\na,0,60,success\nb,60,60,{word}\nc,,,{word}\n"
    report, frame, checks = loaded(store, write, text)
    assert (report.never_started, "unknown statuses" in checks) == (2, False)
    assert [CAUSES[code] for code in causes_of(frame)[1:]] == [NEVER_STARTED, NEVER_STARTED]


def test_an_application_of_yarn_without_a_final_status_runs(store, write):
    head = "id,state,finalStatus,startedTime,finishedTime,elapsedTime\n"
    rows = "a,FINISHED,SUCCEEDED,1714557600000,1714558600000,1000000\n"
    rows += "b,FINISHED,FAILED,1714557600000,1714557700000,100000\nc,RUNNING,UNDEFINED,1714557600000,0,900000\n"
    report, frame, checks = loaded(store, write, head + rows)
    assert (report.running, "unknown statuses" in checks) == (1, False)
    assert (frame["duration_s"].tolist(), np.isnan(frame["end_time_s"]["c"])) == ([1000, 100, 900], True)


def test_what_tells_neither_a_start_nor_an_end_never_started(store, write):
    """Containers of Docker that were made and not started have the year 1 for both."""
    text = "job_name,start_time_s,end_time_s\na,2024-05-01T10:00:00Z,2024-05-01T11:00:00Z\n"
    text += "b,0001-01-01T00:00:00Z,0001-01-01T00:00:00Z\nc,2024-05-01T10:30:00Z,0001-01-01T00:00:00Z\n"
    report, frame, _ = loaded(store, write, text)
    assert (report.running, report.never_started, frame["duration_s"]["c"]) == (1, 1, 1800)


def test_a_task_of_a_cache_is_no_unknown_status(store, write):
    text = "job_name,start_time_s,end_time_s,status\na,0,60,Completed\nb,0,1,Cached\nc,,,Late\n"
    report, _, checks = loaded(store, write, text)
    assert (checks["call cache"], "unknown statuses" in checks, report.never_started) == (1, False, 2)


def test_the_ledger_counts_what_running_runs_hold_apart(store, write):
    text = "job_name,user,start_time_s,end_time_s,requested_memory_bytes,peak_memory_bytes\n"
    text += "a,ann,0,7200,4e9,1e9\nb,bob,3600,,8e9,\n"
    report, _, _ = loaded(store, write, text)
    names = [
        "user",
        "start_time_s",
        "end_time_s",
        "duration_s",
        "requested_memory_bytes",
        "peak_memory_bytes",
        "status",
    ]
    jobs = store.frame(report.hash, names, finished_only=False)
    found = ledger_of({"jobs": jobs}, LedgerSettings(by="user"))
    assert found.totals.of(MEMORY).requested == pytest.approx(4 * 7200 / HOUR_S)
    (running,) = found.totals.lost
    assert (running.cause, running.n_runs, running.hours) == (RUNNING, 1, 1.0)
    assert running.requested[0] == pytest.approx(8.0)
    assert any(note.startswith("1 run still runs at the end of the trace") for note in found.notes)


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        *((text, OUT_OF_MEMORY) for text in ("Failed (OOM)", "killed: memory limit exceeded", "Exit (TERM_MEMLIMIT)")),
        *((text, OUT_OF_MEMORY) for text in ("FAILED: OutOfMemoryError", "MemoryError", "exceeded its memory")),
        *((text, TIMED_OUT) for text in ("Exit (TERM_RUNLIMIT)", "failed: time limit", "killed: walltime")),
        *(("Exited (137)", KILLED), ("Exited (1)", FAILED), ("exit code 2", FAILED), ("Failed (1)", FAILED)),
        *(("EXECUTOR_ERROR", FAILED), ("INITIALIZING", WAITING)),
        *(("removed", KILLED), ("Failed: boom, no room", FAILED), ("Running, memory limit 4 GB", RUNNING)),
    ],
)
def test_a_cause_in_words_behind_the_first_is_known(status, cause):
    assert cause_of(status) == cause


def test_short_and_coded_words_of_the_finished_are_known_and_numbers_of_states_are_told(store, write):
    statuses = ["CD+", "Completed (0)", "Exited (0)", "COMPLETED (exit 0)", "Exited (137)", "Completed (1)"]

    def ingested(name, words):
        lines = "".join(f"j{i},{i},{i + 600},{word}\n" for i, word in enumerate(words))
        return store.ingest([write(name, "job_name,start_time_s,end_time_s,status\n" + lines)], IngestOptions())

    ingested("words.csv", statuses)
    assert store.dataset("words").finished_rows == 4
    checks = {each.name: each.count for each in ingested("numbers.csv", "33335").checks}
    assert checks["numbers for states"] == 5
    assert "numbers for states" not in {each.name for each in ingested("codes.csv", "00001").checks}


@given(st.sampled_from([start for cause in CAUSES for start in starts_of(cause)]), st.text("abc xyz:+_([", max_size=8))
def test_a_beginning_decides_the_cause(start, rest):
    assert start in set(starts_of(cause_of(start)))
    assert cause_of(start.upper() + rest) == cause_of(start)


@pytest.mark.parametrize(("unit", "seen"), [("s", 0), ("min", 99), ("ms", 100), ("us", 100)])
def test_a_duration_in_another_unit_than_the_times_tell_is_warned_of(store, write, unit, seen):
    lines = "".join(f"j{i},{i},{i + 600},{600 if i else 1}\n" for i in range(100))
    path = write("t.csv", "job_name,start_time_s,end_time_s,took\n" + lines)
    mapping = {"duration_s": FieldSource("took", unit)}
    report = store.ingest([path], IngestOptions(format="generic", mapping=mapping))
    assert {check.name: check.count for check in report.checks}.get("duration and times", 0) == seen


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_moment_of_zero_beside_one_of_our_time_is_none(store, tmp_path, form):
    """Many systems write 0 for an end that has not come; a start of 0 made a run of 54 years."""
    start, end = [1_790_000_000, 1_790_000_100, 0], [1_790_000_600, 0, 1_790_000_900]
    frame = pd.DataFrame({"job_name": ["a", "b", "c"], "start_time_s": start, "end_time_s": end})
    path = tmp_path / f"jobs.{form}"
    (frame.to_csv if form == "csv" else frame.to_parquet)(path, index=False)
    report = store.ingest([path], IngestOptions())
    assert {check.name: check.count for check in report.checks}["moments of zero"] == 2
    got = store.frame("jobs", ["start_time_s", "end_time_s", "duration_s", "status"], finished_only=False)
    assert got["status"].tolist()[1] == "running"
    np.testing.assert_array_equal(got["duration_s"], [600, 800, np.nan])
    np.testing.assert_array_equal(got[["start_time_s", "end_time_s"]].isna(), [[0, 0], [0, 1], [1, 0]])
