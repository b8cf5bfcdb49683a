"""Profiles of runs that a clustering has not seen: fit on a sample, assign the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.profiles.tree import Blocks, Fall, SpanningTree, cut_with_fall, find_neighbours, make_blocks

BLOCKS_PER_CHUNK = 8


@dataclass(frozen=True)
class Assigner:
    """A clustering in the form that takes further rows."""

    blocks: Blocks  # the fitted rows
    metric: str  # 'euclidean' or 'manhattan'
    min_samples: int  # of the clustering
    n_dims: int  # columns of the fitted rows
    core: Floats  # (n,) reduced core distances in block order; the row itself counts, as in hdbscan's prediction data
    fall: Fall  # of the fitted rows, in their own order
    quick: bool = False
    """Whether the nearest rows of a new row, which take the time, are searched only where its profile depends on them:
    where it lies between profiles, or between a profile and the outliers. The others join the row that they reach
    first by its core distance alone: whatever their own is, as far as it can be, their profile is the same."""

    def assign(self, points: Floats, report: Callable[[float], None] | None = None) -> tuple[Ints, Floats]:
        """Return (n_new,) profiles, -1 = outlier, and (n_new,) membership strengths 0-1.

        A new row joins the fitted row that is nearest by mutual reachability among the 2 * min_samples nearest ones,
        at the lambda of that distance, and belongs to the profile that holds this place of the condensed tree.

        Args:
            points: (n_new, n_dims) values, scaled as the fitted rows were.
            report: told the share that is done.

        Raises:
            NotEnoughData: when the columns are not those of the fit, or a value is not finite.

        Source:
            `hdbscan.approximate_predict`, of which this is an exact equal unless `quick`.
        """
        from workprof.core.compiled import share_out  # noqa: PLC0415  numba
        from workprof.profiles.kernels.assigning import assign_rows, assign_soon  # noqa: PLC0415

        if points.ndim != 2 or points.shape[1] != self.n_dims:
            raise NotEnoughData(f"{points.shape} values given; the clustering has {self.n_dims} columns")
        if not np.isfinite(points).all():
            raise NotEnoughData("some values to assign are missing or infinite; apply the transform of the fit first")
        if not len(points):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        order, fall, queries = self.blocks.order, self.fall, make_blocks(points)
        fitted = (self.core, fall.node[order], fall.lambda_[order])
        nodes = (fall.up, fall.birth, fall.profile, fall.death)
        clustering = (self.blocks.space(self.metric), self.min_samples, fitted, nodes)
        asked = queries.space(self.metric)
        labels, strength = np.empty(len(points), dtype=np.int64), np.empty(len(points))
        searched = np.empty(len(points), dtype=np.int64)
        least = np.minimum.reduceat(self.core, self.blocks.starts[:-1])

        def work(first: int, last: int) -> None:
            if self.quick:
                assign_soon(clustering, least, asked, first, last, (labels, strength, searched))
            else:
                assign_rows(clustering, asked, first, last, (labels, strength))

        share_out(work, len(queries.starts) - 1, BLOCKS_PER_CHUNK, report)
        found, strengths = np.empty_like(labels), np.empty_like(strength)
        found[queries.order], strengths[queries.order] = labels, strength
        return found, strengths


def make_assigner(
    points: Floats, tree: SpanningTree, min_cluster_size: int, method: str = "eom", epsilon: float = 0.0
) -> Assigner:
    """Return the clustering that `cut` gives in the form that takes further rows, as hdbscan's prediction data.

    Args:
        points: (n_rows, n_dims) scaled values that the tree spans.
        tree: of the mutual-reachability graph.
        min_cluster_size: as in `cut`.
        method: as in `cut`.
        epsilon: as in `cut`.
    """
    _, fall = cut_with_fall(tree, min_cluster_size, method, epsilon)
    size = tree.min_samples - 1
    neighbours = find_neighbours(points, tree.metric, (max(1, size),))
    core = neighbours.core_of(size) if size else np.zeros(len(points))
    return Assigner(neighbours.blocks, tree.metric, tree.min_samples, points.shape[1], core, fall)


def make_quick_assigner(points: Floats, tree: SpanningTree, fall: Fall) -> Assigner:
    """Return a quick assigner, with the core distances of the clustering itself, which leave the row itself out.

    Args:
        points: (n_rows, n_dims) scaled values that the tree spans.
        tree: of the mutual-reachability graph.
        fall: of `cut_with_fall`.
    """
    blocks = make_blocks(points)
    core = tree.core_distance[blocks.order]
    core = core if tree.metric == "manhattan" else core**2
    return Assigner(blocks, tree.metric, tree.min_samples, points.shape[1], core, fall, quick=True)
