"""How well known workloads are recognised and unknown ones rejected."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.errors import NotEnoughData, SettingsError
from workprof.phases.evaluation.known_trials import KnownAnswers, baseline_accuracies, known_answers, known_figures
from workprof.phases.evaluation.open_trials import OpenTrial, curves_of, false_reject_share, open_trial, unknown_figures
from workprof.phases.evaluation.records import Evaluation, InnerDistances
from workprof.phases.evaluation.splits import Split, stratified_splits
from workprof.phases.fingerprints import Reprints, prints_of
from workprof.phases.library import MEASURES, Library, inner_distances, library_from, library_of
from workprof.phases.runs import Runs, runs_of
from workprof.phases.settings import EvaluationSettings
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

PRINTS_SHARE, KNOWN_SHARE = 0.1, 0.5
"""Of the progress: fingerprints, then repeated splits, then workloads left out."""


def evaluate(
    frames: Mapping[str, pd.DataFrame], settings: EvaluationSettings, progress: Progress = silent
) -> Evaluation:
    """Return how well workloads are recognised: in repeated splits of 'samples', or learned from 'train'.

    Known: every split learns from its training part alone (means, deviations, counters, phases kept, thresholds, c)
    and answers for the rest. Unknown: in some of the splits each workload is left out in turn; all its runs should be
    answered 'unknown', and the held-back runs of the others should not. With 'train', the unknown workloads are those
    that it lacks.

    Args:
        frames: 'samples', and 'train' where `settings.trained_elsewhere`.
        settings: see there.
        progress: told each training part.

    Raises:
        NotEnoughData: when fewer than two workloads have two runs, or none is labelled.
    """
    started = time.perf_counter()
    if settings.trained_elsewhere:
        found = _elsewhere(frames, settings, progress)
    else:
        found = _repeated(_labelled(runs_of(frames["samples"], settings.library.counters)), settings, progress)
    return replace(found, seconds=time.perf_counter() - started)


def _labelled(runs: Runs) -> Runs:
    """Return the runs with a workload; the others are counted in a note."""
    kept = tuple(run for run in runs.runs if run.workload)
    left = len(runs.runs) - len(kept)
    notes = (*runs.notes, *(note for run in kept for note in run.notes))
    told = (f"{left} runs without a workload are left out",) if left else ()
    dropped = (f"{runs.n_dropped} samples without a time are left out",) if runs.n_dropped else ()
    return replace(runs, runs=kept, notes=(*told, *dropped, *notes))


def _repeated(runs: Runs, settings: EvaluationSettings, progress: Progress) -> Evaluation:
    labels, counts = np.unique(runs.workloads, return_counts=True)
    if (counts > 1).sum() < 2:
        raise NotEnoughData(f"{len(labels)} workloads, {(counts > 1).sum()} of them with two runs; record two of two")
    reprints = Reprints(runs, settings.library.fingerprints, _part(progress, 0.0, PRINTS_SHARE))
    splits = stratified_splits(runs.workloads, settings.splits, settings.test_share, settings.library.seed)
    answers = []
    for done, split in enumerate(splits):
        progress(PRINTS_SHARE + (KNOWN_SHARE - PRINTS_SHARE) * done / len(splits), f"split {done + 1} of {len(splits)}")
        fingerprints, prints = reprints.of(split.train.tolist(), split.test.tolist())
        library = library_from(fingerprints, runs.step_s, settings.library)
        train, test = (tuple(runs.runs[i] for i in part) for part in (split.train, split.test))
        answers.append(known_answers(library, prints, train, test))
    trials = _left_out(runs, reprints, splits[: settings.open_splits], settings, _part(progress, KNOWN_SHARE, 1.0))
    everything = range(len(runs.runs))
    whole = library_from(reprints.of(everything, ())[0], runs.step_s, settings.library)
    return _evaluation(answers, trials, whole, runs.notes)


def _left_out(
    runs: Runs, reprints: Reprints, splits: tuple[Split, ...], settings: EvaluationSettings, progress: Progress
) -> list[OpenTrial]:
    """Return a trial for each split and workload that is left out; none where two workloads are all."""
    labels = np.array(runs.workloads)
    turns = [(split, group) for split in splits for group in _groups(runs, settings)]
    trials = []
    for done, (split, group) in enumerate(turns):
        progress(done / len(turns), f"without {', '.join(group)}: {done + 1} of {len(turns)}")
        out = np.isin(labels, group)
        train = split.train[~out[split.train]]
        asked = np.concatenate([split.test[~out[split.test]], np.flatnonzero(out)])
        fingerprints, prints = reprints.of(train.tolist(), asked.tolist())
        trials.append(open_trial(library_from(fingerprints, runs.step_s, settings.library), prints))
    return trials


def _groups(runs: Runs, settings: EvaluationSettings) -> list[tuple[str, ...]]:
    """Return the workloads that are left out together, one group for each trial of a split."""
    names = sorted(set(runs.workloads))
    absent = [name for name in settings.left_out if name not in names]
    if absent or len(names) < len(settings.left_out) + 2:
        if settings.left_out:
            raise SettingsError(f"{', '.join(settings.left_out)} cannot be left out; keep two of {', '.join(names)}")
        return []
    if settings.left_out:
        return [settings.left_out]
    return [(name,) for name in names] if len(names) > 2 else []


def _elsewhere(frames: Mapping[str, pd.DataFrame], settings: EvaluationSettings, progress: Progress) -> Evaluation:
    """Return the answers of a library of 'train' for 'samples'."""
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
    answers = [known_answers(library, known, train.runs, tuple(test.runs[i] for i in shared))] if shared else []
    lacking = tuple(
        f"{one.name} lacks {len(one.missing)} counters of training; they count as zero" for one in prints if one.missing
    )
    paced = (f"steps are {test.step_s:g} s, those of training {train.step_s:g} s; phases are compared step by step",)
    notes = (*(paced if test.step_s != train.step_s else ()), *train.notes, *test.notes, *lacking)
    return _evaluation(answers, [trial], library, notes)


def _evaluation(
    answers: list[KnownAnswers], trials: list[OpenTrial], library: Library, notes: tuple[str, ...]
) -> Evaluation:
    unknown = unknown_figures(trials)
    known = known_figures(answers, trials) if answers else None
    limits = [trial.c for trial in trials if np.isfinite(trial.c)]
    rejected = [one.rejected_share for one in unknown]
    dropped = library.fingerprints.normaliser.dropped
    told = (f"{len(dropped)} counters miss too much of training and are dropped: {', '.join(dropped[:5])}",)
    return Evaluation(
        mode=library.settings.mode,
        counters=library.fingerprints.normaliser.counters,
        known=known,
        baselines=baseline_accuracies(answers),
        c=float(np.mean(limits)) if limits else float("nan"),
        unknown=unknown,
        rejected_share=float(np.mean(rejected)) if rejected else float("nan"),
        false_reject_share=false_reject_share(trials),
        curves=curves_of(trials),
        distances=_inner(library),
        notes=(*notes, *(told if dropped else ())),
        seconds=0.0,
    )


def _inner(library: Library) -> tuple[InnerDistances, ...]:
    """Return the distances among the runs of each workload, with the spread of its own pairs."""
    found, labels = {}, np.array(library.labels)
    for measure in MEASURES:
        inner = inner_distances(library.prints, library.scale, library.settings, measure)
        for name in np.unique(labels):
            own = inner[np.ix_(labels == name, labels == name)]
            found[str(name), measure] = own[np.triu_indices(len(own), 1)]
    return tuple(
        InnerDistances(name, *_mean_sd(found[name, "dtw"]), *_mean_sd(found[name, "ed"]), len(found[name, "ed"]))
        for name in sorted(set(library.labels))
    )


def _mean_sd(values: Floats) -> tuple[float, float]:
    return (float(values.mean()), float(values.std())) if len(values) else (float("nan"), float("nan"))


def _part(progress: Progress, first: float, last: float) -> Progress:
    return lambda share, message: progress(first + (last - first) * (share or 0.0), message)
