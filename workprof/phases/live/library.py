"""What is needed of known workloads to follow a recording in progress: their library, noise and usual levels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.phases.changepoints.noise import noise_sd
from workprof.phases.fingerprints.digest import digests_of
from workprof.phases.fingerprints.normalise import normalised
from workprof.phases.matching.detector import Detector, Limits
from workprof.phases.matching.known import relabelled
from workprof.phases.matching.known_records import LibraryEdits
from workprof.phases.matching.library import Library, library_of
from workprof.phases.matching.matching import detector_of
from workprof.phases.matching.pair_model import fit_pair_model
from workprof.phases.runs import Runs, runs_of
from workprof.phases.settings import LibrarySettings
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

LIBRARY_SHARE = 0.5
"""Of the progress; the rest are the limits."""


@dataclass(frozen=True)
class LiveSettings:
    """Settings of what a recording in progress is followed with.

    Attributes:
        library: its counters are those that the recording has; normalised over all runs ('train').
        edits: of the library, by hand.
    """

    library: LibrarySettings
    edits: LibraryEdits = field(default_factory=LibraryEdits)


@dataclass(frozen=True)
class LiveLibrary:
    """What a recording is followed with.

    Attributes:
        library: of known workloads.
        noise_sd: (n_counters,) of the normalised counters, median over the runs.
        level: (n_counters,) median of the normalised samples.
        limits: of the detector; None where there are too few runs of each workload, or in faithful mode.
        limit: unlikeness above which a run is unknown.
        c: the same in standard deviations above the mean.
    """

    library: Library
    noise_sd: Floats
    level: Floats
    limits: Limits | None
    limit: float
    c: float


def live_library(frames: Mapping[str, pd.DataFrame], settings: LiveSettings, progress: Progress) -> LiveLibrary:
    """Return the library of 'samples' with the noise of its counters.

    Raises:
        NotEnoughData: without a labelled run.
    """
    runs = runs_of(relabelled(frames["samples"], settings.edits), settings.library.counters)
    library = library_of(runs, settings.library, lambda share, words: progress(LIBRARY_SHARE * (share or 0.0), words))
    series = _series(runs, library)
    noise = np.median([noise_sd(_gapless(one)) for one in series if one.shape[1] > 1], axis=0)
    level = np.nanmedian(np.concatenate(series, axis=1), axis=1)
    detector = detector_of(library, lambda share, words: progress(LIBRARY_SHARE + 0.5 * (share or 0.0), words))
    limits, limit, c = (detector.limits, detector.limit, detector.c) if detector else (None, math.inf, math.nan)
    return LiveLibrary(library, noise, np.nan_to_num(level), limits, limit, c)


def detector_from(known: LiveLibrary) -> Detector | None:
    """Return the detector of a library again: models are fitted, which takes a second, limits are not looked for."""
    library = known.library
    labels = np.array(library.labels)
    if known.limits is None or library.settings.mode == "faithful":
        return None
    names = tuple(str(name) for name in np.unique(labels))
    numbers = np.searchsorted(np.array(names), labels).astype(np.int64)
    model = fit_pair_model(digests_of(library.prints), numbers, library.settings.seed)
    return Detector(names, model, known.limits, known.limit, known.c)


def _series(runs: Runs, library: Library) -> list[Floats]:
    """Return every labelled run (n_counters, T) in standard deviations."""
    known, asked = library.fingerprints.normaliser, library.settings.fingerprints
    return [normalised(run, known, asked).for_phases for run in runs.runs if run.workload]


def _gapless(series: Floats) -> Floats:
    """Return a run with its gaps bridged by straight lines."""
    result, ticks = series.copy(), np.arange(series.shape[1])
    for row in result[np.isnan(result).any(axis=1)]:
        present = ~np.isnan(row)
        row[:] = np.interp(ticks, ticks[present], row[present]) if present.any() else 0.0
    return result
