"""A synthetic PAI sample with the truth: one Parquet file, one row per instance."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from workprof.core.progress import Progress, silent
from workprof.store.outputs import whole
from workprof.synthetic.pai_behaviours import SAMPLE_COLUMNS, SENSOR_COLUMNS, draw_sensors
from workprof.synthetic.pai_jobs import (
    OUTLIER_NAMES,
    REGULAR,
    TASK_NAMES,
    WORKLOADS,
    Batch,
    identifiable,
    kind_labels,
    row_centres,
    sample_batch,
    task_plans,
)
from workprof.synthetic.pai_population import (
    ALL_KINDS,
    GROUP_DIGITS,
    INSTANCE_DIGITS,
    JOB_DIGITS,
    TYPE_NAMES,
    Population,
    draw_gpu_names,
    draw_host_types,
    draw_hosts,
    draw_population,
    draw_requested_types,
    hex_names,
    sample_jobs,
    take_names,
)
from workprof.synthetic.report import SynthReport, block_sizes, check_room, check_size

_NUMBERS = (
    "inst_num", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu",
    "cap_cpu_machine_spec", "cap_mem_machine_spec", "cap_gpu_machine_spec", *SENSOR_COLUMNS,
)  # fmt: skip
_TYPES = {"index": pa.int64()} | dict.fromkeys(_NUMBERS, pa.float64())

SAMPLE_SCHEMA = pa.schema(
    [
        *((name, _TYPES.get(name, pa.string())) for name in SAMPLE_COLUMNS),
        ("truth_profile", pa.int16()),
        ("truth_identifiable", pa.bool_()),
        ("truth_template", pa.int64()),
        ("truth_spike", pa.bool_()),
        ("truth_outlier", pa.string()),
    ]
)
"""Columns and types of the sample file."""


def sample_table(batch: Batch, population: Population, first: int, seed: Sequence[int]) -> Any:
    """The rows of a batch; `index` counts from `first`, `seed` draws names, machines and sensors."""
    rng = np.random.default_rng(list(seed))
    job = batch.task_job[batch.row_task]
    columns = _names(batch, population, job, rng) | _numbers(batch, job) | _hosts(batch, population, rng)
    columns |= vars(draw_sensors(row_centres(batch), batch.row_outlier != REGULAR, rng)) | _truth(batch, job)
    columns["index"] = np.arange(first, first + job.size)
    columns["status"] = take_names(pa.array(["Terminated"]), np.zeros(job.size, np.int64))
    arrays = [_column(columns[field.name], field) for field in SAMPLE_SCHEMA]
    return pa.Table.from_arrays(arrays, schema=SAMPLE_SCHEMA)


def _names(batch: Batch, population: Population, job: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Any]:
    """Every column of names but those of machines."""
    jobs, rows = batch.job_user.size, job.size
    one_off = max(0, int(batch.job_group.max()) + 1 - len(population.groups))
    groups = pa.concat_arrays([population.groups, hex_names(rng, one_off, GROUP_DIGITS)])
    task_name, workload = kind_labels(batch)
    return {
        "job_name": take_names(hex_names(rng, jobs, JOB_DIGITS), job),
        "inst_id": take_names(hex_names(rng, jobs, INSTANCE_DIGITS), job),
        "user": take_names(population.users, batch.job_user[job]),
        "group": take_names(groups, batch.job_group[job]),
        "workload": take_names(pa.array(WORKLOADS), workload[job]),
        "task_name": take_names(pa.array(TASK_NAMES), task_name[batch.row_task]),
        "inst_name": hex_names(rng, rows, INSTANCE_DIGITS),
        "worker_name": hex_names(rng, rows, INSTANCE_DIGITS),
    }


def _numbers(batch: Batch, job: NDArray[np.int64]) -> dict[str, Any]:
    cpu, memory, gpu = task_plans(batch)[batch.row_task].T
    start = batch.job_start_s[job]
    return {
        "inst_num": batch.task_instances[batch.row_task],
        "start_time": start,
        "end_time": start + batch.task_duration_s[batch.row_task],
        "plan_cpu": cpu,
        "plan_mem": memory,
        "plan_gpu": gpu,
    }


def _hosts(batch: Batch, population: Population, rng: np.random.Generator) -> dict[str, Any]:
    """The machine of every row, its size, the device, and the type that the task requested."""
    machines = population.machines
    workloads = [ALL_KINDS[kind].workload for kind in batch.job_kind[batch.task_job]]
    host_type = draw_host_types(workloads, rng)
    requested = draw_requested_types(host_type, rng)
    no_gpu = np.isnan(task_plans(batch)[:, 2])
    host = draw_hosts(machines, host_type[batch.row_task], rng)
    types = pa.array(TYPE_NAMES)
    return {
        "machine": take_names(machines.names, host),
        "gpu_type": types.take(pa.array(requested[batch.row_task], mask=no_gpu[batch.row_task])),
        "gpu_type_machine_spec": take_names(types, machines.type_index[host]),
        "cap_cpu_machine_spec": machines.cores[host],
        "cap_mem_machine_spec": machines.memory_gb[host],
        "cap_gpu_machine_spec": machines.gpus[host],
        "gpu_name": draw_gpu_names(machines.gpus[host], rng),
    }


def _truth(batch: Batch, job: NDArray[np.int64]) -> dict[str, Any]:
    return {
        "truth_profile": batch.row_profile,
        "truth_identifiable": identifiable(batch.row_profile),
        "truth_template": batch.job_template[job],
        "truth_spike": batch.task_spike[batch.row_task],
        "truth_outlier": take_names(pa.array(OUTLIER_NAMES), batch.row_outlier),
    }


def _column(values: Any, field: Any) -> Any:
    """An Arrow array of the field's type; NaN becomes NULL."""
    if isinstance(values, np.ndarray):
        return pa.array(values.astype(field.type.to_pandas_dtype(), copy=False), from_pandas=True)
    return values


BLOCK_ROWS = 100_000
"""Rows that are drawn together; each block holds the whole mix, so memory does not grow with the file."""

MOST_ROWS = 100_000_000
"""About 13 GB and an hour."""

ROW_BYTES = 130
"""Of the file."""

_DRAWN = ("start_time", "end_time", *SENSOR_COLUMNS)


def pai_sample_tables(rows: int, seed: int = 0) -> Iterator[Any]:
    """Yield Arrow tables that together are the sample, one per block.

    Raises SettingsError when rows or seed are out of bounds.
    """
    check_size("rows", rows, seed, MOST_ROWS)
    sizes = block_sizes(rows, BLOCK_ROWS)
    population = draw_population(sample_jobs(sizes[0]), seed)
    first = 0
    for block, size in enumerate(sizes):
        yield sample_table(sample_batch(population, size, block, seed), population, first, (seed, 2, block))
        first += size


def write_pai_sample(path: Path, rows: int, seed: int = 0, progress: Progress = silent) -> SynthReport:
    """Write `rows` instances, at most MOST_ROWS, with planted behaviours to a Parquet file, block by block.

    The folder is made. The same seed and rows give the same values.

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
