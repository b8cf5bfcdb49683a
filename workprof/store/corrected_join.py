"""The corrected join of the raw PAI tables (polarisprofiler.md 1b): every row is one worker with its own usage.

Instances are streamed twice from their file and never staged: once for the worker names that occur more than once,
once through the joins into the final table. Only those names' rows are compared to find each worker's last instance.
The order of the instance file is kept: instances are the probe side of every join (DuckDB's own choice of sides is
switched off for that statement; its row estimates for CSV files are guesses).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from workprof.formats.declare import NUMBER, TEXT, SourceColumn
from workprof.formats.pai_tables import CORRECTED, IDENTIFIERS, INSTANCE_COLUMNS, METRIC_COLUMNS, TABLES
from workprof.progress import Progress
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED, FLAGS, Plan, compile_plan
from workprof.store.connection import quoted
from workprof.store.loaded import Joined, Stage, step
from workprof.store.raw_tables import RawTable, columns_sql
from workprof.store.reports import Check, JoinStep
from workprof.store.running import Span, run_watched

COUNT = Span(0.10, 0.22, "finding repeated workers")
SMALL = Span(0.22, 0.30, "reading tasks, tags and machines")
JOIN = Span(0.30, 0.85, "joining")

KEYS = {"t": ("job_name", "task_name"), "g": ("inst_id",), "m": ("machine",), "x": ("worker_name",)}
NAMES = {"t": "pai_task_table", "g": "pai_group_tag_table", "m": "pai_machine_spec", "x": "pai_machine_metric"}
LAST = "(status, start_time, end_time)"


@dataclass(frozen=True)
class Workers:
    """Counts of the instance file: rows, rows without a worker, rows that repeat a worker."""

    rows: int
    nameless: int
    repeats: int


def join(cursor: duckdb.DuckDBPyConnection, stage: Stage, tables: Mapping[str, RawTable], progress: Progress) -> Joined:
    """Stage the joined rows and return what every step did to them."""
    workers = _repeated_workers(cursor, tables["pai_instance_table"], progress)
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


def _repeated_workers(cursor: duckdb.DuckDBPyConnection, instances: RawTable, progress: Progress) -> Workers:
    """Find each repeated worker's last instance.

    Names are first counted by their 64-bit hash; two names of one hash only make both of them look repeated, and the
    second step compares the names themselves.
    """
    run_watched(
        cursor,
        f"""
        CREATE TEMP TABLE repeated AS
        SELECT hash(worker_name) AS h, count(*) AS n, count(worker_name) AS named
        FROM {instances.sql} GROUP BY GROUPING SETS ((h), ()) HAVING count(*) > 1 OR grouping(h) = 1
        """,
        [],
        progress,
        COUNT,
    )
    rows, named = one(cursor, "SELECT n, named FROM repeated WHERE h IS NULL")
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_worker AS
        SELECT worker_name, max(key) AS last, arg_max(n, key) AS ties, sum(n) AS n FROM (
            SELECT worker_name, {LAST} AS key, count(*) AS n FROM {instances.sql}
            WHERE worker_name IS NOT NULL AND hash(worker_name) IN (SELECT h FROM repeated WHERE h IS NOT NULL)
            GROUP BY ALL
        ) GROUP BY worker_name HAVING sum(n) > 1
        """
    )
    cursor.execute("DROP TABLE repeated")
    repeats, ties = one(cursor, "SELECT coalesce(sum(n - 1), 0), count(*) FILTER (WHERE ties > 1) FROM last_of_worker")
    _settle_ties(cursor, instances, bool(ties))
    return Workers(int(rows), int(rows) - int(named), int(repeats))


def _settle_ties(cursor: duckdb.DuckDBPyConnection, instances: RawTable, any_ties: bool) -> None:
    """Keep the last row in the file of workers whose last instances agree in status and times."""
    cursor.execute(
        f"""
        CREATE TEMP TABLE tied AS SELECT * FROM {instances.sql}
        WHERE {"worker_name IN (SELECT worker_name FROM last_of_worker WHERE ties > 1)" if any_ties else "FALSE"}
        """
    )
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_tied AS SELECT * FROM tied
        QUALIFY row_number() OVER (PARTITION BY worker_name ORDER BY {LAST} DESC, rowid DESC) = 1
        """
    )
    cursor.execute("DROP TABLE tied")


def _latest(instances: RawTable) -> str:
    """Return the SQL of the instance rows, one per worker."""
    names = ", ".join(f"r.{quoted(column.name)}" for column in TABLES["pai_instance_table"])
    last = "(r.status, r.start_time, r.end_time) IS NOT DISTINCT FROM d.last"
    return f"""(
        SELECT {names} FROM {instances.sql} r LEFT JOIN last_of_worker d ON d.worker_name = r.worker_name
        WHERE r.worker_name IS NOT NULL AND (d.worker_name IS NULL OR (d.ties = 1 AND {last}))
        UNION ALL SELECT {names} FROM last_of_tied r
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
        f"ON {' AND '.join(f's.{name} = {sql}' for name, sql in _worker_key('i').items())} {lefts})"
    )


def _keyed_sensors(sensors: RawTable) -> str:
    """Return the SQL of the usage columns under a 128-bit key in place of the 60 characters of the worker's name.

    The hash table of the join is a third smaller so, and need not go to disk where names in it would have to. Two of
    20 million names share a key with a chance below 1e-23.
    """
    usage = ", ".join(f"w.{quoted(name)}" for name, letter in INSTANCE_COLUMNS.items() if letter == "s")
    key = ", ".join(f"{sql} AS {name}" for name, sql in _worker_key("w").items())
    return f"(SELECT {key}, {usage} FROM {sensors.sql} w WHERE w.worker_name IS NOT NULL)"


def _worker_key(letter: str) -> dict[str, str]:
    return {"forward": f"hash({letter}.worker_name)", "backward": f"hash(reverse({letter}.worker_name))"}


def _plan(with_metric: bool) -> Plan:
    types = {column.name: column.type for table in TABLES.values() for column in table}
    names = [*INSTANCE_COLUMNS, "task_start_time", "gpu_type_machine_spec", "task_duration_s", "wait_s"]
    names += METRIC_COLUMNS if with_metric else ()
    types |= {"gpu_type_machine_spec": TEXT} | dict.fromkeys(("task_start_time", "task_duration_s", "wait_s"), NUMBER)
    return compile_plan(CORRECTED, CORRECTED.rules, [SourceColumn(name, types[name]) for name in names], {})


def _create(cursor: duckdb.DuckDBPyConnection, stage: Stage, plan: Plan) -> None:
    columns = [
        f"{quoted(column.name)} {column.type}{' USING COMPRESSION uncompressed' if column.name in IDENTIFIERS else ''}"
        for column in plan.columns
    ]
    cursor.execute(f"CREATE TABLE {quoted(stage.rows)} ({', '.join(columns)}, {FINISHED} BOOLEAN, {FLAGS} UTINYINT)")


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
