"""What every question stands on: the store, the cache, the jobs, and one way to ask them."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar, cast

import pandas as pd

from workprof.cache import About, ResultCache
from workprof.core.arrays import EARLIER
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError, WrongKind
from workprof.core.long_table import JobTable
from workprof.core.parts import sweep_parts
from workprof.core.progress import Progress, silent
from workprof.core.question import Question
from workprof.core.records import unpack
from workprof.core.scope import split
from workprof.core.settings import Settings
from workprof.core.step import Step
from workprof.core.text import near
from workprof.formats import not_known, utc_offset_s, without_use
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS, TELEMETRY
from workprof.jobs import Jobs, JobView
from workprof.profiles.settings import ProfileSettings
from workprof.steps import Request, about, perform
from workprof.store.frames import NUMBER_BYTES, Drawn
from workprof.store.home import make_folder
from workprof.store.mapping import shown
from workprof.store.nameless import NamelessStore
from workprof.store.reports import Column, Dataset, IngestReport
from workprof.store.trace_store import TraceStore

Result = TypeVar("Result")
S = TypeVar("S")
R = TypeVar("R")
View = TypeVar("View")
Frames = Callable[[], Mapping[str, Any]]
"""What reads tables by their names: frames, or what is read in parts (`JobTable`) where the question takes it so."""
Extras = Sequence[tuple[Step, object]]

JOBS = "jobs"
KINDS = {"nodes.search": CONFIGURATIONS, "nodes": BENCHMARKS, "phases": TELEMETRY}
"""Step, or package of a step -> the kind of dataset that it is about; every other is about jobs."""
WORDS = {
    JOBS: "a job trace",
    BENCHMARKS: "benchmark runs",
    TELEMETRY: "counters by the second",
    CONFIGURATIONS: "measured configurations",
}
HINTS = {
    JOBS: "workprof ingest FILE",
    BENCHMARKS: "workprof nodes suite",
    TELEMETRY: "workprof record",
    CONFIGURATIONS: "workprof ingest TABLE.csv",
}

MEMORY_SHARE_OF_CACHE = 8
MOST_VIEWS = 64
MOST_CUTS = 4
DISK_BYTES_OF_CACHE = 4_000_000_000
TABLE_BYTES = 200_000_000
"""Of one table that stays in memory between two clicks."""


@dataclass(frozen=True)
class CachedResult(Generic[Result]):
    """A result if there is one, and the job that makes it if one was started."""

    key: str  # of the result
    result: Result | None  # the record, or None
    job: JobView | None  # the last job of this key since the start, or None
    # why this dataset cannot answer, in a sentence without its point; '' = nothing is known against it
    refusal: str = ""
    so_far: Result | None = None  # what the job has found before its end


def refuse_other_kind(entry: Dataset, wanted: str) -> None:
    """Refuse a dataset that holds something else than what is asked about.

    Raises WrongKind, which says what it holds, what is needed and which command makes it.
    """
    if entry.kind != wanted:
        raise WrongKind(
            f"dataset {entry.name} holds {WORDS.get(entry.kind, entry.kind)}, and this is asked of {WORDS[wanted]}; "
            f"choose another dataset, or make one (`{HINTS[wanted]}`)"
        )


def kind_of(step: str) -> str:
    """The kind of dataset that a step is about, by its name."""
    return KINDS.get(step) or KINDS.get(step.partition(".")[0], JOBS)


class Views:
    """Small summaries of tables by (dataset hash, question), those used last; each is read once, whoever asks."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._reading: dict[tuple[str, str], threading.RLock] = {}
        self._guard = threading.Lock()

    def __contains__(self, key: tuple[str, str]) -> bool:
        """Whether something is kept under a key."""
        return key in self._entries

    def get(self, key: tuple[str, str], read: Callable[[], View]) -> View:
        """Return what is kept under a key, or read and keep it, but for None; who asks meanwhile waits for that."""
        with self._guard:
            if key in self._entries:
                self._entries.move_to_end(key)
                return cast(View, self._entries[key])
            alone = self._reading.setdefault(key, threading.RLock())
        with alone:
            with self._guard:
                if key in self._entries:
                    return cast(View, self._entries[key])
            try:
                result = read()
            finally:
                with self._guard:
                    self._reading.pop(key, None)
            with self._guard:
                if result is not None:
                    self._entries[key] = result
                while len(self._entries) > self._most:
                    self._entries.popitem(last=False)
            return result


FINISHED_ONLY = ("profiles", "forecasts")
"""Packages of the steps that learn of finished runs alone; questions about memory tell themselves what they lack."""


def refuse_none_finished(entry: Dataset, report: Callable[[], IngestReport]) -> None:
    """Refuse a dataset that has no finished run, where only these are asked about.

    Raises NotEnoughData, which says what its runs do instead.
    """
    if entry.finished_rows:
        return
    ingested = report()
    counts = {"still running": ingested.running, "never started": ingested.never_started}
    others = entry.rows - sum(counts.values())
    parts = [f"{count:,} {what}" for what, count in (counts | {"ended otherwise": others}).items() if count > 0]
    raise NotEnoughData(
        f"dataset {entry.name} has no finished run ({', '.join(parts)}), and this is learned of finished ones; the "
        "ledger of Memory adds up what the others hold"
    )


def refuse_missing(entry: Dataset, needed: Sequence[str], columns: Callable[[], Sequence[Column]]) -> None:
    """Refuse a dataset without the columns that a question reads.

    Raises ColumnMissing, which names those that are missing and those there are, and says what to do.
    """
    there = [column.name for column in columns()] if needed else []
    missing = sorted(set(needed) - set(there))
    if missing:
        raise ColumnMissing(
            f"dataset {entry.name} has no column {', '.join(missing)}; it has {shown(there)}{near(missing[0], there)}; "
            "choose another dataset, or ingest this one with --map, which says where such values stand"
        )


class OpenHome:
    """One home folder, opened."""

    def __init__(self, settings: Settings) -> None:
        """Open the home folder; raises HomeBusy when another process writes for longer than one waits."""
        self.settings = settings
        self._store = NamelessStore(settings) if settings.nameless else TraceStore(settings)
        memory = settings.memory_limit_bytes // MEMORY_SHARE_OF_CACHE
        alone = self._store.alone
        if settings.nameless:
            with contextlib.suppress(OSError):  # as the cache: then results stay in memory
                make_folder(settings.results)
        self._cache = ResultCache(
            settings.results / "cache", memory_bytes=memory, disk_bytes=DISK_BYTES_OF_CACHE, sweep=alone
        )
        if alone and not settings.readonly:
            sweep_parts(settings.home)
        self._jobs = Jobs(self._cache, settings.results / "jobs", sweep=alone)
        self._guard = threading.Lock()
        self._views = Views(MOST_VIEWS)
        self._cuts = Views(MOST_CUTS)
        self._table: tuple[tuple[str, tuple[str, ...], bool, int], pd.DataFrame] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop every job, keep what had no room before and has it now, and release the home folder."""
        self._jobs.close()
        self._cache.save_rest()
        self._store.close()

    def job(self, key: str) -> JobView | None:
        """How a job stands."""
        return self._jobs.view(key)

    def watched(self, key: str) -> JobView | None:
        """How a job stands, which a visitor sees: it goes before those that nobody looks at."""
        return self._jobs.watch(key)

    def jobs(self) -> tuple[JobView, ...]:
        """Every job since the start, newest first."""
        return self._jobs.views()

    def wait(self, key: str, timeout_s: float | None = None) -> JobView | None:
        """The job's view once it has ended."""
        return self._jobs.wait(key, timeout_s)

    def cancel(self, key: str) -> JobView | None:
        """Stop a job and return its last view."""
        return self._jobs.cancel(key)

    @property
    def not_saved(self) -> str:
        """Why some result could not be kept on disk, for people; empty when all are."""
        return self._cache.unsaved

    def runs(self) -> tuple[About, ...]:
        """Every kept computation, newest first."""
        return self._cache.abouts()

    @property
    def has_runs(self) -> bool:
        """Whether any computation is kept."""
        return not self._cache.empty

    def frames_of(
        self,
        entry: Dataset,
        columns: Sequence[str] | None,
        *,
        every: bool = False,
        drawn: Drawn | None = None,
        latest: int | None = None,
    ) -> Callable[[], Mapping[str, pd.DataFrame]]:
        """A function that reads columns of a dataset as its table 'jobs'; None = all but planted truths.

        The rows are the finished ones; `every`: all, with a column `finished`; `drawn`: these finished ones. Of more
        than `latest` rows those are read that `latest_of` takes. The last table stays in memory between two clicks, if
        it is small.
        """
        earlier = max((entry.rows if every else entry.finished_rows) - latest, 0) if latest is not None else 0

        def read() -> Mapping[str, pd.DataFrame]:
            if columns is None:
                known = self._store.columns(entry.hash)
                wanted = tuple(one.name for one in known if not one.truth and one.name != "row_id")
            else:
                wanted = self._there(entry, columns)
            if drawn:
                return {"jobs": self._store.frame(entry.hash, wanted, drawn=drawn)}
            cached, key = self._table, (entry.hash, wanted, every, earlier)
            if cached is None or cached[0] != key:
                told = self._told(entry)
                jobs = self._store.frame(entry.hash, wanted, finished_only=not every, latest=latest)
                jobs.attrs |= {**told, EARLIER: earlier} if earlier else told
                cached = (key, jobs)
                self._table = cached if int(jobs.memory_usage().sum()) <= TABLE_BYTES else None
            return {"jobs": cached[1]}

        return read

    def table_of(self, entry: Dataset, columns: Sequence[str]) -> Frames:
        """As `frames_of` with every row; a table that is too large to stay in memory is read in parts."""
        read = self.frames_of(entry, columns, every=True)

        def table() -> Mapping[str, JobTable]:
            wanted = self._there(entry, columns)
            if entry.rows * (len(wanted) + 1) * NUMBER_BYTES <= TABLE_BYTES:
                return read()
            jobs = self._store.long_table(entry.hash, wanted)
            jobs.attrs.update(self._told(entry))
            return {"jobs": jobs}

        return table

    def _there(self, entry: Dataset, columns: Sequence[str]) -> tuple[str, ...]:
        present = {one.name for one in self._store.columns(entry.hash)}
        return tuple(name for name in dict.fromkeys(columns) if name in present)

    def _told(self, entry: Dataset) -> dict[str, object]:
        """What a table says of itself."""
        name = entry.format
        return {"utc_offset_s": utc_offset_s(name), "not_known": not_known(name), "without_use": without_use(name)}

    def _blocking(self, request: Request, cls: type[Result], frames: Frames, progress: Progress) -> Result:
        """The kept result of a request, or compute it here, at most once however many threads and processes ask."""
        with self._cache.lock(request.key):
            result = self._cache.get(request.key, cls)
            if result is not None:
                return result
            with self._cache.claimed(request.key, progress):
                result = self._cache.get(request.key, cls)  # who had the claim may have made it
                return result if result is not None else self._computed(request, cls, frames, progress)

    def _computed(self, request: Request, cls: type[Result], frames: Frames, progress: Progress) -> Result:
        outcome = perform(request, frames(), progress, self.settings.results)
        line = about(request.step, request.key, request.dataset, request.settings, outcome.seconds)
        self._cache.put(request.key, outcome.record, line)
        for name, record in outcome.extras.items():
            self._cache.put(request.extras[name].key, record, request.extras[name])
        record_: Result = self._cache.get(request.key, cls) or outcome.record
        return record_

    def _request(self, step: Step, entry: Dataset, settings: object, extras: Extras = ()) -> Request:
        """The request of a step on a dataset, with the by-products to keep: (step, its settings) each.

        Raises WrongKind when the step is about another kind of dataset.
        """
        refuse_other_kind(entry, kind_of(step.name))
        lines = {extra.name: about(extra, extra.key(entry.hash, own), entry.name, own, 0.0) for extra, own in extras}
        return Request(step, entry.name, settings, step.key(entry.hash, settings), lines)


class ask(Generic[S, R]):  # noqa: N801  reads as a declaration: `bins = ask(BINS)`
    """A question of the workbench: `bench.bins(dataset, settings)`, `bench.bins.cached(...)`, `bench.bins.start(...)`.

    What a question needs of the workbench, each a function that takes (bench, dataset, settings, ...):

    Args:
        question: its declaration.
        resolve: (bench, dataset, settings, **more) -> the settings with nothing left open: equal ones share a key.
            `more` are the call's further keyword arguments, such as the name of a second dataset.
        fit: (bench, dataset, settings, fit) -> the clustering whose labels are part of the result, None = of none;
            without it, `question.rests_on_fit` tells: the one given, else the default one.
        frames: (bench, dataset, settings, fit, progress) -> a function that reads what the computation needs; without
            it, the columns that every question of the kind reads and those that this one names. `progress` is None
            where the computation is started in a child process: what it rests on is not computed first then, and
            what lacks it refuses here (NotEnoughData).
        by_products: (bench, dataset, settings) -> (step, settings) of each further record that it keeps.
        shortcut: (bench, dataset, settings, fit, progress) -> the result where it takes no computation to speak of,
            or None.
        dress: (bench, dataset, result) -> the result with what people keep beside it; it is stored without.
        refuse: (bench, dataset, settings) -> raises where the dataset cannot answer; before anything is computed.
    """

    def __init__(  # noqa: PLR0913  by name, each where a question needs it
        self,
        question: Question[S, R],
        *,
        resolve: Callable[..., S] | None = None,
        fit: Callable[..., Any] | None = None,
        frames: Callable[..., Frames] | None = None,
        by_products: Callable[..., Extras] | None = None,
        shortcut: Callable[..., R | None] | None = None,
        dress: Callable[[Any, Dataset, R], R] | None = None,
        refuse: Callable[..., None] | None = None,
    ) -> None:
        self.question, self.resolve, self.fit, self.frames = question, resolve, fit, frames
        self.by_products, self.shortcut, self.dress, self.refuse = by_products, shortcut, dress, refuse

    def __get__(self, bench: Any, _: object = None) -> Bound[S, R]:
        return Bound(bench, self)


@dataclass(frozen=True)
class Bound(Generic[S, R]):
    """A question of one open workbench."""

    bench: Any
    declared: ask[S, R]

    def __call__(
        self,
        dataset: str,
        settings: S | None = None,
        progress: Progress = silent,
        *,
        fit: object | None = None,
        **more: Any,
    ) -> R:
        """The result: cached, or computed here and now.

        Args:
            dataset: name or hash.
            settings: None = the defaults.
            progress: told what is done.
            fit: settings of the clustering that the question rests on, where it does; None = the default one.
            more: what settles settings that are left open, where the question takes such.

        Raises WrongKind when the dataset holds something else than the question is about.
        """
        request = self._resolved(dataset, settings, fit, more)
        self._refuse(*request[:2])
        if self.declared.shortcut is not None:
            quick = self.declared.shortcut(self.bench, *request, progress)
            if quick is not None:
                return self._dressed(request[0], quick)
        result: R = self.bench._blocking(
            self._request(*request), self.declared.question.result, self._frames(*request, progress), progress
        )
        return self._dressed(request[0], result)

    def cached(
        self, dataset: str, settings: S | None = None, *, fit: object | None = None, **more: Any
    ) -> CachedResult[R]:
        """The cached result if there is one, and the job that makes it, without computing anything."""
        request = self._resolved(dataset, settings, fit, more)
        key, refusal = self._request(*request).key, ""
        try:
            self._refuse(*request[:2])
        except (NotEnoughData, ColumnMissing) as error:
            refusal = str(error)
        cls = self.declared.question.result
        job, found, result = self.bench._jobs.view(key), self.bench._jobs.so_far(key), self.bench._cache.get(key, cls)
        if result is not None:
            return CachedResult(key, self._dressed(request[0], result), job, refusal)
        so_far = None if found is None else self._dressed(request[0], unpack(cls, found))
        return CachedResult(key, None, job, refusal, so_far)

    def start(
        self,
        dataset: str,
        settings: S | None = None,
        *,
        fit: object | None = None,
        ahead_s: float | None = None,
        **more: Any,
    ) -> JobView:
        """Start the computation in a child process, or join the one that runs.

        `ahead_s`: its expected seconds, where nobody requested it (see `Jobs.start`).

        Raises NotEnoughData when what it rests on is not there yet.
        """
        request = self._resolved(dataset, settings, fit, more)
        self._refuse(*request[:2])
        view: JobView = self.bench._jobs.start(self._request(*request), self._frames(*request, None), ahead_s)
        return view

    def latest(self, dataset: str) -> R | None:
        """The newest kept result on a dataset, whatever its settings; None where there is none."""
        entry, step = self.bench.dataset(dataset), self.declared.question.step
        kept = (about.key for about in self.bench.runs() if about.step.partition("[")[0] == step.name)
        ends = f":{step.version}"
        for key in kept:
            if key.partition(":")[0] == entry.hash and key.endswith(ends):
                result: R | None = self.bench._cache.get(key, self.declared.question.result)
                if result is not None:
                    return self._dressed(entry, result)
        return None

    def before_refresh(
        self, dataset: str, settings: S | None = None, *, fit: object | None = None, **more: Any
    ) -> tuple[R, str] | None:
        """The newest kept result on the rows before a refresh, and when (ISO 8601) it was; None where there is none.

        It is of other runs: their row ids are not those of the dataset now.
        """
        entry, *asked = self._resolved(dataset, settings, fit, more)
        key, now = self._request(entry, *asked).key, split(entry.hash)[0]
        try:
            history = self.bench.refreshes(entry.name)
        except SettingsError:  # of no source
            return None
        grown = [one for one in history if one.dataset]
        for later, one in itertools.pairwise(grown):
            if one.dataset not in (now, later.dataset):
                result: R | None = self.bench._cache.get(key.replace(now, one.dataset), self.declared.question.result)
                if result is not None:
                    return self._dressed(entry, result), later.started
        return None

    def quick(self, dataset: str, settings: S | None = None, progress: Progress = silent) -> R | None:
        """The result where it takes no computation to speak of, else None."""
        request, shortcut = self._resolved(dataset, settings, None, {}), self.declared.shortcut
        return None if shortcut is None else shortcut(self.bench, *request, progress)

    def resolved(self, dataset: str, settings: S | None = None, **more: Any) -> S:
        """The settings with nothing left open."""
        return self._resolved(dataset, settings, None, more)[1]

    def key(self, dataset: str, settings: S | None = None, *, fit: object | None = None, **more: Any) -> str:
        """The key of the result in the cache."""
        return self._request(*self._resolved(dataset, settings, fit, more)).key

    def _resolved(
        self, dataset: str, settings: S | None, fit: object | None, more: Mapping[str, Any]
    ) -> tuple[Dataset, S, Any]:
        """The dataset, the settings and the clustering with nothing left open."""
        declared, bench = self.declared, self.bench
        entry = bench.dataset(dataset)
        refuse_other_kind(entry, kind_of(declared.question.name))
        chosen = declared.question.default() if settings is None else declared.question.without_ignored(settings)
        if declared.resolve is not None:
            chosen = declared.resolve(bench, entry, chosen, **more)
        elif more:
            raise TypeError(f"{declared.question.call}() takes no {', '.join(more)}")
        if declared.fit is not None:
            return entry, chosen, declared.fit(bench, entry, chosen, fit)
        return entry, chosen, (fit or ProfileSettings()) if declared.question.rests_on_fit else None

    def _refuse(self, entry: Dataset, settings: S) -> None:
        """Refuse what the dataset cannot answer, whatever is computed.

        Raises:
            NotEnoughData: (or ColumnMissing) says what it lacks.
        """
        if self.declared.question.name.partition(".")[0] in FINISHED_ONLY:
            refuse_none_finished(entry, lambda: self.bench._store.report(entry.hash))
        refuse_missing(entry, self.declared.question.reads(settings), lambda: self.bench.columns(entry.hash))
        if self.declared.refuse is not None:
            self.declared.refuse(self.bench, entry, settings)

    def _request(self, entry: Dataset, settings: S, fit: Any) -> Request:
        step, by_products = self.declared.question.step, self.declared.by_products
        if fit is not None:  # the labels are part of the result, so their key is part of this one's
            step = replace(step, name=f"{step.name}[{self.bench.profiles.key(entry.hash, fit)}]")
        extras = by_products(self.bench, entry, settings) if by_products is not None else ()
        request: Request = self.bench._request(step, entry, settings, extras)
        return request

    def _dressed(self, entry: Dataset, result: R) -> R:
        return result if self.declared.dress is None else self.declared.dress(self.bench, entry, result)

    def _frames(self, entry: Dataset, settings: S, fit: Any, progress: Progress | None) -> Frames:
        """A function that reads what is computed of; it refuses where a refresh came between what it reads."""
        if self.declared.frames is not None:
            frames = self.declared.frames(self.bench, entry, settings, fit, progress)
        else:
            frames = self.bench.frames_of(entry, self.declared.question.columns(settings))

        def read() -> Mapping[str, JobTable]:
            found: Mapping[str, JobTable] = frames()
            self.bench.refuse_replaced(entry.hash)
            return found

        return read
