"""Known or unknown: trees on pairs of runs and on the runs themselves, with a limit that the known runs set.

The trees on how two runs differ learn which counters tell workloads apart at all, so a workload never seen is "not the
same" for all. The trees on the runs themselves know where each workload lies. Their log odds are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.phases.library import LibrarySettings
from workprof.phases.similarity import FEWEST_RUNS

N_PAIR_MODELS = 2
N_TREES = 80
DEPTH = 3
LEARNING_RATE = 0.1
ROW_SHARE = 0.8
"""As the learner of the paper is set up, see `boosted`; here XGBoost, which takes a tenth of the time."""
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
        known: (n_runs, n_features) features of the training runs, divided by `unit`.
        labels: (n_runs,) number of each one's workload.
        unit: (n_features,) deviation within workloads.
    """

    pairs: tuple[Any, ...]
    runs: Any
    known: Floats
    labels: Ints
    unit: Floats

    def unlikeness(self, features: Floats) -> Floats:
        """Return how unlike each workload runs are (n, n_workloads): log odds against it.

        Those of the pairs are the mean over the training runs of a workload.
        """
        runs = features / self.unit
        differences = np.abs(runs[:, None] - self.known[None]).reshape(-1, self.known.shape[1])
        shape = len(runs), len(self.known)
        against = np.mean([_against(one.predict_proba(differences)[:, 1]).reshape(shape) for one in self.pairs], axis=0)
        names = np.unique(self.labels)
        by_pairs = np.stack([against[:, self.labels == one].mean(axis=1) for one in names], axis=1)
        result: Floats = by_pairs + RUN_TREES_WEIGHT * _against(self.runs.predict_proba(runs))
        return result


def fit_pair_model(features: Floats, labels: Ints, seed: int) -> PairModel:
    """Return a model of pairs of training runs.

    Args:
        features: (n_runs, n_features).
        labels: (n_runs,) number of each run's workload.
        seed: of the trees, and of the pairs where there are too many.

    Raises:
        NotEnoughData: without two workloads, or without two runs of one.
    """
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  heavy

    first, second = np.triu_indices(len(labels), 1)
    same = labels[first] == labels[second]
    if not has_pairs(labels):
        raise NotEnoughData(
            f"{len(labels)} runs of {len(np.unique(labels))} workloads have no pair of the same and of different ones; "
            "record two runs of at least two workloads"
        )
    different = np.flatnonzero(~same)
    if len(different) > MOST_PAIRS:
        different = np.random.default_rng(seed).choice(different, MOST_PAIRS, replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(same), different]))
    unit = _unit(features, labels)
    known = features / unit
    differences, answers = np.abs(known[first[kept]] - known[second[kept]]), same[kept]
    pairs = tuple(_pair_trees(differences, answers, (seed + draw) % 2**31) for draw in range(N_PAIR_MODELS))
    runs = ExtraTreesClassifier(N_RUN_TREES, max_features=RUN_TREES_FEATURES, random_state=seed).fit(known, labels)
    return PairModel(pairs, runs, known, labels, unit)


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


def _against(p: Floats) -> Floats:
    """Return log odds against, from probabilities kept off 0 and 1."""
    kept = np.clip(p, CERTAIN, 1 - CERTAIN)
    result: Floats = np.log((1 - kept) / kept)
    return result


def _unit(features: Floats, labels: Ints) -> Floats:
    """Return the deviation of each feature within workloads."""
    rest = np.concatenate([features[labels == one] - features[labels == one].mean(axis=0) for one in np.unique(labels)])
    freedom = max(1, len(labels) - len(np.unique(labels)))
    result: Floats = np.sqrt((rest**2).sum(axis=0) / freedom + FLOOR_SHARE * features.var(axis=0) + 1e-9)
    return result


FOLDS = 9
"""At least; no fold leaves two runs of one workload out, unless there are more runs of it than folds."""
MANY_RUNS = 12
"""With so many runs of each workload one more or less changes little: the limit is not carried on."""


@dataclass(frozen=True)
class Limits:
    """What known runs score, each against a library that lacks it.

    Attributes:
        scores: (n_validated,) unlikeness to the nearest workload; of workloads with at least three runs.
        right: (n_validated,) the nearest was its own.
        mean: of the scores.
        sd: of the scores.
        fewer: (n,) scores with two runs of the workload left out; empty where that is not needed.
        n_runs: usual number of runs of a workload.
    """

    scores: Floats
    right: Bools
    mean: float
    sd: float
    fewer: Floats
    n_runs: int

    def limit_for(self, false_rejects: float) -> float:
        """Return the score above which a run is unknown, such that this share of known runs is rejected.

        A validated run meets one run less of its own workload than a new run will. The limit with one left out and
        with two is carried on to none left out by 1 / runs, and never upwards.
        """
        own = float(np.quantile(self.scores, 1 - false_rejects))
        if not len(self.fewer):
            return own
        drop = float(np.quantile(self.fewer, 1 - false_rejects)) - own
        return own - max(0.0, drop) * (self.n_runs - 2) / self.n_runs

    def c_of(self, limit: float) -> float:
        """Return a limit as c: standard deviations above the mean of the scores."""
        return (limit - self.mean) / self.sd

    def limit_at(self, c: float) -> float:
        """Return the score that lies c standard deviations above the mean."""
        return self.mean + c * self.sd


@dataclass(frozen=True)
class Detector:
    """A fitted detector; in memory only.

    Attributes:
        workloads: in the order of the columns of `scores`.
        model: of pairs.
        limits: None where no workload has three runs: nearest only.
        limit: score above which a run is unknown; infinite where there are no limits.
        c: the same in standard deviations above the mean; NaN where there are no limits.
    """

    workloads: tuple[str, ...]
    model: PairModel
    limits: Limits | None
    limit: float
    c: float


def fit_detector(
    features: Floats, workloads: Sequence[str], settings: LibrarySettings, progress: Progress = silent
) -> Detector:
    """Return a detector of the training runs.

    Args:
        features: (n_runs, n_features), see `feature_vector`.
        workloads: label of each run.
        settings: c or the share of known runs that may be rejected sets the limit; seed of models and folds.
        progress: told each model.

    Raises:
        NotEnoughData: see `fit_pair_model`.
    """
    names = sorted(set(workloads))
    labels = np.array([names.index(name) for name in workloads], dtype=np.int64)
    model = fit_pair_model(features, labels, settings.seed)
    limits, match = limits_of(features, labels, settings.seed, progress), settings.match
    if limits is None:
        return Detector(tuple(names), model, None, float("inf"), float("nan"))
    limit = limits.limit_for(match.false_rejects) if match.c is None else limits.limit_at(match.c)
    return Detector(tuple(names), model, limits, limit, limits.c_of(limit))


def limits_of(features: Floats, labels: Ints, seed: int, progress: Progress = silent) -> Limits | None:
    """Return the scores of known runs against libraries that lack them; None where no workload has three runs."""
    counts = np.bincount(labels)
    if counts.max() < FEWEST_RUNS:
        return None
    draw = np.random.default_rng(seed)
    enough = counts[labels] >= FEWEST_RUNS
    usual = int(np.median(counts[counts >= FEWEST_RUNS]))
    by_workload = np.argsort(labels, kind="stable")
    one_out = _folds([np.array([run]) for run in by_workload if enough[run]], labels, draw)
    two_out = _folds(_couples(labels, enough, draw), labels, draw) if usual <= MANY_RUNS else []
    if not one_out:
        return None
    n = len(one_out) + len(two_out)

    def scored(out: Ints, done: int) -> Floats:
        progress(done / n, f"known runs against the others: {done + 1} of {n}")
        kept = np.setdiff1d(np.arange(len(labels)), out)
        return fit_pair_model(features[kept], labels[kept], seed).unlikeness(features[out])

    own = [scored(out, done) for done, out in enumerate(one_out)]
    fewer = [scored(out, done).min(axis=1) for done, out in enumerate(two_out, start=len(one_out))]
    scores, order = np.concatenate([one.min(axis=1) for one in own]), np.concatenate(one_out)
    right = np.concatenate([np.argmin(one, axis=1) for one in own]) == labels[order]
    sd = max(float(scores.std()), 1e-9)
    return Limits(scores, right, float(scores.mean()), sd, np.concatenate([np.zeros(0), *fewer]), usual)


def _couples(labels: Ints, enough: Bools, draw: np.random.Generator) -> list[Ints]:
    """Return couples of runs of one workload such that every run is in two of them."""
    couples = []
    for label in np.unique(labels[enough]):
        runs = draw.permutation(np.flatnonzero(labels == label))
        couples += [np.array(couple) for couple in zip(runs, np.roll(runs, -1), strict=True)]
    return couples


def _folds(groups: list[Ints], labels: Ints, draw: np.random.Generator) -> list[Ints]:
    """Return sets of runs to leave out together, of different workloads as far as possible.

    Sets that leave nothing to learn pairs from are dropped.
    """
    folds: list[list[Ints]] = [[] for _ in range(FOLDS)]
    first = int(draw.integers(FOLDS))
    for position, group in enumerate(groups, start=first):
        folds[position % FOLDS].append(group)
    sets = [np.unique(np.concatenate(fold)) for fold in folds if fold]
    return [out for out in sets if has_pairs(np.delete(labels, out))]
