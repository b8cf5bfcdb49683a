"""What is known: the fingerprints of labelled runs, their scale and thresholds, in a form that can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.errors import NotEnoughData
from workprof.phases.fingerprints.fingerprints import Fingerprint, Fingerprints, fingerprints_of
from workprof.phases.matching.similarity import Scale, euclidean, scale_of, warping
from workprof.phases.matching.thresholds import Threshold, chosen_c, thresholds_of
from workprof.phases.runs import Runs, runs_of
from workprof.phases.settings import LibrarySettings
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("ed", "dtw")


@dataclass(frozen=True)
class Library:
    """Everything that was learned from the training runs but the models, which are fitted again from it.

    Attributes:
        settings: it was made with.
        step_s: of the grid of its runs.
        fingerprints: of the training runs.
        scale: of distances.
        thresholds: measure -> one per workload, sorted by name.
        c: measure -> standard deviations above the mean up to which a run is accepted.
    """

    settings: LibrarySettings
    step_s: float
    fingerprints: Fingerprints
    scale: Scale
    thresholds: dict[str, tuple[Threshold, ...]]
    c: dict[str, float]

    @property
    def prints(self) -> tuple[Fingerprint, ...]:
        """Fingerprints of the training runs."""
        return self.fingerprints.prints

    @property
    def labels(self) -> tuple[str, ...]:
        """Workload of each training run."""
        return tuple(one.workload for one in self.prints)

    def threshold(self, measure: str, workload: str) -> Threshold:
        """Return the threshold of a workload."""
        return next(one for one in self.thresholds[measure] if one.workload == workload)


def learn(frames: Mapping[str, pd.DataFrame], settings: LibrarySettings, progress: Progress = silent) -> Library:
    """Return a library of the labelled runs of 'samples'; see `library_of`."""
    return library_of(runs_of(frames["samples"], settings.counters), settings, progress)


def library_of(runs: Runs, settings: LibrarySettings, progress: Progress = silent) -> Library:
    """Return a library of labelled runs.

    Raises:
        NotEnoughData: without a labelled run.
    """
    labelled = tuple(run for run in runs.runs if run.workload)
    if not labelled:
        raise NotEnoughData("no run has a workload; label the runs to learn from in column 'workload'")
    known = Runs(runs.counters, runs.step_s, labelled, runs.n_dropped, runs.notes)
    return library_from(fingerprints_of(known, settings.fingerprints, progress), runs.step_s, settings)


def library_from(fingerprints: Fingerprints, step_s: float, settings: LibrarySettings) -> Library:
    """Return a library of fingerprints that are made already."""
    scale = scale_of(fingerprints.prints, settings.match)
    labels = [one.workload for one in fingerprints.prints]
    thresholds, c = {}, {}
    for measure in MEASURES:
        inner = inner_distances(fingerprints.prints, scale, settings, measure)
        thresholds[measure] = thresholds_of(labels, inner, settings.match)
        c[measure] = chosen_c(labels, inner, thresholds[measure], settings.match)
    return Library(settings, step_s, fingerprints, scale, thresholds, c)


def inner_distances(prints: tuple[Fingerprint, ...], scale: Scale, settings: LibrarySettings, measure: str) -> Floats:
    """Return the distances of runs of the same workload (n, n); NaN between workloads, 0 on the diagonal."""
    distance = euclidean if measure == "ed" else warping
    result = np.full((len(prints), len(prints)), np.nan)
    for i, one in enumerate(prints):
        result[i, i] = 0.0
        for j in range(i):
            if prints[j].workload == one.workload:
                result[i, j] = result[j, i] = distance(one, prints[j], scale, settings.match).value
    return result
