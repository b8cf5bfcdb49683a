"""HDBSCAN in three steps, each kept and used again: neighbours, spanning tree, flat clusters; and OPTICS.

The nearest rows of every row are searched once for all `min_samples`. The minimum spanning tree of the
mutual-reachability graph is built from them in seconds and is all that HDBSCAN needs; cutting it takes milliseconds, so
that another `min_cluster_size`, method or epsilon is a new cut of the kept tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, Positions
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.profiles.pairs import NO_PAIRS, Pairs, PairsHeld, satisfied, settle
from workprof.profiles.settings import ProfileSettings, default_min_cluster_size

if TYPE_CHECKING:
    from hdbscan import HDBSCAN

ROWS_PER_BLOCK = 128
LISTED = 32
"""Neighbours kept by name: enough for most rows to find one in a denser place (see `kernels.boruvka`)."""

BLOCKS_PER_CHUNK = 8
DIMS_AT_ONCE = 2
"""Columns that the compiled loops take in one step, or twice as many."""


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks of neighbours: a balanced k-d tree's leaves, nothing else of the tree."""

    order: Ints  # (n,) row number at each position
    points: Floats  # (n, d) values in block order; d is even, padded with zeros
    lanes: Floats  # (n * d,) the same block by block, each column by column; a block is one stretch of memory
    starts: Ints  # (n_blocks + 1,) first position of each block
    low: Floats  # (d, n_blocks) lower corner of each block's bounding box
    high: Floats  # (d, n_blocks) upper corner

    def space(self, metric: str) -> tuple[Floats, Floats, Ints, Floats, Floats, bool]:
        """The arrays as compiled loops take them."""
        return self.points, self.lanes, self.starts, self.low, self.high, metric == "manhattan"


@dataclass(frozen=True)
class Neighbours:
    """Nearest rows, in block order, as reduced distances (squared for Euclidean)."""

    blocks: Blocks  # the rows
    metric: str  # 'euclidean' or 'manhattan'
    sizes: tuple[int, ...]  # rising values of min_samples that were searched
    core: Floats  # (n_sizes, n) reduced distance to the size-th other row
    nearest: Positions  # (n, n_listed) positions of the nearest other rows, nearest first
    distance: Floats  # (n, n_listed) their reduced distances

    def core_of(self, min_samples: int) -> Floats:
        """(n,) reduced core distances for one of the searched sizes.

        Raises SettingsError when that size was not searched.
        """
        size = min(min_samples, self.core.shape[1] - 1)
        if size not in self.sizes:
            raise SettingsError(f"min_samples {min_samples} was not searched; searched are {self.sizes}")
        core: Floats = self.core[self.sizes.index(size)]
        return core


def find_neighbours(
    points: Floats, metric: str, sizes: tuple[int, ...], report: Callable[[float], None] | None = None
) -> Neighbours:
    """Core distances for every size and the nearest rows of every row, exact.

    A size of n_rows or more is taken as n_rows - 1, as in hdbscan.

    `sizes` are values of min_samples, the row itself not counted. `points` are scaled and finite.

    Raises NotEnoughData with fewer than two rows.
    """
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba
    from workprof.profiles.kernels.nearest import nearest_rows  # noqa: PLC0415

    n = len(points)
    if n < 2:
        raise NotEnoughData(f"{n} row(s) have no neighbours; at least 2 are needed")
    blocks = make_blocks(points)
    wanted = tuple(sorted({min(max(1, size), n - 1) for size in sizes}))
    counts = np.array(wanted, dtype=np.int64)
    core = np.empty((len(wanted), n))
    listed = min(LISTED, wanted[0])
    nearest, distance = np.empty((n, listed), dtype=np.int32), np.empty((n, listed))
    space = blocks.space(metric)

    def work(first: int, last: int) -> None:
        nearest_rows(space, counts, first, last, (core, nearest, distance))

    share_out(work, len(blocks.starts) - 1, BLOCKS_PER_CHUNK, report)
    return Neighbours(blocks, metric, wanted, core, nearest, distance)


def make_blocks(points: Floats) -> Blocks:
    """The rows in blocks of at most 128."""
    from workprof.profiles.kernels.nearest import split_rows  # noqa: PLC0415  numba

    padded = np.ascontiguousarray(np.pad(points, ((0, 0), (0, -points.shape[1] % DIMS_AT_ONCE))))
    order = np.arange(len(padded), dtype=np.int64)
    levels = max(0, int(np.ceil(np.log2(len(padded) / ROWS_PER_BLOCK))))
    starts = split_rows(padded, order, levels)
    ordered = np.ascontiguousarray(padded[order])
    low = np.minimum.reduceat(ordered, starts[:-1], axis=0)
    high = np.maximum.reduceat(ordered, starts[:-1], axis=0)
    lanes = np.concatenate([ordered[first:last].T.ravel() for first, last in pairwise(starts)])
    return Blocks(order, ordered, lanes, starts, np.ascontiguousarray(low.T), np.ascontiguousarray(high.T))


@dataclass(frozen=True)
class SpanningTree:
    """A minimum spanning tree of the mutual-reachability graph, edges in rising order of weight."""

    source: Ints  # (n_rows - 1,) one end of each edge
    target: Ints  # (n_rows - 1,) the other end
    weight: Floats  # (n_rows - 1,) mutual-reachability distance, in scaled units
    core_distance: Floats  # (n_rows,) distance to the `min_samples`-th other row
    metric: str  # 'euclidean' or 'manhattan'
    min_samples: int  # neighbours behind `core_distance` (at most n_rows - 1)

    @property
    def n_rows(self) -> int:
        """Number of rows that the tree spans."""
        return len(self.core_distance)


def build_spanning_tree(
    neighbours: Neighbours, min_samples: int, report: Callable[[float], None] | None = None
) -> SpanningTree:
    """The minimum spanning tree of the mutual-reachability graph, exact.

    The weight of a pair is the largest of its distance and the core distances of its two rows. Among trees of the same
    total weight the one with the shorter distances is taken.

    Raises SettingsError when `min_samples` was not searched.

    Source: Campello et al. 2013 for the graph; Boruvka 1926 in the arrangement of McInnes and Healy 2017, with blocks
    instead of trees: most rows are joined from their neighbour lists alone, the rest by pruned search.
    """
    return span(neighbours, neighbours.core_of(min_samples), min_samples, report)


def span(
    neighbours: Neighbours, core: Floats, min_samples: int, report: Callable[[float], None] | None = None
) -> SpanningTree:
    """As `build_spanning_tree`, of given (n_rows,) reduced core distances in block order."""
    from workprof.profiles.kernels.boruvka import Forest  # noqa: PLC0415  numba

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


def package_tree(points: Floats, min_cluster_size: int, min_samples: int, metric: str) -> SpanningTree:
    """The spanning tree of `hdbscan.HDBSCAN` itself, exact; it breaks ties between equal distances in its own way.

    A size of n_rows or more is taken as n_rows - 1.
    """
    from hdbscan import HDBSCAN  # noqa: PLC0415  heavy
    from scipy.spatial import cKDTree  # noqa: PLC0415

    size = min(min_samples, len(points) - 1)
    fitted = HDBSCAN(
        min_cluster_size=min_cluster_size,
        min_samples=size,
        metric=metric,
        approx_min_span_tree=False,
        gen_min_span_tree=True,
        core_dist_n_jobs=1,
    ).fit(points)
    edges = np.asarray(fitted._min_spanning_tree, dtype=np.float64)
    edges = edges[np.argsort(edges[:, 2], kind="mergesort")]
    core = cKDTree(points).query(points, k=[size + 1], p=1 if metric == "manhattan" else 2)[0][:, 0]
    source, target = edges[:, :2].astype(np.int64).T
    return SpanningTree(source.copy(), target.copy(), edges[:, 2].copy(), core, metric, size)


@dataclass(frozen=True)
class CondensedTree:
    """The condensed tree of HDBSCAN, clusters only (points are counted, not listed)."""

    cluster: Ints  # (n_nodes,) node id, root first
    parent: Ints  # (n_nodes,) id of the parent, -1 for the root
    lambda_birth: Floats  # (n_nodes,) 1 / distance at which the node appears
    lambda_death: Floats  # (n_nodes,) 1 / distance at which it splits or dies
    size: Ints  # (n_nodes,) rows at birth
    selected: Ints  # (n_nodes,) profile label when the node was selected, else -1


@dataclass(frozen=True)
class Clusters:
    """A flat clustering."""

    labels: Ints  # (n_rows,) 0 .. n_clusters - 1, from the largest cluster on unless `numbered_cut`; -1 = outlier.
    probabilities: Floats  # (n_rows,) membership strength 0-1, 0 for outliers
    tree: CondensedTree | None  # condensed tree; None where the algorithm makes none
    pairs: PairsHeld | None = None  # what became of the runs that were named as alike or unlike


@dataclass(frozen=True)
class Fall:
    """Where each row falls out of the condensed tree: all that places further rows in it."""

    node: Ints  # (n_rows,) node that the row falls out of
    lambda_: Floats  # (n_rows,) 1 / distance at which it does
    up: Ints  # (n_nodes,) parent of each node, -1 for the root
    birth: Floats  # (n_nodes,) lambda at which the node appears
    profile: Ints  # (n_nodes,) profile of the selected node above it or itself, -1 = none
    death: Floats  # (n_nodes,) lambda of death of that selected node, 0 where there is none


def cut(tree: SpanningTree, min_cluster_size: int, method: str = "eom", epsilon: float = 0.0) -> Clusters:
    """The clustering that HDBSCAN selects from a spanning tree: by 'eom' (excess of mass) or 'leaf'.

    A cluster has at least `min_cluster_size` (2 or more) rows; those that part below the distance epsilon are merged.

    Source: Campello et al. 2013; Malzer and Baum 2020 (epsilon). Equal to hdbscan's condense_tree, compute_stability
    and get_clusters on the same tree, except that clusters are numbered by size.
    """
    return cut_with_fall(tree, min_cluster_size, method, epsilon)[0]


def cut_with_fall(
    tree: SpanningTree, min_cluster_size: int, method: str = "eom", epsilon: float = 0.0, pairs: Pairs = NO_PAIRS
) -> tuple[Clusters, Fall]:
    """As `cut`, and where each row falls out of the condensed tree; `pairs` of its rows choose the cut first."""
    from workprof.profiles.kernels import condensing as kernels  # noqa: PLC0415  numba

    n = tree.n_rows
    if n < 2:
        none, zero = np.full(n, -1, dtype=np.int64), np.zeros(n)
        return Clusters(none, zero, None), Fall(
            none + 1, zero, np.array([-1]), np.zeros(1), np.array([-1]), np.zeros(1)
        )
    left, right, size = kernels.single_linkage(tree.source, tree.target)
    parent, child, lambdas, child_size = kernels.condense(left, right, size, tree.weight, min_cluster_size)
    n_nodes = int(max(parent.max(), child.max())) - n + 1 if len(parent) else 1
    stability, birth, death = kernels.stabilities(parent, child, lambdas, child_size, n, n_nodes)
    up, rows_at_birth = np.full(n_nodes, -1, dtype=np.int64), np.full(n_nodes, n, dtype=np.int64)
    inner = child >= n
    up[child[inner] - n], rows_at_birth[child[inner] - n] = parent[inner] - n, child_size[inner]
    node, lambda_ = np.zeros(n, dtype=np.int64), np.zeros(n)
    node[child[~inner]], lambda_[child[~inner]] = parent[~inner] - n, lambdas[~inner]
    selected = select_clusters(up, stability, birth, method, epsilon, satisfied(up, node, pairs) if pairs else None)
    label_of, death_of = _spread_down(up, selected, death)
    labels, strength = kernels.label_points(parent, child, lambdas, n, label_of, death_of)
    rank = _rank_by_size(labels, birth[selected], death[selected])
    labels = np.where(labels >= 0, rank[labels], -1) if len(rank) else labels
    shown = np.full(n_nodes, -1, dtype=np.int64)
    shown[selected] = rank
    condensed = CondensedTree(np.arange(n_nodes, dtype=np.int64), up, birth, death, rows_at_birth, shown)
    profile = np.where(label_of >= 0, np.append(rank, -1)[label_of], -1)
    return Clusters(labels, strength, condensed), Fall(node, lambda_, up, birth, profile, death_of)


def numbered_cut(tree: SpanningTree, settings: ProfileSettings, pairs: Pairs = NO_PAIRS) -> tuple[Clusters, Fall]:
    """As `cut_with_fall` at resolved settings, with numbers that a profile keeps from cut to cut of one tree.

    The usual cut (usual size, excess of mass) numbers by size. Any other cut takes its numbers over by
    `matched_numbers`; a profile whose number is too high for it, and one that is new, have the lowest free ones. No
    pair is violated: what the cut leaves, `settle` settles, and a profile that it empties is none.
    """
    size, method, epsilon = settings.min_cluster_size, settings.method, settings.epsilon
    clusters, fall = cut_with_fall(tree, size, method, epsilon, pairs)
    usual = default_min_cluster_size(tree.n_rows)
    if clusters.tree is None or (not pairs and (size, method, epsilon) == (usual, "eom", 0.0)):
        return clusters, fall
    of_cut = clusters.labels
    labels, strength = settle(of_cut, clusters.probabilities, pairs)
    left = np.flatnonzero(np.bincount(labels[labels >= 0], minlength=1))
    count = len(left)
    number = np.full(int(of_cut.max(initial=-1)) + 2, -1, dtype=np.int64)
    number[left] = matched = np.arange(count)
    matched = matched_numbers(number[labels], cut(tree, usual).labels, count)[:-1]
    taken = matched < count
    matched[np.flatnonzero(~taken)] = np.setdiff1d(np.arange(count), matched[taken])
    number[left] = matched
    condensed = replace(clusters.tree, selected=number[clusters.tree.selected])
    held = None
    if pairs:
        unaided = cut(tree, size, method, epsilon).labels
        joined, gone = (labels >= 0) & (labels != of_cut), (labels < 0) & (of_cut >= 0)
        held = PairsHeld(len(pairs), pairs.held(unaided), pairs.held(of_cut), int(joined.sum()), int(gone.sum()))
    return Clusters(number[labels], strength, condensed, held), replace(fall, profile=number[fall.profile])


def matched_numbers(labels: Ints, reference: Ints, free: int) -> Ints:
    """(n_profiles + 1,) numbers of the profiles, -1 at last: the reference's, or from `free` on.

    One to one, so that as many rows as can be have the same number in both; -1 = outlier.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  heavy

    n_own, n_reference = int(labels.max(initial=-1)) + 1, int(reference.max(initial=-1)) + 1
    both = (labels >= 0) & (reference >= 0)
    shared = np.bincount(labels[both] * n_reference + reference[both], minlength=n_own * n_reference)
    shared = shared.reshape(n_own, n_reference)
    numbers = np.append(free + np.arange(n_own), -1)
    rows, columns = linear_sum_assignment(-shared)
    kept = shared[rows, columns] > 0
    numbers[rows[kept]] = columns[kept]
    return numbers


def to_hdbscan(
    points: Floats, tree: SpanningTree, min_cluster_size: int, method: str, epsilon: float, *, predicts: bool = True
) -> HDBSCAN:
    """A fitted `hdbscan.HDBSCAN` over our spanning tree: its trees draw, and `approximate_predict` takes it.

    Its labels are those of `cut` in hdbscan's own numbering, which is not by size. Without `predicts` it takes no
    further rows: hdbscan searches `min_samples` neighbours of every row for these, minutes of 100,000.
    """
    from hdbscan import HDBSCAN  # noqa: PLC0415  heavy
    from hdbscan._hdbscan_linkage import label  # noqa: PLC0415
    from hdbscan.hdbscan_ import _tree_to_labels  # noqa: PLC0415

    result = HDBSCAN(
        min_cluster_size=min_cluster_size,
        min_samples=tree.min_samples,
        metric=tree.metric,
        cluster_selection_method=method,
        cluster_selection_epsilon=float(epsilon),
    )
    edges = np.column_stack([tree.source, tree.target, tree.weight]).astype(np.float64)
    labels, strengths, persistence, condensed, linkage = _tree_to_labels(
        points, label(edges), min_cluster_size, method, cluster_selection_epsilon=float(epsilon)
    )
    result.labels_, result.probabilities_, result.cluster_persistence_ = labels, strengths, persistence
    result._condensed_tree, result._single_linkage_tree, result._min_spanning_tree = condensed, linkage, edges
    result._raw_data, result._all_finite, result.n_features_in_ = points, True, points.shape[1]
    if not predicts:
        result.min_samples = 1
    result.generate_prediction_data()
    result.min_samples = tree.min_samples
    return result


def select_clusters(
    up: Ints,
    stability: Floats,
    birth: Floats,
    method: str,
    epsilon: float,
    satisfied: tuple[Ints, Ints] | None = None,
) -> Ints:
    """The selected nodes of a condensed tree in rising order; the root is never selected.

    `up` (n_nodes,) is the parent of each node, -1 for the root, parents before children; `birth` the lambda at which it
    appears. Nodes born below the distance epsilon give way to their ancestor above it. `satisfied` (`pairs.satisfied`)
    comes before stability, and before the rule that leaves are selected.
    """
    if method == "leaf" and satisfied is None:
        chosen = _leaves(up)
    else:
        chosen = _excess_of_mass(up, _leaves(up).astype(np.float64) if method == "leaf" else stability, satisfied)
    if epsilon > 0:
        chosen = _merge_below(chosen, up, birth, epsilon)
    return np.flatnonzero(chosen).astype(np.int64)


def _leaves(up: Ints) -> Bools:
    leaf = np.ones(len(up), dtype=bool)
    leaf[up[1:]] = False
    leaf[0] = False
    return leaf


def _excess_of_mass(up: Ints, stability: Floats, satisfied: tuple[Ints, Ints] | None) -> Bools:
    """Keep a node where it is at least as stable as what is selected below; single precision sums as in hdbscan.

    Where pairs say what each node satisfies, and its fallen runs, more of that comes before stability.
    """
    best, leaf = stability.copy(), _leaves(up)
    below = np.zeros(len(up), dtype=np.float32)
    none = np.zeros(len(up), dtype=np.int64)
    met, met_below = (one.copy() for one in satisfied or (none, none))
    selected = np.zeros(len(up), dtype=bool)
    # hdbscan adds the first-born child first: two children per node, so its sum is the same in either order.
    for node in range(len(up) - 1, 0, -1):
        more = met[node] - met_below[node]
        selected[node] = leaf[node] or more > 0 or (more == 0 and not below[node] > best[node])
        if not selected[node]:
            best[node], met[node] = below[node], met_below[node]
        below[up[node]] = np.float32(float(below[up[node]]) + best[node])
        met_below[up[node]] += met[node]
    covered = np.zeros(len(up), dtype=bool)
    for node in range(1, len(up)):
        covered[node] = covered[up[node]] or selected[up[node]]
    return selected & ~covered


def _merge_below(chosen: Bools, up: Ints, birth: Floats, epsilon: float) -> Bools:
    with np.errstate(divide="ignore"):
        distance = 1.0 / birth  # infinite at the root
    merged, done = np.zeros(len(up), dtype=bool), np.zeros(len(up), dtype=bool)
    for node in np.flatnonzero(chosen):
        top = int(node)
        if distance[node] < epsilon:
            if done[node]:
                continue
            while up[top] != 0 and distance[top] <= epsilon:
                top = int(up[top])
            _mark_below(done, top, up)
        merged[top] = True
    return merged


def _mark_below(done: Bools, top: int, up: Ints) -> None:
    inside = np.zeros(len(up), dtype=bool)
    inside[top] = True
    for node in range(top + 1, len(up)):
        inside[node] = inside[up[node]]
    inside[top] = False
    done |= inside


def _spread_down(up: Ints, selected: Ints, death: Floats) -> tuple[Ints, Floats]:
    """For each node the position in `selected` of the nearest selected node above (or itself), and its death."""
    label_of = np.full(len(up), -1, dtype=np.int64)
    label_of[selected] = np.arange(len(selected))
    for node in range(1, len(up)):
        if label_of[node] < 0:
            label_of[node] = label_of[up[node]]
    death_of = np.append(death[selected], 0.0)[label_of]
    return label_of, death_of


def _rank_by_size(labels: Ints, birth: Floats, death: Floats) -> Ints:
    """The new number of each cluster: the largest is 0; equal sizes by where they lie in the tree."""
    sizes = np.bincount(labels[labels >= 0], minlength=len(birth))
    rank = np.empty(len(birth), dtype=np.int64)
    rank[np.lexsort((death, birth, -sizes))] = np.arange(len(birth))
    return rank


def run_without_tree(points: Floats, settings: ProfileSettings) -> tuple[Clusters, tuple[str, ...]]:
    """The clustering of OPTICS or DBSCAN at resolved settings, and what is to be told of it."""
    if settings.algorithm == "optics":
        return run_optics(points, settings.metric, settings.min_samples), ()
    return run_dbscan(points, settings.metric, settings.min_samples, settings.epsilon)


def run_dbscan(points: Floats, metric: str, min_samples: int, epsilon: float) -> tuple[Clusters, tuple[str, ...]]:
    """The clustering of DBSCAN, and the radius in words; 0 = at the knee of the rising distances to a neighbour.

    Source: Ester et al. 1996 as in scikit-learn, where a run counts among its `min_samples`. Dense runs hang together
    where the spanning tree's edges are no longer than the radius: the same groups, in memory that grows with the runs.
    A run at the border joins its nearest dense run, where scikit-learn takes the group that it reaches first.
    """
    from scipy.sparse import coo_array  # noqa: PLC0415  heavy
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    size = max(1, min_samples - 1)
    tree = build_spanning_tree(find_neighbours(points, metric, (size,)), size)
    radius = epsilon or _knee(np.sort(tree.core_distance))
    near, n = tree.weight <= radius, len(points)
    graph = coo_array((np.ones(near.sum()), (tree.source[near], tree.target[near])), shape=(n, n))
    dense = (tree.core_distance <= radius) | (min_samples < 2)
    raw = np.full(n, -1, dtype=np.int64)
    raw[dense] = np.unique(connected_components(graph, directed=False)[1][dense], return_inverse=True)[1]
    if dense.any() and not dense.all():
        away, nearest = NearestNeighbors(n_neighbors=1, metric=metric).fit(points[dense]).kneighbors(points[~dense])
        raw[~dense] = np.where(away[:, 0] <= radius, raw[dense][nearest[:, 0]], -1)
    return _by_size(raw, points), (f"DBSCAN: {min_samples} runs within {radius:.4g} make a dense place.",)


def _knee(rising: Floats) -> float:
    """The value that lies farthest below the line from the first to the last."""
    line = np.linspace(rising[0], rising[-1], len(rising))
    return float(rising[int((line - rising).argmax())])


def run_optics(points: Floats, metric: str, min_samples: int) -> Clusters:
    """The clustering of OPTICS with the xi method; the smallest cluster has min_samples rows, as in the paper's grid.

    The caller draws a sample of at most 10,000 rows, because the library visits the rows one by one.

    Source: Ankerst et al. 1999 in scikit-learn with its defaults, as the paper. Membership strengths do not exist
    there: 1 for the rows of a cluster. Ours differs: the rows are visited in the order of their values, as what is
    found depends on it.
    """
    from sklearn.cluster import OPTICS  # noqa: PLC0415  heavy

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Duplicates have reachability 0 and scikit-learn divides by it; the ratio is compared as infinite, as meant.
        warnings.simplefilter("ignore", RuntimeWarning)
        order = np.lexsort(points.T[::-1])
        raw = np.empty(len(points), dtype=np.int64)
        raw[order] = OPTICS(min_samples=min_samples, metric=metric).fit(points[order]).labels_
    return _by_size(raw, points)


def _by_size(raw: Ints, points: Floats) -> Clusters:
    """Labels numbered from the largest group on, of equal ones from that with the least value; strengths are all 1."""
    sizes = np.bincount(raw[raw >= 0]) if (raw >= 0).any() else np.zeros(0, dtype=np.int64)
    rank = np.empty(len(sizes), dtype=np.int64)
    by_value = raw[np.lexsort(points.T[::-1])]
    first = np.array([int((by_value == label).argmax()) for label in range(len(sizes))], dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    labels = np.where(raw >= 0, rank[raw], -1) if len(sizes) else raw
    return Clusters(labels, (labels >= 0).astype(np.float64), None)
