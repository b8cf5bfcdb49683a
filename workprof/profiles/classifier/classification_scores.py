"""Answers against the truth: the confusion matrix and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Ints
from workprof.profiles.classifier.predictions import NO_PROFILE


@dataclass(frozen=True)
class ClassScore:
    """One line of the paper's Table V; shares are 0-1, and 0 where nothing can be divided."""

    profile: int
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Confusion:
    """Test rows by truth and answer.

    Attributes:
        classes: (n,) rising; -1 = no profile, as truth an outlier, as answer an abstention.
        counts: (n, n) rows by truth (down) and answer (across).
    """

    classes: Ints
    counts: Ints


def confusion_of(truth: Ints, answers: Ints) -> Confusion:
    """Return the confusion matrix of (n_rows,) labels; its classes are those that occur on either side."""
    classes, places = np.unique(np.concatenate([truth, answers]), return_inverse=True)
    n = len(classes)
    cells = np.bincount(places[: len(truth)] * n + places[len(truth) :], minlength=n * n)
    return Confusion(classes, cells.reshape(n, n).astype(np.int64))


def class_scores(confusion: Confusion) -> tuple[ClassScore, ...]:
    """Return precision, recall, F1 and support per class, the worst F1 first, then by support."""
    counts = confusion.counts
    right, truth, answers = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision = right / np.maximum(answers, 1)
    recall = right / np.maximum(truth, 1)
    f1 = 2 * right / np.maximum(truth + answers, 1)
    scores = [
        ClassScore(int(profile), float(precision[i]), float(recall[i]), float(f1[i]), int(truth[i]))
        for i, profile in enumerate(confusion.classes)
    ]
    return tuple(sorted(scores, key=lambda score: (score.f1, -score.support, score.profile)))


def macro_f1(scores: tuple[ClassScore, ...]) -> float:
    """Return the mean F1 of the profiles; 'no profile' is not one. NaN without profiles."""
    found = [score.f1 for score in scores if score.profile != NO_PROFILE]
    return float(np.mean(found)) if found else float("nan")


def weighted_f1(scores: tuple[ClassScore, ...]) -> float:
    """Return the mean F1 of the profiles, weighted by their test rows. NaN without."""
    found = [score for score in scores if score.profile != NO_PROFILE]
    rows = sum(score.support for score in found)
    return sum(score.f1 * score.support for score in found) / rows if rows else float("nan")
