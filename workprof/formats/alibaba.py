"""Alibaba's cluster trace of 2018: `batch_task.csv` and `batch_instance.csv`, without a header.

Times are seconds, 0 = before or after the eight days. CPU is in percent of a core; memory is normalised to 0-100, 100 =
the largest machine. `plan_cpu` and `plan_mem` are of one instance of the task. Only 'Terminated' is success.

Source: schema.txt and trace_2018.md of cluster-trace-v2018 in alibaba/clusterdata.
"""

from collections.abc import Sequence
from dataclasses import replace

from workprof.formats.cells import mostly, number, whole, word
from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn

STATES = ("terminated", "failed", "running", "waiting", "ready", "interrupted", "cancelled")
NULLS = ("", "NULL", "NaN", "nan", "\\N")
LATEST_S = 1e9
MOST_CORES_PERCENT = 1e6
NORMALISED_MOST = 101.0
"""101 says an invalid value, and so does -1."""

TASK = (
    "task_name",
    "instance_num",
    "job_name",
    "task_type",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
)
INSTANCE = (
    *("instance_name", "task_name", "job_name", "task_type", "status", "start_time", "end_time", "machine_id"),
    *("seq_no", "total_seq_no", "cpu_avg", "cpu_max", "mem_avg", "mem_max"),
)
_TEXTS = ("task_name", "job_name", "task_type", "status", "instance_name", "machine_id")


def is_task_table(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of batch_task.csv."""
    return mostly(rows, _is_task)


def is_instance_table(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of batch_instance.csv."""
    return mostly(rows, _is_instance)


def _is_task(row: Sequence[str]) -> bool:
    return len(row) == len(TASK) and whole(row[1]) and word(row[2]) and _is_timed(row) and _is_plan(row)


def _is_instance(row: Sequence[str]) -> bool:
    return len(row) == len(INSTANCE) and word(row[0]) and word(row[2]) and _is_timed(row) and _is_measured(row)


def _is_timed(row: Sequence[str]) -> bool:
    times = all(number(cell, 0, LATEST_S, missing=True) for cell in row[5:7])
    return row[4].strip().lower() in STATES and times


def _is_plan(row: Sequence[str]) -> bool:
    return number(row[7], 0, MOST_CORES_PERCENT, missing=True) and number(row[8], -1, NORMALISED_MOST, missing=True)


def _is_measured(row: Sequence[str]) -> bool:
    return (
        all(whole(cell, missing=True) for cell in row[8:10])
        and all(number(cell, -1, MOST_CORES_PERCENT, missing=True) for cell in row[10:12])
        and all(number(cell, -1, NORMALISED_MOST, missing=True) for cell in row[12:14])
    )


def _share(field: str) -> Made:
    """How a memory becomes a share: of what lies in 0-100, the invalid values are none."""
    return Made(field, f"CASE WHEN {field} BETWEEN 0 AND 100 THEN {field} / 100 END", needs=(field,))


FORMAT = Format(
    name="alibaba-tasks",
    title="Alibaba 2018 batch_task.csv",
    columns=tuple(SourceColumn(name, TEXT if name in _TEXTS else NUMBER) for name in TASK),
    rules=(
        Rule("job_name", "job_name"),
        Rule("task_name", "task_name"),
        Rule("status", "status"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("instances", "instance_num"),
        Rule("requested_cpu_percent", "plan_cpu", "percent"),
        Rule("requested_memory_bytes", "plan_mem", "B"),
    ),
    nulls=NULLS,
    finished=("terminated",),
    zero_is_missing=("start_time_s", "end_time_s"),
    duration_from_times=True,
    own_marks=("requested_memory_bytes",),
    made=(_share("requested_memory_bytes"),),
    normalised=("requested_memory_bytes",),
    header=False,
    recognises=is_task_table,
    not_known="A task has requests and no use, an instance has use and no requests.",
    rows_version=2,
)

TASKS_NAMED = replace(
    FORMAT,
    name="alibaba-tasks-named",
    title="Alibaba 2018 batch tasks with a header",
    required=("job_name", "start_time", "end_time"),
    signature=("task_name", "instance_num", "job_name", "task_type", "plan_cpu", "plan_mem"),
    header=True,
    recognises=None,
)

INSTANCES = replace(
    FORMAT,
    name="alibaba-instances",
    title="Alibaba 2018 batch_instance.csv",
    columns=tuple(SourceColumn(name, TEXT if name in _TEXTS else NUMBER) for name in INSTANCE),
    rules=(
        Rule("job_name", "job_name"),
        Rule("task_name", "task_name"),
        Rule("node", "machine_id"),
        Rule("status", "status"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("cpu_usage_percent", "cpu_avg", "percent"),
        Rule("mean_memory_bytes", "mem_avg", "B"),
        Rule("peak_memory_bytes", "mem_max", "B"),
    ),
    own_marks=("cpu_usage_percent", "mean_memory_bytes", "peak_memory_bytes"),
    made=(
        Made(
            "cpu_usage_percent",
            "CASE WHEN cpu_usage_percent >= 0 THEN cpu_usage_percent END",
            needs=("cpu_usage_percent",),
        ),
        _share("mean_memory_bytes"),
        _share("peak_memory_bytes"),
    ),
    units=(("cpu_max", "percent"),),
    normalised=("mean_memory_bytes", "peak_memory_bytes"),
    recognises=is_instance_table,
)

INSTANCES_NAMED = replace(
    INSTANCES,
    name="alibaba-instances-named",
    title="Alibaba 2018 batch instances with a header",
    required=("job_name", "start_time", "end_time"),
    signature=("task_name", "job_name", "seq_no", "total_seq_no", "cpu_avg", "mem_max"),
    header=True,
    recognises=None,
)
