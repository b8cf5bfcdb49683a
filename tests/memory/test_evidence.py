"""Runs that did not finish: killed for memory = a use of at least the limit, the rest counted by cause."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.command_line import run_here
from workprof.answers.runs import runs_notes, unfinished_words
from workprof.core.causes import CAUSES
from workprof.core.settings import from_environment
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.usage import evidence_of, killed_for_memory, runs_of, with_killed
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench

MAPPING = {
    "task_name": ("JobName", ""),
    "user": ("User", ""),
    "status": ("State", ""),
    "submit_time_s": ("Submit", "s"),
    "start_time_s": ("Start", "s"),
    "end_time_s": ("End", "s"),
    "duration_s": ("ElapsedRaw", "s"),
    "requested_memory_bytes": ("ReqMemGB", "GB"),
    "peak_memory_bytes": ("MaxRSSGB", "GB"),
}
N, HOUR = 30, 3600.0
NOT_FINISHED = (  # state, start (h), run time (h), request (GB), use (GB)
    ("OUT_OF_MEMORY", 14.5, 0.5, 8.0, 7.9),
    ("OUT_OF_ME+", 14.0, 0.25, 4.0, 4.5),
    ("OUT_OF_MEMORY", 3.0, 0.5, np.nan, np.nan),
    ("OUT_OF_MEMORY", 3.0, np.nan, 64.0, np.nan),
    ("FAILED", 2.0, 0.5, 8.0, 60.0),
    ("FAILED", 5.0, 0.25, 8.0, 60.0),
    ("TIMEOUT", 1.0, 10.0, 8.0, 60.0),
    ("CANCELLED by 1000", 8.0, 1.0, np.nan, 60.0),
    ("RUNNING", 28.0, np.nan, 8.0, np.nan),
    ("PENDING", np.nan, np.nan, 8.0, np.nan),
)


def accounting():
    """Return a table as sacct writes it: 30 runs of 1 h one after another use 2 GB of 8, ten others end badly."""
    good = [("COMPLETED", float(hour), 1.0, 8.0, 2.0) for hour in range(N)]
    table = pd.DataFrame([*good, *NOT_FINISHED], columns=["State", "Start", "ElapsedRaw", "ReqMemGB", "MaxRSSGB"])
    table[["Start", "ElapsedRaw"]] *= HOUR
    table = table.assign(JobName="sort", User="ann", Submit=table["Start"].fillna(29 * HOUR))
    return table.assign(End=table["Start"] + table["ElapsedRaw"])


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evidence")
    accounting().to_csv(folder / "sacct.csv", index=False)
    accounting().head(N).to_csv(folder / "good.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            mapping = {field: FieldSource(*source) for field, source in MAPPING.items()}
            for name in ("sacct", "good"):
                options = IngestOptions(name=name, format="generic", mapping=mapping)
                workbench.ingest([folder / f"{name}.csv"], options)
            yield workbench


ASKED = ReplaySettings(("krr", "preset"), prices_runs=())


@pytest.mark.slow
def test_every_row_that_did_not_finish_is_counted_by_cause_with_its_hours(bench):
    found = {one.cause: one for one in bench.replay("sacct", ASKED).evidence}
    assert list(found) == [cause for cause in CAUSES if cause in found]
    counts = {cause: (one.n_runs, one.n_bounds, one.hours, one.requested_gb_h) for cause, one in found.items()}
    assert counts == {
        "out of memory": (4, 2, 1.25, pytest.approx(0.5 * 8 + 0.25 * 4)),
        "timed out": (1, 0, 10.0, pytest.approx(80.0)),
        "killed": (1, 0, 1.0, 0.0),
        "failed": (2, 0, 0.75, pytest.approx(6.0)),
        "running": (1, 0, 2.0, pytest.approx(16.0)),
        "waiting": (1, 0, 0.0, 0.0),
    }
    assert bench.replay("sacct", ASKED).n_test == N
    assert bench.replay("good", ASKED).evidence == ()


def test_a_run_killed_for_memory_is_known_from_its_end_on_as_a_use_of_its_limit(bench):
    """10 runs start at their request, 4 at 1.15 x 2 GB; after the kills 1.15 x the larger limit, 8 GB."""
    found = bench.replay("sacct", ASKED).policies["krr"]
    assert found.charged_gb_h == pytest.approx(10 * 8 + 5 * 1.15 * 2 + 15 * 1.15 * 8)
    assert found.n_sized_from == {"request": 10, "peers": 20}
    alone = bench.replay("good", ASKED).policies["krr"]
    assert alone.charged_gb_h == pytest.approx(10 * 8 + 20 * 1.15 * 2)


def test_what_ended_badly_for_another_reason_is_in_no_quantile(bench):
    """Failed, killed and timed-out runs used 60 GB here: no size knows of it."""
    largest = bench.replay("sacct", ReplaySettings(("krr", "p95", "workprof_task"), prices_runs=()))
    assert max(one.charged_gb_h for one in largest.policies.values()) < 10 * 8 + 20 * 1.2 * 8


def test_a_submission_is_known_at_once_where_runs_count_from_there(bench):
    flattered = bench.replay("sacct", ReplaySettings(("krr",), prices_runs=(), known="submitted")).policies["krr"]
    assert flattered.n_sized_from["peers"] + flattered.n_sized_from["request"] == N


@pytest.mark.slow
def test_the_kills_of_an_earlier_trace_are_known_from_the_start(bench):
    found = bench.replay("good", ReplaySettings(("krr",), prices_runs=(), train=("sacct",)))
    assert found.n_history == N + 2
    assert found.policies["krr"].charged_gb_h == pytest.approx(N * 1.15 * 8)


def test_the_published_protocol_knows_finished_runs_alone():
    jobs = pd.DataFrame({"task_name": "a", "rss": 2e9, "rchar": 1e6, "duration_s": np.full(60, 60.0)})
    jobs["requested_memory_bytes"] = 8e9
    bad = jobs.head(5).assign(finished=False, status="OUT_OF_MEMORY")
    asked = ReplaySettings(("krr",), protocol="sizey", prices_runs=())
    told = replay({"jobs": pd.concat([jobs.assign(finished=True, status="COMPLETED"), bad])}, asked)
    plain = replay({"jobs": jobs}, asked)
    assert told.policies["krr"].wasted_gb_h == plain.policies["krr"].wasted_gb_h
    assert [(one.cause, one.n_runs) for one in told.evidence] == [("out of memory", 5)]


def test_a_limit_or_a_larger_use_is_the_bound_and_a_row_with_neither_tells_nothing():
    jobs = accounting().rename(columns={"State": "status", "ElapsedRaw": "duration_s"})
    jobs = jobs.assign(
        peak_memory_bytes=jobs["MaxRSSGB"] * 1e9,
        requested_memory_bytes=jobs["ReqMemGB"] * 1e9,
        finished=jobs["status"] == "COMPLETED",
    )
    assert killed_for_memory(jobs, "peak_rss")["peak_memory_bytes"].tolist() == [8e9, 4.5e9]
    assert runs_of(with_killed(jobs, "peak_rss")).lower_bound.tolist() == [False] * N + [True, True]
    words = unfinished_words(evidence_of(jobs, "peak_rss"))
    assert "4 out of memory" in words
    assert "of which 2 tell a use of at least their limit" in words
    assert unfinished_words(()) == ""
    told = runs_notes({}, evidence_of(jobs, "peak_rss"), "peak_rss")
    assert told == (f"{words}.", "No finished run is excluded. Memory measure: Peak RSS.")
    assert runs_notes({}, (), "peak_rss") == ("No run is excluded. Memory measure: Peak RSS.",)


def test_the_assessment_counts_the_same_and_adds_up_finished_runs_alone(bench):
    found = bench.assessment("sacct")
    assert found.evidence == bench.replay("sacct", ASKED).evidence
    assert (found.n_runs, bench.assessment("good").n_runs) == (N, N)
    assert (found.requested_gb_h, found.used_gb_h, found.wasted_gb_h) == (N * 8, N * 2, N * 6)
    assert bench.assessment("good").features == found.features


def test_a_kill_of_the_trace_is_one_of_today(bench):
    found, alone = bench.verdict("sacct").memory, bench.verdict("good").memory
    assert (found.trace.kills, alone.trace.kills) == (2, 0)  # of those with a request and a run time
    assert found.trace.n_runs == alone.trace.n_runs + 2
    assert max(row.largest for row in found.rows) == pytest.approx(8, rel=1e-6)


@pytest.mark.slow
def test_the_command_tells_the_counts(tmp_path):
    accounting().to_csv(tmp_path / "sacct.csv", index=False)
    (tmp_path / "map.json").write_text(json.dumps({name: {"from": a, "unit": b} for name, (a, b) in MAPPING.items()}))
    home, file = tmp_path / "home", tmp_path / "sacct.csv"
    options = ("--format", "generic", "--map", tmp_path / "map.json", "--name", "sacct")
    assert run_here("ingest", file, *options, home=home).status == 0
    asked = ("memory", "replay", "sacct", "--policies", "krr", "--prices", "0.05")
    told = run_here(*asked, "--json", home=home).json
    assert {one["cause"]: one["n_runs"] for one in told["evidence"]}["out of memory"] == 4
    assessed = run_here("memory", "assess", "sacct", "--json", home=home).json
    assert (assessed["evidence"], assessed["wasted_gb_h"]) == (told["evidence"], N * 6)
    assert "2 failed (0.75 h and 6 GB·h lost)" in run_here(*asked, home=home).err
