"""The search for groups: k-means for every k, the largest mean silhouette wins, resamples tell how stable it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints

MOST_GROUPS = 10
N_STARTS, N_STARTS_RESAMPLED = 10, 3


@dataclass(frozen=True)
class Grouping:
    """The best grouping.

    Attributes:
        labels: (n_nodes,) group, the largest is 0; all 0 for one group.
        silhouette: mean over the nodes; NaN for one group.
        silhouettes: k as text -> mean silhouette.
    """

    labels: Ints
    silhouette: float
    silhouettes: dict[str, float]

    @property
    def k(self) -> int:
        """Number of groups."""
        return int(self.labels.max(initial=0)) + 1


def best_grouping(features: Floats, least_silhouette: float, seed: int) -> Grouping:
    """Return the grouping with the largest mean silhouette, the smaller k on ties; one group where it is weak.

    Args:
        features: (n_nodes, n_features), any scale.
        least_silhouette: at or below it there is one group.
        seed: of the starts.

    Source: perona.md 4.4, k = 2 .. min(10, n - 1).
    """
    from sklearn.metrics import silhouette_score  # noqa: PLC0415  heavy

    n = len(features)
    scaled = standardised(features)
    most = min(MOST_GROUPS, n - 1, len(np.unique(scaled, axis=0)))
    found, silhouettes = {}, {}
    for k in range(2, most + 1):
        found[k] = k_means(scaled, k, seed, N_STARTS)
        silhouettes[k] = float(silhouette_score(scaled, found[k]))
    told = {str(k): value for k, value in silhouettes.items()}
    best = max(silhouettes, key=lambda k: (round(silhouettes[k], 9), -k), default=None)
    if best is None or silhouettes[best] <= least_silhouette:
        return Grouping(np.zeros(n, dtype=np.int64), float("nan"), told)
    return Grouping(by_size(found[best]), silhouettes[best], told)


def k_means(scaled: Floats, k: int, seed: int, n_starts: int) -> Ints:
    """Return (n_nodes,) group by k-means with several seeded starts."""
    from sklearn.cluster import KMeans  # noqa: PLC0415  heavy

    labels = KMeans(n_clusters=k, n_init=n_starts, random_state=seed).fit_predict(scaled)
    return np.asarray(labels, dtype=np.int64)


def standardised(features: Floats) -> Floats:
    """Return features with mean 0 and standard deviation 1; a constant one is all 0."""
    spread = features.std(axis=0)
    scaled: Floats = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def by_size(labels: Ints) -> Ints:
    """Return the same groups numbered from the largest; of two alike the one that has the first node."""
    names, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    number = np.empty(len(names), dtype=np.int64)
    number[order] = np.arange(len(names))
    return np.asarray(number[np.searchsorted(names, labels)], dtype=np.int64)


def stability(draws: Floats, labels: Ints, n_resamples: int, seed: int) -> float:
    """Return the mean adjusted Rand index of the grouping with those of resampled runs, at the same k.

    Args:
        draws: (n_draws, n_nodes, n_features); resamples with a missing value are passed over.
        labels: (n_nodes,) of the grouping.
        n_resamples: used at most.
        seed: of the starts.
    """
    whole = draws[np.isfinite(draws).all(axis=(1, 2))][:n_resamples]
    k = int(labels.max(initial=0)) + 1
    if k < 2 or not len(whole):
        return float("nan")
    indices = [
        adjusted_rand(labels, k_means(standardised(one), k, seed, N_STARTS_RESAMPLED))
        for one in whole
        if len(np.unique(one, axis=0)) >= k
    ]
    return float(np.mean(indices)) if indices else float("nan")


def adjusted_rand(one: Ints, other: Ints) -> float:
    """Return the adjusted Rand index of two groupings of the same nodes."""
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415  heavy

    return float(adjusted_rand_score(one, other))
