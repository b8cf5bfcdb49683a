"""A run while it is being recorded: its change points on-line, and the nearest known workload so far."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import settings
from workprof.core.progress import Progress
from workprof.core.shown import Shown
from workprof.phases.changepoints import (
    LEAST_HAZARD_SAMPLES,
    PRUNE_BELOW,
    ChangePointSettings,
    follows_noise,
    joined,
    noise_sd,
    prior_of,
)
from workprof.phases.detector import Detector, Limits, fit_phase_model
from workprof.phases.fingerprints import fingerprint_of_phases, normalised, stretches_of
from workprof.phases.library import Library, LibraryEdits, LibrarySettings, library_of, relabelled
from workprof.phases.matching import Match, detector_of, match
from workprof.phases.runs import Run, runs_of

if TYPE_CHECKING:
    import pandas as pd


RECENT_SAMPLES = 3
"""A change this many samples ago or fewer is recent."""


@dataclass(frozen=True)
class OnlineState:
    """What is known after a tick. Changes are ticks, counted from 0."""

    n_ticks: int  # ticks so far, missed ones included
    n_missing: Ints  # (n_counters,) samples that were missing; they are not scored
    run_length: Ints  # (n_counters,) most probable ticks since the last change
    recent: Floats  # (n_counters,) probability of a change within the last 3 scored samples, 0-1
    changed: Bools  # (n_counters,) whether this tick made a new last change the most probable one
    starts: Ints  # (n_changes,) changes seen so far, counter after counter. Provisional: later samples may refute them
    offsets: Ints  # (n_counters + 1,) where each counter's begin in `starts`


class OnlineDetector:
    """Takes one sample of every counter at a time. Unpruned, it is where the search over the whole series would be."""

    def __init__(
        self,
        settings: ChangePointSettings,
        n_counters: int,
        noise_sd: Floats,
        level: Floats | None = None,
    ) -> None:
        """Start before the first tick.

        Without a hazard the expected length of a phase is that of a short run, as nobody knows how long this one gets;
        without `prune` improbable run lengths are dropped from the start. `noise_sd` (n_counters,) of training runs
        that is not above 0 counts as 1; `level` (n_counters,) is the prior mean of a phase, without it `mu0`, else 0.

        Raises NotEnoughData when the arrays do not match the counters.
        """
        level = np.full(n_counters, settings.mu0 or 0.0) if level is None else level
        if noise_sd.shape != (n_counters,) or level.shape != (n_counters,):
            raise NotEnoughData(
                f"{n_counters} counters need as many noise sds and levels, got {noise_sd.shape} and {level.shape}"
            )
        self._level = level
        self._scale = np.where(noise_sd > 0, noise_sd, 1.0) if follows_noise(settings) else np.ones(n_counters)
        hazard, prune = settings.hazard_samples, settings.prune
        settings = replace(
            settings,
            hazard_samples=LEAST_HAZARD_SAMPLES[settings.mode] if hazard is None else hazard,
            prune=PRUNE_BELOW if prune is None else prune,
        )
        joint = settings.phases == "joint"
        groups = [np.arange(n_counters)] if joint else [np.array([i]) for i in range(n_counters)]
        self._followed = [_Followed(group, settings) for group in groups]
        self._n_missing = np.zeros(n_counters, np.int64)
        self._n_ticks = 0

    def update(self, sample: Floats) -> OnlineState:
        """Take a sample (n_counters,), NaN = missing; return what is known now.

        With joint phases a tick that lacks a counter is not scored.

        Raises NotEnoughData when the sample has another number of counters.
        """
        if sample.shape != self._level.shape:
            raise NotEnoughData(f"a sample has {len(self._level)} counters, got {sample.shape}")
        missing = ~np.isfinite(sample)
        self._n_missing += missing
        scaled = (sample - self._level) / self._scale
        for followed in self._followed:
            followed.take(scaled[followed.counters], self._n_ticks)
        self._n_ticks += 1
        return self.state()

    def state(self) -> OnlineState:
        """What is known now."""
        each = [followed for followed in self._followed for _ in followed.counters]
        starts, offsets = joined([np.array(followed.provisional, dtype=np.int64) for followed in each])
        return OnlineState(
            n_ticks=self._n_ticks,
            n_missing=self._n_missing.copy(),
            run_length=np.array([self._n_ticks - followed.last_change for followed in each], dtype=np.int64),
            recent=np.array([followed.recent for followed in each]),
            changed=np.array([followed.changed for followed in each], dtype=bool),
            starts=starts,
            offsets=offsets,
        )

    def changes(self, counter: int, readout: str = "path") -> Ints:
        """The changes of a counter as 'path', 'exact' or 'drop' reads them now, in ticks (n,)."""
        from workprof.phases.segmentation import changes_of  # noqa: PLC0415  numba

        followed = self._of(counter)
        samples = changes_of(followed.lengths.trail, readout)
        return np.array([followed.ticks[i] for i in samples if i < len(followed.ticks)], dtype=np.int64)

    def _of(self, counter: int) -> _Followed:
        return next(one for one in self._followed if counter in one.counters)


class _Followed:
    """One counter, or all with joint phases, and the ticks at which it was scored."""

    def __init__(self, counters: Ints, settings: ChangePointSettings) -> None:
        from workprof.phases.segmentation import RunLengths  # noqa: PLC0415  numba

        self.counters = counters
        self.lengths = RunLengths(prior_of(settings, 0, 1.0), len(counters))  # as far as a noise sd
        self.ticks = array("q")
        self.provisional: list[int] = []
        self.last_change = 0
        self.recent = 0.0
        self.changed = False
        self._run = 0

    def take(self, values: Floats, tick: int) -> None:
        self.changed = False
        if not np.isfinite(values).all():
            return
        self.ticks.append(tick)
        run = int(self.lengths.take(values[:, None]).run_or_change[0])
        first = len(self.ticks) - run
        self.last_change = self.ticks[first] if run else tick + 1
        if run <= self._run and first > 0:
            self.changed = True
            self.provisional.append(self.last_change)
        self._run = run
        runs, log_probabilities = self.lengths.posterior()
        recent = (runs <= RECENT_SAMPLES) & (runs < len(self.ticks))  # the beginning is no change
        self.recent = float(np.exp(log_probabilities[recent]).sum())


LIBRARY_SHARE = 0.5
"""Of the progress; the rest are the limits."""


@settings
class LiveSettings:
    """What a recording in progress is followed with: the counters that it has, normalised over all runs ('train')."""

    library: LibrarySettings = field(default_factory=LibrarySettings)
    edits: LibraryEdits = field(default_factory=LibraryEdits)


@dataclass(frozen=True, repr=False)
class LiveLibrary(Shown):
    """What a recording is followed with."""

    library: Library  # of known workloads
    noise_sd: Floats  # (n_counters,) of the normalised counters, median over the runs
    level: Floats  # (n_counters,) median of the normalised samples
    limits: Limits | None  # of the detector; None where there are too few runs of each workload, or in faithful mode
    limit: float  # unlikeness above which a run is unknown
    c: float  # the same in standard deviations above the mean


def live_library(frames: Mapping[str, pd.DataFrame], settings: LiveSettings, progress: Progress) -> LiveLibrary:
    """The library of 'samples' with the noise of its counters; raises NotEnoughData without a labelled run."""
    runs = runs_of(relabelled(frames["samples"], settings.edits), settings.library.counters)
    settings_of_runs = replace(settings.library, counters=runs.counters)  # named: a recording is read by them
    library = library_of(runs, settings_of_runs, lambda share, words: progress(LIBRARY_SHARE * (share or 0.0), words))
    normaliser, fingerprints = library.fingerprints.normaliser, library.settings.fingerprints
    series = [normalised(run, normaliser, fingerprints).for_phases for run in runs.runs if run.workload]
    noise = np.median([noise_sd(_gapless(one)) for one in series if one.shape[1] > 1], axis=0)
    level = np.nanmedian(np.concatenate(series, axis=1), axis=1)
    detector = detector_of(library, lambda share, words: progress(LIBRARY_SHARE + 0.5 * (share or 0.0), words))
    limits, limit, c = (detector.limits, detector.limit, detector.c) if detector else (None, math.inf, math.nan)
    return LiveLibrary(library, noise, np.nan_to_num(level), limits, limit, c)


def detector_from(known: LiveLibrary) -> Detector | None:
    """The detector of a library again: models are fitted, which takes a second, limits are not looked for."""
    library = known.library
    labels = np.array(library.labels)
    if known.limits is None or library.settings.mode == "faithful":
        return None
    names = tuple(str(name) for name in np.unique(labels))
    numbers = np.searchsorted(np.array(names), labels).astype(np.int64)
    model = fit_phase_model([stretches_of(one) for one in library.prints], numbers, library.settings.seed)
    return Detector(names, model, known.limits, known.limit, known.c)


def _gapless(series: Floats) -> Floats:
    """A run with its gaps bridged by straight lines."""
    result, ticks = series.copy(), np.arange(series.shape[1])
    for row in result[np.isnan(result).any(axis=1)]:
        present = ~np.isnan(row)
        row[:] = np.interp(ticks, ticks[present], row[present]) if present.any() else 0.0
    return result


SHOWN_S = 120.0
MOST_MISSED = 600
"""Of a longer gap only so many steps are filled in."""
FEWEST_TO_MATCH = 8


@dataclass(frozen=True)
class LiveView:
    """How a recording stands."""

    counters: tuple[str, ...]  # that are followed
    t_s: Floats  # (T,) times of the last two minutes, as recorded
    recorded: Floats  # (n_counters, T) values, NaN = missing
    # of each counter, where phases begin so far. Provisional: later samples may refute them
    changes_s: tuple[tuple[float, ...], ...]
    recent: Floats  # (n_counters,) probability of a change within the last 3 samples, 0-1
    n_ticks: int  # steps so far, missed ones included
    n_missed: int  # steps without a sample
    from_s: float  # where following began, as recorded
    match: Match | None  # the nearest known workload so far; None before there are enough samples


class LiveRun:
    """Takes the samples of one run as they come. In memory only."""

    def __init__(self, live_library: LiveLibrary, detector: Detector | None, workload: str, run: str) -> None:
        self._detector = detector
        self._live_library = live_library
        self._name = (workload, run)
        library = live_library.library
        self.counters = library.settings.counters
        self._counter_rows = np.flatnonzero(library.fingerprints.normaliser.kept)
        changes = replace(library.settings.fingerprints.change_points, method="bcpd")
        self._online = OnlineDetector(changes, len(self._counter_rows), live_library.noise_sd, live_library.level)
        self._state: OnlineState | None = None
        self._rows: list[Floats] = []
        self._t: list[float] = []
        self._n_missed = 0

    def take(self, t_s: float, values: Floats) -> None:
        """Take one sample: time, and a value for each of `counters`, NaN = missing. Missed steps count as such."""
        step_s = self._live_library.library.step_s
        missed = max(0, round((t_s - self._t[-1]) / step_s) - 1) if self._t else 0
        for _ in range(min(missed, MOST_MISSED)):
            self._tick(self._t[-1] + step_s, np.full(len(self.counters), math.nan))
            self._n_missed += 1
        self._tick(t_s, values)

    def view(self, before: Match | None = None, *, rematch: bool = True) -> LiveView:
        """How the run stands; without `rematch` with the match of before."""
        state = self._state
        n = len(self._counter_rows)
        t, recorded = np.array(self._t), np.array(self._rows).T if self._rows else np.zeros((n, 0))
        changes = [self._online.changes(i) for i in range(n)]
        last = t > (t[-1] - SHOWN_S) if len(t) else np.zeros(0, bool)
        step_s = self._live_library.library.step_s
        matched = self._match(changes) if rematch and len(t) >= FEWEST_TO_MATCH else before
        return LiveView(
            counters=self._live_library.library.fingerprints.normaliser.counters,
            t_s=t[last],
            recorded=recorded[:, last],
            changes_s=tuple(tuple(float(t[i] - step_s) for i in own) for own in changes),
            recent=np.zeros(n) if state is None else state.recent,
            n_ticks=len(t),
            n_missed=self._n_missed,
            from_s=float(t[0] - step_s) if len(t) else 0.0,
            match=matched,
        )

    def _tick(self, t_s: float, values: Floats) -> None:
        raw = values[self._counter_rows]
        run = Run("", "", values[:, None], 0.0, 0, ())
        library = self._live_library.library
        scaled = normalised(run, library.fingerprints.normaliser, library.settings.fingerprints).for_phases[:, 0]
        self._state = self._online.update(np.where(np.isnan(raw), np.nan, scaled))
        self._t.append(t_s)
        self._rows.append(raw)

    def _match(self, changes: list[Ints]) -> Match:
        library = self._live_library.library
        given = np.full((len(self.counters), len(self._rows)), np.nan)
        given[self._counter_rows] = np.array(self._rows).T
        run = Run(*self._name, given, 0.0, 0, ())
        series = normalised(run, library.fingerprints.normaliser, library.settings.fingerprints)
        flags = np.zeros(len(changes), dtype=bool)
        one = fingerprint_of_phases(run, series, changes, flags, library.settings.fingerprints.distribution)
        return match(library, one, self._detector)
