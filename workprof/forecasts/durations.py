"""How long jobs took (or what they used): an ECDF of all rows and one per group, each with a band.

The band is that of Dvoretzky, Kiefer and Wolfowitz with Massart's constant: the whole true curve lies inside it with
the stated confidence when rows are independent. Rows of one job are not: where jobs are named, the rows are replaced
by their effective number of jobs, as if the rows of a job were copies of each other. Curves are thinned for drawing but
exact in their tails.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.estimates import Target

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 30
"""Groups with a smaller effective sample size are flagged: too few to compare."""

MOST_POINTS = 2_000
TAIL_POINTS = 250
"""Of the points of a thinned curve: the smallest and the largest values, each kept."""


@dataclass(frozen=True)
class DurationCurve:
    """The ECDF of one group."""

    name: str  # value of the grouping column; 'other' and 'all' for the sums
    n_merged: int  # groups that 'other' stands for, else 0
    n_rows: int  # rows
    n_effective: float  # rows as the band counts them (see `effective_rows`)
    few: bool  # worth fewer than `FEWEST_ROWS` independent rows, as every group with fewer rows is
    points: Floats  # (n_points,) distinct values, rising, in the target's unit
    shares: Floats  # (n_points,) share of the rows at or below each point; the last is 1
    grid_step: float  # largest share between two neighbours where values were left out; 0 = every value is there
    band: float  # half-width of the band, in shares; the band is cut to 0-1


def share_within(curve: DurationCurve, limit: float) -> float:
    """Return the share of rows at or below a limit (low by less than `curve.grid_step` where values were left out)."""
    at = int(np.searchsorted(curve.points, limit, side="right"))
    return float(curve.shares[at - 1]) if at else 0.0


def value_at(curve: DurationCurve, share: float) -> float:
    """Return the smallest kept value that at least a share of the rows does not exceed ('80 % finish within ...')."""
    at = int(np.searchsorted(curve.shares, share - 1e-12, side="left"))
    return float(curve.points[min(at, len(curve.points) - 1)])


def effective_rows(counts: Ints) -> float:
    """Return the number of independent rows that rows of jobs are worth if a job's rows were copies of each other.

    Args:
        counts: rows of each job.

    Source:
        Kish's effective sample size, (sum of counts)^2 / (sum of squares): with it Hoeffding's inequality holds at each
        point for fully dependent rows, so the band is cautious where they are less so.
    """
    return float(counts.sum() ** 2 / np.square(counts, dtype=np.float64).sum())


def band_half_width(n_effective: float, confidence: float) -> float:
    """Return sqrt(ln(2 / (1 - confidence)) / (2 n)).

    Source:
        Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality.
    """
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n_effective))


def thinned(values: Floats) -> tuple[Floats, Floats, float]:
    """Return distinct values, the share at or below each, and the largest share skipped between two neighbours."""
    distinct, counts = np.unique(values, return_counts=True)
    shares = np.cumsum(counts) / len(values)
    shares[-1] = 1.0
    if len(distinct) <= MOST_POINTS:
        return distinct, shares, 0.0
    last = len(distinct) - 1 - TAIL_POINTS
    levels = np.linspace(shares[TAIL_POINTS - 1], shares[last], MOST_POINTS - 2 * TAIL_POINTS)
    inner = np.searchsorted(shares, levels, side="left")
    chosen = np.unique(np.concatenate([np.arange(TAIL_POINTS), inner, np.arange(last + 1, len(distinct))]))
    skipped = np.diff(shares[chosen])[np.diff(chosen) > 1]
    return distinct[chosen], shares[chosen], float(skipped.max(initial=0.0))


EVERYTHING = "all"
GROUPINGS = ("profile", "user", "task_name", "workload", "group", EVERYTHING)
GROUPINGS_SHOWN = {
    "profile": "Profile",
    "user": "User",
    "task_name": "Task",
    "workload": "Workload",
    "group": "Group",
    EVERYTHING: "All runs together",
}
PROFILE, JOB = "profile", "job_name"
OTHER = "other"

MOST_GROUPS = 12


@settings
class DurationSettings:
    """Settings of the observed curves."""

    by: Annotated[
        str,
        Setting(
            "The 12 largest groups, and the others together.",
            choices=GROUPINGS,
            shown=GROUPINGS_SHOWN,
            label="Group by",
        ),
    ] = PROFILE
    target: Target = "duration_s"
    confidence: Annotated[
        float,
        Setting(
            "That the band holds the whole true curve.",
            unit="share",
            least=0.5,
            below=1,
            label="Confidence of the bands",
        ),
    ] = 0.95


def without_profiles(settings: DurationSettings, columns: Collection[str]) -> DurationSettings:
    """Return the settings of a table in which no profiles are found: by task where there is one, else all runs."""
    return replace(settings, by="task_name" if "task_name" in columns else EVERYTHING)


@dataclass(frozen=True, repr=False)
class ObservedDurations(Shown):
    """The curves of a dataset."""

    settings: DurationSettings  # as given
    everything: DurationCurve  # the curve of all rows
    groups: tuple[DurationCurve, ...]  # the largest first, at most `MOST_GROUPS`, then 'other'
    n_rows: int  # rows with a usable value
    n_missing: int  # rows without a value
    n_negative: int  # rows below zero
    n_zero: int  # rows of exactly zero seconds; of other targets zeros are kept, and 0 stands here
    n_without_group: int  # usable rows without a value in the grouping column; they are in `everything` only
    seconds: float  # of the computation
    notes: tuple[str, ...] = ()  # what to know about the rows, in words

    @property
    def n_left_out(self) -> int:
        """Rows that no curve has."""
        return self.n_missing + self.n_negative + self.n_zero


def observed_durations(
    frames: Mapping[str, pd.DataFrame], settings: DurationSettings, progress: Progress = silent
) -> ObservedDurations:
    """Return the ECDFs of a target, of all rows and per group.

    Args:
        frames: 'jobs' -> the table with the target and the grouping column; 'job_name' makes the bands honest.
        settings: target, groups, confidence.
        progress: told once.

    Raises:
        ColumnMissing: when the target or the grouping column is absent.
        NotEnoughData: when no row has a usable value.
    """
    started = time.perf_counter()
    progress(None, "Ordering the values")
    jobs = frames["jobs"]
    if settings.target not in jobs.columns:
        raise ColumnMissing(f"the table has no column {settings.target}; choose another target")
    if settings.by != EVERYTHING and settings.by not in jobs.columns:
        hint = "find profiles first" if settings.by == PROFILE else "choose other groups"
        raise ColumnMissing(f"the table has no column {settings.by}; {hint}")
    values = numbers_of(jobs, settings.target)
    missing, negative = np.isnan(values), values < 0
    zero = (values == 0) & (settings.target == "duration_s")  # no job takes no time; no use of a GPU is a measurement
    usable = ~(missing | negative | zero)
    if not usable.any():
        raise NotEnoughData(f"none of {len(values):,} rows has a usable {settings.target}; choose another target")
    codes = None  # of the jobs, -1 where a row names none
    if JOB in jobs.columns:
        codes = jobs[JOB].loc[usable].astype("object").factorize(use_na_sentinel=True)[0].astype(np.int64)
    rows = _Rows(values[usable], codes, settings.confidence)
    groups, n_without = _groups(jobs, usable, rows, settings.by)
    return ObservedDurations(
        settings=settings,
        everything=rows.curve(EVERYTHING, np.ones(len(rows.values), dtype=bool)),
        groups=groups,
        n_rows=len(rows.values),
        n_missing=int(missing.sum()),
        n_negative=int(negative.sum()),
        n_zero=int(zero.sum()),
        n_without_group=n_without,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True)
class _Rows:
    """The usable rows: values, codes of their jobs (None where jobs have no names), confidence of the bands."""

    values: Floats
    jobs: Ints | None
    confidence: float

    def curve(self, name: str, own: Bools, n_merged: int = 0) -> DurationCurve:
        """Return the curve of some of the rows."""
        n_rows = int(own.sum())
        worth = float(n_rows) if self.jobs is None else effective_rows(_job_sizes(self.jobs[own]))
        values, shares, step = thinned(self.values[own])
        band = band_half_width(worth, self.confidence)
        return DurationCurve(name, n_merged, n_rows, worth, worth < FEWEST_ROWS, values, shares, step, band)


def _job_sizes(jobs: Ints) -> Ints:
    """Return the rows of each job; a row without a job's name is a job of its own."""
    named = np.bincount(jobs[jobs >= 0])
    return np.concatenate([named[named > 0], np.ones(int((jobs < 0).sum()), dtype=np.int64)])


def _groups(jobs: pd.DataFrame, usable: Bools, rows: _Rows, by: str) -> tuple[tuple[DurationCurve, ...], int]:
    if by == EVERYTHING:
        return (), 0
    named = jobs[by].loc[usable].astype("object").reset_index(drop=True)
    sizes = named.value_counts()
    by_size = sorted(sizes.items(), key=lambda item: (-item[1], str(item[0])))
    curves = []
    for value, _ in by_size[:MOST_GROUPS]:
        name = str(int(float(str(value)))) if by == PROFILE else str(value)
        curves.append(rows.curve(name, (named == value).to_numpy(dtype=bool)))
    rest = [value for value, _ in by_size[MOST_GROUPS:]]
    if rest:
        curves.append(rows.curve(OTHER, named.isin(rest).to_numpy(dtype=bool), n_merged=len(rest)))
    return tuple(curves), int(named.isna().sum())
