"""The corrected join of the raw PAI tables: every row is one worker with its own usage.

Instances are streamed twice from their file and never staged: once for the workers that occur more than once, once
through the joins into the final table.
The order of the instance file is kept: instances are the probe side of every join (DuckDB's own choice of sides is
switched off for that statement; its row estimates for CSV files are guesses).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from workprof.formats.declare import NUMBER, TEXT, SourceColumn
from workprof.formats.pai_tables import CORRECTED, IDENTIFIERS, INSTANCE_COLUMNS, MEASURED, METRIC_COLUMNS, TABLES
from workprof.progress import Progress
from workprof.store import repeated_workers
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED, FLAGS, Plan, compile_plan
from workprof.store.connection import quoted
from workprof.store.loaded import Joined, Stage, step
from workprof.store.raw_tables import RawTable, columns_sql
from workprof.store.repeated_workers import Workers, keys_sql, same_worker
from workprof.store.reports import Check, Column, JoinStep
from workprof.store.running import Span, run_watched

SMALL = Span(0.22, 0.30, "reading tasks, tags and machines")
JOIN = Span(0.30, 0.85, "joining")

KEYS = {"t": ("job_name", "task_name"), "g": ("inst_id",), "m": ("machine",), "x": ("worker_name",)}
NAMES = {"t": "pai_task_table", "g": "pai_group_tag_table", "m": "pai_machine_spec", "x": "pai_machine_metric"}


def join_workers(cursor: duckdb.DuckDBPyConnection, stage: Stage, tables: Mapping[str, RawTable], progress: Progress) -> Joined:
    """Stage the joined rows and return what every step did to them."""
    workers = repeated_workers.find(cursor, tables["pai_instance_table"], progress)
    sides = [letter for letter in KEYS if NAMES[letter] in tables]
    rejected = 0
    for letter in sides:
        progress(SMALL.low, f"{SMALL.message}: {NAMES[letter]}")
        cursor.execute(f"CREATE TEMP TABLE side_{letter} AS SELECT * FROM {tables[NAMES[letter]].sql}")
        rejected += tables[NAMES[letter]].refused(cursor, stage.rejects)
    plan = _plan("x" in sides)
    _create(cursor, stage, plan)
    cursor.execute("SET disabled_optimizers='join_order,build_side_probe_side'")
    try:
        run_watched(
            cursor, f"INSERT INTO {quoted(stage.rows)} {plan.select(_joined(tables, sides))}", [], progress, JOIN
        )
    finally:
        cursor.execute("RESET disabled_optimizers")
    bad_instances = tables["pai_instance_table"].refused(cursor, stage.rejects)
    rejected += tables["pai_sensor_table"].refused(cursor, stage.rejects)
    steps, checks = _told(cursor, stage, workers, bad_instances, sides)
    _drop(cursor, sides)
    not_rows = len(tables["pai_instance_table"].not_rows)
    return Joined(plan, steps, checks, workers.rows + not_rows + rejected, rejected + bad_instances)


def _latest(instances: RawTable) -> str:
    """Return the SQL of the instance rows, one per worker, with the worker's key."""
    names = ", ".join(f"r.{quoted(column.name)}" for column in TABLES["pai_instance_table"])
    last = "(r.status, r.start_time, r.end_time) IS NOT DISTINCT FROM d.last"
    keyed = f"SELECT *, {keys_sql('w')} FROM {instances.sql} w WHERE w.worker_name IS NOT NULL"
    return f"""(
        SELECT {names}, r.forward, r.backward FROM ({keyed}) r LEFT JOIN last_of_worker d ON {same_worker("d", "r")}
        WHERE d.forward IS NULL OR (d.ties = 1 AND {last})
        UNION ALL SELECT {names}, {keys_sql("r")} FROM last_of_tied r
    )"""


def _joined(tables: Mapping[str, RawTable], sides: Sequence[str]) -> str:
    """Return the SQL of the joined rows under the trace's own names."""
    columns = [columns_sql(INSTANCE_COLUMNS), "t.start_time AS task_start_time", "m.gpu_type AS gpu_type_machine_spec"]
    columns[0] = columns[0].replace('g."group" AS', 'coalesce(g."group", g."user") AS')
    columns.append(
        "CASE WHEN t.end_time >= t.start_time AND t.start_time > 0 "
        "THEN t.end_time - t.start_time END AS task_duration_s"
    )
    columns.append("CASE WHEN i.start_time > 0 AND t.start_time > 0 THEN i.start_time - t.start_time END AS wait_s")
    columns += [f"x.{quoted(name)}" for name in METRIC_COLUMNS if "x" in sides]
    lefts = " ".join(
        f"LEFT JOIN side_{letter} {letter} ON {' AND '.join(f'i.{key} = {letter}.{key}' for key in KEYS[letter])}"
        for letter in sides
    )
    return (
        f"(SELECT {', '.join(columns)} FROM {_latest(tables['pai_instance_table'])} i "
        f"JOIN {_keyed_sensors(tables['pai_sensor_table'])} s "
        f"ON {same_worker('s', 'i')} {lefts})"
    )


def _keyed_sensors(sensors: RawTable) -> str:
    """Return the SQL of the usage columns under a 128-bit key in place of the 60 characters of the worker's name.

    The hash table of the join is a third smaller so, and need not go to disk where names in it would have to. Two of
    20 million names share a key with a chance below 1e-23.
    """
    usage = ", ".join(f"w.{quoted(name)}" for name, letter in INSTANCE_COLUMNS.items() if letter == "s")
    return f"(SELECT {keys_sql('w')}, {usage} FROM {sensors.sql} w WHERE w.worker_name IS NOT NULL)"


def _plan(with_metric: bool) -> Plan:
    types = {column.name: column.type for table in TABLES.values() for column in table}
    names = [*INSTANCE_COLUMNS, "task_start_time", "gpu_type_machine_spec", "task_duration_s", "wait_s"]
    names += METRIC_COLUMNS if with_metric else ()
    types |= {"gpu_type_machine_spec": TEXT} | dict.fromkeys(("task_start_time", "task_duration_s", "wait_s"), NUMBER)
    return compile_plan(CORRECTED, CORRECTED.rules, [SourceColumn(name, types[name]) for name in names], {})


def _create(cursor: duckdb.DuckDBPyConnection, stage: Stage, plan: Plan) -> None:
    columns = [f"{quoted(column.name)} {column.type} USING COMPRESSION {_codec(column)}" for column in plan.columns]
    cursor.execute(f"CREATE TABLE {quoted(stage.rows)} ({', '.join(columns)}, {FINISHED} BOOLEAN, {FLAGS} UTINYINT)")


def _codec(column: Column) -> str:
    """Return how a column is stored; DuckDB would try every codec on every column, with the same result."""
    if column.name in IDENTIFIERS or column.source in MEASURED:
        return "uncompressed"
    return "alp" if column.type == NUMBER else "dict_fsst"


def _told(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, workers: Workers, rejected: int, sides: Sequence[str]
) -> tuple[tuple[JoinStep, ...], tuple[Check, ...]]:
    """Return rows before and after every step, from counts of keys instead of repeated joins."""
    latest = workers.rows - rejected - workers.nameless - workers.repeats
    steps = [step("instance: last row of each worker_name", workers.rows - rejected, latest)]
    (rows,) = one(cursor, f"SELECT count(*) FROM {quoted(stage.rows)}")
    (with_sensor,) = one(cursor, f"SELECT count(DISTINCT hash(worker_name)) FROM {quoted(stage.rows)}")
    at = latest
    for letter in sides:
        after = at if _identifies(cursor, letter) else _fanned_out(cursor, stage, letter, at, int(rows))
        steps.append(step(f"left join {NAMES[letter]} on {', '.join(KEYS[letter])}", at, after))
        at = after
    steps.append(step("join pai_sensor_table on worker_name", at, int(rows)))
    found = [
        (
            "no worker name",
            "info",
            workers.nameless,
            "instances without a worker (still waiting) cannot be joined; left out",
        ),
        ("repeated workers", "info", workers.repeats, "earlier instances of a worker that has a later one; left out"),
        (
            "no sensor",
            "warning",
            max(latest - int(with_sensor), 0),
            "workers without a usage record; left out by the join",
        ),
    ]
    return tuple(steps), tuple(Check(name, level, n, f"{n:,} {message}") for name, level, n, message in found if n)


def _identifies(cursor: duckdb.DuckDBPyConnection, letter: str) -> bool:
    keys = ", ".join(KEYS[letter])
    (repeated,) = one(
        cursor, f"SELECT count(*) FROM (SELECT 1 FROM side_{letter} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1)"
    )
    return not repeated


def _fanned_out(cursor: duckdb.DuckDBPyConnection, stage: Stage, letter: str, at: int, rows: int) -> int:
    """Return the rows after a join whose key repeats on the right, scaled from the rows that were kept."""
    fields = {"t": ("job_name", "task_name"), "g": ("inst_id",), "m": ("node",), "x": ("worker_name",)}[letter]
    keys = ", ".join(KEYS[letter])
    (once,) = one(
        cursor,
        f"SELECT sum(1.0 / coalesce(n, 1)) FROM {quoted(stage.rows)} r LEFT JOIN "
        f"(SELECT {keys}, count(*) AS n FROM side_{letter} GROUP BY {keys}) k "
        f"ON {' AND '.join(f'r.{field} = k.{key}' for field, key in zip(fields, KEYS[letter], strict=True))}",
    )
    return round(at * rows / float(once)) if once else at


def _drop(cursor: duckdb.DuckDBPyConnection, sides: Sequence[str]) -> None:
    for name in ("last_of_worker", "last_of_tied", *(f"side_{letter}" for letter in sides)):
        cursor.execute(f"DROP TABLE {name}")
