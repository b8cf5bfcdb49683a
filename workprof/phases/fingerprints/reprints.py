"""Fingerprints for many training parts of the same runs, without looking for the phases again where that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workprof.arrays import Floats
from workprof.phases.fingerprints.fingerprints import Fingerprint, Fingerprints, prints_of
from workprof.phases.fingerprints.normalise import Normaliser, fit_normaliser
from workprof.phases.fingerprints.statistics import MOMENTS
from workprof.phases.runs import Runs
from workprof.phases.settings import FingerprintSettings
from workprof.progress import Progress, silent

VARIANCE, ADF = MOMENTS.index("variance"), MOMENTS.index("adf")


class Reprints:
    """Runs whose fingerprints are asked for under the normaliser of one training part after another.

    Signed statistics move with mean and deviation, and the corrected search for phases depends on neither: such
    fingerprints are made once in the counters' own units and then moved. All others are made again each time.
    """

    def __init__(self, runs: Runs, settings: FingerprintSettings, progress: Progress = silent) -> None:
        self._runs, self._settings = runs, settings
        self._raw = prints_of(runs.runs, _unmoved(runs), settings, progress) if may_be_moved(settings) else None

    def of(self, train: Sequence[int], asked: Sequence[int]) -> tuple[Fingerprints, tuple[Fingerprint, ...]]:
        """Return the fingerprints of the training runs, and of further runs under the same normaliser."""
        runs = self._runs.runs
        known = fit_normaliser([runs[i] for i in train], self._runs.counters, self._settings)
        return Fingerprints(known, self._made(train, known)), self._made(asked, known)

    def _made(self, which: Sequence[int], known: Normaliser) -> tuple[Fingerprint, ...]:
        if self._raw is None:
            return prints_of([self._runs.runs[i] for i in which], known, self._settings)
        return tuple(moved(self._raw[i], known) for i in which)


def may_be_moved(settings: FingerprintSettings) -> bool:
    """Tell whether fingerprints depend on mean and deviation only by shift and scale."""
    search = settings.change_points
    free = search.mode == "corrected" and search.mu0 is None and search.beta0 is None and search.phases == "per_counter"
    return settings.normalise == "train" and not settings.absolute and settings.distribution == "quantiles" and free


def moved(raw: Fingerprint, known: Normaliser) -> Fingerprint:
    """Return a fingerprint made in the counters' own units as it is under a normaliser."""
    kept = np.flatnonzero(known.kept)
    still = (known.sd == 0) | np.isin(np.array(known.counters), np.array(raw.missing, dtype=str))
    sd = np.where(known.sd > 0, known.sd, 1.0)[:, None, None]
    values = raw.values[kept]
    result = (values - known.mean[:, None, None]) / sd
    result[:, :, VARIANCE] = values[:, :, VARIANCE] / sd[:, :, 0] ** 2
    result[:, :, ADF] = values[:, :, ADF]
    n_phases = np.where(still, 1, raw.n_phases[kept])
    own = (np.arange(raw.phases) < n_phases[:, None]) & ~still[:, None]
    changes = [
        np.zeros(0, np.int64) if fixed else raw.boundaries_of(int(i)) for i, fixed in zip(kept, still, strict=True)
    ]
    return replace(
        raw,
        values=(result * own[..., None])[:, : int(n_phases.max())],
        n_phases=n_phases,
        starts=np.concatenate(changes),
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in changes])]).astype(np.int64),
        flags=raw.flags[kept] | still,
        missing=tuple(name for name in raw.missing if name in known.counters),
    )


def _unmoved(runs: Runs) -> Normaliser:
    """Return the normaliser that leaves every counter in its own unit."""
    n = len(runs.counters)
    zeros: Floats = np.zeros(n)
    return Normaliser(runs.counters, np.ones(n, dtype=np.bool_), zeros, np.ones(n), (), ())
