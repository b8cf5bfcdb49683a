"""What `workprof pull` asks of an engine, as Ibis expressions: one each for joins, runs, quality and sample.

Ibis compiles them to the SQL of DuckDB, Postgres, Spark, Trino and BigQuery. They avoid what engines answer
differently: no seeded random numbers (the draw orders runs by MD5), no collation in an order that decides which rows
are taken, no division of whole numbers, no "any value".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

from workprof.core.errors import SettingsError
from workprof.formats.fields import TEXT_FIELDS

SUMS = ("duration_s", "read_bytes", "write_bytes", "read_count", "write_count")
MEANS = ("cpu_usage_percent", "gpu_usage_percent", "mean_memory_bytes", "mean_gpu_memory_bytes")
FIRST = ("submit_time_s", "start_time_s")
LAST = ("start_time_s", "end_time_s", "submit_time_s")
"""Moments by which the last row of a run is known, the best first."""
NO_VALUE = "(no value)"
PLACE, STRATUM, BEFORE, TOTAL = "workprof_place", "workprof_stratum", "workprof_before", "workprof_total"
N_ROWS = "workprof_rows"
LONGEST_SAMPLE = 100_000_000


@dataclass(frozen=True)
class Join:
    """A further table, joined on columns that both have: every row of the first table stays."""

    table: str
    keys: tuple[str, ...]

    @classmethod
    def parse(cls, given: str) -> Join:
        """The join that TABLE:COLUMN,COLUMN names; raises SettingsError when it is written otherwise."""
        table, colon, keys = given.rpartition(":")
        names = tuple(filter(None, (key.strip() for key in keys.split(","))))
        if not (colon and table and names):
            raise SettingsError(f"--join {given!r}: write TABLE:COLUMN or TABLE:COLUMN,COLUMN")
        return cls(table, names)


def joined(main: Any, other: Any, join: Join) -> Any:
    """The first table with the other's columns; one of a name that is there already gets the table's behind."""
    suffix = "_" + join.table.rpartition(".")[2].rpartition("/")[2].partition(".")[0]
    clash = {name: f"{name}{suffix}" for name in other.columns if name in main.columns and name not in join.keys}
    other = other.rename({new: old for old, new in clash.items()}) if clash else other
    side = other.rename({f"workprof_right_{key}": key for key in join.keys})
    on = [main[key] == side[f"workprof_right_{key}"] for key in join.keys]
    return main.left_join(side, on).drop(*(f"workprof_right_{key}" for key in join.keys))


def join_counts(main: Any, other: Any, join: Join) -> Any:
    """One row: `rows_in`, `rows_out` of the join, and `unmatched` rows of the first table."""
    there = other.group_by(list(join.keys)).agg(**{N_ROWS: other.count()})
    there = there.rename({f"workprof_right_{key}": key for key in join.keys})
    on = [main[key] == there[f"workprof_right_{key}"] for key in join.keys]
    both = main.left_join(there, on)
    return both.aggregate(
        rows_in=both.count(), rows_out=both[N_ROWS].fill_null(1).sum(), unmatched=both[N_ROWS].isnull().sum()
    )


def plain_columns(table: Any) -> tuple[Any, tuple[str, ...], tuple[str, ...]]:
    """A table of numbers, truth values, texts and moments; the names of nested columns, left out; of lengths of time.

    Lengths (intervals, times of the day) are seconds. Other kinds (identifiers, addresses, documents) become the texts
    that the engine writes for them.
    """
    plain, nested, lengths = {}, [], []
    for name, kind in table.schema().items():
        column = table[name]
        if kind.is_nested():
            nested.append(name)
        elif kind.is_interval() or kind.is_time():
            lengths.append(name)
            plain[name] = _seconds(column, kind)
        elif kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_temporal():
            plain[name] = column.cast("float64") if kind.is_decimal() else column
        else:
            plain[name] = column.cast("string")
    return table.select(**plain), tuple(nested), tuple(lengths)


def _seconds(column: Any, kind: Any) -> Any:
    if kind.is_time():
        return column.hour() * 3600.0 + column.minute() * 60 + column.second() + column.millisecond() / 1000
    began = _ibis().timestamp("1970-01-01")
    return (began + column).delta(began, unit="microsecond") / 1e6


def with_keys(table: Any, keys: Sequence[str]) -> Any:
    """The rows whose run is known."""
    return table.filter([table[key].notnull() for key in keys]) if keys else table


def runs(table: Any, keys: Sequence[str], fields: Mapping[str, str]) -> Any:
    """One row per run of rows that each tell of a part of it.

    A run begins with its first row and ends with its last, or not where one that began has no end; means count by the
    rows' duration where that is known, of durations, bytes and calls the sum counts, of other numbers the largest; of
    texts the first in the engine's order. It ended as its row did that began last.
    """
    last = next(
        (fields[field] for field in LAST if field in fields and not table.schema()[fields[field]].is_string()), ""
    )
    of = {column: field for field, column in fields.items()}
    weight = _row_duration(table, fields)
    made: dict[str, Any] = {}
    for name, kind in table.schema().items():
        if name in keys:
            continue
        column, field = table[name], of.get(name, "")
        if field == "end_time_s" and "start_time_s" in fields and not kind.is_string():
            goes_on = (column.isnull() & table[fields["start_time_s"]].notnull()).any()
            made[name] = goes_on.ifelse(_ibis().null(kind), column.max())
        elif field == "status" and last and not kind.is_numeric():
            made[name] = column.argmax(table[last])
        elif not kind.is_numeric():
            made[name] = (
                column.max() if kind.is_boolean() or (kind.is_temporal() and field not in FIRST) else column.min()
            )
        elif field in FIRST:
            made[name] = column.min()
        elif field in SUMS:
            made[name] = column.sum()
        elif field in MEANS and weight is not None:
            counted = column.notnull() & (weight > 0)
            weights = counted.ifelse(weight, 0.0).sum()
            made[name] = (weights > 0).ifelse((counted.ifelse(column * weight, 0.0)).sum() / weights, column.mean())
        elif field in MEANS:
            made[name] = column.mean()
        else:
            made[name] = column.max()
    return table.group_by(list(keys)).agg(**made)


def _row_duration(table: Any, fields: Mapping[str, str]) -> Any | None:
    """How long each row lasts, in whatever unit the trace has; None where that is not known."""
    schema = table.schema()
    if "duration_s" in fields and schema[fields["duration_s"]].is_numeric():
        return table[fields["duration_s"]]
    if {"start_time_s", "end_time_s"} <= fields.keys():
        start, end = fields["start_time_s"], fields["end_time_s"]
        if schema[start].is_numeric() and schema[end].is_numeric():
            return table[end] - table[start]
        if schema[start].is_timestamp() and schema[end].is_timestamp():
            return table[end].epoch_seconds() - table[start].epoch_seconds()
    return None


def quality(table: Any, keys: Sequence[str], fields: Mapping[str, str]) -> Any:
    """One row of counts over the whole trace.

    `rows`; `no_key`: rows whose run is not known (dropped); `backwards`: that end before they start; `missing_FIELD`
    and `negative_FIELD` of every mapped column.
    """
    schema, made = table.schema(), {"rows": table.count()}
    if keys:
        made["no_key"] = reduce(lambda left, right: left | right, [table[key].isnull() for key in keys]).sum()
    for field, name in fields.items():
        made[f"missing_{field}"] = table[name].isnull().sum()
        if schema[name].is_numeric():
            made[f"negative_{field}"] = (table[name] < 0).sum()
    if {"start_time_s", "end_time_s"} <= fields.keys():
        start, end = fields["start_time_s"], fields["end_time_s"]
        alike = schema[start] == schema[end] or (schema[start].is_numeric() and schema[end].is_numeric())
        if alike and not schema[start].is_string():
            made["backwards"] = (table[end] < table[start]).sum()
    return table.aggregate(**{name: value.fill_null(0) for name, value in made.items()})


def stratum_of(fields: Mapping[str, str], by: str, columns: Sequence[str]) -> str:
    """The column whose shares a sample keeps: the one named, else workload, task or user; '' = none.

    Raises SettingsError when there is no such column; names those that there are.
    """
    if not by:
        return next((fields[field] for field in ("workload", "task_name", "user") if field in fields), "")
    result = fields.get(by, by)
    if result not in columns:
        raise SettingsError(f"--by {by}: there is no such column; use one of {', '.join(columns[:40])}")
    return result


def sample(table: Any, rows: int, by: str, seed: int, engine: str) -> Any:
    """Exactly `rows` runs (all, where there are fewer), the same ones on every engine.

    Runs are ordered by the MD5 of their texts and whole numbers with the seed, numbers with a fraction break ties,
    within strata that follow one another; every T/N-th of the T runs in that order is drawn: each stratum gets its
    share, rounded up or down.

    Without a column `by`, whose shares stay the same, there are no strata.
    """
    if not 1 <= rows <= LONGEST_SAMPLE:
        raise SettingsError(f"--sample is {rows}; give 1 to {LONGEST_SAMPLE:,}")
    ibis = _ibis()
    schema = table.schema()
    exact = [name for name, kind in schema.items() if kind.is_string() or kind.is_integer()]
    rest = [name for name in schema if name not in exact]
    texts = [table[name].cast("string").fill_null("\x1a") for name in exact] or [ibis.literal("")]
    identity = reduce(lambda left, right: left + "\x1f" + right, texts, ibis.literal(str(seed)))
    stratum = table[by].cast("string").fill_null(NO_VALUE) if by else ibis.literal("")
    marked = table.mutate(**{PLACE: md5(identity, engine), STRATUM: md5(stratum, engine)})
    sizes = marked.group_by(STRATUM).agg(**{N_ROWS: marked.count()})
    running = ibis.window(order_by=sizes[STRATUM], preceding=None, following=0)
    sizes = sizes.mutate(
        **{BEFORE: sizes[N_ROWS].sum().over(running) - sizes[N_ROWS], TOTAL: sizes[N_ROWS].sum().over(ibis.window())}
    )
    order = [marked[PLACE], *(marked[name].asc(nulls_first=True) for name in rest)]
    placed = marked.mutate(
        workprof_number=ibis.row_number().over(ibis.window(group_by=marked[STRATUM], order_by=order)) + 1
    )
    both = placed.inner_join(sizes.rename({f"{STRATUM}_of": STRATUM}), [(STRATUM, f"{STRATUM}_of")])
    number = (both[BEFORE] + both["workprof_number"]).cast("int64") * ibis.literal(rows, type="int64")
    drawn = both.filter(number % both[TOTAL].cast("int64") < rows)
    return drawn.order_by([PLACE, *(drawn[name].asc(nulls_first=True) for name in rest)]).select(*schema)


def strata(table: Any, by: str) -> Any:
    """One row per stratum: `value` and `rows_in`."""
    value = table[by].cast("string").fill_null(NO_VALUE)
    marked = table.mutate(value=value)
    return marked.group_by("value").agg(rows_in=marked.count())


def texts(table: Any, keys: Sequence[str], fields: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """The mapped columns that hold texts: those that are texts, that are numbers or moments, and those to be summed."""
    schema = table.schema()
    held = {field: name for field, name in fields.items() if name not in keys and schema[name].is_string()}
    summed = [name for field, name in held.items() if field in SUMS]
    numbers = [name for field, name in held.items() if field not in (*TEXT_FIELDS, *SUMS)]
    return [name for field, name in held.items() if field in TEXT_FIELDS], numbers, summed


def differing(table: Any, keys: Sequence[str], names: Sequence[str]) -> Any:
    """One row: `differing` runs whose rows do not agree in one of these columns of texts."""
    result = table.group_by(list(keys)).agg(
        unequal=reduce(lambda left, right: left | right, [table[name].min() != table[name].max() for name in names])
    )
    return result.aggregate(differing=result["unequal"].fill_null(False).sum().fill_null(0))


def md5(text: Any, engine: str) -> Any:
    """The MD5 of a text in a form that sorts alike on every engine; Ibis knows its name on two of them only."""
    functions = _functions()
    if engine == "trino":
        return functions["to_hex"](functions["md5_of_bytes"](functions["to_utf8"](text))).lower()
    return (
        functions["to_hex_of_md5"](functions["md5_bytes"](text)).lower()
        if engine == "bigquery"
        else functions["md5"](text)
    )


@cache
def _functions() -> dict[str, Any]:
    """Functions that engines have and Ibis does not name."""
    builtin = _ibis().udf.scalar.builtin

    def declared(own: str, name: str, takes: str, gives: str) -> Any:
        def function(value): ...  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202

        function.__name__ = own
        return builtin(name=name, signature=((takes,), gives))(function)

    return {
        "md5": declared("md5", "md5", "string", "string"),
        "to_utf8": declared("to_utf8", "to_utf8", "string", "binary"),
        "md5_of_bytes": declared("md5_of_bytes", "md5", "binary", "binary"),
        "to_hex": declared("to_hex", "to_hex", "binary", "string"),
        "md5_bytes": declared("md5_bytes", "md5", "string", "binary"),
        "to_hex_of_md5": declared("to_hex_of_md5", "to_hex", "binary", "string"),
    }


def _ibis() -> Any:
    import ibis  # noqa: PLC0415  an extra: only whoever pulls has it

    return ibis
