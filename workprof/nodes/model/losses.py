"""The loss terms (perona.md 3.3), each on its own; windows carry weights, so that padding and held-out ones count 0."""

from __future__ import annotations

from typing import Any

from workprof.nodes.model.backend import jax_on_cpu
from workprof.nodes.model.layers import SMALL

TRIPLET_MARGIN = 0.05
MINED_MARGIN = 0.2


def class_balance(n_positive: float, n_negative: float, beta: float) -> float:
    """Return alpha, the weight of anomalous runs: w_pos / (w_pos + w_neg), w = (1 - beta) / (1 - beta^n).

    0.5 where a class is empty.
    """
    if min(n_positive, n_negative) <= 0:
        return 0.5
    positive, negative = ((1 - beta) / (1 - beta**n) for n in (n_positive, n_negative))
    return float(positive / (positive + negative))


def focal(logits: Any, labels: Any, weights: Any, alpha: Any, gamma: float) -> Any:
    """Return the class-balanced focal loss, summed over runs and divided by the positives; 0 without positives at all.

    Args:
        logits: (n_runs,).
        labels: (n_runs,) 1 = anomalous.
        weights: (n_runs,).
        alpha: weight of the positive class 0-1.
        gamma: how much easy runs are played down.
    """
    jax = jax_on_cpu()
    jnp = jax.numpy
    entropy = jax.nn.softplus(logits) - labels * logits
    right = jnp.exp(-jnp.maximum(entropy, SMALL))
    balance = alpha * labels + (1 - alpha) * (1 - labels)
    terms = weights * balance * entropy * jnp.maximum(1 - right, SMALL) ** gamma
    n_positive = (weights * labels).sum()
    return terms.sum() / jnp.where(n_positive > 0, n_positive, jnp.maximum(weights.sum(), 1.0))


def squared_error(restored: Any, runs: Any, counted: Any) -> Any:
    """Return the mean squared error over the entries that count (same shape, weights)."""
    jnp = jax_on_cpu().numpy
    return (counted * (restored - runs) ** 2).sum() / jnp.maximum(counted.sum(), 1.0)


def cross_entropy(logits: Any, types: Any, weights: Any) -> Any:
    """Return the mean cross-entropy of (n_runs, n_types) logits against (n_runs,) types."""
    jax = jax_on_cpu()
    told = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), types[:, None], axis=-1)[:, 0]
    return -(weights * told).sum() / jax.numpy.maximum(weights.sum(), 1.0)


def triplets(codes: Any, types: Any, weights: Any) -> Any:
    """Return the triplet margin loss on cosine similarity, averaged over the triplets that violate the margin.

    Args:
        codes: (n, code).
        types: (n,), anchor and positive share one, the negative has another.
        weights: (n,), 0 leaves a code out.
    """
    jnp = jax_on_cpu().numpy
    unit = codes / jnp.sqrt((codes**2).sum(axis=-1, keepdims=True) + SMALL)
    alike = unit @ unit.T
    same = (types[:, None] == types[None, :]) & (weights[:, None] * weights[None, :] > 0)
    other = (types[:, None] != types[None, :]) & (weights[:, None] * weights[None, :] > 0)
    positive = same & ~jnp.eye(len(types), dtype=bool)
    gap = alike[:, :, None] - alike[:, None, :]
    chosen = positive[:, :, None] & other[:, None, :] & (gap <= MINED_MARGIN)
    loss = jnp.where(chosen, jnp.maximum(TRIPLET_MARGIN - gap, 0.0), 0.0)
    return loss.sum() / jnp.maximum((loss > 0).sum(), 1)


def rank_normal(code_norms: Any, run_norms: Any, normal: Any) -> Any:
    """Return the ranking loss of normal pairs inside windows: norms of codes in the ratio of the norms of the runs.

    Args:
        code_norms: (n_windows, n).
        run_norms: (n_windows, n).
        normal: (n_windows, n), weights; a pair counts the product.
    """
    jnp = jax_on_cpu().numpy
    first, second = run_norms[:, :, None], run_norms[:, None, :]
    pairs = normal[:, :, None] * normal[:, None, :] * (first != second)
    ratio = first / jnp.maximum(second, SMALL)
    short = -jnp.sign(first - second) * (code_norms[:, :, None] - ratio * code_norms[:, None, :])
    return (pairs * jnp.maximum(short, 0.0)).sum() / jnp.maximum(pairs.sum(), 1.0)


def rank_anomalous(code_norms: Any, run_norms: Any, anomalous: Any, least: Any) -> Any:
    """Return the ranking loss of an anomalous last run against its normal predecessors; 0 without anomalous runs.

    Args:
        code_norms: (n_windows, n), the last one is judged.
        run_norms: (n_windows, n).
        anomalous: (n_windows,), weight where the last run is anomalous.
        least: (n_windows,), rho: smallest norm of the type's normal training runs less their standard deviation.
    """
    jnp = jax_on_cpu().numpy
    largest = jnp.maximum(jnp.maximum(run_norms[:, :-1], run_norms[:, -1:]), SMALL)
    rho = jnp.maximum(least, SMALL)[:, None]
    factor = jnp.minimum(largest / rho, rho / largest)
    bad, good = code_norms[:, -1:], code_norms[:, :-1]
    terms = jnp.maximum(bad - factor * good, 0.0) + jnp.maximum(bad / jnp.maximum(factor, SMALL) - good, 0.0)
    return (anomalous[:, None] * terms).sum() / jnp.maximum(anomalous.sum(), 1.0)
