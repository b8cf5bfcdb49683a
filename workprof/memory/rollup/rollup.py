"""Memory and cores of runs, workflows, namespaces or tasks: as asked for now, and under a plan; with the money.

By default an amount is what is held on average over the time of the trace: it adds up over rows, is proportional to
what is paid, and needs no guess how many runs overlap. The most at one moment (what a quota has to allow) and the
thesis' one run of every task are the other measures. Failed attempts under the plan are in it with their whole time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Ints
from workprof.errors import ColumnMissing
from workprof.memory.flat_requests import requesting, with_flat_request
from workprof.memory.plans.plans import Plan, plan_of
from workprof.memory.rollup.ledger import RollupRow, ledger_of
from workprof.memory.rollup.measures import MEAN, ONE_EACH, PEAK, BeforeAfter, Clock
from workprof.memory.rollup.settings import GROUPINGS, RollupSettings
from workprof.memory.runs import Runs, runs_of
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

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
