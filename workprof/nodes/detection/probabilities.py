"""Scores made into probabilities, and how well those hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints

MANY_RUNS = 200
"""From here on an isotonic curve, below it two numbers. Source: perona.md 4.3."""

N_BINS = 10
STEPS = 100


@dataclass(frozen=True)
class Calibration:
    """How a score becomes a probability.

    Attributes:
        method: 'platt', 'isotonic', or 'as told': the logistic function of the score.
        slope, intercept: of Platt's curve.
        scores, probabilities: (n,) corners of the isotonic curve; empty for the others.
        n: runs that it was learned from.
    """

    method: str
    slope: float
    intercept: float
    scores: Floats
    probabilities: Floats
    n: int


@dataclass(frozen=True)
class Reliability:
    """Stated probability against what came true, in ten equal bins.

    Attributes:
        rows: (10,) runs in each bin.
        stated: (10,) mean probability; NaN in an empty bin.
        observed: (10,) share that was anomalous; NaN in an empty bin.
        error: expected calibration error 0-1; NaN without runs.
    """

    rows: Ints
    stated: Floats
    observed: Floats
    error: float


AS_TOLD = Calibration("as told", 1.0, 0.0, np.zeros(0), np.zeros(0), 0)


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + exp(-values))."""
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def learn_calibration(scores: Floats, anomalous: Bools) -> Calibration:
    """Return how scores become probabilities, learned from runs that the detector had not seen.

    Args:
        scores: (n,) higher = more anomalous.
        anomalous: (n,).

    Source:
        Platt, Probabilistic outputs for support vector machines (1999), with its smoothed targets; Zadrozny and Elkan
        (2002) for the isotonic curve, which ours keeps away from 0 and 1 by one run.
    """
    if not anomalous.any() or anomalous.all():
        return AS_TOLD
    if len(scores) >= MANY_RUNS:
        return _isotonic(scores, anomalous)
    slope, intercept = _platt(scores, anomalous)
    return Calibration("platt", slope, intercept, np.zeros(0), np.zeros(0), len(scores))


def probability_of(calibration: Calibration, scores: Floats) -> Floats:
    """Return (n,) probabilities of being anomalous."""
    if calibration.method == "isotonic":
        return np.interp(scores, calibration.scores, calibration.probabilities)
    return logistic(calibration.slope * scores + calibration.intercept)


def reliability(probability: Floats, anomalous: Bools) -> Reliability:
    """Return how far stated probabilities hold."""
    bins = np.clip((probability * N_BINS).astype(np.int64), 0, N_BINS - 1)
    rows = np.bincount(bins, minlength=N_BINS).astype(np.int64)
    filled = np.where(rows > 0, rows, np.nan)
    stated = np.bincount(bins, weights=probability, minlength=N_BINS) / filled
    observed = np.bincount(bins, weights=anomalous, minlength=N_BINS) / filled
    error = float(np.nansum(np.abs(stated - observed) * rows) / rows.sum()) if rows.sum() else float("nan")
    return Reliability(rows, stated, observed, error)


def run_losses(probability: Floats, anomalous: Bools) -> Floats:
    """Return (n,) -log(probability of what came true)."""
    return np.asarray(-np.log(np.clip(np.where(anomalous, probability, 1 - probability), 1e-6, 1)))


def alarm_threshold(probability: Floats, anomalous: Bools, false_alarm_share: float) -> float:
    """Return the probability from which on a run is flagged: 0.5, raised until few enough normal runs are flagged.

    Args:
        probability: (n,) of runs that the detector had not seen.
        anomalous: (n,).
        false_alarm_share: of the normal runs that may be flagged, 0-1.
    """
    normal = np.sort(probability[~anomalous])
    allowed = int(false_alarm_share * len(normal))
    if allowed >= len(normal):
        return 0.5
    return float(max(0.5, np.nextafter(normal[-1 - allowed], 2.0)))


def _platt(scores: Floats, anomalous: Bools) -> tuple[float, float]:
    """Return slope (never negative) and intercept of the smoothed targets' least log loss, by Newton's steps."""
    n_bad, n_good = int(anomalous.sum()), int((~anomalous).sum())
    target = np.where(anomalous, (n_bad + 1) / (n_bad + 2), 1 / (n_good + 2))
    middle, spread = float(scores.mean()), float(scores.std()) or 1.0
    design = np.column_stack([(scores - middle) / spread, np.ones(len(scores))])
    found = np.array([0.0, np.log((n_bad + 1) / (n_good + 1))])
    for _ in range(STEPS):
        told = logistic(design @ found)
        curvature = (design * (told * (1 - told))[:, None]).T @ design + 1e-6 * np.eye(2)
        change = np.linalg.solve(curvature, design.T @ (told - target))
        found = found - np.clip(change, -1, 1)
        if np.abs(change).max() < 1e-9:
            break
    slope = max(float(found[0]), 0.0) / spread
    return slope, float(found[1]) - slope * middle


def _isotonic(scores: Floats, anomalous: Bools) -> Calibration:
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415  heavy

    edge = 1 / (len(scores) + 2)
    curve = IsotonicRegression(y_min=edge, y_max=1 - edge, out_of_bounds="clip").fit(scores, anomalous.astype(float))
    corners = np.asarray(curve.X_thresholds_, dtype=np.float64), np.asarray(curve.y_thresholds_, dtype=np.float64)
    return Calibration("isotonic", 0.0, 0.0, *corners, len(scores))
