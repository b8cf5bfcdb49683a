"""How profiles lie in the space of their features: the boxes of the paper's Fig. 4, and a flat map of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints

WHISKER = 1.5
"""Tukey's whiskers: the outermost rows within 1.5 interquartile ranges of the box."""


@dataclass(frozen=True)
class FeatureSpread:
    """Distribution of every feature in every profile, in scaled and in raw units.

    All arrays are (n_groups, n_features) in the order of `profiles` (outliers, -1, first where there are any) and
    `features`.
    """

    profiles: Ints  # (n_groups,) labels
    features: tuple[str, ...]  # names
    mean: Floats  # in scaled units
    std: Floats  # in scaled units
    lower: Floats  # end of the 1.5-IQR whisker, in scaled units
    q1: Floats  # of the box, in scaled units
    median: Floats  # in scaled units
    q3: Floats  # of the box, in scaled units
    upper: Floats  # end of the 1.5-IQR whisker, in scaled units
    raw_median: Floats  # in the field's own unit
    raw_q1: Floats  # in the field's own unit
    raw_q3: Floats  # in the field's own unit


def feature_spread(scaled: Floats, raw: Floats, labels: Ints, features: tuple[str, ...]) -> FeatureSpread:
    """Return the distribution of the features by profile.

    Args:
        scaled: (n_rows, n_features) without indicator columns.
        raw: (n_rows, n_features) in the fields' own units; NaN = missing, left out of the raw quartiles.
        labels: (n_rows,) profile, -1 = outlier.
        features: (n_features,) names.
    """
    profiles, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(profiles)))
    groups = np.split(order, ends[:-1]) if len(profiles) else []
    boxes = np.array([_box(scaled[rows]) for rows in groups]).reshape(len(groups), 7, len(features))
    quartiles = np.array([_quartiles(raw[rows]) for rows in groups]).reshape(len(groups), 3, len(features))
    mean, std, lower, q1, median, q3, upper = np.ascontiguousarray(boxes.transpose(1, 0, 2))
    raw_q1, raw_median, raw_q3 = np.ascontiguousarray(quartiles.transpose(1, 0, 2))
    return FeatureSpread(
        profiles.astype(np.int64), features, mean, std, lower, q1, median, q3, upper, raw_median, raw_q1, raw_q3
    )


def _box(values: Floats) -> Floats:
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    reach = WHISKER * (q3 - q1)
    lower = np.where(values >= q1 - reach, values, np.inf).min(axis=0)
    upper = np.where(values <= q3 + reach, values, -np.inf).max(axis=0)
    return np.array([values.mean(axis=0), values.std(axis=0), lower, q1, median, q3, upper])


def _quartiles(values: Floats) -> Floats:
    result = np.full((3, values.shape[1]), np.nan)
    complete = ~np.isnan(values).any(axis=0)
    if complete.any():
        result[:, complete] = np.quantile(values[:, complete], [0.25, 0.5, 0.75], axis=0)
    for j in np.flatnonzero(~complete):
        present = values[~np.isnan(values[:, j]), j]
        if present.size:
            result[:, j] = np.quantile(present, [0.25, 0.5, 0.75])
    return result


@dataclass(frozen=True)
class FlatMap:
    """Rows in two dimensions."""

    xy: Floats  # (n_rows, 2) principal components
    explained: Floats  # (2,) share of the variance, 0-1
    loadings: Floats  # (2, n_dims) of the scaled columns


def project(points: Floats) -> FlatMap:
    """Return the first two principal components of the scaled rows; each component's largest loading is positive.

    Args:
        points: (n_rows, n_dims) scaled values, n_dims >= 2.
    """
    centred = points - points.mean(axis=0)
    covariance = centred.T @ centred / max(1, len(points) - 1)
    variances, vectors = np.linalg.eigh(covariance)  # ascending
    loadings = vectors[:, ::-1][:, :2].T
    largest = np.abs(loadings).argmax(axis=1)
    loadings = loadings * np.sign(loadings[np.arange(2), largest])[:, None]
    total = variances.sum()
    explained = np.clip(variances[::-1][:2], 0, None) / total if total > 0 else np.zeros(2)
    return FlatMap(centred @ loadings.T, explained, np.ascontiguousarray(loadings))
