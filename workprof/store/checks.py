"""Findings about the rows of a job table, the distribution of every column, and the coverage of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from workprof.core.causes import CAUSES, FAILED, KILLED, KILLS, OUT_OF_MEMORY, cause_of
from workprof.core.errors import SettingsError
from workprof.core.text import of_one
from workprof.core.units import DAY_S, HOUR_S, KIB, MINUTE_S, factor
from workprof.formats import generic
from workprof.formats.declare import Capacity, Format
from workprof.formats.fields import REQUESTS
from workprof.store.catalogue import Entry, one
from workprof.store.compile import (
    FINISHED,
    FLAGS,
    NOT_FINITE,
    OTHER_UNIT as MOMENT_UNIT,
    SHORT_YEAR,
    STILL_RUNNING,
    UNSTARTED,
    ZERO_TIME,
)
from workprof.store.connection import quoted
from workprof.store.reports import Check, Column, ColumnProfile, Counts, IngestReport, TimeCoverage

RUNNING, NEVER_STARTED = "running", "never started"
"""Names of the checks that count rows without an end, or without a start."""

ROUND_S = tuple(
    float(n * unit)
    for unit, counts in (
        (1, (1, 5, 10, 30)),
        (MINUTE_S, (1, 5, 10, 30)),
        (HOUR_S, (1, 3, 6, 12)),
        (DAY_S, (1, 2, 7, 28, 364)),
    )
    for n in counts
)
"""Widths of time bins that people think in."""
ENOUGH_BINS = 120

OTHER_UNIT = 10.0
"""A duration of so many times the time from start to end is in another unit."""
MANY_TIMES = 700.0
"""A run may wait within its time; one of so many times its duration has that in another unit."""


@dataclass(frozen=True)
class Question:
    """A check before it is counted: `sql` is an aggregate that returns how many rows it concerns."""

    name: str
    level: str
    sql: str
    message: str


def count_where(condition: str) -> str:
    """The aggregate that counts rows for which a condition holds."""
    return f"count(*) FILTER (WHERE {condition})"


def questions(declared: Format, columns: Sequence[Column], duplicates: bool) -> tuple[Question, ...]:
    """The checks that make sense for the columns there are, in the order in which people read them."""
    have = {column.name for column in columns}
    result = [
        *_times(have),
        *_missing(have),
        *_over_request(have),
        *_not_measured(have),
        *_units_of_memory(have),
        *_over_capacity(declared.capacities, have),
    ]
    result.append(
        Question(
            "not finite", "warning", _flag(NOT_FINITE), "runs with NaN or an infinity; those values became 'no value'"
        )
    )
    if duplicates:
        result.append(
            Question(
                "duplicates",
                "warning",
                _duplicates(declared, columns),
                "runs that repeat an earlier row in every column",
            )
        )
    if declared.attempts in have:
        result.append(
            Question(
                "attempts",
                "info",
                count_where(f"{quoted(declared.attempts)} > 1"),
                "runs are a second or later attempt of their task",
            )
        )
    result += [
        Question(finding.name, finding.level, count_where(finding.where), finding.message)
        for finding in declared.findings
        if set(finding.needs) <= have
    ]
    if declared.name == generic.FORMAT.name and set(REQUESTS[0]) <= have:
        result.append(_share_of_all_cores())
    if declared.name == generic.FORMAT.name and have & {*NAMING}:
        result.append(_named_like_sums([name for name in NAMING if name in have]))
    if "status" in have:
        result += _endings()
        if declared.name == generic.FORMAT.name:
            result.append(_numbers_for_states())
    elif KILLS not in have and any(rule.field == "status" for rule in declared.rules):
        result.append(
            Question(
                "no status",
                "info",
                count_where(FINISHED),
                "runs of which no column says how they ended: they count as finished",
            )
        )
    return tuple(result)


def _numbers_for_states() -> Question:
    numbers = count_where(f"NOT {FINISHED} AND regexp_full_match(status, '\\d+(\\.0)?')")
    return Question(
        "numbers for states",
        "warning",
        f"CASE WHEN {numbers} > {count_where(FINISHED)} THEN {numbers} ELSE 0 END",
        "runs have a number other than 0 for how they ended, which counts as failed; where these are states (SWF's 1, "
        "Slurm's 3), write their words instead, such as COMPLETED, FAILED and OUT_OF_MEMORY",
    )


NAMING = ("job_name", "task_name", "user")
SUMS = r"(?:(?:grand|sub)[ -]?)?totals?|(?:zwischen|gesamt)?summe|gesamt"


def _named_like_sums(names: Sequence[str]) -> Question:
    words = (
        f"coalesce(regexp_full_match(trim(CAST({quoted(name)} AS VARCHAR), ' :'), '(?i:{SUMS})'), FALSE)"
        for name in names
    )
    return Question(
        "named like sums",
        "warning",
        count_where(" OR ".join(words)),
        "runs are named like sums (Total, Subtotal), and count as runs; take their lines out where they add up others",
    )


MANY_RUNS = 8


def _share_of_all_cores() -> Question:
    used, requested = REQUESTS[0]
    several = f"{requested} >= 200 AND {used} > 0"
    most, half = (f"{name} FILTER (WHERE {several})" for name in (f"max({used})", f"approx_quantile({used}, 0.5)"))
    return Question(
        "share of all cores",
        "warning",
        f"CASE WHEN {count_where(several)} >= {MANY_RUNS} AND {most} <= 100 AND {half} > 50 "
        f"THEN {count_where(several)} ELSE 0 END",
        "runs with several cores use one of them at most, as all that have several do: see whether their use is a "
        "share of all their cores (100 is one core here)",
    )


def _endings() -> Iterable[Question]:
    yield Question(
        RUNNING,
        "info",
        _flag(STILL_RUNNING),
        "runs still running at the end of the trace; their time counts to its last moment",
    )
    yield Question(NEVER_STARTED, "info", _flag(UNSTARTED), "runs that never started: they hold nothing")
    yield Question(
        "not finished",
        "info",
        count_where(f"NOT {FINISHED}"),
        "runs did not finish: excluded from sizes and durations, counted as evidence by Memory",
    )


def counted_checks(questions: Sequence[Question], counts: Sequence[int]) -> tuple[Check, ...]:
    """The checks that found something."""
    return tuple(
        Check(question.name, question.level, count, f"{count:,} {question.message}")
        for question, count in zip(questions, counts, strict=True)
        if count
    )


def counted_anew(
    cursor: duckdb.DuckDBPyConnection, relation: str, declared: Format, columns: Sequence[Column], told: Sequence[Check]
) -> tuple[Check, ...]:
    """The checks that were told of parts of a table, those of rows counted over the whole of it.

    What was counted of several files is among them, whatever stands before it in its message.
    """
    asked = questions(declared, columns, duplicates=False)
    counts = one(cursor, f"SELECT {', '.join(question.sql for question in asked)} FROM {relation}")
    one_row, rows = "1 ", "2 "
    of_rows = {
        question.name: tuple(of_one(n + question.message).removeprefix(n) for n in (one_row, rows))
        for question in asked
    }
    others = (each for each in told if each.name not in of_rows or not each.message.endswith(of_rows[each.name]))
    return (*others, *counted_checks(asked, counts))


def _flag(bit: int) -> str:
    return count_where(f"({FLAGS} & {bit}) > 0")


def _times(have: set[str]) -> Iterable[Question]:
    if {"start_time_s", "end_time_s"} <= have:
        yield Question(
            "end before start", "warning", count_where("end_time_s < start_time_s"), "runs end before they start"
        )
    if {"submit_time_s", "start_time_s"} <= have:
        yield Question(
            "start before submission",
            "warning",
            count_where(f"start_time_s < submit_time_s - {MINUTE_S}"),
            "runs start before they were submitted: see whether both moments are of one clock and one zone",
        )
    if {"start_time_s", "end_time_s", "duration_s"} <= have:
        span, ended = "(end_time_s - start_time_s)", f"({FLAGS} & {STILL_RUNNING}) = 0 AND duration_s > 0"
        longer = f"duration_s > {OTHER_UNIT:g} * {span} AND duration_s > {span} + {MINUTE_S}"
        shorter = f"duration_s < {span} / {MANY_TIMES:g} AND {span} > {MINUTE_S}"
        alike = f"approx_quantile(duration_s / nullif({span}, 0), 0.5) FILTER (WHERE {span} > 0 AND {ended})"
        timed = f"{span} > 0 AND {ended}"
        yield Question(
            "duration and times",
            "warning",
            f"CASE WHEN {alike} < {1 / OTHER_UNIT!r} "
            f"THEN count(*) FILTER (WHERE {timed} AND (duration_s < {span} / {OTHER_UNIT:g} OR {longer})) "
            f"ELSE count(*) FILTER (WHERE {timed} AND ({longer} OR ({shorter}))) END",
            f"runs last more than {OTHER_UNIT:g} times, or less than 1/{OTHER_UNIT:g} of, the time from start to end: "
            "see whether the duration is in another unit",
        )
    if {"start_time_s", "end_time_s"} <= have:
        yield Question(
            "in the future",
            "warning",
            count_where(f"{FINISHED} AND greatest(start_time_s, end_time_s) > epoch(now()) + {DAY_S}"),
            "runs ended in the future: see whether their moments and their zone are read right",
        )
    yield Question(
        "units disagree",
        "warning",
        _flag(MOMENT_UNIT),
        "runs have moments in another unit than their format or column has (ms for s, say); each was read in its own",
    )
    yield Question(
        "years of two digits",
        "info",
        _flag(SHORT_YEAR),
        "runs have years of two digits: 00 to 68 are read as 2000 to 2068, 69 to 99 as 1969 to 1999",
    )
    yield Question(
        "zero time stamp", "warning", _flag(ZERO_TIME), "runs with a time stamp of 0, which means 'not known'"
    )
    if "duration_s" in have:
        yield Question("zero duration", "info", count_where("duration_s = 0"), "runs with a duration of 0 s")


def _missing(have: set[str]) -> Iterable[Question]:
    names = [name for name in ("job_name", "task_name") if name in have]
    if names:
        nothing = " AND ".join(f"{name} IS NULL" for name in names)
        yield Question("no name", "warning", count_where(nothing), "runs without a job or task name")
    if "duration_s" in have:
        yield Question("no duration", "warning", count_where("duration_s IS NULL"), "runs without a duration")
    if "requested_gpu_percent" in have:
        yield Question(
            "no GPU request",
            "info",
            count_where("requested_gpu_percent IS NULL"),
            "runs request no GPU (stored as missing, not 0)",
        )
    if {"requested_gpu_percent", "gpu_usage_percent"} <= have:
        yield Question(
            "GPU used, not requested",
            "warning",
            count_where("requested_gpu_percent IS NULL AND gpu_usage_percent > 0"),
            "runs use a GPU they did not request (usual when a job's tasks are joined)",
        )


def _over_request(have: set[str]) -> Iterable[Question]:
    for usage, request in REQUESTS:
        if {usage, request} <= have:
            what = request.split("_")[1]
            yield Question(
                f"{what} over request",
                "info",
                count_where(f"{usage} > {request}"),
                f"runs use more {_spelt(what)} than they requested",
            )


def _not_measured(have: set[str]) -> Iterable[Question]:
    """Cores and GPUs that no run uses at all: a scheduler that gathers no accounting writes 0 for each."""
    for usage, request in REQUESTS[:2]:
        if {usage, request, "duration_s"} <= have:
            known = f"{FINISHED} AND {request} > 0 AND duration_s > {MINUTE_S} AND {usage} IS NOT NULL"
            count, used = count_where(known), count_where(f"{usage} > 0")
            what = _spelt(request.split("_")[1])
            yield Question(
                f"no {what} used",
                "warning",
                f"CASE WHEN {used} = 0 AND {count} >= {MANY_RUNS} THEN {count} ELSE 0 END",
                f"runs use no {what} at all, as no run does: see whether that was measured before a request is lowered",
            )


LEAST_BYTES = 64.0 * KIB
"""No process holds less memory: a few pages alone are more."""


def _units_of_memory(have: set[str]) -> Iterable[Question]:
    """Memory that is in another unit than its format has it, as the most of the runs tell."""
    used, requested = REQUESTS[2]
    if used in have:
        yield _of_most(
            "unit of memory",
            f"{used} > 0",
            f"{used} < {LEAST_BYTES!r}",
            "runs used less memory than any process holds: see whether its unit is right",
        )
    if {used, requested} <= have:
        yield _of_most(
            "unit of requests",
            f"{used} > 0 AND {requested} > 0",
            f"{used} > {OTHER_UNIT:g} * {requested}",
            f"runs use more than {OTHER_UNIT:g} times the memory that they request, as most do: see whether one of "
            "both is in another unit",
        )


def _of_most(name: str, known: str, strange: str, message: str) -> Question:
    """A warning of rows that are strange, where more than half of those that are known are."""
    count = count_where(f"{known} AND {strange}")
    return Question(name, "warning", f"CASE WHEN 2 * {count} > {count_where(known)} THEN {count} ELSE 0 END", message)


def _over_capacity(capacities: Iterable[Capacity], have: set[str]) -> Iterable[Question]:
    for capacity in capacities:
        if {capacity.usage, capacity.column} <= have:
            what = capacity.usage.removesuffix("_percent").removesuffix("_bytes").replace("_", " ")
            limit = f"{quoted(capacity.column)} * {factor(capacity.unit)!r}"
            yield Question(
                f"{what} over capacity",
                "warning",
                count_where(f"{capacity.usage} > {limit}"),
                f"runs with {_spelt(what)} above what their machine has",
            )


def _spelt(what: str) -> str:
    return what.replace("cpu", "CPU").replace("gpu", "GPU")


def _duplicates(declared: Format, columns: Sequence[Column]) -> str:
    return f"count(*) - count(DISTINCT {row_hash(declared, columns)})"


def row_hash(declared: Format, columns: Sequence[Column]) -> str:
    """The SQL of a 64-bit hash of a row's values, without columns that only number the rows."""
    names = ", ".join(quoted(column.name) for column in columns if column.name not in declared.row_numbers)
    return f"hash({names})"


def counts_of(
    cursor: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[Column], known: IngestReport | None = None
) -> Counts:
    """What a job table holds; counting names takes seconds for ten million, so those of `known` are taken."""
    names = {column.name for column in columns}
    distinct = [f'count(DISTINCT "{name}")' if name in names else "NULL" for name in ("job_name", "user")]
    if known is not None and (known.jobs, known.users) != (None, None):
        distinct = ["NULL" if count is None else str(int(count)) for count in (known.jobs, known.users)]
    sql = ", ".join(["count(*)", count_where(FINISHED), _flag(STILL_RUNNING), _flag(UNSTARTED), *distinct])
    runs, finished, running, never, jobs, users = one(cursor, f"SELECT {sql} FROM {relation}")
    tells = bool(names & {"status", KILLS})
    return Counts(runs, finished, running, never, jobs, users, _ended(cursor, relation, names) if tells else (), tells)


def _ended(cursor: duckdb.DuckDBPyConnection, relation: str, names: set[str]) -> tuple[tuple[str, int], ...]:
    """Cause -> runs, in the order of `CAUSES`; those that still run, wait or were given up before are none."""
    status = "CAST(status AS VARCHAR)" if "status" in names else "''"
    killed = f"coalesce({KILLS}, 0) > 0" if KILLS in names else "FALSE"
    found = dict.fromkeys(CAUSES[: CAUSES.index(FAILED) + 1], 0)
    never = f"({FLAGS} & {UNSTARTED}) > 0"
    sql = f"SELECT {status}, {killed}, {never}, count(*) FROM {relation} WHERE NOT {FINISHED} OR {killed} GROUP BY ALL"
    for word, for_memory, unstarted, runs in cursor.execute(sql).fetchall():
        cause = OUT_OF_MEMORY if for_memory else cause_of(word or "")
        if cause in found and not (unstarted and cause == KILLED):
            found[cause] += runs
    return tuple(found.items())


HISTOGRAM_BINS = 24
TOP_VALUES = 5
EXACT_UP_TO_ROWS = 250_000
"""Above this, quantiles come from a t-digest (DuckDB's approx_quantile), distinct numbers from a HyperLogLog."""
MOST_COUNTED = 2_000_000
"""Of more rows than that, more distinct texts of a column are estimated, too: counting them takes a gigabyte."""
COUNTED_AT_ONCE = 8
"""Columns of a scan: to count the different values of one, DuckDB takes 7 MB a core, however few they are."""
MOSTLY_UNIQUE_SHARE = 0.5
"""A text column with more distinct values than this share of its rows has no telling top values."""

QUANTILES = "[0.01, 0.5, 0.95, 0.99]"
NAN = math.nan
NO_COUNTS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def column_profiles(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, distinct: Mapping[str, int | None], names: Sequence[str] = ()
) -> tuple[ColumnProfile, ...]:
    """One profile per column, or per one of some names: a scan of some for the figures, one per column for its bars."""
    columns = [column for column in entry.columns if not names or column.name in names]
    exact = entry.dataset.rows <= EXACT_UP_TO_ROWS
    figures: list[Any] = []
    for at in range(0, len(columns), COUNTED_AT_ONCE):
        some = columns[at : at + COUNTED_AT_ONCE]
        items = [item for column in some for item in _items(column, exact, distinct.get(column.name))]
        figures += one(cursor, f"SELECT {', '.join(items)} FROM {entry.relation}")
    for place, column in enumerate(columns):
        known, counted = distinct.get(column.name), 5 * place + 1
        if not (exact or column.numeric) and known is None and figures[counted] <= MOST_COUNTED:
            (figures[counted],) = one(cursor, f"SELECT count(DISTINCT {quoted(column.name)}) FROM {entry.relation}")
    per_column = [figures[at : at + 5] for at in range(0, len(figures), 5)]
    return tuple(_profile(cursor, entry, column, row) for column, row in zip(columns, per_column, strict=True))


def time_coverage(cursor: duckdb.DuckDBPyConnection, entry: Entry, bins: int) -> TimeCoverage:
    """Rows started per bin of equal width; 0 = bins of a round width, about a hundred.

    Raises SettingsError when `bins` is out of bounds.
    """
    if not 0 <= bins <= 10_000:
        raise SettingsError(f"bins is {bins}; use 1 to 10,000, or 0 for round ones")
    column = entry.column("start_time_s")
    if column is None:
        return TimeCoverage(np.zeros(0), NO_COUNTS, entry.dataset.rows)
    name = quoted(column.name)
    low, high, present = one(cursor, f"SELECT min({name}), max({name}), count({name}) FROM {entry.relation}")
    if not present:
        return TimeCoverage(np.zeros(0), NO_COUNTS, entry.dataset.rows)
    span = float(high) - float(low)
    if not bins:
        low, high, bins = round_bins(float(low), float(high))
    elif not span:
        high = low + 1.0
    counts = _counts(cursor, entry, column, low, high, bins)
    return TimeCoverage(np.linspace(low, high, bins + 1), counts, entry.dataset.rows - int(present), span)


def round_bins(low: float, high: float) -> tuple[float, float, int]:
    """Both ends and the number of bins of the shortest round width that needs no more than enough of them."""
    for width in ROUND_S:
        first, last = math.floor(low / width), math.floor(high / width) + 1
        if last - first <= ENOUGH_BINS:
            return first * width, last * width, last - first
    return low, high, ENOUGH_BINS


def _items(column: Column, exact: bool, known: int | None) -> Sequence[str]:
    name = quoted(column.name)
    distinct = f"count(DISTINCT {name})" if exact else f"approx_count_distinct({name})"
    distinct = distinct if known is None else str(int(known))
    if not column.numeric:
        return (f"count({name})", distinct, "NULL", "NULL", "NULL")
    value = f"CAST({name} AS DOUBLE)"
    quantiles = f"quantile_cont({value}, {QUANTILES})" if exact else f"approx_quantile({value}, {QUANTILES})"
    return (f"count({name})", distinct, f"min({value})", f"max({value})", quantiles)


def _profile(cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, figures: Sequence[Any]) -> ColumnProfile:
    present, distinct, low, high, quantiles = figures
    rows = entry.dataset.rows
    p1, median, p95, p99 = quantiles or (NAN, NAN, NAN, NAN)
    return ColumnProfile(
        column=column,
        rows=rows,
        missing_share=1 - present / rows if rows else 0.0,
        distinct=min(int(distinct), int(present)),
        minimum=NAN if low is None else float(low),
        median=float(median),
        p95=float(p95),
        maximum=NAN if high is None else float(high),
        top=() if column.numeric else _top(cursor, entry, column, int(distinct)),
        histogram=_histogram(cursor, entry, column, p1, p99) if column.numeric and present else NO_COUNTS,
    )


def _histogram(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, low: float, high: float
) -> NDArray[np.int64]:
    return _counts(cursor, entry, column, low, high if high > low else low + 1.0, HISTOGRAM_BINS)


def _counts(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, low: float, high: float, bins: int
) -> NDArray[np.int64]:
    value = f"CAST({quoted(column.name)} AS DOUBLE)"
    result = cursor.execute(
        f"SELECT least(CAST(floor(({value} - ?) / ? * ?) AS BIGINT), ?) AS bin, count(*) FROM {entry.relation} "
        f"WHERE {value} BETWEEN ? AND ? GROUP BY bin",
        [low, high - low, bins, bins - 1, low, high],
    ).fetchall()
    counts = np.zeros(bins, dtype=np.int64)
    for position, count in result:
        counts[position] = count
    return counts


def _top(cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, distinct: int) -> tuple[tuple[str, int], ...]:
    if entry.dataset.rows > EXACT_UP_TO_ROWS and distinct > MOSTLY_UNIQUE_SHARE * entry.dataset.rows:
        return ()
    name = quoted(column.name)
    result = cursor.execute(
        f"SELECT {name}, count(*) AS n FROM {entry.relation} WHERE {name} IS NOT NULL "
        f"GROUP BY {name} ORDER BY n DESC, {name} LIMIT {TOP_VALUES}"
    ).fetchall()
    return tuple((str(value), int(count)) for value, count in result)
