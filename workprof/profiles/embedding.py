"""An autoencoder before clustering: the middle layer of a network that learned to give the scaled features back.

Source: PolarisProfiler (TOIT), its Google 2011 case: 9-16-3-16-9, Adam at 0.001, weight decay 1e-5, batches of 64,
ended after 20 epochs without progress. Its activation is not published: ours is tanh, and the weights are regularised.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats

HIDDEN, CODE = 16, 3
BATCH, PATIENCE, MOST_EPOCHS = 64, 20, 204
MOST_TRAINING_ROWS = 4_000
"""That the network learns from, drawn at random: each epoch of more takes a tenth of a second and longer."""
HELD_SHARE = 0.1
"""Of those rows, on which progress is measured."""


@dataclass(frozen=True)
class Encoder:
    """The half of an autoencoder that leads to its middle."""

    weights: Floats  # (n_dims, hidden)
    bias: Floats  # (hidden,)
    code_weights: Floats  # (hidden, code)
    code_bias: Floats  # (code,)
    kept_share: float  # of the variance of held rows that comes back from the code
    epochs: int

    def encode(self, points: Floats) -> Floats:
        """(n_rows, code) values between -1 and 1 of (n_rows, n_dims) scaled ones."""
        hidden = np.tanh(points @ self.weights + self.bias)
        return np.ascontiguousarray(np.tanh(hidden @ self.code_weights + self.code_bias))


def fit_encoder(points: Floats, seed: int) -> Encoder:
    """The encoder of (n_rows, n_dims) scaled points; the same for the same seed."""
    drawn = np.random.default_rng(seed).permutation(len(points))[:MOST_TRAINING_ROWS]
    return _trained(points[drawn].tobytes(), points.shape[1], seed)


@functools.lru_cache(maxsize=4)
def _trained(rows: bytes, n_dims: int, seed: int) -> Encoder:
    """The encoder of the rows of an array; the next cut of a tree has the same."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415  heavy
    from sklearn.neural_network import MLPRegressor  # noqa: PLC0415

    points, code = np.frombuffer(rows).reshape(-1, n_dims), min(CODE, n_dims)
    network = MLPRegressor(
        hidden_layer_sizes=(HIDDEN, code, HIDDEN),
        activation="tanh",
        alpha=1e-5,
        batch_size=min(BATCH, len(points)),
        learning_rate_init=1e-3,
        max_iter=MOST_EPOCHS,
        n_iter_no_change=PATIENCE,
        early_stopping=True,
        validation_fraction=HELD_SHARE,
        random_state=seed % 2**32,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(points, points)
    (weights, code_weights, *_), (bias, code_bias, *_) = network.coefs_, network.intercepts_
    return Encoder(weights, bias, code_weights, code_bias, float(network.best_validation_score_), network.n_iter_)
