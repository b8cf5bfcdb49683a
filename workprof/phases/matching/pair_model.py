"""Same workload or not: trees on how two runs differ, and trees on the runs themselves.

The first ones learn which counters tell workloads apart at all, so a workload never seen is "not the same" for all.
The second ones know where each workload lies. Their log odds are added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData

N_PAIR_MODELS = 2
N_TREES = 80
DEPTH = 3
LEARNING_RATE = 0.1
ROW_SHARE = 0.8
"""As the learner is set up, see `learner.py`; here XGBoost, which takes a tenth of the time."""

LEAST_WEIGHT = 0.1
"""Of a leaf: pairs of the same workload are few and would otherwise not get leaves of their own."""

BINS = 64

N_RUN_TREES = 60
RUN_TREES_FEATURES = 0.3
"""Extremely randomised: with three runs per workload they are steadier than boosted trees."""

FLOOR_SHARE = 0.02
"""Of a feature's variance over all runs: the least that is taken for its variance within workloads."""

CERTAIN = 0.002
"""Probabilities are kept this far from 0 and 1: trees on few rows know no better."""

RUN_TREES_WEIGHT = 2.0
"""Their log odds spread half as far as those of the pairs; so both count alike."""

MOST_PAIRS = 20_000
"""Of different workloads; above that they are drawn."""


@dataclass(frozen=True)
class PairModel:
    """A fitted model. It lives in memory only: a library is kept as fingerprints and fitted again.

    Attributes:
        pairs: models of P(same workload) from the differences of two runs.
        runs: model of P(workload) from one run.
        known: (n_runs, n_features) digests of the training runs, divided by `unit`.
        labels: (n_runs,) number of each one's workload.
        unit: (n_features,) deviation within workloads.
    """

    pairs: tuple[Any, ...]
    runs: Any
    known: Floats
    labels: Ints
    unit: Floats

    def unlikeness(self, digests: Floats) -> Floats:
        """Return how unlike each workload runs are (n, n_workloads): log odds against it.

        Those of the pairs are the mean over the training runs of a workload.
        """
        asked = digests / self.unit
        differences = np.abs(asked[:, None] - self.known[None]).reshape(-1, self.known.shape[1])
        shape = len(asked), len(self.known)
        against = np.mean([_against(one.predict_proba(differences)[:, 1]).reshape(shape) for one in self.pairs], axis=0)
        names = np.unique(self.labels)
        by_pairs = np.stack([against[:, self.labels == one].mean(axis=1) for one in names], axis=1)
        result: Floats = by_pairs + RUN_TREES_WEIGHT * _against(self.runs.predict_proba(asked))
        return result


def fit_pair_model(digests: Floats, labels: Ints, seed: int) -> PairModel:
    """Return a model of pairs of training runs.

    Args:
        digests: (n_runs, n_features).
        labels: (n_runs,) number of each run's workload.
        seed: of the trees, and of the pairs where there are too many.

    Raises:
        NotEnoughData: without two workloads, or without two runs of one.
    """
    first, second = np.triu_indices(len(labels), 1)
    same = labels[first] == labels[second]
    if not has_pairs(labels):
        raise NotEnoughData(
            f"{len(labels)} runs of {len(np.unique(labels))} workloads have no pair of the same and of different ones; "
            "record two runs of at least two workloads"
        )
    kept = _drawn(same, seed)
    unit = _unit(digests, labels)
    known = digests / unit
    differences, answers = np.abs(known[first[kept]] - known[second[kept]]), same[kept]
    pairs = tuple(_pair_trees(differences, answers, (seed + draw) % 2**31) for draw in range(N_PAIR_MODELS))
    return PairModel(pairs, _run_trees(known, labels, seed), known, labels, unit)


def has_pairs(labels: Ints) -> bool:
    """Tell whether there are pairs of the same and of different workloads to learn from."""
    counts = np.unique(labels, return_counts=True)[1]
    return len(counts) > 1 and bool(counts.max() > 1)


def _pair_trees(differences: Floats, same: Bools, seed: int) -> Any:
    from xgboost import XGBClassifier  # noqa: PLC0415  heavy

    features = differences.shape[1]
    trees = XGBClassifier(
        n_estimators=N_TREES,
        max_depth=DEPTH,
        learning_rate=LEARNING_RATE,
        subsample=ROW_SHARE,
        colsample_bynode=np.sqrt(features) / features,
        min_child_weight=LEAST_WEIGHT,
        tree_method="hist",
        max_bin=BINS,
        n_jobs=1,
        random_state=seed,
    )
    return trees.fit(differences, same)


def _run_trees(digests: Floats, labels: Ints, seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  heavy

    trees = ExtraTreesClassifier(N_RUN_TREES, max_features=RUN_TREES_FEATURES, random_state=seed)
    return trees.fit(digests, labels)


def _against(p: Floats) -> Floats:
    """Return log odds against, from probabilities kept off 0 and 1."""
    kept = np.clip(p, CERTAIN, 1 - CERTAIN)
    result: Floats = np.log((1 - kept) / kept)
    return result


def _unit(digests: Floats, labels: Ints) -> Floats:
    """Return the deviation of each feature within workloads."""
    rest = np.concatenate([digests[labels == one] - digests[labels == one].mean(axis=0) for one in np.unique(labels)])
    freedom = max(1, len(labels) - len(np.unique(labels)))
    result: Floats = np.sqrt((rest**2).sum(axis=0) / freedom + FLOOR_SHARE * digests.var(axis=0) + 1e-9)
    return result


def _drawn(same: Bools, seed: int) -> Ints:
    """Return all pairs of the same workload and at most `MOST_PAIRS` of others."""
    different = np.flatnonzero(~same)
    if len(different) > MOST_PAIRS:
        different = np.random.default_rng(seed).choice(different, MOST_PAIRS, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(same), different]))
