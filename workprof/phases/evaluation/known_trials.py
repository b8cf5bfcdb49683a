"""Answers for held-back runs of known workloads, of our recognition and of everything it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Ints
from workprof.errors import NotEnoughData
from workprof.phases.detector import fit_pair_model
from workprof.phases.evaluation.baselines import baseline_predictions
from workprof.phases.evaluation.open_trials import OpenTrial
from workprof.phases.evaluation.records import ClassFigures, KnownFigures
from workprof.phases.evaluation.trial import PAIR_MODEL, by_distances
from workprof.phases.fingerprints import Fingerprint, digests_of
from workprof.phases.learner import fit_learner
from workprof.phases.library import Library
from workprof.phases.runs import Run

PUBLISHED = "boosted_fingerprints"


@dataclass(frozen=True)
class KnownAnswers:
    """Answers of one training part.

    Attributes:
        truth: workload of each test run.
        ours: what recognition answers, in the mode that was asked for.
        learners: name -> answers.
        baselines: name -> answers.
        n_truncated: see `KnownFigures`.
    """

    truth: tuple[str, ...]
    ours: tuple[str, ...]
    learners: dict[str, tuple[str, ...]]
    baselines: dict[str, tuple[str, ...]]
    n_truncated: int


def known_answers(
    library: Library, prints: Sequence[Fingerprint], train: Sequence[Run], test: Sequence[Run]
) -> KnownAnswers:
    """Return the answers for test runs; the runs themselves are for the baselines, which know no phases."""
    seed = library.settings.seed
    learner = fit_learner(library.prints, seed)
    best = learner.probabilities(prints).argmax(axis=1)
    distances = by_distances(library, prints)
    learners = {
        PUBLISHED: tuple(learner.workloads[i] for i in best),
        "nearest_ed": distances["ed"].nearest,
        "nearest_dtw": distances["dtw"].nearest,
    }
    pairs = _pair_answers(library, prints) if library.settings.mode == "corrected" else None
    if pairs is not None:
        learners = {PAIR_MODEL: pairs, **learners}
    ours = learners[PUBLISHED] if pairs is None else pairs
    baselines = {name: tuple(own) for name, own in baseline_predictions(train, test, seed).items()}
    truth = tuple(one.workload for one in prints)
    return KnownAnswers(truth, ours, learners, baselines, int(learner.truncated(prints).sum()))


def known_figures(answers: Sequence[KnownAnswers], trials: Sequence[OpenTrial]) -> KnownFigures:
    """Return the figures of all test runs of all splits."""
    truth = [name for one in answers for name in one.truth]
    ours = [name for one in answers for name in one.ours]
    names = tuple(sorted({*truth, *ours}))
    confusion = _confusion(truth, ours, names)
    each = [_accuracy(one.truth, one.ours) for one in answers]
    classes = tuple(_class_figures(name, confusion, i) for i, name in enumerate(names) if confusion[i].sum())
    precision, recall, f1 = (
        float(np.mean([getattr(one, name) for one in classes])) for name in ("precision", "recall", "f1")
    )
    return KnownFigures(
        accuracy=_accuracy(truth, ours),
        accuracy_sd=float(np.std(each, ddof=1)) if len(each) > 1 else float("nan"),
        accuracy_with_rejections=_with_rejections(trials),
        precision=precision,
        recall=recall,
        f1=f1,
        per_class=classes,
        workloads=names,
        confusion=confusion,
        n_splits=len(answers),
        n_test=len(truth),
        learners=_accuracies(answers, "learners"),
        n_truncated=sum(one.n_truncated for one in answers),
    )


def baseline_accuracies(answers: Sequence[KnownAnswers]) -> dict[str, float]:
    """Return the accuracy of each baseline over all test runs of all splits."""
    return _accuracies(answers, "baselines")


def _pair_answers(library: Library, prints: Sequence[Fingerprint]) -> tuple[str, ...] | None:
    names = sorted(set(library.labels))
    numbers = np.array([names.index(name) for name in library.labels], dtype=np.int64)
    try:
        model = fit_pair_model(digests_of(library.prints), numbers, library.settings.seed)
    except NotEnoughData:
        return None
    return tuple(names[i] for i in model.unlikeness(digests_of(tuple(prints))).argmin(axis=1))


def _accuracies(answers: Sequence[KnownAnswers], kind: str) -> dict[str, float]:
    names = list(getattr(answers[0], kind)) if answers else []
    truth = [name for one in answers for name in one.truth]
    return {name: _accuracy(truth, [own for one in answers for own in getattr(one, kind)[name]]) for name in names}


def _accuracy(truth: Sequence[str], found: Sequence[str]) -> float:
    return float(np.mean([a == b for a, b in zip(truth, found, strict=True)]))


def _confusion(truth: Sequence[str], found: Sequence[str], names: tuple[str, ...]) -> Ints:
    table = np.zeros((len(names), len(names)), dtype=np.int64)
    for a, b in zip(truth, found, strict=True):
        table[names.index(a), names.index(b)] += 1
    return table


def _class_figures(name: str, confusion: Ints, i: int) -> ClassFigures:
    hits, answered, support = int(confusion[i, i]), int(confusion[:, i].sum()), int(confusion[i].sum())
    precision, recall = hits / answered if answered else 0.0, hits / support
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return ClassFigures(name, precision, recall, f1, support)


def _with_rejections(trials: Sequence[OpenTrial]) -> float:
    """Return the share of known runs that were accepted as what they are, over the open trials."""
    right = [hit and not out for trial in trials for hit, out in trial.known_right_and_rejected()]
    return float(np.mean(right)) if right else float("nan")
