"""A hundred times the rows on Spark cost this process no more memory: only counts and the sample come here."""

import os
import re
import subprocess
import sys

import duckdb
import pytest

from tests.pull.servers import java

SAMPLE_ROWS, TIMES = 20_000, 100
MOST = 1.2

SCRIPT = """
import pathlib, sys
from workprof.cli.main import main
try:
    main(["pull", "--from", "spark:local[2]", "--table", sys.argv[1], "--as", "x", "--sample", sys.argv[2],
          "--by", "user", "--json"])
except SystemExit as end:
    assert not end.code, end
print(pathlib.Path("/proc/self/status").read_text())
"""
"""The Java process of Spark is another one: VmHWM is the peak of ours."""


def peak_kb(folder, rows):
    """Return the peak memory of a pull, in KB."""
    place = folder / f"{rows}"
    place.mkdir()
    duckdb.sql(
        f"COPY (SELECT 'job-' || i AS job_name, 'u' || (i % 17) AS user, 'task-' || (i % 101) AS task_name, "
        f"i * 0.5 AS start_time_s, 10.0 + i % 997 AS duration_s, 1e6 * (1 + i % 4001) AS peak_memory_bytes "
        f"FROM range({rows}) t(i)) TO '{place}/0.parquet'"
    )
    command = [sys.executable, "-c", SCRIPT, f"{place}/", str(SAMPLE_ROWS)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"WORKPROF_HOME": str(folder / f"home-{rows}")},
    )
    assert done.returncode == 0, done.stderr
    assert f'"rows_there": {rows}' in done.stdout
    return int(re.search(r"VmHWM:\s+(\d+) kB", done.stdout).group(1))


@pytest.mark.soak
def test_the_peak_of_this_process_does_not_grow_with_the_trace(tmp_path):
    java()
    small = peak_kb(tmp_path, SAMPLE_ROWS)
    large = peak_kb(tmp_path, SAMPLE_ROWS * TIMES)
    print(f"peak {small / 1024:.0f} MB at {SAMPLE_ROWS:,} rows, {large / 1024:.0f} MB at {SAMPLE_ROWS * TIMES:,}")
    assert large <= MOST * small, f"{small} kB at {SAMPLE_ROWS:,} rows, {large} kB at {TIMES} times as many"
