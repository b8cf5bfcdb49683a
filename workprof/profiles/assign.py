"""Profiles of runs that a clustering has not seen: fit on a sample, assign the rest."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.profiles.tree import Blocks, Fall, SpanningTree, find_neighbours, make_blocks, span

BLOCKS_PER_CHUNK = 8
RIM = 0.6
"""Share of the distance at which a profile parts from the others: sparser rows are its rim. From .5 to .6 nothing
changes, at .7 some bridges between profiles are missed (60,000 planted rows against the fit of all)."""

LISTED_AT_RIM = 16
"""Nearest rows that the tree of the rims begins with; its core distances are known, so that no more are needed. The
same tree grows from 8 or 32, a quarter slower from 32."""


@dataclass(frozen=True)
class Assigner:
    """A clustering in the form that takes further rows."""

    blocks: Blocks  # the fitted rows
    metric: str  # 'euclidean' or 'manhattan'
    min_samples: int  # of the clustering
    n_dims: int  # columns of the fitted rows
    core: Floats  # (n,) reduced core distances in block order; the row itself counts, as in hdbscan's prediction data
    fall: Fall  # of the fitted rows, in their own order
    rim: Floats | None = None
    """(n_profiles + 1,) distance at which the rim of each profile begins, last the one below which an outlier may yet
    join a profile; None = of every new row the nearest rows, which take the time, are searched. Else only where its
    profile depends on them, and at the rim: the others join the row that they reach first by its core distance alone;
    whatever their own is, as far as it can be, their profile is the same."""

    def assign(self, points: Floats, report: Callable[[float], None] | None = None) -> tuple[Ints, Floats]:
        """(n_new,) profiles, -1 = outlier, and (n_new,) membership strengths 0-1.

        A new row joins the fitted row that is nearest by mutual reachability among the 2 * min_samples nearest ones,
        at the lambda of that distance, and belongs to the profile that holds this place of the condensed tree.

        `points` are (n_new, n_dims), scaled as the fitted rows were.

        Raises NotEnoughData when the columns are not those of the fit, or a value is not finite.

        Source: `hdbscan.approximate_predict`, of which this is an exact equal unless `rim` is given.
        """
        labels, strength, _ = self.assign_with_core(points, report)
        return labels, strength

    def assign_with_core(
        self, points: Floats, report: Callable[[float], None] | None = None
    ) -> tuple[Ints, Floats, Floats]:
        """As `assign`, and (n_new,) core distances among the fitted rows, in scaled units.

        With a rim, that of a row in a profile below its rim is a lower bound, and that of an outlier beyond all rims
        infinite; without one all are NaN.
        """
        from workprof.core.compiled import share_out  # noqa: PLC0415  numba
        from workprof.profiles.kernels.assigning import assign_rows, assign_soon  # noqa: PLC0415

        if points.ndim != 2 or points.shape[1] != self.n_dims:
            raise NotEnoughData(f"{points.shape} values given; the clustering has {self.n_dims} columns")
        if not np.isfinite(points).all():
            raise NotEnoughData("some values to assign are missing or infinite; apply the transform of the fit first")
        if not len(points):
            return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        order, fall, queries = self.blocks.order, self.fall, make_blocks(points)
        fitted = (self.core, fall.node[order], fall.lambda_[order])
        nodes = (fall.up, fall.birth, fall.profile, fall.death)
        clustering = (self.blocks.space(self.metric), self.min_samples, fitted, nodes)
        query_space = queries.space(self.metric)
        labels, strength = np.empty(len(points), dtype=np.int64), np.empty(len(points))
        cores, rim = np.full(len(points), np.nan), self.rim
        least = np.minimum.reduceat(self.core, self.blocks.starts[:-1])

        def work(first: int, last: int) -> None:
            if rim is not None:
                assign_soon(clustering, (least, rim), query_space, first, last, (labels, strength, cores))
            else:
                assign_rows(clustering, query_space, first, last, (labels, strength))

        share_out(work, len(queries.starts) - 1, BLOCKS_PER_CHUNK, report)
        result, strengths, own = np.empty_like(labels), np.empty_like(strength), np.empty_like(cores)
        result[queries.order], strengths[queries.order], own[queries.order] = labels, strength, cores
        return result, strengths, own

    def key(self, *more: Ints) -> str:
        """A digest of the clustering, and of further arrays."""
        result = hashlib.blake2b(self.metric.encode(), digest_size=8)
        for array in (self.blocks.points, self.core, self.fall.lambda_, self.fall.profile, *more):
            result.update(array.data)
        return result.hexdigest()

    def at_rim(self, labels: Ints, core: Floats) -> Bools:
        """(n_new,) whether a row is at the rim of its profile, or an outlier that may yet join one."""
        if self.rim is None:
            return np.zeros(len(labels), dtype=bool)
        return np.where(labels >= 0, core >= self.rim[labels], core < self.rim[-1])


def make_assigner(points: Floats, tree: SpanningTree, fall: Fall) -> Assigner:
    """A cut of a tree in the form that takes further rows, as hdbscan's prediction data."""
    size = tree.min_samples - 1
    neighbours = find_neighbours(points, tree.metric, (max(1, size),))
    core = neighbours.core_of(size) if size else np.zeros(len(points))
    return Assigner(neighbours.blocks, tree.metric, tree.min_samples, points.shape[1], core, fall)


def make_quick_assigner(points: Floats, tree: SpanningTree, fall: Fall) -> Assigner:
    """An assigner with a rim, and the core distances of the clustering itself, which leave the row itself out."""
    blocks = make_blocks(points)
    core = tree.core_distance[blocks.order]
    core = core if tree.metric == "manhattan" else core**2
    apart = 1.0 / parting_lambda(fall)
    rim = np.append(RIM * apart, apart.max(initial=0.0))
    return Assigner(blocks, tree.metric, tree.min_samples, points.shape[1], core, fall, rim)


def parting_lambda(fall: Fall) -> Floats:
    """(n_profiles,) lambda at which each profile parts from the others: the birth of its selected node."""
    above = np.where(fall.up >= 0, fall.profile[fall.up], -1)
    top = (fall.profile >= 0) & (above != fall.profile)
    birth = np.empty(int(top.sum()))
    birth[fall.profile[top]] = fall.birth[top]
    return birth


@dataclass(frozen=True)
class Rim:
    """Where profiles part once the rows at their rims, which no sample holds enough of, are in the tree."""

    fitted: Ints  # (n_fitted,) profiles of the fitted rows, -1 = outlier
    labels: Ints  # (n_rim,) profiles of the rows at the rims
    strength: Floats  # (n_rim,) their membership strengths 0-1
    apart: Floats  # (n_profiles,) distance at which each profile parts from the others


def settle_rim(points: Floats, tree: SpanningTree, fall: Fall, rim_points: Floats, rim_core: Floats) -> Rim:
    """The profiles with the rows at the rims of all profiles in the tree.

    Two profiles part at the weakest link of the best path between them. The more rows there are, the nearer the rows
    of such paths come to each other, so that profiles of a sample part too late, and hold rows that are outliers among
    all rows. The paths lie in the rims: the tree spans the fitted rows and all rows there, with core distances among
    the fitted ones, which are those among all rows but for chance. A profile is what hangs together with its densest
    row and not yet with that of another.

    `rim_points` are (n_rim, n_dims) further rows, `Assigner.at_rim`, and `rim_core` (n_rim,) their core distances among
    the fitted ones. There is at least one profile.
    """
    from workprof.profiles.kernels.assigning import part_profiles  # noqa: PLC0415  numba
    from workprof.profiles.kernels.condensing import single_linkage  # noqa: PLC0415

    n = len(points)
    neighbours = find_neighbours(np.concatenate([points, rim_points]), tree.metric, (LISTED_AT_RIM,))
    core = np.concatenate([tree.core_distance, rim_core])[neighbours.blocks.order]
    grown = span(neighbours, core if tree.metric == "manhattan" else core**2, tree.min_samples)
    profile = fall.profile[fall.node]
    inner = np.lexsort((tree.core_distance, -fall.lambda_, profile))
    anchor = inner[np.searchsorted(profile[inner], np.arange(profile.max() + 1))]
    left, right, _ = single_linkage(grown.source, grown.target)
    label, apart = np.empty(2 * len(core) - 1, dtype=np.int64), np.full(len(anchor), np.inf)
    part_profiles(left, right, grown.weight, anchor, label, apart)
    labels = label[n : len(core)]
    death = np.zeros(len(anchor) + 1)
    death[fall.profile] = fall.death
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.where(death[labels] > 0, np.minimum(1.0, 1.0 / (rim_core * death[labels])), 1.0)
    return Rim(label[:n], labels, np.where(labels >= 0, strength, 0.0), apart)
