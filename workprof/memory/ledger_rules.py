"""The rules of the ledger: which runs break each, and what they waste."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, numbers_if_present
from workprof.core.causes import CAUSES, FAILED, KILLED, OUT_OF_MEMORY, TIMED_OUT
from workprof.core.errors import SettingsError
from workprof.core.units import GB, GIB
from workprof.memory.ledger_runs import LedgerRuns
from workprof.memory.ledger_settings import (
    CAPACITIES,
    CORES,
    GPUS,
    LIMIT,
    MEMORY,
    NODE_COLUMNS,
    LedgerSettings,
    Thresholds,
)
from workprof.memory.usage import lower_bound_words

if TYPE_CHECKING:
    import pandas as pd

NODES = "nodes"


@dataclass(frozen=True)
class Rule:
    """A rule: its title for people, the resource that is wasted, and what it needs besides that resource's columns."""

    name: str
    title: str
    resource: str
    needs: str = ""


RULES = {
    rule.name: rule
    for rule in (
        Rule("memory", "too much memory requested", MEMORY),
        Rule("cores", "too many cores requested", CORES),
        Rule("serial", "serial code on several cores", CORES),
        Rule("gpu_zero", "GPUs requested and not used", GPUS),
        Rule("gpu_low", "low use of GPUs", GPUS),
        Rule("gpu_memory", "too much memory for each GPU", GPUS, "the memory of a GPU's share of the node"),
        Rule("gpu_cores", "too many cores for each GPU", GPUS, "the cores of a GPU's share of the node"),
        Rule("time_limit", "time limit far too long", LIMIT),
        Rule("fragmentation", "more nodes than the cores need", NODES, "the cores of a node"),
        Rule("out_of_memory", "runs killed for their memory", MEMORY),
        Rule("timed_out", "runs ended by their time limit", CORES),
        Rule("failed", "runs that failed or were killed", CORES),
    )
}
"""Rules of findings. Those of one resource share its runs: a run breaks one of them, so that amounts add up."""

CAUSES_OF = {"out_of_memory": (OUT_OF_MEMORY,), "timed_out": (TIMED_OUT,), "failed": (FAILED, KILLED)}
OF_RESOURCE = {MEMORY: ("memory",), CORES: ("cores", "serial"), GPUS: ("gpu_zero", "gpu_low"), LIMIT: ("time_limit",)}


@dataclass(frozen=True)
class Unjudged:
    """A rule that could not be judged: the columns that are missing, and why in words."""

    rule: str
    missing: tuple[str, ...]
    why: str


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


GPU_RULES = {"gpu_memory": MEMORY, "gpu_cores": CORES}
"""What one GPU's share of a node holds of."""


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
    return Broken(mask, np.where(mask, np.nan_to_num(held), 0.0), _requested(runs, resource))


def lost_resource(runs: LedgerRuns, mask: Bools) -> str:
    """The resource of which runs held the largest share of what is requested."""
    shares = {}
    for name in (MEMORY, CORES, GPUS):
        held, total = runs.over_time(name, runs.requested[name]), _requested(runs, name)
        shares[name] = float(np.nansum(held[mask])) / total if total > 0 else 0.0
    return max(shares, key=lambda name: shares[name])
