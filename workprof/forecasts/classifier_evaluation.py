"""How well metadata foretells the profile, under splits that leak and splits that do not.

Usually the labels come from one clustering of all rows, the test rows among them: without a test row its neighbours
might have got another label. The notes say so, and `cluster_on="train"` shows what it comes to: each fold's training
rows are clustered alone, its test rows are assigned to those profiles, and both scores stand side by side. Everything
else (encoder, trees, temperatures, threshold) is made from the training part alone in any case.

How abstentions count: the answer 'no profile' is right for an outlier and wrong for a row with a profile, whatever the
reason it was given for. So an abstention lowers accuracy and the recall of its true profile, never the precision of
another. `answered_accuracy` looks at the answered rows only, `forced_macro_f1` at the most likely profile of the rows
with a profile, abstained or not, which is what a classifier without a reject option is scored by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, latest_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.core.stats import RELIABILITY_BINS, reliability_bins
from workprof.forecasts.classifier import ClassifierSettings, labelled, predict, train_classifier
from workprof.forecasts.encoder import not_learned, usable_fields
from workprof.forecasts.predictions import NO_PROFILE, REASON_CODES, UNSEEN, Predictions
from workprof.forecasts.splits import SPLITS, Fold, make_folds
from workprof.profiles.assign import make_quick_assigner
from workprof.profiles.features import prepare
from workprof.profiles.fit import STEPS as FIT_STEPS, grow_tree, warm_kernels
from workprof.profiles.pairs import find_pairs
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.tree import matched_numbers, numbered_cut

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Reliability:
    """Stated probability against what came true, in ten equal bins."""

    edges: Floats  # (11,) of the probability
    rows: Ints  # (10,) in each bin
    stated: Floats  # (10,) mean probability; NaN in an empty bin
    observed: Floats  # (10,) share that was right; NaN in an empty bin
    error: float  # expected calibration error 0-1: |stated - observed| weighted by rows; NaN without rows

    @property
    def mean_stated(self) -> float:
        """Mean probability over all rows; NaN without any."""
        return _weighted(self.stated, self.rows)

    @property
    def mean_observed(self) -> float:
        """Share of all rows that was right; NaN without any."""
        return _weighted(self.observed, self.rows)


def _weighted(values: Floats, rows: Ints) -> float:
    filled = rows > 0
    return float(np.average(values[filled], weights=rows[filled])) if filled.any() else float("nan")


def reliability(probability: Floats, right: Bools) -> Reliability:
    """How far the stated probability of the most likely class holds, which `right` (n_rows,) tells."""
    edges = np.linspace(0, 1, RELIABILITY_BINS + 1)
    return Reliability(edges, *reliability_bins(probability, right))


@dataclass(frozen=True)
class ClassScore:
    """One line of the paper's Table V; shares are 0-1, and 0 where nothing can be divided."""

    profile: int
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Confusion:
    """Test rows by truth and answer."""

    classes: Ints  # (n,) rising; -1 = no profile, as truth an outlier, as answer an abstention
    counts: Ints  # (n, n) rows by truth (down) and answer (across)


def confusion_of(truth: Ints, predicted: Ints) -> Confusion:
    """The confusion matrix of (n_rows,) labels; its classes are those that occur on either side."""
    classes, places = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    n = len(classes)
    cells = np.bincount(places[: len(truth)] * n + places[len(truth) :], minlength=n * n)
    return Confusion(classes, cells.reshape(n, n).astype(np.int64))


def class_scores(confusion: Confusion) -> tuple[ClassScore, ...]:
    """Precision, recall, F1 and support per class, the worst F1 first, then by support."""
    counts = confusion.counts
    right, truth, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision = right / np.maximum(predicted, 1)
    recall = right / np.maximum(truth, 1)
    f1 = 2 * right / np.maximum(truth + predicted, 1)
    scores = [
        ClassScore(int(profile), float(precision[i]), float(recall[i]), float(f1[i]), int(truth[i]))
        for i, profile in enumerate(confusion.classes)
    ]
    return tuple(sorted(scores, key=lambda score: (score.f1, -score.support, score.profile)))


def macro_f1(scores: tuple[ClassScore, ...]) -> float:
    """The mean F1 of the profiles; 'no profile' is not one. NaN without profiles."""
    f1 = [score.f1 for score in scores if score.profile != NO_PROFILE]
    return float(np.mean(f1)) if f1 else float("nan")


def weighted_f1(scores: tuple[ClassScore, ...]) -> float:
    """The mean F1 of the profiles, weighted by their test rows. NaN without."""
    profiles = [score for score in scores if score.profile != NO_PROFILE]
    rows = sum(score.support for score in profiles)
    return sum(score.f1 * score.support for score in profiles) / rows if rows else float("nan")


@dataclass(frozen=True)
class SplitScores:
    """One train and test split."""

    split: str  # 'random', 'by_job', 'by_group' or 'by_time'
    accuracy: float  # share of the test rows whose answer is right; for an outlier 'no profile' is
    macro_f1: float  # mean F1 over the profiles that occur as truth or answer
    weighted_f1: float  # the same weighted by their test rows
    abstained_share: float  # of the test rows
    n_train: int  # rows of one training; the mean where there are several folds
    n_test: int  # rows, each tested once
    train_seconds: float  # one training, inner hold-out included; the mean of the folds
    n_turns: int  # trainings; by job and by group each row is tested in one of five
    profile_accuracy: float  # of the test rows with a profile only
    answered_accuracy: float  # of the answered rows only; NaN without any
    forced_accuracy: float  # of the most likely profile, over the test rows with a profile
    forced_macro_f1: float  # the same as macro F1; to compare with a classifier that never abstains
    calibration_error: float  # expected calibration error of the most likely class
    reasons: dict[str, int]  # reason code -> test rows that abstained for it
    classes: tuple[ClassScore, ...]  # Table V, worst first; -1 = the outliers
    confusion: Confusion  # truth against answer
    reliability: Reliability  # of the most likely class, 'no profile' included
    new_users: Reliability  # the same of the rows of which training knew neither user nor group; all zero without any


@dataclass(frozen=True)
class FoldResult:
    """One training and its test rows: (n_test,) truth, predictions, training rows and seconds."""

    truth: Ints
    predictions: Predictions
    n_train: int
    train_seconds: float


def score_folds(split: str, folds: Sequence[FoldResult]) -> SplitScores:
    """The scores over the test rows of all folds together."""
    truth = np.concatenate([fold.truth for fold in folds])
    answered, best, reason = (
        np.concatenate([getattr(fold.predictions, name) for fold in folds]) for name in ("profile", "best", "reason")
    )
    likeliest = np.concatenate([fold.predictions.top[:, 0] for fold in folds])
    stated = np.concatenate([fold.predictions.top_probability[:, 0] for fold in folds])
    held = reliability(stated, likeliest == truth)
    strangers = reason == UNSEEN
    confusion = confusion_of(truth, answered)
    classes = class_scores(confusion)
    right, profiled, abstained = answered == truth, truth != NO_PROFILE, reason > 0
    return SplitScores(
        split=split,
        accuracy=float(right.mean()),
        macro_f1=macro_f1(classes),
        weighted_f1=weighted_f1(classes),
        abstained_share=float(abstained.mean()),
        n_train=round(float(np.mean([fold.n_train for fold in folds]))),
        n_test=len(truth),
        train_seconds=float(np.mean([fold.train_seconds for fold in folds])),
        n_turns=len(folds),
        profile_accuracy=_mean(right[profiled]),
        answered_accuracy=_mean(right[~abstained]),
        forced_accuracy=_mean((best == truth)[profiled]),
        forced_macro_f1=macro_f1(class_scores(confusion_of(truth[profiled], best[profiled]))),
        calibration_error=held.error,
        reasons={code: int((reason == place).sum()) for place, code in enumerate(REASON_CODES) if place},
        classes=classes,
        confusion=confusion,
        reliability=held,
        new_users=reliability(stated[strangers], (likeliest == truth)[strangers]),
    )


def _mean(values: Bools) -> float:
    return float(values.mean()) if len(values) else float("nan")


N_FOLDS = 5
"""A fifth of the rows is tested at a time, as published; by time the last 30 %."""

ALL_FOLDS = ("by_job", "by_group")
"""Splits whose folds are all run: one job or group can be a seventh of the rows, and a score then hangs on its side."""

SHOWN = {"faithful": ("random",), "corrected": ("by_job", "by_group", "random")}
"""Split whose table, confusion matrix and calibration are shown first: the first of these that could be made."""

WORDS = {"random": "rows at random", "by_job": "other jobs", "by_group": "other groups", "by_time": "later jobs"}


@dataclass(frozen=True, repr=False)
class ClassifierEvaluation(Shown):
    """The splits side by side."""

    settings: ClassifierSettings  # as given
    splits: dict[str, SplitScores]  # split -> scores, in the order random, by_job, by_group, by_time
    not_made: dict[str, str]  # split -> why this table cannot be split so
    shown: str  # split whose details are shown first
    classes: tuple[ClassScore, ...]  # Table V of that split
    fields: tuple[str, ...]  # inputs
    n_rows: int  # labelled rows
    notes: tuple[str, ...]  # what a reader must know, in words
    train_seconds: float  # of one training for that split
    seconds: float  # of the whole
    beside: dict[str, SplitScores] = field(default_factory=dict)
    """The same splits with the profiles of all rows, where `cluster_on` is 'train'; else empty."""
    label_agreement: dict[str, float] = field(default_factory=dict)
    """Split -> adjusted Rand index of both labels of the test rows, outliers a group of their own; else empty."""


def evaluate_classifier(
    frames: Mapping[str, pd.DataFrame], settings: ClassifierSettings, progress: Progress = silent
) -> ClassifierEvaluation:
    """The scores by split: a random fifth of the rows, every job and group once, the last 30 % of the rows.

    The table has a column 'profile' (-1 = outlier; rows without a value are left out). For `cluster_on` 'train' it
    needs the columns that the profiles rest on.

    Source: PolarisProfiler (SOSE'23), Table V. Faithful mode scores rows with a profile only, by a random 80/20 split
    as published, but the encoder sees the training rows only; the published one saw all rows, which adds columns that
    are zero in training and so changes no tree. The draw is ours, so the rows differ.

    Raises:
        ColumnMissing: without the column 'profile' or any field.
        NotEnoughData: when no split can be made.
        SettingsError: for `cluster_on` 'train' with profiles by OPTICS, which take no further rows.
    """
    latest, earlier = latest_of(frames["jobs"], settings.latest_runs)
    jobs, labels = labelled(latest)
    if settings.mode == "faithful":
        jobs, labels = jobs[labels != NO_PROFILE], labels[labels != NO_PROFILE]
    alone = settings.cluster_on == "train"
    if alone and not settings.profiles.by_density:
        raise SettingsError(
            f"profiles by {settings.profiles.algorithm} take no further runs, so the tested ones cannot be assigned; "
            "find profiles by hdbscan, or set cluster_on to all"
        )
    watch = Stopwatch(progress, {split: (place + 1) / len(SPLITS) for place, split in enumerate(SPLITS)})
    fields = usable_fields(jobs, settings.fields, settings.mode)
    scores: dict[str, SplitScores] = {}
    beside: dict[str, SplitScores] = {}
    agreement: dict[str, float] = {}
    not_made = {}
    for split in SPLITS:
        with watch.step(split, f"Testing on {WORDS[split]}") as report:
            try:
                folds = _folds_of(jobs, labels, split, settings)
                result = _score(jobs, split, folds, settings, report)
                if alone:
                    own = _clustered_alone(jobs, folds, settings)
                    beside[split], result = result, _score(jobs, split, own, settings, report)
                    agreement[split] = _agreement(folds, own)
                scores[split] = result
            except (ColumnMissing, NotEnoughData) as error:
                not_made[split] = str(error)
    if not scores:
        raise NotEnoughData(
            f"the classifier cannot be tested on this table: {'; '.join(dict.fromkeys(not_made.values()))}"
        )
    shown = next((split for split in SHOWN[settings.mode] if split in scores), next(iter(scores)))
    return ClassifierEvaluation(
        settings=settings,
        splits=scores,
        not_made=not_made,
        shown=shown,
        classes=scores[shown].classes,
        fields=fields,
        n_rows=len(jobs),
        notes=(*_notes(scores, not_made, settings), *(f"{one}." for one in not_learned(earlier))),
        train_seconds=scores[shown].train_seconds,
        seconds=watch.seconds,
        beside={split: one for split, one in beside.items() if split in scores},
        label_agreement=agreement,
    )


@dataclass(frozen=True)
class _LabelledFold:
    """A fold, and (n_rows,) labels of all rows, of which those of its training and test rows count."""

    fold: Fold
    labels: Ints


def _folds_of(jobs: pd.DataFrame, labels: Ints, split: str, settings: ClassifierSettings) -> list[_LabelledFold]:
    folds = make_folds(jobs, split, N_FOLDS, settings.seed)
    return [_LabelledFold(fold, labels) for fold in (folds if split in ALL_FOLDS else folds[:1])]


def _score(
    jobs: pd.DataFrame,
    split: str,
    folds: list[_LabelledFold],
    settings: ClassifierSettings,
    report: Callable[[float], None],
) -> SplitScores:
    results = []
    for done, labelled_fold in enumerate(folds):
        report(done / len(folds))
        fold, labels = labelled_fold.fold, labelled_fold.labels
        model = train_classifier(jobs.iloc[fold.train], labels[fold.train], settings)
        results.append(FoldResult(labels[fold.test], predict(model, jobs.iloc[fold.test]), model.n_rows, model.seconds))
    return score_folds(split, results)


def _clustered_alone(
    jobs: pd.DataFrame, folds: list[_LabelledFold], settings: ClassifierSettings
) -> list[_LabelledFold]:
    """The turns with the profiles of a clustering of each fold's training rows; the others are assigned to them.

    Profiles are numbered as those of all rows with which they share most training rows, one to one; what is left over
    has a number that no other fold uses. Sizes are the same share of the rows.
    """
    warm_kernels(settings.profiles)
    free = int(folds[0].labels.max(initial=NO_PROFILE)) + 1
    own = []
    for labelled_fold in folds:
        train = labelled_fold.fold.train
        labels = profiles_of(jobs, train, settings.profiles)
        numbers = matched_numbers(labels[train], labelled_fold.labels[train], free)
        free = max(free, int(numbers.max(initial=NO_PROFILE)) + 1)
        own.append(_LabelledFold(labelled_fold.fold, numbers[labels]))  # the last, -1, stays -1
    return own


def profiles_of(jobs: pd.DataFrame, train: Ints, settings: ProfileSettings) -> Ints:
    """(n_rows,) profiles of a clustering of the training rows; the other rows are assigned to them."""
    share = len(train) / len(jobs)
    pairs = find_pairs(jobs, settings).among(train)
    scaled = replace(
        settings,
        must=(),
        must_not=(),
        min_cluster_size=settings.min_cluster_size and max(2, round(share * settings.min_cluster_size)),
        min_samples=settings.min_samples and max(1, round(share * settings.min_samples)),
    )
    prepared = prepare(jobs.iloc[train], scaled)
    resolved, tree = prepared.settings, grow_tree(prepared, Stopwatch(silent, FIT_STEPS))
    clusters, fall = numbered_cut(tree, resolved, pairs.among(prepared.rows))
    labels = np.full(len(jobs), NO_PROFILE, dtype=np.int64)
    clustered = train[prepared.rows]
    labels[clustered] = clusters.labels
    others = np.setdiff1d(np.arange(len(jobs)), clustered)
    points = replace(prepared, table=jobs).scaled(others)
    labels[others] = make_quick_assigner(prepared.points, tree, fall).assign(points)[0]
    return labels


def _agreement(folds: list[_LabelledFold], own: list[_LabelledFold]) -> float:
    from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415  heavy

    of_all, alone = (
        np.concatenate([labelled_fold.labels[labelled_fold.fold.test] for labelled_fold in one]) for one in (folds, own)
    )
    return float(adjusted_rand_score(of_all, alone))


def _notes(scores: dict[str, SplitScores], not_made: dict[str, str], settings: ClassifierSettings) -> tuple[str, ...]:
    notes = [f"Not split {split.replace('_', ' ')}: {reason}." for split, reason in not_made.items()]
    if settings.mode == "faithful":
        notes.append("As published: outliers are neither trained nor tested on, and every run gets a profile.")
    else:
        notes.append("'No profile' is right only for runs that have none.")
    if settings.cluster_on == "train":
        notes.append(
            "The profiles to predict were found among each fold's training runs; the test runs were assigned to them."
        )
    else:
        notes.append(
            "Test runs were part of the clustering; cluster on training runs alone (cluster_on train) to see what that "
            "is worth."
        )
    strict = [name for name in ("by_job", "by_group") if name in scores]
    if "random" in scores and strict:
        lost = scores["random"].accuracy - min(scores[name].accuracy for name in strict)
        if lost > 0:
            notes.append(
                f"The random split leaks (runs of one job in training and test): accuracy drops {lost:.2f} without it."
            )
    for split, split_scores in scores.items():
        missed = [
            line.profile for line in split_scores.classes if line.support and not line.recall and line.profile >= 0
        ]
        if missed:
            named = ", ".join(f"P{profile}" for profile in sorted(missed))
            notes.append(f"Split {split.replace('_', ' ')}: recall 0 for {named}.")
    return tuple(notes)
