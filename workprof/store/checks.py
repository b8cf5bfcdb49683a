"""Findings about the rows of a job table, with counts, from one scan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workprof.formats.declare import Capacity, Format
from workprof.formats.fields import ABSURD_ABOVE, REQUESTS, USAGE_FIELDS
from workprof.store.compile import FINISHED, FLAGS, NOT_FINITE, ZERO_TIME
from workprof.store.connection import quoted
from workprof.store.reports import Check, Column
from workprof.units import factor


@dataclass(frozen=True)
class Question:
    """A check before it is counted: `sql` is an aggregate that returns how many rows it concerns."""

    name: str
    level: str
    sql: str
    message: str


def count_where(condition: str) -> str:
    """Return the aggregate that counts rows for which a condition holds."""
    return f"count(*) FILTER (WHERE {condition})"


def questions(declared: Format, columns: Sequence[Column], duplicates: bool) -> tuple[Question, ...]:
    """Return the checks that make sense for the columns there are, in the order in which people read them."""
    have = {column.name for column in columns}
    found = [
        *_times(have),
        *_missing(have),
        *_usage(have, declared.summed),
        *_over_request(have),
        *_over_capacity(declared.capacities, have),
    ]
    found.append(
        Question(
            "not finite", "warning", _flag(NOT_FINITE), "rows with NaN or an infinity; those values became 'no value'"
        )
    )
    if duplicates:
        found.append(
            Question(
                "duplicates",
                "warning",
                _duplicates(declared, columns),
                "rows that repeat an earlier row in every column",
            )
        )
    if "status" in have:
        found.append(
            Question(
                "not finished",
                "info",
                count_where(f"NOT {FINISHED}"),
                "rows of jobs that did not finish; kept, left out of every method",
            )
        )
    return tuple(found)


def answered(asked: Sequence[Question], counts: Sequence[int]) -> tuple[Check, ...]:
    """Return the checks that found something."""
    return tuple(
        Check(question.name, question.level, count, f"{count:,} {question.message}")
        for question, count in zip(asked, counts, strict=True)
        if count
    )


def _flag(bit: int) -> str:
    return count_where(f"({FLAGS} & {bit}) > 0")


def _times(have: set[str]) -> Iterable[Question]:
    if {"start_time_s", "end_time_s"} <= have:
        yield Question(
            "end before start", "warning", count_where("end_time_s < start_time_s"), "rows end before they start"
        )
    yield Question(
        "zero time stamp", "warning", _flag(ZERO_TIME), "rows with a time stamp of 0, which means 'not known'"
    )
    if "duration_s" in have:
        yield Question("negative duration", "warning", count_where("duration_s < 0"), "rows with a negative duration")


def _missing(have: set[str]) -> Iterable[Question]:
    names = [name for name in ("job_name", "task_name") if name in have]
    if names:
        nothing = " AND ".join(f"{name} IS NULL" for name in names)
        yield Question("no name", "warning", count_where(nothing), "rows without a job or task name")
    if "duration_s" in have:
        yield Question("no duration", "warning", count_where("duration_s IS NULL"), "rows without a duration")
    if "requested_gpu_percent" in have:
        yield Question(
            "no GPU request",
            "info",
            count_where("requested_gpu_percent IS NULL"),
            "rows that request no GPU (not requested is not zero)",
        )
    if {"requested_gpu_percent", "gpu_usage_percent"} <= have:
        yield Question(
            "GPU used, not requested",
            "warning",
            count_where("requested_gpu_percent IS NULL AND gpu_usage_percent > 0"),
            "rows use a GPU that they did not request; a join across the tasks of a job makes such rows",
        )


def _usage(have: set[str], summed: bool) -> Iterable[Question]:
    used = [name for name in USAGE_FIELDS if name in have]
    if used:
        negative = " OR ".join(f"{name} < 0" for name in used)
        yield Question("negative usage", "error", count_where(negative), "rows with a negative usage")
    absurd = [f"{name} > {limit!r}" for name, limit in ABSURD_ABOVE.items() if name in have]
    if absurd and not summed:
        yield Question(
            "absurd usage",
            "error",
            count_where(" OR ".join(absurd)),
            "rows use more than any machine has; is a unit wrong?",
        )


def _over_request(have: set[str]) -> Iterable[Question]:
    for usage, request in REQUESTS:
        if {usage, request} <= have:
            what = request.split("_")[1]
            yield Question(
                f"{what} over request",
                "info",
                count_where(f"{usage} > {request}"),
                f"rows use more {what} than they requested",
            )


def _over_capacity(capacities: Iterable[Capacity], have: set[str]) -> Iterable[Question]:
    for capacity in capacities:
        if {capacity.usage, capacity.column} <= have:
            what = capacity.usage.removesuffix("_percent").removesuffix("_bytes").replace("_", " ")
            limit = f"{quoted(capacity.column)} * {factor(capacity.unit)!r}"
            yield Question(
                f"{what} over capacity",
                "warning",
                count_where(f"{capacity.usage} > {limit}"),
                f"rows with {what} above what their machine has",
            )


def _duplicates(declared: Format, columns: Sequence[Column]) -> str:
    return f"count(*) - count(DISTINCT {row_hash(declared, columns)})"


def row_hash(declared: Format, columns: Sequence[Column]) -> str:
    """Return the SQL of a 64-bit hash of a row's values, without columns that only number the rows."""
    names = ", ".join(quoted(column.name) for column in columns if column.name not in declared.row_numbers)
    return f"hash({names})"
