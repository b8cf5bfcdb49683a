"""JSON documents that the database keeps: scenarios, mappings, names of profiles, the memory of the feedback loop."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import duckdb
import numpy as np

from workprof.core.errors import EntryDamaged, SettingsError, WorkprofError
from workprof.core.records import Arrays, Packed, pack, unpack
from workprof.core.roles import MAPPING, OBSERVE, SCENARIO
from workprof.core.scope import SIGN
from workprof.store.connection import Database
from workprof.store.entries import UNREADABLE, misfit
from workprof.store.reports import FieldSource, ProfileNote, SavedMapping

Record = TypeVar("Record")

LONGEST_REASON = 200
OTHER_SHAPE = "it holds something else"


@dataclass(frozen=True)
class Unreadable:
    """Why something that is kept about a dataset cannot be read, for people."""

    reason: str


def stored(kind: type[Record], document: object, arrays: object = None) -> Record | Unreadable:
    """The record that a text of JSON holds (and a blob of arrays, where there is one), or why it is none."""
    try:
        record = unpack(kind, Packed(_tree(document), _arrays(arrays)))
        wrong = misfit(kind, record)
    except MemoryError:  # that says nothing about the document
        raise
    except UNREADABLE as error:
        wrong = _in_words(error)
    return Unreadable(wrong) if wrong else record


def _in_words(error: BaseException) -> str:
    """What a reader said, where it is meant for people."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON: {error}"[:LONGEST_REASON]
    for_people = isinstance(error, (_Odd, WorkprofError))
    return ascii(str(error))[1:-1][:LONGEST_REASON] if for_people else OTHER_SHAPE


class _Odd(ValueError):
    """A reason for people."""


def _tree(document: object) -> Any:
    if not isinstance(document, str):
        raise _Odd(f"there is {'nothing' if document is None else type(document).__name__} where JSON belongs")
    return json.loads(document, parse_float=_finite, parse_constant=_finite)


def _finite(number: str) -> float:
    """A number; ours are never written as NaN or Infinity, nor beyond what a float holds."""
    value = float(number)
    if not math.isfinite(value):
        raise _Odd(f"{number[:20]} is no number that is ever kept")
    return value


def _arrays(blob: object) -> Arrays:
    if blob is None:
        return {}
    if not isinstance(blob, bytes):
        raise _Odd(f"there is {type(blob).__name__} where arrays belong")
    with np.load(io.BytesIO(blob), allow_pickle=False) as stored_arrays:
        return {name: stored_arrays[name] for name in stored_arrays.files}


SCENARIO_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS scenarios (
        dataset VARCHAR NOT NULL,   -- hash
        name VARCHAR NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        document VARCHAR NOT NULL   -- JSON
    )
    """,
)


class ScenarioTables:
    """Methods of the store for scenarios."""

    _database: Database

    def save_scenario(self, dataset: str, name: str, created: str, scenario: object) -> None:
        """Keep a scenario in place of one of the same name."""
        row = [dataset, name, created, json.dumps(pack(scenario).document)]
        with self._database.writing(SCENARIO, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scenarios WHERE dataset = ? AND name = ?", [dataset, name])
            cursor.execute("INSERT INTO scenarios VALUES (?, ?, ?, ?)", row)

    def scenarios(self, dataset: str, cls: type[Record]) -> tuple[Record, ...]:
        """The scenarios of a dataset that can be read, the newest first; see `unreadable_scenarios`."""
        result = [stored(cls, document) for _, document in self._scenario_rows(dataset)]
        return tuple(one for one in result if not isinstance(one, Unreadable))

    def unreadable_scenarios(self, dataset: str, cls: type[Record]) -> dict[str, Unreadable]:
        """The other ones by name, each with the reason."""
        result = {name: stored(cls, document) for name, document in self._scenario_rows(dataset)}
        return {name: one for name, one in result.items() if isinstance(one, Unreadable)}

    def _scenario_rows(self, dataset: str) -> list[tuple[str, object]]:
        with self._database.cursor() as cursor:
            if not has_table(cursor, "scenarios"):
                return []
            query = "SELECT name, document FROM scenarios WHERE dataset = ? ORDER BY created DESC, name"
            return [(str(name), document) for name, document in cursor.execute(query, [dataset]).fetchall()]

    def remove_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        with self._database.writing(SCENARIO, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scenarios WHERE dataset = ? AND name = ?", [dataset, name])


MAPPING_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS mappings (
        name VARCHAR NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        document VARCHAR NOT NULL   -- JSON
    )
    """,
)

MOST_NAME = 80
"""Characters of a mapping's name."""


class MappingTables:
    """Methods of the store for mappings of generic files that were saved under a name."""

    _database: Database

    def save_mapping(self, name: str, mapping: dict[str, FieldSource]) -> SavedMapping:
        """Keep a mapping in place of one of the same name and return it.

        Raises SettingsError for a name that cannot be used, and a mapping without a field.
        """
        called = _mapping_name(name)
        if not mapping:
            raise SettingsError(f"mapping {called!r} has no field; choose a column for one first")
        saved = SavedMapping(called, datetime.now(UTC).isoformat(timespec="milliseconds"), mapping)
        with self._database.writing(MAPPING, called), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM mappings WHERE name = ?", [called])
            row = [called, saved.created, json.dumps(pack(mapping).document)]
            cursor.execute("INSERT INTO mappings VALUES (?, ?, ?)", row)
        return saved

    def mappings(self) -> tuple[SavedMapping, ...]:
        """The saved mappings, the newest first; one that somebody damaged is left out."""
        with self._database.cursor() as cursor:
            if not has_table(cursor, "mappings"):
                return ()
            rows = cursor.execute("SELECT name, created, document FROM mappings ORDER BY created DESC, name").fetchall()
        result = [(name, created, stored(dict[str, FieldSource], document)) for name, created, document in rows]
        return tuple(SavedMapping(name, created, one) for name, created, one in result if isinstance(one, dict))

    def mapping(self, name: str) -> SavedMapping:
        """The mapping of a name; raises SettingsError, which names what there is."""
        saved = self.mappings()
        result = next((one for one in saved if one.name == name), None)
        if result is None:
            there = ", ".join(one.name for one in saved) or "none yet"
            raise SettingsError(f"no mapping {name!r}; there are: {there}")
        return result

    def rename_mapping(self, name: str, new: str) -> SavedMapping:
        """Give a mapping another name and return it.

        Raises SettingsError when there is no such mapping, or the new name is taken or cannot be used.
        """
        self._database.refuse(MAPPING)
        result, called = self.mapping(name), _mapping_name(new)
        if called != name and any(one.name == called for one in self.mappings()):
            raise SettingsError(f"a mapping is already called {called!r}; give another name, or remove that one")
        with self._database.writing(MAPPING, called), self._database.transaction() as cursor:
            cursor.execute("UPDATE mappings SET name = ? WHERE name = ?", [called, name])
        return replace(result, name=called)

    def remove_mapping(self, name: str) -> SavedMapping:
        """Forget a mapping and return what it was; raises SettingsError when there is no such mapping."""
        self._database.refuse(MAPPING)
        result = self.mapping(name)
        with self._database.writing(MAPPING, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM mappings WHERE name = ?", [name])
        return result


def _mapping_name(name: str) -> str:
    called = name.strip()
    if not called or len(called) > MOST_NAME or not called.isprintable():
        raise SettingsError(f"the mapping is called {name[:20]!r}; give a name of 1 to {MOST_NAME} characters")
    return called


OF_DATASET = f"(dataset = ? OR starts_with(dataset, ? || '{SIGN}'))"
"""Rows about a dataset or a scope of it."""


def forget_scenarios(cursor: duckdb.DuckDBPyConnection, dataset: str) -> None:
    """Forget the scenarios of a dataset, inside a transaction of the caller."""
    cursor.execute(f"DELETE FROM scenarios WHERE {OF_DATASET}", [dataset, dataset])


def has_table(cursor: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Tell whether a table is there: a read-only home of an earlier version has none."""
    result = cursor.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [name]).fetchone()
    return result is not None


def set_note(cursor: duckdb.DuckDBPyConnection, clustering: str, note: ProfileNote) -> None:
    """Keep a note in place of an earlier one; one without name and text is forgotten."""
    cursor.execute("DELETE FROM notes WHERE clustering = ? AND profile = ?", [clustering, note.profile])
    if note.name or note.note:
        cursor.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", [clustering, note.profile, note.name, note.note])


def notes(cursor: duckdb.DuckDBPyConnection, clustering: str) -> tuple[ProfileNote, ...]:
    """The notes of one clustering by profile."""
    result = cursor.execute(
        "SELECT profile, name, note FROM notes WHERE clustering = ? ORDER BY profile", [clustering]
    ).fetchall()
    return tuple(ProfileNote(*row) for row in result)


def noted_clusterings(cursor: duckdb.DuckDBPyConnection, dataset: str, *, scopes: bool = False) -> set[str]:
    """The clusterings of a dataset (hash), and of its `scopes`, that have notes."""
    begins = [f"{dataset}:", f"{dataset}{SIGN if scopes else ':'}"]
    query = "SELECT DISTINCT clustering FROM notes WHERE starts_with(clustering, ?) OR starts_with(clustering, ?)"
    return {key for (key,) in cursor.execute(query, begins).fetchall()}


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
    """Finished jobs to keep."""

    jobs: object  # record that holds them
    rows: int  # how many they are
    most: int  # rows to keep in all; older tables are let go once newer ones hold as many


class FeedbackTables:
    """Methods of the store for feedback loops; a loop is named by its dataset's hash and a digest of settings."""

    _database: Database

    def save_feedback(self, dataset: str, settings: str, state: object) -> None:
        """Keep a state in place of the one before."""
        row = [dataset, settings, VERSION, *_stored(state)]
        with self._database.writing(OBSERVE, dataset), self._database.transaction() as cursor:
            cursor.execute(f"DELETE FROM feedback_state WHERE {OURS}", [dataset, settings])
            cursor.execute("INSERT INTO feedback_state VALUES (?, ?, ?, ?, ?)", row)

    def save_observation(self, dataset: str, settings: str, state: object, finished: FinishedTable) -> None:
        """Keep a state and the finished jobs that led to it, both or neither; the oldest tables are let go."""
        row = [dataset, settings, VERSION, *_stored(state)]
        with self._database.writing(OBSERVE, dataset), self._database.transaction() as cursor:
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
        """The kept state, or None where there is none.

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
        """The finished jobs that are kept, oldest table first.

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
        """The loops of a dataset that cannot be read, by digest of settings, each with the reason."""
        result: dict[str, Unreadable] = {}
        with self._database.cursor() as cursor:
            if not _has_tables(cursor):
                return {}
            for table, cls in (("feedback_state", state), ("feedback_jobs", jobs)):
                query = f"SELECT settings, document, arrays FROM {table} WHERE dataset = ? AND version = ?"
                for settings, *packed in cursor.execute(query, [dataset, VERSION]).fetchall():
                    one = stored(cls, *packed)
                    if isinstance(one, Unreadable):
                        result[settings] = one
        return result

    def forget_feedback(self, dataset: str, settings: str = "") -> None:
        """Forget one loop of a dataset, or all of them."""
        with self._database.writing(OBSERVE, dataset), self._database.transaction() as cursor:
            forget_feedback(cursor, dataset, settings)


def forget_feedback(cursor: duckdb.DuckDBPyConnection, dataset: str, settings: str = "") -> None:
    """Forget one loop of a dataset, or all of them, inside a transaction of the caller."""
    for table in ("feedback_state", "feedback_jobs"):
        cursor.execute(
            f"DELETE FROM {table} WHERE {OF_DATASET} AND (settings = ? OR ? = '')",
            [dataset, dataset, settings, settings],
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
    result = stored(cls, document, arrays)
    if isinstance(result, Unreadable):
        raise EntryDamaged(
            f"what was observed of finished jobs of this dataset cannot be read ({result.reason}); the "
            "dataset and its results "
            f"are as they were. Open it on the dashboard, press '{FORGET_DAMAGED}', and observe the jobs again"
        )
    return result


def _has_tables(cursor: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether the tables are there: a read-only home of an earlier version has none."""
    query = "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('feedback_state', 'feedback_jobs')"
    return bool(_one(cursor, query)[0] == len(FEEDBACK_TABLES))


def _one(cursor: duckdb.DuckDBPyConnection, query: str, *parameters: object) -> tuple[Any, ...]:
    (row,) = cursor.execute(query, list(parameters)).fetchall()
    return tuple(row)
