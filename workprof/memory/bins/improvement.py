"""How much more every further bin saves, and what no number of bins can beat."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.memory.bins.bins import bin_runs, edge_choices, needed_bytes
from workprof.memory.bins.effect import SizedRuns, effect_of_edges, saved_share
from workprof.memory.bins.settings import MOST_BINS, BinSettings
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class NoBins:
    """Savings when every run gets a size of its own, as if its use were known beforehand.

    Attributes:
        optimal_improvement: against the largest request, every run counting as one.
        time_based_optimal_improvement: the same, runs weighted by their hours.
        saved_share: against the requests of the runs.
        time_based_saved_share: the same, runs weighted by their hours.
    """

    optimal_improvement: float
    time_based_optimal_improvement: float
    saved_share: float
    time_based_saved_share: float


@dataclass(frozen=True)
class ImprovementCurve:
    """Savings against the number of bins.

    Attributes:
        settings: as asked; their k and edges do not matter here.
        k: (8,) numbers of bins.
        edges_bytes: the best edges of each.
        optimal_improvement: (8,), see `BinEffect`; the other three alike.
        oracle: the bound: every run gets exactly what it used.
        continuous: no bins: every run gets what it used, with the headroom and the step of the settings. The bins
            tend to this line.
        seconds: of the computation.
    """

    settings: BinSettings
    k: tuple[int, ...]
    edges_bytes: tuple[tuple[float, ...], ...]
    optimal_improvement: Floats
    time_based_optimal_improvement: Floats
    saved_share: Floats
    time_based_saved_share: Floats
    oracle: NoBins
    continuous: NoBins
    seconds: float


def improvement_curve(
    frames: Mapping[str, pd.DataFrame], settings: BinSettings, progress: Progress = silent
) -> ImprovementCurve:
    """Return the savings of the best 1 to 8 bins of a task.

    Raises:
        SettingsError: for a task that is not there.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run of the task has a request.
    """
    started = time.perf_counter()
    progress(None, "Looking for the best bins of every number")
    found = bin_runs(frames["jobs"], settings)
    choices = edge_choices(found, replace(settings, k=MOST_BINS))
    effects = [effect_of_edges(found.runs, tuple(choice.edges_bytes.tolist())) for choice in choices]
    return ImprovementCurve(
        settings=settings,
        k=tuple(range(1, MOST_BINS + 1)),
        edges_bytes=tuple(effect.edges_bytes for effect in effects),
        optimal_improvement=np.array([effect.optimal_improvement for effect in effects]),
        time_based_optimal_improvement=np.array([effect.time_based_optimal_improvement for effect in effects]),
        saved_share=np.array([effect.saved_share for effect in effects]),
        time_based_saved_share=np.array([effect.time_based_saved_share for effect in effects]),
        oracle=no_bins(found.runs, found.runs.used_bytes),
        continuous=no_bins(found.runs, needed_bytes(found.runs.used_bytes, settings)),
        seconds=time.perf_counter() - started,
    )


def no_bins(runs: SizedRuns, sizes_bytes: Floats) -> NoBins:
    """Return the savings when every run gets its own size, (n,) bytes."""
    ones, everyone = np.ones(len(sizes_bytes)), np.full(len(sizes_bytes), runs.static_bytes)
    return NoBins(
        optimal_improvement=saved_share(sizes_bytes, everyone, ones),
        time_based_optimal_improvement=saved_share(sizes_bytes, everyone, runs.hours),
        saved_share=saved_share(sizes_bytes, runs.requested_bytes, ones),
        time_based_saved_share=saved_share(sizes_bytes, runs.requested_bytes, runs.hours),
    )
