"""Questions about datasets: ingest, list, columns, checks, what cannot be read, the installation told for support."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import workprof
from workprof.cache import ResultCache
from workprof.core.errors import EntryDamaged
from workprof.core.extras import installed_version
from workprof.core.parts import PARTS
from workprof.core.progress import Progress, silent
from workprof.core.settings import APART
from workprof.core.shares import Share
from workprof.store.in_memory import Given, is_table, paths_of, written
from workprof.store.reports import (
    ColumnProfile,
    Counts,
    Dataset,
    IngestOptions,
    IngestReport,
    Suggestion,
    TimeCoverage,
    shares_of,
)
from workprof.store.trace_store import TraceStore
from workprof.workbench.question_methods import JOBS, OpenHome, refuse_other_kind

if TYPE_CHECKING:
    from workprof.pull.pulling import PullReport, PullSettings


P = ParamSpec("P")
R = TypeVar("R")
IN_MEMORY = "table"
"""Name of a dataset that was handed over without a file or a name."""


def of_store(method: Callable[Concatenate[TraceStore, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A method of the store, asked of the workbench that has it open."""

    @functools.wraps(method)
    def asked(bench: Any, /, *args: P.args, **more: P.kwargs) -> R:
        result: R = getattr(bench._store, method.__name__)(*args, **more)  # as the store of its role answers
        return result

    return asked


class DatasetQuestions(OpenHome):
    """The store's questions, one method each."""

    mappings = of_store(TraceStore.mappings)
    mapping = of_store(TraceStore.mapping)
    save_mapping = of_store(TraceStore.save_mapping)
    rename_mapping = of_store(TraceStore.rename_mapping)
    remove_mapping = of_store(TraceStore.remove_mapping)
    scopes = of_store(TraceStore.scopes)
    save_scope = of_store(TraceStore.save_scope)
    remove_scope = of_store(TraceStore.remove_scope)
    detect = of_store(TraceStore.detect)
    datasets = of_store(TraceStore.datasets)
    dataset = of_store(TraceStore.dataset)
    rename = of_store(TraceStore.rename)
    export = of_store(TraceStore.export)
    schema_document = of_store(TraceStore.schema_document)
    sample = of_store(TraceStore.sample)
    ingest_report = of_store(TraceStore.report)
    rejects = of_store(TraceStore.rejects)
    columns = of_store(TraceStore.columns)
    preview = of_store(TraceStore.preview)
    rows = of_store(TraceStore.rows)
    refuse = of_store(TraceStore.refuse)
    refuse_replaced = of_store(TraceStore.refuse_replaced)
    former_hashes = of_store(TraceStore.former_hashes)

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

    def _jobs_of(self, name_or_hash: str) -> Dataset:
        """The entry of a job trace.

        Raises:
            DatasetUnknown: names what there is.
            WrongKind: when the dataset holds something else.
        """
        entry = self.dataset(name_or_hash)
        refuse_other_kind(entry, JOBS)
        return entry

    def remove(self, dataset: str) -> Dataset:
        """Remove a dataset with its results and return what was removed; jobs that run on it are stopped."""
        gone = self._store.remove(dataset)
        for job in self.jobs():
            if job.active and job.key.startswith((f"{gone.hash}:", f"{gone.hash}?")):
                self.cancel(job.key)
        self._cache.forget(gone.hash)
        for apart in self.settings.home.glob(f"{APART}*/cache"):
            ResultCache(apart, memory_bytes=0, disk_bytes=0, sweep=False).forget(gone.hash)
        shutil.rmtree(self.settings.home / PARTS / gone.hash, ignore_errors=True)
        return gone

    def machine_shares(self, dataset: str) -> tuple[Share, ...]:
        """Which numbers the trace gives as shares of its largest machine; nothing for a damaged dataset."""
        try:
            return shares_of(self.columns(dataset))
        except EntryDamaged:
            return ()

    def counts(self, dataset: str) -> Counts:
        """What a job trace holds, counted exactly: runs, jobs, users, and the runs without an end."""
        entry = self._jobs_of(dataset)
        return self._views.get((entry.hash, "counts"), lambda: self._store.counts(entry.hash))

    def column_profiles(self, dataset: str, names: Sequence[str] = ()) -> tuple[ColumnProfile, ...]:
        """The distribution of every column, or of those of some names: of many rows that takes far less."""
        entry = self.dataset(dataset)
        every = (entry.hash, "columns")
        if names and every not in self._views:
            some = (entry.hash, f"columns {' '.join(names)}")
            return self._views.get(some, lambda: self._store.column_profiles(entry.hash, names))
        found = self._views.get(every, lambda: self._store.column_profiles(entry.hash))
        return tuple(one for one in found if one.column.name in names) if names else found

    def time_coverage(self, dataset: str, bins: int = 0) -> TimeCoverage:
        """Rows started per time bin."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"time {bins}"), lambda: self._store.time_coverage(entry.hash, bins))

    def values_of(self, dataset: str, column: str, most: int = 1000) -> tuple[tuple[str, int], ...]:
        """The most frequent texts of a column with their runs; '' stands for none."""
        entry = self.dataset(dataset)
        key = (entry.hash, f"values {most} {column}")
        return self._views.get(key, lambda: self._store.values_of(entry.hash, column, most))


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
