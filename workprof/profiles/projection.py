"""A flat map of the rows: the first two principal components, with signs that do not change from run to run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats


@dataclass(frozen=True)
class FlatMap:
    """Rows in two dimensions.

    Attributes:
        xy: (n_rows, 2) principal components.
        explained: (2,) share of the variance, 0-1.
        loadings: (2, n_dims) of the scaled columns.
    """

    xy: Floats
    explained: Floats
    loadings: Floats


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
