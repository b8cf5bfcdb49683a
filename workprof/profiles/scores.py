"""How good a clustering is: the three published scores, Davies-Bouldin, density validity, agreement with the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_if_present
from workprof.profiles.silhouettes import Silhouettes, exact_silhouettes, sampled_silhouettes

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.features import Prepared
    from workprof.profiles.tree import SpanningTree


@dataclass(frozen=True)
class ProfileScores:
    """Scores of a clustering. NaN where undefined (fewer than two groups)."""

    n_rows: int  # clustered rows (outliers included)
    n_clusters: int  # profiles, outliers not counted
    n_outliers: int  # rows labelled -1
    mean_cluster_size: float  # (n_rows - n_outliers) / n_clusters
    avg_silhouette: float  # as published: over all rows with -1 as one cluster, then averaged over the non-outliers
    silhouette_clustered: float  # the proper one: among the non-outliers only
    silhouette_method: str  # 'exact' or 'sampled'; '' = only counted, not scored yet
    silhouette_se: float  # standard error of silhouette_clustered (0 when exact)
    n_silhouette: int  # rows whose silhouette was computed
    davies_bouldin: float  # as published, with -1 as a cluster
    davies_bouldin_clustered: float  # among the non-outliers only
    dbcv: float  # density-based validity index of at most 3,000 rows; NaN in a sweep
    acquires: float  # (s_s + s_k + s_o) / 3
    scores_v3: float  # 0.4 s_s + 0.1 s_k + 0.5 s_o
    ccpm: float  # s_s + 1 / davies_bouldin
    truth_adjusted_rand: float  # against planted labels over the non-outliers; NaN without truth
    relative_validity: float = float("nan")  # hdbscan's quick stand-in for the index, from the spanning tree


def size_term(n_clusters: float, target_clusters: int) -> float:
    """s_k = 1 - |target - k| / max(target, k), 0 to 1.

    Source: PolarisProfiler's notebook with target 26. Its package passes the mean cluster *size* as k, which makes the
    term about 0.009 whatever the clustering is.
    """
    return 1.0 - abs(target_clusters - n_clusters) / max(target_clusters, n_clusters)


def outlier_term(n_outliers: int, n_rows: int) -> float:
    """s_o = 1 - share of outliers, 0 to 1; NaN without rows."""
    return 1.0 - n_outliers / n_rows if n_rows else float("nan")


def acquires(avg_silhouette: float, n_clusters: float, n_outliers: int, n_rows: int, target_clusters: int) -> float:
    """ACQUIRES (the paper's scores_v1): the mean of silhouette, size and outlier term.

    Source: PolarisProfiler; nothing differs, except that the target (26 in the paper) is a parameter.
    """
    return (avg_silhouette + size_term(n_clusters, target_clusters) + outlier_term(n_outliers, n_rows)) / 3.0


def scores_v3(avg_silhouette: float, n_clusters: float, n_outliers: int, n_rows: int, target_clusters: int) -> float:
    """0.4 s_s + 0.1 s_k + 0.5 s_o.

    Source: PolarisProfiler's notebook; nothing differs.
    """
    size, outliers = size_term(n_clusters, target_clusters), outlier_term(n_outliers, n_rows)
    return 0.4 * avg_silhouette + 0.1 * size + 0.5 * outliers


def ccpm(avg_silhouette: float, davies_bouldin: float) -> float:
    """CCPM = silhouette + 1 / Davies-Bouldin.

    Source: PolarisProfiler's notebook; nothing differs. NaN where Davies-Bouldin is 0 or undefined.
    """
    return avg_silhouette + 1.0 / davies_bouldin if davies_bouldin else float("nan")


def davies_bouldin(points: Floats, labels: Ints) -> float:
    """The Davies-Bouldin index of all rows (each label, -1 too, is a cluster); NaN below two clusters.

    Source: Davies and Bouldin 1979, Euclidean as in scikit-learn; coinciding centroids count as 0 like there.
    """
    groups, codes = np.unique(labels, return_inverse=True)
    if len(groups) < 2 or len(groups) == len(labels):
        return float("nan")
    sizes = np.bincount(codes).astype(np.float64)
    totals = [np.bincount(codes, weights=points[:, d], minlength=len(groups)) for d in range(points.shape[1])]
    centroids = np.column_stack(totals) / sizes[:, None]  # (n_groups, n_dims)
    to_centroid = np.sqrt(((points - centroids[codes]) ** 2).sum(axis=1))
    spread = np.bincount(codes, weights=to_centroid) / sizes
    apart = np.sqrt(((centroids[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2))
    if np.allclose(spread, 0) or np.allclose(apart, 0):
        return 0.0
    apart[apart == 0] = np.inf
    return float(((spread[:, None] + spread[None, :]) / apart).max(axis=1).mean())


def relative_validity(tree: SpanningTree, labels: Ints) -> float:
    """Hdbscan's quick stand-in for the validity index, -1 to 1; NaN without profiles.

    Source: hdbscan's `relative_validity_`: sparseness and separation are taken from the mutual-reachability spanning
    tree instead of all pairs, so values compare only within one data set. It is not the index of Moulavi et al. 2014.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    if n_clusters == 0 or not len(tree.weight):
        return float("nan")
    one, other, weight = labels[tree.source], labels[tree.target], tree.weight
    within = (one == other) & (one >= 0)
    between = (one != other) & (one >= 0) & (other >= 0)
    to_noise = (one >= 0) ^ (other >= 0)
    sparseness = np.zeros(n_clusters)
    np.maximum.at(sparseness, one[within], weight[within])
    separation = np.full(n_clusters, np.inf)
    np.minimum.at(separation, one[between], weight[between])
    np.minimum.at(separation, other[between], weight[between])
    alone = weight[to_noise].min() if to_noise.any() else weight.max()
    separation[np.isinf(separation)] = 2.0 * (weight.max() if n_clusters > 1 else alone)
    larger = np.maximum(separation, sparseness)
    validity = np.divide(separation - sparseness, larger, out=np.zeros(n_clusters), where=larger > 0)
    return float((np.bincount(labels[labels >= 0], minlength=n_clusters) * validity).sum() / len(labels))


SCIPY_METRICS = {"euclidean": "euclidean", "manhattan": "cityblock", "cosine": "cosine"}
MOST_VALIDITY_ROWS = 3000
"""The index compares all pairs of rows; of more rows so many are drawn."""


def density_validity(points: Floats, labels: Ints, metric: str, seed: int) -> float:
    """Density-based validity index (DBCV), -1 to 1; NaN with fewer than two profiles.

    Of more than `MOST_VALIDITY_ROWS` rows so many are drawn.

    Source: Moulavi et al. 2014, equations 2 to 6, by `hdbscan.validity.validity_index`. Ours differs where the drawn
    rows hold a single one of a profile, for which the index is not defined: there it counts as an outlier.
    """
    from hdbscan.validity import validity_index  # noqa: PLC0415  heavy

    if len(labels) > MOST_VALIDITY_ROWS:
        drawn = np.sort(np.random.default_rng(seed).choice(len(labels), MOST_VALIDITY_ROWS, replace=False))
        points, labels = points[drawn], labels[drawn]
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    clustered = np.where((labels >= 0) & (sizes[labels] > 1), labels, -1).astype(np.int64)
    if len(np.unique(clustered[clustered >= 0])) < 2:
        return float("nan")
    with np.errstate(all="ignore"):  # rows that coincide, or lie very near: their density has no bound
        return float(validity_index(np.asarray(points, dtype=np.float64), clustered, metric=SCIPY_METRICS[metric]))


def adjusted_rand(labels: Ints, truth: Ints) -> float:
    """The adjusted Rand index over the rows that are in a profile (label >= 0); NaN without such rows.

    Outliers of the planted truth (-1) count as one group.
    """
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415  heavy

    clustered = labels >= 0
    if not clustered.any():
        return float("nan")
    return float(adjusted_rand_score(truth[clustered], labels[clustered]))


@dataclass(frozen=True)
class Scored:
    """Scores and the silhouettes behind them."""

    scores: ProfileScores
    silhouettes: Silhouettes


def score(
    prepared: Prepared,
    labels: Ints,
    tree: SpanningTree | None,
    report: Callable[[float], None] | None = None,
    *,
    validity: bool = True,
) -> Scored:
    """The scores of labels on the prepared rows.

    Silhouettes use the metric of the clustering; Davies-Bouldin is Euclidean as in the paper's library.

    Without the tree that the labels were cut from the relative validity is NaN. A sweep has no time for `validity`.
    """
    settings, points = prepared.settings, prepared.points
    if settings.silhouette == "exact":
        silhouettes = exact_silhouettes(points, labels, settings.metric, report)
    else:
        silhouettes = sampled_silhouettes(points, labels, settings.metric, settings.seed, report)
    inside = labels >= 0
    n_rows, n_clusters, n_outliers = len(labels), int(labels.max(initial=-1)) + 1, int((~inside).sum())
    published, target = silhouettes.published_mean, settings.target_clusters
    index = davies_bouldin(points, labels)
    scores = ProfileScores(
        n_rows=n_rows,
        n_clusters=n_clusters,
        n_outliers=n_outliers,
        mean_cluster_size=(n_rows - n_outliers) / n_clusters if n_clusters else float("nan"),
        avg_silhouette=published,
        silhouette_clustered=silhouettes.clustered_mean,
        silhouette_method=silhouettes.method,
        silhouette_se=silhouettes.clustered_se,
        n_silhouette=silhouettes.n_computed,
        davies_bouldin=index,
        davies_bouldin_clustered=davies_bouldin(points[inside], labels[inside]),
        dbcv=density_validity(points, labels, settings.metric, settings.seed) if validity else float("nan"),
        acquires=acquires(published, n_clusters, n_outliers, n_rows, target),
        scores_v3=scores_v3(published, n_clusters, n_outliers, n_rows, target),
        ccpm=ccpm(published, index),
        truth_adjusted_rand=_against_truth(prepared.jobs, labels),
        relative_validity=relative_validity(tree, labels) if tree is not None else float("nan"),
    )
    return Scored(scores, silhouettes)


def only_counted(labels: Ints) -> Scored:
    """What is known of labels before they are scored: how many rows, profiles and outliers; NaN for the rest."""
    n_rows, n_clusters, n_outliers = len(labels), int(labels.max(initial=-1)) + 1, int((labels < 0).sum())
    mean_size = (n_rows - n_outliers) / n_clusters if n_clusters else float("nan")
    unknown: dict[str, Any] = dict.fromkeys((one.name for one in fields(ProfileScores)), float("nan"))
    counts = {"n_rows": n_rows, "n_clusters": n_clusters, "n_outliers": n_outliers, "mean_cluster_size": mean_size}
    scores = ProfileScores(**unknown | counts | {"silhouette_method": "", "n_silhouette": 0})
    none, nan = np.full(n_rows, np.nan), float("nan")
    return Scored(scores, Silhouettes(none, none, nan, nan, nan, nan, "", 0))


def of_all_rows(scores: ProfileScores, labels: Ints, jobs: pd.DataFrame, target_clusters: int) -> ProfileScores:
    """The scores of a sample with what is counted counted over all rows: rows, outliers, agreement with truth.

    Silhouettes, Davies-Bouldin and validity stay the sample's own; `labels` are of every row of the table.
    """
    n_rows, n_outliers = len(labels), int((labels < 0).sum())
    counted = (scores.avg_silhouette, scores.n_clusters, n_outliers, n_rows, target_clusters)
    return replace(
        scores,
        n_rows=n_rows,
        n_outliers=n_outliers,
        mean_cluster_size=(n_rows - n_outliers) / scores.n_clusters if scores.n_clusters else float("nan"),
        acquires=acquires(*counted),
        scores_v3=scores_v3(*counted),
        truth_adjusted_rand=_against_truth(jobs, labels),
    )


def _against_truth(jobs: pd.DataFrame, labels: Ints) -> float:
    truth = numbers_if_present(jobs, "truth_profile")
    if truth is None or np.isnan(truth).all():
        return float("nan")
    known = ~np.isnan(truth)
    return adjusted_rand(labels[known], truth[known].astype(np.int64))
