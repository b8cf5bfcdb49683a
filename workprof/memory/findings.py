"""Findings of the ledger: which rows of the verdict break a rule, and what that wastes.

What to request instead, what it saves and what it risks is the verdict's row and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Ints
from workprof.memory.advice import ADVISED_BY, Advised, Keyed, keyed
from workprof.memory.assessment import most_common
from workprof.memory.decided import row_key
from workprof.memory.ledger_rules import CAUSES_OF, NODES, OF_RESOURCE, Broken, Unjudged, broken_rules, lost_resource
from workprof.memory.ledger_runs import LedgerRuns
from workprof.memory.ledger_settings import (
    CORES,
    GPUS,
    LIMIT,
    MEMORY,
    NAMES,
    RESOURCES,
    TASK,
    WEEK,
    LedgerPrices,
    LedgerSettings,
)
from workprof.memory.resources import CPU, GPU, MEMORY as MEMORY_SIZED, TIME, UNITS
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_rows import LOWER, VerdictRow
from workprof.memory.verdict_sizes import SizedRows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Finding:
    """One rule that runs of one row of the verdict break."""

    rule: str
    resource: str  # one of `NAMES`, or 'nodes'
    who: str  # row of the ledger that all its runs are in, '' = of several
    task: str  # its name, '' = of several
    key: str  # of the row, or of the runs where no row is; what lists the runs takes it. '' = whose and task say it.
    n_runs: int  # runs that break the rule
    n_of: int  # runs that could be judged
    counts: dict[str, int]  # runs by rule, where one resource is wasted in more ways than one
    hours: float  # run time of those that break it
    amount: float  # what they waste, in `unit`
    unit: str  # GB·h, core·h, GPU·h, limit·h or node·h
    share: float  # of all that is requested of the resource in the trace
    money: float  # what that costs; NaN without a price
    used_share: float  # used over requested of those runs; NaN = of no meaning here
    requested: float  # of the row; without one what most of the runs request, in `amount_unit`
    amount_unit: str  # 'GB', 'cores', 'GPUs', 'h' or 'nodes'
    sized: str  # resource of the verdict that says what to request instead; '' = none does
    row: VerdictRow | None  # of the verdict
    saved_money: float  # what the row saves; NaN without a price
    lacking: str  # why there is no row; '' = there is


@dataclass(frozen=True)
class Findings:
    """What the rules found; see `Ledger`."""

    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]
    n_small: int
    small_share: dict[str, float]


def findings_of(jobs: pd.DataFrame, runs: LedgerRuns, settings: LedgerSettings, advised: Advised) -> Findings:
    """What breaks the rules, the costliest first."""
    groups = Groups(jobs, runs, settings.by, advised)
    broken = broken_rules(jobs, runs, settings, groups.lowered())
    result: list[Finding] = []
    n_small, small_share = 0, dict.fromkeys((*NAMES, NODES), 0.0)
    for rules, resource in _families(broken, runs):
        own = {rule: one for rule in rules if isinstance(one := broken[rule], Broken)}
        if not own:
            continue
        group = groups.of(rules[0])
        n_groups = len(group.labels)
        counts = {rule: np.bincount(group.code[one.runs], minlength=n_groups) for rule, one in own.items()}
        sums = {rule: np.bincount(group.code, one.wasted, n_groups) for rule, one in own.items()}
        amount, n_runs = np.sum([*sums.values()], axis=0), np.sum([*counts.values()], axis=0)
        total = next(iter(own.values())).total
        share = amount / total if total > 0 else np.zeros(n_groups)
        large = share >= settings.rules.least_share
        n_small += int(((n_runs > 0) & ~large).sum())
        small_share[resource] += float(share[~large].sum())
        mask = np.logical_or.reduce([one.runs for one in own.values()])
        order = np.argsort(group.code, kind="stable")
        ends = np.cumsum(np.bincount(group.code, minlength=n_groups))
        for code in np.flatnonzero(large).tolist():
            at = order[ends[code - 1] if code else 0 : ends[code]]
            rule = max(own, key=lambda name: sums[name][code])
            row, sized = group.rows[code], ADVISED_BY.get(rule, "")
            saved = math.nan if row is None else row.saved
            result.append(
                replace(
                    _finding(rule, resource, runs.take(at), mask[at], row),
                    key=group.labels[code] if sized else "",
                    n_runs=int(n_runs[code]),
                    counts={name: int(count[code]) for name, count in counts.items() if count[code]},
                    amount=float(amount[code]),
                    share=float(share[code]),
                    money=float(amount[code]) * settings.prices.of(resource),
                    saved_money=saved * settings.prices.of(PRICED.get(sized, "")),
                    lacking="" if row is not None else advised.lacking(sized) if sized else NOT_SIZED[rule],
                )
            )
    result.sort(key=_rank(settings))
    unjudged = tuple(one for one in broken.values() if isinstance(one, Unjudged))
    small = {name: value for name, value in small_share.items() if value > 0}
    return Findings(tuple(result), unjudged, n_small, small)


def decided_findings(findings: Sequence[Finding], verdict: Verdict, prices: LedgerPrices) -> tuple[Finding, ...]:
    """The findings with the rows of a verdict as they were decided about."""
    rows = {(one.resource, row_key(row, one)): row for one in verdict.resources for row in one.rows}
    result = []
    for finding in findings:
        row = finding.row
        if row is not None:
            named = SizedRows(finding.sized, finding.amount_unit, (), ())
            row = rows.get((finding.sized, row_key(row, named)), row)
            finding = replace(finding, row=row, saved_money=row.saved * prices.of(PRICED[finding.sized]))  # noqa: PLW2901
        result.append(finding)
    return tuple(result)


def _rank(settings: LedgerSettings) -> Callable[[Finding], tuple[float, ...]]:
    def key(one: Finding) -> tuple[float, ...]:
        money = float(np.nan_to_num(one.money)) if settings.prices.given else 0.0
        return (float(one.resource in (LIMIT, NODES)), -money, -one.share)

    return key


def _families(broken: dict[str, Broken | Unjudged], runs: LedgerRuns) -> list[tuple[tuple[str, ...], str]]:
    """The rules that share their runs, each with the resource that is wasted."""
    families = [(rules, resource) for resource, rules in OF_RESOURCE.items()]
    families += [(("gpu_memory",), GPUS), (("gpu_cores",), GPUS), (("fragmentation",), NODES)]
    for rule in CAUSES_OF:
        one = broken[rule]
        if isinstance(one, Broken) and one.runs.any():
            families.append(((rule,), lost_resource(runs, one.runs)))
    return families


class Groups:
    """What findings are about, by rule: the rows of the verdict, else whose runs of which task."""

    def __init__(self, jobs: pd.DataFrame, runs: LedgerRuns, by: str, advised: Advised) -> None:
        self.jobs, self.runs, self.by, self.advised = jobs, runs, by, advised
        self._found: dict[str, Keyed] = {}

    def of(self, rule: str) -> Keyed:
        """The group of every run for a rule."""
        sized = ADVISED_BY.get(rule, "")
        if sized not in self._found:
            self._found[sized] = self._keyed(sized) if sized else self._by_name()
        return self._found[sized]

    def lowered(self) -> dict[str, Bools]:
        """Resource of the ledger -> (n,) whether the run's row lowers its request."""
        found = {}
        for sized in self.advised.of:
            group = self._found.setdefault(sized, self._keyed(sized))
            lower = np.array([row is not None and row.action == LOWER for row in group.rows], dtype=bool)
            found[PRICED[sized]] = lower[group.code]
        return found

    def _keyed(self, sized: str) -> Keyed:
        name, runs = PRICED[sized], self.runs
        return keyed(self.jobs, self.advised.of.get(sized), sized, runs.requested[name], runs.judged(name))

    def _by_name(self) -> Keyed:
        runs = self.runs
        own = runs.who if self.by not in (TASK, WEEK) else np.zeros(len(runs), dtype=np.int64)
        pairs, codes = np.unique(own * len(runs.tasks) + runs.task, return_inverse=True)
        return Keyed(codes.astype(np.int64), tuple(str(pair) for pair in pairs.tolist()), (None,) * len(pairs))


PRICED = {MEMORY_SIZED: MEMORY, CPU: CORES, GPU: GPUS, TIME: LIMIT}
"""Resource of the verdict -> of the ledger."""
HOURS_OF = {one.name: one.hours for one in RESOURCES} | {NODES: "node·h"}
NOT_SIZED = {
    "failed": "what a run that did not finish would have needed is not known",
    "fragmentation": "how a run on fewer nodes would go is not in the trace",
}


def _finding(rule: str, resource: str, runs: LedgerRuns, breaks: Bools, row: VerdictRow | None) -> Finding:
    """What a group shows, without its sums."""
    sized = ADVISED_BY.get(rule, "")
    plain = rule in OF_RESOURCE.get(resource, ())
    asked = runs.requested[PRICED[sized]] if sized else np.full(len(runs), np.nan)
    used_share = math.nan
    if plain:
        requested, used = (runs.over_time(resource, values[resource]) for values in (runs.requested, runs.used))
        used_share = float(used[breaks].sum() / requested[breaks].sum())
    return Finding(
        rule=rule,
        resource=resource,
        who=_only(runs.who, runs.whose),
        task=_only(runs.task, runs.tasks),
        key="",
        n_runs=0,
        n_of=int(runs.judged(resource).sum()) if plain else len(runs),
        counts={},
        hours=float(np.nansum(runs.hours[breaks])),
        amount=0.0,
        unit=HOURS_OF[resource],
        share=0.0,
        money=math.nan,
        used_share=used_share,
        requested=most_common(asked[breaks]) if row is None else row.request,
        amount_unit=UNITS[sized] if sized else "nodes" if resource == NODES else "",
        sized=sized,
        row=row,
        saved_money=math.nan,
        lacking="",
    )


def _only(codes: Ints, names: Sequence[str]) -> str:
    """The name that all have; '' = several."""
    return names[codes[0]] if (codes == codes[0]).all() else ""
