"""What is known and how it was changed by hand, what is asked about it, and what a library looks like."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.arrays import Floats, Ints
from workprof.phases.matching.thresholds import Threshold
from workprof.phases.settings import LibrarySettings

LEFT_OUT = ""


@dataclass(frozen=True)
class RunLabel:
    """A label given to a run by hand.

    Attributes:
        workload: of the run as recorded, '' where none was.
        run: its name.
        label: the workload that it counts as; '' = left out of the library.
    """

    workload: str
    run: str
    label: str


@dataclass(frozen=True)
class LibraryEdits:
    """All labels given by hand to runs of a dataset; runs that are not named keep theirs."""

    labels: tuple[RunLabel, ...] = ()

    def label_of(self, workload: str, run: str) -> str:
        """Return what a run counts as."""
        return next((one.label for one in self.labels if (one.workload, one.run) == (workload, run)), workload)


@dataclass(frozen=True)
class KnownMatchSettings:
    """Settings of one run matched with a library that may be changed by hand.

    Attributes:
        unknown: the run, as 'workload/run'; it is never part of the library.
        edits: of the library.
        train_hash: of the dataset that the library comes from; '' = the same dataset.
        library: of the others.
    """

    unknown: str
    edits: LibraryEdits = field(default_factory=LibraryEdits)
    train_hash: str = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class LibraryViewSettings:
    """Settings of a look at a library: its edits, and how its runs are compared."""

    edits: LibraryEdits = field(default_factory=LibraryEdits)
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class LibraryView:
    """A library to look at; runs are sorted by workload.

    Attributes:
        names: of the runs as recorded.
        workloads: what each counts as.
        n_phases: (n_runs,) phases of each run.
        distances_ed: (n_runs, n_runs) Euclidean over phases.
        distances_dtw: (n_runs, n_runs) warped over phases.
        thresholds: measure -> one per workload.
        c: measure -> standard deviations above the mean up to which a run is accepted.
        n_counters: that are compared.
        seconds: it took.
    """

    names: tuple[str, ...]
    workloads: tuple[str, ...]
    n_phases: Ints
    distances_ed: Floats
    distances_dtw: Floats
    thresholds: dict[str, tuple[Threshold, ...]]
    c: dict[str, float]
    n_counters: int
    seconds: float

    def distances(self, measure: str) -> Floats:
        """Return the distances of a measure, 'ed' or 'dtw'."""
        return self.distances_ed if measure == "ed" else self.distances_dtw
