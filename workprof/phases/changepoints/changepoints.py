"""Where the phases of a run begin: Bayesian change points of every counter, or of all counters together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.phases.changepoints.settings import ChangePointSettings
from workprof.phases.changepoints.standard_series import StandardSeries, standard_series
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    from workprof.phases.changepoints.search import Found  # numba

DEFAULT = ChangePointSettings()
NEAR_SAMPLES = 1
"""Changes of two counters this far apart agree."""


@dataclass(frozen=True)
class ChangePoints:
    """Changes of the counters of one run. A change is the 0-based number of the first sample of a new phase.

    Attributes:
        n_samples: T.
        starts: (n_changes,) changes of counter 0, then of counter 1, and so on, each rising.
        offsets: (n_counters + 1,) where each counter's changes begin in `starts`.
        constant: (n_counters,) all samples equal: one phase.
        mostly_missing: (n_counters,) more than half of the samples missing: one phase.
        short: (n_counters,) fewer than 4 samples present: one phase.
        n_missing: (n_counters,) samples that were missing.
        n_merged: (n_counters,) changes taken back because a phase was too short.
        n_weakest: (n_counters,) changes left out because there were more phases than `max_phases`.
        agreement: (T,) share of the counters without a flag that have a change within one sample, 0-1.
        log_evidence: (n_counters,) of the series as given, all segmentations together; NaN where nothing was looked
            for and with the methods of ruptures. With joint phases the evidence of all counters, at each of them.
        noise_sd: (n_counters,) from sample to sample.
        hazard_samples: expected length of a phase that was assumed.
        prune: share of the hazard below which run lengths were dropped, 0 = none.
        seconds: it took.
    """

    n_samples: int
    starts: Ints
    offsets: Ints
    constant: Bools
    mostly_missing: Bools
    short: Bools
    n_missing: Ints
    n_merged: Ints
    n_weakest: Ints
    agreement: Floats
    log_evidence: Floats
    noise_sd: Floats
    hazard_samples: float
    prune: float
    seconds: float

    @property
    def n_phases(self) -> Ints:
        """(n_counters,) phases of each counter, at least 1."""
        result: Ints = np.diff(self.offsets) + 1
        return result

    def boundaries_of(self, counter: int) -> Ints:
        """Return the changes of a counter (n,)."""
        return self.starts[self.offsets[counter] : self.offsets[counter + 1]]


def change_points(values: Floats, settings: ChangePointSettings = DEFAULT, progress: Progress = silent) -> ChangePoints:
    """Return where the phases of each counter begin.

    Args:
        values: (n_counters, T) on a grid of equal steps, normalised or not: in corrected mode neither the level nor
            the unit of a counter matters. NaN = missing: such samples are not scored; with joint phases they are
            bridged by straight lines, as a counter's gap is no gap of the run.
        settings: of the search.
        progress: told after every counter; what it raises ends the search.

    Raises:
        NotEnoughData: when `values` is not a table.

    Source:
        CWD, equations 1-4, with the priors of the settings; alternatives from ruptures. CWD says nothing of gaps; a
        bridged gap is quieter than noise, and would be a phase of its own.
    """
    started = time.perf_counter()
    series = standard_series(values, settings)
    n_samples = series.values.shape[1]
    each = _found(series, settings, progress)
    changes = [one.changes for one in each]
    return ChangePoints(
        n_samples=n_samples,
        starts=np.concatenate([np.zeros(0, np.int64), *changes]),
        offsets=np.concatenate([[0], np.cumsum([len(one) for one in changes])]).astype(np.int64),
        constant=series.constant,
        mostly_missing=series.mostly_missing,
        short=series.short,
        n_missing=series.n_missing,
        n_merged=np.array([one.n_merged for one in each], dtype=np.int64),
        n_weakest=np.array([one.n_weakest for one in each], dtype=np.int64),
        agreement=_agreement([one for one, usable in zip(changes, series.usable, strict=True) if usable], n_samples),
        log_evidence=_log_evidence(series, each, joint=settings.phases == "joint"),
        noise_sd=series.noise_sd,
        hazard_samples=settings.hazard_for(n_samples),
        prune=settings.prune_for(n_samples),
        seconds=time.perf_counter() - started,
    )


def _found(series: StandardSeries, settings: ChangePointSettings, progress: Progress) -> list[Found]:
    """Return what was found in each counter. Joint phases are those of the run: every counter has them."""
    from workprof.phases.changepoints.search import nothing_found  # noqa: PLC0415  numba

    usable, n_counters = np.flatnonzero(series.usable), len(series.values)
    progress(0.0, f"change points of {len(usable)} counters")
    if settings.phases == "joint":
        return n_counters * [_joint(series, usable, settings, progress) if len(usable) else nothing_found()]
    found = dict(zip(usable.tolist(), _one_by_one(series, usable, settings, progress), strict=True))
    return [found.get(i) or nothing_found() for i in range(n_counters)]


def _joint(series: StandardSeries, usable: Ints, settings: ChangePointSettings, progress: Progress) -> Found:
    from workprof.phases.changepoints.search import search_changes  # noqa: PLC0415  numba

    def report(share: float) -> None:
        progress(share, f"joint phases of {len(usable)} counters")

    return search_changes(series.values[usable], settings, series.values.shape[1], report)


def _one_by_one(series: StandardSeries, usable: Ints, settings: ChangePointSettings, progress: Progress) -> list[Found]:
    from workprof.compiled import share_out  # noqa: PLC0415  numba
    from workprof.phases.changepoints.search import nothing_found, search_changes  # noqa: PLC0415  numba

    found = [nothing_found()] * len(usable)

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            row, ticks = usable[i], np.flatnonzero(series.present[usable[i]])
            alone = search_changes(series.values[row : row + 1, ticks], settings, series.values.shape[1], _unheard)
            found[i] = replace(alone, changes=ticks[alone.changes])

    def report(share: float) -> None:
        progress(share, f"change points: {round(share * len(usable))} of {len(usable)} counters")

    share_out(work, len(usable), 1, report)
    return found


def _unheard(share: float) -> None:
    """Progress within a counter is not told: the counters are counted."""


def _agreement(changes: list[Ints], n_samples: int) -> Floats:
    """Return the share of the counters with a change within `NEAR_SAMPLES` of each sample (T,)."""
    total = np.zeros(n_samples)
    for one in changes:
        near = one[:, None] + np.arange(-NEAR_SAMPLES, NEAR_SAMPLES + 1)
        total[np.unique(near[(near >= 0) & (near < n_samples)])] += 1
    return total / max(1, len(changes))


def _log_evidence(series: StandardSeries, each: list[Found], *, joint: bool) -> Floats:
    """Return the log evidence of each counter in the unit of the values given."""
    n_scored = np.full(len(each), series.values.shape[1]) if joint else np.count_nonzero(series.present, axis=1)
    units = n_scored * np.where(series.usable, np.log(series.scale), 0.0)
    result: Floats = np.array([one.log_evidence for one in each]) - (units.sum() if joint else units)
    return result
