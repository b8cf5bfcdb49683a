"""Several files of one kind as one dataset: a run that a later file tells of again stands there once, as told last."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import duckdb

from workprof.core.errors import TraceError
from workprof.core.roles import IMPORT
from workprof.store import catalogue
from workprof.store.catalogue import REJECTS, ROWS, Entry, one
from workprof.store.connection import Database, quoted
from workprof.store.refreshing import START, same_run, together
from workprof.store.reports import Check, Column, IngestReport

FILE = "workprof_file"


def join(database: Database, parts: Sequence[tuple[Entry, IngestReport]]) -> IngestReport:
    """Make one dataset of those of several files, the latest last, and return its report.

    A run is known as in a refresh. Rows of a table without names or starts all stay, and a check says so.

    Raises TraceError for files of several kinds, or a column that means something else in one of them.
    """
    (first, _), *others = parts
    formats = {entry.dataset.format: entry.dataset.origin for entry, _ in parts}
    if len(formats) > 1:
        told = ", ".join(f"{origin} is {name}" for name, origin in formats.items())
        raise TraceError(f"files of one source have one format, and {told}; give a narrower --path")
    columns: tuple[Column, ...] = first.columns
    for entry, _ in others:
        columns = together(columns, entry.columns, entry.dataset.origin)
    hashed = hashlib.md5(" ".join(entry.dataset.hash for entry, _ in parts).encode(), usedforsecurity=False).hexdigest()
    with database.writing(IMPORT, hashed), database.transaction() as cursor:
        every = " UNION ALL BY NAME ".join(
            f"SELECT *, {at} AS {FILE} FROM {entry.relation}" for at, (entry, _) in enumerate(parts)
        )
        cursor.execute(
            f"CREATE TABLE {quoted(ROWS + hashed)} AS SELECT * EXCLUDE {FILE} FROM ({_latest(every, columns)})"
        )
        rejected = " UNION ALL ".join(f"SELECT * FROM {quoted(entry.rejects)}" for entry, _ in parts)
        cursor.execute(f"CREATE TABLE {quoted(REJECTS + hashed)} AS {rejected}")
        (rows,) = one(cursor, f"SELECT count(*) FROM {quoted(ROWS + hashed)}")
        report = _report(hashed, int(rows), [told for _, told in parts])
        if not _known(columns):
            report = replace(report, checks=(*report.checks, _unknown(cursor, every, columns)))
        dataset = replace(first.dataset, name=hashed, hash=hashed, rows=report.rows)
        catalogue.insert(cursor, dataset, columns, first.aliases, report, input_bytes=0)
    return report


def _known(columns: Sequence[Column]) -> bool:
    """Whether a run of one file can be found in another."""
    return {"job_name", START} <= {column.name for column in columns}


def _unknown(cursor: duckdb.DuckDBPyConnection, every: str, columns: Sequence[Column]) -> Check:
    """The check of files whose runs have no name or no start: a warning where rows of several are alike."""
    listed = ", ".join(quoted(column.name) for column in columns)
    by_file = f"SELECT hash({listed}) AS mark, count(*) AS n FROM ({every}) GROUP BY mark, {FILE}"
    by_row = f"SELECT sum(n) AS n, max(n) AS most FROM ({by_file}) GROUP BY mark"
    (alike,) = one(cursor, f"SELECT coalesce(sum(n) - sum(most), 0) FROM ({by_row})")
    message = (
        f"{alike:,} rows are alike in several files: without job_name and start_time_s a run that two files tell of "
        "counts twice; map these columns, or give --path files that do not overlap"
    )
    return Check("runs without names", "warning" if alike else "info", int(alike), message)


def _latest(every: str, columns: Sequence[Column]) -> str:
    """SQL: the rows of which no later file tells, as a refresh would have it."""
    names = [column.name for column in columns]
    if not _known(columns):
        return every
    later = (f"NOT EXISTS (SELECT 1 FROM every n WHERE n.{FILE} > o.{FILE} AND {same})" for same in same_run(names))
    return f"WITH every AS ({every}) SELECT * FROM every o WHERE {' AND '.join(later)}"


def _report(hashed: str, rows: int, told: Sequence[IngestReport]) -> IngestReport:
    found: dict[str, list[Check]] = {}
    for one_file in told:
        for check in one_file.checks:
            found.setdefault(check.name, []).append(check)
    checks = []
    for own in found.values():
        message = f"in {len(own)} files; in the last, {own[-1].message}" if len(own) > 1 else own[0].message
        checks.append(replace(own[-1], count=sum(check.count for check in own), message=message))
    again = sum(one_file.rows for one_file in told) - rows
    if again:
        message = f"{again:,} runs of which a later file tells again stand here as it tells them"
        checks.append(Check("told again", "info", again, message))
    return replace(
        told[-1],
        dataset=hashed,
        hash=hashed,
        rows=rows,
        rows_read=sum(one_file.rows_read for one_file in told),
        rejected=sum(one_file.rejected for one_file in told),
        lost=sum(one_file.lost for one_file in told),
        seconds=sum(one_file.seconds for one_file in told),
        checks=tuple(checks),
    )
