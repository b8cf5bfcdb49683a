"""Who requested what in each month, for the bill: GB·h, core·h, GPU·h and money of every run, however it ended.

A run counts in every month that it overlaps, with the hours that it spends there, so rows add up to the trace. What was
requested is set aside for the run, used or not, so the request is billed. Of several nodes the request of one counts.
"""

from __future__ import annotations

import datetime as dt
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import DAY_S, HOUR_S, dated, day_of
from workprof.memory.ledger_runs import NO_TIME, LedgerRuns, ledger_runs, local_shift_s, node_counts
from workprof.memory.ledger_settings import (
    CORES,
    GPUS,
    MEMORY,
    TASK,
    USER,
    LedgerPrices,
    LedgerSettings,
    usual_rows,
)

if TYPE_CHECKING:
    import pandas as pd

UNDATED_DAYS = 28
"""Days of a period where the clock shows no dates."""
MOST_PERIODS = 1_200
BILLED = (MEMORY, CORES, GPUS)


@settings
class ChargebackSettings:
    """Who is billed, and the prices."""

    by: Annotated[
        str,
        Setting(
            "Who is billed.",
            choices={
                "group": "accounts or teams",
                USER: "who submitted the runs",
                "partition": "the partition or queue of a scheduler",
                TASK: "tasks of the same name",
            },
            shown={"group": "Group", USER: "User", "partition": "Partition", TASK: "Task"},
            empty="groups where there are some, else users or tasks",
            key="memory_bill_by",
            label="Bill by",
        ),
    ] = ""
    prices: LedgerPrices = field(default_factory=LedgerPrices)


@dataclass(frozen=True)
class Charge:
    """What one of those who are billed requested in a period; NaN = the trace does not tell it."""

    who: str
    period: str  # '2026-01', 'days 0-27', or '(no time)'
    n_runs: int  # that started in it
    gb_h: float
    core_h: float
    gpu_h: float
    money: float  # by the prices that are given; NaN without any


@dataclass(frozen=True, repr=False)
class Chargeback(Shown):
    """The bill; its rows add up to `total`."""

    settings: ChargebackSettings  # as given, with `by` named
    rows: tuple[Charge, ...]  # by period, the largest bill first
    total: Charge
    n_runs: int  # rows of the trace
    n_without_hours: int  # runs whose run time is not known: nothing of them is billed
    n_without_request: int  # runs with a run time that request none of the three
    n_spread: int  # runs on several nodes, whose memory on all of them is billed
    seconds: float


def chargeback_of(
    frames: Mapping[str, pd.DataFrame], settings: ChargebackSettings, progress: Progress = silent
) -> Chargeback:
    """The bill of every row of a job table, finished or not.

    Raises:
        ColumnMissing: when run times are absent, or the column of those who are billed.
        NotEnoughData: when no run with a run time requests anything, or the trace is longer than a hundred years.
    """
    started = time.perf_counter()
    progress(None, "Adding up requests by month")
    jobs = frames["jobs"]
    by = settings.by or ("group" if "group" in jobs and jobs["group"].notna().any() else usual_rows(jobs.columns))
    runs = ledger_runs(jobs, LedgerSettings(by=by))
    asked = {name: np.where(runs.hours >= 0, runs.requested[name], np.nan) for name in BILLED}
    nodes = node_counts(jobs)
    asked[MEMORY] = asked[MEMORY] * nodes
    any_of = np.logical_or.reduce([np.isfinite(values) for values in asked.values()])
    if not any_of.any():
        raise NotEnoughData("no run with a run time requests memory, cores or GPUs; there is nothing to bill")
    names, shares, begun = _periods(runs, local_shift_s(jobs, float(np.nanmax(runs.start_s, initial=0.0))))
    rows = []
    size = len(runs.whose)
    for name, hours, first in zip(names, shares, begun, strict=True):
        counts = np.bincount(runs.who[first], minlength=size)
        sums = {}
        for resource, amounts in asked.items():
            known = hours * amounts
            sums[resource] = np.bincount(runs.who, weights=np.nan_to_num(known), minlength=size)
        for code in np.flatnonzero((counts > 0) | np.logical_or.reduce([each > 0 for each in sums.values()])).tolist():
            told = {each: sums[each][code] if np.isfinite(asked[each]).any() else np.nan for each in BILLED}
            rows.append(_charge(runs.whose[code], name, int(counts[code]), told, settings.prices))
    place = {name: at for at, name in enumerate(names)}
    rows.sort(key=lambda one: (place[one.period], -np.nan_to_num(one.money), -np.nan_to_num(one.gb_h), one.who))
    whole = {each: _total(rows, each) for each in BILLED}
    return Chargeback(
        settings=replace(settings, by=by),
        rows=tuple(rows),
        total=_charge("all", "all", sum(one.n_runs for one in rows), whole, settings.prices),
        n_runs=len(runs),
        n_without_hours=int((~np.isfinite(runs.hours)).sum()),
        n_without_request=int((np.isfinite(runs.hours) & ~any_of).sum()),
        n_spread=int((np.isfinite(asked[MEMORY]) & (nodes > 1)).sum()),
        seconds=time.perf_counter() - started,
    )


KEYS = {MEMORY: "gb_h", CORES: "core_h", GPUS: "gpu_h"}


def _total(rows: list[Charge], resource: str) -> float:
    values = np.array([getattr(one, KEYS[resource]) for one in rows])
    return float(np.nansum(values)) if np.isfinite(values).any() else float("nan")


def _charge(who: str, period: str, n_runs: int, told: Mapping[str, float], prices: LedgerPrices) -> Charge:
    priced = [told[each] * prices.of(each) for each in BILLED]
    money = float(np.nansum(priced)) if np.isfinite(priced).any() else float("nan")
    memory, cores, gpus = (float(told[each]) for each in BILLED)
    return Charge(who, period, n_runs, memory, cores, gpus, money)


def _periods(runs: LedgerRuns, offset_s: float) -> tuple[list[str], list[Floats], list[Bools]]:
    """Names of the periods; of each the hours (n,) that runs spend in it, and which runs (n,) start in it."""
    start, hours = runs.start_s + offset_s, np.nan_to_num(runs.hours)
    timed = np.isfinite(start)
    names: list[str] = []
    shares: list[Floats] = []
    begun: list[Bools] = []
    if timed.any():
        end = start + hours * HOUR_S
        edges, names = _edges(float(start[timed].min()), float(end[timed].max()))
        for low, high in itertools.pairwise(edges):
            inside = np.minimum(end, high) - np.maximum(start, low)
            shares.append(np.where(timed, np.maximum(inside, 0.0), 0.0) / HOUR_S)
            begun.append(timed & (start >= low) & (start < high))
    if not timed.all():
        names.append(NO_TIME)
        shares.append(np.where(timed, 0.0, hours))
        begun.append(~timed)
    return names, shares, begun


def _edges(first_s: float, last_s: float) -> tuple[list[float], list[str]]:
    """Edges of months, or of four weeks where the clock shows no dates, and their names."""
    if not dated(last_s):
        width = UNDATED_DAYS * DAY_S
        begin, end = int(first_s // width), int(last_s // width) + 1
        _refuse_many(end - begin)
        first = [day_of(place * width) for place in range(begin, end)]
        names = [f"days {day}-{day + UNDATED_DAYS - 1}" for day in first]
        return [float(place * width) for place in range(begin, end + 1)], names
    from_month, to_month = (dt.datetime.fromtimestamp(moment, dt.UTC) for moment in (first_s, last_s))
    begin, end = from_month.year * 12 + from_month.month - 1, to_month.year * 12 + to_month.month
    _refuse_many(end - begin)
    months = [(place // 12, place % 12 + 1) for place in range(begin, end + 1)]
    edges = [dt.datetime(year, month, 1, tzinfo=dt.UTC).timestamp() for year, month in months]
    return edges, [f"{year}-{month:02d}" for year, month in months[:-1]]


def _refuse_many(count: int) -> None:
    if count > MOST_PERIODS:
        raise NotEnoughData(f"the trace has {count:,} months; check its start times")
