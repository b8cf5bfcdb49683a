"""Findings of the ledger: which rows of the verdict break a rule, and what that wastes.

What to request instead, what it saves and what it risks is the verdict's row and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workprof.core.arrays import Floats, Positions
from workprof.memory.advice import ADVISED_BY
from workprof.memory.decided import row_key
from workprof.memory.found_runs import BY_NAME, ONLY, PRICED, FoundRuns
from workprof.memory.ledger_rules import CAUSES_OF, GPU_RULES, NODES, OF_RESOURCE, SPREAD, Rules, Unjudged
from workprof.memory.ledger_settings import GPUS, LIMIT, NAMES, RESOURCES, LedgerPrices, LedgerSettings
from workprof.memory.resources import UNITS
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_rows import VerdictRow
from workprof.memory.verdict_sizes import SizedRows


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
    share: float  # of what finished runs request of the resource; of runs that did not finish: of what all request
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


def findings_of(found: FoundRuns) -> Findings:
    """What breaks the rules, the costliest first."""
    settings, unjudged = found.runs.settings, found.rules.unjudged()
    whose, tasks = found.runs.whose, found.runs.tasks
    result: list[Finding] = []
    n_small, small_share = 0, dict.fromkeys((*NAMES, NODES), 0.0)
    for rules, resource in _families(found.rules):
        own = tuple(rule for rule in rules if rule not in unjudged)
        if not own:
            continue
        sized = ADVISED_BY.get(own[0], BY_NAME)
        groups, cells = found.groups(own[0]), found.cells[sized]
        counts, wasted = ({rule: groups.sum(found.of(rule, what)) for rule in own} for what in ("n", "wasted"))
        amount, n_runs = np.sum([*wasted.values()], axis=0), np.sum([*counts.values()], axis=0)
        total = found.rules.total(own[0])
        share = amount / total if total > 0 else np.zeros(len(amount))
        large = share >= settings.rules.least_share
        n_small += int(((n_runs > 0) & ~large).sum())
        small_share[resource] += float(share[~large].sum())
        hours = np.sum([groups.sum(found.of(rule, "hours")) for rule in own], axis=0)
        ended = own[0] in CAUSES_OF
        of = ("measured" if ended else "judged") if sized else "n"
        n_of = groups.sum(cells.of("", of)) + (n_runs if ended and sized else 0.0)  # as the row of the verdict has them
        used_share = np.full(len(amount), math.nan)
        if own[0] in OF_RESOURCE.get(resource, ()):
            used, asked = (np.sum([groups.sum(found.of(rule, what)) for rule in own], axis=0) for what in OVER_TIME)
            used_share = np.divide(used, asked, out=used_share, where=asked > 0)
        broken_in = np.sum([found.of(rule, "n") for rule in own], axis=0)
        order = np.argsort(groups.keyed.code, kind="stable")
        ends = np.searchsorted(groups.keyed.code[order], np.arange(len(amount) + 1))
        only, request = cells.told[:, ONLY], cells.request
        for code in np.flatnonzero(large).tolist():
            rule = max(own, key=lambda name: wasted[name][code])
            row = groups.keyed.rows[code]
            saved = math.nan if row is None else row.saved
            at = order[ends[code] : ends[code + 1]]
            requested = _most_common(request[at], broken_in[at]) if row is None else row.request
            result.append(
                Finding(
                    rule=rule,
                    resource=resource,
                    who=_only(only[at, 0], whose),
                    task=_only(only[at, 1], tasks),
                    key=groups.keyed.labels[code] if sized else "",
                    n_runs=int(n_runs[code]),
                    n_of=int(n_of[code]),
                    counts={name: int(count[code]) for name, count in counts.items() if count[code]},
                    hours=float(hours[code]),
                    amount=float(amount[code]),
                    unit=HOURS_OF[resource],
                    share=float(share[code]),
                    money=float(amount[code]) * settings.prices.of(resource),
                    used_share=float(used_share[code]),
                    requested=requested,
                    amount_unit=UNITS[sized] if sized else "nodes" if resource == NODES else "",
                    sized=sized,
                    row=row,
                    saved_money=saved * settings.prices.of(PRICED.get(sized, "")),
                    lacking="" if row is not None else found.advised.lacking(sized) if sized else NOT_SIZED[rule],
                )
            )
    result.sort(key=_rank(settings))
    small = {name: value for name, value in small_share.items() if value > 0}
    return Findings(tuple(result), tuple(unjudged.values()), n_small, small)


OVER_TIME = ("used", "requested")


def _families(rules: Rules) -> list[tuple[tuple[str, ...], str]]:
    """The rules that share their runs, each with the resource that is wasted."""
    families = [(plain, resource) for resource, plain in OF_RESOURCE.items()]
    families += [*(((rule,), GPUS) for rule in GPU_RULES), ((SPREAD,), NODES)]
    return families + [((rule,), rules.resource_of(rule)) for rule in CAUSES_OF if rules.found(rule)]


def _most_common(values: Floats, counts: Floats) -> float:
    """The most frequent of (m,) values that stand for so many each, the larger of equally frequent ones; NaN = none."""
    kinds, place = np.unique(values[np.isfinite(values) & (counts > 0)], return_inverse=True)
    often = np.bincount(place, counts[np.isfinite(values) & (counts > 0)], len(kinds))
    return float(kinds[often == often.max()].max()) if len(kinds) else math.nan


def _only(codes: Positions, names: Sequence[str]) -> str:
    """The name that all have; '' = several."""
    return names[codes[0]] if codes[0] >= 0 and (codes == codes[0]).all() else ""


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


HOURS_OF = {one.name: one.hours for one in RESOURCES} | {NODES: "node·h"}
NOT_SIZED = {
    "failed": "what a run that did not finish would have needed is not known",
    "fragmentation": "how a run on fewer nodes would go is not in the trace",
}
