"""What is known: the fingerprints of labelled runs, their scale and thresholds, in a form that can be kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.words import counted
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.fingerprints import Fingerprint, Fingerprints, FingerprintSettings, fingerprints_of
from workprof.phases.runs import Runs, runs_of, texts_of
from workprof.phases.similarity import (
    DistanceScale,
    MatchSettings,
    Threshold,
    chosen_c,
    euclidean,
    scale_of,
    thresholds_of,
    warping,
)

if TYPE_CHECKING:
    import pandas as pd


@settings
class LibrarySettings:
    """How known workloads are learned and recognised."""

    counters: Annotated[
        tuple[str, ...],
        Setting(
            "Counters A,B,... in this order; system72: those of the 72 system-wide ones that there are, else all but "
            "proc.*. In a shell also all (but proc.*), or a FILE with a name per line.",
            columns="numeric",
            named={"system72": ()},
            key="phases_searched",
            label="Counters searched",
            empty="system72",
        ),
    ] = ()
    fingerprints: FingerprintSettings = field(default_factory=FingerprintSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    mode: Annotated[
        str,
        Setting(
            "How runs are recognised.",
            choices={
                "corrected": "by the distance between phases, and trees",
                "faithful": "by distance and threshold; all other settings are as published unless given",
            },
            shown={"corrected": "Default", "faithful": "As published"},
        ),
    ] = "corrected"
    seed: Annotated[int, Setting("Of splits and models.", least=0, most=2**32 - 1)] = 0


TrainHash = Annotated[
    str,
    Setting(
        "Dataset of the known runs.",
        flag="--train",
        key="phases_library",
        label="Known workloads from",
        empty="the same dataset",
    ),
]


def faithful_library(counters: tuple[str, ...] = (), seed: int = 0) -> LibrarySettings:
    """The settings of the method as published: |z| of each run by itself, flat DTW, mean ± 1 sd."""
    fingerprints = FingerprintSettings("run", True, False, "quantiles", ChangePointSettings(mode="faithful"))
    match = MatchSettings(scale="none", flat=True, c=1.0, two_sided=True, pooled=False)
    return LibrarySettings(counters, fingerprints, match, "faithful", seed)


MEASURES = ("ed", "dtw")


@dataclass(frozen=True, repr=False)
class Library(Shown):
    """Everything that was learned from the training runs but the models, which are fitted again from it."""

    settings: LibrarySettings  # it was made with
    step_s: float  # of the grid of its runs
    fingerprints: Fingerprints  # of the training runs
    scale: DistanceScale  # of distances
    thresholds: dict[str, tuple[Threshold, ...]]  # measure -> one per workload, sorted by name
    c: dict[str, float]  # measure -> standard deviations above the mean up to which a run is accepted

    @property
    def prints(self) -> tuple[Fingerprint, ...]:
        """Fingerprints of the training runs."""
        return self.fingerprints.prints

    @property
    def labels(self) -> tuple[str, ...]:
        """Workload of each training run."""
        return tuple(one.workload for one in self.prints)

    def threshold(self, measure: str, workload: str) -> Threshold:
        """The threshold of a workload."""
        return next(one for one in self.thresholds[measure] if one.workload == workload)


def learn(frames: Mapping[str, pd.DataFrame], settings: LibrarySettings, progress: Progress = silent) -> Library:
    """A library of the labelled runs of 'samples'; see `library_of`."""
    return library_of(runs_of(frames["samples"], settings.counters), settings, progress)


def library_of(runs: Runs, settings: LibrarySettings, progress: Progress = silent) -> Library:
    """A library of labelled runs; raises NotEnoughData without a labelled run, or where no counter changes in them."""
    labelled = tuple(run for run in runs.runs if run.workload)
    if not labelled:
        raise NotEnoughData("no run has a workload; label the runs to learn from in column 'workload'")
    known = Runs(runs.counters, runs.step_s, labelled, runs.n_dropped, runs.notes)
    return library_from(fingerprints_of(known, settings.fingerprints, progress), runs.step_s, settings)


def library_from(fingerprints: Fingerprints, step_s: float, settings: LibrarySettings) -> Library:
    """A library of fingerprints that are made already."""
    if not fingerprints.normaliser.sd.any():
        n = counted(len(fingerprints.prints), "labelled run")
        raise NotEnoughData(f"no counter changes in {n}: nothing tells one from another; choose other counters")
    scale = scale_of(fingerprints.prints, settings.match)
    labels = [one.workload for one in fingerprints.prints]
    thresholds, c = {}, {}
    for measure in MEASURES:
        inner = inner_distances(fingerprints.prints, scale, settings, measure)
        thresholds[measure] = thresholds_of(labels, inner, settings.match)
        c[measure] = chosen_c(labels, inner, thresholds[measure], settings.match)
    return Library(settings, step_s, fingerprints, scale, thresholds, c)


def inner_distances(
    prints: tuple[Fingerprint, ...], scale: DistanceScale, settings: LibrarySettings, measure: str
) -> Floats:
    """The distances of runs of the same workload (n, n); NaN between workloads, 0 on the diagonal."""
    distance = euclidean if measure == "ed" else warping
    result = np.full((len(prints), len(prints)), np.nan)
    for i, one in enumerate(prints):
        result[i, i] = 0.0
        for j in range(i):
            if prints[j].workload == one.workload:
                result[i, j] = result[j, i] = distance(one, prints[j], scale, settings.match).value
    return result


LEFT_OUT = ""


@dataclass(frozen=True)
class RunLabel:
    """A label given to a run by hand."""

    workload: str  # of the run as recorded, '' where none was
    run: str  # its name
    label: str  # the workload that it counts as; '' = left out of the library


@settings
class LibraryEdits:
    """All labels given by hand to runs of a dataset; runs that are not named keep theirs."""

    labels: Annotated[
        tuple[RunLabel, ...],
        Setting(
            'Labels of runs in place of those recorded, as [{"workload": "a", "run": "1", "label": "b"}]; the label "" '
            "leaves a run out.",
            key="phases_edits",
            label="Labels by hand",
        ),
    ] = ()

    def label_of(self, workload: str, run: str) -> str:
        """What a run counts as."""
        return next((one.label for one in self.labels if (one.workload, one.run) == (workload, run)), workload)


@settings
class LibraryViewSettings:
    """A look at a library: its edits, and how its runs are compared."""

    edits: LibraryEdits = field(default_factory=LibraryEdits)
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True, repr=False)
class LibraryView(Shown):
    """A library to look at; runs are sorted by workload."""

    names: tuple[str, ...]  # of the runs as recorded
    workloads: tuple[str, ...]  # what each counts as
    n_phases: Ints  # (n_runs,) phases of each run
    distances_ed: Floats  # (n_runs, n_runs) Euclidean over phases
    distances_dtw: Floats  # (n_runs, n_runs) warped over phases
    thresholds: dict[str, tuple[Threshold, ...]]  # measure -> one per workload
    c: dict[str, float]  # measure -> standard deviations above the mean up to which a run is accepted
    n_counters: int  # that are compared
    seconds: float  # it took

    def distances(self, measure: str) -> Floats:
        """The distances of a measure, 'ed' or 'dtw'."""
        return self.distances_ed if measure == "ed" else self.distances_dtw


LIBRARY_SHARE = 0.7
"""Of the progress; the rest are distances."""


def library_view(frames: Mapping[str, pd.DataFrame], settings: LibraryViewSettings, progress: Progress) -> LibraryView:
    """The library of 'samples': every run, how far apart they are, and from where on a run is unknown.

    Raises NotEnoughData when no labelled run is left.
    """
    started = time.perf_counter()
    runs = runs_of(relabelled(frames["samples"], settings.edits), settings.library.counters)
    library = library_of(runs, settings.library, lambda share, words: progress(LIBRARY_SHARE * (share or 0.0), words))
    prints, match = library.prints, settings.library.match
    ed, dtw = np.zeros((2, len(prints), len(prints)))
    for i, one in enumerate(prints):
        progress(LIBRARY_SHARE + (1 - LIBRARY_SHARE) * i / len(prints), f"distances of run {i + 1} of {len(prints)}")
        for j in range(i):
            ed[i, j] = ed[j, i] = euclidean(one, prints[j], library.scale, match).value
            dtw[i, j] = dtw[j, i] = warping(one, prints[j], library.scale, match).value
    return LibraryView(
        names=tuple(one.run for one in prints),
        workloads=library.labels,
        n_phases=np.array([one.phases for one in prints], dtype=np.int64),
        distances_ed=ed,
        distances_dtw=dtw,
        thresholds=library.thresholds,
        c=library.c,
        n_counters=len(library.fingerprints.normaliser.counters),
        seconds=time.perf_counter() - started,
    )


def relabelled(samples: pd.DataFrame, edits: LibraryEdits) -> pd.DataFrame:
    """The samples with the labels that were given by hand; runs that are left out are gone.

    Runs of one name that come under one label stay apart: such a run takes the name 'workload/run'.

    Raises NotEnoughData when no run is left.
    """
    if not edits.labels:
        return samples
    labels, names = texts_of(samples, "workload"), texts_of(samples, "run")
    new_labels = [edits.label_of(*key) for key in zip(labels, names, strict=True)]
    labelled = np.array([bool(label) for label in new_labels])
    if not labelled.any():
        raise NotEnoughData("every run is excluded from the library; give at least one a workload")
    renamed = [
        name if label == own else f"{own}/{name}" if own else name
        for own, name, label in zip(labels, names, new_labels, strict=True)
    ]
    return samples.assign(workload=new_labels, run=renamed).loc[labelled].reset_index(drop=True)
