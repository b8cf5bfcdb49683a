"""Every row of a job table as the ledger sees it: what it requested, used and wasted, whose it is, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.causes import CAUSES, LOWER_BOUND, OUT_OF_MEMORY, causes_of, still_running
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.long_table import JobTable, parts_of
from workprof.core.units import DAY_S, HOUR_S, dated
from workprof.memory.ledger_settings import (
    GROUPINGS,
    LIMIT,
    MEMORY,
    NODE_COLUMNS,
    PROFILE,
    RESOURCES,
    TASK,
    USER,
    WEEK,
    LedgerSettings,
)
from workprof.memory.usage import ALL_RUNS, NO_TASK, USAGE_COLUMNS

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
    killed_on: Bools  # services that were killed for memory and run on since

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
            self.killed_on[chosen],
        )

    @property
    def finished(self) -> Bools:
        """(n,) whether they ended well, or are services that run on."""
        return self.cause < 0

    def over_time(self, resource: str, amounts: Floats) -> Floats:
        """(n,) amounts of a resource times their hours; hours of a limit are hours already."""
        return amounts if resource == LIMIT else amounts * self.hours

    def judged(self, resource: str) -> Bools:
        """(n,) whether a run's waste is known: a use that is only a lower bound tells no waste."""
        return self.measured(resource) & ~self.bounded(resource)

    def measured(self, resource: str) -> Bools:
        """(n,) whether a run finished, and request, use and time are there: the verdict sizes by these."""
        both = np.isfinite(self.requested[resource]) & np.isfinite(self.used[resource])
        return self.finished & both & np.isfinite(self.hours)

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


TIMES = ("start_time_s", "end_time_s", "submit_time_s")


def last_moment(jobs: JobTable) -> float:
    """The last start, end or submission of a table; -inf without any."""
    times = (numbers_if_present(part, name) for part in parts_of(jobs, TIMES) for name in TIMES)
    return max((float(np.fmax.reduce(one, initial=-np.inf)) for one in times if one is not None), default=-np.inf)


def runs_until(jobs: pd.DataFrame, settings: LedgerSettings, last: float) -> LedgerRuns:
    """Some rows of a table whose last moment is given.

    Raises ColumnMissing when no column for the rows is there.
    """
    runs, kinds, tasks = _seen(jobs, settings, last)
    return replace(runs, whose=names_of(kinds, settings.by, _latest(runs)), tasks=names_of(tasks, TASK))


def _latest(runs: LedgerRuns) -> float:
    return float(np.fmax.reduce(runs.start_s, initial=-np.inf))


def _seen(jobs: pd.DataFrame, settings: LedgerSettings, last: float) -> tuple[LedgerRuns, list[Kind], list[Kind]]:
    """The same without names, and what the rows of the ledger and the tasks are."""
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
    run_on = services(jobs)
    killed_on, cause = run_on & (cause == CAUSES.index(OUT_OF_MEMORY)), np.where(run_on, -1, cause)
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
    who, kinds = _rows(jobs, settings.by, begin)
    task, tasks = _named(jobs, "task_name")
    ended = np.where(np.isnan(end), begin + hours * HOUR_S, end)
    lower_bound = column(LOWER_BOUND) > 0
    runs = LedgerRuns(cause, hours, begin, ended, who, (), task, (), requested, used, absent, lower_bound, killed_on)
    return runs, kinds, tasks


class RunsByPart:
    """The rows of a job table as the ledger sees them, part by part in every pass; codes are those of the whole.

    Names are those of the rows that a pass has seen so far.
    """

    def __init__(self, jobs: JobTable, settings: LedgerSettings) -> None:
        """Look at the table's times.

        Raises NotEnoughData when it has no row.
        """
        if not len(jobs):
            raise NotEnoughData("the table has no rows, so there is nothing to add up")
        self.settings = settings
        self.absent: Mapping[str, tuple[str, ...]] = {}
        self._jobs, self._last, self._latest = jobs, last_moment(jobs), -np.inf
        self._kinds: dict[Kind, int] = {}
        self._tasks: dict[Kind, int] = {}

    def __iter__(self) -> Iterator[tuple[pd.DataFrame, LedgerRuns]]:
        """Each part and its runs; raises ColumnMissing when no time, or no column for the rows, is there."""
        timed = False
        for part in parts_of(self._jobs):
            runs, kinds, tasks = _seen(part, self.settings, self._last)
            timed |= bool(np.isfinite(runs.hours).any())
            self._latest, self.absent = max(self._latest, _latest(runs)), runs.absent
            who, task = codes_in(self._kinds, kinds)[runs.who], codes_in(self._tasks, tasks)[runs.task]
            yield part, replace(runs, who=who, task=task)
        if not timed:
            raise ColumnMissing(NO_RUN_TIMES)

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def whose(self) -> tuple[str, ...]:
        """The names of the rows, by their codes."""
        return names_of(list(self._kinds), self.settings.by, self._latest)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks, by their codes."""
        return names_of(list(self._tasks), TASK)

    @property
    def order(self) -> Ints:
        """(n_rows,) codes of the rows: numbers as they rise, names as they appear, what has none last."""
        return _order(list(self._kinds))

    @property
    def task_order(self) -> Ints:
        """(n_tasks,) codes of the tasks, likewise."""
        return _order(list(self._tasks))


def _order(kinds: list[Kind]) -> Ints:
    def key(code: int) -> tuple[bool, int]:
        kind = kinds[code]
        return kind is None, kind if isinstance(kind, int) else code

    return np.array(sorted(range(len(kinds)), key=key), dtype=np.int64)


def node_counts(jobs: pd.DataFrame) -> Ints:
    """(n,) nodes of each run: its memory is of one of them (`docs/formats/slurm.md`), cores and GPUs of all."""
    found = next((numbers_if_present(jobs, name) for name in NODE_COLUMNS if name in jobs.columns), None)
    if found is None:
        return np.ones(len(jobs), dtype=np.int64)
    return np.maximum(np.nan_to_num(found, nan=1.0), 1.0).astype(np.int64)


def codes_in(known: dict[Kind, int], kinds: list[Kind]) -> Ints:
    """(n,) the code of each of n, where those that are new get the next ones."""
    return np.array([known.setdefault(kind, len(known)) for kind in kinds], dtype=np.int64)


def services(jobs: pd.DataFrame) -> Bools:
    """(n,) which rows of a table are services: they run on, and their use is known by windows."""
    if "windows" not in jobs:
        return np.zeros(len(jobs), dtype=np.bool_)
    return np.asarray(jobs["windows"].notna(), dtype=np.bool_) & still_running(jobs)


Kind: TypeAlias = str | int | None
"""What a row of the ledger is: a name, or none, or the number of a week or a profile."""


def _rows(jobs: pd.DataFrame, by: str, begin: Floats) -> tuple[Ints, list[Kind]]:
    """(n,) codes of the rows that runs belong to, and what these are: numbers rise, what has no name comes last."""
    if by == TASK:
        return _named(jobs, "task_name")
    column = next((name for name in GROUPINGS[by] if name in jobs.columns), None)
    if column is None:
        everywhere = (USER, "group", TASK)  # a bill has no weeks, and time bins no partitions
        there = [name for name in everywhere if {*GROUPINGS[name]} & {*jobs.columns}]
        lacking = " or ".join(dict.fromkeys(map(str.lower, GROUPINGS[by])))
        raise ColumnMissing(f"the table has no column {lacking}; choose rows by {' or '.join(there) or PROFILE}")
    if by == WEEK:
        return _weeks(begin, local_shift_s(jobs, float(np.nanmax(begin, initial=0.0)), week=True))
    if by != PROFILE:
        return _named(jobs, column)
    labels = np.nan_to_num(jobs[column].to_numpy(dtype=np.float64), nan=-2.0).astype(np.int64)
    kinds, codes = np.unique(labels, return_inverse=True)
    return codes.astype(np.int64), kinds.tolist()


def _named(jobs: pd.DataFrame, column: str) -> tuple[Ints, list[Kind]]:
    if column not in jobs.columns:
        return np.zeros(len(jobs), dtype=np.int64), [ALL_RUNS]
    codes, names = jobs[column].factorize()
    result: list[Kind] = [str(name) for name in names]
    if (codes < 0).any():
        codes = np.where(codes < 0, len(result), codes)
        result.append(None)
    return codes.astype(np.int64), result


MONDAY_S = 3 * DAY_S
"""1 January 1970 was a Thursday."""
NO_WEEK = np.iinfo(np.int64).max


def local_shift_s(jobs: JobTable, latest_s: float, *, week: bool = False) -> float:
    """Seconds to add so that days of the trace's zone, or weeks from Monday, begin at whole multiples of their length.

    A clock without dates has no zone and no Mondays: its days are those of a period (`core.scope.bounds`).
    """
    return float(jobs.attrs.get("utc_offset_s", 0.0)) + MONDAY_S * week if dated(latest_s) else 0.0


def _weeks(begin: Floats, shift_s: float) -> tuple[Ints, list[Kind]]:
    known = np.isfinite(begin)
    week = np.full(len(begin), NO_WEEK)
    week[known] = np.floor((begin[known] + shift_s) / (7 * DAY_S)).astype(np.int64)
    kinds, codes = np.unique(week, return_inverse=True)
    return codes.astype(np.int64), kinds.tolist()


def names_of(kinds: list[Kind], by: str, latest: float = -np.inf) -> tuple[str, ...]:
    """What the rows of a ledger are called, where the latest run began at a moment."""
    nameless = NO_TASK if by == TASK else NO_NAME
    nameless = f"{nameless} (missing)" if nameless in kinds else nameless

    def name(kind: Kind) -> str:
        if by == WEEK and isinstance(kind, int):
            if kind == NO_WEEK:
                return NO_TIME
            monday = datetime.fromtimestamp(kind * 7 * DAY_S - MONDAY_S, UTC) if dated(latest) else None
            return f"week {kind}" if monday is None else f"week of {monday:%Y-%m-%d}"
        if isinstance(kind, int):
            return {-1: UNCLUSTERED, -2: NOT_SEEN}.get(kind, f"profile {kind}")
        return nameless if kind is None else kind

    return tuple(map(name, kinds))
