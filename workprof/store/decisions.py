"""What people decided about the rows of a verdict: JSON documents by the name of the dataset.

They outlive the dataset, so that the next trace of its name finds them; a rename takes them along.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

import duckdb

from workprof.core.records import pack
from workprof.core.roles import DECIDE
from workprof.core.scope import split
from workprof.core.words import counted
from workprof.store.connection import Database
from workprof.store.documents import Unreadable, has_table, stored

Record = TypeVar("Record")

DECISION_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS decisions (
        dataset VARCHAR NOT NULL,   -- name
        row_key VARCHAR NOT NULL,
        document VARCHAR NOT NULL   -- JSON
    )
    """,
)


class DecisionTables:
    """Methods of the store for decisions."""

    _database: Database

    def save_decisions(self, dataset: str, decisions: Mapping[str, object | None]) -> None:
        """Keep decisions by the keys of their rows in place of those before; None = forget it."""
        dataset = split(dataset)[0]
        with (
            self._database.writing(DECIDE, f"{dataset}: {counted(len(decisions), 'row')}"),
            self._database.transaction() as cursor,
        ):
            for key, one in decisions.items():
                cursor.execute("DELETE FROM decisions WHERE dataset = ? AND row_key = ?", [dataset, key])
                if one is not None:
                    row = [dataset, key, json.dumps(pack(one).document)]
                    cursor.execute("INSERT INTO decisions VALUES (?, ?, ?)", row)


def decisions(
    cursor: duckdb.DuckDBPyConnection, dataset: str, cls: type[Record]
) -> tuple[tuple[Record, ...], dict[str, Unreadable]]:
    """The decisions on a dataset by the keys of their rows, and why the others cannot be read."""
    if not has_table(cursor, "decisions"):
        return (), {}
    query = "SELECT row_key, document FROM decisions WHERE dataset = ? ORDER BY row_key"
    read = {str(key): stored(cls, document) for key, document in cursor.execute(query, [dataset]).fetchall()}
    return (
        tuple(one for one in read.values() if not isinstance(one, Unreadable)),
        {key: one for key, one in read.items() if isinstance(one, Unreadable)},
    )


def take_along(cursor: duckdb.DuckDBPyConnection, before: str, after: str) -> None:
    """Give the decisions on a dataset its new name, inside a transaction of the caller.

    Those that were kept under that name for an earlier dataset stay, unless they are about the same rows.
    """
    own = "SELECT row_key FROM decisions WHERE dataset = ?"
    cursor.execute(f"DELETE FROM decisions WHERE dataset = ? AND row_key IN ({own})", [after, before])
    cursor.execute("UPDATE decisions SET dataset = ? WHERE dataset = ?", [after, before])
