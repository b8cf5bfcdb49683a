"""Compiled loop that finds where rows that a clustering has not seen join its condensed tree."""

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled, compiled_within, sort_pairs
from workprof.profiles.kernels.nearest import (
    Space,
    block_gaps,
    box_gaps,
    count_below,
    partial_sort,
    take_closer,
    to_block,
)

Fitted = tuple[Floats, Ints, Floats]
"""Of the fitted rows, in block order: reduced core distance, node of the condensed tree that the row falls out of, and
the lambda at which it does."""

Nodes = tuple[Ints, Floats, Ints, Floats]
"""Of the condensed tree's nodes: parent (-1 for the root), lambda of birth, profile (-1 = none), and the lambda of
death of the selected node that each lies in."""


@compiled_within
def _join(values: Floats, items: Ints, min_samples: int, core: Floats) -> tuple[int, float, float]:
    """The nearest fitted row by mutual reachability, the new row's core distance, and that distance, reduced.

    `values` (n_near,) are reduced distances to the nearest fitted rows, `items` their positions. `min_samples`
    neighbours make the new row's core distance; the one after them counts, as in hdbscan.
    """
    nth = min(min_samples, len(values) - 1)
    partial_sort(values, items, nth)
    own, best, reach, length = values[nth], -1, np.inf, np.inf
    for i in range(len(values)):
        value, distance = max(own, values[i], core[items[i]]), values[i]
        if best < 0 or value < reach or (value == reach and distance < length):
            best, reach, length = items[i], value, distance
    return best, own, reach


@compiled_within
def _place(row: int, lambda_: float, fitted: Fitted, nodes: Nodes) -> tuple[int, float]:
    """Profile and membership strength of a row that joins fitted row `row` at `lambda_`."""
    node = fitted[1][row]
    up, birth, profile, death = nodes
    if fitted[2][row] > lambda_:
        while up[node] >= 0 and birth[node] >= lambda_:
            node = up[node]
    if profile[node] < 0:
        return -1, 0.0
    most = death[node]
    if most == 0.0 or not np.isfinite(lambda_):
        return profile[node], 1.0
    return profile[node], min(lambda_, most) / most


NEAR = 1e-9
"""Relative room for rounding in a bound of a distance."""

Clustering = tuple[Space, int, Fitted, Nodes]
"""The fitted rows in blocks, min_samples, and what is known of the rows and of the condensed tree's nodes."""


Near = tuple[Ints, Floats]
"""Blocks of fitted rows (n_blocks,), the nearest first, and their gaps to the block of a new row (n_blocks,)."""

Looked = tuple[Floats, Ints, Floats]
"""What is known of one new row: its gaps to each block (n_blocks,); where its distances to the rows of each stand, -1 =
not computed (n_blocks,); and these distances, reduced (n_blocks + 1, widest block)."""


@compiled_within
def _collect(
    space: Space,
    query: Floats,
    near: Near,
    limits: tuple[int, float],
    room: tuple[Floats, Ints],
    looked: Looked,
) -> int:
    """Write the nearest fitted rows of `query` (d,) to the front of room's values and items; return how many.

    `limits` are the fitted rows to find, at most n, and the reduced distance below which there are as many, infinite
    where it is not known. `room` is (2 * wanted + widest block,). The last distances in `looked` are overwritten.
    """
    _, lanes, starts, _, _, manhattan = space
    values, items = room
    wanted, limit = limits
    nearest_first, gaps = near
    row_gaps, place, distances = looked
    filled = 0
    for i in range(len(nearest_first)):
        other = nearest_first[i]
        if gaps[i] >= limit:
            break
        if row_gaps[other] >= limit:
            continue
        start = starts[other]
        part = distances[place[other], : starts[other + 1] - start]
        if place[other] < 0:
            to_block(lanes, start, query, manhattan, part)
        if count_below(part, limit) == 0:
            continue
        filled = take_closer(values, items, filled, part, start, limit)
        if filled >= 2 * wanted or (filled >= wanted and limit == np.inf):
            partial_sort(values[:filled], items[:filled], wanted - 1)
            filled, limit = wanted, values[wanted - 1]
    if filled > wanted:
        partial_sort(values[:filled], items[:filled], wanted - 1)
    return min(filled, wanted)


@compiled_within
def _room_for_one(starts: Ints) -> Looked:
    n_blocks = len(starts) - 1
    return np.empty(n_blocks), np.full(n_blocks, -1), np.empty((n_blocks + 1, np.max(starts[1:] - starts[:-1])))


@compiled
def assign_rows(clustering: Clustering, queries: Space, first: int, last: int, result: tuple[Ints, Floats]) -> None:
    """Write profiles (n_new,) and membership strengths of the new rows in blocks first .. last - 1, in block order."""
    space, min_samples, fitted, nodes = clustering
    starts, low, high, manhattan = space[2], space[3], space[4], space[5]
    points, query_starts, query_low, query_high = queries[0], queries[2], queries[3], queries[4]
    wanted = min(2 * min_samples, starts[-1])
    size = 2 * wanted + np.max(starts[1:] - starts[:-1])
    values, items = np.empty(size), np.empty(size, np.int64)
    gaps, looked = np.empty(len(starts) - 1), _room_for_one(starts)
    nearest_first = np.empty(len(gaps), np.int64)
    for block in range(first, last):
        block_gaps(query_low, query_high, block, (low, high), manhattan, gaps)
        for i in range(len(gaps)):
            nearest_first[i] = i
        sort_pairs(gaps, nearest_first)
        for row in range(query_starts[block], query_starts[block + 1]):
            box_gaps(points[row], points[row], low, high, manhattan, looked[0])
            n_near = _collect(space, points[row], (nearest_first, gaps), (wanted, np.inf), (values, items), looked)
            joined, _, reach = _join(values[:n_near], items[:n_near], min_samples, fitted[0])
            distance = reach if manhattan else np.sqrt(reach)
            result[0][row], result[1][row] = _place(joined, 1.0 / distance if distance > 0 else np.inf, fitted, nodes)


@compiled_within
def _count_reached(tile: Floats, core: Floats, reach: float) -> int:
    """How many rows, at the distances of a tile and with these core distances (w,), are reached by `reach`."""
    count = 0
    for j in range(len(tile)):
        count += max(tile[j], core[j]) <= reach
    return count


@compiled_within
def _nearest_core(
    space: Space, query: Floats, near: Near, cores: tuple[Floats, Floats], looked: Looked
) -> tuple[int, float, float]:
    """The fitted row that `query` (d,) reaches first, that reach, and a bound on the row's own core distance.

    The reach is max(distance, core distance of the fitted row), reduced; of equal ones the nearest row counts. The
    bound is the least distance + core distance of a row that was looked at, not reduced: the ball of that radius around
    the query holds the min_samples nearest rows of the fitted one.

    `cores` are reduced core distances (n,) and the smallest of each block (n_blocks,); `looked` is overwritten with
    what is known of the new row then.
    """
    _, lanes, starts, low, high, manhattan = space
    core, least = cores
    nearest_first, gaps = near
    row_gaps, place, distances = looked
    box_gaps(query, query, low, high, manhattan, row_gaps)
    place[:] = -1
    n_looked = 0
    best, reach, length, bound = -1, np.inf, np.inf, np.inf
    for i in range(len(nearest_first)):
        other = nearest_first[i]
        if gaps[i] > reach:
            break
        if max(row_gaps[other], least[other]) > reach or (least[other] == reach and row_gaps[other] >= length):
            continue
        start = starts[other]
        part = distances[n_looked, : starts[other + 1] - start]
        to_block(lanes, start, query, manhattan, part)
        place[other] = n_looked
        n_looked += 1
        if _count_reached(part, core[start : start + len(part)], reach) == 0:
            continue
        for j in range(len(part)):
            distance = part[j]
            value = max(distance, core[start + j])
            if value < reach or (value == reach and distance < length):
                best, reach, length = start + j, value, distance
                whole = distance + core[start + j] if manhattan else np.sqrt(distance) + np.sqrt(core[start + j])
                bound = min(bound, whole)
    return best, reach, bound


@compiled
def assign_soon(
    clustering: Clustering,
    cores: tuple[Floats, Floats],
    queries: Space,
    first: int,
    last: int,
    result: tuple[Ints, Floats, Floats],
) -> None:
    """Write as `assign_rows`, and look at the nearest rows of a new row only where its profile depends on them.

    A new row reaches the fitted ones at its own core distance or later. Where the profile is the same for all that
    this can be, and it is below the profile's rim, it is taken without; its strength then counts the fitted row's core
    distance alone.

    `cores` are the smallest reduced core distance of each block of fitted rows (n_blocks,), and the distance at which
    the rim of each profile begins (n_profiles + 1,), last the one below which an outlier may yet join a profile.
    Results are profiles, strengths and core distances, (n_new,) each: where the nearest rows were not looked at, the
    reach of a row in a profile, which is below its rim, and infinite for an outlier.
    """
    space, min_samples, fitted, nodes = clustering
    starts, low, high, manhattan = space[2], space[3], space[4], space[5]
    points, query_starts, query_low, query_high = queries[0], queries[2], queries[3], queries[4]
    least, rim = cores
    wanted = min(min_samples + 1, starts[-1])
    widest = np.max(starts[1:] - starts[:-1])
    values, items = np.empty(2 * wanted + widest), np.empty(2 * wanted + widest, np.int64)
    gaps, looked = np.empty(len(starts) - 1), _room_for_one(starts)
    nearest_first = np.empty(len(gaps), np.int64)
    for block in range(first, last):
        block_gaps(query_low, query_high, block, (low, high), manhattan, gaps)
        for i in range(len(gaps)):
            nearest_first[i] = i
        sort_pairs(gaps, nearest_first)
        for row in range(query_starts[block], query_starts[block + 1]):
            joined, reach, bound = _nearest_core(space, points[row], (nearest_first, gaps), (fitted[0], least), looked)
            distance = reach if manhattan else np.sqrt(reach)
            profile, strength = _place(joined, 1.0 / distance if distance > 0 else np.inf, fitted, nodes)
            most = (bound if manhattan else bound**2) * (1 + NEAR)
            core = distance if profile >= 0 or most == 0.0 else np.inf  # 0: as many rows are equal to it
            searched = distance < rim[-1] if profile < 0 else max(distance, bound) > rim[profile]
            if searched and most > 0.0:
                most = np.inf if wanted == starts[-1] else most
                n_near = _collect(space, points[row], (nearest_first, gaps), (wanted, most), (values, items), looked)
                nearer, own, nearer_reach = _join(values[:n_near], items[:n_near], min_samples, fitted[0])
                if own >= reach:
                    joined, reach = nearer, nearer_reach
                distance, core = (reach, own) if manhattan else (np.sqrt(reach), np.sqrt(own))
                profile, strength = _place(joined, 1.0 / distance if distance > 0 else np.inf, fitted, nodes)
            result[0][row], result[1][row], result[2][row] = profile, strength, core


@compiled
def part_profiles(left: Ints, right: Ints, weight: Floats, anchor: Ints, label: Ints, birth: Floats) -> None:
    """Write the profile of each row, -1 = none, and the distance at which each profile parts from the others.

    A profile is the largest component of the single-linkage tree that holds its anchor and no other's.

    `left` and `right` (n - 1,) are the children of each merge, as `condensing.single_linkage` numbers them, `weight`
    its distance, rising; `anchor` is one row of each profile. Results are `label` (2 n - 1,), rows first, then merges,
    and `birth` (n_profiles,).
    """
    n = len(left) + 1
    held = np.zeros(2 * n - 1, np.int64)
    label[:] = -1
    for profile in range(len(anchor)):
        label[anchor[profile]], held[anchor[profile]] = profile, 1
    for i in range(n - 1):
        held[n + i] = held[left[i]] + held[right[i]]
        if held[n + i] == 1:
            label[n + i] = max(label[left[i]], label[right[i]])
    for i in range(n - 2, -1, -1):
        for child in (left[i], right[i]):
            if label[n + i] >= 0:
                label[child] = label[n + i]
            elif held[child] == 1:
                birth[label[child]] = weight[i]
