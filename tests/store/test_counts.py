"""Runs, jobs and users are counted exactly, once, and said in the same words everywhere."""

import random
from dataclasses import replace

import pytest

from workprof.store import catalogue
from workprof.store.reports import Counts, IngestOptions


def trace(rows, seed=3):
    """Return a CSV whose names are drawn, some of them missing, and its jobs and users."""
    draw = random.Random(seed)
    lines, jobs, users = ["job_name,user,status,start_time_s,end_time_s"], set(), set()
    for at in range(rows):
        job = f"job {draw.randrange(rows // 2)}"
        user = f"user{draw.randrange(997)}" if draw.random() < 0.9 else ""
        status = draw.choices(["completed", "failed", "running", "pending"], [90, 5, 3, 2])[0]
        start, end = (
            (at, at + 7) if status in ("completed", "failed") else (at, "") if status == "running" else ("", "")
        )
        lines.append(f"{job},{user},{status},{start},{end}")
        jobs.add(job)
        users.update({user} - {""})
    return "\n".join(lines) + "\n", len(jobs), len(users)


@pytest.mark.some(1)
@pytest.mark.parametrize("rows", [5_000, pytest.param(300_000, marks=pytest.mark.slow)])
def test_names_are_counted_exactly(store, write, rows):
    text, jobs, users = trace(rows)
    report = store.ingest([write("names.csv", text)], IngestOptions())
    states = text.split(",")
    counts = store.counts(report.hash)
    ended = (("out of memory", 0), ("timed out", 0), ("killed", 0), ("failed", states.count("failed")))
    assert counts == Counts(
        rows, states.count("completed"), states.count("running"), states.count("pending"), jobs, users, ended
    )
    assert (report.running, report.never_started, report.jobs, report.users) == (
        counts.running, counts.never_started, jobs, users
    )  # fmt: skip
    distinct = {one.column.name: one.distinct for one in store.column_profiles(report.hash)}
    assert (distinct["job_name"], distinct["user"]) == (jobs, users)


@pytest.mark.slow
def test_a_home_whose_names_were_never_counted_counts_them_now(store, write):
    text, jobs, users = trace(400)
    hashed = store.ingest([write("names.csv", text)], IngestOptions()).hash
    told = store.counts(hashed)
    with store.writing(), store._database.transaction() as cursor:
        (document,) = catalogue.one(cursor, "SELECT report FROM catalogue WHERE hash = ?", [hashed])
        old = document.replace(f'"jobs": {jobs}', '"jobs": null').replace(f'"users": {users}', '"users": null')
        assert old != document
        cursor.execute("UPDATE catalogue SET report = ? WHERE hash = ?", [old, hashed])
    assert store.report(hashed).jobs is None
    assert store.counts(hashed) == told
    with store.writing(), store._database.transaction() as cursor:
        cursor.execute("UPDATE catalogue SET report = 'torn' WHERE hash = ?", [hashed])
    assert store.counts(hashed) == told


def test_the_words():
    counts = Counts(1234, 1000, 34, 2, 56, 1)
    assert counts.held == "1,234 runs of 56 jobs by 1 user"
    assert counts.unended == "34 still running at the end of the trace, 2 never started"
    assert replace(counts, runs=1, jobs=None, users=None).held == "1 run"
    assert replace(counts, running=0, never_started=0).unended == ""


@pytest.mark.slow
def test_folded_steps_are_no_runs(store, write):
    text = "JobID|JobName|User|State|Elapsed\n1|a|ann|COMPLETED|00:01:00\n1.batch|batch||COMPLETED|00:01:00\n"
    report = store.ingest([write("sacct.txt", text + "2|b|bob|RUNNING|00:02:00\n")], IngestOptions())
    counts = store.counts(report.hash)
    assert replace(counts, ended=()) == Counts(2, 1, 1, 0, 2, 2)
    assert {runs for _, runs in counts.ended} == {0}  # one finished, one still runs


@pytest.mark.slow
def test_runs_that_ended_badly_are_counted_by_cause(store, write):
    states = ["COMPLETED", "OUT_OF_MEMORY", "OUT_OF_ME+", "TIMEOUT", "CANCELLED by 7", "FAILED", "NODE_FAIL", "RUNNING"]
    rows = [f"{at}|job|ann|{state}|00:01:00" for at, state in enumerate(states)]
    report = store.ingest(
        [write("sacct.txt", "\n".join(["JobID|JobName|User|State|Elapsed", *rows, ""]))], IngestOptions()
    )
    counts = store.counts(report.hash)
    assert counts.ended == (("out of memory", 2), ("timed out", 1), ("killed", 1), ("failed", 2))
    assert counts.tells_ends


@pytest.mark.slow
def test_a_table_without_a_status_says_nothing_of_ends(store, write):
    report = store.ingest([write("bare.csv", "job_name,user,duration_s\na,ann,60\nb,bob,70\n")], IngestOptions())
    assert (store.counts(report.hash).ended, store.counts(report.hash).tells_ends) == ((), False)
    assert [(check.name, check.count) for check in report.checks] == [("no status", 2)]
