"""The search for a model's parameters: the u-score on validation runs, made as small as it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.predictor.bin_models import (
    BoostingParameters,
    MachineParameters,
    Parameters,
    default_parameters,
    train_model,
)
from workprof.memory.predictor.bin_scores import run_costs
from workprof.memory.predictor.oversampling import balanced
from workprof.memory.predictor.settings import XGBOOST


@dataclass(frozen=True)
class LearningRows:
    """Rows with their bins: `inputs` (n_rows, n_columns), `bins` (n_rows,)."""

    inputs: Floats
    bins: Ints

    def __len__(self) -> int:
        return len(self.bins)

    def take(self, rows: Ints) -> LearningRows:
        """Return the rows at positions."""
        return LearningRows(self.inputs[rows], self.bins[rows])


@dataclass(frozen=True)
class Recipe:
    """How a model is made.

    Attributes:
        model: 'xgboost' or 'svm'.
        sampling: asked for.
        n_bins: of the task.
        penalty: of an under-estimate.
        trials: 0 = default parameters.
        seed: of every random draw.
    """

    model: str
    sampling: str
    n_bins: int
    penalty: float
    trials: int
    seed: int


def scores_of(recipe: Recipe, parameters: Parameters, training: LearningRows, asked: Floats) -> Floats:
    """Return (n_asked, n_bins) scores of a model trained on these rows, its rare bins brought up."""
    rows = balanced(training.inputs, training.bins, recipe.sampling, recipe.seed)
    return train_model(recipe.model, parameters, rows, recipe.n_bins).scores(asked)


def tuned_parameters(
    recipe: Recipe, training: LearningRows, validation: LearningRows, tell: Callable[[float], None]
) -> Parameters:
    """Return the parameters with the lowest u-score on the validation rows; the default ones are tried first.

    Args:
        recipe: model, sampling, penalty, number of trials.
        training: rows that models are trained on.
        validation: rows that they are compared on.
        tell: told the share of the trials that is done.

    Source:
        memory.md 4.3: Bayesian search on the u-score, by a tree-structured Parzen estimator (Optuna); the thesis used
        scikit-optimize.
    """
    default = default_parameters(recipe.model)
    if not recipe.trials or not len(validation) or len(np.unique(training.bins)) < 2:
        return default
    import optuna  # noqa: PLC0415  heavy

    def objective(trial: Any) -> float:
        tell(trial.number / recipe.trials)
        said = scores_of(recipe, _suggested(trial, recipe.model), training, validation.inputs).argmax(axis=1)
        return float(run_costs(validation.bins, said, recipe.penalty).mean())

    loudness = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=recipe.seed))
        study.enqueue_trial(vars(default))
        study.optimize(objective, n_trials=recipe.trials)
    finally:
        optuna.logging.set_verbosity(loudness)
    return _parameters(recipe.model, study.best_params)


def _suggested(trial: Any, model: str) -> Parameters:
    if model == XGBOOST:
        return BoostingParameters(
            n_rounds=trial.suggest_int("n_rounds", 10, 150),
            depth=trial.suggest_int("depth", 1, 6),
            learning_rate=trial.suggest_float("learning_rate", 0.03, 0.6, log=True),
            least_child_weight=trial.suggest_float("least_child_weight", 0.25, 8.0, log=True),
        )
    return MachineParameters(
        penalty_c=trial.suggest_float("penalty_c", 0.1, 1000.0, log=True),
        gamma=trial.suggest_float("gamma", 0.05, 20.0, log=True),
    )


def _parameters(model: str, best: dict[str, Any]) -> Parameters:
    return BoostingParameters(**best) if model == XGBOOST else MachineParameters(**best)
