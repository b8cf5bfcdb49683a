"""Whose work a pod is: what made it, the step or role of it that it does, and a name for each task.

Standard controllers make pods of one kind, so their name is the workload. Workflow engines make a pod per step: they
say the step in labels. What neither tells is read off the pod's own name, without the random or counted end of it.

Source: Kubernetes' rules of generated names; the labels that Nextflow, Airflow, Argo, Tekton, Spark's operator,
Kubeflow, Ray, Volcano, JobSet, Dagster, Flyte, Prefect, Metaflow, Flink and GitLab's runners document; the recommended
labels of Kubernetes.
"""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

DEPLOYMENT, STATEFUL_SET, DAEMON_SET, CRON_JOB, JOB = "Deployment", "StatefulSet", "DaemonSet", "CronJob", "Job"
SERVICES = frozenset((DEPLOYMENT, STATEFUL_SET, DAEMON_SET, "Rollout", "DeploymentConfig", "ReplicaSet"))
"""Kinds whose pods are not meant to end."""

STEPWISE = frozenset(("Workflow", "PipelineRun", "TaskRun"))
"""Kinds whose pods are steps with names of their own."""


@dataclass(frozen=True)
class Made:
    """What made a pod: its kind ('' = nothing said), its name, its template's hash ('' = not told)."""

    kind: str = ""
    name: str = ""
    template_hash: str = ""


@dataclass(frozen=True)
class Work:
    """Whose work a pod is."""

    kind: str  # of the workload's owner, '' = not told
    workload: str  # its name
    step: str = ""  # or role, '' = the workload does one thing
    named_step: bool = False  # the step's name says what it does without the workload's
    told: bool = True  # labels or owners say so; else the pod's name
    run: str = ""  # of the workflow, '' = not told


_HASH = "[bcdfghjklmnpqrstvwxz2456789]"
"""Characters of Kubernetes' random words: no vowels, no 0, 1, 3."""
_TEMPLATE = rf"(?:(?=[a-z]*\d)(?=\d*[a-z]){_HASH}{{6,7}}|(?=\d*[a-z]){_HASH}{{8,10}})"
_WORD = re.compile(rf"-(?=\d*[a-z])({_HASH}{{5}})$")
_OF_TEMPLATE = re.compile(rf"-({_TEMPLATE}|\d{{9,10}})$")
_OF_DEPLOYMENT = re.compile(rf"-{_TEMPLATE}-{_HASH}{{5}}$")
_OF_CRON_JOB = re.compile(rf"-\d{{8,10}}-{_HASH}{{5}}$")
_OF_STEP = re.compile(rf"^(.+?)-(?:(?=\d*[a-z])(?=[a-z]*\d){_HASH}{{5}}|\d{{10}})-(.+)-\d{{7,10}}$")
_OF_RUNNER = re.compile(r"-concurrent-\d+(?:-[a-z0-9]{6,10})?$")
_CRON_TIME = re.compile(r"-\d{8,10}$")
_COUNTED = re.compile(r"-\d{1,6}$")
_LONG = re.compile(
    r"[-.](?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,64}"
    r"|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,31}|\d{8}|\d{10,})$"
)
_SHORT = re.compile(r"-(?=[a-z]*\d+[a-z])([a-z0-9]{6,10})$")
"""Ends that no word has: a UUID, a digest, a date or time; and those of other generators, a number inside."""


class Ends:
    """Which ends of names are random words and which are words, as all names of an export tell together.

    'x7k2p' is a random word. 'mssql' is made of the same letters: it is one where a name of the same beginning has an
    end with a number in it. What might be a word with a number is random where two names differ in it.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Look at all names."""
        mixed: defaultdict[str, set[str]] = defaultdict(set)
        short: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for name in names:
            if (match := _WORD.search(name)) and re.search(r"\d", match.group(1)):
                mixed[name[: match.start()]].add(match.group(1))
            if match := _SHORT.search(name):
                short[name[: match.start()], len(match.group(1))].add(match.group(1))
        self._mixed = {stem: len(ends) for stem, ends in mixed.items()}
        self._short = {key for key, ends in short.items() if len(ends) > 1}

    def without(self, name: str, least: int = 1) -> str:
        """A name without a random end; as it is without one.

        As many as `least` names must have a random word after the same beginning.
        """
        if match := _LONG.search(name):
            return name[: match.start()]
        if (match := _WORD.search(name)) and self._mixed.get(name[: match.start()], 0) >= least:
            return name[: match.start()]
        match = _SHORT.search(name)
        if match and (name[: match.start()], len(match.group(1))) in self._short:
            return name[: match.start()]
        return name

    def of_pod(self, pod: str) -> Work:
        """What a pod's own name says."""
        for pattern, kind in ((_OF_DEPLOYMENT, DEPLOYMENT), (_OF_CRON_JOB, CRON_JOB)):
            if match := pattern.search(pod):
                return Work(kind, pod[: match.start()], told=False)
        if match := _OF_STEP.match(pod):
            return Work("", match.group(1), match.group(2), named_step=True, told=False)
        if match := _OF_RUNNER.search(pod):
            return Work("", pod[: match.start()], told=False)
        once = self.without(pod)
        if once == pod:
            return Work("", _COUNTED.sub("", pod), told=False)
        return Work("", self.without(once, least=2), told=False)


@functools.lru_cache(maxsize=10_000)
def words_of(key: str) -> tuple[str, ...]:
    """The words of a label's name, however it is spelt: 'nextflow.io/processName', 'nextflow_process_name'."""
    return tuple(re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key).lower()))


@dataclass(frozen=True)
class Engine:
    """Ends of the names of labels in which an engine says the step and the workload; the first that is there counts."""

    step: tuple[str, ...]
    workload: tuple[str, ...]
    named_step: bool = True
    alone: bool = True  # the step's label is the engine's own; else the workload's must be there too
    grouped: bool = False  # a step's name begins with the groups that it is in, and is its name with them


ENGINES = (
    Engine(("nextflow io process name",), ("nextflow io pipeline name", "nextflow io app")),
    Engine(("task id",), ("dag id",), alone=False, grouped=True),
    Engine(("tekton dev pipeline task", "tekton dev task"), ("tekton dev pipeline",)),
    Engine(("dagster op", "dagster step"), ("dagster job",), grouped=True),
    Engine(
        ("job runner gitlab com name",),
        ("project runner gitlab com name", "project runner gitlab com id"),
        grouped=True,
    ),
    Engine(("metaflow step name",), ("metaflow flow name",)),
    Engine(("spark role",), ("spark app name", "sparkoperator k 8 s io app name"), named_step=False),
    Engine(("replica type",), ("kubeflow org job name", "job name"), named_step=False),
    Engine(("replicatedjob name",), ("jobset name",), named_step=False),
    Engine(("volcano sh task spec",), ("volcano sh job name",), named_step=False),
    Engine(
        ("ray io group", "ray io node type"),
        ("ray io originated from cr name", "ray io cluster"),
        named_step=False,
    ),
    Engine(("process name",), ("workflow name", "pipeline name", "workflow", "pipeline", "app"), alone=False),
    Engine(
        ("step name", "task name", "node id", "step"),
        ("workflow name", "flow name", "pipeline name", "pipeline"),
        alone=False,
    ),
)
"""Known engines, then rules for those that are not known."""

WORKFLOW = "argoproj io workflow"
WORKFLOWS = ("argoproj io cron workflow", "argoproj io workflow template", WORKFLOW, "flow name", "dag id")
STEP_NODE = "argoproj io node name"
STANDARD_NAME, STANDARD_INSTANCE = "app kubernetes io name", "app kubernetes io instance"
PLAIN_APPS = ("k 8 s app", "app")
RUNS = ("run name", "dag run id", "run id", "execution id", "tekton dev pipeline run", "dagster run id")
ROLES = ("role", "component")
PART_OF_STEP = ".executor"
"""How Kubeflow Pipelines calls what each step runs: 'root.train.executor' is of the step 'train'."""
_NO_STEP = re.compile(r"\d+|[0-9a-f-]{16,}", re.ASCII)


class _Labels:
    """The labels of a pod by the words of their names; which label says what is looked up once for the same names."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._names = tuple(key for key, value in labels.items() if value)

    def of(self, endings: tuple[str, ...]) -> str:
        """The value of the first label that ends so, '' where there is none."""
        return self._labels.get(_label_of(self._names, endings), "")

    def engine(self) -> Engine | None:
        """The engine whose step is there."""
        engines = _engines_of(self._names)
        return next((one for one, label in engines if not _NO_STEP.fullmatch(self._labels[label])), None)


@functools.lru_cache(maxsize=10_000)
def _label_of(names: tuple[str, ...], endings: tuple[str, ...]) -> str:
    """The first name that ends so, '' where there is none; of names of the same words the last stands."""
    by_words = {" ".join(words_of(name)): name for name in names}
    for ending in endings:
        for words, name in by_words.items():
            if words == ending or words.endswith(f" {ending}"):
                return name
    return ""


@functools.lru_cache(maxsize=1000)
def _engines_of(names: tuple[str, ...]) -> tuple[tuple[Engine, str], ...]:
    """The engines whose labels are among some, each with the name of its step's."""
    steps = ((one, _label_of(names, one.step)) for one in ENGINES)
    return tuple((one, step) for one, step in steps if step and (one.alone or _label_of(names, one.workload)))


def work_of(pod: str, made: Made, labels: Mapping[str, str], ends: Ends, generated: str = "") -> Work:
    """Whose work a pod is.

    Labels are of the pod, and annotations that an engine writes; names as in Kubernetes, or as Prometheus has them.
    `ends` are of all names of the export; `generated` is the beginning that its name was generated of ('' = not told).
    """
    kind, name = _owner(made)
    said = _Labels(labels)
    if kind in SERVICES:  # Flink's workers belong to the Deployment of their manager itself
        return Work(kind, name, said.of(ROLES) if made.kind == DEPLOYMENT else "")
    if workflow := said.of((WORKFLOW,)):
        return _of_custom(pod, "Workflow", workflow, said, ends)
    run = said.of(RUNS)
    engine = said.engine()
    owner = "" if kind == "Node" else ends.without(name)
    if engine:
        workload = ends.without(said.of(engine.workload)) or owner or said.of(WORKFLOWS)
        step = said.of(engine.step)
        return Work(kind, workload, _numberless(step) if engine.grouped else _step(step), engine.named_step, run=run)
    if kind in (CRON_JOB, JOB):
        return Work(kind, owner)
    if name and kind != "Node":
        return _of_custom(pod, kind, name, said, ends)
    by_name = ends.of_pod(pod)
    standard, instance = said.of((STANDARD_NAME,)), ends.without(said.of((STANDARD_INSTANCE,)))
    if said.of(WORKFLOWS) or standard:
        whole = standard if not instance or instance == standard else f"{instance}-{standard}"
        whole = instance if standard and standard in instance else whole
        return Work(by_name.kind, ends.without(said.of(WORKFLOWS)) or whole, *_role(said, by_name))
    if by_name.kind:
        return by_name
    beginning = (generated or (pod.removesuffix(f"-{name}") if kind == "Node" else "")).rstrip("-.")
    if beginning:
        return Work("", ends.without(beginning, least=2))
    if app := said.of(PLAIN_APPS):
        return Work("", app, said.of(ROLES))
    return by_name


def _owner(made: Made) -> tuple[str, str]:
    """The kind and name of what a person made: the Deployment of a ReplicaSet, the CronJob of a Job."""
    kind, name = made.kind, made.name
    if kind == "ReplicaSet":
        if made.template_hash and name.endswith(f"-{made.template_hash}"):
            return DEPLOYMENT, name.removesuffix(f"-{made.template_hash}")
        stem = _OF_TEMPLATE.sub("", name)
        return (DEPLOYMENT, stem) if stem != name else (kind, name)
    if kind == "ReplicationController":
        stem = _COUNTED.sub("", name)
        return ("DeploymentConfig", stem) if stem != name else (kind, name)
    if kind == JOB and _CRON_TIME.search(name):
        return CRON_JOB, _CRON_TIME.sub("", name)
    return kind, name


def _of_custom(pod: str, kind: str, name: str, said: _Labels, ends: Ends) -> Work:
    """The work of a pod of another kind of owner: a workflow, a distributed job, a cluster of an operator."""
    workload = ends.without(said.of(WORKFLOWS) or name)
    node = said.of((STEP_NODE,))
    if node:
        step = _step(node.removeprefix(name).lstrip("."))
        return Work(kind, workload, step, named_step=bool(step), run=name)
    base = ends.without(pod)
    rest = base.removeprefix(f"{name}-") if base.startswith(f"{name}-") else ""
    while (shorter := re.sub(rf"(?:^|-)(?:\d{{1,10}}|(?=\d*[a-z])(?=[a-z]*\d){_HASH}{{5}})$", "", rest)) != rest:
        rest = shorter
    step = said.of(ROLES) or rest
    stepwise = kind in STEPWISE and bool(step)
    return Work(kind, workload, step, named_step=stepwise, run=name if stepwise else "")


def _role(said: _Labels, by_name: Work) -> tuple[str, bool]:
    node = said.of((STEP_NODE,))
    if node:
        return _step(node.partition(".")[2]), True
    if by_name.step:
        return by_name.step, by_name.named_step
    return said.of(ROLES), False


def _step(text: str) -> str:
    """A step's name without the number of a try or an item: 'run.fit(0:x)' and '[1].fit' are 'fit'."""
    return _numberless(text).removesuffix(PART_OF_STEP).rpartition(".")[2].strip() or text.strip()


def _numberless(text: str) -> str:
    return re.sub(r"\([^()]*\)|\[\d+\]", "", text.strip())


Key = tuple[str, str, str, str, str]
"""Cluster, namespace, workload, step, container ('' = the pod's only one) of a task."""


@dataclass
class TaskNames:
    """A name for each task: as short as it is the only one of that name.

    A name that was given stays; of tasks that come later and would have it, each is told with what it is of.
    """

    given: dict[Key, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def name(self, keys: Mapping[Key, bool]) -> None:
        """Give names to tasks that have none; `keys` tell which steps' names say enough without the workload's."""
        waiting = [key for key in keys if key not in self.given]
        for level in range(4):
            forms = {key: _form(key, level, named_step=keys[key]) for key in waiting}
            counts, waiting = Counter(forms.values()), []
            for key, name in forms.items():
                if (counts[name] == 1 and name not in self.taken) or level == 3:
                    self.given[key] = name
                else:
                    waiting.append(key)
            self.taken.update(forms[key] for key in forms if key in self.given)


def _form(key: Key, level: int, *, named_step: bool) -> str:
    """A task's name: the step alone, with its workload, its namespace, its cluster."""
    cluster, namespace, workload, step, container = key
    short = (step,) if named_step and step else (workload, step)
    parts = (short, (workload, step), (namespace, workload, step), (cluster, namespace, workload, step))[level]
    return "/".join(filter(None, (*parts, container)))
