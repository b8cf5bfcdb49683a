"""Sources: what they are, how far they were read, and the history of their refreshes; JSON documents by name."""

from __future__ import annotations

import json
from typing import TypeVar

import duckdb

from workprof.core.errors import SettingsError
from workprof.core.records import pack
from workprof.core.refreshes import Refresh
from workprof.core.roles import REFRESH, SOURCE
from workprof.core.text import near
from workprof.store.connection import Database
from workprof.store.documents import Unreadable, has_table, stored

Record = TypeVar("Record")
KEPT_REFRESHES = 1_000

SOURCE_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS sources (
        name VARCHAR NOT NULL,      -- of the source and of its dataset
        source VARCHAR NOT NULL,    -- JSON: what it is
        state VARCHAR NOT NULL      -- JSON: how far it was read
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS refreshes (
        source VARCHAR NOT NULL,
        started VARCHAR NOT NULL,   -- ISO 8601, UTC
        document VARCHAR NOT NULL   -- JSON: Refresh
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS former_hashes (
        hash VARCHAR NOT NULL,      -- of a dataset before a refresh
        name VARCHAR NOT NULL       -- of the dataset
    )
    """,
)


class SourceTables:
    """Methods of the store for sources."""

    _database: Database

    def save_source(self, name: str, source: object, state: object) -> None:
        """Keep a source; one of that name is replaced with its state."""
        row = [name, json.dumps(pack(source).document), json.dumps(pack(state).document)]
        with self._database.writing(SOURCE, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM sources WHERE name = ?", [name])
            cursor.execute("INSERT INTO sources VALUES (?, ?, ?)", row)

    def sources(self, cls: type[Record]) -> dict[str, Record | Unreadable]:
        """Every source by name, or why it cannot be read."""
        return {str(name): stored(cls, document) for name, document, _ in self._sources()}

    def source_state(self, name: str, cls: type[Record]) -> Record:
        """How far a source was read; raises SettingsError for a name that no source has."""
        known = {str(one): state for one, _, state in self._sources()}
        if name not in known:
            raise SettingsError(f"no source is called {name!r}{near(name, known)}; `workprof source list` shows all")
        result = stored(cls, known[name])
        if isinstance(result, Unreadable):
            raise SettingsError(f"source {name}: how far it was read cannot be read ({result.reason}); add it again")
        return result

    def remove_source(self, name: str) -> None:
        """Forget a source and its history; its dataset stays."""
        with self._database.writing(SOURCE, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM sources WHERE name = ?", [name])
            cursor.execute("DELETE FROM refreshes WHERE source = ?", [name])

    def _sources(self) -> list[tuple[object, object, object]]:
        with self._database.cursor() as cursor:
            if not has_table(cursor, "sources"):
                return []
            return cursor.execute("SELECT name, source, state FROM sources ORDER BY name").fetchall()

    def refreshes(self, name: str, most: int = KEPT_REFRESHES) -> tuple[Refresh, ...]:
        """The latest refreshes of a source, the newest first; those that failed say why."""
        with self._database.cursor() as cursor:
            if not has_table(cursor, "refreshes"):
                return ()
            query = "SELECT document FROM refreshes WHERE source = ? ORDER BY started DESC LIMIT ?"
            read = [stored(Refresh, document) for (document,) in cursor.execute(query, [name, most]).fetchall()]
        return tuple(one for one in read if not isinstance(one, Unreadable))

    def refresh_failed(self, name: str, failed: Refresh) -> None:
        """Keep that a refresh failed, and why."""
        with self._database.writing(REFRESH, name), self._database.transaction() as cursor:
            remember(cursor, name, failed)


def remember(cursor: duckdb.DuckDBPyConnection, name: str, refresh: Refresh) -> None:
    """Add a refresh to the history, which keeps the latest."""
    row = [name, refresh.started, json.dumps(pack(refresh).document)]
    cursor.execute("INSERT INTO refreshes VALUES (?, ?, ?)", row)
    oldest = "SELECT started FROM refreshes WHERE source = ? ORDER BY started DESC OFFSET ?"
    cursor.execute(f"DELETE FROM refreshes WHERE source = ? AND started IN ({oldest})", [name, name, KEPT_REFRESHES])


def last_dataset(cursor: duckdb.DuckDBPyConnection, name: str) -> str:
    """The hash of the dataset as the last refresh that went well left it; '' before the first one."""
    query = "SELECT document FROM refreshes WHERE source = ? ORDER BY started DESC"
    read = [stored(Refresh, document) for (document,) in cursor.execute(query, [name]).fetchall()]
    return next((one.dataset for one in read if not isinstance(one, Unreadable) and not one.error and one.dataset), "")


def former_hashes(cursor: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The hashes that datasets had before they were refreshed, and their names, the latest last."""
    if not has_table(cursor, "former_hashes"):
        return {}
    query = "SELECT hash, name FROM former_hashes ORDER BY rowid"
    return {str(one): str(name) for one, name in cursor.execute(query).fetchall()}
