"""All scores of one clustering, computed together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Ints
from workprof.columns import numbers_if_present
from workprof.profiles.scores.scores import (
    ProfileScores,
    acquires,
    adjusted_rand,
    ccpm,
    davies_bouldin,
    relative_validity,
    scores_v3,
)
from workprof.profiles.scores.silhouettes import Silhouettes, exact_silhouettes, sampled_silhouettes

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.clusters.spanning_tree import SpanningTree
    from workprof.profiles.prepared import Prepared


@dataclass(frozen=True)
class Scored:
    """Scores and the silhouettes behind them."""

    scores: ProfileScores
    silhouettes: Silhouettes


def score(
    prepared: Prepared, labels: Ints, tree: SpanningTree | None, report: Callable[[float], None] | None = None
) -> Scored:
    """Return the scores of labels on the prepared rows.

    Silhouettes use the metric of the clustering; Davies-Bouldin is Euclidean as in the paper's library.

    Args:
        prepared: scaled rows and settings.
        labels: (n_rows,) profile, -1 = outlier.
        tree: that the labels were cut from, for the density validity; None gives NaN there.
        report: told the share that is done.
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
        dbcv=relative_validity(tree, labels) if tree is not None else float("nan"),
        acquires=acquires(published, n_clusters, n_outliers, n_rows, target),
        scores_v3=scores_v3(published, n_clusters, n_outliers, n_rows, target),
        ccpm=ccpm(published, index),
        truth_adjusted_rand=_against_truth(prepared.jobs, labels),
    )
    return Scored(scores, silhouettes)


def _against_truth(jobs: pd.DataFrame, labels: Ints) -> float:
    truth = numbers_if_present(jobs, "truth_profile")
    if truth is None or np.isnan(truth).all():
        return float("nan")
    known = ~np.isnan(truth)
    return adjusted_rand(labels[known], truth[known].astype(np.int64))
