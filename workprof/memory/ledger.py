"""The ledger: what runs request, use and waste of every resource, whose it is, and the rows of the verdict on it.

Hours of an amount: GB·h, core·h and GPU·h are the amount times the run time, limit·h are the hours of wall time that
are requested. Only finished runs are in these sums; what runs held that ended otherwise is counted apart, by its cause.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.causes import CAUSES, RUNNING, WAITING
from workprof.core.errors import SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.memory.advice import advised_in
from workprof.memory.findings import Finding, Groups, findings_of
from workprof.memory.ledger_rules import NODES, OF_RESOURCE, Unjudged, breaking
from workprof.memory.ledger_runs import LedgerRuns, ledger_runs
from workprof.memory.ledger_settings import (
    CORES,
    NAMES,
    RESOURCES,
    WEEK,
    LedgerPrices,
    LedgerRunsSettings,
    LedgerSettings,
    usual_rows,
)
from workprof.memory.usage import lower_bound_words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Amount:
    """One resource of some finished runs, in its hours."""

    resource: str  # one of `NAMES`
    requested: float  # of all runs with a request and a time
    used: float  # of all runs with a use and a time
    wasted: float  # requested and not used, of the judged runs; a run that uses more than it requests wastes nothing
    judged_requested: float  # and `judged_used`: of the judged runs alone: their quotient is the utilisation
    judged_used: float
    n_judged: int  # runs with request, use and time
    # and `n_no_request`, `n_no_use`: the other finished runs, each counted once, for the first that it lacks
    n_no_time: int
    n_no_request: int
    n_no_use: int
    n_lower_bound: int  # finished runs with request, use and time whose use is only a lower bound: they are not judged
    n_over: int  # judged runs that used more than they requested
    money: float  # that the waste costs; NaN without a price

    @property
    def utilisation(self) -> float:
        """Used over requested, of the judged runs; NaN without any, above 1 where they use more than they request."""
        return self.judged_used / self.judged_requested if self.judged_requested > 0 else float("nan")

    @property
    def wasted_share(self) -> float:
        """Wasted over requested, 0-1, of the judged runs; NaN without any."""
        return self.wasted / self.judged_requested if self.judged_requested > 0 else float("nan")


@dataclass(frozen=True)
class Lost:
    """Runs that did not finish well, of one cause."""

    cause: str  # one of `CAUSES`
    n_runs: int  # all of them
    n_no_time: int  # those whose time is not known; they hold nothing in these sums
    hours: float  # of the others
    requested: tuple[float, ...]  # what they held, in the hours of `RESOURCES`, in that order


@dataclass(frozen=True)
class LedgerRow:
    """Some runs: those of a user, a task, ..."""

    name: str  # whose they are
    n_runs: int  # finished ones
    hours: float  # of those, as far as known
    amounts: tuple[Amount, ...]  # by resource, in the order of `RESOURCES`
    lost: tuple[Lost, ...]  # what the others held, by cause

    def of(self, resource: str) -> Amount:
        """One resource."""
        return self.amounts[NAMES.index(resource)]

    @property
    def n_lost(self) -> int:
        """Runs that did not finish well, those that wait or run among them."""
        return sum(one.n_runs for one in self.lost)

    @property
    def money(self) -> float:
        """What its waste costs, of the resources that have a price; NaN without any."""
        priced = [one.money for one in self.amounts if np.isfinite(one.money)]
        return float(sum(priced)) if priced else float("nan")


def rows_of(runs: LedgerRuns, codes: Ints, names: Sequence[str], prices: LedgerPrices) -> tuple[LedgerRow, ...]:
    """One row per code, in the order of the names."""
    n, finished, timed = len(names), runs.finished, np.isfinite(runs.hours)

    def total(values: Floats, chosen: Bools) -> Floats:
        return np.bincount(codes[chosen], weights=values[chosen], minlength=n).astype(np.float64)

    def count(chosen: Bools) -> Ints:
        return np.bincount(codes[chosen], minlength=n).astype(np.int64)

    columns = []
    for one in RESOURCES:
        requested, use, judged = runs.requested[one.name], runs.used[one.name], runs.judged(one.name)
        requested_h, used_h = runs.over_time(one.name, requested), runs.over_time(one.name, use)
        with_request, with_use = finished & timed & np.isfinite(requested), finished & timed & np.isfinite(use)
        wasted = total(runs.wasted(one.name), judged)
        columns.append(
            (
                total(requested_h, with_request),
                total(used_h, with_use),
                wasted,
                total(requested_h, judged),
                total(used_h, judged),
                count(judged),
                count(finished & ~timed),
                count(finished & timed & np.isnan(requested)),
                count(with_request & np.isnan(use)),
                count(with_request & runs.bounded(one.name)),
                count(judged & (use > requested)),
                wasted * prices.of(one.name),
            )
        )
    hours, n_runs, lost = total(runs.hours, finished & timed), count(finished), _lost(runs, codes, n)
    made = []
    for code, name in enumerate(names):
        amounts = tuple(
            Amount(one.name, *(values[code].item() for values in of))
            for one, of in zip(RESOURCES, columns, strict=True)
        )
        made.append(LedgerRow(name, int(n_runs[code]), float(hours[code]), amounts, lost[code]))
    return tuple(made)


def _lost(runs: LedgerRuns, codes: Ints, n: int) -> list[tuple[Lost, ...]]:
    """What each row's runs held that did not finish well, by cause."""
    result: list[list[Lost]] = [[] for _ in range(n)]
    for number, cause in enumerate(CAUSES):
        own = runs.cause == number
        timed = own & np.isfinite(runs.hours)
        counts, known = np.bincount(codes[own], minlength=n), np.bincount(codes[timed], minlength=n)
        sums = [
            np.bincount(codes[timed], weights=np.nan_to_num(values[timed]), minlength=n)
            for values in (runs.hours, *(runs.over_time(name, runs.requested[name]) for name in NAMES))
        ]
        for code in np.flatnonzero(counts).tolist():
            hours, *held = (float(values[code]) for values in sums)
            result[code].append(Lost(cause, int(counts[code]), int(counts[code] - known[code]), hours, tuple(held)))
    return [tuple(one) for one in result]


@dataclass(frozen=True, repr=False)
class Ledger(Shown):
    """The ledger of a trace."""

    settings: LedgerSettings  # as asked, with its rows named
    totals: LedgerRow  # of all runs
    # the one that wastes most first: by money where there are prices, else by the largest share of a resource; weeks in
    # their order
    rows: tuple[LedgerRow, ...]
    # the costliest first: by money where there are prices, else by share; time limits and nodes, which hold nothing,
    # after those
    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]  # rules without their columns
    n_small: int  # groups that break a rule but waste less than the least share
    small_share: dict[str, float]  # resource -> what those waste, as a share of what is requested
    absent: dict[str, tuple[str, ...]]  # resource -> columns that the table lacks
    notes: tuple[str, ...]  # what to know about the figures
    seconds: float


def ledger_of(frames: Mapping[str, pd.DataFrame], settings: LedgerSettings, progress: Progress = silent) -> Ledger:
    """The ledger of a job table: finished rows and others, with `finished`; see `READS`.

    `PROFILE_COLUMN` is there for rows by profile. The verdict, as `advice.verdict_table` has it, is computed where it
    is not there.

    Raises:
        ColumnMissing: when run times are absent, or the column that makes the rows.
        NotEnoughData: when the table has no rows.
    """
    started = time.perf_counter()
    progress(None, "Adding up what runs request and use")
    jobs = frames["jobs"]
    settings = replace(settings, by=settings.by or usual_rows(_held(jobs)))
    runs = ledger_runs(jobs, settings)
    totals = rows_of(runs, np.zeros(len(runs), dtype=np.int64), ("total",), settings.prices)[0]
    rows = rows_of(runs, runs.who, runs.whose, settings.prices)
    progress(None, "Looking for what is requested and not used")
    result = findings_of(jobs, runs, settings, advised_in(frames, settings.target))
    return Ledger(
        settings=settings,
        totals=totals,
        rows=rows
        if settings.by == WEEK
        else tuple(sorted(rows, key=lambda row: -_weight(row, totals, settings.prices))),
        findings=result.findings,
        unjudged=result.unjudged,
        n_small=result.n_small,
        small_share=result.small_share,
        absent={name: columns for name, columns in runs.absent.items() if columns},
        notes=_notes(runs, totals),
        seconds=time.perf_counter() - started,
    )


def _held(jobs: pd.DataFrame) -> list[str]:
    """The columns that hold something."""
    return [str(name) for name in jobs.columns if jobs[name].notna().any()]


def _weight(row: LedgerRow, totals: LedgerRow, prices: LedgerPrices) -> float:
    """What a row wastes: money, or its largest share of what is requested of memory, cores or GPUs."""
    if prices.given:
        return float(np.nan_to_num(row.money))
    held = [(own.wasted, whole.requested) for own, whole in zip(row.amounts, totals.amounts, strict=True)]
    shares = [wasted / requested if requested > 0 else 0.0 for wasted, requested in held]
    return max(shares[:-1]) or shares[-1]


def _notes(runs: LedgerRuns, totals: LedgerRow) -> tuple[str, ...]:
    notes = []
    counts = {one.cause: one.n_runs for one in totals.lost}
    running, waiting = counts.get(RUNNING, 0), counts.get(WAITING, 0)
    others = totals.n_lost - waiting - running
    if others:
        notes.append(f"{others:,} runs did not finish well; what they held is counted apart, by cause")
    if running:
        runs_on = "run still runs" if running == 1 else "runs still run"
        notes.append(
            f"{running:,} {runs_on} at the end of the trace; what they hold until then is counted apart, in no sum"
        )
    if waiting:
        notes.append(f"{waiting:,} runs wait, and hold nothing yet")
    for one, amount in zip(RESOURCES, totals.amounts, strict=True):
        lacking = {"a time": amount.n_no_time, "a request": amount.n_no_request, "a use": amount.n_no_use}
        text = ", ".join(f"{count:,} without {what}" for what, count in lacking.items() if count)
        if amount.n_lower_bound:
            notes.append(f"{one.hours}: {lower_bound_words(amount.n_lower_bound, totals.n_runs)}")
        missing = runs.absent[one.name]
        if missing:
            notes.append(f"{one.hours}: nothing is judged, the table has no column {' and no '.join(missing)}")
        elif text:
            notes.append(f"{one.hours}: of {totals.n_runs:,} finished runs {text} are not judged")
    return tuple(notes)


HOURS = {one.name: one.hours for one in RESOURCES}


@dataclass(frozen=True, repr=False)
class LedgerRunList(Shown):
    """The runs behind a number, those that waste most (of a cause: that held most) first."""

    settings: LedgerRunsSettings
    resource: str  # that the amounts are of: the rule's own where one was given
    unit: str  # of what was wasted
    n_runs: int  # all of them
    wasted: float  # of all of them, in that unit; of a cause: what they held
    row_ids: Ints  # (m,) of the listed runs in their dataset
    names: tuple[str, ...]  # (m,) rows of the ledger
    tasks: tuple[str, ...]  # (m,) their tasks
    requested: Floats  # and `used`: (m,) amounts, NaN = none
    used: Floats
    hours: Floats  # (m,) run times, NaN = not known
    wasted_each: Floats  # (m,) hours of the resource, NaN = not judged


def ledger_run_list(
    frames: Mapping[str, pd.DataFrame], settings: LedgerRunsSettings, progress: Progress = silent
) -> LedgerRunList:
    """The runs behind a number of the ledger; frames as `ledger_of`, with `row_id`.

    Raises SettingsError for a row, a task, a key or a rule that there is not; names what there is.
    """
    progress(None, "Looking for the runs")
    jobs = frames["jobs"]
    ledger = replace(settings.ledger, by=settings.ledger.by or usual_rows(_held(jobs)))
    settings = replace(settings, ledger=ledger)
    runs = ledger_runs(jobs, ledger)
    within = np.ones(len(runs), dtype=bool)
    for name, codes, names in (("row", runs.who, runs.whose), ("task", runs.task, runs.tasks)):
        wanted = getattr(settings, name)
        if wanted and wanted not in names:
            raise SettingsError(f"there is no {name} {wanted!r}; choose one of {', '.join(names[:8])}")
        within &= (codes == names.index(wanted)) if wanted else True
    resource, unit = settings.resource, HOURS[settings.resource]
    rules = tuple(rule.strip() for rule in settings.rule.split(",") if rule.strip())
    groups = Groups(jobs, runs, ledger.by, advised_in(frames, ledger.target)) if settings.key or rules else None
    if groups is not None and settings.key:
        within &= _of_key(groups, settings, rules[0] if rules else FIRST_RULE[resource])
    if groups is not None and rules:
        mask, wasted, broken = breaking(jobs, runs, ledger, rules, groups.lowered())
        chosen = mask & within
        resource, unit = (CORES, "node·h") if broken == NODES else (broken, HOURS[broken])
    elif settings.cause:
        chosen = within & (runs.cause == CAUSES.index(settings.cause))
        wasted = runs.over_time(resource, runs.requested[resource])
    else:
        chosen = within & runs.finished
        wasted = np.where(runs.judged(resource), runs.wasted(resource), np.nan)
    requested, used = runs.requested[resource], runs.used[resource]
    at = np.flatnonzero(chosen)
    listed = at[np.argsort(-np.nan_to_num(wasted[at], nan=-1.0), kind="stable")][: settings.most]
    return LedgerRunList(
        settings=settings,
        resource=resource,
        unit=unit,
        n_runs=len(at),
        wasted=float(np.nansum(wasted[at])),
        row_ids=jobs["row_id"].to_numpy(dtype=np.int64)[listed],
        names=tuple(runs.whose[code] for code in runs.who[listed].tolist()),
        tasks=tuple(runs.tasks[code] for code in runs.task[listed].tolist()),
        requested=requested[listed],
        used=used[listed],
        hours=runs.hours[listed],
        wasted_each=wasted[listed],
    )


FIRST_RULE = {resource: rules[0] for resource, rules in OF_RESOURCE.items()}


def _of_key(groups: Groups, settings: LedgerRunsSettings, rule: str) -> Bools:
    """(n,) whether a run belongs to the key of a finding of a rule."""
    group = groups.of(rule)
    if settings.key not in group.labels:
        raise SettingsError(f"there is no key {settings.key!r}; choose one of {', '.join(group.labels[:8])}")
    result: Bools = group.code == group.labels.index(settings.key)
    return result


def called(ledger: Ledger, names: Mapping[str, str]) -> Ledger:
    """A ledger for people, whose rows and findings are called by other names; what has none keeps its own.

    What lists the runs of a row knows the names of the ledger as computed.
    """
    rows = tuple(replace(row, name=names.get(row.name, row.name)) for row in ledger.rows)
    findings = tuple(replace(one, who=names.get(one.who, one.who)) for one in ledger.findings)
    return replace(ledger, rows=rows, findings=findings)
