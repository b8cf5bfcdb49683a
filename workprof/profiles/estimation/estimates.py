"""What a job will need, from what is known when it is submitted: a point, quantiles, and an interval that holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.classifier.splits import units_of
from workprof.profiles.classifier.submit_time import usable_fields
from workprof.profiles.estimation.candidates import (
    CANDIDATES,
    Answers,
    Loaded,
    Trained,
    ask,
    design_of,
    load_candidates,
    nearest_jobs,
    train_candidates,
)
from workprof.profiles.estimation.cells import Past, read_cells
from workprof.profiles.estimation.combination import Combination, choose, mix, point_of
from workprof.profiles.estimation.conformal import Calibration, Strata, calibrate, interval
from workprof.profiles.estimation.known import KnownJobs, known_jobs
from workprof.profiles.estimation.settings import EstimateSettings
from workprof.profiles.estimation.target import LogScale, fit_scale
from workprof.profiles.estimation.validation import validate
from workprof.progress import Progress, silent
from workprof.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

STEPS = {"validate": 0.7, "train": 1.0}


@dataclass(frozen=True)
class EstimateModel:
    """A trained estimator of one target.

    Attributes:
        settings: as asked.
        scale: of the target.
        candidates: the three ways.
        combination: of them, chosen on validation rows.
        calibration: of the interval, from the same rows.
        n_jobs: past jobs.
        n_left_out: rows without a usable target.
        n_validation: rows that the choice and the calibration rest on.
        notes: in words.
        seconds: of training.
    """

    settings: EstimateSettings
    scale: LogScale
    candidates: Trained
    combination: Combination
    calibration: Calibration
    n_jobs: int
    n_left_out: int
    n_validation: int
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Estimator:
    """An estimate model with its trees in memory."""

    model: EstimateModel
    loaded: Loaded


@dataclass(frozen=True)
class Estimates:
    """Estimates of some jobs, in the target's unit.

    Attributes:
        target: what is estimated.
        point: (n_rows,) best guess in the sense of a small ratio error; not above the median.
        low: (n_rows,) lower end of the interval.
        high: (n_rows,) upper end.
        quantiles: (n_rows, n_levels) at `LEVELS`: 5, 10, 25, 50, 75, 90, 95 %.
        level: (n_rows,) depth of the history that was found, 0 = same group and task, the last = none.
        count: (n_rows,) past jobs in that cell that were used.
    """

    target: str
    point: Floats
    low: Floats
    high: Floats
    quantiles: Floats
    level: Ints
    count: Ints


@dataclass(frozen=True)
class NearestJobs:
    """The past jobs that weigh most in one estimate.

    Attributes:
        positions: (n_nearest,) of the training table's usable rows.
        shares: (n_nearest,) of the whole weight, 0-1.
    """

    positions: Ints
    shares: Floats


def train_estimates(
    frames: Mapping[str, pd.DataFrame], settings: EstimateSettings, progress: Progress = silent
) -> EstimateModel:
    """Return an estimator trained on `frames["jobs"]`.

    Raises:
        ColumnMissing: when the target, every submit-time field, or the split's column is absent.
        NotEnoughData: with too few jobs.
    """
    return train_estimator(known_jobs(frames["jobs"], settings.target), settings, progress).model


def train_estimator(known: KnownJobs, settings: EstimateSettings, progress: Progress = silent) -> Estimator:
    """Return the same with its trees in memory.

    The combination and the interval come from rows that the candidates of that turn were not trained on, kept apart as
    `settings.split` says; then the candidates are trained again on every row.

    Raises:
        As `train_estimates`.
    """
    watch = Stopwatch(progress, STEPS)
    fields = usable_fields(known.jobs, settings.fields, settings.mode)
    scale = fit_scale(known.target)
    past = Past(read_cells(known.jobs, fields), scale.to_log(known.target), units_of(known.jobs, settings.split))
    with watch.step("validate", "Choosing and calibrating on rows kept apart") as report:
        validated = validate(known.jobs, past, fields, settings, report)
        n_levels = len(past.cells.fewest)
        combination = choose(validated.answers, validated.true, n_levels)
        mixed = mix(validated.answers, combination.weights, n_levels)
        calibration = calibrate(
            mixed[:, 0],
            mixed[:, -1],
            validated.true,
            Strata(validated.answers.level, n_levels),
            validated.units,
            settings.nominal,
        )
    with watch.step("train", "Training on every job"):
        loaded = train_candidates(known.jobs, past, fields, settings.seed)
    model = EstimateModel(
        settings=settings,
        scale=scale,
        candidates=loaded.trained,
        combination=combination,
        calibration=calibration,
        n_jobs=len(known.jobs),
        n_left_out=known.n_left_out,
        n_validation=len(validated.true),
        notes=_notes(known, fields, loaded.trained),
        seconds=watch.seconds,
    )
    return Estimator(model, loaded)


def load_estimator(model: EstimateModel) -> Estimator:
    """Return a kept model with its trees in memory."""
    return Estimator(model, load_candidates(model.candidates))


def estimate(estimator: Estimator, jobs: pd.DataFrame) -> Estimates:
    """Return estimates of new jobs; a job without a time counts as submitted when the known history ends."""
    asked = read_cells(jobs, estimator.model.candidates.fields, estimator.model.candidates.past.cells)
    answers = ask(estimator.loaded, jobs, asked, np.full(len(jobs), -1, dtype=np.int64))
    return finish(estimator.model, answers)


def finish(model: EstimateModel, answers: Answers) -> Estimates:
    """Return the combined and calibrated estimates from what the candidates say."""
    mixed = mix(answers, model.combination.weights, len(model.candidates.past.cells.fewest))
    low, high = interval(mixed[:, 0], mixed[:, -1], answers.level, model.calibration)
    point = point_of(mixed, model.combination.caution)
    low, high = np.minimum(low, point), np.maximum(high, point)
    back = model.scale.from_log
    return Estimates(
        model.settings.target, back(point), back(low), back(high), back(mixed), answers.level, answers.count
    )


def nearest_past_jobs(estimator: Estimator, job: pd.DataFrame, count: int = 10) -> NearestJobs:
    """Return the past jobs that weigh most in the forest's estimate of one job (a table of one row)."""
    asked = read_cells(job, estimator.model.candidates.fields, estimator.model.candidates.past.cells)
    design = design_of(estimator.loaded, job, asked, np.full(1, -1, dtype=np.int64))
    jobs, shares = nearest_jobs(estimator.loaded, design, count)
    return NearestJobs(jobs.astype(np.int64), shares)


def _notes(known: KnownJobs, fields: tuple[str, ...], trained: Trained) -> tuple[str, ...]:
    notes = [f"inputs: {', '.join(fields)}"]
    if known.n_left_out:
        notes.append(f"{known.n_left_out:,} rows without a usable target were left out")
    if len(trained.sampled) < len(known.jobs):
        notes.append(
            f"{' and '.join(CANDIDATES[1:])} learned from {len(trained.sampled):,} jobs drawn from {len(known.jobs):,}"
        )
    return tuple(notes)
