"""The six raw tables of a synthetic PAI trace, with the quirks of the public one.

The tables come from the same population of users, kinds, templates and behaviours as the sample, and nine tenths of
the jobs carry no workload tag. As in the public trace: four statuses; 0 for lost and waiting start times and no end
before the end; plan_gpu NULL for servers; plans per instance; inst_id names the *job*; workers without a sensor row;
a second, failed row under the worker_name of a retried instance; waiting instances without a worker.
`truth.parquet` beside them tells what was planted per task; no reader of the tables looks at it.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pc
import pyarrow.parquet as pq

from workprof.progress import Progress, silent
from workprof.store.outputs import whole
from workprof.synthetic.pai_population import draw_population
from workprof.synthetic.pai_states import draw_states
from workprof.synthetic.pai_table_rows import TABLE_COLUMNS, BlockTables, machine_table
from workprof.synthetic.pai_trace_jobs import kind_shares, trace_batch
from workprof.synthetic.report import SynthReport, check_room, check_size

BLOCK_JOBS = 10_000
"""Jobs that are drawn together; memory does not grow with the trace."""

MOST_JOBS = 10_000_000
"""Ten times the public trace: about 70 GB."""

JOB_BYTES = 7_000
"""Of all files."""

TRUTH_FILE = "truth.parquet"
"""What was planted, per task."""


def write_pai_tables(folder: Path, jobs: int, seed: int = 0, progress: Progress = silent) -> SynthReport:
    """Write the six tables of `jobs` jobs as CSV without header rows, their .header files and the truth.

    Args:
        folder: where the files go; made where absent, files of the same names are replaced.
        jobs: jobs, at most MOST_JOBS; the public trace has 1,055,501.
        seed: the same seed and jobs give the same values.
        progress: called after every block.

    Raises:
        SettingsError: when jobs or seed are out of bounds, or the files cannot be written.
        DiskFull: when there is no room; then no file is left.
    """
    started = time.perf_counter()
    check_size("jobs", jobs, seed, MOST_JOBS)
    check_room(folder, f"{jobs:,} jobs", jobs * JOB_BYTES)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole(folder, folder) as aside:
        rows = _write_tables(aside, jobs, seed, progress)
    seconds = time.perf_counter() - started
    size_on_disk = sum((folder / name).stat().st_size for name in rows)
    return SynthReport(folder, sum(rows.values()), seconds, rows, size_on_disk)


def _write_tables(folder: Path, jobs: int, seed: int, progress: Progress) -> dict[str, int]:
    """Write every file and return the rows by file name."""
    for name, headings in TABLE_COLUMNS.items():
        (folder / f"{name}.header").write_text(",".join(headings) + "\n", encoding="ascii")
    population = draw_population((kind_shares() * min(jobs, BLOCK_JOBS)).tolist(), seed)
    with TableFiles(folder) as files:
        files.write("pai_machine_spec", machine_table(population))
        done = 0
        for block, size in enumerate(_block_sizes(jobs)):
            batch = trace_batch(population, size, block, seed)
            rng = np.random.default_rng([seed, 4, block])
            for name, table in BlockTables(batch, draw_states(batch, rng), population, rng).tables().items():
                files.write(name, table)
            done += size
            progress(done / jobs, f"{done:,} of {jobs:,} jobs")
    return files.rows


class TableFiles:
    """Open files of a folder, one per table, written block by block.

    Attributes:
        rows: rows written so far by file name.
    """

    def __init__(self, folder: Path) -> None:
        self.rows: dict[str, int] = {}
        self._folder = folder
        self._stack = ExitStack()
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> TableFiles:
        return self

    def __exit__(self, *details: object) -> None:
        self._stack.close()

    def write(self, name: str, table: Any) -> None:
        """Append the rows to the table's CSV file, or to the Parquet file of the truth."""
        file = TRUTH_FILE if name == "truth" else f"{name}.csv"
        if name not in self._writers:
            self._writers[name] = self._stack.enter_context(self._open(self._folder / file, table.schema))
        self._writers[name].write_table(table)
        self.rows[file] = self.rows.get(file, 0) + table.num_rows

    @staticmethod
    def _open(path: Path, schema: Any) -> Any:
        """Return a writer for the path."""
        if path.suffix == ".parquet":
            return pq.ParquetWriter(path, schema, compression="zstd")
        options = pc.WriteOptions(include_header=False, quoting_style="none")
        return pc.CSVWriter(path, schema, write_options=options)


def _block_sizes(jobs: int) -> list[int]:
    """Return nearly equal block sizes that add up to `jobs`."""
    blocks = max(1, round(jobs / BLOCK_JOBS))
    return [jobs // blocks + (number < jobs % blocks) for number in range(blocks)]
