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
from urllib.parse import quote, unquote

import duckdb

from workprof.store.connection import quoted, text
from workprof.store.reports import Column
from workprof.store.users import secret_of

Value = TypeVar("Value")

DIGITS = 10
VARIABLE = "pseudonym_key"
SHORTEST = 3
"""Characters of a name that is looked for within other texts of its row."""
BEGIN, END = "\x01", "\x02"
"""Stand around the words of a text while names are looked for in it."""
_APART = r"\s,;=&?/\\|()\[\]{}\"'<>`"
_ALONE = (rf"(?<![^{_APART}])", rf"(?=[.!:]*(?:[{_APART}]|$))")
"""Around a name that is short or a number: times and amounts hold such ones, too."""
_WHOLE = (r"(?:(?<![^\W_])|(?=[\W_]))", r"(?:(?![^\W_])|(?<=[\W_]))")
"""Around any other name: no letter and no digit goes on there."""


@dataclasses.dataclass(frozen=True)
class Names:
    """Names, what stands for them, and where they are looked for in a text."""

    instead: Mapping[str, str]
    pattern: re.Pattern[str]


class Pseudonyms:
    """The pseudonyms of one home for the values of some columns; the same name has the same one for good."""

    def __init__(self, home: Path, columns: Sequence[str]) -> None:
        """Take the home's secret; raises SettingsError where it cannot be read or made."""
        self.columns = tuple(columns)
        self._key = secret_of(home, "pseudonyms").hex()

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

    def rows(self, table: str, columns: Sequence[Column], shared: Mapping[str, Sequence[str]]) -> str:
        """SQL that the rows of a table are selected from, with their `rowid`; names of their people are pseudonyms.

        A name is replaced in the other texts of its row, too, such as a path below its home folder.

        Args:
            table: quoted.
            columns: of the table.
            shared: values of other columns that stay, as `shared` finds them.
        """
        items = [f"{self.sql(name)} AS {quoted(name)}" for name in self.hidden(columns)]
        for name in self._others(columns):
            kept = ", ".join(map(text, shared.get(name, ())))
            stays = f"{quoted(name)} IN ({kept})" if kept else "FALSE"
            items.append(f"CASE WHEN {stays} THEN {quoted(name)} ELSE {self._without_own(name)} END AS {quoted(name)}")
        return f"(SELECT rowid, * REPLACE ({', '.join(items)}) FROM {table})" if items else table

    def shared(
        self, cursor: duckdb.DuckDBPyConnection, table: str, columns: Sequence[Column]
    ) -> dict[str, tuple[str, ...]]:
        """Column -> values that hold the name of who ran them, and were run by others, too.

        Replaced in some rows they would part what is one task, and tell who stands behind the pseudonym.
        """
        result = {}
        for name in self._others(columns):
            own = f"SELECT {quoted(name)} FROM {table} WHERE {self._without_own(name)} <> {quoted(name)}"
            person = "coalesce(CAST(\"user\" AS VARCHAR), '')"
            query = f"SELECT {quoted(name)} FROM {table} WHERE {quoted(name)} IN ({own}) GROUP BY 1"
            found = cursor.execute(f"{query} HAVING min({person}) <> max({person})").fetchall()
            result[name] = tuple(str(value) for (value,) in found)
        return result

    def _others(self, columns: Sequence[Column]) -> list[str]:
        """The texts beside those that are hidden, where people are."""
        hidden = self.hidden(columns)
        return [one.name for one in columns if not one.numeric and one.name not in hidden and "user" in hidden]

    def _without_own(self, column: str) -> str:
        """SQL of a text in which the name of its row's person is replaced where it stands as words of its own."""
        name, own, instead = quoted(column), 'CAST("user" AS VARCHAR)', self.sql("user")
        words, own_words = (
            f"regexp_replace({one}, '[\\p{{L}}\\p{{M}}\\p{{N}}]+', '{BEGIN}\\0{END}', 'g')" for one in (name, own)
        )
        within = f"translate(replace({words}, {own_words}, {instead}), '{BEGIN}{END}', '')"
        return (
            f"CASE WHEN {name} = {own} THEN {instead} "
            f"WHEN length({own}) >= {SHORTEST} AND contains({name}, {own}) THEN {within} ELSE {name} END"
        )

    def names(self, instead: Mapping[str, str]) -> Names:
        """Names and what stands for them, to be looked for in texts."""
        spelled = {one for name in instead for one in (name, quote(name, safe="/:@+.-_"), quote(name, safe="")) if one}
        ordered = sorted(spelled, key=len, reverse=True)
        alone = [one for one in ordered if len(one) < SHORTEST or one.isdigit()]
        parts = [(_WHOLE, [one for one in ordered if one not in {*alone}]), (_ALONE, alone)]
        either = "|".join(
            f"{before}(?:{'|'.join(map(re.escape, some))}){after}" for (before, after), some in parts if some
        )
        any_of = "|".join(map(re.escape, ordered)) or "(?!)"
        columns = "|".join(map(re.escape, self.columns))
        given = rf"\b({columns})=((?:{any_of})(?=\W*(?:[,&\s]|$))|[^,&\s]+)"
        return Names(instead, re.compile(f"{given}|{either}" if either else given))

    def text(self, written: str, names: Names) -> str:
        """A text without names: those that stand behind 'user=', and words that are one of `names`."""

        def shown(found: re.Match[str]) -> str:
            if found[1] is None:
                return names.instead.get(found[0]) or names.instead[unquote(found[0])]
            value = found[2] if found[2] in names.instead else unquote(found[2])
            return f"{found[1]}={value if self.is_one(found[1], value) else self.of(found[1], value)}"

        return names.pattern.sub(shown, written)

    def within(self, value: Value, names: Names) -> Value:
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
