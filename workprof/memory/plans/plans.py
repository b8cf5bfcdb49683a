"""A plan: the size that is advised for every task, what it saves, and the odds that a run has to be tried again.

The odds are not those of the history that the size was chosen from, which would flatter: the runs are cut into five
parts by time, and each part is tried with a size that was chosen from the parts before it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_if_present
from workprof.errors import SettingsError
from workprof.memory.plans.sizes import (
    CLASS_SIZES,
    LEAST_WASTE,
    MAX_SEEN,
    PERCENTILE,
    RULES,
    SizeRule,
    least_waste,
    max_seen,
    percentile,
)
from workprof.memory.replay.intervals import wilson
from workprof.memory.runs import Runs, runs_of
from workprof.memory.tasks.assessment import FEWEST_RUNS, most_common
from workprof.memory.tasks.task_classes import CLASSES, ClassSettings, task_classes
from workprof.progress import Progress, silent
from workprof.units import MIB

if TYPE_CHECKING:
    import pandas as pd

TURNS = 5
GIVEN, KEPT = "given", "kept"
"""Instead of a rule: a size of one's own; the request of now, where there are too few runs for advice."""

LEAST_RUNS = 10


@dataclass(frozen=True)
class PlanSettings:
    """How sizes are chosen.

    Attributes:
        rule: 'max_seen', 'percentile', 'least_waste', or 'class_sizes' = light and moderate tasks get the size of their
            class, heavy ones the largest use (the thesis' outcome without its model). No rule
            gives more than a request that covers every run with its headroom.
        headroom: added to the chosen use, 0-3.
        percentile: for the rule of that name, 0-1.
        step_bytes: sizes are multiples of this, rounded up; 0 = any size.
        floor_bytes: the smallest size.
        least_runs: a task with fewer runs keeps its request (if it has one, and no run used more): no advice.
        sizes_bytes: task -> size of one's own; the rule chooses the others.
        classes: limits of the classes.
        target: what is sized for, one of `USAGE_COLUMNS`.
    """

    rule: str = MAX_SEEN
    headroom: float = 0.1
    percentile: float = 0.95
    step_bytes: float = 64.0 * MIB
    floor_bytes: float = 64.0 * MIB
    least_runs: int = LEAST_RUNS
    sizes_bytes: dict[str, float] = field(default_factory=dict)
    classes: ClassSettings = field(default_factory=ClassSettings)
    target: str = "peak_rss"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise SettingsError(f"rule is {self.rule!r}; choose from {', '.join(RULES)}")
        if not 0 <= self.headroom <= 3:
            raise SettingsError(f"headroom is {self.headroom}; give a share between 0 and 3, such as 0.1")
        if not 0 < self.percentile <= 1:
            raise SettingsError(f"percentile is {self.percentile}; give a share above 0 and at most 1")
        if not (0 <= self.step_bytes < float("inf") and 0 < self.floor_bytes < float("inf")):
            raise SettingsError("give a step of 0 bytes or more, and a floor above 0 bytes")
        if not 1 <= self.least_runs <= 10_000:
            raise SettingsError(f"least_runs is {self.least_runs}; give a number between 1 and 10,000")
        wrong = {task: size for task, size in self.sizes_bytes.items() if not 0 < size < float("inf")}
        if wrong:
            raise SettingsError(f"sizes must be above 0 bytes, not {wrong}")


@dataclass(frozen=True)
class RetryOdds:
    """How likely a run does not fit its size.

    Attributes:
        n_tested: runs that were tried with a size chosen from earlier runs only (for a given or kept size: all runs).
        n_failed: of these, too large.
        odds: n_failed / n_tested; NaN without a test.
        low, high: 95 % Wilson interval.
        n_above_in_history: runs of the history above the advised size itself.
    """

    n_tested: int
    n_failed: int
    odds: float
    low: float
    high: float
    n_above_in_history: int


@dataclass(frozen=True)
class PlannedTask:
    """The advice for one task.

    Attributes:
        task: its name.
        n: runs it rests on.
        size_bytes: memory to ask for.
        requested_bytes: what most runs ask for now; NaN without any.
        cores: what most runs ask for now; NaN without any.
        rule: that chose the size; 'given' for a size of one's own, 'kept' for the request of now.
        size_class: 'light', 'moderate' or 'heavy'.
        largest_bytes: the largest use.
        risk: odds of a retry.
        too_few: fewer than `FEWEST_RUNS` runs: the size is a guess.
    """

    task: str
    n: int
    size_bytes: float
    requested_bytes: float
    cores: float
    rule: str
    size_class: str
    largest_bytes: float
    risk: RetryOdds
    too_few: bool


@dataclass(frozen=True)
class Plan:
    """Advised sizes.

    Attributes:
        settings: as asked.
        tasks: in the order of the table.
        left_out: reason -> rows.
        notes: sizes given for tasks that are not there.
        seconds: of the computation.
    """

    settings: PlanSettings
    tasks: tuple[PlannedTask, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


def plan_of(frames: Mapping[str, pd.DataFrame], settings: PlanSettings, progress: Progress = silent) -> Plan:
    """Return the plan of a table.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; `requested_cpu_percent` for the cores.
        settings: rule, headroom, step.
        progress: told once.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row has a use of memory and a run time.
    """
    started = time.perf_counter()
    progress(None, "Choosing a size for every task")
    jobs = frames["jobs"]
    runs = runs_of(jobs, settings.target)
    percent = numbers_if_present(jobs, "requested_cpu_percent")
    cores = np.full(len(runs), np.nan) if percent is None else percent[runs.rows] / 100
    tasks = []
    for code, name in enumerate(runs.tasks):
        own = np.flatnonzero(runs.task == code)
        tasks.append(_planned(name, runs.take(own), most_common(cores[own]), settings))
    unknown = sorted(set(settings.sizes_bytes) - set(runs.tasks))
    notes = (f"{len(unknown)} size(s) belong to no task: {', '.join(unknown[:5])}",) if unknown else ()
    return Plan(settings, tuple(tasks), dict(runs.left_out), notes, time.perf_counter() - started)


def _planned(name: str, runs: Runs, cores: float, settings: PlanSettings) -> PlannedTask:
    largest, requested = float(runs.used_bytes.max()), most_common(runs.requested_bytes)
    if name in settings.sizes_bytes:
        rule, size = GIVEN, settings.sizes_bytes[name]
    elif len(runs) < settings.least_runs and requested >= largest:
        rule, size = KEPT, requested
    else:
        rule, size = settings.rule, advised_bytes(runs.used_bytes, runs.hours, settings)
        if requested >= largest * (1.0 + settings.headroom):  # it has never been too small: nothing asks for more
            size = min(size, requested)
    return PlannedTask(
        task=name,
        n=len(runs),
        size_bytes=size,
        requested_bytes=requested,
        cores=cores,
        rule=rule,
        size_class=task_classes(np.array([largest]), np.ones(1), settings.classes).classes[0],
        largest_bytes=largest,
        risk=_odds(runs, size, settings, fixed=rule != settings.rule),
        too_few=len(runs) < FEWEST_RUNS,
    )


def advised_bytes(used_bytes: Floats, hours: Floats, settings: PlanSettings) -> float:
    """Return the size that a rule chooses from a history of (n,) runs, n > 0."""
    if settings.rule == CLASS_SIZES:
        classes = task_classes(used_bytes.max(keepdims=True), np.ones(1), settings.classes)
        if classes.classes[0] != CLASSES[-1]:
            return classes.light_bytes if classes.classes[0] == CLASSES[0] else classes.moderate_bytes
    rules: dict[str, SizeRule] = {PERCENTILE: percentile(settings.percentile), LEAST_WASTE: least_waste}
    wanted = rules.get(settings.rule, max_seen)(used_bytes, hours) * (1.0 + settings.headroom)
    if settings.step_bytes:
        wanted = float(np.ceil(wanted / settings.step_bytes)) * settings.step_bytes
    return max(wanted, settings.floor_bytes)


def _odds(runs: Runs, size: float, settings: PlanSettings, *, fixed: bool) -> RetryOdds:
    order = _in_time(runs)
    used, hours = runs.used_bytes[order], runs.hours[order]
    above = int((used > size).sum())
    tested, failed = (len(used), above) if fixed else _tried_forward(used, hours, settings)
    interval = wilson(failed, tested)
    odds = failed / tested if tested else float("nan")
    return RetryOdds(tested, failed, odds, interval.low, interval.high, above)


def _tried_forward(used: Floats, hours: Floats, settings: PlanSettings) -> tuple[int, int]:
    """Return runs tested and failed when each fifth is sized from all runs before it; the first is never tested."""
    ends = np.linspace(0, len(used), TURNS + 1).round().astype(np.int64)
    tested = failed = 0
    for first, last in itertools.pairwise(ends.tolist()):
        if first in (0, last):
            continue
        size = advised_bytes(used[:first], hours[:first], settings)
        tested += last - first
        failed += int((used[first:last] > size).sum())
    return tested, failed


def _in_time(runs: Runs) -> Ints:
    """Return the runs in order of submission, those without a time last, ties as in the table."""
    return np.argsort(np.nan_to_num(runs.submit_s, nan=np.inf), kind="stable").astype(np.int64)
