"""How long a computation will take: a guess from the amount of work, set right by what earlier ones took here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workprof.core.errors import SettingsError
from workprof.core.records import Packed, unpack
from workprof.core.units import format_duration
from workprof.core.words import counted
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.profiles.settings import (
    EXACT_SILHOUETTE_ROWS,
    FEATURE_SETS,
    OPTICS_ROWS,
    ProfileSettings,
    clustered_rows,
    default_features,
)
from workprof.profiles.sweep import OPTICS_SWEEP_ROWS, GroupSettings, SweepSettings

Settings = TypeVar("Settings")

STARTING_S = 2.0
"""Of a child process, on top of the work."""

SECONDS_PER_PAIR_CELL = 1e-10
"""Of rows² × features for exact silhouettes."""

OPTICS_SECONDS_PER_PAIR = 1.5e-7
"""Of rows² in one run. Like every constant of a guess, taken on two cores of a small machine."""

LATEST = 9
"""Earlier runs that count: the newest ones, as machines and versions change."""

SHORTEST_S = 0.05
"""Shorter runs tell more about their overhead than about the work."""


@dataclass(frozen=True)
class EarlierRun:
    """A kept computation: hash and finished rows of its dataset, its settings as a document, its seconds."""

    dataset: str
    n_rows: int
    settings: Mapping[str, Any]
    seconds: float


def last_took(earlier: Sequence[EarlierRun], otherwise: str) -> str:
    """How long the newest computation of a step took; `otherwise` where there is none."""
    if not earlier:
        return otherwise
    return f"The last one here took {format_duration(earlier[0].seconds)} for {counted(earlier[0].n_rows, 'run')}."


SECONDS_PER_ROW = 0.003
LEAST_SECONDS = 10.0
"""Taken on two cores of a small machine; earlier trainings here set it right."""


def training_time(earlier: Sequence[EarlierRun], n_rows: int) -> str:
    """About what a training on so many runs takes, from the last one here."""
    if not earlier:
        guess = max(LEAST_SECONDS, SECONDS_PER_ROW * n_rows)
        return f"Training takes about {format_duration(float(f'{guess:.1g}'))} (estimate)."
    last = earlier[0]
    seconds = max(LEAST_SECONDS, last.seconds * n_rows / max(last.n_rows, 1))
    took = f"it took {format_duration(last.seconds)} for {counted(last.n_rows, 'run')} here"
    return f"Training takes about {format_duration(float(f'{seconds:.1g}'))} ({took})."


def computed_words(seconds: float, dataset_hash: str) -> str:
    """'computed in 3.1 s; dataset 0123abcd'."""
    return f"computed in {format_duration(seconds)}; dataset {dataset_hash[:8]}"


@dataclass(frozen=True)
class Pace:
    """How the work of this machine compares with the guess: measured / guessed seconds over `runs` earlier runs."""

    factor: float = 1.0
    runs: int = 0

    def words(self, seconds: float, what: str) -> str:
        """Return 'about 12 s (from 3 earlier fits here)', or that it is a guess."""
        ground = (
            f"from {counted(self.runs, f'earlier {what}')} here"
            if self.runs
            else f"a guess: no such {what} ran here yet"
        )
        return f"about {format_duration(float(round(seconds)))} ({ground})"


def pace(measured: Sequence[tuple[float, float]]) -> Pace:
    """Return the median of measured over guessed seconds of the newest runs; 1 where there are none.

    Args:
        measured: (guessed work, seconds) of earlier runs, newest first; both without the start of a process.
    """
    ratios = [seconds / guess for guess, seconds in measured if guess > 0 and seconds >= SHORTEST_S][:LATEST]
    return Pace(statistics.median(ratios), len(ratios)) if ratios else Pace()


def measured_with(
    earlier: Sequence[EarlierRun], cls: type[Settings], work: Callable[[Settings, int], float]
) -> list[tuple[Settings, float, float]]:
    """Return (settings, guessed work, seconds) of the earlier runs whose settings can still be read."""
    result = []
    for run in earlier:
        try:
            settings: Settings = unpack(cls, Packed(dict(run.settings), {}))
        except (KeyError, TypeError, ValueError, SettingsError):
            continue  # of another version: it can say nothing about this one
        result.append((settings, work(settings, run.n_rows), run.seconds))
    return result


FIT_SECONDS_PER_CELL = 1.6e-5
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
        for past, work, seconds in measured_with(_whole_fits(earlier), ProfileSettings, fit_work_s)
        if past.algorithm == settings.algorithm
    ]
    result = pace(alike)
    rows, columns = clustered_rows(settings, n_rows), _n_features(settings)
    text = result.words(STARTING_S + result.factor * fit_work_s(settings, n_rows), "fit")
    return f"{rows:,} runs × {columns} features: {text} in the background; the pages stay usable meanwhile."


def fit_work_s(settings: ProfileSettings, n_rows: int) -> float:
    """Return a guess of the seconds that the work takes, without the start of its process."""
    rows = clustered_rows(settings, n_rows)
    if settings.algorithm == "optics":
        return OPTICS_SECONDS_PER_PAIR * rows**2
    chosen = settings.silhouette or ("exact" if settings.mode == "faithful" or rows <= EXACT_SILHOUETTE_ROWS else "")
    exact = SECONDS_PER_PAIR_CELL * rows**2 * _n_features(settings) if chosen == "exact" else 0.0
    return FIT_SECONDS_PER_CELL * rows * _n_features(settings) + exact


def _n_features(settings: ProfileSettings) -> int:
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


GROUP_SECONDS_PER_CELL = 6e-6
"""Of rows × features in a group with one min_samples and sampled silhouettes."""

COUPLED_FACTOR = 3.0


def sweep_estimate(settings: SweepSettings, n_rows: int, earlier: Sequence[EarlierRun] = ()) -> str:
    """Return what there is to do and about how long it takes.

    Args:
        settings: of the sweep.
        n_rows: finished rows of the dataset.
        earlier: groups that this home has finished, newest first.
    """
    groups = settings.groups()
    tried = sum(len(group.sizes) for group in groups)
    work = f"{counted(tried, 'setting')} on {_group_rows(groups[0], n_rows):,} runs"
    sampled = any(group.algorithm == "optics" for group in groups) and _rows_of_optics(groups, n_rows) < n_rows
    also = f", OPTICS on {_rows_of_optics(groups, n_rows):,} of them" if sampled else ""
    return f"{work}{also}: {_time(groups, n_rows, earlier)} in the background; can be stopped and resumed."


def _time(groups: tuple[GroupSettings, ...], n_rows: int, earlier: Sequence[EarlierRun]) -> str:
    """Return the time in words; each algorithm has a pace of its own, the runs of both are counted."""
    past = measured_with(earlier, GroupSettings, _group_work_s)
    paces = {
        algorithm: pace([(work, seconds) for group, work, seconds in past if group.algorithm == algorithm])
        for algorithm in {group.algorithm for group in groups}
    }
    seconds = sum(STARTING_S + paces[group.algorithm].factor * _group_work_s(group, n_rows) for group in groups)
    known = all(one.runs for one in paces.values())
    return Pace(runs=sum(one.runs for one in paces.values()) if known else 0).words(seconds, "fit")


def _group_rows(group: GroupSettings, n_rows: int) -> int:
    if group.algorithm == "optics":
        return min(n_rows, group.sample_rows or min(OPTICS_ROWS, OPTICS_SWEEP_ROWS))
    return clustered_rows(group.of_size(group.sizes[0]), n_rows)


def _rows_of_optics(groups: tuple[GroupSettings, ...], n_rows: int) -> int:
    return next(_group_rows(group, n_rows) for group in groups if group.algorithm == "optics")


def _group_work_s(group: GroupSettings, n_rows: int) -> float:
    """Return a guess of the seconds that a group takes, without the start of its process."""
    rows, columns = _group_rows(group, n_rows), len(FEATURE_SETS.get(group.features[0], group.features))
    if group.algorithm == "optics":
        return len(group.sizes) * OPTICS_SECONDS_PER_PAIR * rows**2
    neighbours = GROUP_SECONDS_PER_CELL * rows * columns * (1.0 if group.min_samples else COUPLED_FACTOR)
    exact = len(group.sizes) * SECONDS_PER_PAIR_CELL * rows**2 * columns if group.silhouette == "exact" else 0.0
    return neighbours + exact


SECONDS_PER_FOLD = 0.7
SECONDS_PER_ROW_AND_FOLD = 1e-4
"""Taken on two cores of a small machine; earlier runs here set it right."""


def evaluation_estimate(settings: EstimateEvaluationSettings, n_rows: int, earlier: Sequence[EarlierRun] = ()) -> str:
    """Return '10 folds on 686 finished runs: about 12 s (...)'."""
    here = pace(
        [(guess, seconds) for _, guess, seconds in measured_with(earlier, EstimateEvaluationSettings, _test_work_s)]
    )
    seconds = STARTING_S + here.factor * _test_work_s(settings, n_rows)
    n_folds = _n_folds(settings)
    words = f"{n_folds} folds" if n_folds > 1 else "one fold"
    return f"{words.capitalize()} on {n_rows:,} finished runs: {here.words(seconds, 'evaluation')}."


def _n_folds(settings: EstimateEvaluationSettings) -> int:
    return 1 if settings.estimates.split == "by_time" else settings.estimates.n_folds


def _test_work_s(settings: EstimateEvaluationSettings, n_rows: int) -> float:
    return _n_folds(settings) * (SECONDS_PER_FOLD + SECONDS_PER_ROW_AND_FOLD * n_rows)
