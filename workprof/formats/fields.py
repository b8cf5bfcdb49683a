"""The fields of a job table: the names that every format's columns become."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.formats.declare import NUMBER, TEXT
from workprof.units import GIB, KIB


@dataclass(frozen=True)
class Field:
    """A field of a job table: its DuckDB type and the unit it is kept in ('' = none)."""

    name: str
    type: str
    unit: str = ""


def _numbers(unit: str, *names: str) -> tuple[Field, ...]:
    return tuple(Field(name, NUMBER, unit) for name in names)


TEXT_FIELDS = ("job_name", "task_name", "user", "group", "workload", "run_name", "node", "gpu_type", "status")

JOB_FIELDS: tuple[Field, ...] = (
    *(Field(name, TEXT) for name in TEXT_FIELDS),
    *_numbers("s", "submit_time_s", "start_time_s", "end_time_s", "duration_s"),
    *_numbers("", "instances"),
    *_numbers("percent", "requested_cpu_percent", "requested_gpu_percent"),
    *_numbers("B", "requested_memory_bytes"),
    *_numbers("percent", "cpu_usage_percent", "gpu_usage_percent"),
    *_numbers("B", "mean_memory_bytes", "peak_memory_bytes", "mean_gpu_memory_bytes", "peak_gpu_memory_bytes"),
    *_numbers("B", "read_bytes", "write_bytes"),
    *_numbers("", "read_count", "write_count"),
    *_numbers("B", "input_bytes"),
)

FIELDS: dict[str, Field] = {field.name: field for field in JOB_FIELDS}

TIME_FIELDS = ("submit_time_s", "start_time_s", "end_time_s")
NAME_FIELDS = ("job_name", "task_name")
USAGE_FIELDS = (
    "cpu_usage_percent",
    "gpu_usage_percent",
    "mean_memory_bytes",
    "peak_memory_bytes",
    "mean_gpu_memory_bytes",
    "peak_gpu_memory_bytes",
    "read_bytes",
    "write_bytes",
    "read_count",
    "write_count",
)

REQUESTS = (
    ("cpu_usage_percent", "requested_cpu_percent"),
    ("gpu_usage_percent", "requested_gpu_percent"),
    ("peak_memory_bytes", "requested_memory_bytes"),
)
"""A usage and the request that it is compared with."""

ABSURD_MEMORY_BYTES = float(GIB * KIB * KIB)
ABSURD_ABOVE = {
    "cpu_usage_percent": 100_000.0,
    "gpu_usage_percent": 10_000.0,
    "mean_memory_bytes": ABSURD_MEMORY_BYTES,
    "peak_memory_bytes": ABSURD_MEMORY_BYTES,
    "mean_gpu_memory_bytes": ABSURD_MEMORY_BYTES,
    "peak_gpu_memory_bytes": ABSURD_MEMORY_BYTES,
}
"""No single machine has 1,000 cores' or 100 GPUs' worth of use by one instance, or a pebibyte of memory."""
