"""How long a sweep will take, as a guess from the rows, the columns and the kind of work."""

from __future__ import annotations

from workprof.charts.text import counted
from workprof.profiles.settings import FEATURE_SETS, OPTICS_ROWS, clustered_rows
from workprof.profiles.sweep_settings import OPTICS_SWEEP_ROWS, GroupSettings, SweepSettings
from workprof.units import format_duration

STARTING_S = 2.0
SECONDS_PER_CELL = 6e-6
"""Of rows × features in a group with one min_samples and sampled silhouettes."""

COUPLED_FACTOR = 3.0
SECONDS_PER_PAIR_CELL = 1e-10
"""Of rows² × features in one run with exact silhouettes."""

OPTICS_SECONDS_PER_PAIR = 1.5e-7
"""Of rows² in one run. All five were taken on two cores of a small machine; they are guesses elsewhere."""


def estimate(settings: SweepSettings, n_rows: int) -> str:
    """Return what there is to do and about how long it takes.

    Args:
        settings: of the sweep.
        n_rows: finished rows of the dataset.
    """
    groups = settings.groups()
    runs = sum(len(group.sizes) for group in groups)
    seconds = sum(_group_seconds(group, n_rows) for group in groups)
    work = f"{counted(runs, 'run')} in {counted(len(groups), 'group')} on {_rows(groups[0], n_rows):,} rows"
    sampled = any(group.algorithm == "optics" for group in groups) and _rows_of_optics(groups, n_rows) < n_rows
    also = f", OPTICS on {_rows_of_optics(groups, n_rows):,} of them" if sampled else ""
    return (
        f"{work}{also}: about {format_duration(float(round(seconds)))} in the background; finished groups are kept, "
        "so a stopped sweep goes on where it was."
    )


def _rows(group: GroupSettings, n_rows: int) -> int:
    if group.algorithm == "optics":
        return min(n_rows, group.sample_rows or min(OPTICS_ROWS, OPTICS_SWEEP_ROWS))
    return clustered_rows(group.of_size(group.sizes[0]), n_rows)


def _rows_of_optics(groups: tuple[GroupSettings, ...], n_rows: int) -> int:
    return next(_rows(group, n_rows) for group in groups if group.algorithm == "optics")


def _group_seconds(group: GroupSettings, n_rows: int) -> float:
    rows, columns = _rows(group, n_rows), len(FEATURE_SETS.get(group.features[0], group.features))
    if group.algorithm == "optics":
        return STARTING_S + len(group.sizes) * OPTICS_SECONDS_PER_PAIR * rows**2
    neighbours = SECONDS_PER_CELL * rows * columns * (1.0 if group.min_samples else COUPLED_FACTOR)
    exact = len(group.sizes) * SECONDS_PER_PAIR_CELL * rows**2 * columns if group.silhouette == "exact" else 0.0
    return STARTING_S + neighbours + exact
