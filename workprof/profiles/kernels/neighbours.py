"""Compiled search for the k nearest rows, block against block, nearest blocks first."""

from __future__ import annotations

import numpy as np

from workprof.arrays import Floats, Ints, Positions
from workprof.compiled import compiled
from workprof.profiles.kernels.blocks import Space, box_gaps, count_below, partial_sort, to_block

Candidates = tuple[Floats, Ints, Ints, Floats]
"""Of each row of a block: distances, positions, how many of them are filled, and the limit that others must beat."""

Found = tuple[Floats, Positions, Floats]
"""Results of all rows: core distances (n_sizes, n), nearest positions (n, n_listed) and their distances."""


@compiled
def _take_closer(values: Floats, items: Ints, filled: int, tile: Floats, start: int, limit: float) -> int:
    """Append the tile's entries below `limit` to a row's candidates; return the new fill."""
    for j in range(len(tile)):
        values[filled] = tile[j]
        items[filled] = start + j
        filled += tile[j] < limit
    return filled


@compiled
def _look_at(space: Space, block: int, other: int, gaps: Floats, candidates: Candidates, wanted: int) -> None:
    """Offer the rows of block `other` to the rows of `block`; `gaps` (n_rows_of_block, n_blocks) rule blocks out."""
    points, lanes, starts, _, _, manhattan = space
    values, items, filled, limit = candidates
    start = starts[other]
    tile = np.empty(starts[other + 1] - start)
    for r in range(starts[block + 1] - starts[block]):
        if gaps[r, other] >= limit[r]:
            continue
        to_block(lanes, start, points[starts[block] + r], manhattan, tile)
        if count_below(tile, limit[r]) == 0:
            continue
        filled[r] = _take_closer(values[r], items[r], filled[r], tile, start, limit[r])
        if filled[r] >= 2 * wanted or (filled[r] >= wanted and limit[r] == np.inf):
            partial_sort(values[r], items[r], 0, filled[r], wanted - 1)
            filled[r], limit[r] = wanted, values[r, wanted - 1]


@compiled
def _keep_listed(values: Floats, items: Ints, row: int, nearest: Positions, distance: Floats) -> None:
    """Write the nearest of a row's candidates, without itself, in order of distance (equal ones by position)."""
    count = min(len(values), len(nearest) + 1)
    if count < len(values):
        partial_sort(values, items, 0, len(values), count - 1)
    for i in range(1, count):  # insertion sort of a few dozen entries
        value, item, j = values[i], items[i], i - 1
        while j >= 0 and (values[j] > value or (values[j] == value and items[j] > item)):
            values[j + 1], items[j + 1] = values[j], items[j]
            j -= 1
        values[j + 1], items[j + 1] = value, item
    written = 0
    for i in range(count):
        if items[i] != row and written < len(nearest):
            nearest[written], distance[written] = items[i], values[i]
            written += 1


@compiled
def _write_rows(first_row: int, rows: int, sizes: Ints, candidates: Candidates, found: Found) -> None:
    """Write the results of the rows of one block from their candidates."""
    values, items, filled = candidates[0], candidates[1], candidates[2]
    core, nearest, distance = found
    for r in range(rows):
        row, kept = first_row + r, filled[r]
        for s in range(len(sizes) - 1, -1, -1):
            partial_sort(values[r], items[r], 0, kept, sizes[s])
            core[s, row] = values[r, sizes[s]]
            kept = sizes[s] + 1
        _keep_listed(values[r, :kept], items[r, :kept], row, nearest[row], distance[row])


@compiled
def nearest_rows(space: Space, sizes: Ints, first: int, last: int, found: Found) -> None:
    """Write core distances and nearest rows of the rows in blocks first .. last - 1; all distances are reduced.

    Args:
        space: the rows in blocks.
        sizes: (n_sizes,) rising neighbour counts, the row itself not counted, all below n.
        first: block to begin with.
        last: one past the last block.
        found: results.
    """
    points, _, starts, low, high, manhattan = space
    n_blocks, wanted = len(starts) - 1, sizes[-1] + 1  # the row itself is the first of its own neighbours
    widest = starts[1] - starts[0] + 1  # blocks differ by one row at most
    room = 2 * wanted + widest
    values, items = np.empty((widest, room)), np.empty((widest, room), np.int64)
    filled, limit = np.empty(widest, np.int64), np.empty(widest)
    gaps, row_gaps = np.empty(n_blocks), np.empty((widest, n_blocks))
    for block in range(first, last):
        rows = starts[block + 1] - starts[block]
        filled[:] = 0
        limit[:] = np.inf
        box_gaps(low[:, block], high[:, block], low, high, manhattan, gaps)
        gaps[block] = -1.0
        for r in range(rows):
            query = points[starts[block] + r]
            box_gaps(query, query, low, high, manhattan, row_gaps[r])
        for other in np.argsort(gaps):
            if gaps[other] >= limit[:rows].max():
                break
            _look_at(space, block, other, row_gaps, (values, items, filled, limit), wanted)
        _write_rows(starts[block], rows, sizes, (values, items, filled, limit), found)
