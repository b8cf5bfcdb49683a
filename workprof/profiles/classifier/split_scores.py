"""Scores of a classifier's answers on one split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Bools, Ints
from workprof.profiles.classifier.calibration import Reliability, reliability
from workprof.profiles.classifier.classification_scores import (
    ClassScore,
    Confusion,
    class_scores,
    confusion_of,
    macro_f1,
    weighted_f1,
)
from workprof.profiles.classifier.predictions import NO_PROFILE, REASON_CODES, Predictions


@dataclass(frozen=True)
class SplitScores:
    """One train and test split.

    Attributes:
        split: 'random', 'by_job', 'by_group' or 'by_time'.
        accuracy: share of the test rows whose answer is right; for an outlier 'no profile' is.
        macro_f1: mean F1 over the profiles that occur as truth or answer.
        weighted_f1: the same weighted by their test rows.
        abstained_share: of the test rows.
        n_train: rows of one training; the mean where there are several turns.
        n_test: rows, each tested once.
        train_seconds: one training, inner hold-out included; the mean of the turns.
        n_turns: trainings; by job and by group each row is tested in one of five.
        profile_accuracy: of the test rows with a profile only.
        answered_accuracy: of the answered rows only; NaN without any.
        forced_accuracy: of the most likely profile, over the test rows with a profile.
        forced_macro_f1: the same as macro F1; to compare with a classifier that never abstains.
        calibration_error: expected calibration error of the most likely class.
        reasons: reason code -> test rows that abstained for it.
        classes: Table V, worst first; -1 = the outliers.
        confusion: truth against answer.
        reliability: of the most likely class, 'no profile' included.
    """

    split: str
    accuracy: float
    macro_f1: float
    weighted_f1: float
    abstained_share: float
    n_train: int
    n_test: int
    train_seconds: float
    n_turns: int
    profile_accuracy: float
    answered_accuracy: float
    forced_accuracy: float
    forced_macro_f1: float
    calibration_error: float
    reasons: dict[str, int]
    classes: tuple[ClassScore, ...]
    confusion: Confusion
    reliability: Reliability


@dataclass(frozen=True)
class Turn:
    """One training and its test rows: (n_test,) truth, the answers, training rows and seconds."""

    truth: Ints
    answers: Predictions
    n_train: int
    train_seconds: float


def score_turns(split: str, turns: Sequence[Turn]) -> SplitScores:
    """Return the scores over the test rows of all turns together."""
    truth = np.concatenate([turn.truth for turn in turns])
    answered, best, reason = (_gathered(turns, name) for name in ("profile", "best", "reason"))
    likeliest = np.concatenate([turn.answers.top[:, 0] for turn in turns])
    stated = np.concatenate([turn.answers.top_probability[:, 0] for turn in turns])
    held = reliability(stated, likeliest == truth)
    confusion = confusion_of(truth, answered)
    classes = class_scores(confusion)
    right, profiled, abstained = answered == truth, truth != NO_PROFILE, reason > 0
    return SplitScores(
        split=split,
        accuracy=float(right.mean()),
        macro_f1=macro_f1(classes),
        weighted_f1=weighted_f1(classes),
        abstained_share=float(abstained.mean()),
        n_train=round(float(np.mean([turn.n_train for turn in turns]))),
        n_test=len(truth),
        train_seconds=float(np.mean([turn.train_seconds for turn in turns])),
        n_turns=len(turns),
        profile_accuracy=_mean(right[profiled]),
        answered_accuracy=_mean(right[~abstained]),
        forced_accuracy=_mean((best == truth)[profiled]),
        forced_macro_f1=macro_f1(class_scores(confusion_of(truth[profiled], best[profiled]))),
        calibration_error=held.error,
        reasons={code: int((reason == place).sum()) for place, code in enumerate(REASON_CODES) if place},
        classes=classes,
        confusion=confusion,
        reliability=held,
    )


def _gathered(turns: Sequence[Turn], name: str) -> NDArray[np.int64]:
    return np.concatenate([getattr(turn.answers, name) for turn in turns])


def _mean(values: Bools) -> float:
    return float(values.mean()) if len(values) else float("nan")
