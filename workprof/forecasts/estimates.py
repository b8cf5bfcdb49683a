"""What a job will need, from what is known when it is submitted: a point, quantiles, and an interval that holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import MOST_USED, Bools, Floats, Ints, LatestRuns, numbers_of
from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.forecasts.candidates import (
    CANDIDATES,
    CandidateQuantiles,
    Candidates,
    LoadedCandidates,
    design_of,
    load_candidates,
    nearest_jobs,
    predict_quantiles,
    train_candidates,
)
from workprof.forecasts.censored import GROWING, MEMORY, completed
from workprof.forecasts.choice import Combination, choose, is_bounded, kept_between, mix, point_of
from workprof.forecasts.encoder import Inputs, usable_fields
from workprof.forecasts.history import Cells, Past, read_cells
from workprof.forecasts.intervals import (
    Calibration,
    Strata,
    Validated,
    calibrate,
    interval,
    learn_shifts,
    quantiles_within,
    validate,
)
from workprof.forecasts.splits import BY_TIME, N_FOLDS, SPLITS, SPLITS_SHOWN, units_of
from workprof.profiles.settings import Mode, ProfileSettings, Seed

if TYPE_CHECKING:
    import pandas as pd

TARGETS = {
    "duration_s": "s",
    "peak_memory_bytes": "B",
    "cpu_usage_percent": "percent",
    "gpu_usage_percent": "percent",
}
"""What can be estimated, and its unit."""

TARGETS_SHOWN = {
    "duration_s": "Duration",
    "peak_memory_bytes": "Peak memory",
    "cpu_usage_percent": "CPU use",
    "gpu_usage_percent": "GPU use",
}

Target = Annotated[
    str,
    Setting(
        "What is measured and predicted.",
        choices={
            "duration_s": "run time",
            "peak_memory_bytes": "peak memory",
            "cpu_usage_percent": "CPU use, 100 = a core",
            "gpu_usage_percent": "GPU use, 100 = a GPU",
        },
        shown=TARGETS_SHOWN,
        label="Quantity",
    ),
]

LEFT_OUT, CENSORED = "left_out", "censored"

Unfinished = Annotated[
    str,
    Setting(
        "What runs that failed, were killed or still run tell.",
        choices={
            LEFT_OUT: "nothing: only finished runs are learned",
            CENSORED: "that they need at least the time and memory that they had used (right-censored)",
        },
        shown={LEFT_OUT: "Are left out", CENSORED: "Need at least what they had used"},
        label="Unfinished runs",
    ),
]

SMALLEST_SHARE = 1e-3
"""Of the median positive value: what lies below counts as this much on the logarithmic scale."""


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale that knows zero."""

    floor: float  # smallest value that is told apart, in the target's unit; true zeros stand there

    def to_log(self, values: Floats) -> Floats:
        """Return natural logarithms."""
        return np.log(np.maximum(values, self.floor))

    def from_log(self, logs: Floats) -> Floats:
        """Return values in the target's unit, 0 at the floor."""
        values = np.exp(logs)
        return np.where(values <= self.floor * (1 + 1e-9), 0.0, values)


def fit_scale(values: Floats) -> LogScale:
    """Return the scale of some past values; raises NotEnoughData when none is above zero."""
    positive = values[values > 0]
    if not len(positive):
        raise NotEnoughData("the target is zero in every past job; there is nothing to learn from it")
    return LogScale(float(max(positive.min() / 2, np.median(positive) * SMALLEST_SHARE)))


MOST_FOLDS = 100
"""Each is a training, and no fold is tested better by more of them."""

FEWEST_JOBS = 40
"""Fewer past jobs leave nothing to calibrate an interval on."""


@dataclass(frozen=True)
class KnownJobs:
    """The rows of a table whose target is known."""

    jobs: pd.DataFrame  # those rows
    target: Floats  # (n_rows,) values
    n_left_out: int  # rows without a finite value, or with one below zero
    censored: Bools  # (n_rows,) runs that did not finish: their value is a lower bound

    @cached_property
    def _cells(self) -> dict[tuple[str, ...], Cells]:
        return {}

    def cells(self, fields: tuple[str, ...]) -> Cells:
        """Return the cells of all rows over these fields; they are read once."""
        if fields not in self._cells:
            self._cells[fields] = read_cells(self.jobs, fields)
        return self._cells[fields]


def is_bound(jobs: pd.DataFrame, target: str) -> Bools:
    """(n_rows,) whether a value is a lower bound: the run did not finish, was killed for memory or is known by task."""
    cut = ~jobs["finished"].to_numpy(dtype=bool) if "finished" in jobs.columns else np.zeros(len(jobs), dtype=bool)
    for name in (LOWER_BOUND, KILLS) if target == MEMORY else ():
        if name in jobs.columns:
            cut |= numbers_of(jobs, name) > 0
    return np.asarray(cut)


@dataclass(frozen=True)
class Happened:
    """What a run really needed of a target, or at least."""

    value: float
    at_least: bool = False  # a lower bound: the run did not finish, or its memory is known from below


def what_happened(run: pd.DataFrame) -> dict[str, Happened]:
    """What is known of each target of a run, a table of one row."""
    known = {target: float(run[target].iloc[0]) for target in TARGETS if target in run.columns}
    return {
        target: Happened(value, bool(is_bound(run, target)[0])) for target, value in known.items() if np.isfinite(value)
    }


def known_jobs(jobs: pd.DataFrame, target: str) -> KnownJobs:
    """Return the rows whose target can be used.

    With `finished` where runs are among them that did not: of time and peak memory what such a run had used is a lower
    bound, of other targets it is left out. With `LOWER_BOUND` where the memory of some is one.

    Raises:
        ColumnMissing: when the table lacks the target.
        NotEnoughData: with fewer than 40 of them.
    """
    if target not in jobs.columns:
        raise ColumnMissing(f"the table has no column {target}; choose another target")
    values, cut = numbers_of(jobs, target), is_bound(jobs, target)
    good = np.isfinite(values) & (values >= 0) & ~(cut & (target not in GROWING))
    known = int((good & ~cut).sum())
    if known < FEWEST_JOBS:
        raise NotEnoughData(f"{known} jobs with a known {target}; at least {FEWEST_JOBS} are needed")
    return KnownJobs(jobs.loc[good].reset_index(drop=True), values[good], int((~good).sum()), cut[good])


@settings
class EstimateSettings:
    """Settings of an estimator and of its evaluation."""

    target: Target = "duration_s"
    fields: Inputs = ()
    mode: Mode = "corrected"
    split: Annotated[
        str,
        Setting(
            "How training and test rows are kept apart; the interval holds for jobs that are new in this sense.",
            choices=SPLITS,
            shown=SPLITS_SHOWN,
            label="Test on",
        ),
    ] = "by_job"
    nominal: Annotated[
        float, Setting("Coverage of the interval.", unit="share", least=0.5, below=1, label="Coverage of the interval")
    ] = 0.9
    n_folds: Annotated[
        int, Setting("Folds of an evaluation; by time there is one.", least=2, most=MOST_FOLDS, label="Folds")
    ] = N_FOLDS
    seed: Seed = 0
    latest_runs: LatestRuns = MOST_USED
    unfinished: Unfinished = LEFT_OUT


@settings
class EstimateEvaluationSettings:
    """Settings of an evaluation."""

    estimates: EstimateSettings = field(default_factory=EstimateSettings)
    profiles: Annotated[
        ProfileSettings, Setting("The clustering whose profiles some predictors use.", key="durations_clustering")
    ] = field(default_factory=ProfileSettings)
    tested: Annotated[
        str,
        Setting(
            "Dataset to test on, by its name or hash.",
            flag="--test",
            empty="the folds of the split",
            label="Other dataset to test on",
        ),
    ] = ""


STEPS = {"train": 1.0}


@dataclass(frozen=True)
class EstimateModel:
    """A trained estimator of one target."""

    settings: EstimateSettings  # as given
    scale: LogScale  # of the target
    candidates: Candidates  # the three ways
    combination: Combination  # which predictor gives the point, and how the quantiles are mixed
    calibration: Calibration  # of the interval, from the same rows
    n_jobs: int  # past jobs
    n_left_out: int  # rows without a usable target
    n_validation: int  # rows that the choice and the calibration rest on
    notes: tuple[str, ...]  # in words
    seconds: float  # of training


@dataclass(frozen=True)
class Estimator:
    """An estimate model with its trees in memory."""

    model: EstimateModel
    loaded: LoadedCandidates


@dataclass(frozen=True)
class Estimates:
    """Estimates of some jobs, in the target's unit."""

    target: str  # what is estimated
    point: Floats  # (n_rows,) best guess, by the predictor that validation rows chose
    low: Floats  # (n_rows,) lower end of the interval
    high: Floats  # (n_rows,) upper end
    quantiles: Floats  # (n_rows, n_levels) at `LEVELS`: 5, 10, 25, 50, 75, 90, 95 %
    level: Ints  # (n_rows,) depth of the history that was found, 0 = same group and task, the last = none
    count: Ints  # (n_rows,) past jobs in that cell that were used; 0 where none is like this one and all were
    predictor: str  # of `choice.TRIED`, or two of them joined by `choice.BESIDE`: what gave the point
    covers: Floats | None = None  # (n_rows,) share that the interval can promise: fewer past jobs, less than nominal
    calibrated: bool = True  # whether quantiles hold for new jobs; forward in time they are as trained
    bounded: bool = True  # whether every point is between its p10 and p90


@dataclass(frozen=True)
class NearestJobs:
    """The past jobs that weigh most in one estimate."""

    positions: Ints  # (n_nearest,) of the training table's usable rows
    shares: Floats  # (n_nearest,) of the whole weight, 0-1


def train_estimator(
    known: KnownJobs, settings: EstimateSettings, progress: Progress = silent, validated: Validated | None = None
) -> Estimator:
    """Return an estimator trained on these jobs.

    The combination and the interval come from rows that the candidates of that fold were not trained on, kept apart as
    `settings.split` says; then the candidates are trained again on every row. `validated` are such rows where they are
    known already: the estimator is then tested, not stored.

    Raises:
        ColumnMissing: when every submit-time field, or the split's column, is absent.
        NotEnoughData: with too few jobs.
    """
    watch = Stopwatch(progress, STEPS)
    fields = usable_fields(known.jobs, settings.fields, settings.mode)
    scale = fit_scale(known.target)
    past = completed(
        Past(read_cells(known.jobs, fields), scale.to_log(known.target), units_of(known.jobs, settings.split)),
        known.censored,
        settings.seed,
    )
    trained, stored = list[LoadedCandidates](), validated is None

    def train_on_all() -> None:
        trained.append(train_candidates(known.jobs, past, fields, settings.seed, stored=stored))

    with watch.step("train", "Training, and calibrating on rows kept apart") as report:
        if validated is None:
            validated = validate(known.jobs, past, fields, settings, report, train_on_all)
        else:
            train_on_all()
        combination, calibration = _chosen(validated, len(past.cells.fewest), scale, settings)
    loaded = trained[0]
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


def _chosen(
    validated: Validated, n_levels: int, scale: LogScale, settings: EstimateSettings
) -> tuple[Combination, Calibration]:
    """Return what gives the point and the quantiles, and how the latter are calibrated, from validation rows."""
    forward = settings.split == BY_TIME
    combination = choose(validated, n_levels, scale.from_log, forward=forward)
    mixed, level = mix(validated.predicted, combination.weights, n_levels), validated.predicted.level
    strata, true, units = Strata(level, n_levels, validated.keys), validated.true, validated.units
    calibration = calibrate(mixed[:, 0], mixed[:, -1], true, strata, units, settings.nominal)
    if not forward:
        calibration = replace(calibration, shifts=learn_shifts(mixed, true, strata, units))
    free, quantiles, *_ = _combined(validated.predicted, replace(combination, bounded=False), calibration, n_levels)
    return replace(combination, bounded=is_bounded(free, quantiles, validated, scale.from_log)), calibration


def load_estimator(model: EstimateModel) -> Estimator:
    """Return a stored model with its trees in memory."""
    return Estimator(model, load_candidates(model.candidates))


def estimate(estimator: Estimator, jobs: pd.DataFrame) -> Estimates:
    """Return estimates of new jobs; a job without a time counts as submitted when the known history ends."""
    queries = read_cells(jobs, estimator.model.candidates.fields, estimator.model.candidates.past.cells)
    predicted = predict_quantiles(estimator.loaded, jobs, queries, np.full(len(jobs), -1, dtype=np.int64))
    return combined_estimates(estimator.model, predicted)


def combined_estimates(model: EstimateModel, predicted: CandidateQuantiles) -> Estimates:
    """Return the chosen point and the calibrated mixture of the candidates' quantiles."""
    n_levels = len(model.candidates.past.cells.fewest)
    point, quantiles, low, high = _combined(predicted, model.combination, model.calibration, n_levels)
    low, high = np.minimum(low, point), np.maximum(high, point)
    back = model.scale.from_log
    return Estimates(
        model.settings.target,
        back(point),
        back(low),
        back(high),
        back(quantiles),
        predicted.level,
        np.where(predicted.level < n_levels, predicted.count, 0),
        model.combination.chosen,
        model.calibration.covers(predicted.level),
        model.calibration.shifts is not None,
        model.combination.bounded,
    )


def _combined(
    predicted: CandidateQuantiles, combination: Combination, calibration: Calibration, n_levels: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return log points, (n_rows, n_levels) quantiles, and the ends of the interval."""
    mixed, level = mix(predicted, combination.weights, n_levels), predicted.level
    low, high = interval(mixed[:, 0], mixed[:, -1], level, calibration)
    quantiles = quantiles_within(mixed, low, high, level, calibration)
    point = point_of(predicted, combination, n_levels)
    return kept_between(point, quantiles) if combination.bounded else point, quantiles, low, high


def nearest_past_jobs(estimator: Estimator, job: pd.DataFrame, count: int = 10) -> NearestJobs:
    """Return the past jobs that weigh most in the forest's estimate of one job (a table of one row)."""
    queries = read_cells(job, estimator.model.candidates.fields, estimator.model.candidates.past.cells)
    design = design_of(estimator.loaded, job, queries, np.full(1, -1, dtype=np.int64))
    jobs, shares = nearest_jobs(estimator.loaded, design, count)
    return NearestJobs(jobs.astype(np.int64), shares)


def _notes(known: KnownJobs, fields: tuple[str, ...], trained: Candidates) -> tuple[str, ...]:
    notes = [f"inputs: {', '.join(fields)}"]
    if known.n_left_out:
        notes.append(f"{known.n_left_out:,} rows without a usable target were left out")
    if n_cut := int(known.censored.sum()):
        notes.append(f"{n_cut:,} runs did not finish, or their use is a lower bound: each needs at least that much")
    if len(trained.sampled) < len(known.jobs):
        notes.append(
            f"{' and '.join(CANDIDATES[1:])} learned from {len(trained.sampled):,} jobs drawn from {len(known.jobs):,}"
        )
    return tuple(notes)


@dataclass(frozen=True)
class ErrorsAtFit:
    """One target at the fit."""

    floor: float  # of its logarithmic scale, in the target's unit
    logs: Floats  # (n_rows,) log values; NaN where one is a lower bound
    errors: Floats
    """(n_rows,) log of value over estimate, for rows that the candidates had not seen; NaN for the others, and where
    the value is a lower bound."""


def errors_at_fit(known: KnownJobs, settings: EstimateSettings) -> ErrorsAtFit:
    """Return the errors of the validation rows that `train_estimator` calibrates on, found again; raises as that."""
    fields = usable_fields(known.jobs, settings.fields, settings.mode)
    scale = fit_scale(known.target)
    logs = scale.to_log(known.target)
    past = Past(read_cells(known.jobs, fields), logs, units_of(known.jobs, settings.split))
    past = completed(past, known.censored, settings.seed)
    validated = validate(known.jobs, past, fields, settings, lambda share: None)
    n_levels = len(past.cells.fewest)
    point, *_ = _combined(validated.predicted, *_chosen(validated, n_levels, scale, settings), n_levels)
    errors = np.full(len(logs), np.nan)
    errors[validated.rows] = validated.true - scale.to_log(scale.from_log(point))
    return ErrorsAtFit(scale.floor, *(np.where(known.censored, np.nan, one) for one in (logs, errors)))
