"""Loads a trace of one file: header checked, columns declared, rows staged, rejects kept, checks counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from workprof.core.errors import NoRows, TraceError
from workprof.core.progress import Progress
from workprof.formats.declare import NUMBER, TEXT, Format, Rule, SourceColumn
from workprof.formats.fields import FIELDS, TIME_FIELDS
from workprof.formats.human_units import KINDS
from workprof.store import checks, rejects
from workprof.store.accounts import Accounts, Balance, accounts_of, balance
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED, Plan, compile_plan
from workprof.store.connection import quoted, text
from workprof.store.json_rows import is_json
from workprof.store.loaded import Loaded, Stage
from workprof.store.mapping import guessed_mapping, rules_for
from workprof.store.relation import (
    TIMESTAMP,
    CsvDialect,
    Relation,
    as_text,
    csv_relation,
    guessed_columns,
    is_number,
    parquet_relation,
)
from workprof.store.reports import Check, IngestOptions
from workprof.store.rewriting import Rewritten, rewrite_json, rewrite_units
from workprof.store.running import Span, run_watched
from workprof.store.spool import Spooled, plain_head
from workprof.store.text_shape import HEAD_BYTES, TextShape, decoded_head, text_shape

LINES = Span(0.3, 0.33, "counting lines")
REWRITE = Span(0.33, 0.45, "writing plain numbers")
PARSE = Span(0.45, 0.85, "reading rows")
CHECK = Span(0.85, 0.97, "checking rows")


@dataclass(frozen=True)
class Source:
    """A relation with the rules that make a job table of it, and what became of the lines before it.

    Attributes:
        accounts: of a delimited text as given; None for JSON and Parquet.
    """

    relation: Relation
    rules: tuple[Rule, ...]
    dialect: CsvDialect
    before: Rewritten
    accounts: Accounts | None = None

    @property
    def spooled(self) -> Spooled:
        """The file that is read."""
        return self.before.spooled


def load(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    spooled: Spooled,
    declared: Format,
    options: IngestOptions,
    progress: Progress,
) -> Loaded:
    """Return what was staged from one file.

    Raises:
        ColumnMissing: a required column or field is absent.
        NoRows: nothing is left.
        TraceError: a line is neither in a row nor rejected, and the options accept no loss.
    """
    rejects.create_table(cursor, stage.rejects)
    source = (
        _parquet_source(spooled, declared, options)
        if spooled.parquet
        else _text_source(spooled, declared, options, progress)
    )
    stem = Path(spooled.origin).name.split(".")[0] or spooled.origin
    constants = dict.fromkeys(declared.from_stem, stem)
    plan, rejected = _staged(cursor, stage, source, declared, constants, progress)
    rejected += _refused(cursor, stage, source)
    dropped = _without_duplicates(cursor, stage, declared, plan) if options.duplicates == "drop" else 0
    rows, finished, found = counted(cursor, stage, declared, plan, options.duplicates == "keep", progress)
    balanced = _balanced(cursor, source, rows + rejected + dropped - len(spooled.long_lines), options)
    if not rows:
        raise NoRows(_nothing_left(cursor, stage, spooled.origin, rejected))
    if dropped:
        found = (
            *found,
            Check("duplicates", "warning", dropped, f"{dropped:,} rows that repeat an earlier row were dropped"),
        )
    of_lines, lost = (balanced.checks, balanced.lost) if balanced else ((), 0)
    found, aliases = (*of_lines, *source.before.checks, *found), dict(declared.aliases)
    read = rows + rejected + dropped
    return Loaded(plan.columns, aliases, read, rows, finished, rejected, found, dropped=dropped, lost=lost)


def counted(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, plan: Plan, duplicates: bool, progress: Progress
) -> tuple[int, int, tuple[Check, ...]]:
    """Return rows, finished rows and checks of the staged table, from one scan."""
    asked = checks.questions(declared, plan.columns, duplicates)
    counts = ", ".join(["count(*)", checks.count_where(FINISHED), *(question.sql for question in asked)])
    (row,) = run_watched(cursor, f"SELECT {counts} FROM {quoted(stage.rows)}", [], progress, CHECK)
    return int(row[0]), int(row[1]), checks.answered(asked, row[2:])


def _text_source(spooled: Spooled, declared: Format, options: IngestOptions, progress: Progress) -> Source:
    head = plain_head(spooled.path, HEAD_BYTES)
    before, delimiter, accounts = Rewritten(spooled), options.delimiter, None
    if is_json(decoded_head(head, spooled.origin)):
        before, delimiter = rewrite_json(spooled, progress, REWRITE), ","
        spooled = before.spooled
        head = plain_head(spooled.path, HEAD_BYTES)
    shape = text_shape(head, spooled.origin, delimiter)
    if not before.rows:
        accounts = accounts_of(spooled, shape.delimiter, progress, LINES)
        if not options.accept_loss:
            accounts.refuse_fault()
        if not accounts.quoting:
            shape = text_shape(head, spooled.origin, delimiter, quoting=False)
    quoting, skipped = accounts is None or accounts.quoting, accounts.lines.leading_blank if accounts else 0
    kinds = {
        name: KINDS[kind] for name, kind in declared.human_units if _is_written_for_people(shape, name, declared.nulls)
    }
    if kinds:
        spooled = rewrite_units(spooled, shape, kinds, progress, REWRITE, quoting=quoting)
        before, quoting = replace(before, spooled=spooled), True
    decimal = options.decimal or "."
    columns, guessed = guessed_columns(
        shape, {column.name: column.type for column in declared.columns}, declared.nulls, decimal
    )
    types = {column.name: column.type for column in columns}
    samples = {name: shape.values(position)[:5] for position, name in enumerate(shape.header)}
    rules = rules_for(declared, options.mapping, shape.header, guessed_mapping(types, samples))
    columns, guessed = _as_fields(columns, guessed, rules)
    dialect = CsvDialect(shape.delimiter, decimal, nulls=declared.nulls, quoting=quoting, skipped=skipped)
    return Source(csv_relation(spooled, columns, dialect, guessed), rules, dialect, before, accounts)


def _parquet_source(spooled: Spooled, declared: Format, options: IngestOptions) -> Source:
    relation = parquet_relation(spooled)
    types = {column.name: column.type for column in relation.columns}
    rules = rules_for(declared, options.mapping, tuple(types), guessed_mapping(types, {}))
    return Source(relation, rules, CsvDialect(), Rewritten(spooled))


def _is_written_for_people(shape: TextShape, name: str, nulls: Sequence[str]) -> bool:
    if name not in shape.header:
        return False
    values = shape.values(shape.header.index(name))
    return any(value not in nulls and not is_number(value) for value in values)


def _as_fields(
    columns: Sequence[SourceColumn], guessed: frozenset[str], rules: Sequence[Rule]
) -> tuple[tuple[SourceColumn, ...], frozenset[str]]:
    """Return the columns with mapped ones typed as their field asks: those are declared now, no longer guessed."""
    wanted = {rule.source: FIELDS[rule.field].type for rule in rules}
    typed = []
    for column in columns:
        kind = wanted.get(column.name)
        if column.name in guessed and kind is not None:
            time = column.type == TIMESTAMP and any(r.source == column.name and r.field in TIME_FIELDS for r in rules)
            typed.append(SourceColumn(column.name, TIMESTAMP if time else kind))
        else:
            typed.append(column)
    return tuple(typed), guessed - wanted.keys()


def _staged(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    source: Source,
    declared: Format,
    constants: Mapping[str, str],
    progress: Progress,
) -> tuple[Plan, int]:
    """Stage the rows; a column whose type was only a guess, and wrong, is read again as text."""
    relation = source.relation
    if not relation.text:
        return _staged_parquet(cursor, stage, source, declared, constants, progress)
    plan = compile_plan(declared, source.rules, relation.columns, constants)
    _create(cursor, stage, plan.select(relation.sql), progress)
    wrong = rejects.bad_columns(cursor) & relation.guessed
    if wrong:
        columns = as_text(relation, wrong)
        cursor.execute(f"DROP TABLE {quoted(stage.rows)}")
        rejects.forget(cursor)
        plan = compile_plan(declared, source.rules, columns, constants)
        _create(cursor, stage, plan.select(csv_relation(source.spooled, columns, source.dialect).sql), progress)
    return plan, rejects.collect(cursor, stage.rejects, source.spooled)


def _staged_parquet(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    source: Source,
    declared: Format,
    constants: Mapping[str, str],
    progress: Progress,
) -> tuple[Plan, int]:
    """Stage the rows of a Parquet file; texts where a number belongs are rejects."""
    relation = source.relation
    plan = compile_plan(declared, source.rules, relation.columns, constants)
    types = {column.name: column.type for column in relation.columns}
    numbers = [r.source for r in source.rules if types.get(r.source) == TEXT and FIELDS[r.field].type == NUMBER]
    good = [f"({quoted(n)} IS NULL OR TRY_CAST({quoted(n)} AS DOUBLE) IS NOT NULL)" for n in numbers]
    numbered = f"read_parquet({text(str(source.spooled.path))}, file_row_number=true)"
    for name, fine in zip(numbers, good, strict=True):
        cursor.execute(
            f"INSERT INTO {quoted(stage.rejects)} SELECT file_row_number + 1, {text(name)}, "
            f"left({quoted(name)}, {rejects.TEXT_CHARACTERS}), 'not a number' FROM {numbered} WHERE NOT {fine}"
        )
    where = f" WHERE {' AND '.join(good)}" if good else ""
    _create(cursor, stage, plan.select(relation.sql) + where, progress)
    return plan, int(one(cursor, f"SELECT count(DISTINCT line) FROM {quoted(stage.rejects)}")[0])


def _create(cursor: duckdb.DuckDBPyConnection, stage: Stage, select: str, progress: Progress) -> None:
    run_watched(cursor, f"CREATE TABLE {quoted(stage.rows)} AS {select}", [], progress, PARSE)


def _balanced(cursor: duckdb.DuckDBPyConnection, source: Source, told: int, options: IngestOptions) -> Balance | None:
    """Return what became of the lines that the reader does not tell of; None where the file has no lines.

    Raises:
        TraceError: when some are lost, and the options accept no loss.
    """
    origin, relation = source.spooled.origin, source.relation
    if source.accounts is None:
        there = source.before.rows + source.before.rejected if relation.text else relation.rows
        if there != told:
            raise TraceError(
                f"{origin}: {there:,} rows stand there and {told:,} were read; write the file again as CSV"
            )
        return None
    names = [column.name for column in relation.columns]
    found = balance(cursor, source.accounts, source.spooled, names, source.dialect, told)
    found.refuse_loss(options.accept_loss)
    return found


def _refused(cursor: duckdb.DuckDBPyConnection, stage: Stage, source: Source) -> int:
    if source.before.rejects is not None:
        columns = "{'line': 'BIGINT', 'column': 'VARCHAR', 'text': 'VARCHAR', 'reason': 'VARCHAR'}"
        cursor.execute(
            f"INSERT INTO {quoted(stage.rejects)} SELECT {rejects.original_line(source.spooled)}, * EXCLUDE (line) "
            f"FROM read_csv({text(str(source.before.rejects))}, "
            f"columns={columns}, auto_detect=false, header=false, delim=',', quote='\"', escape='\"')"
        )
    return source.before.rejected


def _without_duplicates(cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, plan: Plan) -> int:
    rows, aside = quoted(stage.rows), quoted(stage.rows + "_all")
    (before,) = one(cursor, f"SELECT count(*) FROM {rows}")
    cursor.execute(f"ALTER TABLE {rows} RENAME TO {aside}")
    first = f"SELECT min(rowid) FROM {aside} GROUP BY {checks.row_hash(declared, plan.columns)}"
    cursor.execute(f"CREATE TABLE {rows} AS SELECT * FROM {aside} WHERE rowid IN ({first}) ORDER BY rowid")
    cursor.execute(f"DROP TABLE {aside}")
    (after,) = one(cursor, f"SELECT count(*) FROM {rows}")
    return int(before) - int(after)


def _nothing_left(cursor: duckdb.DuckDBPyConnection, stage: Stage, origin: str, rejected: int) -> str:
    if not rejected:
        return f"{origin}: there is a header but no rows; nothing to load"
    line, column, value, reason = one(
        cursor, f'SELECT line, "column", text, reason FROM {quoted(stage.rejects)} LIMIT 1'
    )
    where = f", column {column}" if column else ""
    return (
        f"{origin}: all {rejected:,} rows were rejected, the first at line {line}{where}: {reason} ({value[:80]!r}); "
        f"check the format, the delimiter and the decimal sign"
    )
