"""A declared format and a source's columns -> the SELECT that makes the job table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workprof.core.units import FIRST_EPOCH_S, LAST_EPOCH_S, UNITS_OF, factor
from workprof.formats import values
from workprof.formats.declare import NUMBER, PLAIN, TEXT, Format, Rule, SourceColumn
from workprof.formats.fields import (
    BOUNDS,
    CPUS,
    FIELDS,
    LARGEST_NUMBER,
    OF_QUANTITY,
    REQUEST,
    TIME_FIELDS,
    TIMING,
    TRUTH_FIELDS,
    Bounds,
)
from workprof.store.connection import quoted, text
from workprof.store.relation import AS_USUAL, INTERVAL, TIMESTAMP, CsvDialect
from workprof.store.reports import Column

ROW_ID = "row_id"
FINISHED = "finished"
FLAGS = "flags"
DERIVED = "end - start"
"""Source of a duration that is end - start."""
FIELD_ORDER = {name: position for position, name in enumerate(FIELDS)}
RESERVED = (ROW_ID, "rowid", FINISHED, FLAGS)

NOT_FINITE, ZERO_TIME, STILL_RUNNING, UNSTARTED, OPEN_TIME, SHORT_YEAR, STRANGE_TIME, OTHER_UNIT = (
    *(1, 2, 4, 8, 16, 32, 64, 128),
)
"""Bits of `flags`: what was in a row before its value became NULL, rows without an end or a start, rows whose end (or
start) is written as infinite, with a year of two digits, and with a start, an end or a duration out of bounds, and
with a moment in another unit than its column's."""


@dataclass(frozen=True)
class Output:
    """A column of the job table and the SQL that makes it from the source's columns."""

    column: Column
    sql: str  # over the source's columns, and over the names of what is read
    # SQL of the number that the source says; '' = it is none. A cell that says none, or one that is out of bounds, is a
    # missing value; a text of `TIMING` that says none makes a rejected row
    reads: str = ""
    is_text: bool = False  # the source is a text
    in_its_unit: str = ""  # SQL of a moment in its column's unit, over the number that was read
    strange: str = ""  # SQL of whether the number that was read is out of bounds

    def unread(self, nulls: str) -> str:
        """The SQL of whether a text says no number; `nulls` are the texts that mean "no value"."""
        cell = quoted(self.column.source)
        said = f" AND NOT {values.no_moment(cell)}" if self.column.name in TIME_FIELDS else ""
        return f"CASE WHEN {_read(self.column.name)} IS NULL THEN trim({cell}) NOT IN ({nulls}){said} ELSE FALSE END"


def _read(name: str) -> str:
    """The name under which the number of a column's text is known while the columns are made."""
    return quoted(f"read {name}")


def _moment(name: str) -> str:
    return quoted(f"moment {name}")


def _is_strange(name: str) -> str:
    return quoted(f"strange {name}")


def _is_unread(name: str) -> str:
    return quoted(f"unread {name}")


@dataclass(frozen=True)
class Plan:
    """Everything that the job table's SELECT holds; `nulls` are the texts that mean "no value"."""

    outputs: tuple[Output, ...]
    finished: str
    flags: str
    nulls: tuple[str, ...] = ("",)
    bounded: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        """The stored columns, without the store's own."""
        return tuple(output.column for output in self.outputs)

    def select(self, source: str) -> str:
        """The SELECT over a source relation; the last column, `CELLS`, lists the cells that say no value.

        What is read of a cell is named before it is used: most uses of a number would repeat how it is read.
        """
        nulls = ", ".join(text(null) for null in dict.fromkeys(("", *self.nulls)))  # a Parquet file has them as texts
        layers = (
            [(_read(output.column.name), output.reads) for output in self.outputs],
            [(_moment(output.column.name), output.in_its_unit) for output in self.outputs],
            [(_is_strange(output.column.name), output.strange) for output in self.outputs],
            [
                (_is_unread(output.column.name), output.unread(nulls))
                for output in self.outputs
                if output.is_text and self.bounded
            ],
        )
        for layer in layers:
            named = "".join(f", {sql} AS {name}" for name, sql in layer if sql)
            source = f"(SELECT *{named} FROM {source})" if named else source
        items = [f"{output.sql} AS {quoted(output.column.name)}" for output in self.outputs]
        items += [f"{self.finished} AS {FINISHED}", f"CAST({self.flags} AS UTINYINT) AS {FLAGS}"]
        if self.bounded:
            items.append(self._cells())
        return f"SELECT {', '.join(items)} FROM {source}"

    def _cells(self) -> str:
        """The SQL of the list of a row's cells that say no value, NULL where there is none."""
        found = [
            (condition, at, kind, quoted(output.column.source))
            for at, output in enumerate(self.outputs)
            for kind, there, condition in (
                (UNREAD, output.is_text, _is_unread(output.column.name)),
                (STRANGE, output.strange, _is_strange(output.column.name)),
            )
            if there
        ]
        if not found:
            return f"CAST(NULL AS STRUCT(output INTEGER, kind INTEGER, cell VARCHAR)[]) AS {CELLS}"
        each = ", ".join(
            f"CASE WHEN {condition} THEN {{'output': {at}, 'kind': {kind}, 'cell': CAST({cell} AS VARCHAR)}} END"
            for condition, at, kind, cell in found
        )
        listed = f"list_filter([{each}], lambda each: each IS NOT NULL)"
        return f"CASE WHEN {' OR '.join(condition for condition, *_ in found)} THEN {listed} END AS {CELLS}"


CELLS = "cells_"
UNREAD, STRANGE = 0, 1
"""Kinds of cells that say no value: no number, and one that is out of bounds."""


def compile_plan(
    declared: Format,
    rules: Sequence[Rule],
    columns: Sequence[SourceColumn],
    constants: Mapping[str, str],
    dialect: CsvDialect = AS_USUAL,
    *,
    bounded: bool = True,
) -> Plan:
    """The plan: fields by rule, then fields filled with constants, then the further columns.

    Rules whose columns the source lacks are passed over; `constants` are texts of every row, where no column says them.
    If `bounded`, cells that are out of bounds are left out, and listed with those that cannot be read.
    """
    types = {column.name: column.type for column in columns}
    present = [rule for rule in rules if rule.source in types]
    many = _many_machines(declared, present, types)
    outputs = [_field(rule, types[rule.source], declared, dialect, many, bounded=bounded) for rule in present]
    cpus = next((output.reads for output in outputs if output.column.name == CPUS), "NULL")
    outputs = [
        replace(output, reads=_of_all_cores(output, cpus))
        if output.is_text and rule.field == REQUEST and not rule.keep_source
        else output
        for output, rule in zip(outputs, present, strict=True)
    ]
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
    outputs += _further(declared, present, columns, {output.column.name.lower() for output in outputs}, dialect)
    outputs.sort(key=lambda output: FIELD_ORDER.get(output.column.name, len(FIELD_ORDER)))
    return Plan(
        tuple(outputs), _finished(declared, made), _flags(declared, present, types, outputs), declared.nulls, bounded
    )


def _of_all_cores(request: Output, cpus: str) -> str:
    """The SQL of a request whose texts may be of each core ('4Gc'): NULL where the CPUs are not known."""
    per = values.per(quoted(request.column.source))
    return f"{request.reads} * CASE {per} WHEN 'c' THEN ({cpus}) / 100 ELSE 1 END"


def number_sql(name: str, kind: str, unit: str) -> str:
    """A finite number in workprof's unit, else NULL."""
    column = quoted(name)
    if kind == TIMESTAMP:
        never = f"{column} >= TIMESTAMPTZ '9999-01-01' OR {column} < TIMESTAMPTZ '0002-01-01'"
        return f"CASE WHEN NOT ({never}) THEN nullif(epoch({column}), 0) END"
    if kind == INTERVAL:
        return f"epoch({column})"
    scale = 1.0 if unit == PLAIN else factor(unit)
    value = f"CAST({column} AS DOUBLE)"  # a DECIMAL times a factor would overflow
    scaled = value if scale == 1.0 else f"{value} * {scale!r}"
    return scaled if kind in ("BIGINT", "BOOLEAN") else f"CASE WHEN isfinite({value}) THEN {scaled} END"


def text_sql(name: str, quantity: str, unit: str, declared: Format, dialect: CsvDialect) -> str:
    """The number that a text says.

    `quantity` is the unit of the field that it becomes, or `values.TIME`, `unit` that of a bare number; the format
    counts sizes in 1024s or 1000s.
    """
    scale = 1.0 if unit == PLAIN else factor(unit)
    cell = values.ungrouped(quoted(name), dialect.grouped.get(name, ""), dialect.decimal)
    return values.number(cell, quantity, scale, declared.size_base, dialect.decimal)


def _field(rule: Rule, kind: str, declared: Format, dialect: CsvDialect, many: str, *, bounded: bool) -> Output:
    field = FIELDS[rule.field]
    if field.type == TEXT:
        sql = quoted(rule.source) if kind == TEXT else f"CAST({quoted(rule.source)} AS VARCHAR)"
        if rule.field == "status" and declared.before_status:
            sql = f"regexp_replace({sql}, {text(declared.before_status)}, '')"
        if rule.words:
            each = " ".join(f"WHEN {text(said)} THEN {text(word)}" for said, word in rule.words)
            sql = f"CASE lower(trim({sql})) {each} ELSE {sql} END"
        return Output(Column(field.name, TEXT, "", rule.source, numeric=False), sql)
    day_first = rule.unit == values.DAY_FIRST
    unit = "s" if kind in (TIMESTAMP, INTERVAL) or day_first else rule.unit
    if kind == TEXT:
        of_time = values.TIME_DAY_FIRST if day_first else values.TIME
        quantity = values.TRUTH if rule.field in TRUTH_FIELDS else field.unit
        quantity = of_time if rule.field in TIME_FIELDS else quantity
        reads = text_sql(rule.source, quantity, unit, declared, dialect)
    else:
        reads = number_sql(rule.source, kind, unit)
        if rule.field in TIME_FIELDS and kind in (NUMBER, "BIGINT"):
            reads = f"CASE WHEN {quoted(rule.source)} NOT IN {values.NEVER!r} THEN {reads} END"
    read, in_its_unit = _read(field.name), ""
    if rule.field in TIME_FIELDS:
        in_its_unit, read = _in_its_unit(read, rule.source in declared.epochs), _moment(field.name)
    strange = "" if rule.field in declared.own_marks or not bounded else _strange(read, BOUNDS[field.name], many)
    if strange and rule.source in declared.epochs and rule.field in TIME_FIELDS:
        strange = f"({strange} OR ({read} > 0 AND {read} < {FIRST_EPOCH_S!r}))"
    whole = field.unit == "B" and rule.field not in declared.normalised
    if strange and whole and (kind == TEXT or declared.reader is not None):  # Kubernetes' 512m
        strange = f"({strange} OR ({read} > 0 AND {read} < 1))"
    sql = f"CASE WHEN NOT {_is_strange(field.name)} THEN {read} END" if strange else read
    if rule.field in declared.zero_is_missing:
        sql = f"nullif({sql}, 0)"
    made = Column(field.name, NUMBER, field.unit, rule.source, numeric=True)
    return Output(made, sql, reads, kind == TEXT, in_its_unit, strange)


def _other_units(down: bool) -> tuple[float, ...]:
    """What a moment may be times the seconds that it means; below 1 only where its column counts from 1970."""
    return (1e3, 1e6, 1e9, *((1e-3, 1e-6, 1e-9) if down else ()))


def _in_its_unit(read: str, down: bool) -> str:
    """The SQL of a moment of our time that is written in another unit than its column's others."""
    each = " ".join(
        f"WHEN {read} BETWEEN {FIRST_EPOCH_S * times!r} AND {LAST_EPOCH_S * times!r} THEN {read} / {times!r}"
        for times in _other_units(down)
    )
    usual = f"WHEN {read} BETWEEN {0 if not down else FIRST_EPOCH_S!r} AND {LAST_EPOCH_S!r} THEN {read}"
    return f"CASE {usual} {each} ELSE {read} END"


def _strange(read: str, bounds: Bounds, many: str) -> str:
    """The SQL of whether a number is out of bounds; `many` says whether its row may be of many machines."""
    if bounds.most == bounds.of_a_system or not many:
        return f"({read} NOT BETWEEN {bounds.least!r} AND {bounds.most!r})"
    return (
        f"(CASE WHEN {read} BETWEEN {bounds.least!r} AND {bounds.most!r} THEN FALSE "
        f"WHEN {read} BETWEEN {bounds.most!r} AND {bounds.of_a_system!r} THEN NOT ({many}) ELSE {read} IS NOT NULL END)"
    )


def _many_machines(declared: Format, present: Sequence[Rule], types: Mapping[str, str]) -> str:
    """The SQL of whether a row may be of many machines, '' where none is."""
    if not declared.many_machines:
        return ""
    node = next((rule.source for rule in present if rule.field == "node" and types[rule.source] == TEXT), "")
    return f"{quoted(node)} IS NULL OR regexp_matches(trim({quoted(node)}), '[-,;+|\\[\\s]')" if node else "TRUE"


def _duration(start: str, end: str) -> Output:
    sql = f"CASE WHEN {end} >= {start} THEN {end} - {start} END"
    return Output(Column("duration_s", NUMBER, "s", DERIVED, numeric=True), sql)


def _further(
    declared: Format, present: Sequence[Rule], columns: Sequence[SourceColumn], taken: set[str], dialect: CsvDialect
) -> list[Output]:
    used = {rule.source for rule in present if not rule.keep_source}
    units = dict(declared.units)
    own_names = {*RESERVED, *(made.field for made in declared.made if made.aside)}
    looked_at = {name for made in declared.made for name in (*made.needs, *made.may)}
    outputs = []
    for column in columns:
        if column.name in used:
            continue
        name = column.name
        while name.lower() in taken or name.lower() in own_names:
            name += "_2"
        taken.add(name.lower())
        truth = name.startswith(declared.truth_prefix)
        unit = units.get(column.name, "")
        read = _read(name)
        if column.type == TEXT and declared.declared_type(column.name) == NUMBER:
            counted = column.name in declared.counts
            quantity = next((own for own, known in UNITS_OF.items() if unit in known and not counted), "")
            reads = text_sql(column.name, values.COUNT if counted else quantity, unit, declared, dialect)
            scale = factor(unit) if unit and not counted else 1.0
            strange = _strange_amount(read, quantity, 1.0)
            made = Column(name, NUMBER, unit, column.name, numeric=True, truth=truth)
            sql = f"CASE WHEN NOT {_is_strange(name)} THEN {read} / {scale!r} END"
            outputs.append(Output(made, sql, reads, is_text=True, strange=strange))
            continue
        if column.type == TEXT:
            outputs.append(Output(Column(name, TEXT, "", column.name, numeric=False, truth=truth), quoted(column.name)))
            continue
        if column.name in looked_at and declared.declared_type(column.name) == TEXT:  # a data frame has no text in it
            sql = f"CAST({number_sql(column.name, column.type, PLAIN)} AS VARCHAR)"
            outputs.append(Output(Column(name, TEXT, "", column.name, numeric=False, truth=truth), sql))
            continue
        kind = column.type if column.type in ("BIGINT", "BOOLEAN") else NUMBER
        reads = strange = ""
        sql = quoted(column.name) if kind == column.type != NUMBER else number_sql(column.name, column.type, PLAIN)
        if column.type == NUMBER:
            quantity = next((own for own, known in UNITS_OF.items() if unit in known), "")
            reads, strange = sql, _strange_amount(read, quantity, factor(unit) if unit else 1.0)
            sql = f"CASE WHEN NOT {_is_strange(name)} THEN {read} END"
        unit = "s" if column.type in (TIMESTAMP, INTERVAL) else unit
        made = Column(name, kind, unit, column.name, numeric=True, truth=truth)
        outputs.append(Output(made, sql, reads, strange=strange))
    return outputs


def _strange_amount(read: str, quantity: str, scale: float) -> str:
    """The SQL of whether a number of a further column, `scale` of its quantity's units, is out of bounds."""
    if quantity not in OF_QUANTITY:
        return f"({read} NOT BETWEEN {-LARGEST_NUMBER!r} AND {LARGEST_NUMBER!r})"
    return f"({read} NOT BETWEEN 0 AND {OF_QUANTITY[quantity] / scale!r})"


def _finished(declared: Format, made: Mapping[str, Output]) -> str:
    return finished_sql(made["status"].sql, declared) if "status" in made and declared.finished else "TRUE"


def finished_sql(status: str, declared: Format) -> str:
    """The SQL of whether a status is one of those that the methods use; a row without one is."""
    return f"coalesce(lower(trim({status})) IN ({', '.join(map(text, declared.finished))}), TRUE)"


def _flags(declared: Format, present: Sequence[Rule], types: Mapping[str, str], outputs: Sequence[Output]) -> str:
    numbers = [name for name, kind in types.items() if kind == NUMBER]
    zeros = [
        _read(rule.field) if types[rule.source] == TEXT else quoted(rule.source)
        for rule in present
        if rule.field in declared.zero_is_missing
        and rule.field in TIME_FIELDS
        and types[rule.source] in (NUMBER, "BIGINT", TEXT)
    ]
    times = [(rule, types[rule.source]) for rule in present if rule.field in TIME_FIELDS]
    bits = {
        NOT_FINITE: [f"NOT isfinite({quoted(name)})" for name in numbers],
        ZERO_TIME: [f"{name} = 0" for name in zeros],
        OPEN_TIME: [_is_open(rule, kind) for rule, kind in times if rule.field != "submit_time_s"],
        SHORT_YEAR: [_has_short_year(quoted(rule.source)) for rule, kind in times if kind == TEXT],
        OTHER_UNIT: [f"({_read(rule.field)} IS DISTINCT FROM {_moment(rule.field)})" for rule, _ in times],
        STRANGE_TIME: [
            _is_strange(output.column.name) for output in outputs if output.strange and output.column.name in TIMING
        ],
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
    """The SQL of whether a start or an end is written as one that does not come; an end may be 'epoch' too."""
    cell = quoted(rule.source)
    if kind == TEXT:
        words = (values.OPEN, values.NOT_KNOWN) if rule.field == "end_time_s" else (values.OPEN,)
        return f"CASE WHEN {_read(rule.field)} IS NULL THEN {values.no_moment(cell, *words)} ELSE FALSE END"
    if kind == TIMESTAMP:
        never = f"NOT isfinite({cell}) OR {cell} >= TIMESTAMPTZ '9999-01-01' OR {cell} < TIMESTAMPTZ '0002-01-01'"
        return f"{never} OR {cell} = TIMESTAMPTZ '1970-01-01'" if rule.field == "end_time_s" else never
    if kind not in (NUMBER, "BIGINT"):
        return "FALSE"
    never = f"{cell} IN {values.NEVER!r}"
    return f"(isinf({cell}) OR {never})" if kind == NUMBER else never


def _has_short_year(cell: str) -> str:
    """The SQL of whether a moment has a year of two digits; most are ISO 8601, which a look at one tells."""
    return f"CASE WHEN substr({cell}, 5, 1) = '-' THEN FALSE ELSE regexp_matches({cell}, '{values.TWO_DIGITS}') END"
