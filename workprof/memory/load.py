"""What runs hold from moment to moment: the most at once, how often there is too little, and bursts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.units import DAY_S, GB, HOUR_S
from workprof.memory.usage import Runs

if TYPE_CHECKING:
    import pandas as pd


CLOCK_S = 1.0
"""A run of no time at all is held for one tick of a clock of whole seconds where moments are counted."""

NOT_SIMULATED = (
    "Counted, not simulated: every run keeps its start, so nothing that waits or is repeated moves what comes after "
    "it, and memory is one pool, without the gaps on nodes that no run fits into."
)

MOST_MOMENTS = 1_500
"""Of a course that is drawn: beyond, the most held in each of so many equal parts of the time."""


@dataclass(frozen=True)
class Clock:
    """When runs ran.

    Attributes:
        start_s: (n,) NaN where it is not known.
        seconds: (n,) how long each held its memory, above 0: to its end, at least its run time.
        span_hours: from the first start to the last end of all runs; NaN where no start is known.
    """

    start_s: Floats
    seconds: Floats
    span_hours: float

    def take(self, chosen: Bools | Ints) -> Clock:
        """Return some of the runs; the span stays that of all."""
        return Clock(self.start_s[chosen], self.seconds[chosen], self.span_hours)


def clock_of(jobs: pd.DataFrame, runs: Runs) -> Clock:
    """Return when (n,) runs of a table ran: from their start, else their end less the run time, else their submission.

    Nothing is asked of the time between a submission and an end, in which a run may have waited.
    """
    started, ended = (_column(jobs, name, runs.rows) for name in ("start_time_s", "end_time_s"))
    seconds = np.maximum(runs.hours * HOUR_S, CLOCK_S)
    start = np.where(np.isnan(started), ended - seconds, started)
    start = np.where(np.isnan(start), runs.submit_s, start)
    held = np.fmax(ended - start, seconds)  # what is brought in and out is held as well
    known, span = ~np.isnan(start), float("nan")
    if known.any():
        span = float((start + held)[known].max() - start[known].min()) / HOUR_S
    return Clock(start, held, span)


def _column(jobs: pd.DataFrame, name: str, rows: Ints) -> Floats:
    result = numbers_if_present(jobs, name)
    return np.full(len(rows), np.nan) if result is None else result[rows]


@dataclass(frozen=True)
class Attempts:
    """Attempts of runs whose start is known, each from a moment to a moment.

    Attributes:
        run: (m,) places of their runs.
        start_s, end_s: (m,) end above start.
        amount: (m,) what each holds: bytes, cores.
    """

    run: Ints
    start_s: Floats
    end_s: Floats
    amount: Floats

    def of(self, own: Bools) -> Attempts:
        """Return the attempts of some of the runs; their places stay."""
        chosen = own[self.run]
        return Attempts(self.run[chosen], self.start_s[chosen], self.end_s[chosen], self.amount[chosen])


def attempts_of(clock: Clock, first: Floats, failures: Ints | None = None, cap: float | None = None) -> Attempts:
    """Return the attempts of (n,) runs, one after another, each for the whole time of its run, as it is charged.

    Args:
        clock: when the runs ran; those without a start have no attempt here.
        first: (n,) what the first attempt holds.
        failures: (n,) attempts that fail: attempt k holds k times the first; None = none.
        cap: the most that an attempt holds; None = no limit.
    """
    known = np.flatnonzero(~np.isnan(clock.start_s))
    tries = np.ones(len(known), dtype=np.int64) if failures is None else failures[known] + 1
    run = np.repeat(known, tries)
    before = np.arange(len(run)) - np.repeat(np.cumsum(tries) - tries, tries)
    start = clock.start_s[run] + before * clock.seconds[run]
    amount = np.minimum(first[run] * (before + 1.0), np.inf if cap is None else cap)
    return Attempts(run, start, start + clock.seconds[run], amount)


@dataclass(frozen=True)
class Levels:
    """What is held: `held[i]` from `moments_s[i]` until the next moment; (m,) each, nothing before and after."""

    moments_s: Floats
    held: Floats

    @property
    def peak(self) -> float:
        """The most that is held at once."""
        return float(self.held.max(initial=0.0))

    def seconds_above(self, limit: float) -> float:
        """Return for how long more than a limit is held."""
        return float((np.diff(self.moments_s) * (self.held[:-1] > limit)).sum())


def levels_of(attempts: Attempts) -> Levels:
    """Return what attempts hold together, exact: one sweep over all starts and ends, of which ends come first."""
    moments, level, _ = _swept(attempts)
    last = np.flatnonzero(np.append(moments[1:] != moments[:-1], True)) if len(moments) else np.empty(0, np.int64)
    return Levels(moments[last], np.maximum(level[last], 0.0))


def runs_without_room(attempts: Attempts, limit: float) -> int:
    """Return how many runs have an attempt that finds no room at its start, beside all that run then.

    Of those that start together, the first ones of the table come first.
    """
    _, level, order = _swept(attempts)
    starts = order >= len(attempts.run)
    return len(np.unique(attempts.run[order[starts] - len(attempts.run)][level[starts] > limit]))


def _swept(attempts: Attempts) -> tuple[Floats, Floats, Ints]:
    """Return ends and starts in order of time, what is held after each, and their places: ends, then starts."""
    moments = np.concatenate([attempts.end_s, attempts.start_s])
    order = np.argsort(moments, kind="stable")
    level = np.cumsum(np.concatenate([-attempts.amount, attempts.amount])[order])
    return moments[order], level, order


REQUESTED, CAPPED, PLANNED = "requested", "requested, capped", "planned"
HALF, CAPACITY = "half of today's peak", "capacity"


@dataclass(frozen=True)
class Above:
    """How often there is too little memory.

    Attributes:
        limit: 'half of today's peak' or 'capacity'.
        limit_gb: how much there is.
        hours: in which more is held.
        share: of the time from the first start to the last end, 0-1.
        n_waiting: runs that find no room when they start, beside all that run then.
        short_gb: the most that is missing; 0 = there is always enough.
    """

    limit: str
    limit_gb: float
    hours: float
    share: float
    n_waiting: int
    short_gb: float


@dataclass(frozen=True)
class Course:
    """Memory held over time by one way of asking for it, GB (1e9 bytes).

    Attributes:
        name: 'requested', 'requested, capped' or 'planned'.
        n_runs: whose start is known.
        peak_gb: the most at once: so much must exist.
        peak_s: when, the first time.
        mean_gb: on average over the time.
        moments_s: (n_points,) increasing.
        held_gb: (n_points,) from each moment until the next.
        exact: whether every start and end is a point; else each is the most of its part of the time.
        above: one for every limit.
    """

    name: str
    n_runs: int
    peak_gb: float
    peak_s: float
    mean_gb: float
    moments_s: Floats
    held_gb: Floats
    exact: bool
    above: tuple[Above, ...]


@dataclass(frozen=True)
class Load:
    """Memory held over time, before and after.

    Attributes:
        courses: as requested now; where there is a cap, requests cut to it, of the runs that fit; as planned.
        today_gb: peak of the requests without any growth.
        capacity_gb: what there is; NaN = not known.
        growth: times the load, in all courses.
        span_hours: from the first start to the last end of all courses.
        n_unknown: runs whose start is not known: in no course.
    """

    courses: tuple[Course, ...]
    today_gb: float
    capacity_gb: float
    growth: float
    span_hours: float
    n_unknown: int

    def course(self, name: str) -> Course:
        """Return the course of that name."""
        return next(one for one in self.courses if one.name == name)


def load_of(held: dict[str, Attempts], capacity_bytes: float | None, growth: float, n_unknown: int) -> Load:
    """Return the courses of attempts that hold bytes.

    Args:
        held: name of a course -> its attempts, 'requested' among them, which has some.
        capacity_bytes: what there is; None = not known.
        growth: times the load: so many of each run at the same time.
        n_unknown: runs that are in no course.
    """
    levels = {name: levels_of(attempts) for name, attempts in held.items()}
    ends = [one.moments_s[[0, -1]] for one in levels.values() if len(one.moments_s)]
    span_s = float(max(end[1] for end in ends) - min(end[0] for end in ends))
    today = levels[REQUESTED].peak
    limits = {HALF: today / 2} | ({CAPACITY: capacity_bytes} if capacity_bytes is not None else {})
    return Load(
        courses=tuple(_course(name, held[name], one, (limits, growth, span_s)) for name, one in levels.items()),
        today_gb=today / GB,
        capacity_gb=float("nan") if capacity_bytes is None else capacity_bytes / GB,
        growth=growth,
        span_hours=span_s / HOUR_S,
        n_unknown=n_unknown,
    )


def _course(name: str, attempts: Attempts, levels: Levels, beside: tuple[dict[str, float], float, float]) -> Course:
    limits, growth, span_s = beside
    grown = Levels(levels.moments_s, levels.held * growth)
    above = []
    for limit, size in limits.items():
        seconds, short = grown.seconds_above(size), max(0.0, grown.peak - size)
        waiting = runs_without_room(attempts, size / growth)
        above.append(Above(limit, size / GB, seconds / HOUR_S, seconds / span_s, waiting, short / GB))
    moments, held, exact = _drawn(grown)
    at = int(grown.held.argmax()) if len(grown.held) else -1
    return Course(
        name=name,
        n_runs=len(np.unique(attempts.run)),
        peak_gb=grown.peak / GB,
        peak_s=float(grown.moments_s[at]) if at >= 0 else float("nan"),
        mean_gb=float((np.diff(grown.moments_s) * grown.held[:-1]).sum()) / span_s / GB,
        moments_s=moments,
        held_gb=held / GB,
        exact=exact,
        above=tuple(above),
    )


def _drawn(levels: Levels) -> tuple[Floats, Floats, bool]:
    """Return moments and what is held from each on: all of them, or the most in each of `MOST_MOMENTS` parts."""
    moments, held = levels.moments_s, levels.held
    if len(moments) <= MOST_MOMENTS:
        return moments, held, True
    starts = np.linspace(moments[0], moments[-1], MOST_MOMENTS + 1)[:-1]
    carried = held[np.searchsorted(moments, starts, side="right") - 1]
    part = np.searchsorted(starts, moments, side="right") - 1
    most = carried.copy()
    np.maximum.at(most, part, held)
    return np.append(starts, moments[-1]), np.append(most, held[-1]), False


BURST_SHARE = 0.05
"""Of all GB·h requested: what a task has to start in one day to be called a burst."""

BURST_FACTOR = 3.0
"""Times what it starts on an average day of the trace; so a trace of less than four days has no bursts."""


@dataclass(frozen=True)
class Burst:
    """A task on a day on which it started unusually much.

    Attributes:
        task: its name.
        day_s: when the day begins, epoch seconds, UTC.
        n_runs: that it started then.
        gb_h: requested by these.
        share: of all GB·h requested, 0-1.
    """

    task: str
    day_s: float
    n_runs: int
    gb_h: float
    share: float


def bursts_of(task: Ints, tasks: Sequence[str], start_s: Floats, gb_h: Floats) -> tuple[tuple[Burst, ...], Bools]:
    """Return the bursts, the largest first, and whether each of (n,) runs is in one.

    Args:
        task: (n,) codes; another grouping will do.
        tasks: names by code.
        start_s: (n,) NaN where it is not known: in no burst.
        gb_h: (n,) 0 or more.
    """
    inside, result = np.zeros(len(task), dtype=bool), []
    known = np.flatnonzero(~np.isnan(start_s) & ~np.isnan(gb_h))
    total = float(np.nansum(gb_h))
    if not len(known) or not total > 0:
        return (), inside
    days = np.floor(start_s[known] / DAY_S).astype(np.int64)
    n_days = int(days.max() - days.min()) + 1
    pairs, member = np.unique(np.stack([task[known], days]), axis=1, return_inverse=True)
    member = member.ravel()
    sums = np.bincount(member, weights=gb_h[known])
    usual = np.bincount(task[known], weights=gb_h[known], minlength=len(tasks))[pairs[0]] / n_days
    for place in np.flatnonzero((sums > BURST_SHARE * total) & (sums > BURST_FACTOR * usual)).tolist():
        own = known[member == place]
        inside[own] = True
        code, day = pairs[:, place].tolist()
        result.append(Burst(tasks[code], float(day * DAY_S), len(own), float(sums[place]), float(sums[place]) / total))
    return tuple(sorted(result, key=lambda one: -one.gb_h)), inside
