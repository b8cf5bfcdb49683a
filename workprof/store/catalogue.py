"""The catalogue: which datasets there are, what they are called and what their columns mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import duckdb

from workprof.errors import DatasetUnknown, SettingsError
from workprof.records import Packed, pack, unpack
from workprof.store.reports import Column, Dataset, IngestReport
from workprof.store.schema import REJECTS, ROWS

HASH_DIGITS = 32
SHORTEST_HASH = 8
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}$")
DATASET_COLUMNS = "name, hash, kind, format, rows, finished_rows, created, mode, origin"


@dataclass(frozen=True)
class Entry:
    """A dataset with what is needed to read it."""

    dataset: Dataset
    columns: tuple[Column, ...]
    aliases: Mapping[str, str]

    @property
    def table(self) -> str:
        """Name of the table that holds the rows."""
        return ROWS + self.dataset.hash

    @property
    def rejects(self) -> str:
        """Name of the table that holds the rejects."""
        return REJECTS + self.dataset.hash

    def column(self, name: str) -> Column | None:
        """Return the column of that name, of that name in the trace, or of that alias."""
        by_name = {column.name: column for column in self.columns}
        by_source = {column.source: column for column in self.columns if column.source}
        return by_name.get(name) or by_source.get(name) or by_name.get(self.aliases.get(name, ""))


def entries(cursor: duckdb.DuckDBPyConnection) -> tuple[Dataset, ...]:
    """Return every dataset, newest first."""
    rows = cursor.execute(f"SELECT {DATASET_COLUMNS} FROM catalogue ORDER BY created DESC, name").fetchall()
    return tuple(Dataset(*row) for row in rows)


def entry(cursor: duckdb.DuckDBPyConnection, name_or_hash: str) -> Entry:
    """Return the dataset of that name, that hash or at least eight first characters of it.

    Raises:
        DatasetUnknown: names what there is.
    """
    found = chosen(entries(cursor), name_or_hash)
    columns, aliases = one(cursor, "SELECT columns, aliases FROM catalogue WHERE hash = ?", [found.hash])
    return _entry(found, columns, aliases)


def whole_entries(cursor: duckdb.DuckDBPyConnection) -> tuple[Entry, ...]:
    """Return every dataset with its columns, newest first."""
    rows = cursor.execute(
        f"SELECT {DATASET_COLUMNS}, columns, aliases FROM catalogue ORDER BY created DESC, name"
    ).fetchall()
    return tuple(_entry(Dataset(*row), columns, aliases) for *row, columns, aliases in rows)


def chosen(known: Sequence[Dataset], name_or_hash: str) -> Dataset:
    """Return the one of that name, that hash or at least eight first characters of it.

    Raises:
        DatasetUnknown: names what there is.
    """
    found = [dataset for dataset in known if dataset.name == name_or_hash]
    if not found and len(name_or_hash) >= SHORTEST_HASH:
        found = [dataset for dataset in known if dataset.hash.startswith(name_or_hash.lower())]
    if len(found) != 1:
        raise _unknown(name_or_hash, known, len(found))
    return found[0]


def _entry(dataset: Dataset, columns: str, aliases: str) -> Entry:
    return Entry(dataset, tuple(Column(**column) for column in json.loads(columns)), json.loads(aliases))


def report(cursor: duckdb.DuckDBPyConnection, dataset: Dataset) -> IngestReport:
    """Return what the ingest told, under the dataset's present name."""
    (document,) = one(cursor, "SELECT report FROM catalogue WHERE hash = ?", [dataset.hash])
    return unpack(IngestReport, Packed(json.loads(document) | {"dataset": dataset.name}, {}))


def insert(
    cursor: duckdb.DuckDBPyConnection,
    dataset: Dataset,
    columns: Sequence[Column],
    aliases: Mapping[str, str],
    report: IngestReport,
    input_bytes: int,
) -> None:
    """Add a dataset."""
    stored = json.dumps([asdict(column) for column in columns])
    cursor.execute(
        f"INSERT INTO catalogue ({DATASET_COLUMNS}, input_bytes, columns, aliases, report) "
        f"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*asdict(dataset).values(), input_bytes, stored, json.dumps(dict(aliases)), json.dumps(pack(report).document)],
    )


def find_hash(cursor: duckdb.DuckDBPyConnection, hashed: str) -> Dataset | None:
    """Return the dataset of that whole hash, if there is one."""
    return next((dataset for dataset in entries(cursor) if dataset.hash == hashed), None)


def of_size(cursor: duckdb.DuckDBPyConnection, input_bytes: int) -> bool:
    """Tell whether some dataset came from that many bytes: only then may the same content be there already."""
    return bool(one(cursor, "SELECT count(*) FROM catalogue WHERE input_bytes = ?", [input_bytes])[0])


def checked_name(name: str) -> str:
    """Return a dataset name that is allowed.

    Raises:
        SettingsError: says what a name may hold.
    """
    if not NAME.match(name):
        raise SettingsError(
            f"name {name!r} cannot be used: begin with a letter or digit, then letters, digits, space . _ -, at most 80"
        )
    return name


def free_name(cursor: duckdb.DuckDBPyConnection, asked: str, stem: str) -> str:
    """Return the asked name, or one made of a file's stem that no dataset has yet ('-2' and so on).

    Raises:
        SettingsError: when the asked name is taken or not allowed.
    """
    taken = {dataset.name for dataset in entries(cursor)}
    if asked:
        if asked in taken:
            raise SettingsError(
                f"a dataset is already called {asked!r}; give another name, or rename or remove that one"
            )
        return checked_name(asked)
    base = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:70] or "dataset"
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name


def one(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
    """Return the single row of a query that always has one."""
    (row,) = cursor.execute(sql, list(parameters)).fetchall()
    return tuple(row)


def _unknown(asked: str, known: Sequence[Dataset], matches: int) -> DatasetUnknown:
    if matches > 1:
        return DatasetUnknown(f"{asked!r} begins the hash of {matches} datasets; give more characters or the name")
    there = ", ".join(dataset.name for dataset in known) or "none yet: `workprof ingest FILE` loads one"
    return DatasetUnknown(f"no dataset {asked!r}; there are: {there}")
