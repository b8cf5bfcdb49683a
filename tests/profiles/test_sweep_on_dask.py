"""WORKPROF_DASK sends loops to a real scheduler with real workers: the results are the same, also if one is killed."""

import contextlib
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from tests.forecasts.test_estimates import planted_jobs
from tests.memory.test_replay import jobs
from tests.profiles.planted import job_table
from workprof.core.errors import SettingsError, TraceError
from workprof.core.parallel import loops_on
from workprof.core.progress import silent
from workprof.core.records import pack
from workprof.forecasts.estimate_evaluation import evaluate_estimates
from workprof.forecasts.estimates import EstimateSettings
from workprof.forecasts.forecaster import ForecasterSettings, train_forecaster
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.profiles import fit
from workprof.profiles.fit import fit_profiles
from workprof.profiles.part_files import FileList, PartFile, assign_files, file_assigner, list_files
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import GroupSettings, sweep_group


def start(log, *command, folder=None):
    place = ["--local-directory", str(folder)] if folder else []
    with log.open("wb") as stream:
        return subprocess.Popen([sys.executable, "-m", *command, *place], stdout=stream, stderr=stream)


def wait_for(log, pattern, timeout_s=240):
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        found = re.search(pattern, log.read_text())
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def numbers(scores):
    return {name: value for name, value in asdict(scores).items() if not isinstance(value, str)}


@pytest.fixture
def scheduler(tmp_path):
    """A Dask scheduler and two workers on loopback."""
    log = tmp_path / "scheduler.log"
    quiet = ("--no-dashboard",)
    processes = [start(log, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *quiet)]
    try:
        address = wait_for(log, r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)").group(1)
        for i in range(2):
            worker = tmp_path / f"worker{i}.log"
            options = (
                "--nthreads",
                "1",
                "--no-nanny",
                "--host",
                "127.0.0.1",
                "--local-directory",
                str(tmp_path / str(i)),
            )
            processes.append(start(worker, "distributed.cli.dask_worker", address, *quiet, *options))
            wait_for(worker, r"Registered to:\s+tcp://127\.0\.0\.1")
        yield address, processes
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()
            process.wait(5)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::ResourceWarning:distributed", "ignore::DeprecationWarning:distributed")
@pytest.mark.parametrize("settings", [GroupSettings(sizes=(20, 40)), GroupSettings(sizes=(20, 40), min_samples=15)])
def test_the_cluster_gives_the_same_results(scheduler, settings):
    frames = {"jobs": job_table(1200)}
    here = sweep_group(frames, settings)
    with loops_on(scheduler[0]):
        from distributed import get_client

        there = sweep_group(frames, settings)
        ran = get_client().run(os.getpid)
    assert len(set(ran.values())) == 2
    for ours, theirs in zip(here.runs, there.runs, strict=True):
        np.testing.assert_array_equal(ours.labels, theirs.labels)
        # A process that compiles the loops anew may sum single precision in another order than the kept code does.
        assert numbers(ours.scores) == pytest.approx(numbers(theirs.scores), rel=1e-9, nan_ok=True)
        assert ours.scores.silhouette_method == theirs.scores.silhouette_method


def untimed(document):
    """Return the document without what a clock said."""
    if isinstance(document, dict):
        return {key: untimed(value) for key, value in document.items() if not key.endswith("seconds")}
    return [untimed(one) for one in document] if isinstance(document, list) else document


def assigned():
    return fit_profiles, job_table(6_000), ProfileSettings(sample_rows=1_000)


def evaluated():
    return evaluate_estimates, planted_jobs(160), EstimateSettings(n_folds=5)


def trained():
    jobs = planted_jobs(200)
    labels = jobs["workload"].str[1:].astype(int) % 3
    return (
        train_forecaster,
        jobs.assign(profile=labels, peak_memory_bytes=jobs["duration_s"] * 1e6),
        ForecasterSettings(),
    )


def replayed():
    return replay, jobs(400), ReplaySettings(prices_runs=())


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::ResourceWarning:distributed", "ignore::DeprecationWarning:distributed")
@pytest.mark.parametrize("question", [assigned, evaluated, trained, replayed])
def test_a_worker_that_is_killed_loses_nothing(scheduler, question, monkeypatch):
    monkeypatch.setattr(fit, "ROWS_AT_ONCE", 500)
    compute, table, settings = question()
    here = compute({"jobs": table}, settings)
    address, processes = scheduler
    seen = []

    def kill_one(fraction, message):
        seen.append(message)
        working = "Assigning" in message if compute is fit_profiles else len(seen) > 1
        if working and processes[-1].poll() is None:
            processes[-1].kill()

    with loops_on(address):
        there = compute({"jobs": table}, settings, kill_one)
    assert processes[-1].poll() is not None
    assert processes[-2].poll() is None
    ours, theirs = pack(here), pack(there)
    assert untimed(ours.document) == untimed(theirs.document)
    assert ours.arrays.keys() == theirs.arrays.keys()
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(array, theirs.arrays[name])


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::ResourceWarning:distributed", "ignore::DeprecationWarning:distributed")
def test_workers_read_and_write_the_files_of_a_trace(scheduler, tmp_path):
    """Forty files, one of two workers killed after the first: every file is there, as one process writes it."""
    table = job_table(6_000)
    found = fit_profiles({"jobs": table}, ProfileSettings(sample_rows=1_000))
    whole = file_assigner(found, table, [*map(str, range(found.scores.n_clusters)), "none"])
    (tmp_path / "parts").mkdir()
    for i, first in enumerate(range(0, len(table), 150)):
        table.iloc[first : first + 150].to_parquet(tmp_path / "parts" / f"{i:02}.parquet")
    columns = {name: [(name, 1.0)] for name in found.features}
    address, processes = scheduler

    def kill_one(share, words):
        if share > 0 and processes[-1].poll() is None:
            processes[-1].kill()

    def written(where, progress=silent):
        result = assign_files(
            whole, list_files([tmp_path / "parts"], tmp_path / where, columns), tmp_path / where, progress
        )
        return result, [pd.read_parquet(one) for one in sorted((tmp_path / where).glob("*.parquet"))]

    here, ours = written("here")
    with loops_on(address):
        there, theirs = written("there", kill_one)
    assert processes[-1].poll() is not None
    assert processes[-2].poll() is None
    assert len(ours) == len(theirs) == 40
    assert all(one.equals(other) for one, other in zip(ours, theirs, strict=True))
    assert np.array_equal(here.runs, there.runs)
    (tmp_path / "parts" / "00.parquet").unlink()
    gone = PartFile(str(tmp_path / "parts" / "00.parquet"), str(tmp_path / "there" / "none.parquet"), 1, ())
    with loops_on(address), pytest.raises(TraceError, match="every worker must see the files"):
        assign_files(whole, FileList((gone,), 0), tmp_path / "there")


@pytest.mark.soak
@pytest.mark.slow
def test_an_address_without_a_scheduler_is_named():
    with pytest.raises(SettingsError, match=r"tcp://127\.0\.0\.1:9"), loops_on("tcp://127.0.0.1:9"):
        pass
