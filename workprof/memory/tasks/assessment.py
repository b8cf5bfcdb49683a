"""The state of a cluster's memory: what tasks ask for and use, which waste most, which classes they fall into."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.memory.flat_requests import with_flat_request
from workprof.memory.runs import Runs, runs_of
from workprof.memory.tasks.boxes import Box, box_of
from workprof.memory.tasks.facts import MemoryFacts, memory_facts
from workprof.memory.tasks.request_groups import RequestGroup, request_groups, wasted_gb_h
from workprof.memory.tasks.task_classes import ClassSettings, TaskClasses, task_classes
from workprof.memory.tasks.utilisation import CPU, MEMORY, Utilisation, cpu_pairs, memory_pairs, utilisation_of
from workprof.progress import Progress, silent
from workprof.units import GB

if TYPE_CHECKING:
    import pandas as pd

FEWEST_RUNS = 34
"""Below this a task has too few runs for advice (the published harness leaves such tasks out, memory.md 1.1)."""


@dataclass(frozen=True)
class AssessmentSettings:
    """Settings of an assessment.

    Attributes:
        target: what counts as use, one of `USAGE_COLUMNS`.
        request_bytes: request of runs that have none in the table; 0 = they stay without one.
        classes: where light, moderate and heavy end.
    """

    target: str = "peak_rss"
    request_bytes: float = 0.0
    classes: ClassSettings = field(default_factory=ClassSettings)


@dataclass(frozen=True)
class PeakSizes:
    """What a task's runs used, GB: median, 95th percentile, largest."""

    p50: float
    p95: float
    max: float


@dataclass(frozen=True)
class TaskAssessment:
    """One task.

    Attributes:
        task: its name.
        n: runs with a use of memory and a run time.
        requested_gb: the request of most of its runs (the larger of two equally frequent); NaN without any.
        peak_gb: what they used.
        utilisation: use / request of memory; NaN without a request.
        utilisation_by_time: the same, weighted by hours.
        cpu_utilisation: use / request of CPU.
        cpu_utilisation_by_time: the same, weighted by hours.
        requested_gb_h: GB·h asked for.
        wasted_gb_h: GB·h asked for and not used.
        size_class: 'light', 'moderate' or 'heavy'.
        too_few: whether it has fewer than `FEWEST_RUNS` runs.
        n_without_request: runs without a request.
        n_over_request: runs that used more than they asked for.
        box: for a box plot.
    """

    task: str
    n: int
    requested_gb: float
    peak_gb: PeakSizes
    utilisation: float
    utilisation_by_time: float
    cpu_utilisation: float
    cpu_utilisation_by_time: float
    requested_gb_h: float
    wasted_gb_h: float
    size_class: str
    too_few: bool
    n_without_request: int
    n_over_request: int
    box: Box


@dataclass(frozen=True)
class Assessment:
    """The assessment of a table.

    Attributes:
        settings: as asked.
        n_runs: runs with a use of memory and a run time.
        memory: utilisation of the whole.
        cpu: likewise; its n is 0 where the table has no CPU columns.
        tasks: those that waste most first.
        groups: tasks by what they ask for, those that waste most first.
        classes: limits and counts; its classes are in the order of `tasks`.
        features: which facts go with the use of memory.
        n_too_few: tasks with too few runs.
        left_out: reason -> rows of the table.
        seconds: of the computation.
    """

    settings: AssessmentSettings
    n_runs: int
    memory: Utilisation
    cpu: Utilisation
    tasks: tuple[TaskAssessment, ...]
    groups: tuple[RequestGroup, ...]
    classes: TaskClasses
    features: MemoryFacts
    n_too_few: int
    left_out: dict[str, int]
    seconds: float


def assessment_of(
    frames: Mapping[str, pd.DataFrame], settings: AssessmentSettings, progress: Progress = silent
) -> Assessment:
    """Return the assessment of a table.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; every further column is looked at for the facts.
        settings: target, classes.
        progress: told at the start of each part.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row has a use of memory and a run time.
    """
    started = time.perf_counter()
    progress(0.0, "Measuring how much is used")
    jobs = frames["jobs"]
    runs = with_flat_request(runs_of(jobs, settings.target), settings.request_bytes)
    parts = [(name, runs.take(np.flatnonzero(runs.task == code))) for code, name in enumerate(runs.tasks)]
    parts.sort(key=lambda part: -wasted_gb_h(part[1]))
    classes = _classes([part for _, part in parts], settings.classes)
    tasks = tuple(_task(jobs, *part, kind) for part, kind in zip(parts, classes.classes, strict=True))
    progress(0.3, "Looking for facts that go with memory")
    features = memory_facts(jobs, runs, tuple(task.task for task in tasks))
    return Assessment(
        settings=settings,
        n_runs=len(runs),
        memory=utilisation_of(memory_pairs(runs), MEMORY),
        cpu=utilisation_of(cpu_pairs(jobs), CPU),
        tasks=tasks,
        groups=request_groups(jobs, runs),
        classes=classes,
        features=features,
        n_too_few=sum(task.too_few for task in tasks),
        left_out=dict(runs.left_out),
        seconds=time.perf_counter() - started,
    )


def most_common(values: Floats) -> float:
    """Return the most frequent value, the larger of equally frequent ones; NaN without any."""
    kinds, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return float(kinds[counts == counts.max()].max()) if len(kinds) else float("nan")


def _classes(parts: list[Runs], settings: ClassSettings) -> TaskClasses:
    most = np.array([part.used_bytes.max() for part in parts])
    weights = [float(part.hours.sum()) if settings.weight == "time" else float(len(part)) for part in parts]
    return task_classes(most, np.array(weights), settings)


def _task(jobs: pd.DataFrame, name: str, runs: Runs, size_class: str) -> TaskAssessment:
    used_gb = runs.used_bytes / GB
    memory = utilisation_of(memory_pairs(runs), MEMORY)
    cpu = utilisation_of(cpu_pairs(jobs.iloc[runs.rows]), CPU)
    p50, p95 = (float(value) for value in np.quantile(used_gb, [0.5, 0.95]))
    return TaskAssessment(
        task=name,
        n=len(runs),
        requested_gb=most_common(runs.requested_bytes) / GB,
        peak_gb=PeakSizes(p50, p95, float(used_gb.max())),
        utilisation=memory.utilisation,
        utilisation_by_time=memory.utilisation_by_time,
        cpu_utilisation=cpu.utilisation,
        cpu_utilisation_by_time=cpu.utilisation_by_time,
        requested_gb_h=float((np.nan_to_num(runs.requested_bytes, nan=0.0) / GB * runs.hours).sum()),
        wasted_gb_h=wasted_gb_h(runs),
        size_class=size_class,
        too_few=len(runs) < FEWEST_RUNS,
        n_without_request=memory.n_without_request,
        n_over_request=int((runs.used_bytes > runs.requested_bytes).sum()),
        box=box_of(name, used_gb),
    )
