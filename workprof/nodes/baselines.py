"""Detectors to compare with: oriented z-score, EWMA, Mahalanobis, isolation forest, logistic regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.nodes.calibration import logistic, run_losses
from workprof.nodes.detection_data import (
    DetectionData,
    FittedDetector,
    RunFeatures,
    fold_shares,
    learn_correlations,
    mahalanobis_lengths,
    out_of_fold_scores,
    stratified_folds,
    worst_scored,
)
from workprof.nodes.histories import Distances

N_TREES = 200
OWN_WEIGHTS = (0.3, 0.6, 1.0)
HOST_WEIGHTS = (0.15, 0.3, 0.6)
STRENGTHS = (1.0, 10.0)
"""Inverse of the penalty; the grid is searched inside the training part."""
N_REPEATS = 3
N_GRID_FOLDS = 4
ITERATIONS = 5000


@dataclass(frozen=True)
class FeatureWeights:
    """How much the blocks of features weigh in a linear model, and how little it is held back."""

    own: float
    host: float
    strength: float

    def design(self, features: RunFeatures) -> Floats:
        """(n, n_columns), the blocks side by side."""
        return np.hstack([features.general, self.own * features.own, self.host * features.host])


def rule_scores(data: DetectionData, name: str, rows: Ints, distances: Distances) -> Floats:
    """The scores of a rule that learns from no label.

    'robust-z': worst scored metric in scales on the bad side of the history's median. 'ewma': the same to the
    exponentially weighted mean. 'mahalanobis': length of the distance to the mean of the three predecessors.
    """
    n_metrics = data.scale.n_metrics
    if name == "robust-z":
        return np.arcsinh(worst_scored(data.table, rows, distances.to_median[:, :n_metrics]))
    if name == "ewma":
        return np.arcsinh(worst_scored(data.table, rows, distances.to_ewma[:, :n_metrics]))
    return np.arcsinh(mahalanobis_lengths(data.table, data.correlations[1], rows, distances.to_three))


def fit_rule(data: DetectionData, name: str) -> FittedDetector:
    """A rule; correlations are learned anew without the runs of a fold, or these would lie too close."""

    def score(rows: Ints, normal: Bools) -> Floats:
        return rule_scores(data, name, rows, data.distances_of(rows, normal))

    def without_fold(share: Floats) -> Floats:
        learned = np.flatnonzero((share > 0) & ~data.anomalous)
        distances = data.distances.to_three
        correlations = learn_correlations(data.table, data.scale, data.rows[learned], distances[learned])
        return np.arcsinh(mahalanobis_lengths(data.table, correlations, data.rows, distances))

    shares = fold_shares(data)
    if name == "mahalanobis":
        by_fold = np.array([without_fold(share) for share in shares])
    else:
        by_fold = np.tile(rule_scores(data, name, data.rows, data.distances), (len(shares), 1))
    return FittedDetector(score, *out_of_fold_scores(data, by_fold))


def fit_forest(data: DetectionData, seed: int) -> FittedDetector:
    """An isolation forest on the features of normal training runs, one for all benchmarks."""
    features = data.features_of(data.rows, data.distances)

    def grown(share: Floats) -> Any:
        from sklearn.ensemble import IsolationForest  # noqa: PLC0415  heavy

        learned = np.flatnonzero((share > 0) & ~data.anomalous)
        return IsolationForest(n_estimators=N_TREES, random_state=seed).fit(features.general[learned])

    folds = np.array([-grown(share).score_samples(features.general) for share in fold_shares(data)])
    whole = grown(np.ones(len(data.rows)))

    def score(rows: Ints, normal: Bools) -> Floats:
        general = data.features_of(rows, data.distances_of(rows, normal)).general
        return np.asarray(-whole.score_samples(general))

    return FittedDetector(score, *out_of_fold_scores(data, folds))


def fit_logistic(data: DetectionData, weights: FeatureWeights) -> FittedDetector:
    """Logistic regression on all benchmarks at once: shared figures beside each one's own metrics."""
    design = weights.design(data.features_of(data.rows, data.distances))
    folds = np.array([_logit(logistic_weights(data, weights, share), design) for share in fold_shares(data)])
    whole = logistic_weights(data, weights, np.ones(len(data.rows)))

    def score(rows: Ints, normal: Bools) -> Floats:
        return _logit(whole, weights.design(data.features_of(rows, data.distances_of(rows, normal))))

    return FittedDetector(score, *out_of_fold_scores(data, folds))


def logistic_weights(data: DetectionData, weights: FeatureWeights, share: Floats) -> Floats:
    """(n_columns + 1,) weights and, last, the intercept, learned where `share` (n_scored,) is not 0."""
    learned = np.flatnonzero(share > 0)
    design = weights.design(data.features_of(data.rows, data.distances))[learned]
    return _fitted_weights(design, data.anomalous[learned], weights.strength)


def best_feature_weights(data: DetectionData, seed: int) -> FeatureWeights:
    """The weights with the least log loss over repeated folds of the training part; the mildest of equals."""
    features = data.features_of(data.rows, data.distances)
    strata = data.table.type_id[data.rows] * 2 + data.anomalous
    folds = [stratified_folds(strata, N_GRID_FOLDS, seed + repeat) for repeat in range(N_REPEATS)]
    grid = [FeatureWeights(own, host, c) for c in STRENGTHS for own in OWN_WEIGHTS for host in HOST_WEIGHTS]

    def loss(weights: FeatureWeights) -> float:
        design = weights.design(features)
        logits = np.zeros((len(folds), len(data.anomalous)))
        for repeat, fold in enumerate(folds):
            for number in range(N_GRID_FOLDS):
                here = fold == number
                learned = _fitted_weights(design[~here], data.anomalous[~here], weights.strength)
                logits[repeat, here] = _logit(learned, design[here])
        return float(np.mean([run_losses(logistic(one), data.anomalous) for one in logits]))

    return grid[int(np.argmin([loss(one) for one in grid]))]


def _fitted_weights(design: Floats, anomalous: Bools, strength: float) -> Floats:
    if anomalous.all() or not anomalous.any():
        return np.append(np.zeros(design.shape[1]), np.log((anomalous.sum() + 0.5) / ((~anomalous).sum() + 0.5)))
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  heavy

    model = LogisticRegression(C=strength, max_iter=ITERATIONS).fit(design, anomalous)
    return np.append(model.coef_[0], model.intercept_[0])


def _logit(weights: Floats, design: Floats) -> Floats:
    return np.asarray(design @ weights[:-1] + weights[-1])
