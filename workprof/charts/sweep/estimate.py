"""How long a sweep will take, as a guess from the rows, the columns and the kind of work."""

from __future__ import annotations

from collections.abc import Sequence

from workprof.charts.estimate import (
    OPTICS_SECONDS_PER_PAIR,
    SECONDS_PER_PAIR_CELL,
    STARTING_S,
    EarlierRun,
    Pace,
    measured_with,
    pace,
)
from workprof.charts.text import counted
from workprof.profiles.settings import FEATURE_SETS, OPTICS_ROWS, clustered_rows
from workprof.profiles.sweep import OPTICS_SWEEP_ROWS, GroupSettings, SweepSettings

SECONDS_PER_CELL = 6e-6
"""Of rows × features in a group with one min_samples and sampled silhouettes."""

COUPLED_FACTOR = 3.0


def estimate(settings: SweepSettings, n_rows: int, earlier: Sequence[EarlierRun] = ()) -> str:
    """Return what there is to do and about how long it takes.

    Args:
        settings: of the sweep.
        n_rows: finished rows of the dataset.
        earlier: groups that this home has finished, newest first.
    """
    groups = settings.groups()
    runs = sum(len(group.sizes) for group in groups)
    work = f"{counted(runs, 'run')} in {counted(len(groups), 'group')} on {_rows(groups[0], n_rows):,} rows"
    sampled = any(group.algorithm == "optics" for group in groups) and _rows_of_optics(groups, n_rows) < n_rows
    also = f", OPTICS on {_rows_of_optics(groups, n_rows):,} of them" if sampled else ""
    return (
        f"{work}{also}: {_time(groups, n_rows, earlier)} in the background; finished groups are kept, "
        "so a stopped sweep goes on where it was."
    )


def _time(groups: tuple[GroupSettings, ...], n_rows: int, earlier: Sequence[EarlierRun]) -> str:
    """Return the time in words; each algorithm has a pace of its own, the runs of both are counted."""
    past = measured_with(earlier, GroupSettings, _work_s)
    paces = {
        algorithm: pace([(work, seconds) for group, work, seconds in past if group.algorithm == algorithm])
        for algorithm in {group.algorithm for group in groups}
    }
    seconds = sum(STARTING_S + paces[group.algorithm].factor * _work_s(group, n_rows) for group in groups)
    known = all(found.runs for found in paces.values())
    return Pace(runs=sum(found.runs for found in paces.values()) if known else 0).words(seconds, "group")


def _rows(group: GroupSettings, n_rows: int) -> int:
    if group.algorithm == "optics":
        return min(n_rows, group.sample_rows or min(OPTICS_ROWS, OPTICS_SWEEP_ROWS))
    return clustered_rows(group.of_size(group.sizes[0]), n_rows)


def _rows_of_optics(groups: tuple[GroupSettings, ...], n_rows: int) -> int:
    return next(_rows(group, n_rows) for group in groups if group.algorithm == "optics")


def _work_s(group: GroupSettings, n_rows: int) -> float:
    """Return a guess of the seconds that a group takes, without the start of its process."""
    rows, columns = _rows(group, n_rows), len(FEATURE_SETS.get(group.features[0], group.features))
    if group.algorithm == "optics":
        return len(group.sizes) * OPTICS_SECONDS_PER_PAIR * rows**2
    neighbours = SECONDS_PER_CELL * rows * columns * (1.0 if group.min_samples else COUPLED_FACTOR)
    exact = len(group.sizes) * SECONDS_PER_PAIR_CELL * rows**2 * columns if group.silhouette == "exact" else 0.0
    return neighbours + exact
