"""The catalogue: which datasets there are, what they are called and what their columns mean; its tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import duckdb

from workprof.core.errors import ColumnMissing, DatasetUnknown, EntryDamaged, NoRows, SettingsError
from workprof.core.records import pack
from workprof.core.scope import SIGN, Scope, bounds, narrowed, parsed, split
from workprof.core.text import near
from workprof.core.units import dated
from workprof.formats import utc_offset_s
from workprof.store import documents
from workprof.store.compile import FINISHED
from workprof.store.connection import Database, quoted, text
from workprof.store.decisions import DECISION_TABLES
from workprof.store.documents import Unreadable, stored
from workprof.store.mapping import shown
from workprof.store.pseudonyms import Pseudonyms
from workprof.store.reports import Check, Column, Dataset, IngestReport
from workprof.store.scopes import NOTICE_TABLES, SCOPE_TABLES
from workprof.store.sources import SOURCE_TABLES, former_hashes

STATEMENTS = (
    """
    CREATE TABLE IF NOT EXISTS catalogue (
        hash VARCHAR NOT NULL,      -- 32 hexadecimal digits of content and options
        name VARCHAR NOT NULL,
        kind VARCHAR NOT NULL,
        format VARCHAR NOT NULL,
        rows BIGINT NOT NULL,
        finished_rows BIGINT NOT NULL,
        created VARCHAR NOT NULL,   -- ISO 8601, UTC
        mode VARCHAR NOT NULL,
        origin VARCHAR NOT NULL,
        input_bytes BIGINT NOT NULL,
        columns VARCHAR NOT NULL,   -- JSON: stored columns
        aliases VARCHAR NOT NULL,   -- JSON: further name -> column
        report VARCHAR NOT NULL     -- JSON: IngestReport
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS notes (
        clustering VARCHAR NOT NULL,
        profile BIGINT NOT NULL,
        name VARCHAR NOT NULL,
        note VARCHAR NOT NULL
    )
    """,
    *documents.FEEDBACK_TABLES,
    *documents.SCENARIO_TABLES,
    *documents.MAPPING_TABLES,
    *SCOPE_TABLES,
    *NOTICE_TABLES,
    *DECISION_TABLES,
    *SOURCE_TABLES,
)

STAGE = "stage_"
ROWS = "rows_"
REJECTS = "rejects_"


NAMED = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")
TABLES = {table[1] for statement in STATEMENTS if (table := NAMED.search(statement))}


def is_complete(cursor: duckdb.DuckDBPyConnection, *, drop: bool) -> bool:
    """Tell whether there is nothing for `create` to do."""
    return _names(cursor) >= TABLES and not (drop and _left(cursor))


def create(cursor: duckdb.DuckDBPyConnection, *, drop: bool) -> None:
    """Create what is missing and, where asked to, drop what a killed ingest may have left."""
    for statement in STATEMENTS:
        cursor.execute(statement)
    for name in _left(cursor) if drop else ():
        cursor.execute(f'DROP TABLE "{name}"')


def drop_staged(cursor: duckdb.DuckDBPyConnection) -> None:
    """Drop what an ingest that came to no end has staged; for the one writer, who has staged nothing yet."""
    for name in _names(cursor):
        if name.startswith(STAGE):
            cursor.execute(f'DROP TABLE "{name}"')


def _names(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    return {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def _left(cursor: duckdb.DuckDBPyConnection) -> set[str]:
    """The tables of no dataset."""
    known = {hashed for (hashed,) in cursor.execute("SELECT hash FROM catalogue").fetchall()}
    stored_tables = {prefix + hashed for hashed in known for prefix in (ROWS, REJECTS)}
    return {name for name in _names(cursor) if name.startswith((STAGE, ROWS, REJECTS)) and name not in stored_tables}


HASH_DIGITS = 32
SHORTEST_HASH = 8
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}")
HASH_LIKE = re.compile(rf"[0-9A-Fa-f]{{{SHORTEST_HASH},}}")
"""What may be the beginning of a hash is no name: a dataset would be mistaken for another one."""
STEM_CHARACTERS = 70
NUMERIC = ("DOUBLE", "FLOAT", "DECIMAL", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U")
"""How the names of DuckDB's numbers begin (the unsigned ones with U)."""
Types = dict[str, str]
DATASET_COLUMNS = "name, hash, kind, format, rows, finished_rows, created, mode, origin"


@dataclass(frozen=True)
class Entry:
    """A dataset with what is needed to read it."""

    dataset: Dataset
    columns: tuple[Column, ...]
    aliases: Mapping[str, str]
    damage: str = ""  # why it cannot be read: what the catalogue tells of its columns is no such thing; '' = it can
    where: str = ""  # SQL that narrows its rows to those of a scope; '' = it is whole
    pseudonyms: Pseudonyms | None = None  # of its people, where there are some
    nameless: bool = False  # its rows are read with pseudonyms instead of names
    # column -> values that stay beside pseudonyms, as `Pseudonyms.shared` finds them
    shared: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """Name of the table that holds the rows, and those beside a scope."""
        return ROWS + split(self.dataset.hash)[0]

    @property
    def relation(self) -> str:
        """SQL that rows are selected from, in their order; `rowid` counts those of a scope from 0, too."""
        rows, every = quoted(self.table), "*"
        if self.nameless and self.pseudonyms and self.hidden:
            rows, every = self.pseudonyms.rows(rows, self.columns, self.shared), "* EXCLUDE (rowid)"
        if not self.where:
            return rows
        return f"(SELECT CAST(row_number() OVER () - 1 AS BIGINT) AS rowid, {every} FROM {rows} WHERE {self.where})"

    @property
    def hidden(self) -> tuple[str, ...]:
        """Its columns that pseudonyms stand for."""
        return self.pseudonyms.hidden(self.columns) if self.pseudonyms else ()

    @property
    def rejects(self) -> str:
        """Name of the table that holds the rejects, of the whole dataset."""
        return REJECTS + split(self.dataset.hash)[0]

    def readable(self) -> Entry:
        """Itself where its rows can be read; raises EntryDamaged, which says what is wrong and what to do."""
        if self.damage:
            raise EntryDamaged(
                f"dataset {self.dataset.name}: what the catalogue keeps of its columns cannot be read "
                f"({self.damage}); {_again(self.dataset)}. Other datasets are as they were"
            )
        return self

    def column(self, name: str) -> Column | None:
        """The column of that name, of that name in the trace, or of that alias."""
        by_name = {column.name: column for column in self.columns}
        by_source = {column.source: column for column in self.columns if column.source}
        return by_name.get(name) or by_source.get(name) or by_name.get(self.aliases.get(name, ""))


def entries(cursor: duckdb.DuckDBPyConnection) -> tuple[Dataset, ...]:
    """Every dataset, newest first."""
    rows = cursor.execute(f"SELECT {DATASET_COLUMNS} FROM catalogue ORDER BY created DESC, name").fetchall()
    return tuple(Dataset(*row) for row in rows)


def entry(cursor: duckdb.DuckDBPyConnection, name_or_hash: str) -> Entry:
    """The dataset of that name, that hash or at least eight first characters of it.

    Raises:
        DatasetUnknown: names what there is.
        SettingsError: when a scope stands behind it.
    """
    name, scope = split(name_or_hash)
    if scope:
        raise SettingsError(
            f"{name_or_hash} is a part of dataset {name}; only the whole one can be changed: name {name}"
        )
    result = chosen(entries(cursor), name)
    columns, aliases = one(cursor, "SELECT columns, aliases FROM catalogue WHERE hash = ?", [result.hash])
    return _entry(result, columns, aliases, _tables(cursor, [result.hash]))


def whole_entries(cursor: duckdb.DuckDBPyConnection) -> tuple[Entry, ...]:
    """Every dataset with its columns, newest first."""
    rows = cursor.execute(
        f"SELECT {DATASET_COLUMNS}, columns, aliases FROM catalogue ORDER BY created DESC, name"
    ).fetchall()
    known = [(Dataset(*row), columns, aliases) for *row, columns, aliases in rows]
    tables = _tables(cursor, [dataset.hash for dataset, *_ in known])
    return tuple(_entry(*one, tables) for one in known)


def chosen(known: Sequence[Dataset], name_or_hash: str, former: Mapping[str, str] | None = None) -> Dataset:
    """The one of that hash, of that name, or of at least eight first characters of its hash.

    `former` are hashes of before a refresh, and the names of their datasets: an old link goes on.

    A whole hash is never taken for a name: homes of earlier versions may hold datasets with names that look like one.

    Raises DatasetUnknown, which names what there is, and every one that may be meant.
    """
    beginning = name_or_hash.lower() if reads_as_hash(name_or_hash) else ""
    result = [dataset for dataset in known if beginning and dataset.hash.startswith(beginning)]
    if len(beginning) != HASH_DIGITS:
        result += [dataset for dataset in known if dataset.name == name_or_hash and dataset not in result]
    if not result and beginning:
        again = {name for hashed, name in (former or {}).items() if hashed.startswith(beginning)}
        result = [dataset for dataset in known if dataset.name in again]
    if len(result) != 1:
        raise _unknown(name_or_hash, known, result)
    return result[0]


def reads_as_hash(name: str) -> bool:
    """Tell whether a text may be the beginning of a hash."""
    return HASH_LIKE.fullmatch(name) is not None


def _entry(dataset: Dataset, columns: object, aliases: object, tables: Mapping[str, Types]) -> Entry:
    known, others = stored(tuple[Column, ...], columns), stored(dict[str, str], aliases)
    if isinstance(known, Unreadable):
        return Entry(dataset, (), {}, known.reason)
    if isinstance(others, Unreadable):
        return Entry(dataset, (), {}, others.reason)
    return Entry(dataset, known, others, _contradiction(known, tables.get(ROWS + dataset.hash, {})))


def _tables(cursor: duckdb.DuckDBPyConnection, hashes: Iterable[str]) -> dict[str, Types]:
    """Table of rows -> column -> type. Each is asked alone: of all columns at once DuckDB makes its own views first."""
    wanted = {ROWS + hashed for hashed in hashes}
    there = _names(cursor) & wanted if wanted else set()
    described = {name: cursor.execute(f'DESCRIBE "{name}"').fetchall() for name in there}
    return {name: {column: kind for column, kind, *_ in rows} for name, rows in described.items()}


def _contradiction(columns: Sequence[Column], there: Types) -> str:
    """What the catalogue tells of columns that the table of rows knows better; '' where they agree."""
    if not columns:
        return "it names no column"
    if len({column.name for column in columns}) < len(columns):
        return "it names a column twice"
    for column in columns:
        kind, name = there.get(column.name), ascii(column.name)[1:-1][:80]
        if kind is None:
            return f"the table of rows has no column {name}"
        if column.numeric and not kind.startswith(NUMERIC):
            return f"column {name} holds no numbers"
    return ""


def report(cursor: duckdb.DuckDBPyConnection, dataset: Dataset) -> IngestReport:
    """What the ingest told, under the dataset's present name.

    Raises EntryDamaged when the catalogue keeps no such report.
    """
    (document,) = one(cursor, "SELECT report FROM catalogue WHERE hash = ?", [dataset.hash])
    result = stored(IngestReport, document)
    if isinstance(result, Unreadable):
        raise EntryDamaged(
            f"dataset {dataset.name}: the report of its ingest cannot be read ({result.reason}). Its rows can be used "
            f"as before; to have a report, {_again(dataset)}"
        )
    columns = entry(cursor, dataset.hash).columns if dataset.format in ("kubernetes", "prometheus-pods") else ()
    if any((one.name, one.source) == ("workload", "namespace") for one in columns):
        text = f"pods are known by their names alone; to tell owners, namespaces and containers, {_again(dataset)}"
        result = replace(result, checks=(*result.checks, Check("read again", "info", dataset.rows, text)))
    return replace(result, dataset=dataset.name)


def _again(dataset: Dataset) -> str:
    how = f"on the Data page, or with `workprof remove {dataset.name!r}`"
    return f"remove the dataset ({how}) and load {dataset.origin} again"


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
    """The dataset of that whole hash, if there is one."""
    return next((dataset for dataset in entries(cursor) if dataset.hash == hashed), None)


def of_size(cursor: duckdb.DuckDBPyConnection, input_bytes: int) -> bool:
    """Tell whether some dataset came from that many bytes: only then may the same content be there already."""
    return bool(one(cursor, "SELECT count(*) FROM catalogue WHERE input_bytes = ?", [input_bytes])[0])


def checked_name(name: str) -> str:
    """A dataset name that is allowed; raises SettingsError, which says what a name may hold."""
    if not NAME.fullmatch(name):
        raise SettingsError(
            f"name {name!r} cannot be used: begin with a letter or digit, then letters, digits, space . _ -, at most 80"
        )
    if reads_as_hash(name):
        raise SettingsError(
            f"name {name!r} cannot be used: {SHORTEST_HASH} and more of 0-9 and a-f alone are the beginning of a hash; "
            f"add another letter, such as {f'data-{name}'!r}"
        )
    return name


def free_name(cursor: duckdb.DuckDBPyConnection, wanted: str, stem: str) -> str:
    """The asked name, or one made of a file's stem that no dataset has yet ('-2' and so on).

    A stem that reads as a hash gets 'dataset-' before it.

    Raises SettingsError when the asked name is taken or not allowed.
    """
    taken = {dataset.name for dataset in entries(cursor)}
    if wanted:
        if wanted in taken:
            raise SettingsError(
                f"a dataset is already called {wanted!r}; give another name, or rename or remove that one"
            )
        return checked_name(wanted)
    base = plain_stem(stem)
    if reads_as_hash(base):
        base = f"dataset-{base}"[:STEM_CHARACTERS]
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name


def plain_stem(stem: str) -> str:
    """What a dataset's name takes from the stem of a file's name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:STEM_CHARACTERS] or "dataset"


def one(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
    """The single row of a query that always has one."""
    (row,) = cursor.execute(sql, list(parameters)).fetchall()
    return tuple(row)


def _unknown(wanted: str, known: Sequence[Dataset], result: Sequence[Dataset]) -> DatasetUnknown:
    if result:
        meant = ", ".join(f"{dataset.name} ({dataset.hash})" for dataset in result)
        return DatasetUnknown(f"{wanted!r} may be any of {len(result)} datasets: {meant}; give the whole hash")
    for dataset in known:
        if dataset.name == wanted:
            return DatasetUnknown(
                f"no dataset has the hash {wanted!r}; the one that is called so has the hash {dataset.hash}: give that"
            )
    there = ", ".join(dataset.name for dataset in known) or "none yet: `workprof ingest FILE` loads one"
    begun = [dataset.hash for dataset in known if wanted and dataset.hash.startswith(wanted.lower())]
    meant = (
        f"; give at least {SHORTEST_HASH} characters of a hash, such as {begun[0][:SHORTEST_HASH]}"
        if begun
        else near(wanted, (dataset.name for dataset in known))
    )
    return DatasetUnknown(f"no dataset {wanted!r}; there are: {there}{meant}")


@dataclass(frozen=True)
class _Reading:
    """What the catalogue held, and how many commits there had been before it was read."""

    commits: int
    entries: tuple[Entry, ...]
    former: Mapping[str, str]  # hash before a refresh -> name


class Known:
    """The entries of an open home's catalogue; safe to share between threads."""

    def __init__(self, database: Database, *, nameless: bool = False) -> None:
        self._database, self._nameless = database, nameless
        self._last: _Reading | None = None
        self._parts: dict[tuple[str, str], Entry] = {}
        self._shared: dict[str, dict[str, tuple[str, ...]]] = {}
        database.after_writing = self._read

    def entries(self) -> tuple[Entry, ...]:
        """Every entry, newest first."""
        return self._reading().entries

    def _reading(self) -> _Reading:
        last, commits = self._last, self._database.commits
        if last is None or (last.commits != commits and not self._database.written_elsewhere):
            last = self._read()
        return last

    def _read(self) -> _Reading:
        """Read anew; of this process's own changes at once, as another process may write next."""
        commits = self._database.commits
        with self._database.cursor() as cursor:
            pseudonyms, nameless = self._database.pseudonyms, self._nameless
            entries = (replace(one, pseudonyms=pseudonyms, nameless=nameless) for one in whole_entries(cursor))
            known = tuple(entries)
            result = self._last = _Reading(commits, known, former_hashes(cursor) if known else {})
        return result

    def entry(self, name_or_hash: str) -> Entry:
        """The entry of that name, that hash or at least eight first characters of it; it may be damaged.

        A scope may stand behind it: then the entry of these rows.

        Raises:
            DatasetUnknown: names what there is.
            SettingsError: (ColumnMissing, NoRows) when the scope cannot be read, or no run is in it.
        """
        name, scope = split(name_or_hash)
        reading = self._reading()
        entries = reading.entries
        result = chosen(tuple(entry.dataset for entry in entries), name, reading.former)
        whole = next(entry for entry in entries if entry.dataset is result)
        if whole.nameless and whole.hidden:
            whole = replace(whole, shared=self._shared_of(whole))
        if not scope:
            return whole
        key = (result.hash, scope)
        if key not in self._parts:
            with self._database.cursor() as cursor:
                found = _part_of(cursor, whole.readable(), parsed(scope))
            while len(self._parts) >= MOST_PARTS:
                self._parts.pop(next(iter(self._parts)))
            self._parts[key] = found
        part = self._parts[key]
        return replace(part, dataset=replace(part.dataset, name=f"{result.name}{SIGN}{split(part.dataset.hash)[1]}"))

    def _shared_of(self, whole: Entry) -> dict[str, tuple[str, ...]]:
        hashed = whole.dataset.hash
        if hashed not in self._shared and whole.pseudonyms:
            with self._database.cursor() as cursor:
                found = whole.pseudonyms.shared(cursor, quoted(whole.table), whole.columns)
            there = {one.dataset.hash for one in self._reading().entries}
            self._shared = {of: one for of, one in self._shared.items() if of in there} | {hashed: found}
        return self._shared.get(hashed, {})


MOST_PARTS = 200
"""Scopes whose rows were counted, the latest ones."""
MOST_VALUES = 10_000
"""Of a column that a mistyped value is compared with."""


SAME_COLUMNS = {
    "group": ("account",),
    "partition": ("queue",),
    "node_kind": ("gpu_type", "machine_type", "instance_type", "node_type", "cpu_model"),
}
"""Column of a scope -> what takes its place in a dataset without it, the first that there is."""


def _part_of(cursor: duckdb.DuckDBPyConnection, whole: Entry, scope: Scope) -> Entry:
    """A dataset narrowed to a scope, whose columns have their stored names from here on.

    Raises:
        ColumnMissing: when a column is not there or holds numbers.
        SettingsError: when a value is none of a column's, or the dataset holds no runs.
        NoRows: when no run is in it.
    """
    dataset, known = whole.dataset, [column.name for column in whole.columns if not column.numeric]
    if dataset.kind != "jobs":
        raise SettingsError(f"dataset {dataset.name} holds no runs of jobs, and only these are narrowed; take it whole")
    where, settled = [], []
    for name, values in scope.of:
        column = next((found for one in (name, *SAME_COLUMNS.get(name, ())) if (found := whole.column(one))), None)
        if column is None or column.numeric:
            what = f"no column {name!r}" if column is None else f"numbers in column {name!r}"
            raise ColumnMissing(
                f"dataset {dataset.name} has {what}; narrow it by a column of texts: {shown(known)}{near(name, known)}"
            )
        meant = tuple(_name_behind(cursor, whole, column.name, one) for one in values)
        settled.append((column.name, meant))
        where.append(f"({' OR '.join(_value_sql(cursor, whole, column.name, one) for one in meant)})")
    if scope.period:
        where += _period_sql(cursor, whole, scope.period)
    settled_scope = replace(scope, of=tuple(settled))
    result = replace(
        whole, dataset=replace(dataset, hash=narrowed(dataset.hash, settled_scope)), where=" AND ".join(where)
    )
    rows, finished = one(cursor, f"SELECT count(*), count(*) FILTER (WHERE {FINISHED}) FROM {result.relation}")
    if not rows:
        raise NoRows(f"no run of {dataset.name} is in the scope {settled_scope.words}; widen it")
    return replace(result, dataset=replace(result.dataset, rows=rows, finished_rows=finished))


def _name_behind(cursor: duckdb.DuckDBPyConnection, whole: Entry, column: str, value: str) -> str:
    """The name that a pseudonym of a viewer's link stands for, for those who see names; any other value as it is."""
    pseudonyms = whole.pseudonyms
    if whole.nameless or not pseudonyms or column not in whole.hidden or not pseudonyms.is_one(column, value):
        return value
    query = f"SELECT {quoted(column)} FROM {whole.relation} WHERE {pseudonyms.sql(column)} = ? LIMIT 1"
    found = cursor.execute(query, [value]).fetchone()
    return str(found[0]) if found else value


def _value_sql(cursor: duckdb.DuckDBPyConnection, whole: Entry, column: str, value: str) -> str:
    name = quoted(column)
    sql = f"{name} = {text(value)}" if value else f"({name} IS NULL OR {name} = '')"
    if cursor.execute(f"SELECT 1 FROM {whole.relation} WHERE {sql} LIMIT 1").fetchone() is None:
        rows = cursor.execute(f"SELECT DISTINCT {name} FROM {whole.relation} LIMIT {MOST_VALUES}").fetchall()
        there = sorted(str(one) for (one,) in rows if one)
        what = f"{column} {value!r}" if value else f"missing {column}"
        raise SettingsError(f"no run of {whole.dataset.name} has {what}; there are {shown(there)}{near(value, there)}")
    return sql


def _period_sql(cursor: duckdb.DuckDBPyConnection, whole: Entry, period: str) -> list[str]:
    times = [name for name in ("start_time_s", "submit_time_s") if whole.column(name)]
    if not times:
        raise ColumnMissing(f"dataset {whole.dataset.name} tells no start of a run; leave the period {period} out")
    time = f"coalesce({', '.join(map(quoted, times))})"
    (latest,) = one(cursor, f"SELECT max({time}) FROM {whole.relation}")
    low, high = bounds(
        period, dates=latest is not None and dated(latest), utc_offset_s=utc_offset_s(whole.dataset.format)
    )
    return [f"{time} {sign} {edge!r}" for sign, edge in ((">=", low), ("<", high)) if edge is not None]
