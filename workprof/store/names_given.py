"""Names of the pods and tasks that a refresh brings: one that was given stays.

A reader tells namesakes of several namespaces apart as far as its own pods go. Of a table that grows, those that are
there count, too.
"""

from collections.abc import Collection

import duckdb

from workprof.formats.pod_tasks import Key, TaskNames
from workprof.store.catalogue import one

PODS = ("kubernetes", "prometheus-pods")
"""Formats whose reader gives names."""
TASK = ("cluster", "namespace", "workload", "task_name")
CONTAINER = "container"
THERE, CAME = 0, 1


def keep(
    cursor: duckdb.DuckDBPyConnection, there: tuple[str, Collection[str]], came: tuple[str, Collection[str]]
) -> None:
    """Name the pods and tasks that came as those that are there; each is SQL of a table, and its columns.

    A pod or task that is not there, and whose name another one has, gets its namespace's before it, and its cluster's
    where that has been given, too. Where one cluster alone is told of, what says none is of it: a source that begins to
    tell its cluster names what is there as before.
    """
    cursor.execute(
        f"CREATE TEMP TABLE named AS SELECT DISTINCT {_texts(there[1])}, {THERE} AS came, -1 AS place FROM {there[0]} "
        f"UNION ALL SELECT {_texts(came[1])}, {CAME}, rowid FROM {came[0]}"
    )
    (clusters,) = one(cursor, "SELECT count(DISTINCT nullif(cluster, '')) FROM named")
    alone = int(clusters) < 2
    _pods(cursor, came[0], "''" if alone else "cluster")
    if TASK[-1] in came[1]:
        _containers(cursor, came[0])
        _tasks(cursor, came[0], alone=alone)
    cursor.execute("DROP TABLE named")


def _texts(columns: Collection[str]) -> str:
    texts = (f"coalesce({each if each in columns else 'NULL'}, '') AS {each}" for each in (*TASK, CONTAINER))
    return f"{', '.join(texts)}, job_name, split_part(job_name, '/', -1) AS own"  # a pod's own name has no slash


def _pods(cursor: duckdb.DuckDBPyConnection, came: str, where: str) -> None:
    """`where` is SQL of what tells namesakes of a namespace apart."""
    short, full = "concat_ws('/', nullif(namespace, ''), own)", "concat_ws('/', nullif(cluster, ''), namespace, own)"
    taken = f"IN (SELECT job_name FROM named WHERE came = {THERE})"
    pods = (
        f"SELECT {where} AS place_of, namespace, own, first(job_name ORDER BY came, job_name) AS given, "
        "min(came) AS since FROM named GROUP BY ALL"
    )
    cursor.execute(
        f"UPDATE {came} SET job_name = name FROM (SELECT place, CASE WHEN since = {THERE} OR given NOT {taken} "
        f"THEN given WHEN {short} NOT {taken} THEN {short} ELSE {full} END AS name "
        f"FROM (SELECT *, {where} AS place_of FROM named) JOIN ({pods}) "
        f"USING (place_of, namespace, own) WHERE came = {CAME}) WHERE rowid = place AND job_name <> name"
    )


def _containers(cursor: duckdb.DuckDBPyConnection, came: str) -> None:
    """A container stays the task that it was when a sidecar comes or goes, which gives it another name."""
    same = " AND ".join(f"n.{each} = o.{each}" for each in (*TASK[:-1], CONTAINER))
    longer = "concat({0}.task_name, '/', n.container) = {1}.task_name"
    cursor.execute(
        "CREATE TEMP TABLE stays AS SELECT n.place AS stood, min(o.task_name) AS name FROM named n JOIN named o "
        f"ON {same} AND ({longer.format('n', 'o')} OR {longer.format('o', 'n')}) WHERE n.came = {CAME} "
        f"AND o.came = {THERE} AND NOT EXISTS (SELECT 1 FROM named o WHERE {same} AND o.came = {THERE} "
        "AND o.task_name = n.task_name) GROUP BY n.place"
    )
    for table, row in ((came, "rowid"), ("named", "place")):
        cursor.execute(f"UPDATE {table} SET task_name = name FROM (SELECT stood, name FROM stays) WHERE {row} = stood")
    cursor.execute("DROP TABLE stays")


def _tasks(cursor: duckdb.DuckDBPyConnection, came: str, *, alone: bool) -> None:
    def key_of(*task: str) -> tuple[Key, bool]:
        key, named_step = _key(*task)
        return ("", *key[1:]) if alone else key, named_step

    there, new = (
        cursor.execute(f"SELECT DISTINCT {', '.join(TASK)} FROM named WHERE came = {at} ORDER BY ALL").fetchall()
        for at in (THERE, CAME)
    )
    names = TaskNames({key_of(*task)[0]: task[-1] for task in there}, {task[-1] for task in there})
    waiting = {}
    for task in new:
        key, named_step = key_of(*task)
        if task[-1] in names.taken:
            waiting[key] = named_step
        else:
            names.given.setdefault(key, task[-1])
    names.taken |= {task[-1] for task in new}
    names.name(waiting)
    others = [(*task, name) for task in new if (name := names.given[key_of(*task)[0]]) != task[-1]]
    if others:
        listed = ", ".join(f"unnest(?) AS {each}" for each in (*TASK, "name"))
        cursor.execute(
            f"UPDATE {came} SET task_name = name FROM (SELECT place, name FROM named JOIN (SELECT {listed}) "
            f"USING ({', '.join(TASK)}) WHERE came = {CAME}) WHERE rowid = place",
            [list(each) for each in zip(*others, strict=True)],
        )


def _key(cluster: str, namespace: str, workload: str, task: str) -> tuple[Key, bool]:
    """The key of a task by its name, and whether its step is named without its workload."""
    rest = task
    for part in (cluster, namespace):
        rest = rest.removeprefix(f"{part}/")
    step = "" if rest == workload else rest.removeprefix(f"{workload}/")
    return (cluster, namespace, workload, step, ""), bool(step) and step == rest
