"""The fingerprint of a run: counters x phases x statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.phases.changepoints import ChangePoints, change_points
from workprof.phases.fingerprints.normalise import Normalised, Normaliser, fit_normaliser, normalised
from workprof.phases.fingerprints.statistics import phase_statistics
from workprof.phases.runs import Run, Runs
from workprof.phases.settings import FingerprintSettings
from workprof.progress import Progress, silent


@dataclass(frozen=True)
class Fingerprint:
    """One run in numbers.

    Attributes:
        workload: label, '' where unknown.
        run: name within the workload.
        values: (n_counters, q, k) statistics, zero beyond a counter's own phases; q = the run's most phases.
        n_phases: (n_counters,) true number of phases: tells padding from a phase whose statistics are zero.
        starts: (n_changes,) changes of all counters, see `ChangePoints`.
        offsets: (n_counters + 1,) where each counter's changes begin in `starts`.
        flags: (n_counters,) no phases could be looked for: constant, mostly missing or too short.
        missing: counters that the run lacks; zero throughout.
        n_samples: T.
    """

    workload: str
    run: str
    values: Floats
    n_phases: Ints
    starts: Ints
    offsets: Ints
    flags: Bools
    missing: tuple[str, ...]
    n_samples: int

    @property
    def name(self) -> str:
        """Name for people."""
        return f"{self.workload}/{self.run}" if self.workload else self.run

    @property
    def phases(self) -> int:
        """Phases of the run: the most that any counter has."""
        return int(self.values.shape[1])

    def boundaries_of(self, counter: int) -> Ints:
        """Return the changes of a counter (n,), as numbers of samples."""
        return self.starts[self.offsets[counter] : self.offsets[counter + 1]]

    def weights_of(self, counter: int) -> Floats:
        """Return the share of the run that each phase of a counter takes (n_phases,)."""
        result: Floats = np.diff([0, *self.boundaries_of(counter).tolist(), self.n_samples]) / self.n_samples
        return result


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of runs that were normalised alike.

    Attributes:
        normaliser: counters, means and deviations of the training runs.
        prints: one per run.
    """

    normaliser: Normaliser
    prints: tuple[Fingerprint, ...]


def fingerprint(run: Run, known: Normaliser, settings: FingerprintSettings, progress: Progress = silent) -> Fingerprint:
    """Return the fingerprint of a run.

    Source:
        CWD, section on fingerprints: n counters x q phases x k statistics, padded with zeros. The paper's "q <= p" is
        read as q >= p.
    """
    series = normalised(run, known, settings)
    return _fingerprint(run, series, change_points(series.for_phases, settings.change_points, progress), settings)


def fingerprints_of(runs: Runs, settings: FingerprintSettings, progress: Progress = silent) -> Fingerprints:
    """Return the fingerprints of runs that are all training runs."""
    known = fit_normaliser(runs.runs, runs.counters, settings)
    return Fingerprints(known, prints_of(runs.runs, known, settings, progress))


def prints_of(
    runs: Sequence[Run], known: Normaliser, settings: FingerprintSettings, progress: Progress = silent
) -> tuple[Fingerprint, ...]:
    """Return the fingerprints of runs in the order given."""

    def tell(done: int) -> Progress:
        return lambda share, _: progress((done + (share or 0.0)) / len(runs), f"fingerprint {done + 1} of {len(runs)}")

    return tuple(fingerprint(run, known, settings, tell(done)) for done, run in enumerate(runs))


def padded(values: Floats, phases: int) -> Floats:
    """Return a fingerprint's values cut or zero-padded to a number of phases (n_counters, phases, k)."""
    n_counters, own, k = values.shape
    result = np.zeros((n_counters, phases, k))
    result[:, : min(own, phases)] = values[:, :phases]
    return result


def _fingerprint(run: Run, series: Normalised, found: ChangePoints, settings: FingerprintSettings) -> Fingerprint:
    n_phases = found.n_phases
    summaries = [
        phase_statistics(one, found.boundaries_of(i), settings.distribution)
        for i, one in enumerate(series.for_statistics)
    ]
    values = np.zeros((len(summaries), int(n_phases.max()), summaries[0].shape[1]))
    for row, summary in zip(values, summaries, strict=True):
        row[: len(summary)] = summary
    flags = found.constant | found.mostly_missing | found.short
    return Fingerprint(
        run.workload, run.run, values, n_phases, found.starts, found.offsets, flags, series.missing, found.n_samples
    )
