"""What tasks request and use: utilisation, classes, groups of requests."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import too_few
from workprof.core.units import GB, HOUR_S
from workprof.memory.bin_search import best_edges, needs_of
from workprof.memory.facts import Box, MemoryFacts, box_of, memory_facts
from workprof.memory.usage import (
    Evidence,
    Request,
    Runs,
    Target,
    evidence_of,
    finished_of,
    rows_by_task,
    runs_of,
    with_flat_request,
)

if TYPE_CHECKING:
    import pandas as pd


LIGHT, MODERATE, HEAVY = "light", "moderate", "heavy"
CLASSES = (LIGHT, MODERATE, HEAVY)

LIGHT_GB, MODERATE_GB = 5.0, 20.0
"""The thesis' sizes of light and moderate tasks (its Table 12)."""

FIXED, AUTO = "fixed", "auto"


@settings
class ClassSettings:
    """Where the classes end."""

    limits: Annotated[
        str,
        Setting(
            "Where light and moderate tasks end.",
            choices={FIXED: "as given", AUTO: "the three sizes that cover all tasks most cheaply"},
            shown={FIXED: "Fixed", AUTO: "Automatic"},
            key="memory_limits",
            label="Limits of the classes",
        ),
    ] = FIXED
    light_gb: Annotated[
        float,
        Setting("Size of light tasks.", unit="GB", above=0, flag="--light", key="memory_light", label="Light up to"),
    ] = LIGHT_GB
    moderate_gb: Annotated[
        float,
        Setting(
            "Size of moderate tasks, not below that of light ones.",
            unit="GB",
            above=0,
            flag="--moderate",
            key="memory_moderate",
            label="Moderate up to",
        ),
    ] = MODERATE_GB
    headroom: Annotated[
        float,
        Setting(
            "Share of its largest use that a task keeps free above it, to be in a class.",
            unit="share",
            least=0,
            most=3,
            flag="--class-headroom",
            key="memory_class_headroom",
            label="Headroom of the classes",
        ),
    ] = 0.05
    weight: Annotated[
        str,
        Setting(
            "How a task counts in the automatic limits.",
            choices={"count": "by its runs", "time": "by their hours"},
            shown={"count": "Number of runs", "time": "Run time"},
            flag="--class-weight",
            key="memory_class_weight",
            label="Weight of the classes",
        ),
    ] = "time"

    def __post_init__(self) -> None:
        if not self.light_gb <= self.moderate_gb:
            raise SettingsError(
                f"light ends at {self.light_gb} GB and moderate at {self.moderate_gb} GB; give two sizes above 0, "
                "the first not above the second"
            )


@dataclass(frozen=True)
class TaskClasses:
    """The class of every task."""

    light_bytes: float  # and `moderate_bytes`: where the classes end
    moderate_bytes: float
    classes: tuple[str, ...]  # (n_tasks,) 'light', 'moderate' or 'heavy'
    counts: dict[str, int]  # class -> tasks


def task_classes(most_bytes: Floats, weights: Floats, settings: ClassSettings) -> TaskClasses:
    """The classes of tasks by their largest use; runs or hours as weights matter to the automatic limits only.

    Source: The load-aware provisioning thesis, section 5.2, which names the classes by eye (Figure 13) and states no
    rule. Ours: light when largest use x (1 + headroom) <= light size, moderate when <= moderate size, else heavy.
    """
    needed = most_bytes * (1.0 + settings.headroom)
    light, moderate = settings.light_gb * GB, settings.moderate_gb * GB
    if settings.limits == AUTO and len(needed):
        light, moderate = _cheapest_limits(needed, weights)
    codes = np.searchsorted(np.array([light, moderate]), needed)
    classes = tuple(CLASSES[code] for code in codes)
    return TaskClasses(light, moderate, classes, {name: classes.count(name) for name in CLASSES})


def _cheapest_limits(needed: Floats, weights: Floats) -> tuple[float, float]:
    """The two lower of the three cheapest sizes; with fewer sizes than three there are no heavy tasks."""
    counted = weights if weights.sum() > 0 else np.ones(len(needed))
    edges = best_edges(needs_of(needed, counted), len(CLASSES))[-1].edges_bytes
    return float(edges[0]), float(edges[min(1, len(edges) - 1)])


MEMORY, CPU = "memory", "cpu"


@dataclass(frozen=True)
class Utilisation:
    """Use over request of one resource."""

    resource: str  # 'memory' (bytes) or 'cpu' (percent, 100 = one core)
    n: int  # runs with a use and a request
    n_without_request: int  # runs with a use only; they are in no sum
    n_without_use: int  # rows with a request only
    n_lower_bound: int  # rows with both, whose use is only known to be at least so large: they are in no sum
    used: float  # sum of the uses of the n runs
    requested: float  # sum of their requests
    utilisation: float  # used / requested; NaN without a run. Above 1 where runs use more than they ask for.
    utilisation_by_time: float  # the same, runs weighted by their hours; NaN when no run took time


@dataclass(frozen=True)
class Pairs:
    """Uses and requests, NaN where there is none, hours, and whether a use is only a lower bound; all (n,)."""

    used: Floats
    requested: Floats
    hours: Floats
    lower_bound: Bools

    def take(self, chosen: Bools | Ints) -> Pairs:
        """Some of the rows."""
        return Pairs(self.used[chosen], self.requested[chosen], self.hours[chosen], self.lower_bound[chosen])


def utilisation_of(pairs: Pairs, resource: str) -> Utilisation:
    """The utilisation of rows.

    Source: The load-aware provisioning thesis, Table 5 (by count, from the largest use of every run); by time is ours.
    """
    used, requested = pairs.used > 0, pairs.requested > 0
    both = used & requested & ~pairs.lower_bound
    hours = np.where(pairs.hours >= 0, pairs.hours, 0.0)[both]
    use, request = pairs.used[both], pairs.requested[both]
    return Utilisation(
        resource=resource,
        n=int(both.sum()),
        n_without_request=int((used & ~requested).sum()),
        n_without_use=int((requested & ~used).sum()),
        n_lower_bound=int((requested & used & pairs.lower_bound).sum()),
        used=float(use.sum()),
        requested=float(request.sum()),
        utilisation=_ratio(use, request, np.ones(len(use))),
        utilisation_by_time=_ratio(use, request, hours),
    )


def memory_pairs(runs: Runs) -> Pairs:
    """Use and request of memory, in bytes."""
    return Pairs(runs.used_bytes, runs.requested_bytes, runs.hours, runs.lower_bound)


def cpu_pairs(jobs: pd.DataFrame) -> Pairs:
    """Use and request of CPU of every row, in percent; NaN throughout where the table has no such column.

    Traces keep the mean use over a run where the thesis has the largest sample, so ours is the lower figure.
    """
    nothing = np.full(len(jobs), np.nan)
    columns = [numbers_if_present(jobs, name) for name in ("cpu_usage_percent", "requested_cpu_percent", "duration_s")]
    used, requested, seconds = (nothing if column is None else column for column in columns)
    return Pairs(used, requested, seconds / HOUR_S, np.zeros(len(jobs), dtype=bool))


def _ratio(used: Floats, requested: Floats, weights: Floats) -> float:
    below = float((requested * weights).sum())
    return float((used * weights).sum()) / below if below > 0 else float("nan")


@dataclass(frozen=True)
class RequestGroup:
    """Tasks that ask for the same."""

    requested_gb: float  # memory, NaN where tasks ask for none
    requested_cores: float  # NaN likewise
    tasks: tuple[str, ...]  # their names, in order of the table
    n_runs: int  # of these tasks, with another request among them where a task changed it
    utilisation: float  # of memory, see `Utilisation`
    utilisation_by_time: float  # likewise
    wasted_gb_h: float  # requested, not used


def request_groups(jobs: pd.DataFrame, runs: Runs) -> tuple[RequestGroup, ...]:
    """The groups, the one that wastes most first; a task belongs where most of its runs do.

    Source: The load-aware provisioning thesis, Table 4; it names the groups (normal, parallel, memory-intensive,
    compute-intensive) by eye, ours are named by their request.
    """
    percent = numbers_if_present(jobs, "requested_cpu_percent")
    cores = np.full(len(runs), np.nan) if percent is None else percent[runs.rows] / 100
    members: dict[tuple[float, float], list[Ints]] = {}
    for own in rows_by_task(runs):
        requests = np.nan_to_num(runs.requested_bytes[own] / GB, nan=-1.0) + 1j * np.nan_to_num(cores[own], nan=-1.0)
        kinds, counts = np.unique(requests, return_counts=True)
        most = kinds[counts.argmax()]
        members.setdefault((float(most.real), float(most.imag)), []).append(own)
    groups = [_group(runs, request, tasks) for request, tasks in members.items()]
    return tuple(sorted(groups, key=lambda group: -group.wasted_gb_h))


def _group(runs: Runs, request: tuple[float, float], tasks: list[Ints]) -> RequestGroup:
    own = runs.take(np.sort(np.concatenate(tasks)))
    result = utilisation_of(memory_pairs(own), MEMORY)
    memory, cores = (value if value >= 0 else float("nan") for value in request)
    names = tuple(runs.tasks[runs.task[rows[0]]] for rows in tasks)
    return RequestGroup(
        memory, cores, names, len(own), result.utilisation, result.utilisation_by_time, wasted_gb_h(own)
    )


def wasted_gb_h(runs: Runs) -> float:
    """GB·h requested and not used.

    Runs without a request or a use, that use more, or whose use is only a lower bound, waste nothing.
    """
    return float(_idle_gb_h(runs).sum())


def _idle_gb_h(runs: Runs) -> Floats:
    spare = np.where(runs.lower_bound, 0.0, np.nan_to_num(runs.requested_bytes - runs.used_bytes, nan=0.0)) / GB
    return np.maximum(spare, 0.0) * runs.hours


DRAWN = "drawn"


@settings
class AssessmentSettings:
    """What counts as use, and where light, moderate and heavy end."""

    target: Target = "peak_rss"
    request_bytes: Request = 0.0
    classes: ClassSettings = field(default_factory=ClassSettings)


@dataclass(frozen=True)
class PeakSizes:
    """What a task's runs used, GB: median, 95th percentile, largest."""

    p50: float
    p95: float
    max: float


@dataclass(frozen=True)
class TaskAssessment:
    """One task."""

    task: str
    n: int  # runs with a use of memory and a run time
    requested_gb: float  # the request of most of its runs (the larger of two equally frequent); NaN without any
    peak_gb: PeakSizes  # what they used
    utilisation: float  # use / request of memory; NaN without a request
    utilisation_by_time: float  # the same, weighted by hours
    cpu_utilisation: float  # use / request of CPU
    cpu_utilisation_by_time: float  # the same, weighted by hours
    requested_gb_h: float  # GB·h requested, by its finished runs with a request and a run time, measured or not
    wasted_gb_h: float  # GB·h requested and not used, by those with a use
    size_class: str  # 'light', 'moderate' or 'heavy'
    too_few: bool  # whether it has too few runs to advise on
    n_without_request: int  # runs without a request
    n_without_use: int  # finished runs with a request and a run time whose use is not known; they are not in `n`
    n_lower_bound: int  # runs whose use is only known to be at least so large
    n_over_request: int  # runs that used more than they requested
    box: Box  # for a box plot


@dataclass(frozen=True, repr=False)
class Assessment(Shown):
    """The assessment of a table."""

    settings: AssessmentSettings
    n_finished: int  # rows that finished, which every figure is of
    n_runs: int  # of them, runs with a use of memory and a run time: those of `used_gb_h`
    n_requesting: int  # of them, runs with a request and a run time: those of `requested_gb_h`
    n_judged: int  # of them, runs with both, whose use is no lower bound: those of `wasted_gb_h`, and of `memory`
    n_lower_bound: int  # of `n_runs`, those whose use is only known to be at least so large
    memory: Utilisation  # utilisation of the whole
    cpu: Utilisation  # likewise; its n is 0 where the table has no CPU columns
    tasks: tuple[TaskAssessment, ...]  # those that waste most first
    groups: tuple[RequestGroup, ...]  # tasks by what they ask for, those that waste most first
    classes: TaskClasses  # limits and counts; its classes are in the order of `tasks`
    features: MemoryFacts  # which facts go with the use of memory
    n_too_few: int  # tasks with too few runs
    left_out: dict[str, int]  # reason -> rows of the table
    evidence: tuple[Evidence, ...]  # rows that did not finish, by cause; they are in no other figure
    requested_gb_h: float  # and `used_gb_h`, `wasted_gb_h`: of the runs that the counts above name
    judged_gb_h: float  # requested by the `n_judged` runs, of which `wasted_gb_h` is
    used_gb_h: float
    wasted_gb_h: float
    seconds: float


def assessment_of(
    frames: Mapping[str, pd.DataFrame], settings: AssessmentSettings, progress: Progress = silent
) -> Assessment:
    """The assessment of a table.

    Every further column of `frames["jobs"]`, see `runs_of`, is looked at for the facts; `finished` is there where it
    holds rows that did not finish. Of a large table, 'drawn' has some of its finished rows with every column, which the
    facts are then of.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row has a use of memory and a run time.
    """
    started = time.perf_counter()
    progress(0.0, "Measuring how much is used")
    jobs = finished_of(frames["jobs"])
    every = with_flat_request(runs_of(jobs, settings.target, unmeasured=True), settings.request_bytes)
    nothing = np.full(len(every), np.nan)  # what no figure is of
    every = replace(every, labels={}, submit_s=nothing, start_s=nothing, end_s=nothing)
    runs = _measured(every)
    cpu = cpu_pairs(jobs)
    rows = [own for own in rows_by_task(every) if not np.isnan(every.used_bytes[own]).all()]
    idle = _idle_gb_h(every)
    rows.sort(key=lambda own: -float(idle[own].sum()))
    classes = _classes(every, rows, settings.classes)
    tasks = tuple(
        _task(every.take(own), cpu.take(every.rows[own]), kind) for own, kind in zip(rows, classes.classes, strict=True)
    )
    whole = utilisation_of(memory_pairs(every), MEMORY)
    progress(0.3, "Looking for fields that predict memory")
    order = tuple(task.task for task in tasks)
    if DRAWN in frames:
        few = with_flat_request(runs_of(frames[DRAWN], settings.target), settings.request_bytes)
        features = replace(memory_facts(frames[DRAWN], few, order), n_drawn=len(few))
    else:
        features = memory_facts(jobs, runs, order)
    return Assessment(
        settings=settings,
        n_finished=len(jobs),
        n_runs=len(runs),
        n_requesting=int((every.requested_bytes > 0).sum()),
        n_judged=whole.n,
        n_lower_bound=int(runs.lower_bound.sum()),
        memory=whole,
        cpu=utilisation_of(cpu, CPU),
        tasks=tasks,
        groups=request_groups(jobs, runs),
        classes=classes,
        features=features,
        n_too_few=sum(task.too_few for task in tasks),
        left_out=dict(runs.left_out),
        evidence=evidence_of(frames["jobs"], settings.target),
        requested_gb_h=_requested_gb_h(every),
        judged_gb_h=_requested_gb_h(runs.take(~runs.lower_bound)),
        used_gb_h=float(runs.used_bytes @ runs.hours) / GB,
        wasted_gb_h=wasted_gb_h(runs),
        seconds=time.perf_counter() - started,
    )


def _measured(runs: Runs) -> Runs:
    known = ~np.isnan(runs.used_bytes)
    return runs if known.all() else runs.take(known)


def most_common(values: Floats) -> float:
    """The most frequent value, the larger of equally frequent ones; NaN without any."""
    kinds, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(kinds[counts == counts.max()].max()) if len(kinds) else float("nan")


def _classes(runs: Runs, rows: list[Ints], settings: ClassSettings) -> TaskClasses:
    most = np.array([np.nanmax(runs.used_bytes[own]) for own in rows])
    weights = [float(runs.hours[own].sum()) if settings.weight == "time" else float(len(own)) for own in rows]
    return task_classes(most, np.array(weights), settings)


def _requested_gb_h(runs: Runs) -> float:
    return float((np.nan_to_num(runs.requested_bytes, nan=0.0) / GB * runs.hours).sum())


def _task(every: Runs, of_cpu: Pairs, size_class: str) -> TaskAssessment:
    """What is known of a task from its finished runs, those without a use among them."""
    runs = _measured(every)
    name, used_gb = runs.tasks[runs.task[0]], runs.used_bytes / GB
    memory, cpu = utilisation_of(memory_pairs(every), MEMORY), utilisation_of(of_cpu, CPU)
    p50, p95 = (float(value) for value in np.quantile(used_gb, [0.5, 0.95]))
    return TaskAssessment(
        task=name,
        n=len(runs),
        requested_gb=most_common(every.requested_bytes) / GB,
        peak_gb=PeakSizes(p50, p95, float(used_gb.max())),
        utilisation=memory.utilisation,
        utilisation_by_time=memory.utilisation_by_time,
        cpu_utilisation=cpu.utilisation,
        cpu_utilisation_by_time=cpu.utilisation_by_time,
        requested_gb_h=_requested_gb_h(every),
        wasted_gb_h=wasted_gb_h(runs),
        size_class=size_class,
        too_few=too_few(len(runs)),
        n_without_request=memory.n_without_request,
        n_without_use=memory.n_without_use,
        n_lower_bound=int(runs.lower_bound.sum()),
        n_over_request=int((runs.used_bytes > runs.requested_bytes).sum()),
        box=box_of(name, used_gb),
    )


def with_limits(result: Assessment, settings: ClassSettings) -> Assessment:
    """An assessment with other limits set by hand; automatic ones need the runs themselves."""
    most = np.array([task.peak_gb.max * GB for task in result.tasks])
    classes = task_classes(most, np.ones(len(most)), settings)
    tasks = tuple(replace(task, size_class=name) for task, name in zip(result.tasks, classes.classes, strict=True))
    return replace(result, settings=replace(result.settings, classes=settings), tasks=tasks, classes=classes)
