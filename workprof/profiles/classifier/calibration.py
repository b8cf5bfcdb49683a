"""Probabilities that mean what they say: a temperature, a threshold, and how well they hold.

One temperature for all classes divides the scores before the softmax. It has one number to learn, so a hold-out with
few rows of a small profile suffices, and it never changes the order of the classes; isotonic curves per class need
many rows each and do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints

TEMPERATURES = np.geomspace(0.5, 8.0, 49)
N_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Stated probability against what came true, in ten equal bins.

    Attributes:
        edges: (11,) of the probability.
        rows: (10,) in each bin.
        stated: (10,) mean probability; NaN in an empty bin.
        observed: (10,) share that was right; NaN in an empty bin.
        error: expected calibration error 0-1: |stated - observed| weighted by rows; NaN without rows.
    """

    edges: Floats
    rows: Ints
    stated: Floats
    observed: Floats
    error: float


def softmax(scores: Floats, temperature: float) -> Floats:
    """Return (n_rows, n_classes) probabilities of scores at a temperature."""
    scaled = scores / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_loss(scores: Floats, targets: Ints, weights: Floats, temperature: float) -> float:
    """Return the weighted mean of -log(probability of the true class)."""
    scaled = scores / temperature
    highest = scaled.max(axis=1)
    normaliser = highest + np.log(np.exp(scaled - highest[:, None]).sum(axis=1))
    return float(np.average(normaliser - scaled[np.arange(len(targets)), targets], weights=weights))


def best_temperature(scores: Floats, targets: Ints, weights: Floats) -> float:
    """Return the temperature of `TEMPERATURES` with the least log loss.

    Source:
        temperature scaling (Guo et al., ICML 2017); ours searches a grid instead of descending.
    """
    losses = [log_loss(scores, targets, weights, float(temperature)) for temperature in TEMPERATURES]
    return float(TEMPERATURES[int(np.argmin(losses))])


def best_threshold(probability: Floats, right: Bools, weights: Floats, wrong_cost: float) -> float:
    """Return the probability from which on answering gains: the largest right - wrong_cost * wrong on these rows.

    Args:
        probability: (n_rows,) of the answers that would be given.
        right: (n_rows,) whether they would be right.
        weights: (n_rows,).
        wrong_cost: of a wrong answer, when a right one gains 1.
    """
    if not len(probability):
        return wrong_cost / (1 + wrong_cost)  # where probabilities hold, the best one
    order = np.argsort(-probability, kind="stable")
    gain = np.cumsum(np.where(right, 1.0, -wrong_cost)[order] * weights[order])
    last_of_value = np.append(np.diff(probability[order]) != 0, True)
    best = int(np.where(last_of_value, gain, -np.inf).argmax())
    return float(probability[order][best]) if gain[best] > 0 else wrong_cost / (1 + wrong_cost)


def reliability(probability: Floats, right: Bools) -> Reliability:
    """Return how far stated probabilities hold.

    Args:
        probability: (n_rows,) of the most likely class.
        right: (n_rows,) whether it was the true one.
    """
    edges = np.linspace(0, 1, N_BINS + 1)
    bins = np.clip((probability * N_BINS).astype(np.int64), 0, N_BINS - 1)
    rows = np.bincount(bins, minlength=N_BINS)
    filled = np.where(rows > 0, rows, np.nan)
    stated = np.bincount(bins, weights=probability, minlength=N_BINS) / filled
    observed = np.bincount(bins, weights=right, minlength=N_BINS) / filled
    error = float(np.nansum(np.abs(stated - observed) * rows) / rows.sum()) if rows.sum() else float("nan")
    return Reliability(edges, rows.astype(np.int64), stated, observed, error)
