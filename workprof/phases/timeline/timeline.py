"""One run, or a stretch of it, to look at: its counters as recorded, their phases, and the fingerprint of these."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData, SettingsError
from workprof.phases.changepoints import NEAR_SAMPLES, ChangePoints, change_points
from workprof.phases.fingerprints import STATISTICS, fingerprint_of_phases, fit_normaliser, normalised
from workprof.phases.runs import Run, Runs, find_run
from workprof.phases.timeline.records import EVERY_COUNTER, OwnBoundaries, Timeline, TimelineSettings
from workprof.progress import Progress, silent


def timeline_of(runs: Runs, settings: TimelineSettings, progress: Progress = silent) -> Timeline:
    """Return one of the runs with its phases.

    Raises:
        SettingsError: for a run or a counter that is not there.
        NotEnoughData: when the window holds no sample.
    """
    started = time.perf_counter()
    whole = runs.runs[find_run(runs, settings.run)]
    run = _stretch(whole, runs.step_s, settings)
    asked = settings.library.fingerprints
    known = fit_normaliser(runs.runs, runs.counters, asked)
    series = normalised(run, known, asked)
    found = change_points(series.for_phases, asked.change_points, progress)
    changes = _with_own(found, known.counters, run, runs.step_s, settings.own)
    flags: Bools = found.constant | found.mostly_missing | found.short
    edited = np.array([_own(name, settings.own) is not None for name in known.counters])
    return Timeline(
        counters=known.counters,
        step_s=runs.step_s,
        start_s=run.start_s,
        run_from_s=whole.start_s,
        run_to_s=whole.start_s + whole.values.shape[1] * runs.step_s,
        recorded=run.values[known.kept],
        fingerprint=fingerprint_of_phases(run, series, changes, flags, asked.distribution),
        statistics=STATISTICS[asked.distribution],
        agreement=_agreement(changes, flags, found.n_samples),
        movement=_movement(series.for_statistics),
        edited=edited,
        hazard_samples=found.hazard_samples,
        notes=(*runs.notes, *run.notes, *_notes(found, known.counters, known.dropped, asked.change_points.min_samples)),
        seconds=time.perf_counter() - started,
    )


def _stretch(run: Run, step_s: float, settings: TimelineSettings) -> Run:
    """Return the part of a run between two times, whole steps."""
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
    """Return the boundaries of a counter that were set by hand; its own go before those of every counter."""
    said = {one.counter: one.at_s for one in own}
    return said.get(counter, said.get(EVERY_COUNTER))


def _with_own(
    found: ChangePoints, counters: tuple[str, ...], run: Run, step_s: float, own: tuple[OwnBoundaries, ...]
) -> list[Ints]:
    """Return the changes of each counter, those set by hand in the place of those found."""
    unknown = {one.counter for one in own} - {*counters, EVERY_COUNTER}
    if unknown:
        raise SettingsError(f"boundaries are given for {', '.join(sorted(unknown))}, which is no counter of this run")
    result = []
    for i, name in enumerate(counters):
        at_s = _own(name, own)
        if at_s is None:
            result.append(found.boundaries_of(i))
            continue
        samples = np.unique(np.round((np.array(at_s) - run.start_s) / step_s)).astype(np.int64)
        result.append(samples[(samples > 0) & (samples < found.n_samples)])
    return result


def _agreement(changes: list[Ints], flags: Bools, n_samples: int) -> Floats:
    """Return the share of usable counters with a change near each sample (T,); see `ChangePoints.agreement`."""
    usable = [own for own, flag in zip(changes, flags, strict=True) if not flag]
    total = np.zeros(n_samples)
    for own in usable:
        near = own[:, None] + np.arange(-NEAR_SAMPLES, NEAR_SAMPLES + 1)
        total[np.unique(near[(near >= 0) & (near < n_samples)])] += 1
    return total / max(1, len(usable))


def _movement(series: Floats) -> Floats:
    present = np.isfinite(series)
    count = np.maximum(present.sum(axis=1), 1)
    mean = np.where(present, series, 0.0).sum(axis=1) / count
    result: Floats = (np.where(present, series - mean[:, None], 0.0) ** 2).sum(axis=1) / count
    return result


def _notes(
    found: ChangePoints, counters: tuple[str, ...], dropped: tuple[str, ...], min_samples: int
) -> tuple[str, ...]:
    """Return which counters could not be searched and why, and whether the stretch is too short."""
    missing = found.mostly_missing | (found.short & (found.n_missing > 0))
    told = [
        (found.constant & ~missing, "constant here: one phase"),
        (missing, "missing more than half of their samples here: one phase"),
    ]
    notes = [f"{int(flag.sum())} counters are {words}: {_some(counters, flag)}" for flag, words in told if flag.any()]
    if dropped:
        notes.append(
            f"{len(dropped)} counters miss more than a fifth of all samples and were left out: {', '.join(dropped[:5])}"
        )
    if found.n_samples < 2 * min_samples:
        notes.append(
            f"{found.n_samples} samples are fewer than two phases of at least {min_samples}: there can be no change; "
            "widen the window or lower the shortest phase"
        )
    return tuple(notes)


def _some(counters: tuple[str, ...], flag: Bools) -> str:
    names = [name for name, own in zip(counters, flag, strict=True) if own]
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
