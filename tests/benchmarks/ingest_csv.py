"""Ingest of one large CSV against DuckDB reading the same file into a table on disk: both in the same call.

`CSV_MB=1000 WORKPROF_MEMORY_LIMIT=2GB BENCH=ingest_csv make bench` is the run of README's section on large files.
DuckDB gets the same memory limit and as many threads, and keeps the texts as they stand. Ours parses durations, sizes
and times, counts every line, hashes the bytes, keeps the rejects and checks the rows.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Measured, Side, beside, run_side

MB = 1_000_000
SIZE_MB = 100
BYTES_OF_A_ROW = 104
REJECTED_EVERY = 100_003
"""One row in so many has a duration that is none."""

HEADER = (
    "job_name,user,status,start_time_s,end_time_s,duration_s,requested_memory_bytes,peak_memory_bytes,requested_cpu"
)
ROWS = """
SELECT 'step_' || (i % 977) || '_' || i AS job_name, 'user' || (i * 7919 % 613) AS user,
    CASE i % 20 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'TIMEOUT' ELSE 'COMPLETED' END AS status,
    strftime(t, '%Y-%m-%dT%H:%M:%S') AS start_time_s,
    strftime(t + to_seconds(s), '%Y-%m-%dT%H:%M:%S') AS end_time_s,
    CASE WHEN i % {rejected} = 7 THEN 'soon'
        ELSE printf('%02d:%02d:%02d', s // 3600, s // 60 % 60, s % 60) END AS duration_s,
    (1 + i % 64) || 'Gi' AS requested_memory_bytes, i * 104729 % 60000000 AS peak_memory_bytes,
    1 + i % 16 AS requested_cpu
FROM (SELECT range AS i, 30 + range * 7907 % 86000 AS s, TIMESTAMP '2024-01-01' + to_seconds(range * 3) AS t
    FROM range({rows}))
"""
CALL = """
import time
from pathlib import Path
from tests.benchmarks.ingest_csv import {side}
{imports}
started, cpu = time.perf_counter(), time.process_time()
told = {side}(Path({path!r}), Path({home!r}))
seconds = time.perf_counter() - started
told["cpu_s"] = time.process_time() - cpu
"""
IMPORTS = {"reference": "import duckdb", "ours": "import workprof.store.trace_store"}


def run(size_mb: int = 0) -> Measured:
    """Return the times and peaks of both sides on a CSV of so many MB."""
    size = size_mb or int(os.environ.get("CSV_MB", SIZE_MB))
    with tempfile.TemporaryDirectory() as scratch:
        path = write_csv(Path(scratch) / "jobs.csv", size * MB)
        sides = {side: turn(side, path, Path(scratch) / side) for side in IMPORTS}
        size = round(path.stat().st_size / MB)
    ours, reference = sides["ours"], sides["reference"]
    rows = ours.told["rows"] + ours.told["rejected"]
    if rows != reference.told["rows"]:
        raise AssertionError(f"the two sides disagree on the rows: {rows}, {reference.told['rows']}")
    return beside(
        ours,
        reference,
        "DuckDB reading the CSV into a table on disk, texts as they stand",
        note=f"{size:,} MB, {rows:,} rows, {ours.told['rejected']:,} rejected; one turn; "
        f"CPU {ours.told['cpu_s']:.1f} s, DuckDB {reference.told['cpu_s']:.1f} s",
    )


def write_csv(path: Path, size_bytes: int) -> Path:
    """Write a job table of about so many bytes: texts, clocks, moments, sizes with units; the same for a size."""
    import duckdb

    rows = ROWS.format(rejected=REJECTED_EVERY, rows=size_bytes // BYTES_OF_A_ROW)
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT csv, HEADER)")
    return path


def reference(path: Path, home: Path) -> dict[str, int]:
    """Read the file with DuckDB into a table of a database on disk."""
    import duckdb

    from workprof.core.settings import from_environment

    home.mkdir()
    settings = from_environment()
    config = {"threads": settings.threads, "memory_limit": f"{settings.memory_limit_bytes}B"}
    with duckdb.connect(home / "reference.duckdb", config=config) as connection:
        connection.execute(f"CREATE TABLE jobs AS SELECT * FROM read_csv('{path}', all_varchar=false)")
        (rows,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
    return {"rows": rows}


def ours(path: Path, home: Path) -> dict[str, int]:
    """Ingest the file into a fresh home with the settings of the environment."""
    from workprof.core.settings import from_environment
    from workprof.store.reports import FieldSource, IngestOptions
    from workprof.store.trace_store import TraceStore

    mapping = {"requested_cpu_percent": FieldSource("requested_cpu", "cores")}
    with TraceStore(from_environment().at(home)) as store:
        report = store.ingest([path], IngestOptions(mapping=mapping))
    return {"rows": report.rows, "rejected": report.rejected}


def turn(side: str, path: Path, home: Path) -> Side:
    """Run one side in a process of its own."""
    return run_side(CALL.format(side=side, imports=IMPORTS[side], path=str(path), home=str(home)))
