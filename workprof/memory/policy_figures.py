"""The figures of one policy on all runs and on each task."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.stats import Interval, saving_interval, too_few, wilson
from workprof.memory.charges import Charges
from workprof.memory.orders import Ordered


@dataclass(frozen=True)
class Curve:
    """How waste grows while a policy learns."""

    runs_seen: Floats  # (n_points,) runs so far, rising
    wasted_gb_h: Floats  # (n_points,) waste of all runs so far


@dataclass(frozen=True)
class PolicyFigures:
    """One policy on all tasks; sums over runs, means over seeds."""

    policy: str
    wasted_gb_h: float  # charged and not used
    charged_gb_h: float  # of all attempts
    failures: float  # failed attempts
    seconds: float  # of one seed's sizes and charges
    n_never_fit: float  # runs that failed at the cap
    n_given_up: float  # runs that failed the last retry
    failed_share: Interval  # runs with a failure among all charged runs, with Wilson's interval
    # against the presets' charges on the same runs, bootstrap over the runs of the first seed; NaN where the table has
    # no requests
    saving: Interval
    saving_share: float  # the saving itself
    wasted_by_seed: Floats  # (n_seeds,)
    failures_by_seed: Floats  # (n_seeds,)
    # what the sizes rest on -> runs of the first seed: 'peers' (known runs of the task), 'history' (those of earlier
    # traces), 'request', 'node', 'true use'
    n_sized_from: dict[str, int]
    curve: Curve  # of the first seed


@dataclass(frozen=True)
class TaskFigures:
    """One policy on one task, means over seeds."""

    task: str
    policy: str
    n_runs: int  # charged runs
    wasted_gb_h: float  # charged and not used
    charged_gb_h: float  # of all attempts
    failures: float  # failed attempts
    too_few: bool  # whether the task has too few runs to advise on


CURVE_POINTS = 200


def figures_of(name: str, charges: list[Charges], before: list[Charges]) -> PolicyFigures:
    """The figures of one policy.

    There is one of `charges` per seed; `before` are the presets on the same orders, empty where the table has no
    requests. Both ends of the interval are means over seeds, too.
    """
    first, n = charges[0], len(charges[0].failures)
    wasted = np.array([one.wasted_gb_h.sum() for one in charges])
    failures = np.array([float(one.failures.sum()) for one in charges])
    saving, interval = math.nan, Interval(math.nan, math.nan)
    held = sum(float(one.charged_gb_h.sum()) for one in before)
    if held > 0:
        saving = 1 - sum(float(one.charged_gb_h.sum()) for one in charges) / held
        pairs = zip(charges, before, strict=True)
        ends = [saving_interval(one.charged_gb_h, now.charged_gb_h) for one, now in pairs]
        interval = Interval(float(np.mean([one.low for one in ends])), float(np.mean([one.high for one in ends])))
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
        n_sized_from=dict(Counter(first.sized_from.tolist())),
        curve=curve_of(first),
    )


def curve_of(charges: Charges) -> Curve:
    """Cumulative waste against runs seen, at most 200 points, the last one at the end."""
    order = np.argsort(charges.moments, kind="stable")
    summed = np.cumsum(charges.wasted_gb_h[order])
    places = np.unique(np.linspace(0, len(summed) - 1, min(CURVE_POINTS, len(summed))).round().astype(np.int64))
    return Curve(places.astype(np.float64) + 1, summed[places])


def task_figures_of(name: str, charges: list[Charges], ordered: Ordered) -> tuple[TaskFigures, ...]:
    """The figures of one policy by task, means over seeds."""
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


VERDICT, REQUESTS = "verdict", "preset"
"""Names of lines; `REQUESTS` is the policy that gives every run its request."""


@dataclass(frozen=True)
class ComparedLine:
    """The judged runs under one way to size them."""

    name: str  # of a policy, or the verdict
    applied: str  # of the verdict: 'table' or 'submission'
    n_sized: int  # runs that got another size than their request
    charged_gb_h: float
    wasted_gb_h: float  # charged and not used
    saved_share: float  # of the booked GB·h
    kills: int
    hindsight: bool  # looks at the true use: nothing that can be had


@dataclass(frozen=True)
class Compared:
    """The verdict and the policies on the same runs, the largest saving first."""

    n_runs: int
    booked_gb_h: float
    lines: tuple[ComparedLine, ...]
