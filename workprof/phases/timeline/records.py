"""What is asked about the timeline of a run, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.errors import SettingsError
from workprof.phases.fingerprints import Fingerprint
from workprof.phases.library import LibrarySettings

EVERY_COUNTER = ""


@dataclass(frozen=True)
class OwnBoundaries:
    """Boundaries set by hand, in the place of those that are found.

    Attributes:
        counter: name, '' = every counter.
        at_s: times as recorded, at which a new phase begins; () = one phase.
    """

    counter: str
    at_s: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(np.isfinite(self.at_s)):
            raise SettingsError(f"boundaries are {self.at_s}; give seconds as finite numbers")


@dataclass(frozen=True)
class TimelineSettings:
    """Settings of a look at one run.

    Attributes:
        run: 'run' or 'workload/run'; '' = the first.
        from_s: where the stretch begins, as recorded; None = with the run.
        to_s: where it ends; None = with the run.
        own: boundaries set by hand.
        library: counters, normalisation over all runs of the dataset, and how phases are found.
    """

    run: str = ""
    from_s: float | None = None
    to_s: float | None = None
    own: tuple[OwnBoundaries, ...] = ()
    library: LibrarySettings = field(default_factory=LibrarySettings)

    def __post_init__(self) -> None:
        if self.from_s is not None and self.to_s is not None and not self.from_s < self.to_s:
            raise SettingsError(f"the window is {self.from_s:g} to {self.to_s:g} s; give an end after its beginning")


@dataclass(frozen=True)
class Timeline:
    """A look at one run.

    Attributes:
        counters: names, in the order of the arrays.
        step_s: of the grid.
        start_s: where the stretch begins, as recorded.
        run_from_s: where the run begins.
        run_to_s: where it ends.
        recorded: (n_counters, T) values as recorded, NaN = missing.
        fingerprint: of the stretch.
        statistics: names of its last axis.
        agreement: (T,) share of the usable counters with a change within one sample, 0-1.
        movement: (n_counters,) variance of the normalised counter in the stretch: 1 = as over all runs.
        edited: (n_counters,) the boundaries were set by hand.
        hazard_samples: expected length of a phase that was assumed.
        notes: what was done to the samples, and what could not be.
        seconds: it took.
    """

    counters: tuple[str, ...]
    step_s: float
    start_s: float
    run_from_s: float
    run_to_s: float
    recorded: Floats
    fingerprint: Fingerprint
    statistics: tuple[str, ...]
    agreement: Floats
    movement: Floats
    edited: Bools
    hazard_samples: float
    notes: tuple[str, ...]
    seconds: float

    @property
    def end_s(self) -> float:
        """Where the stretch ends, as recorded."""
        return self.start_s + int(self.recorded.shape[1]) * self.step_s

    @property
    def times_s(self) -> Floats:
        """(T,) end of each step, as recorded."""
        return np.asarray(self.start_s + (np.arange(self.recorded.shape[1]) + 1) * self.step_s, dtype=np.float64)

    def boundaries_s(self, counter: int) -> Floats:
        """Return where new phases of a counter begin (n,), as recorded."""
        return np.asarray(self.start_s + self.fingerprint.boundaries_of(counter) * self.step_s, dtype=np.float64)

    def statistic(self, name: str) -> Floats:
        """Return one statistic of every phase (n_counters, q), zero beyond a counter's own phases."""
        result: Floats = self.fingerprint.values[:, :, self.statistics.index(name)]
        return result
