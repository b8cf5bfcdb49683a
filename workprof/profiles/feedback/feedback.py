"""The feedback loop: finished jobs are folded in, estimates follow, drift is measured, re-clustering is advised."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.profiles.classifier.predictions import NO_PROFILE
from workprof.profiles.feedback.advice import Assessment, assess
from workprof.profiles.feedback.batch import UNFILED, measured_batch
from workprof.profiles.feedback.finished_jobs import NewRows
from workprof.profiles.feedback.model import FeedbackModel
from workprof.profiles.feedback.settings import FeedbackSettings
from workprof.profiles.feedback.state import (
    MOST_FILES,
    MOST_SEEN,
    OBSERVED,
    FeedbackState,
    HistoryEntry,
    remembered,
)
from workprof.profiles.feedback.windows import Batch, ProfileState, newest

if TYPE_CHECKING:
    from workprof.profiles.forecaster import Forecasts


@dataclass(frozen=True)
class Violations:
    """How often one target left its promised interval, in one batch.

    Attributes:
        known: rows with an estimate and a true value.
        under: needed more than the upper end: under-provisioned.
        over: needed less than the lower end: over-provisioned.
        median_log_error: above 0 = under-estimated.
    """

    known: int
    under: int
    over: int
    median_log_error: float


@dataclass(frozen=True)
class Observed:
    """What one observation did and found.

    Attributes:
        observed: rows that were folded in.
        n_read: rows of the table.
        n_repeated: rows that were observed before and not counted again.
        already: whether this very table was observed before.
        n_unfiled: rows with too few measured features to belong anywhere.
        filed: profile as text -> rows; '-1' = far from every profile.
        agreed_share: of the rows with a predicted profile, filed under it, 0-1.
        violations: target -> counts.
        assessment: the loop as it stands now.
        history: ACQUIRES and the rest over time.
        refitted: whether profiles and forecaster were made anew.
        notes: in words.
        seconds: of the computation.
    """

    observed: int
    n_read: int
    n_repeated: int
    already: bool
    n_unfiled: int
    filed: dict[str, int]
    agreed_share: float
    violations: dict[str, Violations]
    assessment: Assessment
    history: tuple[HistoryEntry, ...]
    refitted: bool = False
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def observe(
    state: FeedbackState,
    model: FeedbackModel,
    rows: NewRows,
    forecasts: Forecasts,
    settings: FeedbackSettings,
    when: str,
) -> tuple[FeedbackState, Observed]:
    """Return the state with finished jobs folded in, and what that showed.

    Every job is filed under the profile that is nearest to what it measured. Work and memory are bounded by the windows
    and the table, whatever was observed before.

    Args:
        state: so far.
        model: what jobs are compared with.
        rows: the new rows of a table.
        forecasts: what was (or would have been) said of these rows before they ran.
        settings: windows and thresholds.
        when: now, ISO 8601.

    Raises:
        ColumnMissing: when the table has no measured feature.
        NotEnoughData: when it has no usable target.
    """
    batch, notes = measured_batch(state, model, rows.jobs, forecasts)
    grown = _folded(state, batch, rows, settings)
    found = assess(grown, model, settings)
    violations = {name: _violations(batch, place) for place, name in enumerate(state.targets)}
    entry = HistoryEntry(
        when=when,
        event=OBSERVED,
        until_s=grown.until_s,
        jobs=grown.n_observed,
        recent=len(grown.recent),
        acquires=found.acquires,
        n_clusters=model.n_clusters,
        outlier_share=found.outlier_share,
        drifting=len({one.profile for one in found.drift if one.found}),
        errors={name: one.median_log_error for name, one in violations.items()},
    )
    grown = replace(grown, history=remembered(grown.history, entry))
    labels, counts = np.unique(batch.labels, return_counts=True)
    return grown, Observed(
        observed=len(batch),
        n_read=rows.n_read,
        n_repeated=rows.n_repeated,
        already=rows.already,
        n_unfiled=grown.n_unfiled - state.n_unfiled,
        filed={str(label): int(count) for label, count in zip(labels, counts, strict=True)},
        agreed_share=_agreed_share(batch),
        violations=violations,
        assessment=found,
        history=grown.history,
        notes=notes,
    )


def _folded(state: FeedbackState, batch: Batch, rows: NewRows, settings: FeedbackSettings) -> FeedbackState:
    profiles: dict[str, ProfileState] = dict(state.profiles)
    for label in np.unique(batch.labels[batch.labels != UNFILED]):
        mine = batch.take(batch.labels == label)
        profiles[str(label)] = profiles[str(label)].add(mine, settings.window_jobs)
    filed = batch.take(batch.labels != UNFILED)
    predicted = filed.predicted != NO_PROFILE
    until = np.nanmax([state.until_s, *batch.times_s]) if np.isfinite(batch.times_s).any() else state.until_s
    return replace(
        state,
        profiles=profiles,
        recent=state.recent.add(filed, settings.recent_jobs),
        n_observed=state.n_observed + len(batch),
        n_unfiled=state.n_unfiled + len(batch) - len(filed),
        n_predicted=state.n_predicted + int(predicted.sum()),
        n_agreed=state.n_agreed + int((filed.predicted == filed.labels)[predicted].sum()),
        until_s=float(until),
        files=(*state.files, rows.digest)[-MOST_FILES:],
        seen=newest(state.seen, rows.hashes[rows.hashes != 0], MOST_SEEN),
    )


def _violations(batch: Batch, place: int) -> Violations:
    sides, errors = batch.sides[:, place], batch.errors[:, place]
    errors = errors[np.isfinite(errors)]
    middle = float(np.median(errors)) if len(errors) else math.nan
    return Violations(int(np.isfinite(sides).sum()), int((sides > 0).sum()), int((sides < 0).sum()), middle)


def _agreed_share(batch: Batch) -> float:
    rows = (batch.predicted != NO_PROFILE) & (batch.labels != UNFILED)
    return float((batch.predicted == batch.labels)[rows].mean()) if rows.any() else math.nan


def nothing_observed(rows: NewRows, state: FeedbackState, found: Assessment) -> Observed:
    """Return the answer for a table without a new row."""
    return Observed(
        observed=0,
        n_read=rows.n_read,
        n_repeated=rows.n_repeated,
        already=rows.already,
        n_unfiled=0,
        filed={},
        agreed_share=math.nan,
        violations={},
        assessment=found,
        history=state.history,
        notes=("these finished jobs were observed before; they are not counted twice",),
    )
