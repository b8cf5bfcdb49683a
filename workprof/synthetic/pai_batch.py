"""A batch of jobs: jobs, their tasks and the rows of instances, as arrays that point to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

REGULAR, SCATTERED_JOB, STRAY_INSTANCE = 0, 1, 2
"""Codes of `row_outlier`."""

OUTLIER_NAMES = ("no", "scattered job", "stray instance")
"""`truth_outlier` by code."""

_POINTERS = {"task_job": "job_template", "row_task": "task_job"}


@dataclass(frozen=True)
class Batch:
    """Jobs (J), tasks (K) and rows (N).

    Attributes:
        job_template, job_user, job_group, job_kind: (J,) indices.
        job_start_s: (J,) submission time.
        task_job: (K,) job of each task.
        task_role: (K,) role within the job's kind.
        task_instances: (K,) inst_num.
        task_bundle: (K,) bundle within the role.
        task_duration_s: (K,) whole seconds.
        task_spike: (K,) whether the 13-second spike ended it.
        task_offset: (K, 10) departure of the template from its behaviour.
        row_task: (N,) task of each row.
        row_profile: (N,) planted behaviour or OUTLIER.
        row_outlier: (N,) code of `OUTLIER_NAMES`.
    """

    job_template: NDArray[np.int64]
    job_user: NDArray[np.int64]
    job_group: NDArray[np.int64]
    job_kind: NDArray[np.int64]
    job_start_s: NDArray[np.float64]
    task_job: NDArray[np.int64]
    task_role: NDArray[np.int64]
    task_instances: NDArray[np.int64]
    task_bundle: NDArray[np.int64]
    task_duration_s: NDArray[np.float64]
    task_spike: NDArray[np.bool_]
    task_offset: NDArray[np.float64]
    row_task: NDArray[np.int64]
    row_profile: NDArray[np.int64]
    row_outlier: NDArray[np.int64]


def join_batches(batches: Sequence[Batch]) -> Batch:
    """Return one batch with the jobs, tasks and rows of all, pointers shifted."""
    joined: dict[str, NDArray[Any]] = {}
    for name in (field.name for field in fields(Batch)):
        parts = [getattr(batch, name) for batch in batches]
        if name in _POINTERS:
            lengths = [getattr(batch, _POINTERS[name]).shape[0] for batch in batches]
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
            parts = [part + start for part, start in zip(parts, starts, strict=True)]
        joined[name] = np.concatenate(parts)
    return Batch(**joined)
