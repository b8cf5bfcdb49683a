"""Rows of a dataset as pandas frames: columns, a search by words, a stratified sample."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError
from workprof.core.records import digest
from workprof.core.roles import IMPORT
from workprof.core.text import near
from workprof.core.units import format_bytes
from workprof.store import catalogue, rejects
from workprof.store.catalogue import REJECTS, ROWS, Entry, one
from workprof.store.compile import FINISHED, ROW_ID
from workprof.store.connection import Database, quoted, text
from workprof.store.mapping import shown
from workprof.store.reports import Column, IngestReport, SampleReport, Stratum, shares_of

LARGEST_PAGE = 100_000
AT_ONCE = 131_072
"""Rows that come from the database together."""
NUMBER_BYTES = 8
CODE_BYTES = 4
"""Of a text in a frame, at most; the texts themselves are kept once each."""
INFINITE = "CAST('infinity' AS DOUBLE)"


def resolved(entry: Entry, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of these names (fields or the trace's own), each once.

    Raises ColumnMissing, which names what there is.
    """
    result: dict[str, Column] = {}
    for name in names:
        column = entry.column(name)
        if column is None:
            there = shown([known.name for known in entry.columns])
            meant = near(name, (*(known.name for known in entry.columns), *entry.aliases))
            raise ColumnMissing(f"dataset {entry.dataset.name} has no column {name!r}; it has {there}{meant}")
        result[column.name] = column
    return tuple(result.values())


@dataclass(frozen=True)
class Drawn:
    """Which rows to draw: at most so many of the finished ones with a number above 0 in a column, always the same."""

    rows: int  # at most
    above_0: str  # the column
    task: str = ""  # of which alone; '' = of all


def refuse_large(entry: Entry, names: Sequence[str], limit_bytes: int, rows: int) -> None:
    """Refuse a frame of so many rows that alone takes more memory than there is to be.

    Raises NotEnoughData, which says how much, the limit, and what to do.
    """
    columns = resolved(entry, [name for name in names if name != ROW_ID])
    a_row = NUMBER_BYTES + sum(NUMBER_BYTES if column.numeric else CODE_BYTES for column in columns)
    if rows * a_row > limit_bytes:
        raise NotEnoughData(
            f"{len(columns)} columns of {rows:,} runs of {entry.dataset.name} take {format_bytes(rows * a_row)}, and "
            f"WORKPROF_MEMORY_LIMIT is {format_bytes(limit_bytes)}; raise it, or ask of a sample (`workprof sample`)"
        )


def frame(
    cursor: duckdb.DuckDBPyConnection,
    entry: Entry,
    names: Sequence[str],
    *,
    finished_only: bool,
    drawn: Drawn | None = None,
    latest: int | None = None,
) -> pd.DataFrame:
    """Return `row_id` (int64), numbers as float64 with NaN, texts as categories; in row order.

    The rows come in batches, so that beside the frame (8 bytes a number, up to 4 a text) there is one of them.

    Where rows are not only finished ones, the last column, `finished`, tells which are.
    """
    columns = resolved(entry, [name for name in names if name != ROW_ID])
    items = [f"rowid AS {ROW_ID}", *(_typed(column) for column in columns)]
    items += [] if finished_only else [FINISHED]
    where = f" WHERE {FINISHED}" if finished_only else ""
    n_rows = entry.dataset.finished_rows if finished_only else entry.dataset.rows
    if drawn:
        own = f"SELECT rowid FROM {entry.relation} WHERE {FINISHED} AND {quoted(drawn.above_0)} > 0"
        own += f" AND task_name = {text(drawn.task)}" if drawn.task else ""
        where = f" WHERE rowid IN ({own} ORDER BY hash(rowid), rowid LIMIT {drawn.rows}) ORDER BY rowid"
        (n_rows,) = one(cursor, f"SELECT count(*) FROM (SELECT 1 FROM {entry.relation}{where})")
    elif latest is not None and latest < n_rows:
        own = f"SELECT rowid FROM {entry.relation}{where} ORDER BY {_began(entry)} DESC, rowid DESC LIMIT {latest}"
        where, n_rows = f" WHERE rowid IN ({own}) ORDER BY rowid", latest
    numbers = {column.name: np.empty(n_rows) for column in columns if column.numeric}
    texts = {column.name: _Texts(n_rows) for column in columns if not column.numeric}
    ids, done, filled = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=bool), 0
    for batch in _batches(cursor, entry, items, where, AT_ONCE):
        part = slice(filled, filled := filled + batch.num_rows)
        ids[part] = batch.column(ROW_ID).to_numpy()
        for name, values in numbers.items():
            values[part] = batch.column(name).to_numpy(zero_copy_only=False)
        for name, coded in texts.items():
            coded.put(part, batch.column(name))
        if not finished_only:
            done[part] = batch.column(FINISHED).to_numpy(zero_copy_only=False)
    series = {ROW_ID: pd.Series(ids, copy=False)}
    for column in columns:
        name = column.name
        series[name] = pd.Series(numbers[name], copy=False) if column.numeric else texts.pop(name).series()
    if not finished_only:
        series[FINISHED] = pd.Series(done, copy=False)
    return pd.DataFrame(series, copy=False)


def parts(cursor: duckdb.DuckDBPyConnection, entry: Entry, names: Sequence[str], rows: int) -> Iterator[pd.DataFrame]:
    """Yield all rows, finished or not, in frames of about so many: columns of these names, each as `frame` has it."""
    own = {ROW_ID: f"rowid AS {ROW_ID}", FINISHED: FINISHED}
    items = [own[name] if name in own else _typed(*resolved(entry, [name])) for name in names]
    for batch in _batches(cursor, entry, items, "", rows):
        yield pd.DataFrame({name: _series(batch.column(name)) for name in names}, copy=False)


def _batches(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, items: Sequence[str], where: str, rows: int
) -> Iterator[pa.RecordBatch]:
    yield from cursor.sql(f"SELECT {', '.join(items)} FROM {entry.relation}{where}").to_arrow_reader(rows)


def _series(values: pa.Array) -> pd.Series:
    if not pa.types.is_string(values.type):
        return pd.Series(values.to_numpy(zero_copy_only=False), copy=False)
    coded = values.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    categories = pd.Index(coded.dictionary.to_pylist(), dtype="str")
    return pd.Series(pd.Categorical.from_codes(codes, categories=categories), copy=False)


def _began(entry: Entry) -> str:
    """When a row began, as `latest_of` sees it: its start, else its submission; without either it is the latest."""
    held = {column.name for column in entry.columns if column.numeric}
    times = [name for name in ("start_time_s", "submit_time_s") if name in held]
    return f"coalesce({', '.join([*times, INFINITE])})"


def page(cursor: duckdb.DuckDBPyConnection, entry: Entry, limit: int, offset: int) -> pd.DataFrame:
    """Return rows as stored, with `row_id` first and `finished` last.

    Raises SettingsError when the page is out of bounds.
    """
    if not 0 <= limit <= LARGEST_PAGE or offset < 0:
        raise SettingsError(
            f"limit is {limit}, offset {offset}; use a limit up to {LARGEST_PAGE:,} and no negative offset"
        )
    items = _items(entry.columns)
    return cursor.execute(f"SELECT {items} FROM {entry.relation} LIMIT ? OFFSET ?", [limit, offset]).df()


def rows(cursor: duckdb.DuckDBPyConnection, entry: Entry, row_ids: Sequence[int], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these ids, in the order asked; raises SettingsError when an id is none of the dataset's."""
    ids = [int(row_id) for row_id in row_ids]
    unknown = [row_id for row_id in ids if not 0 <= row_id < entry.dataset.rows]
    if unknown:
        raise SettingsError(
            f"row {unknown[0]} is not in dataset {entry.dataset.name}; rows are 0 to {entry.dataset.rows - 1}"
        )
    columns = resolved(entry, names) if names else entry.columns
    result = cursor.execute(
        f"SELECT {_items(columns)} FROM {entry.relation} WHERE rowid IN (SELECT unnest(CAST(? AS BIGINT[])))",
        [ids],
    ).df()
    return result.set_index(ROW_ID).loc[ids].reset_index()


def _items(columns: Sequence[Column]) -> str:
    return ", ".join([f"rowid AS {ROW_ID}", *(quoted(column.name) for column in columns), FINISHED])


def _typed(column: Column) -> str:
    name = quoted(column.name)
    return f"CAST({name} AS DOUBLE) AS {name}" if column.numeric else name


class _Texts:
    """A column of texts that is read in parts: a code a row, and each text once, in order of appearance."""

    def __init__(self, n_rows: int) -> None:
        self._codes = np.empty(n_rows, dtype=np.int32)
        self._code_of: dict[str, int] = {}

    def put(self, rows: slice, texts: pa.Array) -> None:
        """Take the texts of some rows."""
        coded = texts.dictionary_encode()
        known = self._code_of
        codes = [known.setdefault(text, len(known)) for text in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
        self._codes[rows] = np.array([*codes, -1], dtype=np.int32)[places]

    def series(self) -> pd.Series:
        """Return the column as categories."""
        categories = pd.Index([*self._code_of], dtype="str")
        return pd.Series(pd.Categorical.from_codes(self._codes, categories=categories), copy=False)


MOST_HITS = 200
MOST_WORDS = 8
LONGEST_TEXT = 200


def search(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, columns: Sequence[str], words: str, limit: int
) -> pd.DataFrame:
    """Return finished rows in which every word stands in some column, upper or lower case alike, in row order.

    A text that is a whole number also finds the row of that number, first. Without a word the first rows are found.

    At least one column is looked into. Words are separated by blanks; `%` and `_` stand for themselves. The limit is 1
    to 200.

    Raises:
        SettingsError: when the limit or the text is out of bounds.
        ColumnMissing: when a column is none of the dataset's.
    """
    searched = words.split()
    if not 1 <= limit <= MOST_HITS:
        raise SettingsError(f"limit is {limit}; give 1 to {MOST_HITS} jobs")
    if len(searched) > MOST_WORDS or len(words) > LONGEST_TEXT:
        raise SettingsError(f"the search has {len(searched)} words; use up to {MOST_WORDS}, {LONGEST_TEXT} characters")
    names = [quoted(column.name) for column in resolved(entry, columns)]
    in_some = " OR ".join(f"contains(lower({name}), ?)" for name in names)
    where = " AND ".join([FINISHED, *(f"({in_some})" for _ in searched)])
    values = [word.lower() for word in searched for _ in names]
    number = int(words) if words.strip().isdecimal() and len(words.strip()) < 19 else -1
    items = ", ".join([f"rowid AS {ROW_ID}", *names])
    return cursor.execute(
        f"SELECT {items} FROM {entry.relation} WHERE ({where}) OR (rowid = ? AND {FINISHED}) "
        f"ORDER BY rowid <> ?, rowid LIMIT ?",
        [*values, number, number, limit],
    ).df()


def values_of(cursor: duckdb.DuckDBPyConnection, entry: Entry, column: str, most: int) -> tuple[tuple[str, int], ...]:
    """Return the most frequent texts of a column with their runs; '' = none, where runs have none."""
    (found,) = resolved(entry, [column])
    name = f"coalesce({quoted(found.name)}, '')"
    result = cursor.execute(
        f"SELECT {name}, count(*) AS n FROM {entry.relation} GROUP BY 1 ORDER BY n DESC, 1 LIMIT {int(most)}"
    ).fetchall()
    return tuple((str(value), int(count)) for value, count in result)


def nth_finished(cursor: duckdb.DuckDBPyConnection, entry: Entry, position: int) -> int:
    """Return the row id of the finished row at a position, counted from 0; raises NoRows when there is none."""
    result = cursor.execute(
        f"SELECT rowid FROM {entry.relation} WHERE {FINISHED} ORDER BY rowid LIMIT 1 OFFSET ?", [position]
    ).fetchone()
    if result is None:
        raise NoRows(f"dataset {entry.dataset.name} has no finished row at position {position}; draw again")
    return int(result[0])


NULL_STRATUM = "NULL"
"""How the stratum of rows without a value is called; where a value is written so, too, it is 'NULL (no value)'."""
HASH_BYTES = 16


def sample(database: Database, entry: Entry, by: str, rows: int, name: str, seed: int) -> SampleReport:
    """Return what was drawn; the same question gives the same rows.

    Raises:
        ColumnMissing: when there is no such column.
        SettingsError: when `rows` is not positive or more than the finished rows, or the name cannot be used.
    """
    started = time.perf_counter()
    if rows < 1:
        raise SettingsError(f"rows is {rows}; give at least 1")
    column = resolved(entry, [by])[0]
    finished = entry.dataset.finished_rows
    if rows > finished:
        raise SettingsError(
            f"rows is {rows}, but dataset {entry.dataset.name} has {finished} finished rows; give at most {finished}"
        )
    hashed = digest(f"{entry.dataset.hash}/{column.name}/{rows}/{seed}/exactly", size=HASH_BYTES)
    with database.writing(IMPORT, name), database.transaction() as cursor:
        there = catalogue.find_hash(cursor, hashed)
        if there is not None and there.name != name:
            raise SettingsError(
                f"this very sample is there already as {there.name!r}; rename it, or choose another seed"
            )
        counts = _counts(cursor, entry, quoted(column.name))
        sizes = shares(counts, rows, seed)
        strata = _named(counts, sizes)
        if there is None:
            free = catalogue.free_name(cursor, name, f"{entry.dataset.name}-sample")
            _draw(cursor, entry, quoted(column.name), sizes, hashed, seed)
            report = SampleReport(free, hashed, rows, strata, time.perf_counter() - started)
            _insert(cursor, entry, report, column.name)
            return report
    return SampleReport(there.name, hashed, rows, strata, time.perf_counter() - started)


def shares(counts: Mapping[str | None, int], rows: int, seed: int) -> dict[str | None, int]:
    """Return how many rows to draw from each stratum: in proportion, `rows` in all, never more than there are.

    Every stratum gets the whole part of its share; what is left goes, one each, to the largest remainders (of equal
    ones: by a seeded hash of the value).

    Source: Hamilton's method of the largest remainder.
    """
    total = sum(counts.values())
    parts = {value: divmod(count * rows, total) for value, count in counts.items()}
    left = rows - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda value: (-parts[value][1], digest(f"{seed}/{value is None}/{value}")))
    more = set(by_remainder[:left])
    return {value: whole + (value in more) for value, (whole, _) in parts.items()}


def _counts(cursor: duckdb.DuckDBPyConnection, entry: Entry, by: str) -> dict[str | None, int]:
    result = cursor.execute(
        f"SELECT CAST({by} AS VARCHAR) AS value, count(*) FROM {entry.relation} WHERE {FINISHED} "
        f"GROUP BY value ORDER BY value NULLS LAST"
    ).fetchall()
    return {value: int(count) for value, count in result}


def _named(counts: Mapping[str | None, int], sizes: Mapping[str | None, int]) -> tuple[Stratum, ...]:
    missing = f"{NULL_STRATUM} (no value)" if NULL_STRATUM in counts else NULL_STRATUM
    return tuple(Stratum(missing if value is None else value, count, sizes[value]) for value, count in counts.items())


def _draw(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, by: str, sizes: Mapping[str | None, int], hashed: str, seed: int
) -> None:
    cursor.execute("CREATE TEMP TABLE wanted_rows (value VARCHAR, rows_out BIGINT)")
    cursor.executemany(
        "INSERT INTO wanted_rows VALUES (?, ?)", [[value, size] for value, size in sizes.items() if size]
    )
    value, own = f"CAST({by} AS VARCHAR)", "* EXCLUDE (rowid)" if entry.where else "*"
    cursor.execute(
        f"""
        CREATE TABLE {quoted(ROWS + hashed)} AS SELECT {own} FROM {entry.relation} WHERE rowid IN (
            SELECT id FROM (
                SELECT rowid AS id, {value} AS value,
                    row_number() OVER (PARTITION BY {value} ORDER BY hash(rowid, {int(seed)}::BIGINT), rowid) AS place
                FROM {entry.relation} WHERE {FINISHED}
            ) drawn JOIN wanted_rows wanted ON drawn.value IS NOT DISTINCT FROM wanted.value WHERE place <= rows_out
        ) ORDER BY rowid
        """
    )
    cursor.execute("DROP TABLE wanted_rows")
    rejects.create_table(cursor, REJECTS + hashed)


def _insert(cursor: duckdb.DuckDBPyConnection, entry: Entry, drawn: SampleReport, by: str) -> None:
    parent = entry.dataset
    (finished,) = one(cursor, f"SELECT count(*) FROM {quoted(ROWS + drawn.hash)} WHERE {FINISHED}")
    dataset = replace(
        parent,
        name=drawn.dataset,
        hash=drawn.hash,
        rows=drawn.rows,
        finished_rows=int(finished),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        origin=f"{parent.name}, sampled by {by}",
    )
    report = IngestReport(
        drawn.dataset, drawn.hash, parent.kind, parent.format, parent.rows, drawn.rows, 0, None, (), (), drawn.seconds
    )
    report = replace(report, machine_shares=shares_of(entry.columns))
    catalogue.insert(cursor, dataset, entry.columns, entry.aliases, report, input_bytes=0)
