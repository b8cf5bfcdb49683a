"""One training part put to the test: answers for known and unknown runs, ours and those it is compared with.

Compared with: distances, the learner of the paper (boosted trees on flattened fingerprints), and recognition without
phases (the most frequent workload, the nearest means, boosted trees on means).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.phases.detector import Detector, fit_phase_model
from workprof.phases.fingerprints import Fingerprint, stretches_of
from workprof.phases.library import MEASURES, Library, LibrarySettings
from workprof.phases.matching import detector_of
from workprof.phases.runs import Run
from workprof.phases.similarity import accepts, euclidean, warping


@dataclass(frozen=True)
class Split:
    """Positions of runs."""

    train: Ints  # to learn from
    test: Ints  # runs of the same workloads that are held back


def stratified_splits(workloads: Sequence[str], n_splits: int, test_share: float, seed: int) -> tuple[Split, ...]:
    """Splits that hold back max(1, round(share * n)) runs of each workload with at least two.

    A workload with one run has it in training. A proportional rule over all rows would leave some workloads of four
    runs with two to learn from, too few for a threshold.
    """
    labels, draw = np.array(workloads), np.random.default_rng(seed)
    splits = []
    for _ in range(n_splits):
        test = []
        for label in np.unique(labels):
            own = np.flatnonzero(labels == label)
            n_test = min(len(own) - 1, max(1, round(test_share * len(own))))
            test.append(draw.choice(own, n_test, replace=False))
        held = np.sort(np.concatenate(test))
        splits.append(Split(np.setdiff1d(np.arange(len(labels)), held), held))
    return tuple(splits)


PAIR_MODEL = "pair_model"
"""Of the phase model; the key is kept from when trees on pairs of runs decided."""


@dataclass(frozen=True)
class TrialPredictions:
    """What one measure says of runs."""

    nearest: tuple[str, ...]  # workload of each run
    # (n_runs,) standard deviations above the mean at which the nearest workload lies; NaN = no threshold
    z_scores: Floats
    rejected: Bools  # (n_runs,) answered 'unknown'


def by_pairs(detector: Detector, prints: Sequence[Fingerprint]) -> TrialPredictions:
    """The answers of the phase model."""
    scores = detector.model.unlikeness([stretches_of(one) for one in prints])
    best, score = scores.argmin(axis=1), scores.min(axis=1)
    known = detector.limits
    z_scores = np.full(len(score), np.nan) if known is None else (score - known.mean) / known.sd
    return TrialPredictions(tuple(detector.workloads[i] for i in best), z_scores, score > detector.limit)


def by_distances(library: Library, prints: Sequence[Fingerprint]) -> dict[str, TrialPredictions]:
    """The answers by Euclidean and by warped distance, and 'either' and 'both' of their rejections."""
    predictions = {measure: _by_distance(library, prints, measure) for measure in MEASURES}
    ed, dtw = predictions["ed"], predictions["dtw"]
    either = TrialPredictions(ed.nearest, np.fmax(ed.z_scores, dtw.z_scores), ed.rejected | dtw.rejected)
    both = TrialPredictions(ed.nearest, np.fmin(ed.z_scores, dtw.z_scores), ed.rejected & dtw.rejected)
    return {**predictions, "either": either, "both": both}


def decided(library: Library, detector: Detector | None, prints: Sequence[Fingerprint]) -> dict[str, TrialPredictions]:
    """The answers of every measure, those that decide first."""
    distances = by_distances(library, prints)
    return distances if detector is None else {PAIR_MODEL: by_pairs(detector, prints), **distances}


def candidates(library: Library, unknown: Fingerprint, settings: LibrarySettings) -> Bools:
    """Which training runs a run is compared with (n_train,).

    Source: CWD: those with as many phases. Ours: all, as the shorter is looked for inside the longer.
    """
    same = np.array([known.phases == unknown.phases for known in library.prints])
    if settings.mode == "faithful" and same.any():
        return same
    return np.ones(len(same), dtype=np.bool_)


def _by_distance(library: Library, prints: Sequence[Fingerprint], measure: str) -> TrialPredictions:
    settings, distance = library.settings.match, euclidean if measure == "ed" else warping
    labels = np.array(library.labels)
    nearest, z_scores, rejected = [], [], []
    for one in prints:
        which = np.flatnonzero(candidates(library, one, library.settings))
        values = [distance(library.prints[i], one, library.scale, settings).value for i in which]
        best = int(np.argmin(values))
        name, value = str(labels[which[best]]), values[best]
        threshold = library.threshold(measure, name)
        nearest.append(name)
        z_scores.append((value - threshold.mean) / threshold.sd if threshold.usable and threshold.sd > 0 else np.nan)
        accepted = accepts(threshold, value, library.c[measure], two_sided=settings.two_sided)
        rejected.append(accepted is False)
    return TrialPredictions(tuple(nearest), np.array(z_scores), np.array(rejected, dtype=np.bool_))


N_TREES = 100
DEPTH = 3
ROW_SHARE = 0.8
"""On few rows and thousands of columns; a square root of the columns per split is as good as all and much quicker."""


@dataclass(frozen=True)
class Learner:
    """A fitted learner; in memory only."""

    trees: Any  # the model
    phases: int  # to which every fingerprint is cut or padded: the most of the training runs
    workloads: tuple[str, ...]  # in the order of the columns of `probabilities`

    def probabilities(self, prints: Sequence[Fingerprint]) -> Floats:
        """The probability of each workload (n_runs, n_workloads)."""
        result: Floats = self.trees.predict_proba(flattened(prints, self.phases))
        return result

    def truncated(self, prints: Sequence[Fingerprint]) -> Bools:
        """Which runs had more phases than the training runs and were cut (n_runs,)."""
        return np.array([one.phases > self.phases for one in prints])


def fit_learner(prints: Sequence[Fingerprint], seed: int) -> Learner:
    """A learner of labelled fingerprints.

    Raises NotEnoughData when there are fewer than two workloads.

    Source: CWD: gradient-boosted trees on fingerprints, "binary" while its Table III has several classes; ours has
    several.
    """
    phases = max(one.phases for one in prints)
    labels = np.array([one.workload for one in prints])
    trees = boosted(flattened(prints, phases), labels, seed)
    return Learner(trees, phases, tuple(str(name) for name in trees.classes_))


def boosted(features: Floats, labels: Any, seed: int) -> Any:
    """Boosted trees as the learner and its baseline without phases have them.

    Raises NotEnoughData when there are fewer than two workloads.
    """
    import sklearn  # noqa: PLC0415  heavy
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415

    if len(np.unique(labels)) < 2:
        raise NotEnoughData("one workload gives nothing to tell apart; give at least two")
    trees = GradientBoostingClassifier(
        n_estimators=N_TREES, max_depth=DEPTH, max_features="sqrt", subsample=ROW_SHARE, random_state=seed
    )
    with sklearn.config_context(skip_parameter_validation=True):  # of each small tree: a seventh of the time
        return trees.fit(features, labels)


def flattened(prints: Sequence[Fingerprint], phases: int) -> Floats:
    """Fingerprints, cut or zero-padded to a number of phases, as rows (n_runs, n_counters * phases * k)."""
    n_counters, _, k = prints[0].values.shape
    rows = np.zeros((len(prints), n_counters, phases, k))
    for row, one in zip(rows, prints, strict=True):
        row[:, : one.phases] = one.values[:, :phases]
    return rows.reshape(len(prints), -1)


def baseline_predictions(train: Sequence[Run], test: Sequence[Run], seed: int) -> dict[str, list[str]]:
    """What each baseline takes the test runs for.

    'majority': the most frequent workload of training. 'nearest_means': the training run whose counter means are
    nearest, in standard deviations of training, over the counters that both runs have. 'boosted_means': boosted trees
    on mean and deviation of each counter over the whole run, those of training where it is missing.
    """
    labels = np.array([run.workload for run in train])
    names, counts = np.unique(labels, return_counts=True)
    before, after = _summaries(train), _summaries(test)
    means, tested = before[:, : before.shape[1] // 2], after[:, : before.shape[1] // 2]
    sd = means.std(axis=0)
    sd[sd == 0] = 1.0
    nearest = [int((((means - one) / sd) ** 2).mean(axis=1).filled(np.inf).argmin()) for one in tested]
    usual = before.mean(axis=0).filled(0.0)
    trees = boosted(np.where(before.mask, usual, before.data), labels, seed)
    return {
        "majority": [str(names[counts.argmax()])] * len(test),
        "nearest_means": [str(labels[i]) for i in nearest],
        "boosted_means": [str(name) for name in trees.predict(np.where(after.mask, usual, after.data))],
    }


def _summaries(runs: Sequence[Run]) -> np.ma.MaskedArray[Any, Any]:
    """Mean and deviation of each counter (n_runs, 2 * n_counters), masked where it is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a counter without a sample
        rows = [np.concatenate([np.nanmean(run.values, axis=1), np.nanstd(run.values, axis=1)]) for run in runs]
    return np.ma.masked_invalid(np.array(rows))


PUBLISHED = "boosted_fingerprints"


@dataclass(frozen=True)
class KnownPredictions:
    """Answers of one training part."""

    truth: tuple[str, ...]  # workload of each test run
    ours: tuple[str, ...]  # what recognition answers, in the mode that was chosen
    learners: dict[str, tuple[str, ...]]  # name -> answers
    baselines: dict[str, tuple[str, ...]]  # name -> answers
    n_truncated: int  # see `KnownFigures`


def known_predictions(
    library: Library, prints: Sequence[Fingerprint], train: Sequence[Run], test: Sequence[Run]
) -> KnownPredictions:
    """The answers for test runs; the runs themselves are for the baselines, which know no phases."""
    seed = library.settings.seed
    learner = fit_learner(library.prints, seed)
    best = learner.probabilities(prints).argmax(axis=1)
    distances = by_distances(library, prints)
    learners = {
        PUBLISHED: tuple(learner.workloads[i] for i in best),
        "nearest_ed": distances["ed"].nearest,
        "nearest_dtw": distances["dtw"].nearest,
    }
    pairs = _pair_predictions(library, prints) if library.settings.mode == "corrected" else None
    if pairs is not None:
        learners = {PAIR_MODEL: pairs, **learners}
    ours = learners[PUBLISHED] if pairs is None else pairs
    baselines = {name: tuple(own) for name, own in baseline_predictions(train, test, seed).items()}
    truth = tuple(one.workload for one in prints)
    return KnownPredictions(truth, ours, learners, baselines, int(learner.truncated(prints).sum()))


def _pair_predictions(library: Library, prints: Sequence[Fingerprint]) -> tuple[str, ...] | None:
    names = sorted(set(library.labels))
    numbers = np.array([names.index(name) for name in library.labels], dtype=np.int64)
    try:
        model = fit_phase_model([stretches_of(one) for one in library.prints], numbers, library.settings.seed)
    except NotEnoughData:
        return None
    return tuple(names[i] for i in model.unlikeness([stretches_of(one) for one in prints]).argmin(axis=1))


@dataclass(frozen=True)
class OpenTrial:
    """Answers of one training part."""

    truth: tuple[str, ...]  # workload of each asked run
    learned: frozenset[str]  # workloads of the training part
    predictions: dict[str, TrialPredictions]  # measure -> answers; the first one decides
    c: float  # of the measure that decides; NaN without a limit

    @property
    def known(self) -> Bools:
        """(n_runs,) of a learned workload."""
        return np.array([name in self.learned for name in self.truth], dtype=np.bool_)

    @property
    def deciding(self) -> TrialPredictions:
        """Answers of the measure that decides."""
        return next(iter(self.predictions.values()))

    def known_right_and_rejected(self) -> list[tuple[bool, bool]]:
        """For each known run whether the nearest is right, and whether it is rejected."""
        rows = zip(self.truth, self.deciding.nearest, self.deciding.rejected, self.known, strict=True)
        return [(truth == nearest, bool(rejected)) for truth, nearest, rejected, known in rows if known]


def open_trial(library: Library, prints: Sequence[Fingerprint], progress: Progress = silent) -> OpenTrial:
    """The answers of a library for runs of any workload."""
    detector = detector_of(library, progress)
    c = library.c["ed"] if detector is None else detector.c
    truth = tuple(one.workload for one in prints)
    return OpenTrial(truth, frozenset(library.labels), decided(library, detector, prints), c)
