"""How far estimates can be believed: every predictor on rows that training never saw, side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.profiles.classifier.splits import Fold, make_folds
from workprof.profiles.estimation.error_measures import PredictorErrors, ratio_error, summarise_errors
from workprof.profiles.estimation.known import KnownJobs, known_jobs
from workprof.profiles.estimation.settings import EstimateEvaluationSettings, EstimateSettings
from workprof.profiles.estimation.turns import COMBINED, PROFILE, Turn, corrected_turn, faithful_turn
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

BEYOND = 1.0
"""A ratio error above this is 'beyond 100 %' (the paper's Fig. 5)."""

FIGURE_QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


@dataclass(frozen=True)
class IntervalErrors:
    """How the interval held.

    Attributes:
        nominal: promised coverage.
        coverage: share of tested rows inside.
        median_width_factor: median of upper / lower end.
        global_width_factor: the same quantiles of all training rows, one interval for every job.
    """

    nominal: float
    coverage: float
    median_width_factor: float
    global_width_factor: float


@dataclass(frozen=True)
class ProfileErrors:
    """Errors of the best predictor on the jobs of one profile.

    Attributes:
        profile: label; -1 = outliers.
        n_rows: tested rows.
        quantiles: (5,) of the ratio error at 5, 25, 50, 75, 95 %.
        beyond_100pct_share: rows with a ratio error above 1.
    """

    profile: int
    n_rows: int
    quantiles: Floats
    beyond_100pct_share: float


@dataclass(frozen=True)
class EstimateEvaluation:
    """Every predictor on the same tested rows.

    Attributes:
        settings: as asked.
        n_train: mean training rows of a turn.
        n_test: tested rows.
        n_left_out: rows without a usable target.
        predictors: name -> errors.
        best: chosen on validation rows inside the training part.
        interval: of the best; None in faithful mode, which has none.
        by_profile: of the best, where the rows' profiles are known; worst median first.
        choices: what each turn chose, in words.
        notes: in words.
        seconds: of the whole.
    """

    settings: EstimateSettings
    n_train: int
    n_test: int
    n_left_out: int
    predictors: dict[str, PredictorErrors]
    best: str
    interval: IntervalErrors | None
    by_profile: tuple[ProfileErrors, ...]
    choices: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float


def evaluate_estimates(
    frames: Mapping[str, pd.DataFrame], settings: EstimateSettings, progress: Progress = silent
) -> EstimateEvaluation:
    """Return the errors of every predictor.

    Args:
        frames: 'jobs' -> the table, with a column 'profile' where its clustering is known; 'test', where given, is what
            is tested after one training on all of 'jobs'.
        settings: target, split, seed.
        progress: told each turn.

    Raises:
        ColumnMissing: when the target, every submit-time field or the split's column is absent.
        NotEnoughData: with too few rows, jobs or groups; in faithful mode without profiles.
    """
    started = time.perf_counter()
    known, folds, notes = _turns_of(frames, settings)
    run = faithful_turn if settings.mode == "faithful" else corrected_turn
    turns = []
    for turn, fold in enumerate(folds):
        progress(turn / len(folds), f"Training and testing, turn {turn + 1} of {len(folds)}")
        turns.append(run(known, fold, settings))
    names = list(turns[0].predictions)
    if not names:
        raise NotEnoughData("the published estimators need the jobs' profiles; find profiles first")
    rows = np.concatenate([turn.fold.test for turn in turns])
    true = known.target[rows]
    predicted = {name: np.concatenate([turn.predictions[name] for turn in turns]) for name in names}
    best = COMBINED if COMBINED in names else names[0]
    return EstimateEvaluation(
        settings=settings,
        n_train=round(float(np.mean([len(fold.train) for fold in folds]))),
        n_test=len(rows),
        n_left_out=known.n_left_out,
        predictors={name: summarise_errors(name, values, true) for name, values in predicted.items()},
        best=best,
        interval=_interval_errors(turns, true, settings.nominal) if best == COMBINED else None,
        by_profile=_by_profile(known.jobs, rows, ratio_error(predicted[best], true)),
        choices=tuple(turn.choice for turn in turns),
        notes=(*notes, *_notes(known, true)),
        seconds=time.perf_counter() - started,
    )


def run_evaluation(
    frames: Mapping[str, pd.DataFrame], settings: EstimateEvaluationSettings, progress: Progress = silent
) -> EstimateEvaluation:
    """Return `evaluate_estimates` of the frames that the settings speak of."""
    return evaluate_estimates(frames, settings.estimates, progress)


def _turns_of(
    frames: Mapping[str, pd.DataFrame], settings: EstimateSettings
) -> tuple[KnownJobs, tuple[Fold, ...], tuple[str, ...]]:
    if "test" not in frames:
        known = known_jobs(frames["jobs"], settings.target)
        return known, make_folds(known.jobs, settings.split, settings.n_folds, settings.seed), ()
    import pandas as pd  # noqa: PLC0415

    train, test = (known_jobs(frames[name], settings.target) for name in ("jobs", "test"))
    both = pd.concat([train.jobs, test.jobs], ignore_index=True)
    fold = Fold(np.arange(len(train.jobs)), np.arange(len(train.jobs), len(both)))
    left_out = train.n_left_out + test.n_left_out
    return (
        KnownJobs(both, np.concatenate([train.target, test.target]), left_out),
        (fold,),
        _shared_jobs(train, test),
    )


def _shared_jobs(train: KnownJobs, test: KnownJobs) -> tuple[str, ...]:
    """Return a warning where test rows belong to jobs that training saw."""
    if "job_name" not in train.jobs.columns or "job_name" not in test.jobs.columns:
        return ()
    shared = int(test.jobs["job_name"].isin(set(train.jobs["job_name"].dropna())).sum())
    return (f"{shared:,} tested rows belong to jobs that training saw: their errors flatter",) if shared else ()


def _interval_errors(turns: list[Turn], true: Floats, nominal: float) -> IntervalErrors:
    low, high = (np.concatenate([getattr(turn, end) for turn in turns]) for end in ("low", "high"))
    with np.errstate(divide="ignore"):
        width = np.where(low == high, 1.0, high / low)
    return IntervalErrors(
        nominal,
        float(np.mean((low <= true) & (true <= high))),
        float(np.median(width)),
        float(np.median([turn.global_width for turn in turns])),
    )


def _by_profile(jobs: pd.DataFrame, rows: Ints, errors: Floats) -> tuple[ProfileErrors, ...]:
    if PROFILE not in jobs.columns:
        return ()
    labels = jobs[PROFILE].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
    found = []
    for profile in np.unique(labels[~np.isnan(labels)]):
        own = errors[labels == profile]
        quantiles = np.quantile(own, FIGURE_QUANTILES, method="higher")
        found.append(ProfileErrors(int(profile), len(own), quantiles, float(np.mean(own > BEYOND))))
    return tuple(sorted(found, key=lambda one: -one.quantiles[2]))


def _notes(known: KnownJobs, true: Floats) -> tuple[str, ...]:
    notes = []
    zeros = int((true == 0).sum())
    if known.n_left_out:
        notes.append(f"{known.n_left_out:,} rows without a usable target were left out")
    if zeros:
        notes.append(f"{zeros:,} tested rows truly need 0: any other estimate of them is infinitely far off in ratio")
    if PROFILE not in known.jobs.columns:
        notes.append("no profiles are known here: predictors that use them are left out")
    return tuple(notes)
