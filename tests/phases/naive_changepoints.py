"""Slow, obvious versions of the search for change points: SciPy's Student-t, every segmentation tried."""

import itertools
import math

import numpy as np
from scipy.special import gammaln, logsumexp
from scipy.stats import t as student


def log_posterior(series, mu0, kappa0, alpha0, beta0, hazard_samples):
    """Return log P(r_t = r | y_1..y_t) at [t, r], and the log evidence, by the recursion as published."""
    hazard, n = 1 / hazard_samples, len(series)
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 0], evidence = 0.0, 0.0
    mu, kappa, alpha, beta = (np.array([float(value)]) for value in (mu0, kappa0, alpha0, beta0))
    for t, y in enumerate(series):
        predictive = student.logpdf(y, 2 * alpha, mu, np.sqrt(beta * (kappa + 1) / (alpha * kappa)))
        joint = table[t, : t + 1] + predictive
        row = np.concatenate([[logsumexp(joint) + math.log(hazard)], joint + math.log(1 - hazard)])
        evidence += logsumexp(row)
        table[t + 1, : t + 2] = row - logsumexp(row)
        beta = np.concatenate([[beta0], beta + kappa * (y - mu) ** 2 / (2 * (kappa + 1))])
        mu = np.concatenate([[mu0], (kappa * mu + y) / (kappa + 1)])
        kappa, alpha = np.concatenate([[kappa0], kappa + 1]), np.concatenate([[alpha0], alpha + 0.5])
    return table, evidence


def stretch_evidence(y, mu0, kappa0, alpha0, beta0):
    """Return the log evidence of one phase."""
    n, mean = len(y), np.mean(y)
    kappa, alpha = kappa0 + n, alpha0 + n / 2
    beta = beta0 + 0.5 * np.sum((y - mean) ** 2) + kappa0 * n * (mean - mu0) ** 2 / (2 * kappa)
    first = gammaln(alpha) - gammaln(alpha0) + alpha0 * np.log(beta0) - alpha * np.log(beta)
    return first + 0.5 * np.log(kappa0 / kappa) - n / 2 * np.log(2 * np.pi)


def every_segmentation(series, mu0, kappa0, alpha0, beta0, hazard_samples):
    """Return all segmentations, as tuples of changes, and their log scores."""
    n, hazard = len(series), 1 / hazard_samples
    found = []
    for chosen in itertools.product([False, True], repeat=n - 1):
        changes = tuple(i + 1 for i, change in enumerate(chosen) if change)
        parts = np.split(np.asarray(series), changes)
        score = sum(stretch_evidence(y, mu0, kappa0, alpha0, beta0) + (len(y) - 1) * np.log(1 - hazard) for y in parts)
        found.append((changes, score + len(changes) * np.log(hazard)))
    return [changes for changes, _ in found], np.array([score for _, score in found])


def best_segmentation(series, mu0, kappa0, alpha0, beta0, hazard_samples):
    """Return the changes of the best segmentation and its log score, by the plain dynamic programme."""
    hazard, scores, last = 1 / hazard_samples, [0.0], []
    for end in range(1, len(series) + 1):
        options = [
            scores[start]
            + (math.log(hazard) if start else 0.0)
            + stretch_evidence(np.asarray(series[start:end]), mu0, kappa0, alpha0, beta0)
            + (end - start - 1) * math.log(1 - hazard)
            for start in range(end)
        ]
        scores.append(max(options))
        last.append(int(np.argmax(options)))
    changes, end = [], len(series)
    while last[end - 1] > 0:
        end = last[end - 1]
        changes.append(end)
    return changes[::-1], scores[-1]


def path(table):
    """Return the changes that the most probable run lengths, at least 1, lead back to."""
    changes, t = [], len(table) - 1
    while t > 0:
        t -= 1 + int(np.argmax(table[t, 1:]))
        if t > 0:
            changes.append(t)
    return changes[::-1]


def drops(table):
    """Return t - r_t of every t at which the most probable run length did not grow, within the series."""
    runs = np.argmax(table, axis=1)
    found = [t - runs[t] for t in range(1, len(runs)) if runs[t] <= runs[t - 1]]
    return [change for change in found if 0 < change < len(runs) - 1]
