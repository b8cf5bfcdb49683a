"""The minimum spanning tree of the mutual-reachability graph: all that HDBSCAN needs, kept to be cut again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.clusters.neighbours import Neighbours


@dataclass(frozen=True)
class SpanningTree:
    """A minimum spanning tree of the mutual-reachability graph, edges in rising order of weight.

    Attributes:
        source: (n_rows - 1,) one end of each edge.
        target: (n_rows - 1,) the other end.
        weight: (n_rows - 1,) mutual-reachability distance, in scaled units.
        core_distance: (n_rows,) distance to the `min_samples`-th other row.
        metric: 'euclidean' or 'manhattan'.
        min_samples: neighbours behind `core_distance` (at most n_rows - 1).
    """

    source: Ints
    target: Ints
    weight: Floats
    core_distance: Floats
    metric: str
    min_samples: int

    @property
    def n_rows(self) -> int:
        """Number of rows that the tree spans."""
        return len(self.core_distance)


def build_spanning_tree(
    neighbours: Neighbours, min_samples: int, report: Callable[[float], None] | None = None
) -> SpanningTree:
    """Return the minimum spanning tree of the mutual-reachability graph, exact.

    The weight of a pair is the largest of its distance and the core distances of its two rows. Among trees of the same
    total weight the one with the shorter distances is taken.

    Args:
        neighbours: of the rows, searched for `min_samples` among others.
        min_samples: as in `find_neighbours`.
        report: told the share of the rows that are joined.

    Raises:
        SettingsError: when `min_samples` was not searched.

    Source:
        Campello et al. 2013 for the graph; Boruvka 1926 in the arrangement of McInnes and Healy 2017, with blocks
        instead of
        trees: most rows are joined from their neighbour lists alone, the rest by pruned search.
    """
    from workprof.profiles.clusters.boruvka import Forest  # noqa: PLC0415  numba

    core = neighbours.core_of(min_samples)
    forest = Forest(neighbours, core)
    while forest.n_components > 1:
        if report is not None:
            report(forest.n_edges / (len(core) - 1))
        forest.grow()
    edges, order = forest.edges, neighbours.blocks.order
    rising = np.lexsort((edges.length, edges.weight))
    core_distance = np.empty(len(core))
    core_distance[order] = core
    true = np.sqrt if neighbours.metric == "euclidean" else np.asarray
    return SpanningTree(
        source=order[edges.source[rising]],
        target=order[edges.target[rising]],
        weight=true(edges.weight[rising]),
        core_distance=true(core_distance),
        metric=neighbours.metric,
        min_samples=min(min_samples, len(core) - 1),
    )
