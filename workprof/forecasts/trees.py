"""XGBoost's trees as arrays, walked by compiled loops: for a few rows XGBoost itself spends its time on the way in."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints, Positions
from workprof.core.compiled import compiled

Singles = NDArray[np.float32]


NODE = np.dtype([("limit", "f4"), ("column", "u4"), ("left", "u4"), ("right", "u4")])
"""Below the limit the way is left; in a leaf the limit is its value, and both ways lead to itself. The column is kept
times two, plus one where the way is left for a missing value. Nodes are counted over all trees."""
AT_ONCE = 8
"""Trees that are walked side by side: while one waits for the memory, the others go on."""


@dataclass(frozen=True)
class Trees:
    """The trees of one booster, one after the other."""

    nodes: NDArray[np.void]  # (n_nodes,) NODE
    roots: Ints  # (n_trees,) first node of each tree
    depth: Ints  # (n_trees,) steps to its lowest leaf
    group: Ints  # (n_trees,) output that a tree adds to
    base: Singles  # (n_outputs,)

    def leaves(self, design: Singles) -> Ints:
        """(n_rows, n_trees) nodes within each tree that (n_rows, n_columns) inputs end in."""
        return _leaves(design, self.nodes, self.roots, self.depth) - self.roots

    def sums(self, design: Singles) -> Floats:
        """(n_rows, n_outputs) sums of the leaves' values over the base, in single precision as XGBoost adds."""
        leaves = _leaves(design, self.nodes, self.roots, self.depth)
        return _sums(leaves, self.nodes, self.group, self.base).astype(np.float64)


def trees_of(booster: Any) -> Trees:
    """The trees of a booster with numeric columns and one value per leaf."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = learner["gradient_booster"]["model"]
    trees = model["trees"]

    def joined(name: str, kind: Any) -> Any:
        return np.concatenate([np.asarray(tree[name]) for tree in trees]).astype(kind)

    sizes = np.array([len(tree["left_children"]) for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    left, right = joined("left_children", np.int64), joined("right_children", np.int64)
    leaf, itself, root = left < 0, np.arange(len(left)), np.repeat(roots, sizes)
    nodes = np.empty(len(left), dtype=NODE)
    nodes["limit"] = joined("split_conditions", np.float32)
    column = 2 * joined("split_indices", np.int64) + joined("default_left", np.int64)
    nodes["column"] = np.where(leaf, 0, column)
    nodes["left"], nodes["right"] = np.where(leaf, itself, root + left), np.where(leaf, itself, root + right)
    return Trees(
        nodes=nodes,
        roots=roots,
        depth=np.array([_depth(tree["left_children"], tree["right_children"]) for tree in trees], dtype=np.int64),
        group=np.asarray(model["tree_info"], dtype=np.int64),
        base=np.atleast_1d(json.loads(str(learner["learner_model_param"]["base_score"]))).astype(np.float32),
    )


def _depth(left: Sequence[int], right: Sequence[int]) -> int:
    """The steps from the first node to the lowest leaf; -1 = no child."""
    level, steps = [0], 0
    while level := [child for at in level if left[at] >= 0 for child in (left[at], right[at])]:
        steps += 1
    return steps


@compiled
def _leaves(design: Singles, nodes: NDArray[np.void], roots: Ints, depth: Ints) -> Ints:
    result = np.empty((len(design), len(roots)), dtype=np.int64)
    at, one = np.empty(AT_ONCE, dtype=np.uint32), np.uint32(1)
    for row in range(len(design)):
        values = design[row]
        for first in range(0, len(roots), AT_ONCE):
            here, steps = min(AT_ONCE, len(roots) - first), 0
            for i in range(here):
                at[i] = roots[first + i]
                steps = max(steps, depth[first + i])
            for _ in range(steps):
                for i in range(here):
                    node = nodes[at[i]]
                    value, missing_left = values[node.column >> one], (node.column & one) != 0
                    goes_left = (value < node.limit) | (missing_left & (not (value >= node.limit)))
                    at[i] = node.left if goes_left else node.right
            for i in range(here):
                result[row, first + i] = at[i]
    return result


@compiled
def _sums(leaves: Ints, nodes: NDArray[np.void], group: Ints, base: Singles) -> Singles:
    sums = np.empty((len(leaves), len(base)), dtype=np.float32)
    for row in range(len(leaves)):
        sums[row] = base
        for tree in range(len(group)):
            sums[row, group[tree]] += nodes[leaves[row, tree]].limit
    return sums


@compiled
def quantiles_of_leaves(leaves: Ints, kept: Positions, targets: Floats, levels: Floats) -> Floats:
    """(n_rows, n_levels) quantiles, linear between values, of the targets that the leaves of each row keep.

    `leaves` are (n_rows, n_trees), `kept` (n_trees, n_nodes, n_kept) positions in the targets, -1 where a leaf keeps
    fewer.
    """
    result = np.empty((len(leaves), len(levels)))
    held = np.empty(kept.shape[0] * kept.shape[2])
    for row in range(len(leaves)):
        n = 0
        for tree in range(kept.shape[0]):
            for place in range(kept.shape[2]):
                position = kept[tree, leaves[row, tree], place]
                if position >= 0:
                    held[n] = targets[position]
                    n += 1
        ordered = np.sort(held[:n])
        for i in range(len(levels)):
            at = levels[i] * (n - 1)
            low = int(np.floor(at))
            high = min(low + 1, n - 1)
            result[row, i] = ordered[low] + (ordered[high] - ordered[low]) * (at - low)
    return result
