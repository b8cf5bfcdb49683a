"""Compiled loops on blocks of rows: splitting, distances, bounds between boxes, and the nearest rows of every row.

Distances are "reduced": squared for Euclidean, so that no root is taken before the end. They are summed column by
column in the order of scikit-learn's trees, so equal pairs have equal distances to the last bit whichever row asks.
"""

import numpy as np

from workprof.core.arrays import Floats, Ints, Positions
from workprof.core.compiled import compiled, compiled_within, sort_pairs

Space = tuple[Floats, Floats, Ints, Floats, Floats, bool]
"""Rows in blocks, as compiled loops take them: points (n, d), lanes (n * d,), starts (n_blocks + 1,), lower and upper
corners (d, n_blocks) of the blocks' boxes (see `tree.Blocks`), and whether distances are Manhattan's."""


@compiled
def partial_sort(values: Floats, items: Ints, nth: int) -> None:
    """Reorder values and items with them so that the `nth` smallest stands at `nth`.

    A quickselect whose passes have no branches (Lomuto's): every value changes places, and only the border moves or
    not, which takes half the time of a pass that stops at values on the wrong side (Hoare's). A second pass parts the
    values equal to the pivot, so that many equal ones cost no more. The pivot is the median of three from the quarters:
    with the first and the last of values that rise and then fall it would be the smallest at every pass.
    """
    low, high = 0, len(values)
    while high - low > 1:
        quarter = (high - low) // 4
        one, two, three = values[low + quarter], values[(low + high) // 2], values[high - 1 - quarter]
        pivot = max(min(one, two), min(max(one, two), three))
        border = low
        for i in range(low, high):
            value, item = values[i], items[i]
            values[i], items[i] = values[border], items[border]
            values[border], items[border] = value, item
            border += value < pivot
        if nth < border:
            high = border
            continue
        low = border
        for i in range(low, high):
            value, item = values[i], items[i]
            values[i], items[i] = values[border], items[border]
            values[border], items[border] = value, item
            border += value <= pivot
        if nth < border:
            return
        low = border


@compiled
def split_rows(points: Floats, order: Ints, levels: int) -> Ints:
    """Reorder `order` (n,) into 2**levels blocks of nearly equal size by halving at the median of one column.

    It is the column of the largest variance; by the widest one, which a single row can be, an eighth more blocks are
    near a row. Returned is where each block starts in `order`, (2**levels + 1,).
    """
    n, width = len(order), points.shape[1]
    keys = np.empty(n)
    starts = np.array([0, n])
    for _ in range(levels):
        finer = np.empty(2 * len(starts) - 1, np.int64)
        finer[-1] = n
        for b in range(len(starts) - 1):
            first, last = starts[b], starts[b + 1]
            finer[2 * b], finer[2 * b + 1] = first, (first + last) // 2
            column, largest = 0, -1.0
            for d in range(width):
                origin, total, squares = points[order[first], d], 0.0, 0.0
                for i in range(first, last):
                    away = points[order[i], d] - origin
                    total += away
                    squares += away * away
                variance = squares - total * total / max(1, last - first)
                if variance > largest:
                    column, largest = d, variance
            for i in range(first, last):
                keys[i] = points[order[i], column]
            partial_sort(keys[first:last], order[first:last], (last - first) // 2)
        starts = finer
    return starts


@compiled_within
def _squared_to_block(lanes: Floats, query: Floats, tile: Floats) -> None:
    """Fill `tile` (w,) with squared distances of `query` (d,) to the rows of a block with these lanes (d * w,)."""
    width, fours = len(tile), len(query) - len(query) % 4
    tile[:] = 0.0
    for d in range(0, fours, 4):
        a0, a1, a2, a3 = query[d], query[d + 1], query[d + 2], query[d + 3]
        l0, l1 = lanes[d * width : (d + 1) * width], lanes[(d + 1) * width : (d + 2) * width]
        l2, l3 = lanes[(d + 2) * width : (d + 3) * width], lanes[(d + 3) * width : (d + 4) * width]
        for j in range(width):
            x0, x1, x2, x3 = l0[j] - a0, l1[j] - a1, l2[j] - a2, l3[j] - a3
            tile[j] = tile[j] + x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3
    if fours < len(query):
        a0, a1 = query[fours], query[fours + 1]
        l0, l1 = lanes[fours * width : (fours + 1) * width], lanes[(fours + 1) * width : (fours + 2) * width]
        for j in range(width):
            x0, x1 = l0[j] - a0, l1[j] - a1
            tile[j] = tile[j] + x0 * x0 + x1 * x1


@compiled_within
def _absolute_to_block(lanes: Floats, query: Floats, tile: Floats) -> None:
    """Fill `tile` (w,) with Manhattan distances of `query` (d,) to the rows of a block with these lanes (d * w,)."""
    width, fours = len(tile), len(query) - len(query) % 4
    tile[:] = 0.0
    for d in range(0, fours, 4):
        a0, a1, a2, a3 = query[d], query[d + 1], query[d + 2], query[d + 3]
        l0, l1 = lanes[d * width : (d + 1) * width], lanes[(d + 1) * width : (d + 2) * width]
        l2, l3 = lanes[(d + 2) * width : (d + 3) * width], lanes[(d + 3) * width : (d + 4) * width]
        for j in range(width):
            x0, x1, x2, x3 = l0[j] - a0, l1[j] - a1, l2[j] - a2, l3[j] - a3
            tile[j] = tile[j] + abs(x0) + abs(x1) + abs(x2) + abs(x3)
    if fours < len(query):
        a0, a1 = query[fours], query[fours + 1]
        l0, l1 = lanes[fours * width : (fours + 1) * width], lanes[(fours + 1) * width : (fours + 2) * width]
        for j in range(width):
            x0, x1 = l0[j] - a0, l1[j] - a1
            tile[j] = tile[j] + abs(x0) + abs(x1)


@compiled_within
def to_block(lanes: Floats, start: int, query: Floats, manhattan: bool, tile: Floats) -> None:
    """Fill `tile` (w,) with reduced distances of `query` (d,) to the w rows of the block that begins at row `start`."""
    block = lanes[start * len(query) : (start + len(tile)) * len(query)]
    if manhattan:
        _absolute_to_block(block, query, tile)
    else:
        _squared_to_block(block, query, tile)


@compiled_within
def count_below(tile: Floats, limit: float) -> int:
    """How many values of a tile are below a limit."""
    count = 0
    for j in range(len(tile)):
        count += tile[j] < limit
    return count


@compiled_within
def box_gaps(low: Floats, high: Floats, box_low: Floats, box_high: Floats, manhattan: bool, gaps: Floats) -> None:
    """Fill `gaps` (n_boxes,) with the smallest reduced distance that rows of one box and of each other box can have.

    Corners are (d,) of the box (a single row is a box with low = high), and (d, n_boxes) of the others.
    """
    gaps[:] = 0.0
    for d in range(len(low)):
        bottom, top = low[d], high[d]
        lows, highs = box_low[d], box_high[d]
        for j in range(len(gaps)):
            gap = max(0.0, bottom - highs[j], lows[j] - top)
            gaps[j] += gap if manhattan else gap * gap


@compiled_within
def block_gaps(
    low: Floats, high: Floats, block: int, boxes: tuple[Floats, Floats], manhattan: bool, gaps: Floats
) -> None:
    """As `box_gaps`, of the box in column `block` of corners (d, n_blocks)."""
    corners = np.empty((2, len(low)))
    for d in range(len(low)):
        corners[0, d], corners[1, d] = low[d, block], high[d, block]
    box_gaps(corners[0], corners[1], boxes[0], boxes[1], manhattan, gaps)


Candidates = tuple[Floats, Ints, Ints, Floats]
"""Of each row of a block: distances, positions, how many of them are filled, and the limit that others must beat."""

NearestRows = tuple[Floats, Positions, Floats]
"""Results of all rows: core distances (n_sizes, n), nearest positions (n, n_listed) and their distances."""


@compiled_within
def take_closer(values: Floats, items: Ints, filled: int, tile: Floats, start: int, limit: float) -> int:
    """Append the tile's entries below `limit` to a row's candidates; return the new fill."""
    for j in range(len(tile)):
        values[filled] = tile[j]
        items[filled] = start + j
        filled += tile[j] < limit
    return filled


@compiled_within
def _look_at(space: Space, block: int, other: int, gaps: Floats, candidates: Candidates, wanted: int) -> None:
    """Offer the rows of block `other` to the rows of `block`; `gaps` (n_rows_of_block,) is overwritten."""
    points, lanes, starts, low, high, manhattan = space
    values, items, filled, limit = candidates
    width, rows = points.shape[1], len(gaps)
    gaps[:] = 0.0
    for d in range(width):
        bottom, top, first = low[d, other], high[d, other], starts[block] * width + d * rows
        for r in range(rows):
            gap = max(0.0, bottom - lanes[first + r], lanes[first + r] - top)
            gaps[r] += gap if manhattan else gap * gap
    start = starts[other]
    tile = np.empty(starts[other + 1] - start)
    for r in range(rows):
        if gaps[r] >= limit[r]:
            continue
        to_block(lanes, start, points[starts[block] + r], manhattan, tile)
        if count_below(tile, limit[r]) == 0:
            continue
        filled[r] = take_closer(values[r], items[r], filled[r], tile, start, limit[r])
        if filled[r] >= 2 * wanted or (filled[r] >= wanted and limit[r] == np.inf):
            partial_sort(values[r, : filled[r]], items[r, : filled[r]], wanted - 1)
            filled[r], limit[r] = wanted, values[r, wanted - 1]


@compiled_within
def _write_nearest(values: Floats, items: Ints, row: int, nearest: Positions, distance: Floats) -> None:
    """Write the nearest of a row's candidates, without itself, in order of distance (equal ones by position)."""
    count = min(len(values), len(nearest) + 1)
    if count < len(values):
        partial_sort(values, items, count - 1)
    sort_pairs(values[:count], items[:count])
    written = 0
    for i in range(count):
        if items[i] != row and written < len(nearest):
            nearest[written], distance[written] = items[i], values[i]
            written += 1


@compiled_within
def _write_rows(first_row: int, rows: int, sizes: Ints, candidates: Candidates, result: NearestRows) -> None:
    """Write the results of the rows of one block from their candidates."""
    values, items, filled = candidates[0], candidates[1], candidates[2]
    core, nearest, distance = result
    for r in range(rows):
        row, count = first_row + r, filled[r]
        for s in range(len(sizes) - 1, -1, -1):
            partial_sort(values[r, :count], items[r, :count], sizes[s])
            core[s, row] = values[r, sizes[s]]
            count = sizes[s] + 1
        _write_nearest(values[r, :count], items[r, :count], row, nearest[row], distance[row])


@compiled
def nearest_rows(space: Space, sizes: Ints, first: int, last: int, result: NearestRows) -> None:
    """Write core distances and nearest rows of the rows in blocks first .. last - 1; all distances are reduced.

    `sizes` (n_sizes,) are rising neighbour counts, the row itself not counted, all below n.
    """
    _, _, starts, low, high, manhattan = space
    n_blocks, wanted = len(starts) - 1, sizes[-1] + 1  # the row itself is the first of its own neighbours
    widest = starts[1] - starts[0] + 1  # blocks differ by one row at most
    room = 2 * wanted + widest
    values, items = np.empty((widest, room)), np.empty((widest, room), np.int64)
    filled, limit = np.empty(widest, np.int64), np.empty(widest)
    gaps, row_gaps, order = np.empty(n_blocks), np.empty(widest), np.empty(n_blocks, np.int64)
    for block in range(first, last):
        rows = starts[block + 1] - starts[block]
        filled[:] = 0
        limit[:] = np.inf
        block_gaps(low, high, block, (low, high), manhattan, gaps)
        gaps[block] = -1.0
        for i in range(n_blocks):
            order[i] = i
        sort_pairs(gaps, order)
        for i in range(n_blocks):
            furthest = -1.0
            for r in range(rows):
                furthest = max(furthest, limit[r])
            if gaps[i] >= furthest:
                break
            _look_at(space, block, order[i], row_gaps[:rows], (values, items, filled, limit), wanted)
        _write_rows(starts[block], rows, sizes, (values, items, filled, limit), result)
