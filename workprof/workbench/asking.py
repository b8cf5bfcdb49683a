"""What every question stands on: the store, the cache, the jobs, and one way to ask them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import pandas as pd

from workprof.cache import About, ResultCache
from workprof.core.question import Question
from workprof.errors import WrongKind
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.jobs import Jobs, JobView
from workprof.progress import Progress, silent
from workprof.settings import Settings
from workprof.steps import Request, Step, perform
from workprof.store.reports import Dataset
from workprof.store.trace_store import TraceStore
from workprof.workbench.views import Views

Result = TypeVar("Result")
S = TypeVar("S")
R = TypeVar("R")
Frames = Callable[[], Mapping[str, pd.DataFrame]]
Extras = Sequence[tuple[Step, object]]

JOBS = "jobs"
KINDS = {"nodes": BENCHMARKS, "phases": TELEMETRY}
"""Package of a step -> the kind of dataset that it is about; every other is about jobs."""
WORDS = {JOBS: "a job trace", BENCHMARKS: "benchmark runs", TELEMETRY: "counters by the second"}
HINTS = {JOBS: "workprof ingest FILE", BENCHMARKS: "workprof nodes suite", TELEMETRY: "workprof record"}

MEMORY_SHARE_OF_CACHE = 8
VIEWS_KEPT = 64
DISK_BYTES_OF_CACHE = 4_000_000_000
TABLE_BYTES = 200_000_000
"""Of one table that stays in memory between two clicks."""


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


def refuse_other_kind(entry: Dataset, wanted: str) -> None:
    """Refuse a dataset that holds something else than what is asked about.

    Raises:
        WrongKind: says what it holds, what is needed and which command makes it.
    """
    if entry.kind != wanted:
        raise WrongKind(
            f"dataset {entry.name} holds {WORDS.get(entry.kind, entry.kind)}, and this is asked of {WORDS[wanted]}; "
            f"choose another dataset, or make one (`{HINTS[wanted]}`)"
        )


class Asking:
    """One home folder, opened."""

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
        self._guard = threading.Lock()
        self._views = Views(VIEWS_KEPT)
        self._table: tuple[str, tuple[str, ...], pd.DataFrame] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every job, keep what had no room before and has it now, and release the home folder."""
        self._jobs.close()
        self._cache.keep_rest()
        self._store.close()

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

    @property
    def not_kept(self) -> str:
        """Why some result could not be kept on disk, for people; empty when all are."""
        return self._cache.unkept

    def runs(self) -> tuple[About, ...]:
        """Return every kept computation, newest first."""
        return self._cache.abouts()

    def frames_of(self, entry: Dataset, columns: Sequence[str] | None) -> Frames:
        """Return a function that reads columns of a dataset as its table 'jobs'; None = all but planted truths.

        The last table stays in memory between two clicks, if it is small.
        """

        def read() -> Mapping[str, pd.DataFrame]:
            known = self._store.columns(entry.hash)
            if columns is None:
                wanted = tuple(one.name for one in known if not one.truth and one.name != "row_id")
            else:
                present = {one.name for one in known}
                wanted = tuple(name for name in dict.fromkeys(columns) if name in present)
            cached = self._table
            if cached is None or cached[:2] != (entry.hash, wanted):
                cached = (entry.hash, wanted, self._store.frame(entry.hash, wanted))
                self._table = cached if int(cached[2].memory_usage().sum()) <= TABLE_BYTES else None
            return {"jobs": cached[2]}

        return read

    def _answer(self, step: Step, entry: Dataset, settings: object, cls: type[Result]) -> Answer[Result]:
        key = self._request(step, entry, settings).key
        return Answer(key, self._cache.get(key, cls), self._jobs.view(key))

    def _blocking(self, request: Request, cls: type[Result], frames: Frames, progress: Progress) -> Result:
        """Return the kept result of a request, or compute it here, at most once however many threads ask."""
        with self._cache.lock(request.key):
            found = self._cache.get(request.key, cls)
            if found is not None:
                return found
            outcome = perform(request, frames(), progress)
            about = request.step.about(request.key, request.dataset, request.settings, outcome.seconds)
            self._cache.put(request.key, outcome.record, about)
            for name, record in outcome.extras.items():
                self._cache.put(request.extras[name].key, record, request.extras[name])
            record_: Result = self._cache.get(request.key, cls) or outcome.record
            return record_

    def _request(self, step: Step, entry: Dataset, settings: object, extras: Extras = ()) -> Request:
        """Return the request of a step on a dataset, with the by-products to keep: (step, its settings) each.

        Raises:
            WrongKind: when the step is about another kind of dataset.
        """
        refuse_other_kind(entry, KINDS.get(step.name.partition(".")[0], JOBS))
        lines = {extra.name: extra.about(extra.key(entry.hash, own), entry.name, own, 0.0) for extra, own in extras}
        return Request(step, entry.name, settings, step.key(entry.hash, settings), lines)


class ask(Generic[S, R]):  # noqa: N801  reads as a declaration: `bins = ask(BINS)`
    """A question of the workbench: `bench.bins(dataset, settings)`, `bench.bins.cached(...)`, `bench.bins.start(...)`.

    Args:
        question: its declaration.
        frames: (bench, dataset, settings, fit, progress) -> a function that reads what the computation needs; without
            it, the columns that every question of the kind reads and those that this one names.
        resolve: (bench, dataset, settings) -> the settings with nothing left open: equal ones share a key.
    """

    def __init__(
        self,
        question: Question[S, R],
        frames: Callable[..., Frames] | None = None,
        resolve: Callable[[Any, Dataset, S], S] | None = None,
    ) -> None:
        self.question, self.frames, self.resolve = question, frames, resolve

    def __get__(self, bench: Any, _: object = None) -> Bound[S, R]:
        return Bound(bench, self)


@dataclass(frozen=True)
class Bound(Generic[S, R]):
    """A question of one open workbench."""

    bench: Any
    declared: ask[S, R]

    def __call__(
        self, dataset: str, settings: S | None = None, progress: Progress = silent, *, fit: object | None = None
    ) -> R:
        """Return the result: cached, or computed here and now.

        Args:
            dataset: name or hash.
            settings: None = the defaults.
            progress: told what is done.
            fit: settings of the clustering that the question rests on, where it does; None = the default one.

        Raises:
            WrongKind: when the dataset holds something else than the question is about.
        """
        request, frames = self._request(dataset, settings, fit, progress)
        result: R = self.bench._blocking(request, self.declared.question.result, frames, progress)
        return result

    def cached(self, dataset: str, settings: S | None = None, *, fit: object | None = None) -> Answer[R]:
        """Return the cached result if there is one, and the job that makes it, without computing anything."""
        key = self._request(dataset, settings, fit, silent)[0].key
        return Answer(key, self.bench._cache.get(key, self.declared.question.result), self.bench._jobs.view(key))

    def start(self, dataset: str, settings: S | None = None, *, fit: object | None = None) -> JobView:
        """Start the computation in a child process, or join the one that runs."""
        view: JobView = self.bench._jobs.start(*self._request(dataset, settings, fit, silent))
        return view

    def _request(
        self, dataset: str, settings: S | None, fit: object | None, progress: Progress
    ) -> tuple[Request, Frames]:
        question, bench = self.declared.question, self.bench
        entry = bench.dataset(dataset)
        chosen = question.default() if settings is None else question.without_ignored(settings)
        if self.declared.resolve is not None:
            chosen = self.declared.resolve(bench, entry, chosen)
        step = question.step
        if question.rests_on_fit:
            step = replace(step, name=f"{step.name}[{bench.fit_key(entry, fit)}]")
        request = bench._request(step, entry, chosen)
        if self.declared.frames is not None:
            return request, self.declared.frames(bench, entry, chosen, fit, progress)
        return request, bench.frames_of(entry, question.reads(chosen))
