"""The ledger: what runs request, use and waste of every resource, whose it is, and the rows of the verdict on it.

Hours of an amount: GB·h, core·h and GPU·h are the amount times the run time, limit·h are the hours of wall time that
are requested. Only finished runs are in these sums; what runs held that ended otherwise is counted apart, by its cause.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.causes import CAUSES, OUT_OF_MEMORY, RUNNING, WAITING
from workprof.core.errors import SettingsError
from workprof.core.long_table import JobTable, parts_of
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.words import counted
from workprof.memory.advice import advised_in
from workprof.memory.findings import Finding, findings_of
from workprof.memory.found_runs import FoundRuns
from workprof.memory.ledger_rules import CAUSES_OF, NODES, OF_RESOURCE, Unjudged
from workprof.memory.ledger_runs import LedgerRuns, RunsByPart
from workprof.memory.ledger_settings import (
    CORES,
    GROUPINGS,
    NAMES,
    RESOURCES,
    USER,
    WEEK,
    LedgerPrices,
    LedgerRunsSettings,
    LedgerSettings,
    usual_rows,
)
from workprof.memory.sums import Sums
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
    n_killed_on: int  # of `n_runs`, services that were killed for memory and run on since

    def of(self, resource: str) -> Amount:
        """One resource."""
        return self.amounts[NAMES.index(resource)]

    def ended(self, *causes: str) -> int:
        """Runs that ended by some causes; those that were killed for memory and run on since are among them."""
        own = sum(one.n_runs for one in self.lost if one.cause in causes)
        return own + self.n_killed_on * (OUT_OF_MEMORY in causes)

    @property
    def n_lost(self) -> int:
        """Runs that did not finish well, those that wait or run among them."""
        return sum(one.n_runs for one in self.lost)

    @property
    def money(self) -> float:
        """What its waste costs, of the resources that have a price; NaN without any."""
        priced = [one.money for one in self.amounts if np.isfinite(one.money)]
        return float(sum(priced)) if priced else float("nan")


OF_AMOUNT = (
    *("requested", "used", "wasted", "judged_requested", "judged_used"),
    *("n_judged", "n_no_time", "n_no_request", "n_no_use", "n_lower_bound", "n_over"),
)
"""What is added up of each resource; see `Amount`."""
OF_CAUSE = ("n_runs", "n_timed", "hours", *NAMES)
"""What is added up of each cause; of the resources what they held."""


def rows_of(runs: LedgerRuns, codes: Ints, names: Sequence[str], prices: LedgerPrices) -> tuple[LedgerRow, ...]:
    """One row per code, in the order of the names."""
    sums = row_sums(runs, codes, len(names))
    return tuple(_row(name, own, prices) for name, own in zip(names, sums.T, strict=True))


def row_sums(runs: LedgerRuns, codes: Ints, n: int) -> Floats:
    """(sums, n) of runs by code: runs, hours, those that run on since a kill, `OF_AMOUNT` and `OF_CAUSE` of each."""
    finished, timed = runs.finished, np.isfinite(runs.hours)

    def total(values: Floats, chosen: Bools) -> Floats:
        return np.bincount(codes[chosen], weights=values[chosen], minlength=n).astype(np.float64)

    def count(chosen: Bools) -> Floats:
        return np.bincount(codes[chosen], minlength=n).astype(np.float64)

    result = [count(finished), total(runs.hours, finished & timed), count(runs.killed_on)]
    held = {one: runs.over_time(one, runs.requested[one]) for one in NAMES}
    for one in NAMES:
        requested, use, judged = runs.requested[one], runs.used[one], runs.judged(one)
        used_h, asked = runs.over_time(one, use), np.isfinite(requested)
        with_request = finished & timed & asked
        result += [
            total(held[one], with_request),
            total(used_h, finished & timed & np.isfinite(use)),
            total(runs.wasted(one), judged),
            total(held[one], judged),
            total(used_h, judged),
            count(judged),
            count(finished & ~timed),
            count(finished & timed & ~asked),
            count(with_request & np.isnan(use)),
            count(with_request & runs.bounded(one)),
            count(judged & (use > requested)),
        ]
    for number in range(len(CAUSES)):
        own = runs.cause == number
        if not own.any():
            result += [np.zeros(n)] * len(OF_CAUSE)
            continue
        result += [count(own), count(own & timed), total(runs.hours, own & timed)]
        result += [total(np.nan_to_num(held[one]), own & timed) for one in NAMES]
    return np.array(result)


def _row(name: str, sums: Floats, prices: LedgerPrices) -> LedgerRow:
    """A row of its sums; see `row_sums`."""
    n_runs, hours, killed_on, *further = sums.tolist()
    amounts, lost = [], []
    for one in NAMES:
        own, further = dict(zip(OF_AMOUNT, further, strict=False)), further[len(OF_AMOUNT) :]
        told = {key: int(value) if key.startswith("n_") else value for key, value in own.items()}
        amounts.append(Amount(one, **told, money=own["wasted"] * prices.of(one)))
    for cause in CAUSES:
        (count, timed, held_hours, *held), further = further[: len(OF_CAUSE)], further[len(OF_CAUSE) :]
        if count:
            lost.append(Lost(cause, int(count), int(count - timed), held_hours, tuple(held)))
    return LedgerRow(name, int(n_runs), hours, tuple(amounts), tuple(lost), int(killed_on))


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


def ledger_of(frames: Mapping[str, JobTable], settings: LedgerSettings, progress: Progress = silent) -> Ledger:
    """The ledger of a job table: finished rows and others, with `finished`; see `READS`. It is read in one pass.

    `PROFILE_COLUMN` is there for rows by profile. The verdict, as `advice.verdict_table` has it, is computed where it
    is not there.

    Raises:
        ColumnMissing: when run times are absent, or the column that makes the rows.
        NotEnoughData: when the table has no rows.
    """
    started = time.perf_counter()
    progress(None, "Adding up what runs request and use")
    settings = replace(settings, by=settings.by or usual_rows(_held(frames["jobs"])))
    runs = RunsByPart(frames["jobs"], settings)
    sums, found = Sums(), FoundRuns(runs, advised_in(frames, settings.target))
    for part, own in runs:
        n = int(own.who.max()) + 1
        sums.add(np.arange(n), row_sums(own, own.who, n))
        found.add(part, own)
    totals = _row("total", sums.of.sum(axis=1), settings.prices)
    whose = runs.whose
    rows = tuple(_row(whose[code], sums.of[:, code], settings.prices) for code in runs.order.tolist())
    result = findings_of(found)
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
        notes=_notes(runs.absent, totals),
        seconds=time.perf_counter() - started,
    )


def _held(jobs: JobTable) -> set[str]:
    """Those columns that may name rows, and hold something."""
    names = [name for by in (USER, "group") for name in GROUPINGS[by]]
    return {name for part in parts_of(jobs, names) for name in part.columns if part[name].notna().any()}


def _weight(row: LedgerRow, totals: LedgerRow, prices: LedgerPrices) -> float:
    """What a row wastes: money, or its largest share of what is requested of memory, cores or GPUs."""
    if prices.given:
        return float(np.nan_to_num(row.money))
    held = [(own.wasted, whole.requested) for own, whole in zip(row.amounts, totals.amounts, strict=True)]
    shares = [wasted / requested if requested > 0 else 0.0 for wasted, requested in held]
    return max(shares[:-1]) or shares[-1]


def _notes(absent: Mapping[str, tuple[str, ...]], totals: LedgerRow) -> tuple[str, ...]:
    notes = []
    counts = {one.cause: one.n_runs for one in totals.lost}
    running, waiting = counts.get(RUNNING, 0), counts.get(WAITING, 0)
    others = totals.n_lost - waiting - running
    if on := totals.n_killed_on:
        notes.append(f"services that were killed for memory and run on: {on:,}")
    if others:
        notes.append(f"{counted(others, 'run')} did not finish well; what they held is counted apart, by cause")
    if running:
        runs_on = "run still runs" if running == 1 else "runs still run"
        notes.append(
            f"{running:,} {runs_on} at the end of the trace; what they hold until then is counted apart, in no sum"
        )
    if waiting:
        notes.append(
            "1 run waits, and holds nothing yet" if waiting == 1 else f"{waiting:,} runs wait, and hold nothing yet"
        )
    for one, amount in zip(RESOURCES, totals.amounts, strict=True):
        lacking = {"a time": amount.n_no_time, "a request": amount.n_no_request, "a use": amount.n_no_use}
        text = ", ".join(f"{count:,} without {what}" for what, count in lacking.items() if count)
        if amount.n_lower_bound:
            notes.append(f"{one.hours}: {lower_bound_words(amount.n_lower_bound, totals.n_runs)}")
        missing = absent[one.name]
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

    @property
    def unfinished(self) -> bool:
        """Whether the runs are of a cause, chosen or by a rule: what they held is told, and no clustering has them."""
        return bool(self.settings.cause) or any(rule.strip() in CAUSES_OF for rule in self.settings.rule.split(","))


def ledger_run_list(
    frames: Mapping[str, JobTable], settings: LedgerRunsSettings, progress: Progress = silent
) -> LedgerRunList:
    """The runs behind a number of the ledger; frames as `ledger_of`, with `row_id`. It is read in two passes.

    Raises SettingsError for a row, a task, a key or a rule that there is not; names what there is.
    """
    progress(None, "Looking for the runs")
    ledger = replace(settings.ledger, by=settings.ledger.by or usual_rows(_held(frames["jobs"])))
    settings = replace(settings, ledger=ledger)
    runs = RunsByPart(frames["jobs"], ledger)
    rules = tuple(rule.strip() for rule in settings.rule.split(",") if rule.strip())
    found = FoundRuns(runs, advised_in(frames, ledger.target)) if settings.key or rules else None
    for part, own in runs:
        if found is not None:
            found.add(part, own)
    whose, tasks = runs.whose, runs.tasks
    row = _code("row", settings.row, whose, runs.order)
    task = _code("task", settings.task, tasks, runs.task_order)
    resource, unit = settings.resource, HOURS[settings.resource]
    key = -1
    if found is not None and settings.key:
        first = rules[0] if rules else FIRST_RULE[resource]
        key = _code("key", settings.key, found.groups(first).keyed.labels)
    if found is not None and rules:
        broken = found.rules.refuse(rules)
        resource, unit = (CORES, "node·h") if broken == NODES else (broken, HOURS[broken])
    kept = _Kept.none(settings.most)
    for part, own in runs:
        chosen = np.ones(len(own), dtype=bool) if row < 0 else own.who == row
        if task >= 0:
            chosen &= own.task == task
        chosen &= own.cause == CAUSES.index(settings.cause) if settings.cause else True
        if found is not None and settings.key:
            chosen &= found.group_of(part, own, first)[1] == key
        if found is not None and rules:
            mask, wasted = found.breaking(part, own, rules)
            chosen &= mask
        elif settings.cause:
            wasted = own.over_time(resource, own.requested[resource])
        else:
            chosen &= own.finished
            wasted = np.where(own.judged(resource), own.wasted(resource), np.nan)
        kept = kept.with_part(part, own, resource, chosen, wasted)
    return LedgerRunList(
        settings=settings,
        resource=resource,
        unit=unit,
        n_runs=kept.n_runs,
        wasted=kept.wasted,
        row_ids=kept.row_ids,
        names=tuple(whose[code] for code in kept.who.tolist()),
        tasks=tuple(tasks[code] for code in kept.task.tolist()),
        requested=kept.requested,
        used=kept.used,
        hours=kept.hours,
        wasted_each=kept.wasted_each,
    )


FIRST_RULE = {resource: rules[0] for resource, rules in OF_RESOURCE.items()}


def _code(what: str, wanted: str, names: tuple[str, ...], order: Ints | None = None) -> int:
    """The code of a row, a task or a key, -1 = all; raises SettingsError, which names what there is."""
    if wanted and wanted not in names:
        there = names if order is None else [names[code] for code in order.tolist()]
        raise SettingsError(f"there is no {what} {wanted!r}; choose one of {', '.join(there[:8])}")
    return names.index(wanted) if wanted else -1


@dataclass(frozen=True)
class _Kept:
    """Of the chosen runs of some parts those that waste most, (m,) each, the largest first."""

    most: int
    n_runs: int  # all of them
    wasted: float
    row_ids: Ints
    who: Ints
    task: Ints
    requested: Floats
    used: Floats
    hours: Floats
    wasted_each: Floats

    @classmethod
    def none(cls, most: int) -> _Kept:
        codes, amounts = np.zeros(0, dtype=np.int64), np.zeros(0)
        return cls(most, 0, 0.0, codes, codes, codes, amounts, amounts, amounts, amounts)

    def with_part(self, part: pd.DataFrame, runs: LedgerRuns, resource: str, chosen: Bools, wasted: Floats) -> _Kept:
        """These and the chosen ones of a further part."""
        at = np.flatnonzero(chosen)
        new = {
            "row_ids": part["row_id"].to_numpy(dtype=np.int64),
            "who": runs.who,
            "task": runs.task,
            "requested": runs.requested[resource],
            "used": runs.used[resource],
            "hours": runs.hours,
            "wasted_each": wasted,
        }
        every: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), values[at]]) for name, values in new.items()
        }
        largest = np.argsort(-np.nan_to_num(every["wasted_each"], nan=-1.0), kind="stable")[: self.most]
        return replace(
            self,
            n_runs=self.n_runs + len(at),
            wasted=self.wasted + float(np.nansum(wasted[at])),
            **{name: values[largest] for name, values in every.items()},
        )


def called(ledger: Ledger, names: Mapping[str, str]) -> Ledger:
    """A ledger for people, whose rows and findings are called by other names; what has none keeps its own.

    What lists the runs of a row knows the names of the ledger as computed.
    """
    rows = tuple(replace(row, name=names.get(row.name, row.name)) for row in ledger.rows)
    findings = tuple(replace(one, who=names.get(one.who, one.who)) for one in ledger.findings)
    return replace(ledger, rows=rows, findings=findings)
