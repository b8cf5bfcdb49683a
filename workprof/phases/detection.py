"""The phases of one run, counter by counter."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.phases.fingerprints import STATISTICS, Fingerprint, fingerprint, fit_normaliser
from workprof.phases.runs import find_run, runs_of
from workprof.phases.settings import DetectSettings
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CounterPhases:
    """Phases of one counter.

    Attributes:
        counter: name.
        change_points_s: (n_phases - 1,) seconds from the start of the run at which a new phase begins.
        start_s: (n_phases,) beginnings.
        end_s: (n_phases,) ends.
        mean: (n_phases,) in the counter's own unit; NaN for a phase without a sample.
        sd: (n_phases,) likewise, population form.
        statistics: (n_phases, k) as in the fingerprint, in standard deviations.
        note: why nothing was looked for, else ''.
    """

    counter: str
    change_points_s: Floats
    start_s: Floats
    end_s: Floats
    mean: Floats
    sd: Floats
    statistics: Floats
    note: str


@dataclass(frozen=True)
class Phases:
    """Phases of one run.

    Attributes:
        workload: its label, '' where unknown.
        run: its name.
        n_samples: T.
        step_s: of the grid.
        counters: one per counter that is kept.
        statistic_names: of the columns of `CounterPhases.statistics`.
        dropped: counters that miss too much of the dataset.
        notes: what was done to the samples.
        seconds: it took.
    """

    workload: str
    run: str
    n_samples: int
    step_s: float
    counters: tuple[CounterPhases, ...]
    statistic_names: tuple[str, ...]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


def detect(frames: Mapping[str, pd.DataFrame], settings: DetectSettings, progress: Progress = silent) -> Phases:
    """Return the phases of one run of 'samples'; means and deviations are those of all its runs.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no counter has enough samples.
    """
    started = time.perf_counter()
    runs, asked = runs_of(frames["samples"], settings.library.counters), settings.library.fingerprints
    run = runs.runs[find_run(runs, settings.run)]
    known = fit_normaliser(runs.runs, runs.counters, asked)
    found = fingerprint(run, known, asked, progress)
    values = np.array(run.values)[known.kept]
    return Phases(
        workload=run.workload,
        run=run.run,
        n_samples=found.n_samples,
        step_s=runs.step_s,
        counters=tuple(_counter(name, i, found, values[i], runs.step_s) for i, name in enumerate(known.counters)),
        statistic_names=STATISTICS[asked.distribution],
        dropped=known.dropped,
        notes=(*runs.notes, *run.notes),
        seconds=time.perf_counter() - started,
    )


def _counter(name: str, i: int, found: Fingerprint, series: Floats, step_s: float) -> CounterPhases:
    changes = found.boundaries_of(i)
    edges = np.array([0, *changes.tolist(), found.n_samples])
    pieces = [series[a:b][~np.isnan(series[a:b])] for a, b in itertools.pairwise(edges)]
    return CounterPhases(
        counter=name,
        change_points_s=np.asarray(changes * step_s, dtype=np.float64),
        start_s=edges[:-1] * step_s,
        end_s=edges[1:] * step_s,
        mean=np.array([piece.mean() if len(piece) else np.nan for piece in pieces]),
        sd=np.array([piece.std() if len(piece) else np.nan for piece in pieces]),
        statistics=np.array(found.values)[i, : found.n_phases[i]],
        note=_note(name, found, i, series),
    )


def _note(name: str, found: Fingerprint, i: int, series: Floats) -> str:
    if name in found.missing:
        return "the run lacks this counter"
    if not found.flags[i]:
        return ""
    missing = int(np.isnan(series).sum())
    if missing > len(series) / 2:
        return f"{missing} of {len(series)} samples are missing"
    return "constant" if np.nanmin(series) == np.nanmax(series) else f"{len(series)} samples are too few or too even"
