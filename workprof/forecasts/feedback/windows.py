"""What is remembered of finished jobs: bounded windows, counts, the distributions at the fit, the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.forecasts.weighted_samples import (
    Units,
    WeightedSample,
    decay_weights,
    weighted_quantiles,
    weighted_sample,
)

if TYPE_CHECKING:
    from workprof.forecasts.feedback.model import FeedbackModel

SKETCH_POINTS = 512


@dataclass(frozen=True)
class Batch:
    """Finished jobs, measured. NaN = not known."""

    labels: Ints  # (n,) profile that they were assigned to
    points: Floats  # (n, n_dims) scaled features
    predicted: Ints  # (n,) profile that was predicted before they ran; -1 = none
    times_s: Floats  # (n,) end, on the trace's clock
    units: Units  # (n,) job that they belong to
    values: Floats  # (n, n_targets) log of what they needed
    errors: Floats  # (n, n_targets) log of what they needed over what was estimated; above 0 = under-estimated
    sides: Floats  # (n, n_targets) 1 = above the promised interval, -1 = below it, 0 = inside

    def take(self, rows: Bools) -> Batch:
        """Some of the rows."""
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
        """The window with the batch's rows, the oldest let go beyond `limit`."""
        return ProfileWindow(**_latest(vars(self), batch, limit))

    def sample(self, column: Floats, now_s: float, half_life_days: float) -> WeightedSample:
        """One column of `values` or `errors` as a sample with decay."""
        return weighted_sample(column, decay_weights(self.times_s, now_s, half_life_days), self.units)


@dataclass(frozen=True)
class RecentJobs:
    """The newest jobs over all profiles; arrays as in `Batch`."""

    labels: Ints
    predicted: Ints
    points: Floats
    units: Units
    times_s: Floats = field(default_factory=lambda: np.zeros(0))  # a state of version 0.1.0 has none

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, batch: Batch, limit: int) -> RecentJobs:
        """Them with the batch's rows, the oldest let go beyond `limit`."""
        return RecentJobs(**_latest(vars(self), batch, limit))


@dataclass(frozen=True)
class Tally:
    """Counts since the fit, never forgotten."""

    jobs: int  # rows assigned here
    known: Ints  # (n_targets,) rows with an estimate and a true value
    under: Ints  # (n_targets,) needed more than the promised interval's upper end: under-provisioned
    over: Ints  # (n_targets,) needed less than its lower end: over-provisioned

    def add(self, batch: Batch) -> Tally:
        """The counts with the batch's rows."""
        return Tally(
            self.jobs + len(batch),
            self.known + np.isfinite(batch.sides).sum(axis=0),
            self.under + (batch.sides > 0).sum(axis=0),
            self.over + (batch.sides < 0).sum(axis=0),
        )


@dataclass(frozen=True)
class Sketch:
    """A distribution in at most 512 numbers."""

    points: Floats  # rising, each as likely
    effective: float  # independent values that it rests on
    rows: int  # values that it rests on

    def sample(self) -> WeightedSample:
        """It as a sample."""
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
        """The profile with the batch's rows."""
        return replace(self, window=self.window.add(batch, limit), tally=self.tally.add(batch))


def sketch(values: Floats, units: Units) -> Sketch:
    """The distribution of the finite values."""
    sample = weighted_sample(values, np.ones(len(values)), units)
    points = sample.values
    if len(points) > SKETCH_POINTS:
        points = weighted_quantiles(sample, (np.arange(SKETCH_POINTS) + 0.5) / SKETCH_POINTS)
    return Sketch(points, sample.effective, len(sample))


def nothing_yet(profile: int, reference: ProfileReference) -> ProfileState:
    """A profile without finished jobs."""
    n = len(reference.values)
    none, zeros = np.zeros((0, n)), np.zeros(n, dtype=np.int64)
    empty = np.zeros(0, dtype=np.int64)
    window = ProfileWindow(empty, np.zeros(0), empty.astype(np.uint64), none, none.copy())
    return ProfileState(profile, reference, window, Tally(0, zeros, zeros.copy(), zeros.copy()))


def _latest(held: Mapping[str, NDArray[Any]], batch: Batch, limit: int) -> dict[str, NDArray[Any]]:
    """The columns of the `limit` jobs that ended last; of jobs without a time, which count as the oldest, the last."""
    times = np.concatenate([np.full(len(held["units"]) - len(held["times_s"]), np.nan), held["times_s"]])
    joined = {
        name: np.concatenate([column, getattr(batch, name)]) for name, column in {**held, "times_s": times}.items()
    }
    order = np.argsort(np.nan_to_num(joined["times_s"], nan=-np.inf), kind="stable")[-limit:]
    return {name: column[order] for name, column in joined.items()}


def newest(held: NDArray[Any], more: NDArray[Any], limit: int) -> NDArray[Any]:
    """The last `limit` rows of both: what is copied is bounded by the window, not by what came before."""
    joined = np.concatenate([held[max(0, len(more) + len(held) - limit) :], more[-limit:]])
    return joined[-limit:]


FIT, OBSERVED, REFITTED = "fit", "observe", "refit"
MOST_HISTORY = 500
MOST_FILES = 1_000
MOST_SEEN = 200_000


@dataclass(frozen=True)
class HistoryEntry:
    """One point of the history."""

    when: str  # ISO 8601, UTC
    event: str  # 'fit', 'observe' or 'refit'
    until_s: float  # latest end of a job so far, on the trace's clock; NaN before the first
    jobs: int  # finished jobs observed so far
    recent: int  # rows that the scores rest on
    acquires: float  # of the clustering on these rows; NaN where undefined
    n_clusters: int  # of the clustering
    outlier_share: float  # of these rows, 0-1
    drifting: int  # profiles with drift
    errors: dict[str, float]  # target -> median log error of the batch


@dataclass(frozen=True)
class FeedbackState:
    """The loop as it stands; its size does not depend on how much was observed."""

    targets: tuple[str, ...]  # that are followed
    profiles: dict[str, ProfileState]
    """Profile as text -> its window, counts and reference; '-1' = far from every profile."""
    recent: RecentJobs  # the newest jobs over all profiles
    n_observed: int  # finished jobs so far
    n_unfiled: int  # of them, with too few measured features to belong anywhere
    n_predicted: int  # of them, with a profile predicted
    n_agreed: int  # of these, assigned to that profile
    until_s: float  # latest end so far, on the trace's clock; NaN before the first
    files: tuple[str, ...]  # digests of the tables observed, newest last
    seen: Units  # hashes of rows observed, newest last
    history: tuple[HistoryEntry, ...]  # oldest first; the first is always the first fit
    model_key: str = ""  # of the refit in use; '' = the dataset's own model
    refits: int = 0  # so far


def start(model: FeedbackModel, when: str) -> FeedbackState:
    """The state before the first observation."""
    width = model.filing.points.shape[1]
    empty = np.zeros(0, dtype=np.int64)
    return FeedbackState(
        targets=model.targets,
        profiles={name: nothing_yet(int(name), reference) for name, reference in model.profiles.items()},
        recent=RecentJobs(empty, empty.copy(), np.zeros((0, width)), empty.astype(np.uint64)),
        n_observed=0,
        n_unfiled=0,
        n_predicted=0,
        n_agreed=0,
        until_s=float("nan"),
        files=(),
        seen=empty.astype(np.uint64),
        history=(_fitted(model, FIT, when, 0, float("nan")),),
    )


def start_again(state: FeedbackState, model: FeedbackModel, model_key: str, when: str) -> FeedbackState:
    """The state after a refit: windows and counts per profile begin anew, what was observed stays known."""
    entry = _fitted(model, REFITTED, when, state.n_observed, state.until_s)
    return replace(
        start(model, when),
        n_observed=state.n_observed,
        n_unfiled=state.n_unfiled,
        until_s=state.until_s,
        files=state.files,
        seen=state.seen,
        history=remembered(state.history, entry),
        model_key=model_key,
        refits=state.refits + 1,
    )


def remembered(history: tuple[HistoryEntry, ...], entry: HistoryEntry) -> tuple[HistoryEntry, ...]:
    """The history with one more entry: the first and the newest are kept."""
    entries = (*history, entry)
    return entries if len(entries) <= MOST_HISTORY else (entries[0], *entries[-(MOST_HISTORY - 1) :])


def _fitted(model: FeedbackModel, event: str, when: str, jobs: int, until_s: float) -> HistoryEntry:
    return HistoryEntry(
        when=when,
        event=event,
        until_s=until_s,
        jobs=jobs,
        recent=model.n_rows,
        acquires=model.acquires,
        n_clusters=model.n_clusters,
        outlier_share=model.outlier_share,
        drifting=0,
        errors={},
    )
