"""Findings of the ledger: who breaks a rule, what to request instead, and what that would have saved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.causes import CAUSES
from workprof.memory.assessment import most_common
from workprof.memory.ledger_rules import (
    CAUSES_OF,
    GPU_RULES,
    KILLS,
    NODES,
    OF_RESOURCE,
    Broken,
    Unjudged,
    broken_rules,
    gpu_part,
    lost_resource,
)
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
    LedgerSettings,
    Thresholds,
)

if TYPE_CHECKING:
    import pandas as pd

MEMORY_STEP_GB, LIMIT_STEP_H, SHARE_STEP = 0.1, 5 / 60, 0.05
"""Advice is a round number: tenths of a GB, five minutes, twentieths of a core or GPU where parts are requested."""


@dataclass(frozen=True)
class Saved:
    """What another request would have saved, judged forward in time.

    Attributes:
        amount: in the finding's hours, on the later half of the runs; NaN = not measured.
        share: of what those runs requested.
        money: of the amount; NaN without a price.
        n_chosen_from: runs that had ended when the first of the later half began: the request was chosen from them.
        n_judged: runs of the later half.
        n_over: of those, runs that the new request is too small for and the old one was not; memory and time limit:
            they are killed and run again as before, cores and GPUs: they run longer, without a GPU: they fail.
        why: where nothing was measured: why not.
    """

    amount: float
    share: float
    money: float
    n_chosen_from: int
    n_judged: int
    n_over: int
    why: str = ""


@dataclass(frozen=True)
class Finding:
    """One rule that runs of one task break, of one user (group, partition, profile).

    Attributes:
        rule: its name.
        resource: one of `NAMES`, or 'nodes'.
        who: row of the ledger, '' = of the task as a whole.
        task: its name.
        n_runs: runs that break the rule.
        n_of: runs that could be judged.
        counts: runs by rule, where one resource is wasted in more ways than one.
        hours: run time of those that break it.
        amount: what they waste, in `unit`.
        unit: GB·h, core·h, GPU·h, limit·h or node·h.
        share: of all that is requested of the resource in the trace.
        money: what that costs; NaN without a price.
        used_share: used over requested of those runs; NaN = of no meaning here.
        requested: what most of the runs request, in `amount_unit`.
        instead: what to request, in `amount_unit`; NaN = no advice.
        amount_unit: 'GB', 'cores', 'GPUs', 'h', 'nodes' or what one GPU gets.
        saved: by that.
    """

    rule: str
    resource: str
    who: str
    task: str
    n_runs: int
    n_of: int
    counts: dict[str, int]
    hours: float
    amount: float
    unit: str
    share: float
    money: float
    used_share: float
    requested: float
    instead: float
    amount_unit: str
    saved: Saved


@dataclass(frozen=True)
class Findings:
    """What the rules found; see `Ledger`."""

    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]
    n_small: int
    small_share: dict[str, float]


def findings_of(jobs: pd.DataFrame, runs: LedgerRuns, settings: LedgerSettings) -> Findings:
    """Return what breaks the rules, the costliest first.

    Args:
        jobs: the table.
        runs: its rows as the ledger sees them.
        settings: rules and prices.
    """
    broken = broken_rules(jobs, runs, settings)
    group, who, task = _groups(runs, settings.by)
    order = _in_time(runs, group)
    parts = {rule: part for rule in GPU_RULES if (part := gpu_part(jobs, settings.rules, rule)) is not None}
    result: list[Finding] = []
    n_small, small_share = 0, dict.fromkeys((*NAMES, NODES), 0.0)
    for rules, resource in _families(broken, runs):
        own = {rule: one for rule in rules if isinstance(one := broken[rule], Broken)}
        if not own:
            continue
        counts = {rule: np.bincount(group[one.runs], minlength=len(who)) for rule, one in own.items()}
        sums = {rule: np.bincount(group, weights=one.wasted, minlength=len(who)) for rule, one in own.items()}
        amount, n_runs = np.sum([*sums.values()], axis=0), np.sum([*counts.values()], axis=0)
        total = next(iter(own.values())).total
        share = amount / total if total > 0 else np.zeros(len(who))
        large = share >= settings.rules.least_share
        n_small += int(((n_runs > 0) & ~large).sum())
        small_share[resource] += float(share[~large].sum())
        mask = np.logical_or.reduce([one.runs for one in own.values()])
        for code in np.flatnonzero(large).tolist():
            rule = max(own, key=lambda name: sums[name][code])
            at = order[code]
            about = _Group(
                rule, resource, runs.take(at), mask[at], parts[rule][at] if rule in parts else runs.hours[:0]
            )
            result.append(
                replace(
                    _finding(about, settings),
                    who="" if settings.by in (TASK, WEEK) else runs.whose[who[code]],
                    task=runs.tasks[task[code]],
                    n_runs=int(n_runs[code]),
                    counts={name: int(count[code]) for name, count in counts.items() if count[code]},
                    amount=float(amount[code]),
                    share=float(share[code]),
                    money=float(amount[code]) * settings.prices.of(resource),
                )
            )
    result.sort(key=_rank(settings))
    unjudged = tuple(one for one in broken.values() if isinstance(one, Unjudged))
    small = {name: value for name, value in small_share.items() if value > 0}
    return Findings(tuple(result), unjudged, n_small, small)


def _rank(settings: LedgerSettings) -> Callable[[Finding], tuple[float, ...]]:
    def key(one: Finding) -> tuple[float, ...]:
        money = float(np.nan_to_num(one.money)) if settings.prices.given else 0.0
        return (float(one.resource in (LIMIT, NODES)), -money, -one.share)

    return key


def _families(broken: dict[str, Broken | Unjudged], runs: LedgerRuns) -> list[tuple[tuple[str, ...], str]]:
    """Return the rules that share their runs, each with the resource that is wasted."""
    families = [(rules, resource) for resource, rules in OF_RESOURCE.items()]
    families += [(("gpu_memory",), GPUS), (("gpu_cores",), GPUS), (("fragmentation",), NODES)]
    for rule in CAUSES_OF:
        one = broken[rule]
        if isinstance(one, Broken) and one.runs.any():
            families.append(((rule,), lost_resource(runs, one.runs)))
    return families


def _groups(runs: LedgerRuns, by: str) -> tuple[Ints, Ints, Ints]:
    """Return (n,) codes of the groups that findings are about, and of each group its row and its task."""
    own = runs.who if by not in (TASK, WEEK) else np.zeros(len(runs), dtype=np.int64)
    pairs, codes = np.unique(own * len(runs.tasks) + runs.task, return_inverse=True)
    return codes.astype(np.int64), pairs // len(runs.tasks), pairs % len(runs.tasks)


def _in_time(runs: LedgerRuns, group: Ints) -> list[Ints]:
    """Return of each group its runs in order of their start; those without one last, ties as in the table."""
    order = np.lexsort((np.nan_to_num(runs.start_s, nan=np.inf), group))
    ends = np.cumsum(np.bincount(group))
    return [order[first:last] for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


@dataclass(frozen=True)
class _Group:
    """A group that breaks a rule.

    Attributes:
        rule, resource: broken, and what is wasted.
        runs: of the group, in order of their start.
        breaks: (m,) whether each breaks the rule.
        gpu_part: (m,) memory or cores that go with one GPU, for the rules about those.
    """

    rule: str
    resource: str
    runs: LedgerRuns
    breaks: Bools
    gpu_part: Floats


NOT_MEASURED = Saved(float("nan"), float("nan"), float("nan"), 0, 0, 0)
UNITS = {one.name: (one.hours, one.unit) for one in RESOURCES} | {NODES: ("node·h", "nodes")}
SAVES_NOTHING = "what suits the past half of the runs saves nothing on the later half, so keep the requests"
AFTER_LOSS = "what a run that did not finish would have needed is not known, so nothing is promised"
ON_FEWER_NODES = "how a run on fewer nodes would go is not in the trace"


def _finding(group: _Group, settings: LedgerSettings) -> Finding:
    """Return what a group shows, without its names and sums."""
    unit, amount_unit = UNITS[group.resource]
    runs, resource, breaks = group.runs, group.resource, group.breaks
    finding = Finding(
        rule=group.rule,
        resource=resource,
        who="",
        task="",
        n_runs=0,
        n_of=len(runs),
        counts={},
        hours=float(np.nansum(runs.hours[breaks])),
        amount=0.0,
        unit=unit,
        share=0.0,
        money=float("nan"),
        used_share=float("nan"),
        requested=float("nan"),
        instead=float("nan"),
        amount_unit=amount_unit,
        saved=replace(NOT_MEASURED, why=ON_FEWER_NODES),
    )
    if group.rule in CAUSES_OF:
        return _of_cause(group, settings, finding)
    if group.rule in GPU_RULES:
        return _of_gpu_part(group, settings, finding)
    if resource == NODES:
        return finding
    requested, used = (runs.over_time(resource, values[resource]) for values in (runs.requested, runs.used))
    instead, saved = _instead(runs, settings, resource)
    return replace(
        finding,
        n_of=int(runs.judged(resource).sum()),
        used_share=float(used[breaks].sum() / requested[breaks].sum()),
        requested=most_common(runs.requested[resource][breaks]),
        instead=instead,
        saved=saved,
    )


def _of_cause(group: _Group, settings: LedgerSettings, finding: Finding) -> Finding:
    """Return the finding of runs that ended badly: for memory and time limit with what would have held the others."""
    finding = replace(finding, saved=replace(NOT_MEASURED, why=AFTER_LOSS))
    resource = {"out_of_memory": MEMORY, "timed_out": LIMIT}.get(group.rule)
    if resource is None:
        return finding
    requested, used = group.runs.requested[resource], group.runs.used[resource]
    most = max(np.nanmax(requested[group.breaks], initial=0.0), np.nanmax(used[group.runs.finished], initial=0.0))
    if not most > 0:
        return finding
    return replace(
        finding,
        requested=most_common(requested[group.breaks]),
        instead=_rounded(resource, most * (1 + settings.rules.headroom), whole=False),
        amount_unit=UNITS[resource][1],
    )


def _of_gpu_part(group: _Group, settings: LedgerSettings, finding: Finding) -> Finding:
    """Return the finding of runs that hold the memory or cores of further GPUs: at most one GPU's part for each."""
    runs, resource = group.runs, GPU_RULES[group.rule]
    requested, gpus = runs.requested[resource], runs.requested[GPUS]
    past, later, why = _halves(runs, np.arange(len(runs)), settings.rules.least_runs)
    saved = replace(NOT_MEASURED, why=why)
    if not why:
        further = np.where(group.breaks, requested / group.gpu_part - gpus, 0.0)[later]
        amount = float(np.nansum(further * runs.hours[later]))
        whole = float(np.nansum(runs.over_time(GPUS, gpus)[later]))
        share = amount / whole if whole > 0 else float("nan")
        saved = Saved(amount, share, amount * settings.prices.of(GPUS), len(past), len(later), 0)
    return replace(
        finding,
        requested=most_common((requested / gpus)[group.breaks]),
        instead=float(np.nanmin(group.gpu_part[group.breaks])),
        amount_unit=f"{UNITS[resource][1]} per GPU",
        saved=saved,
    )


def _halves(runs: LedgerRuns, own: Ints, least: int) -> tuple[Ints, Ints, str]:
    """Return the runs that had ended when the later half began, that half, and why not; '' = both are there.

    Args:
        runs: of a group, in order of their start.
        own: places of those that count.
        least: fewest that have to have ended.
    """
    nobody = own[:0]
    if not np.isfinite(runs.start_s[own]).all():
        return nobody, nobody, "not all runs have a time of their start"
    before, later = own[: len(own) // 2], own[len(own) // 2 :]
    first = runs.start_s[later[0]] if len(later) else math.inf
    past = before[runs.end_s[before] <= first]
    if len(past) < least:
        return nobody, nobody, f"only {len(past):,} runs had ended before the later half began; {least:,} are needed"
    return past, later, ""


def _instead(runs: LedgerRuns, settings: LedgerSettings, resource: str) -> tuple[float, Saved]:
    """Return what to request, chosen from the runs that had ended, and what it saves on the later half."""
    limits, requested, judged = settings.rules, runs.requested[resource], runs.judged(resource)
    used, evidence = runs.used[resource], judged
    if resource in KILLS:  # it used at least what it had
        killed = (runs.cause == CAUSES.index(KILLS[resource])) & np.isfinite(requested) & np.isfinite(runs.hours)
        bounds = killed | (runs.finished & runs.bounded(resource) & np.isfinite(requested) & np.isfinite(runs.hours))
        used = np.where(bounds, np.fmax(used, requested), used)
        evidence = judged | bounds
    own = np.flatnonzero(evidence)
    if len(own) < limits.least_runs:
        few = f"{len(own):,} runs are" if len(own) > 1 else "one run is"
        return float("nan"), replace(
            NOT_MEASURED, why=f"{few} too few to choose a request from; {limits.least_runs:,} are needed"
        )
    past, later, why = _halves(runs, own, limits.least_runs)
    instead = _advised(resource, used[own if why else past], requested[own], limits)
    if why:
        return instead, replace(NOT_MEASURED, why=why)
    later = later[judged[later]]
    now, use = requested[later], used[later]
    new = np.minimum(now, instead)
    hours = np.ones(len(later)) if resource == LIMIT else runs.hours[later]
    if resource in KILLS:  # one that is killed runs again with the request of before; one above that saves nothing
        short = (use > new) & (use <= now)
        spared = np.where(use > new, np.where(short, -new, 0.0), now - new)
    else:  # one that uses more takes longer: it holds what it used; one that would be without GPUs keeps them
        short = (use > new) & (new < now)
        held = np.where((new == 0) & short, now, np.maximum(new, np.minimum(use, now)))
        spared = now - held
    amount, total = float((spared * hours).sum()), float((now * hours).sum())
    if not amount > 0:
        return float("nan"), replace(NOT_MEASURED, n_chosen_from=len(past), n_judged=len(later), why=SAVES_NOTHING)
    money = amount * settings.prices.of(resource)
    return instead, Saved(amount, amount / total, money, len(past), len(later), int(short.sum()))


def _advised(resource: str, used: Floats, requested: Floats, limits: Thresholds) -> float:
    """Return the request that holds the wanted share of past runs with its headroom, rounded up."""
    most = float(np.quantile(used, limits.quantile, method="higher"))
    whole = bool((requested == np.round(requested)).all())
    if resource == GPUS and most <= limits.gpu_zero * float(np.min(requested)):
        return 0.0
    if resource == CORES and whole and most <= limits.serial_cores:
        return 1.0
    return _rounded(resource, most * (1 + limits.headroom), whole=whole)


def _rounded(resource: str, amount: float, *, whole: bool) -> float:
    step = {MEMORY: MEMORY_STEP_GB, LIMIT: LIMIT_STEP_H}.get(resource, 1.0 if whole else SHARE_STEP)
    return round(math.ceil(round(amount / step, 6)) * step or step, 6)
