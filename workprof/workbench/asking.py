"""What every question stands on: the store, the cache, the jobs, and one way to ask them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import pandas as pd

from workprof.cache import About, ResultCache
from workprof.errors import WrongKind
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.jobs import Jobs, JobView
from workprof.progress import Progress
from workprof.settings import Settings
from workprof.steps import Request, Step, perform
from workprof.store.reports import Dataset
from workprof.store.trace_store import TraceStore
from workprof.workbench.views import Views

Result = TypeVar("Result")
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
