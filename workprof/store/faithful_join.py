"""The published join of the raw PAI tables, kept as published and labelled so.

inst_id names a job, so joining instances and sensors on it alone makes every job yield tasks x instances x sensor
rows: a row's task, its instance and its usage come from different tasks.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb

from workprof.formats.declare import NUMBER, SourceColumn
from workprof.formats.pai_tables import FAITHFUL, FAITHFUL_COLUMNS, TABLES
from workprof.progress import Progress
from workprof.store.catalogue import one
from workprof.store.compile import compile_plan
from workprof.store.connection import quoted, text
from workprof.store.loaded import Joined, Stage, step
from workprof.store.raw_tables import RawTable, columns_sql
from workprof.store.running import Span, run_watched

TASKS = Span(0.10, 0.25, "joining jobs, tasks and tags")
INSTANCES = Span(0.25, 0.40, "reading instances of tagged jobs")
CROSS = Span(0.40, 0.85, "joining instances and sensors on inst_id")

SOURCES = ("pai_job_table", "pai_task_table", "pai_group_tag_table", "pai_instance_table", "pai_sensor_table")


def join_as_published(cursor: duckdb.DuckDBPyConnection, stage: Stage, tables: Mapping[str, RawTable], progress: Progress) -> Joined:
    """Stage the cross-joined rows and return what steps A to E did."""
    for name in SOURCES[:3]:
        cursor.execute(f"CREATE TEMP TABLE raw_{name} AS SELECT * FROM {tables[name].sql}")
    progress(TASKS.low, TASKS.message)
    counts = _tagged_tasks(cursor)
    for name in SOURCES[3:]:
        tagged = f"SELECT * FROM {tables[name].sql} WHERE inst_id IN (SELECT inst_id FROM tagged_tasks)"
        run_watched(cursor, f"CREATE TEMP TABLE raw_{name} AS {tagged}", [], progress, INSTANCES)
    instances = _count(cursor, tables["pai_instance_table"].sql)
    rejected = sum(tables[name].refused(cursor, stage.rejects) for name in SOURCES)
    crossed = (
        "SELECT sum(c.n * i.n) FROM (SELECT inst_id, count(*) AS n FROM tagged_tasks GROUP BY inst_id) c "
        "JOIN (SELECT inst_id, count(*) AS n FROM raw_pai_instance_table GROUP BY inst_id) i USING (inst_id)"
    )
    after_instances = int(one(cursor, crossed)[0] or 0)
    types = {column.name: column.type for table in TABLES.values() for column in table} | {"duration": NUMBER}
    plan = compile_plan(FAITHFUL, FAITHFUL.rules, [SourceColumn(name, types[name]) for name in FAITHFUL_COLUMNS], {})
    run_watched(cursor, f"CREATE TABLE {quoted(stage.rows)} AS {plan.select(_crossed())}", [], progress, CROSS)
    rows = _count(cursor, stage.rows)
    for name in (*(f"raw_{source}" for source in SOURCES), "tagged_tasks"):
        cursor.execute(f"DROP TABLE {name}")
    steps = (
        step("A: job join task on job_name", counts[0], counts[1]),
        step("B: join group_tag on inst_id", counts[1], counts[2]),
        step("C: task Terminated and workload known", counts[2], counts[3]),
        step("D: join instance on inst_id", counts[3], after_instances),
        step("E: join sensor on inst_id", after_instances, rows),
    )
    return Joined(plan, steps, (), instances + rejected, rejected, one_to_many=(steps[0].step,))


def _tagged_tasks(cursor: duckdb.DuckDBPyConnection) -> tuple[int, int, int, int]:
    """Make step C's table and return the rows of the job table and after A, B and C."""
    a = "raw_pai_job_table j JOIN raw_pai_task_table t ON j.job_name = t.job_name"
    b = f"{a} JOIN raw_pai_group_tag_table g ON g.inst_id = j.inst_id"
    cursor.execute(
        f"""
        CREATE TEMP TABLE tagged_tasks AS
        SELECT j.job_name, j.inst_id, j."user", t.* EXCLUDE (job_name), g."group", g.workload,
            t.end_time - t.start_time AS duration
        FROM {b} WHERE t.status = 'Terminated' AND g.workload IS NOT NULL ORDER BY j.job_name, t.task_name
        """
    )
    jobs = _count(cursor, "raw_pai_job_table")
    return jobs, _count(cursor, a), _count(cursor, b), _count(cursor, "tagged_tasks")


def _crossed() -> str:
    """Return the SQL of the cross product, in an order that depends on no thread and needs no sort of it.

    Instances and sensors of a job are gathered into ordered lists, which are then unfolded task by task.
    """
    parts = {letter: [n for n, of in FAITHFUL_COLUMNS.items() if of == letter] for letter in "is"}
    lists = " ".join(
        f"JOIN (SELECT inst_id, list({{{', '.join(f'{text(n)}: {quoted(n)}' for n in parts[letter])}}} "
        f"ORDER BY {order}) AS {letter} FROM raw_{name} GROUP BY inst_id) l{letter} ON l{letter}.inst_id = c.inst_id"
        for letter, name, order in (
            ("i", "pai_instance_table", "inst_name, worker_name"),
            ("s", "pai_sensor_table", "worker_name, gpu_name"),
        )
    )
    tasks = ", ".join(f"c.{quoted(name)}" for name, of in FAITHFUL_COLUMNS.items() if of == "c")
    unfolded = f"SELECT {tasks}, unnest(li.i) AS i, ls.s AS ss FROM tagged_tasks c {lists}"
    return f"(SELECT {columns_sql(FAITHFUL_COLUMNS, 'c.')} FROM (SELECT c.*, unnest(ss) AS s FROM ({unfolded}) c) c)"


def _count(cursor: duckdb.DuckDBPyConnection, relation: str) -> int:
    return int(one(cursor, f"SELECT count(*) FROM {relation}")[0])
