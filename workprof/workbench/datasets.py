"""Questions about datasets: ingest, list, columns, checks, what cannot be read, the installation told for support."""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

import workprof
from workprof.core.errors import EntryDamaged
from workprof.core.extras import installed_version
from workprof.core.parts import PARTS
from workprof.core.progress import Progress, silent
from workprof.core.shares import Share
from workprof.forecasts.feedback.model import FinishedJobs
from workprof.forecasts.feedback.windows import FeedbackState
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.memory.decisions import Decision
from workprof.memory.scenarios import Scenario
from workprof.nodes.ranking import NodeScenario
from workprof.phases.library import LibraryEdits
from workprof.store.in_memory import Given, is_table, paths_of, written
from workprof.store.reports import (
    Column,
    ColumnProfile,
    Counts,
    Dataset,
    FieldSource,
    IngestOptions,
    IngestReport,
    SampleReport,
    SavedMapping,
    Suggestion,
    TimeCoverage,
    shares_of,
)
from workprof.workbench.question_methods import JOBS, OpenHome, refuse_other_kind

if TYPE_CHECKING:
    from workprof.pull.pulling import PullReport, PullSettings


IN_MEMORY = "table"
"""Name of a dataset that was handed over without a file or a name."""


class DatasetQuestions(OpenHome):
    """The store's questions, one method each."""

    def ingest(
        self,
        trace: Given | Sequence[str | os.PathLike[str]],
        options: IngestOptions | None = None,
        progress: Progress = silent,
    ) -> IngestReport:
        """What became of a trace; the same content again answers 'already loaded'.

        It is a path, several paths, or a table in memory (pandas, Arrow, Polars).
        """
        chosen = options or IngestOptions()
        if not is_table(trace):
            return self._store.ingest(paths_of(trace), chosen, progress)
        with self._store.spool_folder(uuid.uuid4().hex) as folder:
            return self._store.ingest([written(trace, folder, chosen.name or IN_MEMORY)], chosen, progress)

    def pull(self, settings: PullSettings, progress: Progress = silent) -> PullReport:
        """What became of a trace in another engine: joined, folded and sampled there, loaded here."""
        from workprof.pull.pulling import pull  # noqa: PLC0415  an extra

        return pull(self._store, settings, progress)

    def suggest(self, path: Path, options: IngestOptions | None = None) -> Suggestion:
        """A proposal of how to map a generic file with its evidence; with a mapping, the evidence of that."""
        return self._store.suggest(path, options or IngestOptions())

    def mappings(self) -> tuple[SavedMapping, ...]:
        """The saved mappings of generic files, the newest first."""
        return self._store.mappings()

    def mapping(self, name: str) -> SavedMapping:
        """One saved mapping.

        Raises:
            SettingsError: names what there is.
        """
        return self._store.mapping(name)

    def save_mapping(self, name: str, mapping: dict[str, FieldSource]) -> SavedMapping:
        """Keep a mapping in place of one of the same name and return it."""
        return self._store.save_mapping(name, mapping)

    def rename_mapping(self, name: str, new: str) -> SavedMapping:
        """Give a saved mapping another name and return it."""
        return self._store.rename_mapping(name, new)

    def remove_mapping(self, name: str) -> SavedMapping:
        """Forget a saved mapping and return what it was."""
        return self._store.remove_mapping(name)

    def detect(self, paths: Sequence[Path], options: IngestOptions | None = None) -> str:
        """The format that the files seem to have, read as the options say."""
        return self._store.detect(paths, options)

    def datasets(self) -> tuple[Dataset, ...]:
        """The catalogue, newest first."""
        return self._store.datasets()

    def dataset(self, name_or_hash: str) -> Dataset:
        """One entry of the catalogue.

        Raises:
            DatasetUnknown: names what there is.
        """
        return self._store.dataset(name_or_hash)

    def _jobs_of(self, name_or_hash: str) -> Dataset:
        """The entry of a job trace.

        Raises:
            DatasetUnknown: names what there is.
            WrongKind: when the dataset holds something else.
        """
        entry = self.dataset(name_or_hash)
        refuse_other_kind(entry, JOBS)
        return entry

    def rename(self, dataset: str, name: str) -> Dataset:
        """Give a dataset another name and return its entry."""
        return self._store.rename(dataset, name)

    def remove(self, dataset: str) -> Dataset:
        """Remove a dataset with its results and return what was removed; jobs that run on it are stopped."""
        gone = self._store.remove(dataset)
        for job in self.jobs():
            if job.active and job.key.startswith((f"{gone.hash}:", f"{gone.hash}?")):
                self.cancel(job.key)
        self._cache.forget(gone.hash)
        shutil.rmtree(self.settings.home / PARTS / gone.hash, ignore_errors=True)
        return gone

    def export(self, dataset: str, path: Path) -> int:
        """Write a dataset as Parquet or CSV, or its columns as FILE.schema.json, and return its rows."""
        return self._store.export(dataset, path)

    def schema_document(self, dataset: str) -> str:
        """What a dataset's columns mean as JSON: name, type, unit, source column, description."""
        return self._store.schema_document(dataset)

    def sample(self, dataset: str, by: str, rows: int, name: str, seed: int = 0) -> SampleReport:
        """Draw a stratified sample of exactly `rows` finished rows and keep it as a dataset."""
        return self._store.sample(dataset, by, rows, name, seed)

    def ingest_report(self, dataset: str) -> IngestReport:
        """What the ingest of a dataset told."""
        return self._store.report(dataset)

    def rejects(self, dataset: str, limit: int = 1000) -> pd.DataFrame:
        """The rows that were not taken: line, column, text, reason."""
        return self._store.rejects(dataset, limit)

    def columns(self, dataset: str) -> tuple[Column, ...]:
        """The columns of a dataset with their units."""
        return self._store.columns(dataset)

    def machine_shares(self, dataset: str) -> tuple[Share, ...]:
        """Which numbers the trace gives as shares of its largest machine; nothing for a damaged dataset."""
        try:
            return shares_of(self.columns(dataset))
        except EntryDamaged:
            return ()

    def preview(self, dataset: str, limit: int = 100, offset: int = 0) -> pd.DataFrame:
        """Rows as stored."""
        return self._store.preview(dataset, limit, offset)

    def counts(self, dataset: str) -> Counts:
        """What a job trace holds, counted exactly: runs, jobs, users, and the runs without an end."""
        entry = self._jobs_of(dataset)
        return self._views.get((entry.hash, "counts"), lambda: self._store.counts(entry.hash))

    def column_profiles(self, dataset: str) -> tuple[ColumnProfile, ...]:
        """The distribution of every column."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, "columns"), lambda: self._store.column_profiles(entry.hash))

    def time_coverage(self, dataset: str, bins: int = 0) -> TimeCoverage:
        """Rows started per time bin."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"time {bins}"), lambda: self._store.time_coverage(entry.hash, bins))

    def values_of(self, dataset: str, column: str, most: int = 1000) -> tuple[tuple[str, int], ...]:
        """The most frequent texts of a column with their runs; '' stands for none."""
        entry = self.dataset(dataset)
        key = (entry.hash, f"values {most} {column}")
        return self._views.get(key, lambda: self._store.values_of(entry.hash, column, most))

    def rows(self, dataset: str, row_ids: Sequence[int], columns: Sequence[str] = ()) -> pd.DataFrame:
        """The rows of these ids (all columns, or the ones named)."""
        return self._store.rows(dataset, row_ids, columns)


ANNOTATIONS: dict[str, tuple[str, type[Any]]] = {
    JOBS: ("Scenario {!r}", Scenario),
    BENCHMARKS: ("Scenario {!r}", NodeScenario),
    TELEMETRY: ("What was labelled by hand", LibraryEdits),
}
"""Kind of a dataset -> the words for what people keep about it, with a place for its name, and its class."""


@dataclass(frozen=True)
class UnreadableEntry:
    """One thing that was kept about a dataset, and why it cannot be read."""

    what: str  # it is, for people
    reason: str  # that it cannot be read, for people
    scenario: str | None = None  # its name, where it is one; else None
    loop: str | None = None  # digest of the settings of its feedback loop, where it is one; else None
    decision: str | None = None  # the row that it is about, where it is one; else None


class UnreadableQuestions(DatasetQuestions):
    """Questions about what the database keeps beside the datasets' rows."""

    def unreadable(self, dataset: str) -> tuple[UnreadableEntry, ...]:
        """What is kept about a dataset and cannot be read; nothing in a home that nobody damaged."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"unreadable {self._store.commits}"), lambda: self._unreadable(entry))

    def remove_unreadable(self, dataset: str) -> tuple[UnreadableEntry, ...]:
        """Remove what cannot be read of what is kept about a dataset, and return what it was."""
        entry = self.dataset(dataset)
        result = self._unreadable(entry)
        for one in result:
            if one.scenario is not None:
                self._store.remove_scenario(entry.hash, one.scenario)
            if one.loop is not None:
                self._store.forget_feedback(entry.hash, one.loop)
            if one.decision is not None:
                self._store.save_decisions(entry.name, {one.decision: None})
        return result

    def _unreadable(self, entry: Dataset) -> tuple[UnreadableEntry, ...]:
        what, cls = ANNOTATIONS.get(entry.kind, ANNOTATIONS[JOBS])
        scenarios = self._store.unreadable_scenarios(entry.hash, cls)
        result = [UnreadableEntry(what.format(name), one.reason, scenario=name) for name, one in scenarios.items()]
        if entry.kind == JOBS:
            loops = self._store.unreadable_feedback(entry.hash, FeedbackState, FinishedJobs)
            result += [UnreadableEntry("Observed finished jobs", one.reason, loop=loop) for loop, one in loops.items()]
            _, decided = self._store.decisions(entry.name, Decision)
            words = "Decision on {!r}"
            result += [UnreadableEntry(words.format(key), one.reason, decision=key) for key, one in decided.items()]
        return tuple(result)


LIBRARIES = (
    *("streamlit", "plotly", "duckdb", "pandas", "numpy", "scipy", "scikit-learn", "hdbscan", "numba", "xgboost"),
    *("shap", "pyarrow"),
)


@dataclass(frozen=True)
class Diagnostics:
    """An installation and its open home."""

    versions: dict[str, str]  # of workprof, Python and libraries ('missing' where one is not installed)
    platform: str  # kernel and processor kind, without the machine's name
    processors: int  # that this process may use
    home_bytes: int  # of the home folder on disk
    memory_limit_bytes: int  # of database and cache
    datasets: dict[str, int]  # kind -> how many
    stored_runs: int  # how many
    readonly: bool  # whether changes are refused


def diagnostics(workbench: DatasetQuestions) -> Diagnostics:
    """What is told of this installation."""
    settings = workbench.settings
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Diagnostics(
        versions={"workprof": workprof.__version__, "python": platform.python_version()}
        | {name: installed_version(name) for name in LIBRARIES},
        platform=f"{platform.system()} {platform.release()}, {platform.machine()}",
        processors=allowed,
        home_bytes=_bytes_of(settings.home),
        memory_limit_bytes=settings.memory_limit_bytes,
        datasets=dict(Counter(entry.kind for entry in workbench.datasets())),
        stored_runs=len(workbench.runs()),
        readonly=settings.readonly,
    )


def _bytes_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # went away meanwhile
    return total
