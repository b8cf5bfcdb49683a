"""Trees as arrays end in the leaves that XGBoost itself ends in, and add up to the same bits."""

import numpy as np
import pytest
from xgboost import DMatrix, train

from workprof.forecasts.trees import trees_of


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "depth", "classes"), [(1, 1, 1), (19, 6, 1), (7, 4, 3)])
def test_leaves_and_sums_are_those_of_xgboost(rounds, depth, classes):
    draw = np.random.default_rng(rounds)
    design = draw.normal(size=(400, 5)).astype(np.float32)
    design[draw.random(design.shape) < 0.2] = np.nan
    goal = np.nan_to_num(design[:, 0]) + np.isnan(design[:, 1])
    label = np.digitize(goal, [-0.5, 0.5]) if classes > 1 else goal
    kind = {"objective": "multi:softprob", "num_class": classes} if classes > 1 else {"objective": "reg:squarederror"}
    booster = train({**kind, "max_depth": depth, "nthread": 1, "seed": 0}, DMatrix(design, label), rounds)
    asked = np.vstack([design, np.full((1, 5), np.nan, dtype=np.float32)])
    trees = trees_of(booster)
    assert trees.depth.max() <= depth
    leaves = booster.predict(DMatrix(asked), pred_leaf=True).reshape(len(asked), -1)
    assert np.array_equal(trees.leaves(asked), leaves.astype(np.int64))
    margins = booster.predict(DMatrix(asked), output_margin=True).reshape(len(asked), -1)
    assert np.array_equal(trees.sums(asked), margins.astype(np.float64))
