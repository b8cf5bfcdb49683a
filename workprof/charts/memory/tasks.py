"""Tasks and groups of tasks as tables: what they ask for, use and waste."""

from __future__ import annotations

import pandas as pd

from workprof.charts.memory.words import shown, task_labels
from workprof.charts.text import shortened
from workprof.memory.assessment import FEWEST_RUNS, Assessment

MOST_NAMED = 3


def task_table(found: Assessment) -> pd.DataFrame:
    """Return one line per task, the one that wastes most GB·h first; shares in per cent."""
    labels = task_labels([task.task for task in found.tasks])
    return pd.DataFrame(
        [
            {
                "task": label,
                "class": task.size_class,
                "evidence": f"too few runs (under {FEWEST_RUNS})" if task.too_few else "enough runs",
                "runs": task.n,
                "wasted_gb_h": task.wasted_gb_h,
                "requested_gb_h": task.requested_gb_h,
                "requested_gb": task.requested_gb,
                "p50_gb": task.peak_gb.p50,
                "p95_gb": task.peak_gb.p95,
                "max_gb": task.peak_gb.max,
                "used_percent": 100 * task.utilisation,
                "used_by_time_percent": 100 * task.utilisation_by_time,
                "cpu_used_percent": 100 * task.cpu_utilisation,
                "over_request": task.n_over_request,
                "without_request": task.n_without_request,
                "full_name": task.task,
            }
            for label, task in zip(labels, found.tasks, strict=True)
        ]
    )


def group_table(found: Assessment) -> pd.DataFrame:
    """Return one line per group of tasks that ask for the same, the one that wastes most GB·h first.

    Source: the load-aware provisioning thesis, Table 4.
    """
    return pd.DataFrame(
        [
            {
                "requested_gb": group.requested_gb,
                "requested_cores": group.requested_cores,
                "tasks": len(group.tasks),
                "runs": group.n_runs,
                "used_percent": 100 * group.utilisation,
                "used_by_time_percent": 100 * group.utilisation_by_time,
                "wasted_gb_h": group.wasted_gb_h,
                "names": _named(group.tasks),
            }
            for group in found.groups
        ]
    )


def _named(tasks: tuple[str, ...]) -> str:
    names = ", ".join(shortened(shown(task), 24) for task in tasks[:MOST_NAMED])
    return names if len(tasks) <= MOST_NAMED else f"{names} and {len(tasks) - MOST_NAMED} more"
