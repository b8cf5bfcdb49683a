"""Detectors to compare with: oriented z-score, EWMA, Mahalanobis, isolation forest, logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.calibration import logistic, run_losses
from workprof.nodes.detection_data import (
    Fitted,
    RunFeatures,
    Scene,
    dealt_folds,
    fold_shares,
    learn_space,
    lengths,
    unseen_scores,
    worst_scored,
)
from workprof.nodes.histories import Distances

N_TREES = 200
OWN_WEIGHTS = (0.3, 0.6, 1.0)
HOST_WEIGHTS = (0.15, 0.3, 0.6)
STRENGTHS = (1.0, 10.0)
"""Inverse of the penalty; the grid is searched inside the training part."""
N_REPEATS = 3
N_FOLDS = 4
ITERATIONS = 5000


@dataclass(frozen=True)
class Blend:
    """How much the blocks of features weigh in a linear model, and how little it is held back."""

    own: float
    host: float
    strength: float

    def design(self, features: RunFeatures) -> Floats:
        """Return (n, n_columns), the blocks side by side."""
        return np.hstack([features.general, self.own * features.own, self.host * features.host])


def rule_scores(scene: Scene, name: str, rows: Ints, apart: Distances) -> Floats:
    """Return the scores of a rule that learns from no label.

    'robust-z': worst scored metric in scales on the bad side of the history's median. 'ewma': the same to the
    exponentially weighted mean. 'mahalanobis': length of the distance to the mean of the three predecessors.
    """
    n_metrics = scene.yardstick.n_metrics
    if name == "robust-z":
        return np.arcsinh(worst_scored(scene.table, rows, apart.to_median[:, :n_metrics]))
    if name == "ewma":
        return np.arcsinh(worst_scored(scene.table, rows, apart.to_ewma[:, :n_metrics]))
    return np.arcsinh(lengths(scene.table, scene.spaces[1], rows, apart.to_three))


def fit_rule(scene: Scene, name: str) -> Fitted:
    """Return a rule; correlations are learned anew without the runs of a fold, or these would lie too close."""

    def score(rows: Ints, normal: Bools) -> Floats:
        return rule_scores(scene, name, rows, scene.apart_of(rows, normal))

    own = rule_scores(scene, name, scene.rows, scene.apart)
    shares = fold_shares(scene)
    folds = [_without_fold(scene, share) for share in shares] if name == "mahalanobis" else None
    return Fitted(score, *unseen_scores(scene, np.tile(own, (len(shares), 1)) if folds is None else np.array(folds)))


def _without_fold(scene: Scene, share: Floats) -> Floats:
    """Return (n_scored,) lengths by correlations of the runs that `share` (n_scored,) marks."""
    learned = np.flatnonzero((share > 0) & ~scene.anomalous)
    apart = scene.apart.to_three
    space = learn_space(scene.table, scene.yardstick, scene.rows[learned], apart[learned])
    return np.arcsinh(lengths(scene.table, space, scene.rows, apart))


def fit_forest(scene: Scene, seed: int) -> Fitted:
    """Return an isolation forest on the features of normal training runs, one for all benchmarks."""
    features = scene.features_of(scene.rows, scene.apart)

    def grown(share: Floats) -> Any:
        from sklearn.ensemble import IsolationForest  # noqa: PLC0415  heavy

        learned = np.flatnonzero((share > 0) & ~scene.anomalous)
        return IsolationForest(n_estimators=N_TREES, random_state=seed).fit(features.general[learned])

    folds = np.array([-grown(share).score_samples(features.general) for share in fold_shares(scene)])
    whole = grown(np.ones(len(scene.rows)))

    def score(rows: Ints, normal: Bools) -> Floats:
        general = scene.features_of(rows, scene.apart_of(rows, normal)).general
        return np.asarray(-whole.score_samples(general))

    return Fitted(score, *unseen_scores(scene, folds))


def fit_logistic(scene: Scene, blend: Blend) -> Fitted:
    """Return logistic regression on all benchmarks at once: shared figures beside each one's own metrics."""
    design = blend.design(scene.features_of(scene.rows, scene.apart))
    folds = np.array([_logit(logistic_weights(scene, blend, share), design) for share in fold_shares(scene)])
    whole = logistic_weights(scene, blend, np.ones(len(scene.rows)))

    def score(rows: Ints, normal: Bools) -> Floats:
        return _logit(whole, blend.design(scene.features_of(rows, scene.apart_of(rows, normal))))

    return Fitted(score, *unseen_scores(scene, folds))


def logistic_weights(scene: Scene, blend: Blend, share: Floats) -> Floats:
    """Return (n_columns + 1,) weights and, last, the intercept, learned where `share` (n_scored,) is not 0."""
    learned = np.flatnonzero(share > 0)
    design = blend.design(scene.features_of(scene.rows, scene.apart))[learned]
    return _weights(design, scene.anomalous[learned], blend.strength)


def best_blend(scene: Scene, seed: int) -> Blend:
    """Return the blend with the least log loss over repeated folds of the training part; the mildest of equals."""
    features = scene.features_of(scene.rows, scene.apart)
    strata = scene.table.type_id[scene.rows] * 2 + scene.anomalous
    folds = [dealt_folds(strata, N_FOLDS, seed + repeat) for repeat in range(N_REPEATS)]
    grid = [Blend(own, host, c) for c in STRENGTHS for own in OWN_WEIGHTS for host in HOST_WEIGHTS]
    losses = [_blend_loss(one.design(features), scene.anomalous, one.strength, folds) for one in grid]
    return grid[int(np.argmin(losses))]


def _blend_loss(design: Floats, anomalous: Bools, strength: float, folds: list[Ints]) -> float:
    told = np.zeros((len(folds), len(anomalous)))
    for repeat, fold in enumerate(folds):
        for number in range(N_FOLDS):
            here = fold == number
            told[repeat, here] = _logit(_weights(design[~here], anomalous[~here], strength), design[here])
    return float(np.mean([run_losses(logistic(one), anomalous) for one in told]))


def _weights(design: Floats, anomalous: Bools, strength: float) -> Floats:
    if anomalous.all() or not anomalous.any():
        return np.append(np.zeros(design.shape[1]), np.log((anomalous.sum() + 0.5) / ((~anomalous).sum() + 0.5)))
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  heavy

    model = LogisticRegression(C=strength, max_iter=ITERATIONS).fit(design, anomalous)
    return np.append(model.coef_[0], model.intercept_[0])


def _logit(weights: Floats, design: Floats) -> Floats:
    return np.asarray(design @ weights[:-1] + weights[-1])
