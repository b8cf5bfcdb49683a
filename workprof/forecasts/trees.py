"""XGBoost's trees as arrays, walked by compiled loops: for a few rows XGBoost itself spends its time on the way in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints, Positions
from workprof.core.compiled import compiled

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Trees:
    """The trees of one booster, one after the other."""

    starts: Ints  # (n_trees + 1,) first node of each tree
    feature: Positions  # (n_nodes,) column that a node looks at
    limit: Singles  # (n_nodes,) below it the way is left; in a leaf its value
    left: Positions  # (n_nodes,) within the tree, -1 = leaf
    right: Positions  # (n_nodes,)
    missing_left: Bools  # (n_nodes,) where the way is where the value is missing
    group: Ints  # (n_trees,) output that a tree adds to
    base: Singles  # (n_outputs,)

    def leaves(self, design: Singles) -> Ints:
        """Return (n_rows, n_trees) nodes within each tree that (n_rows, n_columns) inputs end in."""
        found = np.empty((len(design), len(self.group)), dtype=np.int64)
        _leaves(design, self.starts, self.feature, self.limit, self.left, self.right, self.missing_left, found)
        return found

    def sums(self, design: Singles) -> Floats:
        """Return (n_rows, n_outputs) sums of the leaves' values over the base, in single precision as XGBoost adds."""
        return _sums(self.leaves(design), self.starts, self.limit, self.group, self.base).astype(np.float64)


def trees_of(booster: Any) -> Trees:
    """Return the trees of a booster with numeric columns and one value per leaf."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = learner["gradient_booster"]["model"]
    trees = model["trees"]

    def joined(name: str, kind: Any) -> Any:
        return np.concatenate([np.asarray(tree[name]) for tree in trees]).astype(kind)

    base = np.atleast_1d(json.loads(str(learner["learner_model_param"]["base_score"]))).astype(np.float32)
    return Trees(
        starts=np.cumsum([0, *(len(tree["left_children"]) for tree in trees)]).astype(np.int64),
        feature=joined("split_indices", np.int32),
        limit=joined("split_conditions", np.float32),
        left=joined("left_children", np.int32),
        right=joined("right_children", np.int32),
        missing_left=joined("default_left", np.bool_),
        group=np.asarray(model["tree_info"], dtype=np.int64),
        base=base,
    )


@compiled
def _leaves(  # noqa: PLR0913, PLR0917  a compiled loop takes arrays, not records
    design: Singles,
    starts: Ints,
    feature: Positions,
    limit: Singles,
    left: Positions,
    right: Positions,
    missing_left: Bools,
    found: Ints,
) -> None:
    for tree in range(len(starts) - 1):  # rows within: a tree stays in the processor's cache
        start = starts[tree]
        for row in range(len(design)):
            at = start
            while left[at] >= 0:
                value = design[row, feature[at]]
                goes_left = missing_left[at] if np.isnan(value) else value < limit[at]
                at = start + (left[at] if goes_left else right[at])
            found[row, tree] = at - start


@compiled
def _sums(leaves: Ints, starts: Ints, limit: Singles, group: Ints, base: Singles) -> Singles:
    sums = np.empty((len(leaves), len(base)), dtype=np.float32)
    for row in range(len(leaves)):
        sums[row] = base
        for tree in range(len(group)):
            sums[row, group[tree]] += limit[starts[tree] + leaves[row, tree]]
    return sums


@compiled
def quantiles_of_leaves(leaves: Ints, kept: Positions, targets: Floats, levels: Floats) -> Floats:
    """Return (n_rows, n_levels) quantiles, linear between values, of the targets that the leaves of each row keep.

    Args:
        leaves: (n_rows, n_trees).
        kept: (n_trees, n_nodes, n_kept) positions in the targets, -1 where a leaf keeps fewer.
        targets: (n_past,).
        levels: (n_levels,) probabilities.
    """
    found = np.empty((len(leaves), len(levels)))
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
            found[row, i] = ordered[low] + (ordered[high] - ordered[low]) * (at - low)
    return found
