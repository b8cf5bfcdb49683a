"""Labels of a batch: names of tasks and workloads, plans, and which behaviours metadata can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workprof.synthetic.pai_batch import Batch
from workprof.synthetic.pai_population import ALL_KINDS

HIDDEN_PROFILES = frozenset({5, 6, 22, 23, 24, 25})
"""Behaviours that share their metadata with another one: 5/6 one job, 22/23 and 24/25 one cell each (sample)."""

TASK_NAMES = tuple(sorted({role.task_name for kind in ALL_KINDS for role in kind.roles}))
WORKLOADS = tuple(sorted({kind.workload for kind in ALL_KINDS}))


def identifiable(profile: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where the submit-time metadata determine the profile: in a profile, and one with metadata of its own.

    An outlier departs from whatever its metadata promise, so nothing known at submission foretells it.
    """
    return (profile >= 0) & ~np.isin(profile, list(HIDDEN_PROFILES))


def task_plans(batch: Batch) -> NDArray[np.float64]:
    """Return plan_cpu, plan_mem and plan_gpu per task, (n_tasks, 3); NaN = not requested."""
    kind = batch.job_kind[batch.task_job]
    plans = np.empty((kind.size, 3))
    for number in np.unique(kind):
        for place, role in enumerate(ALL_KINDS[number].roles):
            chosen = (kind == number) & (batch.task_role == place)
            bundles = np.array(role.bundles + role.borrowed, dtype=np.float64)
            plans[chosen] = bundles[batch.task_bundle[chosen] % len(bundles)]
    return plans


def kind_labels(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return task_name (per task) and workload (per job) as positions in the sorted names."""
    width = max(len(kind.roles) for kind in ALL_KINDS)
    tasks = np.zeros((len(ALL_KINDS), width), np.int64)
    for number, kind in enumerate(ALL_KINDS):
        for place, role in enumerate(kind.roles):
            tasks[number, place] = TASK_NAMES.index(role.task_name)
    workloads = np.array([WORKLOADS.index(kind.workload) for kind in ALL_KINDS])
    return tasks[batch.job_kind[batch.task_job], batch.task_role], workloads[batch.job_kind]
