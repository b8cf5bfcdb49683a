"""Any job table: the user says which column is which field, in which unit; a look at the file only proposes.

A file whose columns already carry workprof's own field names (an export, for one) is taken as it is.
"""

from __future__ import annotations

from workprof.formats.declare import Format, Rule
from workprof.formats.fields import FIELDS

FORMAT = Format(
    name="generic",
    title="Job table (CSV, Parquet, JSON lines)",
    rules=tuple(Rule(name, name, field.unit) for name, field in FIELDS.items()),
    nulls=("", "NULL", "null", "NA", "N/A", "-", "\\N"),
    finished=("terminated", "completed", "complete", "cached", "succeeded", "success", "finished", "done", "ok"),
    duration_from_times=True,
)

SYNONYMS: dict[str, tuple[str, ...]] = {
    "job_name": ("job", "job_id", "jobid", "id", "name", "pod", "pod_name", "application"),
    "task_name": ("task", "process", "step", "stage", "container", "task_type", "rule"),
    "user": ("owner", "user_name", "username", "uid", "account"),
    "group": ("team", "project", "department", "group_name"),
    "workload": ("workflow", "pipeline", "app", "queue", "namespace", "model"),
    "run_name": ("run", "run_id"),
    "node": ("machine", "host", "hostname", "node_name", "server", "instance"),
    "gpu_type": ("gpu", "gpu_model", "accelerator"),
    "status": ("state", "result", "outcome", "exit_status"),
    "submit_time_s": ("submit", "submitted", "submit_time", "queued", "created", "submitted_at", "created_at"),
    "start_time_s": ("start", "started", "start_time", "started_at", "begin"),
    "end_time_s": ("end", "ended", "end_time", "finish", "finished_at", "complete", "completed_at", "stop"),
    "duration_s": ("duration", "runtime", "run_time", "realtime", "elapsed", "wall_time", "walltime", "makespan"),
    "instances": ("inst_num", "replicas", "num_instances", "nodes", "tasks"),
    "requested_cpu_percent": ("cpus", "cores", "plan_cpu", "cpu_request", "requested_cpu", "req_cpus", "alloc_cpus"),
    "requested_gpu_percent": ("gpus", "plan_gpu", "gpu_request", "requested_gpu", "num_gpus"),
    "requested_memory_bytes": (
        "memory",
        "mem",
        "plan_mem",
        "memory_request",
        "requested_memory",
        "req_mem",
        "memory_limit",
    ),
    "time_limit_s": (
        "time_limit",
        "timelimit",
        "timelimitraw",
        "wall_time_limit",
        "walltime_limit",
        "requested_time",
        "requested_walltime",
    ),
    "cpu_usage_percent": ("cpu_usage", "%cpu", "cpu", "cpu_percent", "avg_cpu", "cpu_util"),
    "gpu_usage_percent": ("gpu_usage", "gpu_wrk_util", "gpu_util", "gpu_percent"),
    "mean_memory_bytes": ("avg_mem", "mean_memory", "average_memory", "avg_memory", "ave_rss", "memory_mean"),
    "peak_memory_bytes": (
        "peak_rss",
        "max_rss",
        "maxrss",
        "max_mem",
        "peak_memory",
        "max_memory",
        "memory_peak",
        "rss",
    ),
    "mean_gpu_memory_bytes": ("avg_gpu_wrk_mem", "avg_gpu_memory", "gpu_memory"),
    "peak_gpu_memory_bytes": ("max_gpu_wrk_mem", "max_gpu_memory", "peak_gpu_memory"),
    "read_bytes": ("read", "disk_read", "bytes_read", "io_read"),
    "write_bytes": ("write", "disk_write", "bytes_written", "io_write"),
    "read_count": ("syscr", "reads", "read_ops"),
    "write_count": ("syscw", "writes", "write_ops"),
    "input_bytes": ("input", "input_size", "input_mb", "file_size"),
}
"""Names under which other systems keep a field; compared in lower case without unit suffix."""

UNIT_SUFFIXES: dict[str, str] = {
    "ms": "ms",
    "msec": "ms",
    "millis": "ms",
    "us": "us",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "seconds": "s",
    "min": "min",
    "mins": "min",
    "minutes": "min",
    "h": "h",
    "hours": "h",
    "b": "B",
    "bytes": "B",
    "kb": "KB",
    "kib": "KiB",
    "mb": "MB",
    "mib": "MiB",
    "gb": "GB",
    "gib": "GiB",
    "percent": "percent",
    "pct": "percent",
    "cores": "cores",
    "share": "share",
    "ratio": "share",
}
"""Unit that a column name's last word tells."""
