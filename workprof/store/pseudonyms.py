"""Pseudonyms: what a viewer reads of a home where people are not named.

Rows are changed in the query that reads them, so that every answer is computed from pseudonyms and can hold no name.
What people and imports wrote about a dataset is changed as it leaves the store.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import duckdb

from workprof.store.connection import quoted, text
from workprof.store.reports import Column
from workprof.store.users import secret_of

Value = TypeVar("Value")

DIGITS = 10
VARIABLE = "pseudonym_key"
SHORTEST = 3
"""Characters of a name that is looked for within other texts of its row."""
_WORD = re.compile(r"[^\s,;:=&?/\\|()\[\]{}\"'<>`]+")


class Pseudonyms:
    """The pseudonyms of one home for the values of some columns; the same name has the same one for good."""

    def __init__(self, home: Path, columns: Sequence[str]) -> None:
        """Take the home's secret; raises SettingsError where it cannot be read or made."""
        self.columns = tuple(columns)
        self._key = secret_of(home, "pseudonyms").hex()
        self._given = re.compile(rf"\b({'|'.join(map(re.escape, self.columns))})=([^,&\s]+)")

    def of(self, column: str, name: str) -> str:
        """The pseudonym of a name; '' of none."""
        digest = hashlib.sha256((self._key + name).encode()).hexdigest()[:DIGITS]
        return f"{column}-{digest}" if name else ""

    def is_one(self, column: str, value: str) -> bool:
        """Whether a value may be a pseudonym."""
        return re.fullmatch(rf"{re.escape(column)}-[0-9a-f]{{{DIGITS}}}", value) is not None

    def begin(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Give a cursor the key, which stands in no query that an error might quote."""
        cursor.execute(f"SET VARIABLE {VARIABLE} = {text(self._key)}")

    def sql(self, column: str) -> str:
        """SQL of the pseudonyms of a column."""
        name = f"CAST({quoted(column)} AS VARCHAR)"
        digest = f"substr(sha256(getvariable('{VARIABLE}') || {name}), 1, {DIGITS})"
        return f"CASE WHEN {name} = '' THEN '' ELSE {text(f'{column}-')} || {digest} END"

    def hidden(self, columns: Sequence[Column]) -> tuple[str, ...]:
        """Those of its columns that a table has as texts."""
        texts = {column.name for column in columns if not column.numeric}
        return tuple(name for name in self.columns if name in texts)

    def rows(self, table: str, columns: Sequence[Column]) -> str:
        """SQL that the rows of a table are selected from, with their `rowid`; names of their people are pseudonyms.

        A name is replaced in the other texts of its row, too, such as a path below its home folder.
        """
        texts = [column.name for column in columns if not column.numeric]
        hidden = self.hidden(columns)
        items = [f"{self.sql(name)} AS {quoted(name)}" for name in hidden]
        if "user" in hidden:
            own, instead = 'CAST("user" AS VARCHAR)', self.sql("user")
            for name in (quoted(other) for other in texts if other not in hidden):
                within = f"replace(CAST({name} AS VARCHAR), {own}, {instead})"
                changed = f"CASE WHEN length({own}) >= {SHORTEST} THEN {within} WHEN {name} = {own} THEN {instead} END"
                items.append(f"coalesce({changed}, {name}) AS {name}")
        return f"(SELECT rowid, * REPLACE ({', '.join(items)}) FROM {table})" if items else table

    def text(self, written: str, names: Mapping[str, str]) -> str:
        """A text without names: those that stand behind 'user=', and words that are one of `names`."""
        if written in names:
            return names[written]

        def given(found: re.Match[str]) -> str:
            column, value = found[1], unquote(found[2])
            return f"{column}={value if self.is_one(column, value) else self.of(column, value)}"

        def word(found: re.Match[str]) -> str:
            bare = found[0].rstrip(".!")
            return names.get(unquote(bare), bare) + found[0][len(bare) :]

        return _WORD.sub(word, self._given.sub(given, written))

    def within(self, value: Value, names: Mapping[str, str]) -> Value:
        """The same for every text within a record or a collection."""
        changed: Any = value
        if isinstance(value, str):
            changed = self.text(value, names)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts = {one.name: self.within(getattr(value, one.name), names) for one in dataclasses.fields(value)}
            changed = dataclasses.replace(value, **parts)
        elif isinstance(value, Mapping):
            changed = {self.within(key, names): self.within(one, names) for key, one in value.items()}
        elif isinstance(value, (tuple, list)):
            changed = type(value)(self.within(one, names) for one in value)
        result: Value = changed
        return result
