"""Groups of tasks by what they ask for now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.columns import numbers_if_present
from workprof.memory.runs import Runs
from workprof.memory.tasks.utilisation import MEMORY, memory_pairs, utilisation_of
from workprof.units import GB

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RequestGroup:
    """Tasks that ask for the same.

    Attributes:
        requested_gb: memory, NaN where tasks ask for none.
        requested_cores: NaN likewise.
        tasks: their names, in order of the table.
        n_runs: of these tasks, with another request among them where a task changed it.
        utilisation: of memory, see `Utilisation`.
        utilisation_by_time: likewise.
        wasted_gb_h: requested, not used.
    """

    requested_gb: float
    requested_cores: float
    tasks: tuple[str, ...]
    n_runs: int
    utilisation: float
    utilisation_by_time: float
    wasted_gb_h: float


def request_groups(jobs: pd.DataFrame, runs: Runs) -> tuple[RequestGroup, ...]:
    """Return the groups, the one that wastes most first; a task belongs where most of its runs do.

    Source:
        The load-aware provisioning thesis, Table 4; it names the groups (normal, parallel, memory-intensive,
        compute-intensive) by eye, ours are named by their request.
    """
    percent = numbers_if_present(jobs, "requested_cpu_percent")
    cores = np.full(len(runs), np.nan) if percent is None else percent[runs.rows] / 100
    members: dict[tuple[float, float], list[int]] = {}
    for code in np.unique(runs.task):
        own = runs.task == code
        asked = np.nan_to_num(np.stack([runs.requested_bytes[own] / GB, cores[own]], axis=1), nan=-1.0)
        kinds, counts = np.unique(asked, axis=0, return_counts=True)
        memory, cpu = kinds[counts.argmax()].tolist()
        members.setdefault((memory, cpu), []).append(int(code))
    groups = [_group(runs, asked, codes) for asked, codes in members.items()]
    return tuple(sorted(groups, key=lambda group: -group.wasted_gb_h))


def _group(runs: Runs, asked: tuple[float, float], codes: list[int]) -> RequestGroup:
    own = runs.take(np.isin(runs.task, codes))
    found = utilisation_of(memory_pairs(own), MEMORY)
    memory, cores = (value if value >= 0 else float("nan") for value in asked)
    names = tuple(runs.tasks[code] for code in codes)
    return RequestGroup(memory, cores, names, len(own), found.utilisation, found.utilisation_by_time, wasted_gb_h(own))


def wasted_gb_h(runs: Runs) -> float:
    """Return GB·h requested and not used; runs without a request, or that use more, waste nothing."""
    spare = np.nan_to_num(runs.requested_bytes - runs.used_bytes, nan=0.0) / GB
    return float((np.maximum(spare, 0.0) * runs.hours).sum())
