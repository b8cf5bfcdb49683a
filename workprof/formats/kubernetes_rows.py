"""The rows of a pod of Kubernetes: one, or one per container where it has several; init containers apart."""

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from workprof.formats.kubernetes_objects import (
    Object,
    amount_in,
    gpus_of,
    limit_of,
    moment_in,
    object_of,
    objects_of,
    request_of,
    set_aside,
    text_of,
    unread_of,
)
from workprof.formats.pod_series import gpu_share
from workprof.formats.pod_tasks import Made, words_of

Cell = str | float | None

TEXTS = (
    *("pod", "cluster", "namespace", "container", "workload", "task", "run", "user", "team", "node", "gpu_type"),
    *("status", "owner_kind", "init_container", "qos_class", "priority_class", "reason", "exit_code", "uid"),
)
NUMBERS = (
    *("created", "start", "end", "cpu_request", "memory_request", "gpu_request", "active_deadline_s"),
    *("cpu_limit", "memory_limit", "pod_cpu_request", "pod_memory_request"),
    *("containers", "restarts", "oom_kills", "parallelism", "completions", "seen"),
)
COLUMNS = (*TEXTS, *NUMBERS)

OOM_KILLED = "OOMKilled"
FAILED, ENDED = "Failed", ("Succeeded", "Failed")
CAUSES = ("Evicted", "DeadlineExceeded", "Preempting", "Preempted", "NodeLost", "Shutdown")
"""Reasons of a failed pod that say more than its phase."""
DISRUPTED = {
    "PreemptionByScheduler": "Preempted",
    "DeletionByTaintManager": "Evicted",
    "EvictionByEvictionAPI": "Evicted",
    "DeletionByPodGC": "NodeLost",
}
"""Reasons of the condition DisruptionTarget of a pod that was ended from outside -> the one of `CAUSES`."""

NOT_RESIZED = ("Proposed", "Deferred", "Infeasible")
"""States of `status.resize`, which releases before 1.33 wrote, whose resize the node has not begun."""

USER_LABELS = ("user", "username", "user-name", "owner", "submitter", "submitted-by", "creator")
TEAM_LABELS = ("team", "project", "department", "group", "queue-name")
GPU_TYPE_LABELS = ("gpu.product", "gke-accelerator", "accelerator", "gpu-type", "gpu-model", "instance-gpu-name")
"""Last words of label names, whatever stands before their '/'; of several the first here counts."""
ROLES_IN = ("ray.io",)
"""Prefixes of labels that tell a pod's part in its workload: 'ray.io/group' is a group of workers, no team."""


Row = tuple[tuple[Cell, ...], str, bool, bool]
"""A row to come: its cells in the order of `COLUMNS`, without its task; its container; whether the pod has several;
whether it runs before the others. Plain tuples: of thousands that wait, the garbage collector looks at none.
"""


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod: its rows, what made it, and what its labels and annotations say; `line` is where it is told of."""

    line: int
    rows: tuple[Row, ...]
    name: str
    namespace: str
    cluster: str
    made: Made
    generated: str
    labels: dict[str, str]
    restarted: bool
    killed: bool
    resizing: bool
    unread: tuple[str, ...]  # resources it asks for that no field holds


def labelled(labels: Object, words: tuple[str, ...]) -> str:
    """The value of the first label whose name ends in one of some words, '' where there is none."""
    return text_of(labels, _by_last_word(tuple(labels), words)) if labels else ""


@functools.lru_cache(maxsize=1000)
def _by_last_word(names: tuple[str, ...], words: tuple[str, ...]) -> str:
    """The name of a label that ends in the first of some words that any does, '' for none; of two the first."""
    named = (name for name in reversed(names) if name.partition("/")[0] not in ROLES_IN)
    by_word = {name.rpartition("/")[2].lower(): name for name in named}
    return next((by_word[word] for word in words if word in by_word), "")


@dataclass(frozen=True, slots=True)
class _Fate:
    """How containers fared: moments, kills for memory, restarts, and why the first of them failed."""

    starts: list[float]
    ends: list[float]
    killed: bool
    runs: bool  # one of them runs now
    waits: bool  # one of them waits to be started again
    oom_kills: int
    restarts: int
    reason: str
    exit_code: str


def _fate(statuses: Collection[Object]) -> _Fate:
    starts, ends, killed, kills, restarts, reason, exit_code = [], [], False, 0, 0, "", ""
    runs = any(object_of(each, "state").get("running") is not None for each in statuses)
    waits = any(object_of(each, "state").get("waiting") is not None for each in statuses)
    for each in statuses:
        restarts += int(amount_in(each, "restartCount") or 0)
        for key in ("state", "lastState"):
            state = object_of(each, key)
            if not state:
                continue
            ended = object_of(state, "terminated")
            starts.append(moment_in(object_of(state, "running") or ended, "startedAt"))
            ends.append(moment_in(ended, "finishedAt"))
            out_of_memory = ended.get("reason") == OOM_KILLED
            kills += out_of_memory
            if key == "state":
                killed = killed or out_of_memory
                if not reason and (amount_in(ended, "exitCode") or out_of_memory):
                    reason, exit_code = text_of(ended, "reason"), text_of(ended, "exitCode")
    begun, over = [at for at in starts if at is not None], [at for at in ends if at is not None]
    return _Fate(begun, over, killed, runs, waits, kills, restarts, reason, exit_code)


def _end(metadata: Object, status: Object, ends: Collection[float]) -> float | None:
    """When a pod that is over ended: its last container, or else what its conditions or its deletion tell."""
    if text_of(status, "phase") not in ENDED:
        return None
    if ends:
        return max(ends)
    last = ("Ready", "ContainersReady", "DisruptionTarget")
    times = [
        moment_in(each, "lastTransitionTime") for each in objects_of(status, "conditions") if each.get("type") in last
    ]
    known = [at for at in times if at is not None]
    return max(known) if known else moment_in(metadata, "deletionTimestamp")


def made_of(metadata: Object) -> Made:
    """What made a pod."""
    owners = objects_of(metadata, "ownerReferences")
    owner = next((each for each in owners if each.get("controller") is True), owners[0] if owners else {})
    labels = object_of(metadata, "labels")
    return Made(text_of(owner, "kind"), text_of(owner, "name"), text_of(labels, "pod-template-hash"))


def pod_of(line: int, pod: Object) -> Pod:
    """What an object says of a pod; raises NoValue when one of its values is none of its kind."""
    metadata, spec, status = (object_of(pod, key) for key in ("metadata", "spec", "status"))
    labels, notes = object_of(metadata, "labels"), object_of(metadata, "annotations")
    statuses = (*objects_of(status, "containerStatuses"), *objects_of(status, "initContainerStatuses"))
    resizing = any(
        each.get("type") == "PodResizePending" and each.get("status") == "True"
        for each in objects_of(status, "conditions")
    )
    resizing = resizing or text_of(status, "resize") in NOT_RESIZED
    spec = _in_force(spec, statuses) if resizing else spec
    fate = _fate(statuses)
    name, made = text_of(metadata, "name"), made_of(metadata)
    words = {key: text_of(labels, key) for key in labels}
    words.update((key, text_of(notes, key)) for key in notes if words_of(key)[-2:] in _NOTES)
    return Pod(
        line,
        tuple(_rows(spec, status, statuses, fate, _common(metadata, spec, status, labels, fate))),
        name,
        text_of(metadata, "namespace"),
        text_of(metadata, "clusterName"),
        made,
        text_of(metadata, "generateName"),
        words,
        fate.restarts > 0,
        fate.oom_kills > 0,
        resizing,
        tuple(sorted(unread_of(spec))),
    )


def _in_force(spec: Object, statuses: Collection[Object]) -> Object:
    """A pod's spec with the requests and limits that its containers have, while its node has not made those it wants.

    Source: Kubernetes' documentation of the resize of containers in place (desired and actual resources).
    """
    actual = {text_of(each, "name"): object_of(each, "resources") for each in statuses}
    changed: dict[str, list[Object]] = {}
    for key in ("containers", "initContainers"):
        for each in objects_of(spec, key):
            wanted, has = object_of(each, "resources"), actual.get(text_of(each, "name"), {})
            both = {kind: {**object_of(wanted, kind), **object_of(has, kind)} for kind in ("requests", "limits")}
            changed.setdefault(key, []).append({**each, "resources": {**wanted, **both}})
    return {**spec, **changed}


_NOTES = (("node", "name"), ("step", "name"), ("flow", "name"), ("com", "name"), ("com", "id"))
"""Ends of the names of annotations in which engines tell of steps."""


def _rows(
    spec: Object, status: Object, statuses: Collection[Object], fate: _Fate, common: dict[str, Cell]
) -> Iterator[Row]:
    inits, main = objects_of(spec, "initContainers"), objects_of(spec, "containers")
    if len(main) == 1 and not inits and not object_of(spec, "resources"):
        cells = common | _own(main[0], spec, status, fate)
        cells["pod_cpu_request"], cells["pod_memory_request"] = cells["cpu_request"], cells["memory_request"]
        yield _in_order(cells), text_of(main[0], "name"), False, False
        return
    sidecars = [each for each in inits if each.get("restartPolicy") == "Always"]
    apps = [*main, *sidecars]
    of_name: dict[str, list[Object]] = {}
    for each in statuses:
        of_name.setdefault(text_of(each, "name"), []).append(each)
    fates = {name: _fate(of_name.get(name, ())) for name in (text_of(each, "name") for each in inits + apps)}
    apart = [each for each in inits if each not in sidecars and _told_apart(each, fates[text_of(each, "name")])]
    common |= {f"pod_{name}_request": set_aside(spec, request_of, name) for name in ("cpu", "memory")}
    if len(apps) < 2 or object_of(spec, "resources"):
        taken = {text_of(each, "name") for each in apart}
        own = _fate([each for each in statuses if text_of(each, "name") not in taken])
        named = text_of(apps[0], "name") if len(apps) == 1 else ""
        cells = common | _own(apps[0] if apps else {}, spec, status, own)
        if object_of(spec, "resources"):
            for name in ("cpu", "memory"):
                cells[f"{name}_request"] = set_aside(spec, request_of, name)
                cells[f"{name}_limit"] = limit_of(object_of(spec, "resources"), name)
            cells["gpu_request"] = set_aside(spec, gpus_of, "gpu")
        yield _in_order(cells), named, False, False
    else:
        for place, each in enumerate(apps):
            name = text_of(each, "name")
            cells = common | _own(each, {} if place else spec, status, fates[name])
            cells["init_container"] = "yes" if each in sidecars else None
            yield _in_order(cells), name, True, False
    for each in apart:
        name = text_of(each, "name")
        own = fates[name]
        begun, ended = min(own.starts, default=None), None if own.runs else max(own.ends, default=None)
        first: dict[str, Cell] = {"start": begun, "end": ended, "status": _init_status(own), "init_container": "yes"}
        yield _in_order(common | _own(each, {}, status, own) | first), name, True, True


def _in_order(cells: dict[str, Cell]) -> tuple[Cell, ...]:
    """The cells of a row; on nodes whose GPUs are slices by the product's name, each that is requested is one."""
    product, gpus = cells["gpu_type"], cells["gpu_request"]
    if isinstance(product, str) and isinstance(gpus, float) and "-MIG-" in product:
        cells["gpu_request"] = gpus * gpu_share(product)
    return tuple(map(cells.get, COLUMNS))


def _told_apart(init: Object, fate: _Fate) -> bool:
    """Tell whether a container that runs before the others is a row: it ran, and has a size, or was killed for one."""
    resources = object_of(init, "resources")
    sized = bool(object_of(resources, "requests") or object_of(resources, "limits"))
    return bool(fate.oom_kills or (fate.starts and sized))


def _init_status(fate: _Fate) -> str | None:
    if fate.runs:
        return "Running"
    if fate.killed or (fate.waits and fate.oom_kills):
        return OOM_KILLED
    if fate.waits and fate.ends:
        return FAILED
    return None if not fate.ends else FAILED if fate.reason else "Succeeded"


def _common(metadata: Object, spec: Object, status: Object, labels: Object, fate: _Fate) -> dict[str, Cell]:
    """The cells that all rows of a pod share."""
    start = moment_in(status, "startTime")
    return {
        "pod": text_of(metadata, "name"),
        "cluster": text_of(metadata, "clusterName"),
        "namespace": text_of(metadata, "namespace"),
        "user": labelled(labels, USER_LABELS),
        "team": labelled(labels, TEAM_LABELS),
        "node": text_of(spec, "nodeName"),
        "gpu_type": labelled(object_of(spec, "nodeSelector"), GPU_TYPE_LABELS),
        "qos_class": text_of(status, "qosClass"),
        "priority_class": text_of(spec, "priorityClassName"),
        "uid": text_of(metadata, "uid"),
        "created": moment_in(metadata, "creationTimestamp"),
        "start": min(fate.starts, default=None) if start is None else start,
        "end": _end(metadata, status, fate.ends),
        "active_deadline_s": amount_in(spec, "activeDeadlineSeconds"),
        "containers": float(len(objects_of(spec, "containers"))),
        "parallelism": amount_in(spec, "parallelism"),
        "completions": amount_in(spec, "completions"),
    }


def as_pod(job: Object) -> Object:
    """A Job as a pod of its template, which lasts as long as the Job; its parallelism is a member of the spec.

    At most as many pods run at once as are to complete; without either number it is one.

    Source: Kubernetes' documentation of the API object Job batch/v1.
    """
    metadata, spec, status = (object_of(job, key) for key in ("metadata", "spec", "status"))
    template = object_of(spec, "template")
    labels = {**object_of(object_of(template, "metadata"), "labels"), **object_of(metadata, "labels")}
    ended = {
        text_of(each, "type"): each for each in objects_of(status, "conditions") if text_of(each, "status") == "True"
    }
    over = ended.get("Complete") or ended.get("Failed") or {}
    phase = "Succeeded" if "Complete" in ended else FAILED if "Failed" in ended else ""
    phase = phase or ("Running" if amount_in(status, "active") else "Pending")
    completed = text_of(status, "completionTime") or text_of(over, "lastTransitionTime")
    completions = amount_in(spec, "completions")
    at_once = amount_in(spec, "parallelism")
    at_once = 1.0 if at_once is None else at_once
    own = {
        "parallelism": str(at_once if completions is None else min(at_once, completions)),
        "completions": None if completions is None else str(completions),
        "activeDeadlineSeconds": spec.get("activeDeadlineSeconds"),
    }
    return {
        "metadata": {**metadata, "labels": labels, "ownerReferences": [{"kind": "Job", "name": metadata.get("name")}]},
        "spec": {**object_of(template, "spec"), **{key: value for key, value in own.items() if value is not None}},
        "status": {
            "phase": phase,
            "startTime": status.get("startTime"),
            "reason": over.get("reason") if phase == FAILED else None,
            "conditions": [{"type": "Ready", "lastTransitionTime": completed}],
        },
    }


def _disrupted(status: Object) -> str:
    """Why a pod was ended from outside, where a condition says so; '' where none does.

    Source: Kubernetes' documentation of disruptions, pod disruption conditions.
    """
    told = (
        text_of(each, "reason")
        for each in objects_of(status, "conditions")
        if each.get("type") == "DisruptionTarget" and each.get("status") == "True"
    )
    return next((DISRUPTED[each] for each in told if each in DISRUPTED), "")


def _own(container: Object, spec: Object, status: Object, fate: _Fate) -> dict[str, Cell]:
    """The cells of a container; `spec` is the pod's where its overhead counts here, else empty."""
    resources, overhead = object_of(container, "resources"), object_of(spec, "overhead")
    requests, limits = object_of(resources, "requests"), object_of(resources, "limits")
    cpu_limit, memory_limit = amount_in(limits, "cpu"), amount_in(limits, "memory")
    reason, phase = text_of(status, "reason") or _disrupted(status), text_of(status, "phase")
    state = phase
    if phase == FAILED:
        state = OOM_KILLED if fate.killed else reason if reason in CAUSES else phase

    def requested(name: str, limit: float | None) -> float | None:
        own, more = amount_in(requests, name), amount_in(overhead, name) if overhead else None
        amount = limit if own is None else own
        return amount if more is None else (amount or 0.0) + more

    return {
        "status": state,
        "reason": reason or fate.reason,
        "exit_code": fate.exit_code,
        "cpu_request": requested("cpu", cpu_limit),
        "memory_request": requested("memory", memory_limit),
        "gpu_request": gpus_of(resources, "gpu"),
        "cpu_limit": cpu_limit,
        "memory_limit": memory_limit,
        "restarts": float(fate.restarts),
        "oom_kills": float(fate.oom_kills),
    }
