"""Boruvka's rounds: a forest of all rows grows into the minimum spanning tree of the mutual-reachability graph.

Rows are positions in block order and distances are reduced. An edge is ordered by (mutual reachability, distance): of
the many edges that weigh the same, because one end's core distance is the largest of the three, the shortest is taken.
So the tree does not depend on the order of the rows unless distances themselves are equal, nor on how threads take
turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, Positions
from workprof.core.compiled import compiled, compiled_within, share_out, sort_pairs
from workprof.profiles.kernels.nearest import Space, block_gaps, box_gaps, to_block
from workprof.profiles.tree import Neighbours

Rows = tuple[Floats, Floats, Ints, Ints]
Bounds = tuple[Floats, Floats]
Reach = tuple[Ints, Floats, Floats]
Results = tuple[Ints, Floats, Floats]
EdgeArrays = tuple[Ints, Ints, Floats, Floats]
"""Source, target, weight and length of edges; compiled loops take tuples, not records."""


@compiled_within
def find_root(parent: Ints, row: int) -> int:
    """The representative of a row's component, shortening the path to it."""
    while parent[row] != row:
        parent[row] = parent[parent[row]]
        row = parent[row]
    return row


@compiled
def join_denser(parent: Ints, core: Floats, nearest: Positions, distance: Floats, edges: EdgeArrays) -> int:
    """Join every row with its nearest listed row of no larger core distance; return the number of edges.

    No edge of a row weighs less than its core distance, and such an edge weighs just that: it needs no search.

    `nearest` and its reduced `distance` are (n, n_listed); `parent` (n,) is joined in place, `edges` (n - 1,) are
    results.
    """
    source, target, weight, length = edges
    count = 0
    for row in range(len(core)):
        for i in range(nearest.shape[1]):
            other = nearest[row, i]
            if core[other] <= core[row] and distance[row, i] <= core[row]:
                a, b = find_root(parent, row), find_root(parent, other)
                if a != b:
                    parent[max(a, b)] = min(a, b)
                    source[count], target[count] = row, other
                    weight[count], length[count] = core[row], distance[row, i]
                    count += 1
                break
    return count


@compiled
def number_components(parent: Ints, component: Ints) -> int:
    """Write each row's component as 0 .. count - 1, numbered by first row; return the count."""
    count = 0
    for row in range(len(parent)):
        root = find_root(parent, row)
        if root == row:
            component[row] = count
            count += 1
        else:
            component[row] = component[root]  # a root is the smallest row of its component
    return count


@compiled
def offer_listed(component: Ints, core: Floats, nearest: Positions, distance: Floats, best: EdgeArrays) -> None:
    """Write for each component the best edge to another one among the listed neighbours, seen from both ends.

    `nearest` and its reduced `distance` are (n, n_listed), `core` (n,) is reduced. The results `best` (n_components,)
    have the source in the component, and infinite weight where there is none.
    """
    source, target, weight, length = best
    weight[:] = np.inf
    length[:] = np.inf
    for row in range(len(core)):
        mine = component[row]
        for i in range(nearest.shape[1]):
            other, gap = nearest[row, i], distance[row, i]
            theirs = component[other]
            if theirs == mine:
                continue
            heavy = max(core[row], core[other], gap)
            if heavy < weight[mine] or (heavy == weight[mine] and gap < length[mine]):
                weight[mine], length[mine], source[mine], target[mine] = heavy, gap, row, other
            if heavy < weight[theirs] or (heavy == weight[theirs] and gap < length[theirs]):
                weight[theirs], length[theirs], source[theirs], target[theirs] = heavy, gap, other, row


@compiled
def pure_blocks(component: Ints, starts: Ints, owner: Ints) -> None:
    """Write the component that all rows of a block belong to, -1 where they differ."""
    for block in range(len(starts) - 1):
        owner[block] = component[starts[block]]
        for row in range(starts[block] + 1, starts[block + 1]):
            if component[row] != owner[block]:
                owner[block] = -1
                break


@compiled_within
def _blocks_within_reach(block: int, furthest: float, space: Space, rows: Rows, gaps: Floats, near: Ints) -> int:
    """Write to `near` the blocks that can hold the other end of an edge from `block` of at most `furthest`.

    They are written nearest first, their gaps to the front of `gaps`; returned is how many they are.
    """
    _, _, starts, low, high, manhattan = space
    core, core_low, component, owner = rows
    block_gaps(low, high, block, (low, high), manhattan, gaps)
    count = 0
    for other in range(len(owner)):
        within = max(gaps[other], core_low[other]) <= furthest
        if within and owner[block] >= 0:
            # Mixed blocks are mostly rows of this component and sparse ones: is there a dense enough row of another?
            within = False
            if owner[other] != owner[block]:
                for row in range(starts[other], starts[other + 1]):
                    if core[row] <= furthest and component[row] != owner[block]:
                        within = True
                        break
        if within:
            gaps[count], near[count] = gaps[other], other
            count += 1
    sort_pairs(gaps[:count], near[:count])
    return count


@compiled_within
def _search_from(row: int, reach: Reach, space: Space, rows: Rows, bounds: Bounds, results: Results) -> None:
    """Look through the blocks in reach for the best edge of one row."""
    near, gaps, tile = reach
    points, lanes, starts, _, _, manhattan = space
    core, core_low, component, owner = rows
    weight, length = bounds
    mine, query = component[row], points[row]
    for i in range(len(near)):
        other, gap = near[i], gaps[i]
        least = max(gap, core_low[other], core[row])
        if owner[other] == mine or least > weight[mine] or (least == weight[mine] and gap >= length[mine]):
            continue
        start = starts[other]
        width = starts[other + 1] - start
        to_block(lanes, start, query, manhattan, tile[:width])
        for j in range(width):
            if tile[j] > weight[mine] or component[start + j] == mine:
                continue
            heavy = max(tile[j], core[start + j], core[row])
            if heavy < weight[mine] or (heavy == weight[mine] and tile[j] < length[mine]):
                weight[mine], length[mine] = heavy, tile[j]
                results[0][row], results[1][row], results[2][row] = start + j, heavy, tile[j]


@compiled_within
def _columns(values: Floats, chosen: Ints) -> Floats:
    result = np.empty((len(values), len(chosen)))
    for d in range(len(values)):
        for i in range(len(chosen)):
            result[d, i] = values[d, chosen[i]]
    return result


@compiled
def search_outside(space: Space, rows: Rows, searched: Bools, blocks: Ints, bounds: Bounds, results: Results) -> None:
    """Look from some blocks' rows for edges to other components that are better than the best ones known.

    `rows`: core distance (n,), the smallest of each block (n_blocks,), component (n,), `pure_blocks` (n_blocks,).
    Searched are the rows of the marked components (n_components,). `bounds` (n_components,), a copy of this call's own,
    are improved in place; `results` are other end, weight and length (n,) of the edges of rows that beat the best.
    """
    points, _, starts, low, high, manhattan = space
    core, _, component, owner = rows
    gaps, tile = np.empty(len(owner)), np.empty(starts[1] - starts[0] + 1)  # blocks differ by one row at most
    every = np.empty(len(owner), np.int64)
    for block in blocks:
        if owner[block] >= 0 and not searched[owner[block]]:
            continue
        furthest = -1.0
        for row in range(starts[block], starts[block + 1]):
            bound = bounds[0][component[row]]
            if searched[component[row]] and core[row] <= bound:
                furthest = max(furthest, bound)
        if furthest < 0.0:
            continue
        near = every[: _blocks_within_reach(block, furthest, space, rows, gaps, every)]
        if len(near) == 0:
            continue
        near_low, near_high = _columns(low, near), _columns(high, near)
        row_gaps = gaps[: len(near)]  # the blocks' own gaps are not needed any more
        for row in range(starts[block], starts[block + 1]):
            if searched[component[row]] and core[row] <= bounds[0][component[row]]:
                box_gaps(points[row], points[row], near_low, near_high, manhattan, row_gaps)
                _search_from(row, (near, row_gaps, tile), space, rows, bounds, results)


@compiled
def take_nearest(component: Ints, results: Results, best: EdgeArrays) -> None:
    """Fold what the rows found (`search_outside`) into the components' best edges, and forget it."""
    result, row_weight, row_length = results
    source, target, weight, length = best
    for row in range(len(result)):
        if result[row] < 0:
            continue
        mine, heavy, gap = component[row], row_weight[row], row_length[row]
        if heavy < weight[mine] or (heavy == weight[mine] and gap < length[mine]):
            weight[mine], length[mine], source[mine], target[mine] = heavy, gap, row, result[row]
        result[row] = -1


@compiled
def join_best(parent: Ints, best: EdgeArrays, searched: Bools, count: int, edges: EdgeArrays) -> int:
    """Join every searched component along its best edge; return the new number of edges.

    `parent` (n,) is joined in place, `edges` (n - 1,) are filled from `count` on; `best` and `searched` are
    (n_components,).
    """
    source, target, weight, length = best
    for mine in range(len(source)):
        if not searched[mine]:
            continue
        a, b = find_root(parent, source[mine]), find_root(parent, target[mine])
        if a != b:
            parent[max(a, b)] = min(a, b)
            edges[0][count], edges[1][count] = source[mine], target[mine]
            edges[2][count], edges[3][count] = weight[mine], length[mine]
            count += 1
    return count


BLOCKS_PER_CHUNK = 16
FIRST_WAVE = 16
"""One block in so many is searched first, so that the others start with a bound for components without listed edges."""


FEW_COMPONENTS = 64
FEW_SHARE, MANY_SHARE = 0.5, 1.0
"""Of few components only the smaller half is searched in a round: the large ones hold most rows."""


@dataclass(frozen=True)
class Edges:
    """Edges in block positions with reduced weights."""

    source: Ints  # (n_edges,) ends
    target: Ints  # (n_edges,) ends
    weight: Floats  # (n_edges,) mutual reachability
    length: Floats  # (n_edges,) distance

    @property
    def arrays(self) -> tuple[Ints, Ints, Floats, Floats]:
        """The arrays that compiled loops take."""
        return self.source, self.target, self.weight, self.length

    @staticmethod
    def room(count: int) -> Edges:
        """Room for `count` edges, all infinitely heavy."""
        ends = np.full((2, count), -1, dtype=np.int64)
        return Edges(ends[0], ends[1], np.full(count, np.inf), np.full(count, np.inf))


class Forest:
    """Components of rows and the edges that hold them together.

    Attributes:
        edges: (n_rows - 1,) the first `n_edges` are set.
        n_edges: edges so far.
        n_components: trees in the forest.

    Args:
        neighbours: of the rows.
        core: (n_rows,) reduced core distances.
    """

    def __init__(self, neighbours: Neighbours, core: Floats) -> None:
        n = len(core)
        self.edges = Edges.room(n - 1)
        self._neighbours, self._core = neighbours, core
        self._core_low = np.minimum.reduceat(core, neighbours.blocks.starts[:-1])
        self._parent, self._component = np.arange(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        self._owner = np.empty(len(self._core_low), dtype=np.int64)
        self._nearest = Edges.room(n)
        near = neighbours
        self.n_edges = join_denser(self._parent, core, near.nearest, near.distance, self.edges.arrays)
        self.n_components = number_components(self._parent, self._component)

    def grow(self) -> None:
        """Join components along their best edges: the smaller ones first, the large ones are joined by them."""
        near, best = self._neighbours, Edges.room(self.n_components)
        searched = self._smaller_components()
        offer_listed(self._component, self._core, near.nearest, near.distance, best.arrays)
        pure_blocks(self._component, near.blocks.starts, self._owner)
        every = np.arange(len(self._owner), dtype=np.int64)
        for first_wave in (True, False):
            self._search(every[(every % FIRST_WAVE == 0) == first_wave], searched, best)
        self.n_edges = join_best(self._parent, best.arrays, searched, self.n_edges, self.edges.arrays)
        self.n_components = number_components(self._parent, self._component)

    def _smaller_components(self) -> Bools:
        sizes = np.bincount(self._component, minlength=self.n_components)
        share = FEW_SHARE if self.n_components <= FEW_COMPONENTS else MANY_SHARE
        count = max(1, min(self.n_components - 1, int(share * self.n_components)))
        searched = np.zeros(self.n_components, dtype=bool)
        searched[np.argsort(sizes, kind="stable")[:count]] = True
        return searched

    def _search(self, wave: Ints, searched: Bools, best: Edges) -> None:
        space, result = self._neighbours.blocks.space(self._neighbours.metric), self._nearest
        rows = (self._core, self._core_low, self._component, self._owner)

        def work(first: int, last: int) -> None:
            # Each chunk prunes with its own copy of the bounds: what it finds cannot depend on the other threads.
            bounds = (best.weight.copy(), best.length.copy())
            results = (result.target, result.weight, result.length)
            search_outside(space, rows, searched, wave[first:last], bounds, results)

        share_out(work, len(wave), BLOCKS_PER_CHUNK)
        take_nearest(self._component, (result.target, result.weight, result.length), best.arrays)
