"""One pod, or one telling of a pod that was made anew: its containers, what they used and requested, its life.

The pause container and the totals of a pod's own control group stand for what its containers say already, so they count
only where there is nothing else.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workprof.formats.pod_series import (
    BEST,
    CONTAINER,
    CPU,
    CPU_TOTAL,
    CREATED,
    ENDED,
    GPU,
    GPU_MEMORY,
    GPU_MODEL,
    INIT,
    KILLS,
    LABELS,
    LAST_REASON,
    LIMIT,
    MEMORY,
    NODE,
    NOTES,
    OF_WHOLE_POD,
    OOM_KILLED,
    OWNER,
    OWNERS,
    PART,
    PART_ID,
    PHASE,
    REASON,
    REQUEST,
    RESTARTS,
    STARTED,
    USES,
    WHY,
    Growth,
    Quantity,
    Series,
    added,
    gpu_share,
    growth_of,
    joined,
    label,
    larger,
    of_one_thing,
    one_after_another,
    together,
)
from workprof.formats.pod_tasks import Ends, Made

NO_CONTAINER = ("", "POD")
GPUS = "nvidia_com_gpu"
"""The resource that is whole GPUs, or slices where each GPU of a node is cut into equal ones."""
UNLIMITED = 2.0**62
"""So many bytes and more, as 0, are cAdvisor's words for no limit."""
OVER = ("Succeeded", "Failed")
"""Phases of pods that run no more."""
WORKLOAD_KINDS = {
    name.lower(): name
    for name in (*("Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job", "ReplicaSet"), "Rollout", "Workflow")
}


@dataclass(frozen=True)
class Told:
    """A series of a pod, what it holds, and the name of its metric."""

    quantity: Quantity
    name: str
    series: Series

    @property
    def container(self) -> str:
        """The container's name, '' = of the whole pod."""
        return "" if self.name.startswith(OF_WHOLE_POD) else label(self.series.labels, CONTAINER)


UID = ("uid", "pod_uid", "k8s_pod_uid", "k8s.pod.uid", "container_label_io_kubernetes_pod_uid")
_OF_POD = re.compile(r"/(?:[^/]*-)?pod([^/]+?)(?:\.slice)?(?:/|$)")


def uid_of(labels: Mapping[str, str]) -> str:
    """The pod's uid, from its label or from the name of its control group; '' = not told."""
    told = label(labels, UID)
    match = None if told else _OF_POD.search(labels.get("id", ""))
    return told or (match.group(1).replace("_", "-") if match else "")


def tellings(told: Sequence[Told]) -> list[tuple[str, list[Told]]]:
    """What is told of each pod that bore one name, with its uid, by their beginnings.

    Only one pod has a name at a time: uids that are told of at one time are of one pod, whose control group bears
    another uid than the pod itself (static pods). What is told without a uid, or with one that several pods have had,
    is of the pod that was there then.
    """
    spans, begins = _spans_of_uids(told)
    if not spans:
        begins = _begins_without_uid(told)
        spans = {uid: (at, at) for uid, at in begins.items()}
    names: dict[str, str] = {}
    for uid in sorted(spans, key=lambda one: (one not in begins, spans[one])):
        same = {name for other, name in names.items() if _one_pod(uid, other, spans, begins)}
        if len(same) < 2:
            names[uid] = same.pop() if same else uid
    earliest = {names[uid]: uid for uid in sorted(names, key=lambda one: spans[one], reverse=True)}
    names = {uid: earliest[name] for uid, name in names.items()}
    starts = {one: min(begins.get(one, np.inf), spans[one][0]) for one in dict.fromkeys(names.values())}
    order = sorted(starts, key=lambda one: starts[one])
    if not order:
        return [("", list(told))]
    result: dict[str, list[Told]] = {one: [] for one in order}
    edges = [-np.inf, *(starts[one] for one in order[1:]), np.inf]
    for each in told:
        uid = uid_of(each.series.labels)
        if uid in names:
            result[names[uid]].append(each)
            continue
        for one, low, high in zip(order, edges[:-1], edges[1:], strict=True):
            part = each.series.within(low, high)
            if part.times.size:
                result[one].append(Told(each.quantity, each.name, part))
    return [("" if one.startswith(NO_UID) else one, parts) for one, parts in result.items() if parts]


NO_UID = "@"
"""How the names begin that pods without a uid have while they are told apart."""


def _spans_of_uids(told: Iterable[Told]) -> tuple[dict[str, tuple[float, float]], dict[str, float]]:
    """The first and last moment of each uid, and when its pod was created or started, where that is told."""
    spans: dict[str, tuple[float, float]] = {}
    begins: dict[str, float] = {}
    for each in told:
        uid = uid_of(each.series.labels)
        if uid:
            low, high = spans.get(uid, (np.inf, -np.inf))
            spans[uid] = (min(low, each.series.first), max(high, each.series.last))
            if each.quantity.kind in (CREATED, STARTED) and each.series.values[-1] > 0:
                begins[uid] = min(begins.get(uid, np.inf), float(each.series.values[-1]))
    return spans, begins


def _begins_without_uid(told: Iterable[Told]) -> dict[str, float]:
    """The moments at which pods of one name were created, or else started, by names of their own."""
    for kind in (CREATED, STARTED):
        values = [each.series.values for each in told if each.quantity.kind == kind]
        moments = np.unique(np.concatenate(values)) if values else np.empty(0)
        if moments.size:
            return {f"{NO_UID}{at}": float(at) for at in moments if at > 0}
    return {}


def _one_pod(uid: str, other: str, spans: Mapping[str, tuple[float, float]], begins: Mapping[str, float]) -> bool:
    if uid in begins and other in begins:
        return begins[uid] == begins[other]
    (low, high), (begin, end) = spans[uid], spans[other]
    return 2 * (min(high, end) - max(low, begin)) >= min(high - low, end - begin) and min(high, end) >= max(low, begin)


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A uid that no other pod has; that of a static pod's control group is of what it is made of."""


def is_one_pod(pod: str, before: Sequence[Told], after: Sequence[Told]) -> bool:
    """Tell whether what is told of a name in two clusters is of one pod, as the name of the cluster changed.

    It is where a uid says so; else where one ends before the other begins, and both were created at one moment or have
    the same random end.
    """
    uids, others = (
        {uid for one in told if _UUID.fullmatch(uid := uid_of(one.series.labels))} for told in (before, after)
    )
    if uids and others:
        return bool(uids & others)
    if max(one.series.last for one in before) > min(one.series.first for one in after):
        return False
    created = [
        {float(one.series.values[-1]) for one in told if one.quantity.kind == CREATED} for told in (before, after)
    ]
    if all(created):
        return created[0] == created[1]
    return bool(Ends(()).of_pod(pod).kind)


@dataclass
class Container:
    """What is known of one container, '' = of the whole pod."""

    # (kind, metric) -> core or GPU ('' = all) -> series
    gauges: dict[tuple[str, str], dict[str, Series]] = field(default_factory=dict)
    # core ('' = all) -> control group ('' = not told) -> totals of the seconds of CPU
    totals: dict[str, dict[str, list[Series]]] = field(default_factory=dict)
    # (request or limit, resource) -> amount; `kinds` of the GPUs -> amount of each
    declared: dict[tuple[str, str], float] = field(default_factory=dict)
    kinds: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    among_first: bool = False  # it is listed among the init containers
    sidecar: bool = False  # it is restarted there, and runs on beside the others
    resized: bool = False  # a request or a limit of it changed
    reason: str = ""
    restarts: Series | None = None
    killed: float = 0.0  # kills for memory that one series tells of, at most
    # when the last end is told to be one for memory: first and last moment
    last_killed: tuple[float, float] | None = None
    used: tuple[float, float] = (np.inf, -np.inf)
    samples: int = 0
    disagree: set[str] = field(default_factory=set)  # labels in which series of it differ that are not alike

    def take(self, told: Told) -> None:
        """Add a series."""
        series, kind = told.series, told.quantity.kind
        labels, last = series.labels, float(series.values[-1])
        self.among_first = self.among_first or "init_container" in told.name
        self.sidecar = self.sidecar or (kind == INIT and labels.get("restart_policy") == "Always")
        if kind in USES:
            self._take_use(told)
        elif kind == REQUEST or (kind == LIMIT and 0 < series.values.max() < UNLIMITED):
            key = (kind, told.quantity.resource)
            kinds = self.kinds.setdefault(key, {})
            named = labels.get("resource", "") if key[1] == "gpu" else ""
            self.resized = self.resized or len({*series.values[series.values > 0].tolist()}) > 1
            kinds[named] = max(kinds.get(named, 0.0), float(series.values.max()))
            self.declared[key] = sum(kinds.values())
        elif kind == REASON and last > 0:
            reason = labels.get("reason", "")
            self.reason = OOM_KILLED if OOM_KILLED in (self.reason, reason) else reason
        elif kind == RESTARTS:
            self.restarts = larger(self.restarts, series)
        elif kind == KILLS:
            self.killed = max(self.killed, float(series.values[0]) + growth_of(series).total)
        if kind == REASON and labels.get("reason") == OOM_KILLED:
            self.killed = max(self.killed, float((np.diff(series.values, prepend=0.0) > 0).sum()))
        if kind == LAST_REASON and labels.get("reason") == OOM_KILLED and (series.values > 0).any():
            held_at = series.times[series.values > 0]
            low, high = self.last_killed or (np.inf, -np.inf)
            self.last_killed = (min(low, float(held_at[0])), max(high, float(held_at[-1])))

    def _take_use(self, told: Told) -> None:
        series, kind, labels = told.series, told.quantity.kind, told.series.labels
        self.used = (min(self.used[0], series.first), max(self.used[1], series.last))
        self.samples = max(self.samples, series.times.size)
        if kind == CPU_TOTAL:
            self.totals.setdefault(_core(labels), {}).setdefault(labels.get("id", ""), []).append(series)
            return
        part = _core(labels) if kind == CPU else _gpu(labels)
        held = self.gauges.setdefault((kind, told.quantity.resource), {})
        if kind == MEMORY and part in held and _disagree(held[part], series):
            self.disagree |= {name for name, _ in held[part].labels.items() ^ labels.items()}
        held[part] = larger(held.get(part), series)

    @property
    def init(self) -> bool:
        """Whether it ends before the others start."""
        return self.among_first and not self.sidecar

    @property
    def kills(self) -> float:
        """How often it was killed for memory, as far as that is told."""
        if self.last_killed is None:
            return self.killed
        if self.restarts is None:
            return max(self.killed, 1.0)
        low, high = self.last_killed
        after = self.restarts.within(low, np.nextafter(high, np.inf)).values
        before = self.restarts.within(-np.inf, low).values[-1:]
        again = np.unique(np.concatenate([before, after])) if after.size else before
        return max(self.killed, float((again > 0).sum()), 1.0)

    def restarted(self) -> float:
        """How often it was started again."""
        return 0.0 if self.restarts is None else float(self.restarts.values[-1])

    def gauge(self, kind: str, metric: str) -> Series | None:
        """A gauge, its cores or GPUs summed; a total counts where it is more."""
        parts = self.gauges.get((kind, metric), {})
        total: Series | None = None
        for part, series in parts.items():
            total = added(total, series) if part else total
        return larger(total, parts[""]) if "" in parts else total

    def growth(self) -> Growth | None:
        """Its seconds of CPU: cores summed, or their total where that is more."""
        if not self.totals:
            return None
        cores = {core: _of_core(groups) for core, groups in self.totals.items()}
        numbered = [growth for core, growth in cores.items() if core]
        return of_one_thing([together(numbered), *([cores[""]] if "" in cores else [])])


FEWEST_SHARED, ALIKE = 3, 0.1


def _disagree(one: Series, other: Series) -> bool:
    """Tell whether two series of one container go on beside each other, and differ by more than a tenth."""
    _, at, of_other = np.intersect1d(one.times, other.times, return_indices=True)
    if at.size < max(FEWEST_SHARED, min(one.times.size, other.times.size) / 2):
        return False
    values, others = one.values[at], other.values[of_other]
    return bool(np.median(np.abs(values - others)) > ALIKE * np.median(np.maximum(values, others)))


def _core(labels: Mapping[str, str]) -> str:
    core = labels.get("cpu", "")
    return "" if core == "total" else core


def _gpu(labels: Mapping[str, str]) -> str:
    return labels.get("UUID", labels.get("gpu", "")) + labels.get(PART_ID, "")


def _of_core(groups: Mapping[str, list[Series]]) -> Growth:
    growths = {group: of_one_thing([growth_of(each) for each in joined(parts)]) for group, parts in groups.items()}
    apart = [growth for group, growth in growths.items() if group]
    return of_one_thing([one_after_another(apart), *([growths[""]] if "" in growths else [])])


@dataclass
class PodRun:
    """What is known of one pod."""

    line: int
    cluster: str
    namespace: str
    pod: str
    uid: str = ""
    containers: dict[str, Container] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    moments: dict[str, float] = field(default_factory=dict)
    phase: tuple[float, str] = (-np.inf, "")  # (time, phase) that held last
    why: str = ""  # the reason of its status, such as 'Evicted'
    phase_last: float = -np.inf  # last moment at which a phase is told
    ran: float = np.nan  # and `over`: first moment at which it was told to run, and to be over
    over: float = np.nan
    made: tuple[str, str] = ("", "")
    node: str = ""
    gpu_type: str = ""
    used: tuple[float, float] = (np.inf, -np.inf)  # and `seen`: first and last moment of samples of use, and of all
    seen: tuple[float, float] = (np.inf, -np.inf)
    step: float = np.inf
    longest: tuple[int, float] = (0, 0.0)  # points of its longest series of use, and the longest time without one
    part: float = 1.0  # share of a GPU that each of its GPUs is

    def take(self, told: Told) -> None:
        """Add a series that has a point."""
        series, kind = told.series, told.quantity.kind
        labels, span = series.labels, (series.first, series.last)
        self.seen = (min(self.seen[0], span[0]), max(self.seen[1], span[1]))
        if kind in USES:
            self.used = (min(self.used[0], span[0]), max(self.used[1], span[1]))
            self.node = self.node or label(labels, NODE)
            self.step = min(self.step, series.step)
            if series.times.size > self.longest[0]:
                self.longest = (series.times.size, float(np.diff(series.times).max(initial=0.0)))
            self.part = min(self.part, gpu_share(labels.get(PART, "")))
            self.gpu_type = self.gpu_type or labels.get(GPU_MODEL, "")
        own = {key.partition("_")[2]: value for key, value in labels.items() if key.startswith(NOTES)}
        self.labels |= own
        if not OWNERS.isdisjoint(labels):
            self._take_owner(labels)
        if kind == PHASE:
            self._take_phase(series)
        elif kind == WHY:
            self.why = labels.get("reason", "") if (series.values > 0).any() else self.why
        elif kind == OWNER:
            self.node = self.node or label(labels, NODE)
        elif kind in (STARTED, ENDED, CREATED):
            if series.values[-1] > 0:
                self.moments[kind] = float(series.values[-1])
        elif kind != LABELS:
            self.containers.setdefault(told.container, Container()).take(told)

    def _take_phase(self, series: Series) -> None:
        phase, held_at = series.labels.get("phase", ""), series.times[series.values > 0]
        self.phase_last = max(self.phase_last, series.last)
        if held_at.size and phase == "Running":
            self.ran = float(np.fmin(self.ran, held_at[0]))
        elif held_at.size and phase in OVER:
            self.over = float(np.fmin(self.over, held_at[0]))
        self.phase = max([self.phase, *((float(at), phase) for at in held_at[-1:])])

    def _take_owner(self, labels: Mapping[str, str]) -> None:
        if labels.get("workload"):
            kind = labels.get("workload_type", "")
            self.made = max(self.made, (WORKLOAD_KINDS.get(kind.lower(), kind), labels["workload"]))
        for prefix in ("owner", "created_by"):
            name = labels.get(f"{prefix}_name", "")
            if name and name != "<none>":
                self.made = max(self.made, (labels.get(f"{prefix}_kind", ""), name))
                break

    @property
    def samples(self) -> int:
        """Points of its longest series of use."""
        return max((one.samples for one in self.containers.values()), default=0)

    @property
    def apps(self) -> list[str]:
        """Containers that are none of those that run before the others."""
        return [name for name, one in self.containers.items() if name not in NO_CONTAINER and not one.init]

    def by_container(self) -> list[str]:
        """The containers that are rows of their own, none where the pod is one row.

        A pod is one row where it has one container, and where its use or its requests are told of the whole alone.
        """
        used = {name for name, one in self.containers.items() if one.samples}
        declared = {name for name, one in self.containers.items() if one.declared}
        apps = [name for name in self.apps if name in used | declared]
        told_whole = (used and not used & {*apps}) or (declared and not declared & {*apps} and "" in declared)
        return apps if len(apps) > 1 and not told_whole else []

    def inits(self) -> list[str]:
        """The containers that ran before the others and were seen."""
        return [name for name, one in self.containers.items() if one.init and (one.samples or one.kills)]

    def chosen(self, names: Collection[str], among: Collection[str]) -> list[str]:
        """Which containers say something of a row: its own, else the pod's total, else the pause container.

        Names are of the row (none = the whole pod), `among` containers that say something.
        """
        real = [name for name in names or self.apps if name in among]
        if real or names:
            return real
        return [""] if "" in among else [name for name in NO_CONTAINER if name in among]

    def gauge(self, kind: str, names: Collection[str]) -> Series | None:
        """A gauge of some containers, summed; of memory the best metric there is."""
        there = {metric for one in self.containers.values() for of, metric in one.gauges if of == kind}
        for metric in sorted(there, key=(*BEST, "").index):
            among = [name for name, one in self.containers.items() if (kind, metric) in one.gauges]
            total: Series | None = None
            for name in self.chosen(names, among):
                series = self.containers[name].gauge(kind, metric)
                total = total if series is None else added(total, series)
            if total is not None:
                return total
        return None

    def cpu(self, names: Collection[str]) -> Series | Growth | None:
        """The use of CPU: cores, or seconds."""
        rate = self.gauge(CPU, names)
        if rate is not None:
            return rate
        growths = {name: growth for name, one in self.containers.items() if (growth := one.growth()) is not None}
        chosen = self.chosen(names, growths)
        return together([growths[name] for name in chosen]) if chosen else None

    def amount(self, what: str, resource: str, names: Collection[str] = ()) -> float | None:
        """A request or a limit of some containers, or of all."""
        amounts = {
            name: one.declared[what, resource] - one.kinds[what, resource].get(GPUS, 0.0) * (1.0 - self.part)
            for name, one in self.containers.items()
            if (what, resource) in one.declared
        }
        chosen = self.chosen(names, amounts)
        return sum(amounts[name] for name in chosen) if chosen else None

    def set_aside(self, resource: str) -> float | None:
        """What is requested for the whole pod: by its containers, or by the neediest that runs before them."""
        inits = [one.declared.get((REQUEST, resource), 0.0) for one in self.containers.values() if one.init]
        apps = self.amount(REQUEST, resource)
        return max([apps or 0.0, *inits]) if apps is not None or any(inits) else None

    def kills(self, names: Collection[str]) -> float:
        """How often some containers, or all, were killed for memory; a kill of the whole counts for each."""
        own = [self.containers[name].kills for name in names or self.apps if name in self.containers]
        whole = [self.containers[name].kills for name in NO_CONTAINER if name in self.containers]
        return max([sum(own), *whole])

    def reason(self, names: Collection[str] = ()) -> str:
        """Why some containers, or any, ended."""
        reasons = [one.reason for name, one in self.containers.items() if (not names or name in (*names, ""))]
        return OOM_KILLED if OOM_KILLED in reasons else next((each for each in reasons if each), "")

    def owner(self, owners: Mapping[tuple[str, str, str, str], tuple[str, str]]) -> Made:
        """What made it; what made that, where it is told."""
        kind, name = self.made
        kind, name = owners.get((self.cluster, self.namespace, kind, name), (kind, name))
        return Made(kind, name, self.labels.get("pod_template_hash", ""))


def whole_pod_only(run: PodRun) -> bool:
    """Tell whether the pod's CPU or GPUs are told of the whole alone, where its containers are rows."""
    kinds = [{name for name, one in run.containers.items() if any(kind == key[0] for key in one.gauges)}
             for kind in (MEMORY, CPU, GPU, GPU_MEMORY)]  # fmt: skip
    kinds.append({name for name, one in run.containers.items() if one.totals})
    return any(names and not names & {*run.apps} for names in kinds)
