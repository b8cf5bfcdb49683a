"""Pods of Kubernetes: `kubectl get pods -A -o json`, one pod, or a pod a line; one run per pod, or per container of it.

What a pod used is not in these lists. Where Jobs are listed and no pods (`kubectl get jobs -A -o json`), one is a run.

Source: Kubernetes' documentation of the API objects Pod v1 and Job batch/v1.
"""

import io
import itertools
import json
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from workprof.core.errors import TraceError
from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.json_documents import CHUNK_BYTES, MAX_MEMBER_CHARACTERS, JsonWindow, parts, remarks
from workprof.formats.kubernetes_objects import NoValue, Object, moment_in, text_of
from workprof.formats.kubernetes_rows import COLUMNS, NUMBERS, Cell, Pod, as_pod, pod_of
from workprof.formats.pod_tasks import Ends, Key, TaskNames, Work, work_of
from workprof.formats.repeated_keys import RepeatedKeys

LISTS = ((), ("items",))
TAKEN = "listedAt"
"""Member of a list that says when it was taken; sources write it."""
WORDS = ('"containers"', '"List"', '"PodList"', '"JobList"')
EXCERPT_CHARACTERS = 200
JOB = "Job"
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
            if part.element and (_is_pod(part.value) or _is_job(part.value)):
                return True
            items += part.element
            whole |= {} if part.element or not part.path else {part.path[0]: part.value}
            if _is_pod(whole) or _is_job(whole):  # of several documents any
                return True
    except TraceError:  # the beginning ends inside a document
        pass
    return whole.get("kind") in ("PodList", "JobList") or (whole.get("kind") == "List" and not items)


def _is_pod(value: object) -> bool:
    result = value.get("object", value) if isinstance(value, dict) else None
    spec = result.get("spec") if isinstance(result, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("containers"), list)


def _is_job(value: object) -> bool:
    """Tell whether a value is a Job; those of a JobList of the API do not say so, and other kinds with templates do."""
    spec = value.get("spec") if isinstance(value, dict) else None
    template = spec.get("template") if isinstance(spec, dict) else None
    kind = value.get("kind", JOB) if isinstance(value, dict) else ""
    return kind == JOB and isinstance(template, dict) and _is_pod(template)


@dataclass(frozen=True)
class _Taken:
    """The end of a document, the moment at which it was taken, where it says so, and whether it is a list."""

    at: float | None
    is_list: bool


@dataclass(frozen=True)
class _List:
    """A list that was read."""

    latest: float  # moment that it tells of: it was taken after
    namespaces: frozenset[tuple[str, str]]  # of its pods, with their clusters
    oldest: int  # number of the first list that has a pod of it


@dataclass
class _Pods:
    """The pods of all files: the latest telling of each, in the order of the first."""

    most_held: int
    held: dict[tuple[str, ...], Pod] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)  # hashes of the pods whose rows wait no longer
    namespaces: dict[str, str] = field(default_factory=dict)  # name -> namespace of the first pod of that name
    others: Counter[str] = field(default_factory=Counter)  # kind -> objects that are no pods
    unread: Counter[str] = field(default_factory=Counter)  # resource that no field holds -> pods that ask for it
    # names of the tasks of all rows so far; `apart` those that are named with their container
    tasks: TaskNames = field(default_factory=TaskNames)
    apart: set[Key] = field(default_factory=set)
    listed: set[tuple[str, ...]] = field(default_factory=set)  # the pods of the list that is being read
    seen: dict[tuple[str, ...], float] = field(default_factory=dict)  # when the last list with a pod was taken
    lists: list[_List] = field(default_factory=list)
    within: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)  # first and last list with a pod
    jobs: list[tuple[int, Object]] = field(default_factory=list)  # Jobs, with their lines: runs where no pod is listed
    pods: int = 0
    alone: int = 0  # Jobs that are runs
    vanished: int = 0
    again: int = 0
    late: int = 0
    restarted: int = 0
    kills: int = 0
    resizing: int = 0
    namesakes: int = 0
    several: int = 0
    given: int = 0
    guessed: int = 0

    def take(self, line: int, value: object) -> Iterator[Read | Unreadable]:
        """Take a value of the list; yield it where it is no pod that can be read, and rows that waited long enough."""
        try:
            if not isinstance(value, dict) or not {"metadata", "spec"} <= value.keys():
                raise NoValue("", value, "no pod: an object with metadata and spec")
            kind = text_of(value, "kind") or (JOB if _is_job(value) else "Pod")
            if kind == JOB and _is_job(value) and not self.pods and len(self.jobs) < self.most_held:
                self.jobs.append((line, value))
            if kind != "Pod":
                self.others[kind] += 1
                return
            self.pods += 1
            pod = pod_of(line, value)
        except NoValue as error:
            yield _unreadable(line, error)
            return
        uid, created = _identity(pod.rows[0][0])
        key = (str(uid),) if uid else (pod.namespace, pod.name, str(created))
        if key in self.held:
            self.again += 1
        elif self.namespaces.setdefault(pod.name, pod.namespace) != pod.namespace:
            self.namesakes += 1
        self.late += hash(key) in self.gone
        self.restarted += pod.restarted
        self.kills += pod.killed
        self.resizing += pod.resizing
        self.unread.update(pod.unread if key not in self.held else ())
        if key not in self.held or _is_over(pod) or not _is_over(self.held[key]):
            self.held[key] = pod
        self.listed.add(key)
        if len(self.held) >= self.most_held:
            yield from self.rows()

    def take_jobs(self) -> Iterator[Read | Unreadable]:
        """Take the Jobs as pods of their templates, where no pod is listed."""
        if self.pods or not self.jobs:
            return
        self.alone = len(self.jobs)
        self.others[JOB] -= self.alone
        for line, job in self.jobs:
            try:
                pod = as_pod(job)
            except NoValue as error:
                yield _unreadable(line, error)
            else:
                yield from self.take(line, pod)

    def end_list(self, taken: _Taken) -> None:
        """The list ends that was read: what runs in it did so when it was taken."""
        at = taken.at
        if at is not None:
            self.seen.update((key, max(self.seen.get(key, at), at)) for key in self.listed)
        pods = [self.held[key] for key in self.listed if key in self.held]
        if taken.is_list and pods:
            number = len(self.lists)
            for key in self.listed:
                self.within[key] = (self.within.get(key, (number, number))[0], number)
            told = [at for pod in pods for cells, *_ in pod.rows for at in _moments_of(cells) if isinstance(at, float)]
            namespaces = frozenset((pod.cluster, pod.namespace) for pod in pods)
            self.lists.append(
                _List(max(told, default=0.0), namespaces, min(self.within[key][0] for key in self.listed))
            )
        self.listed.clear()

    def _vanished_after(self, key: tuple[str, ...], pod: Pod) -> float | None:
        """The moment until which a pod is known to have run that has not ended, and is in no later list.

        A list is later where it goes on with pods of the last one that has the pod; it is of the pod's namespace, or of
        several.
        """
        last = self.within.get(key, (0, len(self.lists)))[1]
        own = (pod.cluster, pod.namespace)
        if (
            _is_over(pod)
            or pod.rows[0][0][_STATUS] == "Pending"
            or not any(
                one.latest >= self.lists[last].latest
                and one.oldest <= last
                and (own in one.namespaces or len(one.namespaces) > 1)
                for one in self.lists[last + 1 :]
            )
        ):
            return None
        return self.lists[last].latest or None

    def rows(self) -> Iterator[Read]:
        """Yield the rows that wait, and hold them no longer."""
        vanished = [self._vanished_after(key, pod) for key, pod in self.held.items()]
        self.vanished += sum(at is not None for at in vanished)
        pods = self.held.values()
        seen = [self.seen.get(key, at) for key, at in zip(self.held, vanished, strict=True)]
        ends = Ends({name for pod in pods for name in (pod.name, pod.made.name, *pod.labels.values()) if name})
        works = [work_of(pod.name, pod.made, pod.labels, ends, pod.generated) for pod in pods]
        worked = [(pod, work, _key(pod, work)) for pod, work in zip(pods, works, strict=True)]
        self.apart |= {key for pod, _, key in worked for _, _, several, init in pod.rows if several and not init}
        named = (
            (self._task(key, container, init=init), work.named_step)
            for pod, work, key in worked
            for _, container, _, init in pod.rows
        )
        self.tasks.name(dict(named))
        for (pod, work, key), last in zip(worked, seen, strict=True):
            name = pod.name if self.namespaces[pod.name] == pod.namespace else f"{pod.namespace}/{pod.name}"
            self.several += sum(not init for *_, init in pod.rows) > 1
            self.given += len(pod.rows)
            self.guessed += 0 if work.told or work.workload == pod.name else len(pod.rows)
            for cells, container, _, init in pod.rows:
                task = self.tasks.given[self._task(key, container, init=init)]
                own: tuple[Cell, ...] = (name, container, work.workload, task, work.run, work.kind)
                whole = list(cells)
                for place, cell in zip(_OWN, own, strict=True):
                    whole[place] = cell
                whole[_SEEN] = last if _end_of(cells) is None else None
                yield Read(pod.line, tuple(whole))
        self.gone.update(map(hash, self.held))
        self.held.clear()
        self.listed.clear()
        self.seen.clear()
        self.within.clear()

    def _task(self, key: Key, container: str, *, init: bool) -> Key:
        return (*key[:4], container) if init or key in self.apart else key

    def remarks(self) -> Iterator[Remark]:
        """Yield what was found on the way."""
        kinds, unread = (
            ", ".join(f"{kind[:40]} ({count:,})" for kind, count in counts.most_common(5) if count)
            for counts in (self.others, self.unread)
        )
        result = (
            ("other objects", "info", sum(self.others.values()), f"objects are no pods and were excluded: {kinds}"),
            (
                "Jobs without pods",
                "warning",
                self.alone,
                "rows are of Jobs, as no pod is listed: a row has the time of its whole Job, what one pod requests, "
                "and how many run at once (instances); list the pods: kubectl get pods -A -o json",
            ),
            (
                "told again",
                "info",
                self.again,
                "earlier descriptions of a pod that is listed again later; the one of its end counts, else the last",
            ),
            (
                "told again late",
                "warning",
                self.late,
                f"pods are listed again after {self.most_held:,} others, and are rows of their own; give fewer lists",
            ),
            (
                "in no later list",
                "info",
                self.vanished,
                "pods ran and are in no later list: they ended after the last one that has them, and their time counts "
                "until the last moment that it tells",
            ),
            (
                "names of several namespaces",
                "info",
                self.namesakes,
                "pods have the name of a pod of another namespace; they are called NAMESPACE/NAME",
            ),
            (
                "several containers",
                "info",
                self.several,
                f"pods have several containers: each is a row of its own ({self.given:,} rows of all pods)",
            ),
            (
                "tasks by names",
                "info",
                self.guessed,
                "rows: no owner and no label says whose work their pod is, so the task is the pod's name without its "
                "random end",
            ),
            (
                "other resources",
                "info",
                self.unread.total(),
                f"requests are of resources that no field holds: {unread} (pods)",
            ),
            ("restarts", "info", self.restarted, "pods had containers that were restarted (column restarts)"),
            (
                "resize pending",
                "info",
                self.resizing,
                "pods wait for a resize: the requests and limits that they have count, not those that they want",
            ),
            (
                "killed for memory",
                "warning",
                self.kills,
                "pods had a container killed for memory, those among them that were restarted and went on: they "
                "needed at least their limit (out_of_memory_kills)",
            ),
        )
        for name, level, count, text in result:
            if count:
                yield Remark(name, count, f"{count:,} {text}", level)


def _unreadable(line: int, error: NoValue) -> Unreadable:
    return Unreadable(line, error.where, json.dumps(error.value)[:EXCERPT_CHARACTERS], error.reason)


_identity = operator.itemgetter(COLUMNS.index("uid"), COLUMNS.index("created"))
_OWN = tuple(map(COLUMNS.index, ("pod", "container", "workload", "task", "run", "owner_kind")))


_end_of = operator.itemgetter(COLUMNS.index("end"))
_moments_of = operator.itemgetter(*map(COLUMNS.index, ("created", "start", "end")))
_SEEN, _STATUS = COLUMNS.index("seen"), COLUMNS.index("status")


def _is_over(pod: Pod) -> bool:
    """Tell whether a pod has ended, which is for good, whatever a list that was taken before says."""
    return all(_end_of(cells) is not None for cells, *_ in pod.rows)


def _key(pod: Pod, work: Work) -> Key:
    return pod.cluster, pod.namespace, work.workload, work.step, ""


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
    """Yield the line and value of everything that should be a pod, and the end of each list.

    A watched pod's event is the pod.
    """
    if _one_a_line(given):
        decoder = json.JSONDecoder(object_pairs_hook=repeated.hook)
        for line, text in given.lines():
            if text.strip():
                try:
                    value: object = decoder.decode(text)
                except (ValueError, RecursionError):
                    value = text
                event: Object = value if isinstance(value, dict) and "type" in value else {}
                if event.get("type") != "BOOKMARK":  # an event of a place in the stream, and of no pod
                    yield line, event.get("object", value)
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
        is_list = bool(listed) or str(whole.get("kind")).endswith("List")
        if whole and not is_list:
            yield first, whole
        yield 0, _Taken(_taken(whole), is_list)


def _taken(document: Object) -> float | None:
    try:
        return moment_in(document, TAKEN)
    except NoValue:
        return None


def read(sources: Sequence[Given], most_held: int = HELD_PODS) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row per pod, of all files; at most `most_held` pods wait for a later telling of the same pod.

    Raises TraceError when a document is broken or cut off, or there is no pod in all of them.
    """
    pods, repeated = _Pods(most_held), RepeatedKeys()
    for given in sources:
        for line, value in _pods_of(given, repeated):
            repeated.end_row()
            if isinstance(value, _Taken):
                pods.end_list(value)
            else:
                yield from pods.take(line, value)
    yield from pods.take_jobs()
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
        Rule("task_name", "task"),
        Rule("user", "user"),
        Rule("group", "team"),
        Rule("workload", "workload"),
        Rule("run_name", "run"),
        Rule("cluster", "cluster"),
        Rule("namespace", "namespace"),
        Rule("container", "container"),
        Rule("node", "node"),
        Rule("gpu_type", "gpu_type"),
        Rule("status", "status"),
        Rule("instances", "parallelism"),
        Rule("submit_time_s", "created", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("requested_cpu_percent", "cpu_request", "cores"),
        Rule("requested_gpu_percent", "gpu_request", "cores"),
        Rule("requested_memory_bytes", "memory_request", "B"),
        Rule("time_limit_s", "active_deadline_s", "s"),
        Rule("out_of_memory_kills", "oom_kills"),
    ),
    finished=("succeeded",),
    duration_from_times=True,
    units=(
        *(("cpu_limit", "cores"), ("memory_limit", "B")),
        *(("pod_cpu_request", "cores"), ("pod_memory_request", "B")),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    rows_version=10,
    seen="seen",
    not_known="Lists of pods do not say what pods used: load series of Prometheus, which say both.",
)
