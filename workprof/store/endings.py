"""Rows without a start or an end: what they lack of a start, an end and a duration, and which of them still run.

A row that started and has no end, and whose status is a running one or missing, is running at the end of the trace: it
has not finished, and its duration so far is the last moment of the trace less its start. A row that never started has
no duration at all. Both keep their place in the table and are marked in `flags`. An end of a running row, or a start of
a waiting one, that comes after all that happened is a plan (squeue's END_TIME is the limit), and none.

The last moment of a trace is not that of a clock gone wrong: moments of a few rows that lie further after all others
than these reach are left out of it, and told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isclose

import duckdb

from workprof.core.causes import (
    FOR_MEMORY,
    KILLS,
    NEVER_STARTED,
    OTHER,
    RUNNING,
    WAITING,
    cause_of,
    starts_of,
    words_of,
)
from workprof.core.text import visible
from workprof.core.units import DAY_S, DURATION_FACTORS, FIRST_EPOCH_S, HOUR_S, MINUTE_S, format_duration
from workprof.formats.declare import NUMBER
from workprof.formats.fields import FIELDS, LATEST_S, NAME_FIELDS, TIME_FIELDS, TIMING, USAGE_FIELDS
from workprof.store.catalogue import one
from workprof.store.compile import (
    DERIVED,
    FIELD_ORDER,
    FINISHED,
    FLAGS,
    OPEN_TIME,
    STILL_RUNNING,
    STRANGE_TIME,
    UNSTARTED,
)
from workprof.store.connection import commit_so_far, quoted, text
from workprof.store.loaded import Stage
from workprof.store.reports import Check, Column


@dataclass(frozen=True)
class _Conditions:
    """Conditions in SQL over the staged rows, never NULL."""

    running: str  # rows that still run
    never: str  # rows that never started
    end: str  # rows whose end follows from start and duration
    start: str  # rows whose start follows from end and duration


@dataclass(frozen=True)
class Settled:
    """The columns of the table once every row has what follows, and the check of moments that lie beyond the trace."""

    columns: tuple[Column, ...]
    checks: tuple[Check, ...] = ()


def settle(cursor: duckdb.DuckDBPyConnection, stage: Stage, columns: Sequence[Column], seen: str = "") -> Settled:
    """Fill what follows of start, end and duration, and mark the rows that run or never ran.

    An end follows from a start and a duration, a start from an end and a duration; a running row's duration, where it
    says none, is the time to the last moment of any row, or to that of the column `seen`. `status` keeps the trace's
    own word; where there is none, 'running' or 'waiting' stands for it. Rows that are to change are committed before
    (`commit_so_far`).
    """
    have, rows = {column.name: column for column in columns}, quoted(stage.rows)
    meanings = _statuses(cursor, rows) if "status" in have else NO_STATUS
    cached = _without_times_of_cached(cursor, have, rows, meanings.cached)
    zeros = _without_moments_of_zero(cursor, have, rows)
    plans = _without_plans(cursor, have, rows, meanings)
    _without_zero_so_far(cursor, have, rows, meanings)
    conditions = _conditions(cursor, have, rows, meanings)
    counts = ", ".join(f"count(*) FILTER (WHERE {each})" for each in vars(conditions).values())
    running, never, ends, starts = (int(count) for count in one(cursor, f"SELECT {counts} FROM {rows}"))
    if running or never or ends or starts:
        commit_so_far(cursor)
    needed = {"end_time_s": ends, "start_time_s": starts, "duration_s": running, "status": running + never}
    for field in (FIELDS[name] for name, count in needed.items() if count and name not in have):
        have[field.name] = Column(field.name, field.type, field.unit, "", numeric=field.type == NUMBER)
        cursor.execute(f"ALTER TABLE {rows} ADD COLUMN {field.name} {field.type}")
    if running or never:  # first: an end that follows would seem to be the trace's own
        bit = f"CASE WHEN {conditions.running} THEN {STILL_RUNNING} ELSE {UNSTARTED} END"
        status = f"CASE WHEN {conditions.running} THEN {text(RUNNING)} ELSE {text(WAITING)} END"
        cursor.execute(
            f"UPDATE {rows} SET {FLAGS} = {FLAGS} | {bit}, {FINISHED} = FALSE, "
            f"status = coalesce(nullif(trim(status), ''), {status}) WHERE {conditions.running} OR {conditions.never}"
        )
    if ends:
        cursor.execute(f"UPDATE {rows} SET end_time_s = start_time_s + duration_s WHERE {conditions.end}")
    if starts:
        cursor.execute(f"UPDATE {rows} SET start_time_s = end_time_s - duration_s WHERE {conditions.start}")
    last = _last_moment(cursor, have, rows)
    if last.wrong_clocks and "duration_s" in have:
        commit_so_far(cursor)
        cursor.execute(
            f"UPDATE {rows} SET duration_s = NULL WHERE end_time_s > $1 AND start_time_s <= $1 "
            "AND duration_s >= 0.9 * (end_time_s - start_time_s)",
            [last.moment],
        )
    if running and "start_time_s" in have:
        until = f"CASE WHEN {quoted(seen)} > 0 THEN greatest({quoted(seen)}, start_time_s) ELSE $1 END"
        until = until if seen in have else "$1"
        cursor.execute(
            f"UPDATE {rows} SET duration_s = {until} - start_time_s WHERE ({FLAGS} & {STILL_RUNNING}) > 0 "
            f"AND duration_s IS NULL AND start_time_s <= {until}",
            [last.moment],
        )
    ordered = sorted(have.values(), key=lambda column: FIELD_ORDER.get(column.name, len(FIELD_ORDER)))
    return Settled(tuple(ordered), (*cached, *zeros, *plans, *last.checks))


def kills_of_reasons(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, columns: Sequence[Column], reasons: Collection[str]
) -> Settled:
    """Count runs that did not finish, and of which one of some columns says that memory was the reason, as killed."""
    told = " OR ".join(
        f"coalesce(regexp_matches(lower({quoted(name)}), {text(FOR_MEMORY)}), FALSE)" for name in reasons
    )
    if not told or any(column.name == KILLS for column in columns):
        return Settled(tuple(columns))
    rows, killed = quoted(stage.rows), f"NOT {FINISHED} AND ({told})"
    (count,) = one(cursor, f"SELECT count(*) FILTER (WHERE {killed}) FROM {rows}")
    if not count:
        return Settled(tuple(columns))
    commit_so_far(cursor)
    cursor.execute(f"ALTER TABLE {rows} ADD COLUMN {KILLS} {NUMBER}")
    cursor.execute(f"UPDATE {rows} SET {KILLS} = CASE WHEN {killed} THEN 1 ELSE 0 END")
    message = f"{count:,} runs were killed for memory, by what they say of it: {', '.join(sorted(reasons))}"
    made = (*columns, Column(KILLS, NUMBER, FIELDS[KILLS].unit, "", numeric=True))
    ordered = sorted(made, key=lambda column: FIELD_ORDER.get(column.name, len(FIELD_ORDER)))
    return Settled(tuple(ordered), (Check("killed for memory", "info", int(count), message),))


NO_ERROR = ("", "none", "null", "false", "no", "0", "nan", "n/a", "-", "[]", "{}", "ok", "success", "no error")


def errors_of_finished(cursor: duckdb.DuckDBPyConnection, stage: Stage, errors: Sequence[str]) -> tuple[Check, ...]:
    """The check of runs that count as finished though one of some columns tells an error, as it does not of most."""
    found = []
    for name in errors:
        told = f"coalesce(lower(trim({quoted(name)})), '') NOT IN ({', '.join(map(text, NO_ERROR))})"
        count, finished = one(cursor, f"SELECT count_if({told}), count(*) FROM {quoted(stage.rows)} WHERE {FINISHED}")
        if 0 < 2 * count <= finished:
            found.append((int(count), name))
    if not found:
        return ()
    count, name = max(found)
    message = (
        f"{count:,} runs count as finished and tell an error (column {visible(name[:40])!r}): see whether they ended "
        "well; where they did not, a column status has to say so"
    )
    return (Check("errors of finished runs", "warning", count, message),)


NUMBER_OF_STATE = r"-?\d+(?:\.0)?(?::\d+)?"
SHOWN_STATUSES = 3


def unknown_statuses(cursor: duckdb.DuckDBPyConnection, stage: Stage, columns: Sequence[Column]) -> tuple[Check, ...]:
    """The check of runs whose status is no known word, a warning where they are more than those that finished."""
    if not any(column.name == "status" for column in columns):
        return ()
    rows = quoted(stage.rows)
    (finished,) = one(cursor, f"SELECT count_if({FINISHED}) FROM {rows}")
    said = cursor.execute(
        f"SELECT CAST(status AS VARCHAR) AS word, count(*) FROM {rows} WHERE NOT {FINISHED} AND trim(word) <> '' "
        f"GROUP BY word ORDER BY 2 DESC, word LIMIT {MOST_SPELLINGS}"
    ).fetchall()
    unknown = {
        word: int(runs)
        for word, runs in said
        if cause_of(word) == OTHER
        and word.strip().lower() not in CACHED
        and not re.fullmatch(NUMBER_OF_STATE, word.strip())
    }
    if not unknown:
        return ()
    count = sum(unknown.values())
    named = ", ".join(repr(visible(word[:40])) for word in list(unknown)[:SHOWN_STATUSES])
    message = (
        f"{count:,} runs have a status that is no known word ({named}): they count as not finished; write COMPLETED "
        "for those that ended well"
    )
    return (Check("unknown statuses", "warning" if count > finished else "info", count, message),)


def _without_moments_of_zero(
    cursor: duckdb.DuckDBPyConnection, have: Mapping[str, Column], rows: str
) -> tuple[Check, ...]:
    """Take 0 for no moment where another one of its row counts from 1970, and tell of it."""
    times = [name for name in TIME_FIELDS if name in have]
    if len(times) < 2:
        return ()
    zero = f"greatest({', '.join(times)}) >= {FIRST_EPOCH_S!r} AND ({' OR '.join(f'{name} = 0' for name in times)})"
    (count,) = one(cursor, f"SELECT count(*) FILTER (WHERE {zero}) FROM {rows}")
    if not count:
        return ()
    commit_so_far(cursor)
    known = [f"{name} = nullif({name}, 0)" for name in times]
    if "duration_s" in have and {"start_time_s", "end_time_s"} <= have.keys():
        known.append(
            "duration_s = CASE WHEN NOT coalesce(start_time_s = 0 AND duration_s = end_time_s, FALSE) "
            "THEN duration_s END"
        )
    cursor.execute(f"UPDATE {rows} SET {', '.join(known)} WHERE {zero}")
    message = f"{count:,} rows have a moment of 0 beside one of our time: it is taken for none"
    return (Check("moments of zero", "info", int(count), message),)


def _without_zero_so_far(cursor: duckdb.DuckDBPyConnection, have: Collection[str], rows: str, says: _Meanings) -> None:
    """Take a duration of 0 from rows that started and do not say how they ended, where others do: they run.

    Jenkins writes a build that runs so. A trace that tells ends tells by these which rows run.
    """
    if not {"status", "start_time_s", "duration_s"} <= {*have}:
        return
    end = "end_time_s" if "end_time_s" in have else "NULL"
    these = f"{says.nothing} AND duration_s = 0 AND start_time_s > 0"
    found = one(cursor, f"SELECT count_if({these}), count({end}), count_if(NOT {says.nothing}) FROM {rows}")
    if found[0] and not found[1] and found[2]:
        commit_so_far(cursor)
        cursor.execute(f"UPDATE {rows} SET duration_s = NULL WHERE {these}")


def _without_plans(
    cursor: duckdb.DuckDBPyConnection, have: Mapping[str, Column], rows: str, says: _Meanings
) -> tuple[Check, ...]:
    """Take moments that are to come from rows that run or wait, the duration between them too, and tell of them.

    Ends of running rows that are all about the same may be the moment of the export: only what is a limit is to come
    then. An end that the row's own duration confirms has come.
    """
    if not {"start_time_s", "end_time_s"} <= have.keys() or (says.running, says.waiting) == ("FALSE", "FALSE"):
        return ()
    waits = f"({says.waiting} AND NOT coalesce(starts_with(lower(trim(status)), 'requeue'), FALSE))"
    happened = ", ".join([
        f"max(start_time_s) FILTER (WHERE NOT {waits})",
        f"max(end_time_s) FILTER (WHERE NOT {waits} AND NOT {says.running})",
        *(["max(submit_time_s)"] if "submit_time_s" in have else []),
    ])  # fmt: skip
    (last,) = one(cursor, f"SELECT coalesce(greatest({happened}), 0) FROM {rows}")
    span = "(end_time_s - start_time_s)"
    own = "duration_s" in have and have["duration_s"].source != DERIVED
    runs_on = f"({says.running} AND coalesce(end_time_s > {last!r}{f' AND duration_s <> {span}' * own}, FALSE))"
    apart, alike = one(
        cursor,
        f"SELECT coalesce(max(end_time_s) - min(end_time_s), 0), max({span}) - min({span}) < 1 FROM {rows} "
        f"WHERE {runs_on}",
    )
    if apart < 1 or (apart <= HOUR_S and not alike):
        limit = f"abs({span} - time_limit_s) <= {MINUTE_S}" if "time_limit_s" in have else "FALSE"
        runs_on = f"({runs_on} AND coalesce({limit}, FALSE))"
    is_to_start = f"({waits} AND coalesce(start_time_s > {last!r}, FALSE))"
    ends, starts = one(cursor, f"SELECT count_if({runs_on}), count_if({is_to_start}) FROM {rows}")
    if not (ends or starts):
        return ()
    commit_so_far(cursor)
    known = ["end_time_s = NULL", f"start_time_s = CASE WHEN NOT {is_to_start} THEN start_time_s END"]
    if "duration_s" in have:
        known.append(f"duration_s = CASE WHEN duration_s <> {span} THEN duration_s END")
    cursor.execute(f"UPDATE {rows} SET {', '.join(known)} WHERE {runs_on} OR {is_to_start}")
    message = (
        f"{ends + starts:,} rows that run or wait have an end or a start after all that happened: it is a limit or a "
        "plan (squeue's END_TIME), and not known"
    )
    return (Check("moments to come", "info", int(ends + starts), message),)


def _without_times_of_cached(
    cursor: duckdb.DuckDBPyConnection, have: Collection[str], rows: str, cached: str
) -> tuple[Check, ...]:
    """Take the times from rows of tasks whose result was there already, and tell of them."""
    timed = [name for name in TIMING if name in have]
    if cached == "FALSE" or not timed:
        return ()
    these = f"{cached} AND ({' OR '.join(f'{name} IS NOT NULL' for name in timed)})"
    (count,) = one(cursor, f"SELECT count(*) FILTER (WHERE {these}) FROM {rows}")
    if not count:
        return ()
    commit_so_far(cursor)
    nothing = ", ".join(f"{name} = NULL" for name in timed)
    cursor.execute(f"UPDATE {rows} SET {nothing}, {FINISHED} = FALSE WHERE {these}")
    message = f"{count:,} tasks were answered from a cache: nothing ran, and their times count nowhere"
    return (Check("call cache", "info", int(count), message),)


OTHER_UNITS = (1e3, 1e6, 60.0, 3600.0, 6e4, 3.6e6)
"""What one of seconds, milliseconds, microseconds, minutes and hours is in another."""
THOUSANDS = (1e3, 1e6, 1e-3, 1e-6)
MANY_TIMES = 20
LEAST_OF_SPAN, MOST_OF_SPAN = 0.5, 1.02
"""Share of the time from start to end that a duration has in its own unit."""
MOSTLY = 0.5


def mend_durations(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    columns: Sequence[Column],
    *,
    unit: str,
    cpu_time: bool,
    are_bare: Callable[[], bool],
) -> tuple[Check, ...]:
    """Read durations that start and end contradict by a unit, or as 0, as these say, and tell of them.

    `unit` is that of their column, '' = none. `cpu_time` says that the use of CPU was made of a time by the duration,
    `are_bare` whether any of them says no unit.

    Only where most durations of the column agree with start and end: else the column as a whole is in another unit,
    or says something else, and `checks` tells so.
    """
    have, rows = {column.name: column for column in columns}, quoted(stage.rows)
    if not {"start_time_s", "end_time_s", "duration_s"} <= have.keys() or have["duration_s"].source == DERIVED:
        return ()
    span = "(end_time_s - start_time_s)"
    ended = f"({FLAGS} & {STILL_RUNNING}) = 0 AND {span} BETWEEN 60 AND {AGES_S!r} AND duration_s > 0"
    each = " ".join(
        f"WHEN duration_s * {times!r} BETWEEN {LEAST_OF_SPAN} * {span} AND {MOST_OF_SPAN} * {span} THEN {times!r}"
        for times in _factors(unit)
    )
    off = f"{ended} AND (duration_s < {span} / {MANY_TIMES} OR duration_s > {span} * {MANY_TIMES})"
    factor = f"CASE WHEN {off} THEN CASE {each} END END"
    agreeing = f"{ended} AND duration_s BETWEEN {LEAST_OF_SPAN} * {span} AND {MOST_OF_SPAN} * {span}"
    zero = f"({FLAGS} & {STILL_RUNNING}) = 0 AND {span} BETWEEN 60 AND {AGES_S!r} AND duration_s = 0"
    count, zeros, agree, all_rows, named = one(
        cursor,
        f"SELECT count({factor}), count(*) FILTER (WHERE {zero}), count(*) FILTER (WHERE {agreeing}), "
        f"count(*) FILTER (WHERE {ended}), any_value(duration_s) FILTER (WHERE {factor} IS NOT NULL) FROM {rows}",
    )
    if not (count or zeros) or agree < MOSTLY * all_rows or not agree:
        return ()
    if count and not are_bare():
        count = 0
    commit_so_far(cursor)
    result = []
    if count:
        use = f", cpu_usage_percent = cpu_usage_percent / {factor}" if cpu_time and "cpu_usage_percent" in have else ""
        cursor.execute(f"UPDATE {rows} SET duration_s = duration_s * {factor}{use} WHERE {factor} IS NOT NULL")
        message = (
            f"{count:,} runs have a duration in another unit than start and end say ({named:.6g} s, say); each was "
            "read in the unit that fits its start and end"
        )
        result.append(Check("duration and times", "warning", int(count), message))
    if zeros:
        cursor.execute(f"UPDATE {rows} SET duration_s = {span} WHERE {zero}")
        message = f"{zeros:,} runs have a duration of 0 though they end after they start: they last from start to end"
        result.append(Check("duration of zero", "warning", int(zeros), message))
    return tuple(result)


def _factors(unit: str) -> tuple[float, ...]:
    """How many times as long a duration may be as its column's unit says: thousands, or so that a unit comes of it.

    A second of a column of milliseconds is no minute, however long its run waited.
    """
    factors = (*OTHER_UNITS, *(1 / times for times in OTHER_UNITS))
    own, units = DURATION_FACTORS.get(unit), DURATION_FACTORS.values()
    return tuple(
        times
        for times in factors
        if own is None or times in THOUSANDS or any(isclose(own * times, each, rel_tol=1e-6) for each in units)
    )


MOST_BEYOND = 100
BEYOND_SHARE = 0.01
"""So many rows, or this share of few, may lie beyond the trace: more are a part of it."""
FEWEST_ROWS = 20
"""With fewer rows a later one is a later run; an end alone may still be wrong."""


AGES_S = 5 * 365.25 * DAY_S
FEW_OF_ALL = 0.2
"""No trace rests for so long: moments that come so late, of up to this share of the rows, are of clocks gone wrong."""


@dataclass(frozen=True)
class _Last:
    """The last moment of a trace; `wrong_clocks`: no run lasts until the moments beyond it."""

    moment: float | None
    checks: tuple[Check, ...] = ()
    wrong_clocks: bool = False


def _last_moment(cursor: duckdb.DuckDBPyConnection, have: Mapping[str, Column], rows: str) -> _Last:
    """The last moment of a trace, and what lies beyond it.

    Beyond is what lies further after the moments before it than twice these reach from their middle, and more than a
    day. An end that the row's own duration confirms is none.
    """
    times = [name for name in TIME_FIELDS if name in have]
    if not times:
        return _Last(None)
    highest = ", ".join(f"max({name}, {MOST_BEYOND + 1})" for name in times)
    n_rows, *lists = one(cursor, f"SELECT count(*), {highest} FROM {rows}")
    moments = sorted((moment for listed in lists for moment in listed or ()), reverse=True)
    if not moments:
        return _Last(None)
    gaps = [at for at in range(1, len(moments)) if moments[at - 1] - moments[at] > DAY_S]
    if not gaps:
        return _Last(moments[0])
    (middle,) = one(cursor, f"SELECT approx_quantile(coalesce({', '.join(times)}), 0.5) FROM {rows}")
    if moments[0] - middle > AGES_S and (found := _ages_away(cursor, have, rows, middle + AGES_S, n_rows)):
        return found
    most = min(MOST_BEYOND, max(1, int(BEYOND_SHARE * n_rows)))
    for at in reversed(gaps):
        if moments[at - 1] - moments[at] <= 2 * (moments[at] - middle):
            continue
        late = _beyond(cursor, have, rows, moments[at], n_rows)
        if 0 < len(late) <= most:
            return _Last(moments[at], (_told(late, moments[at], len(late)),))
    return _Last(moments[0])


def _ages_away(
    cursor: duckdb.DuckDBPyConnection, have: Mapping[str, Column], rows: str, edge: float, n_rows: int
) -> _Last | None:
    """The last moment before an edge where few rows have one long after it, None where that is no such edge."""
    times = [name for name in TIME_FIELDS if name in have]
    later = f"greatest({', '.join(times)})"
    before = f"greatest({', '.join(f'max({name}) FILTER (WHERE {name} <= $1)' for name in times)})"
    count, first, last = one(
        cursor, f"SELECT count(*) FILTER (WHERE {later} > $1), min({later}) FILTER (WHERE {later} > $1), {before} "
        f"FROM {rows}", [edge],
    )  # fmt: skip
    if last is None or first - last <= AGES_S or count > max(1, FEW_OF_ALL * n_rows):
        return None
    names = [f"CAST({name} AS VARCHAR)" for name in NAME_FIELDS if name in have]
    late = cursor.execute(
        f"SELECT coalesce({', '.join([*names, repr('')])}), {later} FROM {rows} WHERE {later} > ? "
        f"ORDER BY 2 DESC LIMIT {SHOWN_LATE}",
        [last],
    ).fetchall()
    return _Last(last, (_told(late, last, int(count), "; what lasts until then has no duration"),), wrong_clocks=True)


def _beyond(
    cursor: duckdb.DuckDBPyConnection, have: Mapping[str, Column], rows: str, last: float, n_rows: int
) -> list[tuple[str, float]]:
    """Names and moments of the rows beyond a moment; none where it is no last one after all."""
    start, end, duration = (name if name in have else "NULL" for name in ("start_time_s", "end_time_s", "duration_s"))
    own = "duration_s" in have and have["duration_s"].source != DERIVED
    confirmed = f"coalesce(abs({duration} - ({end} - {start})) <= 0.1 * ({end} - {start}), FALSE)" if own else "FALSE"
    times = [name for name in TIME_FIELDS if name in have]
    later = f"greatest({', '.join(times)})"
    names = [f"CAST({name} AS VARCHAR)" for name in NAME_FIELDS if name in have]
    found = cursor.execute(
        f"SELECT coalesce({', '.join([*names, repr('')])}), {later}, {confirmed}, coalesce({start} > ?, FALSE) "
        f"FROM {rows} WHERE {later} > ? ORDER BY 2 DESC LIMIT {MOST_BEYOND + 1}",
        [last, last],
    ).fetchall()
    sound = any(known or (wholly and n_rows < FEWEST_ROWS) for _, _, known, wholly in found)
    return [] if sound else [(name, moment) for name, moment, _, _ in found]


SHOWN_LATE = 3


def _told(late: Sequence[tuple[str, float]], last: float, count: int, also: str = "") -> Check:
    shown = ", ".join(f"{visible(name[:40])} at {_moment_text(moment)}" for name, moment in late[:SHOWN_LATE])
    message = (
        f"{count:,} rows have a moment far after all others ({shown}): the trace is taken to end at "
        f"{_moment_text(last)}{also}; correct these moments if they are wrong"
    )
    return Check("beyond the trace", "warning", count, message)


def _moment_text(moment: float) -> str:
    if FIRST_EPOCH_S < moment < LATEST_S:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S}"
    return f"{format_duration(moment)} on the trace's clock"


@dataclass(frozen=True)
class _Meanings:
    """Conditions in SQL on what a row's status says, never NULL."""

    running: str
    waiting: str
    nothing: str
    cached: str


NO_STATUS = _Meanings("FALSE", "FALSE", "TRUE", "FALSE")


def _conditions(cursor: duckdb.DuckDBPyConnection, have: Collection[str], rows: str, says: _Meanings) -> _Conditions:
    """Which rows are which; of a column that is not there every value is missing."""
    start, end, duration = (
        name if name in have else "CAST(NULL AS DOUBLE)" for name in ("start_time_s", "end_time_s", "duration_s")
    )
    starts, ends = one(cursor, f"SELECT count({start}) > 0, count({end}) > 0 FROM {rows}")
    used = " OR ".join(f"coalesce({name} > 0, FALSE)" for name in USAGE_FIELDS if name in have) or "FALSE"
    # Where the trace tells ends, a row without one is going on whatever its duration so far.
    open_end = f"({end} IS NULL AND {'TRUE' if ends else f'{duration} IS NULL'} AND ({FLAGS} & {STRANGE_TIME}) = 0)"
    written_open = f"({FLAGS} & {OPEN_TIME}) > 0"
    opened = f"({written_open} AND (coalesce({start}, {end}) IS NOT NULL OR NOT {starts}))"
    running = f"({says.running} OR ({says.nothing} AND ({opened} OR ({start} IS NOT NULL AND {open_end}))))"
    no_time = f"coalesce({duration}, 0) = 0 AND ({end} IS NULL OR {duration} = 0)"
    absent = f"({starts} AND {start} IS NULL AND {no_time} AND NOT ({used}) AND ({says.nothing} OR NOT {FINISHED}))"
    never = f"(NOT {running} AND ({absent} OR ({says.waiting} AND coalesce({duration}, 0) <= 0)))"
    ended = f"NOT {running} AND NOT {never}"
    return _Conditions(
        running,
        never,
        f"({end} IS NULL AND {start} IS NOT NULL AND coalesce({duration} >= 0, FALSE) AND {ended})",
        f"({start} IS NULL AND {end} IS NOT NULL AND coalesce({duration} > 0, FALSE) AND {ended})",
    )


MOST_SPELLINGS = 200
"""Statuses up to which a condition names them: to compare a row's status is a hundredth of the work of reading it."""


CACHED = ("cached", "cache hit", "cachehit", "cached (done)", "from cache", "callcached", "cached (success)")
"""Words of workflow engines for a task whose result was there already."""


def _statuses(cursor: duckdb.DuckDBPyConnection, rows: str) -> _Meanings:
    """The conditions that a row's status is a running one, a waiting one, missing, or one of a cache."""
    word = "coalesce(lower(trim(status)), '')"
    cached = f"{word} IN ({', '.join(map(text, CACHED))})"
    waits = f"({_begins(word, WAITING)} OR {_begins(word, NEVER_STARTED)})"
    meanings = (_begins(word, RUNNING), waits, f"{word} = ''", cached)
    lists = ", ".join(f"list(status) FILTER (WHERE {meaning} AND status IS NOT NULL)" for meaning in meanings)
    spellings = one(cursor, f"SELECT {lists} FROM (SELECT DISTINCT status FROM {rows})")
    running, waiting, missing, cached = (
        meaning if len(spelled or ()) > MOST_SPELLINGS else _is_one_of(spelled or ())
        for meaning, spelled in zip(meanings, spellings, strict=True)
    )
    return _Meanings(running, waiting, f"(status IS NULL OR {missing})", cached)


def _is_one_of(spellings: Sequence[str]) -> str:
    return f"coalesce(status IN ({', '.join(map(text, spellings))}), FALSE)" if spellings else "FALSE"


def _begins(status: str, cause: str) -> str:
    begun = [f"starts_with({status}, {text(start)})" for start in starts_of(cause)]
    return f"({' OR '.join((*begun, *(f'{status} = {text(word)}' for word in words_of(cause))))})"
