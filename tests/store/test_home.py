"""A home that processes share: all read, one writes at a time; a process killed at any moment leaves nothing."""

import contextlib
import gzip
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from workprof.core.errors import HomeBusy, SettingsError
from workprof.core.settings import Settings
from workprof.store.catalogue import TABLES
from workprof.store.connection import Database
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


HELD = """
import sys
from pathlib import Path
from workprof.core.settings import Settings
from workprof.store.trace_store import TraceStore
store = TraceStore(Settings(home=Path(sys.argv[1]), data=Path(sys.argv[1]), wait_s=0.0))
with store.writing() if sys.argv[2] == "writing" else store._database.cursor() as cursor:
    if cursor is not None:
        cursor.execute("SELECT 1").fetchall()
    print("held", flush=True)
    sys.stdin.readline()
print("let go", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def holding(settings, what):
    """Run a process that reads (`cursor`) or writes (`writing`) until it is written a line."""
    command, pipe = [sys.executable, "-c", HELD, str(settings.home), what], subprocess.PIPE
    holder = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT)
    try:
        wait_for(holder, "held")
        yield holder
    finally:
        end(holder)


def let_go(holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    wait_for(holder, "let go")


@pytest.fixture
def filled(settings, tmp_path):
    (tmp_path / "kept.csv").write_text("job_name,duration_s\na,1\n")
    with TraceStore(settings) as store:
        store.ingest([tmp_path / "kept.csv"], IngestOptions())
    return replace(settings, wait_s=0.3)


def test_processes_that_read_share_a_home(filled):
    with holding(filled, "cursor"), TraceStore(filled) as store:
        assert store.preview("kept")["job_name"].tolist() == ["a"]
        assert not store.alone


def test_a_writer_is_told_who_reads_and_writes_once_nobody_does(filled):
    with holding(filled, "cursor") as holder, TraceStore(filled) as store:
        with pytest.raises(HomeBusy, match=rf"process {holder.pid} .*--wait SECONDS.*--home DIR"):
            store.rename("kept", "other")
        assert store.preview("kept")["job_name"].tolist() == ["a"]
        let_go(holder)
        with TraceStore(replace(filled, wait_s=20.0)) as patient:  # the reader lets the database go when it is asked
            assert patient.rename("kept", "other").name == "other"
        assert [one.name for one in store.datasets()] == ["other"]  # written by another connection, and seen


def test_while_another_process_writes_what_is_known_is_told_and_the_rest_waits(filled):
    with TraceStore(filled) as store:
        assert [one.name for one in store.datasets()] == ["kept"]
        time.sleep(1.5)  # nobody reads: the database is let go
        with holding(filled, "writing") as holder:
            assert [one.name for one in store.datasets()] == ["kept"]
            with pytest.raises(HomeBusy, match=f"process {holder.pid} "):
                store.preview("kept")
            with pytest.raises(HomeBusy, match=f"process {holder.pid} "):
                store.rename("kept", "other")
            let_go(holder)
            assert store.preview("kept")["job_name"].tolist() == ["a"]


def test_a_process_that_comes_while_another_is_there_sweeps_nothing_up(filled):
    with holding(filled, "cursor"):
        for folder in ("spool", "tmp"):
            (filled.home / folder / "of-the-other").mkdir()
        with TraceStore(filled):
            assert (filled.home / "spool" / "of-the-other").is_dir()
    with TraceStore(filled):
        assert list((filled.home / "spool").iterdir()) == list((filled.home / "tmp").iterdir()) == []


def test_a_new_home_opens_its_database_once_and_an_ingest_once_more(tmp_path, monkeypatch):
    opened, connect = [], Database._connect
    monkeypatch.setattr(
        Database, "_connect", lambda self, *, writable: opened.append(1) or connect(self, writable=writable)
    )
    file = tmp_path / "runs.csv"
    file.write_text("task_name,duration_s\na,1\nb,2\n")
    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path)) as store:
        assert len(opened) == 1
        store.ingest([file], IngestOptions())
        assert len(opened) == 2


def test_two_connections_of_one_process_take_turns(filled):
    patient = replace(filled, wait_s=20.0)
    with TraceStore(patient) as one, TraceStore(patient) as other:
        for turn in range(4):
            store, beside = (one, other) if turn % 2 else (other, one)
            store.rename("kept" if not turn else f"name{turn - 1}", f"name{turn}")
            assert [entry.name for entry in beside.datasets()] == [f"name{turn}"]


def test_threads_read_while_one_of_them_writes(filled):
    patient = replace(filled, wait_s=20.0)
    stop, seen = threading.Event(), []

    def read(store):
        while not stop.is_set():
            seen.append(len(store.preview(store.datasets()[0].hash)))

    with TraceStore(patient) as store:
        readers = [threading.Thread(target=read, args=(store,)) for _ in range(3)]
        for reader in readers:
            reader.start()
        for turn in range(20):
            store.rename("kept" if not turn else f"name{turn - 1}", f"name{turn}")
        stop.set()
        for reader in readers:
            reader.join(20)
            assert not reader.is_alive()
    assert set(seen) == {1}


@pytest.mark.some(2)
@pytest.mark.parametrize("moment", ["spooling", "reading", "checking", "committing"])
def test_a_killed_ingest_leaves_nothing(settings, tmp_path, moment):
    kept, killed = tmp_path / "kept.csv", tmp_path / "killed.csv"
    kept.write_text("job_name,duration_s\na,1\n")
    rows = "".join(f"job{i},{i},{'' if i % 9 == 0 else 2 * i}\n" for i in range(ROWS))  # some still run
    content = ("job_name,start_time_s,end_time_s\n" + rows + "bad,x,\n").encode()
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
        assert len(tables_of(store)) == len(TABLES) + 2 * len(names)
        assert store.ingest([killed], IngestOptions(format="generic")).rows == ROWS


def test_what_a_killed_ingest_staged_goes_with_the_next_one_also_where_others_have_the_home_open(settings, tmp_path):
    path = tmp_path / "running.csv"
    path.write_text("job_name,start_time_s,end_time_s\n" + "".join(f"job{i},{i},\n" for i in range(1_000)) + "a,1,9\n")
    with TraceStore(settings) as store:
        with store.writing(), store._database.transaction() as cursor:  # as one killed after its rows were staged
            cursor.execute("CREATE TABLE stage_x AS SELECT 1 AS value")
        with TraceStore(settings):
            assert tables_of(store) - {"stage_x"} == TABLES
        assert "stage_x" in tables_of(store)  # its ingest may be running, for all that a reader knows
        report = store.ingest([path], IngestOptions())
        assert report.running == 1_000
        assert tables_of(store) == TABLES | {f"rows_{report.hash}", f"rejects_{report.hash}"}


def tables_of(store):
    with store._database.cursor() as cursor:
        return {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


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


@pytest.mark.soak
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


def test_a_home_is_closed_whatever_another_thread_reads(settings):
    """As the service does at its end; DuckDB refuses to close a connection that is at a query."""
    TraceStore(settings).close()
    store, cursors, ended = TraceStore(settings), [], threading.Event()

    def look():
        with contextlib.suppress(duckdb.Error), store._database.cursor() as cursor:
            cursors.append(cursor)
            cursor.execute("SELECT count(*) FROM range(9000000000) t(i) WHERE i % 7 = 3").fetchone()
        ended.set()

    reader = threading.Thread(target=look)
    reader.start()
    while not cursors:
        time.sleep(0.01)
    time.sleep(0.2)  # it is at its query
    store.close()
    assert not ended.is_set()
    cursors[0].interrupt()
    reader.join(20)
    assert ended.is_set()
