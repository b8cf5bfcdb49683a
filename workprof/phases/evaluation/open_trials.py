"""Answers where some of the runs are of workloads that were not learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools
from workprof.phases.evaluation.records import Curve, UnknownFigures
from workprof.phases.evaluation.trial import Answers, decided
from workprof.phases.fingerprints import Fingerprint
from workprof.phases.library import Library
from workprof.phases.matching import detector_of
from workprof.progress import Progress, silent

GRID_C = tuple(round(float(c), 2) for c in np.arange(-1.0, 6.01, 0.1))
"""Where the curves are drawn, in standard deviations above the mean."""


@dataclass(frozen=True)
class OpenTrial:
    """Answers of one training part.

    Attributes:
        truth: workload of each asked run.
        learned: workloads of the training part.
        answers: measure -> answers; the first one decides.
        c: of the measure that decides; NaN without a limit.
    """

    truth: tuple[str, ...]
    learned: frozenset[str]
    answers: dict[str, Answers]
    c: float

    @property
    def known(self) -> Bools:
        """(n_runs,) of a learned workload."""
        return np.array([name in self.learned for name in self.truth], dtype=np.bool_)

    @property
    def deciding(self) -> Answers:
        """Answers of the measure that decides."""
        return next(iter(self.answers.values()))

    def known_right_and_rejected(self) -> list[tuple[bool, bool]]:
        """Return for each known run whether the nearest is right, and whether it is rejected."""
        rows = zip(self.truth, self.deciding.nearest, self.deciding.rejected, self.known, strict=True)
        return [(truth == nearest, bool(rejected)) for truth, nearest, rejected, known in rows if known]


def open_trial(library: Library, prints: Sequence[Fingerprint], progress: Progress = silent) -> OpenTrial:
    """Return the answers of a library for runs of any workload."""
    detector = detector_of(library, progress)
    c = library.c["ed"] if detector is None else detector.c
    truth = tuple(one.workload for one in prints)
    return OpenTrial(truth, frozenset(library.labels), decided(library, detector, prints), c)


def unknown_figures(trials: Sequence[OpenTrial]) -> tuple[UnknownFigures, ...]:
    """Return the figures of each workload that was not learned, over all trials."""
    rows: dict[str, list[tuple[str, bool]]] = {}
    for trial in trials:
        for truth, nearest, rejected in zip(trial.truth, trial.deciding.nearest, trial.deciding.rejected, strict=True):
            if truth not in trial.learned:
                rows.setdefault(truth, []).append((nearest, bool(rejected)))
    return tuple(_figures(name, own) for name, own in sorted(rows.items()))


def false_reject_share(trials: Sequence[OpenTrial]) -> float:
    """Return the share of runs of learned workloads that were rejected; NaN where there is none."""
    rejected = [out for trial in trials for _, out in trial.known_right_and_rejected()]
    return float(np.mean(rejected)) if rejected else float("nan")


def curves_of(trials: Sequence[OpenTrial]) -> tuple[Curve, ...]:
    """Return rejections over c of every measure; a run without a threshold is never rejected."""
    names = list(trials[0].answers) if trials else []
    return tuple(_curve(name, trials) for name in names)


def _figures(name: str, rows: list[tuple[str, bool]]) -> UnknownFigures:
    nearest = [near for near, _ in rows]
    shares = {
        near: nearest.count(near) / len(rows) for near in sorted(set(nearest), key=lambda one: -nearest.count(one))
    }
    return UnknownFigures(name, shares, float(np.mean([out for _, out in rows])), len(rows))


def _curve(measure: str, trials: Sequence[OpenTrial]) -> Curve:
    grid = np.array(GRID_C)
    known: list[Bools] = []
    unknown: dict[str, list[Bools]] = {}
    for trial in trials:
        above = trial.answers[measure].standing[:, None] > grid[None]
        for name, is_known, row in zip(trial.truth, trial.known, above, strict=True):
            known.append(row) if is_known else unknown.setdefault(name, []).append(row)
    nothing = np.full(len(grid), np.nan)
    rejected = np.mean([np.mean(rows, axis=0) for rows in unknown.values()], axis=0) if unknown else nothing
    return Curve(measure, grid, rejected, np.mean(known, axis=0) if known else nothing)
