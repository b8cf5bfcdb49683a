"""What is known of a job when it is submitted: the paper's five metadata fields, and the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workprof.errors import ColumnMissing, SettingsError

if TYPE_CHECKING:
    import pandas as pd

METADATA_FIELDS = ("job_name", "user", "task_name", "group", "workload")
"""The published inputs (polarisprofiler.md, section 1a, 'Metadata columns X')."""

PLAN_FIELDS = ("requested_cpu_percent", "requested_memory_bytes", "requested_gpu_percent", "instances")
"""What the user asks for; known at submission too, so part of the corrected mode's inputs."""

SUBMIT_FIELDS = METADATA_FIELDS + PLAN_FIELDS


def default_fields(mode: str) -> tuple[str, ...]:
    """Return the inputs of a mode: the published five, or those and the plan."""
    return METADATA_FIELDS if mode == "faithful" else SUBMIT_FIELDS


def usable_fields(jobs: pd.DataFrame, asked: tuple[str, ...], mode: str) -> tuple[str, ...]:
    """Return the fields that can be used: those asked for, or the mode's that the table has with a value in some row.

    Raises:
        SettingsError: for a field that is not known at submission.
        ColumnMissing: when a field that was asked for is absent, or none of the mode's is there.
    """
    unknown = [name for name in asked if name not in SUBMIT_FIELDS]
    if unknown:
        raise SettingsError(f"{', '.join(unknown)} is not known at submission; choose from {', '.join(SUBMIT_FIELDS)}")
    absent = [name for name in asked if name not in jobs.columns]
    if absent:
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; leave it out of the fields")
    found = asked or tuple(n for n in default_fields(mode) if n in jobs.columns and bool(jobs[n].notna().any()))
    if not found:
        raise ColumnMissing(
            f"the table has none of {', '.join(default_fields(mode))}; map at least one of them when you load it"
        )
    return found
