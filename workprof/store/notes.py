"""Names and notes that users gave to the profiles of a clustering."""

from __future__ import annotations

import duckdb

from workprof.store.reports import ProfileNote


def set_note(cursor: duckdb.DuckDBPyConnection, clustering: str, note: ProfileNote) -> None:
    """Keep a note in place of an earlier one; one without name and text is forgotten."""
    cursor.execute("DELETE FROM notes WHERE clustering = ? AND profile = ?", [clustering, note.profile])
    if note.name or note.note:
        cursor.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", [clustering, note.profile, note.name, note.note])


def notes(cursor: duckdb.DuckDBPyConnection, clustering: str) -> tuple[ProfileNote, ...]:
    """Return the notes of one clustering by profile."""
    found = cursor.execute(
        "SELECT profile, name, note FROM notes WHERE clustering = ? ORDER BY profile", [clustering]
    ).fetchall()
    return tuple(ProfileNote(*row) for row in found)
