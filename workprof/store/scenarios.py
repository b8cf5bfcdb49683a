"""Scenarios that users keep, in the database: one row per dataset and name."""

from __future__ import annotations

import json
from typing import TypeVar

import duckdb

from workprof.records import pack
from workprof.store.connection import Database
from workprof.store.stored_documents import Unreadable, stored

Record = TypeVar("Record")

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
        with self._database.writing(), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scenarios WHERE dataset = ? AND name = ?", [dataset, name])
            cursor.execute("INSERT INTO scenarios VALUES (?, ?, ?, ?)", row)

    def scenarios(self, dataset: str, cls: type[Record]) -> tuple[Record, ...]:
        """Return the scenarios of a dataset that can be read, the newest first; see `unreadable_scenarios`."""
        found = [stored(cls, document) for _, document in self._kept_scenarios(dataset)]
        return tuple(one for one in found if not isinstance(one, Unreadable))

    def unreadable_scenarios(self, dataset: str, cls: type[Record]) -> dict[str, Unreadable]:
        """Return the other ones by name, each with the reason."""
        found = {name: stored(cls, document) for name, document in self._kept_scenarios(dataset)}
        return {name: one for name, one in found.items() if isinstance(one, Unreadable)}

    def _kept_scenarios(self, dataset: str) -> list[tuple[str, object]]:
        with self._database.cursor() as cursor:
            if not _has_table(cursor):
                return []
            query = "SELECT name, document FROM scenarios WHERE dataset = ? ORDER BY created DESC, name"
            return [(str(name), document) for name, document in cursor.execute(query, [dataset]).fetchall()]

    def remove_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        with self._database.writing(), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scenarios WHERE dataset = ? AND name = ?", [dataset, name])


def forget_scenarios(cursor: duckdb.DuckDBPyConnection, dataset: str) -> None:
    """Forget the scenarios of a dataset, inside a transaction of the caller."""
    cursor.execute("DELETE FROM scenarios WHERE dataset = ?", [dataset])


def _has_table(cursor: duckdb.DuckDBPyConnection) -> bool:
    """Tell whether the table is there: a read-only home of an earlier version has none."""
    found = cursor.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'scenarios'").fetchone()
    return found is not None
