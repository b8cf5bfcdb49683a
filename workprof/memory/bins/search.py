"""The best bin edges by an exact search, for every number of bins up to the one asked for.

Some best choice has every inner edge on a size that a run needs. With sizes v_1 < .. < v_m, their weights and the
prefix sums W of the weights, the least cost of covering the first i sizes with at most q edges is

    D[1][i] = v_i W_i,    D[q][i] = min over j < i of D[q-1][j] + v_i (W_i - W_j).

For a fixed j this is a line in v_i with slope -W_j; slopes and queries are monotone, so the lower hull of the lines
answers all m queries in O(m) per edge. The last edge needs one query only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import SettingsError


@dataclass(frozen=True)
class Needs:
    """The sizes that runs need, as a search sees them.

    Attributes:
        sizes_bytes: (m,) strictly increasing; the last one is the top edge, whether a run needs it or not.
        weights: (m,) 0 or more: how much the runs of that size count.
    """

    sizes_bytes: Floats
    weights: Floats


@dataclass(frozen=True)
class EdgeChoice:
    """The cheapest edges of at most so many.

    Attributes:
        edges_bytes: (k,) increasing; fewer than asked for where there are fewer sizes.
        cost: sum over runs of weight x smallest edge that covers them.
    """

    edges_bytes: Floats
    cost: float


def needs_of(sizes_bytes: Floats, weights: Floats, top_bytes: float | None = None) -> Needs:
    """Return sizes without repeats and their summed weights.

    Args:
        sizes_bytes: (n,) what each run needs, above 0.
        weights: (n,) 0 or more.
        top_bytes: of a pinned top edge: larger sizes count as that size, and where none reaches it, it stands there
            with weight 0. None: the top is the largest size.

    Source:
        The sentinel of weight 0 replaces the thesis' assumption that the top edge is one of the usages: overwriting
        the largest usage by the top would forbid an inner edge on that usage.
    """
    capped = sizes_bytes if top_bytes is None else np.minimum(sizes_bytes, top_bytes)
    sizes, place = np.unique(capped, return_inverse=True)
    totals = np.bincount(place, weights=weights, minlength=len(sizes)).astype(np.float64)
    if top_bytes is not None and sizes[-1] < top_bytes:
        sizes, totals = np.append(sizes, top_bytes), np.append(totals, 0.0)
    return Needs(sizes, totals)


def best_edges(needs: Needs, most_edges: int) -> tuple[EdgeChoice, ...]:
    """Return the cheapest edges for 1, 2, .. `most_edges` bins, in O(most_edges x m).

    Raises:
        SettingsError: when fewer than one edge is asked for.
    """
    if most_edges < 1:
        raise SettingsError(f"{most_edges} bins were asked for; ask for 1 or more")
    sizes, totals = needs.sizes_bytes, np.cumsum(needs.weights)
    layer = sizes * totals
    parents: list[Ints] = []
    choices = [EdgeChoice(sizes[-1:].copy(), float(layer[-1]))]
    for n_edges in range(2, most_edges + 1):
        last_parent, cost = _last_edge(sizes, totals, layer)
        edges = _edges(sizes, parents, last_parent)
        choices.append(EdgeChoice(edges, min(cost, choices[-1].cost)))
        if n_edges < most_edges:
            layer, parent = _next_layer(sizes, totals, layer)
            parents.append(parent)
    return tuple(choices)


def _last_edge(sizes: Floats, totals: Floats, layer: Floats) -> tuple[int, float]:
    """Return the best place of the edge below the top (-1 = none) and the cost of all sizes with it."""
    if len(sizes) == 1:
        return -1, float(layer[-1])
    costs = layer[:-1] + sizes[-1] * (totals[-1] - totals[:-1])
    best = int(costs.argmin())
    return best, float(costs[best])


def _edges(sizes: Floats, parents: list[Ints], last_parent: int) -> Floats:
    """Return the edges that a chain of parents leads through, from the top down, in increasing order."""
    places, place = [len(sizes) - 1], last_parent
    for parent in reversed([None, *parents]):
        if place < 0:
            break
        places.append(place)
        place = -1 if parent is None else int(parent[place])
    return np.asarray(sizes[places[::-1]], dtype=np.float64)


def _next_layer(sizes: Floats, totals: Floats, layer: Floats) -> tuple[Floats, Ints]:
    """Return (m,) least costs with one edge more, and the place of the edge below (-1 = none).

    Lists and local names: a plain loop over NumPy scalars would take several times as long.
    """
    queries, weights, costs = sizes.tolist(), totals.tolist(), layer.tolist()
    slopes, heights, owners = [weights[0]], [costs[0]], [0]
    best, parents = [costs[0]], [-1]
    head = 0
    for i in range(1, len(queries)):
        x = queries[i]
        last = len(slopes) - 1
        while head < last and heights[head + 1] - x * slopes[head + 1] <= heights[head] - x * slopes[head]:
            head += 1
        best.append(heights[head] + x * (weights[i] - slopes[head]))
        parents.append(owners[head])
        slope, height = weights[i], costs[i]
        if slope > slopes[-1]:  # a size of weight 0 has the line of the size before, but higher
            while len(slopes) - head > 1 and _hidden(slopes, heights, slope, height):
                slopes.pop()
                heights.pop()
                owners.pop()
            slopes.append(slope)
            heights.append(height)
            owners.append(i)
    return np.array(best), np.array(parents, dtype=np.int64)


def _hidden(slopes: list[float], heights: list[float], slope: float, height: float) -> bool:
    """Return whether a new line, steeper than all, meets the last but one before the last does."""
    first, second = slopes[-2], slopes[-1]
    return (height - heights[-2]) * (second - first) <= (heights[-1] - heights[-2]) * (slope - first)
