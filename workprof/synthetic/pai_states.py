"""States of a running cluster: which jobs failed, still run or wait, and what their times look like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_batch import Batch

STATUSES = ("Terminated", "Failed", "Running", "Waiting")
TERMINATED, FAILED, RUNNING, WAITING = range(4)
STATUS_COUNTS = (732_355, 256_555, 62_928, 3_663)
"""Jobs by status (trace)."""

FAILED_TASK_SHARE = 0.6
FAILED_INSTANCE_SHARE = 0.5
"""Tasks of a failed job, and instances of a failed task, that failed themselves (our choice)."""

ZERO_TIME_SHARE = 0.01
"""Failed tasks with 0 for both times; waiting ones have 0 for the start and no end (trace has such rows)."""

SHORT_S = 550
WAIT_MEDIANS, WAIT_SDS = (0.10, 0.004), (1.26, 2.0)
"""Wait over completion, log-normal, of tasks up to `SHORT_S` and of longer ones: together p50 2 %, p75 10 %,
p90 30 %; short half p50 10 %, p75 25 %, p90 50 % (trace, read off a figure)."""

LONGEST_WAIT = 0.9
"""Largest share of a task that its first instance waits."""


@dataclass(frozen=True)
class States:
    """Status codes and times; a missing time is NaN.

    Attributes:
        job_status, job_start, job_end: (J,).
        task_status, task_start, task_end: (K,).
        row_status, row_start, row_end: (N,).
    """

    job_status: NDArray[np.int64]
    job_start: NDArray[np.float64]
    job_end: NDArray[np.float64]
    task_status: NDArray[np.int64]
    task_start: NDArray[np.float64]
    task_end: NDArray[np.float64]
    row_status: NDArray[np.int64]
    row_start: NDArray[np.float64]
    row_end: NDArray[np.float64]


def draw_states(batch: Batch, rng: np.random.Generator) -> States:
    """Return status and times of every job, task and instance."""
    shares = np.array(STATUS_COUNTS) / sum(STATUS_COUNTS)
    job_status = rng.choice(len(STATUSES), batch.job_user.size, p=shares)
    task_status = _inherit(job_status[batch.task_job], FAILED_TASK_SHARE, rng)
    first = np.flatnonzero(np.diff(batch.task_job, prepend=-1))
    task_status[first] = job_status[batch.task_job[first]]
    row_status = _inherit(task_status[batch.row_task], FAILED_INSTANCE_SHARE, rng)
    task_start = batch.job_start_s[batch.task_job] + np.floor(rng.exponential(2.0, batch.task_job.size))
    task_end = task_start + batch.task_duration_s
    row_start, row_end = _instance_times(batch, task_start, rng)
    zero = (task_status == FAILED) & (rng.random(task_status.size) < ZERO_TIME_SHARE)
    job_end = np.zeros(batch.job_user.size)
    np.maximum.at(job_end, batch.task_job, task_end)
    return States(
        job_status,
        *_shown(job_status, batch.job_start_s, job_end, np.zeros(job_end.size, np.bool_)),
        task_status,
        *_shown(task_status, task_start, task_end, zero),
        row_status,
        *_shown(row_status, row_start, row_end, zero[batch.row_task]),
    )


def _inherit(parent: NDArray[np.int64], failed_share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the parent's status, but for parts of a failed whole that ended well."""
    return np.where((parent == FAILED) & (rng.random(parent.size) > failed_share), TERMINATED, parent)


def _instance_times(
    batch: Batch, task_start: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return start and end of every instance, inside its task: a wait, then runs of nearly equal length."""
    duration = batch.task_duration_s
    long = (duration > SHORT_S).astype(np.int64)
    wait = np.array(WAIT_MEDIANS)[long] * np.exp(np.array(WAIT_SDS)[long] * rng.standard_normal(duration.size))
    start = task_start + np.floor(duration * np.minimum(wait, LONGEST_WAIT))
    room = (task_start + duration - start)[batch.row_task]
    late = np.floor(room * rng.beta(1, 40, room.size))
    early = np.floor(room * rng.beta(1, 60, room.size))
    return start[batch.row_task] + late, start[batch.row_task] + room - early


def _shown(
    status: NDArray[np.int64], start: NDArray[np.float64], end: NDArray[np.float64], zero: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times as the trace shows them: no end before a part has ended, 0 where a time was lost."""
    shown_start = np.where((status == WAITING) | zero, 0.0, start)
    shown_end = np.where(status >= RUNNING, np.nan, np.where(zero, 0.0, end))
    return shown_start, shown_end
