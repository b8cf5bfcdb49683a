"""What tasks request and use: utilisation, classes, groups of requests."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, Positions, numbers_if_present
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.long_table import JobTable, frame_of, parts_of
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import too_few
from workprof.core.units import GB, HOUR_S
from workprof.memory.bin_search import best_edges, needs_of
from workprof.memory.facts import Box, MemoryFacts, box_of, memory_facts
from workprof.memory.usage import (
    NONE_FINISHED,
    Evidence,
    Request,
    Runs,
    Target,
    evidence_of,
    finished_of,
    none_measured,
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


def _amounts(pairs: Pairs, code: Ints | Positions, n: int) -> Floats:
    """(8, n) what a utilisation is made of, of the rows of each code: of parts of a table it adds up."""
    used, requested = pairs.used > 0, pairs.requested > 0
    both = used & requested & ~pairs.lower_bound
    hours = np.where(both & (pairs.hours >= 0), pairs.hours, 0.0)
    use, request = np.where(both, pairs.used, 0.0), np.where(both, pairs.requested, 0.0)
    bounds = requested & used & pairs.lower_bound
    return _added_up(
        code, n, (both, used & ~requested, requested & ~used, bounds, use, request, use * hours, request * hours)
    )


def _added_up(code: Ints | Positions, n: int, values: Sequence[Floats | Bools]) -> Floats:
    """(values, n) sums by code."""
    return np.stack([np.bincount(code, weights=one, minlength=n) for one in values]).astype(np.float64)


def _utilisation(amounts: Floats, resource: str) -> Utilisation:
    """The utilisation of `_amounts` of rows."""
    *counts, used, requested, used_h, requested_h = amounts.tolist()
    n, n_without_request, n_without_use, n_lower_bound = (int(one) for one in counts)
    return Utilisation(
        resource=resource,
        n=n,
        n_without_request=n_without_request,
        n_without_use=n_without_use,
        n_lower_bound=n_lower_bound,
        used=used,
        requested=requested,
        utilisation=used / requested if requested > 0 else float("nan"),
        utilisation_by_time=used_h / requested_h if requested_h > 0 else float("nan"),
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
    judged_gb_h: float  # by those of them whose use is known and no lower bound: `wasted_gb_h` is of it
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
    frames: Mapping[str, JobTable], settings: AssessmentSettings, progress: Progress = silent
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
    jobs = frames["jobs"]
    held = _held_by(jobs, settings)
    order = [code for code in np.argsort(-held.of("wasted_gb_h"), kind="stable").tolist() if len(held.used_bytes[code])]
    classes = _classes(held, order, settings.classes)
    tasks = tuple(_task(held, code, kind) for code, kind in zip(order, classes.classes, strict=True))
    progress(0.3, "Looking for fields that predict memory")
    facts_of = frame_of(frames[DRAWN]) if DRAWN in frames else finished_of(frame_of(jobs))
    few = with_flat_request(runs_of(facts_of, settings.target), settings.request_bytes)
    features = memory_facts(facts_of, few, tuple(task.task for task in tasks))
    whole = held.sums.sum(axis=1)
    memory = _utilisation(whole[OF_MEMORY], MEMORY)
    total = dict(zip(SUMMED, whole[: len(SUMMED)].tolist(), strict=True))
    return Assessment(
        settings=settings,
        n_finished=held.n_finished,
        n_runs=int(total["n"]),
        n_requesting=int(total["n_requesting"]),
        n_judged=memory.n,
        n_lower_bound=int(total["n_lower_bound"]),
        memory=memory,
        cpu=_utilisation(held.cpu, CPU),
        tasks=tasks,
        groups=_request_groups(held),
        classes=classes,
        features=replace(features, n_drawn=len(few)) if DRAWN in frames else features,
        n_too_few=sum(task.too_few for task in tasks),
        left_out=held.left_out,
        evidence=evidence_of(jobs, settings.target) if held.n_finished < len(jobs) else (),
        requested_gb_h=total["requested_gb_h"],
        judged_gb_h=total["judged_gb_h"],
        used_gb_h=total["used_gb_h"],
        wasted_gb_h=total["wasted_gb_h"],
        seconds=time.perf_counter() - started,
    )


SUMMED = (
    *("n", "n_all", "n_requesting", "n_lower_bound", "n_over_request", "hours"),
    *("requested_gb_h", "judged_gb_h", "used_gb_h", "wasted_gb_h"),
)
"""What is added up by task beside the utilisations of memory and CPU; see `Assessment` and `TaskAssessment`."""
OF_MEMORY, OF_CPU = slice(len(SUMMED), len(SUMMED) + 8), slice(len(SUMMED) + 8, len(SUMMED) + 16)


@dataclass(frozen=True)
class _HeldBy:
    """What the finished runs of each task hold."""

    tasks: tuple[str, ...]
    sums: Floats  # (rows, n_tasks) of `SUMMED`, then `_amounts` of memory, then of CPU
    used_bytes: tuple[Floats, ...]  # of each task the uses of its runs
    requested_gb: Floats  # (n_tasks,) the request of most of its runs (the larger of two equally frequent), or NaN
    kinds: pd.DataFrame  # how often each task has each request: `n_all` runs, `n` of them with a use
    n_finished: int
    cpu: Floats  # (8,) `_amounts` of CPU of all finished rows, those without a run time among them
    left_out: dict[str, int]  # reason -> rows

    def of(self, name: str) -> Floats:
        """(n_tasks,) one of `SUMMED`."""
        result: Floats = self.sums[SUMMED.index(name)]
        return result


def _held_by(jobs: JobTable, settings: AssessmentSettings) -> _HeldBy:
    """The same of a table, added up part by part."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    code_of, n_finished, cpu, left_out = dict[str, int](), 0, np.zeros(8), dict[str, int]()
    sums, codes, uses, kinds = [], [], [], []
    for rows in parts_of(jobs):
        part = finished_of(rows)
        if part.empty:
            continue
        n_finished += len(part)
        every = with_flat_request(runs_of(part, settings.target, unmeasured=True), settings.request_bytes)
        left_out = {reason: left_out.get(reason, 0) + n for reason, n in every.left_out.items()}
        of_cpu = cpu_pairs(part)
        cpu += _amounts(of_cpu, np.zeros(len(part), dtype=np.int64), 1)[:, 0]
        code = np.array([code_of.setdefault(name, len(code_of)) for name in every.tasks], dtype=np.int32)[every.task]
        measured = np.isfinite(every.used_bytes)
        sums.append(_sums(every, measured, of_cpu, code, len(code_of)))
        kinds.append(_kinds(every, measured, part, code))
        codes.append(code[measured])
        uses.append(every.used_bytes[measured])
    if not n_finished:
        raise NotEnoughData(NONE_FINISHED)
    code = np.concatenate(codes)
    if not len(code):
        raise none_measured(n_finished, settings.target)
    n, counts = len(code_of), pd.concat(kinds).groupby(KIND, sort=True).sum().reset_index()
    asked = counts[counts["bytes"] >= 0].groupby(KIND[:2])["n_all"].sum().reset_index().sort_values(["n_all", "bytes"])
    requested_gb = np.full(n, np.nan)
    requested_gb[asked["task"]] = asked["bytes"] / GB  # the last of a task stays
    used = np.concatenate(uses)
    codes.clear()
    uses.clear()  # there are as many as rows
    by_task = used[np.argsort(code, kind="stable")]
    return _HeldBy(
        tasks=tuple(code_of),
        sums=np.sum([np.pad(one, ((0, 0), (0, n - one.shape[1]))) for one in sums], axis=0),
        used_bytes=tuple(np.split(by_task, np.cumsum(np.bincount(code, minlength=n))[:-1])),
        requested_gb=requested_gb,
        kinds=counts,
        n_finished=n_finished,
        cpu=cpu,
        left_out=left_out,
    )


def _sums(every: Runs, measured: Bools, of_cpu: Pairs, code: Positions, n: int) -> Floats:
    """(rows, n) see `_HeldBy`."""
    requested = every.requested_bytes > 0
    requested_gb_h = np.where(requested, every.requested_bytes, 0.0) / GB * every.hours
    values = {
        "n": measured,
        "n_all": np.ones(len(every)),
        "n_requesting": requested,
        "n_lower_bound": measured & every.lower_bound,
        "n_over_request": every.used_bytes > every.requested_bytes,
        "hours": every.hours,
        "requested_gb_h": requested_gb_h,
        "judged_gb_h": np.where(measured & ~every.lower_bound, requested_gb_h, 0.0),
        "used_gb_h": np.where(measured, every.used_bytes, 0.0) / GB * every.hours,
        "wasted_gb_h": _idle_gb_h(every),
    }
    own = every.rows
    of_cpu = Pairs(of_cpu.used[own], of_cpu.requested[own], of_cpu.hours[own], of_cpu.lower_bound[own])
    summed = _added_up(code, n, [values[name] for name in SUMMED])
    return np.concatenate([summed, _amounts(memory_pairs(every), code, n), _amounts(of_cpu, code, n)])


KIND = ["task", "bytes", "percent"]
"""Columns of what a run asks for: code of its task, memory and CPU, -1 = none."""


def _kinds(every: Runs, measured: Bools, part: pd.DataFrame, code: Positions) -> pd.DataFrame:
    """How often each task has each request; see `_HeldBy`."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    percent = numbers_if_present(part, "requested_cpu_percent")
    cores = np.full(len(every), -1.0) if percent is None else np.nan_to_num(percent[every.rows], nan=-1.0)
    asked = np.nan_to_num(every.requested_bytes, nan=-1.0)
    table = pd.DataFrame({"task": code, "bytes": asked, "percent": cores, "n": measured.astype(np.int64), "n_all": 1})
    return table.groupby(KIND, sort=True).sum().reset_index()


def _request_groups(held: _HeldBy) -> tuple[RequestGroup, ...]:
    """The groups, the one that wastes most first; a task belongs where most of its runs with a use do.

    Those with the memory that most of its runs request, as the table of tasks has it, where any of them has a use.

    Source: The load-aware provisioning thesis, Table 4; it names the groups (normal, parallel, memory-intensive,
    compute-intensive) by eye, ours are named by their request.
    """
    kinds = held.kinds[held.kinds["n"] > 0]
    same = kinds["bytes"] / GB == held.requested_gb[kinds["task"]]
    kinds = kinds[same | ~same.groupby(kinds["task"]).transform("any")]
    usual = kinds.loc[kinds.groupby("task")["n"].idxmax()]
    groups = []
    for _, own in usual.groupby(["bytes", "percent"], sort=False):
        codes, asked, percent = own["task"].to_numpy(), float(own["bytes"].iloc[0]), float(own["percent"].iloc[0])
        summed = held.sums[:, codes].sum(axis=1)
        memory = _utilisation(summed[OF_MEMORY], MEMORY)
        groups.append(
            RequestGroup(
                requested_gb=asked / GB if asked >= 0 else float("nan"),
                requested_cores=percent / 100 if percent >= 0 else float("nan"),
                tasks=tuple(held.tasks[code] for code in codes.tolist()),
                n_runs=int(summed[SUMMED.index("n")]),
                utilisation=memory.utilisation,
                utilisation_by_time=memory.utilisation_by_time,
                wasted_gb_h=float(summed[SUMMED.index("wasted_gb_h")]),
            )
        )
    return tuple(sorted(groups, key=lambda group: -group.wasted_gb_h))


def most_common(values: Floats) -> float:
    """The most frequent value, the larger of equally frequent ones; NaN without any."""
    kinds, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(kinds[counts == counts.max()].max()) if len(kinds) else float("nan")


def _classes(held: _HeldBy, order: Sequence[int], settings: ClassSettings) -> TaskClasses:
    most = np.array([held.used_bytes[code].max() for code in order])
    return task_classes(most, held.of("hours" if settings.weight == "time" else "n_all")[order], settings)


def _task(held: _HeldBy, code: int, size_class: str) -> TaskAssessment:
    """What is known of a task from its finished runs, those without a use among them."""
    name, used_gb = held.tasks[code], held.used_bytes[code] / GB
    total = dict(zip(SUMMED, held.sums[: len(SUMMED), code].tolist(), strict=True))
    memory, cpu = _utilisation(held.sums[OF_MEMORY, code], MEMORY), _utilisation(held.sums[OF_CPU, code], CPU)
    p50, p95 = (float(value) for value in np.quantile(used_gb, [0.5, 0.95]))
    return TaskAssessment(
        task=name,
        n=len(used_gb),
        requested_gb=held.requested_gb[code],
        peak_gb=PeakSizes(p50, p95, float(used_gb.max())),
        utilisation=memory.utilisation,
        utilisation_by_time=memory.utilisation_by_time,
        cpu_utilisation=cpu.utilisation,
        cpu_utilisation_by_time=cpu.utilisation_by_time,
        requested_gb_h=total["requested_gb_h"],
        judged_gb_h=total["judged_gb_h"],
        wasted_gb_h=total["wasted_gb_h"],
        size_class=size_class,
        too_few=too_few(len(used_gb)),
        n_without_request=memory.n_without_request,
        n_without_use=memory.n_without_use,
        n_lower_bound=int(total["n_lower_bound"]),
        n_over_request=int(total["n_over_request"]),
        box=box_of(name, used_gb),
    )


def with_limits(result: Assessment, settings: ClassSettings) -> Assessment:
    """An assessment with other limits set by hand; automatic ones need the runs themselves."""
    most = np.array([task.peak_gb.max * GB for task in result.tasks])
    classes = task_classes(most, np.ones(len(most)), settings)
    tasks = tuple(replace(task, size_class=name) for task, name in zip(result.tasks, classes.classes, strict=True))
    return replace(result, settings=replace(result.settings, classes=settings), tasks=tasks, classes=classes)
