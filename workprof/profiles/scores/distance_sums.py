"""Summed distances of rows to every group of points: all that silhouettes need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints
from workprof.profiles.kernels.silhouettes import DIMS_AT_ONCE, distance_sums


@dataclass(frozen=True)
class GroupedPoints:
    """Points sorted by group, in the layout that the compiled loops read.

    Attributes:
        metric: 'euclidean', 'manhattan' or 'cosine'.
        sizes: (n_groups,) rows of each group.
        starts: (n_groups + 1,) where each group starts in `lanes`.
        rows: (n_rows, d) centred points in the caller's order, padded with zero columns; cosine: unit vectors.
        lanes: (d, n_rows) the same sorted by group; cosine: (d, n_groups) sums of the unit vectors.
        rounding: (n_rows,) error that the precision of the numbers puts on a distance to a row nearby.
    """

    metric: str
    sizes: Ints
    starts: Ints
    rows: NDArray[Any]
    lanes: NDArray[Any]
    rounding: Floats

    def sums(self, some: Ints) -> Floats:
        """Return (len(some), n_groups) summed distances of the rows at the positions `some`."""
        queries = np.ascontiguousarray(self.rows[some])
        if self.metric == "cosine":
            # 1 - x.y summed over a group is its size - x.(sum of y): no pair has to be visited.
            return np.asarray(self.sizes - queries @ self.lanes, dtype=np.float64)
        result = np.empty((len(some), len(self.sizes)))
        distance_sums(queries, self.lanes, self.starts, self.metric == "manhattan", result)
        return result


def group_points(points: Floats, codes: Ints, metric: str, dtype: type) -> GroupedPoints:
    """Return the points laid out for distance sums.

    Args:
        points: (n_rows, n_dims) finite values.
        codes: (n_rows,) group of each row, 0 .. n_groups - 1, none empty.
        metric: 'euclidean', 'manhattan' or 'cosine'.
        dtype: numpy.float32 or numpy.float64, of the single distances.
    """
    sizes = np.bincount(codes).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if metric == "cosine":
        units = _unit_rows(points)
        totals = np.column_stack([np.bincount(codes, weights=column) for column in units.T])
        return GroupedPoints(metric, sizes, starts, units, np.ascontiguousarray(totals.T), np.zeros(len(points)))
    centred = points - np.median(points, axis=0)
    padding = -points.shape[1] % DIMS_AT_ONCE
    rows: NDArray[Any] = np.ascontiguousarray(np.pad(centred, ((0, 0), (0, padding))).astype(dtype))
    order = np.argsort(codes, kind="stable")
    rounding = np.finfo(dtype).eps * np.sqrt((centred**2).sum(axis=1))
    return GroupedPoints(metric, sizes, starts, rows, np.ascontiguousarray(rows[order].T), rounding)


def _unit_rows(points: Floats) -> Floats:
    lengths = np.sqrt((points**2).sum(axis=1))
    return points / np.where(lengths > 0, lengths, 1.0)[:, None]
