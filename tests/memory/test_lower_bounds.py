"""Uses that are lower bounds: measured by task only, or of a run killed for memory. No size rests below them."""

import numpy as np
import pandas as pd
import pytest

from tests.command_line import run_here
from workprof.core.causes import CAUSES, OUT_OF_MEMORY, causes_of
from workprof.memory.assessment import AssessmentSettings, assessment_of
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import bins_of
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import LedgerSettings
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.size_lists import bin_sizes
from workprof.memory.usage import evidence_of, finished_of, runs_of, with_killed
from workprof.memory.verdict import VerdictSettings, verdict_of

pytestmark = pytest.mark.slow

GB, HOUR = 1e9, 3600.0
N = 80


def table(**columns):
    """Return 80 finished runs of 1 h, one after another, that use 2 GB of the 16 that they request."""
    start = np.arange(N) * HOUR
    given = {"task_name": "a", "user": "ann", "status": "COMPLETED", "finished": True, "duration_s": HOUR}
    given |= {"start_time_s": start, "end_time_s": start + HOUR, "row_id": np.arange(N)}
    given |= {"peak_memory_bytes": 2 * GB, "requested_memory_bytes": 16 * GB}
    return pd.DataFrame(given | columns, index=range(N))


def by_task():
    """Return the same, of which every other use is known by task alone."""
    return table(peak_memory_is_lower_bound=np.arange(N) % 2.0)


def with_kills(place, **columns):
    """Return the same, of which one run was killed for memory before."""
    kills = np.zeros(N)
    kills[place] = 2
    jobs = table(out_of_memory_kills=kills)
    for name, value in columns.items():
        jobs[name] = jobs[name].astype("object")
        jobs.loc[place, name] = value
    return jobs.infer_objects()


def sizes_of(jobs):
    """Return what every method that sizes gives task a, in GB."""
    frames = {"jobs": jobs}
    advised = [one.row.size for one in ledger_of(frames, LedgerSettings()).findings if one.rule == "memory"]
    return {
        "bins": bins_of(frames, BinSettings(task="a")).edges_bytes[-1] / GB,
        "named bins": max(one.size_bytes for one in bin_sizes(frames, BinSettings()).sizes) / GB,
        "verdict": verdict_of(frames, VerdictSettings()).memory.rows[0].size,
        "ledger": advised[0] if advised else np.nan,
    }


def test_known_uses_lower_every_size():
    sizes = sizes_of(table())
    assert sizes["verdict"] < 4
    assert bins_of({"jobs": table()}, BinSettings(task="a")).edges_bytes[0] < 4 * GB


def test_a_use_by_task_lowers_no_size():
    for name, size in sizes_of(by_task()).items():
        assert np.isnan(size) or size >= 16 * 0.999, name


@pytest.mark.parametrize(
    "ended",
    [
        {},
        {"status": "RUNNING", "finished": False, "end_time_s": np.nan, "duration_s": np.nan},
        {"status": "FAILED", "finished": False},
    ],
    ids=["finished", "runs", "failed"],
)
def test_a_kill_is_a_use_of_the_limit_however_the_run_went_on(ended):
    jobs = with_kills(5, **ended)
    assert CAUSES[causes_of(jobs)[5]] == OUT_OF_MEMORY
    assert len(finished_of(jobs)) == N - 1
    runs = runs_of(with_killed(jobs, "peak_rss"))
    assert (len(runs), runs.lower_bound.sum()) == (N, 1)
    assert runs.used_bytes[-1] == pytest.approx(16 * GB)
    assert runs.hours[-1] == pytest.approx(N - 5 if ended.get("status") == "RUNNING" else 1.0)
    (found,) = evidence_of(jobs, "peak_rss")
    assert (found.cause, found.n_runs, found.n_bounds) == (OUT_OF_MEMORY, 1, 1)
    for name in ("bins", "named bins", "verdict"):
        assert sizes_of(jobs)[name] >= 16, name


def test_a_policy_knows_of_a_kill_from_its_end_on():
    asked = ReplaySettings(("krr",), prices_runs=())
    known, never = (replay({"jobs": jobs}, asked).policies["krr"] for jobs in (with_kills(5), table()))
    assert known.charged_gb_h > 1.5 * never.charged_gb_h


def test_what_a_lower_bound_leaves_unused_is_not_known():
    found = assessment_of({"jobs": by_task()}, AssessmentSettings())
    assert (found.n_finished, found.n_runs, found.n_requesting, found.n_judged, found.n_lower_bound) == (
        80,
        80,
        80,
        40,
        40,
    )
    assert (found.requested_gb_h, found.wasted_gb_h, found.memory.utilisation) == (80 * 16, 40 * 14, 2 / 16)
    ledger = ledger_of({"jobs": by_task()}, LedgerSettings())
    memory = ledger.totals.of("memory")
    assert (memory.n_judged, memory.n_lower_bound, memory.wasted) == (40, 40, 40 * 14)
    assert any("use is only known per task for 40 of 80 runs" in note for note in ledger.notes)
    every = ledger_of({"jobs": table(peak_memory_is_lower_bound=1.0)}, LedgerSettings())
    assert "use is only known per task for 80 of 80 runs" in next(
        one.why for one in every.unjudged if one.rule == "memory"
    )


def test_runs_without_a_use_are_counted_and_their_requests_too():
    jobs = table(peak_memory_bytes=np.where(np.arange(N) % 4, 2 * GB, np.nan))
    found = assessment_of({"jobs": jobs}, AssessmentSettings())
    assert (found.n_runs, found.n_requesting, found.memory.n_without_use) == (60, 80, 20)
    assert (found.requested_gb_h, found.used_gb_h, found.wasted_gb_h) == (80 * 16, 60 * 2, 60 * 14)
    (task,) = found.tasks
    assert (task.n, task.n_without_use, task.requested_gb_h) == (60, 20, 80 * 16)


SACCT = "JobID|JobName|State|Elapsed|ReqCPUS|ReqMem|MaxRSS|Start|End\n" + "".join(
    f"{200 + at}|sort|COMPLETED|02:00:00|1|8G|{'' if at % 3 else '2097152K'}|2024-05-0{1 + at % 9}T10:00:00|"
    f"2024-05-0{1 + at % 9}T12:00:00\n"
    for at in range(30)
)


def test_the_command_says_of_which_runs_its_counts_are(tmp_path):
    """As in batch-36: Slurm keeps no MaxRSS of steps that were too short to be sampled."""
    (tmp_path / "sacct.txt").write_text(SACCT)
    assert run_here("ingest", tmp_path / "sacct.txt", "--name", "sacct", home=tmp_path / "home").status == 0
    told = run_here("memory", "assess", "sacct", "--json", home=tmp_path / "home").json
    assert (told["n_without_use"], told["memory"]["n_without_use"], told["n_requesting"]) == (20, 20, 30)
    assert told["requested_gb_h"] == pytest.approx(30 * 2 * 8 * 1024**3 / GB)
    words = run_here("memory", "assess", "sacct", home=tmp_path / "home")
    assert "129 of 172 GB·h. 20 of 30 runs without a known use are not counted." in words.out
    assert "Excluded: 20 with no use of memory." in words.err
