"""One turn of an evaluation: everything is trained on the training rows, every predictor asked about the test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.profiles.classifier.classifier import predict, train_classifier
from workprof.profiles.classifier.labelled_rows import labelled
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.classifier.splits import Fold, units_of
from workprof.profiles.estimation.baselines import baselines
from workprof.profiles.estimation.candidates import CANDIDATES, MEDIAN, ask
from workprof.profiles.estimation.cells import Past, read_cells, take_cells
from workprof.profiles.estimation.estimates import finish, train_estimator
from workprof.profiles.estimation.known import KnownJobs
from workprof.profiles.estimation.published_estimators import ESTIMATORS, per_profile
from workprof.profiles.estimation.settings import EstimateSettings

COMBINED = "combined"
PROFILE = "profile"
"""Column of the jobs' clustering."""

LOW, HIGH = 0.05, 0.95
_NEW = -1


@dataclass(frozen=True)
class Turn:
    """Predictions of one turn, in the target's unit.

    Attributes:
        fold: which rows.
        predictions: predictor -> (n_test,).
        low: (n_test,) lower end of the interval; empty in faithful mode.
        high: (n_test,) upper end.
        global_width: upper / lower 5 % quantile of the training rows.
        choice: what was chosen on validation rows, in words.
    """

    fold: Fold
    predictions: dict[str, Floats]
    low: Floats
    high: Floats
    global_width: float
    choice: str


def corrected_turn(known: KnownJobs, fold: Fold, settings: EstimateSettings) -> Turn:
    """Return what our estimator, its parts and every baseline say of the test rows."""
    jobs, past_jobs = known.jobs.iloc[fold.test], known.jobs.iloc[fold.train]
    training = KnownJobs(past_jobs.reset_index(drop=True), known.target[fold.train], 0)
    estimator = train_estimator(training, settings)
    model, fields = estimator.model, estimator.model.candidates.fields
    cells, units = read_cells(known.jobs, fields), units_of(known.jobs, settings.split)
    asked = take_cells(cells, fold.test)
    past = Past(take_cells(cells, fold.train), model.scale.to_log(training.target), units[fold.train])
    answers = ask(estimator.loaded, jobs, asked, np.full(len(jobs), _NEW, dtype=np.int64))
    ours = finish(model, answers)
    predictions = baselines(past_jobs, past, jobs, asked, model.scale, fields)
    predictions |= _from_profiles(known, fold, settings, ("mean", "median"))
    predictions |= {name: model.scale.from_log(answers.quantiles[at, :, MEDIAN]) for at, name in enumerate(CANDIDATES)}
    predictions[COMBINED] = ours.point
    width = float(np.exp(np.subtract(*np.quantile(past.targets, [HIGH, LOW]))))
    return Turn(fold, predictions, ours.low, ours.high, width, model.combination.words)


def faithful_turn(known: KnownJobs, fold: Fold, settings: EstimateSettings) -> Turn:
    """Return what the published estimators per predicted profile say of the test rows."""
    predictions = _from_profiles(known, fold, settings, tuple(ESTIMATORS))
    nothing = np.zeros(0)
    return Turn(fold, predictions, nothing, nothing, np.nan, "the profile of the highest probability")


def _from_profiles(
    known: KnownJobs, fold: Fold, settings: EstimateSettings, estimators: tuple[str, ...]
) -> dict[str, Floats]:
    """Return predictions from the predicted profile's training rows, where the rows' profiles are known."""
    if PROFILE not in known.jobs.columns:
        return {}
    asked = ClassifierSettings(fields=settings.fields, mode=settings.mode, seed=settings.seed)
    training, labels = labelled(known.jobs.iloc[fold.train].assign(target=known.target[fold.train]))
    model = train_classifier(training.drop(columns=PROFILE).reset_index(drop=True), labels, asked)
    best = predict(model, known.jobs.iloc[fold.test]).best
    target = training["target"].to_numpy(dtype=np.float64)
    return {f"profile_{name}": per_profile(name, target, labels, best) for name in estimators}
