"""A source as DuckDB reads it: the columns with their types, and the SQL of the table function."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.errors import TraceError
from workprof.core.units import MIB
from workprof.formats.declare import NUMBER, TEXT, Format, SourceColumn
from workprof.store.connection import quoted, text
from workprof.store.spool import Spooled
from workprof.store.text_shape import MAX_COLUMNS, MAX_LINE_BYTES, TextShape, unique_names

BUFFER_BYTES = 16 * MIB

TIMESTAMP, INTERVAL = "TIMESTAMPTZ", "INTERVAL"
"""A point in time, and a length of it or a time of the day: in seconds they are `epoch(...)`."""

PLAIN_NUMBER = re.compile(r"^[+-]?(?!0\d)(?=[\d.])\d{0,15}(\.\d*)?([eE][+-]?\d{1,3})?$")
SPECIAL_NUMBERS = frozenset({"nan", "inf", "-inf", "infinity", "-infinity"})
ISO_TIME = re.compile(r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?$")


@dataclass(frozen=True)
class Relation:
    """A spooled file as a table function call."""

    columns: tuple[SourceColumn, ...]  # in the file's order; `guessed` are those whose type nobody declared
    guessed: frozenset[str]
    sql: str  # `read_csv(...)` or `read_parquet(...)`
    text: bool  # rejects come from the CSV reader (else casts are checked by a query)
    rows: int = 0  # that the file's footer promises (Parquet), else 0


@dataclass(frozen=True)
class CsvDialect:
    """How a delimited text is written."""

    delimiter: str = ","
    decimal: str = "."
    grouped: Mapping[str, str] = field(default_factory=dict)  # column -> the sign between thousands of its numbers
    header: bool = True
    nulls: tuple[str, ...] = ("",)
    quoting: bool = True  # a cell may stand in quotes; else a quote is a character as any other
    skipped: int = 0  # lines before the header


AS_USUAL = CsvDialect()


def csv_relation(
    spooled: Spooled, columns: Sequence[SourceColumn], dialect: CsvDialect, guessed: frozenset[str] = frozenset()
) -> Relation:
    """The CSV reader call over declared columns, with every bad row kept as a reject."""
    declared = ", ".join(f"{text(column.name)}: {text(column.type)}" for column in columns)
    nulls = ", ".join(text(null) for null in dialect.nulls)
    quote = text('"' if dialect.quoting else "")
    options = (
        f"columns={{{declared}}}, auto_detect=false, header={str(dialect.header).lower()}, skip={dialect.skipped}, "
        f"delim={text(dialect.delimiter)}, quote={quote}, escape={quote}, nullstr=[{nulls}], "
        f"decimal_separator={text(dialect.decimal)}, strict_mode=true, null_padding=false, ignore_errors=true, "
        f"store_rejects=true, rejects_limit=0, max_line_size={MAX_LINE_BYTES}, buffer_size={BUFFER_BYTES}"
    )
    sql = f"read_csv({text(str(spooled.path))}, {options})"
    return Relation(tuple(columns), guessed, sql, text=True)


def as_text(relation: Relation, names: frozenset[str]) -> tuple[SourceColumn, ...]:
    """The relation's columns with some of them read as text."""
    return tuple(replace(column, type=TEXT) if column.name in names else column for column in relation.columns)


def guessed_columns(
    shape: TextShape, declared: Mapping[str, str], nulls: Sequence[str], decimal: str
) -> tuple[tuple[SourceColumn, ...], frozenset[str]]:
    """Every column of a text with its type, and the names of those whose type is a guess from the first rows."""
    columns, guessed = [], set()
    for position, name in enumerate(shape.header):
        known = declared.get(shape.raw_header[position].strip())
        if known is None:
            guessed.add(name)
        columns.append(SourceColumn(name, known or guessed_type(shape.values(position), nulls, decimal)))
    return tuple(columns), frozenset(guessed)


def guessed_type(values: Sequence[str], nulls: Sequence[str], decimal: str = ".") -> str:
    """The DuckDB type that the sample values suggest: number, point in time, else text."""
    present = [value.strip() for value in values if value not in nulls and value.strip()]
    if not present:
        return TEXT
    if all(is_number(value, decimal) for value in present):
        return NUMBER
    return TIMESTAMP if all(ISO_TIME.match(value) for value in present) else TEXT


def is_number(value: str, decimal: str = ".") -> bool:
    """Tell whether a text is a plain number (at most 15 digits before the point; '007' is an identifier)."""
    if decimal != "." and "." in value:  # '1.234' of such a file may be thousands
        return False
    plain = value.replace(decimal, ".")
    return bool(PLAIN_NUMBER.match(plain)) or plain.lower() in SPECIAL_NUMBERS


def parquet_relation(spooled: Spooled, nulls: Sequence[str] = ()) -> Relation:
    """The Parquet reader call; texts that mean "no value" are none, as in a CSV file.

    Raises TraceError for a broken file, nested columns, too many columns, or no rows.
    """
    schema, footer = opened(spooled)
    nested = [field.name for field in schema if pa.types.is_nested(field.type)]
    if nested:
        raise TraceError(
            f"{spooled.origin}: nested columns {', '.join(nested[:5])}; flatten or drop them, then load again"
        )
    if len(schema) > MAX_COLUMNS:
        raise TraceError(f"{spooled.origin} has {len(schema):,} columns; workprof reads up to {MAX_COLUMNS:,}")
    names = tuple(schema.names)
    if unique_names(names) != names:
        raise TraceError(f"{spooled.origin}: column names are empty or differ only in case; rename them")
    columns = tuple(SourceColumn(field.name, _duckdb_type(field.type)) for field in schema)
    casts = [f"{cast} AS {quoted(field.name)}" for field in schema if (cast := _cast(field, nulls))]
    sql = f"read_parquet({text(str(spooled.path))})"
    sql = f"(SELECT * REPLACE ({', '.join(casts)}) FROM {sql})" if casts else sql
    return Relation(columns, frozenset(names), sql, False, footer.num_rows)


def refuse_fractions(schema: pa.Schema, declared: Format, origin: str) -> None:
    """Refuse ids of runs that were made numbers with a fraction: pandas does where every step is a '.0'.

    Raises TraceError, which names the column; a run and its step have one id there.
    """
    names = declared.headings(schema.names) if declared.headings is not None else schema.names
    keys = {rule.source for rule in declared.rules if declared.steps and rule.field == declared.steps.key}
    for column, name in zip(schema, names or (), strict=False):
        if name in keys and pa.types.is_floating(column.type):
            raise TraceError(
                f"{origin}: {column.name} holds numbers with a fraction, so run 7001 and its step 7001.0 are one; "
                f"read it as texts (in pandas dtype={{{column.name!r}: str}}), then load it again"
            )


def renamed(relation: Relation, names: Sequence[str] | None) -> Relation:
    """A relation with other names for its columns, in their order; as it is without any."""
    if names is None or tuple(names) == tuple(column.name for column in relation.columns):
        return relation
    columns = tuple(replace(column, name=name) for column, name in zip(relation.columns, names, strict=True))
    items = ", ".join(
        f"{quoted(old.name)} AS {quoted(new.name)}" for old, new in zip(relation.columns, columns, strict=True)
    )
    return replace(relation, columns=columns, guessed=frozenset(names), sql=f"(SELECT {items} FROM {relation.sql})")


def opened(spooled: Spooled) -> tuple[pa.Schema, pq.FileMetaData]:
    """Schema and footer of a Parquet file, whose intervals are bytes to Arrow; raises TraceError for a broken one."""
    try:
        with pq.ParquetFile(spooled.path) as file:
            schema = file.schema_arrow
            schema.names  # noqa: B018  a name that is no UTF-8 is found when it is read
            kinds = {column.path: column.converted_type for column in file.schema}
            for at, field in enumerate(schema):
                if kinds.get(field.name) == INTERVAL:
                    schema = schema.set(at, field.with_type(pa.month_day_nano_interval()))
            return schema, file.metadata
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise TraceError(f"{spooled.origin}: broken Parquet file ({error}); write it again") from error


MICROSECONDS = {"s": "* 1000000", "ms": "* 1000", "us": "", "ns": "// 1000"}


def _cast(field: pa.Field, nulls: Sequence[str]) -> str:
    """The SQL of a column whose type in Parquet is not the one that its rows are read as; '' for the others.

    Parquet knows no lengths of time: Arrow writes whole numbers and tells the unit in its own schema.
    """
    name, kind = quoted(field.name), field.type
    if pa.types.is_duration(kind):
        return f"to_microseconds(CAST({name} {MICROSECONDS[kind.unit]} AS BIGINT))"
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return f"CAST({name} AS {TIMESTAMP if kind.tz else 'TIMESTAMP'})"
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    plain = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if _duckdb_type(kind) != TEXT:
        return ""
    value = name if plain else f"CAST({name} AS VARCHAR)"
    return f"CASE WHEN {value} NOT IN ({', '.join(map(text, nulls))}) THEN {value} END" if nulls else value


def _duckdb_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _duckdb_type(kind.value_type)
    if pa.types.is_duration(kind) or pa.types.is_time(kind) or pa.types.is_interval(kind):
        return INTERVAL
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return NUMBER
    return TIMESTAMP if pa.types.is_timestamp(kind) or pa.types.is_date(kind) else TEXT
