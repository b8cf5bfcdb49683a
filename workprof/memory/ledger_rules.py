"""The rules of the ledger: which runs break each, and what they waste."""

from __future__ import annotations

from collections import Counter
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
    NAMES,
    NODE_COLUMNS,
    Thresholds,
)
from workprof.memory.usage import lower_bound_words

if TYPE_CHECKING:
    import pandas as pd

NODES = "nodes"
SPREAD = "fragmentation"


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
        Rule("gpu_cores", "too many cores for each GPU", GPUS, "the core count of a GPU's share of the node"),
        Rule("time_limit", "time limit far too long", LIMIT),
        Rule(SPREAD, "more nodes than the cores need", NODES, "the cores of a node"),
        Rule("out_of_memory", "runs killed for their memory", MEMORY),
        Rule("timed_out", "runs ended by their time limit", CORES),
        Rule("failed", "runs that failed or were killed", CORES),
    )
}
"""Rules of findings. Those of one resource share its runs: a run breaks one of them, so that amounts add up."""

CAUSES_OF = {"out_of_memory": (OUT_OF_MEMORY,), "timed_out": (TIMED_OUT,), "failed": (FAILED, KILLED)}
OF_RESOURCE = {MEMORY: ("memory",), CORES: ("cores", "serial"), GPUS: ("gpu_zero", "gpu_low"), LIMIT: ("time_limit",)}
USUAL = {MEMORY: "memory", CORES: "cores", GPUS: "gpu_low", LIMIT: "time_limit"}
"""Resource -> the rule that a run breaks whose row lowers its request, whatever it uses, where it breaks no other."""


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
    n_known: int  # runs that could be judged
    node_h: float = 0.0  # hours of the nodes of those, where nodes are wasted


class Rules:
    """The rules over the parts of a table: which runs break each, and what all parts tell of the rule."""

    def __init__(self, limits: Thresholds) -> None:
        self.limits = limits
        self._n_runs = 0
        self._absent: Mapping[str, tuple[str, ...]] = {}
        self._requested, self._every = dict.fromkeys(NAMES, 0.0), dict.fromkeys(NAMES, 0.0)
        self._judged, self._bounded = Counter[str](), Counter[str]()
        self._known, self._lacking = Counter[str](), dict[str, Unjudged]()
        self._node_h = 0.0
        self._held = {rule: dict.fromkeys((MEMORY, CORES, GPUS), 0.0) for rule in CAUSES_OF}

    def broken(self, jobs: pd.DataFrame, runs: LedgerRuns) -> dict[str, Broken]:
        """Rule -> the runs of a part that break it by their use; one without its columns is not there.

        What runs lost that did not finish is of a resource that all parts tell: their `wasted` is 0.
        """
        result: dict[str, Broken] = {}
        for resource in OF_RESOURCE:
            if not runs.absent[resource]:
                judged, wasted = runs.judged(resource), runs.wasted(resource)
                found = _breaking(resource, runs.requested[resource], runs.used[resource], self.limits)
                n_known = int(judged.sum())
                for rule, mask in found.items():
                    result[rule] = Broken(judged & mask, np.where(judged & mask, wasted, 0.0), n_known)
        for rule in GPU_RULES:
            self._with(result, rule, _beside_gpus(jobs, runs, self.limits, rule))
        self._with(result, SPREAD, _spread(jobs, runs, self.limits))
        for rule, causes in CAUSES_OF.items():
            mask = np.isin(runs.cause, [CAUSES.index(cause) for cause in causes])
            result[rule] = Broken(mask, np.zeros(len(runs)), int(mask.sum()))
        return result

    def _with(self, result: dict[str, Broken], rule: str, found: Broken | Unjudged) -> None:
        if isinstance(found, Unjudged):
            self._lacking[rule] = found
        else:
            result[rule] = found

    def add(self, runs: LedgerRuns, broken: Mapping[str, Broken]) -> None:
        """Count a part."""
        self._n_runs, self._absent = self._n_runs + len(runs), runs.absent
        held = {name: runs.over_time(name, runs.requested[name]) for name in NAMES}
        for name in NAMES:
            self._requested[name] += float(np.nansum(np.where(runs.finished, held[name], np.nan)))
            self._every[name] += float(np.nansum(held[name]))
            self._judged[name] += int(runs.judged(name).sum())
            self._bounded[name] += int(runs.bounded(name).sum())
        for rule, one in broken.items():
            self._known[rule] += one.n_known
            self._node_h += one.node_h
        for rule, of in self._held.items():
            for name in of:
                of[name] += float(np.nansum(held[name][broken[rule].runs]))

    def unjudged(self) -> dict[str, Unjudged]:
        """Rule -> why it cannot be judged, of those that cannot."""
        result: dict[str, Unjudged] = {}
        for resource, rules in OF_RESOURCE.items():
            if self._absent[resource] or not self._judged[resource]:
                bounds = self._bounded[resource]
                words = resource.replace("_", " ").replace("gpus", "GPUs")
                lacking = f"no finished run has both a request and a use of {words}"
                lacking = lower_bound_words(bounds, self._n_runs) if bounds else lacking
                result |= {rule: Unjudged(rule, self._absent[resource], lacking) for rule in rules}
        for rule in (*GPU_RULES, SPREAD):
            if rule in self._lacking:
                result[rule] = self._lacking[rule]
            elif not self._known[rule]:
                result[rule] = Unjudged(rule, self._absent[CORES][:1] if rule == SPREAD else (), NONE_KNOWN[rule])
        return result

    def total(self, rule: str) -> float:
        """What finished runs request of what the rule wastes; of runs that did not finish what all runs request."""
        requested = self._every if rule in CAUSES_OF else self._requested
        return self._node_h if rule == SPREAD else requested[self.resource_of(rule)]

    def resource_of(self, rule: str) -> str:
        """The resource that a rule wastes; of a cause that of which its runs held the largest share."""
        if rule not in CAUSES_OF:
            return RULES[rule].resource
        held = self._held[rule]
        totals = {name: self._requested[name] or self._every[name] for name in held}
        return max(held, key=lambda name: held[name] / totals[name] if totals[name] > 0 else 0.0)

    def found(self, rule: str) -> bool:
        """Whether some run ended so."""
        return self._known[rule] > 0

    def refuse(self, rules: tuple[str, ...]) -> str:
        """The one resource of some rules.

        Raises SettingsError for a rule that there is not, that cannot be judged here, or for rules of unlike resources.
        """
        unknown = [rule for rule in rules if rule not in RULES]
        if unknown:
            raise SettingsError(f"there is no rule {unknown[0]!r}; choose one of {', '.join(RULES)}")
        unjudged = self.unjudged()
        for rule in rules:
            if rule in unjudged:
                raise SettingsError(f"rule {rule} cannot be judged: {unjudged[rule].why}")
        resources = {self.resource_of(rule) for rule in rules}
        if len(resources) > 1:
            raise SettingsError(f"rules {', '.join(rules)} are of unlike resources; list the runs of each by itself")
        return resources.pop()


def _breaking(resource: str, requested: Floats, used: Floats, limits: Thresholds) -> dict[str, Bools]:
    """Rule -> (n,) whether a run breaks it, as far as request and use tell."""
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
NONE_KNOWN = {
    **dict.fromkeys(GPU_RULES, "no finished run has requests of GPUs and a request and a use beside them"),
    SPREAD: "no finished run has nodes and a request of cores",
}


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
    if missing:
        return Unjudged(rule, missing, NONE_KNOWN[rule])
    gpus, requested, used = runs.requested[GPUS], runs.requested[resource], runs.used[resource]
    known = runs.judged(resource) & np.isfinite(gpus) & (each > 0)
    further = np.where(known, np.divide(requested, each, out=np.zeros(len(runs)), where=known) - gpus, 0.0)
    broken = (further > 1e-9) & (used <= each * gpus)
    return Broken(broken, np.where(broken, runs.over_time(GPUS, further), 0.0), int(known.sum()))


def _spread(jobs: pd.DataFrame, runs: LedgerRuns, limits: Thresholds) -> Broken | Unjudged:
    """The runs on more nodes than their cores need."""
    column = next((name for name in NODE_COLUMNS if name in jobs.columns), None)
    capacity = next((names[1] for names in CAPACITIES if names[1] in jobs.columns), None)
    nodes = None if column is None else numbers_if_present(jobs, column)
    if nodes is None:
        return Unjudged(SPREAD, (NODE_COLUMNS[0], *runs.absent[CORES][:1]), "the number of nodes is not known")
    if limits.node_cores > 0:
        each = np.full(len(runs), limits.node_cores)
    elif capacity is not None:
        each = np.asarray(numbers_if_present(jobs, capacity), dtype=np.float64)
    else:
        why = f"{RULES[SPREAD].needs} are not known: give --cores-per-node"
        return Unjudged(SPREAD, (CAPACITIES[0][1],), why)
    requested = runs.requested[CORES]
    known = runs.finished & np.isfinite(runs.hours) & np.isfinite(nodes) & np.isfinite(requested) & (each > 0)
    need = np.ceil(np.divide(requested, each, out=np.ones(len(runs)), where=each > 0))
    more = np.where(known, np.maximum(nodes - np.maximum(need, 1), 0.0), 0.0)
    wasted = np.where(more > 0, more * runs.hours, 0.0)
    return Broken(more > 0, wasted, int(known.sum()), float((nodes * runs.hours)[known].sum()))
