"""Change points of series that are handed over as they are, with their names."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.errors import SettingsError
from workprof.core.shown import Shown
from workprof.phases.changepoints import DEFAULT, ChangePoints, ChangePointSettings, change_points


@dataclass(frozen=True)
class Stretch:
    """A phase of one series."""

    sample: int  # 0-based number of its first sample
    series: str  # name
    phase: int  # its place, 1 = the first
    samples: int  # how many it has, missing ones among them
    mean: float  # and `sd`: of the samples that are there; NaN where there is none
    sd: float
    agreement: float  # share of the series that change within one sample of its first, 0-1


@dataclass(frozen=True, repr=False)
class SeriesChanges(Shown):
    """Where the phases of some series begin."""

    settings: ChangePointSettings  # of the search
    names: tuple[str, ...]  # (n_series,)
    values: Floats  # (n_series, T) as given
    change_points: ChangePoints  # times and agreement of each
    notes: tuple[str, ...] = ()  # what of a table was no series, in words

    @property
    def changes(self) -> dict[str, list[int]]:
        """Series -> 0-based numbers of the samples at which a new phase begins."""
        return {name: own.tolist() for name, own in zip(self.names, self.change_points.changes, strict=True)}

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Every phase of every series, in the order of the series."""
        result = []
        for place, name in enumerate(self.names):
            edges = [0, *self.change_points.boundaries_of(place).tolist(), self.change_points.n_samples]
            for phase, (first, end) in enumerate(itertools.pairwise(edges), start=1):
                own = self.values[place, first:end]
                own = own[np.isfinite(own)]
                mean, sd = (float(own.mean()), float(own.std())) if len(own) else (float("nan"), float("nan"))
                agreement = float(self.change_points.agreement[first]) if first else 0.0
                result.append(Stretch(first, name, phase, end - first, mean, sd, agreement))
        return tuple(result)


def changes_of_series(values: Floats, names: Sequence[str], settings: ChangePointSettings = DEFAULT) -> SeriesChanges:
    """Where the phases of each series begin, of (n_series, T) with NaN = missing; see `changepoints.change_points`.

    Raises:
        SettingsError: when there are not as many names as series, or two are the same.
        NotEnoughData: when `values` is no table.
    """
    if len(names) != len(values):
        raise SettingsError(f"there are {len(values)} series and {len(names)} names; give one name each")
    if len(set(names)) < len(names):
        raise SettingsError(f"two series are named {max(names, key=list(names).count)!r}; give each its own name")
    return SeriesChanges(settings, tuple(names), values, change_points(values, settings))
