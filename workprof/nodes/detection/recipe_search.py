"""The search over the published space of recipes, judged inside the training part only."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from workprof.nodes.detection.baselines import Blend
from workprof.nodes.detection.judging import calibrated
from workprof.nodes.detection.perona_detector import fit_perona
from workprof.nodes.detection.scene import Scene
from workprof.nodes.detection.settings import DetectSettings
from workprof.nodes.network import SPACE, Recipe
from workprof.progress import Progress, silent

GAINED = 1e-4
"""Log loss by which another recipe must be better than ours."""


def search(scene: Scene, blend: Blend, settings: DetectSettings, recipe: Recipe, progress: Progress = silent) -> Recipe:
    """Return the recipe with the least validation loss: ours, or one that the search found.

    Args:
        scene: the runs; only their training part is looked at.
        blend: of the features beside the code.
        settings: trials, seed, mode.
        recipe: to start from; what is not in the published space stays as it is.
        progress: told each trial.

    Source:
        perona.md 3.4: tree-structured Parzen estimator. Ours judges by folds that have not seen the runs, where the
        published search sees one validation part, and the seed of the network is not searched.
    """
    import optuna  # noqa: PLC0415  heavy

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def loss_of(one: Recipe) -> float:
        fitted = fit_perona(scene, blend, settings, one).fitted
        return calibrated(scene, "perona", fitted, settings.false_alarm_share).validation_loss

    def objective(trial: Any) -> float:
        progress(trial.number / settings.trials, f"Trying recipe {trial.number + 1} of {settings.trials}")
        return loss_of(_drawn(trial, recipe))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=settings.seed))
    study.optimize(objective, n_trials=settings.trials)
    best = _drawn(optuna.trial.FixedTrial(study.best_params), recipe)
    return best if study.best_value < loss_of(recipe) - GAINED else recipe


def _drawn(trial: Any, recipe: Recipe) -> Recipe:
    drawn = {name: trial.suggest_categorical(name, list(values)) for name, values in SPACE.items()}
    drawn |= {"heads": int(drawn["heads"]), "beta": bool(drawn["beta"]), "root_weight": bool(drawn["root_weight"])}
    return replace(recipe, **drawn)
