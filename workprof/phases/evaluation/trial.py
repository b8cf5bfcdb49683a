"""One training part put to the test: answers for known and unknown runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.phases.detector import Detector
from workprof.phases.fingerprints import Fingerprint, digests_of
from workprof.phases.library import MEASURES, Library, LibrarySettings
from workprof.phases.similarity import accepts, euclidean, warping

PAIR_MODEL = "pair_model"


@dataclass(frozen=True)
class Answers:
    """What one measure says of runs.

    Attributes:
        nearest: workload of each run.
        standing: (n_runs,) standard deviations above the mean at which the nearest workload lies; NaN = no threshold.
        rejected: (n_runs,) answered 'unknown'.
    """

    nearest: tuple[str, ...]
    standing: Floats
    rejected: Bools


def by_pairs(detector: Detector, prints: Sequence[Fingerprint]) -> Answers:
    """Return the answers of the pair model."""
    scores = detector.model.unlikeness(digests_of(tuple(prints)))
    best, score = scores.argmin(axis=1), scores.min(axis=1)
    known = detector.limits
    standing = np.full(len(score), np.nan) if known is None else (score - known.mean) / known.sd
    return Answers(tuple(detector.workloads[i] for i in best), standing, score > detector.limit)


def by_distances(library: Library, prints: Sequence[Fingerprint]) -> dict[str, Answers]:
    """Return the answers by Euclidean and by warped distance, and 'either' and 'both' of their rejections."""
    found = {measure: _by_distance(library, prints, measure) for measure in MEASURES}
    ed, dtw = found["ed"], found["dtw"]
    either = Answers(ed.nearest, np.fmax(ed.standing, dtw.standing), ed.rejected | dtw.rejected)
    both = Answers(ed.nearest, np.fmin(ed.standing, dtw.standing), ed.rejected & dtw.rejected)
    return {**found, "either": either, "both": both}


def decided(library: Library, detector: Detector | None, prints: Sequence[Fingerprint]) -> dict[str, Answers]:
    """Return the answers of every measure, those that decide first."""
    distances = by_distances(library, prints)
    return distances if detector is None else {PAIR_MODEL: by_pairs(detector, prints), **distances}


def candidates(library: Library, one: Fingerprint, settings: LibrarySettings) -> Bools:
    """Return which training runs a run is compared with (n_train,).

    Source:
        CWD: those with as many phases. Ours: all, as the shorter is looked for inside the longer.
    """
    same = np.array([known.phases == one.phases for known in library.prints])
    if settings.mode == "faithful" and same.any():
        return same
    return np.ones(len(same), dtype=np.bool_)


def _by_distance(library: Library, prints: Sequence[Fingerprint], measure: str) -> Answers:
    settings, distance = library.settings.match, euclidean if measure == "ed" else warping
    labels = np.array(library.labels)
    nearest, standing, rejected = [], [], []
    for one in prints:
        which = np.flatnonzero(candidates(library, one, library.settings))
        values = [distance(library.prints[i], one, library.scale, settings).value for i in which]
        best = int(np.argmin(values))
        name, value = str(labels[which[best]]), values[best]
        threshold = library.threshold(measure, name)
        nearest.append(name)
        standing.append((value - threshold.mean) / threshold.sd if threshold.usable and threshold.sd > 0 else np.nan)
        accepted = accepts(threshold, value, library.c[measure], two_sided=settings.two_sided)
        rejected.append(accepted is False)
    return Answers(tuple(nearest), np.array(standing), np.array(rejected, dtype=np.bool_))
