"""The six raw tables of a synthetic PAI trace, with the quirks of the public one."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from workprof.core.progress import Progress, silent
from workprof.store.outputs import whole
from workprof.synthetic.pai_behaviours import draw_sensors
from workprof.synthetic.pai_jobs import (
    FAILED,
    STATUSES,
    STRAY_INSTANCE,
    TASK_NAMES,
    TERMINATED,
    WAITING,
    WORKLOADS,
    Batch,
    States,
    draw_states,
    identifiable,
    kind_labels,
    kind_shares,
    planted_profiles,
    row_centres,
    task_plans,
    trace_batch,
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
    take_names,
)
from workprof.synthetic.report import SynthReport, block_sizes, check_room, check_size

TABLE_COLUMNS = {
    "pai_job_table": ("job_name", "inst_id", "user", "status", "start_time", "end_time"),
    "pai_task_table": (
        "job_name", "task_name", "inst_num", "status", "start_time", "end_time",
        "plan_cpu", "plan_mem", "plan_gpu", "gpu_type",
    ),
    "pai_instance_table": (
        "job_name", "task_name", "inst_name", "worker_name", "inst_id", "status", "start_time", "end_time", "machine",
    ),
    "pai_sensor_table": (
        "job_name", "task_name", "worker_name", "inst_id", "machine", "gpu_name", "cpu_usage", "gpu_wrk_util",
        "avg_mem", "max_mem", "avg_gpu_wrk_mem", "max_gpu_wrk_mem", "read", "write", "read_count", "write_count",
    ),
    "pai_group_tag_table": ("inst_id", "user", "gpu_type_spec", "group", "workload"),
    "pai_machine_spec": ("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"),
}  # fmt: skip
"""Columns of the public tables, in their order (trace)."""

TAG_ROW_SHARE = 1_055_032 / 1_055_501
"""Jobs that have a row in the group-tag table (trace)."""

TYPE_SPEC_SHARE = 0.05
"""Jobs that insist on a GPU type (our choice)."""

RETRY_SHARE = 0.005
"""Instances with an earlier failed attempt under the same worker_name (our choice; the trace has such rows)."""

SENSOR_SHARES = (0.97, 0.80, 0.60, 0.0)
"""Workers with a sensor row by status Terminated, Failed, Running, Waiting (our choice; the trace has gaps)."""


class BlockTables:
    """Turns one batch of whole jobs into rows of the five tables that grow with the jobs."""

    def __init__(self, batch: Batch, states: States, population: Population, rng: np.random.Generator) -> None:
        self._batch, self._states, self._population, self._rng = batch, states, population, rng
        jobs, rows = batch.job_user.size, batch.row_task.size
        self._row_job = batch.task_job[batch.row_task]
        self._job_name = hex_names(rng, jobs, JOB_DIGITS)
        self._inst_id = hex_names(rng, jobs, INSTANCE_DIGITS)
        self._worker = hex_names(rng, rows, INSTANCE_DIGITS)
        self._plans = task_plans(batch)
        self._task_code, self._workload_code = kind_labels(batch)
        self._host_type = draw_host_types([ALL_KINDS[kind].workload for kind in batch.job_kind[batch.task_job]], rng)
        self._host = draw_hosts(population.machines, self._host_type[batch.row_task], rng)

    def tables(self) -> dict[str, Any]:
        """The tables by name, each with the columns of `TABLE_COLUMNS`, and "truth"."""
        return {
            "pai_job_table": self._shuffled(self._jobs()),
            "pai_task_table": self._shuffled(self._tasks()),
            "pai_instance_table": self._instances(),
            "pai_sensor_table": self._sensors(),
            "pai_group_tag_table": self._shuffled(self._tags()),
            "truth": self._truth(),
        }

    def _shuffled(self, table: Any) -> Any:
        return table.take(pa.array(self._rng.permutation(table.num_rows)))

    def _jobs(self) -> Any:
        states, users = self._states, take_names(self._population.users, self._batch.job_user)
        return _table(
            "pai_job_table",
            [self._job_name, self._inst_id, users, *_state(states.job_status, states.job_start, states.job_end)],
        )

    def _tasks(self) -> Any:
        states, batch = self._states, self._batch
        cpu, memory, gpu = self._plans.T
        requested = draw_requested_types(self._host_type, self._rng)
        gpu_type = pa.array(TYPE_NAMES).take(pa.array(requested, mask=np.isnan(gpu)))
        return _table(
            "pai_task_table",
            [
                take_names(self._job_name, batch.task_job),
                take_names(pa.array(TASK_NAMES), self._task_code),
                batch.task_instances,
                *_state(states.task_status, states.task_start, states.task_end),
                cpu,
                memory,
                gpu,
                gpu_type,
            ],
        )

    def _instances(self) -> Any:
        """Instance rows in random order, earlier attempts included; a waiting one has no worker yet."""
        states, rng = self._states, self._rng
        rows = self._row_job.size
        ended = np.flatnonzero((states.row_status == TERMINATED) & (states.row_start > 0))
        retried = ended[rng.random(ended.size) < RETRY_SHARE]
        order = rng.permutation(rows + retried.size)
        row = np.concatenate([np.arange(rows), retried])[order]
        earlier = order >= rows
        status = np.where(earlier, FAILED, states.row_status[row])
        end = np.where(earlier, states.row_start[row], states.row_end[row])
        start = np.where(earlier, np.maximum(states.row_start[row] - 5, 1), states.row_start[row])
        placed = status != WAITING
        names = self._row_names(row)
        return _table(
            "pai_instance_table",
            [
                *names[:2],
                take_names(hex_names(rng, rows, INSTANCE_DIGITS), row),
                self._worker.take(pa.array(row, mask=~placed)),
                names[2],
                *_state(status, start, end),
                self._population.machines.names.take(pa.array(self._host[row], mask=~placed)),
            ],
        )

    def _sensors(self) -> Any:
        """Sensor rows of the workers that have one, in random order; servers have no GPU to measure."""
        batch, rng = self._batch, self._rng
        seen = rng.random(self._row_job.size) < np.array(SENSOR_SHARES)[self._states.row_status]
        row = rng.permutation(np.flatnonzero(seen))
        sensors = draw_sensors(row_centres(batch)[row], batch.row_outlier[row] == STRAY_INSTANCE, rng)
        no_gpu = np.isnan(self._plans[batch.row_task[row], 2])
        values = vars(sensors)
        for name in ("gpu_wrk_util", "avg_gpu_wrk_mem", "max_gpu_wrk_mem"):
            values = values | {name: np.where(no_gpu, np.nan, values[name])}
        names = self._row_names(row)
        machines = self._population.machines
        device = draw_gpu_names(machines.gpus[self._host[row]], rng)
        return _table(
            "pai_sensor_table",
            [
                *names[:2],
                self._worker.take(pa.array(row)),
                names[2],
                take_names(machines.names, self._host[row]),
                pa.compute.if_else(pa.array(no_gpu), pa.scalar(None, pa.string()), device),
                *values.values(),
            ],
        )

    def _tags(self) -> Any:
        """Group tags; the workload of an untagged job is NULL."""
        batch, rng = self._batch, self._rng
        job = np.flatnonzero(rng.random(batch.job_user.size) < TAG_ROW_SHARE)
        population = self._population
        one_off = max(0, int(batch.job_group.max()) + 1 - len(population.groups))
        groups = pa.concat_arrays([population.groups, hex_names(rng, one_off, GROUP_DIGITS)])
        spec = rng.integers(0, len(TYPE_NAMES) - 1, job.size)
        workload = self._workload_code[job]
        return _table(
            "pai_group_tag_table",
            [
                take_names(self._inst_id, job),
                take_names(population.users, batch.job_user[job]),
                pa.array(TYPE_NAMES).take(pa.array(spec, mask=rng.random(job.size) > TYPE_SPEC_SHARE)),
                take_names(groups, batch.job_group[job]),
                pa.array(WORKLOADS).take(pa.array(workload, mask=workload == WORKLOADS.index(""))),
            ],
        )

    def _truth(self) -> Any:
        """The planted truth per task: the behaviour of most of its instances."""
        batch = self._batch
        profile = planted_profiles(batch)
        return pa.table(
            {
                "job_name": take_names(self._job_name, batch.task_job),
                "task_name": take_names(pa.array(TASK_NAMES), self._task_code),
                "truth_profile": pa.array(profile.astype(np.int16)),
                "truth_identifiable": pa.array(identifiable(profile)),
                "truth_template": pa.array(batch.job_template[batch.task_job]),
                "truth_spike": pa.array(batch.task_spike),
            }
        )

    def _row_names(self, row: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """job_name, task_name and inst_id of instance rows."""
        job, task = self._row_job[row], self._task_code[self._batch.row_task[row]]
        return (
            take_names(self._job_name, job),
            take_names(pa.array(TASK_NAMES), task),
            take_names(self._inst_id, job),
        )


def machine_table(population: Population) -> Any:
    """The machine table."""
    machines = population.machines
    types = take_names(pa.array(TYPE_NAMES), machines.type_index)
    return _table("pai_machine_spec", [machines.names, types, machines.cores, machines.memory_gb, machines.gpus])


def _state(
    status: NDArray[np.int64], start: NDArray[np.float64], end: NDArray[np.float64]
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """The status by name, and both times."""
    return take_names(pa.array(STATUSES), status), start, end


def _table(name: str, values: list[Any]) -> Any:
    """An Arrow table with the public columns; NaN becomes NULL."""
    arrays = [pa.array(value, from_pandas=True) if isinstance(value, np.ndarray) else value for value in values]
    return pa.Table.from_arrays(arrays, names=list(TABLE_COLUMNS[name]))


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

    The folder is made where absent, and files of the same names are replaced. There are at most MOST_JOBS jobs; the
    public trace has 1,055,501. The same seed and jobs give the same values.

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
    for name, headings in TABLE_COLUMNS.items():
        (folder / f"{name}.header").write_text(",".join(headings) + "\n", encoding="ascii")
    population = draw_population((kind_shares() * min(jobs, BLOCK_JOBS)).tolist(), seed)
    with TableFiles(folder) as files:
        files.write("pai_machine_spec", machine_table(population))
        done = 0
        for block, size in enumerate(block_sizes(jobs, BLOCK_JOBS)):
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
        if path.suffix == ".parquet":
            return pq.ParquetWriter(path, schema, compression="zstd")
        options = pc.WriteOptions(include_header=False, quoting_style="none")
        return pc.CSVWriter(path, schema, write_options=options)
