"""The store: traces in, frames out."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pandas as pd

from workprof.core.arrays import Ints
from workprof.core.errors import EntryDamaged, HomeBusy
from workprof.core.long_table import AT_ONCE, LongTable
from workprof.core.progress import Progress, silent
from workprof.core.refreshes import Refresh
from workprof.core.roles import EXPORT, IMPORT, NOTE, OBSERVE, PREPARE, REMOVE, RENAME, SEE_AUDIT, Deed, Role
from workprof.core.scope import SIGN, split
from workprof.core.settings import Settings
from workprof.store import (
    catalogue,
    checks,
    decisions,
    detect,
    documents,
    frames,
    ingest,
    joining,
    outputs,
    proposal,
    refreshing,
    sources,
)
from workprof.store.audit import Entry
from workprof.store.catalogue import Known
from workprof.store.compile import FINISHED, ROW_ID
from workprof.store.connection import Database, quoted
from workprof.store.decisions import DecisionTables
from workprof.store.documents import FeedbackTables, MappingTables, ScenarioTables
from workprof.store.look import Look
from workprof.store.pseudonyms import Pseudonyms
from workprof.store.refreshing import Grown, Incoming
from workprof.store.reports import (
    Column,
    ColumnProfile,
    Counts,
    Dataset,
    IngestOptions,
    IngestReport,
    ProfileNote,
    SampleReport,
    Suggestion,
    TimeCoverage,
    Upstream,
)
from workprof.store.scopes import NoticeTables, ScopeTables, rename_notices
from workprof.store.sources import SourceTables

Value = TypeVar("Value")


class TraceStore(
    FeedbackTables, ScenarioTables, MappingTables, DecisionTables, ScopeTables, NoticeTables, SourceTables
):
    """One home folder's database, shared with other processes; every method may be called from any thread.

    `dataset` is everywhere a name or at least eight characters of a hash; DatasetUnknown names what there is.
    """

    def __init__(self, settings: Settings) -> None:
        """Open or create the database; where `readonly` is set, open it and change nothing.

        Raises:
            HomeBusy: when another process writes for longer than one waits (names its PID).
            SettingsError: when the home or its database cannot be used, or is read-only and there is none yet.
            DiskFull: when there is no room to begin with.
        """
        self._database = Database(settings)
        self._known = Known(self._database, nameless=settings.nameless)
        self.memory_limit_bytes = settings.memory_limit_bytes
        self._read: tuple[int, dict[tuple[str, str], Any]] = (-1, {})
        self._last_look: tuple[tuple[Path, int, IngestOptions], Look] | None = None
        try:
            if settings.pseudonyms:
                self._database.pseudonyms = Pseudonyms(settings.home, settings.pseudonyms)
            if settings.readonly:
                return
            old = self._database.home.database.exists()
            if not (old and self._is_complete()):
                with self._database.writing(PREPARE), self._database.transaction() as cursor:
                    catalogue.create(cursor, drop=old and self.alone)
            if self.alone:
                self._sweep_rejects()
        except BaseException:
            self._database.close()
            raise

    def _is_complete(self) -> bool:
        with self._database.cursor() as cursor:
            try:
                return catalogue.is_complete(cursor, drop=self.alone)
            except duckdb.CatalogException:  # no table at all
                return False

    @property
    def alone(self) -> bool:
        """Whether nobody else had the home open when it was opened."""
        return self._database.home.alone

    def writing(self, what: str = "") -> contextlib.AbstractContextManager[None]:
        """Return what keeps every other thread and process from writing, while finished runs are folded in."""
        return self._database.writing(OBSERVE, what)

    def refuse(self, deed: Deed) -> None:
        """Refuse a change where its role or WORKPROF_READONLY forbids it, before anything is computed for it."""
        self._database.refuse(deed)

    def note(self, deed: Deed, what: str) -> None:
        """Add to the audit log what was done beside the database."""
        self._database.audit.note(deed.name, what, self._database.role)

    def audit(self, most: int = 1000) -> tuple[Entry, ...]:
        """Who did what to this home, the latest first; raises NotAllowed for others than an admin."""
        SEE_AUDIT.refuse(self._database.role)
        return self._database.audit.entries(most)

    def close(self) -> None:
        """Close the database and let the home go."""
        self._database.close()

    def __enter__(self) -> TraceStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Traces in

    def ingest(
        self,
        paths: Sequence[Path],
        options: IngestOptions,
        progress: Progress = silent,
        upstream: Upstream | None = None,
    ) -> IngestReport:
        """Load a trace as a dataset and return the report; the same content again is 'already loaded'.

        `upstream` is what an engine did with it before: the report counts its rows and says its findings, too.

        Raises:
            TraceError: (ColumnMissing, UnitUnknown, NoRows) when the trace cannot be read as asked; nothing is kept.
            SettingsError: when the name is taken, or the format or an option is not known.
            Cancelled: when `progress` raised it; nothing is kept.
        """
        return ingest.ingest(self._database, [Path(path) for path in paths], options, progress, upstream)

    def ingest_all(self, paths: Sequence[Path], options: IngestOptions, progress: Progress) -> IngestReport:
        """Load files as one dataset: together where one ingest takes them, else one by one; raises as `ingest`."""
        if detect.belong_together(paths, options):
            return self.ingest(paths, options, progress)
        parts = {}
        for at, path in enumerate(paths):
            report = self.ingest([path], replace(options, name=""))
            parts[report.hash] = (self._entry(report.hash), report)  # the same content counts once
            progress((at + 1) / len(paths), f"read {path.name}")
        return joining.join(self._database, [*parts.values()])

    def grow(self, own: TraceStore, name: str, incoming: Incoming, begun: Refresh) -> Grown:
        """Make the rows of a source as they will be, in the store that new ones were read into (see `refreshing`)."""
        return refreshing.grow(self._database, own._database, name, incoming, begun)

    def moved(self, dataset: str) -> Ints:
        """Row ids of runs before and after a refresh (see `refreshing`), in the store where the rows were grown."""
        return refreshing.moved(self._database, self._entry(dataset))

    def take_in(self, name: str, grown: Grown | None, state: object, begun: Refresh) -> Refresh:
        """Put the rows of a source as they will be in the place of its dataset; None = nothing new came.

        Rows, how far the source was read and its history change together, or not at all.

        Raises:
            SettingsError: when the source was removed meanwhile, or its dataset changed.
        """
        return refreshing.take_in(self._database, name, grown, state, begun)

    def incoming(self, report: IngestReport, origin: str, **how: Any) -> Incoming:
        """A dataset of this store as what a refresh of another one brings; see `Incoming`."""
        return Incoming(self._database.home.database, self._entry(report.hash), report, origin, **how)

    def growing_old(self, own: TraceStore, name: str, ended_before_s: float) -> Incoming | None:
        """A source's rows as they are as what a refresh brings, where some ended before a moment; else None."""
        return refreshing.growing_old(self._database, own._database, name, ended_before_s)

    def spool_folder(self, name: str) -> AbstractContextManager[Path]:
        """Return a context with a fresh folder of the home; it is gone afterwards."""
        self._database.refuse(IMPORT)
        return self._database.home.spool_folder(name)

    def with_mapping(self, path: Path, options: IngestOptions) -> IngestOptions:
        """Return the options with what names and values of a generic file tell for sure.

        Raises:
            ColumnMissing: when no column seems to be a required field.
            UnitUnknown: when a unit is a guess; shows the evidence.
        """
        return proposal.taken(self._database, path, options)[0]

    def suggest(self, path: Path, options: IngestOptions) -> Suggestion:
        """Return what a look at the first rows of a generic file proposes, or says of the mapping in the options.

        The rows of the last file are kept: a page asks again for every unit that is chosen.
        """
        place, unmapped = Path(path), replace(options, mapping={})
        key = (place, place.stat().st_mtime_ns if place.exists() else 0, unmapped)
        last = self._last_look
        if last is None or last[0] != key:
            last = self._last_look = (key, proposal.look_at(self._database, place, options))
        return proposal.proposed(last[1], options)

    def detect(self, paths: Sequence[Path], options: IngestOptions | None = None) -> str:
        """Return the format that the files seem to have, read as the options say.

        Raises TraceError when it is none; names the formats.
        """
        return detect.detect([Path(path) for path in paths], options or IngestOptions())

    # The catalogue

    @property
    def commits(self) -> int:
        """Changes of the database since it was opened: what was read before the last one may be of yesterday."""
        return self._database.commits

    def datasets(self) -> tuple[Dataset, ...]:
        """Return every dataset, newest first."""
        return tuple(entry.dataset for entry in self._known.entries())

    def dataset(self, name_or_hash: str) -> Dataset:
        """Return one dataset of the catalogue."""
        return self._known.entry(name_or_hash).dataset

    def former_hashes(self, dataset: str) -> tuple[str, ...]:
        """Return the hashes that a dataset had before it was refreshed, the latest first."""
        name = split(self.dataset(dataset).name)[0]
        with self._database.cursor() as cursor:
            known = sources.former_hashes(cursor)
        return tuple(hashed for hashed, of in reversed(known.items()) if of == name)

    def refuse_replaced(self, hashed: str) -> None:
        """Refuse what was read of rows that a refresh replaced meanwhile; a hash is followed where a link names it.

        Raises HomeBusy, or DatasetUnknown where the dataset was removed.
        """
        now = self._known.entry(split(hashed)[0]).dataset
        if now.hash != split(hashed)[0]:
            raise HomeBusy(f"the runs of {now.name} were refreshed meanwhile; ask again for those that are there now")

    def rename(self, dataset: str, name: str) -> Dataset:
        """Give a dataset another name, which its decisions and alerts follow, and return its entry."""
        with self._database.writing(RENAME, f"{dataset} to {name}"), self._database.transaction() as cursor:
            entry = catalogue.entry(cursor, dataset)
            if name != entry.dataset.name:
                catalogue.free_name(cursor, catalogue.checked_name(name), "")
                cursor.execute("UPDATE catalogue SET name = ? WHERE hash = ?", [name, entry.dataset.hash])
                decisions.take_along(cursor, entry.dataset.name, name)
                rename_notices(cursor, entry.dataset.name, name)
                cursor.execute("UPDATE former_hashes SET name = ? WHERE name = ?", [name, entry.dataset.name])
            return catalogue.entry(cursor, entry.dataset.hash).dataset

    def remove(self, dataset: str) -> Dataset:
        """Remove a dataset with its rejects and return what it was; decisions stay for the next one of its name."""
        with self._database.writing(REMOVE, dataset):
            with self._database.transaction() as cursor:
                entry = catalogue.entry(cursor, dataset)
                cursor.execute("DELETE FROM catalogue WHERE hash = ?", [entry.dataset.hash])
                cursor.execute("DELETE FROM former_hashes WHERE name = ?", [entry.dataset.name])
                documents.forget_feedback(cursor, entry.dataset.hash)
                documents.forget_scenarios(cursor, entry.dataset.hash)
                for table in (entry.table, entry.rejects):
                    cursor.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
            self._sweep_rejects()
        return entry.dataset

    def export(self, dataset: str, path: Path) -> int:
        """Write a dataset as Parquet or CSV, or its columns as FILE.schema.json, and return its rows."""
        rows = outputs.export(self._database, self._entry(dataset), Path(path))
        if not self._database.readonly or self._database.role is Role.VIEWER:
            self.note(EXPORT, f"{dataset}: {rows:,} rows")
        return rows

    def schema_document(self, dataset: str) -> str:
        """Return JSON: name, type, unit, source column and description of every column."""
        entry = self._entry(dataset)
        return outputs.schema_document(entry.dataset, entry.columns)

    def sample(self, dataset: str, by: str, rows: int, name: str, seed: int = 0) -> SampleReport:
        """Draw a stratified sample of the finished rows and keep it as a dataset."""
        return frames.sample(self._database, self._entry(dataset), by, rows, name, seed)

    def report(self, dataset: str) -> IngestReport:
        """Return what the ingest of a dataset told."""
        entry = self.dataset(dataset)
        whole = self.dataset(split(entry.hash)[0])
        with self._database.cursor() as cursor:
            result = catalogue.report(cursor, whole)
        if entry.hash == whole.hash:
            return result
        counts = self.counts(dataset)
        return replace(
            replace(result, dataset=entry.name, hash=entry.hash, rows=entry.rows, rows_read=whole.rows),
            rejected=0,
            rejects_file=None,
            lost=0,
            running=counts.running,
            never_started=counts.never_started,
            jobs=counts.jobs,
            users=counts.users,
        )

    def rejects(self, dataset: str, limit: int = 1000) -> pd.DataFrame:
        """Return the rows that were not taken: line, column, text, reason."""
        with self._database.cursor() as cursor:
            entry = self._entry(dataset)
            return cursor.execute(f"SELECT * FROM {quoted(entry.rejects)} ORDER BY line LIMIT ?", [limit]).df()

    # Frames out

    def columns(self, dataset: str) -> tuple[Column, ...]:
        """Return the columns in table order, without `row_id` and `finished`."""
        return self._entry(dataset).columns

    def preview(self, dataset: str, limit: int = 100, offset: int = 0) -> pd.DataFrame:
        """Return rows as stored, with `row_id` first and `finished` last."""
        with self._database.cursor() as cursor:
            return frames.page(cursor, self._entry(dataset), limit, offset)

    def column_profiles(self, dataset: str, names: Sequence[str] = ()) -> tuple[ColumnProfile, ...]:
        """Return the distribution of every column, or of those of some names that are there."""
        entry, known = self._entry(dataset), {}
        if entry.dataset.kind == "jobs":
            counts = self.counts(dataset)
            known = {"job_name": counts.jobs, "user": counts.users}
        with self._database.cursor() as cursor:
            return checks.column_profiles(cursor, entry, known, names)

    def counts(self, dataset: str) -> Counts:
        """Return what a job table holds, counted exactly: runs, jobs, users, and the runs without an end."""
        entry = self._entry(dataset)
        with self._database.cursor() as cursor:
            try:
                known = None if entry.where else catalogue.report(cursor, entry.dataset)
            except EntryDamaged:  # its rows are there
                known = None
            return checks.counts_of(cursor, entry.relation, entry.columns, known)

    def whole_rows(self, dataset: str) -> Ints:
        """Return the row ids that the rows of a scope (n,) have in the whole dataset, in their order."""
        entry = self._entry(dataset)
        condition = f" WHERE {entry.where}" if entry.where else ""
        with self._database.cursor() as cursor:
            found = cursor.sql(f"SELECT rowid FROM {replace(entry, where='').relation}{condition} ORDER BY rowid")
            return np.asarray(found.fetchnumpy()["rowid"], dtype=np.int64)

    def time_coverage(self, dataset: str, bins: int = 0) -> TimeCoverage:
        """Return rows started per time bin; 0 = bins of a round width."""
        with self._database.cursor() as cursor:
            return checks.time_coverage(cursor, self._entry(dataset), bins)

    def values_of(self, dataset: str, column: str, most: int) -> tuple[tuple[str, int], ...]:
        """Return the most frequent texts of a column with their runs; '' stands for none."""
        with self._database.cursor() as cursor:
            return frames.values_of(cursor, self._entry(dataset), column, most)

    def resolve(self, dataset: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the stored names of columns given by field or by the trace's own name, each once.

        Raises ColumnMissing, which names what there is.
        """
        return tuple(column.name for column in frames.resolved(self._entry(dataset), names))

    def frame(
        self,
        dataset: str,
        columns: Sequence[str],
        *,
        finished_only: bool = True,
        drawn: frames.Drawn | None = None,
        latest: int | None = None,
    ) -> pd.DataFrame:
        """Return columns under their stored names, with `row_id` first; of more rows the `latest` alone.

        Numbers are float64 with NaN for 'no value', texts are categories, rows are in `row_id` order. All rows, not
        only the finished ones, come with `finished` last.

        Raises NotEnoughData when they take more memory than `WORKPROF_MEMORY_LIMIT`.
        """
        entry = self._entry(dataset)
        rows = entry.dataset.finished_rows if finished_only else entry.dataset.rows
        most = drawn.rows if drawn else rows if latest is None else latest
        frames.refuse_large(entry, columns, self.memory_limit_bytes, min(rows, most))
        with self._database.cursor() as cursor:
            return frames.frame(cursor, entry, columns, finished_only=finished_only, drawn=drawn, latest=latest)

    def long_table(self, dataset: str, columns: Sequence[str]) -> LongTable:
        """Return all rows as `frame` would, finished or not, that every pass reads anew."""
        entry = self._entry(dataset)
        names = (ROW_ID, *(column.name for column in frames.resolved(entry, columns)), FINISHED)

        def read(wanted: Sequence[str]) -> Iterator[pd.DataFrame]:
            with self._database.cursor() as cursor:
                yield from frames.parts(cursor, entry, wanted, AT_ONCE)

        return LongTable(entry.dataset.rows, names, {}, read)

    def rows(self, dataset: str, row_ids: Sequence[int], columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows of these ids in the order asked: all columns, or the ones named."""
        with self._database.cursor() as cursor:
            return frames.rows(cursor, self._entry(dataset), row_ids, columns)

    def search_jobs(self, dataset: str, columns: Sequence[str], words: str, limit: int) -> pd.DataFrame:
        """Return finished rows in which every word stands in one of the columns: `row_id` and these columns."""
        with self._database.cursor() as cursor:
            return frames.search(cursor, self._entry(dataset), columns, words, limit)

    def nth_finished(self, dataset: str, position: int) -> int:
        """Return the row id of the finished row at a position."""
        with self._database.cursor() as cursor:
            return frames.nth_finished(cursor, self._entry(dataset), position)

    # Notes

    def set_note(self, clustering: str, note: ProfileNote) -> None:
        """Keep a name and a note for one profile of a clustering; empty ones are forgotten."""
        with self._database.writing(NOTE, clustering), self._database.transaction() as cursor:
            documents.set_note(cursor, clustering, note)

    def notes(self, clustering: str) -> tuple[ProfileNote, ...]:
        """Return the notes of a clustering by profile."""
        return self._unchanged(("notes", clustering), lambda cursor: documents.notes(cursor, clustering))

    def noted_clusterings(self, dataset: str, *, scopes: bool = False) -> set[str]:
        """Return the keys of the clusterings of a dataset (hash), and of its `scopes`, that have notes."""
        key = ("noted", f"{dataset}{SIGN if scopes else ''}")
        return self._unchanged(key, lambda cursor: documents.noted_clusterings(cursor, dataset, scopes=scopes))

    def decisions(self, dataset: str, cls: type[Value]) -> tuple[tuple[Value, ...], dict[str, documents.Unreadable]]:
        """Return what was decided about the rows of a dataset of that name, and why the rest cannot be read."""
        name = split(dataset)[0]  # what holds for a row holds for its part of a scope
        return self._unchanged(("decisions", name), lambda cursor: decisions.decisions(cursor, name, cls))

    def _unchanged(self, key: tuple[str, str], read: Callable[[duckdb.DuckDBPyConnection], Value]) -> Value:
        """Return what was read before where the database is as it was: opening it takes longer than reading."""
        (last, values), commits = self._read, self._database.commits
        if last != commits:
            values = {}
            self._read = commits, values
        if key not in values:
            with self._database.cursor() as cursor:
                values[key] = read(cursor)
        result: Value = values[key]
        return result

    def _entry(self, dataset: str) -> catalogue.Entry:
        return self._known.entry(dataset).readable()

    def _sweep_rejects(self) -> None:
        """Remove rejects files of no dataset: of removed ones, and what a killed ingest left."""
        files = [*self._database.home.rejects.iterdir()]
        known = {dataset.hash for dataset in self.datasets()} if files else set()
        for left in files:
            if left.stem not in known or left.suffix != ".csv":
                left.unlink(missing_ok=True)


@dataclass(frozen=True)
class PassingTrace:
    """The finished rows of a trace that was read once."""

    jobs: pd.DataFrame  # every column under its stored name, planted truth left out; texts as categories
    report: IngestReport  # of the reading
    unfinished: int  # rows that were left out because their job has not finished well


def passing_trace(
    settings: Settings, paths: Sequence[Path], options: IngestOptions | None = None, progress: Progress = silent
) -> PassingTrace:
    """Return the finished rows of a trace, which passes through the spool of the open home.

    Raises:
        As `TraceStore.ingest`.
    """
    folder = settings.home / "spool" / f"passing-{uuid.uuid4().hex}"
    try:
        with TraceStore(settings.passing(folder)) as store:
            report = store.ingest(paths, options or IngestOptions(), progress)
            jobs = finished_rows(store, report.hash)
            unfinished = report.rows - len(jobs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return PassingTrace(jobs, report, unfinished)


def finished_rows(store: TraceStore, dataset: str) -> pd.DataFrame:
    """Return the finished rows of a dataset: every column but planted truth."""
    names = [column.name for column in store.columns(dataset) if not column.truth]
    return store.frame(dataset, names)
