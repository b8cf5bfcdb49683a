"""Series of pods: which quantity a series holds, and how series of one thing add up.

Containers of a pod, and cores, are summed at each time. Several series of one thing (of two scrapers, of nested control
groups, of two replicas of Prometheus) are one: the larger counts, and what only one of them covers is added.

Source: the metrics that cAdvisor, kube-state-metrics, DCGM's exporter, OpenTelemetry (kubelet statistics) and Datadog
document.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workprof.core.units import MIB

Floats = NDArray[np.float64]

POD, NAMESPACE, CONTAINER = (
    (
        *(f"exported_{name}", name, f"{name}_name", f"kubernetes_{name}", f"kubernetes_{name}_name"),
        *(f"k8s_{name}_name", f"k8s.{name}.name", f"kubernetes.{name}.name", f"kube_{name}", f"kube_{name}_name"),
        f"container_label_io_kubernetes_{'pod_namespace' if name == 'namespace' else f'{name}_name'}",
    )
    for name in ("pod", "namespace", "container")
)
"""Labels by falling precedence: kube-state-metrics' own pod is in `pod` where `exported_pod` is there.

Those of OpenTelemetry, Elastic, Datadog and a cAdvisor on its own come last.
"""
NODE = ("exported_node", "node", "k8s_node_name")
CLUSTER = (
    "exported_cluster",
    "cluster",
    "cluster_name",
    "clustername",
    "k8s_cluster",
    "k8s_cluster_name",
    "k8s.cluster.name",
    "kube_cluster_name",
    "cluster_id",
)

MEMORY, CPU, CPU_TOTAL, GPU, GPU_MEMORY = "memory", "cpu", "cpu total", "gpu", "gpu memory"
REQUEST, LIMIT = "request", "limit"
PHASE, STARTED, ENDED, CREATED, REASON, LAST_REASON, OWNER, OWNER_OF_OWNER, RESTARTS, LABELS, KILLS, INIT, WHY = (
    *("phase", "started", "ended", "created", "reason", "last reason", "owner", "owner of owner", "restarts"),
    *("labels", "kills", "init container", "why a pod ended"),
)
NOTES = ("label_", "annotation_")
"""How the names begin of labels that hold a pod's own ones."""
OWNERS = frozenset(("owner_name", "created_by_name", "workload"))
"""Labels that tell what made a pod, also of series of use that are joined with them."""
USES = (MEMORY, CPU, CPU_TOTAL, GPU, GPU_MEMORY)
UNKNOWN = "unknown"
OOM_KILLED = "OOMKilled"


@dataclass(frozen=True)
class Quantity:
    """What a series holds."""

    kind: str  # a constant of this module
    # of a request or a limit: 'memory', 'cpu' or 'gpu'; of memory and GPUs the metric, the best first in `BEST`
    resource: str = ""
    scale: float = 1.0  # what one of its units is


BEST = ("working_set", "rss", "usage", "unnamed", "max_usage", "util", "engine")
_NAMED: tuple[tuple[str, Quantity], ...] = (
    (r"memory_working_set_bytes", Quantity(MEMORY, "working_set")),
    (r"container_memory_rss|pod_memory_rss", Quantity(MEMORY, "rss")),
    (r"container_memory_max_usage_bytes", Quantity(MEMORY, "max_usage")),
    (r"container_memory_usage_bytes|pod_memory_usage_bytes", Quantity(MEMORY, "usage")),
    (r"container_spec_memory_limit_bytes", Quantity(LIMIT, "memory")),
    (r"cpu_usage_seconds_total:.*rate|pod_cpu_usage_rate", Quantity(CPU)),
    (r"(?:container|pod)_cpu_usage_seconds_total", Quantity(CPU_TOTAL)),
    (r"^(?:container|k8s_pod)_memory_working_set$", Quantity(MEMORY, "working_set")),
    (r"^(?:container|k8s_pod)_memory_usage$", Quantity(MEMORY, "usage")),
    (r"^container_cpu_usage$|^k8s_pod_cpu_(?:usage|utilization)$", Quantity(CPU)),  # 'utilization' is in cores, too
    (r"^(?:container|k8s_pod)_cpu_time(?:_seconds)?(?:_total)?$", Quantity(CPU_TOTAL)),
    (r"^kubernetes_cpu_usage_total$", Quantity(CPU, scale=1e-9)),  # Datadog's, in nanocores
    *(
        (rf"^k8s_container_{resource}_{what}(?:_bytes)?$", Quantity(what, resource))
        for resource in ("memory", "cpu")
        for what in (REQUEST, LIMIT)
    ),
    (r"^k8s_container_restarts$", Quantity(RESTARTS)),
    (r"DCGM_FI_DEV_GPU_UTIL(?![A-Z_])", Quantity(GPU, "util")),
    (r"DCGM_FI_PROF_GR_ENGINE_ACTIVE(?![A-Z_])", Quantity(GPU, "engine", 100.0)),
    (r"DCGM_FI_DEV_FB_USED(?![A-Z_])", Quantity(GPU_MEMORY, scale=float(MIB))),  # a share has '_PERCENT'
    (r"kube_pod_status_phase", Quantity(PHASE)),
    (r"kube_pod_status_reason", Quantity(WHY)),
    (r"kube_pod_start_time", Quantity(STARTED)),
    (r"kube_pod_completion_time", Quantity(ENDED)),
    (r"kube_pod_created", Quantity(CREATED)),
    (r"kube_pod_(?:init_)?container_status_terminated_reason", Quantity(REASON)),
    (r"kube_pod_(?:init_)?container_status_last_terminated_reason", Quantity(LAST_REASON)),
    (r"kube_pod_(?:init_)?container_status_restarts_total", Quantity(RESTARTS)),
    (r"container_oom_events_total", Quantity(KILLS)),
    (r"kube_pod_owner|kube_pod_info", Quantity(OWNER)),
    (r"kube_(?:replicaset|job|replicationcontroller)_owner", Quantity(OWNER_OF_OWNER)),
    (r"kube_pod_init_container_(?:info|status)", Quantity(INIT)),
    (r"kube_pod_(?:labels|annotations)", Quantity(LABELS)),
)
_RESOURCE = re.compile(r"kube_pod_.*resource_(request|limit)s?")
_GPU = re.compile(r"\w+_com_(?:gpu|gpu_shared|mig_\w+)$|gpu_intel_com_(?:i915|xe)$")
FLAGS = (PHASE, LAST_REASON)
"""What series of 0 and 1 say in their labels; of other numbers these labels are of what they were joined with."""
UNIT_OF = {"byte": "memory", "bytes": "memory", "core": "cpu", "cores": "cpu"}
"""Label `unit` of a request or a limit -> what it is of, where the resource is not told."""
OF_WHOLE_POD = "kube_pod_resource_"
"""How the names begin of what the scheduler tells of whole pods: a label `container` is that of the scheduler."""
RESOURCES = {"memory": "memory", "cpu": "cpu", "nvidia_com_gpu": "gpu", "amd_com_gpu": "gpu"}
"""Label `resource` of a request or a limit -> what it is of."""
PART, PART_ID, GPU_MODEL = "GPU_I_PROFILE", "GPU_I_ID", "modelName"
"""Labels of a part of a GPU (MIG): its profile, and its number on the GPU."""
_PROFILE = re.compile(r"(?:(\d)c[._])?(\d)g[._](\d+)gb")


def gpu_share(name: str) -> float:
    """The share of a GPU that a resource or a profile names: 'mig-3g.20gb' is 3 slices of 7; 1 for a whole one.

    Only an A30 has four slices, of 6 GB each. Source: NVIDIA's guide of MIG.
    """
    match = _PROFILE.search(name)
    if match is None:
        return 1.0
    slices, memory = int(match[2]), int(match[3])
    return int(match[1] or slices) / (4 if memory == 6 * slices else 7)


def quantity_of(name: str, labels: Mapping[str, str]) -> Quantity | None:
    """What a series is of, None for a metric that says nothing of a pod's requests, use or life."""
    name = name.replace(".", "_")
    declared = _RESOURCE.search(name)
    if declared:
        by_name = next((each for each in ("memory", "cpu") if each in name), "")
        named_resource = labels.get("resource") or by_name or UNIT_OF.get(labels.get("unit", ""), "")
        resource = "gpu" if _GPU.match(named_resource) else RESOURCES.get(named_resource)
        share = gpu_share(named_resource) if resource == "gpu" else 1.0
        return Quantity(declared.group(1), resource, share) if resource else None
    match = _documented(name)
    if match is not None and match.kind == GPU and labels.get(PART):  # DCGM tells no utilisation of a part, or 0
        return replace(match, scale=match.scale * gpu_share(labels[PART])) if match.resource == "engine" else None
    if match is None and not name:
        resource = RESOURCES.get(labels.get("resource", ""), "")
        kind = PHASE if "phase" in labels else LAST_REASON if labels.get("reason") == OOM_KILLED else UNKNOWN
        return Quantity(REQUEST, resource) if resource else Quantity(kind)
    if match is None and not name.startswith(EXPORTERS) and request_and_resource(name)[1] and not is_share(name):
        return Quantity(UNKNOWN)
    return match


def quantity_told(name: str, labels: Mapping[str, str], values: Floats) -> Quantity | None:
    """What a series is of, by its numbers too: a use that was joined with a phase has its label, and is none."""
    quantity = quantity_of(name, labels)
    flags = quantity is not None and quantity.kind in FLAGS and not name
    return Quantity(UNKNOWN) if flags and not np.isin(values[np.isfinite(values)], (0, 1)).all() else quantity


@functools.lru_cache(maxsize=10_000)
def _documented(name: str) -> Quantity | None:
    return next((quantity for pattern, quantity in _NAMED if re.search(pattern, name)), None)


EXPORTERS = ("container_", "kube_", "k8s_", "kubelet_", "node_", "machine_", "process_", "go_", "DCGM_")
"""How the names of metrics begin that are documented: one that is not known says nothing of a pod's use."""

WORDS = {
    **dict.fromkeys(("request", "requests", "requested"), REQUEST),
    **dict.fromkeys(("limit", "limits"), LIMIT),
    **dict.fromkeys(("memory", "mem", "rss", "ram"), MEMORY),
    **dict.fromkeys(("cpu", "cpus"), CPU),
    **dict.fromkeys(("usage", "used", "value", "pod", "working", "set", "bytes", "quota", "total", "mean", "max"), ""),
}
"""Words of legends and names, and what they say of a series."""


SHARES = frozenset(("utilization", "utilisation", "util", "ratio", "fraction", "share"))


def is_share(name: str) -> bool:
    """Tell whether a name says that its numbers are shares, of what it does not say."""
    return not SHARES.isdisjoint(re.findall(r"[a-z]+", name.lower()))


def request_and_resource(name: str) -> tuple[str, str]:
    """Whether the words of a name tell of a request or a limit, and of which resource; '' = they do not."""
    meanings = [WORDS.get(word, "") for word in re.findall(r"[a-z]+", name.lower())]
    what = next((word for word in meanings if word in (REQUEST, LIMIT)), "")
    return what, next((word for word in meanings if word in (MEMORY, CPU)), "")


def label(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    """The first of some labels that is there, '' where none is."""
    return next((labels[name] for name in names if labels.get(name)), "")


@dataclass(frozen=True)
class Series:
    """Points of one pod or container; `times` rise, in seconds since 1970."""

    line: int
    labels: Mapping[str, str]
    times: Floats
    values: Floats

    @property
    def first(self) -> float:
        """Its first moment."""
        return float(self.times[0])

    @property
    def last(self) -> float:
        """Its last moment."""
        return float(self.times[-1])

    @functools.cached_property
    def step(self) -> float:
        """Its usual time between points, infinite for one point."""
        steps = np.sort(np.diff(self.times))
        n = steps.size
        return float(steps[(n - 1) // 2] + steps[n // 2]) / 2 if n else np.inf

    def within(self, low: float, high: float) -> Series:
        """Its points from `low` until before `high`."""
        begin, end = np.searchsorted(self.times, (low, high), side="left")
        return Series(self.line, self.labels, self.times[begin:end], self.values[begin:end])


def in_order(times: Floats, values: Floats) -> tuple[Floats, Floats, int]:
    """Finite points by rising time, and how often a time repeats; of its values the largest counts."""
    finite = np.isfinite(values) & np.isfinite(times)
    times, values = times[finite], values[finite]
    if times.size and bool(np.all(np.diff(times) > 0)):
        return times, values, 0
    order = np.argsort(times, kind="stable")
    unique, first = np.unique(times[order], return_index=True)
    largest = np.maximum.reduceat(values[order], first) if unique.size else values[order]
    return unique, largest, int(times.size - unique.size)


def added(one: Series | None, other: Series) -> Series:
    """The sum of two series; times that only one has count as that one says.

    Of series that are sampled at different times the latest value counts as long as they last.
    """
    if one is None:
        return other
    if np.array_equal(one.times, other.times):
        return Series(one.line, one.labels, one.times, one.values + other.values)
    times = np.union1d(one.times, other.times)
    low, high = max(one.times[0], other.times[0]), min(one.times[-1], other.times[-1])
    both = [int(((each.times >= low) & (each.times <= high)).sum()) for each in (one, other)]
    shared = np.intersect1d(one.times, other.times).size
    total = _on(one, times, held=2 * shared < min(both)) + _on(other, times, held=2 * shared < min(both))
    return Series(one.line, one.labels, times, total)


def larger(one: Series | None, other: Series) -> Series:
    """At each time the larger of two series of one container."""
    if one is None:
        return other
    times = np.union1d(one.times, other.times)
    return Series(one.line, one.labels, times, np.maximum(_on(one, times), _on(other, times)))


def _on(series: Series, times: Floats, *, held: bool = False) -> Floats:
    """Values at other times: 0 where there is none, or the latest one while the series lasts."""
    at = np.searchsorted(series.times, times, side="right") - 1
    there = at >= 0
    values = np.where(there, series.values[np.maximum(at, 0)], 0.0)
    if held:
        return np.where(times <= series.times[-1], values, 0.0)
    return np.where(there & (series.times[np.maximum(at, 0)] == times), values, 0.0)


def joined(parts: Sequence[Series]) -> list[Series]:
    """Series of which those of the same labels that follow each other are one: a total goes on in the next file."""
    result: dict[frozenset[tuple[str, str]], list[Series]] = {}
    for one in sorted(parts, key=lambda each: each.first):
        own = result.setdefault(frozenset(one.labels.items()), [])
        if own and own[-1].last < one.first:
            times, values = (
                np.concatenate(pair) for pair in ((own[-1].times, one.times), (own[-1].values, one.values))
            )
            own[-1] = Series(own[-1].line, one.labels, times, values)
        else:
            own.append(one)
    return [one for each in result.values() for one in each]


@dataclass(frozen=True)
class Growth:
    """How much a total grew, stretch by stretch: begins, ends and amounts, each (n,)."""

    begins: Floats
    ends: Floats
    amounts: Floats

    @functools.cached_property
    def total(self) -> float:
        """All of it."""
        return float(self.amounts.sum())

    @functools.cached_property
    def span(self) -> tuple[float, float]:
        """Its first and its last moment."""
        return float(self.begins.min()), float(self.ends.max())

    def between(self, edges: Floats) -> Floats:
        """(n,) how much it grew between each of n + 1 rising edges; within a stretch it grows evenly."""
        rates = self.amounts / (self.ends - self.begins)
        moments, changes = np.concatenate([self.begins, self.ends]), np.concatenate([rates, -rates])
        order = np.argsort(moments)
        moments, rate = moments[order], np.cumsum(changes[order])
        grown = np.concatenate([[0.0], np.cumsum(rate[:-1] * np.diff(moments))])
        return np.diff(np.interp(edges, moments, grown))


def growth_of(series: Series) -> Growth:
    """How a total grew; after a reset it counts from 0."""
    steps = np.diff(series.values)
    return Growth(series.times[:-1], series.times[1:], np.where(steps < 0, series.values[1:], steps))


def together(parts: Sequence[Growth]) -> Growth:
    """The growth of several things that add up."""
    every = list(zip(*((one.begins, one.ends, one.amounts) for one in parts), strict=True))
    begins, ends, amounts = (np.concatenate(each) if each else np.empty(0) for each in every or [(), (), ()])
    return Growth(begins, ends, amounts)


def of_one_thing(parts: Collection[Growth]) -> Growth:
    """The growth of one thing that several series tell of: the largest, and of others what it does not cover."""
    result: list[Growth] = []
    covered: list[tuple[float, float]] = []
    for one in sorted((part for part in parts if part.begins.size), key=lambda part: -part.total):
        low, high = one.span
        free = _free(low, high, covered)
        result.append(one if free == [(low, high)] else together([_cut(one, *each) for each in free]))
        covered.append((low, high))
    return result[0] if len(result) == 1 else together(result)


def _free(low: float, high: float, covered: Collection[tuple[float, float]]) -> list[tuple[float, float]]:
    """The stretches between two moments that none of some others covers."""
    result, at = [], low
    for begin, end in sorted(covered):
        if begin > at and begin < high:
            result.append((at, begin))
        at = max(at, min(end, high)) if begin < high else at
    return [*result, (at, high)] if at < high else result


def _cut(growth: Growth, low: float, high: float) -> Growth:
    begins, ends = np.maximum(growth.begins, low), np.minimum(growth.ends, high)
    there = ends > begins
    share = (ends[there] - begins[there]) / (growth.ends - growth.begins)[there]
    return Growth(begins[there], ends[there], growth.amounts[there] * share)


def one_after_another(parts: Sequence[Growth]) -> Growth:
    """The growth of control groups of one container: of those at one time the larger, of others the sum."""
    result: list[list[Growth]] = []
    for one in sorted((part for part in parts if part.begins.size), key=lambda part: -part.total):
        low, high = one.span
        for group in result:
            begin, end = group[0].span
            if 2 * (min(high, end) - max(low, begin)) > min(high - low, end - begin):
                group.append(one)
                break
        else:
            result.append([one])
    return together([of_one_thing(group) for group in result])
