"""Memory, cores and money before and after a plan."""

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
from workprof.core.units import GB, HOUR_S
from workprof.memory.plan import KEEP, NON_PARALLEL_TO_ONE, Plan, PlanSettings, cores_after, plan_of
from workprof.memory.retry import Demand, RetrySettings, only, try_sizes
from workprof.memory.usage import Request, Runs, requesting, runs_of, with_flat_request

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
            flag="--price",
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
        note = f"{span_hours:,.1f} h of the trace scaled to a month of {MONTH_HOURS:.0f} h, as if work went on alike"
    return Money(
        price, before, after, before - after, span_hours, before * scale, after * scale, (before - after) * scale, note
    )


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
            key="memory_measure",
            label="Amount",
        ),
    ] = MEAN
    plan: PlanSettings = field(default_factory=PlanSettings)
    cores: Annotated[
        str,
        Setting(
            "Cores after the plan.",
            choices={NON_PARALLEL_TO_ONE: "tasks that use one core at most get one", KEEP: "as requested"},
            key="memory_cores",
        ),
    ] = NON_PARALLEL_TO_ONE
    request_bytes: Request = 0.0
    price: Price = field(default_factory=Price)


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
class Ledger:
    """Every run, before and after.

    Attributes:
        settings: of the roll-up.
        task: (n,) codes.
        memory: before and after, GB.
        cores: before and after.
        failures: (n,) attempts that fail under the plan.
        clock: when the runs ran.
    """

    settings: RollupSettings
    task: Ints
    memory: tuple[Held, Held]
    cores: tuple[Held, Held]
    failures: Ints
    clock: Clock

    def row(self, name: str, own: Bools) -> RollupRow:
        """Return the row of some of the runs."""
        hours = [_gb_h(held.take(own)) for held in self.memory]
        return RollupRow(
            name=name,
            n_runs=int(own.sum()),
            memory_gb=BeforeAfter(*(self._amount(held, own) for held in self.memory)),
            cores=BeforeAfter(*(self._amount(held, own) for held in self.cores)),
            memory_gb_h=BeforeAfter(*hours),
            n_failures=int(self.failures[own].sum()),
            money=money_of(hours[0], hours[1], self.clock.span_hours, self.settings.price),
        )

    def _amount(self, held: Held, own: Bools) -> float:
        if self.settings.measure == MEAN:
            return mean_held(held.take(own), self.clock)
        if self.settings.measure == PEAK:
            return peak_held(held.take(own), self.clock.take(own))
        return one_each(held.take(own), self.task[own])


def ledger_of(jobs: pd.DataFrame, runs: Runs, plan: Plan, settings: RollupSettings) -> tuple[Ledger, tuple[str, ...]]:
    """Return the ledger of runs that have a request, and the tasks that get one core."""
    sizes = {task.task: task.size_bytes for task in plan.tasks}
    first = np.array([sizes[name] for name in runs.tasks])[runs.task]
    outcome = try_sizes(Demand(runs.used_bytes, runs.hours), only(first, "request_x_attempt"), RetrySettings())
    asked = _column(jobs, "requested_cpu_percent", runs.rows) / 100
    given, single = cores_after(asked, _column(jobs, "cpu_usage_percent", runs.rows), runs.task, settings.cores)
    start = _column(jobs, "start_time_s", runs.rows)
    start = np.where(np.isnan(start), runs.submit_s, start)
    ledger = Ledger(
        settings=settings,
        task=runs.task,
        memory=_memory(runs, outcome.charged_gb_h, outcome.final_bytes),
        cores=(
            Held(np.nan_to_num(asked), runs.hours),
            Held(np.nan_to_num(given), runs.hours * (1 + outcome.failures)),
        ),
        failures=outcome.failures,
        clock=clock_of(start, runs.hours * HOUR_S),
    )
    return ledger, tuple(runs.tasks[code] for code in single)


def _memory(runs: Runs, charged_gb_h: Floats, final_bytes: Floats) -> tuple[Held, Held]:
    """Return what runs hold; after, the size of the attempt that finishes, and hours that make up all attempts."""
    size_gb = final_bytes / GB
    return Held(runs.requested_bytes / GB, runs.hours), Held(size_gb, charged_gb_h / size_gb)


def _gb_h(held: Held) -> float:
    return float((held.amount * held.hours).sum())


def _column(jobs: pd.DataFrame, name: str, rows: Ints) -> Floats:
    found = numbers_if_present(jobs, name)
    return np.full(len(rows), np.nan) if found is None else found[rows]


NO_NAME = "(no name)"


@dataclass(frozen=True)
class Rollup:
    """A roll-up.

    Attributes:
        settings: as asked.
        rows: those that save most GB·h first.
        total: of all runs; the sum of the rows except for the measure 'peak'.
        plan: the sizes after.
        one_core_tasks: tasks whose runs get one core.
        left_out: reason -> rows of the table.
        notes: what to know about the figures.
        seconds: of the computation.
    """

    settings: RollupSettings
    rows: tuple[RollupRow, ...]
    total: RollupRow
    plan: Plan
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
        NotEnoughData: when no run has a request.

    Source:
        The load-aware provisioning thesis, Tables 12 and 13, for the measure 'one_each' and the rule for cores.
    """
    started = time.perf_counter()
    progress(None, "Adding up what runs hold")
    jobs = frames["jobs"]
    plan = plan_of(frames, settings.plan)
    runs = requesting(with_flat_request(runs_of(jobs, settings.plan.target), settings.request_bytes))
    ledger, one_core = ledger_of(jobs, runs, plan, settings)
    codes, names = _groups(jobs, runs, settings.by)
    rows = [ledger.row(names[code], codes == code) for code in np.unique(codes)]
    rows.sort(key=lambda row: row.memory_gb_h.after - row.memory_gb_h.before)
    everyone = np.ones(len(runs), dtype=bool)
    return Rollup(
        settings=settings,
        rows=tuple(rows),
        total=_total(ledger.row("total", everyone), rows, settings.measure),
        plan=plan,
        one_core_tasks=one_core,
        left_out=dict(runs.left_out),
        notes=_notes(ledger.clock, settings.measure),
        seconds=time.perf_counter() - started,
    )


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


def _notes(clock: Clock, measure: str) -> tuple[str, ...]:
    notes = []
    unknown = int(np.isnan(clock.start_s).sum())
    if measure == PEAK:
        notes.append("rows peak at different moments, so the total is less than their sum")
        if unknown:
            notes.append(f"{unknown:,} runs have no start time and are in no peak")
    if measure == MEAN and not clock.span_hours > 0:
        notes.append("the table has no start times: amounts are means over the hours of the runs, one after another")
    return tuple(notes)
