"""A stratified sample of a dataset, kept as a dataset of its own.

Source: polarisprofiler.md 1a (the paper's Table I): n_k = round(N_k / N * rows) per value of the column.
Ours differs: the draw inside a stratum is by a seeded hash of the row, and only finished rows are drawn from.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import duckdb

from workprof.errors import NoRows, SettingsError
from workprof.records import digest
from workprof.store import catalogue, rejects
from workprof.store.catalogue import Entry, one
from workprof.store.compile import FINISHED
from workprof.store.connection import Database, quoted
from workprof.store.frames import resolved
from workprof.store.reports import IngestReport, SampleReport, Stratum
from workprof.store.schema import REJECTS, ROWS

NULL_STRATUM = "NULL"
HASH_BYTES = 16


def sample(database: Database, entry: Entry, by: str, rows: int, name: str, seed: int) -> SampleReport:
    """Return what was drawn; the same question gives the same rows.

    Raises:
        SettingsError: when `rows` is not positive, or the name cannot be used.
        NoRows: when no stratum is large enough to give a row.
    """
    started = time.perf_counter()
    if rows < 1:
        raise SettingsError(f"rows is {rows}; ask for at least 1")
    column = resolved(entry, [by])[0]
    hashed = digest(f"{entry.dataset.hash}/{column.name}/{rows}/{seed}", size=HASH_BYTES)
    with database.writing(), database.transaction() as cursor:
        there = catalogue.find_hash(cursor, hashed)
        if there is not None and there.name != name:
            raise SettingsError(
                f"this very sample is there already as {there.name!r}; rename it, or choose another seed"
            )
        strata = _strata(cursor, entry, quoted(column.name), rows)
        drawn = sum(stratum.rows_out for stratum in strata)
        if not drawn:
            raise NoRows(f"no value of {column.name} is frequent enough for {rows} rows in all; ask for more rows")
        if there is None:
            free = catalogue.free_name(cursor, name, f"{entry.dataset.name}-sample")
            _draw(cursor, entry, quoted(column.name), strata, hashed, seed)
            report = SampleReport(free, hashed, drawn, strata, time.perf_counter() - started)
            _insert(cursor, entry, report, column.name)
            return report
    return SampleReport(there.name, hashed, drawn, strata, time.perf_counter() - started)


def _strata(cursor: duckdb.DuckDBPyConnection, entry: Entry, by: str, rows: int) -> tuple[Stratum, ...]:
    counts = cursor.execute(
        f"SELECT CAST({by} AS VARCHAR) AS value, count(*) FROM {quoted(entry.table)} WHERE {FINISHED} "
        f"GROUP BY value ORDER BY value NULLS LAST"
    ).fetchall()
    total = sum(count for _, count in counts)
    return tuple(
        Stratum(NULL_STRATUM if value is None else value, count, min(count, round(count / total * rows)))
        for value, count in counts
    )


def _draw(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, by: str, strata: tuple[Stratum, ...], hashed: str, seed: int
) -> None:
    cursor.execute("CREATE TEMP TABLE wanted_rows (value VARCHAR, rows_out BIGINT)")
    cursor.executemany("INSERT INTO wanted_rows VALUES (?, ?)", [[s.value, s.rows_out] for s in strata])
    value = f"coalesce(CAST({by} AS VARCHAR), '{NULL_STRATUM}')"
    cursor.execute(
        f"""
        CREATE TABLE {quoted(ROWS + hashed)} AS SELECT * FROM {quoted(entry.table)} WHERE rowid IN (
            SELECT id FROM (
                SELECT rowid AS id, {value} AS value,
                    row_number() OVER (PARTITION BY {value} ORDER BY hash(rowid, {int(seed)}::BIGINT), rowid) AS place
                FROM {quoted(entry.table)} WHERE {FINISHED}
            ) JOIN wanted_rows USING (value) WHERE place <= rows_out
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
    catalogue.insert(cursor, dataset, entry.columns, entry.aliases, report, input_bytes=0)
