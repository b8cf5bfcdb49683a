"""Every row of a job table as the ledger sees it: what it requested, used and wasted, whose it is, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.causes import LOWER_BOUND, causes_of, still_running
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.units import DAY_S, HOUR_S, dated
from workprof.memory.ledger_settings import GROUPINGS, LIMIT, MEMORY, PROFILE, RESOURCES, TASK, WEEK, LedgerSettings
from workprof.memory.usage import ALL_RUNS, USAGE_COLUMNS

if TYPE_CHECKING:
    import pandas as pd


NO_NAME = "(no name)"
UNCLUSTERED, NOT_SEEN = "no profile", "not clustered"
NO_TIME = "(no time)"
NO_RUN_TIMES = "the ledger needs run times: map duration_s, or start_time_s and end_time_s"


@dataclass(frozen=True)
class LedgerRuns:
    """Every row of a job table as the ledger sees it; arrays are (n,)."""

    cause: Ints  # place in `CAUSES`, -1 = finished, or a service: its windows end while it runs on
    hours: Floats  # run time; of a run that is still going up to the last moment of the trace; NaN = not known
    start_s: Floats  # and `end_s`: NaN = not known
    end_s: Floats
    who: Ints  # code of the row of the ledger; `whose` the names
    whose: tuple[str, ...]
    task: Ints  # code of the task; `tasks` the names
    tasks: tuple[str, ...]
    requested: Mapping[str, Floats]  # resource -> amounts, NaN = none
    used: Mapping[str, Floats]  # resource -> amounts, NaN = not measured
    absent: Mapping[str, tuple[str, ...]]  # resource -> columns that the table lacks
    lower_bound: Bools  # whether the use of memory is only known to be at least so large

    def __len__(self) -> int:
        return len(self.hours)

    def take(self, chosen: Ints) -> LedgerRuns:
        """Some of the runs; codes and names stay."""
        return LedgerRuns(
            self.cause[chosen],
            self.hours[chosen],
            self.start_s[chosen],
            self.end_s[chosen],
            self.who[chosen],
            self.whose,
            self.task[chosen],
            self.tasks,
            {name: values[chosen] for name, values in self.requested.items()},
            {name: values[chosen] for name, values in self.used.items()},
            self.absent,
            self.lower_bound[chosen],
        )

    @property
    def finished(self) -> Bools:
        """(n,) whether they ended well, or are services that run on."""
        return self.cause < 0

    def over_time(self, resource: str, amounts: Floats) -> Floats:
        """(n,) amounts of a resource times their hours; hours of a limit are hours already."""
        return amounts if resource == LIMIT else amounts * self.hours

    def judged(self, resource: str) -> Bools:
        """(n,) whether a run's waste is known: it finished, and request, use and time are there.

        A use that is only a lower bound tells no waste.
        """
        both = np.isfinite(self.requested[resource]) & np.isfinite(self.used[resource])
        return self.finished & both & np.isfinite(self.hours) & ~self.bounded(resource)

    def bounded(self, resource: str) -> Bools:
        """(n,) whether the use of a resource is only a lower bound."""
        return self.lower_bound & np.isfinite(self.used[resource]) if resource == MEMORY else self.lower_bound & False

    def wasted(self, resource: str) -> Floats:
        """(n,) hours of a resource that were requested and not used; 0 where that is not known."""
        spare = np.maximum(self.requested[resource] - self.used[resource], 0.0)
        return np.where(self.judged(resource), self.over_time(resource, spare), 0.0)


def ledger_runs(jobs: pd.DataFrame, settings: LedgerSettings) -> LedgerRuns:
    """The rows of a job table as the ledger sees them.

    Raises:
        ColumnMissing: when no time or no column for the rows is there.
        NotEnoughData: when the table has no row, or no column of any resource.
    """
    if not len(jobs):
        raise NotEnoughData("the table has no rows, so there is nothing to add up")
    result = runs_until(jobs, settings, last_moment(jobs))
    if not np.isfinite(result.hours).any():
        raise ColumnMissing(NO_RUN_TIMES)
    return result


def last_moment(jobs: pd.DataFrame) -> float:
    """The last start, end or submission of a table; -inf without any."""
    times = (numbers_if_present(jobs, name) for name in ("start_time_s", "end_time_s", "submit_time_s"))
    return max((float(np.fmax.reduce(one, initial=-np.inf)) for one in times if one is not None), default=-np.inf)


def runs_until(jobs: pd.DataFrame, settings: LedgerSettings, last: float) -> LedgerRuns:
    """Some rows of a table whose last moment is given.

    Raises ColumnMissing when no column for the rows is there.
    """
    nothing = np.full(len(jobs), np.nan)

    def column(name: str) -> Floats:
        result = numbers_if_present(jobs, name)
        return nothing if result is None else result

    start, end = column("start_time_s"), column("end_time_s")
    seconds = column("duration_s")
    seconds = np.where(np.isnan(seconds), end - start, seconds)
    cause = causes_of(jobs)
    going = np.isnan(seconds) & still_running(jobs)
    seconds = np.where(going, last - start, seconds)
    cause = np.where(services(jobs), -1, cause)
    hours = np.where(seconds >= 0, seconds, np.nan) / HOUR_S
    begin = np.where(np.isnan(start), column("submit_time_s"), start)
    requested, used, absent = {}, {}, {}
    for one in RESOURCES:
        use = USAGE_COLUMNS[settings.target] if one.name == MEMORY else one.use
        amounts, measured = column(one.request) / one.scale, column(use) / one.scale
        requested[one.name] = np.where(amounts > 0, amounts, np.nan)
        used[one.name] = np.where(measured >= one.least_use / one.scale, measured, np.nan)
        absent[one.name] = tuple(name for name in (one.request, use) if name not in jobs.columns)
    used[LIMIT], absent[LIMIT] = hours, tuple(name for name in absent[LIMIT] if name != "duration_s")
    who, whose = _rows(jobs, settings.by, begin)
    task, tasks = _named(jobs, "task_name", ALL_RUNS)
    ended = np.where(np.isnan(end), begin + hours * HOUR_S, end)
    return LedgerRuns(
        cause, hours, begin, ended, who, whose, task, tasks, requested, used, absent, column(LOWER_BOUND) > 0
    )


def services(jobs: pd.DataFrame) -> Bools:
    """(n,) which rows of a table are services: they run on, and their use is known by windows."""
    if "windows" not in jobs:
        return np.zeros(len(jobs), dtype=np.bool_)
    return np.asarray(jobs["windows"].notna(), dtype=np.bool_) & still_running(jobs)


def _rows(jobs: pd.DataFrame, by: str, begin: Floats) -> tuple[Ints, tuple[str, ...]]:
    """(n,) codes of the rows that runs belong to, and the rows' names."""
    if by == TASK:
        return _named(jobs, "task_name", ALL_RUNS)
    column = next((name for name in GROUPINGS[by] if name in jobs.columns), None)
    if column is None:
        there = [name for name, columns in GROUPINGS.items() if name != PROFILE and {*columns} & {*jobs.columns}]
        lacking = " or ".join(dict.fromkeys(map(str.lower, GROUPINGS[by])))
        raise ColumnMissing(f"the table has no column {lacking}; choose rows by {' or '.join(there) or PROFILE}")
    if by == WEEK:
        return _weeks(begin, float(jobs.attrs.get("utc_offset_s", 0.0)))
    if by != PROFILE:
        return _named(jobs, column, NO_NAME)
    labels = np.nan_to_num(jobs[column].to_numpy(dtype=np.float64), nan=-2.0).astype(np.int64)
    kinds, codes = np.unique(labels, return_inverse=True)
    words = {-1: UNCLUSTERED, -2: NOT_SEEN}
    return codes.astype(np.int64), tuple(words.get(kind, f"profile {kind}") for kind in kinds.tolist())


def _named(jobs: pd.DataFrame, column: str, nameless: str) -> tuple[Ints, tuple[str, ...]]:
    if column not in jobs.columns:
        return np.zeros(len(jobs), dtype=np.int64), (nameless,)
    codes, names = jobs[column].factorize()
    result = [str(name) for name in names]
    if (codes < 0).any():
        codes = np.where(codes < 0, len(result), codes)
        result.append(nameless if nameless not in result else f"{nameless} (missing)")
    return codes.astype(np.int64), tuple(result)


MONDAY_S = 3 * DAY_S
"""1 January 1970 was a Thursday."""


def _weeks(begin: Floats, utc_offset_s: float) -> tuple[Ints, tuple[str, ...]]:
    known = np.isfinite(begin)
    week = np.full(len(begin), np.iinfo(np.int64).max)
    week[known] = np.floor((begin[known] + utc_offset_s + MONDAY_S) / (7 * DAY_S)).astype(np.int64)
    kinds, codes = np.unique(week, return_inverse=True)
    dates = known.any() and dated(float(begin[known].max()))

    def name(number: int) -> str:
        if number == np.iinfo(np.int64).max:
            return NO_TIME
        monday = datetime.fromtimestamp(number * 7 * DAY_S - MONDAY_S, UTC)
        return f"week of {monday:%Y-%m-%d}" if dates else f"week {number}"

    return codes.astype(np.int64), tuple(name(number) for number in kinds.tolist())
