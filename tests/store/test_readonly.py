"""WORKPROF_READONLY: no home is made, none is changed; what is there can be read."""

import hashlib
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from workprof.core.errors import SettingsError
from workprof.core.settings import Settings
from workprof.store.home import LOCK, hold
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

GOOD = "job_name,duration_s\n" + "".join(f"j{i},{i}\n" for i in range(100)) + "bad,x\n"
ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
from pathlib import Path
from workprof.core.settings import Settings
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
store = TraceStore(Settings(home=Path(sys.argv[1]), data=Path(sys.argv[1])))
with store.writing():
    store.ingest([Path(sys.argv[2])], IngestOptions())
    os.kill(os.getpid(), signal.SIGKILL)
"""


def tree(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
        if path.name != LOCK
    }


@pytest.fixture
def frozen(settings):
    return replace(settings, readonly=True)


@pytest.mark.parametrize("there", [False, True])
def test_without_a_database_it_is_an_error_and_nothing_is_made(frozen, there):
    if there:
        frozen.home.mkdir()
    for attempt in (lambda: TraceStore(frozen), lambda: hold(frozen.home, readonly=True)):
        with pytest.raises(SettingsError, match=r"holds no database, and WORKPROF_READONLY is set.*--home"):
            attempt()
    assert frozen.home.is_dir() == there
    assert not there or list(frozen.home.iterdir()) == []


@pytest.mark.slow
def test_reading_changes_nothing(settings, frozen, write, tmp_path):
    with TraceStore(settings) as store:
        store.ingest([write("a.csv", GOOD)], IngestOptions())
    left = settings.home / "spool" / "left"
    left.mkdir()
    before = tree(settings.home)
    with TraceStore(frozen) as store:
        assert [dataset.name for dataset in store.datasets()] == ["a"]
        assert len(store.preview("a")) == 100
        assert len(store.rejects("a")) == 1
        assert store.export("a", tmp_path / "out.csv") == 100
        assert store.column_profiles("a")
        assert "job_name" in store.schema_document("a")
        with TraceStore(frozen) as other:
            assert len(other.preview("a")) == 100
    assert tree(settings.home) == before
    with TraceStore(settings):
        assert not left.exists()


@pytest.mark.slow
def test_a_home_whose_last_writer_was_killed_is_read_whole(settings, frozen, write):
    path = write("a.csv", GOOD)
    command = [sys.executable, "-c", KILLED, str(settings.home), str(path)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert (settings.home / "workprof.duckdb.wal").is_file()
    before = tree(settings.home)
    with TraceStore(frozen) as store:
        assert store.dataset("a").rows == 100
    assert tree(settings.home) == before
    with TraceStore(Settings(home=settings.home, data=settings.data)) as store:
        assert store.dataset("a").rows == 100
