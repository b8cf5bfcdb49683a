"""Charges of single runs summed up: by policy, by task, and along the way."""

from __future__ import annotations

import math

import numpy as np

from workprof.memory.replay.charges import Charges
from workprof.memory.replay.intervals import Interval, saving_interval, too_few, wilson
from workprof.memory.replay.protocols import Ordered
from workprof.memory.replay.records import Curve, PolicyFigures, TaskFigures

CURVE_POINTS = 200


def figures_of(name: str, charges: list[Charges], before: list[Charges]) -> PolicyFigures:
    """Return the figures of one policy.

    Args:
        name: of the policy.
        charges: one per seed.
        before: the presets on the first seed's order; empty where the table has no requests.
    """
    first, n = charges[0], len(charges[0].failures)
    wasted = np.array([one.wasted_gb_h.sum() for one in charges])
    failures = np.array([float(one.failures.sum()) for one in charges])
    saving, interval = math.nan, Interval(math.nan, math.nan)
    if before and before[0].charged_gb_h.sum() > 0:
        saving = float(1 - first.charged_gb_h.sum() / before[0].charged_gb_h.sum())
        interval = saving_interval(first.charged_gb_h, before[0].charged_gb_h)
    return PolicyFigures(
        policy=name,
        wasted_gb_h=float(wasted.mean()),
        charged_gb_h=float(np.mean([one.charged_gb_h.sum() for one in charges])),
        failures=float(failures.mean()),
        seconds=float(np.mean([one.seconds for one in charges])),
        n_never_fit=float(np.mean([one.n_never_fit for one in charges])),
        n_given_up=float(np.mean([one.n_given_up for one in charges])),
        failed_share=wilson(float(np.mean([(one.failures > 0).sum() for one in charges])), n),
        saving=interval,
        saving_share=saving,
        wasted_by_seed=wasted,
        failures_by_seed=failures,
        curve=curve_of(first),
    )


def curve_of(charges: Charges) -> Curve:
    """Return cumulative waste against runs seen, at most 200 points, the last one at the end."""
    order = np.argsort(charges.moments, kind="stable")
    summed = np.cumsum(charges.wasted_gb_h[order])
    places = np.unique(np.linspace(0, len(summed) - 1, min(CURVE_POINTS, len(summed))).round().astype(np.int64))
    return Curve(places.astype(np.float64) + 1, summed[places])


def task_figures_of(name: str, charges: list[Charges], ordered: Ordered) -> tuple[TaskFigures, ...]:
    """Return the figures of one policy by task, means over seeds."""
    n_tasks, n_seeds = len(ordered.sequences), len(charges)
    runs = np.bincount(charges[0].task, minlength=n_tasks)
    wasted, charged, failures = (np.zeros(n_tasks) for _ in range(3))
    for one in charges:
        wasted += np.bincount(one.task, one.wasted_gb_h, n_tasks) / n_seeds
        charged += np.bincount(one.task, one.charged_gb_h, n_tasks) / n_seeds
        failures += np.bincount(one.task, one.failures, n_tasks) / n_seeds
    return tuple(
        TaskFigures(
            task=sequence.task,
            policy=name,
            n_runs=int(runs[i]),
            wasted_gb_h=float(wasted[i]),
            charged_gb_h=float(charged[i]),
            failures=float(failures[i]),
            too_few=too_few(len(sequence)),
        )
        for i, sequence in enumerate(ordered.sequences)
    )
