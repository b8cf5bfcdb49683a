"""Cells of the staged rows that say no value: those that cannot be read, and those out of the bounds of their field.

Such a cell is missing in its row, counted, and told with its line. Where a start, an end or a duration cannot be read,
the row is a reject.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd

from workprof.core.arrays import Ints
from workprof.core.errors import TraceError
from workprof.core.text import visible
from workprof.core.units import MINUTE_S
from workprof.core.words import counted
from workprof.formats import generic
from workprof.formats.declare import Format
from workprof.formats.fields import BOUNDS, NAME_FIELDS, TIMING, USAGE_FIELDS
from workprof.store import rejects
from workprof.store.catalogue import one
from workprof.store.compile import CELLS, STRANGE, UNREAD, Plan
from workprof.store.connection import commit_so_far, quoted, text
from workprof.store.loaded import Stage
from workprof.store.reports import Check, Column
from workprof.store.spool import Spooled

NO_NUMBER = "not a value of the column's quantity"
SHOWN_CELLS, SHOWN_CHARACTERS = 5, 60
BAD, OUT_OF_BOUNDS, ZERO_USE = "bad cells", "out of bounds", "use of zero"
SLACK = 1 + 1e-9
WORDS = {
    UNREAD: (BAD, ("is no value of its column and counts", "are no value of their column and count")),
    STRANGE: (
        OUT_OF_BOUNDS,
        tuple(
            f"{verb} more than any machine has, less than nothing or part of a byte, and {counts}"
            for verb, counts in (("is", "counts"), ("are", "count"))
        ),
    ),
}
"""Kind of a cell -> the name of its check, and what is said of one and of several."""


def sort_out(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, plan: Plan, spooled: Spooled, declared: Format
) -> tuple[int, tuple[Check, ...]]:
    """Move the rows whose times cannot be read to the rejects, and tell of all other cells that say no value.

    So are rows in which a column of numbers holds its heading: a further file begins there.

    Returned are the number of rows moved, and the checks.

    Raises TraceError when most values of a column of a generic table are none of what it was said to be.
    """
    rows, aside, listed = quoted(stage.rows), quoted(f"{stage.rows}_read"), quoted(f"{stage.rows}_cells")
    (found,) = one(cursor, f"SELECT count({CELLS}) FROM {rows}")
    if not found:
        cursor.execute(f"ALTER TABLE {rows} DROP COLUMN {CELLS}")
        return 0, ()
    cursor.execute(
        f"CREATE TABLE {listed} AS SELECT place, unnest({CELLS}, recursive := true) FROM (SELECT {CELLS}, "
        f"row_number() OVER (ORDER BY rowid) - 1 AS place FROM {rows}) WHERE {CELLS} IS NOT NULL"
    )
    timing = ", ".join(str(at) for at, output in enumerate(plan.outputs) if output.column.name in TIMING) or "NULL"
    headings = ", ".join(text(output.column.source.strip().lower()) for output in plan.outputs)
    refuses = f"kind = {UNREAD} AND (output IN ({timing}) OR lower(trim(cell)) = [{headings}][output + 1])"
    (refused,) = one(cursor, f"SELECT count(DISTINCT place) FROM {listed} WHERE {refuses}")
    kept = f"place NOT IN (SELECT place FROM {listed} WHERE {refuses})" if refused else "TRUE"
    if declared.name == generic.FORMAT.name:
        _refuse_most(cursor, plan, spooled, rows, f"{listed} WHERE kind = {UNREAD} AND NOT ({refuses})")
    checks = _told(cursor, plan, spooled, f"{listed} WHERE {kept}")
    if refused:
        places = cursor.execute(f"SELECT DISTINCT place FROM {listed} WHERE {refuses} ORDER BY place").fetchnumpy()
        with _lines_of(cursor, np.asarray(places["place"], dtype=np.int64), spooled) as lines:
            for at, output in enumerate(plan.outputs):
                cursor.execute(
                    f"INSERT INTO {quoted(stage.rejects)} SELECT {rejects.original_line(spooled)}, "
                    f"{text(output.column.source)}, left(cell, {rejects.TEXT_CHARACTERS}), {text(NO_NUMBER)} "
                    f"FROM {listed} JOIN {lines} USING (place) WHERE kind = {UNREAD} AND output = {at} ORDER BY line"
                )
        cursor.execute(f"ALTER TABLE {rows} RENAME TO {aside}")
        cursor.execute(
            f"CREATE TABLE {rows} AS SELECT * EXCLUDE ({CELLS}, place) FROM "
            f"(SELECT *, row_number() OVER (ORDER BY rowid) - 1 AS place FROM {aside}) WHERE {kept} ORDER BY place"
        )
        cursor.execute(f"DROP TABLE {aside}")
    else:
        cursor.execute(f"ALTER TABLE {rows} DROP COLUMN {CELLS}")
    cursor.execute(f"DROP TABLE {listed}")
    return int(refused), checks


def _refuse_most(cursor: duckdb.DuckDBPyConnection, plan: Plan, spooled: Spooled, rows: str, unread: str) -> None:
    counts = f"SELECT output, count(*), arg_min(cell, place) FROM {unread} GROUP BY output ORDER BY output"
    for at, wrong, first in cursor.execute(counts).fetchall():
        column = plan.outputs[at].column
        (taken,) = one(cursor, f"SELECT count({quoted(column.name)}) FROM {rows}")
        if wrong > taken:
            raise TraceError(
                f"{spooled.origin}: {wrong:,} of {wrong + taken:,} values of column {column.source} are no value of "
                f"{column.name}, the first {visible(first[:SHOWN_CHARACTERS])!r}; check the mapping, the delimiter and "
                "the decimal sign"
            )


def _told(cursor: duckdb.DuckDBPyConnection, plan: Plan, spooled: Spooled, listed: str) -> tuple[Check, ...]:
    """The checks of the cells: how many, and the first of each column with its line."""
    firsts = cursor.execute(
        f"SELECT kind, output, count(*), min(place), arg_min(cell, place) FROM {listed} "
        f"GROUP BY kind, output ORDER BY kind, output"
    ).fetchall()
    if not firsts:
        return ()
    with _lines_of(cursor, np.unique(np.asarray([place for *_, place, _ in firsts], dtype=np.int64)), spooled) as lines:
        line_of = dict(cursor.execute(f"SELECT place, {rejects.original_line(spooled)} FROM {lines}").fetchall())
    result = []
    for kind, (name, words) in WORDS.items():
        of_kind = [first for first in firsts if first[0] == kind]
        shown = [
            f"{visible(plan.outputs[at].column.source[:SHOWN_CHARACTERS])}: {visible(cell[:SHOWN_CHARACTERS])!r} in "
            f"line {line_of[place]:,}" + (f" and {count - 1:,} more" if count > 1 else "")
            for _, at, count, place, cell in of_kind
        ]
        if of_kind:
            result.append(_check(name, words, sum(count for _, _, count, *_ in of_kind), shown))
    return tuple(result)


def merged(checks: Sequence[Check]) -> tuple[Check, ...]:
    """The checks with one for each name: counts added up, messages one after another."""
    result: dict[str, Check] = {}
    for check in checks:
        first = result.get(check.name)
        both = (
            replace(check, count=first.count + check.count, message=f"{first.message}. {check.message}")
            if first
            else check
        )
        result[check.name] = both
    return tuple(result.values())


def _check(name: str, words: Sequence[str], total: int, shown: Sequence[str]) -> Check:
    more = f"; and {len(shown) - SHOWN_CELLS:,} further columns" if len(shown) > SHOWN_CELLS else ""
    said = f"{counted(total, 'cell')} {words[total > 1]} as missing"
    return Check(name, "warning", total, f"{said}: {'; '.join(shown[:SHOWN_CELLS])}{more}")


@contextlib.contextmanager
def _lines_of(cursor: duckdb.DuckDBPyConnection, places: Ints, spooled: Spooled) -> Iterator[str]:
    """Yield the SQL of a table of the lines of some rows, by their places."""
    lines = pd.DataFrame({"place": places, "line": rejects.lines_of_rows(cursor, places, spooled)})
    cursor.register("lines_of_cells", lines)
    try:
        yield rejects.renumbered(spooled, "lines_of_cells")
    finally:
        cursor.unregister("lines_of_cells")


def left_out(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, columns: Sequence[Column]
) -> tuple[Check, ...]:
    """Take from the rows what is out of bounds though every cell it was made of is within, and tell of it.

    A row that folds many lines, or a field that takes several columns, has no line: the run is named instead.
    """
    rows, have = quoted(stage.rows), {column.name for column in columns}
    node = "node IS NULL OR regexp_matches(trim(node), '[-,;+|\\[\\s]')" if "node" in have else "TRUE"
    many = f"({node})" if declared.many_machines else "FALSE"
    strange = {}
    shares = {column.name: column.whole for column in columns if column.whole}
    for name, bounds in BOUNDS.items():
        if name in shares:  # of the largest machine: no run has more of it than all
            strange[name] = f"({name} NOT BETWEEN 0 AND {shares[name] * SLACK!r})"
        elif name in have:
            most = f"CASE WHEN {many} THEN {bounds.of_a_system!r} ELSE {bounds.most!r} END"
            above = f"CASE WHEN {name} > {bounds.most!r} THEN {name} > {most} ELSE FALSE END"
            strange[name] = f"({name} < {bounds.least!r} OR {above})"
    total, shown = _taken(cursor, rows, have, strange)
    result = [_check(OUT_OF_BOUNDS, WORDS[STRANGE][1], total, shown)] if shown else []
    used = [name for name in USAGE_FIELDS if name in have]
    unknown = {
        name: f"({name} = 0 AND duration_s >= {MINUTE_S} AND ({' OR '.join(f'{other} > 0' for other in used)}))"
        for name in declared.zero_is_unknown
        if name in used and "duration_s" in have
    }
    total, shown = _taken(cursor, rows, have, unknown)
    if shown:
        result.append(
            _check(ZERO_USE, "are a use of 0 beside another use: not known, they count as missing", total, shown)
        )
    return tuple(result)


def _taken(
    cursor: duckdb.DuckDBPyConnection, rows: str, have: Collection[str], conditions: Mapping[str, str]
) -> tuple[int, list[str]]:
    """Take from the rows what conditions say of their fields, and return how many values these were, in words too."""
    if not conditions:
        return 0, []
    run = f"coalesce({', '.join([*(f'CAST({name} AS VARCHAR)' for name in NAME_FIELDS if name in have), repr('')])})"
    counts = ", ".join(f"count(*) FILTER (WHERE {sql})" for sql in conditions.values())
    found = dict(zip(conditions, one(cursor, f"SELECT {counts} FROM {rows}"), strict=True))
    shown = []
    if any(found.values()):
        commit_so_far(cursor)
    for name, count in found.items():
        if not count:
            continue
        value, owner = one(cursor, f"SELECT {name}, {run} FROM {rows} WHERE {conditions[name]} ORDER BY rowid LIMIT 1")
        shown.append(
            f"{name}: {value:.4g} of {visible(owner[:SHOWN_CHARACTERS])}"
            + (f" and {count - 1:,} more" if count > 1 else "")
        )
    for name, count in found.items():
        if count:
            cursor.execute(f"UPDATE {rows} SET {name} = NULL WHERE {conditions[name]}")
    return sum(found.values()), shown
