"""Rows that tell of a few minutes, or of an event, of a run become one row per run: over the staged rows, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from workprof.core.progress import Progress
from workprof.formats.declare import ACTIVE, Events, Format, Made, Windows
from workprof.formats.fields import FIELDS
from workprof.store.catalogue import one
from workprof.store.compile import DERIVED, FINISHED, FLAGS
from workprof.store.connection import quoted, text
from workprof.store.folding import complete
from workprof.store.loaded import Stage
from workprof.store.reports import Check, Column, IngestOptions
from workprof.store.running import Span, run_watched

FOLD = Span(0.82, 0.85, "folding windows")
MOST_LONGER, FEWEST_ROWS = 0.001, 20
"""Share of rows that may last longer than a window, one of a few rows: a clock that was set, a window that was late."""
SLACK = 1.01
"""What a window may last over its length."""


@dataclass(frozen=True)
class Runs:
    """The staged rows once every one is a run, in the units of the job table."""

    columns: tuple[Column, ...]  # of the job table
    folded: int = 0  # rows of windows that are no longer there
    checks: tuple[Check, ...] = ()  # what was done


def complete_runs(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    declared: Format,
    columns: Sequence[Column],
    options: IngestOptions,
    progress: Progress,
) -> Runs:
    """Fold the windows of a format into runs, make what is made of runs, and turn shares of a machine into amounts."""
    windows, events = declared.windows, declared.events
    before = after = longer = 0
    if events:
        before, after, columns = _fold_events(cursor, stage, events, declared.finished, columns, progress)
    names = {column.name for column in columns}
    if windows and {*windows.keys, "start_time_s", "end_time_s"} <= names:
        before, after, longer = _fold(cursor, stage, windows, columns, progress)
        if before != after:
            spread = [name for name, (_, of) in windows.spread.items() if of in {*names, ACTIVE}]
            columns = (
                *columns,
                *(Column(name, "DOUBLE", "", windows.spread[name][1], numeric=True) for name in spread),
            )
    machine = options.machine
    known = {column.name: column for column in columns}
    shares = [name for name in declared.normalised if name in names]
    of_runs = (*(windows.made if windows else ()), *(events.made if events else ()))
    made = (
        *of_runs,
        *(Made(name, f"{quoted(name)} * {machine.whole(known[name].unit)!r}", needs=(name,)) for name in shares),
    )
    then = complete(cursor, stage, replace(declared, steps=None, made=made), columns, progress, FOLD)
    marked = [
        replace(column, whole=machine.whole(column.unit), nominal=not machine.known(column.unit))
        if column.name in shares
        else column
        for column in then.columns
    ]
    if any(one_field.field == "duration_s" for one_field in of_runs):  # a late end cannot be confirmed by it
        marked = [replace(each, source=DERIVED) if each.name == "duration_s" else each for each in marked]
    if before == after:
        return Runs(tuple(marked))
    checks = []
    if windows and longer:
        long = (
            f"{longer:,} windows last longer than {windows.longest_s:g} s: the others tell when a run begins and ends"
        )
        checks.append(Check("long windows", "warning", longer, long))
    name, what = ("events", "events") if events else ("windows", "usage windows")
    message = f"{before:,} rows of {what} were folded into {after:,} runs"
    return Runs(tuple(marked), before - after, (Check(name, "info", before - after, message), *checks))


def _fold(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    windows: Windows,
    columns: Sequence[Column],
    progress: Progress,
) -> tuple[int, int, int]:
    """How many rows there were and are, the same where the rows are runs already, and how many are too long."""
    rows, aside = quoted(stage.rows), quoted(stage.rows + "_windows")
    keys = ", ".join(quoted(key) for key in windows.keys)
    length = "end_time_s - start_time_s"
    longest = windows.longest_s * SLACK
    n_rows, n_longer, n_runs = one(
        cursor, f"SELECT count(*), count(*) FILTER (WHERE {length} > {longest!r}), count(DISTINCT ({keys})) FROM {rows}"
    )
    if n_runs == n_rows or n_longer > max(MOST_LONGER * n_rows, int(n_rows >= FEWEST_ROWS)):
        return int(n_rows), int(n_rows), 0
    cursor.execute(f"ALTER TABLE {rows} RENAME TO {aside}")
    names = {column.name for column in columns}
    status = f" FILTER (WHERE {quoted('status')} IS NOT NULL)" if "status" in names else ""
    own = f"coalesce(NOT ({length} > {longest!r}), TRUE)"
    values = [f"{_value(column.name, windows, own)} AS {quoted(column.name)}" for column in columns]
    weight = _weight(windows, own)
    for name, (how, of) in windows.spread.items():
        if of in {*names, ACTIVE}:
            values.append(f"{_moment(how, quoted(of), weight)} AS {quoted(name)}")
    values.append(f"coalesce({_last(FINISHED)}{status}, TRUE) AS {FINISHED}")
    values.append(f"bit_or({FLAGS}) AS {FLAGS}")
    nameless = f"CASE WHEN {quoted(windows.keys[0])} IS NULL THEN rowid END"
    source = aside
    if any(of == ACTIVE for _, of in windows.spread.values()):
        first = quoted(windows.keys[0])
        active = f"count(*) OVER (PARTITION BY {first}, start_time_s) AS {quoted(ACTIVE)}"
        source = f"(SELECT *, rowid, {active} FROM {aside})"
    select = f"SELECT {', '.join(values)} FROM {source} GROUP BY {keys}, {nameless} ORDER BY min(rowid)"
    run_watched(cursor, f"CREATE TABLE {rows} AS {select}", [], progress, FOLD)
    cursor.execute(f"DROP TABLE {aside}")
    return int(n_rows), int(one(cursor, f"SELECT count(*) FROM {rows}")[0]), int(n_longer)


def _value(name: str, windows: Windows, sound: str) -> str:
    """The SQL of a column of a run from its windows; times are those of sound ones, where there are any."""
    own = quoted(name)
    if name in windows.keys:
        return own
    if name in ("start_time_s", "submit_time_s"):
        return f"coalesce(min({own}) FILTER (WHERE {sound}), min({own}))"
    if name == "end_time_s":
        return f"coalesce(max({own}) FILTER (WHERE {sound}), max({own}))"
    if name in windows.largest:
        return f"max({own})"
    if name in windows.means:
        return _moment("mean", own, _weight(windows, sound))
    return _last(own)


def _weight(windows: Windows, sound: str) -> str:
    """The SQL of a window's time."""
    return f"CASE WHEN {sound} THEN greatest(end_time_s - start_time_s, 0) ELSE {windows.longest_s!r} END"


def _moment(how: str, own: str, weight: str) -> str:
    """The SQL of the mean over the windows' time, or of the deviation of the windows, each of which counts once."""
    if how == "sd":
        return f"stddev_pop({own})"
    time = f"sum({weight}) FILTER (WHERE {own} IS NOT NULL)"
    return f"coalesce(fsum({own} * {weight}) / nullif({time}, 0), avg({own}))"


def _last(name: str) -> str:
    """The SQL of the last value that there is; of windows that end at once, of the one that stands last."""
    return f"arg_max({name}, (end_time_s, rowid))"


def _fold_events(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    events: Events,
    finished: Sequence[str],
    columns: Sequence[Column],
    progress: Progress,
) -> tuple[int, int, tuple[Column, ...]]:
    """How many rows there were and are, and the columns with the times of attempts."""
    rows, aside = quoted(stage.rows), quoted(stage.rows + "_events")
    names = [column.name for column in columns]
    keys = [key for key in events.keys if key in names]
    moment, order = "submit_time_s", "(submit_time_s, place_)"
    within = f"{moment} < {events.latest_s!r}"
    before, last = one(cursor, f"SELECT count(*), max({moment}) FILTER (WHERE {within}) FROM {rows}")
    cursor.execute(f"ALTER TABLE {rows} RENAME TO {aside}")
    submitted, started, ended = (_among(words) for words in (events.submits, events.starts, events.ends))
    part = f"PARTITION BY {', '.join(map(quoted, keys))} ORDER BY submit_time_s, rowid"
    attempts = (
        f"SELECT *, rowid AS place_, count(*) FILTER (WHERE {ended}) OVER ({part} ROWS BETWEEN UNBOUNDED PRECEDING "
        f"AND 1 PRECEDING) AS attempt_ FROM {aside}"
    )
    word = ", ".join(f"arg_max(status, {order}) FILTER (WHERE {words})" for words in (ended, started))
    status = f"coalesce({word}, arg_max(status, {order}))"
    values = {
        **{name: f"arg_max({quoted(name)}, {order})" for name in names},
        **{name: f"max({quoted(name)})" for name in events.largest if name in names},
        **{key: quoted(key) for key in keys},
        "status": status,
        "submit_time_s": f"min({moment}) FILTER (WHERE {submitted})",
        "start_time_s": f"min({moment}) FILTER (WHERE {started})",
        "end_time_s": f"max({moment}) FILTER (WHERE {ended})",
        "duration_s": f"CASE WHEN count(*) FILTER (WHERE {ended} AND {within}) = 0 "
        f"THEN {last or 0.0!r} - min({moment}) FILTER (WHERE {started}) END",
        FINISHED: f"coalesce(lower({status}) IN ({', '.join(map(text, finished))}), FALSE)",
        FLAGS: f"bit_or({FLAGS})",
    }
    selected = ", ".join(f"{value} AS {quoted(name)}" for name, value in values.items())
    grouped = f"GROUP BY {', '.join(map(quoted, keys))}, attempt_ ORDER BY min(place_)"
    run_watched(cursor, f"CREATE TABLE {rows} AS SELECT {selected} FROM ({attempts}) {grouped}", [], progress, FOLD)
    cursor.execute(f"DROP TABLE {aside}")
    (after,) = one(cursor, f"SELECT count(*) FROM {rows}")
    times = [FIELDS[name] for name in ("start_time_s", "end_time_s", "duration_s") if name not in names]
    made = [Column(time.name, time.type, time.unit, "submit_time_s", numeric=True) for time in times]
    return int(before), int(after), (*columns, *made)


def _among(words: Sequence[str]) -> str:
    """The condition that a row's event is one of some words."""
    return f"upper(trim(status)) IN ({', '.join(map(text, words))})"
