"""Scopes that were saved under a name; and alerts, opt-outs and what was told: records by kind and name."""

import contextlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypeVar

import duckdb

from workprof.core.errors import SettingsError
from workprof.core.records import pack
from workprof.core.roles import NOTICE, SCOPE
from workprof.core.scope import SIGN, parsed, refuse_empty, split
from workprof.store.connection import Database
from workprof.store.documents import Unreadable, has_table, stored

Record = TypeVar("Record")

SCOPE_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS scopes (
        name VARCHAR NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        scope VARCHAR NOT NULL      -- as it stands behind a dataset's name
    )
    """,
)
NOTICE_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS notices (
        kind VARCHAR NOT NULL,      -- 'alert', 'sent', 'opted out'
        name VARCHAR NOT NULL,
        document VARCHAR NOT NULL   -- JSON
    )
    """,
)
MOST_ABOUT = 200
MOST_NAME = 80
"""Characters of a scope's name."""


class ScopeTables:
    """Methods of the store for scopes."""

    _database: Database

    def save_scope(self, name: str, scope: str) -> str:
        """Keep a scope in place of one of the same name, and return the name as it is kept.

        Raises SettingsError for a name that cannot be used, and a scope that cannot be read.
        """
        called, wanted = name.strip(), parsed(scope)
        refuse_empty(wanted)
        if not called or len(called) > MOST_NAME or not called.isprintable():
            raise SettingsError(f"the scope is called {name[:20]!r}; give a name of 1 to {MOST_NAME} characters")
        row = [called, datetime.now(UTC).isoformat(timespec="milliseconds"), str(wanted)]
        with self._database.writing(SCOPE, called), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scopes WHERE name = ?", [called])
            cursor.execute("INSERT INTO scopes VALUES (?, ?, ?)", row)
        return called

    def scopes(self) -> dict[str, str]:
        """Name -> saved scope, the newest first."""
        with self._database.cursor() as cursor:
            if not has_table(cursor, "scopes"):
                return {}
            return dict(cursor.execute("SELECT name, scope FROM scopes ORDER BY created DESC, name").fetchall())

    def remove_scope(self, name: str) -> None:
        """Forget a scope; raises SettingsError, which names what there is."""
        self._database.refuse(SCOPE)
        if name not in (there := self.scopes()):
            raise SettingsError(f"no scope {name!r}; there are: {', '.join(there) or 'none yet'}")
        with self._database.writing(SCOPE, name), self._database.transaction() as cursor:
            cursor.execute("DELETE FROM scopes WHERE name = ?", [name])


class NoticeTables:
    """Methods of the store for alerts and for what was told whom."""

    _database: Database

    def save_notices(self, kind: str, notices: Mapping[str, object | None]) -> None:
        """Keep records of a kind by name in place of those before; None = forget it."""
        about = f"{kind}: {', '.join(name.replace(chr(10), ' ') for name in notices)}"[:MOST_ABOUT]
        with self._database.writing(NOTICE, about), self._database.transaction() as cursor:
            for name, one in notices.items():
                cursor.execute("DELETE FROM notices WHERE kind = ? AND name = ?", [kind, name])
                if one is not None:
                    cursor.execute("INSERT INTO notices VALUES (?, ?, ?)", [kind, name, json.dumps(pack(one).document)])

    def notices(self, kind: str, cls: type[Record]) -> dict[str, Record]:
        """The records of a kind by name; those that cannot be read are left out."""
        with self._database.cursor() as cursor:
            if not has_table(cursor, "notices"):
                return {}
            query = "SELECT name, document FROM notices WHERE kind = ? ORDER BY name"
            read = {str(name): stored(cls, text) for name, text in cursor.execute(query, [kind]).fetchall()}
        return {name: one for name, one in read.items() if not isinstance(one, Unreadable)}


def rename_notices(cursor: duckdb.DuckDBPyConnection, before: str, after: str) -> None:
    """Give alerts of a dataset, and what was told of it, its new name, inside a transaction of the caller."""
    if not has_table(cursor, "notices"):
        return
    for kind, name, text in cursor.execute("SELECT kind, name, document FROM notices").fetchall():
        with contextlib.suppress(ValueError, AttributeError, TypeError):  # none that can be read is left as it is
            document = json.loads(text)
            whole, scope = split(document.get("dataset", ""))
            named, _, who = document.get("who", "").partition("\n")
            if whole == before:
                changed, called = {"dataset": f"{after}{SIGN}{scope}" if scope else after}, name
            elif named == before and name.startswith(f"{before}\n"):
                changed, called = {"who": f"{after}\n{who}"}, f"{after}{name.removeprefix(before)}"
            else:
                continue
            cursor.execute("DELETE FROM notices WHERE kind = ? AND name IN (?, ?)", [kind, name, called])
            row = [kind, called, json.dumps(document | changed)]
            cursor.execute("INSERT INTO notices VALUES (?, ?, ?)", row)
