"""Which known workload a run is most like, and whether it is like enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.phases.detector import Detector, fit_detector
from workprof.phases.fingerprints import Fingerprint, fingerprint, stretches_of
from workprof.phases.library import Library, LibraryEdits, LibrarySettings, TrainHash, library_of, relabelled
from workprof.phases.runs import find_run, runs_of, texts_of
from workprof.phases.similarity import accepts, euclidean, warping

if TYPE_CHECKING:
    import pandas as pd


Unknown = Annotated[
    str,
    Setting(
        "The run, as workload/run, or run alone where that is enough; it is not in the library.",
        flag="--unknown",
        key="phases_run",
        label="Run",
    ),
]


@settings
class MatchRunSettings:
    """One run matched with all others of its dataset."""

    unknown: Unknown
    library: LibrarySettings = field(default_factory=LibrarySettings)


@settings
class KnownMatchSettings:
    """One run matched with a library that is changed by hand, or comes from another dataset."""

    unknown: Unknown
    edits: LibraryEdits = field(default_factory=LibraryEdits)
    train_hash: TrainHash = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


UNKNOWN = "unknown"


@dataclass(frozen=True)
class MatchLine:
    """One training run beside the run that is asked about."""

    workload: str  # of the training run
    run: str  # its name
    distance_ed: float  # Euclidean over phases
    distance_dtw: float  # warped over phases
    offset: int  # phases of the longer of both before the shorter begins, by the Euclidean distance
    # the Euclidean distance is one of the workload's own; None = too few runs of it to tell
    within_threshold: bool | None
    same_phases: bool  # both have the same number of phases


@dataclass(frozen=True)
class Verdict:
    """What a run is taken for."""

    workload: str  # the name, or 'unknown'
    nearest: str  # the nearest workload, also where the verdict is 'unknown'
    score: float  # unlikeness to it: of the phase model, in faithful mode the Euclidean distance
    limit: float  # above which the verdict is 'unknown'; NaN where too few runs are known: nearest only
    confidence: float  # 1 - distance to the nearest / distance to the second workload, of the Euclidean distance, 0-1
    confidence_dtw: float  # likewise of the warped distance
    agree: bool  # both measures have the same nearest workload; else confidence is low
    reason: str  # why, in a sentence


@dataclass(frozen=True, repr=False)
class Match(Shown):
    """The answer for one run."""

    unknown: str  # name of the run
    matches: tuple[MatchLine, ...]  # training runs, the nearest first
    verdict: Verdict  # what it is taken for
    scores: dict[str, float]  # workload -> unlikeness, see `Verdict.score`; empty in faithful mode
    notes: tuple[str, ...]  # counters that are missing, samples that were filled


def match_run(frames: Mapping[str, pd.DataFrame], settings: MatchRunSettings, progress: Progress = silent) -> Match:
    """One run of a table against all others: frames 'samples', or 'train' for the known ones where given.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no labelled run is left.
    """
    runs = runs_of(frames["samples"], settings.library.counters)
    position = find_run(runs, settings.unknown)
    if "train" in frames:
        known = runs_of(frames["train"], runs.counters)
    else:
        known = replace(runs, runs=tuple(run for i, run in enumerate(runs.runs) if i != position))
        if not known.runs:
            raise NotEnoughData(f"{runs.runs[position].name} is the only run; a match needs others to compare with")
    library = library_of(known, settings.library, progress)
    unknown = fingerprint(runs.runs[position], library.fingerprints.normaliser, settings.library.fingerprints)
    result = match(library, unknown, detector_of(library, progress))
    return replace(result, notes=(*runs.notes, *runs.runs[position].notes, *result.notes))


def match(library: Library, unknown: Fingerprint, detector: Detector | None) -> Match:
    """A fingerprint against a library; the detector decides where there is one, else distance and threshold.

    Source: CWD, detection: candidates are the training runs with as many phases, all where there are none. With the
    detector all runs are candidates.
    """
    settings = library.settings.match
    lines = []
    for known in library.prints:
        ed, dtw = (distance(known, unknown, library.scale, settings) for distance in (euclidean, warping))
        threshold = library.threshold("ed", known.workload)
        within = accepts(threshold, ed.value, library.c["ed"], two_sided=settings.two_sided)
        same_phases = known.phases == unknown.phases
        lines.append(MatchLine(known.workload, known.run, ed.value, dtw.value, ed.offset, within, same_phases))
    lines.sort(key=lambda line: line.distance_ed)
    scores = {}
    if detector is not None:
        values = detector.model.unlikeness([stretches_of(unknown)])[0]
        scores = {name: float(value) for name, value in zip(detector.workloads, values, strict=True)}
    verdict = _by_distance(library, lines) if detector is None else _by_detector(detector, scores, lines)
    shown = ", ".join(unknown.missing[:5])
    lacks = [f"{unknown.name} lacks {len(unknown.missing)} counters, zero in its fingerprint: {shown}"]
    return Match(unknown.name, tuple(lines), verdict, scores, tuple(lacks if unknown.missing else []))


def detector_of(library: Library, progress: Progress = silent) -> Detector | None:
    """The detector of a library; None in faithful mode, or where the runs are too few for one."""
    if library.settings.mode == "faithful":
        return None
    try:
        return fit_detector([stretches_of(one) for one in library.prints], library.labels, library.settings, progress)
    except NotEnoughData:
        return None


def by_workload(lines: list[MatchLine], measure: str) -> dict[str, float]:
    """The least distance to each workload, the nearest first."""
    nearest: dict[str, float] = {}
    for line in lines:
        value = line.distance_ed if measure == "ed" else line.distance_dtw
        nearest[line.workload] = min(value, nearest.get(line.workload, np.inf))
    return dict(sorted(nearest.items(), key=lambda item: item[1]))


def confidence_of(distances: dict[str, float]) -> float:
    """1 - nearest / second, 0-1; 0 with a single workload."""
    values = list(distances.values())
    return 1 - values[0] / values[1] if len(values) > 1 and values[1] > 0 else 0.0


def _by_distance(library: Library, lines: list[MatchLine]) -> Verdict:
    candidates = [line for line in lines if line.same_phases] or lines
    ed, dtw = by_workload(candidates, "ed"), by_workload(candidates, "dtw")
    nearest, score = next(iter(ed.items()))
    threshold, c = library.threshold("ed", nearest), library.c["ed"]
    limit = threshold.mean + c * threshold.sd if threshold.usable else float("nan")
    within = accepts(threshold, score, c, two_sided=library.settings.match.two_sided)
    reason = {
        True: f"distance {score:.3g} lies within mean ± {c:.2g} sd of {nearest}",
        False: f"distance {score:.3g} lies outside mean ± {c:.2g} sd ({threshold.mean:.3g} ± {threshold.sd:.3g})",
        None: f"{threshold.n_runs} runs of {nearest} are too few for a threshold: nearest only",
    }[within]
    name = UNKNOWN if within is False else nearest
    agree = next(iter(dtw)) == nearest
    return Verdict(name, nearest, score, limit, confidence_of(ed), confidence_of(dtw), agree, reason)


def _by_detector(detector: Detector, scores: dict[str, float], lines: list[MatchLine]) -> Verdict:
    ed, dtw = by_workload(lines, "ed"), by_workload(lines, "dtw")
    nearest = min(scores, key=lambda name: scores[name])
    score, limit = scores[nearest], detector.limit
    agree = next(iter(ed)) == next(iter(dtw)) == nearest
    if detector.limits is None:
        reason, limit, name = "too few runs of each workload for a threshold: nearest only", float("nan"), nearest
    else:
        known = score <= limit
        name = nearest if known else UNKNOWN
        reason = f"distance {score:.2f} to {nearest} is {'within' if known else 'above'} the threshold {limit:.2f}"
    return Verdict(name, nearest, score, limit, confidence_of(ed), confidence_of(dtw), agree, reason)


def match_known(frames: Mapping[str, pd.DataFrame], settings: KnownMatchSettings, progress: Progress) -> Match:
    """One run of 'samples' against the library in 'train', or in 'samples' where there is none.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no labelled run is left.
    """
    samples = frames["samples"]
    train = frames.get("train")
    if train is None:
        runs = runs_of(samples, settings.library.counters)
        unknown = runs.runs[find_run(runs, settings.unknown)]
        train = rows_without(samples, unknown.workload, unknown.run)
    known = relabelled(train, settings.edits)
    return match_run(
        {"samples": samples, "train": known}, MatchRunSettings(settings.unknown, settings.library), progress
    )


def rows_without(samples: pd.DataFrame, workload: str, run: str) -> pd.DataFrame:
    """The samples of all other runs; raises NotEnoughData where there is none."""
    labels, names = texts_of(samples, "workload"), texts_of(samples, "run")
    others = np.array([key != (workload, run) for key in zip(labels, names, strict=True)])
    if not others.any():
        raise NotEnoughData(f"{run} is the only run; a match needs others to compare with")
    return samples.loc[others].reset_index(drop=True)
