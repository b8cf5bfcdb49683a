"""The runs of a table in the order in which they are sized and become known: submitted, finished, as published."""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints, in_time
from workprof.core.errors import NotEnoughData
from workprof.memory.policies import Sequence
from workprof.memory.usage import Runs, rows_by_task

if TYPE_CHECKING:
    from workprof.memory.conditional import Outlook


SIZEY, SUBMIT_TIME = "sizey", "submit-time"


SIZEY_FEWEST_RUNS = 34
"""As published; `FEWEST_RUNS` of advice follows it."""


SIZEY_ONLINE_SHARE = 0.7


FINISHED, SUBMITTED = "finished", "submitted"


@dataclass(frozen=True)
class Ordered:
    """The tasks of a table, ready for a replay."""

    sequences: tuple[Sequence, ...]  # one per task; all their runs that are charged are `sized`
    rows: tuple[Ints, ...]  # per task, (n,) places of its runs in the table of runs, in the order of the sequence
    # per task, (n_sized,) what the curve is ordered by: the time where known, else the place in order
    moments: tuple[Floats, ...]
    cold_runs: int  # a run starts at its request while fewer runs of its task are known; 0 = never
    n_without_input: int  # runs whose input was missing; they take the median of their task's initial history
    n_without_clock: int  # runs that are replayed in the order of the table
    left_out: dict[str, int]  # reason -> runs
    # bytes x hours of the mean run: of all that are known in the end; where what is known is as published, of the
    # initial histories of all tasks
    mean_run_byte_h: float
    known: str = ""  # from when on a run is known; '' in the published harness, which has no clock
    # one per task, on one time; empty where there is none: tasks know nothing of each other then
    clocks: tuple[Clock, ...] = ()

    @cached_property
    def outlooks(self) -> dict[str, Outlook]:
        """What is foreseen for every run by what is known of it at submission, by task; of no use without a clock."""
        from workprof.memory.conditional import outlooks_of  # noqa: PLC0415  numba waits until it is needed

        result = outlooks_of(self.sequences, self.clocks)
        return {runs.task: outlook for runs, outlook in zip(self.sequences, result, strict=True)}


@dataclass(frozen=True)
class Clock:
    """When the runs of a task are sized, and when they become known."""

    moment_s: Floats  # (n_sized,) of the sizes
    known_s: Floats  # (n,) -inf = from the start


def sizey_order(runs: Runs, inputs: Floats, seed: int) -> Ordered:
    """The tasks as the published harness shuffles them: 30 % history, 70 % one after another.

    Tasks with fewer than 34 runs, then tasks with a run time of 0, are left out.

    Source: the harness of Sizey (Bader et al. 2024); `train_test_split(test_size=0.7, random_state=seed)` of
    scikit-learn per task.

    Raises NotEnoughData when no task is left.
    """
    from sklearn.model_selection import train_test_split  # noqa: PLC0415  heavy

    left_out = {"task with fewer than 34 runs": 0, "task with a run time of 0": 0}
    orders: list[tuple[Ints, int]] = []
    for rows in rows_by_task(runs):
        if len(rows) < SIZEY_FEWEST_RUNS:
            left_out["task with fewer than 34 runs"] += len(rows)
        elif (runs.hours[rows] == 0).any():
            left_out["task with a run time of 0"] += len(rows)
        else:
            known, online = train_test_split(rows, test_size=SIZEY_ONLINE_SHARE, random_state=seed)
            orders.append((np.concatenate([known, online]), len(known)))
    if not orders:
        raise NotEnoughData("no task has 34 runs with a run time above 0; replay in the order of submission instead")
    schedules = [_one_after_another(rows, n_known, n_known) for rows, n_known in orders]
    no_clock = np.full(len(runs), np.nan)
    bare = replace(runs, labels={}, start_s=no_clock, end_s=no_clock)
    return replace(_ordered(bare, inputs, schedules, 0, seed), left_out=left_out)


def submit_order(runs: Runs, inputs: Floats, cold_runs: int, n_own: int | None = None, n_killed: int = 0) -> Ordered:
    """The tasks in the order of submission (of the table where no time is known), cold at first.

    A run is known to those submitted after it, though it may not have finished by then: as published, and it looks
    ahead. So does the price of a failure, by the mean of the first known runs of every task.

    `runs` are of the table; then those of it that were killed, which are known from their end on and are not sized;
    then those of earlier traces, which are known from the start. A run starts at its request while fewer than
    `cold_runs` of its task are known. Of the table `n_own` (None = all) are sized, `n_killed` are not. Inputs (n,) are
    NaN where missing.
    """
    schedules = []
    for rows, earlier in _own_and_earlier(runs, n_own, n_killed):
        by_time = rows[_in_time(runs, rows, runs.submit_s)]
        schedules.append(_one_after_another(by_time, 0, cold_runs).of(n_own).after(earlier))
    result = _ordered(runs, inputs, schedules, cold_runs)
    times = [runs.submit_s[one.rows[one.sized]] for one in schedules]
    moments = [submit if np.isfinite(submit).all() else np.arange(len(submit), dtype=np.float64) for submit in times]
    n_without_clock = int((~np.isfinite(runs.submit_s[:n_own])).sum())
    clocks = []
    for one, moment_s in zip(schedules, moments, strict=True):
        known_s = np.nan_to_num(runs.start_s[one.rows], nan=np.inf)  # of killed runs, which are not sized
        known_s[: one.n_history] = -np.inf
        known_s[one.sized] = np.nextafter(moment_s, np.inf)
        clocks.append(Clock(moment_s, known_s))
    return replace(
        result,
        moments=tuple(moments),
        n_without_clock=n_without_clock,
        known=SUBMITTED,
        clocks=() if n_without_clock else tuple(clocks),
    )


def finished_order(runs: Runs, inputs: Floats, cold_runs: int, n_own: int | None = None, n_killed: int = 0) -> Ordered:
    """The tasks in the order of their runs' starts; a run is known to those that start when it is over.

    Of two runs at one moment none knows the other, unless one began before. Runs without a clock come after all others,
    in the order of the table, and are known to those after them. No size depends on what came later: the price of a
    failure is by the mean of the runs of all tasks that had ended.

    The arguments are those of `submit_order`.
    """
    schedules = []
    for own_rows, earlier in _own_and_earlier(runs, n_own, n_killed):
        rows = own_rows[_in_time(runs, own_rows, runs.start_s)]
        own = _schedule_of(rows, runs.start_s[rows], runs.end_s[rows], cold_runs).of(n_own)
        schedules.append(own.after(earlier[np.argsort(runs.end_s[earlier], kind="stable")]))
    result = _ordered(runs, inputs, schedules, cold_runs)
    moments = []
    for one in schedules:
        start = runs.start_s[one.rows[one.sized]]
        clocked = np.isfinite(start)
        moments.append(np.where(clocked, start, np.inf) if clocked.any() else np.arange(len(start), dtype=np.float64))
    n_without_clock = int((~np.isfinite(runs.start_s[:n_own])).sum())
    clocks = _clocks_of_finished(runs, schedules)
    sequences, mean_run = _by_known_means(result.sequences, clocks)
    return replace(
        result,
        sequences=sequences,
        moments=tuple(moments),
        n_without_clock=n_without_clock,
        mean_run_byte_h=mean_run,
        known=FINISHED,
        clocks=clocks,
    )


def _in_time(runs: Runs, rows: Ints, moments: Floats) -> Ints:
    """The places of some rows in order of (n,) moments, those without one as in the table."""
    timed = np.isfinite(moments[rows])
    end = np.where(timed, runs.end_s[rows], np.arange(len(rows)))
    measured = (runs.hours[rows], runs.used_bytes[rows], runs.requested_bytes[rows], runs.lower_bound[rows])
    return in_time(np.where(timed, moments[rows], np.inf), end, runs.start_s[rows], *measured)


def _clocks_of_finished(runs: Runs, schedules: list[_Schedule]) -> tuple[Clock, ...]:
    """The clocks of the tasks; runs without one come one after another when all others are over."""
    own = np.concatenate([one.rows[one.n_history :] for one in schedules])
    timeless = np.sort(own[~np.isfinite(runs.start_s[own])])
    if len(timeless) == len(own):
        return ()
    last_s = float(np.nanmax(np.maximum(runs.start_s[own], runs.end_s[own])))
    start_s, end_s = runs.start_s.copy(), runs.end_s.copy()
    start_s[timeless] = end_s[timeless] = last_s + 1 + np.arange(len(timeless))
    clocks = []
    for one in schedules:
        known_s = end_s[one.rows]
        known_s[: one.n_history] = -np.inf
        moment_s = start_s[one.rows[one.sized]]
        known_s[one.sized] = np.maximum(known_s[one.sized], np.nextafter(moment_s, np.inf))
        clocks.append(Clock(moment_s, known_s))
    return tuple(clocks)


def _by_known_means(sequences: tuple[Sequence, ...], clocks: tuple[Clock, ...]) -> tuple[tuple[Sequence, ...], float]:
    """The tasks with the mean run (bytes x hours) that is known at each size, and the mean of all."""
    costs = [runs.used_bytes * runs.hours for runs in sequences]
    every = np.concatenate(costs)
    if clocks:
        known_s = np.concatenate([one.known_s for one in clocks])
        by_end = np.argsort(known_s, kind="stable")
        means = _means_so_far(every[by_end])
        n_known = [np.searchsorted(known_s[by_end], one.moment_s, side="right") for one in clocks]
        known = [means[n] for n in n_known]
    else:
        known = [_means_so_far(cost)[runs.known_at] for cost, runs in zip(costs, sequences, strict=True)]
    result = tuple(replace(runs, mean_run_byte_h=mean) for runs, mean in zip(sequences, known, strict=True))
    return result, float(every.mean())


def _means_so_far(values: Floats) -> Floats:
    """(n + 1,) means of the first 0, 1, ..., n values; 0 of none."""
    return np.append(0.0, np.cumsum(values) / np.arange(1, len(values) + 1))


@dataclass(frozen=True)
class _Schedule:
    """The runs of a task: (n,) rows as they become known, (n_sized,) places and known runs, length of the history."""

    rows: Ints
    sized: Ints
    known_at: Ints
    n_first: int
    n_history: int = 0

    def of(self, n_own: int | None) -> _Schedule:
        """The turns of the runs in the first rows alone; the others stay known."""
        if n_own is None:
            return self
        own = self.rows[self.sized] < n_own
        return replace(self, sized=self.sized[own], known_at=self.known_at[own])

    def after(self, earlier: Ints) -> _Schedule:
        """The turns when the runs of some rows are known before all others."""
        n = len(earlier)
        return replace(
            self,
            rows=np.concatenate((earlier, self.rows)),
            sized=self.sized + n,
            known_at=self.known_at + n,
            n_history=n,
        )


def _one_after_another(rows: Ints, n_known: int, n_first: int) -> _Schedule:
    """The turns of runs each of which is known to those after it; the first `n_known` are not sized."""
    places = np.arange(n_known, len(rows))
    return _Schedule(rows, places, places, n_first)


def _schedule_of(rows: Ints, start: Floats, end: Floats, n_first: int) -> _Schedule:
    """The turns of one task; (n,) starts and ends, NaN where there is no clock."""
    start, end = np.where(np.isfinite(start), start, np.inf), np.where(np.isfinite(end), end, np.inf)
    known = np.lexsort((start, end))  # as they end; of one moment the earlier start first; stable
    place = np.empty(len(rows), dtype=np.int64)
    place[known] = np.arange(len(rows))
    by_start = np.argsort(start, kind="stable")
    over = np.repeat([False, True], len(rows))
    moment = np.concatenate((start[by_start], end[known]))
    order = np.lexsort((over, np.concatenate((start[by_start], start[known])), moment))
    known_at = np.cumsum(over[order])[~over[order]]
    late = np.isinf(start[by_start])
    known_at[late] = place[by_start[late]]  # the order of the table
    return _Schedule(rows[known], place[by_start], known_at, n_first)


def _own_and_earlier(runs: Runs, n_own: int | None, n_killed: int) -> list[tuple[Ints, Ints]]:
    """The rows of each task of the table, killed ones among them, and those of the same in earlier traces."""
    n = len(runs) if n_own is None else n_own
    tasks = [rows for rows in rows_by_task(runs) if rows[0] < n]
    return [(rows[rows < n + n_killed], rows[rows >= n + n_killed]) for rows in tasks]


def _ordered(runs: Runs, inputs: Floats, schedules: list[_Schedule], cold_runs: int, seed: int = 0) -> Ordered:
    known = np.concatenate([one.rows[: one.n_first] for one in schedules])
    mean_run = float((runs.used_bytes[known] * runs.hours[known]).mean())
    sequences, n_without = [], 0
    for one in schedules:
        rows = one.rows
        filled, n_missing = _filled(inputs[rows], one)
        n_without += n_missing
        sequences.append(
            Sequence(
                task=runs.tasks[int(runs.task[rows[0]])],
                used_bytes=runs.used_bytes[rows],
                hours=runs.hours[rows],
                requested_bytes=runs.requested_bytes[rows],
                inputs=filled,
                n_known=int(one.known_at[0]),
                mean_run_byte_h=mean_run,
                seed=seed,
                schedule=(one.sized, one.known_at),
                n_history=one.n_history,
                started_s=runs.start_s[rows],
                ended_s=runs.end_s[rows],
                labels={name: codes[rows] for name, codes in runs.labels.items()},
            )
        )
    moments = [np.arange(one.n_sized, dtype=np.float64) for one in sequences]
    return Ordered(
        tuple(sequences),
        tuple(one.rows for one in schedules),
        tuple(moments),
        cold_runs,
        n_without_input=n_without,
        n_without_clock=0,
        left_out={},
        mean_run_byte_h=mean_run,
    )


def _filled(inputs: Floats, turns: _Schedule) -> tuple[Floats, int]:
    """Inputs without gaps, and how many there were: the median of those known by then, 0 where there are none.

    Runs that are never sized are filled when they become known, those of an initial history by the whole of it.
    """
    missing = ~np.isfinite(inputs)
    if not missing.any():
        return inputs, 0
    n_known = np.arange(len(inputs))
    n_known[turns.sized] = turns.known_at
    n_known = np.maximum(n_known, turns.known_at[0])
    known: list[float] = []
    result, upto = inputs.copy(), 0
    for place in np.flatnonzero(missing)[np.argsort(n_known[missing], kind="stable")].tolist():
        for one in inputs[upto : n_known[place]].tolist():
            if math.isfinite(one):
                insort(known, one)
        upto = max(upto, n_known[place])
        half = len(known) // 2
        result[place] = (known[half] + known[~half]) / 2 if known else 0.0
    return result, int(missing.sum())
