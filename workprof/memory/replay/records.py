"""What a replay answers."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.arrays import Floats
from workprof.memory.replay.intervals import Interval
from workprof.memory.replay.settings import ReplaySettings


@dataclass(frozen=True)
class Curve:
    """How waste grows while a policy learns.

    Attributes:
        runs_seen: (n_points,) runs so far, rising.
        wasted_gb_h: (n_points,) waste of all runs so far.
    """

    runs_seen: Floats
    wasted_gb_h: Floats


@dataclass(frozen=True)
class PolicyFigures:
    """One policy on all tasks; sums over runs, means over seeds.

    Attributes:
        policy: name.
        wasted_gb_h: charged and not used.
        charged_gb_h: of all attempts.
        failures: failed attempts.
        seconds: of one seed's sizes and charges.
        n_never_fit: runs that failed at the cap.
        n_given_up: runs that failed the last retry.
        failed_share: runs with a failure among all charged runs, with Wilson's interval.
        saving: against the presets' charges on the same runs, bootstrap over the runs of the first seed; NaN where the
            table has no requests.
        saving_share: the saving itself.
        wasted_by_seed: (n_seeds,).
        failures_by_seed: (n_seeds,).
        curve: of the first seed.
    """

    policy: str
    wasted_gb_h: float
    charged_gb_h: float
    failures: float
    seconds: float
    n_never_fit: float
    n_given_up: float
    failed_share: Interval
    saving: Interval
    saving_share: float
    wasted_by_seed: Floats
    failures_by_seed: Floats
    curve: Curve


@dataclass(frozen=True)
class TaskFigures:
    """One policy on one task, means over seeds.

    Attributes:
        task: name.
        policy: name.
        n_runs: charged runs.
        wasted_gb_h: charged and not used.
        charged_gb_h: of all attempts.
        failures: failed attempts.
        too_few: whether the task has too few runs to advise on.
    """

    task: str
    policy: str
    n_runs: int
    wasted_gb_h: float
    charged_gb_h: float
    failures: float
    too_few: bool


@dataclass(frozen=True)
class FrontierPoint:
    """One setting of ours.

    Attributes:
        setting: in words.
        price_runs: price of a failure in mean runs.
        by_input: whether inputs were looked at.
        wasted_gb_h: mean over seeds.
        failures: mean over seeds.
        efficient: whether no other setting of ours wastes less at no more failures.
    """

    setting: str
    price_runs: float
    by_input: bool
    wasted_gb_h: float
    failures: float
    efficient: bool


@dataclass(frozen=True)
class PriceChoice:
    """What is best when a failure costs so much on top of its charge.

    Attributes:
        price_gb_h: of one failure.
        name: policy, or setting of ours.
        wasted_gb_h: of it.
        failures: of it.
        total_gb_h: waste + price x failures.
    """

    price_gb_h: float
    name: str
    wasted_gb_h: float
    failures: float
    total_gb_h: float


@dataclass(frozen=True)
class TaskChoice:
    """The policy of least waste + price x failures on one task, at the default price of ours."""

    task: str
    policy: str
    total_gb_h: float
    too_few: bool


@dataclass(frozen=True)
class ReplayResult:
    """Every policy on the same runs, through one simulator.

    Attributes:
        settings: as asked.
        protocol: name.
        seed: the first one.
        target: what was sized for.
        input_column: what was sized from, 'none' = nothing.
        n_tasks: tasks replayed.
        n_test: charged runs of one seed.
        n_cold: those of them that start at their request, before a policy decides.
        used_gb_h: what the charged runs used, mean over seeds: no policy can be charged less.
        mean_run_gb_h: unit of the prices.
        policies: name -> figures.
        tasks: by task, then policy.
        frontier: settings of ours, least failures last.
        choices: price per failure -> best.
        best_by_task: one per task.
        left_out: reason -> runs.
        notes: in words.
        seconds: of the whole.
    """

    settings: ReplaySettings
    protocol: str
    seed: int
    target: str
    input_column: str
    n_tasks: int
    n_test: int
    n_cold: int
    used_gb_h: float
    mean_run_gb_h: float
    policies: dict[str, PolicyFigures]
    tasks: tuple[TaskFigures, ...]
    frontier: tuple[FrontierPoint, ...]
    choices: tuple[PriceChoice, ...]
    best_by_task: tuple[TaskChoice, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float
