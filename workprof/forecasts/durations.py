"""How long jobs took (or what they used): an ECDF of all rows and one per group, each with a band.

The band is that of Dvoretzky, Kiefer and Wolfowitz with Massart's constant: the whole true curve lies inside it with
the stated confidence when rows are independent. Rows of one job are not: where jobs are named, the rows are replaced
by their effective number of jobs, as if the rows of a job were copies of each other. Curves are thinned for drawing but
exact in their tails.

Finished runs alone make long runs seem rarer than they are: the longest are those that are cut short. Durations of runs
that timed out, were cancelled or still run are therefore lower bounds (right-censored) in the curve of Kaplan and
Meier, whose band is that of Hall and Wellner; it holds for many runs. Runs that failed or were killed for memory are
left out: how long they would have taken, what they did says little of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present, numbers_of
from workprof.core.causes import CAUSES, KILLED, RUNNING, TIMED_OUT, ends_of
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.censored import kaplan_meier
from workprof.forecasts.estimates import CENSORED, LEFT_OUT, Target

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 30
"""Groups with a smaller effective sample size are flagged: too few to compare."""

MOST_POINTS = 2_000
TAIL_POINTS = 250
"""Of the points of a thinned curve: the smallest and the largest values, each kept."""


@dataclass(frozen=True)
class DurationCurve:
    """The cumulative distribution of one group: of Kaplan and Meier where runs are censored, else the ECDF."""

    name: str  # value of the grouping column; 'other' and 'all' for the sums
    n_merged: int  # groups that 'other' stands for, else 0
    n_rows: int  # rows
    n_effective: float  # rows as the band counts them (see `effective_rows`)
    few: bool  # worth fewer than `FEWEST_ROWS` independent rows, as every group with fewer rows is
    points: Floats  # (n_points,) distinct values, rising, in the target's unit
    shares: Floats  # (n_points,) share of the rows at or below each point; the last is 1 unless the largest is censored
    grid_step: float  # largest share between two neighbours where values were left out; 0 = every value is there
    band: float  # half-width of the band, in shares, where nothing is censored yet; the band is cut to 0-1
    longest: float  # largest value, of runs that were cut short too; what shares lie above it is known where all ended
    n_censored: int = 0  # of the rows: runs that were cut short, which took at least their value
    widening: Floats | None = None  # (n_points,) times `band`: half-width at each point; None = 1 everywhere
    finished: DurationCurve | None = None  # of the finished runs alone, where others are censored and some finished


def share_within(curve: DurationCurve, limit: float) -> float:
    """The share of rows at or below a limit (low by less than `curve.grid_step` where values were left out).

    It is the least share where the curve is not `known_at` the limit.
    """
    at = int(np.searchsorted(curve.points, limit, side="right"))
    return float(curve.shares[at - 1]) if at else 0.0


def known_at(curve: DurationCurve, limit: float) -> bool:
    """Whether the share at or below a limit is known: past every run, it is where the longest one finished."""
    return limit <= curve.longest or curve.shares[-1] == 1


def value_at(curve: DurationCurve, share: float) -> float:
    """The smallest kept value that at least a share of the rows does not exceed ('80 % finish within ...').

    Infinite where the runs were cut short before so many had finished: it is above `curve.longest`.
    """
    at = int(np.searchsorted(curve.shares, share - 1e-12, side="left"))
    if at == len(curve.points) and curve.n_censored:
        return math.inf
    return float(curve.points[min(at, len(curve.points) - 1)])


def band_at(curve: DurationCurve, share: float) -> float:
    """The half-width of the band where the curve reaches a share, or ends below it; at most 1.

    It is the same everywhere where no run was cut short.
    """
    at = min(int(np.searchsorted(curve.shares, share - 1e-12, side="left")), len(curve.points) - 1)
    return min(curve.band * (1.0 if curve.widening is None else float(curve.widening[at])), 1.0)


def effective_rows(counts: Ints) -> float:
    """The number of independent rows that rows of jobs are worth if a job's rows were copies of each other.

    Source: Kish's effective sample size, (sum of counts)^2 / (sum of squares): with it Hoeffding's inequality holds at
    each point for fully dependent rows, so the band is cautious where they are less so.
    """
    return float(counts.sum() ** 2 / np.square(counts, dtype=np.float64).sum())


def band_half_width(n_effective: float, confidence: float) -> float:
    """sqrt(ln(2 / (1 - confidence)) / (2 n)).

    Source: Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality.
    """
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n_effective))


def thinned(shares: Floats) -> tuple[Ints, float]:
    """Which points of a curve are kept, and the largest share skipped between two neighbours."""
    if len(shares) <= MOST_POINTS:
        return np.arange(len(shares)), 0.0
    last = len(shares) - 1 - TAIL_POINTS
    levels = np.linspace(shares[TAIL_POINTS - 1], shares[last], MOST_POINTS - 2 * TAIL_POINTS)
    inner = np.searchsorted(shares, levels, side="left")
    chosen = np.unique(np.concatenate([np.arange(TAIL_POINTS), inner, np.arange(last + 1, len(shares))]))
    skipped = np.diff(shares[chosen])[np.diff(chosen) > 1]
    return chosen, float(skipped.max(initial=0.0))


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
WHY_NO_PROFILES = "no_profiles"
"""Attribute of a table of runs: why it has no profiles."""
_NOT_BY_PROFILE = {"task_name": "by task", EVERYTHING: "of all runs together"}

MOST_GROUPS = 12

CUT_SHORT = (TIMED_OUT, KILLED, RUNNING)
"""Ends of a run that say nothing of what it would still have taken."""


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
    cut_short: Annotated[
        str,
        Setting(
            "What runs that timed out, were cancelled or still run tell of durations.",
            choices={
                CENSORED: "that they take at least as long as they did (Kaplan-Meier)",
                LEFT_OUT: "nothing: the curves are of finished runs alone",
            },
            shown={CENSORED: "Take at least as long as they did", LEFT_OUT: "Are left out"},
            label="Runs that were cut short",
        ),
    ] = CENSORED


@dataclass(frozen=True, repr=False)
class ObservedDurations(Shown):
    """The curves of a dataset."""

    settings: DurationSettings  # as given, but that runs without profiles are grouped by task, or not at all
    everything: DurationCurve  # the curve of all rows
    groups: tuple[DurationCurve, ...]  # the largest first, at most `MOST_GROUPS`, then 'other'
    n_rows: int  # rows with a usable value, finished or censored
    n_missing: int  # rows without a value
    n_negative: int  # rows below zero
    n_zero: int  # finished rows of exactly zero seconds; of other targets zeros are kept, and 0 stands here
    n_without_group: int  # usable rows without a value in the grouping column; they are in `everything` only
    seconds: float  # of the computation
    notes: tuple[str, ...] = ()  # what to know about the rows, in words
    n_unfinished: int = 0  # rows that did not finish and are not censored: failed, killed for memory, waiting, others

    @property
    def n_left_out(self) -> int:
        """Rows that no curve has."""
        return self.n_missing + self.n_negative + self.n_zero + self.n_unfinished


def observed_durations(
    frames: Mapping[str, pd.DataFrame], settings: DurationSettings, progress: Progress = silent
) -> ObservedDurations:
    """The cumulative distributions of a target, of all rows and per group.

    Of the table are the target, the grouping column, 'job_name', which makes the bands honest, and 'finished' and
    'status', which say how a run ended; without them all finished. Without the column of profiles groups are tasks, or
    else there are none; `attrs["no_profiles"]` may say why.

    Raises:
        ColumnMissing: when the target or the grouping column is absent.
        NotEnoughData: when no row has a usable value.
    """
    started = time.perf_counter()
    progress(None, "Ordering the values")
    every = frames["jobs"]
    notes: tuple[str, ...] = ()
    if settings.by == PROFILE and PROFILE not in every.columns:
        settings = replace(settings, by="task_name" if "task_name" in every.columns else EVERYTHING)
        why = every.attrs.get(WHY_NO_PROFILES, "the table has none")
        notes = (f"there are no profiles, so the durations are {_NOT_BY_PROFILE[settings.by]}: {why}",)
    ends = ends_of(every)
    known = np.zeros(len(every), dtype=bool)
    if settings.cut_short == CENSORED and settings.target == "duration_s":
        known = np.isin(ends, [CAUSES.index(cause) for cause in CUT_SHORT])
        took = numbers_if_present(every, settings.target)
        known &= took is None or took != 0  # what was cancelled before it began bounds nothing
    jobs, censored = every[(ends == -1) | known], known[(ends == -1) | known]
    if settings.target not in jobs.columns:
        raise ColumnMissing(f"the table has no column {settings.target}; choose another target")
    if settings.by != EVERYTHING and settings.by not in jobs.columns:
        raise ColumnMissing(f"the table has no column {settings.by}; choose other groups")
    values = numbers_of(jobs, settings.target)
    missing, negative = np.isnan(values), values < 0
    zero = (values == 0) & (settings.target == "duration_s")  # no job takes no time; no use of a GPU is a measurement
    usable = ~(missing | negative | zero)
    if not (usable & ~censored).any():
        finished = int((ends == -1).sum())
        if not finished:
            raise NotEnoughData(f"none of {len(every):,} runs finished, so how long they take is not known; add some")
        raise NotEnoughData(f"none of {finished:,} finished runs has a usable {settings.target}; choose another target")
    codes = None  # of the jobs, -1 where a row names none
    if JOB in jobs.columns:
        codes = jobs[JOB].loc[usable].astype("object").factorize(use_na_sentinel=True)[0].astype(np.int64)
    rows = _Rows(values[usable], censored[usable], codes, settings.confidence)
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
        notes=notes,
        n_unfinished=len(every) - len(jobs),
    )


@dataclass(frozen=True)
class _Rows:
    """The usable rows: values, codes of their jobs (None where jobs have no names), confidence of the bands."""

    values: Floats
    censored: Bools
    jobs: Ints | None
    confidence: float

    def curve(self, name: str, own: Bools, n_merged: int = 0) -> DurationCurve:
        """The curve of some of the rows."""
        n_rows = int(own.sum())
        worth = float(n_rows) if self.jobs is None else effective_rows(_job_sizes(self.jobs[own]))
        points, left, widening = kaplan_meier(self.values[own], self.censored[own])
        ended = own & ~self.censored
        n_censored = n_rows - int(ended.sum())
        if not len(points):  # nothing ended: at the largest bound, all go on
            points, left, widening = self.values[own].max(keepdims=True), np.ones(1), np.ones(1)
        chosen, step = thinned(1 - left)
        return DurationCurve(
            name=name,
            n_merged=n_merged,
            n_rows=n_rows,
            n_effective=worth,
            few=worth < FEWEST_ROWS,
            points=points[chosen],
            shares=1 - left[chosen],
            grid_step=step,
            band=band_half_width(worth, self.confidence),
            longest=float(self.values[own].max()),
            n_censored=n_censored,
            widening=widening[chosen] if n_censored else None,
            finished=self.curve(name, ended, n_merged) if n_censored and ended.any() else None,
        )


def _job_sizes(jobs: Ints) -> Ints:
    """The rows of each job; a row without a job's name is a job of its own."""
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
