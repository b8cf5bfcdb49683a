"""Datasets that grow: what a refresh brings replaces and joins the rows that are there.

The rows as they will be are made in a store of their own, beside the home, whose readers go on meanwhile. They take
the place of those that are there in one transaction, when what people look at first is computed of them.

A run is known by its cluster, namespace, name and container, and a pod by its uid. A row of a refresh takes the place
of one with the same identity and start, of the same pod within its time, or of one that had not ended; one that waited
gives way to any row of its pod or array of jobs. The others stay. How far the source was read stands in the same
transaction: a refresh that is killed has changed nothing, and the next one brings the same rows.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np

from workprof.core.arrays import Ints
from workprof.core.errors import EntryDamaged, SettingsError, TraceError
from workprof.core.records import pack
from workprof.core.refreshes import Refresh
from workprof.core.roles import PREPARE, REFRESH
from workprof.formats import FORMATS
from workprof.store import catalogue, checks, names_given, rejects
from workprof.store.catalogue import REJECTS, ROWS, Entry, one
from workprof.store.compile import FINISHED, FLAGS, STILL_RUNNING
from workprof.store.connection import Database, quoted, text
from workprof.store.documents import OF_DATASET
from workprof.store.reports import Check, Column, IngestReport
from workprof.store.sources import last_dataset, remember

WHERE = ("cluster", "namespace")
IDENTITY = (*WHERE, "job_name", "container")
UID = "uid"
"""Of a pod: one that is made again under its name is another one."""
WAITING = "_["
"""In the name of those jobs of a Slurm array that wait: 7_[4-9]."""
ARRAY = r"regexp_replace({}.job_name, '_(\d+|\[.*\])$', '')"
"""SQL of the array's own number: 7 of 7_3, and of 7_[4-9]."""
START, END = "start_time_s", "end_time_s"
KEPT_ROWS = "of earlier refreshes"
"""Name of the check that counts the rows that stayed."""
KEPT = (FINISHED, FLAGS)
"""Columns of every table of rows beside those that the catalogue tells of."""
MARK = "md5(concat(?, ' ', count(*), ' ', bit_xor(mark), ' ', sum(mark::HUGEINT)))"
"""SQL of a hash of a source's name and its rows, in any order."""
ORDER = (START, "submit_time_s", *IDENTITY, "task_name")
ROWS_AT_ONCE = 122_880
"""Of one turn of writing, some tenths of a second: a row group of DuckDB, which is written to its place at once."""
BETWEEN_S = 0.1
"""Between two turns, for whoever waits."""
PASSING, BEFORE = "incoming", "before_it"


@dataclass(frozen=True)
class Incoming:
    """What was read into a store of its own, and how it is to be taken."""

    database: Path  # file of that store, within the home
    entry: Entry
    report: IngestReport
    origin: str  # of the source, for people
    whole: bool  # the dataset becomes exactly these rows
    ended_before_s: float | None  # rows that ended before go; None = all stay


@dataclass(frozen=True)
class Grown:
    """The rows of a source as they will be, in a store of their own, and what became of them."""

    database: Path  # file of that store, within the home
    before: str  # hash of the dataset that they take the place of; '' = of none
    result: Refresh

    @property
    def is_new(self) -> bool:
        """Whether they are others than those that are there."""
        return self.result.dataset != self.before


def grow(database: Database, own: Database, name: str, incoming: Incoming, begun: Refresh) -> Grown:
    """Let what came replace and join the rows of a source's dataset, in the store it was read into; return both.

    The home is read alone, for as long as its rows are copied: who writes there waits no longer than that.

    Raises:
        TraceError: when a column there means something else than it did, or holds something else.
        SettingsError: when a dataset of that name is no source's.
    """
    copied = incoming.database.with_name(f"{BEFORE}.duckdb")
    with database.cursor() as session:
        before = _before(session, name)
        earlier: tuple[Check, ...] = ()
        if before is not None:
            earlier = _earlier(session, before) if not incoming.whole else ()
            before = _spelled(before, incoming.entry.columns)
            with _attached(session, copied, BEFORE, "READ_WRITE"):
                session.execute(f"CREATE TABLE {BEFORE}.rows AS SELECT * FROM {before.relation}")
    came, new, columns = quoted(incoming.entry.table), incoming.entry.columns, incoming.entry.columns
    with (
        own.writing(REFRESH, name),
        own.cursor() as session,
        _attached(session, copied if before is not None else None, BEFORE),
        own.transaction() as cursor,
    ):
        if before is not None and not incoming.whole:
            if incoming.entry.dataset.format in names_given.PODS:
                there = {column.name for column in before.columns}
                names_given.keep(cursor, (f"{BEFORE}.rows", there), (came, {column.name for column in new}))
            columns = _together(cursor, before, (new, _stays(before, came, new)))
        _stage(cursor, before, incoming, came, columns)
        stays = "TRUE"
        if incoming.ended_before_s is not None and END in {each.name for each in columns}:
            stays = f"coalesce({END} >= {float(incoming.ended_before_s)!r}, TRUE)"
        elif incoming.ended_before_s is not None:
            said = "runs have no end that is known: --keep lets none of them go"
            timeless = Check("no end", "warning", incoming.report.rows, f"{incoming.report.rows:,} {said}")
            incoming = replace(incoming, report=replace(incoming.report, checks=(*incoming.report.checks, timeless)))
        cursor.execute(f"CREATE TEMP VIEW grown AS SELECT * FROM staged WHERE {stays}")
        rows, hashed = one(cursor, f"SELECT count(*), {MARK} FROM grown", [name])
        expired = int(one(cursor, "SELECT count(*) FROM staged")[0]) - int(rows)
        if not rows:
            raise TraceError(f"source {name}: no run is left; give a longer --keep")
        added, changed, gone = _counted(cursor, before, incoming)
        result = replace(
            begun,
            dataset=str(hashed),
            rows=int(rows),
            new=added,
            changed=changed,
            gone=gone,
            gone_columns=_gone_columns(cursor, before, columns),
            expired=expired,
            rejected=incoming.report.rejected,
        )
        if before is None or result.dataset != before.dataset.hash:
            known_as = {**(before.aliases if before is not None else {}), **incoming.entry.aliases}
            told = replace(incoming, report=_with_earlier(incoming.report, earlier))
            _keep(cursor, told, columns, known_as, result, database.home.rejects)
        cursor.execute("DROP VIEW grown")
        cursor.execute("DROP TABLE staged")
    return Grown(incoming.database, before.dataset.hash if before is not None else "", result)


def growing_old(database: Database, own: Database, name: str, ended_before_s: float) -> Incoming | None:
    """The rows of a source's dataset as what a refresh brings where nothing new came, copied into the store beside.

    None before the first refresh, and where no row ended before the moment.
    """
    copied = own.home.database.with_name(f"{PASSING}.duckdb")
    with database.cursor() as session:
        before = _before(session, name)
        if before is None or END not in {each.name for each in before.columns}:
            return None
        if not one(session, f"SELECT count(*) FROM {before.relation} WHERE {END} < ?", [ended_before_s])[0]:
            return None
        report = catalogue.report(session, before.dataset)
        checks = tuple(each for each in _earlier(session, before) if each.name != KEPT_ROWS)
        with _attached(session, copied, PASSING, "READ_WRITE"):
            session.execute(f"CREATE TABLE {PASSING}.rows AS SELECT * FROM {before.relation}")
    with own.writing(REFRESH, name), own.cursor() as session, _attached(session, copied, PASSING):
        session.execute(f"CREATE TABLE {quoted(before.table)} AS SELECT * FROM {PASSING}.rows")
        rejects.create_table(session, before.rejects)
    told = replace(report, rejected=0, rejects_file=None, checks=checks)
    return Incoming(own.home.database, before, told, before.dataset.origin, whole=True, ended_before_s=ended_before_s)


EARLIER = "an earlier refresh: "


def _earlier(cursor: duckdb.DuckDBPyConnection, before: Entry) -> tuple[Check, ...]:
    """What earlier refreshes told, and how many rows the last of them rejected; nothing where that cannot be read."""
    try:
        report = catalogue.report(cursor, before.dataset)
    except EntryDamaged:
        return ()
    message = f"{report.rejected:,} rows were rejected"
    rejected = (Check("rejected earlier", "warning", report.rejected, message),) if report.rejected else ()
    return (*rejected, *report.checks)


def _with_earlier(told: IngestReport, earlier: Sequence[Check]) -> IngestReport:
    """A report with what it does not tell and an earlier one told."""
    names = {check.name for check in told.checks} | {KEPT_ROWS}
    unsaid = {check.name: check for check in reversed(earlier) if check.name not in names}
    others = (replace(each, message=EARLIER + each.message.removeprefix(EARLIER)) for each in unsaid.values())
    return replace(told, checks=(*told.checks, *others))


def moved(own: Database, entry: Entry) -> Ints:
    """Where runs of before stand in the grown rows: (n, 2) row ids then and now, of those that are known again."""
    copied = own.home.database.with_name(f"{BEFORE}.duckdb")
    with own.cursor() as session, _attached(session, copied, BEFORE):
        there = {str(each[0]) for each in session.execute(f"DESCRIBE {BEFORE}.rows").fetchall()}
        both = [each.name for each in entry.columns if each.name in there]
        keys = [each for each in (*IDENTITY, START) if each in both] if "job_name" in both else both
        same = " AND ".join(f"o.{quoted(each)} IS NOT DISTINCT FROM n.{quoted(each)}" for each in keys)
        query = (
            f"SELECT min(o.rowid) was, n.rowid now FROM {entry.relation} n JOIN {BEFORE}.rows o ON {same} GROUP BY 2"
        )
        found = session.execute(f"SELECT was, min(now) AS now FROM ({query}) GROUP BY 1").fetchnumpy()
    return np.column_stack([np.asarray(found[each], dtype=np.int64) for each in ("was", "now")])


def take_in(database: Database, name: str, grown: Grown | None, state: object, begun: Refresh) -> Refresh:
    """Put the rows of a source as they will be in the place of its dataset; return what became of them.

    Rows, state and history change together or not at all. None = nothing new came.

    Raises:
        SettingsError: when the source or its dataset was removed or changed meanwhile, or the same rows are there.
    """
    result = begun if grown is None else replace(grown.result, seconds=begun.seconds)
    if grown is not None and grown.is_new:
        _bring(database, name, grown)
    with (
        database.writing(REFRESH, name),
        database.cursor() as session,
        _attached(session, grown.database if grown is not None else None, PASSING),
        database.transaction() as cursor,
    ):
        if not one(cursor, "SELECT count(*) FROM sources WHERE name = ?", [name])[0]:
            raise SettingsError(f"source {name} was removed meanwhile; nothing was changed")
        if grown is not None and grown.is_new:
            _put(cursor, database, name, grown)
        elif grown is None and (there := _before(cursor, name)) is not None:
            result = replace(result, dataset=there.dataset.hash, rows=there.dataset.rows)
        document = json.dumps(pack(state).document)
        cursor.execute("UPDATE sources SET state = ? WHERE name = ?", [document, name])
        remember(cursor, name, result)
    return result


def _bring(database: Database, name: str, grown: Grown) -> None:
    """Copy all rows but the last into the home, some at a time: whoever reads or writes there waits for these alone.

    Killed on the way it leaves a table of no dataset, which the next refresh of the source replaces.
    """
    for first in range(0, grown.result.rows - ROWS_AT_ONCE, ROWS_AT_ONCE):
        with (
            database.writing(PREPARE),
            database.cursor() as session,
            _attached(session, grown.database, PASSING),
            database.transaction() as cursor,
        ):
            _copy(cursor, name, grown, first)
        time.sleep(BETWEEN_S)


def _copy(cursor: duckdb.DuckDBPyConnection, name: str, grown: Grown, first: int) -> None:
    here, there = quoted(ROWS + name), f"{PASSING}.{quoted(ROWS + grown.result.dataset)}"
    some = f"SELECT * FROM {there} WHERE rowid >= {first} AND rowid < {first + ROWS_AT_ONCE}"
    if first:
        cursor.execute(f"INSERT INTO {here} {some}")
    else:
        cursor.execute(f"CREATE OR REPLACE TABLE {here} AS {some}")


@contextlib.contextmanager
def _attached(
    session: duckdb.DuckDBPyConnection, path: Path | None, name: str, mode: str = "READ_ONLY"
) -> Iterator[None]:
    """Have another database's file open under a name meanwhile; None = none."""
    if path is None:
        yield
        return
    session.execute(f"ATTACH {text(str(path))} AS {name} ({mode})")
    try:
        yield
    finally:
        session.execute(f"DETACH {name}")


def _before(cursor: duckdb.DuckDBPyConnection, name: str) -> Entry | None:
    """The dataset as the last refresh left it; None before the first one.

    Raises SettingsError where it was renamed or removed, or another one has the source's name.
    """
    last = last_dataset(cursor, name)
    known = {each.dataset.hash: each for each in catalogue.whole_entries(cursor)}
    if last in known:
        if known[last].dataset.name != name:
            raise SettingsError(
                f"the dataset of source {name} is called {known[last].dataset.name!r} now; rename it back, or remove "
                f"the source and add it under that name"
            )
        return known[last].readable()
    if any(each.dataset.name == name for each in known.values()):
        raise SettingsError(f"another dataset is called {name!r}; rename or remove it, then refresh again")
    if last:
        raise SettingsError(f"the dataset of source {name} was removed; add the source again to read it from the start")
    return None


def _spelled(before: Entry, new: Sequence[Column]) -> Entry:
    """The old columns as the new ones are spelled: names of a table do not differ in case alone."""
    names = {column.name.lower(): column.name for column in new}
    columns = (replace(column, name=names.get(column.name.lower(), column.name)) for column in before.columns)
    return replace(before, columns=tuple(columns))


def _together(
    cursor: duckdb.DuckDBPyConnection, before: Entry, after: tuple[Sequence[Column], str]
) -> tuple[Column, ...]:
    """The new columns, and the old ones of which a row that stays has a value.

    Raises TraceError where one means something else than it did.
    """
    new, stays = after
    known = together(before.columns, new, before.dataset.name)[len(new) :]
    if not known:
        return tuple(new)
    filled = one(cursor, f"SELECT {', '.join(f'count({quoted(each.name)})' for each in known)} FROM {stays}")
    return (*new, *(column for column, count in zip(known, filled, strict=True) if count))


def together(before: Sequence[Column], new: Sequence[Column], name: str) -> tuple[Column, ...]:
    """The new columns of a source, then the old ones beside them.

    Raises TraceError where one means something else than it did.
    """
    known = {column.name: column for column in before}
    for column in new:
        other = known.pop(column.name, column)
        if (other.numeric, other.unit) != (column.numeric, column.unit):
            raise TraceError(
                f"source {name}: column {column.name!r} held {_kind(other)} and holds {_kind(column)} "
                f"now; nothing was changed. Mend the source, or add it anew under another name"
            )
    return (*new, *known.values())


def _kind(column: Column) -> str:
    return ("numbers" if column.numeric else "texts") + (f" in {column.unit}" if column.unit else "")


def _stays(before: Entry, came: str, columns: Sequence[Column]) -> str:
    """SQL: the old rows `o` that no new row takes the place of."""
    both = [column.name for column in columns if before.column(column.name) in before.columns]
    without = (f"NOT EXISTS (SELECT 1 FROM {came} n WHERE {same})" for same in same_run(both))
    return f"{BEFORE}.rows o WHERE {' AND '.join(without)}"


def _stage(
    cursor: duckdb.DuckDBPyConnection, before: Entry | None, incoming: Incoming, came: str, columns: Sequence[Column]
) -> None:
    """Make `staged`: rows in order, with a mark of their content and whether they came now."""
    names = [*(column.name for column in columns), *KEPT]
    listed = ", ".join(map(quoted, sorted(names)))
    new = {column.name for column in incoming.entry.columns} | {*KEPT}
    some = ", ".join(quoted(each) if each in new else f"NULL AS {quoted(each)}" for each in names)
    parts = [f"SELECT {some}, TRUE AS is_new FROM {came}"]
    if before is not None and not incoming.whole:
        old = {column.name for column in before.columns} | {*KEPT}
        there = ", ".join(f"o.{quoted(each)}" if each in old else f"NULL AS {quoted(each)}" for each in names)
        parts.append(f"SELECT {there}, FALSE AS is_new FROM {_stays(before, came, incoming.entry.columns)}")
    order = ", ".join(f"{quoted(each)} NULLS FIRST" for each in (*(each for each in ORDER if each in names), "mark"))
    whole = " UNION ALL BY NAME ".join(parts)
    cursor.execute(f"CREATE TEMP TABLE staged AS SELECT *, hash({listed}) AS mark FROM ({whole}) ORDER BY {order}")


def same_run(both: Sequence[str]) -> tuple[str, ...]:
    """SQL: the new row n is the same run as the old row o, that pod over its time, or it had not ended; or waited."""
    keys = [each for each in IDENTITY if each in both] or both
    equal = {each: f"n.{quoted(each)} IS NOT DISTINCT FROM o.{quoted(each)}" for each in keys}
    if "job_name" not in keys or START not in both:
        return (" AND ".join(equal.values()),)
    ran = f"n.{START} IS NOT DISTINCT FROM o.{START} OR o.{START} IS NULL OR (o.{FLAGS} & {STILL_RUNNING}) > 0"
    if {END, "namespace", "container"} <= {*both}:  # a pod, whose start is told later than its use; others repeat names
        ran += f" OR (n.{START} <= o.{START} AND coalesce(n.{END}, 'infinity') >= o.{END})"
    waits = " AND ".join(f"o.{each} IS NULL" for each in (START, END) if each in both)
    array = f"{ARRAY.format('n')} = CASE WHEN {waits} THEN {ARRAY.format('o')} END"
    name = f"(n.job_name = o.job_name OR contains(o.job_name, '{WAITING}'))"
    one_pod = [f"coalesce(n.{UID} = o.{UID}, TRUE)"] if UID in both else []
    waited = [equal[each] for each in WHERE if each in keys]
    return " AND ".join([*equal.values(), f"({ran})", *one_pod]), " AND ".join([*waited, array, name, *one_pod])


def _counted(cursor: duckdb.DuckDBPyConnection, before: Entry | None, incoming: Incoming) -> tuple[int, int, int]:
    """How many rows are new, how many took the place of one that was otherwise, and how many are gone.

    Rows that grew too old count in none of them. The last is of a dataset that becomes what came, whole.
    """
    (came,) = one(cursor, "SELECT count(*) FROM grown WHERE is_new")
    if before is None:
        return int(came), 0, 0
    there = {str(each[0]) for each in cursor.execute("DESCRIBE grown").fetchall()}
    names = {column.name for column in before.columns}
    both = [each for each in (*(column.name for column in before.columns), *KEPT) if each in there]
    keys = [each for each in IDENTITY if each in both] if "job_name" in both else both
    marks = f"SELECT hash({', '.join(map(quoted, both))}) AS mark, hash({', '.join(map(quoted, keys))}) AS run FROM"
    old = f"{marks} {BEFORE}.rows"
    if incoming.ended_before_s is not None and END in names:
        old += f" WHERE coalesce({END} >= {float(incoming.ended_before_s)!r}, TRUE)"
    kept, same, alive, again = one(
        cursor,
        f"WITH new AS ({marks} grown WHERE is_new), old AS ({old}) "
        "SELECT (SELECT count(*) FROM grown WHERE NOT is_new), "
        "(SELECT count(*) FROM new SEMI JOIN old USING (mark)), (SELECT count(*) FROM old), "
        "(SELECT count(*) FROM (SELECT * FROM new ANTI JOIN old USING (mark)) SEMI JOIN "
        "(SELECT * FROM old ANTI JOIN new USING (mark)) USING (run))",
    )
    replaced = max(int(alive) - int(kept) - int(same), 0)
    changed = min(replaced, int(again) if incoming.whole else int(came) - int(same))
    return max(int(came) - int(same) - changed, 0), changed, replaced - changed if incoming.whole else 0


def _gone_columns(
    cursor: duckdb.DuckDBPyConnection, before: Entry | None, columns: Sequence[Column]
) -> tuple[str, ...]:
    """The columns that had values and are not there any more."""
    now = {each.name for each in columns}
    lost = [each.name for each in before.columns if each.name not in now] if before is not None else []
    if not lost:
        return ()
    filled = one(cursor, f"SELECT {', '.join(f'count({quoted(each)})' for each in lost)} FROM {BEFORE}.rows")
    return tuple(name for name, count in zip(lost, filled, strict=True) if count)


def _keep(
    cursor: duckdb.DuckDBPyConnection,
    incoming: Incoming,
    columns: Sequence[Column],
    known_as: Mapping[str, str],
    result: Refresh,
    folder: Path,
) -> None:
    """Make the grown rows the one dataset of their own store, whose rejects are those that came."""
    name, hashed, told = result.source, result.dataset, incoming.report
    own = ", ".join(quoted(each) for each in (*(column.name for column in columns), *KEPT))
    cursor.execute(f"CREATE TABLE {quoted(ROWS + hashed)} AS SELECT {own} FROM grown")
    cursor.execute(f"ALTER TABLE {quoted(incoming.entry.rejects)} RENAME TO {quoted(REJECTS + hashed)}")
    if told.kind == "jobs":
        counts = checks.counts_of(cursor, quoted(ROWS + hashed), columns)
        told = replace(
            told, running=counts.running, never_started=counts.never_started, jobs=counts.jobs, users=counts.users
        )
        if told.format in FORMATS:
            anew = checks.counted_anew(cursor, quoted(ROWS + hashed), FORMATS[told.format], columns, told.checks)
            told = replace(told, checks=anew)
    kept = result.rows - result.new - result.changed
    earlier = [Check(KEPT_ROWS, "info", kept, "runs are as an earlier refresh read them")] if kept else []
    report = replace(
        told,
        dataset=name,
        hash=hashed,
        rows=result.rows,
        rows_read=result.rows + told.rejected,
        rejects_file=str(_rejects(folder, hashed)) if told.rejected else None,
        checks=(*told.checks, *earlier),
    )
    dataset = replace(
        incoming.entry.dataset,
        name=name,
        hash=hashed,
        rows=result.rows,
        finished_rows=int(one(cursor, f"SELECT count(*) FROM grown WHERE {FINISHED}")[0]),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        origin=incoming.origin,
    )
    cursor.execute("DELETE FROM catalogue")
    cursor.execute(f"DROP TABLE {quoted(incoming.entry.table)}")
    catalogue.insert(cursor, dataset, columns, known_as, report, input_bytes=0)


def _put(cursor: duckdb.DuckDBPyConnection, database: Database, name: str, grown: Grown) -> None:
    before, hashed = _before(cursor, name), grown.result.dataset
    if (before.dataset.hash if before is not None else "") != grown.before:
        raise SettingsError(f"the dataset of source {name} was changed meanwhile; refresh again")
    there = catalogue.find_hash(cursor, hashed)
    if there is not None:
        raise SettingsError(
            f"source {name}: the same rows are there as {there.name!r}; remove that dataset, or the source"
        )
    own, rejected = quoted(ROWS + hashed), quoted(REJECTS + hashed)
    for table in (own, rejected):
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
    _copy(cursor, name, grown, (grown.result.rows - 1) // ROWS_AT_ONCE * ROWS_AT_ONCE)
    cursor.execute(f"ALTER TABLE {quoted(ROWS + name)} RENAME TO {own}")
    cursor.execute(f"CREATE TABLE {rejected} AS SELECT * FROM {PASSING}.{rejected}")
    if grown.result.rejected:
        rejects.write_file(cursor, REJECTS + hashed, _rejects(database.home.rejects, hashed))
    cursor.execute(f"INSERT INTO catalogue BY NAME SELECT * FROM {PASSING}.catalogue")
    if before is not None:
        last = before.dataset.hash
        cursor.execute("DELETE FROM catalogue WHERE hash = ?", [last])
        cursor.execute("INSERT INTO former_hashes VALUES (?, ?)", [last, name])
        for table in ("scenarios", "feedback_state", "feedback_jobs"):
            whole = f"UPDATE {table} SET dataset = ? || substr(dataset, {len(last) + 1}) WHERE {OF_DATASET}"
            cursor.execute(whole, [hashed, last, last])
        for table in (before.table, before.rejects):
            cursor.execute(f"DROP TABLE IF EXISTS {quoted(table)}")


def _rejects(folder: Path, hashed: str) -> Path:
    return folder / f"{hashed}.csv"
