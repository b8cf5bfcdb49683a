"""How well known workloads are recognised and unknown ones rejected."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval, wilson
from workprof.phases.fingerprints import RenormalisedRuns, prints_of
from workprof.phases.library import (
    MEASURES,
    Library,
    LibrarySettings,
    TrainHash,
    inner_distances,
    library_from,
    library_of,
)
from workprof.phases.runs import Runs, runs_of
from workprof.phases.trials import KnownPredictions, OpenTrial, Split, known_predictions, open_trial, stratified_splits

if TYPE_CHECKING:
    import pandas as pd


@settings
class EvaluationSettings:
    """How recognition is measured: in splits of a dataset, or learned from another one."""

    library: LibrarySettings = field(default_factory=LibrarySettings)
    splits: Annotated[int, Setting("Repeated splits of known workloads, within each workload.", least=1, most=1000)] = (
        20
    )
    test_share: Annotated[
        float, Setting("Runs of each workload that are held back, at least one.", unit="share", above=0, most=1)
    ] = 0.3
    open_splits: Annotated[
        int,
        Setting(
            "Splits in which each workload is excluded in turn and must be called unknown; these take long.",
            least=0,
            most=1000,
            label="With excluded workloads",
        ),
    ] = 2
    left_out: Annotated[
        tuple[str, ...],
        Setting(
            "Workloads A,B,... that are excluded together, as in the paper's Table III.",
            flag="--leave-out",
            label="Left out together",
            empty="each in turn",
        ),
    ] = ()
    trained_elsewhere: Annotated[
        bool, Setting("`train` holds the runs to learn from, and nothing is split; follows from its dataset.")
    ] = False
    train_hash: TrainHash = ""


@dataclass(frozen=True)
class ClassFigures:
    """One workload over all test runs of it; 0 where a share has no runs."""

    workload: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class KnownFigures:
    """Recognition of held-back runs of known workloads, by nearest workload: a rejection is no error here."""

    accuracy: float  # share of right answers, rejections left aside
    accuracy_sd: float  # over the splits; they share runs, so it is no standard error. NaN for a single split
    accuracy_interval: Interval  # Wilson's, over different runs: a run that is asked in several splits counts once
    # the same where a rejected run counts as wrong; NaN where nothing was rejected in turn
    accuracy_with_rejections: float
    precision: float  # mean over the workloads that were tested, unweighted, like the next two
    recall: float  # likewise
    f1: float  # likewise
    per_class: tuple[ClassFigures, ...]  # one per tested workload
    workloads: tuple[str, ...]  # names of the rows and columns of `confusion`
    confusion: Ints  # (n, n) test runs by workload (row) and answer (column)
    n_splits: int  # repeated splits; 1 with a dataset of its own to learn from
    n_test: int  # answers, over all splits
    # further answers to the same question -> accuracy: 'pair_model', 'boosted_fingerprints' (as published),
    # 'nearest_ed', 'nearest_dtw'
    learners: dict[str, float]
    n_truncated: int  # test runs that had more phases than the training runs and were cut for 'boosted_fingerprints'


@dataclass(frozen=True)
class UnknownFigures:
    """Runs of a workload that was not learned."""

    workload: str  # label
    nearest: dict[str, float]  # workload -> share of its runs that are nearest to it
    rejected_share: float  # answered 'unknown', as they should be; NaN without any limit
    n: int  # answers


@dataclass(frozen=True)
class Curve:
    """Rejections as c grows."""

    measure: str  # 'pair_model', 'ed', 'dtw', 'either' (unknown by one of both distances) or 'both'
    c: Floats  # (n,) standard deviations above the mean
    rejected: Floats  # (n,) share of unknown runs that are rejected, mean over their workloads
    false_rejects: Floats  # (n,) share of known runs that are


@dataclass(frozen=True)
class InnerDistances:
    """Distances among the runs of one workload (the paper's Table IV); NaN for a single run."""

    workload: str
    dtw_mean: float
    dtw_std: float
    ed_mean: float
    ed_std: float
    n_pairs: int


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """Recognition of known and unknown workloads, measured."""

    mode: str  # 'corrected' or 'faithful'
    counters: tuple[str, ...]  # that were used
    known: KnownFigures | None  # see there; None where no tested run is of a known workload
    baselines: dict[str, float]  # name -> accuracy on the same test runs
    # standard deviations above the mean up to which a run was accepted, mean over the training parts; NaN where too few
    # runs are known for any limit
    c: float
    unknown: tuple[UnknownFigures, ...]  # one per workload that was left out or is absent from the other dataset
    rejected_share: float  # of unknown runs, mean over their workloads; NaN where there is none, or no limit
    # of it, Wilson's over the workloads, which vary at most as much as if each were rejected wholly or not at all
    rejected_interval: Interval
    false_reject_share: float  # of held-back known runs, in the same training parts; NaN as above
    # of it, Wilson's. A run that is asked in several training parts counts once: it is right or wrong in all of them
    # together
    false_reject_interval: Interval
    curves: tuple[Curve, ...]  # both over c
    distances: tuple[InnerDistances, ...]  # one per workload
    notes: tuple[str, ...]  # what was filled, dropped or missing
    seconds: float  # it took


PRINTS_SHARE, KNOWN_SHARE = 0.1, 0.5
"""Of the progress: fingerprints, then repeated splits, then workloads left out."""


def evaluate(
    frames: Mapping[str, pd.DataFrame], settings: EvaluationSettings, progress: Progress = silent
) -> Evaluation:
    """How well workloads are recognised: in repeated splits of 'samples', or learned from 'train'.

    Known: every split learns from its training part alone (means, deviations, counters, phases kept, thresholds, c)
    and answers for the rest. Unknown: in some of the splits each workload is left out in turn; all its runs should be
    answered 'unknown', and the held-back runs of the others should not. With 'train', the unknown workloads are those
    that it lacks.

    Raises NotEnoughData when fewer than two workloads have two runs, or none is labelled.
    """
    started = time.perf_counter()
    if settings.trained_elsewhere:
        result = _elsewhere(frames, settings, progress)
    else:
        result = _repeated(_labelled(runs_of(frames["samples"], settings.library.counters)), settings, progress)
    return replace(result, seconds=time.perf_counter() - started)


def _labelled(runs: Runs) -> Runs:
    """The runs with a workload; the others are counted in a note."""
    labelled = tuple(run for run in runs.runs if run.workload)
    left = len(runs.runs) - len(labelled)
    notes = (*runs.notes, *(note for run in labelled for note in run.notes))
    unlabelled = (f"{left} runs without a workload are excluded",) if left else ()
    dropped = (f"{runs.n_dropped} samples without a time are excluded",) if runs.n_dropped else ()
    return replace(runs, runs=labelled, notes=(*unlabelled, *dropped, *notes))


def _repeated(runs: Runs, settings: EvaluationSettings, progress: Progress) -> Evaluation:
    labels, counts = np.unique(runs.workloads, return_counts=True)
    if (counts > 1).sum() < 2:
        raise NotEnoughData(f"{len(labels)} workloads, {(counts > 1).sum()} of them with two runs; record two of two")
    renormalised = RenormalisedRuns(runs, settings.library.fingerprints, _part(progress, 0.0, PRINTS_SHARE))
    splits = stratified_splits(runs.workloads, settings.splits, settings.test_share, settings.library.seed)
    predictions = []
    for done, split in enumerate(splits):
        progress(PRINTS_SHARE + (KNOWN_SHARE - PRINTS_SHARE) * done / len(splits), f"split {done + 1} of {len(splits)}")
        fingerprints, prints = renormalised.of(split.train.tolist(), split.test.tolist())
        library = library_from(fingerprints, runs.step_s, settings.library)
        train, test = (tuple(runs.runs[i] for i in part) for part in (split.train, split.test))
        predictions.append(known_predictions(library, prints, train, test))
    opened = splits[: settings.open_splits]
    trials = _left_out(runs, renormalised, opened, settings, _part(progress, KNOWN_SHARE, 1.0))
    everything = range(len(runs.runs))
    whole = library_from(renormalised.of(everything, ())[0], runs.step_s, settings.library)
    n_known = _n_tested(opened) if trials else 0
    return _evaluation(predictions, trials, whole, runs.notes, n_known, _n_tested(splits))


def _n_tested(splits: Sequence[Split]) -> int:
    """Different runs that are held back in any of the splits."""
    return len({int(run) for split in splits for run in split.test})


def _left_out(
    runs: Runs,
    renormalised: RenormalisedRuns,
    splits: tuple[Split, ...],
    settings: EvaluationSettings,
    progress: Progress,
) -> list[OpenTrial]:
    """A trial for each split and workload that is left out; none where two workloads are all."""
    labels = np.array(runs.workloads)
    cases = [(split, group) for split in splits for group in _groups(runs, settings)]
    trials = []
    for done, (split, group) in enumerate(cases):
        progress(done / len(cases), f"without {', '.join(group)}: {done + 1} of {len(cases)}")
        out = np.isin(labels, group)
        train = split.train[~out[split.train]]
        tested = np.concatenate([split.test[~out[split.test]], np.flatnonzero(out)])
        fingerprints, prints = renormalised.of(train.tolist(), tested.tolist())
        trials.append(open_trial(library_from(fingerprints, runs.step_s, settings.library), prints))
    return trials


def _groups(runs: Runs, settings: EvaluationSettings) -> list[tuple[str, ...]]:
    """The workloads that are left out together, one group for each trial of a split."""
    names = sorted(set(runs.workloads))
    absent = [name for name in settings.left_out if name not in names]
    if absent or len(names) < len(settings.left_out) + 2:
        if settings.left_out:
            raise SettingsError(f"{', '.join(settings.left_out)} cannot be excluded; keep two of {', '.join(names)}")
        return []
    if settings.left_out:
        return [settings.left_out]
    return [(name,) for name in names] if len(names) > 2 else []


def _elsewhere(frames: Mapping[str, pd.DataFrame], settings: EvaluationSettings, progress: Progress) -> Evaluation:
    """The answers of a library of 'train' for 'samples'."""
    train = _labelled(runs_of(frames["train"], settings.library.counters))
    test = _labelled(runs_of(frames["samples"], train.counters))
    if not test.runs:
        raise NotEnoughData("no run of the dataset has a workload; label the runs to judge the answers by")
    library = library_of(train, settings.library, _part(progress, 0.0, PRINTS_SHARE))
    prints = prints_of(
        test.runs,
        library.fingerprints.normaliser,
        settings.library.fingerprints,
        _part(progress, PRINTS_SHARE, KNOWN_SHARE),
    )
    trial = open_trial(library, prints, _part(progress, KNOWN_SHARE, 1.0))
    shared = [i for i, run in enumerate(test.runs) if run.workload in set(library.labels)]
    known = [prints[i] for i in shared]
    predictions = [known_predictions(library, known, train.runs, tuple(test.runs[i] for i in shared))] if shared else []
    lacking = tuple(
        f"{one.name} lacks {len(one.missing)} counters of training; they count as zero" for one in prints if one.missing
    )
    paced = (f"steps are {test.step_s:g} s, those of training {train.step_s:g} s; phases are compared step by step",)
    notes = (*(paced if test.step_s != train.step_s else ()), *train.notes, *test.notes, *lacking)
    return _evaluation(predictions, [trial], library, notes, len(shared), len(shared))


def _evaluation(
    predictions: list[KnownPredictions],
    trials: list[OpenTrial],
    library: Library,
    notes: tuple[str, ...],
    n_known: int,
    n_tested: int,
) -> Evaluation:
    """The figures; `n_known` = different known runs that the trials ask, `n_tested` = those that are predicted."""
    limits = [trial.c for trial in trials if np.isfinite(trial.c)]
    rejecting = trials if limits else []
    unknown, false_rejects = unknown_figures(trials), false_reject_share(rejecting)
    if not rejecting:
        unknown = tuple(replace(one, rejected_share=float("nan")) for one in unknown)
    known = known_figures(predictions, rejecting, n_tested) if predictions else None
    rejected = [one.rejected_share for one in unknown] if rejecting else []
    dropped = library.fingerprints.normaliser.dropped
    lacking = (f"{len(dropped)} counters miss too much of training and are dropped: {', '.join(dropped[:5])}",)
    return Evaluation(
        mode=library.settings.mode,
        counters=library.fingerprints.normaliser.counters,
        known=known,
        baselines=_accuracies(predictions, "baselines"),
        c=float(np.mean(limits)) if limits else float("nan"),
        unknown=unknown,
        rejected_share=float(np.mean(rejected)) if rejected else float("nan"),
        rejected_interval=wilson(float(np.sum(rejected)), len(rejected)),
        false_reject_share=false_rejects,
        false_reject_interval=wilson(n_known * np.nan_to_num(false_rejects), n_known if rejecting else 0),
        curves=curves_of(trials),
        distances=_inner(library),
        notes=(*notes, *(lacking if dropped else ())),
        seconds=0.0,
    )


def _inner(library: Library) -> tuple[InnerDistances, ...]:
    """The distances among the runs of each workload, with the spread of its own pairs."""
    distances, labels = {}, np.array(library.labels)
    for measure in MEASURES:
        inner = inner_distances(library.prints, library.scale, library.settings, measure)
        for name in np.unique(labels):
            own = inner[np.ix_(labels == name, labels == name)]
            distances[str(name), measure] = own[np.triu_indices(len(own), 1)]
    return tuple(
        InnerDistances(
            name, *_mean_sd(distances[name, "dtw"]), *_mean_sd(distances[name, "ed"]), len(distances[name, "ed"])
        )
        for name in sorted(set(library.labels))
    )


def _mean_sd(values: Floats) -> tuple[float, float]:
    return (float(values.mean()), float(values.std())) if len(values) else (float("nan"), float("nan"))


def _part(progress: Progress, first: float, last: float) -> Progress:
    return lambda share, message: progress(first + (last - first) * (share or 0.0), message)


def known_figures(predictions: Sequence[KnownPredictions], trials: Sequence[OpenTrial], n_runs: int) -> KnownFigures:
    """The figures of all test runs of all splits, which are so many different ones."""
    truth = [name for one in predictions for name in one.truth]
    ours = [name for one in predictions for name in one.ours]
    names = tuple(sorted({*truth, *ours}))
    confusion = np.zeros((len(names), len(names)), dtype=np.int64)
    for true, result in zip(truth, ours, strict=True):
        confusion[names.index(true), names.index(result)] += 1
    each = [_accuracy(one.truth, one.ours) for one in predictions]
    classes = tuple(_class_figures(name, confusion, i) for i, name in enumerate(names) if confusion[i].sum())
    precision, recall, f1 = (
        float(np.mean([getattr(one, name) for one in classes])) for name in ("precision", "recall", "f1")
    )
    accepted = [hit and not out for trial in trials for hit, out in trial.known_right_and_rejected()]
    accuracy = _accuracy(truth, ours)
    return KnownFigures(
        accuracy=accuracy,
        accuracy_interval=wilson(accuracy * n_runs, n_runs),
        accuracy_sd=float(np.std(each, ddof=1)) if len(each) > 1 else float("nan"),
        accuracy_with_rejections=float(np.mean(accepted)) if accepted else float("nan"),
        precision=precision,
        recall=recall,
        f1=f1,
        per_class=classes,
        workloads=names,
        confusion=confusion,
        n_splits=len(predictions),
        n_test=len(truth),
        learners=_accuracies(predictions, "learners"),
        n_truncated=sum(one.n_truncated for one in predictions),
    )


def _accuracies(predictions: Sequence[KnownPredictions], kind: str) -> dict[str, float]:
    names = list(getattr(predictions[0], kind)) if predictions else []
    truth = [name for one in predictions for name in one.truth]
    return {name: _accuracy(truth, [own for one in predictions for own in getattr(one, kind)[name]]) for name in names}


def _accuracy(truth: Sequence[str], predictions: Sequence[str]) -> float:
    return float(np.mean([a == b for a, b in zip(truth, predictions, strict=True)]))


def _class_figures(name: str, confusion: Ints, i: int) -> ClassFigures:
    hits, predicted, support = int(confusion[i, i]), int(confusion[:, i].sum()), int(confusion[i].sum())
    precision, recall = hits / predicted if predicted else 0.0, hits / support
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return ClassFigures(name, precision, recall, f1, support)


GRID_C = tuple(round(float(c), 2) for c in np.arange(-1.0, 6.01, 0.1))
"""Where the curves are drawn, in standard deviations above the mean."""


def unknown_figures(trials: Sequence[OpenTrial]) -> tuple[UnknownFigures, ...]:
    """The figures of each workload that was not learned, over all trials."""
    rows: dict[str, list[tuple[str, bool]]] = {}
    for trial in trials:
        for truth, nearest, rejected in zip(trial.truth, trial.deciding.nearest, trial.deciding.rejected, strict=True):
            if truth not in trial.learned:
                rows.setdefault(truth, []).append((nearest, bool(rejected)))
    figures = []
    for name, own in sorted(rows.items()):
        predictions = [nearest for nearest, _ in own]
        by_share = sorted(set(predictions), key=lambda one: -predictions.count(one))
        shares = {item: predictions.count(item) / len(own) for item in by_share}
        figures.append(UnknownFigures(name, shares, float(np.mean([out for _, out in own])), len(own)))
    return tuple(figures)


def false_reject_share(trials: Sequence[OpenTrial]) -> float:
    """The share of runs of learned workloads that were rejected; NaN where there is none."""
    rejected = [out for trial in trials for _, out in trial.known_right_and_rejected()]
    return float(np.mean(rejected)) if rejected else float("nan")


def curves_of(trials: Sequence[OpenTrial]) -> tuple[Curve, ...]:
    """Rejections over c of every measure; a run without a threshold is never rejected."""
    grid, curves = np.array(GRID_C), []
    nothing = np.full(len(grid), np.nan)
    for measure in trials[0].predictions if trials else ():
        known: list[Bools] = []
        unknown: dict[str, list[Bools]] = {}
        for trial in trials:
            above = trial.predictions[measure].z_scores[:, None] > grid[None]
            for name, is_known, row in zip(trial.truth, trial.known, above, strict=True):
                known.append(row) if is_known else unknown.setdefault(name, []).append(row)
        rejected = np.mean([np.mean(rows, axis=0) for rows in unknown.values()], axis=0) if unknown else nothing
        curves.append(Curve(measure, grid, rejected, np.mean(known, axis=0) if known else nothing))
    return tuple(curves)
