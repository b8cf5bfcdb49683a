"""The two classifiers of bins: boosted trees and a support vector machine, with their parameters and their scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.predictor.oversampling import Balanced
from workprof.memory.predictor.settings import XGBOOST

BASE_SCORE = 0.5
"""Today's default, the bins' log shares, makes the first steps of rare bins so long that the loss grows."""

LEAST_SCORE = -1e9
"""Of a bin that training did not have."""


@dataclass(frozen=True)
class BoostingParameters:
    """Of XGBoost: the rest are its defaults."""

    n_rounds: int = 60
    depth: int = 3
    learning_rate: float = 0.3
    least_child_weight: float = 1.0


@dataclass(frozen=True)
class MachineParameters:
    """Of the support vector machine: `gamma` is in units of scikit-learn's 'scale', 1 / (columns x variance)."""

    penalty_c: float = 10.0
    gamma: float = 1.0


Parameters = BoostingParameters | MachineParameters


@dataclass(frozen=True)
class BinModel:
    """A trained classifier.

    Attributes:
        model: 'xgboost' or 'svm'.
        fitted: the library's own object.
        present: (n_present,) bins that training had, rising.
        n_bins: of the task.
    """

    model: str
    fitted: Any
    present: Ints
    n_bins: int

    def scores(self, inputs: Floats) -> Floats:
        """Return (n_rows, n_bins) scores whose largest is the answer; not yet probabilities."""
        out = np.full((len(inputs), self.n_bins), LEAST_SCORE)
        if not len(inputs):
            return out
        if len(self.present) == 1:
            out[:, self.present] = 0.0
        elif self.model == XGBOOST:
            out[:, self.present] = _margins(self.fitted, inputs)
        else:
            said = np.asarray(self.fitted.decision_function(inputs), dtype=np.float64)
            out[:, self.present] = np.column_stack([-said, said]) / 2 if said.ndim == 1 else said
        return out


def default_parameters(model: str) -> Parameters:
    """Return the parameters without a search."""
    return BoostingParameters() if model == XGBOOST else MachineParameters()


def train_model(model: str, parameters: Parameters, training: Balanced, n_bins: int) -> BinModel:
    """Return a classifier trained on rows that are balanced already.

    Raises:
        TypeError: when the parameters are not those of the model.
    """
    present, labels = np.unique(training.bins, return_inverse=True)
    one_answer = len(present) == 1 or not training.inputs.shape[1]
    if one_answer:
        present = present[np.bincount(labels, weights=training.weights).argmax()][None]
        return BinModel(model, None, present, n_bins)
    if isinstance(parameters, BoostingParameters):
        fitted = _boosted(parameters, replace(training, bins=labels.astype(np.int64)), len(present))
    else:
        fitted = _machine(parameters, replace(training, bins=labels.astype(np.int64)))
    return BinModel(model, fitted, present, n_bins)


def _boosted(parameters: BoostingParameters, training: Balanced, n_present: int) -> Any:
    import xgboost  # noqa: PLC0415  heavy

    matrix = xgboost.QuantileDMatrix(training.inputs, training.bins, weight=training.weights, nthread=1)
    asked = {
        "objective": "multi:softprob",
        "num_class": n_present,
        "tree_method": "hist",
        "max_depth": parameters.depth,
        "eta": parameters.learning_rate,
        "min_child_weight": parameters.least_child_weight,
        "base_score": BASE_SCORE,
        "nthread": 1,  # a tree of some hundred rows takes less than threads need to meet
    }
    return xgboost.train(asked, matrix, parameters.n_rounds)


def _margins(booster: Any, inputs: Floats) -> Floats:
    import xgboost  # noqa: PLC0415  heavy

    said = booster.predict(xgboost.DMatrix(inputs, nthread=1), output_margin=True)
    return np.asarray(said, dtype=np.float64).reshape(len(inputs), -1)


def _machine(parameters: MachineParameters, training: Balanced) -> Any:
    from sklearn.svm import SVC  # noqa: PLC0415  heavy

    variance = float(training.inputs.var())
    gamma = parameters.gamma / (training.inputs.shape[1] * variance) if variance > 0 else parameters.gamma
    fitted = SVC(C=parameters.penalty_c, gamma=gamma, decision_function_shape="ovr")
    return fitted.fit(training.inputs, training.bins, sample_weight=training.weights)
