"""Every run before and after a plan, and the rows that they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.columns import numbers_if_present
from workprof.memory.money import Money, money_of
from workprof.memory.plans.core_rules import cores_after
from workprof.memory.plans.plans import Plan
from workprof.memory.retry import Demand, RetrySettings, only, try_sizes
from workprof.memory.rollup.measures import (
    MEAN,
    PEAK,
    BeforeAfter,
    Clock,
    Held,
    clock_of,
    mean_held,
    one_each,
    peak_held,
)
from workprof.memory.rollup.settings import RollupSettings
from workprof.memory.runs import Runs
from workprof.units import GB, HOUR_S

if TYPE_CHECKING:
    import pandas as pd


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
