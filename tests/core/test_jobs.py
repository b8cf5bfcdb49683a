"""Steps in real child processes: results, progress, sharing, cancelling, failing, dying."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest

from tests.core.steps_for_tests import Asked, Told
from workprof.cache import ResultCache
from workprof.core.errors import StepFailed
from workprof.core.records import unpack
from workprof.core.step import Step
from workprof.jobs import Jobs
from workprof.steps import Request, about

pytestmark = pytest.mark.slow

STEP = Step("test.sum", 1, "tests.core.steps_for_tests:run")
ROOT = Path(__file__).resolve().parents[2]


def frames(rows=3):
    jobs = pd.DataFrame({"x": [float(i) for i in range(rows)], "name": pd.Categorical(["a"] * rows)})
    jobs.attrs["utc_offset_s"] = 28800
    return {"jobs": jobs}


@pytest.fixture
def cache(tmp_path):
    return ResultCache(tmp_path / "cache", memory_bytes=10**6, disk_bytes=10**7)


@pytest.fixture
def jobs(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    registry = Jobs(cache, tmp_path / "jobs")
    yield registry
    registry.close()


def start(jobs, asked, rows=3, ahead_s=None):
    key = STEP.key("d" * 32, asked)
    jobs.start(Request(STEP, "dataset", asked, key), lambda: frames(rows), ahead_s)
    return key


def wait_for_file(path, timeout_s=20):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if path.exists() and path.read_text():
            return [int(pid) for pid in path.read_text().split()]
        time.sleep(0.05)
    raise AssertionError("the child did not start in time")


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_result_reaches_the_cache_with_frame_and_attributes(jobs, cache, tmp_path):
    key = start(jobs, Asked(seconds=0.2))
    assert jobs.wait(key, 30).message == "done"
    told = cache.get(key, Told)
    assert (told.total, told.zone) == (3.0, 28800)
    assert cache.abouts()[0].seconds == 0.25
    assert list((tmp_path / "jobs").iterdir()) == []


def test_progress_is_live(jobs):
    key = start(jobs, Asked(seconds=3.0))
    end = time.monotonic() + 20
    while jobs.view(key).fraction != 0.5 and time.monotonic() < end:
        time.sleep(0.05)
    view = jobs.view(key)
    assert (view.state, view.fraction, view.message) == ("running", 0.5, "half way")
    assert view.elapsed_s > 0


def test_what_is_found_so_far_is_there_until_the_end(jobs):
    key = start(jobs, Asked(how="tell", seconds=3.0))
    end = time.monotonic() + 20
    while jobs.so_far(key) is None and time.monotonic() < end:
        time.sleep(0.05)
    told = unpack(Told, jobs.so_far(key))
    assert (told.total, list(told.values), jobs.view(key).found) == (1.0, [0.0, 1.0], 1)
    jobs.cancel(key)
    assert jobs.so_far(key) is None


def test_closing_waits_for_the_folder_of_a_job_that_is_shown_as_failed(jobs, tmp_path):
    def refused():
        (folder,) = (tmp_path / "jobs").iterdir()
        for number in range(20_000):  # long enough to remove that the view comes first
            (folder / str(number)).touch()
        raise StepFailed("no such rows")

    asked = Asked()
    key = STEP.key("d" * 32, asked)
    jobs.start(Request(STEP, "dataset", asked, key), refused)
    while jobs.view(key).active:
        time.sleep(0.001)
    jobs.close()
    assert jobs.view(key).message == "no such rows"
    assert list((tmp_path / "jobs").iterdir()) == []


def test_identical_requests_share_one_job(jobs, tmp_path):
    asked = Asked(seconds=1.0, pid_file=str(tmp_path / "pids"))
    first, second = start(jobs, asked), start(jobs, asked)
    assert first == second
    assert len(jobs.views()) == 1
    assert jobs.wait(first, 30).state == "done"


@pytest.mark.parametrize("made", [True, False])
def test_what_another_process_computes_is_waited_for_and_computed_where_that_ends_without_it(
    jobs, cache, tmp_path, made
):
    asked = Asked(pid_file=str(tmp_path / "pids"))
    key = STEP.key("d" * 32, asked)
    theirs = ResultCache(tmp_path / "cache", memory_bytes=10**6, disk_bytes=10**7, sweep=False)
    claim = theirs.claim(key)
    assert claim.elsewhere == ""
    start(jobs, asked)
    end = time.monotonic() + 20
    while "same" not in jobs.view(key).message and time.monotonic() < end:
        time.sleep(0.02)
    assert (jobs.view(key).state, jobs.view(key).message) == ("waiting", "waiting for the same result")
    other = start(jobs, Asked(rows=2))
    assert jobs.wait(other, 30).state == "done"  # no slot is held meanwhile
    if made:
        theirs.put(key, Told(7.0, np.zeros(1), 0, 0.0), about(STEP, key, "dataset", asked, 0.0))
    claim.end()
    assert jobs.wait(key, 30).state == "done"
    assert cache.get(key, Told).total == (7.0 if made else 3.0)
    assert (tmp_path / "pids").exists() != made
    assert list((tmp_path / "cache" / "claims").iterdir()) == []


def test_a_job_that_waits_for_another_process_can_be_cancelled(jobs, cache):
    asked = Asked()
    key = STEP.key("d" * 32, asked)
    claim = cache.claim(key)
    start(jobs, asked)
    assert jobs.cancel(key).state == "cancelled"
    claim.end()
    again = cache.claim(key)
    assert again.elsewhere == ""
    again.end()


def test_a_job_that_still_reads_its_rows_counts_as_cancelled_once_it_is(jobs):
    reads, key = threading.Event(), STEP.key("d" * 32, Asked())

    def slowly():
        reads.wait(20)
        return frames()

    jobs.start(Request(STEP, "dataset", Asked(), key), slowly)
    assert jobs.cancel(key).state == "cancelled"
    reads.set()
    assert jobs.wait(key, 20).state == "cancelled"
    start(jobs, Asked())
    assert jobs.wait(key, 20).state == "done"


@pytest.mark.parametrize("how", ["sum", "stubborn"])
def test_cancel_stops_child_and_grandchild_within_two_seconds(jobs, cache, tmp_path, how):
    key = start(jobs, Asked(seconds=60, how=how, pid_file=str(tmp_path / "pids")))
    pids = wait_for_file(tmp_path / "pids")
    started = time.monotonic()
    view = jobs.cancel(key)
    assert time.monotonic() - started < 2.0
    assert view.state == "cancelled"
    assert cache.get(key, Told) is None
    assert all(gone(pid) for pid in pids)


def test_a_refusal_and_a_crash_are_told_in_words(jobs):
    refused = start(jobs, Asked(how="refuse"))
    assert jobs.wait(refused, 30).state == "failed"
    assert jobs.view(refused).message == "3 rows are too few; load more"
    crashed = start(jobs, Asked(how="crash"))
    assert jobs.wait(crashed, 30).state == "failed"
    assert "status -6" in jobs.view(crashed).message
    assert jobs.view(refused).listed
    for how, listed in (("refuse", False), ("crash", True)):  # begun by the server: a crash is one all the same
        begun = start(jobs, Asked(how=how, seconds=0.1), ahead_s=1.0)
        assert (jobs.wait(begun, 30).state, jobs.view(begun).listed) == ("failed", listed)


def test_more_jobs_than_slots_wait_and_can_be_cancelled(jobs):
    keys = [start(jobs, Asked(seconds=2.0, rows=i)) for i in range(3)]
    states = [jobs.view(key).state for key in keys]
    assert "waiting" in states
    waiting = keys[states.index("waiting")]
    assert jobs.cancel(waiting).state == "cancelled"


def test_a_child_ends_when_its_parent_is_killed(tmp_path):
    pids_file = tmp_path / "pids"
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
            import sys, time
            from pathlib import Path
            from tests.core.test_jobs import STEP, frames
            from tests.core.steps_for_tests import Asked
            from workprof.cache import ResultCache
            from workprof.jobs import Jobs
            from workprof.steps import Request
            home = Path({str(tmp_path)!r})
            jobs = Jobs(ResultCache(home / "cache", memory_bytes=10**6, disk_bytes=10**6), home / "jobs")
            jobs.start(Request(STEP, "d", Asked(seconds=60, pid_file={str(pids_file)!r}), "k"), frames)
            time.sleep(60)
        """),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    pids = wait_for_file(pids_file)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 5
    while not all(gone(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert all(gone(pid) for pid in pids)


def test_a_dead_process_leaves_no_folders(cache, tmp_path):
    (tmp_path / "jobs" / "left").mkdir(parents=True)
    Jobs(cache, tmp_path / "jobs")
    assert list((tmp_path / "jobs").iterdir()) == []


def test_what_a_child_hands_over_is_taken_only_for_what_was_asked(jobs, cache):
    key = start(jobs, Asked(how="forge"))
    assert jobs.wait(key, 60).state == "done"
    assert cache.get(key, Told).total == 3.0
    assert [about.key for about in cache.abouts()] == [key]
    assert cache.get("another:key:step:1", Told) is None


def test_moments_of_results_tell_those_of_one_second_apart():
    first = about(STEP, "00", "data", {}, 0.0)
    time.sleep(0.005)
    assert first.created < about(STEP, "01", "data", {}, 0.0).created


def test_of_what_nobody_asked_for_one_runs_at_a_time_the_shortest_first(jobs):
    asked = {name: Asked(rows=rows, seconds=0.6) for rows, name in enumerate(("first", "long", "short"), start=1)}
    keys = {name: STEP.key("d" * 32, one) for name, one in asked.items()}
    for name, expected_s in (("first", 5.0), ("long", 9.0), ("short", 1.0)):
        jobs.start(Request(STEP, "dataset", asked[name], keys[name]), frames, ahead_s=expected_s)
        until_it_runs = time.monotonic() + 20
        while name == "first" and jobs.view(keys["first"]).state == "waiting" and time.monotonic() < until_it_runs:
            time.sleep(0.02)
    order = []
    while jobs.view(keys["long"]).state != "done":
        running = [name for name, key in keys.items() if jobs.view(key).state == "running"]
        assert len(running) <= 1
        order += [name for name in running if name not in order]
        time.sleep(0.02)
    assert order == ["first", "short", "long"]


def test_what_another_process_computes_holds_up_nothing_else(jobs, cache):
    elsewhere, other = Asked(rows=1), Asked(rows=2)
    keys = [STEP.key("d" * 32, one) for one in (elsewhere, other)]
    claim = cache.claim(keys[0])
    for one, key in zip((elsewhere, other), keys, strict=True):
        jobs.start(Request(STEP, "dataset", one, key), frames, ahead_s=float(one.rows))
    assert jobs.wait(keys[1], 20).state == "done"
    assert jobs.view(keys[0]).state == "waiting"
    claim.end()
    assert jobs.wait(keys[0], 20).state == "done"


def test_what_somebody_asks_for_does_not_wait_for_the_rest(jobs):
    first, second = Asked(rows=1, seconds=30), Asked(rows=2)
    keys = [STEP.key("d" * 32, one) for one in (first, second)]
    for one, key in zip((first, second), keys, strict=True):
        jobs.start(Request(STEP, "dataset", one, key), frames, ahead_s=3.0 + one.rows)
    jobs.start(Request(STEP, "dataset", second, keys[1]), frames)
    assert jobs.wait(keys[1], 20).state == "done"
    assert jobs.cancel(keys[0]).state == "cancelled"


def test_what_a_page_shows_goes_before_what_nobody_looks_at(jobs):
    running, short, seen = Asked(rows=1, seconds=30), Asked(rows=2), Asked(rows=3)
    keys = [STEP.key("d" * 32, one) for one in (running, short, seen)]
    for one, key, expected_s in zip((running, short, seen), keys, (1.0, 2.0, 3.0), strict=True):
        jobs.start(Request(STEP, "dataset", one, key), frames, ahead_s=expected_s)
    while jobs.watch(keys[2]).state != "done":  # of a page that is open, while one nobody looks at runs
        time.sleep(0.02)
    assert jobs.view(keys[1]).state == "waiting"
    for key in keys[:2]:
        assert jobs.cancel(key).state == "cancelled"
