"""Replay: every policy over the runs as they came, what each would have wasted and failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, latest_of
from workprof.core.parallel import each
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import GB
from workprof.memory.charges import Charges, Foreseen, charge, charge_setting, charges_of, foreseen_kills
from workprof.memory.frontier import (
    MANY_RUNS,
    FrontierPoint,
    PriceChoice,
    TaskChoice,
    best_by_task,
    choices_by_price,
    frontier_point,
    marked,
    settings_at_submission,
    settings_of_ours,
)
from workprof.memory.orders import (
    FINISHED,
    SIZEY,
    SUBMIT_TIME,
    SUBMITTED,
    Ordered,
    finished_order,
    sizey_order,
    submit_order,
)
from workprof.memory.policies import (
    BY_TASK,
    POLICY_WORDS,
    REFIT_EACH,
    Preset,
    Workprof,
    warm_sizing,
)
from workprof.memory.policy_figures import Compared, PolicyFigures, TaskFigures, figures_of, task_figures_of
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.usage import (
    NO_INPUT,
    Evidence,
    Runs,
    evidence_of,
    finished_for_sizes,
    inputs_of,
    killed_for_memory,
    runs_of,
)

if TYPE_CHECKING:
    import pandas as pd


AFTER_THE_RUN = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "read_count", "write_count")
"""Columns that are known only when a run has ended: to size from them is optimistic."""


@dataclass(frozen=True, repr=False)
class ReplayResult(Shown):
    """Every policy on the same runs, through one simulator."""

    settings: ReplaySettings
    protocol: str
    known: str  # from when on a run is known; '' where the protocol says it
    seed: int  # the first one
    target: str  # what was sized for
    input_column: str  # what was sized from, 'none' = nothing
    n_tasks: int  # tasks replayed
    n_test: int  # charged runs of one seed
    n_cold: int  # those of them with too few known runs, which start at their request
    n_history: int  # runs of earlier datasets, of the same tasks, that are known from the start
    used_gb_h: float  # what the charged runs used, mean over seeds: no policy can be charged less
    # of all runs that are known in the end; a failure is priced by the mean of those known by then
    mean_run_gb_h: float
    policies: dict[str, PolicyFigures]  # name -> figures
    tasks: tuple[TaskFigures, ...]  # by task, then policy
    frontier: tuple[FrontierPoint, ...]  # settings of ours, least failures last
    foreseen: Foreseen | None  # how far the chances of a kill hold that `workprof` states; None where it states none
    choices: tuple[PriceChoice, ...]  # price per failure -> best
    best_by_task: tuple[TaskChoice, ...]  # one per task
    left_out: dict[str, int]  # reason -> runs
    # rows that did not finish, by cause; those killed for memory are known to others as a use of at least their limit,
    # except in the published protocol
    evidence: tuple[Evidence, ...]
    notes: tuple[str, ...]  # in words
    seconds: float  # of the whole
    # the verdict and the policies on the verdict's judged runs; None where that was not asked
    compared: Compared | None = None
    rows_left_out: bool = False  # whether the plan leaves some out by decision: here it has them


LATEST_RUNS = 400
"""As the kernels have it; they are loaded late."""


POLICIES_SHARE = 0.6
"""Of the progress; the rest is the frontier."""


def replay(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings, progress: Progress = silent) -> ReplayResult:
    """What every policy would have wasted and failed on the runs of a table.

    `frames["jobs"]` is as `runs_of` takes it; the input's column is there where one is chosen, `finished` and `status`
    where it holds rows that did not finish. Every other frame is an earlier table of the kind, whose runs are known
    from the start.

    Raises:
        ColumnMissing: when the target's or the input's column is absent.
        NotEnoughData: when no run or task is left.
        SettingsError: for an unknown target.
    """
    started = time.perf_counter()
    progress(0.0, "Ordering the runs")
    warm_sizing()
    jobs, earlier = latest_of(frames["jobs"], settings.latest_runs)
    runs, orders = ordered_runs({**frames, "jobs": jobs}, settings)
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    charges = _charge_all(orders, settings, progress, with_requests=with_requests)
    result = _summed(runs, orders, charges, settings, progress)
    return replace(
        result,
        left_out=earlier | result.left_out,
        evidence=evidence_of(jobs, settings.used_target),
        seconds=time.perf_counter() - started,
    )


def _summed(
    runs: Runs, orders: list[Ordered], charges: dict[str, list[Charges]], settings: ReplaySettings, progress: Progress
) -> ReplayResult:
    """The record of all charges, its seconds still to be filled in."""
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    before = [charge(Preset(), ordered, settings.retry) for ordered in orders] if with_requests else []
    policies = {name: figures_of(name, result, before) for name, result in charges.items()}
    tasks = tuple(one for name, result in charges.items() for one in task_figures_of(name, result, orders[0]))
    frontier = _frontier(orders, settings, charges, progress)
    first, mean_run = orders[0], orders[0].mean_run_byte_h
    return ReplayResult(
        settings=settings,
        protocol=settings.protocol,
        known="" if settings.protocol == SIZEY else settings.known,
        seed=settings.used_seeds[0],
        target=settings.used_target,
        input_column=settings.used_input,
        n_tasks=len(first.sequences),
        n_test=len(next(iter(charges.values()))[0].failures),
        n_cold=sum(int(np.searchsorted(one.known_at, first.cold_runs)) for one in first.sequences),
        n_history=sum(one.n_history for one in first.sequences),
        used_gb_h=float(np.mean([_used_gb_h(ordered) for ordered in orders])),
        mean_run_gb_h=mean_run / GB,
        policies=policies,
        tasks=tasks,
        frontier=frontier,
        foreseen=foreseen_kills(first, settings.sizing, settings.retry) if Workprof.name in charges else None,
        choices=choices_by_price(policies.values(), frontier, [p * mean_run / GB for p in settings.prices_runs]),
        best_by_task=best_by_task(tasks, mean_run),
        left_out=dict(runs.left_out) | first.left_out,
        evidence=(),
        notes=_notes(runs, first, settings, with_requests=with_requests),
        seconds=0.0,
    )


def ordered_runs(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings) -> tuple[Runs, list[Ordered]]:
    """The runs of a table as `replay` takes them, and their tasks in its order, one for each seed."""
    runs = runs_of(finished_for_sizes(frames["jobs"], settings.used_target), settings.used_target)
    return runs, _orders(_pool(runs, frames, settings), settings)


@dataclass(frozen=True)
class _Pool:
    """Runs to be sized, then those killed for memory, then those of earlier traces; (n,) inputs; two counts."""

    runs: Runs
    inputs: Floats
    n_own: int
    n_killed: int


def _orders(pool: _Pool, settings: ReplaySettings) -> list[Ordered]:
    if settings.protocol == SIZEY:
        return [sizey_order(pool.runs, pool.inputs, seed) for seed in settings.used_seeds]
    order = finished_order if settings.known == FINISHED else submit_order
    return [order(pool.runs, pool.inputs, settings.cold_runs, pool.n_own, pool.n_killed)]


def _pool(own: Runs, frames: Mapping[str, pd.DataFrame], settings: ReplaySettings) -> _Pool:
    """All runs that a replay knows, see `replay`; the published protocol knows the finished ones alone."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    target = settings.used_target
    jobs = finished_for_sizes(frames["jobs"], target)
    inputs = inputs_of(jobs, own, settings.used_input)
    killed = killed_for_memory(frames["jobs"], target)
    earlier = [
        _renamed(part, jobs)
        for name, frame in frames.items()
        if name != "jobs"
        for part in (finished_for_sizes(frame, target), killed_for_memory(frame, target))
    ]
    others = [one for one in (killed, *earlier) if len(one)]
    if settings.protocol == SIZEY or not others:
        return _Pool(own, inputs, len(own), 0)
    every = pd.concat([jobs, *others], ignore_index=True)
    runs = runs_of(every, target)
    n_killed = int((runs.rows < len(jobs) + len(killed)).sum()) - len(own)
    return _Pool(runs, inputs_of(every, runs, settings.used_input), len(own), n_killed)


def _renamed(earlier: pd.DataFrame, jobs: pd.DataFrame) -> pd.DataFrame:
    """An earlier table; a task that the table lacks is the one task there that ends in the same part."""
    if "task_name" not in jobs.columns or "task_name" not in earlier.columns:
        return earlier
    own = set(jobs["task_name"].dropna())
    last = Counter(name.rpartition(":")[2] for name in own)
    short = {name.rpartition(":")[2]: name for name in own if last[name.rpartition(":")[2]] == 1}

    def known_as(name: object) -> object:
        return name if name in own or not isinstance(name, str) else short.get(name.rpartition(":")[2], name)

    return earlier.assign(task_name=earlier["task_name"].map(known_as))


def _charge_all(
    orders: list[Ordered], settings: ReplaySettings, progress: Progress, *, with_requests: bool
) -> dict[str, list[Charges]]:
    """Policy -> charges by seed; without any request the presets are no policy."""
    names = [name for name in settings.policies if with_requests or name != Preset.name] or [Workprof.name]
    result: dict[str, list[Charges]] = {}
    progress(0.0, f"Replaying {names[0]}")
    for name, charges in zip(names, each(charges_of, (orders, settings), names), strict=True):
        result[name] = charges
        upcoming = names[min(len(result), len(names) - 1)]
        progress(POLICIES_SHARE * len(result) / len(names), f"Replaying {upcoming}")
    return result


def _frontier(
    orders: list[Ordered], settings: ReplaySettings, known: dict[str, list[Charges]], progress: Progress
) -> tuple[FrontierPoint, ...]:
    """The settings of ours; `known` holds the charges of the policy `workprof` where it was replayed."""
    n_runs, known_when = sum(len(one) for one in orders[0].sequences), orders[0].known
    if known_when:
        ours = settings_at_submission(settings.prices_runs)
    else:
        ours = settings_of_ours(settings.prices_runs, n_runs, with_input=settings.used_input != NO_INPUT)
    points = []
    for i, setting in enumerate(ours):
        progress(POLICIES_SHARE + (1 - POLICIES_SHARE) * i / len(ours), "Trading waste against failures")
        held = known.get(Workprof.name) if setting == settings.sizing else None
        charges = held or charge_setting(setting, orders, settings.retry)
        points.append(frontier_point(setting, charges, known_when))
    return marked(points)


def _used_gb_h(ordered: Ordered) -> float:
    return float(sum(one.used_bytes[one.sized] @ one.hours[one.sized] for one in ordered.sequences)) / GB


def _notes(runs: Runs, ordered: Ordered, settings: ReplaySettings, *, with_requests: bool) -> tuple[str, ...]:
    """What a reader must know about the figures, in words."""
    notes = []
    if settings.used_input in AFTER_THE_RUN:
        notes.append(f"{settings.used_input} is known only after a run: every policy that uses it is overstated")
    if not with_requests:
        notes.append("no run has a request: presets are excluded, cold runs hold a whole node")
    elif n_none := int((~np.isfinite(runs.requested_bytes)).sum()):
        notes.append(f"{n_none:,} runs without a request take their task's most common one so far, or a whole node")
    if ordered.n_without_input:
        notes.append(f"{ordered.n_without_input:,} runs without an input take the median of their task's first runs")
    longest = max(len(one) for one in ordered.sequences)
    ours = BY_TASK if ordered.known else Workprof.name
    latest = [POLICY_WORDS[name] for name in (ours, "local_min_waste") if name in {ours, *settings.policies}]
    if longest > LATEST_RUNS:
        notes.append(f"a task has {longest:,} runs: its latest {LATEST_RUNS} alone count for {' and '.join(latest)}")
    refitted = [POLICY_WORDS[name] for name in ("tovar", "min_waste", "linear_offset") if name in settings.policies]
    if longest > REFIT_EACH and refitted:
        notes.append(
            f"beyond {REFIT_EACH:,} runs of a task, {', '.join(refitted)} learn anew only when the known runs have "
            "grown by 2 %"
        )
    if sum(len(one) for one in ordered.sequences) > MANY_RUNS and settings.used_input != NO_INPUT:
        notes.append(f"more than {MANY_RUNS:,} runs: the frontier has fewer settings that look at inputs")
    return (*notes, *_clock_notes(ordered, settings))


def _clock_notes(ordered: Ordered, settings: ReplaySettings) -> list[str]:
    notes = []
    if settings.train and not any(one.n_history for one in ordered.sequences):
        notes.append("the earlier datasets have no run of any task of this one: nothing is known from the start")
    if ordered.n_without_clock and settings.known == FINISHED:
        notes.append(
            f"{ordered.n_without_clock:,} runs have neither a start nor an end: they come last, in the order of the"
            " table, and know all runs before them, finished or not"
        )
    elif ordered.n_without_clock:
        notes.append("some runs have no time of submission: their tasks are replayed in the order of the table")
    if settings.protocol == SUBMIT_TIME and settings.known == SUBMITTED:
        notes.append(
            "a run counts as known from its submission on, though it may not have ended: savings are overstated"
        )
    return notes
