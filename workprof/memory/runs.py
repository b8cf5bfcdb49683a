"""Finished runs as every memory method sees them: arrays of one table, with what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.columns import numbers_if_present, numbers_of
from workprof.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.units import HOUR_S

if TYPE_CHECKING:
    import pandas as pd

USAGE_COLUMNS = {"peak_rss": "peak_memory_bytes", "rss": "rss"}
"""What may be sized for: the peak decides whether a run is killed; the published harness compares with rss."""

ALL_RUNS = "all runs"
"""Name of the one task of a table without task names."""


@dataclass(frozen=True)
class Runs:
    """Runs with a known use of memory and a known time, in the order of the table.

    Attributes:
        rows: (n,) positions in the table that they come from.
        task: (n,) codes of their tasks.
        tasks: (n_tasks,) names, in order of appearance.
        used_bytes: (n,) above 0.
        requested_bytes: (n,) NaN where nothing was requested.
        hours: (n,) run time, 0 or more; some clocks have whole seconds.
        submit_s: (n,) time of submission, NaN where it is not known.
        left_out: reason -> rows of the table that are not here.
    """

    rows: Ints
    task: Ints
    tasks: tuple[str, ...]
    used_bytes: Floats
    requested_bytes: Floats
    hours: Floats
    submit_s: Floats
    left_out: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, name: str) -> Runs:
        """Return the runs of one task; codes and names stay.

        Raises:
            SettingsError: as `task_named`.
        """
        return self.take(self.task == self.tasks.index(task_named(self.tasks, name)))

    def take(self, chosen: Bools | Ints) -> Runs:
        """Return some of the runs; codes and names stay."""
        return Runs(
            self.rows[chosen],
            self.task[chosen],
            self.tasks,
            self.used_bytes[chosen],
            self.requested_bytes[chosen],
            self.hours[chosen],
            self.submit_s[chosen],
            self.left_out,
        )


def task_named(tasks: Sequence[str], name: str) -> str:
    """Return the task of a name; the last part of a ':'-separated one will do where it is the only such task.

    Raises:
        SettingsError: when there is no such task, or more than one.
    """
    if name in tasks:
        return name
    found = [task for task in tasks if name and task.endswith(f":{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError(f"task {name!r} is short for {len(found)} tasks; choose one of {', '.join(found[:8])}")
    raise SettingsError(f"there is no task {name!r}; choose one of {', '.join(tasks[:8])}")


def runs_of(jobs: pd.DataFrame, target: str = "peak_rss") -> Runs:
    """Return the runs of a job table.

    Args:
        jobs: columns of the store: the target's column and `duration_s`; `task_name`, `requested_memory_bytes` and
            `submit_time_s` where there are any.
        target: one of `USAGE_COLUMNS`.

    Raises:
        SettingsError: for an unknown target.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no row is left.
    """
    if target not in USAGE_COLUMNS:
        raise SettingsError(f"target is {target!r}; choose from {', '.join(USAGE_COLUMNS)}")
    for name in (USAGE_COLUMNS[target], "duration_s"):
        if name not in jobs.columns:
            raise ColumnMissing(f"memory sizing needs the column {name}, which the table lacks; map it when you ingest")
    used, seconds = numbers_of(jobs, USAGE_COLUMNS[target]), numbers_of(jobs, "duration_s")
    unmeasured, untimed = ~(used > 0), ~(seconds >= 0)
    left_out = {"no use of memory": int(unmeasured.sum()), "no run time": int((untimed & ~unmeasured).sum())}
    rows = np.flatnonzero(~(unmeasured | untimed))
    if not len(rows):
        raise NotEnoughData(f"none of {len(jobs):,} rows has {USAGE_COLUMNS[target]} above 0 and a run time")
    requested = _or_nothing(jobs, "requested_memory_bytes")[rows]
    task, tasks = _tasks(jobs, rows)
    return Runs(
        rows=rows,
        task=task,
        tasks=tasks,
        used_bytes=used[rows],
        requested_bytes=np.where(requested > 0, requested, np.nan),
        hours=seconds[rows] / HOUR_S,
        submit_s=_or_nothing(jobs, "submit_time_s")[rows],
        left_out=left_out,
    )


def _or_nothing(jobs: pd.DataFrame, name: str) -> Floats:
    found = numbers_if_present(jobs, name)
    return np.full(len(jobs), np.nan) if found is None else found


def _tasks(jobs: pd.DataFrame, rows: Ints) -> tuple[Ints, tuple[str, ...]]:
    """Return codes and names of the tasks, in order of appearance; runs without a name are tasks of that name."""
    if "task_name" not in jobs.columns:
        return np.zeros(len(rows), dtype=np.int64), (ALL_RUNS,)
    named = jobs["task_name"].iloc[rows].astype("object")
    codes, names = named.where(named.notna(), "(no task name)").factorize()
    return codes.astype(np.int64), tuple(str(name) for name in names)
