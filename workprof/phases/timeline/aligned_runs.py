"""Two runs laid over each other, second by second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workprof.phases.fingerprints import fit_normaliser, normalised
from workprof.phases.library import LibrarySettings
from workprof.phases.runs import find_run, runs_of
from workprof.phases.timeline.alignment import Alignment, alignment_of
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class AlignmentSettings:
    """Which runs are aligned.

    Attributes:
        first: a run of the dataset.
        second: a run of the library.
        train_hash: of the dataset that the library comes from; '' = the same dataset.
        library: counters, and normalisation over all runs of the library's dataset.
    """

    first: str
    second: str
    train_hash: str = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class AlignedRuns:
    """Two runs laid over each other.

    Attributes:
        first: name.
        second: name.
        step_s: of the grid.
        n_counters: that were compared.
        alignment: the path in samples.
    """

    first: str
    second: str
    step_s: float
    n_counters: int
    alignment: Alignment


def aligned_runs(frames: Mapping[str, pd.DataFrame], settings: AlignmentSettings, progress: Progress) -> AlignedRuns:
    """Return how a run of 'samples' goes together with one of 'train', or of 'samples' where there is none.

    Raises:
        SettingsError: when there is no such run.
    """
    samples = runs_of(frames["samples"], settings.library.counters)
    train = runs_of(frames["train"], samples.counters) if "train" in frames else samples
    known = fit_normaliser(train.runs, train.counters, settings.library.fingerprints)
    progress(0.5, "aligning")
    first = samples.runs[find_run(samples, settings.first)]
    second = train.runs[find_run(train, settings.second)]
    series = [normalised(run, known, settings.library.fingerprints).for_statistics for run in (first, second)]
    return AlignedRuns(first.name, second.name, samples.step_s, len(known.counters), alignment_of(*series))
