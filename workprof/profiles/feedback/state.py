"""What the loop knows between two observations: windows, counts, distributions at the fit, and its own history."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workprof.profiles.classifier.weighted_samples import Units
from workprof.profiles.feedback.model import FeedbackModel
from workprof.profiles.feedback.windows import ProfileState, RecentJobs, nothing_yet

FIT, OBSERVED, REFITTED = "fit", "observe", "refit"
MOST_HISTORY = 500
MOST_FILES = 1_000
MOST_SEEN = 200_000


@dataclass(frozen=True)
class HistoryEntry:
    """One point of the history.

    Attributes:
        when: ISO 8601, UTC.
        event: 'fit', 'observe' or 'refit'.
        until_s: latest end of a job so far, on the trace's clock; NaN before the first.
        jobs: finished jobs observed so far.
        recent: rows that the scores rest on.
        acquires: of the clustering on these rows; NaN where undefined.
        n_clusters: of the clustering.
        outlier_share: of these rows, 0-1.
        drifting: profiles with drift.
        errors: target -> median log error of the batch.
    """

    when: str
    event: str
    until_s: float
    jobs: int
    recent: int
    acquires: float
    n_clusters: int
    outlier_share: float
    drifting: int
    errors: dict[str, float]


@dataclass(frozen=True)
class FeedbackState:
    """The loop as it stands; its size does not depend on how much was observed.

    Attributes:
        targets: that are followed.
        profiles: profile as text -> its window, counts and reference; '-1' = far from every profile.
        recent: the newest jobs over all profiles.
        n_observed: finished jobs so far.
        n_unfiled: of them, with too few measured features to belong anywhere.
        n_predicted: of them, with a profile predicted.
        n_agreed: of these, filed under that profile.
        until_s: latest end so far, on the trace's clock; NaN before the first.
        files: digests of the tables observed, newest last.
        seen: hashes of rows observed, newest last.
        history: oldest first; the first is always the first fit.
        model_key: of the refit in use; '' = the dataset's own model.
        refits: so far.
    """

    targets: tuple[str, ...]
    profiles: dict[str, ProfileState]
    recent: RecentJobs
    n_observed: int
    n_unfiled: int
    n_predicted: int
    n_agreed: int
    until_s: float
    files: tuple[str, ...]
    seen: Units
    history: tuple[HistoryEntry, ...]
    model_key: str = ""
    refits: int = 0


def start(model: FeedbackModel, when: str) -> FeedbackState:
    """Return the state before the first observation."""
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
    """Return the state after a refit: windows and counts per profile begin anew, what was observed stays known."""
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
    """Return the history with one more entry: the first and the newest are kept."""
    kept = (*history, entry)
    return kept if len(kept) <= MOST_HISTORY else (kept[0], *kept[-(MOST_HISTORY - 1) :])


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
