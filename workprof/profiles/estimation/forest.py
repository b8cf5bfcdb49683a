"""A quantile forest: trees grown on the log target, and past jobs kept in every leaf (after Meinshausen 2006).

The conditional distribution of a job is made of the past jobs that share its leaves, so that any quantile of it can be
read, and the jobs that count most are its nearest past jobs. Unlike the original, a leaf keeps at most three jobs drawn
at random: the quantiles are those of the same distribution with a little noise, in constant memory per leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints, Positions
from workprof.profiles.estimation.boosting import TREE_THREADS, as_bytes, from_bytes

if TYPE_CHECKING:
    from xgboost import Booster

TREES = 100
KEPT_PER_LEAF = 3
FEWEST_PER_LEAF = 3
LEAVES_AT_MOST = 2_000
"""A leaf holds at least 1/2,000 of the jobs: beyond 6,000 jobs more would not make the estimate better."""

FOREST_DEPTH = 14
FOREST_SHARE = 0.63
"""Of the jobs, without replacement, for each tree: what a bootstrap sample holds of them."""


@dataclass(frozen=True)
class Forest:
    """A grown forest.

    Attributes:
        model: (n_bytes,) XGBoost JSON of the trees.
        kept: (n_trees, n_nodes, KEPT_PER_LEAF) positions of past jobs in each leaf, -1 where there are fewer.
        targets: (n_past,) the past jobs' log target.
    """

    model: NDArray[np.uint8]
    kept: Positions
    targets: Floats


def grow_forest(design: Floats, values: Floats, seed: int) -> tuple[Forest, Booster]:
    """Return the forest of (n_past, n_columns) inputs and (n_past,) log targets, and its loaded trees."""
    import xgboost  # noqa: PLC0415  heavy

    parameters = {
        "objective": "reg:squarederror",
        "eta": 1.0,
        "num_parallel_tree": TREES,
        "max_depth": FOREST_DEPTH,
        "min_child_weight": max(FEWEST_PER_LEAF, len(values) // LEAVES_AT_MOST),
        "subsample": FOREST_SHARE,
        "colsample_bynode": 1.0,
        "reg_lambda": 0.0,
        "tree_method": "hist",
        "seed": seed,
        "nthread": TREE_THREADS,
    }
    booster = xgboost.train(parameters, xgboost.DMatrix(design, values), num_boost_round=1)
    kept = _keep(_leaves(booster, design), seed)
    return Forest(as_bytes(booster), kept, values), booster


def load_forest(forest: Forest) -> Booster:
    """Return the trees of a kept forest."""
    return from_bytes(forest.model)


def forest_quantiles(forest: Forest, booster: Booster, design: Floats, levels: Floats) -> Floats:
    """Return (n_rows, n_levels) quantiles of the log target.

    Args:
        forest: what the leaves keep.
        booster: its trees.
        design: (n_rows, n_columns) inputs.
        levels: (n_levels,) probabilities.
    """
    found = np.empty((len(design), len(levels)))
    step = 2_000
    for first in range(0, len(design), step):
        shared = shared_jobs(forest, booster, design[first : first + step])
        values = np.where(shared >= 0, forest.targets[shared], np.nan)
        found[first : first + step] = np.nanquantile(values, levels, axis=1).T
    return found


def shared_jobs(forest: Forest, booster: Booster, design: Floats) -> Positions:
    """Return (n_rows, n_trees * KEPT_PER_LEAF) past jobs in the leaves of each row, -1 where a leaf has fewer."""
    leaves = _leaves(booster, design)
    trees = np.arange(leaves.shape[1])
    return forest.kept[trees, leaves].reshape(len(design), -1)


def _leaves(booster: Booster, design: Floats) -> Ints:
    import xgboost  # noqa: PLC0415  heavy

    leaves = booster.predict(xgboost.DMatrix(design), pred_leaf=True)
    return leaves.reshape(len(design), -1).astype(np.int64)


def _keep(leaves: Ints, seed: int) -> Positions:
    """Return up to KEPT_PER_LEAF random rows of each leaf of each tree."""
    n_rows, n_trees = leaves.shape
    kept = np.full((n_trees, int(leaves.max()) + 1, KEPT_PER_LEAF), -1, dtype=np.int32)
    draw = np.random.default_rng(seed)
    for tree in range(n_trees):
        shuffled = draw.permutation(n_rows)
        order = shuffled[np.argsort(leaves[shuffled, tree], kind="stable")]
        sorted_leaves = leaves[order, tree]
        rank = np.arange(n_rows) - np.searchsorted(sorted_leaves, sorted_leaves, "left")
        wanted = rank < KEPT_PER_LEAF
        kept[tree, sorted_leaves[wanted], rank[wanted]] = order[wanted]
    return kept
