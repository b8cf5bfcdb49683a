"""The slow, obvious ledger: all runs in memory at once, and the runs of each finding looked at by themselves.

It is the ledger as it stood before it was added up part by part. It shares with it what one run requests, uses and
wastes (`LedgerRuns`), the rows of the verdict and the records; rules, groups and sums are its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.causes import CAUSES
from workprof.core.errors import SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.units import GB, GIB
from workprof.memory.advice import ADVISED_BY, Advised, Keyed, _label, advised_in
from workprof.memory.assessment import most_common
from workprof.memory.findings import HOURS_OF, NOT_SIZED, Finding, Findings, _rank
from workprof.memory.found_runs import PRICED
from workprof.memory.known import codes_of
from workprof.memory.ledger import FIRST_RULE, HOURS, Amount, LedgerRow, LedgerRunList, Lost
from workprof.memory.ledger_rules import CAUSES_OF, GPU_RULES, NODES, OF_RESOURCE, RULES, Unjudged
from workprof.memory.ledger_runs import LedgerRuns, ledger_runs
from workprof.memory.ledger_settings import (
    CAPACITIES,
    CORES,
    GPUS,
    LIMIT,
    MEMORY,
    NAMES,
    NODE_COLUMNS,
    RESOURCES,
    TASK,
    WEEK,
    LedgerPrices,
    LedgerRunsSettings,
    LedgerSettings,
    Thresholds,
)
from workprof.memory.resources import KEY_COLUMNS, UNITS, key_columns, texts_of
from workprof.memory.usage import lower_bound_words
from workprof.memory.verdict_rows import LOWER, VerdictRow
from workprof.memory.verdict_sizes import REQUEST, SizedRows, Sizes


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
    hours, n_runs, lost = total(runs.hours, finished & timed), count(finished), _lost_by_row(runs, codes, n)
    made = []
    for code, name in enumerate(names):
        amounts = tuple(
            Amount(one.name, *(values[code].item() for values in of))
            for one, of in zip(RESOURCES, columns, strict=True)
        )
        made.append(LedgerRow(name, int(n_runs[code]), float(hours[code]), amounts, lost[code]))
    return tuple(made)


def _lost_by_row(runs: LedgerRuns, codes: Ints, n: int) -> list[tuple[Lost, ...]]:
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


@dataclass(frozen=True)
class Broken:
    """Runs that break a rule."""

    runs: Bools  # (n,) which
    wasted: Floats  # (n,) what each wastes, in hours; 0 elsewhere
    total: float  # what is requested of that in the trace


def broken_rules(
    jobs: pd.DataFrame, runs: LedgerRuns, settings: LedgerSettings, lowered: Mapping[str, Bools]
) -> dict[str, Broken | Unjudged]:
    """Rule -> the runs that break it, or why it cannot be judged.

    Where the verdict lowers a run's request (`lowered`, by resource), that breaks its rule, whatever it uses.
    """
    limits = settings.rules
    result: dict[str, Broken | Unjudged] = {}
    for resource, rules in OF_RESOURCE.items():
        judged, requested, used = runs.judged(resource), runs.requested[resource], runs.used[resource]
        if runs.absent[resource] or not judged.any():
            bounds = int(runs.bounded(resource).sum())
            lacking = f"no finished run has both a request and a use of {resource.replace('_', ' ')}"
            lacking = lower_bound_words(bounds, len(runs)) if bounds else lacking
            result |= {rule: Unjudged(rule, runs.absent[resource], lacking) for rule in rules}
            continue
        wasted, total = runs.wasted(resource), _requested(runs, resource)
        found = _breaking(resource, requested, used, limits)
        *others, usual = found
        lower = lowered.get(resource, np.zeros(len(runs), dtype=bool))
        for one in others:
            lower = lower & ~found[one]
        found[usual] = found[usual] | lower
        for rule, mask in found.items():
            result[rule] = Broken(judged & mask, np.where(judged & mask, wasted, 0.0), total)
    result |= {rule: _beside_gpus(jobs, runs, limits, rule) for rule in GPU_RULES}
    result["fragmentation"] = _spread(jobs, runs, limits)
    for rule, causes in CAUSES_OF.items():
        result[rule] = _lost(runs, rule, causes)
    return result


def breaking(
    jobs: pd.DataFrame,
    runs: LedgerRuns,
    settings: LedgerSettings,
    rules: tuple[str, ...],
    lowered: Mapping[str, Bools],
) -> tuple[Bools, Floats, str]:
    """(n,) whether a run breaks one of some rules, (n,) what it wastes, and of which resource.

    Raises SettingsError for a rule that there is not, that cannot be judged here, or for rules of unlike resources.
    """
    unknown = [rule for rule in rules if rule not in RULES]
    if unknown:
        raise SettingsError(f"there is no rule {unknown[0]!r}; choose one of {', '.join(RULES)}")
    broken = broken_rules(jobs, runs, settings, lowered)
    result = [broken[rule] for rule in rules]
    for rule, one in zip(rules, result, strict=True):
        if isinstance(one, Unjudged):
            raise SettingsError(f"rule {rule} cannot be judged: {one.why}")
    chosen = [one for one in result if isinstance(one, Broken)]
    resources = {
        lost_resource(runs, one.runs) if rule in CAUSES_OF else RULES[rule].resource
        for rule, one in zip(rules, chosen, strict=True)
    }
    if len(resources) > 1:
        raise SettingsError(f"rules {', '.join(rules)} are of unlike resources; list the runs of each by itself")
    mask, wasted = np.logical_or.reduce([one.runs for one in chosen]), np.sum([one.wasted for one in chosen], axis=0)
    return mask, wasted, resources.pop()


def _requested(runs: LedgerRuns, resource: str) -> float:
    return float(np.nansum(np.where(runs.finished, runs.over_time(resource, runs.requested[resource]), np.nan)))


def _breaking(resource: str, requested: Floats, used: Floats, limits: Thresholds) -> dict[str, Bools]:
    """Rule -> (n,) whether a run breaks it, as far as request and use tell; the usual rule is the last."""
    if resource == MEMORY:
        return {"memory": used < limits.memory_share * requested}
    if resource == LIMIT:
        return {"time_limit": used < limits.limit_share * requested}
    if resource == GPUS:
        idle = used <= limits.gpu_zero * requested
        return {"gpu_zero": idle, "gpu_low": ~idle & (used < limits.gpu_share * requested)}
    serial = (requested >= 2) & (used <= limits.serial_cores)
    return {"serial": serial, "cores": ~serial & (used < limits.cores_share * requested)}


def _gpu_part(jobs: pd.DataFrame, limits: Thresholds, rule: str) -> Floats | None:
    """(n,) GB or cores that go with one GPU: as set, else the node's over its GPUs; None = that is not known."""
    memory = GPU_RULES[rule] == MEMORY
    given = limits.gpu_memory_bytes / GB if memory else limits.gpu_cores
    if given > 0:
        return np.full(len(jobs), given)
    for of_memory, of_cores, of_gpus in CAPACITIES:
        whole, gpus = numbers_if_present(jobs, of_memory if memory else of_cores), numbers_if_present(jobs, of_gpus)
        if whole is not None and gpus is not None:
            unit = GIB / GB if memory else 1.0
            each: Floats = np.divide(whole * unit, gpus, out=np.full(len(jobs), np.nan), where=gpus > 0)
            return each
    return None


def _beside_gpus(jobs: pd.DataFrame, runs: LedgerRuns, limits: Thresholds, rule: str) -> Broken | Unjudged:
    """The runs whose memory or cores are those of more GPUs than they request, though they use no more."""
    resource, each = GPU_RULES[rule], _gpu_part(jobs, limits, rule)
    missing = (*runs.absent[GPUS][:1], *runs.absent[resource])
    if each is None:
        option = "--memory-per-gpu" if resource == MEMORY else "--cores-per-gpu"
        columns = (CAPACITIES[0][0 if resource == MEMORY else 1], CAPACITIES[0][2])
        return Unjudged(rule, (*missing, *columns), f"{RULES[rule].needs} is not known; give {option}")
    gpus, requested, used = runs.requested[GPUS], runs.requested[resource], runs.used[resource]
    known = runs.judged(resource) & np.isfinite(gpus) & np.isfinite(each)
    if missing or not known.any():
        return Unjudged(rule, missing, "no finished run has requests of GPUs and a request and a use beside them")
    further = np.where(known, requested / each - gpus, 0.0)
    broken = (further > 1e-9) & (used <= each * gpus)
    wasted = np.where(broken, runs.over_time(GPUS, further), 0.0)
    return Broken(broken, wasted, _requested(runs, GPUS))


def _spread(jobs: pd.DataFrame, runs: LedgerRuns, limits: Thresholds) -> Broken | Unjudged:
    """The runs on more nodes than their cores need."""
    column = next((name for name in NODE_COLUMNS if name in jobs.columns), None)
    capacity = next((names[1] for names in CAPACITIES if names[1] in jobs.columns), None)
    nodes = None if column is None else numbers_if_present(jobs, column)
    if nodes is None:
        return Unjudged("fragmentation", (NODE_COLUMNS[0], *runs.absent[CORES][:1]), "the number of nodes is not known")
    if limits.node_cores > 0:
        each = np.full(len(runs), limits.node_cores)
    elif capacity is not None:
        each = np.asarray(numbers_if_present(jobs, capacity), dtype=np.float64)
    else:
        why = f"{RULES['fragmentation'].needs} are not known: give --cores-per-node"
        return Unjudged("fragmentation", (CAPACITIES[0][1],), why)
    requested = runs.requested[CORES]
    known = runs.finished & np.isfinite(runs.hours) & np.isfinite(nodes) & np.isfinite(requested) & (each > 0)
    if not known.any():
        return Unjudged("fragmentation", runs.absent[CORES][:1], "no finished run has nodes and a request of cores")
    need = np.ceil(np.divide(requested, each, out=np.ones(len(runs)), where=each > 0))
    more = np.where(known, np.maximum(nodes - np.maximum(need, 1), 0.0), 0.0)
    return Broken(more > 0, np.where(more > 0, more * runs.hours, 0.0), float((nodes * runs.hours)[known].sum()))


def _lost(runs: LedgerRuns, rule: str, causes: tuple[str, ...]) -> Broken | Unjudged:
    """The runs that ended so; what they held of the resource of which they hold the largest share."""
    numbers = [CAUSES.index(cause) for cause in causes]
    mask = np.isin(runs.cause, numbers)
    resource = lost_resource(runs, mask)
    held = runs.over_time(resource, runs.requested[resource])
    return Broken(mask, np.where(mask, np.nan_to_num(held), 0.0), float(np.nansum(held)))


def lost_resource(runs: LedgerRuns, mask: Bools) -> str:
    """The resource of which runs held the largest share of what is requested."""
    shares = {}
    for name in (MEMORY, CORES, GPUS):
        held = runs.over_time(name, runs.requested[name])
        total = _requested(runs, name) or float(np.nansum(held))
        shares[name] = float(np.nansum(held[mask])) / total if total > 0 else 0.0
    return max(shares, key=lambda name: shares[name])


def keyed(jobs: pd.DataFrame, verdict: SizedRows | None, resource: str, request: Floats, first: Bools) -> Keyed:
    """The row of every run, found as a run that is to be submitted finds it.

    `request` is (n,) in the resource's unit, NaN = none; `first` (n,) are runs that speak for their key where another
    of it could.
    """
    texts = texts_of(jobs, KEY_COLUMNS, np.arange(len(jobs)))
    columns = verdict.levels[0] if verdict is not None else key_columns(texts)[0]
    asked = np.unique(request, return_inverse=True)[1].astype(np.int64)
    finest = codes_of([asked if name == REQUEST else texts[name][0] for name in columns if name in (*texts, REQUEST)])
    order = np.argsort(~first, kind="stable")
    kinds, lead = np.unique(finest[order], return_index=True)
    sizes = None if verdict is None else Sizes(verdict)
    place: dict[str, int] = {}
    rows: list[VerdictRow | None] = []
    code = np.zeros(len(kinds), dtype=np.int64)
    for kind, run in enumerate(order[lead].tolist()):
        job = {name: names[codes[run]] for name, (codes, names) in texts.items() if codes[run] >= 0}
        wants = float(request[run]) if np.isfinite(request[run]) else None
        found = None if sizes is None else sizes.find(job, wants)
        row = found.row if found is not None and not found.note else None
        label = _label(job if row is None else row.key, columns if row is None else row.by, wants, resource)
        code[kind] = place.setdefault(label, len(rows))
        if code[kind] == len(rows):
            rows.append(row)
    return Keyed(code[finest], tuple(place), tuple(rows))


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


def ledger_run_list(
    frames: Mapping[str, pd.DataFrame], settings: LedgerRunsSettings, progress: Progress = silent
) -> LedgerRunList:
    """The runs behind a number of the ledger; frames as `ledger_of`, with `row_id`.

    Raises SettingsError for a row, a task, a key or a rule that there is not; names what there is.
    """
    progress(None, "Looking for the runs")
    jobs = frames["jobs"]
    ledger = settings.ledger
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


def _of_key(groups: Groups, settings: LedgerRunsSettings, rule: str) -> Bools:
    """(n,) whether a run belongs to the key of a finding of a rule."""
    group = groups.of(rule)
    if settings.key not in group.labels:
        raise SettingsError(f"there is no key {settings.key!r}; choose one of {', '.join(group.labels[:8])}")
    result: Bools = group.code == group.labels.index(settings.key)
    return result
