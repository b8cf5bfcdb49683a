"""Nested documents of memory: what commands, the service and scripts read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from workprof.memory.ledger import LedgerRunList
from workprof.memory.ledger_settings import RESOURCES
from workprof.memory.over_time import OverTime, OverTimeRuns


def ledger_runs_document(result: LedgerRunList) -> dict[str, Any]:
    """Return the JSON document of the runs behind a number; amounts in the resource's unit."""
    one = next(one for one in RESOURCES if one.name == result.resource)
    columns = (result.row_ids, result.requested, result.used, result.hours, result.wasted_each)
    names = ("row_id", "requested", "used", "hours", "wasted")
    return {
        "n_runs": result.n_runs,
        "resource": result.resource,
        "wasted": result.wasted,
        "wasted_unit": result.unit,
        "unit": one.unit,
        "runs": [
            {result.settings.ledger.by: name, "task": task} | dict(zip(names, values, strict=True))
            for name, task, *values in zip(
                result.names, result.tasks, *(column.tolist() for column in columns), strict=True
            )
        ],
    }


def over_time_document(result: OverTime) -> dict[str, Any]:
    """Return the JSON document of memory over time: GB·h of every row in every bin, times in seconds."""
    return {
        "by": result.settings.by,
        "bin": result.settings.bins,
        "bin_seconds": result.width_s,
        "dated": result.dated,
        "utc_offset_s": result.utc_offset_s,
        "requested_gb_h": result.total_requested,
        "used_gb_h": result.total_used,
        "unused_gb_h": result.total_unused,
        "n_judged": result.n_judged,
        "n_not_judged": result.n_not_judged,
        "n_without_time": result.n_without_time,
        "bins": [
            {"at": at, "from_s": start, "requested_gb_h": requested, "used_gb_h": used, "unused_gb_h": unused}
            for at, (start, requested, used, unused) in enumerate(
                zip(
                    result.edges_s[:-1].tolist(),
                    result.requested.sum(axis=0).tolist(),
                    result.used.sum(axis=0).tolist(),
                    result.unused.sum(axis=0).tolist(),
                    strict=True,
                )
            )
        ],
        "rows": [
            {
                result.settings.by: name,
                "requested_gb_h": result.requested[at].tolist(),
                "used_gb_h": result.used[at].tolist(),
                "unused_gb_h": result.unused[at].tolist(),
                "n_runs": result.n_runs[at].tolist(),
            }
            for at, name in enumerate(result.rows)
        ],
        "bursts": [asdict(one) | {"from_s": float(result.edges_s[one.bin])} for one in result.bursts],
        "bursts_left_out": result.settings.leave_out_bursts,
        "seconds": result.seconds,
    }


def over_time_runs_document(result: OverTimeRuns) -> dict[str, Any]:
    """Return the JSON document of the runs of a cell: sizes in GB (1e9 bytes)."""
    numbers = (result.row_ids, result.requested_gb, result.used_gb, result.hours, result.hours_inside)
    keys = ("row_id", "requested_gb", "used_gb", "hours", "hours_inside", "unused_gb_h")
    return {
        "n_runs": result.n_runs,
        "unused_gb_h": result.unused_gb_h,
        "runs": [
            {result.settings.over.by: name, "task": task} | dict(zip(keys, values, strict=True))
            for name, task, *values in zip(
                result.names,
                result.tasks,
                *(column.tolist() for column in (*numbers, result.unused_each_gb_h)),
                strict=True,
            )
        ],
    }
