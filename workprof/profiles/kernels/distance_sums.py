"""Summed distances of rows to every group of points: all that silhouettes need.

The compiled loops go tile by tile in the first-level cache.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled_fast

TILE = 512
"""Points per tile: 512 points x 12 numbers x 4 bytes are half of a 48 KB first-level cache."""

BLOCK = 128
"""Rows that share a tile while it is in the cache."""

DIMS_AT_ONCE = 4
"""Columns are padded with zeros to a multiple of this; four at a time halve the traffic to the tile's running sums."""


@compiled_fast
def squared_tile(lanes: NDArray[Any], start: int, query: NDArray[Any], tile: NDArray[Any]) -> None:
    """Fill `tile` (w,) with squared distances of `query` (d,) to the points of `lanes` (d, n) from `start` on."""
    a0, a1, a2, a3 = query[0], query[1], query[2], query[3]
    end = start + len(tile)
    l0, l1, l2, l3 = lanes[0, start:end], lanes[1, start:end], lanes[2, start:end], lanes[3, start:end]
    for j in range(len(tile)):
        x0, x1, x2, x3 = l0[j] - a0, l1[j] - a1, l2[j] - a2, l3[j] - a3
        tile[j] = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
    for d in range(4, len(query), 4):
        a0, a1, a2, a3 = query[d], query[d + 1], query[d + 2], query[d + 3]
        l0, l1 = lanes[d, start:end], lanes[d + 1, start:end]
        l2, l3 = lanes[d + 2, start:end], lanes[d + 3, start:end]
        for j in range(len(tile)):
            x0, x1, x2, x3 = l0[j] - a0, l1[j] - a1, l2[j] - a2, l3[j] - a3
            tile[j] += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3


@compiled_fast
def absolute_tile(lanes: NDArray[Any], start: int, query: NDArray[Any], tile: NDArray[Any]) -> None:
    """Fill `tile` (w,) with Manhattan distances of `query` (d,) to the points of `lanes` (d, n) from `start` on."""
    a0, a1, a2, a3 = query[0], query[1], query[2], query[3]
    end = start + len(tile)
    l0, l1, l2, l3 = lanes[0, start:end], lanes[1, start:end], lanes[2, start:end], lanes[3, start:end]
    for j in range(len(tile)):
        tile[j] = abs(l0[j] - a0) + abs(l1[j] - a1) + abs(l2[j] - a2) + abs(l3[j] - a3)
    for d in range(4, len(query), 4):
        a0, a1, a2, a3 = query[d], query[d + 1], query[d + 2], query[d + 3]
        l0, l1 = lanes[d, start:end], lanes[d + 1, start:end]
        l2, l3 = lanes[d + 2, start:end], lanes[d + 3, start:end]
        for j in range(len(tile)):
            tile[j] += abs(l0[j] - a0) + abs(l1[j] - a1) + abs(l2[j] - a2) + abs(l3[j] - a3)


@compiled_fast
def tile_total(tile: NDArray[Any], manhattan: bool) -> Any:
    """The sum of the tile's distances (of their roots, unless Manhattan)."""
    total = tile.dtype.type(0)
    if manhattan:
        for j in range(len(tile)):
            total += tile[j]
    else:
        for j in range(len(tile)):
            total += np.sqrt(tile[j])
    return total


@compiled_fast
def distance_sums(queries: NDArray[Any], lanes: NDArray[Any], starts: Ints, manhattan: bool, sums: Floats) -> None:
    """Write the summed distances of rows (n_queries, d), d a multiple of four, to every group.

    `lanes` (d, n) are all points, sorted by group, each from its `starts` (n_groups + 1,). `sums` (n_queries, n_groups)
    are in double precision over single-precision tiles. The distance is Manhattan or Euclidean.
    """
    buffer = np.empty(TILE, lanes.dtype)
    for block in range(0, len(queries), BLOCK):
        end = min(len(queries), block + BLOCK)
        sums[block:end] = 0.0
        for group in range(len(starts) - 1):
            for start in range(starts[group], starts[group + 1], TILE):
                tile = buffer[: min(TILE, starts[group + 1] - start)]
                for q in range(block, end):
                    if manhattan:
                        absolute_tile(lanes, start, queries[q], tile)
                    else:
                        squared_tile(lanes, start, queries[q], tile)
                    sums[q, group] += tile_total(tile, manhattan)


@dataclass(frozen=True)
class GroupedPoints:
    """Points sorted by group, in the layout that the compiled loops read."""

    metric: str  # 'euclidean', 'manhattan' or 'cosine'
    codes: Ints  # (n_rows,) group of each row
    sizes: Ints  # (n_groups,) rows of each group
    starts: Ints  # (n_groups + 1,) where each group starts in `lanes`
    rows: NDArray[Any]
    """(n_rows, d) centred points in the caller's order, padded with zero columns; cosine: unit vectors."""
    lanes: NDArray[Any]  # (d, n_rows) the same sorted by group; cosine: (d, n_groups) sums of the unit vectors
    rounding: Floats  # (n_rows,) error that the precision of the numbers puts on a distance to a row nearby

    def sums(self, some: Ints) -> Floats:
        """(len(some), n_groups) summed distances of the rows at the positions `some`."""
        queries = np.ascontiguousarray(self.rows[some])
        if self.metric == "cosine":
            # 1 - x.y summed over a group is its size - x.(sum of y): no pair has to be visited.
            found: Floats = np.asarray(self.sizes - queries @ self.lanes, dtype=np.float64)
            found[np.arange(len(some)), self.codes[some]] -= ~queries.any(axis=1)  # a zero row is 0 from itself alone
            return found
        result = np.empty((len(some), len(self.sizes)))
        distance_sums(queries, self.lanes, self.starts, self.metric == "manhattan", result)
        return result


def group_points(points: Floats, codes: Ints, metric: str, dtype: type) -> GroupedPoints:
    """The points laid out for distance sums of 'euclidean', 'manhattan' or 'cosine' in float32 or float64.

    `points` are (n_rows, n_dims), finite; `codes` (n_rows,) 0 .. n_groups - 1, none empty.
    """
    sizes = np.bincount(codes).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if metric == "cosine":
        units = _unit_rows(points)
        totals = np.column_stack([np.bincount(codes, weights=column) for column in units.T])
        return GroupedPoints(metric, codes, sizes, starts, units, np.ascontiguousarray(totals.T), np.zeros(len(points)))
    centred = points - np.median(points, axis=0)
    padding = -points.shape[1] % DIMS_AT_ONCE
    rows: NDArray[Any] = np.ascontiguousarray(np.pad(centred, ((0, 0), (0, padding))).astype(dtype))
    order = np.argsort(codes, kind="stable")
    rounding = np.finfo(dtype).eps * np.sqrt((centred**2).sum(axis=1))
    return GroupedPoints(metric, codes, sizes, starts, rows, np.ascontiguousarray(rows[order].T), rounding)


def _unit_rows(points: Floats) -> Floats:
    lengths = np.sqrt((points**2).sum(axis=1))
    return points / np.where(lengths > 0, lengths, 1.0)[:, None]
