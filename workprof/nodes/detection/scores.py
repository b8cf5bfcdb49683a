"""How well a detector tells stressed runs from others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.nodes.detection.probabilities import Reliability, reliability

N_DRAWS = 500
CONFIDENCE = 0.95


@dataclass(frozen=True)
class DetectorFigures:
    """Figures of one detector on runs that it was not trained on.

    Attributes:
        f1_normal, f1_anomalous: NaN where nothing is of the class and nothing is taken for it.
        weighted_accuracy: recall weighted by class support.
        pr_auc: average precision over all thresholds; NaN without anomalous runs.
        brier: mean squared error of the probability.
        f1_anomalous_interval: 95 %, runs drawn again 500 times.
        threshold: probability from which on runs were flagged.
        validation_loss: log loss inside the training part, by which the detector is chosen; NaN where not validated.
        reliability: of the probabilities.
        n, n_anomalous: labelled runs, and those under stress.
    """

    f1_normal: float
    f1_anomalous: float
    weighted_accuracy: float
    pr_auc: float
    brier: float
    f1_anomalous_interval: tuple[float, float]
    threshold: float
    validation_loss: float
    reliability: Reliability
    n: int
    n_anomalous: int


@dataclass(frozen=True)
class Judged:
    """Labelled runs with a detector's verdicts; all (n,)."""

    probability: Floats
    flag: Bools
    anomalous: Bools


def figures_of(judged: Judged, threshold: float, validation_loss: float, seed: int) -> DetectorFigures:
    """Return the figures of verdicts."""
    flag, truth = judged.flag, judged.anomalous
    return DetectorFigures(
        f1_normal=f1(~flag, ~truth),
        f1_anomalous=f1(flag, truth),
        weighted_accuracy=float((flag == truth).mean()) if len(truth) else float("nan"),
        pr_auc=average_precision(judged.probability, truth),
        brier=float(((judged.probability - truth) ** 2).mean()) if len(truth) else float("nan"),
        f1_anomalous_interval=_interval(flag, truth, seed),
        threshold=threshold,
        validation_loss=validation_loss,
        reliability=reliability(judged.probability, truth),
        n=len(truth),
        n_anomalous=int(truth.sum()),
    )


def f1(told: Bools, truth: Bools) -> float:
    """Return the harmonic mean of precision and recall; NaN where nothing is told or true."""
    either = told.sum() + truth.sum()
    return float(2 * (told & truth).sum() / either) if either else float("nan")


def average_precision(scores: Floats, anomalous: Bools) -> float:
    """Return the area under precision over recall, step by step; equal scores enter together. NaN without truth."""
    if not anomalous.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(anomalous[order])
    last = np.append(np.diff(scores[order]) != 0, True)
    precision, recall = (hits / np.arange(1, len(hits) + 1))[last], hits[last] / hits[-1]
    return float((np.diff(np.append(0.0, recall)) * precision).sum())


def _interval(flag: Bools, truth: Bools, seed: int) -> tuple[float, float]:
    if not len(truth):
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(truth), (N_DRAWS, len(truth)))
    told = np.array([f1(flag[rows], truth[rows]) for rows in drawn])
    told = told[np.isfinite(told)]
    if not len(told):
        return float("nan"), float("nan")
    low, high = np.quantile(told, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)
