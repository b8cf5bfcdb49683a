"""One run to look at: its counters as recorded and their phases; two runs laid over each other."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.phases.changepoints import ChangePoints, agreement_of, change_points
from workprof.phases.fingerprints import (
    STATISTICS,
    Fingerprint,
    fingerprint,
    fingerprint_of_phases,
    fit_normaliser,
    normalised,
)
from workprof.phases.library import LibrarySettings, TrainHash
from workprof.phases.runs import Run, find_run, runs_of

if TYPE_CHECKING:
    import pandas as pd


OneRun = Annotated[
    str, Setting("The run, as workload/run, or run alone where that is enough.", key="phases_run", empty="the first")
]


@settings
class DetectSettings:
    """The phases of one run; it is normalised over all runs of the dataset."""

    run: OneRun = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class CounterPhases:
    """Phases of one counter."""

    counter: str  # name
    change_points_s: Floats  # (n_phases - 1,) seconds from the start of the run at which a new phase begins
    start_s: Floats  # (n_phases,) beginnings
    end_s: Floats  # (n_phases,) ends
    mean: Floats  # (n_phases,) in the counter's own unit; NaN for a phase without a sample
    sd: Floats  # (n_phases,) likewise, population form
    statistics: Floats  # (n_phases, k) as in the fingerprint, in standard deviations
    note: str  # why nothing was looked for, else ''


@dataclass(frozen=True, repr=False)
class Phases(Shown):
    """Phases of one run."""

    workload: str  # its label, '' where unknown
    run: str  # its name
    n_samples: int  # T
    step_s: float  # of the grid
    counters: tuple[CounterPhases, ...]  # one per counter that is kept
    statistic_names: tuple[str, ...]  # of the columns of `CounterPhases.statistics`
    dropped: tuple[str, ...]  # counters that miss too much of the dataset
    notes: tuple[str, ...]  # what was done to the samples
    seconds: float  # it took


def detect(frames: Mapping[str, pd.DataFrame], settings: DetectSettings, progress: Progress = silent) -> Phases:
    """The phases of one run of 'samples'; means and deviations are those of all its runs.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no counter has enough samples.
    """
    started = time.perf_counter()
    runs, fingerprints = runs_of(frames["samples"], settings.library.counters), settings.library.fingerprints
    run = runs.runs[find_run(runs, settings.run)]
    normaliser = fit_normaliser(runs.runs, runs.counters, fingerprints)
    result = fingerprint(run, normaliser, fingerprints, progress)
    counters = []
    for i, (name, series) in enumerate(zip(normaliser.counters, run.values[normaliser.kept], strict=True)):
        changes = result.boundaries_of(i)
        edges = np.array([0, *changes.tolist(), result.n_samples])
        pieces = [series[a:b][~np.isnan(series[a:b])] for a, b in itertools.pairwise(edges)]
        counters.append(
            CounterPhases(
                counter=name,
                change_points_s=np.asarray(changes * runs.step_s, dtype=np.float64),
                start_s=edges[:-1] * runs.step_s,
                end_s=edges[1:] * runs.step_s,
                mean=np.array([piece.mean() if len(piece) else np.nan for piece in pieces]),
                sd=np.array([piece.std() if len(piece) else np.nan for piece in pieces]),
                statistics=result.values[i, : result.n_phases[i]],
                note=_why_not(name, series, result, flagged=bool(result.flags[i])),
            )
        )
    return Phases(
        workload=run.workload,
        run=run.run,
        n_samples=result.n_samples,
        step_s=runs.step_s,
        counters=tuple(counters),
        statistic_names=STATISTICS[fingerprints.distribution],
        dropped=normaliser.dropped,
        notes=(*runs.notes, *run.notes),
        seconds=time.perf_counter() - started,
    )


def _why_not(name: str, series: Floats, result: Fingerprint, *, flagged: bool) -> str:
    """Why no change was looked for in a counter, else ''."""
    if name in result.missing:
        return "the run lacks this counter"
    if not flagged:
        return ""
    missing = int(np.isnan(series).sum())
    if missing > len(series) / 2:
        return f"{missing} of {len(series)} samples are missing"
    return "constant" if np.nanmin(series) == np.nanmax(series) else f"{len(series)} samples are too few or too even"


EVERY_COUNTER = ""


@dataclass(frozen=True)
class OwnBoundaries:
    """Boundaries set by hand, in the place of those that are found."""

    counter: str  # name, '' = every counter
    at_s: tuple[float, ...]  # times as recorded, at which a new phase begins; () = one phase

    def __post_init__(self) -> None:
        if not all(np.isfinite(self.at_s)):
            raise SettingsError(f"boundaries are {self.at_s}; give seconds as finite numbers")


@settings
class TimelineSettings:
    """A look at one run, or a stretch of it; it is normalised over all runs of the dataset."""

    run: OneRun = ""
    from_s: Annotated[
        float | None,
        Setting(
            "Where the stretch begins, as recorded.",
            unit="s",
            flag="--from",
            key="phases_from",
            label="From",
            empty="from the start",
        ),
    ] = None
    to_s: Annotated[
        float | None, Setting("Where it ends.", unit="s", flag="--to", key="phases_to", label="To", empty="to the end")
    ] = None
    own: Annotated[
        tuple[OwnBoundaries, ...],
        Setting(
            "Boundaries set by hand in place of those found, in seconds as recorded, as "
            '[{"counter": "a", "at_s": [8, 20.5]}]; the counter "" is every one.',
            label="Begin at (s)",
            empty="as found",
        ),
    ] = ()
    library: LibrarySettings = field(default_factory=LibrarySettings)

    def __post_init__(self) -> None:
        if self.from_s is not None and self.to_s is not None and not self.from_s < self.to_s:
            raise SettingsError(f"the window is {self.from_s:g} to {self.to_s:g} s; give an end after its beginning")


@dataclass(frozen=True, repr=False)
class Timeline(Shown):
    """A look at one run."""

    counters: tuple[str, ...]  # names, in the order of the arrays
    step_s: float  # of the grid
    start_s: float  # where the stretch begins, as recorded
    run_from_s: float  # where the run begins
    run_to_s: float  # where it ends
    recorded: Floats  # (n_counters, T) values as recorded, NaN = missing
    fingerprint: Fingerprint  # of the stretch
    statistics: tuple[str, ...]  # names of its last axis
    agreement: Floats  # (T,) share of the usable counters with a change within one sample, 0-1
    movement: Floats  # (n_counters,) variance of the normalised counter in the stretch: 1 = as over all runs
    edited: Bools  # (n_counters,) the boundaries were set by hand
    hazard_samples: float  # expected length of a phase that was assumed
    notes: tuple[str, ...]  # what was done to the samples, and what could not be
    seconds: float  # it took

    @property
    def end_s(self) -> float:
        """Where the stretch ends, as recorded."""
        return self.start_s + int(self.recorded.shape[1]) * self.step_s

    @property
    def times_s(self) -> Floats:
        """(T,) end of each step, as recorded."""
        return np.asarray(self.start_s + (np.arange(self.recorded.shape[1]) + 1) * self.step_s, dtype=np.float64)

    def boundaries_s(self, counter: int) -> Floats:
        """Where new phases of a counter begin (n,), as recorded."""
        return np.asarray(self.start_s + self.fingerprint.boundaries_of(counter) * self.step_s, dtype=np.float64)

    def statistic(self, name: str) -> Floats:
        """One statistic of every phase (n_counters, q), zero beyond a counter's own phases."""
        result: Floats = self.fingerprint.values[:, :, self.statistics.index(name)]
        return result


def one_run(frames: Mapping[str, pd.DataFrame], settings: TimelineSettings, progress: Progress) -> Timeline:
    """One run of `frames['samples']`, or a stretch of it, with its phases.

    Raises:
        SettingsError: for a run or a counter that is not there.
        NotEnoughData: when the window holds no sample.
    """
    started = time.perf_counter()
    runs = runs_of(frames["samples"], settings.library.counters)
    whole = runs.runs[find_run(runs, settings.run)]
    run = _stretch(whole, runs.step_s, settings)
    fingerprints = settings.library.fingerprints
    normaliser = fit_normaliser(runs.runs, runs.counters, fingerprints)
    series = normalised(run, normaliser, fingerprints)
    points = change_points(series.for_phases, fingerprints.change_points, progress)
    changes = _with_own(points, normaliser.counters, run, runs.step_s, settings.own)
    usable = [own for own, flagged in zip(changes, points.flags, strict=True) if not flagged]
    edited = np.array([_own(name, settings.own) is not None for name in normaliser.counters])
    return Timeline(
        counters=normaliser.counters,
        step_s=runs.step_s,
        start_s=run.start_s,
        run_from_s=whole.start_s,
        run_to_s=whole.start_s + whole.values.shape[1] * runs.step_s,
        recorded=run.values[normaliser.kept],
        fingerprint=fingerprint_of_phases(run, series, changes, points.flags, fingerprints.distribution),
        statistics=STATISTICS[fingerprints.distribution],
        agreement=agreement_of(usable, points.n_samples),
        movement=movement(series.for_statistics),
        edited=edited,
        hazard_samples=points.hazard_samples,
        notes=(
            *runs.notes,
            *run.notes,
            *_notes(points, normaliser.counters, normaliser.dropped, fingerprints.change_points.min_samples),
        ),
        seconds=time.perf_counter() - started,
    )


def _stretch(run: Run, step_s: float, settings: TimelineSettings) -> Run:
    """The part of a run between two times, whole steps."""
    length = run.values.shape[1]
    first = 0 if settings.from_s is None else max(0, round((settings.from_s - run.start_s) / step_s))
    end = length if settings.to_s is None else min(length, round((settings.to_s - run.start_s) / step_s))
    if end <= first:
        raise NotEnoughData(
            f"run {run.name} has no sample from {settings.from_s} to {settings.to_s} s; it lasts from {run.start_s:g} "
            f"to {run.start_s + length * step_s:g} s"
        )
    return replace(run, values=run.values[:, first:end], start_s=run.start_s + first * step_s)


def _own(counter: str, own: tuple[OwnBoundaries, ...]) -> tuple[float, ...] | None:
    """The boundaries of a counter that were set by hand; its own go before those of every counter."""
    by_counter = {one.counter: one.at_s for one in own}
    return by_counter.get(counter, by_counter.get(EVERY_COUNTER))


def _with_own(
    points: ChangePoints, counters: tuple[str, ...], run: Run, step_s: float, own: tuple[OwnBoundaries, ...]
) -> list[Ints]:
    """The changes of each counter, those set by hand in the place of those found."""
    unknown = {one.counter for one in own} - {*counters, EVERY_COUNTER}
    if unknown:
        raise SettingsError(f"boundaries are given for {', '.join(sorted(unknown))}, which is no counter of this run")
    result = []
    for i, name in enumerate(counters):
        at_s = _own(name, own)
        if at_s is None:
            result.append(points.boundaries_of(i))
            continue
        samples = np.unique(np.round((np.array(at_s) - run.start_s) / step_s)).astype(np.int64)
        result.append(samples[(samples > 0) & (samples < points.n_samples)])
    return result


def movement(series: Floats) -> Floats:
    """(n_counters,) variance of (n_counters, T) series, missing samples left out."""
    present = np.isfinite(series)
    count = np.maximum(present.sum(axis=1), 1)
    mean = np.where(present, series, 0.0).sum(axis=1) / count
    result: Floats = (np.where(present, series - mean[:, None], 0.0) ** 2).sum(axis=1) / count
    return result


def _notes(
    points: ChangePoints, counters: tuple[str, ...], dropped: tuple[str, ...], min_samples: int
) -> tuple[str, ...]:
    """Which counters could not be searched and why, and whether the stretch is too short."""
    missing = points.mostly_missing | (points.short & (points.n_missing > 0))
    notes = []
    for flags, why in (
        (points.constant & ~missing, "constant here"),
        (missing, "missing more than half of their samples here"),
    ):
        names = [name for name, flag in zip(counters, flags, strict=True) if flag]
        if names:
            more = " …" if len(names) > 5 else ""
            notes.append(f"{len(names)} counters are {why}: one phase: {', '.join(names[:5])}{more}")
    if dropped:
        notes.append(
            f"{len(dropped)} counters miss more than a fifth of all samples and are excluded: {', '.join(dropped[:5])}"
        )
    if points.n_samples < 2 * min_samples:
        notes.append(
            f"{points.n_samples} samples are fewer than two phases of at least {min_samples}: there can be no change; "
            "widen the window or lower the shortest phase"
        )
    return tuple(notes)


@settings
class AlignmentSettings:
    """Which runs are laid over each other; both are normalised over all runs of the library's dataset."""

    first: Annotated[str, Setting("A run of the dataset, as workload/run.", key="phases_run")]
    second: Annotated[str, Setting("The run laid over it, one of the library's.", key="phases_over", label="Laid over")]
    train_hash: TrainHash = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True, repr=False)
class AlignedRuns(Shown):
    """Two runs laid over each other."""

    first: str  # name
    second: str  # name
    step_s: float  # of the grid
    n_counters: int  # that were compared
    alignment: Alignment  # the path in samples
    counters: tuple[str, ...]  # (n_counters,) names, those with the largest lasting changes in the first run first
    first_recorded: Floats  # (n_counters, T) values of the first run as recorded, NaN = missing
    second_recorded: Floats  # (n_counters, T') those of the second


@dataclass(frozen=True)
class Alignment:
    """Two runs laid over each other."""

    path: Ints  # (n_steps, 2) samples of the first and the second run that go together, both rising
    cost: float  # sum of Manhattan distances along the path
    mean_cost: float  # that per step and counter


def aligned_runs(frames: Mapping[str, pd.DataFrame], settings: AlignmentSettings, progress: Progress) -> AlignedRuns:
    """How a run of 'samples' goes together with one of 'train', or of 'samples' where there is none.

    Raises SettingsError when there is no such run.
    """
    samples = runs_of(frames["samples"], settings.library.counters)
    train = runs_of(frames["train"], samples.counters) if "train" in frames else samples
    normaliser = fit_normaliser(train.runs, train.counters, settings.library.fingerprints)
    progress(0.5, "aligning")
    runs = (samples.runs[find_run(samples, settings.first)], train.runs[find_run(train, settings.second)])
    series = [normalised(run, normaliser, settings.library.fingerprints).for_statistics for run in runs]
    order = np.argsort(-movement(smoothed(series[0])), kind="stable")
    recorded = [run.values[normaliser.kept][order] for run in runs]
    names = tuple(normaliser.counters[place] for place in order)
    first, second = (run.name for run in runs)
    return AlignedRuns(first, second, samples.step_s, len(names), alignment_of(*series), names, *recorded)


def smoothed(series: Floats) -> Floats:
    """(n_counters, T) means over five samples: what lasts stays, what is over at once does not."""
    width = min(5, series.shape[1])
    return np.array([np.convolve(one, np.ones(width) / width, mode="valid") for one in np.nan_to_num(series)])


def alignment_of(first: Floats, second: Floats) -> Alignment:
    """How two runs go together with the least Manhattan distance over all counters.

    `first` (n_counters, T) and `second` (n_counters, T') are normalised; missing samples count as the mean, 0.

    Raises NotEnoughData when a run has no sample, or the counters differ in number.
    """
    if first.shape[0] != second.shape[0] or 0 in (*first.shape, *second.shape):
        raise NotEnoughData(f"runs of {first.shape} and {second.shape} counters and samples cannot be aligned")
    from workprof.phases.kernels import warping_path  # noqa: PLC0415  numba

    one, other = (np.ascontiguousarray(np.nan_to_num(series).T) for series in (first, second))
    path, cost = warping_path(one, other)
    return Alignment(path, cost, cost / (len(path) * len(first)))
