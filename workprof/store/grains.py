"""The corrected join at the grain of tasks or jobs: for planning.

Usage and requests are summed over the workers, `duration_s` is the mean run time of a task's instances and the whole
span of a job, `wait_s` is the first instance's start after the submission.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from workprof.formats.declare import NUMBER, TEXT
from workprof.formats.fields import FIELDS, USAGE_FIELDS
from workprof.progress import Progress
from workprof.store.compile import FINISHED, FLAGS, Output, Plan
from workprof.store.connection import quoted
from workprof.store.loaded import Stage
from workprof.store.raw_tables import RawTable
from workprof.store.reports import Column
from workprof.store.running import Span, run_watched

GROUP = Span(0.80, 0.85, "summing up")
GRAIN_KEYS = {"task": ("job_name", "task_name"), "job": ("job_name",)}
REQUESTED = ("requested_cpu_percent", "requested_gpu_percent", "requested_memory_bytes")
SHARED = ("user", "group", "workload", "gpu_type")


def aggregate(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    plan: Plan,
    grain: str,
    tables: Mapping[str, RawTable],
    progress: Progress,
) -> Plan:
    """Replace the staged instances by their tasks or jobs and return the new columns."""
    instances = f"{stage.rows}_instances"
    cursor.execute(f"ALTER TABLE {quoted(stage.rows)} RENAME TO {quoted(instances)}")
    outputs = _outputs(plan, grain)
    keys = ", ".join(GRAIN_KEYS[grain])
    items = ", ".join(f"{output.sql} AS {quoted(output.column.name)}" for output in outputs)
    source = quoted(instances) if grain == "task" else _with_job_starts(instances, tables)
    run_watched(
        cursor,
        f"CREATE TABLE {quoted(stage.rows)} AS SELECT {items}, bool_and({FINISHED}) AS {FINISHED}, "
        f"CAST(bit_or({FLAGS}) AS UTINYINT) AS {FLAGS} FROM {source} GROUP BY {keys} "
        f"ORDER BY min(start_time_s) NULLS LAST, {keys}",
        [],
        progress,
        GROUP,
    )
    cursor.execute(f"DROP TABLE {quoted(instances)}")
    return Plan(outputs, FINISHED, FLAGS)


def _with_job_starts(instances: str, tables: Mapping[str, RawTable]) -> str:
    starts = f"SELECT job_name, min(start_time) AS start_time FROM {tables['pai_job_table'].sql} GROUP BY job_name"
    return (
        f"(SELECT r.* REPLACE (nullif(j.start_time, 0) AS submit_time_s) "
        f"FROM {quoted(instances)} r LEFT JOIN ({starts}) j USING (job_name))"
    )


def _outputs(plan: Plan, grain: str) -> tuple[Output, ...]:
    sources = {column.name: column.source for column in plan.columns}
    sums = (*REQUESTED, *USAGE_FIELDS)
    texts = {name: f"any_value({name})" for name in GRAIN_KEYS[grain]}
    texts |= {name: f"min({quoted(name)})" for name in SHARED}
    texts["status"] = f"coalesce(min(status) FILTER (WHERE NOT {FINISHED}), min(status))"
    numbers = {
        "submit_time_s": "min(submit_time_s)",
        "start_time_s": "min(start_time_s)",
        "end_time_s": "max(end_time_s)",
        "duration_s": "avg(duration_s)" if grain == "task" else "max(end_time_s) - min(start_time_s)",
        "instances": "CAST(count(*) AS DOUBLE)",
        **{name: f"sum({name})" for name in sums},
    }
    fields = [name for name in FIELDS if name in texts or name in numbers]
    outputs = [Output(_field(name, sources.get(name, "")), texts.get(name) or numbers[name]) for name in fields]
    return (
        *outputs,
        Output(Column("inst_id", TEXT, "", "inst_id", numeric=False), "min(inst_id)"),
        Output(Column("mean_runtime_s", NUMBER, "s", "", numeric=True), "avg(duration_s)"),
        Output(Column("wait_s", NUMBER, "s", "", numeric=True), "min(start_time_s) - min(submit_time_s)"),
    )


def _field(name: str, source: str) -> Column:
    field = FIELDS[name]
    return Column(name, field.type, field.unit, source, numeric=field.type == NUMBER)
