"""One home, one process; a process killed at any moment leaves nothing."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workprof.core.errors import HomeBusy, SettingsError
from workprof.core.settings import Settings
from workprof.store.catalogue import STATEMENTS
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import sys
from pathlib import Path
from workprof.core.settings import Settings
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
store = TraceStore(Settings(home=Path(sys.argv[1]), data=Path(sys.argv[1])))
def told(fraction, message):
    print(message, flush=True)
told(0, "opened")
if len(sys.argv) > 2:
    store.ingest([Path(sys.argv[2])], IngestOptions(format="generic"), told)
    told(1, "ingested")
sys.stdin.read()
"""
ROWS = 60_000
LIMITED = "data=Path('.'), memory_limit_bytes=2**28"


def child(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, *(str(argument) for argument in arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)


def wait_for(process: subprocess.Popen[str], start: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(start):
            return
    raise AssertionError(f"the child never said {start!r}")


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_second_process_is_told_who_holds_the_home(settings):
    holder = child(settings.home)
    try:
        wait_for(holder, "opened")
        with pytest.raises(HomeBusy, match=rf"process {holder.pid} .*--home"):
            TraceStore(settings)
    finally:
        end(holder)
    with TraceStore(settings) as store:
        assert store.datasets() == ()


def test_the_same_process_twice_is_told_too(store, settings):
    with pytest.raises(HomeBusy, match=str(os.getpid())):
        TraceStore(settings)


@pytest.mark.parametrize("moment", ["spooling", "reading", "checking", "committing"])
def test_a_killed_ingest_leaves_nothing(settings, tmp_path, moment):
    kept, killed = tmp_path / "kept.csv", tmp_path / "killed.csv"
    kept.write_text("job_name,duration_s\na,1\n")
    content = ("job_name,duration_s\n" + "".join(f"job{i},{i}\n" for i in range(ROWS)) + "bad,x\n").encode()
    killed.write_bytes(gzip.compress(content, 1) if moment == "spooling" else content)
    with TraceStore(settings) as store:
        store.ingest([kept], IngestOptions())
    process = child(settings.home, killed)
    try:
        wait_for(process, moment)
    finally:
        end(process)
    with TraceStore(settings) as store:
        names = {dataset.name for dataset in store.datasets()}
        assert "kept" in names  # the killed one is whole or absent
        assert store.preview("kept")["job_name"].tolist() == ["a"]
        for folder in ("spool", "tmp"):
            assert list((settings.home / folder).iterdir()) == []
        with store._database.cursor() as cursor:
            tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert len(tables) == len(STATEMENTS) + 2 * len(names)
        assert store.ingest([killed], IngestOptions(format="generic")).rows == ROWS


@pytest.mark.soak
def test_kills_at_random_moments_never_hurt(settings, tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("job_name,duration_s\n" + "".join(f"job{i},{i}\n" for i in range(400_000)) + "bad,x\n")
    for step in range(12):
        process = child(settings.home, path)
        wait_for(process, "opened")
        time.sleep(step * 0.03)
        end(process)
        with TraceStore(settings) as store:
            for dataset in store.datasets():
                assert dataset.rows == len(store.frame(dataset.name, [], finished_only=False)) == 400_000
                store.remove(dataset.name)


def test_what_is_not_a_folder_is_no_home(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="--home"):
        TraceStore(Settings(home=tmp_path / "file", data=tmp_path))


@pytest.mark.slow
def test_memory_stays_bounded_for_a_large_file(settings, tmp_path):
    path = tmp_path / "large.csv"
    block = "".join(f"job{i:07},user{i % 97},{i},{i * 3}.25,{i * 7}\n" for i in range(100_000))
    with path.open("w") as stream:
        stream.write("job_name,user,duration_s,cpu_usage_percent,peak_memory_bytes\n")
        for _ in range(60):
            stream.write(block)
    # Not ru_maxrss: that starts at what the forking parent, a large test run, had.
    peak = "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    program = CHILD.replace("sys.stdin.read()", peak).replace("data=Path(sys.argv[1])", LIMITED)
    command = [sys.executable, "-c", program, str(settings.home), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert path.stat().st_size > 200_000_000
    assert int(done.stdout.split()[-1]) * 1024 < 700 * 1024**2
