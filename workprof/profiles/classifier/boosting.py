"""XGBoost as the classifier uses it: grown on merged rows, kept as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats
from workprof.profiles.classifier.metadata_encoder import Encoded, MetadataEncoder, to_matrix
from workprof.profiles.classifier.training_rows import TrainingRows

PUBLISHED_ROUNDS = 100
MAX_BIN = 64
ONE_THREAD_ROWS = 50_000
"""Up to this many distinct rows one thread grows the trees: a tree takes under a millisecond, and threads that meet so
often lose more to a busy neighbour than they gain."""

ONE_THREAD_ASKED = 5_000
"""The same for rows that are asked for their scores."""

ONE_THREAD_EXPLAINED = 20
"""And for SHAP values, which take some milliseconds a row."""

BASE_SCORE = 0.5
"""XGBoost's default when the paper was written. Today's, the classes' log shares, makes the first Newton steps of rare
classes so long that the loss grows: training accuracy .20 after 20 rounds where this gives .81 (synthetic sample)."""

LONG_STEPS = {"eta": 0.8, "max_delta_step": 2.5, "reg_lambda": 0.3, "min_child_weight": 0.1}
"""Corrected mode: long Newton steps with a bound. Ten trees per class give the same answers as forty with the default
eta of 0.3 (macro-F1 by group .4459 against .4458, log loss .491 against .487, means of two seeds of the synthetic
sample); long steps without a bound diverge."""

Booster = Any
"""xgboost.Booster, which is imported late."""


def grow(encoder: MetadataEncoder, training: TrainingRows, n_classes: int, n_rounds: int) -> Booster:
    """Return a booster of `n_rounds` trees per class: depth 6, histograms, and in corrected mode long steps.

    Source:
        polarisprofiler.md, section 3: XGBoost's defaults, which the faithful mode keeps.
    """
    import xgboost  # noqa: PLC0415  heavy

    threads = _threads(len(training.rows), ONE_THREAD_ROWS)
    max_bin = 256 if encoder.mode == "faithful" else MAX_BIN
    matrix = xgboost.QuantileDMatrix(
        to_matrix(encoder, training.rows), training.targets, weight=training.weights, max_bin=max_bin, nthread=threads
    )
    parameters = {
        "objective": "multi:softprob",
        "num_class": n_classes,
        "tree_method": "hist",
        "max_bin": max_bin,
        "base_score": BASE_SCORE,
        "nthread": threads,
    }
    if encoder.mode != "faithful":
        parameters |= LONG_STEPS
    return xgboost.train(parameters, matrix, n_rounds)


def freeze(booster: Booster) -> NDArray[np.uint8]:
    """Return the booster's JSON as (n_bytes,)."""
    return np.frombuffer(bytes(booster.save_raw("json")), dtype=np.uint8)


def thaw(frozen: NDArray[np.uint8]) -> Booster:
    """Return the booster of its JSON."""
    import xgboost  # noqa: PLC0415  heavy

    booster = xgboost.Booster()
    booster.load_model(bytearray(frozen.tobytes()))
    return booster


def ask(booster: Booster, encoder: MetadataEncoder, rows: Encoded, **wanted: Any) -> Floats:
    """Return what `Booster.predict` says of encoded rows; `wanted` are its arguments."""
    import xgboost  # noqa: PLC0415  heavy

    threads = _threads(len(rows), ONE_THREAD_EXPLAINED if "pred_contribs" in wanted else ONE_THREAD_ASKED)
    booster.set_param({"nthread": threads})
    said: Floats = booster.predict(xgboost.DMatrix(to_matrix(encoder, rows), nthread=threads), **wanted)
    return said.astype(np.float64)


def margins(booster: Booster, encoder: MetadataEncoder, rows: Encoded, n_rounds: int = 0) -> Floats:
    """Return (n_rows, n_classes) scores before the softmax, from the first `n_rounds` rounds (0 = all)."""
    return ask(booster, encoder, rows, output_margin=True, iteration_range=(0, n_rounds)).reshape(len(rows), -1)


def _threads(n_rows: int, alone: int) -> int:
    from workprof.compiled import worker_threads  # noqa: PLC0415  heavy

    return 1 if n_rows <= alone else worker_threads()
