"""Compiled loops of `tree.cut`: from a spanning tree to the condensed tree, its stabilities, labels and probabilities.

Each loop visits nodes and adds numbers in the order of hdbscan's own functions, so that results are equal to the last
bit; tests/profiles/test_clusters.py compares them.
"""

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.compiled import compiled, compiled_within


@compiled_within
def _root(parent: Ints, node: int) -> int:
    top = node
    while parent[top] >= 0:
        top = parent[top]
    while parent[node] >= 0:
        parent[node], node = top, parent[node]
    return top


@compiled
def single_linkage(source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Left child, right child and size of each of the n - 1 merges; merge i makes node n + i. Edges rise in weight."""
    n = len(source) + 1
    left, right, size = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    parent = np.full(2 * n - 1, -1, np.int64)
    sizes = np.ones(2 * n - 1, np.int64)
    for i in range(n - 1):
        a, b = _root(parent, source[i]), _root(parent, target[i])
        left[i], right[i] = a, b
        sizes[n + i] = sizes[a] + sizes[b]
        size[i] = sizes[n + i]
        parent[a] = n + i
        parent[b] = n + i
    return left, right, size


@compiled_within
def _shed(node: int, left: Ints, right: Ints, queue: Ints, child: Ints, filled: int) -> int:
    """Append the points below `node`, breadth first, to `child`; return the new fill."""
    n = len(left) + 1
    queue[0] = node
    head, tail = 0, 1
    while head < tail:
        current = queue[head]
        head += 1
        if current < n:
            child[filled] = current
            filled += 1
        else:
            queue[tail] = left[current - n]
            queue[tail + 1] = right[current - n]
            tail += 2
    return filled


@compiled
def condense(
    left: Ints, right: Ints, size: Ints, weight: Floats, min_cluster_size: int
) -> tuple[Ints, Ints, Floats, Ints]:
    """Parent, child, lambda and child size of each row of the condensed tree; cluster ids start at n (the root).

    All are (n - 1,) of `single_linkage`, `weight` the distance of each merge. Smaller branches fall out as points.
    """
    n = len(left) + 1
    parent, child = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    lambdas, child_size = np.empty(2 * n, np.float64), np.ones(2 * n, np.int64)
    queue, cluster_of, below = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(2 * n, np.int64)
    queue[0], cluster_of[0] = 2 * n - 2, n
    head, tail, filled, next_cluster = 0, 1, 0, n + 1
    while head < tail:
        node, cluster = queue[head], cluster_of[head]
        head += 1
        i = node - n
        value = 1.0 / weight[i] if weight[i] > 0 else np.inf
        before = filled
        splits = True
        for branch in (left[i], right[i]):
            splits = splits and (size[branch - n] if branch >= n else 1) >= min_cluster_size
        for branch in (left[i], right[i]):
            count = size[branch - n] if branch >= n else 1
            if splits:
                child[filled], child_size[filled] = next_cluster, count
                filled += 1
            if count < min_cluster_size:
                filled = _shed(branch, left, right, below, child, filled)
            else:
                queue[tail], cluster_of[tail] = branch, next_cluster if splits else cluster
                tail += 1
            next_cluster += splits
        parent[before:filled] = cluster
        lambdas[before:filled] = value
    return parent[:filled], child[:filled], lambdas[:filled], child_size[:filled]


@compiled
def stabilities(
    parent: Ints, child: Ints, lambdas: Floats, child_size: Ints, n: int, n_clusters: int
) -> tuple[Floats, Floats, Floats]:
    """Stability, lambda of birth and lambda of death of each cluster, the root included; of rows of `condense`."""
    birth, death, stability = np.zeros(n_clusters), np.zeros(n_clusters), np.zeros(n_clusters)
    for row in range(len(parent)):
        if child[row] >= n:
            birth[child[row] - n] = lambdas[row]
    for row in range(len(parent)):
        cluster = parent[row] - n
        stability[cluster] += (lambdas[row] - birth[cluster]) * child_size[row]
        death[cluster] = max(death[cluster], lambdas[row])
    return stability, birth, death


@compiled
def label_points(
    parent: Ints, child: Ints, lambdas: Floats, n: int, label_of: Ints, death_of: Floats
) -> tuple[Ints, Floats]:
    """(n,) labels and (n,) membership strengths, of rows of `condense`.

    `label_of` (n_clusters,) is the label that the points of each cluster get, -1 = noise; `death_of` the lambda of
    death of the selected cluster that each cluster lies in.
    """
    labels, strength = np.full(n, -1, np.int64), np.zeros(n)
    for row in range(len(parent)):
        if child[row] >= n:
            continue
        point, cluster = child[row], parent[row] - n
        labels[point] = label_of[cluster]
        if label_of[cluster] >= 0:
            most = death_of[cluster]
            if most == 0.0 or not np.isfinite(lambdas[row]):
                strength[point] = 1.0
            else:
                strength[point] = min(lambdas[row], most) / most
    return labels, strength
