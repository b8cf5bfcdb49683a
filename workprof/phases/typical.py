"""The typical run of each workload: the barycenter of its runs under dynamic time warping."""

from __future__ import annotations

import functools
import importlib
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.phases.fingerprints import fit_normaliser, normalised
from workprof.phases.library import LibraryEdits, LibrarySettings, relabelled
from workprof.phases.runs import runs_of
from workprof.phases.timeline import movement, smoothed

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 20
"""Of a workload that its barycenter is made of, the first by name."""


@settings
class TypicalSettings:
    """How the typical run of a workload is made."""

    edits: LibraryEdits = field(default_factory=LibraryEdits)
    shown: Annotated[
        int,
        Setting(
            "Counters that the runs are laid over each other by: those that move most.",
            least=1,
            most=12,
            key="phases_typical_counters",
            label="Counters compared",
        ),
    ] = 4
    points: Annotated[
        int,
        Setting(
            "Most samples of a run; of a longer one, means of equal stretches.",
            unit="samples",
            least=8,
            most=500,
            key="phases_typical_points",
            label="Most samples",
        ),
    ] = 120
    gamma: Annotated[
        float,
        Setting(
            "Softness of the warping; small = near to plain DTW.",
            above=0,
            most=100,
            label="Softness (gamma)",
            key="phases_gamma",
        ),
    ] = 1.0
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class TypicalRun:
    """The barycenter of the runs of one workload."""

    workload: str
    runs: tuple[str, ...]  # names of those that it is made of
    n_left_out: int  # further runs of the workload
    levels: Floats  # (n_counters, n_points) normalised, in standard deviations over all runs
    duration_s: float  # median of its runs
    costs: Floats  # (n_runs,) warping distance of each run to it (tslearn's dtw), per root of the steps
    nearest: str  # the run that is closest to it


@dataclass(frozen=True, repr=False)
class TypicalRuns(Shown):
    """The typical run of each workload of a dataset."""

    settings: TypicalSettings
    counters: tuple[str, ...]  # (n_counters,) that are compared
    runs: tuple[TypicalRun, ...]  # one per workload, by name
    seconds: float  # it took


def typical_runs(
    frames: Mapping[str, pd.DataFrame], settings: TypicalSettings, progress: Progress = silent
) -> TypicalRuns:
    """The typical run of each workload of 'samples'; runs without a label have none.

    Raises NotEnoughData without a labelled run.

    Source: Cuturi & Blondel 2017 (soft-DTW barycenter) as `tslearn.barycenters.softdtw_barycenter`, begun at the run of
    median length.
    """
    started = time.perf_counter()
    runs = runs_of(relabelled(frames["samples"], settings.edits), settings.library.counters)
    labelled = [run for run in runs.runs if run.workload]
    if not labelled:
        raise NotEnoughData("no run has a workload; label the runs in column 'workload'")
    fingerprints = settings.library.fingerprints
    normaliser = fit_normaliser(runs.runs, runs.counters, fingerprints)
    series = [np.nan_to_num(normalised(run, normaliser, fingerprints).for_statistics) for run in labelled]
    chosen = most_moving(series, settings.shown)
    found = []
    for place, workload in enumerate(names := sorted({run.workload for run in labelled})):
        progress(place / len(names), f"typical run of {workload}")
        own = [at for at, run in enumerate(labelled) if run.workload == workload]
        kept = own[:MOST_RUNS]
        parts = [shortened_series(series[at][chosen], settings.points) for at in kept]
        middle = barycenter(parts, settings.gamma)
        costs = np.array([distance(middle, part) for part in parts])
        found.append(
            TypicalRun(
                workload=workload,
                runs=tuple(labelled[at].run for at in kept),
                n_left_out=len(own) - len(kept),
                levels=middle,
                duration_s=float(np.median([series[at].shape[1] for at in kept])) * runs.step_s,
                costs=costs,
                nearest=labelled[kept[int(costs.argmin())]].run,
            )
        )
    counters = tuple(normaliser.counters[place] for place in chosen)
    return TypicalRuns(settings, counters, tuple(found), time.perf_counter() - started)


def most_moving(series: Sequence[Floats], count: int) -> Ints:
    """The counters that move most over the runs, the strongest first."""
    strength = np.mean([movement(smoothed(one)) for one in series], axis=0)
    return np.argsort(-strength, kind="stable")[:count].astype(np.int64)


def shortened_series(values: Floats, most: int) -> Floats:
    """(n_counters, n) means of at most so many equal stretches; a shorter series as it is."""
    if values.shape[1] <= most:
        return values
    starts = np.linspace(0, values.shape[1], most + 1).round().astype(np.int64)[:-1]
    lengths = np.diff([*starts, values.shape[1]])
    result: Floats = np.add.reduceat(values, starts, axis=1) / lengths
    return result


def barycenter(series: Sequence[Floats], gamma: float) -> Floats:
    """(n_counters, n) soft-DTW barycenter of (n_counters, T) series, as long as the one of median length."""
    points = [np.ascontiguousarray(one.T) for one in series]
    order = np.argsort([len(one) for one in points], kind="stable")
    first = points[int(order[(len(order) - 1) // 2])]
    if len(points) == 1:
        return np.ascontiguousarray(first.T)
    found = tslearn_part("barycenters").softdtw_barycenter(points, gamma=gamma, init=first.copy())
    return np.ascontiguousarray(np.asarray(found, dtype=np.float64).T)


def distance(first: Floats, second: Floats) -> float:
    """The warping distance of two (n_counters, T) series (tslearn's `dtw`), per root of the longer one's samples."""
    longest = max(first.shape[1], second.shape[1])
    warped = tslearn_part("metrics").dtw(np.ascontiguousarray(first.T), np.ascontiguousarray(second.T))
    return float(warped / np.sqrt(longest))


@functools.cache
def tslearn_part(part: str) -> Any:
    """A part of tslearn, whose loops take 10 s to compile and are kept from then on."""
    with warnings.catch_warnings():  # it tells that it cannot write HDF5
        warnings.simplefilter("ignore", UserWarning)
        result = importlib.import_module(f"tslearn.{part}")
    from workprof.core.compiled import keep_compiled  # noqa: PLC0415  heavy

    keep_compiled("tslearn")
    return result
