"""The raw PAI tables: their files, and how DuckDB reads them with the quirks of files out of a tar archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.formats.declare import TEXT, SourceColumn
from workprof.formats.pai_sample import PAI_NULLS
from workprof.formats.pai_tables import OPTIONAL, TABLES
from workprof.store import rejects
from workprof.store.accounts import Accounts, Balance, accounts_of, balance
from workprof.store.catalogue import one
from workprof.store.connection import quoted
from workprof.store.relation import CsvDialect, csv_relation
from workprof.store.running import Span
from workprof.store.spool import Spooled, plain_head
from workprof.store.text_shape import text_shape

SUFFIXES = (".csv", ".csv.gz", ".csv.zst", ".tar.gz", ".tar")


def looks_like_tables(paths: Sequence[Path]) -> bool:
    """Tell whether there is at least one raw table among the files or in the folder."""
    return bool(table_files(paths))


def table_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Table name -> file; of several forms of one table the plain one is taken."""
    candidates: list[Path] = []
    for path in paths:
        candidates += sorted(path.iterdir()) if path.is_dir() else [path]
    result: dict[str, Path] = {}
    for suffix in SUFFIXES:
        for path in candidates:
            name = path.name.removesuffix(suffix)
            if path.name.endswith(suffix) and name in TABLES and name not in result:
                result[name] = path
    return result


def required_tables(paths: Sequence[Path]) -> dict[str, Path]:
    """Table name -> file; raises TraceError, which names the tables that are not there."""
    result = table_files(paths)
    lacking = [name for name in TABLES if name not in result and name not in OPTIONAL]
    if lacking:
        where = ", ".join(str(path) for path in paths)
        raise TraceError(
            f"{where}: no {', '.join(f'{name}.csv' for name in lacking)} (plain, .gz, .zst or .tar.gz) there; add it"
        )
    return result


LINES = Span(0.08, 0.1, "counting lines")
HEAD_BYTES = 1 << 16
TAIL_BYTES = 4096


@dataclass(frozen=True)
class RawTable:
    """One spooled table."""

    name: str
    spooled: Spooled
    sql: str  # the reader call, wrapped so that rows that are none are left out
    # what was left out before DuckDB's own rejects: (line, text, reason)
    not_rows: tuple[tuple[int | None, str, str], ...]
    accounts: Accounts  # of its lines
    dialect: CsvDialect  # as it is read

    def refused(self, cursor: duckdb.DuckDBPyConnection, table: str) -> int:
        """Put this table's rejects into `table` and return how many rows they are."""
        for line, content, reason in self.not_rows:
            cursor.execute(f"INSERT INTO {quoted(table)} VALUES (?, ?, ?, ?)", [line, self.name, content, reason])
        return rejects.collect(cursor, table, self.spooled, f"{self.name}.") + len(self.not_rows)

    def balanced(self, cursor: duckdb.DuckDBPyConnection, n_rows: int | None = None) -> Balance:
        """What became of the lines that are neither a row nor a reject; call it after `refused`.

        `n_rows` is of a table that was read whole without a reject. Else, as the joins read a table in parts, its rows
        are counted by a scan of their own.
        """
        names, rows = [column.name for column in TABLES[self.name]], n_rows
        if rows is None:
            relation = csv_relation(self.spooled, [SourceColumn(name, TEXT) for name in names], self.dialect)
            rejects.forget(cursor)  # a scan without rejects leaves those of the one before it
            (rows,) = one(cursor, f"SELECT count(*) FROM {relation.sql}")
            rows = int(rows) + rejects.last_refused(cursor, self.spooled)
        return balance(cursor, self.accounts, self.spooled, names, self.dialect, rows)


def opened(files: Mapping[str, Spooled], accept_loss: bool, progress: Progress) -> dict[str, RawTable]:
    """Every table, looked at and its lines counted.

    Raises TraceError when a file cannot be a table of that name; for a quote that is not sound, unless loss is
    accepted.
    """
    tables = {}
    for at, (name, spooled) in enumerate(files.items()):
        span = Span(LINES.at(at / len(files)), LINES.at((at + 1) / len(files)), f"{LINES.message} of {name}")
        tables[name] = _looked_at(name, spooled, progress, span)
        if not accept_loss:
            tables[name].accounts.refuse_fault()
    return tables


def _looked_at(name: str, spooled: Spooled, progress: Progress, span: Span) -> RawTable:
    if spooled.parquet:
        raise TraceError(f"{spooled.origin}: the raw tables are CSV; this is a Parquet file")
    columns = TABLES[name]
    head = plain_head(spooled.path, HEAD_BYTES)
    first = text_shape(head[: head.rfind(b"\n") + 1] or head, spooled.origin, ",").raw_header
    if len(first) != len(columns):
        raise TraceError(
            f"{spooled.origin}: the first line has {len(first)} fields, {name} has {len(columns)} "
            f"({', '.join(column.name for column in columns)}); is it another table?"
        )
    header = tuple(cell.strip() for cell in first) == tuple(column.name for column in columns)
    member = first[0].startswith(f"{name}.csv")
    not_rows: list[tuple[int | None, str, str]] = []
    if member:
        not_rows.append((1, first[0][:80], "the name of a tar member stands in place of the first field"))
    accounts = accounts_of(spooled, ",", progress, span)
    skipped = accounts.lines.leading_blank
    dialect = CsvDialect(header=header or member, nulls=PAI_NULLS, quoting=accounts.quoting, skipped=skipped)
    sql = csv_relation(spooled, columns, dialect).sql
    if _ends_empty(spooled.path, len(columns)):
        not_rows.append((None, "", "a row without any value at the end of the file"))
        present = " OR ".join(f"{quoted(column.name)} IS NOT NULL" for column in columns)
        sql = f"(SELECT * FROM {sql} WHERE {present})"
    return RawTable(name, spooled, sql, tuple(not_rows), accounts, dialect)


def _ends_empty(path: Path, columns: int) -> bool:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
        last = stream.read().rstrip(b"\r\n").rsplit(b"\n", 1)[-1].strip(b"\r\x00")
    return last == b"," * (columns - 1) and columns > 1


def columns_sql(letters: Mapping[str, str], inside: str = "") -> str:
    """'i."job_name", t."plan_cpu"' for column -> table letter ('c.': the letters i and s are structs of c)."""
    return ", ".join(
        f"{inside if letter != 'c' else ''}{letter}.{quoted(name)} AS {quoted(name)}"
        for name, letter in letters.items()
    )
