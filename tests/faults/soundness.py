"""What must hold of a home after whatever happened to the process that had it."""

import hashlib
import json
import os
import time
from pathlib import Path

import psutil

from workprof.cache import About, read_entry
from workprof.store.catalogue import STATEMENTS
from workprof.store.connection import quoted
from workprof.store.trace_store import TraceStore

PATIENCE_S = 120
SWEPT = ("spool", "tmp")


def bytes_below(folder):
    """Return relative path -> SHA-256 of every file."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def rows_hash(store, dataset):
    """Return a hash over all rows of a dataset, whatever their order."""
    with store._database.cursor() as cursor:
        table = quoted("rows_" + store.dataset(dataset).hash)
        (found,) = cursor.execute(f"SELECT sum(hash(rows)::HUGEINT) FROM {table} rows").fetchone()
    return int(found)


def _counts(store, dataset):
    rows, rejects = quoted(f"rows_{dataset.hash}"), quoted(f"rejects_{dataset.hash}")
    with store._database.cursor() as cursor:
        asked = f"SELECT count(*), count(*) FILTER (WHERE finished), (SELECT count(*) FROM {rejects}) FROM {rows}"
        return cursor.execute(asked).fetchone()


def check_store(store, home, wanted):
    """Check that every dataset is whole, that it is one of `wanted` (name -> rows hash), and that nothing else is."""
    datasets = store.datasets()
    assert {dataset.name for dataset in datasets} <= set(wanted)
    for dataset in datasets:
        report = store.report(dataset.hash)
        assert _counts(store, dataset) == (dataset.rows, dataset.finished_rows, report.rejected)
        assert report.rows == dataset.rows
        assert rows_hash(store, dataset.hash) == wanted[dataset.name]
    with store._database.cursor() as cursor:
        tables = cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert len(tables) == len(STATEMENTS) + 2 * len(datasets)
    rejected = {dataset.hash for dataset in datasets if store.report(dataset.hash).rejected}
    assert {path.name for path in (home / "rejects").iterdir()} == {f"{name}.csv" for name in rejected}
    for folder in SWEPT:
        assert list((home / folder).iterdir()) == []


def check_cache(home, classes):
    """Check that every kept result can be read as the class of its step (step -> class), and nothing lies beside."""
    assert not list((home / "cache").glob("aside-*"))
    for place in (home / "cache").glob("??/*"):
        about = About(**json.loads((place / "about.json").read_text(encoding="utf-8")))
        record, _ = read_entry(place, classes[about.step])
        assert record is not None


def reopened(settings, wanted):
    """Open a home as the next process does, check it, and return the names of its datasets."""
    with TraceStore(settings) as store:
        check_store(store, settings.home, wanted)
        return {dataset.name for dataset in store.datasets()}


def processes_of(home):
    """Return the ids of the living processes whose command line names the home."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        alive = process.info["status"] != psutil.STATUS_ZOMBIE
        if alive and str(home) in command and process.info["pid"] != os.getpid():
            found.append(process.info["pid"])
    return found


def nothing_runs_on(home):
    """Wait until no process of a home is left; tell which are, where that never happens."""
    until(lambda: not processes_of(home), lambda: f"still alive: {processes_of(home)}")


def until(true, told=lambda: "it never happened", patience_s=PATIENCE_S):
    """Poll until something is true."""
    end = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < end, told()
        time.sleep(0.02)


def lines_of(log):
    path = Path(log)
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
