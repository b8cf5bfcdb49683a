"""Matching with, and looking at, a library of known workloads that was changed by hand."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from workprof.errors import NotEnoughData
from workprof.phases.matching.known_records import KnownMatchSettings, LibraryEdits, LibraryView, LibraryViewSettings
from workprof.phases.matching.library import Library, library_of
from workprof.phases.matching.matching import Match, match_run
from workprof.phases.matching.similarity import euclidean, warping
from workprof.phases.runs import find_run, runs_of
from workprof.phases.settings import MatchRunSettings
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

LIBRARY_SHARE = 0.7
"""Of the progress; the rest are distances."""


def match_known(frames: Mapping[str, pd.DataFrame], settings: KnownMatchSettings, progress: Progress) -> Match:
    """Return one run of 'samples' against the library in 'train', or in 'samples' where there is none.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no labelled run is left.
    """
    samples = frames["samples"]
    train = frames.get("train")
    if train is None:
        runs = runs_of(samples, settings.library.counters)
        asked = runs.runs[find_run(runs, settings.unknown)]
        train = _without(samples, asked.workload, asked.run)
    known = relabelled(train, settings.edits)
    return match_run(
        {"samples": samples, "train": known}, MatchRunSettings(settings.unknown, settings.library), progress
    )


def library_view(frames: Mapping[str, pd.DataFrame], settings: LibraryViewSettings, progress: Progress) -> LibraryView:
    """Return the library of 'samples': every run, how far apart they are, and from where on a run is unknown.

    Raises:
        NotEnoughData: when no labelled run is left.
    """
    started = time.perf_counter()
    runs = runs_of(relabelled(frames["samples"], settings.edits), settings.library.counters)
    library = library_of(runs, settings.library, lambda share, words: progress(LIBRARY_SHARE * (share or 0.0), words))
    return LibraryView(
        names=tuple(one.run for one in library.prints),
        workloads=library.labels,
        n_phases=np.array([one.phases for one in library.prints], dtype=np.int64),
        **_distances(library, progress),
        thresholds=library.thresholds,
        c=library.c,
        n_counters=len(library.fingerprints.normaliser.counters),
        seconds=time.perf_counter() - started,
    )


def relabelled(samples: pd.DataFrame, edits: LibraryEdits) -> pd.DataFrame:
    """Return the samples with the labels that were given by hand; runs that are left out are gone.

    Runs of one name that come under one label stay apart: such a run takes the name 'workload/run'.

    Raises:
        NotEnoughData: when no run is left.
    """
    if not edits.labels:
        return samples
    labels, names = _texts(samples, "workload"), _texts(samples, "run")
    given = [edits.label_of(*key) for key in zip(labels, names, strict=True)]
    kept = np.array([bool(label) for label in given])
    if not kept.any():
        raise NotEnoughData("every run was left out of the library; give at least one a workload")
    told = [
        name if label == own else f"{own}/{name}" if own else name
        for own, name, label in zip(labels, names, given, strict=True)
    ]
    return samples.assign(workload=given, run=told).loc[kept].reset_index(drop=True)


def _without(samples: pd.DataFrame, workload: str, run: str) -> pd.DataFrame:
    labels, names = _texts(samples, "workload"), _texts(samples, "run")
    kept = np.array([key != (workload, run) for key in zip(labels, names, strict=True)])
    if not kept.any():
        raise NotEnoughData(f"{run} is the only run; a match needs others to compare with")
    return samples.loc[kept].reset_index(drop=True)


def _distances(library: Library, progress: Progress) -> dict[str, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Return all distances by field name (n_runs, n_runs)."""
    prints, asked = library.prints, library.settings.match
    ed, dtw = np.zeros((2, len(prints), len(prints)))
    for i, one in enumerate(prints):
        progress(LIBRARY_SHARE + (1 - LIBRARY_SHARE) * i / len(prints), f"distances of run {i + 1} of {len(prints)}")
        for j in range(i):
            ed[i, j] = ed[j, i] = euclidean(one, prints[j], library.scale, asked).value
            dtw[i, j] = dtw[j, i] = warping(one, prints[j], library.scale, asked).value
    return {"distances_ed": ed, "distances_dtw": dtw}


def _texts(samples: pd.DataFrame, name: str) -> list[str]:
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if name not in samples.columns:
        return [""] * len(samples)
    return ["" if pd.isna(text) else str(text) for text in samples[name]]
