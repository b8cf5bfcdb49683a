"""What is remembered of finished jobs: a bounded window per profile, its counts, and the distributions at the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Bools, Floats, Ints
from workprof.profiles.classifier.weighted_samples import (
    Units,
    WeightedSample,
    decay_weights,
    weighted_quantiles,
    weighted_sample,
)

SKETCH_POINTS = 512


@dataclass(frozen=True)
class Batch:
    """Finished jobs, measured. NaN = not known.

    Attributes:
        labels: (n,) profile that they were filed under.
        points: (n, n_dims) scaled features.
        predicted: (n,) profile that was predicted before they ran; -1 = none.
        times_s: (n,) end, on the trace's clock.
        units: (n,) job that they belong to.
        values: (n, n_targets) log of what they needed.
        errors: (n, n_targets) log of what they needed over what was estimated; above 0 = under-estimated.
        sides: (n, n_targets) 1 = above the promised interval, -1 = below it, 0 = inside.
    """

    labels: Ints
    points: Floats
    predicted: Ints
    times_s: Floats
    units: Units
    values: Floats
    errors: Floats
    sides: Floats

    def take(self, rows: Bools) -> Batch:
        """Return some of the rows."""
        return Batch(**{name: column[rows] for name, column in vars(self).items()})

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class ProfileWindow:
    """The newest jobs of one profile; arrays as in `Batch`."""

    predicted: Ints
    times_s: Floats
    units: Units
    values: Floats
    errors: Floats

    def __len__(self) -> int:
        return len(self.times_s)

    def add(self, batch: Batch, limit: int) -> ProfileWindow:
        """Return the window with the batch's rows, the oldest let go beyond `limit`."""
        return ProfileWindow(**{name: newest(kept, getattr(batch, name), limit) for name, kept in vars(self).items()})

    def sample(self, column: Floats, now_s: float, half_life_days: float) -> WeightedSample:
        """Return one column of `values` or `errors` as a sample with decay."""
        return weighted_sample(column, decay_weights(self.times_s, now_s, half_life_days), self.units)


@dataclass(frozen=True)
class RecentJobs:
    """The newest jobs over all profiles; arrays as in `Batch`."""

    labels: Ints
    predicted: Ints
    points: Floats
    units: Units

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, batch: Batch, limit: int) -> RecentJobs:
        """Return them with the batch's rows, the oldest let go beyond `limit`."""
        return RecentJobs(**{name: newest(kept, getattr(batch, name), limit) for name, kept in vars(self).items()})


@dataclass(frozen=True)
class Tally:
    """Counts since the fit, never forgotten.

    Attributes:
        jobs: rows filed here.
        known: (n_targets,) rows with an estimate and a true value.
        under: (n_targets,) needed more than the promised interval's upper end: under-provisioned.
        over: (n_targets,) needed less than its lower end: over-provisioned.
    """

    jobs: int
    known: Ints
    under: Ints
    over: Ints

    def add(self, batch: Batch) -> Tally:
        """Return the counts with the batch's rows."""
        return Tally(
            self.jobs + len(batch),
            self.known + np.isfinite(batch.sides).sum(axis=0),
            self.under + (batch.sides > 0).sum(axis=0),
            self.over + (batch.sides < 0).sum(axis=0),
        )


@dataclass(frozen=True)
class Sketch:
    """A distribution in at most 512 numbers.

    Attributes:
        points: rising, each as likely.
        effective: independent values that it rests on.
        rows: values that it rests on.
    """

    points: Floats
    effective: float
    rows: int

    def sample(self) -> WeightedSample:
        """Return it as a sample."""
        return WeightedSample(self.points, np.ones(len(self.points)), self.effective)


@dataclass(frozen=True)
class ProfileReference:
    """How a profile was at the fit: rows, and per target the log values and log errors."""

    rows: int
    values: tuple[Sketch, ...]
    errors: tuple[Sketch, ...]


@dataclass(frozen=True)
class ProfileState:
    """One profile in the loop; -1 = jobs far from every profile."""

    profile: int
    reference: ProfileReference
    window: ProfileWindow
    tally: Tally

    def add(self, batch: Batch, limit: int) -> ProfileState:
        """Return the profile with the batch's rows."""
        return replace(self, window=self.window.add(batch, limit), tally=self.tally.add(batch))


def sketch(values: Floats, units: Units) -> Sketch:
    """Return the distribution of the finite values."""
    sample = weighted_sample(values, np.ones(len(values)), units)
    points = sample.values
    if len(points) > SKETCH_POINTS:
        points = weighted_quantiles(sample, (np.arange(SKETCH_POINTS) + 0.5) / SKETCH_POINTS)
    return Sketch(points, sample.effective, len(sample))


def nothing_yet(profile: int, reference: ProfileReference) -> ProfileState:
    """Return a profile without finished jobs."""
    n = len(reference.values)
    none, zeros = np.zeros((0, n)), np.zeros(n, dtype=np.int64)
    empty = np.zeros(0, dtype=np.int64)
    window = ProfileWindow(empty, np.zeros(0), empty.astype(np.uint64), none, none.copy())
    return ProfileState(profile, reference, window, Tally(0, zeros, zeros.copy(), zeros.copy()))


def newest(kept: NDArray[Any], more: NDArray[Any], limit: int) -> NDArray[Any]:
    """Return the last `limit` rows of both: what is copied is bounded by the window, not by what came before."""
    joined = np.concatenate([kept[max(0, len(more) + len(kept) - limit) :], more[-limit:]])
    return joined[-limit:]
