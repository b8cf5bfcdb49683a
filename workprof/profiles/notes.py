"""Warnings of a clustering in words."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Ints
from workprof.profiles.features import FeatureMatrix
from workprof.profiles.scalers import FittedTransform
from workprof.profiles.scores.scores import ProfileScores
from workprof.profiles.settings import ALL17, SENSORS10, ProfileSettings
from workprof.units import format_count, format_share

MANY_OUTLIERS_SHARE = 0.4
ONE_PROFILE_SHARE = 0.8
KNOWN_BEFORE = tuple(name for name in ALL17 if name not in (*SENSORS10, "duration_s"))
"""Requests and timestamps: known before the job runs, so a profile made of them repeats its metadata."""


def preparation_notes(
    settings: ProfileSettings, matrix: FeatureMatrix, transform: FittedTransform, n_rows: int, n_clustered: int
) -> tuple[str, ...]:
    """Return what happened to rows and columns before the clustering.

    Args:
        settings: resolved.
        matrix: the features.
        transform: fitted on them.
        n_rows: rows of the table.
        n_clustered: rows that were clustered.
    """
    notes = []
    if settings.mode == "faithful":
        notes.append("Published definitions: missing values are 0; requests and timestamps may be features.")
    if n_clustered < n_rows:
        drawn = f"{format_count(n_clustered)} of {format_count(n_rows)} rows"
        notes.append(f"Sample: {drawn} were drawn at random (seed {settings.seed}); the others have no profile.")
    notes.extend(f"{name} is left out: {reason}." for name, reason in matrix.left_out.items())
    for name, gaps in matrix.missing.items():
        value = "0" if settings.mode == "faithful" else "the median"
        marked = ", and a further column marks them" if name in transform.indicators else ""
        notes.append(f"{name}: {format_count(gaps)} missing values stand as {value}{marked}.")
    known = [name for name in matrix.names if name in KNOWN_BEFORE]
    if known and settings.mode == "corrected":
        notes.append(f"{', '.join(known)} are known before a job runs: profiles made of them repeat its metadata.")
    return tuple(notes)


def result_notes(scores: ProfileScores, labels: Ints) -> tuple[str, ...]:
    """Return what a reader of the scores must know.

    Args:
        scores: of the clustering.
        labels: (n_rows,) profile, -1 = outlier.
    """
    notes = []
    outliers = scores.n_outliers / scores.n_rows
    if scores.n_clusters == 0:
        notes.append("No profile was found: all rows are outliers. Try a smaller min_cluster_size or min_samples.")
    elif outliers > MANY_OUTLIERS_SHARE:
        notes.append(f"{format_share(outliers)} of the rows are outliers; profiles describe the rest only.")
    sizes = np.bincount(labels[labels >= 0]) if scores.n_clusters else np.zeros(1)
    if sizes.max() > ONE_PROFILE_SHARE * max(1, sizes.sum()):
        notes.append(f"One profile holds {format_share(float(sizes.max() / sizes.sum()))} of the clustered rows.")
    if np.isnan(scores.silhouette_clustered):
        notes.append("The silhouette without outliers needs at least two profiles.")
    if scores.silhouette_method == "sampled":
        notes.append(
            f"Silhouettes are estimated from {format_count(scores.n_silhouette)} rows, each against all others; "
            f"standard error {scores.silhouette_se:.4f}."
        )
    return tuple(notes)
