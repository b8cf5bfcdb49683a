"""A cancel ends the work and everything that it started, and what was there before is still there."""

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.soundness import bytes_below, lines_of, processes_of, reopened, rows_hash, until
from tests.faults.works import request, settings_of, write_trace
from workprof.background import Ingests
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "pai_sample.parquet"
FEW = 600
SOON_S = 10
"""A cancel takes at most two seconds; a machine under load gets more."""


def test_a_cancelled_fit_leaves_the_old_one(tmp_path):
    settings, asked = settings_of(tmp_path / "home"), ProfileSettings(min_cluster_size=30)
    with Workbench(settings) as workbench:
        workbench.sample(workbench.ingest([SAMPLE]).hash, "workload", FEW, "few")
        old = workbench.profiles("few", asked)
        before = bytes_below(settings.home / "cache")
        new = replace(asked, scaler="minmax")
        key = workbench.profiles.start("few", new).key
        until(lambda: processes_of(settings.home))
        until(lambda: workbench.job(key).message not in {"waiting for a free slot", "reading the data"})
        started = time.monotonic()
        assert workbench.cancel(key).state == "cancelled"
        assert time.monotonic() - started < SOON_S
        assert processes_of(settings.home) == []
        assert workbench.profiles.cached("few", new).result is None
        assert workbench.profiles.cached("few", asked).result is old
        assert list((settings.home / "jobs").iterdir()) == []
        assert bytes_below(settings.home / "cache") == before


def test_a_cancelled_ingest_leaves_the_old_datasets(tmp_path):
    settings, large = settings_of(tmp_path / "home"), write_trace(tmp_path / "large.csv", 300_000)
    with TraceStore(settings) as store:
        store.ingest([write_trace(tmp_path / "kept.csv", 300)], IngestOptions())
        wanted = {"kept": rows_hash(store, "kept")}
        ingests = Ingests(store.ingest)
        view = ingests.start("large", [large], IngestOptions(format="generic"))
        until(lambda: "reading rows" in ingests.view(view.key).steps)
        started = time.monotonic()
        ended = ingests.cancel(view.key, SOON_S)
        assert time.monotonic() - started < SOON_S
        assert ended.state == "cancelled"
        assert "nothing was loaded" in ended.message
    assert reopened(settings, wanted) == {"kept"}


@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.soak), signal.SIGTERM])
def test_ctrl_c_ends_an_ingest_from_a_shell(forks, tmp_path, how):
    home, log = tmp_path / "home", tmp_path / "io" / "log"
    trace = write_trace(tmp_path / "large.csv", 400_000)
    assert forks.workprof(tmp_path / "io", "datasets", "--home", home).status == 0
    pid, pipes = forks.begin(tmp_path / "io", "ingest", trace, "--home", home)
    until(lambda: any((home / "spool").iterdir()))
    os.kill(pid, how)
    status = forks.reap(pid)
    assert "Traceback" not in pipes[1].told()
    assert lines_of(log) == []
    assert status == (130 if how == signal.SIGINT else -signal.SIGTERM), pipes[1].told()
    assert reopened(settings_of(home), {}) == set()
    assert not [thread for thread in threading.enumerate() if thread.name == "workprof-query"]


def test_a_job_whose_data_cannot_be_read_fails_and_does_not_run_for_ever(tmp_path):
    settings = settings_of(tmp_path / "home")

    def unreadable():
        raise KeyError("no such column")

    with Workbench(settings) as workbench:
        dataset = workbench.ingest([write_trace(tmp_path / "kept.csv", 300)])
        asked = request(workbench.dataset(dataset.hash), 1)
        workbench._jobs.start(asked, unreadable)
        view = workbench.wait(asked.key, SOON_S)
        assert (view.state, view.active) == ("failed", False)
        assert "workprof made a mistake (error " in view.message
