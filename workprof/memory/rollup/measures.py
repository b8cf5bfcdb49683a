"""What many runs hold together: GB (or cores) on average, at the worst moment, or with one run of every task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.units import HOUR_S

MEAN, PEAK, ONE_EACH = "mean", "peak", "one_each"
MEASURES = (MEAN, PEAK, ONE_EACH)

CLOCK_S = 1.0
"""A run of no time at all is held for one tick of a clock of whole seconds where moments are counted."""


@dataclass(frozen=True)
class BeforeAfter:
    """An amount as it is asked for now, and as it is under the plan."""

    before: float
    after: float


@dataclass(frozen=True)
class Held:
    """An amount that runs hold, (n,) each.

    Attributes:
        amount: GB or cores.
        hours: how long, failed attempts included.
    """

    amount: Floats
    hours: Floats

    def take(self, chosen: Bools | Ints) -> Held:
        """Return some of the runs."""
        return Held(self.amount[chosen], self.hours[chosen])


@dataclass(frozen=True)
class Clock:
    """When runs ran.

    Attributes:
        start_s: (n,) NaN where it is not known.
        seconds: (n,) run times.
        span_hours: from the first start to the last end of all runs; NaN where no start is known.
    """

    start_s: Floats
    seconds: Floats
    span_hours: float

    def take(self, chosen: Bools | Ints) -> Clock:
        """Return some of the runs; the span stays that of all."""
        return Clock(self.start_s[chosen], self.seconds[chosen], self.span_hours)


def clock_of(start_s: Floats, seconds: Floats) -> Clock:
    """Return the clock of (n,) runs."""
    known = ~np.isnan(start_s)
    span = float("nan")
    if known.any():
        span = float((start_s + seconds)[known].max() - start_s[known].min()) / HOUR_S
    return Clock(start_s, seconds, span if span > 0 else float("nan"))


def mean_held(held: Held, clock: Clock) -> float:
    """Return the amount held on average over the span; without a clock, over the hours of the runs one by one.

    It adds up: parts of the runs sum to the whole (with a clock), and it is proportional to GB·h and so to money.
    """
    span = clock.span_hours if clock.span_hours > 0 else float(held.hours.sum())
    return float((held.amount * held.hours).sum()) / span if span > 0 else 0.0


def peak_held(held: Held, clock: Clock) -> float:
    """Return the most that is held at one moment, by the runs whose start is known. It does not add up over parts."""
    known = ~np.isnan(clock.start_s)
    start = clock.start_s[known]
    end = start + np.where(clock.seconds[known] > 0, clock.seconds[known], CLOCK_S)
    moments = np.concatenate([end, start])  # at equal times what ends goes first
    changes = np.concatenate([-held.amount[known], held.amount[known]])
    level = np.cumsum(changes[np.argsort(moments, kind="stable")])
    return max(0.0, float(level.max(initial=0.0)))


def one_each(held: Held, task: Ints) -> float:
    """Return the sum over tasks of what one run holds, its runs weighted by their hours.

    Source:
        The load-aware provisioning thesis, Table 13: one instance of every task.
    """
    total = 0.0
    for code in np.unique(task):
        amount, hours = held.amount[task == code], held.hours[task == code]
        total += float(np.average(amount, weights=hours if hours.sum() > 0 else None))
    return total
