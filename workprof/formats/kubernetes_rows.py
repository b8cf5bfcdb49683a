"""The rows of a pod of Kubernetes: one, or one per container where it has several; init containers apart."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
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
)
from workprof.formats.pod_tasks import Made, words_of

Cell = str | float | None

TEXTS = (
    *("pod", "cluster", "namespace", "container", "workload", "task", "run", "user", "team", "node", "gpu_type"),
    *("status", "owner_kind", "init_container", "qos_class", "priority_class", "reason", "exit_code", "uid"),
)
NUMBERS = (
    *("created", "start", "end", "cpu_request", "memory_request", "gpu_request", "active_deadline_s"),
    *("cpu_limit", "memory_limit", "pod_cpu_request", "pod_memory_request"),
    *("containers", "restarts", "oom_kills"),
)
COLUMNS = (*TEXTS, *NUMBERS)

OOM_KILLED = "OOMKilled"
FAILED, ENDED = "Failed", ("Succeeded", "Failed")
CAUSES = ("Evicted", "DeadlineExceeded", "Preempting", "Preempted", "NodeLost", "Shutdown")
"""Reasons of a failed pod that say more than its phase."""

USER_LABELS = ("user", "username", "user-name", "owner", "submitter", "submitted-by", "creator")
TEAM_LABELS = ("team", "project", "department", "group", "queue-name")
GPU_TYPE_LABELS = ("gpu.product", "gke-accelerator", "accelerator", "gpu-type", "gpu-model", "instance-gpu-name")
"""Last words of label names, whatever stands before their '/'; of several the first here counts."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row to come: its cells in the order of `COLUMNS`, without its task; its container.

    Attributes:
        one_of_several: the pod has several containers.
    """

    cells: tuple[Cell, ...]
    container: str
    one_of_several: bool
    init: bool


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod: its rows, what made it, and what its labels and annotations say."""

    rows: tuple[Row, ...]
    name: str
    namespace: str
    cluster: str
    made: Made
    generated: str
    labels: dict[str, str]
    restarted: bool
    killed: bool


def labelled(labels: Object, words: Sequence[str]) -> str:
    """Return the value of the first label whose name ends in one of some words, '' where there is none."""
    by_word = _by_last_word(tuple(labels))
    return next((text_of(labels, by_word[word]) for word in words if word in by_word), "")


@functools.lru_cache(maxsize=1000)
def _by_last_word(names: tuple[str, ...]) -> dict[str, str]:
    """Return the last words of names of labels and the name of each; of two names the first counts."""
    return {name.rpartition("/")[2].lower(): name for name in reversed(names)}


@dataclass(frozen=True, slots=True)
class _Fate:
    """How containers fared: moments, kills for memory, restarts, and why the first of them failed."""

    starts: list[float]
    ends: list[float]
    killed: bool
    oom_kills: int
    restarts: int
    reason: str
    exit_code: str


def _fate(statuses: Collection[Object]) -> _Fate:
    starts, ends, killed, kills, restarts, reason, exit_code = [], [], False, 0, 0, "", ""
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
    begun, over = ([at for at in moments if at is not None] for moments in (starts, ends))
    return _Fate(begun, over, killed, kills, restarts, reason, exit_code)


def _end(metadata: Object, status: Object, ends: Collection[float]) -> float | None:
    """Return when a pod that is over ended: its last container, or else what its conditions or its deletion tell."""
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
    """Return what made a pod."""
    owners = objects_of(metadata, "ownerReferences")
    owner = next((each for each in owners if each.get("controller") is True), owners[0] if owners else {})
    labels = object_of(metadata, "labels")
    return Made(text_of(owner, "kind"), text_of(owner, "name"), text_of(labels, "pod-template-hash"))


def pod_of(pod: Object) -> Pod:
    """Return what an object says of a pod.

    Raises:
        NoValue: when one of its values is none of its kind.
    """
    metadata, spec, status = (object_of(pod, key) for key in ("metadata", "spec", "status"))
    labels, notes = object_of(metadata, "labels"), object_of(metadata, "annotations")
    statuses = (*objects_of(status, "containerStatuses"), *objects_of(status, "initContainerStatuses"))
    fate = _fate(statuses)
    name, made = text_of(metadata, "name"), made_of(metadata)
    words = {key: text_of(labels, key) for key in labels}
    words |= {key: text_of(notes, key) for key in notes if words_of(key)[-2:] in _NOTES}
    generated = text_of(metadata, "generateName")
    if made.kind == "Node":
        generated = generated or name.removesuffix(f"-{text_of(spec, 'nodeName')}")
    return Pod(
        tuple(_rows(pod, statuses, fate)),
        name,
        text_of(metadata, "namespace"),
        text_of(metadata, "clusterName"),
        made,
        generated,
        words,
        fate.restarts > 0,
        fate.oom_kills > 0,
    )


_NOTES = (("node", "name"), ("step", "name"), ("flow", "name"))
"""Ends of the names of annotations in which engines tell of steps."""


def _rows(pod: Object, statuses: Collection[Object], fate: _Fate) -> Iterator[Row]:
    metadata, spec, status = (object_of(pod, key) for key in ("metadata", "spec", "status"))
    common = _common(metadata, spec, status, fate)
    inits, main = objects_of(spec, "initContainers"), objects_of(spec, "containers")
    if len(main) == 1 and not inits and not object_of(spec, "resources"):
        cells = common | _own(main[0], spec, status, fate)
        whole: dict[str, Cell] = {f"pod_{name}": cells[name] for name in ("cpu_request", "memory_request")}
        yield Row(_in_order(cells | whole), text_of(main[0], "name"), one_of_several=False, init=False)
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
        yield Row(_in_order(cells), named, one_of_several=False, init=False)
    else:
        for place, each in enumerate(apps):
            name = text_of(each, "name")
            cells = common | _own(each, {} if place else spec, status, fates[name])
            cells["init_container"] = "yes" if each in sidecars else None
            yield Row(_in_order(cells), name, one_of_several=True, init=False)
    for each in apart:
        name = text_of(each, "name")
        own = fates[name]
        begun, ended = min(own.starts, default=None), max(own.ends, default=None)
        first: dict[str, Cell] = {"start": begun, "end": ended, "status": _init_status(own), "init_container": "yes"}
        yield Row(_in_order(common | _own(each, {}, status, own) | first), name, one_of_several=True, init=True)


def _in_order(cells: Mapping[str, Cell]) -> tuple[Cell, ...]:
    return tuple(map(cells.get, COLUMNS))


def _told_apart(init: Object, fate: _Fate) -> bool:
    """Tell whether a container that runs before the others is a row: it ran, and has a size, or was killed for one."""
    resources = object_of(init, "resources")
    sized = bool(object_of(resources, "requests") or object_of(resources, "limits"))
    return bool(fate.oom_kills or (fate.starts and sized))


def _init_status(fate: _Fate) -> str | None:
    if fate.killed:
        return OOM_KILLED
    return None if not fate.ends else FAILED if fate.reason else "Succeeded"


def _common(metadata: Object, spec: Object, status: Object, fate: _Fate) -> dict[str, Cell]:
    """Return the cells that all rows of a pod share."""
    labels = object_of(metadata, "labels")
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
    }


def _own(container: Object, spec: Object, status: Object, fate: _Fate) -> dict[str, Cell]:
    """Return the cells of a container; `spec` is the pod's where its overhead counts here, else empty."""
    resources, overhead = object_of(container, "resources"), object_of(spec, "overhead")
    reason, phase = text_of(status, "reason"), text_of(status, "phase")
    state = phase
    if phase == FAILED:
        state = OOM_KILLED if fate.killed else reason if reason in CAUSES else phase

    def requested(amount: float | None, name: str) -> float | None:
        more = amount_in(overhead, name)
        return amount if more is None else (amount or 0.0) + more

    return {
        "status": state,
        "reason": reason or fate.reason,
        "exit_code": fate.exit_code,
        "cpu_request": requested(request_of(resources, "cpu"), "cpu"),
        "memory_request": requested(request_of(resources, "memory"), "memory"),
        "gpu_request": gpus_of(resources, "gpu"),
        "cpu_limit": limit_of(resources, "cpu"),
        "memory_limit": limit_of(resources, "memory"),
        "restarts": float(fate.restarts),
        "oom_kills": float(fate.oom_kills),
    }
