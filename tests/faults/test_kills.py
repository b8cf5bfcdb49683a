"""kill -9 at random moments: nothing kept is lost, nothing is half there, and the same work then succeeds.

The moments are drawn evenly over the time that the work really takes here, others in every run (see `moments`). Kept
before: a dataset and two results; whatever happens afterwards, their bytes stay what they were.
"""

import contextlib
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.moments import Moments
from tests.faults.soundness import (
    PATIENCE_S,
    bytes_below,
    check_cache,
    check_store,
    lines_of,
    nothing_runs_on,
    processes_of,
    reopened,
    rows_hash,
    until,
)
from tests.faults.squares import ROOT_STEP, STEP, Roots, Squares
from tests.faults.works import fit_settings, request, settings_of, start_squares, write_trace
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

pytestmark = pytest.mark.soak

INGESTS, SERVERS, CHILDREN, FITS = 50, 25, 25, 3
SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "pai_sample.parquet"
AGAIN_EVERY = 10
"""Rounds between two in which the same work is let through."""
CLASSES = {STEP.name: Squares, ROOT_STEP.name: Roots}


@pytest.fixture
def home(tmp_path, forks):
    """A home with a dataset and two results in it."""
    folder = tmp_path / "home"
    trace = write_trace(tmp_path / "kept.csv", 300)
    assert forks.reap(forks.start("ingest", folder, tmp_path / "log", trace)) == 0
    assert forks.reap(forks.start("job", folder, tmp_path / "log", 0)) == 0
    return folder


@pytest.fixture
def wanted(home):
    """Name -> hash of all rows, of what is there before the kills."""
    with TraceStore(settings_of(home)) as store:
        return {"kept": rows_hash(store, "kept")}


def kept_bytes(home):
    return bytes_below(home / "cache") | bytes_below(home / "rejects")


def kill_all(home):
    """Kill a job's child, and what it started."""
    for pid in processes_of(home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_at(forks, pid, moments):
    """Kill a process after a while and return its status: 0 where it had ended before."""
    delay_s = moments.next_s()
    time.sleep(delay_s)
    os.kill(pid, signal.SIGKILL)
    status = forks.reap(pid)
    if status != -signal.SIGKILL:
        moments.was_too_late(delay_s)
    return status


def kill_child_at(workbench, key, moments):
    """Kill a job's child after a while and return the job as it ended: done where it had ended before."""
    home, delay_s = workbench.settings.home, moments.next_s()
    until(lambda: processes_of(home) or not workbench.job(key).active)
    time.sleep(delay_s)
    kill_all(home)
    view = workbench.wait(key, PATIENCE_S)
    if view.state == "done":
        moments.was_too_late(delay_s)
    return view


def test_an_ingest_killed_at_fifty_moments(forks, home, wanted, tmp_path):
    trace, settings = write_trace(tmp_path / "big.csv"), settings_of(home)
    with TraceStore(settings) as store:
        store.ingest([trace], IngestOptions(format="generic"))
        wanted["big"] = rows_hash(store, "big")
        store.remove("big")
    before, started = kept_bytes(home), time.monotonic()
    assert forks.reap(forks.start("ingest", home, tmp_path / "whole", trace)) == 0
    moments = Moments(time.monotonic() - started)
    seen, there = Counter(), _then_without(settings, wanted)
    for round_ in range(INGESTS):
        log = tmp_path / f"log{round_}"
        status = kill_at(forks, forks.start("ingest", home, log, trace), moments)
        seen[(lines_of(log) or ["starting"])[-1]] += 1
        there = _then_without(settings, wanted)
        assert "kept" in there
        assert status != 0 or "big" in there
        assert kept_bytes(home).items() >= before.items()
        if round_ % AGAIN_EVERY == 0:
            assert forks.reap(forks.start("ingest", home, log, trace)) == 0
            assert _then_without(settings, wanted) == {"kept", "big"}
    assert len(seen) >= 3, f"the moments were not spread over the work: {seen}"


def _then_without(settings, wanted):
    """Check the home as the next process finds it, remove the large dataset where it is whole, and tell what was."""
    with TraceStore(settings) as store:
        check_store(store, settings.home, wanted)
        there = {dataset.name for dataset in store.datasets()}
        if "big" in there:
            store.remove("big")
    return there


def test_a_server_killed_at_25_moments_of_a_job_leaves_no_child_and_no_half_result(forks, home, wanted, tmp_path):
    settings, before, started = settings_of(home), kept_bytes(home), time.monotonic()
    assert forks.reap(forks.start("job", home, tmp_path / "whole", 1)) == 0
    moments = Moments(time.monotonic() - started)
    for seed in range(2, 2 + SERVERS):
        log = tmp_path / f"log{seed}"
        status = kill_at(forks, forks.start("job", home, log, seed), moments)
        assert status == -signal.SIGKILL or lines_of(log)[-2:] == ["done: done", "ended"]
        nothing_runs_on(home)
        if seed % AGAIN_EVERY == 0:
            assert forks.reap(forks.start("job", home, log, seed)) == 0
            assert lines_of(log)[-2:] == ["done: done", "ended"]
            assert list((home / "jobs").iterdir()) == []
        with Workbench(settings) as workbench:
            assert list((home / "jobs").iterdir()) == []
            check_store(workbench._store, home, wanted)
            check_cache(home, CLASSES)
            found = _squares(workbench, seed)
            assert found is None or found.seed == seed
        assert kept_bytes(home).items() >= before.items()


def _squares(workbench, seed):
    return workbench._cache.get(request(workbench.dataset("kept"), seed).key, Squares)


def test_a_child_killed_at_25_moments_fails_in_words_and_the_next_one_succeeds(home, wanted):
    settings, before, states = settings_of(home), kept_bytes(home), Counter()
    with Workbench(settings) as workbench:
        view = start_squares(workbench, "kept", 1)
        moments = Moments(workbench.wait(view.key, PATIENCE_S).elapsed_s)
        for seed in range(2, 2 + CHILDREN):
            key = start_squares(workbench, "kept", seed).key
            view = kill_child_at(workbench, key, moments)
            states[view.state] += 1
            assert view.state == "done" or "was killed" in view.message
            assert (_squares(workbench, seed) is not None) == (view.state == "done")
            assert list((home / "jobs").iterdir()) == []
            nothing_runs_on(home)
            if seed % AGAIN_EVERY == 0:
                assert workbench.wait(start_squares(workbench, "kept", seed).key, PATIENCE_S).state == "done"
                assert _squares(workbench, seed).seed == seed
        check_cache(home, CLASSES)
    assert states["failed"] > CHILDREN / 2
    assert reopened(settings, wanted) == {"kept"}
    assert kept_bytes(home).items() >= before.items()


def test_a_real_fit_killed_at_three_moments(tmp_path):
    settings = settings_of(tmp_path / "home")
    with Workbench(settings) as workbench:
        workbench.sample(workbench.ingest([SAMPLE]).hash, "workload", 600, "few")
        view = workbench.profiles.start("few", fit_settings(0))
        moments = Moments(workbench.wait(view.key, PATIENCE_S).elapsed_s)
        old, before = workbench.profiles.cached("few", fit_settings(0)).result, kept_bytes(settings.home)
        assert old.scores.n_clusters > 0
        for seed in range(1, 1 + FITS):
            key = workbench.profiles.start("few", fit_settings(seed)).key
            view = kill_child_at(workbench, key, moments)
            assert view.state == "done" or "was killed" in view.message
            assert (workbench.profiles.cached("few", fit_settings(seed)).result is None) == (view.state == "failed")
            assert workbench.profiles.cached("few", fit_settings(0)).result is old
            assert kept_bytes(settings.home).items() >= before.items()
        again = workbench.wait(workbench.profiles.start("few", fit_settings(FITS)).key, PATIENCE_S)
        assert again.state == "done", again.message
