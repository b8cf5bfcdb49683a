"""Past jobs by what a person remembers of them: words in their submit-time fields, or their row number."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pandas as pd

from workprof.errors import NoRows, SettingsError
from workprof.store.catalogue import Entry
from workprof.store.compile import FINISHED, ROW_ID
from workprof.store.connection import quoted
from workprof.store.frames import resolved

MOST_HITS = 200
MOST_WORDS = 8
LONGEST_TEXT = 200


def search(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, columns: Sequence[str], words: str, limit: int
) -> pd.DataFrame:
    """Return finished rows in which every word stands in some column, upper or lower case alike, in row order.

    A text that is a whole number also finds the row of that number, first. Without a word the first rows are found.

    Args:
        cursor: of this call.
        entry: the dataset.
        columns: text columns to look into; at least one.
        words: separated by blanks; `%` and `_` stand for themselves.
        limit: rows, 1 to 200.

    Raises:
        SettingsError: when the limit or the text is out of bounds.
        ColumnMissing: when a column is none of the dataset's.
    """
    asked = words.split()
    if not 1 <= limit <= MOST_HITS:
        raise SettingsError(f"limit is {limit}; ask for 1 to {MOST_HITS} jobs")
    if len(asked) > MOST_WORDS or len(words) > LONGEST_TEXT:
        raise SettingsError(f"the search has {len(asked)} words; use up to {MOST_WORDS}, {LONGEST_TEXT} characters")
    names = [quoted(column.name) for column in resolved(entry, columns)]
    in_some = " OR ".join(f"contains(lower({name}), ?)" for name in names)
    where = " AND ".join([FINISHED, *(f"({in_some})" for _ in asked)])
    values = [word.lower() for word in asked for _ in names]
    number = int(words) if words.strip().isdecimal() and len(words.strip()) < 19 else -1
    items = ", ".join([f"rowid AS {ROW_ID}", *names])
    return cursor.execute(
        f"SELECT {items} FROM {quoted(entry.table)} WHERE ({where}) OR (rowid = ? AND {FINISHED}) "
        f"ORDER BY rowid <> ?, rowid LIMIT ?",
        [*values, number, number, limit],
    ).df()


def nth_finished(cursor: duckdb.DuckDBPyConnection, entry: Entry, position: int) -> int:
    """Return the row id of the finished row at a position, counted from 0.

    Raises:
        NoRows: when there is none.
    """
    found = cursor.execute(
        f"SELECT rowid FROM {quoted(entry.table)} WHERE {FINISHED} ORDER BY rowid LIMIT 1 OFFSET ?", [position]
    ).fetchone()
    if found is None:
        raise NoRows(f"dataset {entry.dataset.name} has no finished row at position {position}; draw again")
    return int(found[0])
