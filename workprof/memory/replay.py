"""Replay: every policy over the runs as they came, what each would have wasted and failed."""

from __future__ import annotations

import math
import time
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import MOST_USED, Floats, Ints, LatestRuns, latest_of, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.parallel import each
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval, reliability_bins, saving_interval, too_few, wilson
from workprof.core.units import GB
from workprof.memory.policies import (
    BY_TASK,
    DEFAULT,
    FROM_HISTORY,
    FROM_NODE,
    FROM_PEERS,
    FROM_REQUEST,
    FROM_USE,
    FURTHER,
    OURS,
    PEERS,
    POLICIES,
    POLICY_WORDS,
    REFIT_EACH,
    Conditional,
    Policy,
    Preset,
    Sequence,
    SizingSettings,
    Workprof,
    policy_named,
    requests_of,
    warm_sizing,
)
from workprof.memory.retry import BEYOND, Demand, Outcome, RetrySettings, lifted_by, only, try_sizes
from workprof.memory.usage import (
    Evidence,
    Runs,
    Target,
    evidence_of,
    finished_for_sizes,
    killed_for_memory,
    rows_by_task,
    runs_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from workprof.memory.conditional import Outlook


SIZEY, SUBMIT_TIME = "sizey", "submit-time"

SIZEY_FEWEST_RUNS = 34
"""As published; `FEWEST_RUNS` of advice follows it."""
SIZEY_ONLINE_SHARE = 0.7
SIZEY_TARGET, SIZEY_INPUT = "rss", "rchar"


FINISHED, SUBMITTED = "finished", "submitted"


@dataclass(frozen=True)
class Ordered:
    """The tasks of a table, ready for a replay.

    Attributes:
        sequences: one per task; all their runs that are charged are `sized`.
        rows: per task, (n,) places of its runs in the table of runs, in the order of the sequence.
        moments: per task, (n_sized,) what the curve is ordered by: the time where known, else the place in order.
        cold_runs: a run starts at its request while fewer runs of its task are known; 0 = never.
        n_without_input: runs whose input was missing; they take the median of their task's initial history.
        n_without_clock: runs that are replayed in the order of the table.
        left_out: reason -> runs.
        known: from when on a run is known; '' in the published harness, which has no clock.
        clocks: one per task, on one time; empty where there is none: tasks know nothing of each other then.
        mean_run_byte_h: bytes x hours of the mean run: of all that are known in the end; where what is known is as
            published, of the initial histories of all tasks.
    """

    sequences: tuple[Sequence, ...]
    rows: tuple[Ints, ...]
    moments: tuple[Floats, ...]
    cold_runs: int
    n_without_input: int
    n_without_clock: int
    left_out: dict[str, int]
    mean_run_byte_h: float
    known: str = ""
    clocks: tuple[Clock, ...] = ()

    @cached_property
    def outlooks(self) -> dict[str, Outlook]:
        """What is foreseen for every run by what is known of it at submission, by task; of no use without a clock."""
        from workprof.memory.conditional import outlooks_of  # noqa: PLC0415  numba waits until it is needed

        result = outlooks_of(self.sequences, self.clocks)
        return {runs.task: outlook for runs, outlook in zip(self.sequences, result, strict=True)}


@dataclass(frozen=True)
class Clock:
    """When the runs of a task are sized, and when they become known.

    Attributes:
        moment_s: (n_sized,) of the sizes.
        known_s: (n,) -inf = from the start.
    """

    moment_s: Floats
    known_s: Floats


def sizey_order(runs: Runs, inputs: Floats, seed: int) -> Ordered:
    """Return the tasks as the published harness shuffles them: 30 % history, 70 % one after another.

    Tasks with fewer than 34 runs, then tasks with a run time of 0, are left out.

    Source: the harness of Sizey (Bader et al. 2024); `train_test_split(test_size=0.7, random_state=seed)` of
    scikit-learn per task.

    Raises:
        NotEnoughData: when no task is left.
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
    """Return the tasks in the order of submission (of the table where no time is known), cold at first.

    A run is known to those submitted after it, though it may not have finished by then: as published, and it looks
    ahead. So does the price of a failure, by the mean of the first known runs of every task.

    Args:
        runs: of the table; then those of it that were killed, which are known from their end on and are not sized;
            then those of earlier traces, which are known from the start.
        inputs: (n,) NaN where missing.
        cold_runs: a run starts at its request while fewer of its task are known.
        n_own: runs of the table that are sized; None = all.
        n_killed: runs of the table that are not.
    """
    schedules = []
    for rows, earlier in _own_and_earlier(runs, n_own, n_killed):
        by_time = rows[np.argsort(runs.submit_s[rows], kind="stable")]
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
    """Return the tasks in the order of their runs' starts; a run is known to those that start when it is over.

    Of two runs at one moment none knows the other, unless one began before. Runs without a clock come after all others,
    in the order of the table, and are known to those after them. No size depends on what came later: the price of a
    failure is by the mean of the runs of all tasks that had ended.

    Args:
        runs: of the table; then those of it that were killed, which are known from their end on and are not sized;
            then those of earlier traces, which are known from the start.
        inputs: (n,) NaN where missing.
        cold_runs: a run starts at its request while fewer of its task are known.
        n_own: runs of the table that are sized; None = all.
        n_killed: runs of the table that are not.
    """
    schedules = []
    for rows, earlier in _own_and_earlier(runs, n_own, n_killed):
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


def _clocks_of_finished(runs: Runs, schedules: list[_Schedule]) -> tuple[Clock, ...]:
    """Return the clocks of the tasks; runs without one come one after another when all others are over."""
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
    """Return the tasks with the mean run (bytes x hours) that is known at each size, and the mean of all."""
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
    """Return (n + 1,) means of the first 0, 1, ..., n values; 0 of none."""
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
        """Return the turns of the runs in the first rows alone; the others stay known."""
        if n_own is None:
            return self
        own = self.rows[self.sized] < n_own
        return replace(self, sized=self.sized[own], known_at=self.known_at[own])

    def after(self, earlier: Ints) -> _Schedule:
        """Return the turns when the runs of some rows are known before all others."""
        n = len(earlier)
        return replace(
            self,
            rows=np.concatenate((earlier, self.rows)),
            sized=self.sized + n,
            known_at=self.known_at + n,
            n_history=n,
        )


def _one_after_another(rows: Ints, n_known: int, n_first: int) -> _Schedule:
    """Return the turns of runs each of which is known to those after it; the first `n_known` are not sized."""
    places = np.arange(n_known, len(rows))
    return _Schedule(rows, places, places, n_first)


def _schedule_of(rows: Ints, start: Floats, end: Floats, n_first: int) -> _Schedule:
    """Return the turns of one task; (n,) starts and ends, NaN where there is no clock."""
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
    """Return the rows of each task of the table, killed ones among them, and those of the same in earlier traces."""
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
    """Return inputs without gaps, and how many there were: the median of those known by then, 0 where there are none.

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


NO_INPUT = "none"
AFTER_THE_RUN = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "read_count", "write_count")
"""Columns that are known only when a run has ended: to size from them is optimistic."""

PRICES = (0.0, 0.05, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""Prices of a failure, in mean runs, that make the frontier."""


@settings
class ReplaySettings:
    """Which policies are replayed over which runs, in which order."""

    policies: Annotated[
        tuple[str, ...],
        Setting(
            "Policies A,B,...; all of them, or by default ours and the published ones. oracle_...: looks at the true "
            "use, so it is a bound and no policy.",
            choices=POLICIES,
            named={"all": OURS + PEERS + FURTHER},
            shown=POLICY_WORDS,
            key="memory_policies",
            some=True,
        ),
    ] = OURS + PEERS
    protocol: Annotated[
        str,
        Setting(
            "Order of the runs.",
            choices={
                SUBMIT_TIME: "as submitted, each task from its first run on",
                SIZEY: "the published harness: 30 % of the runs at random are known, the others come in random "
                "order, sized for rss from rchar",
            },
            shown={SUBMIT_TIME: "As submitted", SIZEY: "As published (random)"},
            key="memory_protocol",
            label="Order",
        ),
    ] = SUBMIT_TIME
    known: Annotated[
        str,
        Setting(
            "From when on a run is known to others of its task, in the order of submission.",
            choices={
                FINISHED: "from its end on",
                SUBMITTED: "from its submission on, finished or not: as published, which overstates savings",
            },
            shown={FINISHED: "Once it has ended", SUBMITTED: "Once it is submitted"},
            key="memory_known",
            label="A run is known",
        ),
    ] = FINISHED
    train: Annotated[
        tuple[str, ...],
        Setting(
            "Earlier datasets, NAME,...: their runs of the same tasks are known from the start, also by the last part "
            "of a task's name where that is the only such task.",
            key="memory_train",
            label="History from",
            empty="none",
        ),
    ] = ()
    seeds: Annotated[
        tuple[int, ...],
        Setting(
            "Of the shuffles, A,B,...; figures are means over them. The order of submission has none.",
            least=0,
            most=2**32 - 1,
            also=("--seed",),
            named={"1996 and 1 to 4": (1996, 1, 2, 3, 4)},
            key="memory_seeds",
            some=True,
        ),
    ] = (1996,)
    target: Target = "peak_rss"
    input_column: Annotated[
        str,
        Setting(
            "Column that sizes may go by, known before the run; the result says where it is known only after.",
            columns="numeric",
            flag="--input",
            key="memory_input",
            label="Input",
        ),
    ] = NO_INPUT
    cold_runs: Annotated[
        int,
        Setting(
            "Known runs of its task that a run needs to be sized from them; with fewer it starts at its request.",
            least=2,
            most=10_000,
            key="memory_cold",
        ),
    ] = 10
    latest_runs: LatestRuns = MOST_USED
    retry: RetrySettings = field(default_factory=RetrySettings)
    sizing: SizingSettings = field(default_factory=SizingSettings)
    prices_runs: Annotated[
        tuple[float, ...],
        Setting(
            "Costs of a failure that make the frontier, A,B,...",
            unit="mean runs",
            least=0,
            most=1e6,
            flag="--failure-costs",
            also=("--prices",),
            key="memory_prices_runs",
            label="Costs of the frontier",
            empty="no frontier",
        ),
    ] = PRICES

    def __post_init__(self) -> None:
        if self.train and self.protocol == SIZEY:
            raise SettingsError(
                f"train is {', '.join(self.train)}, and the published harness draws its own history; choose the "
                f"protocol {SUBMIT_TIME}"
            )

    @property
    def used_target(self) -> str:
        """The target that counts."""
        return SIZEY_TARGET if self.protocol == SIZEY else self.target

    @property
    def used_input(self) -> str:
        """The input that counts."""
        return SIZEY_INPUT if self.protocol == SIZEY else self.input_column

    @property
    def used_seeds(self) -> tuple[int, ...]:
        """The seeds that count."""
        return tuple(dict.fromkeys(self.seeds)) if self.protocol == SIZEY else self.seeds[:1]


@dataclass(frozen=True)
class Curve:
    """How waste grows while a policy learns.

    Attributes:
        runs_seen: (n_points,) runs so far, rising.
        wasted_gb_h: (n_points,) waste of all runs so far.
    """

    runs_seen: Floats
    wasted_gb_h: Floats


@dataclass(frozen=True)
class PolicyFigures:
    """One policy on all tasks; sums over runs, means over seeds.

    Attributes:
        policy: name.
        wasted_gb_h: charged and not used.
        charged_gb_h: of all attempts.
        failures: failed attempts.
        seconds: of one seed's sizes and charges.
        n_never_fit: runs that failed at the cap.
        n_given_up: runs that failed the last retry.
        failed_share: runs with a failure among all charged runs, with Wilson's interval.
        saving: against the presets' charges on the same runs, bootstrap over the runs of the first seed; NaN where the
            table has no requests.
        saving_share: the saving itself.
        wasted_by_seed: (n_seeds,).
        failures_by_seed: (n_seeds,).
        n_sized_from: what the sizes rest on -> runs of the first seed: 'peers' (known runs of the task), 'history'
            (those of earlier traces), 'request', 'node', 'true use'.
        curve: of the first seed.
    """

    policy: str
    wasted_gb_h: float
    charged_gb_h: float
    failures: float
    seconds: float
    n_never_fit: float
    n_given_up: float
    failed_share: Interval
    saving: Interval
    saving_share: float
    wasted_by_seed: Floats
    failures_by_seed: Floats
    n_sized_from: dict[str, int]
    curve: Curve


@dataclass(frozen=True)
class TaskFigures:
    """One policy on one task, means over seeds.

    Attributes:
        task: name.
        policy: name.
        n_runs: charged runs.
        wasted_gb_h: charged and not used.
        charged_gb_h: of all attempts.
        failures: failed attempts.
        too_few: whether the task has too few runs to advise on.
    """

    task: str
    policy: str
    n_runs: int
    wasted_gb_h: float
    charged_gb_h: float
    failures: float
    too_few: bool


@dataclass(frozen=True)
class FrontierPoint:
    """One setting of ours.

    Attributes:
        setting: in words.
        price_runs: cost per failure in mean runs.
        by_input: whether inputs were looked at.
        by_labels: whether all that is known at submission was.
        wasted_gb_h: mean over seeds.
        failures: mean over seeds.
        efficient: whether no other setting of ours wastes less at no more failures.
    """

    setting: str
    price_runs: float
    by_input: bool
    by_labels: bool
    wasted_gb_h: float
    failures: float
    efficient: bool


@dataclass(frozen=True)
class PriceChoice:
    """What is best when a failure costs so much on top of its charge.

    Attributes:
        price_gb_h: of one failure.
        name: policy, or setting of ours.
        wasted_gb_h: of it.
        failures: of it.
        total_gb_h: waste + price x failures.
    """

    price_gb_h: float
    name: str
    wasted_gb_h: float
    failures: float
    total_gb_h: float


@dataclass(frozen=True)
class TaskChoice:
    """The policy of least waste + price x failures on one task, at the default price of ours."""

    task: str
    policy: str
    total_gb_h: float
    too_few: bool


@dataclass(frozen=True)
class Foreseen:
    """How far the chances hold with which the policy `workprof` said, at each run's start, that its size is too small.

    Attributes:
        n_runs: sized so; the others started at their request.
        stated: sum of the chances: first attempts expected to be killed.
        killed: first attempts that were.
        rows: (10,) runs by stated chance, in ten equal bins from 0 to 1.
        stated_share: (10,) mean of the chances, NaN in an empty bin.
        killed_share: (10,) of the runs.
        error: mean |stated - killed| share over the bins, weighted by runs.
    """

    n_runs: int
    stated: float
    killed: int
    rows: Ints
    stated_share: Floats
    killed_share: Floats
    error: float


def foreseen_kills(ordered: Ordered, setting: SizingSettings, retry: RetrySettings) -> Foreseen | None:
    """Return how far stated chances of a kill hold; None where the policy looks at the task alone, and states none."""
    from workprof.memory.conditional import cheapest_chains  # noqa: PLC0415  numba waits until it is needed

    if not (setting.by_labels and ordered.known):
        return None
    chances, killed = [], []
    for runs in ordered.sequences:
        price = setting.price_runs * runs.mean_runs
        chain, chance = cheapest_chains(ordered.outlooks[runs.task], price, retry.time_to_failure)
        known = np.isfinite(chance)
        chances.append(chance[known])
        killed.append((chain[:, 0] < runs.used_bytes[runs.sized])[known])
    stated, seen = np.concatenate(chances), np.concatenate(killed)
    rows, stated_share, killed_share, error = reliability_bins(stated, seen)
    return Foreseen(len(stated), float(stated.sum()), int(seen.sum()), rows, stated_share, killed_share, error)


@dataclass(frozen=True, repr=False)
class ReplayResult(Shown):
    """Every policy on the same runs, through one simulator.

    Attributes:
        settings: as asked.
        protocol: name.
        known: from when on a run is known; '' where the protocol says it.
        seed: the first one.
        target: what was sized for.
        input_column: what was sized from, 'none' = nothing.
        n_tasks: tasks replayed.
        n_test: charged runs of one seed.
        n_cold: those of them with too few known runs, which start at their request.
        n_history: runs of earlier datasets, of the same tasks, that are known from the start.
        used_gb_h: what the charged runs used, mean over seeds: no policy can be charged less.
        mean_run_gb_h: of all runs that are known in the end; a failure is priced by the mean of those known by then.
        policies: name -> figures.
        tasks: by task, then policy.
        frontier: settings of ours, least failures last.
        foreseen: how far the chances of a kill hold that `workprof` states; None where it states none.
        choices: price per failure -> best.
        best_by_task: one per task.
        left_out: reason -> runs.
        evidence: rows that did not finish, by cause; those killed for memory are known to others as a use of at least
            their limit, except in the published protocol.
        notes: in words.
        seconds: of the whole.
    """

    settings: ReplaySettings
    protocol: str
    known: str
    seed: int
    target: str
    input_column: str
    n_tasks: int
    n_test: int
    n_cold: int
    n_history: int
    used_gb_h: float
    mean_run_gb_h: float
    policies: dict[str, PolicyFigures]
    tasks: tuple[TaskFigures, ...]
    frontier: tuple[FrontierPoint, ...]
    foreseen: Foreseen | None
    choices: tuple[PriceChoice, ...]
    best_by_task: tuple[TaskChoice, ...]
    left_out: dict[str, int]
    evidence: tuple[Evidence, ...]
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Charges:
    """What a policy's runs cost, task after task.

    Attributes:
        task: (n,) place of the task among the sequences.
        rows: (n,) places in the table of runs.
        first_bytes: (n,) sizes of the first attempts.
        failures: (n,) failed attempts.
        charged_gb_h: (n,).
        wasted_gb_h: (n,).
        moments: (n,) order for the curve.
        sized_from: (n,) words for what each size rests on.
        n_never_fit: runs that failed at the cap.
        n_given_up: runs that failed the last retry.
        seconds: of sizes and charges.
    """

    task: Ints
    rows: Ints
    first_bytes: Floats
    failures: Ints
    charged_gb_h: Floats
    wasted_gb_h: Floats
    moments: Floats
    sized_from: NDArray[np.str_]
    n_never_fit: int
    n_given_up: int
    seconds: float


def charge(policy: Policy, ordered: Ordered, retry: RetrySettings) -> Charges:
    """Return the charges of all runs to be sized, task after task in the order of their starts."""
    started = time.perf_counter()
    tried = [charge_task(policy, runs, retry, ordered.cold_runs) for runs in ordered.sequences]
    seconds = time.perf_counter() - started
    outcomes = [outcome for outcome, _ in tried]
    return Charges(
        task=np.repeat(np.arange(len(outcomes)), [len(outcome.failures) for outcome in outcomes]),
        rows=np.concatenate([rows[one.sized] for rows, one in zip(ordered.rows, ordered.sequences, strict=True)]),
        first_bytes=np.concatenate([outcome.first_bytes for outcome in outcomes]),
        failures=np.concatenate([outcome.failures for outcome in outcomes]),
        charged_gb_h=np.concatenate([outcome.charged_gb_h for outcome in outcomes]),
        wasted_gb_h=np.concatenate([outcome.wasted_gb_h for outcome in outcomes]),
        moments=np.concatenate(ordered.moments),
        sized_from=np.concatenate([words for _, words in tried]),
        n_never_fit=sum(outcome.n_never_fit for outcome in outcomes),
        n_given_up=sum(outcome.n_given_up for outcome in outcomes),
        seconds=seconds,
    )


def charge_task(
    policy: Policy, runs: Sequence, retry: RetrySettings, cold_runs: int
) -> tuple[Outcome, NDArray[np.str_]]:
    """Return what one task's runs cost, and what each was sized from.

    Runs before which fewer than `cold_runs` are known (than the policy's own `fewest_known`, where it has one) start at
    their request and are doubled after a failure, or lifted by the rule that is asked for.
    """
    warm = runs.after(getattr(policy, "fewest_known", cold_runs))
    n_cold, demand = runs.n_sized - warm.n_sized, Demand(runs.used_bytes[runs.sized], runs.hours[runs.sized])
    requests, words = requests_of(runs, retry)
    cold = only(requests[:n_cold], retry.rule if retry.rule in BEYOND else "double")
    outcome = try_sizes(demand.part(0, n_cold), cold, retry)
    if not warm.n_sized:
        return outcome, words
    sizes = lifted_by(retry.rule, policy.sizes(warm, retry), warm.max_seen_bytes)
    sized_from = sizes.sized_from
    if sized_from is None:
        sized_from = np.where(warm.known_at - warm.n_history >= max(cold_runs, 1), FROM_PEERS, FROM_HISTORY)
    then = try_sizes(demand.part(n_cold, runs.n_sized), sizes, retry)
    return outcome.and_then(then), np.concatenate([words[:n_cold], sized_from])


CURVE_POINTS = 200


def figures_of(name: str, charges: list[Charges], before: list[Charges]) -> PolicyFigures:
    """Return the figures of one policy.

    Args:
        name: of the policy.
        charges: one per seed.
        before: the presets on the first seed's order; empty where the table has no requests.
    """
    first, n = charges[0], len(charges[0].failures)
    wasted = np.array([one.wasted_gb_h.sum() for one in charges])
    failures = np.array([float(one.failures.sum()) for one in charges])
    saving, interval = math.nan, Interval(math.nan, math.nan)
    if before and before[0].charged_gb_h.sum() > 0:
        saving = float(1 - first.charged_gb_h.sum() / before[0].charged_gb_h.sum())
        interval = saving_interval(first.charged_gb_h, before[0].charged_gb_h)
    return PolicyFigures(
        policy=name,
        wasted_gb_h=float(wasted.mean()),
        charged_gb_h=float(np.mean([one.charged_gb_h.sum() for one in charges])),
        failures=float(failures.mean()),
        seconds=float(np.mean([one.seconds for one in charges])),
        n_never_fit=float(np.mean([one.n_never_fit for one in charges])),
        n_given_up=float(np.mean([one.n_given_up for one in charges])),
        failed_share=wilson(float(np.mean([(one.failures > 0).sum() for one in charges])), n),
        saving=interval,
        saving_share=saving,
        wasted_by_seed=wasted,
        failures_by_seed=failures,
        n_sized_from=dict(Counter(first.sized_from.tolist())),
        curve=curve_of(first),
    )


def curve_of(charges: Charges) -> Curve:
    """Return cumulative waste against runs seen, at most 200 points, the last one at the end."""
    order = np.argsort(charges.moments, kind="stable")
    summed = np.cumsum(charges.wasted_gb_h[order])
    places = np.unique(np.linspace(0, len(summed) - 1, min(CURVE_POINTS, len(summed))).round().astype(np.int64))
    return Curve(places.astype(np.float64) + 1, summed[places])


SOURCES = {
    FROM_PEERS: "from known runs of their task",
    FROM_HISTORY: "from earlier traces",
    FROM_REQUEST: "by their request",
    FROM_NODE: "by a whole node",
    FROM_USE: "by their true use",
}


def sized_from_words(result: ReplayResult) -> str:
    """Return how many runs ours (else the first policy) sized from what, and from when on a run is known."""
    one = result.policies.get(Workprof.name) or next(iter(result.policies.values()))
    counts = ", ".join(f"{n:,} {SOURCES.get(source, source)}" for source, n in sorted(one.n_sized_from.items()))
    known = {FINISHED: "; a run is known from its end on", SUBMITTED: "; a run is known from its submission on"}
    earlier = f"; {result.n_history:,} runs of earlier datasets are known from the start" if result.n_history else ""
    text = f"Sized by {one.policy}: {counts}{known.get(result.known, '')}{earlier}"
    if result.foreseen is not None and one.policy == Workprof.name:
        one_of = f"{result.foreseen.stated:,.0f} of {result.foreseen.n_runs:,} first attempts"
        text += f"; {one_of} were foreseen to be killed, {result.foreseen.killed:,} were"
    return text


def task_figures_of(name: str, charges: list[Charges], ordered: Ordered) -> tuple[TaskFigures, ...]:
    """Return the figures of one policy by task, means over seeds."""
    n_tasks, n_seeds = len(ordered.sequences), len(charges)
    runs = np.bincount(charges[0].task, minlength=n_tasks)
    wasted, charged, failures = (np.zeros(n_tasks) for _ in range(3))
    for one in charges:
        wasted += np.bincount(one.task, one.wasted_gb_h, n_tasks) / n_seeds
        charged += np.bincount(one.task, one.charged_gb_h, n_tasks) / n_seeds
        failures += np.bincount(one.task, one.failures, n_tasks) / n_seeds
    return tuple(
        TaskFigures(
            task=sequence.task,
            policy=name,
            n_runs=int(runs[i]),
            wasted_gb_h=float(wasted[i]),
            charged_gb_h=float(charged[i]),
            failures=float(failures[i]),
            too_few=too_few(len(sequence)),
        )
        for i, sequence in enumerate(ordered.sequences)
    )


MANY_RUNS = 20_000
"""Above so many runs, settings that look at inputs are tried at our default price and one more only."""


def settings_of_ours(prices_runs: tuple[float, ...], n_runs: int, *, with_input: bool) -> tuple[SizingSettings, ...]:
    """Return the settings that make the frontier: every price, with inputs where there are any, and by task alone."""
    prices = tuple(sorted(set(prices_runs)))
    some = prices
    if n_runs > MANY_RUNS and with_input and prices:
        some = tuple(sorted({DEFAULT.price_runs, prices[2 * len(prices) // 3]}))
    by_input = tuple(replace(DEFAULT, price_runs=price) for price in some)
    return by_input + tuple(
        replace(DEFAULT, price_runs=price, unseen_runs=0.5, by_input=False, by_labels=False) for price in prices
    )


def charge_setting(setting: SizingSettings, orders: Iterable[Ordered], retry: RetrySettings) -> list[Charges]:
    """Return the charges of the policy `workprof` with one setting on each order (one per seed).

    What is foreseen of a table's runs is computed once, and counts into the seconds of the setting that is first.
    """
    result = []
    for ordered in orders:
        started = time.perf_counter()
        policy = workprof_on(ordered, setting)
        foreseen = time.perf_counter() - started
        charges = charge(policy, ordered, retry)
        result.append(replace(charges, seconds=charges.seconds + foreseen))
    return result


def workprof_on(ordered: Ordered, setting: SizingSettings) -> Policy:
    """Return the policy `workprof`: by all that is known at submission; in the published harness by the task alone."""
    by_labels = setting.by_labels and ordered.known != ""
    return Conditional(setting.price_runs, ordered.outlooks) if by_labels else Workprof(setting)


BETWEEN = 2
"""Prices tried between each two that are named, where a setting costs little."""


def settings_at_submission(prices_runs: tuple[float, ...]) -> tuple[SizingSettings, ...]:
    """Return the settings that make the frontier in the order of submission.

    By all that is known then: every price and some between; by the task alone, which few runs a task may favour: every
    price.
    """
    prices = np.unique(prices_runs)
    between = [np.geomspace(*pair, BETWEEN + 2)[1:-1] for pair in pairwise(prices[prices > 0])]
    every = [float(f"{price:.3g}") for price in np.sort(np.concatenate([prices, *between]))]
    by_labels = tuple(replace(DEFAULT, price_runs=price) for price in every)
    return by_labels + tuple(
        replace(DEFAULT, price_runs=float(price), by_input=False, by_labels=False) for price in prices
    )


def setting_words(setting: SizingSettings, known: str = "") -> str:
    """Return a setting of the policy `workprof` in words; `known` as `Ordered` has it."""
    by = "by input and task" if setting.by_input else "by task alone"
    if known and setting.by_labels:
        by = "by what is known at submission"
    return f"a failure costs {setting.price_runs:g} mean runs, {by}"


def frontier_point(setting: SizingSettings, charges: Iterable[Charges], known: str = "") -> FrontierPoint:
    """Return the mean waste and failures of one setting over its charges (one per seed).

    Args:
        setting: of the policy `workprof`.
        charges: of it.
        known: as `Ordered` has it.
    """
    charges = list(charges)
    return FrontierPoint(
        setting=setting_words(setting, known),
        price_runs=setting.price_runs,
        by_input=setting.by_input,
        by_labels=setting.by_labels and known != "",
        wasted_gb_h=float(np.mean([one.wasted_gb_h.sum() for one in charges])),
        failures=float(np.mean([one.failures.sum() for one in charges])),
        efficient=True,
    )


def marked(points: Iterable[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Return the points, least waste first, those marked that no other beats in both."""
    ordered = sorted(points, key=lambda point: (point.wasted_gb_h, point.failures))
    fewest, result = np.inf, []
    for point in ordered:
        result.append(replace(point, efficient=point.failures < fewest))
        fewest = min(fewest, point.failures)
    return tuple(result)


def dominated_by_ours(wasted_gb_h: float, failures: float, frontier: Iterable[FrontierPoint]) -> bool:
    """Return whether some setting of ours wastes less at no more failures."""
    return any(point.wasted_gb_h < wasted_gb_h and point.failures <= failures for point in frontier)


def choices_by_price(
    policies: Iterable[PolicyFigures], frontier: Iterable[FrontierPoint], prices_gb_h: Iterable[float]
) -> tuple[PriceChoice, ...]:
    """Return the policy or setting of least waste + price x failures for each price of a failure."""
    known = [(p.policy, p.wasted_gb_h, p.failures) for p in policies if not p.policy.startswith("oracle")]
    known += [(point.setting, point.wasted_gb_h, point.failures) for point in frontier]
    result = []
    for price in prices_gb_h:
        name, wasted, failures = min(known, key=lambda one: one[1] + price * one[2])
        result.append(PriceChoice(price, name, wasted, failures, wasted + price * failures))
    return tuple(result)


def best_by_task(tasks: Iterable[TaskFigures], mean_run_byte_h: float) -> tuple[TaskChoice, ...]:
    """Return the policy of least waste + price x failures for each task, at our default price."""
    price = DEFAULT.price_runs * mean_run_byte_h / GB
    best: dict[str, TaskChoice] = {}
    for one in tasks:
        total = one.wasted_gb_h + price * one.failures
        held = best.get(one.task)
        if not one.policy.startswith("oracle") and (held is None or total < held.total_gb_h):
            best[one.task] = TaskChoice(one.task, one.policy, total, one.too_few)
    return tuple(best.values())


LATEST_RUNS = 400
"""As the kernels have it; they are loaded late."""

POLICIES_SHARE = 0.6
"""Of the progress; the rest is the frontier."""


def replay(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings, progress: Progress = silent) -> ReplayResult:
    """Return what every policy would have wasted and failed on the runs of a table.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; the input's column where one is chosen; with `finished` and
            `status` where it holds rows that did not finish; every other name -> an earlier table of the kind, whose
            runs are known from the start.
        settings: policies, protocol, target, input, retries.
        progress: told each policy and setting.

    Raises:
        ColumnMissing: when the target's or the input's column is absent.
        NotEnoughData: when no run or task is left.
        SettingsError: for an unknown target.
    """
    started = time.perf_counter()
    progress(0.0, "Ordering the runs")
    warm_sizing()
    jobs, earlier = latest_of(frames["jobs"], settings.latest_runs)
    runs, orders = ordered_runs({**frames, "jobs": jobs}, settings)
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    charges = _charge_all(orders, settings, progress, with_requests=with_requests)
    result = _summed(runs, orders, charges, settings, progress)
    return replace(
        result,
        left_out=earlier | result.left_out,
        evidence=evidence_of(jobs, settings.used_target),
        seconds=time.perf_counter() - started,
    )


def _summed(
    runs: Runs, orders: list[Ordered], charges: dict[str, list[Charges]], settings: ReplaySettings, progress: Progress
) -> ReplayResult:
    """Return the record of all charges, its seconds still to be filled in."""
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    before = [charge(Preset(), ordered, settings.retry) for ordered in orders[:1]] if with_requests else []
    policies = {name: figures_of(name, result, before) for name, result in charges.items()}
    tasks = tuple(one for name, result in charges.items() for one in task_figures_of(name, result, orders[0]))
    frontier = _frontier(orders, settings, charges, progress)
    first, mean_run = orders[0], orders[0].mean_run_byte_h
    return ReplayResult(
        settings=settings,
        protocol=settings.protocol,
        known="" if settings.protocol == SIZEY else settings.known,
        seed=settings.used_seeds[0],
        target=settings.used_target,
        input_column=settings.used_input,
        n_tasks=len(first.sequences),
        n_test=len(next(iter(charges.values()))[0].failures),
        n_cold=sum(int(np.searchsorted(one.known_at, first.cold_runs)) for one in first.sequences),
        n_history=sum(one.n_history for one in first.sequences),
        used_gb_h=float(np.mean([_used_gb_h(ordered) for ordered in orders])),
        mean_run_gb_h=mean_run / GB,
        policies=policies,
        tasks=tasks,
        frontier=frontier,
        foreseen=foreseen_kills(first, settings.sizing, settings.retry) if Workprof.name in charges else None,
        choices=choices_by_price(policies.values(), frontier, [p * mean_run / GB for p in settings.prices_runs]),
        best_by_task=best_by_task(tasks, mean_run),
        left_out=dict(runs.left_out) | first.left_out,
        evidence=(),
        notes=_notes(runs, first, settings, with_requests=with_requests),
        seconds=0.0,
    )


def _inputs(jobs: pd.DataFrame, runs: Runs, settings: ReplaySettings) -> Floats:
    """Return (n,) inputs of the runs, 0 where none is chosen, NaN where one is missing."""
    name = settings.used_input
    if name == NO_INPUT:
        return np.zeros(len(runs))
    if name not in jobs.columns:
        raise ColumnMissing(f"the table has no column {name} to size from; choose another input, or none")
    values = numbers_of(jobs, name)[runs.rows]
    if not np.isfinite(values).any():
        raise ColumnMissing(f"the column {name} has no numbers to size from; choose another input, or none")
    return values


def ordered_runs(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings) -> tuple[Runs, list[Ordered]]:
    """Return the runs of a table as `replay` takes them, and their tasks in its order, one for each seed."""
    runs = runs_of(finished_for_sizes(frames["jobs"], settings.used_target), settings.used_target)
    return runs, _orders(_pool(runs, frames, settings), settings)


@dataclass(frozen=True)
class _Pool:
    """Runs to be sized, then those killed for memory, then those of earlier traces; (n,) inputs; two counts."""

    runs: Runs
    inputs: Floats
    n_own: int
    n_killed: int


def _orders(pool: _Pool, settings: ReplaySettings) -> list[Ordered]:
    if settings.protocol == SIZEY:
        return [sizey_order(pool.runs, pool.inputs, seed) for seed in settings.used_seeds]
    order = finished_order if settings.known == FINISHED else submit_order
    return [order(pool.runs, pool.inputs, settings.cold_runs, pool.n_own, pool.n_killed)]


def _pool(own: Runs, frames: Mapping[str, pd.DataFrame], settings: ReplaySettings) -> _Pool:
    """Return all runs that a replay knows, see `replay`; the published protocol knows the finished ones alone."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    target = settings.used_target
    jobs = finished_for_sizes(frames["jobs"], target)
    inputs = _inputs(jobs, own, settings)
    killed = killed_for_memory(frames["jobs"], target)
    earlier = [
        _renamed(part, jobs)
        for name, frame in frames.items()
        if name != "jobs"
        for part in (finished_for_sizes(frame, target), killed_for_memory(frame, target))
    ]
    others = [one for one in (killed, *earlier) if len(one)]
    if settings.protocol == SIZEY or not others:
        return _Pool(own, inputs, len(own), 0)
    every = pd.concat([jobs, *others], ignore_index=True)
    runs = runs_of(every, target)
    n_killed = int((runs.rows < len(jobs) + len(killed)).sum()) - len(own)
    return _Pool(runs, _inputs(every, runs, settings), len(own), n_killed)


def _renamed(earlier: pd.DataFrame, jobs: pd.DataFrame) -> pd.DataFrame:
    """Return an earlier table; a task that the table lacks is the one task there that ends in the same part."""
    if "task_name" not in jobs.columns or "task_name" not in earlier.columns:
        return earlier
    own = set(jobs["task_name"].dropna())
    last = Counter(name.rpartition(":")[2] for name in own)
    short = {name.rpartition(":")[2]: name for name in own if last[name.rpartition(":")[2]] == 1}

    def known_as(name: object) -> object:
        return name if name in own or not isinstance(name, str) else short.get(name.rpartition(":")[2], name)

    return earlier.assign(task_name=earlier["task_name"].map(known_as))


def _charge_all(
    orders: list[Ordered], settings: ReplaySettings, progress: Progress, *, with_requests: bool
) -> dict[str, list[Charges]]:
    """Return policy -> charges by seed; without any request the presets are no policy."""
    names = [name for name in settings.policies if with_requests or name != Preset.name] or [Workprof.name]
    result: dict[str, list[Charges]] = {}
    progress(0.0, f"Replaying {names[0]}")
    for name, charges in zip(names, each(charges_of, (orders, settings), names), strict=True):
        result[name] = charges
        upcoming = names[min(len(result), len(names) - 1)]
        progress(POLICIES_SHARE * len(result) / len(names), f"Replaying {upcoming}")
    return result


def charges_of(replayed: tuple[list[Ordered], ReplaySettings], name: str) -> list[Charges]:
    """Return the charges of one policy by seed."""
    orders, settings = replayed
    if name == Workprof.name:
        return charge_setting(settings.sizing, orders, settings.retry)
    policy = Workprof(settings.sizing, name) if name == BY_TASK else policy_named(name)
    return [charge(policy, one, settings.retry) for one in orders]


def _frontier(
    orders: list[Ordered], settings: ReplaySettings, known: dict[str, list[Charges]], progress: Progress
) -> tuple[FrontierPoint, ...]:
    """Return the settings of ours; `known` holds the charges of the policy `workprof` where it was replayed."""
    n_runs, known_when = sum(len(one) for one in orders[0].sequences), orders[0].known
    if known_when:
        ours = settings_at_submission(settings.prices_runs)
    else:
        ours = settings_of_ours(settings.prices_runs, n_runs, with_input=settings.used_input != NO_INPUT)
    points = []
    for i, setting in enumerate(ours):
        progress(POLICIES_SHARE + (1 - POLICIES_SHARE) * i / len(ours), "Trading waste against failures")
        held = known.get(Workprof.name) if setting == settings.sizing else None
        charges = held or charge_setting(setting, orders, settings.retry)
        points.append(frontier_point(setting, charges, known_when))
    return marked(points)


def _used_gb_h(ordered: Ordered) -> float:
    return float(sum(one.used_bytes[one.sized] @ one.hours[one.sized] for one in ordered.sequences)) / GB


def _notes(runs: Runs, ordered: Ordered, settings: ReplaySettings, *, with_requests: bool) -> tuple[str, ...]:
    """Return what a reader must know about the figures, in words."""
    notes = []
    if settings.used_input in AFTER_THE_RUN:
        notes.append(f"{settings.used_input} is known only after a run: every policy that uses it is overstated")
    if not with_requests:
        notes.append("no run has a request: presets are excluded, cold runs are charged a whole node")
    elif n_none := int((~np.isfinite(runs.requested_bytes)).sum()):
        notes.append(f"{n_none:,} runs without a request take their task's most common one so far, or a whole node")
    if ordered.n_without_input:
        notes.append(f"{ordered.n_without_input:,} runs without an input take the median of their task's first runs")
    longest = max(len(one) for one in ordered.sequences)
    ours = BY_TASK if ordered.known else Workprof.name
    latest = [POLICY_WORDS[name] for name in (ours, "local_min_waste") if name in {ours, *settings.policies}]
    if longest > LATEST_RUNS:
        notes.append(f"a task has {longest:,} runs: its latest {LATEST_RUNS} alone count for {' and '.join(latest)}")
    refitted = [POLICY_WORDS[name] for name in ("tovar", "min_waste", "linear_offset") if name in settings.policies]
    if longest > REFIT_EACH and refitted:
        notes.append(
            f"beyond {REFIT_EACH:,} runs of a task, {', '.join(refitted)} learn anew only when the known runs have "
            "grown by 2 %"
        )
    if sum(len(one) for one in ordered.sequences) > MANY_RUNS and settings.used_input != NO_INPUT:
        notes.append(f"more than {MANY_RUNS:,} runs: the frontier has fewer settings that look at inputs")
    return (*notes, *_clock_notes(ordered, settings))


def _clock_notes(ordered: Ordered, settings: ReplaySettings) -> list[str]:
    notes = []
    if settings.train and not any(one.n_history for one in ordered.sequences):
        notes.append("the earlier datasets have no run of any task of this one: nothing is known from the start")
    if ordered.n_without_clock and settings.known == FINISHED:
        notes.append(
            f"{ordered.n_without_clock:,} runs have neither a start nor an end: they come last, in the order of the"
            " table, and know all runs before them, finished or not"
        )
    elif ordered.n_without_clock:
        notes.append("some runs have no time of submission: their tasks are replayed in the order of the table")
    if settings.protocol == SUBMIT_TIME and settings.known == SUBMITTED:
        notes.append(
            "a run counts as known from its submission on, though it may not have ended: savings are overstated"
        )
    return notes
