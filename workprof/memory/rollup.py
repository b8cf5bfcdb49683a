"""What if: memory, cores and money before and after a plan, over the trace and from moment to moment."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import GB
from workprof.memory.load import (
    CAPPED,
    PLANNED,
    REQUESTED,
    Attempts,
    Burst,
    Clock,
    Load,
    attempts_of,
    bursts_of,
    clock_of,
    levels_of,
    load_of,
)
from workprof.memory.plan import AS_REQUESTED, NON_PARALLEL_TO_ONE, UNCHANGED, Plan, PlanSettings, cores_after, plan_of
from workprof.memory.retry import Demand, RetrySettings, only, try_sizes
from workprof.memory.usage import Request, Runs, finished_of, requesting, runs_of, with_flat_request, with_killed

if TYPE_CHECKING:
    import pandas as pd


MONTH_HOURS = 365.25 * 24 / 12

ASSUMED_PRICE = 0.005
"""Per GB·h; an assumption to be replaced, not anyone's price."""


@settings
class Price:
    """A price of memory."""

    per_gb_h: Annotated[
        float,
        Setting(
            "Per GB·h; an assumption of yours, no price list comes with this.",
            least=0,
            flag="--price-gb-h",
            also=("--price",),
            key="memory_price",
            label="Price per GB·h (assumed)",
        ),
    ] = ASSUMED_PRICE
    currency: Annotated[str, Setting("Of the price, shown as it is.", most=8, some=True, key="memory_currency")] = "USD"


@dataclass(frozen=True)
class Money:
    """Spend before and after.

    Attributes:
        price: as set; an assumption.
        before, after: over the trace.
        saved: before - after; at most `before`, below 0 when the plan costs more.
        span_hours: from the first to the last run of the trace; NaN where its clock is not known.
        monthly_before, monthly_after, monthly_saved: scaled to a month of such work; NaN without a span.
        note: how the month was scaled.
    """

    price: Price
    before: float
    after: float
    saved: float
    span_hours: float
    monthly_before: float
    monthly_after: float
    monthly_saved: float
    note: str


def money_of(before_gb_h: float, after_gb_h: float, span_hours: float, price: Price) -> Money:
    """Return the money of two amounts of GB·h.

    Args:
        before_gb_h: requested, 0 or more.
        after_gb_h: allotted by the plan, failed attempts included, 0 or more.
        span_hours: of the trace, NaN = not known.
        price: per GB·h.

    Raises:
        NotEnoughData: when an amount is no number of 0 or more.
    """
    for name, amount in (("before", before_gb_h), ("after", after_gb_h)):
        if not 0 <= amount < math.inf:
            raise NotEnoughData(f"{name} is {amount} GB·h, which cannot be priced; give requests and run times")
    before, after = before_gb_h * price.per_gb_h, after_gb_h * price.per_gb_h
    known = span_hours > 0
    scale = MONTH_HOURS / span_hours if known else float("nan")
    note = "the trace has no clock, so nothing is scaled to a month"
    if known:
        note = f"{span_hours:,.1f} h of the trace scaled to a month of {MONTH_HOURS:.0f} h, assuming the same workload"
    return Money(
        price, before, after, before - after, span_hours, before * scale, after * scale, (before - after) * scale, note
    )


MEAN, PEAK, ONE_EACH = "mean", "peak", "one_each"
MEASURES = (MEAN, PEAK, ONE_EACH)


@dataclass(frozen=True)
class BeforeAfter:
    """An amount as it is requested now, and as it is under the plan."""

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


def mean_held(held: Held, clock: Clock) -> float:
    """Return the amount held on average over the span; without a clock, over the hours of the runs one by one.

    It adds up: parts of the runs sum to the whole (with a clock), and it is proportional to GB·h and so to money.
    """
    span = clock.span_hours if clock.span_hours > 0 else float(held.hours.sum())
    return float((held.amount * held.hours).sum()) / span if span > 0 else 0.0


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


GROUPINGS = {
    "task": ("task_name",),
    "workflow": ("workload",),
    "run": ("run_name",),
    "namespace": ("namespace", "group"),
}
"""What rows may be, and the columns that say so, the first that is there."""


@settings
class RollupSettings:
    """What is added up before and after a plan, and how."""

    by: Annotated[
        str,
        Setting(
            "What a row is.",
            choices=tuple(GROUPINGS),
            key="memory_by",
            label="Rows",
        ),
    ] = "task"
    measure: Annotated[
        str,
        Setting(
            "Which amount is added up.",
            choices={
                MEAN: "held on average over the trace",
                PEAK: "at the worst moment",
                ONE_EACH: "one run of every task, as published",
            },
            shown={MEAN: "Average", PEAK: "Peak", ONE_EACH: "One run of each task"},
            key="memory_measure",
            label="Amount",
        ),
    ] = MEAN
    plan: PlanSettings = field(default_factory=PlanSettings)
    cores: Annotated[
        str,
        Setting(
            "Cores after the plan.",
            choices={NON_PARALLEL_TO_ONE: "tasks that use one core at most get one", AS_REQUESTED: "as requested"},
            shown={NON_PARALLEL_TO_ONE: "One for serial tasks", AS_REQUESTED: "As requested"},
            key="memory_cores",
        ),
    ] = NON_PARALLEL_TO_ONE
    request_bytes: Request = 0.0
    price: Price = field(default_factory=Price)
    capacity_bytes: Annotated[
        float | None,
        Setting(
            "Memory available for all runs together; the result shows how often it would be too little.",
            unit="bytes",
            above=0,
            key="memory_capacity",
            label="Available memory",
            empty="not known",
        ),
    ] = None
    growth: Annotated[
        float,
        Setting(
            "Times the load of the trace, before and after: so many of each run, at the same times.",
            above=0,
            most=1000,
            key="memory_growth",
            label="Growth of the load (times)",
        ),
    ] = 1.0
    leave_out_bursts: Annotated[
        bool,
        Setting(
            "Exclude what a task starts on a day on which it is a burst: more than 5 % of all GB·h requested, and "
            "more than three times its average day.",
            key="memory_rollup_bursts",
            label="Exclude bursts",
        ),
    ] = False


@dataclass(frozen=True)
class RollupRow:
    """One row of a roll-up, or its total.

    Attributes:
        name: of the task, workflow, run or namespace.
        n_runs: runs in it.
        memory_gb: by the measure of the settings.
        cores: likewise; runs without a request hold none.
        memory_gb_h: GB·h, whatever the measure.
        n_failures: attempts that would fail under the plan, in this history.
        money: of the GB·h.
    """

    name: str
    n_runs: int
    memory_gb: BeforeAfter
    cores: BeforeAfter
    memory_gb_h: BeforeAfter
    n_failures: int
    money: Money


@dataclass(frozen=True)
class Accounts:
    """Every run that fits, before and after, all for the load of the settings.

    Attributes:
        settings: of the roll-up.
        task: (n,) codes.
        memory: before and after, GB.
        cores: before and after.
        attempts: before and after, of bytes, for the load of today.
        failures: (n,) attempts that fail under the plan.
        clock: when the runs ran.
    """

    settings: RollupSettings
    task: Ints
    memory: tuple[Held, Held]
    cores: tuple[Held, Held]
    attempts: tuple[Attempts, Attempts]
    failures: Ints
    clock: Clock

    def row(self, name: str, own: Bools) -> RollupRow:
        """Return the row of some of the runs."""
        hours = [_gb_h(held.take(own)) for held in self.memory]
        peaks = self.settings.measure == PEAK
        return RollupRow(
            name=name,
            n_runs=int(own.sum()),
            memory_gb=self._memory_peaks(own) if peaks else self._amounts(self.memory, own),
            cores=self._core_peaks(own) if peaks else self._amounts(self.cores, own),
            memory_gb_h=BeforeAfter(*hours),
            n_failures=int(self.failures[own].sum()),
            money=money_of(hours[0], hours[1], self.clock.span_hours, self.settings.price),
        )

    def _amounts(self, held: tuple[Held, Held], own: Bools) -> BeforeAfter:
        if self.settings.measure == MEAN:
            return BeforeAfter(*(mean_held(one.take(own), self.clock) for one in held))
        return BeforeAfter(*(one_each(one.take(own), self.task[own]) for one in held))

    def _memory_peaks(self, own: Bools) -> BeforeAfter:
        return BeforeAfter(*(levels_of(one.of(own)).peak * self.settings.growth / GB for one in self.attempts))

    def _core_peaks(self, own: Bools) -> BeforeAfter:
        pairs = zip(self.attempts, self.cores, strict=True)
        return BeforeAfter(*(levels_of(replace(one, amount=held.amount[one.run]).of(own)).peak for one, held in pairs))


def accounts_of(
    jobs: pd.DataFrame, runs: Runs, plan: Plan, settings: RollupSettings
) -> tuple[Accounts, tuple[str, ...]]:
    """Return the accounts of runs that have a request and fit, and the tasks that get one core.

    Retries are those of the exported plan: size x attempt, up to the cap. Runs of tasks that keep their requests hold
    what they requested, and none of them is killed, as now.
    """
    retry, growth = RetrySettings(cap_bytes=settings.plan.cap_bytes), settings.growth
    by_name = {task.task: task for task in plan.tasks}
    planned = np.array([by_name[name].size_bytes for name in runs.tasks])[runs.task]
    unchanged = np.array([by_name[name].rule == UNCHANGED for name in runs.tasks])[runs.task]
    cap = np.inf if retry.cap_bytes is None else retry.cap_bytes
    first = np.maximum(np.where(unchanged, np.minimum(runs.requested_bytes, cap), planned), retry.floor_bytes)
    need = np.where(unchanged, np.minimum(runs.used_bytes, first), runs.used_bytes)
    outcome = try_sizes(Demand(need, runs.hours), only(first, "request_x_attempt"), retry)
    requested_cores = _column(jobs, "requested_cpu_percent", runs.rows) / 100
    given, single = cores_after(
        requested_cores, _column(jobs, "cpu_usage_percent", runs.rows), runs.task, settings.cores
    )
    clock, final_gb = clock_of(jobs, runs), outcome.final_bytes / GB
    accounts = Accounts(
        settings=settings,
        task=runs.task,
        memory=(
            Held(runs.requested_bytes / GB * growth, runs.hours),
            Held(final_gb * growth, outcome.charged_gb_h / final_gb),  # hours that make up all attempts
        ),
        cores=(
            Held(np.nan_to_num(requested_cores) * growth, runs.hours),
            Held(np.nan_to_num(given) * growth, runs.hours * (1 + outcome.failures)),
        ),
        attempts=(
            attempts_of(clock, runs.requested_bytes),
            attempts_of(clock, first, outcome.failures, retry.cap_bytes),
        ),
        failures=outcome.failures,
        clock=clock,
    )
    return accounts, tuple(runs.tasks[code] for code in single)


def _gb_h(held: Held) -> float:
    return float((held.amount * held.hours).sum())


def _column(jobs: pd.DataFrame, name: str, rows: Ints) -> Floats:
    result = numbers_if_present(jobs, name)
    return np.full(len(rows), np.nan) if result is None else result[rows]


NO_NAME = "(no name)"


@dataclass(frozen=True, repr=False)
class Rollup(Shown):
    """A roll-up.

    Attributes:
        settings: as asked.
        rows: those that save most GB·h first.
        total: of all runs; the sum of the rows except for the measure 'peak'.
        plan: the sizes after; its `never` names the runs that a cap rules out, which are in no row.
        load: what is held over time; None where no start is known.
        bursts: tasks on days on which they started unusually much, also where they are left out.
        one_core_tasks: tasks whose runs get one core.
        left_out: reason -> rows of the table.
        notes: what to know about the figures.
        seconds: of the computation.
    """

    settings: RollupSettings
    rows: tuple[RollupRow, ...]
    total: RollupRow
    plan: Plan
    load: Load | None
    bursts: tuple[Burst, ...]
    one_core_tasks: tuple[str, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


def rollup_of(frames: Mapping[str, pd.DataFrame], settings: RollupSettings, progress: Progress = silent) -> Rollup:
    """Return memory and cores before and after a plan.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; the column that makes the rows; CPU columns for the cores;
            `start_time_s` (or `submit_time_s`) for moments and months.
        settings: rows, measure, plan, price.
        progress: told once.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run has a request, all of them are bursts, or none fits the cap.

    Source:
        The load-aware provisioning thesis, Tables 12 and 13, for the measure 'one_each' and the rule for cores.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    started = time.perf_counter()
    progress(None, "Adding up what runs hold")
    every = with_killed(frames["jobs"], settings.plan.target)
    n_finished = len(finished_of(frames["jobs"]))
    jobs, killed = every[:n_finished], every[n_finished:]
    runs = requesting(with_flat_request(runs_of(jobs, settings.plan.target), settings.request_bytes))
    gb_h = runs.requested_bytes / GB * runs.hours
    bursts, inside = bursts_of(runs.task, runs.tasks, clock_of(jobs, runs).start_s, gb_h)
    n_left_out = int(inside.sum()) if settings.leave_out_bursts else 0
    if n_left_out:
        if inside.all():
            raise NotEnoughData(f"all {len(runs):,} runs are in bursts; keep them")
        jobs = jobs.drop(index=jobs.index[runs.rows[inside]]).reset_index(drop=True)
        runs = requesting(with_flat_request(runs_of(jobs, settings.plan.target), settings.request_bytes))
    plan = plan_of({"jobs": pd.concat([jobs, killed], ignore_index=True) if len(killed) else jobs}, settings.plan)
    fits = runs.used_bytes <= (np.inf if settings.plan.cap_bytes is None else settings.plan.cap_bytes)
    if not fits.any():
        raise NotEnoughData(f"none of {len(runs):,} runs fits the cap of {plan.never.cap_gb:g} GB; give a higher one")
    everything, runs = runs, runs.take(fits)
    accounts, one_core = accounts_of(jobs, runs, plan, settings)
    codes, names = _groups(jobs, runs, settings.by)
    rows = [accounts.row(names[code], codes == code) for code in np.unique(codes)]
    rows.sort(key=lambda row: row.memory_gb_h.after - row.memory_gb_h.before)
    left_out = {"in a burst": n_left_out, "above the cap": int((~fits).sum())}
    return Rollup(
        settings=settings,
        rows=tuple(rows),
        total=_total(accounts.row("total", np.ones(len(runs), dtype=bool)), rows, settings.measure),
        plan=plan,
        load=_load(jobs, everything, accounts),
        bursts=bursts,
        one_core_tasks=one_core,
        left_out=dict(runs.left_out) | {reason: n for reason, n in left_out.items() if n},
        notes=_notes(accounts),
        seconds=time.perf_counter() - started,
    )


def _load(jobs: pd.DataFrame, everything: Runs, accounts: Accounts) -> Load | None:
    """Return what is held over time: all requests as they are now, cut to the cap where there is one, the plan's."""
    settings, clock = accounts.settings, clock_of(jobs, everything)
    cap, (now, planned) = settings.plan.cap_bytes, accounts.attempts
    unknown = int(np.isnan(clock.start_s).sum())
    if not len(planned.run):
        return None
    held = {REQUESTED: attempts_of(clock, everything.requested_bytes)}
    if cap is not None:
        held[CAPPED] = replace(now, amount=np.minimum(now.amount, cap))
    return load_of(held | {PLANNED: planned}, settings.capacity_bytes, settings.growth, unknown)


def _groups(jobs: pd.DataFrame, runs: Runs, by: str) -> tuple[Ints, tuple[str, ...]]:
    """Return (n,) codes of the rows that runs belong to, and the names of the rows."""
    if by == "task":
        return runs.task, runs.tasks
    column = next((name for name in GROUPINGS[by] if name in jobs.columns), None)
    if column is None:
        raise ColumnMissing(f"the table has no column {' or '.join(GROUPINGS[by])}; choose other rows than by {by}")
    named = jobs[column].iloc[runs.rows].astype("object")
    codes, names = named.where(named.notna(), NO_NAME).factorize()
    return codes.astype(np.int64), tuple(str(name) for name in names)


def _total(whole: RollupRow, rows: list[RollupRow], measure: str) -> RollupRow:
    """Return the total: where the measure adds up, the sum of the rows that are shown."""
    if measure != ONE_EACH:
        return whole
    return replace(
        whole, memory_gb=_summed([row.memory_gb for row in rows]), cores=_summed([row.cores for row in rows])
    )


def _summed(amounts: list[BeforeAfter]) -> BeforeAfter:
    return BeforeAfter(sum(amount.before for amount in amounts), sum(amount.after for amount in amounts))


def _notes(accounts: Accounts) -> tuple[str, ...]:
    notes, settings, clock = [], accounts.settings, accounts.clock
    unknown = int(np.isnan(clock.start_s).sum())
    if settings.measure == PEAK:
        notes.append("rows peak at different moments, so the total is less than their sum")
        if unknown:
            notes.append(f"{unknown:,} runs have no start time and are in no peak")
    if settings.measure == MEAN and not clock.span_hours > 0:
        notes.append("the table has no start times: amounts are means over the hours of the runs, one after another")
    if settings.growth != 1:
        notes.append(
            f"amounts and money are for {settings.growth:g} times the load: so many of each run at the same times; "
            "runs and failures are counted as in the trace"
        )
    return tuple(notes)
