"""OPTICS, the paper's other algorithm, by scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np

from workprof.arrays import Floats
from workprof.profiles.clusters.clusters import Clusters


def run_optics(points: Floats, metric: str, min_samples: int) -> Clusters:
    """Return the clustering of OPTICS with the xi method.

    Args:
        points: (n_rows, n_dims) scaled values; the caller draws a sample of at most 10,000 rows, because the library
            visits the rows one by one.
        metric: 'euclidean' or 'manhattan'.
        min_samples: the size of the paper's grid; the smallest cluster is the same.

    Source:
        Ankerst et al. 1999 in scikit-learn with its defaults, as the paper. Membership strengths do not exist there: 1
        for the rows of a cluster.
    """
    from sklearn.cluster import OPTICS  # noqa: PLC0415  heavy

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Duplicates have reachability 0 and scikit-learn divides by it; the ratio is compared as infinite, as meant.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = OPTICS(min_samples=min_samples, metric=metric).fit(points).labels_.astype(np.int64)
    sizes = np.bincount(found[found >= 0]) if (found >= 0).any() else np.zeros(0, dtype=np.int64)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    labels = np.where(found >= 0, rank[found], -1) if len(sizes) else found
    return Clusters(labels, (labels >= 0).astype(np.float64), None)
