"""A declared format and a source's columns -> the SELECT that makes the job table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workprof.core.units import UNITS_OF, factor
from workprof.formats import values
from workprof.formats.declare import NUMBER, PLAIN, TEXT, Format, Rule, SourceColumn
from workprof.formats.fields import FIELDS, TIME_FIELDS
from workprof.store.connection import quoted, text
from workprof.store.relation import INTERVAL, TIMESTAMP
from workprof.store.reports import Column

ROW_ID = "row_id"
FINISHED = "finished"
FLAGS = "flags"
DERIVED = "duration"
"""Source of a duration that is end - start."""
FIELD_ORDER = {name: position for position, name in enumerate(FIELDS)}
RESERVED = (ROW_ID, "rowid", FINISHED, FLAGS)

NOT_FINITE, ZERO_TIME, STILL_RUNNING, UNSTARTED, OPEN_TIME, SHORT_YEAR = 1, 2, 4, 8, 16, 32
"""Bits of `flags`: what was in a row before its value became NULL, rows without an end or a start, rows whose end (or
start) is written as infinite, and rows with a year of two digits."""


@dataclass(frozen=True)
class Output:
    """A column of the job table and the SQL that makes it from the source's columns.

    Attributes:
        sql: over the source's columns, and over `read_name` where its source is a text.
        reads: SQL of the number that a text says; '' = the source is no text. A text that says none is a missing value,
            and of `TIMING` a rejected row.
    """

    column: Column
    sql: str
    reads: str = ""


def read_name(name: str) -> str:
    """Return the name under which the number of a column's text is known while the columns are made."""
    return quoted(f"read {name}")


@dataclass(frozen=True)
class Plan:
    """Everything that the job table's SELECT holds; `nulls` are the texts that mean "no value"."""

    outputs: tuple[Output, ...]
    finished: str
    flags: str
    nulls: tuple[str, ...] = ("",)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The stored columns, without the store's own."""
        return tuple(output.column for output in self.outputs)

    @property
    def texts(self) -> tuple[Output, ...]:
        """The columns that are read from texts."""
        return tuple(output for output in self.outputs if output.reads)

    def select(self, source: str) -> str:
        """Return the SELECT over a source relation; after the columns, `unread_0` ...: texts that say no number."""
        read = "".join(f", {output.reads} AS {read_name(output.column.name)}" for output in self.texts)
        items = [f"{output.sql} AS {quoted(output.column.name)}" for output in self.outputs]
        items += [f"{self.finished} AS {FINISHED}", f"CAST({self.flags} AS UTINYINT) AS {FLAGS}"]
        nulls = ", ".join(text(null) for null in dict.fromkeys(("", *self.nulls)))  # a Parquet file has them as texts
        for at, output in enumerate(self.texts):
            number, cell = read_name(output.column.name), quoted(output.column.source)
            said = f" AND NOT {values.no_moment(cell)}" if output.column.name in TIME_FIELDS else ""
            items.append(
                f"CASE WHEN {number} IS NULL AND trim({cell}) NOT IN ({nulls}){said} THEN {cell} END AS {unread(at)}"
            )
        return f"SELECT {', '.join(items)} FROM {f'(SELECT *{read} FROM {source})' if read else source}"


def unread(at: int) -> str:
    """Return the name of a column that holds what could not be read of the at-th text."""
    return f"unread_{at}"


def compile_plan(
    declared: Format,
    rules: Sequence[Rule],
    columns: Sequence[SourceColumn],
    constants: Mapping[str, str],
    decimal: str = ".",
) -> Plan:
    """Return the plan: fields by rule, then fields filled with constants, then the further columns.

    Args:
        declared: the format.
        rules: which columns become which fields; those that the source lacks are passed over.
        columns: of the source.
        constants: text field -> its value in every row, where no column says it.
        decimal: sign of numbers in texts.
    """
    types = {column.name: column.type for column in columns}
    present = [rule for rule in rules if rule.source in types]
    outputs = [_field(rule, types[rule.source], declared, decimal) for rule in present]
    made = {output.column.name: output for output in outputs}
    if declared.duration_from_times and {"start_time_s", "end_time_s"} <= made.keys():
        duration = _duration(made["start_time_s"].sql, made["end_time_s"].sql)
        own = made.get("duration_s")
        if own is None:
            outputs.append(duration)
        else:
            filled = replace(own, sql=f"coalesce({own.sql}, {duration.sql})")
            outputs = [filled if output is own else output for output in outputs]
    names = {output.column.name for output in outputs}
    outputs += [
        Output(Column(field, TEXT, "", "", numeric=False), text(value))
        for field, value in constants.items()
        if field not in names
    ]
    outputs += _further(declared, present, columns, {output.column.name.lower() for output in outputs}, decimal)
    outputs.sort(key=lambda output: FIELD_ORDER.get(output.column.name, len(FIELD_ORDER)))
    return Plan(tuple(outputs), _finished(declared, made), _flags(declared, present, types), declared.nulls)


def number_sql(name: str, kind: str, unit: str) -> str:
    """Return a finite number in workprof's unit, else NULL."""
    column = quoted(name)
    if kind == TIMESTAMP:
        return f"CASE WHEN {column} < TIMESTAMPTZ '9999-01-01' THEN nullif(epoch({column}), 0) END"
    if kind == INTERVAL:
        return f"epoch({column})"
    scale = 1.0 if unit == PLAIN else factor(unit)
    value = column if kind == NUMBER else f"CAST({column} AS DOUBLE)"
    scaled = value if scale == 1.0 else f"{value} * {scale!r}"
    return scaled if kind in ("BIGINT", "BOOLEAN") else f"CASE WHEN isfinite({value}) THEN {scaled} END"


def text_sql(name: str, quantity: str, unit: str, declared: Format, decimal: str) -> str:
    """Return the number that a text says.

    Args:
        name: of the column.
        quantity: unit of the field that it becomes, or `values.TIME`.
        unit: of a bare number.
        declared: the format: its sizes count in 1024s or 1000s.
        decimal: sign of the file.
    """
    scale = 1.0 if unit == PLAIN else factor(unit)
    return values.number(quoted(name), quantity, scale, declared.size_base, decimal)


def _field(rule: Rule, kind: str, declared: Format, decimal: str) -> Output:
    field = FIELDS[rule.field]
    if field.type == TEXT:
        sql = quoted(rule.source) if kind == TEXT else f"CAST({quoted(rule.source)} AS VARCHAR)"
        return Output(Column(field.name, TEXT, "", rule.source, numeric=False), sql)
    day_first = rule.unit == values.DAY_FIRST
    unit = "s" if kind in (TIMESTAMP, INTERVAL) or day_first else rule.unit
    if kind == TEXT:
        of_time = values.TIME_DAY_FIRST if day_first else values.TIME
        quantity = of_time if rule.field in TIME_FIELDS else field.unit
        sql, reads = read_name(field.name), text_sql(rule.source, quantity, unit, declared, decimal)
    else:
        sql, reads = number_sql(rule.source, kind, unit), ""
    if rule.field in declared.zero_is_missing:
        sql = f"nullif({sql}, 0)"
    return Output(Column(field.name, NUMBER, field.unit, rule.source, numeric=True), sql, reads)


def _duration(start: str, end: str) -> Output:
    sql = f"CASE WHEN {end} >= {start} THEN {end} - {start} END"
    return Output(Column("duration_s", NUMBER, "s", DERIVED, numeric=True), sql)


def _further(
    declared: Format, present: Sequence[Rule], columns: Sequence[SourceColumn], taken: set[str], decimal: str
) -> list[Output]:
    used = {rule.source for rule in present if not rule.keep_source}
    units = dict(declared.units)
    outputs = []
    for column in columns:
        if column.name in used:
            continue
        name = column.name
        while name.lower() in taken or name.lower() in RESERVED:
            name += "_2"
        taken.add(name.lower())
        truth = name.startswith(declared.truth_prefix)
        unit = units.get(column.name, "")
        if column.type == TEXT and declared.declared_type(column.name) == NUMBER:
            scale = factor(unit) if unit else 1.0
            quantity = next((own for own, known in UNITS_OF.items() if unit in known), "") if unit else ""
            reads = text_sql(column.name, quantity, unit or PLAIN, declared, decimal)
            made = Column(name, NUMBER, unit, column.name, numeric=True, truth=truth)
            outputs.append(Output(made, f"{read_name(name)} / {scale!r}" if unit else read_name(name), reads))
            continue
        if column.type == TEXT:
            outputs.append(Output(Column(name, TEXT, "", column.name, numeric=False, truth=truth), quoted(column.name)))
            continue
        kind = column.type if column.type in ("BIGINT", "BOOLEAN") else NUMBER
        sql = quoted(column.name) if kind == column.type != NUMBER else number_sql(column.name, column.type, PLAIN)
        unit = "s" if column.type in (TIMESTAMP, INTERVAL) else unit
        outputs.append(Output(Column(name, kind, unit, column.name, numeric=True, truth=truth), sql))
    return outputs


def _finished(declared: Format, made: Mapping[str, Output]) -> str:
    if "status" not in made or not declared.finished:
        return "TRUE"
    statuses = ", ".join(text(status) for status in declared.finished)
    return f"coalesce(lower(trim({made['status'].sql})) IN ({statuses}), TRUE)"


def _flags(declared: Format, present: Sequence[Rule], types: Mapping[str, str]) -> str:
    numbers = [name for name, kind in types.items() if kind == NUMBER]
    zeros = [
        quoted(rule.source)
        for rule in present
        if rule.field in declared.zero_is_missing
        and rule.field in TIME_FIELDS
        and types[rule.source] in (NUMBER, "BIGINT")
    ]
    times = [(rule, types[rule.source]) for rule in present if rule.field in TIME_FIELDS]
    bits = {
        NOT_FINITE: [f"NOT isfinite({quoted(name)})" for name in numbers],
        ZERO_TIME: [f"{name} = 0" for name in zeros],
        OPEN_TIME: [_is_open(rule, kind) for rule, kind in times if rule.field != "submit_time_s"],
        SHORT_YEAR: [_has_short_year(quoted(rule.source)) for rule, kind in times if kind == TEXT],
    }
    return (
        " + ".join(
            f"(CASE WHEN {' OR '.join(conditions)} THEN {bit} ELSE 0 END)"
            for bit, conditions in bits.items()
            if conditions
        )
        or "0"
    )


def _is_open(rule: Rule, kind: str) -> str:
    """Return the SQL of whether a start or an end is written as one that does not come; an end may be 'epoch' too."""
    cell = quoted(rule.source)
    if kind == TEXT:
        words = (values.OPEN, values.NOT_KNOWN) if rule.field == "end_time_s" else (values.OPEN,)
        return f"CASE WHEN {read_name(rule.field)} IS NULL THEN {values.no_moment(cell, *words)} ELSE FALSE END"
    if kind == TIMESTAMP:
        never = f"NOT isfinite({cell}) OR {cell} >= TIMESTAMPTZ '9999-01-01'"
        return f"{never} OR {cell} = TIMESTAMPTZ '1970-01-01'" if rule.field == "end_time_s" else never
    return f"isinf({cell})" if kind == NUMBER else "FALSE"


def _has_short_year(cell: str) -> str:
    """Return the SQL of whether a moment has a year of two digits; most are ISO 8601, which a look at one tells."""
    return f"CASE WHEN substr({cell}, 5, 1) = '-' THEN FALSE ELSE regexp_matches({cell}, '{values.TWO_DIGITS}') END"
