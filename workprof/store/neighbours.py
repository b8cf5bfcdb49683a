"""Values that lie a unit away from those of the same task: KB beside B, MB beside KB, thousandths beside whole ones.

A few rows in another unit change a total a thousandfold, and their column still looks like one. Runs of one task differ
by less, with values in between: rows are told only where hardly any lie between them and the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from workprof.core.text import visible
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED
from workprof.store.connection import commit_so_far, quoted
from workprof.store.loaded import Stage
from workprof.store.reports import Check, Column

JUDGED = (
    *("requested_memory_bytes", "mean_memory_bytes", "peak_memory_bytes"),
    *("requested_cpu_percent", "cpu_usage_percent", "duration_s"),
)
FEWEST_RUNS = 8
"""Of a task with fewer no middle is known."""

ALL_RUNS = "''"
"""The key of tables in which no name has enough runs: there all runs are one task."""

STEPS = 2
"""Steps in one doubling."""
NEAR, FAR = 9, 15
"""Steps from the middle: up to 22 times is near, from 180 times on a unit away."""
FARTHEST = 24
"""Runs of many tasks differ by more than those of one: they are told up to 4,096 times the middle, about a unit."""
BETWEEN = 0.25
"""So many rows between, of those that are far, and the task just differs widely."""


def judge(cursor: duckdb.DuckDBPyConnection, stage: Stage, columns: Sequence[Column]) -> tuple[Check, ...]:
    """The check of finished runs whose values are a unit away from those of their task."""
    have = {column.name for column in columns}
    key = next((name for name in ("task_name", "job_name") if name in have), "")
    judged = [name for name in JUDGED if name in have]
    if not key or not judged:
        return ()
    rows = quoted(stage.rows)
    wide, known = _wide(cursor, rows, key, judged)
    if known:
        found = [(name, *_far(cursor, rows, key, name)) for name in wide]
    else:
        wide, _ = _wide(cursor, rows, ALL_RUNS, judged)
        found = [(name, *_far(cursor, rows, ALL_RUNS, name, FARTHEST)) for name in wide]
    told = [
        f"{name}: {count:,} run{'s' * (count != 1)}" + (f", of {visible(str(task)[:40])} say" if known else "")
        for name, count, task in found
        if count
    ]
    total = sum(count for _, count, _ in found)
    others = "those of their task" if known else "those of the other runs"
    message = f"{total:,} values are more than a hundred times {others}, or less: see whether a unit differs"
    if not told:
        return ()
    left_out = (
        _left_out(cursor, rows) if any(count for name, count, _ in found if name == USED) and REQUESTED in have else ""
    )
    return (Check("a unit away", "warning", total, f"{message} ({'; '.join(told)}){left_out}"),)


USED, REQUESTED = "peak_memory_bytes", "requested_memory_bytes"
TIMES_OF_REQUEST = 100
FEW = 0.2


def _left_out(cursor: duckdb.DuckDBPyConnection, rows: str) -> str:
    """Take uses away that are a unit above the request too, where most are not, and return what was done, in words."""
    above = f"({USED} > {TIMES_OF_REQUEST} * {REQUESTED} AND {REQUESTED} > 0)"
    count, both, used, requested = one(
        cursor,
        f"SELECT count(*) FILTER (WHERE {above}), count(*) FILTER (WHERE {USED} > 0 AND {REQUESTED} > 0), "
        f"any_value({USED}) FILTER (WHERE {above}), any_value({REQUESTED}) FILTER (WHERE {above}) FROM {rows}",
    )
    if not count or count > FEW * both:
        return ""
    commit_so_far(cursor)
    cursor.execute(f"UPDATE {rows} SET {USED} = NULL WHERE {above}")
    return (
        f"; {count:,} uses of more than {TIMES_OF_REQUEST} times their request count as missing ({used:.4g} bytes of "
        f"{requested:.4g}, say)"
    )


def _wide(cursor: duckdb.DuckDBPyConnection, rows: str, key: str, names: Sequence[str]) -> tuple[list[str], bool]:
    """The columns of which some task may have values that are a unit apart, of most tables none; is a task known?

    Tasks are grouped by their hash, which takes less than their names; two that share one only look wider.
    """
    ranges = ", ".join(
        f"count({value}) >= {FEWEST_RUNS} AND max({value}) > {2 ** ((FAR - 1) / STEPS)} * min({value}) AS wide_{at}"
        for at, value in enumerate(f"CASE WHEN {name} > 0 THEN {name} END" for name in names)
    )
    some = ", ".join(f"bool_or(wide_{at})" for at in range(len(names)))
    tasks = f"SELECT count(*) AS runs, {ranges} FROM {rows} WHERE {FINISHED} GROUP BY hash({key})"
    *found, most = one(cursor, f"SELECT {some}, max(runs) FROM ({tasks})")
    return [name for name, wide in zip(names, found, strict=True) if wide], bool(most and most >= FEWEST_RUNS)


def _far(cursor: duckdb.DuckDBPyConnection, rows: str, key: str, name: str, farthest: int = 0) -> tuple[int, object]:
    """How many values are a unit away, and the task of most of them; (0, None) where many lie between, or farther."""
    steps = f"CAST(floor(log2({name}) * {STEPS}) AS INTEGER)"
    far, between, task = one(
        cursor,
        f"WITH step AS (SELECT {key} AS task, {steps} AS step, count(*) AS n FROM {rows} "
        f"WHERE {name} > 0 AND {FINISHED} GROUP BY ALL), "
        f"risen AS (SELECT *, sum(n) OVER (PARTITION BY task) AS runs, "
        f"sum(n) OVER (PARTITION BY task ORDER BY step) AS upto FROM step), "
        f"middle AS (SELECT task, min(step) AS middle FROM risen WHERE 2 * upto >= runs AND runs >= {FEWEST_RUNS} "
        f"GROUP BY task), away AS (SELECT task, abs(step - middle) AS away, n FROM step JOIN middle USING (task)) "
        f"SELECT coalesce(sum(n) FILTER (WHERE away >= {FAR}), 0), "
        f"coalesce(sum(n) FILTER (WHERE away BETWEEN {NEAR} AND {FAR - 1} OR away > {farthest or 'NULL'}), 0), "
        f"arg_max(task, n) FILTER (WHERE away >= {FAR}) FROM away",
    )
    return (int(far), task) if far and between <= BETWEEN * far else (0, None)
