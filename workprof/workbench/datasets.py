"""Questions about datasets: what is loaded, what it holds, what became of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from workprof.progress import Progress, silent
from workprof.store.reports import (
    Column,
    ColumnProfile,
    Dataset,
    IngestOptions,
    IngestReport,
    SampleReport,
    Suggestion,
    TimeCoverage,
)
from workprof.workbench.asking import JOBS, Asking, refuse_other_kind


class DatasetQuestions(Asking):
    """The store's questions, one method each."""

    def ingest(
        self, paths: Sequence[Path], options: IngestOptions | None = None, progress: Progress = silent
    ) -> IngestReport:
        """Return what became of a trace; the same content again answers 'already loaded'."""
        return self._store.ingest(paths, options or IngestOptions(), progress)

    def suggest(self, path: Path, options: IngestOptions | None = None) -> Suggestion:
        """Return a proposal of how to map a generic file."""
        return self._store.suggest(path, options or IngestOptions())

    def detect(self, paths: Sequence[Path]) -> str:
        """Return the format that the files seem to have."""
        return self._store.detect(paths)

    def datasets(self) -> tuple[Dataset, ...]:
        """Return the catalogue, newest first."""
        return self._store.datasets()

    def dataset(self, name_or_hash: str) -> Dataset:
        """Return one entry of the catalogue.

        Raises:
            DatasetUnknown: names what there is.
        """
        return self._store.dataset(name_or_hash)

    def _jobs_of(self, name_or_hash: str) -> Dataset:
        """Return the entry of a job trace.

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
            if job.active and job.key.startswith(f"{gone.hash}:"):
                self.cancel(job.key)
        self._cache.forget(gone.hash)
        return gone

    def export(self, dataset: str, path: Path) -> int:
        """Write a dataset as Parquet or CSV, or its columns as FILE.schema.json, and return its rows."""
        return self._store.export(dataset, path)

    def schema_document(self, dataset: str) -> str:
        """Return what a dataset's columns mean as JSON: name, type, unit, source column, description."""
        return self._store.schema_document(dataset)

    def sample(self, dataset: str, by: str, rows: int, name: str, seed: int = 0) -> SampleReport:
        """Draw a stratified sample of exactly `rows` finished rows and keep it as a dataset."""
        return self._store.sample(dataset, by, rows, name, seed)

    def ingest_report(self, dataset: str) -> IngestReport:
        """Return what the ingest of a dataset told."""
        return self._store.report(dataset)

    def rejects(self, dataset: str, limit: int = 1000) -> pd.DataFrame:
        """Return the rows that were not taken: line, column, text, reason."""
        return self._store.rejects(dataset, limit)

    def columns(self, dataset: str) -> tuple[Column, ...]:
        """Return the columns of a dataset with their units."""
        return self._store.columns(dataset)

    def preview(self, dataset: str, limit: int = 100, offset: int = 0) -> pd.DataFrame:
        """Return rows as stored."""
        return self._store.preview(dataset, limit, offset)

    def column_profiles(self, dataset: str) -> tuple[ColumnProfile, ...]:
        """Return the distribution of every column."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, "columns"), lambda: self._store.column_profiles(entry.hash))

    def time_coverage(self, dataset: str, bins: int = 96) -> TimeCoverage:
        """Return rows started per time bin."""
        entry = self.dataset(dataset)
        return self._views.get((entry.hash, f"time {bins}"), lambda: self._store.time_coverage(entry.hash, bins))

    def rows(self, dataset: str, row_ids: Sequence[int], columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows of these ids (all columns, or the ones named)."""
        return self._store.rows(dataset, row_ids, columns)
