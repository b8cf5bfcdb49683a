"""Known or unknown: how far the phases of a run are from those of known runs, with a limit that the known runs set.

A run is cut where any counter changes its phase. Each stretch is compared with the stretches of known runs at about the
same time, in the Mahalanobis distance that matched stretches of runs of one workload set: counters that move together
within workloads count once, and what strays within workloads counts little. Trees on mean and deviation of the whole
run add their log odds, at a lower weight.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.phases.fingerprints import Stretches
from workprof.phases.library import LibrarySettings
from workprof.phases.similarity import FEWEST_FOR_THRESHOLD

SAME_TIME = 0.1
"""Share of the known run by which a stretch may lie earlier or later: phases last longer in one run than in another."""
FLOOR_SHARE = 1e-4
"""Of a statistic's variance over all runs: the least that is taken for its variance within workloads."""
NO_DISTANCE = 1e-6
"""The least squared distance per statistic: a copy of a known run has a logarithm too."""
DISTANCE_WEIGHT = 8.0
"""Of the mean log distance, against 1 of the trees' log odds: known runs spread by .7 in the one and by 1 in the other,
and trees, which never saw an unknown workload, are surest of its nearest neighbour."""
N_TREES = 60
TREES_FEATURES = 0.3
"""Extremely randomised: with three runs per workload they are steadier than boosted trees."""
CERTAIN = 0.002
"""Probabilities are kept this far from 0 and 1: trees on few rows know no better."""


@dataclass(frozen=True)
class PhaseModel:
    """A fitted model. It lives in memory only: a library is kept as fingerprints and fitted again."""

    known: Stretches  # the training runs, those of one workload beside each other
    firsts: Ints  # (n_workloads,) where the stretches of each workload begin among those of all training runs
    covariance: Floats  # (n_statistics, n_statistics) of the differences of matched stretches within workloads, shrunk
    trees: Any  # model of P(workload) from mean and deviation of a run

    def unlikeness(self, runs: Sequence[Stretches]) -> Floats:
        """How unlike each workload runs are (n, n_workloads).

        The distance is the mean over a run of the log of the squared Mahalanobis distance, per statistic, to the
        nearest stretch of the workload at about that time. Counters that a run lacks are left out of it.
        """
        whole = whitener_of(self.covariance)
        distances = np.array([self._distances(run, whole) for run in runs])
        result: Floats = DISTANCE_WEIGHT * distances + _against(
            self.trees.predict_proba(np.array([run.digest for run in runs]))
        )
        return result

    def _distances(self, run: Stretches, whole: Floats) -> Floats:
        there = run.there
        whitener = whole if there.all() else whitener_of(self.covariance[np.ix_(there, there)])
        squares = (
            squared_distances(run.states[:, there] @ whitener, self.known.states[:, there] @ whitener) / there.sum()
        )
        squares[~_at_the_same_time(run, self.known)] = np.inf
        nearest = np.minimum.reduceat(squares, self.firsts, axis=1)
        lengths = run.ends - run.starts
        result: Floats = lengths @ np.log(np.maximum(nearest, NO_DISTANCE)) / lengths.sum()
        return result


def fit_phase_model(runs: Sequence[Stretches], labels: Ints, seed: int) -> PhaseModel:
    """A model of the phases of training runs; `labels` (n_runs,) are numbers of their workloads.

    Raises NotEnoughData without two workloads, or without two runs of one.

    Source: The covariance is shrunk as by Ledoit and Wolf (2004). The mean log distance to the nearest neighbour is the
    part of an estimate of divergence (Wang, Kulkarni and Verdú, 2009) that depends on the known runs. Matching in time,
    and within workloads for the covariance, is ours.
    """
    from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  heavy

    if not has_pairs(labels):
        raise NotEnoughData(
            f"{len(labels)} runs of {len(np.unique(labels))} workloads have no pair of the same and of different ones; "
            "record two runs of at least two workloads"
        )
    order = np.argsort(labels, kind="stable")
    known, own = together([runs[i] for i in order]), labels[order]
    by_stretch = np.repeat(own, [len(runs[i].starts) for i in order])
    firsts = np.searchsorted(by_stretch, np.unique(labels))
    covariance = _covariance_of_matched([runs[i] for i in order], own, known, by_stretch)
    trees = ExtraTreesClassifier(N_TREES, max_features=TREES_FEATURES, random_state=seed)
    trees.fit(np.array([run.digest for run in runs]), labels)
    return PhaseModel(known, firsts.astype(np.int64), covariance, trees)


def together(runs: Sequence[Stretches]) -> Stretches:
    """The stretches of runs in one table; the digest is that of the first."""
    columns = {
        name: np.concatenate([getattr(run, name) for run in runs]) for name in ("states", "starts", "ends", "of")
    }
    return Stretches(**columns, digest=runs[0].digest, there=runs[0].there)


def _covariance_of_matched(runs: Sequence[Stretches], labels: Ints, known: Stretches, by_stretch: Ints) -> Floats:
    """The covariance of what every second differs by from the nearest one of other runs of its workload.

    The nearest by the covariance about the means of the workloads, at about the same time.
    """
    seconds = known.ends - known.starts
    whitener = whitener_of(about_means(known.states, by_stretch, seconds))
    differences = []
    for i, run in enumerate(runs):
        others = [one for j, one in enumerate(runs) if labels[j] == labels[i] and j != i]
        if others:
            other = together(others)
            squares = squared_distances(run.states @ whitener, other.states @ whitener)
            squares[~_at_the_same_time(run, other)] = np.inf
            result = run.states - other.states[squares.argmin(axis=1)]
            differences.append(np.repeat(result, run.ends - run.starts, axis=0))
    return _shrunk(np.concatenate(differences), _floor(known.states))


def about_means(states: Floats, labels: Ints, seconds: Ints) -> Floats:
    """The covariance, shrunk, of states (n, d) that last so long about the mean of those with the same label."""
    rests = np.empty_like(states)
    for label in np.unique(labels):
        own = labels == label
        rests[own] = states[own] - np.average(states[own], axis=0, weights=seconds[own])
    return _shrunk(np.repeat(rests, seconds, axis=0), _floor(states))


def _floor(states: Floats) -> Floats:
    result: Floats = FLOOR_SHARE * states.var(axis=0) + 1e-9
    return result


def _shrunk(rests: Floats, floor: Floats) -> Floats:
    """The covariance of rows about zero, shrunk towards its diagonal; the floor where all rows are zero."""
    from sklearn.covariance import ledoit_wolf  # noqa: PLC0415  heavy

    if not rests.any():
        return np.diag(floor)
    unit = np.sqrt((rests**2).mean(axis=0) + floor)
    result: Floats = ledoit_wolf(rests / unit, assume_centered=True)[0] * np.outer(unit, unit)
    return result


def _at_the_same_time(run: Stretches, known: Stretches) -> Bools:
    """Tell which stretches lie at about the same time (n, n_known); what outlasts a known run is held to its end."""
    reach, last = SAME_TIME * known.of, known.of - 1
    starts = np.minimum(run.starts[:, None], last)
    ends = np.minimum(run.ends[:, None] - 1, last)
    result: Bools = (known.starts <= ends + reach) & (known.ends - 1 >= starts - reach)
    return result


def squared_distances(a: Floats, b: Floats) -> Floats:
    """(n, m) between rows."""
    result: Floats = np.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T, 0.0)
    return result


def whitener_of(covariance: Floats) -> Floats:
    """What makes Euclidean distances Mahalanobis distances: the inverse of a root of the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    result: Floats = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return result


def has_pairs(labels: Ints) -> bool:
    """Tell whether there are pairs of the same and of different workloads to learn from."""
    counts = np.unique(labels, return_counts=True)[1]
    return len(counts) > 1 and bool(counts.max() > 1)


def _against(p: Floats) -> Floats:
    """Log odds against, from probabilities kept off 0 and 1."""
    clipped = np.clip(p, CERTAIN, 1 - CERTAIN)
    result: Floats = np.log((1 - clipped) / clipped)
    return result


FOLDS = 9
"""At least; no fold leaves two runs of one workload out, unless there are more runs of it than folds."""


@dataclass(frozen=True)
class Limits:
    """What new runs of known workloads would score, found from known runs against libraries that lack them."""

    scores: Floats  # (n_validated,) unlikeness to the nearest workload; of workloads with at least three runs
    right: Bools  # (n_validated,) the nearest was its own
    mean: float  # of the scores
    sd: float  # of the scores

    def limit_for(self, false_rejects: float) -> float:
        """The score above which a run is unknown, such that at most this share of new known runs is rejected.

        Source:
            The rank of split conformal prediction, ceil((n + 1) (1 - share)): the new run is one of n + 1.
        """
        rank = min(len(self.scores), math.ceil((len(self.scores) + 1) * (1 - false_rejects) - 1e-9))
        return float(np.sort(self.scores)[rank - 1])

    def c_of(self, limit: float) -> float:
        """A limit as c: standard deviations above the mean of the scores."""
        return (limit - self.mean) / self.sd

    def limit_at(self, c: float) -> float:
        """The score that lies c standard deviations above the mean."""
        return self.mean + c * self.sd


@dataclass(frozen=True)
class Detector:
    """A fitted detector; in memory only."""

    workloads: tuple[str, ...]  # in the order of the columns of `scores`
    model: PhaseModel  # of the phases of known runs
    limits: Limits | None  # None where no workload has three runs: nearest only
    limit: float  # score above which a run is unknown; infinite where there are no limits
    c: float  # the same in standard deviations above the mean; NaN where there are no limits


def fit_detector(
    runs: Sequence[Stretches], workloads: Sequence[str], settings: LibrarySettings, progress: Progress = silent
) -> Detector:
    """A detector of the training runs.

    c, or the share of known runs that may be rejected, sets the limit.

    Raises:
        NotEnoughData: see `fit_phase_model`.
    """
    names = sorted(set(workloads))
    labels = np.array([names.index(name) for name in workloads], dtype=np.int64)
    model = fit_phase_model(runs, labels, settings.seed)

    def unlikeness(out: Ints, rest: Ints) -> Floats:
        return fit_phase_model([runs[i] for i in rest], labels[rest], settings.seed).unlikeness([runs[i] for i in out])

    limits, match = limits_of(labels, settings.seed, unlikeness, progress), settings.match
    if limits is None:
        return Detector(tuple(names), model, None, float("inf"), float("nan"))
    limit = limits.limit_for(match.false_rejects) if match.c is None else limits.limit_at(match.c)
    return Detector(tuple(names), model, limits, limit, limits.c_of(limit))


def limits_of(
    labels: Ints, seed: int, unlikeness: Callable[[Ints, Ints], Floats], progress: Progress = silent
) -> Limits | None:
    """The scores of known runs against libraries that lack them; None where no workload has three runs.

    `unlikeness` of some runs to what others teach is (n_runs, n_workloads), both told by their places in `labels`.
    """
    counts = np.bincount(labels)
    if counts.max() < FEWEST_FOR_THRESHOLD:
        return None
    draw = np.random.default_rng(seed)
    enough = counts[labels] >= FEWEST_FOR_THRESHOLD
    by_workload = np.argsort(labels, kind="stable")
    one_out = _folds([np.array([run]) for run in by_workload if enough[run]], labels, draw)
    if not one_out:
        return None
    everything, fits, left, gains = np.arange(len(labels)), 0, [], []

    def scored(out: Ints, rest: Ints) -> Floats:
        nonlocal fits
        fits += 1
        progress((fits - 1) / (2 * len(one_out)), f"known runs against the others: {fits} of {2 * len(one_out)}")
        return unlikeness(out, rest)

    for out in one_out:
        rest = np.setdiff1d(everything, out)
        own, n_own = scored(out, rest), np.bincount(labels[rest], minlength=len(counts))[labels[out]]
        left.append((own.min(axis=1), own.argmin(axis=1) == labels[out], 1 / n_own - 1 / counts[labels[out]]))
        siblings = [int(draw.choice(rest[labels[rest] == labels[run]])) for run in out]
        fewer = np.setdiff1d(rest, siblings)
        n_fewer = np.bincount(labels[fewer], minlength=len(counts))[labels[out]]
        if has_pairs(labels[fewer]) and n_fewer.min() > 0:
            gains.append((scored(out, fewer).min(axis=1) - own.min(axis=1), 1 / n_fewer - 1 / n_own))
    scores, right, nearer = (np.concatenate(part) for part in zip(*left, strict=True))
    scores = scores - _slope(gains) * nearer
    return Limits(scores, right, float(scores.mean()), max(float(scores.std()), 1e-9))


def _slope(gains: list[tuple[Floats, Floats]]) -> float:
    """How much less unlike a run is for each part of 1 by which one over the known runs of its workload falls.

    A run that is left out meets fewer runs of its workload than a new one will. On 52 recordings of 13 workloads the
    mean score with one, two and three of them was 20.6, 8.3 and 4.5: a level, and a part like one over their number.

    Args:
        gains: for each fold, (n_out,) how far scores rise when a further run of the workload is taken away, and how far
            one over the number of its runs rises.
    """
    if not gains:
        return 0.0
    higher, rises = (np.concatenate(part) for part in zip(*gains, strict=True))
    return max(0.0, float(higher.sum() / rises.sum()))


def _folds(groups: list[Ints], labels: Ints, draw: np.random.Generator) -> list[Ints]:
    """Sets of runs to leave out together, of different workloads as far as possible.

    Sets that leave nothing to learn pairs from are dropped.
    """
    folds: list[list[Ints]] = [[] for _ in range(FOLDS)]
    first = int(draw.integers(FOLDS))
    for position, group in enumerate(groups, start=first):
        folds[position % FOLDS].append(group)
    sets = [np.unique(np.concatenate(fold)) for fold in folds if fold]
    return [out for out in sets if has_pairs(np.delete(labels, out))]
