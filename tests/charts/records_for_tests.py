"""A small clustering made by hand: three profiles and outliers, with a hostile name among its values."""

import numpy as np

from workprof.profiles.fit import ProfileFit
from workprof.profiles.metadata import CategoryShare, Heatmap
from workprof.profiles.scores import ProfileScores
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.summary import FeatureSpread, ProfileCard
from workprof.profiles.tree import CondensedTree
from workprof.store.reports import ProfileNote

HOSTILE = "<img src=x onerror=alert(1)>_*`=cmd|"
FEATURES = ("cpu_usage_percent", "peak_memory_bytes")
SIZES = {-1: 40, 0: 100, 1: 60, 2: 30}
STD = {-1: 9.0, 0: 0.5, 1: 0.1, 2: 2.0}
NOTES = {1: ProfileNote(1, HOSTILE, "a note")}


def fit(mode="corrected", tree=True, scale=1):
    random = np.random.default_rng(0)
    labels = np.repeat(list(SIZES), [size * scale for size in SIZES.values()]).astype(np.int64)
    rows = labels.size
    return ProfileFit(
        settings=ProfileSettings(mode=mode, min_cluster_size=20, min_samples=20),
        features=FEATURES,
        left_out={},
        imputed={"cpu_usage_percent": 3},
        notes=("a note about the fit",),
        row_ids=np.arange(1000, 1000 + rows),
        labels=labels,
        probabilities=random.random(rows),
        silhouettes=np.where(labels == 2, -0.2, 0.6) + random.random(rows) / 10,
        map_xy=random.random((rows, 2)) + labels[:, None],
        map_explained=np.array([0.5, 0.25]),
        scores=scores(rows),
        cards=tuple(card(label) for label in SIZES),
        spread=spread(),
        tree=condensed() if tree else None,
        heatmaps=(Heatmap("workload", np.array(list(SIZES)), ("bert", HOSTILE, "other"), np.arange(12).reshape(4, 3)),),
        seconds=1.5,
        step_seconds={"fit": 1.0},
    )


def scores(rows=230, truth=float("nan")):
    return ProfileScores(
        n_rows=rows,
        n_clusters=3,
        n_outliers=40,
        mean_cluster_size=63.3,
        avg_silhouette=0.4,
        silhouette_clustered=0.5,
        silhouette_method="sampled",
        silhouette_se=0.01,
        n_silhouette=200,
        davies_bouldin=1.5,
        davies_bouldin_clustered=1.1,
        dbcv=0.3,
        acquires=0.45,
        scores_v3=0.5,
        ccpm=1.07,
        truth_adjusted_rand=truth,
        relative_validity=0.1,
    )


def card(label):
    return ProfileCard(
        profile=label,
        size=SIZES[label],
        share=SIZES[label] / 230,
        silhouette=0.4,
        purity=0.9,
        job_purity=0.2,
        labels=("spike",) if label == 0 else (),
        top_metadata=(CategoryShare("workload", HOSTILE, 20, 0.5),),
        duration_quantiles_s=np.array([1.0, 2, 3, 4, 5, 6]),
        spike_s=13.0,
        spike_share=0.2,
        arrivals_by_hour=np.arange(24),
        arrivals_by_weekday=np.arange(7),
        n_users=3,
        n_groups=4,
        n_jobs=50,
        takeaway="Short jobs.",
    )


def spread():
    std = np.array([[value, value] for value in STD.values()])
    zero = np.zeros_like(std)
    return FeatureSpread(
        profiles=np.array(list(STD)),
        features=FEATURES,
        mean=zero,
        std=std,
        lower=zero - 2 * std,
        q1=zero - std,
        median=zero + np.arange(4)[:, None] * 0.1,
        q3=zero + std,
        upper=zero + 2 * std,
        raw_median=zero + 1e9,
        raw_q1=zero + 1e8,
        raw_q3=zero + 2e9,
    )


def condensed():
    return CondensedTree(
        cluster=np.array([230, 231, 232, 233, 234]),
        parent=np.array([-1, 230, 230, 232, 232]),
        lambda_birth=np.array([0.0, 0.5, 0.5, 1.0, 1.0]),
        lambda_death=np.array([0.5, np.inf, 1.0, 2.0, 4.0]),
        size=np.array([230, 100, 120, 60, 30]),
        selected=np.array([-1, 0, -1, 1, 2]),
    )
