"""Known or unknown: the pair model with a limit that the known runs themselves set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.phases.matching.pair_model import PairModel, fit_pair_model, has_pairs
from workprof.phases.matching.thresholds import FEWEST_RUNS
from workprof.phases.settings import LibrarySettings
from workprof.progress import Progress, silent

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
    digests: Floats, workloads: Sequence[str], settings: LibrarySettings, progress: Progress = silent
) -> Detector:
    """Return a detector of the training runs.

    Args:
        digests: (n_runs, n_features), see `digest.py`.
        workloads: label of each run.
        settings: c or the share of known runs that may be rejected sets the limit; seed of models and folds.
        progress: told each model.

    Raises:
        NotEnoughData: see `fit_pair_model`.
    """
    names = sorted(set(workloads))
    labels = np.array([names.index(name) for name in workloads], dtype=np.int64)
    model = fit_pair_model(digests, labels, settings.seed)
    limits, asked = limits_of(digests, labels, settings.seed, progress), settings.match
    if limits is None:
        return Detector(tuple(names), model, None, float("inf"), float("nan"))
    limit = limits.limit_for(asked.false_rejects) if asked.c is None else limits.limit_at(asked.c)
    return Detector(tuple(names), model, limits, limit, limits.c_of(limit))


def limits_of(digests: Floats, labels: Ints, seed: int, progress: Progress = silent) -> Limits | None:
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
        return fit_pair_model(digests[kept], labels[kept], seed).unlikeness(digests[out])

    own = [scored(out, done) for done, out in enumerate(one_out)]
    fewer = [scored(out, done).min(axis=1) for done, out in enumerate(two_out, start=len(one_out))]
    scores, order = np.concatenate([one.min(axis=1) for one in own]), np.concatenate(one_out)
    right = np.concatenate([np.argmin(one, axis=1) for one in own]) == labels[order]
    sd = max(float(scores.std()), 1e-9)
    return Limits(scores, right, float(scores.mean()), sd, np.concatenate([np.zeros(0), *fewer]), usual)


def _couples(labels: Ints, enough: Bools, draw: np.random.Generator) -> list[Ints]:
    """Return couples of runs of one workload such that every run is in two of them."""
    found = []
    for label in np.unique(labels[enough]):
        runs = draw.permutation(np.flatnonzero(labels == label))
        found += [np.array(couple) for couple in zip(runs, np.roll(runs, -1), strict=True)]
    return found


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
