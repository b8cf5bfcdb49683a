"""Series of pods, joined by namespace and pod into runs: which quantity a series holds, and how containers add up.

Containers of a pod are summed at each time; the pause container and the totals of a pod's own control group stand for
what its containers say already, so they count only where there is nothing else. Several series of one container (after
a restart, or of two scrapers) are one: the larger counts. A point takes 16 bytes.

Source: the metrics that cAdvisor, kube-state-metrics and DCGM's exporter document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workprof.core.units import MIB
from workprof.formats.declare import Read, Remark
from workprof.formats.kubernetes import task_of

Floats = NDArray[np.float64]
Cell = str | float | None

POD, NAMESPACE, CONTAINER = (
    (f"exported_{name}", name, f"{name}_name", f"kubernetes_{name}") for name in ("pod", "namespace", "container")
)
"""Labels by falling precedence: kube-state-metrics' own pod is in `pod` where `exported_pod` is there."""

MEMORY, CPU, CPU_TOTAL, GPU, GPU_MEMORY = "memory", "cpu", "cpu total", "gpu", "gpu memory"
REQUEST, LIMIT = "request", "limit"
PHASE, STARTED, ENDED, CREATED, REASON, OWNER, RESTARTS = (
    *("phase", "started", "ended", "created", "reason", "owner", "restarts"),
)
UNKNOWN = "unknown"
OOM_KILLED, KIND_NAME = "OOMKilled", ("kind", "name")


@dataclass(frozen=True)
class Quantity:
    """What a series holds.

    Attributes:
        kind: a constant of this module.
        resource: of a request or a limit: 'memory', 'cpu' or 'gpu'; of memory the metric, the best first in `BEST`.
        scale: what one of its units is.
    """

    kind: str
    resource: str = ""
    scale: float = 1.0


BEST = ("working_set", "rss", "usage", "unnamed", "max_usage")
_NAMED: tuple[tuple[str, Quantity], ...] = (
    (r"memory_working_set_bytes", Quantity(MEMORY, "working_set")),
    (r"container_memory_rss|pod_memory_rss", Quantity(MEMORY, "rss")),
    (r"container_memory_max_usage_bytes", Quantity(MEMORY, "max_usage")),
    (r"container_memory_usage_bytes|pod_memory_usage_bytes", Quantity(MEMORY, "usage")),
    (r"container_spec_memory_limit_bytes", Quantity(LIMIT, "memory")),
    (r"cpu_usage_seconds_total:.*rate|pod_cpu_usage_rate", Quantity(CPU)),
    (r"(?:container|pod)_cpu_usage_seconds_total", Quantity(CPU_TOTAL)),
    (r"DCGM_FI_DEV_GPU_UTIL", Quantity(GPU)),
    (r"DCGM_FI_DEV_FB_USED", Quantity(GPU_MEMORY, scale=float(MIB))),
    (r"kube_pod_status_phase", Quantity(PHASE)),
    (r"kube_pod_start_time", Quantity(STARTED)),
    (r"kube_pod_completion_time", Quantity(ENDED)),
    (r"kube_pod_created", Quantity(CREATED)),
    (r"kube_pod_(?:init_)?container_status_terminated_reason", Quantity(REASON)),
    (r"kube_pod_container_status_restarts_total", Quantity(RESTARTS)),
    (r"kube_pod_owner|kube_pod_info", Quantity(OWNER)),
)
_RESOURCE = re.compile(r"kube_pod_.*resource_(request|limit)s?")
RESOURCES = {"memory": "memory", "cpu": "cpu", "nvidia_com_gpu": "gpu", "amd_com_gpu": "gpu"}
"""Label `resource` of a request or a limit -> what it is of."""


def quantity_of(name: str, labels: Mapping[str, str]) -> Quantity | None:
    """Return what a series is of, None for a metric that says nothing of a pod's requests, use or life."""
    declared = _RESOURCE.search(name)
    if declared:
        named_resource = labels.get("resource") or next((each for each in ("memory", "cpu") if each in name), "")
        return Quantity(declared.group(1), RESOURCES[named_resource]) if named_resource in RESOURCES else None
    match = next((quantity for pattern, quantity in _NAMED if re.search(pattern, name)), None)
    if match is None and not name:
        resource = RESOURCES.get(labels.get("resource", ""), "")
        return Quantity(REQUEST, resource) if resource else Quantity(PHASE) if "phase" in labels else Quantity(UNKNOWN)
    if match is None and not name.startswith(EXPORTERS) and request_and_resource(name)[1]:
        return Quantity(UNKNOWN)
    return match


EXPORTERS = ("container_", "kube_", "kubelet_", "node_", "machine_", "process_", "go_", "DCGM_")
"""How the names of metrics begin that are documented: one that is not known says nothing of a pod's use."""

WORDS = {
    **dict.fromkeys(("request", "requests", "requested"), REQUEST),
    **dict.fromkeys(("limit", "limits"), LIMIT),
    **dict.fromkeys(("memory", "mem", "rss", "ram"), MEMORY),
    **dict.fromkeys(("cpu", "cpus"), CPU),
    **dict.fromkeys(("usage", "used", "value", "pod", "working", "set", "bytes", "quota", "total", "mean", "max"), ""),
}
"""Words of legends and names, and what they say of a series."""


def request_and_resource(name: str) -> tuple[str, str]:
    """Return whether the words of a name tell of a request or a limit, and of which resource; '' = they do not."""
    meanings = [WORDS.get(word, "") for word in re.findall(r"[a-z]+", name.lower())]
    what = next((word for word in meanings if word in (REQUEST, LIMIT)), "")
    return what, next((word for word in meanings if word in (MEMORY, CPU)), "")


def label(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the first of some labels that is there, '' where none is."""
    return next((labels[name] for name in names if labels.get(name)), "")


@dataclass(frozen=True)
class Series:
    """Points of one pod or container; `times` rise, in seconds since 1970."""

    line: int
    labels: Mapping[str, str]
    times: Floats
    values: Floats


def added(one: Series | None, other: Series) -> Series:
    """Return the sum of two series; times that only one has count as that one says.

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
    """Return at each time the larger of two series of one container."""
    if one is None:
        return other
    times = np.union1d(one.times, other.times)
    return Series(one.line, one.labels, times, np.maximum(_on(one, times), _on(other, times)))


def _on(series: Series, times: Floats, *, held: bool = False) -> Floats:
    """Return values at other times: 0 where there is none, or the latest one while the series lasts."""
    at = np.searchsorted(series.times, times, side="right") - 1
    there = at >= 0
    values = np.where(there, series.values[np.maximum(at, 0)], 0.0)
    if held:
        return np.where(times <= series.times[-1], values, 0.0)
    return np.where(there & (series.times[np.maximum(at, 0)] == times), values, 0.0)


def _increase(series: Series) -> float:
    """Return how much a total grew; after a reset it counts from 0."""
    steps = np.diff(series.values)
    return float(np.where(steps < 0, series.values[1:], steps).sum())


@dataclass
class PodRun:
    """What is known of one pod.

    Attributes:
        gauges: (kind, metric) -> container -> series.
        totals: container -> (control group) -> seconds of CPU.
        declared: (request or limit, resource) -> container -> amount; init containers apart.
        phases: (time, phase) that held last.
    """

    line: int
    namespace: str
    pod: str
    gauges: dict[tuple[str, str], dict[str, Series]] = field(default_factory=dict)
    totals: dict[str, dict[str, float]] = field(default_factory=dict)
    declared: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    moments: dict[str, float] = field(default_factory=dict)
    phase: tuple[float, str] = (-np.inf, "")
    reason: str = ""
    owner: tuple[str, str] = ("", "")
    node: str = ""
    restarts: float = 0.0
    used: tuple[float, float] = (np.inf, -np.inf)
    seen: tuple[float, float] = (np.inf, -np.inf)
    samples: int = 0

    def take(self, quantity: Quantity, name: str, series: Series) -> None:
        """Add a series that has a point."""
        labels, kind = series.labels, quantity.kind
        container = label(labels, CONTAINER)
        span = (float(series.times[0]), float(series.times[-1]))
        self.seen = (min(self.seen[0], span[0]), max(self.seen[1], span[1]))
        if kind in (MEMORY, CPU, CPU_TOTAL, GPU, GPU_MEMORY):
            self.used = (min(self.used[0], span[0]), max(self.used[1], span[1]))
            self.samples = max(self.samples, series.times.size)
            self.node = self.node or labels.get("node", "")
        if kind in (MEMORY, CPU, GPU, GPU_MEMORY):
            held = self.gauges.setdefault((kind, quantity.resource), {})
            key = labels.get("UUID", labels.get("gpu", "")) if kind in (GPU, GPU_MEMORY) else container
            held[key] = larger(held.get(key), series)
        elif kind == CPU_TOTAL:
            groups = self.totals.setdefault(container, {})
            group = labels.get("id", "")
            groups[group] = max(groups.get(group, 0.0), _increase(series))
        elif kind in (REQUEST, LIMIT):
            place = f"init {container}" if "init_container" in name else container
            amounts = self.declared.setdefault((kind, quantity.resource), {})
            amounts[place] = max(amounts.get(place, 0.0), float(series.values.max()))
        else:
            self._take_life(kind, series)

    def _take_life(self, kind: str, series: Series) -> None:
        labels, last = series.labels, float(series.values[-1])
        if kind == PHASE:
            held_at = series.times[series.values > 0]
            if held_at.size:
                self.phase = max(self.phase, (float(held_at[-1]), labels.get("phase", "")))
        elif kind == REASON and last > 0:
            reason = labels.get("reason", "")
            self.reason = OOM_KILLED if OOM_KILLED in (self.reason, reason) else reason
        elif kind == RESTARTS:
            self.restarts += last
        elif kind == OWNER:
            owner = tuple(labels.get(f"owner_{what}") or labels.get(f"created_by_{what}", "") for what in KIND_NAME)
            self.owner = max(self.owner, (owner[0], owner[1]))
            self.node = self.node or labels.get("node", "")
        elif kind in (STARTED, ENDED, CREATED) and last > 0:
            self.moments[kind] = last

    def merge(self, other: PodRun) -> None:
        """Take over what another telling of the pod says, which names no namespace."""
        self.gauges, self.totals = other.gauges | self.gauges, other.totals | self.totals
        self.declared = other.declared | self.declared
        self.moments = other.moments | self.moments
        self.phase, self.reason = max(self.phase, other.phase), self.reason or other.reason
        self.used = (min(self.used[0], other.used[0]), max(self.used[1], other.used[1]))
        self.seen = (min(self.seen[0], other.seen[0]), max(self.seen[1], other.seen[1]))
        self.samples, self.restarts = max(self.samples, other.samples), max(self.restarts, other.restarts)
        self.owner, self.node = max(self.owner, other.owner), self.node or other.node

    def summed(self, kind: str) -> Series | None:
        """Return the pod's gauge, its containers summed."""
        result = [self.gauges[kind, best] for best in (*BEST, "") if (kind, best) in self.gauges]
        total: Series | None = None
        for name in _counted(result[0]) if result else ():
            total = added(total, result[0][name])
        return total

    def cpu(self, seconds: float) -> float | None:
        """Return the mean use of CPU in cores."""
        rate = self.summed(CPU)
        if rate is not None:
            return float(rate.values.mean())
        if not self.totals or seconds <= 0:
            return None
        return sum(sum(self.totals[name].values()) for name in _counted(self.totals)) / seconds

    def amount(self, what: str, resource: str) -> float | None:
        """Return a request or a limit of the whole pod."""
        amounts = self.declared.get((what, resource))
        if not amounts:
            return None
        inits = [amount for name, amount in amounts.items() if name.startswith("init ")]
        apps = {name: amount for name, amount in amounts.items() if not name.startswith("init ")}
        return max([sum(apps[name] for name in _counted(apps)), *inits])


def _counted(containers: Mapping[str, object]) -> list[str]:
    """Return the containers to sum: the real ones, else the pod's total, else the pause container."""
    real = [name for name in containers if name not in ("", "POD")]
    return real or [""] if "" in containers or real else list(containers)


COLUMNS = (
    *("pod", "namespace", "task", "node", "status", "owner_kind", "reason"),
    *("created", "start", "end", "cpu_request", "memory_request", "gpu_request", "cpu_limit", "memory_limit"),
    *("cpu_used", "memory_mean", "memory_peak", "gpu_used", "gpu_memory_mean", "gpu_memory_peak"),
    *("samples", "restarts"),
)
TEXTS = COLUMNS[:7]

_HASH = "[bcdfghjklmnpqrstvwxz2456789]"
_RANDOM = (
    re.compile(rf"-(?=\d*[a-z]){_HASH}{{6,10}}-{_HASH}{{5}}$"),
    re.compile(rf"-\d{{8,10}}-{_HASH}{{5}}$"),
    re.compile(rf"-(?=\d*[a-z]){_HASH}{{5}}$"),
    re.compile(r"-\d{1,6}$"),
)
"""Ends of the names of pods: of a Deployment, of a CronJob, of a Job or a DaemonSet, of a StatefulSet."""


def task_of_name(pod: str) -> str:
    """Return the name of what made a pod, as far as the pod's own name tells."""
    return next((pattern.sub("", pod) for pattern in _RANDOM if pattern.search(pod)), pod)


@dataclass
class PodRuns:
    """The pods of all files, in the order in which they are first told of."""

    runs: dict[tuple[str, str], PodRun] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    taken_for: dict[str, str] = field(default_factory=dict)
    last: float = -np.inf

    def take(self, name: str, quantity: Quantity, series: Series) -> None:
        """Add a series of a pod; points without a finite value are left out."""
        finite = np.isfinite(series.values) & np.isfinite(series.times)
        times, first = np.unique(series.times[finite], return_index=True)
        values = series.values[finite][first] * quantity.scale
        if not times.size:
            return
        key = (label(series.labels, NAMESPACE), label(series.labels, POD))
        run = self.runs.setdefault(key, PodRun(series.line, *key))
        run.take(quantity, name, Series(series.line, series.labels, times, values))
        self.last = max(self.last, float(times[-1]))

    def rows(self) -> Iterator[Read | Remark]:
        """Yield a row per pod, and what is to be said of them."""
        self._join_nameless()
        no_request = not any((REQUEST, "memory") in run.declared for run in self.runs.values())
        names: dict[str, str] = {}
        at_end = limits = 0
        for (namespace, pod), run in self.runs.items():
            shown = pod if names.setdefault(pod, namespace) == namespace else f"{namespace}/{pod}"
            request, limit = run.amount(REQUEST, "memory"), run.amount(LIMIT, "memory")
            if no_request and limit is not None:
                request, limits = limit, limits + 1
            cells = self._cells(run, shown, request, limit)
            at_end += cells["end"] is not None and ENDED not in run.moments and run.used[1] >= self.last
            yield Read(run.line, [cells[name] for name in COLUMNS])
        yield from self._remarks(at_end, limits)

    def _cells(self, run: PodRun, shown: str, request: float | None, limit: float | None) -> dict[str, Cell]:
        first, last = run.used if run.samples else run.seen
        start, end = run.moments.get(STARTED, first), run.moments.get(ENDED, last)
        phase = run.phase[1]
        running = phase in ("Running", "Pending", "Unknown")
        going = running and ENDED not in run.moments and last >= self.last
        status = OOM_KILLED if run.reason == OOM_KILLED and phase in ("", "Failed") else phase
        memory, gpu, gpu_memory = (run.summed(kind) for kind in (MEMORY, GPU, GPU_MEMORY))
        kind, owner = run.owner
        return {
            "pod": shown,
            "namespace": run.namespace,
            "task": task_of({"ownerReferences": [{"kind": kind, "name": owner}]}, {})[0] or task_of_name(run.pod),
            "node": run.node,
            "status": status if going or not running else None,
            "owner_kind": kind,
            "reason": run.reason,
            "created": run.moments.get(CREATED),
            "start": None if phase == "Pending" and not run.samples else start,
            "end": None if going else end,
            "cpu_request": run.amount(REQUEST, "cpu"),
            "memory_request": request,
            "gpu_request": run.amount(REQUEST, "gpu"),
            "cpu_limit": run.amount(LIMIT, "cpu"),
            "memory_limit": limit,
            "cpu_used": run.cpu(last - first),
            "memory_mean": None if memory is None else float(memory.values.mean()),
            "memory_peak": None if memory is None else float(memory.values.max()),
            "gpu_used": None if gpu is None else float(gpu.values.mean()),
            "gpu_memory_mean": None if gpu_memory is None else float(gpu_memory.values.mean()),
            "gpu_memory_peak": None if gpu_memory is None else float(gpu_memory.values.max()),
            "samples": float(run.samples),
            "restarts": run.restarts,
        }

    def _join_nameless(self) -> None:
        """Join pods that are told of without a namespace with the one pod of that name that has one."""
        homes: dict[str, list[str]] = {}
        for namespace, pod in self.runs:
            if namespace:
                homes.setdefault(pod, []).append(namespace)
        for key in [key for key in self.runs if not key[0] and len(homes.get(key[1], ())) == 1]:
            self.runs[homes[key[1]][0], key[1]].merge(self.runs.pop(key))

    def _remarks(self, at_end: int, limits: int) -> Iterator[Remark]:
        for what, text in self.taken_for.items():
            yield Remark("quantity", 1, f"{what}: {text}", "warning")
        if at_end:
            yield Remark(
                "until the end of the export",
                at_end,
                f"{at_end:,} pods have their last sample at the last time of the export: they may run on; their time "
                "counts until then (export kube_pod_status_phase too, to know)",
            )
        if limits:
            text = f"{limits:,} pods: no requests are exported, so the limit stands for the request"
            yield Remark("limits for requests", limits, text, "warning")
        if self.left_out:
            names = ", ".join(f"{name[:60]} ({count:,})" for name, count in self.left_out.most_common(5))
            total = sum(self.left_out.values())
            yield Remark("other series", total, f"{total:,} series say nothing of a pod and were left out: {names}")
