"""The feedback loop: finished jobs are folded in, estimates follow, drift is measured, re-clustering is advised."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, numbers_if_present
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.forecasts.errors import side_of
from workprof.forecasts.estimates import is_bound
from workprof.forecasts.feedback.assignment import NewRows, assign_jobs, ended_at, job_units
from workprof.forecasts.feedback.drift import Assessment, assess
from workprof.forecasts.feedback.model import FeedbackModel, scale_of
from workprof.forecasts.feedback.windows import (
    MOST_FILES,
    MOST_SEEN,
    OBSERVED,
    Batch,
    FeedbackState,
    HistoryEntry,
    ProfileState,
    newest,
    remembered,
)
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.forecasts.predictions import NO_PROFILE
from workprof.profiles.names import OUTLIERS

if TYPE_CHECKING:
    import pandas as pd

    from workprof.forecasts.forecaster import Forecasts

SMALLEST_WINDOW = 20
LARGEST_WINDOW = 100_000


@settings
class FeedbackSettings:
    """Settings of the feedback loop; `forecaster` is followed, and decides which state an observation continues."""

    forecaster: ForecasterSettings = field(default_factory=ForecasterSettings)
    window_jobs: Annotated[
        int,
        Setting(
            "Newest rows that are remembered per profile.",
            unit="rows",
            least=SMALLEST_WINDOW,
            most=LARGEST_WINDOW,
            flag="--window",
            key="feedback_window",
            label="Newest jobs per profile",
        ),
    ] = 1_000
    half_life_days: Annotated[
        float,
        Setting(
            "After so many days on the trace's clock a job counts half.",
            unit="days",
            least=0,
            empty="no decay",
            flag="--half-life",
            key="feedback_half_life",
            label="Half-life",
        ),
    ] = 30.0
    recent_jobs: Annotated[
        int,
        Setting(
            "Newest rows over all profiles on which outliers, agreement and ACQUIRES are measured.",
            unit="rows",
            least=SMALLEST_WINDOW,
            most=LARGEST_WINDOW,
        ),
    ] = 2_000
    kept_jobs: Annotated[
        int,
        Setting(
            "Newest finished rows that are stored whole for the next refit.",
            unit="rows",
            least=SMALLEST_WINDOW,
            most=LARGEST_WINDOW,
            label="Jobs stored for a refit",
        ),
    ] = 50_000
    least_jobs: Annotated[
        int,
        Setting(
            "Independent jobs (rows of one job count together) below which nothing is called drift, and up to which "
            "the jobs of the fit stand in where quantiles are taken.",
            least=5,
            label="Least independent jobs",
        ),
    ] = 20
    alarm_share: Annotated[
        float,
        Setting(
            "How often, where nothing drifts, one check may find drift anywhere (Holm over all its tests); small: each "
            "new file is another look.",
            unit="share",
            above=0,
            most=0.2,
            label="False alarms",
        ),
    ] = 0.01
    least_factor: Annotated[
        float,
        Setting(
            "Smallest change of the median error that matters, as a factor.",
            least=1,
            label="Least change of the errors",
        ),
    ] = 1.25
    least_distance: Annotated[
        float,
        Setting(
            "Smallest Kolmogorov-Smirnov distance that matters, 0-1.",
            least=0,
            most=1,
            label="Least distance of the needs",
        ),
    ] = 0.15
    least_outlier_rise: Annotated[
        float,
        Setting(
            "Smallest rise of the outliers' share that matters.",
            unit="share",
            least=0,
            most=1,
            label="Least rise of outliers",
        ),
    ] = 0.1
    drifted_share: Annotated[
        float,
        Setting(
            "Of the recent jobs; where profiles with drift hold more, another clustering is advised.",
            unit="share",
            least=0,
            most=1,
            label="Jobs in profiles with drift",
        ),
    ] = 0.3
    acquires_drop: Annotated[
        float,
        Setting("Below ACQUIRES at the fit at which another clustering is advised.", least=0, label="Drop of ACQUIRES"),
    ] = 0.15
    refit: Annotated[
        bool, Setting("Cluster and train again by itself whenever that is advised.", flag="--refit-when-advised")
    ] = False

    def __post_init__(self) -> None:
        if self.least_jobs > self.window_jobs:
            raise SettingsError(f"least_jobs is {self.least_jobs}; give 5 to window_jobs ({self.window_jobs})")


UNASSIGNED = OUTLIERS - 1
"""Label of a row with too few measured features to belong anywhere."""


def measured_batch(
    state: FeedbackState, model: FeedbackModel, jobs: pd.DataFrame, forecasts: Forecasts
) -> tuple[Batch, tuple[str, ...]]:
    """The finished jobs measured, and what was missing in words; a need of which a lower bound is known counts as none.

    Raises:
        ColumnMissing: when the table has no measured feature.
        NotEnoughData: when it has no usable target.
    """
    read = {name: numbers_if_present(jobs, name) for name in state.targets}
    true = {name: None if one is None else np.where(is_bound(jobs, name), np.nan, one) for name, one in read.items()}
    usable = {name: values for name, values in true.items() if values is not None and (values >= 0).any()}
    if not usable:
        raise NotEnoughData(
            f"the finished jobs have no usable {', '.join(state.targets)}: without one of them nothing can be compared "
            f"with its estimate; add such a column"
        )
    assigned = assign_jobs(model.filing, jobs)
    columns = [_compared(true[name], name, model, forecasts) for name in state.targets]
    values, errors, sides = (np.column_stack([column[part] for column in columns]) for part in range(3))
    batch = Batch(
        labels=np.where(assigned.measured, assigned.labels, UNASSIGNED),
        points=assigned.points,
        predicted=forecasts.profiles.profile,
        times_s=ended_at(jobs),
        units=job_units(jobs, state.n_observed),
        values=values,
        errors=errors,
        sides=sides,
    )
    return batch, _notes(batch, assigned.absent, [name for name in state.targets if name not in usable])


def _compared(
    true: Floats | None, target: str, model: FeedbackModel, forecasts: Forecasts
) -> tuple[Floats, Floats, Floats]:
    """Log needs, log errors and sides of one target; NaN where the need is not known or below zero."""
    estimates = forecasts.estimates.get(target)
    if true is None or estimates is None:
        nothing = np.full(len(forecasts.profiles), np.nan)
        return nothing, nothing, nothing
    known = np.where(true >= 0, true, np.nan)
    scale = scale_of(model, target)
    logs = scale.to_log(known)
    return logs, logs - scale.to_log(estimates.point), side_of(estimates.low, estimates.high, known)


def _notes(batch: Batch, absent: tuple[str, ...], without: list[str]) -> tuple[str, ...]:
    notes = []
    if absent:
        notes.append(f"not measured in this table, so filled in as at the fit: {', '.join(absent)}")
    if without:
        notes.append(f"without a value in this table, so not followed: {', '.join(without)}")
    unassigned = int((batch.labels == UNASSIGNED).sum())
    if unassigned:
        notes.append(f"{unassigned:,} rows measured too little to belong to any profile; they are counted, not filed")
    if not np.isfinite(batch.times_s).any():
        notes.append("no row has a time: jobs do not decay, and rows observed twice are only known by the whole table")
    return tuple(notes)


@dataclass(frozen=True)
class Violations:
    """How often one target left its promised interval, in one batch."""

    known: int  # rows with an estimate and a true value
    under: int  # needed more than the upper end: under-provisioned
    over: int  # needed less than the lower end: over-provisioned
    median_log_error: float  # above 0 = under-estimated


@dataclass(frozen=True)
class Observed:
    """What one observation did and found."""

    observed: int  # rows that were folded in
    n_read: int  # rows of the table
    n_repeated: int  # rows that were observed before and not counted again
    already: bool  # whether this very table was observed before
    n_unfiled: int  # rows with too few measured features to belong anywhere
    filed: dict[str, int]  # profile as text -> rows; '-1' = far from every profile
    agreed_share: float  # of the rows with a predicted profile, filed under it, 0-1
    violations: dict[str, Violations]  # target -> counts
    assessment: Assessment  # the loop as it stands now
    history: tuple[HistoryEntry, ...]  # ACQUIRES and the rest over time
    refitted: bool = False  # whether profiles and forecaster were made anew
    notes: tuple[str, ...] = ()  # in words
    seconds: float = 0.0  # of the computation


def observe(
    state: FeedbackState,
    model: FeedbackModel,
    rows: NewRows,
    forecasts: Forecasts,
    settings: FeedbackSettings,
    when: str,
) -> tuple[FeedbackState, Observed]:
    """The state with finished jobs folded in, and what that showed.

    Every job is assigned to the profile that is nearest to what it measured. Work and memory are bounded by the windows
    and the table, whatever was observed before.

    `forecasts` are of these rows, as they were (or would have been) before they ran; `when` is now, ISO 8601.

    Raises:
        ColumnMissing: when the table has no measured feature.
        NotEnoughData: when it has no usable target.
    """
    batch, notes = measured_batch(state, model, rows.jobs, forecasts)
    grown = _folded(state, batch, rows, settings)
    assessment = assess(grown, model, settings)
    violations = {name: _violations(batch, place) for place, name in enumerate(state.targets)}
    entry = HistoryEntry(
        when=when,
        event=OBSERVED,
        until_s=grown.until_s,
        jobs=grown.n_observed,
        recent=len(grown.recent),
        acquires=assessment.acquires,
        n_clusters=model.n_clusters,
        outlier_share=assessment.outlier_share,
        drifting=len({one.profile for one in assessment.drift if one.is_drifting}),
        errors={name: one.median_log_error for name, one in violations.items()},
    )
    grown = replace(grown, history=remembered(grown.history, entry))
    labels, counts = np.unique(batch.labels[batch.labels != UNASSIGNED], return_counts=True)
    return grown, Observed(
        observed=len(batch),
        n_read=rows.n_read,
        n_repeated=rows.n_repeated,
        already=rows.already,
        n_unfiled=grown.n_unfiled - state.n_unfiled,
        filed={str(label): int(count) for label, count in zip(labels, counts, strict=True)},
        agreed_share=_agreed_share(batch),
        violations=violations,
        assessment=assessment,
        history=grown.history,
        notes=notes,
    )


def _folded(state: FeedbackState, batch: Batch, rows: NewRows, settings: FeedbackSettings) -> FeedbackState:
    profiles: dict[str, ProfileState] = dict(state.profiles)
    for label in np.unique(batch.labels[batch.labels != UNASSIGNED]):
        rows_of_profile = batch.take(batch.labels == label)
        profiles[str(label)] = profiles[str(label)].add(rows_of_profile, settings.window_jobs)
    assigned = batch.take(batch.labels != UNASSIGNED)
    predicted = assigned.predicted != NO_PROFILE
    until = np.nanmax([state.until_s, *batch.times_s]) if np.isfinite(batch.times_s).any() else state.until_s
    return replace(
        state,
        profiles=profiles,
        recent=state.recent.add(assigned, settings.recent_jobs),
        n_observed=state.n_observed + len(batch),
        n_unfiled=state.n_unfiled + len(batch) - len(assigned),
        n_predicted=state.n_predicted + int(predicted.sum()),
        n_agreed=state.n_agreed + int((assigned.predicted == assigned.labels)[predicted].sum()),
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
    rows = (batch.predicted != NO_PROFILE) & (batch.labels != UNASSIGNED)
    return float((batch.predicted == batch.labels)[rows].mean()) if rows.any() else math.nan


def nothing_observed(rows: NewRows, state: FeedbackState, assessment: Assessment) -> Observed:
    """The answer for a table without a new row."""
    return Observed(
        observed=0,
        n_read=rows.n_read,
        n_repeated=rows.n_repeated,
        already=rows.already,
        n_unfiled=0,
        filed={},
        agreed_share=math.nan,
        violations={},
        assessment=assessment,
        history=state.history,
        notes=("these finished jobs were observed before; they are not counted twice",),
    )
