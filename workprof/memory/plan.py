"""A plan: the size that is advised for every task, what it saves, and the probability of a retry."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_if_present
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import FEWEST_RUNS, wilson
from workprof.core.units import GB, MIB, PERCENT_FACTORS
from workprof.memory.assessment import CLASSES, ClassSettings, most_common, task_classes
from workprof.memory.usage import Runs, Target, runs_of, with_killed

if TYPE_CHECKING:
    import pandas as pd


MAX_SEEN, PERCENTILE, LEAST_WASTE, CLASS_SIZES = "max_seen", "percentile", "least_waste", "class_sizes"
RECOMMENDED = "recommended"
RULES = (MAX_SEEN, PERCENTILE, LEAST_WASTE, CLASS_SIZES, RECOMMENDED)

MOST_CANDIDATES = 256

SizeRule = Callable[[Floats, Floats], float]
"""Uses and hours of a history, both (n,) with n > 0, to a size; all bytes."""


def max_seen(used_bytes: Floats, hours: Floats) -> float:
    """Return the largest use."""
    return float(used_bytes.max())


def percentile(share: float) -> SizeRule:
    """Return the rule that takes the use which a share of the runs (0-1) do not exceed."""
    return lambda used_bytes, hours: float(np.quantile(used_bytes, share))


def least_waste(used_bytes: Floats, hours: Floats) -> float:
    """Return the use that is the cheapest size when a failed run comes back with size x attempt, each attempt in full.

    A run of use u costs c x (1 + 2 + .. + a) x hours at a size c, a = u / c rounded up. Runs of no time at all count as
    one each. Of more than `MOST_CANDIDATES` runs, as many quantiles are tried, the largest use among them.
    """
    weights = hours if hours.sum() > 0 else np.ones(len(used_bytes))
    levels = np.linspace(0, 1, min(len(used_bytes), MOST_CANDIDATES))
    candidates = np.unique(np.quantile(used_bytes, levels, method="higher"))
    costs = [size_cost(size, used_bytes, weights) for size in candidates.tolist()]
    return float(candidates[int(np.argmin(costs))])


def size_cost(size: float, used_bytes: Floats, weights: Floats) -> float:
    """Return what (n,) runs cost at a size, with size x attempt after each failure."""
    attempts = np.ceil(used_bytes / size)
    return float((size * attempts * (attempts + 1) / 2 * weights).sum())


NON_PARALLEL_TO_ONE, AS_REQUESTED = "non_parallel_to_one", "keep"

ONE_CORE_PERCENT = PERCENT_FACTORS["cores"]
SHARE_WITHIN = 0.95


def cores_after(cores: Floats, used_percent: Floats, task: Ints, rule: str) -> tuple[Floats, Ints]:
    """Return (n,) cores that runs get, never more than they ask for, and the codes of the tasks that get one.

    Args:
        cores: (n,) requested, NaN where nothing was.
        used_percent: (n,) CPU use, 100 = one core, NaN where it was not measured.
        task: (n,) codes.
        rule: 'keep', or 'non_parallel_to_one'.

    Source:
        The load-aware provisioning thesis, Table 12: non-parallel tasks get one core. It names the parallel tasks by
        what they are; ours is not parallel when 95 % of its measured runs use one core at most (mean over the run).
    """
    changed, single = cores.copy(), []
    for code in np.unique(task) if rule == NON_PARALLEL_TO_ONE else ():
        own = task == code
        measured = used_percent[own & ~np.isnan(used_percent)]
        if len(measured) and np.quantile(measured, SHARE_WITHIN) <= ONE_CORE_PERCENT:
            changed[own] = np.minimum(cores[own], 1.0)
            single.append(code)
    return changed, np.array(single, dtype=np.int64)


N_PARTS = 5
GIVEN, UNCHANGED = "given", "kept"
"""Instead of a rule: a size of one's own; the requests of now, where there is no advice."""

LEAST_RUNS = 10


@settings
class PlanSettings:
    """How the size of every task is chosen; no rule exceeds a request that covers every run with its headroom."""

    rule: Annotated[
        str,
        Setting(
            "How a size is chosen.",
            choices={
                MAX_SEEN: "the largest use seen",
                PERCENTILE: "a percentile of the uses",
                LEAST_WASTE: "the cheapest with its retries",
                CLASS_SIZES: "light and moderate tasks get the size of their class, heavy ones the largest use",
                RECOMMENDED: "as `memory plan` recommends; its sizes as they are, the other tasks keep their requests",
            },
            shown={
                MAX_SEEN: "Largest use",
                PERCENTILE: "Percentile",
                LEAST_WASTE: "Least waste",
                CLASS_SIZES: "Sizes of the classes",
                RECOMMENDED: "As recommended",
            },
            key="memory_rule",
            label="Size of a task",
        ),
    ] = MAX_SEEN
    headroom: Annotated[
        float,
        Setting("Added to the chosen use, as a share of it.", unit="share", least=0, most=3, key="memory_margin"),
    ] = 0.1  # above the past's largest use; bins add less, above each run's own
    percentile: Annotated[
        float,
        Setting("Of the uses, for the rule percentile.", unit="share", above=0, most=1, key="memory_percentile"),
    ] = 0.95
    step_bytes: Annotated[
        float,
        Setting(
            "Sizes are multiples of this, rounded up.",
            unit="bytes",
            least=0,
            form_unit="MiB",
            key="memory_plan_step",
            label="Steps of",
            empty="any size",
        ),
    ] = 64.0 * MIB
    floor_bytes: Annotated[
        float,
        Setting(
            "No task gets less.", unit="bytes", above=0, form_unit="MiB", key="memory_floor", label="Smallest size"
        ),
    ] = 64.0 * MIB
    least_runs: Annotated[
        int,
        Setting(
            "A task with fewer runs keeps its request, if it has one and no run used more.",
            least=1,
            most=10_000,
            key="memory_least_runs",
            label="Runs for advice",
        ),
    ] = LEAST_RUNS
    cap_bytes: Annotated[
        float | None,
        Setting(
            "No task gets more: the memory of a node. Runs that use more can never run.",
            unit="bytes",
            above=0,
            key="memory_plan_cap",
            label="Node cap",
            empty="no limit",
        ),
    ] = None
    sizes_bytes: Annotated[
        dict[str, float],
        Setting(
            "Sizes of your own, TASK=SIZE,...; the rule chooses the others.",
            unit="bytes",
            above=0,
            flag="--sizes",
            key="memory_sizes",
            label="Your own sizes",
        ),
    ] = field(default_factory=dict)
    classes: ClassSettings = field(default_factory=ClassSettings)
    target: Target = "peak_rss"

    def __post_init__(self) -> None:
        if self.cap_bytes is not None and not self.cap_bytes >= self.floor_bytes:
            raise SettingsError(f"cap is {self.cap_bytes} bytes; give at least the floor, {self.floor_bytes:.0f}")


@dataclass(frozen=True)
class NeverTask:
    """A task of which some runs can never run.

    Attributes:
        task: its name.
        n_runs: that use more than the cap; `n_all`: of so many.
        used_gb_h: of these runs.
        largest_gb: the most that one uses.
    """

    task: str
    n_runs: int
    n_all: int
    used_gb_h: float
    largest_gb: float


@dataclass(frozen=True)
class NeverRun:
    """The runs that use more than the cap: no size that there is lets them end.

    Attributes:
        cap_gb: NaN = no cap, and so no such run.
        n_runs: that can never run; `n_all`: of so many.
        used_gb_h: of these runs.
        requested_gb_h: of those that have a request.
        worst_task: of the run that uses most; '' without any.
        largest_gb: what it uses; 0 without any.
        tasks: those that lose the most GB·h first.
    """

    cap_gb: float
    n_runs: int
    n_all: int
    used_gb_h: float
    requested_gb_h: float
    worst_task: str
    largest_gb: float
    tasks: tuple[NeverTask, ...]


def never_run(runs: Runs, cap_bytes: float | None) -> NeverRun:
    """Return which runs can never run under a cap; None = no cap."""
    above = runs.take(runs.used_bytes > (np.inf if cap_bytes is None else cap_bytes))
    used_gb_h = above.used_bytes / GB * above.hours
    tasks = []
    for code in np.unique(above.task).tolist():
        own = above.task == code
        largest = float(above.used_bytes[own].max()) / GB
        n_all = int((runs.task == code).sum())
        tasks.append(NeverTask(runs.tasks[code], int(own.sum()), n_all, float(used_gb_h[own].sum()), largest))
    worst = max(tasks, key=lambda one: one.largest_gb, default=None)
    return NeverRun(
        cap_gb=float("nan") if cap_bytes is None else cap_bytes / GB,
        n_runs=len(above),
        n_all=len(runs),
        used_gb_h=float(used_gb_h.sum()),
        requested_gb_h=float(np.nansum(above.requested_bytes / GB * above.hours)),
        worst_task="" if worst is None else worst.task,
        largest_gb=0.0 if worst is None else worst.largest_gb,
        tasks=tuple(sorted(tasks, key=lambda one: -one.used_gb_h)),
    )


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
        n: runs it rests on: those that fit the cap; where none does, all.
        size_bytes: memory to ask for.
        requested_bytes: what most runs ask for now; NaN without any.
        cores: what most runs ask for now; NaN without any.
        rule: that chose the size; 'given' for a size of one's own, 'kept' where every run keeps its request.
        size_class: 'light', 'moderate' or 'heavy'.
        largest_bytes: the largest use of these.
        risk: retry probability.
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


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Advised sizes.

    Attributes:
        settings: as asked.
        tasks: in the order of the table.
        never: the runs that the cap of the settings rules out.
        left_out: reason -> rows.
        notes: sizes given for tasks that are not there.
        seconds: of the computation.
    """

    settings: PlanSettings
    tasks: tuple[PlannedTask, ...]
    never: NeverRun
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


def plan_of(frames: Mapping[str, pd.DataFrame], settings: PlanSettings, progress: Progress = silent) -> Plan:
    """Return the plan of a table.

    The rule 'recommended' takes the sizes in the settings, where the workbench puts those that are recommended.

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
    jobs = with_killed(frames["jobs"], settings.target)
    runs = runs_of(jobs, settings.target)
    percent = numbers_if_present(jobs, "requested_cpu_percent")
    cores = np.full(len(runs), np.nan) if percent is None else percent[runs.rows] / 100
    tasks = []
    for code, name in enumerate(runs.tasks):
        own = np.flatnonzero(runs.task == code)
        tasks.append(_planned(name, runs.take(own), most_common(cores[own]), settings))
    unknown = sorted(set(settings.sizes_bytes) - set(runs.tasks))
    notes = (f"{len(unknown)} size(s) belong to no task: {', '.join(unknown[:5])}",) if unknown else ()
    return Plan(
        settings=settings,
        tasks=tuple(tasks),
        never=never_run(runs, settings.cap_bytes),
        left_out=dict(runs.left_out),
        notes=notes,
        seconds=time.perf_counter() - started,
    )


def _planned(name: str, everything: Runs, cores: float, settings: PlanSettings) -> PlannedTask:
    """Return the advice for a task from its runs that fit the cap; where none does, it gets the cap, untested."""
    fitting = everything.take(everything.used_bytes <= (np.inf if settings.cap_bytes is None else settings.cap_bytes))
    runs = fitting if len(fitting) else everything
    largest, requested = float(runs.used_bytes.max()), most_common(runs.requested_bytes)
    if name in settings.sizes_bytes:
        rule = settings.rule if settings.rule == RECOMMENDED else GIVEN
        size = settings.sizes_bytes[name]
    elif (settings.rule == RECOMMENDED and requested > 0) or (len(runs) < settings.least_runs and requested >= largest):
        rule, size = UNCHANGED, requested
    else:
        rule, size = settings.rule, advised_bytes(runs.used_bytes, runs.hours, settings)
        if requested >= largest * (1.0 + settings.headroom):  # it has never been too small: nothing asks for more
            size = min(size, requested)
    if settings.cap_bytes is not None:
        size = min(size, settings.cap_bytes)
    return PlannedTask(
        task=name,
        n=len(runs),
        size_bytes=size,
        requested_bytes=requested,
        cores=cores,
        rule=rule,
        size_class=task_classes(np.array([largest]), np.ones(1), settings.classes).classes[0],
        largest_bytes=largest,
        risk=_odds(fitting, size, settings, fixed=rule in (GIVEN, UNCHANGED, RECOMMENDED)),
        too_few=len(runs) < FEWEST_RUNS,
    )


def advised_bytes(used_bytes: Floats, hours: Floats, settings: PlanSettings) -> float:
    """Return the size that a rule chooses from a history of (n,) runs, n > 0; never more than the cap."""
    most = np.inf if settings.cap_bytes is None else settings.cap_bytes
    if settings.rule == CLASS_SIZES:
        classes = task_classes(used_bytes.max(keepdims=True), np.ones(1), settings.classes)
        if classes.classes[0] != CLASSES[-1]:
            return min(classes.light_bytes if classes.classes[0] == CLASSES[0] else classes.moderate_bytes, most)
    rules: dict[str, SizeRule] = {PERCENTILE: percentile(settings.percentile), LEAST_WASTE: least_waste}
    wanted = rules.get(settings.rule, max_seen)(used_bytes, hours) * (1.0 + settings.headroom)
    if settings.step_bytes:
        wanted = float(np.ceil(wanted / settings.step_bytes)) * settings.step_bytes
    return min(max(wanted, settings.floor_bytes), most)


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
    ends = np.linspace(0, len(used), N_PARTS + 1).round().astype(np.int64)
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


MOST_LISTED = 50


@settings
class ViolationSettings:
    """Which plan, and how many of the runs above their size are listed."""

    plan: PlanSettings = field(default_factory=PlanSettings)
    most: Annotated[
        int, Setting("Runs that are listed.", least=1, most=10_000, key="memory_most", label="Runs listed")
    ] = MOST_LISTED


@dataclass(frozen=True, repr=False)
class Violations(Shown):
    """Runs above the size of their task, the ones that are short by most first; ties as in the table.

    Attributes:
        settings: as asked.
        n_above: runs above their size, all of them.
        n_runs: runs with a known use and time.
        row_ids: (n,) of the jobs in their dataset, n at most `settings.most`.
        tasks: (n,) names.
        used_bytes: (n,) what they used.
        size_bytes: (n,) what the plan gives.
        hours: (n,) run time.
    """

    settings: ViolationSettings
    n_above: int
    n_runs: int
    row_ids: Ints
    tasks: tuple[str, ...]
    used_bytes: Floats
    size_bytes: Floats
    hours: Floats

    @property
    def short_bytes(self) -> Floats:
        """(n,) by how much they were short, above 0."""
        return self.used_bytes - self.size_bytes


def violations_of(
    frames: Mapping[str, pd.DataFrame], settings: ViolationSettings, progress: Progress = silent
) -> Violations:
    """Return the worst violations of a plan in the history that it was made from.

    Args:
        frames: 'jobs' -> the table with `row_id`, see `runs_of`.
        settings: the plan, and how many are listed.
        progress: told once.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row has a use of memory and a run time.
    """
    jobs = with_killed(frames["jobs"], settings.plan.target)
    plan = plan_of(frames, settings.plan, progress)
    runs = runs_of(jobs, settings.plan.target)
    given = {one.task: one.size_bytes for one in plan.tasks}
    size = np.array([given[name] for name in runs.tasks])[runs.task]
    short = runs.used_bytes - size
    above = np.flatnonzero(short > 0)
    worst = above[np.argsort(-short[above], kind="stable")][: settings.most]
    return Violations(
        settings=settings,
        n_above=len(above),
        n_runs=len(runs),
        row_ids=jobs["row_id"].to_numpy(dtype=np.int64)[runs.rows[worst]],
        tasks=tuple(runs.tasks[code] for code in runs.task[worst].tolist()),
        used_bytes=runs.used_bytes[worst],
        size_bytes=size[worst],
        hours=runs.hours[worst],
    )
