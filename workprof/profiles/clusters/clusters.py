"""A flat clustering cut from a spanning tree: condensed tree, selection (excess of mass or leaves, epsilon), labels.

Cutting takes milliseconds where building the tree takes seconds: change `min_cluster_size`, the method or epsilon and
cut the kept tree again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.profiles.clusters.spanning_tree import SpanningTree


@dataclass(frozen=True)
class CondensedTree:
    """The condensed tree of HDBSCAN, clusters only (points are counted, not listed).

    Attributes:
        cluster: (n_nodes,) node id, root first.
        parent: (n_nodes,) id of the parent, -1 for the root.
        lambda_birth, lambda_death: 1 / distance at which the node appears and splits or dies.
        size: rows at birth.
        selected: (n_nodes,) profile label when the node was selected, else -1.
    """

    cluster: Ints
    parent: Ints
    lambda_birth: Floats
    lambda_death: Floats
    size: Ints
    selected: Ints


@dataclass(frozen=True)
class Clusters:
    """A flat clustering.

    Attributes:
        labels: (n_rows,) 0 .. n_clusters - 1 from the largest cluster to the smallest, -1 = outlier.
        probabilities: (n_rows,) membership strength 0-1, 0 for outliers.
        tree: condensed tree; None where the algorithm makes none.
    """

    labels: Ints
    probabilities: Floats
    tree: CondensedTree | None


def cut(tree: SpanningTree, min_cluster_size: int, method: str = "eom", epsilon: float = 0.0) -> Clusters:
    """Return the clustering that HDBSCAN selects from a spanning tree.

    Args:
        tree: of the mutual-reachability graph.
        min_cluster_size: smallest cluster in rows, at least 2.
        method: 'eom' (excess of mass) or 'leaf'.
        epsilon: clusters that part below this distance are merged.

    Source:
        Campello et al. 2013; Malzer and Baum 2020 (epsilon). Equal to hdbscan's condense_tree, compute_stability and
        get_clusters on the same tree, except that clusters are numbered by size.
    """
    from workprof.profiles.kernels import condensing as kernels  # noqa: PLC0415  numba

    n = tree.n_rows
    if n < 2:
        return Clusters(np.full(n, -1, dtype=np.int64), np.zeros(n), None)
    left, right, size = kernels.single_linkage(tree.source, tree.target)
    parent, child, lambdas, child_size = kernels.condense(left, right, size, tree.weight, min_cluster_size)
    n_nodes = int(max(parent.max(), child.max())) - n + 1 if len(parent) else 1
    stability, birth, death = kernels.stabilities(parent, child, lambdas, child_size, n, n_nodes)
    up, rows_at_birth = np.full(n_nodes, -1, dtype=np.int64), np.full(n_nodes, n, dtype=np.int64)
    inner = child >= n
    up[child[inner] - n], rows_at_birth[child[inner] - n] = parent[inner] - n, child_size[inner]
    selected = select_clusters(up, stability, birth, method, epsilon)
    label_of, death_of = _spread_down(up, selected, death)
    labels, strength = kernels.label_points(parent, child, lambdas, n, label_of, death_of)
    rank = _rank_by_size(labels, birth[selected], death[selected])
    labels = np.where(labels >= 0, rank[labels], -1) if len(rank) else labels
    shown = np.full(n_nodes, -1, dtype=np.int64)
    shown[selected] = rank
    condensed = CondensedTree(np.arange(n_nodes, dtype=np.int64), up, birth, death, rows_at_birth, shown)
    return Clusters(labels, strength, condensed)


def select_clusters(up: Ints, stability: Floats, birth: Floats, method: str, epsilon: float) -> Ints:
    """Return the selected nodes of a condensed tree in rising order; the root is never selected.

    Args:
        up: (n_nodes,) parent of each node, -1 for the root, parents before children.
        stability: (n_nodes,).
        birth: (n_nodes,) lambda at which each node appears.
        method: 'eom' or 'leaf'.
        epsilon: nodes born below this distance give way to their ancestor above it.
    """
    chosen = _leaves(up) if method == "leaf" else _excess_of_mass(up, stability)
    if epsilon > 0:
        chosen = _merge_below(chosen, up, birth, epsilon)
    return np.flatnonzero(chosen).astype(np.int64)


def _leaves(up: Ints) -> Bools:
    leaf = np.ones(len(up), dtype=bool)
    leaf[up[1:]] = False
    leaf[0] = False
    return leaf


def _excess_of_mass(up: Ints, stability: Floats) -> Bools:
    """Keep a node where it is at least as stable as what is selected below; single precision sums as in hdbscan."""
    best = stability.copy()
    below = np.zeros(len(up), dtype=np.float32)
    keeps = np.zeros(len(up), dtype=bool)
    # hdbscan adds the first-born child first: two children per node, so its sum is the same in either order.
    for node in range(len(up) - 1, 0, -1):
        keeps[node] = not below[node] > best[node]
        if not keeps[node]:
            best[node] = below[node]
        below[up[node]] = np.float32(float(below[up[node]]) + best[node])
    covered = np.zeros(len(up), dtype=bool)
    for node in range(1, len(up)):
        covered[node] = covered[up[node]] or keeps[up[node]]
    return keeps & ~covered


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
    """Return for each node the position in `selected` of the nearest selected node above (or itself), and its death."""
    label_of = np.full(len(up), -1, dtype=np.int64)
    label_of[selected] = np.arange(len(selected))
    for node in range(1, len(up)):
        if label_of[node] < 0:
            label_of[node] = label_of[up[node]]
    death_of = np.append(death[selected], 0.0)[label_of]
    return label_of, death_of


def _rank_by_size(labels: Ints, birth: Floats, death: Floats) -> Ints:
    """Return the new number of each cluster: the largest is 0; equal sizes by where they lie in the tree."""
    sizes = np.bincount(labels[labels >= 0], minlength=len(birth))
    rank = np.empty(len(birth), dtype=np.int64)
    rank[np.lexsort((death, birth, -sizes))] = np.arange(len(birth))
    return rank
