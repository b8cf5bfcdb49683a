"""The catalogue as it stands, read again only after a commit: nobody else writes to a home that is open here."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.store import catalogue
from workprof.store.connection import Database


@dataclass(frozen=True)
class _Reading:
    """What the catalogue held, and how many commits there had been before it was read."""

    commits: int
    entries: tuple[catalogue.Entry, ...]


class Known:
    """The entries of an open home's catalogue; safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last: _Reading | None = None

    def entries(self) -> tuple[catalogue.Entry, ...]:
        """Return every entry, newest first."""
        last, commits = self._last, self._database.commits
        if last is None or last.commits != commits:
            with self._database.cursor() as cursor:
                last = self._last = _Reading(commits, catalogue.whole_entries(cursor))
        return last.entries

    def entry(self, name_or_hash: str) -> catalogue.Entry:
        """Return the entry of that name, that hash or at least eight first characters of it; it may be damaged.

        Raises:
            DatasetUnknown: names what there is.
        """
        entries = self.entries()
        found = catalogue.chosen(tuple(entry.dataset for entry in entries), name_or_hash)
        return next(entry for entry in entries if entry.dataset is found)
