"""All that can be said of a job before it runs, trained in one go: its profile, and what it will need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Ints, latest_of
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.parallel import each
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.classifier import ClassifierModel, ClassifierSettings, LoadedClassifier, fit_classifier
from workprof.forecasts.encoder import not_learned
from workprof.forecasts.estimates import (
    LEFT_OUT,
    TARGETS,
    TARGETS_SHOWN,
    EstimateModel,
    Estimates,
    EstimateSettings,
    Estimator,
    NearestJobs,
    Unfinished,
    estimate,
    known_jobs,
    load_estimator,
    nearest_past_jobs,
    train_estimator,
)
from workprof.forecasts.explain import MOST_SAMPLE_ROWS, SAMPLE_ROWS, JobExplanation, explain_job
from workprof.forecasts.predictions import Predictions
from workprof.forecasts.splits import SPLITS, SPLITS_SHOWN

if TYPE_CHECKING:
    import pandas as pd

OF_RUNS = "No run names its job, so the intervals hold for new runs, of jobs that were learned too."
CLASSIFIER_SHARE = 0.3
"""Of the whole training, as progress tells it."""


@settings
class ForecasterSettings:
    """Settings of a forecaster."""

    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
    split: Annotated[
        str,
        Setting(
            "The kind of new job for which the intervals hold.",
            choices=SPLITS,
            shown=SPLITS_SHOWN,
            key="classify_interval_split",
            label="Intervals hold for",
        ),
    ] = "by_job"
    nominal: Annotated[
        float,
        Setting(
            "Coverage of the intervals.",
            unit="share",
            least=0.5,
            below=1,
            key="classify_coverage",
            label="Coverage of the intervals",
        ),
    ] = 0.9
    unfinished: Unfinished = LEFT_OUT

    def of_target(self, target: str, jobs: pd.DataFrame) -> EstimateSettings:
        """The settings of one target's estimator; where no run names its job, each is a job of its own."""
        return EstimateSettings(
            target=target,
            fields=self.classifier.fields,
            split="random" if self.is_of_runs(jobs) else self.split,
            nominal=self.nominal,
            seed=self.classifier.seed,
            unfinished=self.unfinished,
            latest_runs=self.classifier.latest_runs,
        )

    def is_of_runs(self, jobs: pd.DataFrame) -> bool:
        """Whether intervals for new jobs can only hold for new runs: no run names its job."""
        return self.split == "by_job" and "job_name" not in jobs.columns


@settings
class ExplanationSettings:
    """Settings of a global explanation."""

    forecaster: ForecasterSettings = field(default_factory=ForecasterSettings)
    n_sampled: Annotated[
        int,
        Setting(
            "Jobs that are drawn at random; more of them give steadier means.",
            unit="jobs",
            least=1,
            most=MOST_SAMPLE_ROWS,
            flag="--rows",
            key="classify_sample",
            label="Jobs in the sample",
        ),
    ] = SAMPLE_ROWS


@dataclass(frozen=True, repr=False)
class Forecaster(Shown):
    """A classifier and an estimator for every target that the table has."""

    settings: ForecasterSettings  # as given
    classifier: ClassifierModel  # of the profiles
    estimators: dict[str, EstimateModel]  # target -> model
    row_ids: dict[str, Ints]  # target -> (n_jobs,) the store's ids of the jobs that the estimator learned from
    left_out: dict[str, str]  # target -> why it cannot be estimated here
    seconds: float  # of training


@dataclass(frozen=True)
class Forecasts:
    """What a forecaster says of some jobs: profiles, and target -> estimates."""

    profiles: Predictions
    estimates: dict[str, Estimates]


class LoadedForecaster:
    """A forecaster with its trees in memory."""

    def __init__(self, forecaster: Forecaster) -> None:
        """Load the trees."""
        self.forecaster = forecaster
        self.classifier = LoadedClassifier(forecaster.classifier)
        self.estimators = {name: load_estimator(model) for name, model in forecaster.estimators.items()}

    def forecast(self, jobs: pd.DataFrame, progress: Progress = silent) -> Forecasts:
        """The profiles and estimates of new jobs; a field that the table lacks counts as not given.

        Raises:
            NotEnoughData: for an empty table.
            ColumnMissing: when the table has none of the classifier's fields.
        """
        profiles = self.classifier.predict(jobs, part_of(progress, 0.0, 0.5))
        estimates = {}
        for i, (target, estimator) in enumerate(self.estimators.items()):
            progress(0.5 + 0.5 * i / len(self.estimators), f"Estimating {target}")
            estimates[target] = estimate(estimator, completed(jobs, estimator))
        return Forecasts(profiles, estimates)

    def explain(self, job: pd.DataFrame, profile: int | None = None) -> JobExplanation:
        """The SHAP values of one job's profile (a table of one row)."""
        return explain_job(self.classifier, job, profile)

    def nearest(self, job: pd.DataFrame, target: str, count: int = 10) -> NearestJobs:
        """The past jobs that weigh most in one estimate, by their row ids.

        Raises ColumnMissing when the target is not estimated here.
        """
        if target not in self.estimators:
            raise ColumnMissing(f"{target} is not estimated here; choose from {', '.join(self.estimators)}")
        estimator = self.estimators[target]
        nearest = nearest_past_jobs(estimator, completed(job, estimator), count)
        return replace(nearest, positions=self.forecaster.row_ids[target][nearest.positions])


def train_forecaster(
    frames: Mapping[str, pd.DataFrame],
    settings: ForecasterSettings,
    progress: Progress = silent,
    targets: Sequence[str] = tuple(TARGETS),
) -> Forecaster:
    """A forecaster of `frames["jobs"]` with its column 'profile', which estimates the `targets` that it has.

    Raises:
        ColumnMissing: without profiles or any submit-time field.
        NotEnoughData: with too few rows or profiles.
    """
    jobs, earlier = latest_of(frames["jobs"], settings.classifier.latest_runs)
    classifier = fit_classifier({"jobs": jobs}, settings.classifier, part_of(progress, 0.0, CLASSIFIER_SHARE))
    if earlier:
        classifier = replace(classifier, notes=(*classifier.notes, *(f"{one}." for one in not_learned(earlier))))
    if settings.is_of_runs(jobs):
        classifier = replace(classifier, notes=(*classifier.notes, OF_RUNS))
    models: dict[str, EstimateModel] = {}
    row_ids: dict[str, Ints] = {}
    left_out: dict[str, str] = {}

    def told(target: str) -> Progress:
        at, n = targets.index(target), len(targets)
        words = f"Learning {TARGETS_SHOWN[target]}, {at + 1} of {n} quantities"
        first, last = (CLASSIFIER_SHARE + (1 - CLASSIFIER_SHARE) * place / n for place in (at, at + 1))
        return part_of(lambda share, _: progress(share, words), first, last)

    trainings = each(_train_target, (jobs, settings), targets, told=told)
    for target in targets:
        told(target)(0.0, "")
        trained = next(trainings)
        if isinstance(trained, str):
            left_out[target] = trained
        else:
            models[target], row_ids[target] = trained
    seconds = classifier.seconds + sum(model.seconds for model in models.values())
    return Forecaster(settings, classifier, models, row_ids, left_out, seconds)


def _train_target(
    shared: tuple[pd.DataFrame, ForecasterSettings], target: str, progress: Progress = silent
) -> tuple[EstimateModel, Ints] | str:
    """An estimator and the ids of its jobs, or why there is none; it may be on another machine."""
    jobs, settings = shared
    try:
        known = known_jobs(jobs, target)
        model = train_estimator(known, settings.of_target(target, jobs), progress).model
    except (ColumnMissing, NotEnoughData) as error:
        return str(error)
    has_ids = "row_id" in known.jobs.columns
    return model, known.jobs["row_id"].to_numpy(dtype=np.int64) if has_ids else np.arange(len(known.jobs))


def completed(jobs: pd.DataFrame, estimator: Estimator) -> pd.DataFrame:
    """The table with every field that the estimator reads; one that is absent is missing in every row."""
    fields = estimator.model.candidates.fields
    return jobs.assign(**{name: None for name in fields if name not in jobs.columns})


def part_of(progress: Progress, first: float, last: float) -> Progress:
    """The progress of a part of the work, which is the whole's from `first` to `last`."""
    return lambda share, message: progress(None if share is None else first + (last - first) * share, message)
