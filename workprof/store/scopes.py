"""Scopes that were saved under a name: a part of any dataset that has their columns."""

from datetime import UTC, datetime

from workprof.core.errors import SettingsError
from workprof.core.roles import SCOPE
from workprof.core.scope import parsed
from workprof.store.connection import Database
from workprof.store.documents import has_table

SCOPE_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS scopes (
        name VARCHAR NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        scope VARCHAR NOT NULL      -- as it stands behind a dataset's name
    )
    """,
)
MOST_NAME = 80
"""Characters of a scope's name."""


class ScopeTables:
    """Methods of the store for scopes."""

    _database: Database

    def save_scope(self, name: str, scope: str) -> str:
        """Keep a scope in place of one of the same name, and return the name as it is kept.

        Raises SettingsError for a name that cannot be used, and a scope that cannot be read.
        """
        called, text = name.strip(), str(parsed(scope))
        if not called or len(called) > MOST_NAME or not called.isprintable():
            raise SettingsError(f"the scope is called {name[:20]!r}; give a name of 1 to {MOST_NAME} characters")
        row = [called, datetime.now(UTC).isoformat(timespec="milliseconds"), text]
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
