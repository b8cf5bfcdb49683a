"""The joins of the raw PAI tables: corrected (a row is one worker with its own usage), by task or job, as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from workprof.core.progress import Progress
from workprof.formats.declare import NUMBER, TEXT, SourceColumn
from workprof.formats.fields import FIELDS, USAGE_FIELDS
from workprof.formats.pai_tables import (
    CORRECTED,
    FAITHFUL,
    FAITHFUL_COLUMNS,
    IDENTIFIERS,
    INSTANCE_COLUMNS,
    MEASURED,
    METRIC_COLUMNS,
    TABLES,
)
from workprof.store import rejects
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED, FLAGS, Output, Plan, compile_plan
from workprof.store.connection import quoted, text
from workprof.store.loaded import Joined, Stage, step
from workprof.store.raw_tables import RawTable, columns_sql
from workprof.store.reports import Check, Column, JoinStep
from workprof.store.running import Span, run_watched

COUNT = Span(0.10, 0.22, "finding repeated workers")
ORDER = "(status, start_time, end_time)"


@dataclass(frozen=True)
class Workers:
    """Counts of the instance file: rows, rows without a worker, rows that repeat a worker."""

    rows: int
    nameless: int
    repeats: int


def worker_key(letter: str) -> dict[str, str]:
    """The two columns of a worker's key and the SQL of each."""
    return {"forward": f"hash({letter}.worker_name)", "backward": f"hash(reverse({letter}.worker_name))"}


def keys_sql(letter: str) -> str:
    """The key's columns for a SELECT."""
    return ", ".join(f"{sql} AS {name}" for name, sql in worker_key(letter).items())


def same_worker(left: str, right: str) -> str:
    """The condition that two relations with keys speak of one worker."""
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in worker_key(""))


def find(cursor: duckdb.DuckDBPyConnection, instances: RawTable, progress: Progress) -> Workers:
    """Count workers and make the tables `last_of_worker` (by key) and `last_of_tied` (whole rows)."""
    run_watched(
        cursor,
        f"CREATE TEMP TABLE instance_keys AS SELECT {keys_sql('r')}, r.worker_name IS NOT NULL AS named, "
        f"r.status, r.start_time, r.end_time FROM {instances.sql} r",
        [],
        progress,
        COUNT,
    )
    counts = "SELECT count(*), count(*) FILTER (WHERE named) FROM instance_keys"
    if rejects.any_of(cursor, instances.spooled):  # a bad time is no reason to leave a row out of a count of names
        counts = f"SELECT count(*), count(worker_name) FROM {instances.sql}"
    rows, named = one(cursor, counts)
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_worker AS
        SELECT forward, backward, max(key) AS last, arg_max(n, key) AS ties, sum(n) AS n FROM (
            SELECT forward, backward, {ORDER} AS key, count(*) AS n FROM instance_keys
            WHERE named AND forward IN (SELECT forward FROM instance_keys WHERE named GROUP BY 1 HAVING count(*) > 1)
            GROUP BY ALL
        ) GROUP BY forward, backward HAVING sum(n) > 1
        """
    )
    cursor.execute("DROP TABLE instance_keys")
    repeats, ties = one(cursor, "SELECT coalesce(sum(n - 1), 0), count(*) FILTER (WHERE ties > 1) FROM last_of_worker")
    _settle_ties(cursor, instances, bool(ties))
    return Workers(int(rows), int(rows) - int(named), int(repeats))


def _settle_ties(cursor: duckdb.DuckDBPyConnection, instances: RawTable, any_ties: bool) -> None:
    """Keep the last row in the file of workers whose last instances agree in status and times."""
    keys = ", ".join(worker_key("r").values())
    wanted = f"({keys}) IN (SELECT (forward, backward) FROM last_of_worker WHERE ties > 1)" if any_ties else "FALSE"
    cursor.execute("SET disabled_optimizers='join_order,build_side_probe_side'")  # else the file's order may be lost
    try:
        cursor.execute(
            f"CREATE TEMP TABLE tied AS SELECT * FROM {instances.sql} r WHERE worker_name IS NOT NULL AND {wanted}"
        )
    finally:
        cursor.execute("RESET disabled_optimizers")
    cursor.execute(
        f"""
        CREATE TEMP TABLE last_of_tied AS SELECT * FROM tied
        QUALIFY row_number() OVER (PARTITION BY worker_name ORDER BY {ORDER} DESC, rowid DESC) = 1 ORDER BY rowid
        """
    )
    cursor.execute("DROP TABLE tied")


SMALL = Span(0.22, 0.30, "reading tasks, tags and machines")
JOIN = Span(0.30, 0.85, "joining")

KEYS = {"t": ("job_name", "task_name"), "g": ("inst_id",), "m": ("machine",), "x": ("worker_name",)}
NAMES = {"t": "pai_task_table", "g": "pai_group_tag_table", "m": "pai_machine_spec", "x": "pai_machine_metric"}


def join_workers(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, tables: Mapping[str, RawTable], progress: Progress
) -> Joined:
    """Stage the joined rows and return what every step did to them."""
    workers = find(cursor, tables["pai_instance_table"], progress)
    sides = [letter for letter in KEYS if NAMES[letter] in tables]
    rejected, whole = 0, {}
    for letter in sides:
        name = NAMES[letter]
        progress(SMALL.low, f"{SMALL.message}: {name}")
        cursor.execute(f"CREATE TEMP TABLE side_{letter} AS SELECT * FROM {tables[name].sql}")
        refused = tables[name].refused(cursor, stage.rejects)
        if not refused:
            (whole[name],) = one(cursor, f"SELECT count(*) FROM side_{letter}")
        rejected += refused
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
    steps, checks = _join_steps(cursor, stage, workers, bad_instances, sides)
    _drop(cursor, sides)
    not_rows = len(tables["pai_instance_table"].not_rows)
    if not bad_instances:
        whole["pai_instance_table"] = workers.rows
    return Joined(plan, steps, checks, workers.rows + not_rows + rejected, rejected + bad_instances, whole=whole)


def _latest(instances: RawTable) -> str:
    """The SQL of the instance rows, one per worker, with the worker's key."""
    names = ", ".join(f"r.{quoted(column.name)}" for column in TABLES["pai_instance_table"])
    last = "(r.status, r.start_time, r.end_time) IS NOT DISTINCT FROM d.last"
    keyed = f"SELECT *, {keys_sql('w')} FROM {instances.sql} w WHERE w.worker_name IS NOT NULL"
    return f"""(
        SELECT {names}, r.forward, r.backward FROM ({keyed}) r LEFT JOIN last_of_worker d ON {same_worker("d", "r")}
        WHERE d.forward IS NULL OR (d.ties = 1 AND {last})
        UNION ALL SELECT {names}, {keys_sql("r")} FROM last_of_tied r
    )"""


def _joined(tables: Mapping[str, RawTable], sides: Sequence[str]) -> str:
    """The SQL of the joined rows under the trace's own names."""
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
    """The SQL of the usage columns under a 128-bit key in place of the 60 characters of the worker's name.

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
    return compile_plan(
        CORRECTED, CORRECTED.rules, [SourceColumn(name, types[name]) for name in names], {}, bounded=False
    )


def _create(cursor: duckdb.DuckDBPyConnection, stage: Stage, plan: Plan) -> None:
    columns = [f"{quoted(column.name)} {column.type} USING COMPRESSION {_codec(column)}" for column in plan.columns]
    cursor.execute(f"CREATE TABLE {quoted(stage.rows)} ({', '.join(columns)}, {FINISHED} BOOLEAN, {FLAGS} UTINYINT)")


def _codec(column: Column) -> str:
    """How a column is stored; DuckDB would try every codec on every column, with the same result."""
    if column.name in IDENTIFIERS or column.source in MEASURED:
        return "uncompressed"
    return "alp" if column.type == NUMBER else "dict_fsst"


def _join_steps(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, workers: Workers, rejected: int, sides: Sequence[str]
) -> tuple[tuple[JoinStep, ...], tuple[Check, ...]]:
    """Rows before and after every step, from counts of keys instead of repeated joins."""
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
    result = [
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
    return tuple(steps), tuple(Check(name, level, n, f"{n:,} {message}") for name, level, n, message in result if n)


def _identifies(cursor: duckdb.DuckDBPyConnection, letter: str) -> bool:
    keys = ", ".join(KEYS[letter])
    (repeated,) = one(
        cursor, f"SELECT count(*) FROM (SELECT 1 FROM side_{letter} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1)"
    )
    return not repeated


def _fanned_out(cursor: duckdb.DuckDBPyConnection, stage: Stage, letter: str, at: int, rows: int) -> int:
    """The rows after a join whose key repeats on the right, scaled from the rows that were kept."""
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


GROUP = Span(0.80, 0.85, "summing up")
AGGREGATION_KEYS = {"task": ("job_name", "task_name"), "job": ("job_name",)}
REQUESTED = ("requested_cpu_percent", "requested_gpu_percent", "requested_memory_bytes")
SHARED = ("user", "group", "workload", "gpu_type")


def aggregate(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    plan: Plan,
    aggregation: str,
    tables: Mapping[str, RawTable],
    progress: Progress,
) -> Plan:
    """Replace the staged instances by their tasks or jobs and return the new columns."""
    instances = f"{stage.rows}_instances"
    cursor.execute(f"ALTER TABLE {quoted(stage.rows)} RENAME TO {quoted(instances)}")
    outputs = _outputs(plan, aggregation)
    keys = ", ".join(AGGREGATION_KEYS[aggregation])
    items = ", ".join(f"{output.sql} AS {quoted(output.column.name)}" for output in outputs)
    source = quoted(instances) if aggregation == "task" else _with_job_starts(instances, tables)
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


def _outputs(plan: Plan, aggregation: str) -> tuple[Output, ...]:
    sources = {column.name: column.source for column in plan.columns}
    sums = (*REQUESTED, *USAGE_FIELDS)
    texts = {name: f"any_value({name})" for name in AGGREGATION_KEYS[aggregation]}
    texts |= {name: f"min({quoted(name)})" for name in SHARED}
    texts["status"] = f"coalesce(min(status) FILTER (WHERE NOT {FINISHED}), min(status))"
    numbers = {
        "submit_time_s": "min(submit_time_s)",
        "start_time_s": "min(start_time_s)",
        "end_time_s": "max(end_time_s)",
        "duration_s": "avg(duration_s)" if aggregation == "task" else "max(end_time_s) - min(start_time_s)",
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


TASKS = Span(0.10, 0.25, "joining jobs, tasks and tags")
INSTANCES = Span(0.25, 0.40, "reading instances of tagged jobs")
CROSS = Span(0.40, 0.85, "joining instances and sensors on inst_id")

SOURCES = ("pai_job_table", "pai_task_table", "pai_group_tag_table", "pai_instance_table", "pai_sensor_table")


def join_as_published(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, tables: Mapping[str, RawTable], progress: Progress
) -> Joined:
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
    plan = compile_plan(
        FAITHFUL, FAITHFUL.rules, [SourceColumn(name, types[name]) for name in FAITHFUL_COLUMNS], {}, bounded=False
    )
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
    """The SQL of the cross product, in an order that depends on no thread and needs no sort of it.

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
