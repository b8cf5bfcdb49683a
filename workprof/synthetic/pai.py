"""A synthetic PAI sample with the truth: one Parquet file, one row per instance.

Two published files describe the trace, and they are different populations: the 100,001-row sample ("sample", big
jobs) and the 999-row test file ("tail", small jobs). Here metadata, sizes and mix follow the sample, levels and spread
of usage and duration the tail. Measured on 100,001 rows of seed 0, with the published figure in brackets:

    exact by construction   rows per workload and profile; 24.6 % outliers
    sample   task shares within 0.1 % of all rows; top five users 26.7 22.9 17.8 10.1 5.6 % [27.5 22.9 17.3 10.5 5.5],
             ten users 92.9 % [93.6]; two groups 14.6 and 8.3 % [14.9, 7.9]; largest job 1,075 rows [1,075];
             11,676 distinct metadata values [21,547: its jobs are smaller, since the published join multiplied rows]
    tail     median and log-sd: duration 963 s, 1.86 [417, 2.10]; CPU 89, .85 [114, .99]; GPU 6.0, 1.49 [9.0, 1.47];
             peak memory 3.6, .97 [3.2, .66: inception is 29 % of the sample and 10 % of the tail]; peak GPU memory
             1.0, 1.26 [.75, .97]; read 2.6e7, 1.95 [3.6e7, 2.33]; write 3.1e6, 1.52 [2.4e6, 1.29]
    tail     GPU use zero 3.8 % [3.9], GPU memory 1.0 % [1.1]; mean over peak memory .27/.73/.89 [.30/.76/.93]
    tail     ctr servers: 53 % end at 13 s [59 %]; quantiles .1/.5/.9: 13/13/838 s [13/13/919]
    tail     one row per job: in a repeated group 44 % [40], in a repeated (group, task) 31 % [32], coefficient of
             variation there .11, p90 1.07 [.07, .63]; R2 of log duration by user .19 [.07], user, workload and task
             .54 [.58], user, task, plan .82 [.80], group and task .96 [.97]
    tail     Spearman: read and read_count .87 [.90], read_count and write_count .89 [.96], memories .94 [.86], CPU and
             read .68 [.74], plan_mem and plan_gpu .68 [.72], plan_mem and read -.35 [-.77]
    trace    plan above usage (join by worker): CPU 87 % of tasks [84.5], GPU 97.6 % [98.0], memory 95.8 % [95.9]

Where the figures conflict: inst_num (median 20, p95 250) lies between the tail (10, 25) and the trace, where 43 % of
the instances are in tasks of at least 50. Servers are as many as workers, as in the sample, whose join made them so,
and not one per job as in the tail; that takes most of the rank correlation of duration with inst_num (.02 [.47]),
write (-.10 [-.42]) and plan_gpu (-.06 [-.37]). Plans above usage follow the join by worker, not the 54 % of the tail.
Servers carry a little GPU use, as in the sample, although they request none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from workprof.progress import Progress, silent
from workprof.store.outputs import whole
from workprof.synthetic.pai_population import draw_population, sample_jobs
from workprof.synthetic.pai_published import SENSOR_COLUMNS
from workprof.synthetic.pai_rows import SAMPLE_SCHEMA, sample_table
from workprof.synthetic.pai_sample_jobs import sample_batch
from workprof.synthetic.report import SynthReport, check_room, check_size

BLOCK_ROWS = 100_000
"""Rows that are drawn together; each block holds the whole mix, so memory does not grow with the file."""

MOST_ROWS = 100_000_000
"""About 13 GB and an hour."""

ROW_BYTES = 130
"""Of the file."""

_DRAWN = ("start_time", "end_time", *SENSOR_COLUMNS)


def block_sizes(rows: int) -> list[int]:
    """Return nearly equal block sizes that add up to `rows`."""
    blocks = max(1, round(rows / BLOCK_ROWS))
    return [rows // blocks + (number < rows % blocks) for number in range(blocks)]


def pai_sample_tables(rows: int, seed: int = 0) -> Iterator[Any]:
    """Yield Arrow tables that together are the sample, one per block.

    Raises:
        SettingsError: when rows or seed are out of bounds.
    """
    check_size("rows", rows, seed, MOST_ROWS)
    sizes = block_sizes(rows)
    population = draw_population(sample_jobs(sizes[0]), seed)
    first = 0
    for block, size in enumerate(sizes):
        yield sample_table(sample_batch(population, size, block, seed), population, first, (seed, 2, block))
        first += size


def write_pai_sample(path: Path, rows: int, seed: int = 0, progress: Progress = silent) -> SynthReport:
    """Write `rows` instances with planted behaviours to a Parquet file, block by block.

    Args:
        path: the file; its folder is made.
        rows: instances, at most MOST_ROWS.
        seed: the same seed and rows give the same values.
        progress: called after every block.

    Raises:
        SettingsError: when rows or seed are out of bounds, or the file cannot be written.
        DiskFull: when there is no room.
    """
    started = time.perf_counter()
    check_size("rows", rows, seed, MOST_ROWS)
    check_room(path, f"{rows:,} rows", rows * ROW_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path.parent, path) as aside:
        _write_blocks(aside / path.name, rows, seed, progress)
    seconds = time.perf_counter() - started
    return SynthReport(path, rows, seconds, {path.name: rows}, path.stat().st_size)


def _write_blocks(path: Path, rows: int, seed: int, progress: Progress) -> None:
    """Write the sample, one row group per block."""
    plain = [name for name in SAMPLE_SCHEMA.names if name not in _DRAWN]
    done = 0
    with pq.ParquetWriter(
        path, SAMPLE_SCHEMA, compression="zstd", compression_level=6,
        use_dictionary=plain, use_byte_stream_split=list(SENSOR_COLUMNS),
    ) as writer:  # fmt: skip
        for table in pai_sample_tables(rows, seed):
            writer.write_table(table)
            done += table.num_rows
            progress(done / rows, f"{done:,} of {rows:,} rows")
