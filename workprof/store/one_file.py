"""Loads a trace of one file: header checked, columns declared, rows staged, rejects kept, checks counted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.core.progress import Progress
from workprof.core.text import visible
from workprof.core.units import DURATION_FACTORS, FIRST_EPOCH_S, LAST_EPOCH_S
from workprof.formats import generic, values
from workprof.formats.cells import PLAIN
from workprof.formats.declare import NUMBER, TEXT, Format, Rule, SourceColumn
from workprof.formats.fields import FIELDS, TIME_FIELDS, TIMING
from workprof.store import cells, checks, neighbours, rejects
from workprof.store.accounts import Accounts, Balance, accounts_of, balance
from workprof.store.catalogue import one
from workprof.store.compile import FINISHED, FLAGS, STILL_RUNNING, Plan, compile_plan
from workprof.store.connection import quoted, text
from workprof.store.endings import (
    Settled,
    errors_of_finished,
    kills_of_reasons,
    mend_durations,
    settle,
    unknown_statuses,
)
from workprof.store.folding import Folded, complete, has_steps
from workprof.store.json_rows import is_json
from workprof.store.loaded import Loaded, Stage
from workprof.store.mapping import DURATION, missing_fields, rules_for, tells_error, tells_reason
from workprof.store.refreshing import START, same_run
from workprof.store.relation import (
    TIMESTAMP,
    CsvDialect,
    Relation,
    as_text,
    csv_relation,
    guessed_columns,
    is_number,
    opened,
    parquet_relation,
    refuse_fractions,
    renamed,
)
from workprof.store.reports import Check, Column, IngestOptions
from workprof.store.rewriting import Rewritten, rewrite_broken, rewrite_json, rewrite_read
from workprof.store.running import Span, run_watched
from workprof.store.spool import Spooled, plain_head, without_first_lines
from workprof.store.text_shape import HEAD_BYTES, TextShape, decoded_head, no_rows, text_shape, unique_names
from workprof.store.windows import complete_runs

LINES = Span(0.3, 0.33, "counting lines")
REWRITE = Span(0.33, 0.45, "writing rows")
PARSE = Span(0.45, 0.8, "reading rows")
FOLD = Span(0.8, 0.82, "folding steps")
CHECK = Span(0.85, 0.97, "checking rows")
SHOWN_TITLES, SHOWN_CHARACTERS = 5, 60
LOOKED_AT = 1_000


@dataclass(frozen=True)
class Source:
    """A relation with the rules that make a job table of it, and what became of the lines before it."""

    relation: Relation
    rules: tuple[Rule, ...]
    dialect: CsvDialect
    before: Rewritten
    accounts: Accounts | None = None  # of a delimited text as given; None for JSON and Parquet
    epochs: tuple[str, ...] = ()  # columns whose first moments count from 1970

    @property
    def spooled(self) -> Spooled:
        """The file that is read."""
        return self.before.spooled


def load(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    files: Mapping[str, Spooled],
    declared: Format,
    options: IngestOptions,
    progress: Progress,
) -> Loaded:
    """What was staged, in a transaction, from one file or from all that the format's reader makes one table of.

    Raises:
        ColumnMissing: a required column or field is absent.
        NoRows: nothing is left.
        TraceError: a line is neither in a row nor rejected, and the options accept no loss.
    """
    rejects.create_table(cursor, stage.rejects)
    spooled = next(iter(files.values()))
    if options.mapping:  # a field that is given is made of nothing else
        declared = replace(declared, made=tuple(one for one in declared.made if one.field not in options.mapping))
    if declared.reader is not None:
        before = rewrite_read(files, declared.reader, progress, REWRITE)
        source = _text_source(before.spooled, declared, options, progress, before)
    elif spooled.parquet:
        source = _parquet_source(spooled, declared, options)
    else:
        source = _text_source(spooled, declared, options, progress)
    source = _ordered(cursor, source, declared, options, spooled.origin)
    declared = replace(declared, epochs=(*declared.epochs, *source.epochs))
    stem = Path(spooled.origin).name.split(".")[0] or spooled.origin
    constants = dict.fromkeys(declared.from_stem, stem)
    plan, rejected, missing_cells = _staged(cursor, stage, source, declared, constants, progress)
    rejoined = _rejoined(cursor, stage, source, declared, progress) if rejected else None
    if rejoined is not None:
        source = _text_source(rejoined.spooled, declared, options, progress, rejoined)
        plan, rejected, missing_cells = _staged(cursor, stage, source, declared, constants, progress)
    rejected += _refused(cursor, stage, source)
    if declared.name == generic.FORMAT.name and has_steps(cursor, stage, generic.STEPS, plan.columns):
        declared = replace(declared, steps=generic.STEPS)
    folded = complete(cursor, stage, declared, plan.columns, progress, FOLD)
    runs = complete_runs(cursor, stage, declared, folded.columns, options, progress)
    strange = cells.left_out(cursor, stage, declared, runs.columns)
    settled = settle(cursor, stage, runs.columns, declared.seen)
    by_duration = {one.field for one in declared.made if "duration_s" in one.needs}
    mended = mend_durations(
        cursor,
        stage,
        settled.columns,
        unit=next((rule.unit for rule in source.rules if rule.field == "duration_s"), ""),
        cpu_time="cpu_usage_percent" in by_duration,
        are_bare=lambda: _has_bare_durations(cursor, source),
    )
    killed = _by_reason(cursor, stage, declared, settled.columns)
    runs = replace(runs, columns=killed.columns, checks=(*runs.checks, *settled.checks, *killed.checks))
    _refuse_lacking(spooled.origin, declared, runs.columns, [column.name for column in source.relation.columns])
    again = _told_again(cursor, stage, declared, runs.columns)
    dropped = _without_duplicates(cursor, stage, declared, runs.columns) if options.duplicates == "drop" else 0
    judged = neighbours.judge(cursor, stage, runs.columns)
    rows, finished, result = counted(cursor, stage, declared, runs.columns, options.duplicates == "keep", progress)
    read = rows + rejected + again + dropped + folded.steps + runs.folded
    balanced = _balanced(cursor, source, read - len(spooled.long_lines), options)
    if not rows:
        raise NoRows(_nothing_left(cursor, stage, spooled.origin, rejected))
    if dropped:
        result = (
            *result,
            Check("duplicates", "warning", dropped, f"{dropped:,} rows that repeat an earlier row were dropped"),
        )
    of_lines, lost = (balanced.checks, balanced.lost) if balanced else ((), 0)
    spooling = [check for file in files.values() for check in file.checks]
    result = (
        *spooling,
        *of_lines,
        *source.before.checks,
        *cells.merged((*missing_cells, *strange)),
        *_folded_checks(folded, again),
        *runs.checks,
        *judged,
        *cells.merged((*mended, *result)),
    )
    aliases = dict(declared.aliases)
    return Loaded(runs.columns, aliases, read, rows, finished, rejected, result, dropped=dropped, lost=lost)


def _refuse_lacking(origin: str, declared: Format, columns: Sequence[Column], found: Sequence[str]) -> None:
    """Raise ColumnMissing where runs have no name or no duration, with what the format tells these by."""
    lacking = missing_fields({column.name for column in columns})
    if lacking:
        told = [rule.source for rule in declared.rules if rule.field in TIMING and declared is not generic.FORMAT]
        export = f". Export {', '.join(told)}, too" if told and DURATION in lacking else ""
        raise ColumnMissing(
            f"{origin}: there is no {'; no '.join(lacking)}; columns found: {', '.join(found)[:500]}{export}"
        )


def _folded_checks(folded: Folded, again: int) -> tuple[Check, ...]:
    result = []
    if again:
        message = f"{again:,} rows had not ended, and another row tells how their run went on: that one counts"
        result.append(Check("told again", "info", again, message))
    if folded.steps:
        message = f"{folded.steps:,} lines of steps were folded into the lines of jobs"
        result.append(Check("steps", "info", folded.steps, message))
    if folded.orphans:
        message = f"{folded.orphans:,} jobs have lines of their steps only; their first step stands for them"
        result.append(Check("steps without a job", "warning", folded.orphans, message))
    return tuple(result)


def counted(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    declared: Format,
    columns: Sequence[Column],
    duplicates: bool,
    progress: Progress,
) -> tuple[int, int, tuple[Check, ...]]:
    """Rows, finished rows and checks of the staged table, from one scan."""
    questions = checks.questions(declared, columns, duplicates)
    counts = ", ".join(["count(*)", checks.count_where(FINISHED), *(question.sql for question in questions)])
    (row,) = run_watched(cursor, f"SELECT {counts} FROM {quoted(stage.rows)}", [], progress, CHECK)
    return int(row[0]), int(row[1]), checks.counted_checks(questions, row[2:])


def _text_source(
    spooled: Spooled, declared: Format, options: IngestOptions, progress: Progress, before: Rewritten | None = None
) -> Source:
    """A text as a source; `before` is what a reader made of it."""
    head = plain_head(spooled.path, HEAD_BYTES)
    delimiter, accounts, read = options.delimiter, None, before is not None
    if before is None and is_json(decoded_head(head, spooled.origin)):
        before = rewrite_json(spooled, progress, REWRITE)
        spooled, read = before.spooled, True
        head = plain_head(spooled.path, HEAD_BYTES)
    before = before or Rewritten(spooled)
    if read or spooled.lines is not None:  # of our own writing
        delimiter = ","
    names = () if declared.header else tuple(column.name for column in declared.columns)
    shape = text_shape(head, spooled.origin, delimiter, names=names)
    if shape.skipped:
        spooled = without_first_lines(spooled, shape.skipped, shape.skipped_bytes)
        head = plain_head(spooled.path, HEAD_BYTES)
        before = Rewritten(spooled, checks=(_titles(shape),))
    if not read:
        quoted_cells = shape.delimiter not in declared.bare_quotes
        accounts = accounts_of(spooled, shape.delimiter, progress, LINES, quoting=quoted_cells)
        if not options.accept_loss:
            accounts.refuse_fault()
        if not accounts.quoting:
            shape = text_shape(head, spooled.origin, delimiter, quoting=False, names=names)
        before = replace(before, spooled=replace(spooled, header=declared.header))
    if declared.headings is not None:
        spelled = declared.headings(shape.header) or shape.header
        shape = replace(shape, raw_header=spelled, header=unique_names(spelled))
    quoting, skipped = accounts is None or accounts.quoting, accounts.lines.leading_blank if accounts else 0
    decimal = options.decimal or shape.decimal
    if shape.comma_columns and not options.decimal:
        before = replace(before, checks=(*before.checks, _decimal_commas(shape)))
    columns, guessed = guessed_columns(
        shape, {column.name: column.type for column in declared.columns}, declared.nulls, decimal
    )
    rules = rules_for(declared, options.mapping, shape.header)
    sources = {rule.source for rule in rules}
    grouped = {name: sign for name, sign in shape.grouped.get(decimal, {}).items() if name in sources}
    if grouped:
        before = replace(before, checks=(*before.checks, _thousands(shape, grouped)))
    texts = {
        name
        for position, name in enumerate(shape.header)
        if name in grouped
        or not all(is_number(v, decimal) for v in shape.values(position) if v.strip() and v not in declared.nulls)
    }
    columns, guessed = _as_fields(columns, guessed, rules, declared, texts)
    dialect = CsvDialect(shape.delimiter, decimal, grouped, declared.header, declared.nulls, quoting, skipped)
    epochs = tuple(
        rule.source
        for rule in rules
        if rule.field in TIME_FIELDS
        and rule.unit in DURATION_FACTORS
        and rule.source in shape.header
        and _counts_from_1970(shape.values(shape.header.index(rule.source)), rule.unit)
    )
    return Source(csv_relation(spooled, columns, dialect, guessed), rules, dialect, before, accounts, epochs)


def _ordered(
    cursor: duckdb.DuckDBPyConnection, source: Source, declared: Format, options: IngestOptions, origin: str
) -> Source:
    """The source, whose moments with slashes begin with the day where its columns tell so together.

    Raises TraceError where they do not tell; what the mapping says is taken as said.
    """
    if declared.month_first or declared.name == generic.FORMAT.name:
        return source
    texts = {column.name for column in source.relation.columns if column.type == TEXT}
    columns = {
        rule.source: rule.field
        for rule in source.rules
        if rule.field in TIME_FIELDS and rule.field not in options.mapping and rule.source in texts
    }
    if not columns:
        return source
    relation, days = source.relation.sql, f"'^{values.IN_NUMBERS}'"
    numbered = " OR ".join(f"regexp_matches({quoted(name)}, {days})" for name in columns)
    some = f"(SELECT {', '.join(map(quoted, columns))} FROM {relation} LIMIT {LOOKED_AT})"
    order = ""
    if one(cursor, f"SELECT bool_or({numbered}) FROM {some}")[0]:
        told = (
            f"SELECT DISTINCT regexp_extract({quoted(name)}, {days}) || right(trim({quoted(name)}), 1) FROM {relation}"
            for name in columns
        )
        order = values.order_of_days(text for (text,) in cursor.execute(" UNION ".join(told)).fetchall() if text)
    if source.relation.text:
        rejects.forget(cursor)
    if order == "either":
        name, field = next(iter(columns.items()))
        raise TraceError(
            f"{origin}: moments such as {name} may begin with the day or with the month, and none of them tells; write "
            f'2026-01-31, or map each with --map, as {{"{field}": {{"from": "{name}", "unit": "{values.DAY_FIRST}"}}}} '
            f'where the day is first (else "unit": "s")'
        )
    rules = (replace(rule, unit=values.DAY_FIRST) if rule.source in columns else rule for rule in source.rules)
    return replace(source, rules=tuple(rules)) if order == "first" else source


def _by_reason(cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, columns: Sequence[Column]) -> Settled:
    named = [column.name for column in columns if not column.numeric and tells_reason(column.name)]
    is_own = declared.name == generic.FORMAT.name
    killed = kills_of_reasons(cursor, stage, columns, named if is_own else ())
    errors = [column.name for column in columns if is_own and not column.numeric and tells_error(column.name)]
    unknown = unknown_statuses(cursor, stage, columns) if is_own else ()
    return replace(killed, checks=(*killed.checks, *errors_of_finished(cursor, stage, errors), *unknown))


def _has_bare_durations(cursor: duckdb.DuckDBPyConnection, source: Source) -> bool:
    """Tell whether a duration is a bare number: '850ms' and a clock are in no other unit than they say."""
    relation = source.relation
    column = next((rule.source for rule in source.rules if rule.field == "duration_s"), "")
    if not relation.text or column not in {each.name for each in relation.columns}:
        return True
    texts = csv_relation(source.spooled, as_text(relation, frozenset({column})), source.dialect)
    decimal = source.dialect.decimal
    number = values.plain(values.ungrouped(quoted(column), source.dialect.grouped.get(column, ""), decimal), decimal)
    (bare,) = one(cursor, f"SELECT count(*) FILTER (WHERE {number} <> 0) FROM {texts.sql}")
    rejects.forget(cursor)
    return bool(bare)


def _counts_from_1970(texts: Sequence[str], unit: str) -> bool:
    """Tell whether most numbers are moments of our time in a unit."""
    moments = [float(each) * DURATION_FACTORS[unit] for each in texts if PLAIN.fullmatch(each.strip()) and float(each)]
    return 2 * sum(FIRST_EPOCH_S < moment < LAST_EPOCH_S for moment in moments) > len(moments)


def _titles(shape: TextShape) -> Check:
    lines = "; ".join(visible(line[:SHOWN_CHARACTERS]) for line in shape.titles[:SHOWN_TITLES])
    return Check("titles", "info", shape.skipped, f"{shape.skipped:,} lines above the header were passed over: {lines}")


def _decimal_commas(shape: TextShape) -> Check:
    name = shape.comma_columns[0]
    values = (value for value in shape.values(shape.header.index(name)) if "," in value)
    example = f"{visible(name[:SHOWN_CHARACTERS])}: {visible(next(values, '')[:SHOWN_CHARACTERS])!r}"
    message = (
        f"numbers have a decimal comma ({example}); if that is wrong, give the decimal sign (--decimal . in a shell)"
    )
    return Check("decimal comma", "info", len(shape.comma_columns), message)


def _thousands(shape: TextShape, grouped: Mapping[str, str]) -> Check:
    name, sign = next(iter(grouped.items()))
    between = re.compile(rf"\d{values.BETWEEN_THOUSANDS[sign]}\d{{3}}")
    example = next((value for value in shape.values(shape.header.index(name)) if between.search(value)), "")
    shown = f" ({visible(name[:SHOWN_CHARACTERS])}: {visible(example.strip()[:SHOWN_CHARACTERS])!r})" if example else ""
    message = f"numbers have separators of thousands{shown}; they are read without them"
    return Check("thousands separators", "info", len(grouped), message)


def _parquet_source(spooled: Spooled, declared: Format, options: IngestOptions) -> Source:
    relation = parquet_relation(spooled, declared.nulls)
    refuse_fractions(opened(spooled)[0], declared, spooled.origin)
    if declared.headings is not None:
        relation = renamed(relation, declared.headings([column.name for column in relation.columns]))
    rules = rules_for(declared, options.mapping, tuple(column.name for column in relation.columns))
    return Source(relation, rules, CsvDialect(), Rewritten(spooled))


def _as_fields(
    columns: Sequence[SourceColumn],
    guessed: frozenset[str],
    rules: Sequence[Rule],
    declared: Format,
    texts: Collection[str],
) -> tuple[tuple[SourceColumn, ...], frozenset[str]]:
    """The columns typed as their field asks, and those whose type is still a guess.

    A number that its first rows write as a text ('1h 3m', '16Gi') is read as one; `compile_plan` makes numbers of it.
    """
    fields = {rule.source: FIELDS[rule.field] for rule in rules}
    typed = []
    for column in columns:
        field = fields.get(column.name)
        kind = column.type
        if column.name in guessed and field is not None:
            kind = TIMESTAMP if column.type == TIMESTAMP and field.name in TIME_FIELDS else field.type
        if kind == NUMBER and column.name in texts and column.name in _readable(rules, declared):
            kind = TEXT
        typed.append(SourceColumn(column.name, kind))
    return tuple(typed), guessed - fields.keys()


def _readable(rules: Sequence[Rule], declared: Format) -> set[str]:
    """The columns that hold numbers, which may be written as texts."""
    return {rule.source for rule in rules if FIELDS[rule.field].type == NUMBER} | {name for name, _ in declared.units}


def _staged(
    cursor: duckdb.DuckDBPyConnection,
    stage: Stage,
    source: Source,
    declared: Format,
    constants: Mapping[str, str],
    progress: Progress,
) -> tuple[Plan, int, tuple[Check, ...]]:
    """Stage the rows; a column with values that are none of its type is read again as text.

    Returned are the plan, the rows that were rejected, and the check of the cells that are missing.
    """
    relation = source.relation
    plan = compile_plan(declared, source.rules, relation.columns, constants, source.dialect)
    _create(cursor, stage, plan.select(relation.sql), progress)
    if not relation.text:
        return (plan, *_sorted_out(cursor, stage, plan, source, declared))
    wrong = rejects.bad_columns(cursor)
    if wrong:
        columns = as_text(relation, wrong)
        cursor.execute(f"DROP TABLE {quoted(stage.rows)}")
        rejects.forget(cursor)
        plan = compile_plan(declared, source.rules, columns, constants, source.dialect)
        _create(cursor, stage, plan.select(csv_relation(source.spooled, columns, source.dialect).sql), progress)
    refused = rejects.collect(cursor, stage.rejects, source.spooled)
    further, found = _sorted_out(cursor, stage, plan, source, declared)
    return plan, refused + further, found


def _sorted_out(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, plan: Plan, source: Source, declared: Format
) -> tuple[int, tuple[Check, ...]]:
    """Move the rows that are no runs to the rejects; returned are their number, and the check of missing cells."""
    totals = rejects.move_totals(cursor, stage, source.spooled) if declared.name == generic.FORMAT.name else 0
    refused, found = cells.sort_out(cursor, stage, plan, source.spooled, declared)
    return totals + refused, found


def _rejoined(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, source: Source, declared: Format, progress: Progress
) -> Rewritten | None:
    """The text with its broken records put together, and forget what was staged; None where there are none."""
    if not declared.free_texts or source.accounts is None or source.accounts.lines.quoted_breaks:
        return None
    (broken,) = one(cursor, f"SELECT count(*) FROM {quoted(stage.rejects)} WHERE {rejects.OTHER_WIDTH}")
    names = [column.name for column in source.relation.columns]
    result = rewrite_broken(source.spooled, names, declared, source.dialect, progress, PARSE) if broken else None
    if result is not None:
        cursor.execute(f"DROP TABLE {quoted(stage.rows)}")
        cursor.execute(f"DELETE FROM {quoted(stage.rejects)}")
        rejects.forget(cursor)
        return replace(result, checks=(*source.before.checks, *result.checks))
    return None


def _create(cursor: duckdb.DuckDBPyConnection, stage: Stage, select: str, progress: Progress) -> None:
    run_watched(cursor, f"CREATE TABLE {quoted(stage.rows)} AS {select}", [], progress, PARSE)


def _balanced(cursor: duckdb.DuckDBPyConnection, source: Source, n_read: int, options: IngestOptions) -> Balance | None:
    """What became of the lines that the reader does not tell of; None where the file has no lines.

    Raises TraceError when some are lost, and the options accept no loss.
    """
    origin, relation = source.spooled.origin, source.relation
    if source.accounts is None:
        there = source.before.rows + source.before.rejected if relation.text else relation.rows
        if there != n_read:
            raise TraceError(
                f"{origin}: {there:,} rows stand there and {n_read:,} were read; write the file again as CSV"
            )
        return None
    names = [column.name for column in relation.columns]
    result = balance(cursor, source.accounts, source.spooled, names, source.dialect, n_read)
    result.refuse_loss(options.accept_loss)
    return result


def _refused(cursor: duckdb.DuckDBPyConnection, stage: Stage, source: Source) -> int:
    if source.before.rejects is not None:
        columns = "{'line': 'BIGINT', 'column': 'VARCHAR', 'text': 'VARCHAR', 'reason': 'VARCHAR'}"
        cursor.execute(
            f"INSERT INTO {quoted(stage.rejects)} SELECT {rejects.original_line(source.spooled)}, * EXCLUDE (line) "
            f"FROM read_csv({text(str(source.before.rejects))}, "
            f"columns={columns}, auto_detect=false, header=false, delim=',', quote='\"', escape='\"')"
        )
    return source.before.rejected


def _told_again(cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, columns: Sequence[Column]) -> int:
    """Remove rows that had not ended where the same run stands there again, as in dumps put one behind another.

    Returns how many went. Formats with steps are those whose names are numbers of jobs.
    """
    names = [column.name for column in columns]
    if declared.steps is None or not {declared.steps.key, START} <= {*names}:
        return 0
    rows, goes_on = quoted(stage.rows), f"({{}}.{FLAGS} & {STILL_RUNNING}) > 0"
    no_earlier = [f"coalesce(n.{each} >= o.{each}, TRUE)" for each in (START, "submit_time_s") if each in names]
    after = " AND ".join(["n.rowid > o.rowid", *no_earlier])  # of a requeued run the latest life may stand first
    later = f"(({after}) OR (n.{START} = o.{START} AND NOT {goes_on.format('n')}))"
    gone = (
        f"SELECT o.rowid FROM {rows} o JOIN {rows} n ON n.rowid <> o.rowid AND {later} AND {same_run(names)[0]} "
        f"WHERE o.{START} IS NULL OR {goes_on.format('o')}"
    )
    return _keep(cursor, stage, f"rowid NOT IN ({gone})") if one(cursor, f"SELECT count(*) FROM ({gone})")[0] else 0


def _without_duplicates(
    cursor: duckdb.DuckDBPyConnection, stage: Stage, declared: Format, columns: Sequence[Column]
) -> int:
    first = f"SELECT min(rowid) FROM {quoted(stage.rows)} GROUP BY {checks.row_hash(declared, columns)}"
    return _keep(cursor, stage, f"rowid IN ({first})")


def _keep(cursor: duckdb.DuckDBPyConnection, stage: Stage, which: str) -> int:
    """Keep rows by a condition on their rowids, in their order; returns how many went."""
    rows, kept = quoted(stage.rows), quoted(stage.rows + "_kept")
    (before,) = one(cursor, f"SELECT count(*) FROM {rows}")
    cursor.execute(f"CREATE TABLE {kept} AS SELECT * FROM {rows} WHERE {which} ORDER BY rowid")
    cursor.execute(f"DROP TABLE {rows}")
    cursor.execute(f"ALTER TABLE {kept} RENAME TO {rows}")
    (after,) = one(cursor, f"SELECT count(*) FROM {rows}")
    return int(before) - int(after)


def _nothing_left(cursor: duckdb.DuckDBPyConnection, stage: Stage, origin: str, rejected: int) -> str:
    if not rejected:
        return no_rows(origin)
    line, column, value, reason = one(
        cursor, f'SELECT line, "column", text, reason FROM {quoted(stage.rejects)} LIMIT 1'
    )
    where = f", column {column}" if column else ""
    return (
        f"{origin}: all {rejected:,} rows were rejected, the first at line {line}{where}: {reason} ({value[:80]!r}); "
        f"check the format, the delimiter and the decimal sign"
    )
