"""Finished jobs measured: where they belong, and how far their needs lay from the estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_if_present
from workprof.errors import NotEnoughData
from workprof.profiles.feedback.filing import OUTLIER, file_jobs
from workprof.profiles.feedback.finished_jobs import ended_at, job_units
from workprof.profiles.feedback.model import FeedbackModel, scale_of
from workprof.profiles.feedback.state import FeedbackState
from workprof.profiles.feedback.windows import Batch

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.forecaster import Forecasts

UNFILED = OUTLIER - 1
"""Label of a row with too few measured features to belong anywhere."""


def measured_batch(
    state: FeedbackState, model: FeedbackModel, jobs: pd.DataFrame, forecasts: Forecasts
) -> tuple[Batch, tuple[str, ...]]:
    """Return the finished jobs measured, and what was missing in words.

    Raises:
        ColumnMissing: when the table has no measured feature.
        NotEnoughData: when it has no usable target.
    """
    true = {name: numbers_if_present(jobs, name) for name in state.targets}
    usable = {name: values for name, values in true.items() if values is not None and (values >= 0).any()}
    if not usable:
        raise NotEnoughData(
            f"the finished jobs have no usable {', '.join(state.targets)}: without one of them nothing can be compared "
            f"with its estimate; add such a column"
        )
    filed = file_jobs(model.filing, jobs)
    columns = [_compared(true[name], name, model, forecasts) for name in state.targets]
    values, errors, sides = (np.column_stack([column[part] for column in columns]) for part in range(3))
    batch = Batch(
        labels=np.where(filed.measured, filed.labels, UNFILED),
        points=filed.points,
        predicted=forecasts.profiles.profile,
        times_s=ended_at(jobs),
        units=job_units(jobs, state.n_observed),
        values=values,
        errors=errors,
        sides=sides,
    )
    return batch, _notes(batch, filed.absent, [name for name in state.targets if name not in usable])


def _compared(
    true: Floats | None, target: str, model: FeedbackModel, forecasts: Forecasts
) -> tuple[Floats, Floats, Floats]:
    """Return log needs, log errors and sides of one target; NaN where the need is not known or below zero."""
    said = forecasts.estimates.get(target)
    if true is None or said is None:
        nothing = np.full(len(forecasts.profiles), np.nan)
        return nothing, nothing, nothing
    known = np.where(true >= 0, true, np.nan)
    scale = scale_of(model, target)
    logs = scale.to_log(known)
    sides = np.where(known > said.high, 1.0, np.where(known < said.low, -1.0, 0.0))
    return logs, logs - scale.to_log(said.point), np.where(np.isnan(known), np.nan, sides)


def _notes(batch: Batch, absent: tuple[str, ...], without: list[str]) -> tuple[str, ...]:
    notes = []
    if absent:
        notes.append(f"not measured in this table, so filled in as at the fit: {', '.join(absent)}")
    if without:
        notes.append(f"not in this table, so not followed: {', '.join(without)}")
    unfiled = int((batch.labels == UNFILED).sum())
    if unfiled:
        notes.append(f"{unfiled:,} rows measured too little to belong to any profile; they are counted, not filed")
    if not np.isfinite(batch.times_s).any():
        notes.append("no row has a time: jobs do not decay, and rows observed twice are only known by the whole table")
    return tuple(notes)
