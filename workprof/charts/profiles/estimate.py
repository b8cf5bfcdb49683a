"""How long a clustering will take, from its rows and columns and from earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from workprof.charts.estimate import (
    OPTICS_SECONDS_PER_PAIR,
    SECONDS_PER_PAIR_CELL,
    STARTING_S,
    EarlierRun,
    measured_with,
    pace,
)
from workprof.profiles.settings import (
    EXACT_SILHOUETTE_ROWS,
    FEATURE_SETS,
    ProfileSettings,
    clustered_rows,
    default_features,
)

SECONDS_PER_CELL = 1.6e-5
"""Of rows × features, fit and scores together, on one core of a small machine (100,001 × 10: about 16 s)."""

CUT = ("min_cluster_size", "method", "epsilon", "target_clusters", "silhouette", "seed")
"""Settings that a kept tree is cut again for: such a run takes a second and is no measure of a fit."""


def fit_estimate(settings: ProfileSettings, n_rows: int, earlier: Sequence[EarlierRun] = ()) -> str:
    """Return what there is to do and about how long it takes.

    Args:
        settings: as asked.
        n_rows: finished rows of the dataset.
        earlier: fits of this home, newest first.
    """
    alike = [
        (work, seconds)
        for past, work, seconds in measured_with(_whole_fits(earlier), ProfileSettings, work_s)
        if past.algorithm == settings.algorithm
    ]
    found = pace(alike)
    rows, columns = clustered_rows(settings, n_rows), _columns(settings)
    told = found.words(STARTING_S + found.factor * work_s(settings, n_rows), "fit")
    return f"{rows:,} rows × {columns} features: {told} in the background; the pages stay usable meanwhile."


def work_s(settings: ProfileSettings, n_rows: int) -> float:
    """Return a guess of the seconds that the work takes, without the start of its process."""
    rows = clustered_rows(settings, n_rows)
    if settings.algorithm == "optics":
        return OPTICS_SECONDS_PER_PAIR * rows**2
    chosen = settings.silhouette or ("exact" if settings.mode == "faithful" or rows <= EXACT_SILHOUETTE_ROWS else "")
    exact = SECONDS_PER_PAIR_CELL * rows**2 * _columns(settings) if chosen == "exact" else 0.0
    return SECONDS_PER_CELL * rows * _columns(settings) + exact


def _columns(settings: ProfileSettings) -> int:
    chosen = settings.features or default_features(settings.mode)
    return len(FEATURE_SETS.get(chosen[0], chosen))


def _whole_fits(earlier: Sequence[EarlierRun]) -> list[EarlierRun]:
    """Return the longest run of each tree: the others were cut from it."""
    longest: dict[str, EarlierRun] = {}
    for run in earlier:
        tree = repr(
            (run.dataset, sorted((name, repr(value)) for name, value in run.settings.items() if name not in CUT))
        )
        if tree not in longest or run.seconds > longest[tree].seconds:
            longest[tree] = run
    return list(longest.values())
