"""Lines that belong to the run of another line, and fields that take several columns: over the staged rows, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from workprof.core.progress import Progress
from workprof.formats.declare import NUMBER, TEXT, AtOnce, Format, Made, Steps
from workprof.formats.fields import FIELDS, NAME_FIELDS, TIME_FIELDS
from workprof.store.catalogue import one
from workprof.store.compile import FIELD_ORDER, FINISHED, finished_sql
from workprof.store.connection import commit_so_far, quoted, text
from workprof.store.loaded import Stage
from workprof.store.reports import Column
from workprof.store.running import Span, run_watched

NEEDED = (NAME_FIELDS[0], *TIME_FIELDS, "duration_s", "status")
"""Fields that a job table has even where no row fills them: no run may have ended yet."""


@dataclass(frozen=True)
class Folded:
    """The staged rows once every row is a run."""

    columns: tuple[Column, ...]  # of the job table, the fields first
    steps: int = 0  # lines that were folded into their run
    orphans: int = 0  # runs that are told of by their steps only


def has_steps(cursor: duckdb.DuckDBPyConnection, stage: Stage, steps: Steps, columns: Sequence[Column]) -> bool:
    """Tell whether rows of any table are steps of others: their runs stand beside them.

    Named steps ('7.batch') tell it, and '7.0' where no numbered one stands without its run: ids may have points.
    """
    if steps.key not in {column.name for column in columns}:
        return False
    key, rows = quoted(steps.key), quoted(stage.rows)
    found = f"SELECT regexp_extract({key}, {text(steps.step)}, 2) AS step_, {_run_of(steps)} AS run_ FROM {rows}"
    (there,) = one(cursor, f"SELECT count(run_) FROM ({found})")
    if not there:
        return False
    owned = f"run_ IN (SELECT {key} FROM {rows} WHERE {key} IS NOT NULL)"
    named, first, alone = one(
        cursor,
        f"SELECT count(*) FILTER (owned_ AND NOT number_), count(*) FILTER (owned_ AND step_ = '0'), "
        f"count(*) FILTER (number_ AND NOT owned_) FROM (SELECT step_, {owned} AS owned_, "
        f"regexp_matches(step_, '^[0-9]') AS number_ FROM ({found}) WHERE run_ IS NOT NULL)",
    )
    return bool(named or (first and not alone))


def complete(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    declared: Format,
    columns: Sequence[Column],
    progress: Progress,
    span: Span,
) -> Folded:
    """Fold the steps of a format into their runs, then make the fields that take more than a unit."""
    given = {column.name for column in columns}
    present = set(given)
    folds = declared.steps if declared.steps and declared.steps.key in present else None
    makes = []
    for one_field in declared.made:
        if _possible(one_field, present):
            makes.append(one_field)
            present.add(one_field.field)
    if not folds and not makes and not declared.reader:
        return Folded(tuple(columns))
    rows, aside = quoted(stage.rows), quoted(stage.rows + "_lines")
    if folds:
        _name_steps(cursor, rows, folds, given)
    cursor.execute(f"ALTER TABLE {rows} RENAME TO {aside}")
    have = set(given)
    source = f"SELECT *, row_number() OVER (ORDER BY rowid) AS line_ FROM {aside}"
    for each in [made for made in makes if made.of_line]:
        source = _with(each, have, source, declared)
        have.add(each.field)
    source = _folded(folds, have, source) if folds else f"SELECT * EXCLUDE (line_) FROM ({source}) ORDER BY line_"
    for each in [made for made in makes if not made.of_line]:
        source = _with(each, have, source, declared)
        have.add(each.field)
    if hidden := [quoted(each.field) for each in makes if each.aside]:
        source = f"SELECT * EXCLUDE ({', '.join(hidden)}) FROM ({source})"
    if "status" in have - given and declared.finished:
        source = f"SELECT * REPLACE ({finished_sql('status', declared)} AS {FINISHED}) FROM ({source})"
    run_watched(cursor, f"CREATE TABLE {rows} AS {source}", [], progress, span)
    steps = orphans = 0
    if folds:
        steps, orphans = _counts(cursor, folds, aside, rows)
    cursor.execute(f"DROP TABLE {aside}")
    made = _columns(columns, [each for each in makes if not each.aside], declared)
    empty = _empty(cursor, rows, [column for column in made if declared.reader or column.name not in given])
    return Folded(tuple(column for column in made if column.name not in empty), steps, orphans)


def _empty(cursor: duckdb.DuckDBPyConnection, rows: str, columns: Sequence[Column]) -> set[str]:
    """Drop the columns that no row fills, of those that the source need not have, and return their names."""
    optional = [column.name for column in columns if column.name not in NEEDED]
    if not optional:
        return set()
    counts = one(cursor, f"SELECT {', '.join(f'count({quoted(name)})' for name in optional)} FROM {rows}")
    empty = {name for name, count in zip(optional, counts, strict=True) if not count}
    for name in empty:
        cursor.execute(f"ALTER TABLE {rows} DROP COLUMN {quoted(name)}")
    return empty


def _possible(made: Made, present: set[str]) -> bool:
    own = made.field not in FIELDS and made.field in present and made.field not in made.may
    if own or not set(made.needs) <= present:
        return False
    return bool(made.needs) or bool(set(made.may) & present)


def _with(made: Made, have: set[str], source: str, declared: Format) -> str:
    """The SELECT over another one that makes a field; what it may look at and is not there is NULL."""
    absent = [name for name in made.may if name not in have and name != made.field]
    nulls = "".join(f", CAST(NULL AS {_type(name, declared)}) AS {quoted(name)}" for name in absent)
    if made.field not in have and made.field in made.may:
        nulls += f", CAST(NULL AS {_type(made.field, declared)}) AS {quoted(made.field)}"
        have = have | {made.field}
    dropped = f" EXCLUDE ({', '.join(map(quoted, absent))})" if absent else ""
    value = f"{made.sql} AS {quoted(made.field)}"
    inner = f"(SELECT *{nulls} FROM ({source}))"
    if made.field in have:
        return f"SELECT *{dropped} REPLACE ({value}) FROM {inner}"
    return f"SELECT *{dropped}, {value} FROM {inner}"


def _type(name: str, declared: Format) -> str:
    if any(made.aside and made.field == name for made in declared.made):
        return NUMBER
    return FIELDS[name].type if name in FIELDS else declared.declared_type(name) or TEXT


def _name_steps(cursor: duckdb.DuckDBPyConnection, rows: str, steps: Steps, have: set[str]) -> None:
    """Give steps that have the key of their run, and began within it, the key of its first numbered step again."""
    told = next((name for name in steps.of_a_run if name in have), "")
    if not told:
        return
    key = quoted(steps.key)
    same = f"of_.{key} = one_.{key} AND of_.{told} IS NOT NULL"
    if {"start_time_s", "end_time_s"} <= have:
        same += " AND one_.start_time_s BETWEEN of_.start_time_s AND coalesce(of_.end_time_s, one_.start_time_s)"
    within = f"SELECT one_.rowid FROM {rows} AS one_ JOIN {rows} AS of_ ON {same} WHERE one_.{told} IS NULL"
    these = f"{told} IS NULL AND {_run_of(steps)} IS NULL AND rowid IN ({within})"
    if one(cursor, f"SELECT count(*) FROM {rows} WHERE {these}")[0]:
        commit_so_far(cursor)
        cursor.execute(f"UPDATE {rows} SET {key} = {key} || '.0' WHERE {these}")


def _run_of(steps: Steps) -> str:
    """The SQL of the run that a line belongs to, NULL where the line is a run itself."""
    return f"nullif(regexp_extract({quoted(steps.key)}, {text(steps.step)}, 1), '')"


def _folded(steps: Steps, have: set[str], lines: str) -> str:
    """The SELECT of one row per run, in the order of the first line of each.

    Steps whose run has no line of its own become one run: its first step's line, under the run's key.
    """
    largest = [name for name in steps.largest if name in have]
    key, began = quoted(steps.key), "start_time_s" if "start_time_s" in have else "line_"
    keyed = f"SELECT *, {_run_of(steps)} AS run_, coalesce({_run_of(steps)}, {key}) AS of_ FROM ({lines})"
    keys = ["of_", *(quoted(name) for name in steps.within if name in have)]
    for name in keys[1:]:
        before, any_of = f"last_value({name} IGNORE NULLS) OVER (PARTITION BY of_ ORDER BY line_)", f"max({name}) OVER"
        filled = f"CASE WHEN run_ IS NULL THEN {name} ELSE coalesce({name}, {before}, {any_of} (PARTITION BY of_)) END"
        keyed = f"SELECT * REPLACE ({filled} AS {name}) FROM ({keyed})"
    by = ", ".join(keys)
    named = "".join(f"{name} AS of_run_{at}, " for at, name in enumerate(keys))
    same = " AND ".join(f"lines_.{name} IS NOT DISTINCT FROM of_run_{at}" for at, name in enumerate(keys))
    own, never = f"max({began}) FILTER (WHERE run_ IS NULL)", "'infinity'::DOUBLE"
    order = f"ORDER BY {began} NULLS LAST, run_ IS NOT NULL, line_"
    attempt = (
        f"CASE WHEN run_ IS NULL THEN coalesce({began}, {never}) ELSE coalesce({own} OVER (PARTITION BY {by} {order}), "
        f"min({began}) FILTER (WHERE run_ IS NULL) OVER (PARTITION BY {by}), {never}) END"
    )
    summed = [name for name in steps.summed if name in have]
    of_steps = "".join(f", max({quoted(name)}) AS {quoted('step_' + name)}" for name in largest)
    of_steps += "".join(f", sum({quoted(name)}) AS {quoted('step_' + name)}" for name in summed)
    replaced = [f"greatest({quoted(name)}, {quoted('step_' + name)}) AS {quoted(name)}" for name in largest]
    replaced += [f"{_added(quoted(name), quoted('step_' + name))} AS {quoted(name)}" for name in summed]
    replaced.append(f"of_ AS {key}")
    excluded = [*("line_", "run_", "of_", "attempt_", "owned_", "of_attempt_", "first_")]
    excluded += [
        *(f"of_run_{at}" for at in range(len(keys))),
        *(quoted(f"step_{name}") for name in (*largest, *summed)),
    ]
    together = "".join(_together(each, by, have) for each in steps.at_once if each.field in largest)
    return (
        f"WITH keyed_ AS ({keyed}), "
        f"lines_ AS (SELECT *, {attempt} AS attempt_, bool_or(run_ IS NULL) OVER (PARTITION BY {by}) AS owned_ "
        f"FROM keyed_), "
        f"steps_ AS (SELECT {named}attempt_ AS of_attempt_, min(line_) AS first_{of_steps} "
        f"FROM (SELECT * FROM lines_ WHERE run_ IS NOT NULL{together}) GROUP BY {by}, attempt_) "
        f"SELECT * EXCLUDE ({', '.join(excluded)}) REPLACE ({', '.join(replaced)}) FROM lines_ "
        f"LEFT JOIN steps_ ON {same} AND attempt_ = of_attempt_ "
        f"WHERE run_ IS NULL OR (NOT owned_ AND line_ = first_) ORDER BY line_"
    )


def _added(own: str, of_steps: str) -> str:
    """The SQL of a run's own amount and those of its steps; a run without a line of its own has a step's as its own."""
    return f"CASE WHEN run_ IS NULL THEN coalesce({own} + {of_steps}, {own}, {of_steps}) ELSE {of_steps} END"


def _together(at_once: AtOnce, by: str, have: set[str]) -> str:
    """The SQL of further lines of steps: what those that ran at the same time add up to, at each of their ends.

    Whole numbers, so that one line alone adds up to no more than itself.
    """
    if not {"start_time_s", "end_time_s"} <= have:
        return ""
    of = f"{by}, attempt_" + (f", {at_once.apart}" if at_once.apart in have else "")
    share = f"TRY_CAST(floor({at_once.sql}) AS HUGEINT)"
    ends = ((share, "start_time_s"), (f"-{share}", "coalesce(end_time_s, 'infinity'::DOUBLE)"))
    moments = " UNION ALL ".join(
        f"SELECT {of}, {moment} AS moment_, {change} AS change_ FROM lines_ "
        f"WHERE {share} > 0 AND start_time_s IS NOT NULL AND (end_time_s IS NULL OR end_time_s > start_time_s)"
        for change, moment in ends
    )
    held = f"sum(change_) OVER (PARTITION BY {of} ORDER BY moment_, change_)"
    return (
        f" UNION ALL BY NAME SELECT {by}, attempt_, CAST({held} AS DOUBLE) AS {quoted(at_once.field)} FROM ({moments})"
    )


def _counts(cursor: duckdb.DuckDBPyConnection, steps: Steps, lines: str, runs: str) -> tuple[int, int]:
    """The lines that are folded away, and the runs without a line of their own."""
    every, own = one(cursor, f"SELECT count(*), count(*) FILTER ({_run_of(steps)} IS NULL) FROM {lines}")
    (there,) = one(cursor, f"SELECT count(*) FROM {runs}")
    return int(every) - int(there), int(there) - int(own)


def _columns(columns: Sequence[Column], makes: Sequence[Made], declared: Format) -> tuple[Column, ...]:
    known = {column.name: column for column in columns}
    for made in makes:
        if made.field not in known:
            kind, unit = _type(made.field, declared), FIELDS[made.field].unit if made.field in FIELDS else ""
            known[made.field] = Column(made.field, kind, unit, made.field, numeric=kind == NUMBER)
    return tuple(sorted(known.values(), key=lambda column: FIELD_ORDER.get(column.name, len(FIELD_ORDER))))
