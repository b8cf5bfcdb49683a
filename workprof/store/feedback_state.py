"""The feedback loop's memory in the database: its state, and the finished jobs kept for the next refit.

Records are kept as JSON and NumPy arrays (no pickles), in one row per loop; finished jobs in one row per observed
table, so that adding some never rewrites those before.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import duckdb
import numpy as np

from workprof.errors import EntryDamaged, WorkprofError
from workprof.records import pack
from workprof.store.connection import Database
from workprof.store.stored_documents import Unreadable, stored

Record = TypeVar("Record")

FEEDBACK_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS feedback_state (
        dataset VARCHAR NOT NULL,   -- hash
        settings VARCHAR NOT NULL,  -- digest of the forecaster's settings
        version BIGINT NOT NULL,    -- of the record's layout
        document VARCHAR NOT NULL,  -- JSON
        arrays BLOB NOT NULL        -- npz
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS feedback_jobs (
        dataset VARCHAR NOT NULL,
        settings VARCHAR NOT NULL,
        version BIGINT NOT NULL,
        number BIGINT NOT NULL,     -- rising with every observed table
        rows BIGINT NOT NULL,
        document VARCHAR NOT NULL,
        arrays BLOB NOT NULL
    )
    """,
)

VERSION = 1
"""Raise it when the records change so that older ones cannot be read; such rows are then left out and told."""

FORGET_DAMAGED = "Remove what cannot be read"
"""The button of the dashboard."""

OURS = "dataset = ? AND settings = ?"


@dataclass(frozen=True)
class FinishedTable:
    """Finished jobs to keep.

    Attributes:
        jobs: record that holds them.
        rows: how many they are.
        most: rows to keep in all; older tables are let go once newer ones hold as many.
    """

    jobs: object
    rows: int
    most: int


class FeedbackTables:
    """Methods of the store for feedback loops; a loop is named by its dataset's hash and a digest of settings."""

    _database: Database

    def save_feedback(self, dataset: str, settings: str, state: object) -> None:
        """Keep a state in place of the one before."""
        row = [dataset, settings, VERSION, *_stored(state)]
        with self._database.writing(), self._database.transaction() as cursor:
            cursor.execute(f"DELETE FROM feedback_state WHERE {OURS}", [dataset, settings])
            cursor.execute("INSERT INTO feedback_state VALUES (?, ?, ?, ?, ?)", row)

    def save_observation(self, dataset: str, settings: str, state: object, finished: FinishedTable) -> None:
        """Keep a state and the finished jobs that led to it, both or neither; the oldest tables are let go."""
        row = [dataset, settings, VERSION, *_stored(state)]
        with self._database.writing(), self._database.transaction() as cursor:
            cursor.execute(f"DELETE FROM feedback_state WHERE {OURS}", [dataset, settings])
            cursor.execute("INSERT INTO feedback_state VALUES (?, ?, ?, ?, ?)", row)
            (last,) = _one(
                cursor, f"SELECT coalesce(max(number), 0) FROM feedback_jobs WHERE {OURS}", dataset, settings
            )
            cursor.execute(
                "INSERT INTO feedback_jobs VALUES (?, ?, ?, ?, ?, ?, ?)",
                [dataset, settings, VERSION, last + 1, finished.rows, *_stored(finished.jobs)],
            )
            _let_go(cursor, dataset, settings, finished.most)

    def feedback(self, dataset: str, settings: str, cls: type[Record]) -> Record | None:
        """Return the kept state, or None where there is none.

        Raises:
            WorkprofError: when it was written by a version that this one cannot read.
            EntryDamaged: when it is no such state.
        """
        with self._database.cursor() as cursor:
            if not _has_tables(cursor):
                return None
            query = f"SELECT version, document, arrays FROM feedback_state WHERE {OURS}"
            row = cursor.execute(query, [dataset, settings]).fetchone()
        return _read(row, cls) if row else None

    def finished_jobs(self, dataset: str, settings: str, cls: type[Record]) -> tuple[Record, ...]:
        """Return the finished jobs that are kept, oldest table first.

        Raises:
            WorkprofError: when some were written by a version that this one cannot read.
            EntryDamaged: when some are no such jobs.
        """
        with self._database.cursor() as cursor:
            if not _has_tables(cursor):
                return ()
            query = f"SELECT version, document, arrays FROM feedback_jobs WHERE {OURS} ORDER BY number"
            rows = cursor.execute(query, [dataset, settings]).fetchall()
        return tuple(_read(row, cls) for row in rows)

    def unreadable_feedback(self, dataset: str, state: type[object], jobs: type[object]) -> dict[str, Unreadable]:
        """Return the loops of a dataset that cannot be read, by digest of settings, each with the reason."""
        found: dict[str, Unreadable] = {}
        with self._database.cursor() as cursor:
            if not _has_tables(cursor):
                return {}
            for table, cls in (("feedback_state", state), ("feedback_jobs", jobs)):
                query = f"SELECT settings, document, arrays FROM {table} WHERE dataset = ? AND version = ?"
                for settings, *kept in cursor.execute(query, [dataset, VERSION]).fetchall():
                    one = stored(cls, *kept)
                    if isinstance(one, Unreadable):
                        found[settings] = one
        return found

    def forget_feedback(self, dataset: str, settings: str = "") -> None:
        """Forget one loop of a dataset, or all of them."""
        with self._database.writing(), self._database.transaction() as cursor:
            forget_feedback(cursor, dataset, settings)


def forget_feedback(cursor: duckdb.DuckDBPyConnection, dataset: str, settings: str = "") -> None:
    """Forget one loop of a dataset, or all of them, inside a transaction of the caller."""
    for table in ("feedback_state", "feedback_jobs"):
        cursor.execute(
            f"DELETE FROM {table} WHERE dataset = ? AND (settings = ? OR ? = '')", [dataset, settings, settings]
        )


def _let_go(cursor: duckdb.DuckDBPyConnection, dataset: str, settings: str, most: int) -> None:
    """Remove the oldest tables whose newer ones alone hold `most` rows."""
    query = f"SELECT number, rows FROM feedback_jobs WHERE {OURS} ORDER BY number DESC"
    newer = 0
    for number, rows in cursor.execute(query, [dataset, settings]).fetchall():
        if newer >= most:
            cursor.execute(f"DELETE FROM feedback_jobs WHERE {OURS} AND number = ?", [dataset, settings, number])
        newer += rows


def _stored(record: object) -> tuple[str, bytes]:
    packed = pack(record)
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **cast(Any, packed.arrays))
    return json.dumps(packed.document), stream.getvalue()


def _read(row: tuple[Any, ...], cls: type[Record]) -> Record:
    version, document, arrays = row
    if version != VERSION:
        raise WorkprofError(
            f"the feedback state was written by another version of workprof (layout {version}, this one reads "
            f"{VERSION}); observe with the version that wrote it, or remove the dataset and load it again"
        )
    found = stored(cls, document, arrays)
    if isinstance(found, Unreadable):
        raise EntryDamaged(
            f"what finished jobs told about this dataset cannot be read ({found.reason}); the dataset and its results "
            f"are as they were. Open it on the dashboard, press '{FORGET_DAMAGED}', and observe the jobs again"
        )
    return found


def _has_tables(cursor: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether the tables are there: a read-only home of an earlier version has none."""
    query = "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('feedback_state', 'feedback_jobs')"
    return bool(_one(cursor, query)[0] == len(FEEDBACK_TABLES))


def _one(cursor: duckdb.DuckDBPyConnection, query: str, *parameters: object) -> tuple[Any, ...]:
    (row,) = cursor.execute(query, list(parameters)).fetchall()
    return tuple(row)
