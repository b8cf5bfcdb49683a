"""Change points while the samples still arrive."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData
from workprof.phases.changepoints.prior import follows_noise, prior_of
from workprof.phases.changepoints.readouts import changes_of
from workprof.phases.changepoints.run_lengths import RunLengths
from workprof.phases.changepoints.settings import LEAST_HAZARD_SAMPLES, PRUNE_BELOW, ChangePointSettings

RECENT_SAMPLES = 3
"""A change this many samples ago or fewer is recent."""


@dataclass(frozen=True)
class OnlineState:
    """What is known after a tick. Changes are ticks, counted from 0.

    Attributes:
        n_ticks: ticks so far, missed ones included.
        n_missing: (n_counters,) samples that were missing; they are not scored.
        run_length: (n_counters,) most probable ticks since the last change.
        recent: (n_counters,) probability of a change within the last 3 scored samples, 0-1.
        changed: (n_counters,) whether this tick made a new last change the most probable one.
        starts: (n_changes,) changes seen so far, counter after counter. Provisional: later samples may refute them.
        offsets: (n_counters + 1,) where each counter's begin in `starts`.
    """

    n_ticks: int
    n_missing: Ints
    run_length: Ints
    recent: Floats
    changed: Bools
    starts: Ints
    offsets: Ints


class OnlineDetector:
    """Takes one sample of every counter at a time. Unpruned, it is where the search over the whole series would be."""

    def __init__(
        self,
        settings: ChangePointSettings,
        n_counters: int,
        noise_sd: Floats,
        level: Floats | None = None,
        spread_sd: Floats | None = None,
    ) -> None:
        """Start before the first tick.

        Args:
            settings: of the search. Without a hazard the expected length of a phase is that of a short run, as nobody
                knows how long this one gets; without `prune` improbable run lengths are dropped from the start.
            n_counters: counters of a sample.
            noise_sd: (n_counters,) from training runs, see `noise.py`; not above 0 = 1.
            level: (n_counters,) prior mean of a phase, from training runs; None = `mu0`, else 0.
            spread_sd: (n_counters,) how far training runs stray from it (root mean square); None = `noise_sd`.

        Raises:
            NotEnoughData: when the arrays do not match the counters.
        """
        level = np.full(n_counters, settings.mu0 or 0.0) if level is None else level
        if noise_sd.shape != (n_counters,) or level.shape != (n_counters,):
            raise NotEnoughData(
                f"{n_counters} counters need as many noise sds and levels, got {noise_sd.shape} and {level.shape}"
            )
        self._level = level
        self._scale = np.where(noise_sd > 0, noise_sd, 1.0) if follows_noise(settings) else np.ones(n_counters)
        spread = np.ones(n_counters) if spread_sd is None else (spread_sd / self._scale) ** 2
        joint = settings.phases == "joint"
        groups = [np.arange(n_counters)] if joint else [np.array([i]) for i in range(n_counters)]
        self._followed = [_Followed(group, _online(settings), float(spread[group].mean())) for group in groups]
        self._n_missing = np.zeros(n_counters, np.int64)
        self._n_ticks = 0

    def update(self, sample: Floats) -> OnlineState:
        """Take a sample (n_counters,), NaN = missing; return what is known now.

        With joint phases a tick that lacks a counter is not scored.

        Raises:
            NotEnoughData: when the sample has another number of counters.
        """
        if sample.shape != self._level.shape:
            raise NotEnoughData(f"a sample has {len(self._level)} counters, got {sample.shape}")
        missing = ~np.isfinite(sample)
        self._n_missing += missing
        scaled = (sample - self._level) / self._scale
        for followed in self._followed:
            followed.take(scaled[followed.counters], self._n_ticks)
        self._n_ticks += 1
        return self.state()

    def state(self) -> OnlineState:
        """Return what is known now."""
        each = [followed for followed in self._followed for _ in followed.counters]
        changes = [np.array(followed.provisional, dtype=np.int64) for followed in each]
        return OnlineState(
            n_ticks=self._n_ticks,
            n_missing=self._n_missing.copy(),
            run_length=np.array([self._n_ticks - followed.last_change for followed in each], dtype=np.int64),
            recent=np.array([followed.recent for followed in each]),
            changed=np.array([followed.changed for followed in each], dtype=bool),
            starts=np.concatenate([np.zeros(0, np.int64), *changes]),
            offsets=np.concatenate([[0], np.cumsum([len(one) for one in changes])]).astype(np.int64),
        )

    def changes(self, counter: int, readout: str = "path") -> Ints:
        """Return the changes of a counter as 'path', 'exact' or 'drop' reads them now, in ticks (n,)."""
        followed = next(one for one in self._followed if counter in one.counters)
        samples = changes_of(followed.lengths.trail, readout)
        return np.array([followed.ticks[i] for i in samples if i < len(followed.ticks)], dtype=np.int64)

    def log_posterior(self, counter: int) -> tuple[Ints, Floats]:
        """Return the run lengths of a counter in the running, in scored samples, and their log probabilities."""
        return next(one for one in self._followed if counter in one.counters).lengths.posterior()


class _Followed:
    """One counter, or all with joint phases, and the ticks at which it was scored."""

    def __init__(self, counters: Ints, settings: ChangePointSettings, spread: float) -> None:
        self.counters = counters
        self.lengths = RunLengths(prior_of(settings, 0, spread), len(counters))
        self.ticks = array("q")
        self.provisional: list[int] = []
        self.last_change = 0
        self.recent = 0.0
        self.changed = False
        self._run = 0

    def take(self, values: Floats, tick: int) -> None:
        self.changed = False
        if not np.isfinite(values).all():
            return
        self.ticks.append(tick)
        run = int(self.lengths.take(values[:, None]).run_or_change[0])
        first = len(self.ticks) - run
        self.last_change = self.ticks[first] if run else tick + 1
        if run <= self._run and first > 0:
            self.changed = True
            self.provisional.append(self.last_change)
        self._run = run
        runs, log_probabilities = self.lengths.posterior()
        recent = (runs <= RECENT_SAMPLES) & (runs < len(self.ticks))  # the beginning is no change
        self.recent = float(np.exp(log_probabilities[recent]).sum())


def _online(settings: ChangePointSettings) -> ChangePointSettings:
    hazard = LEAST_HAZARD_SAMPLES[settings.mode] if settings.hazard_samples is None else settings.hazard_samples
    return replace(settings, hazard_samples=hazard, prune=PRUNE_BELOW if settings.prune is None else settings.prune)
