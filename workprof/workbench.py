"""The facade: one method per question a page, a command or a program asks. Same question, same numbers.

The only module that uses the store, the cache and the methods together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd

from workprof.cache import About, ResultCache
from workprof.jobs import Jobs, JobView
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.progress import Progress, silent
from workprof.settings import Settings
from workprof.steps import Step
from workprof.store.reports import (
    Column,
    ColumnProfile,
    Dataset,
    IngestOptions,
    IngestReport,
    ProfileNote,
    SampleReport,
    Suggestion,
    TimeCoverage,
)
from workprof.store.trace_store import TraceStore

Result = TypeVar("Result")

FIT = Step("profiles.fit", 1, "workprof.profiles.fit:fit_profiles")

METADATA = ("job_name", "task_name", "user", "group", "workload", "node", "gpu_type")
TIMES = ("start_time_s", "duration_s")
TRUTH = "truth_profile"

MEMORY_SHARE_OF_CACHE = 8
DISK_BYTES_OF_CACHE = 4_000_000_000


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """A result if there is one, and the job that makes it if one was started.

    Attributes:
        key: of the result.
        result: the record, or None.
        job: the last job of this key since the start, or None.
    """

    key: str
    result: Result | None
    job: JobView | None


class Workbench:
    """One home folder, opened: its datasets, its results, its running steps."""

    def __init__(self, settings: Settings) -> None:
        """Open the home folder.

        Raises:
            HomeBusy: when another process holds it.
        """
        self.settings = settings
        self._store = TraceStore(settings)
        memory = settings.memory_limit_bytes // MEMORY_SHARE_OF_CACHE
        self._cache = ResultCache(settings.home / "cache", memory_bytes=memory, disk_bytes=DISK_BYTES_OF_CACHE)
        self._jobs = Jobs(self._cache, settings.home / "jobs")

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every job and release the home folder."""
        self._jobs.close()
        self._store.close()

    # Datasets

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

    def rename(self, dataset: str, name: str) -> Dataset:
        """Give a dataset another name and return its entry."""
        return self._store.rename(dataset, name)

    def remove(self, dataset: str) -> Dataset:
        """Remove a dataset with its results and return what was removed."""
        gone = self._store.remove(dataset)
        self._cache.forget(gone.hash)
        return gone

    def export(self, dataset: str, path: Path) -> int:
        """Write a dataset as Parquet or CSV and return its rows."""
        return self._store.export(dataset, path)

    def sample(self, dataset: str, by: str, rows: int, name: str, seed: int = 0) -> SampleReport:
        """Draw a stratified sample (the paper's Table I) and keep it as a dataset."""
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
        return self._store.column_profiles(dataset)

    def time_coverage(self, dataset: str, bins: int = 96) -> TimeCoverage:
        """Return rows started per time bin."""
        return self._store.time_coverage(dataset, bins)

    def rows(self, dataset: str, row_ids: Sequence[int], columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return the rows of these ids (all columns, or the ones named)."""
        return self._store.rows(dataset, row_ids, columns)

    # Profiles

    def profiles(
        self, dataset: str, settings: ProfileSettings | None = None, progress: Progress = silent
    ) -> ProfileFit:
        """Return the profiles of a dataset, computed here and now where they are not kept."""
        entry = self.dataset(dataset)
        asked = self._with_field_names(entry, settings or ProfileSettings())
        return self._blocking(FIT, entry, asked, ProfileFit, lambda: self._fit_frames(entry, asked), progress)

    def profiles_answer(self, dataset: str, settings: ProfileSettings) -> Answer[ProfileFit]:
        """Return the kept profiles, and the job that makes them, without computing anything."""
        entry = self.dataset(dataset)
        return self._answer(FIT, entry, self._with_field_names(entry, settings), ProfileFit)

    def start_profiles(self, dataset: str, settings: ProfileSettings) -> JobView:
        """Start the clustering in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        asked = self._with_field_names(entry, settings)
        return self._jobs.start(
            FIT.key(entry.hash, asked), FIT, asked, entry.name, lambda: self._fit_frames(entry, asked)
        )

    def profile_notes(self, dataset: str, settings: ProfileSettings) -> dict[int, ProfileNote]:
        """Return the names and notes that users gave to the profiles of one clustering."""
        return {note.profile: note for note in self._store.notes(self._clustering(dataset, settings))}

    def set_profile_note(self, dataset: str, settings: ProfileSettings, note: ProfileNote) -> None:
        """Keep a name and a note for one profile."""
        self._store.set_note(self._clustering(dataset, settings), note)

    # Jobs

    def job(self, key: str) -> JobView | None:
        """Return how a job stands."""
        return self._jobs.view(key)

    def jobs(self) -> tuple[JobView, ...]:
        """Return every job since the start, newest first."""
        return self._jobs.views()

    def wait(self, key: str, timeout_s: float | None = None) -> JobView | None:
        """Return the job's view once it has ended."""
        return self._jobs.wait(key, timeout_s)

    def cancel(self, key: str) -> JobView | None:
        """Stop a job and return its last view."""
        return self._jobs.cancel(key)

    def runs(self) -> tuple[About, ...]:
        """Return every kept computation, newest first."""
        return self._cache.abouts()

    # How

    def _with_field_names(self, entry: Dataset, settings: ProfileSettings) -> ProfileSettings:
        """Return the settings with the trace's own names (cpu_usage) put as fields, so that both share one result."""
        if not settings.features or settings.features[0] in FEATURE_SETS:
            return settings
        return replace(settings, features=self._store.resolve(entry.hash, settings.features))

    def _fit_frames(self, entry: Dataset, settings: ProfileSettings) -> Mapping[str, pd.DataFrame]:
        present = {column.name for column in self._store.columns(entry.hash)}
        asked = settings.features or ("all17" if settings.mode == "faithful" else "sensors10",)
        features = FEATURE_SETS.get(asked[0], asked)
        wanted = dict.fromkeys([*features, *METADATA, *TIMES, TRUTH])
        return {"jobs": self._store.frame(entry.hash, [name for name in wanted if name in present])}

    def _clustering(self, dataset: str, settings: ProfileSettings) -> str:
        entry = self.dataset(dataset)
        return FIT.key(entry.hash, self._with_field_names(entry, settings))

    def _answer(self, step: Step, entry: Dataset, settings: object, cls: type[Result]) -> Answer[Result]:
        key = step.key(entry.hash, settings)
        return Answer(key, self._cache.get(key, cls), self._jobs.view(key))

    def _blocking(
        self,
        step: Step,
        entry: Dataset,
        settings: object,
        cls: type[Result],
        frames: Callable[[], Mapping[str, pd.DataFrame]],
        progress: Progress,
    ) -> Result:
        key = step.key(entry.hash, settings)

        def compute() -> tuple[Result, About]:
            started = time.perf_counter()
            record: Result = step.function()(frames(), settings, progress)
            seconds = float(getattr(record, "seconds", time.perf_counter() - started))
            return record, step.about(key, entry.name, settings, seconds)

        return self._cache.get_or_compute(key, cls, compute)
