"""A stratified sample of a dataset, kept as a dataset of its own.

Source: PolarisProfiler, Table I: n_k = round(N_k / N * rows) per value of the column.
Ours differs: the sizes are those of the largest remainder, so that they add up to `rows` (rounding each by itself gave
the paper 100,001). The draw inside a stratum is by a seeded hash of the row, and only finished rows are drawn from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import duckdb

from workprof.errors import SettingsError
from workprof.records import digest
from workprof.store import catalogue, rejects
from workprof.store.catalogue import Entry, one
from workprof.store.compile import FINISHED
from workprof.store.connection import Database, quoted
from workprof.store.frames import resolved
from workprof.store.reports import IngestReport, SampleReport, Stratum
from workprof.store.schema import REJECTS, ROWS

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
        raise SettingsError(f"rows is {rows}; ask for at least 1")
    column = resolved(entry, [by])[0]
    finished = entry.dataset.finished_rows
    if rows > finished:
        raise SettingsError(
            f"rows is {rows}, but dataset {entry.dataset.name} has {finished} finished rows; ask for at most {finished}"
        )
    hashed = digest(f"{entry.dataset.hash}/{column.name}/{rows}/{seed}/exactly", size=HASH_BYTES)
    with database.writing(), database.transaction() as cursor:
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

    Source:
        Hamilton's method of the largest remainder.
    """
    total = sum(counts.values())
    parts = {value: divmod(count * rows, total) for value, count in counts.items()}
    left = rows - sum(whole for whole, _ in parts.values())
    by_remainder = sorted(parts, key=lambda value: (-parts[value][1], digest(f"{seed}/{value is None}/{value}")))
    more = set(by_remainder[:left])
    return {value: whole + (value in more) for value, (whole, _) in parts.items()}


def _counts(cursor: duckdb.DuckDBPyConnection, entry: Entry, by: str) -> dict[str | None, int]:
    found = cursor.execute(
        f"SELECT CAST({by} AS VARCHAR) AS value, count(*) FROM {quoted(entry.table)} WHERE {FINISHED} "
        f"GROUP BY value ORDER BY value NULLS LAST"
    ).fetchall()
    return {value: int(count) for value, count in found}


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
    value = f"CAST({by} AS VARCHAR)"
    cursor.execute(
        f"""
        CREATE TABLE {quoted(ROWS + hashed)} AS SELECT * FROM {quoted(entry.table)} WHERE rowid IN (
            SELECT id FROM (
                SELECT rowid AS id, {value} AS value,
                    row_number() OVER (PARTITION BY {value} ORDER BY hash(rowid, {int(seed)}::BIGINT), rowid) AS place
                FROM {quoted(entry.table)} WHERE {FINISHED}
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
    catalogue.insert(cursor, dataset, entry.columns, entry.aliases, report, input_bytes=0)
