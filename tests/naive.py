"""Slow, obvious versions of what workprof computes fast. Nothing here is imported by the product."""

import numpy as np
from scipy.spatial.distance import cdist

SCIPY_METRIC = {"euclidean": "euclidean", "manhattan": "cityblock", "cosine": "cosine"}


def distances(points, metric):
    """Return the (n, n) distance matrix."""
    return cdist(points, points, SCIPY_METRIC[metric])


def core_distances(points, metric, min_samples):
    """Return the distance of each row to its `min_samples`-th other row."""
    return np.sort(distances(points, metric), axis=1)[:, min(min_samples, len(points) - 1)]


def mutual_reachability(points, metric, min_samples):
    """Return the (n, n) matrix whose spanning tree HDBSCAN cuts."""
    core = core_distances(points, metric, min_samples)
    return np.maximum(np.maximum(core[:, None], core[None, :]), distances(points, metric))


def spanning_tree_weights(weights):
    """Return the sorted edge weights of the minimum spanning tree of a dense graph (Prim)."""
    n = len(weights)
    inside, best, current, taken = np.zeros(n, dtype=bool), np.full(n, np.inf), 0, []
    for _ in range(n - 1):
        inside[current] = True
        best = np.minimum(best, weights[current])
        current = int(np.where(inside, np.inf, best).argmin())
        taken.append(best[current])
    return np.sort(np.array(taken))


def silhouettes(points, labels, metric):
    """Return the silhouette of each row, one row at a time; every label is a group."""
    gaps, result = distances(points, metric), np.zeros(len(points))
    for i, own in enumerate(labels):
        mates = labels == own
        if mates.sum() == 1:
            continue
        a = gaps[i][mates].sum() / (mates.sum() - 1)
        b = min(gaps[i][labels == other].mean() for other in set(labels.tolist()) - {own})
        result[i] = (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return result
