"""Gradient boosting on the log target, one model per quantile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats

if TYPE_CHECKING:
    from xgboost import Booster

TREE_THREADS = 1
"""Two threads that wait for each other on a busy machine took 20 times as long as one (2 cores, load 5)."""

ROUNDS = 80
LEARNING_RATE = 0.12
BOOSTED_DEPTH = 6
BOOSTED_SHARE = 0.7
COLUMNS_SHARE = 0.5


def boost(design: Floats, values: Floats, levels: Floats, seed: int) -> Booster:
    """Return boosted trees for the quantiles `levels` of (n_past,) log targets from (n_past, n_columns) inputs."""
    import xgboost  # noqa: PLC0415  heavy

    parameters = {
        "objective": "reg:quantileerror",
        "quantile_alpha": levels,
        "eta": LEARNING_RATE,
        "max_depth": BOOSTED_DEPTH,
        "subsample": BOOSTED_SHARE,
        "colsample_bynode": COLUMNS_SHARE,
        "max_bin": 128,
        "tree_method": "hist",
        "seed": seed,
        "nthread": TREE_THREADS,
    }
    matrix = xgboost.QuantileDMatrix(design, values, max_bin=128)
    return xgboost.train(parameters, matrix, num_boost_round=ROUNDS)


def boosted_quantiles(booster: Booster, design: Floats) -> Floats:
    """Return (n_rows, n_levels) quantiles of the log target, in rising order (separate models may cross)."""
    import xgboost  # noqa: PLC0415  heavy

    found = booster.predict(xgboost.DMatrix(design)).reshape(len(design), -1)
    return np.sort(found.astype(np.float64), axis=1)


def as_bytes(booster: Booster) -> NDArray[np.uint8]:
    """Return the model as XGBoost JSON."""
    return np.frombuffer(bytes(booster.save_raw("json")), dtype=np.uint8)


def from_bytes(model: NDArray[np.uint8]) -> Booster:
    """Return the model that `as_bytes` wrote."""
    import xgboost  # noqa: PLC0415  heavy

    booster = xgboost.Booster(model_file=bytearray(model.tobytes()))
    booster.set_param({"nthread": TREE_THREADS})
    return booster
