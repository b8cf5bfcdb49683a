"""Bins of a profile: the runs of a group of like jobs, sized together whatever their tasks are."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.errors import NotEnoughData, SettingsError
from workprof.memory.bins.bins import Bins, bins_of
from workprof.memory.bins.improvement import ImprovementCurve, improvement_curve
from workprof.memory.bins.settings import BinSettings
from workprof.memory.flat_requests import requesting, with_flat_request
from workprof.memory.runs import Runs, runs_of
from workprof.memory.tasks.assessment import FEWEST_RUNS
from workprof.memory.tasks.request_groups import wasted_gb_h
from workprof.progress import Progress, silent
from workprof.units import GB

if TYPE_CHECKING:
    import pandas as pd

PROFILE_COLUMN = "profile of the clustering"
"""Column of the jobs' table with the label of each row: -1 = outlier, NaN = not clustered. No store has such a name."""

LEAST_RUNS = 10
"""Below it every edge is one run's own size."""


@dataclass(frozen=True)
class ProfileBinSettings:
    """Settings of the bins of a profile.

    Attributes:
        profile: label in its clustering, 0 or more.
        bins: how edges are searched, or the edges; its task stays empty, as the profile stands in its place.

    Raises:
        SettingsError: for the outliers, which are no profile, and for a task.
    """

    profile: int
    bins: BinSettings = field(default_factory=BinSettings)

    def __post_init__(self) -> None:
        if self.profile < 0:
            raise SettingsError(f"profile is {self.profile}; outliers are no profile, give 0 or more")
        if self.bins.task:
            raise SettingsError(f"bins are of a task or of a profile; leave the task {self.bins.task!r} out")


@dataclass(frozen=True)
class ProfileTask:
    """A task among the runs of a profile, and how many of them are its own."""

    task: str
    n_runs: int


@dataclass(frozen=True)
class ProfileBins:
    """Bins of a profile.

    Attributes:
        settings: as asked.
        bins: of its runs that have a request and a known use; its settings name no task.
        n_rows: rows of the profile.
        n_not_clustered: rows of the table that no clustering has seen; they are in no profile.
        tasks: of the runs that the bins are made from, the most frequent first.
        requested_gb_h: GB·h that these runs ask for.
        used_gb_h: GB·h that they use.
        wasted_gb_h: GB·h asked for and not used; runs that use more than they ask for waste nothing.
        too_few: whether there are fewer than `FEWEST_RUNS` of them.
        seconds: of the computation.
    """

    settings: ProfileBinSettings
    bins: Bins
    n_rows: int
    n_not_clustered: int
    tasks: tuple[ProfileTask, ...]
    requested_gb_h: float
    used_gb_h: float
    wasted_gb_h: float
    too_few: bool
    seconds: float


def profile_bins_of(
    frames: Mapping[str, pd.DataFrame], settings: ProfileBinSettings, progress: Progress = silent
) -> ProfileBins:
    """Return the bins of a profile: those of `bins_of` on its rows alone.

    Args:
        frames: 'jobs' -> the table, see `bins_of`, with `PROFILE_COLUMN`.
        settings: which profile, how edges are searched.
        progress: told once.

    Raises:
        SettingsError: for a profile that is not there, or edges that are no sizes.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when fewer than `LEAST_RUNS` of its runs have a request and a known use.
    """
    started = time.perf_counter()
    jobs = _members(frames["jobs"], settings.profile)
    runs = _sized_runs(jobs, settings)
    requested, used = runs.requested_bytes / GB, runs.used_bytes / GB
    return ProfileBins(
        settings=settings,
        bins=bins_of({"jobs": jobs}, settings.bins, progress),
        n_rows=len(jobs),
        n_not_clustered=int(frames["jobs"][PROFILE_COLUMN].isna().sum()),
        tasks=_tasks(runs),
        requested_gb_h=float((requested * runs.hours).sum()),
        used_gb_h=float((used * runs.hours).sum()),
        wasted_gb_h=wasted_gb_h(runs),
        too_few=len(runs) < FEWEST_RUNS,
        seconds=time.perf_counter() - started,
    )


def profile_curve_of(
    frames: Mapping[str, pd.DataFrame], settings: ProfileBinSettings, progress: Progress = silent
) -> ImprovementCurve:
    """Return the savings of one to eight bins of a profile: those of `improvement_curve` on its rows alone.

    Raises:
        SettingsError, ColumnMissing, NotEnoughData: as `profile_bins_of`.
    """
    jobs = _members(frames["jobs"], settings.profile)
    _sized_runs(jobs, settings)
    return improvement_curve({"jobs": jobs}, settings.bins, progress)


def without_edges(settings: ProfileBinSettings) -> ProfileBinSettings:
    """Return the settings of the curve, in which edges of one's own do not matter."""
    return replace(settings, bins=replace(settings.bins, edges_bytes=()))


def _members(jobs: pd.DataFrame, profile: int) -> pd.DataFrame:
    """Return the rows of a profile."""
    labels = jobs[PROFILE_COLUMN].to_numpy(dtype=np.float64)
    found: pd.DataFrame = jobs[labels == profile]
    if not len(found):
        known = labels[labels >= 0]
        there = f"profiles 0 to {known.max():.0f}" if len(known) else "no profile, only outliers"
        raise SettingsError(f"there is no profile {profile}; this clustering has {there}")
    return found


def _sized_runs(jobs: pd.DataFrame, settings: ProfileBinSettings) -> Runs:
    """Return the runs that bins can be made from.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when there are too few of them.
    """
    try:
        runs = requesting(with_flat_request(runs_of(jobs, settings.bins.target), settings.bins.request_bytes))
        n_runs = len(runs)
    except NotEnoughData:
        n_runs = 0
    if n_runs < LEAST_RUNS:
        raise NotEnoughData(
            f"{n_runs} of the {len(jobs):,} runs of profile {settings.profile} have a request, a use of memory and a "
            f"run time; bins need {LEAST_RUNS}: choose another profile, or give one request for all"
        )
    return runs


def _tasks(runs: Runs) -> tuple[ProfileTask, ...]:
    counts = np.bincount(runs.task, minlength=len(runs.tasks)).tolist()
    found = [ProfileTask(name, count) for name, count in zip(runs.tasks, counts, strict=True) if count]
    return tuple(sorted(found, key=lambda one: -one.n_runs))
