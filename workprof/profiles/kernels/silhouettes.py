"""Compiled loops of `silhouettes`: distance sums of rows to every group, tile by tile in the first-level cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints
from workprof.compiled import compiled_fast

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
    """Return the sum of the tile's distances (of their roots, unless Manhattan)."""
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
    """Write the summed distances of rows to every group.

    Args:
        queries: (n_queries, d) rows, d a multiple of four.
        lanes: (d, n) all points, sorted by group.
        starts: (n_groups + 1,) where each group's points start.
        manhattan: else Euclidean.
        sums: (n_queries, n_groups) result, in double precision over single-precision tiles.
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
