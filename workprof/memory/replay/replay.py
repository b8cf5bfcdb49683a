"""Every policy run by run through one simulator: waste, failures, and how they trade."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing
from workprof.memory.policies.catalogue import policy_named
from workprof.memory.policies.preset import Preset
from workprof.memory.policies.sequence import REFIT_EACH
from workprof.memory.policies.sizing import Workprof, warm_sizing
from workprof.memory.replay.charges import Charges, charge
from workprof.memory.replay.frontier import (
    MANY_RUNS,
    best_by_task,
    charge_setting,
    choices_by_price,
    frontier_point,
    marked,
    settings_of_ours,
)
from workprof.memory.replay.protocols import SIZEY, Ordered, sizey_order, submit_order
from workprof.memory.replay.records import FrontierPoint, ReplayResult
from workprof.memory.replay.settings import AFTER_THE_RUN, NO_INPUT, ReplaySettings
from workprof.memory.replay.summary import figures_of, task_figures_of
from workprof.memory.runs import Runs, runs_of
from workprof.progress import Progress, silent
from workprof.units import GB

if TYPE_CHECKING:
    import pandas as pd

LATEST_RUNS = 400
"""As the kernels have it; they are loaded late."""

POLICIES_SHARE = 0.6
"""Of the progress; the rest is the frontier."""


def replay(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings, progress: Progress = silent) -> ReplayResult:
    """Return what every policy would have wasted and failed on the runs of a table.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; the input's column where one is asked for.
        settings: policies, protocol, target, input, retries.
        progress: told each policy and setting.

    Raises:
        ColumnMissing: when the target's or the input's column is absent.
        NotEnoughData: when no run or task is left.
        SettingsError: for an unknown target.
    """
    started = time.perf_counter()
    progress(0.0, "Ordering the runs")
    warm_sizing()
    runs = runs_of(frames["jobs"], settings.used_target)
    orders = _orders(runs, _inputs(frames["jobs"], runs, settings), settings)
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    charges = _charge_all(orders, settings, progress, with_requests=with_requests)
    found = _summed(runs, orders, charges, settings, progress)
    return replace(found, seconds=time.perf_counter() - started)


def _summed(
    runs: Runs, orders: list[Ordered], charges: dict[str, list[Charges]], settings: ReplaySettings, progress: Progress
) -> ReplayResult:
    """Return the record of all charges, its seconds still to be filled in."""
    with_requests = bool(np.isfinite(runs.requested_bytes).any())
    before = [charge(Preset(), ordered, settings.retry) for ordered in orders[:1]] if with_requests else []
    policies = {name: figures_of(name, found, before) for name, found in charges.items()}
    tasks = tuple(one for name, found in charges.items() for one in task_figures_of(name, found, orders[0]))
    frontier = _frontier(orders, settings, charges, progress)
    first, mean_run = orders[0], orders[0].sequences[0].mean_run_byte_h
    return ReplayResult(
        settings=settings,
        protocol=settings.protocol,
        seed=settings.used_seeds[0],
        target=settings.used_target,
        input_column=settings.used_input,
        n_tasks=len(first.sequences),
        n_test=len(next(iter(charges.values()))[0].failures),
        n_cold=sum(one.n_known for one in first.sequences) if first.cold else 0,
        used_gb_h=float(np.mean([_used_gb_h(ordered) for ordered in orders])),
        mean_run_gb_h=mean_run / GB,
        policies=policies,
        tasks=tasks,
        frontier=frontier,
        choices=choices_by_price(policies.values(), frontier, [p * mean_run / GB for p in settings.prices_runs]),
        best_by_task=best_by_task(tasks, mean_run),
        left_out=dict(runs.left_out) | first.left_out,
        notes=_notes(runs, first, settings, with_requests=with_requests),
        seconds=0.0,
    )


def _inputs(jobs: pd.DataFrame, runs: Runs, settings: ReplaySettings) -> Floats:
    """Return (n,) inputs of the runs, 0 where none is asked for, NaN where one is missing."""
    name = settings.used_input
    if name == NO_INPUT:
        return np.zeros(len(runs))
    if name not in jobs.columns:
        raise ColumnMissing(f"the table has no column {name} to size from; choose another input, or none")
    values = numbers_of(jobs, name)[runs.rows]
    if not np.isfinite(values).any():
        raise ColumnMissing(f"the column {name} has no numbers to size from; choose another input, or none")
    return values


def _orders(runs: Runs, inputs: Floats, settings: ReplaySettings) -> list[Ordered]:
    if settings.protocol == SIZEY:
        return [sizey_order(runs, inputs, seed) for seed in settings.used_seeds]
    return [submit_order(runs, inputs, settings.cold_runs)]


def _charge_all(
    orders: list[Ordered], settings: ReplaySettings, progress: Progress, *, with_requests: bool
) -> dict[str, list[Charges]]:
    """Return policy -> charges by seed; without any request the presets are no policy."""
    names = [name for name in settings.policies if with_requests or name != Preset.name] or [Workprof.name]
    found = {}
    for i, name in enumerate(names):
        progress(POLICIES_SHARE * i / len(names), f"Replaying {name}")
        policy = Workprof(settings.sizing) if name == Workprof.name else policy_named(name)
        found[name] = [charge(policy, ordered, settings.retry) for ordered in orders]
    return found


def _frontier(
    orders: list[Ordered], settings: ReplaySettings, known: dict[str, list[Charges]], progress: Progress
) -> tuple[FrontierPoint, ...]:
    """Return the settings of ours; `known` holds the charges of the policy `workprof` where it was replayed."""
    n_runs = sum(len(one) for one in orders[0].sequences)
    ours = settings_of_ours(settings.prices_runs, n_runs, with_input=settings.used_input != NO_INPUT)
    points = []
    for i, setting in enumerate(ours):
        progress(POLICIES_SHARE + (1 - POLICIES_SHARE) * i / len(ours), "Trading waste against failures")
        held = known.get(Workprof.name) if setting == settings.sizing else None
        points.append(frontier_point(setting, held or charge_setting(setting, orders, settings.retry)))
    return marked(points)


def _used_gb_h(ordered: Ordered) -> float:
    starts = [0 if ordered.cold else one.n_known for one in ordered.sequences]
    used = [one.used_bytes[i:] @ one.hours[i:] for one, i in zip(ordered.sequences, starts, strict=True)]
    return float(sum(used)) / GB


def _notes(runs: Runs, ordered: Ordered, settings: ReplaySettings, *, with_requests: bool) -> tuple[str, ...]:
    """Return what a reader must know about the figures, in words."""
    notes = []
    if settings.used_input in AFTER_THE_RUN:
        notes.append(f"{settings.used_input} is known only after a run: every policy that looks at it is flattered")
    if not with_requests:
        notes.append("no run has a request: presets are left out, cold runs are charged a whole node")
    elif n_none := int((~np.isfinite(runs.requested_bytes)).sum()):
        notes.append(f"{n_none:,} runs without a request take their task's most common one, or a whole node")
    if ordered.n_without_input:
        notes.append(f"{ordered.n_without_input:,} runs without an input take the median of their task's first runs")
    longest = max(len(one) for one in ordered.sequences)
    if longest > LATEST_RUNS:
        notes.append(f"a task has {longest:,} runs: workprof and local_min_waste look at its latest {LATEST_RUNS}")
    if longest > REFIT_EACH:
        notes.append(
            "beyond 1,000 runs of a task, tovar, min_waste and linear_offset are fitted anew when the"
            " known runs have grown by 2 %"
        )
    if sum(len(one) for one in ordered.sequences) > MANY_RUNS and settings.used_input != NO_INPUT:
        notes.append(f"more than {MANY_RUNS:,} runs: the frontier has fewer settings that look at inputs")
    if ordered.cold and not np.isfinite(runs.submit_s).all():
        notes.append("some runs have no time of submission: their tasks are replayed in the order of the table")
    return tuple(notes)
