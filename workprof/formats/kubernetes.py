"""Pods of Kubernetes: `kubectl get pods -A -o json`, one pod, or a pod a line; one run per pod.

A pod's request is what the scheduler sets aside for it: the sum of its containers and of its sidecars (init containers
that are restarted), or that of its neediest init container with the sidecars started before it, whichever is more; plus
its overhead. A container without a request has its limit as one. What a pod used is not in these lists.

Source: Kubernetes' documentation of the API object Pod v1, of quantities and of init containers and sidecars.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from workprof.core.errors import TraceError
from workprof.core.units import KIB
from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.json_documents import CHUNK_BYTES, MAX_MEMBER_CHARACTERS, JsonWindow, parts, remarks
from workprof.formats.repeated_keys import RepeatedKeys

Cell = str | float | None
Object = Mapping[str, Any]

TEXTS = (
    *("pod", "namespace", "owner", "user", "team", "node", "gpu_type", "status"),
    *("owner_kind", "qos_class", "priority_class", "reason", "exit_code", "uid"),
)
NUMBERS = (
    *("created", "start", "end", "cpu_request", "memory_request", "gpu_request", "active_deadline_s"),
    *("cpu_limit", "memory_limit", "containers", "restarts", "oom_kills"),
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

LISTS = ((), ("items",))
WORDS = ('"containers"', '"List"', '"PodList"')
EXCERPT_CHARACTERS = 200
HELD_PODS = 150_000
"""Pods that wait for a later telling of the same pod: as many as a cluster may have."""


def recognises(head: str, _: str) -> bool:
    """Tell whether a text's beginning holds a pod, or says that it is a list of pods, or an empty list."""
    if not head.lstrip().startswith(("{", "[")) or not any(word in head for word in WORDS):
        return False
    whole: dict[str, Any] = {}
    items = 0
    text = JsonWindow(io.BytesIO(head.encode(errors="replace")), "", RepeatedKeys())
    try:
        for part in parts(text, LISTS):
            if part.element and _is_pod(part.value):
                return True
            items += part.element
            whole |= {} if part.element or not part.path else {part.path[0]: part.value}
    except TraceError:  # the beginning ends inside a document
        pass
    return _is_pod(whole) or whole.get("kind") == "PodList" or (whole.get("kind") == "List" and not items)


def _is_pod(value: object) -> bool:
    result = value.get("object", value) if isinstance(value, dict) else None
    spec = result.get("spec") if isinstance(result, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("containers"), list)


class NoValue(Exception):
    """A value of a pod that is none of its kind: where it stands, and what is wrong with it."""

    def __init__(self, where: str, value: object, reason: str) -> None:
        super().__init__(reason)
        self.where, self.value, self.reason = where, value, reason


_QUANTITY = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?)(n|u|m|[kMGTPE]|[KMGTPE]i)?", re.ASCII)
_DECIMAL = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {f"{letter}i": float(KIB**power) for power, letter in enumerate("KMGTPE", start=1)}
LONGEST_QUANTITY = 60


@functools.lru_cache(maxsize=10_000)
def quantity(text: str) -> float:
    """Return the number that a quantity says: '500m' is 0.5, '16Gi' is 2**34, '1500M' is 1.5e9; NaN for no quantity."""
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= LONGEST_QUANTITY else None
    if match is None:
        return math.nan
    suffix = match.group(2) or ""
    return float(match.group(1)) * (_BINARY[suffix] if suffix in _BINARY else _DECIMAL[suffix])


def object_of(parent: Object, key: str) -> Object:
    """Return an object of an object, an empty one where it is not there."""
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NoValue(key, value, "not an object")
    return value


def objects_of(parent: Object, key: str) -> list[Object]:
    """Return the objects of a list of an object, none where it is not there."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise NoValue(key, value, "not a list of objects")
    return value


def text_of(parent: Object, key: str) -> str:
    """Return a text of an object, '' where it is not there."""
    value = parent.get(key)
    if value is None:
        return ""
    if not isinstance(value, (str, int, float)):
        raise NoValue(key, value, "not a text")
    return str(value)


def _seconds(parent: Object, key: str) -> float | None:
    """Return a moment in seconds since 1970; None where it is not there, or Go's zero."""
    text = text_of(parent, key)
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise NoValue(key, text, "not a moment (RFC 3339)") from error
    return seconds if seconds > 0 else None


def _amount(amounts: Object, name: str) -> float | None:
    amount = amounts.get(name)
    if amount is None:
        return None
    value = (
        quantity(str(amount)) if isinstance(amount, (str, int, float)) and not isinstance(amount, bool) else math.nan
    )
    if not math.isfinite(value):
        raise NoValue(name, amount, "not a quantity")
    return value


def _request(resources: Object, name: str) -> float | None:
    requested = _amount(object_of(resources, "requests"), name)
    return _amount(object_of(resources, "limits"), name) if requested is None else requested


def _limit(resources: Object, name: str) -> float | None:
    return _amount(object_of(resources, "limits"), name)


def _gpus(resources: Object, _: str) -> float | None:
    """Return the GPUs of every vendor that a container requests ('nvidia.com/gpu', 'amd.com/gpu')."""
    names = {*object_of(resources, "requests"), *object_of(resources, "limits")}
    result = [_request(resources, name) for name in names if name.endswith("/gpu")]
    return sum(each or 0.0 for each in result) if result else None


def _effective(spec: Object, amount_of: Callable[[Object, str], float | None], name: str) -> float | None:
    """Return what the scheduler sets aside for a pod; None where no container asks for any."""
    whole = amount_of(object_of(spec, "resources"), name)
    overhead = _amount(object_of(spec, "overhead"), name)
    if whole is None:
        apps = [amount_of(object_of(each, "resources"), name) for each in objects_of(spec, "containers")]
        inits = [(each, amount_of(object_of(each, "resources"), name)) for each in objects_of(spec, "initContainers")]
        if all(each is None for each in (*apps, *(value for _, value in inits))):
            return overhead
        sidecars = most = 0.0
        for each, value in inits:
            most = max(most, sidecars + (value or 0.0))
            if each.get("restartPolicy") == "Always":
                sidecars += value or 0.0
        whole = max(most, sidecars + sum(each or 0.0 for each in apps))
    return whole + (overhead or 0.0)


def _whole_limit(spec: Object, name: str) -> float | None:
    """Return the most that a pod's containers may use together; None where one of them has no limit."""
    whole = _limit(object_of(spec, "resources"), name)
    if whole is not None:
        return whole
    each = [_limit(object_of(one, "resources"), name) for one in objects_of(spec, "containers")]
    known = [value for value in each if value is not None]
    return sum(known) if known and len(known) == len(each) else None


_HASH = "[bcdfghjklmnpqrstvwxz2456789]"
"""Characters of the random words in names of Kubernetes: no vowels, no 0, 1, 3."""
_RANDOM = re.compile(rf"-(?=[0-9]*[a-z]){_HASH}{{5,10}}$")
_CRON_TIME = re.compile(r"-\d{8,10}$")


def task_of(metadata: Object, spec: Object) -> tuple[str, str]:
    """Return the name of what made a pod, without its random or counted end, and the kind of it ('' = nothing)."""
    owners = objects_of(metadata, "ownerReferences")
    owner = next((each for each in owners if each.get("controller") is True), owners[0] if owners else {})
    kind, name = text_of(owner, "kind"), text_of(owner, "name")
    if not name or kind == "Node":
        made, pod = text_of(metadata, "generateName"), text_of(metadata, "name")
        own = made.rstrip("-.") or pod.removesuffix(f"-{text_of(spec, 'nodeName')}")
        return own, kind
    hashed = text_of(object_of(metadata, "labels"), "pod-template-hash")
    if kind == "ReplicaSet" and hashed and name.endswith(f"-{hashed}"):
        return name.removesuffix(f"-{hashed}"), kind
    if kind == "Job" and _CRON_TIME.search(name):
        return _CRON_TIME.sub("", name), "CronJob"
    return (name, kind) if kind in ("StatefulSet", "DaemonSet") else (_RANDOM.sub("", name), kind)


def labelled(labels: Object, words: Sequence[str]) -> str:
    """Return the value of the first label whose name ends in one of some words, '' where there is none."""
    by_word = {key.rpartition("/")[2].lower(): key for key in reversed(list(labels))}
    return next((text_of(labels, by_word[word]) for word in words if word in by_word), "")


@dataclass(frozen=True)
class _Ended:
    """How the containers of a pod fared."""

    starts: list[float]
    ends: list[float]
    killed: bool
    oom_kills: int
    restarts: int
    reason: str
    exit_code: str


def _fate(status: Object) -> _Ended:
    starts, ends, killed, kills, restarts, reason, exit_code = [], [], False, 0, 0, "", ""
    for each in (*objects_of(status, "containerStatuses"), *objects_of(status, "initContainerStatuses")):
        restarts += int(_amount(each, "restartCount") or 0)
        for key in ("state", "lastState"):
            state = object_of(each, key)
            ended = object_of(state, "terminated")
            starts.append(_seconds(object_of(state, "running") or ended, "startedAt"))
            ends.append(_seconds(ended, "finishedAt"))
            out_of_memory = ended.get("reason") == OOM_KILLED
            kills += out_of_memory
            if key == "state":
                killed = killed or out_of_memory
                if not reason and (_amount(ended, "exitCode") or out_of_memory):
                    reason, exit_code = text_of(ended, "reason"), text_of(ended, "exitCode")
    return _Ended(
        [at for at in starts if at is not None],
        [at for at in ends if at is not None],
        killed,
        kills,
        restarts,
        reason,
        exit_code,
    )


def _end(metadata: Object, status: Object, fate: _Ended) -> float | None:
    """Return when a pod that is over ended: its last container, or else what its conditions or its deletion tell."""
    if text_of(status, "phase") not in ENDED:
        return None
    if fate.ends:
        return max(fate.ends)
    last = ("Ready", "ContainersReady", "DisruptionTarget")
    times = [
        _seconds(each, "lastTransitionTime") for each in objects_of(status, "conditions") if each.get("type") in last
    ]
    known = [at for at in times if at is not None]
    return max(known) if known else _seconds(metadata, "deletionTimestamp")


def cells_of(pod: Object) -> tuple[list[Cell], _Ended]:
    """Return the cells of a pod in the order of `COLUMNS`, and how its containers fared.

    Raises:
        NoValue: when one of its values is none of its kind.
    """
    metadata, spec, status = (object_of(pod, key) for key in ("metadata", "spec", "status"))
    labels, fate = object_of(metadata, "labels"), _fate(status)
    reason, phase = text_of(status, "reason"), text_of(status, "phase")
    state = phase
    if phase == FAILED:
        state = OOM_KILLED if fate.killed else reason if reason in CAUSES else phase
    start = _seconds(status, "startTime")
    if start is None and fate.starts:
        start = min(fate.starts)
    task, kind = task_of(metadata, spec)
    cells: list[Cell] = [
        *(text_of(metadata, "name"), text_of(metadata, "namespace"), task),
        *(labelled(labels, USER_LABELS), labelled(labels, TEAM_LABELS), text_of(spec, "nodeName")),
        *(labelled(object_of(spec, "nodeSelector"), GPU_TYPE_LABELS), state),
        *(kind, text_of(status, "qosClass"), text_of(spec, "priorityClassName")),
        *(reason or fate.reason, fate.exit_code, text_of(metadata, "uid")),
        *(_seconds(metadata, "creationTimestamp"), start, _end(metadata, status, fate)),
        *(_effective(spec, _request, name) for name in ("cpu", "memory")),
        *(_effective(spec, _gpus, "gpu"), _amount(spec, "activeDeadlineSeconds")),
        *(_whole_limit(spec, name) for name in ("cpu", "memory")),
        *(float(len(objects_of(spec, "containers"))), float(fate.restarts), float(fate.oom_kills)),
    ]
    return cells, fate


@dataclass
class _Pods:
    """The pods of all files: the latest telling of each, in the order of the first.

    Attributes:
        gone: hashes of the pods whose rows wait no longer.
        namespaces: name -> namespace of the first pod of that name.
        others: kind -> objects that are no pods.
    """

    most_held: int
    held: dict[tuple[str, ...], Read] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    namespaces: dict[str, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    pods: int = 0
    again: int = 0
    late: int = 0
    restarted: int = 0
    kills: int = 0
    namesakes: int = 0

    def take(self, line: int, pod: object) -> Iterator[Read | Unreadable]:
        """Take a value of the list; yield it where it is no pod that can be read, and rows that waited long enough."""
        try:
            if not isinstance(pod, dict) or not {"metadata", "spec"} <= pod.keys():
                raise NoValue("", pod, "no pod: an object with metadata and spec")
            kind = text_of(pod, "kind") or "Pod"
            if kind != "Pod":
                self.others[kind] += 1
                return
            self.pods += 1
            cells, fate = cells_of(pod)
        except NoValue as error:
            shown = json.dumps(error.value)[:EXCERPT_CHARACTERS]
            yield Unreadable(line, error.where, shown, error.reason)
            return
        name, namespace = str(cells[0]), str(cells[1])
        uid, created = cells[COLUMNS.index("uid")], cells[COLUMNS.index("created")]
        key = (str(uid),) if uid else (namespace, name, str(created))
        if key in self.held:
            self.again += 1
        elif self.namespaces.setdefault(name, namespace) != namespace:
            self.namesakes += 1
        if self.namespaces[name] != namespace:
            cells[0] = f"{namespace}/{name}"
        self.late += hash(key) in self.gone
        self.restarted += fate.restarts > 0
        self.kills += fate.oom_kills > 0
        self.held[key] = Read(line, tuple(cells))
        if len(self.held) >= self.most_held:
            yield from self.rows()

    def rows(self) -> Iterator[Read]:
        """Yield the rows that wait, and hold them no longer."""
        yield from self.held.values()
        self.gone.update(map(hash, self.held))
        self.held.clear()

    def remarks(self) -> Iterator[Remark]:
        """Yield what was found on the way."""
        kinds = ", ".join(f"{kind[:40]} ({count:,})" for kind, count in self.others.most_common(5))
        result = (
            ("other objects", "info", sum(self.others.values()), f"objects are no pods and were excluded: {kinds}"),
            (
                "told again",
                "info",
                self.again,
                "earlier descriptions of a pod that is listed again later; the last one counts",
            ),
            (
                "told again late",
                "warning",
                self.late,
                f"pods are listed again after {self.most_held:,} others, and are rows of their own; give fewer lists",
            ),
            (
                "names of several namespaces",
                "info",
                self.namesakes,
                "pods have the name of a pod of another namespace; they are called NAMESPACE/NAME",
            ),
            ("restarts", "info", self.restarted, "pods had containers that were restarted (column restarts)"),
            (
                "killed for memory",
                "warning",
                self.kills,
                "pods had a container killed for memory, those among them that were restarted and went on (oom_kills)",
            ),
        )
        for name, level, count, text in result:
            if count:
                yield Remark(name, count, f"{count:,} {text}", level)


def _one_a_line(given: Given) -> bool:
    """Tell whether the first line that is not blank is a whole object, and no list of many."""
    first = next((line for line in iter(lambda: given.stream.readline(CHUNK_BYTES), b"") if line.strip()), b"")
    given.stream.seek(0)
    try:
        value = json.loads(first.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "items" not in value


def _pods_of(given: Given, repeated: RepeatedKeys) -> Iterator[tuple[int, object]]:
    """Yield the line and value of everything that should be a pod; a watched pod's event is the pod."""
    if _one_a_line(given):
        decoder = json.JSONDecoder(object_pairs_hook=repeated.hook)
        for line, text in given.lines():
            if text.strip():
                try:
                    value: object = decoder.decode(text)
                except (ValueError, RecursionError):
                    value = text
                yield line, value.get("object", value) if isinstance(value, dict) and "type" in value else value
        return
    window = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
    for _, document in itertools.groupby(parts(window, LISTS), key=lambda part: part.document):
        whole: dict[str, Any] = {}
        first = listed = 0
        for part in document:
            first = first or part.line
            listed += part.element
            if part.element or not part.path:
                yield part.line, part.value
            else:
                whole[part.path[0]] = part.value
        if whole and not listed and not str(whole.get("kind")).endswith("List"):
            yield first, whole


def read(sources: Sequence[Given], most_held: int = HELD_PODS) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row per pod.

    Args:
        sources: all files of the dataset.
        most_held: pods that wait for a later telling of the same pod.

    Raises:
        TraceError: when a document is broken or cut off, or there is no pod in all of them.
    """
    pods, repeated = _Pods(most_held), RepeatedKeys()
    for given in sources:
        for line, value in _pods_of(given, repeated):
            repeated.end_row()
            yield from pods.take(line, value)
    yield from pods.rows()
    if not pods.pods:
        names = ", ".join(given.name for given in sources[:3])
        raise TraceError(f"{names}: there is no pod in it; list those of every namespace: kubectl get pods -A -o json")
    yield from pods.remarks()
    yield from remarks(repeated, "pods")


FORMAT = Format(
    name="kubernetes",
    title="Kubernetes pods (kubectl get pods -o json)",
    columns=tuple(SourceColumn(name, NUMBER if name in NUMBERS else TEXT) for name in COLUMNS),
    rules=(
        Rule("job_name", "pod"),
        Rule("task_name", "owner"),
        Rule("user", "user"),
        Rule("group", "team"),
        Rule("workload", "namespace"),
        Rule("node", "node"),
        Rule("gpu_type", "gpu_type"),
        Rule("status", "status"),
        Rule("submit_time_s", "created", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("requested_cpu_percent", "cpu_request", "cores"),
        Rule("requested_gpu_percent", "gpu_request", "cores"),
        Rule("requested_memory_bytes", "memory_request", "B"),
        Rule("time_limit_s", "active_deadline_s", "s"),
    ),
    finished=("succeeded",),
    duration_from_times=True,
    units=(("cpu_limit", "cores"), ("memory_limit", "B")),
    reader=Reader(recognises, COLUMNS, read, several=True),
)
