"""How far estimates can be believed: every predictor on rows that training never saw, side by side.

In every fold everything is trained on the training rows alone: our estimator and its parts, the published estimators
per profile, and what every estimate is held against: constants, medians, a plain boosted regression.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, latest_of
from workprof.core.errors import NotEnoughData
from workprof.core.parallel import each
from workprof.core.progress import Progress, silent, so_far
from workprof.core.shown import Shown
from workprof.forecasts.candidates import MANY_ROWS, POINTS, CandidateQuantiles, predict_quantiles
from workprof.forecasts.censored import completed
from workprof.forecasts.choice import COMBINED, TRIED, Combination, combined_point, mix
from workprof.forecasts.classifier import ClassifierSettings, labelled, most_probable
from workprof.forecasts.encoder import not_learned, usable_fields
from workprof.forecasts.errors import (
    ErrorDifference,
    PredictorErrors,
    compare_errors,
    quantiles_at,
    ratio_error,
    side_of,
    summarise_errors,
)
from workprof.forecasts.estimates import (
    EstimateEvaluationSettings,
    EstimateModel,
    Estimates,
    EstimateSettings,
    KnownJobs,
    LogScale,
    combined_estimates,
    fit_scale,
    known_jobs,
    train_estimator,
)
from workprof.forecasts.history import Cells, Past, backoff_medians, take_cells
from workprof.forecasts.intervals import (
    FEW_UNITS,
    Followed,
    Validated,
    ends_of,
    following_margins,
    joined,
    validate_rows,
)
from workprof.forecasts.splits import BY_TIME, N_FOLDS, Fold, end_times_of, forward_fold, make_folds, times_of, units_of
from workprof.forecasts.weighted_samples import effective_size

if TYPE_CHECKING:
    import pandas as pd

FLAWS = {
    "mean": "one long job moves it: a profile of 13 s runs with a 20 h tail gets a mean that no job has",
    "median": "says nothing about how far off it can be",
    "q05": "19 of 20 jobs need more: it makes a capped error small by promising too little",
    "iqr": "the width between the quartiles, not a level: zero for a profile of equal jobs",
    "skew_adaptive": "jumps from the median to the 5th percentile where the sample's skewness changes its sign",
}
"""Published estimator -> what is wrong with it."""


def _skew_adaptive(values: Floats) -> Any:
    skewed_left = np.mean((values - np.mean(values)) ** 3) < 0
    return np.median(values) if skewed_left else np.quantile(values, 0.05)


ESTIMATORS: dict[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "q05": lambda values: np.quantile(values, 0.05),
    "iqr": lambda values: np.subtract(*np.quantile(values, [0.75, 0.25])),
    "skew_adaptive": _skew_adaptive,
}


def per_profile(name: str, values: Floats, labels: Ints, predicted: Ints) -> Floats:
    """Return (n_queries,) estimates: the estimator over the (n_train,) training rows of each predicted profile.

    A profile without training rows gets the estimator over all of them.

    Source: The SOSE'23 paper ('mean') and the extended package (the others; its default is 'q05').
    """
    estimator = ESTIMATORS[name]
    estimates = {int(profile): float(estimator(values[labels == profile])) for profile in np.unique(labels)}
    overall = float(estimator(values))
    return np.array([estimates.get(int(profile), overall) for profile in predicted])


PLAIN = POINTS.index("boosted_plain")
BACKOFF = "backoff_medians"
BASELINES = ("global_mean", "global_median", "user_median", BACKOFF, "boosted_plain")


def baselines(
    past_jobs: pd.DataFrame, past: Past, jobs: pd.DataFrame, queries: Cells, scale: LogScale, plain: Floats | None
) -> dict[str, Floats]:
    """Return name -> (n_rows,) predictions in the target's unit.

    `plain` are (n_rows,) log points of XGBoost with its defaults on metadata and plan, without time and history; None =
    what learns nothing alone.
    """
    import pandas as pd  # noqa: PLC0415

    n_rows, known = len(jobs), scale.from_log(past.targets)
    predictions = {
        "global_mean": np.full(n_rows, known.mean()),
        "global_median": np.full(n_rows, np.median(known)),
        BACKOFF: scale.from_log(backoff_medians(past, queries)),
    }
    if plain is not None:
        predictions["boosted_plain"] = scale.from_log(plain)
    if "user" in jobs.columns:
        medians = pd.Series(known).groupby(past_jobs["user"].to_numpy()).median()
        of_users = jobs["user"].astype("object").map(medians).fillna(float(np.median(known)))
        predictions["user_median"] = np.array(of_users, dtype=np.float64)
    return {name: predictions[name] for name in BASELINES if name in predictions}


CHOSEN = "chosen"
"""The predictor that each fold chose on its validation rows."""
PROFILE = "profile"
"""Column of the jobs' clustering."""

LOW, HIGH = 0.05, 0.95
_NEW = -1


@dataclass(frozen=True)
class FoldResult:
    """Predictions of one fold, in the target's unit."""

    fold: Fold  # which rows
    predictions: dict[str, Floats]  # predictor -> (n_test,)
    low: Floats  # (n_test,) lower end of the interval; empty in faithful mode
    high: Floats  # (n_test,) upper end
    fixed: tuple[Floats, Floats] | None  # the same ends where they do not follow the runs that ended; None = as above
    global_width: float  # upper / lower 5 % quantile of the training rows
    combination: Combination | None  # what was chosen on validation rows; None in faithful mode


def evaluate_fold(
    known: KnownJobs, fold: Fold, settings: EstimateSettings, validated: Validated | None = None
) -> FoldResult:
    """Return the predictions of our estimator, its parts and every baseline for the test rows.

    `validated` are rows outside the test rows, each predicted by a training that saw neither it nor the test rows;
    None = such rows are drawn from the training rows.
    """
    jobs, past_jobs = known.jobs.iloc[fold.test], known.jobs.iloc[fold.train]
    training = KnownJobs(past_jobs.reset_index(drop=True), known.target[fold.train], 0, known.censored[fold.train])
    estimator = train_estimator(training, settings, validated=validated)
    model, fields = estimator.model, estimator.model.candidates.fields
    ended, past, queries = _past_of(known, fold, model.scale, replace(settings, fields=fields))
    predicted = predict_quantiles(estimator.loaded, jobs, queries, np.full(len(jobs), _NEW, dtype=np.int64))
    ours = combined_estimates(model, predicted)
    back, n_levels = model.scale.from_log, len(past.cells.fewest)
    predictions = baselines(
        known.jobs.iloc[ended][list(fields)], past, jobs[list(fields)], queries, model.scale, predicted.points[PLAIN]
    )
    with suppress(NotEnoughData):  # of a fold with few profiled rows nothing is learned of them
        predictions |= _from_profiles(known, fold, settings, ("mean", "median"))
    predictions |= {name: back(predicted.points[at]) for at, name in enumerate(POINTS) if name not in predictions}
    predictions[COMBINED] = back(combined_point(predicted, model.combination.rules, n_levels))
    predictions[CHOSEN] = ours.point
    width = float(np.exp(np.subtract(*np.quantile(past.targets, [HIGH, LOW]))))
    (low, high), fixed = (ours.low, ours.high), None
    if settings.split == BY_TIME:
        (low, high), fixed = _following(estimator.model, predicted, ours, known, fold), (ours.low, ours.high)
    return FoldResult(fold, predictions, low, high, fixed, width, model.combination)


def _past_of(known: KnownJobs, fold: Fold, scale: LogScale, settings: EstimateSettings) -> tuple[Ints, Past, Cells]:
    """Return the finished training rows of a fold, what they are as a past, and the cells of its test rows."""
    cells, units = known.cells(settings.fields), units_of(known.jobs, settings.split)
    ended = fold.train[~known.censored[fold.train]]
    past = Past(take_cells(cells, ended), scale.to_log(known.target[ended]), units[ended])
    return ended, past, take_cells(cells, fold.test)


def _evaluate_simple(known: KnownJobs, fold: Fold, settings: EstimateSettings) -> FoldResult:
    """Return the predictions of the rules that learn nothing: what can be said at once."""
    scale, fields = fit_scale(known.target[fold.train]), list(settings.fields)
    ended, past, queries = _past_of(known, fold, scale, settings)
    past_jobs, jobs = known.jobs.iloc[ended][fields], known.jobs.iloc[fold.test][fields]
    predictions, nothing = baselines(past_jobs, past, jobs, queries, scale, None), np.zeros(0)
    return FoldResult(fold, predictions, nothing, nothing, None, np.nan, None)


def _following(
    model: EstimateModel, predicted: CandidateQuantiles, ours: Estimates, known: KnownJobs, fold: Fold
) -> tuple[Floats, Floats]:
    """Return the (n_test,) ends that follow the tested runs that had ended at its submission, in the target's unit."""
    mixed = mix(predicted, model.combination.weights, len(model.candidates.past.cells.fewest))
    low, high, true = mixed[:, 0], mixed[:, -1], model.scale.to_log(known.target[fold.test])
    submitted, ended = times_of(known.jobs)[fold.test], end_times_of(known.jobs)[fold.test]
    scores, jobs = np.maximum(low - true, true - high), _jobs_of(known.jobs, fold.test)
    keys = known.cells(model.candidates.fields).keys[:, fold.test]
    margins = following_margins(model.calibration, Followed(scores, submitted, ended, jobs, keys))
    ends, back = ends_of(low, high, margins), model.scale.from_log
    return np.minimum(back(ends[0]), ours.point), np.maximum(back(ends[1]), ours.point)


def evaluate_fold_as_published(
    known: KnownJobs, fold: Fold, settings: EstimateSettings, validated: Validated | None = None
) -> FoldResult:
    """Return the predictions of the published estimators per predicted profile for the test rows."""
    predictions = _from_profiles(known, fold, settings, tuple(ESTIMATORS))
    nothing = np.zeros(0)
    return FoldResult(fold, predictions, nothing, nothing, None, np.nan, None)


def _from_profiles(
    known: KnownJobs, fold: Fold, settings: EstimateSettings, estimators: tuple[str, ...]
) -> dict[str, Floats]:
    """Return predictions from the predicted profile's training rows, where the rows' profiles are known."""
    if PROFILE not in known.jobs.columns:
        return {}
    classifier = ClassifierSettings(fields=settings.fields, mode=settings.mode, seed=settings.seed)
    training, labels = labelled(known.jobs.iloc[fold.train].assign(target=known.target[fold.train]))
    learned = training.drop(columns=PROFILE).reset_index(drop=True)
    best = most_probable(learned, labels, known.jobs.iloc[fold.test], classifier)
    target = training["target"].to_numpy(dtype=np.float64)
    return {f"{OF_PROFILE}{name}": per_profile(name, target, labels, best) for name in estimators}


OF_PROFILE = "profile_"
"""How the names begin of predictors that use the runs of a profile."""
BEYOND = 1.0
"""A ratio error above this is 'beyond 100 %' (the paper's Fig. 5)."""

FIGURE_QUANTILES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])


FEWEST_IN_GROUP = 200
"""Tested runs from which on a group's coverage is told: its standard error is .02, runs of one job set aside."""
GROUPED_BY = ("group", "user", "workload", "task_name")


@dataclass(frozen=True)
class GroupCoverage:
    """How the interval held for the tested runs of one group."""

    field: str  # of GROUPED_BY
    value: str
    n_rows: int
    coverage: float
    median_width_factor: float


@dataclass(frozen=True)
class IntervalErrors:
    """How the interval held."""

    nominal: float  # promised coverage
    coverage: float  # share of tested rows inside
    median_width_factor: float  # median of upper / lower end
    global_width_factor: float  # the same quantiles of all training rows, one interval for every job
    n_new_users: int = 0  # tested rows of users that training did not see
    new_users_coverage: float | None = None  # share of these inside; None without any
    new_users_width_factor: float | None = None  # median of upper / lower end over these
    fixed_coverage: float | None = None
    """By time the interval follows the tested runs that had ended; the share inside one that does not follow any."""
    fixed_width_factor: float | None = None  # median of upper / lower end of that one
    by_group: tuple[GroupCoverage, ...] = ()
    """Groups with `FEWEST_IN_GROUP` tested runs, not all of them; the farthest from nominal first."""


@dataclass(frozen=True)
class ProfileErrors:
    """Errors of the best predictor on the jobs of one profile."""

    profile: int  # label; -1 = outliers
    n_rows: int  # tested rows
    quantiles: Floats  # (5,) of the ratio error at 5, 25, 50, 75, 95 %
    beyond_100pct_share: float  # rows with a ratio error above 1


@dataclass(frozen=True, repr=False)
class EstimateEvaluation(Shown):
    """Every predictor on the same tested rows."""

    settings: EstimateSettings  # as given
    n_train: int  # mean training rows of a fold
    n_test: int  # tested rows
    n_left_out: int  # rows without a usable target
    predictors: dict[str, PredictorErrors]  # name -> errors
    best: str  # CHOSEN; in faithful mode the paper's
    interval: IntervalErrors | None  # of the best; None in faithful mode, which has none
    by_profile: tuple[ProfileErrors, ...]  # of the best, where the rows' profiles are known; worst median first
    choices: tuple[str, ...]  # what each fold chose, in words
    notes: tuple[str, ...]  # in words
    seconds: float  # of the whole
    differences: dict[str, ErrorDifference] = field(default_factory=dict)
    """Other predictor -> quantiles of the best one's ratio error minus its own, with a 95 % bootstrap interval."""
    chosen: dict[str, int] = field(default_factory=dict)  # predictor -> folds that chose it, the most first
    over_best: dict[str, float] = field(default_factory=dict)
    """Predictor -> mean over the folds of `Trial.over_best`, on validation rows; the least first."""


def evaluate_estimates(
    frames: Mapping[str, pd.DataFrame], settings: EstimateSettings, progress: Progress = silent
) -> EstimateEvaluation:
    """Return the errors of every predictor; `progress` is told each training.

    What is found so far is told after the rules that learn nothing, and as the tested folds double.

    Of the frames 'jobs' has a column 'profile' where its clustering is known; 'test', where given, is what is tested
    after one training on all of 'jobs'.

    Raises:
        ColumnMissing: when the target, every submit-time field or the split's column is absent.
        NotEnoughData: with too few rows, jobs or groups; in faithful mode without profiles.
    """
    from workprof.core.compiled import worker_threads  # noqa: PLC0415  numba

    started = time.perf_counter()
    known, folds, notes = _folds_of(frames, settings)
    faithful = settings.mode == "faithful"
    run = evaluate_fold_as_published if faithful else evaluate_fold
    with_fields = replace(settings, fields=usable_fields(known.jobs, settings.fields, settings.mode))
    tested = {
        at: replace(fold, test=fold.test[~known.censored[fold.test]])
        for at, fold in enumerate(folds)
        if not known.censored[fold.test].all()
    }
    about = _About(settings, known, round(float(np.mean([len(fold.train) for fold in folds]))), notes, started)
    if not faithful:
        so_far(lambda: _evaluation(about, [_evaluate_simple(known, fold, with_fields) for fold in tested.values()]))
    pairs = () if faithful or len(folds) < FEWEST_FOLDS_IN_PAIRS else training_pairs(known, folds, with_fields)
    groups = {at: group_of(at, known, settings) for at in tested}
    stages = _stages(pairs, groups)
    total, done = sum(map(len, stages)), 0
    between: dict[tuple[int, int], tuple[Validated, ...]] = {}
    validated = cache(lambda group: validated_for(group, between))  # once the pairs of the group are there
    results: dict[int, FoldResult] = {}
    for stage in stages:
        items = [one if isinstance(one, TrainingPair) else (tested[one], validated(groups[one])) for one in stage]
        trainings = each(_trained, (run, known, with_fields), items, threads=worker_threads())
        for one in stage:
            progress(done / total, f"Training and testing, {done + 1} of {total}")
            made = next(trainings)
            done += 1
            if isinstance(made, tuple):
                between[cast(TrainingPair, one).groups] = made
                continue
            results[cast(int, one)] = made
            if made.predictions and len(results).bit_count() == 1 and len(results) < len(tested):
                so_far(lambda: _evaluation(about, list(results.values())))
    ordered = [results[at] for at in tested]
    if not ordered[0].predictions:
        raise NotEnoughData("the published estimators need the jobs' profiles; find profiles first")
    return _evaluation(about, ordered, compared=True)


@dataclass(frozen=True)
class _About:
    """What an evaluation is of."""

    settings: EstimateSettings
    known: KnownJobs
    n_train: int  # mean training rows of a fold
    notes: tuple[str, ...]
    started: float  # on the clock of `time.perf_counter`


def _evaluation(about: _About, results: list[FoldResult], *, compared: bool = False) -> EstimateEvaluation:
    """Return the errors over some folds; where they are compared, with the bootstrap of their differences."""
    settings, known = about.settings, about.known
    names = [name for name in results[0].predictions if all(name in result.predictions for result in results)]
    rows = np.concatenate([result.fold.test for result in results])
    true = known.target[rows]
    predicted = {name: np.concatenate([result.predictions[name] for result in results]) for name in names}
    best = next((name for name in (CHOSEN, BACKOFF) if name in names), names[0])
    combinations = [result.combination for result in results if result.combination is not None]
    over_best = _mean_trials(combinations)
    chosen = Counter(sorted((one.chosen for one in combinations), key=list(over_best).index))
    units = _jobs_of(known.jobs, rows)
    lacking = bool(combinations) and not any(name.startswith(OF_PROFILE) for name in names)
    return EstimateEvaluation(
        settings=settings,
        n_train=about.n_train,
        n_test=len(rows),
        n_left_out=known.n_left_out,
        predictors={name: summarise_errors(name, values, true) for name, values in predicted.items()},
        best=best,
        differences=compare_errors(predicted, best, true, units, seed=settings.seed) if compared else {},
        interval=_interval_errors(results, known.jobs, true, settings.nominal) if best == CHOSEN else None,
        by_profile=_by_profile(known.jobs, rows, ratio_error(predicted[best], true)),
        choices=(PUBLISHED_CHOICE,) * len(results)
        if settings.mode == "faithful"
        else tuple(one.text for one in combinations),
        notes=(*about.notes, *_notes(known, true, lacking=lacking)),
        seconds=time.perf_counter() - about.started,
        chosen=dict(chosen.most_common()),
        over_best=over_best,
    )


PUBLISHED_CHOICE = "the profile of the highest probability"


def _mean_trials(combinations: list[Combination]) -> dict[str, float]:
    """Return predictor -> mean of `over_best` over the folds that tried it, the least first."""
    tried: dict[str, list[float]] = {}
    for trial in itertools.chain.from_iterable(one.trials for one in combinations):
        tried.setdefault(trial.name, []).append(trial.over_best)
    names = [*(name for name in TRIED if name in tried), *(name for name in tried if name not in TRIED)]
    return dict(sorted(((name, float(np.mean(tried[name]))) for name in names), key=lambda one: one[1]))


def _jobs_of(jobs: pd.DataFrame, rows: Ints) -> Ints:
    """Return (n_rows,) codes of the jobs of some rows; where jobs have no names each row is one."""
    split = "by_job" if "job_name" in jobs.columns else "random"
    codes: Ints = np.unique(units_of(jobs, split)[rows], return_inverse=True)[1]
    return codes.astype(np.int64)


Evaluate = Callable[[KnownJobs, Fold, EstimateSettings, "Validated | None"], FoldResult]


FEWEST_FOLDS_IN_PAIRS = 5
GROUPS = 5
"""Of the folds: what is chosen and calibrated for the folds of one group rests on the rows of the other groups, each
predicted by a training without either group. Two groups share that training, so that 10 folds take 10 + 10 trainings;
with validation rows drawn anew from the training rows of each fold they take 10 + 30."""


@dataclass(frozen=True)
class TrainingPair:
    """A training without the rows of two groups of folds."""

    groups: tuple[int, int]
    train: Ints  # (n_train,)
    tests: tuple[Ints, Ints]  # (n_test,) rows of each group


def group_of(fold: int, known: KnownJobs, settings: EstimateSettings) -> int:
    """Return a fold's group. Of few rows each fold is a group of its own, so that trainings leave out less."""
    units = units_of(known.jobs, settings.split)
    few = len(units) < MANY_ROWS and effective_size(np.ones(len(units)), units) <= FEW_UNITS
    return fold % (N_FOLDS if few else GROUPS)


def training_pairs(known: KnownJobs, folds: tuple[Fold, ...], settings: EstimateSettings) -> tuple[TrainingPair, ...]:
    """Return the trainings that the validation rows of all folds come from: one for each two groups."""
    groups = np.array([group_of(at, known, settings) for at in range(len(folds))])
    group = np.empty(len(known.target), dtype=np.int64)
    for at, fold in enumerate(folds):
        group[fold.test] = groups[at]
    rows = [np.flatnonzero(group == one) for one in range(groups.max() + 1)]
    return tuple(
        TrainingPair((one, other), np.flatnonzero((group != one) & (group != other)), (rows[one], rows[other]))
        for one, other in itertools.combinations(range(len(rows)), 2)
    )


def validate_pair(known: KnownJobs, settings: EstimateSettings, pair: TrainingPair) -> tuple[Validated, ...]:
    """Return the rows of both groups as predicted without either."""
    scale = fit_scale(known.target[pair.train])
    past = Past(known.cells(settings.fields), scale.to_log(known.target), units_of(known.jobs, settings.split))
    past = completed(past, known.censored, settings.seed, pair.train)
    return validate_rows(known.jobs, past, settings.fields, settings.seed, pair.train, pair.tests)


def _stages(pairs: Sequence[TrainingPair], groups: Mapping[int, int]) -> tuple[list[TrainingPair | int], ...]:
    """Return the pairs and the folds (with the group of each) in an order in which a first group is tested early."""
    first = [at for at, group in groups.items() if pairs and group == 0]
    return (
        [pair for pair in pairs if 0 in pair.groups],
        [*first, *(pair for pair in pairs if 0 not in pair.groups)],
        [at for at in groups if at not in first],
    )


def _trained(
    evaluated: tuple[Evaluate, KnownJobs, EstimateSettings], item: TrainingPair | tuple[Fold, Validated | None]
) -> tuple[Validated, ...] | FoldResult:
    """Return the validation rows of a pair, or the result of a fold; it may be on another machine."""
    run, known, settings = evaluated
    return (
        validate_pair(known, settings, item)
        if isinstance(item, TrainingPair)
        else run(known, item[0], settings, item[1])
    )


def validated_for(group: int, between: Mapping[tuple[int, int], tuple[Validated, ...]]) -> Validated | None:
    """Return the validation rows of a group's folds: those of every other group, predicted without either; or None."""
    own = {groups: parts for groups, parts in between.items() if group in groups}
    return joined(parts[1 - groups.index(group)] for groups, parts in own.items()) if own else None


def run_evaluation(
    frames: Mapping[str, pd.DataFrame], settings: EstimateEvaluationSettings, progress: Progress = silent
) -> EstimateEvaluation:
    """Return `evaluate_estimates` of the frames that the settings speak of."""
    jobs, earlier = latest_of(frames["jobs"], settings.estimates.latest_runs)
    result = evaluate_estimates({**frames, "jobs": jobs}, settings.estimates, progress)
    return replace(result, notes=(*result.notes, *not_learned(earlier))) if earlier else result


def _folds_of(
    frames: Mapping[str, pd.DataFrame], settings: EstimateSettings
) -> tuple[KnownJobs, tuple[Fold, ...], tuple[str, ...]]:
    if "test" not in frames:
        known = known_jobs(frames["jobs"], settings.target)
        return known, make_folds(known.jobs, settings.split, settings.n_folds, settings.seed), ()
    import pandas as pd  # noqa: PLC0415

    train, test = known_jobs(frames["jobs"], settings.target), known_jobs(frames["test"], settings.target)
    whole = ~test.censored  # a lower bound is no value to be tested on
    test = KnownJobs(
        test.jobs[whole], test.target[whole], test.n_left_out + int(test.censored.sum()), test.censored[whole]
    )
    both = pd.concat([train.jobs, test.jobs], ignore_index=True)
    fold = Fold(np.arange(len(train.jobs)), np.arange(len(train.jobs), len(both)))
    notes = list(_shared_jobs(train, test))
    if settings.split == BY_TIME:
        fold = forward_fold(both, fold)
        if late := len(train.jobs) - len(fold.train):
            notes.append(f"{late:,} training runs had not ended when the first tested one was submitted: not learned")
    left_out = train.n_left_out + test.n_left_out
    return (
        KnownJobs(
            both,
            np.concatenate([train.target, test.target]),
            left_out,
            np.concatenate([train.censored, test.censored]),
        ),
        (fold,),
        tuple(notes),
    )


def _shared_jobs(train: KnownJobs, test: KnownJobs) -> tuple[str, ...]:
    """Return a warning where test rows belong to jobs that training saw."""
    if "job_name" not in train.jobs.columns or "job_name" not in test.jobs.columns:
        return ()
    shared = int(test.jobs["job_name"].isin(set(train.jobs["job_name"].dropna())).sum())
    return (f"{shared:,} tested runs belong to jobs in the training data, which overstates accuracy",) if shared else ()


def _interval_errors(results: list[FoldResult], jobs: pd.DataFrame, true: Floats, nominal: float) -> IntervalErrors:
    low, high = (np.concatenate([getattr(result, end) for result in results]) for end in ("low", "high"))
    inside, width = _held(low, high, true)
    fixed: tuple[float, float] | tuple[None, None] = (None, None)
    if results[0].fixed is not None:
        held, wide = _held(*results[0].fixed, true)
        fixed = (float(np.mean(held)), float(np.median(wide)))
    new = np.concatenate([_new_users(jobs, result.fold) for result in results])
    tested = jobs.iloc[np.concatenate([result.fold.test for result in results])]
    return IntervalErrors(
        nominal,
        float(np.mean(inside)),
        float(np.median(width)),
        float(np.median([result.global_width for result in results])),
        int(new.sum()),
        float(np.mean(inside[new])) if new.any() else None,
        float(np.median(width[new])) if new.any() else None,
        fixed_coverage=fixed[0],
        fixed_width_factor=fixed[1],
        by_group=_by_group(tested, inside, width, nominal),
    )


def _by_group(tested: pd.DataFrame, inside: Bools, width: Floats, nominal: float) -> tuple[GroupCoverage, ...]:
    groups = []
    for name in [one for one in GROUPED_BY if one in tested.columns]:
        codes, values = tested[name].factorize()
        for code, n in enumerate(np.bincount(codes[codes >= 0], minlength=len(values)).tolist()):
            if FEWEST_IN_GROUP <= n < len(tested):
                held = float(np.mean(inside[codes == code])), float(np.median(width[codes == code]))
                groups.append(GroupCoverage(name, str(values[code]), n, *held))
    return tuple(sorted(groups, key=lambda one: -abs(one.coverage - nominal)))


def _held(low: Floats, high: Floats, true: Floats) -> tuple[Bools, Floats]:
    """Return (n_test,) whether the value is inside, and upper / lower end."""
    with np.errstate(divide="ignore"):
        width = np.where(low == high, 1.0, high / low)
    return side_of(low, high, true) == 0, width


def _new_users(jobs: pd.DataFrame, fold: Fold) -> Bools:
    """Return (n_test,) whether training saw no run of the row's user; nobody is new where no users are known."""
    if "user" not in jobs.columns:
        return np.zeros(len(fold.test), dtype=np.bool_)
    users, seen = jobs["user"].iloc[fold.test], set(jobs["user"].iloc[fold.train].dropna())
    return np.array(users.notna() & ~users.isin(seen), dtype=np.bool_)


def _by_profile(jobs: pd.DataFrame, rows: Ints, errors: Floats) -> tuple[ProfileErrors, ...]:
    if PROFILE not in jobs.columns:
        return ()
    labels = jobs[PROFILE].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
    profiles = []
    for profile in np.unique(labels[~np.isnan(labels)]):
        own = errors[labels == profile]
        beyond = float(np.mean(own > BEYOND))
        profiles.append(ProfileErrors(int(profile), len(own), quantiles_at(own, FIGURE_QUANTILES), beyond))
    return tuple(sorted(profiles, key=lambda errors: -errors.quantiles[2]))


def _notes(known: KnownJobs, true: Floats, *, lacking: bool) -> tuple[str, ...]:
    notes = []
    zeros = int((true == 0).sum())
    if known.n_left_out:
        notes.append(f"{known.n_left_out:,} rows without a usable target were left out")
    if n_cut := int(known.censored.sum()):
        notes.append(
            f"{n_cut:,} runs did not finish: each is learned as needing at least what it had used, none is tested"
        )
    if zeros:
        notes.append(f"{zeros:,} tested rows truly need 0, so any other estimate of them is infinitely far off")
    if PROFILE not in known.jobs.columns:
        notes.append("no profiles are known here: predictors that use them are left out")
    elif lacking:
        notes.append("too few runs with a profile to learn from: predictors that use them are left out")
    return tuple(notes)
