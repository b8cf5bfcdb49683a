"""What an inner hold-out of the training rows chooses: rounds, temperature, threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import ColumnMissing, NotEnoughData
from workprof.profiles.classifier.boosting import PUBLISHED_ROUNDS, grow, margins
from workprof.profiles.classifier.calibration import best_temperature, best_threshold, log_loss, softmax
from workprof.profiles.classifier.drawn_holdout import drawn_holdout
from workprof.profiles.classifier.metadata_encoder import encode, fit_encoder
from workprof.profiles.classifier.predictions import NO_PROFILE
from workprof.profiles.classifier.settings import ClassifierSettings, rare_rows_of
from workprof.profiles.classifier.splits import Fold
from workprof.profiles.classifier.training_rows import TrainingRows, merge_rows, training_rows
from workprof.units import format_count

if TYPE_CHECKING:
    import pandas as pd

ROUNDS = (4, 7, 10)
"""Candidates; the least log loss after calibration wins."""

SPLIT_ORDER = ("by_job", "random")
"""By job is how the classifier is used: new jobs, some of known groups, some not."""

NEVER = -1e9
"""Score of a class that the inner fit does not know."""

WORDS = {"by_job": "jobs", "random": "rows"}


@dataclass(frozen=True)
class Tuning:
    """Choices made inside the training rows.

    Attributes:
        n_rounds: trees per class.
        temperature: divides the scores before the softmax; 1 = as trained.
        threshold: smallest probability of an answer; 0 = none.
        split: of the hold-out: 'by_job', 'random', or '' where there was none.
        n_held_out: rows it held.
        log_loss: of the held-out rows after calibration; NaN without.
        log_loss_uncalibrated: before.
        note: the same in words.
    """

    n_rounds: int
    temperature: float
    threshold: float
    split: str
    n_held_out: int
    log_loss: float
    log_loss_uncalibrated: float
    note: str


@dataclass(frozen=True)
class _Trial:
    """One candidate: rounds, temperature, loss after it and before it, (n_rows, n_classes) scores."""

    n_rounds: int
    temperature: float
    loss: float
    loss_before: float
    scores: Floats


def most_rounds(settings: ClassifierSettings) -> int:
    """Return the largest number of rounds that `tune` may choose."""
    return PUBLISHED_ROUNDS if settings.mode == "faithful" else ROUNDS[-1]


def tune(
    jobs: pd.DataFrame, targets: Ints, classes: Ints, fields: tuple[str, ...], settings: ClassifierSettings
) -> Tuning:
    """Return the choices; in faithful mode the published values.

    Args:
        jobs: training rows.
        targets: (n_rows,) positions in `classes`.
        classes: (n_classes,).
        fields: inputs.
        settings: what to do.
    """
    nan = float("nan")
    if settings.mode == "faithful":
        return Tuning(PUBLISHED_ROUNDS, 1.0, 0.0, "", 0, nan, nan, "Published values; nothing is tuned.")
    split, fold = _split(jobs, settings)
    test = _held_out(jobs, targets, fold, fields, settings)
    if test is None:
        threshold = settings.threshold or settings.wrong_cost / (1 + settings.wrong_cost)
        return Tuning(
            ROUNDS[-1], 1.0, threshold, "", 0, nan, nan, "Too few rows for a hold-out: nothing is calibrated."
        )
    trial, rows = test
    threshold = settings.threshold or _threshold(trial, rows, classes, settings.wrong_cost)
    n_held_out = int(rows.weights.sum())
    note = (
        f"{format_count(n_held_out)} rows of held-out {WORDS[split]} chose {trial.n_rounds} rounds, temperature "
        f"{trial.temperature:.2f} and, unless it was given, the threshold {threshold:.2f}."
    )
    return Tuning(trial.n_rounds, trial.temperature, threshold, split, n_held_out, trial.loss, trial.loss_before, note)


def _split(jobs: pd.DataFrame, settings: ClassifierSettings) -> tuple[str, Fold]:
    for split in SPLIT_ORDER[:-1]:
        try:
            return split, drawn_holdout(jobs, split, settings.calibration_share, settings.seed)
        except (ColumnMissing, NotEnoughData):
            continue
    return SPLIT_ORDER[-1], drawn_holdout(jobs, SPLIT_ORDER[-1], settings.calibration_share, settings.seed)


def _held_out(
    jobs: pd.DataFrame, targets: Ints, fold: Fold, fields: tuple[str, ...], settings: ClassifierSettings
) -> tuple[_Trial, TrainingRows] | None:
    """Return the best candidate and the merged held-out rows; None when none has a class that the inner fit knows."""
    train = jobs.iloc[fold.train]
    known, inner = np.unique(targets[fold.train], return_inverse=True)
    rows = fold.test[np.isin(targets[fold.test], known)]
    if not len(rows) or len(known) < 2:
        return None
    encoder = fit_encoder(train, fields, settings.mode, rare_rows_of(settings, len(jobs)))
    training = training_rows(encoder, encode(encoder, train), inner.astype(np.int64))
    booster = grow(encoder, training, len(known), ROUNDS[-1])
    test = merge_rows(encode(encoder, jobs.iloc[rows]), targets[rows], np.ones(len(rows)))
    trials = []
    for n_rounds in ROUNDS:
        scores = np.full((len(test.rows), int(targets.max()) + 1), NEVER)
        scores[:, known] = margins(booster, encoder, test.rows, n_rounds)
        trials.append(_trial(n_rounds, scores, test))
    return min(trials, key=lambda trial: trial.loss), test


def _trial(n_rounds: int, scores: Floats, test: TrainingRows) -> _Trial:
    temperature = best_temperature(scores, test.targets, test.weights)
    after = log_loss(scores, test.targets, test.weights, temperature)
    return _Trial(n_rounds, temperature, after, log_loss(scores, test.targets, test.weights, 1.0), scores)


def _threshold(trial: _Trial, test: TrainingRows, classes: Ints, wrong_cost: float) -> float:
    """Return the best threshold on the held-out rows that the class 'no profile' does not take."""
    probabilities = softmax(trial.scores, trial.temperature)
    first = int(classes[0] == NO_PROFILE)
    place = first + probabilities[:, first:].argmax(axis=1)
    probability = probabilities[np.arange(len(place)), place]
    asked = probability >= probabilities[:, 0]
    return best_threshold(probability[asked], (place == test.targets)[asked], test.weights[asked], wrong_cost)
