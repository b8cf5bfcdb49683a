"""The runs that a plan is too small for: what each used, what it would have been given, by how much it was short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import SettingsError
from workprof.memory.plans.plans import PlanSettings, plan_of
from workprof.memory.runs import runs_of
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

MOST_LISTED = 50


@dataclass(frozen=True)
class ViolationSettings:
    """Which plan, and how many of its violations are listed.

    Attributes:
        plan: how sizes are chosen.
        most: runs that are listed, 1-10,000.
    """

    plan: PlanSettings = field(default_factory=PlanSettings)
    most: int = MOST_LISTED

    def __post_init__(self) -> None:
        if not 1 <= self.most <= 10_000:
            raise SettingsError(f"most is {self.most}; give a number between 1 and 10,000")


@dataclass(frozen=True)
class Violations:
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
    jobs = frames["jobs"]
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
