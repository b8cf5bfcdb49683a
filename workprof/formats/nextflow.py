"""Nextflow traces: a header row, comma or tab, '-' = no value; three column sets are known, others are read alike.

Source: Nextflow's documentation of trace files. Plain numbers are bytes and milliseconds; raw traces write '1.5 GB',
'3m 4s' and '99.8%'.
`realtime` is the execution; `duration` includes the queue. rchar is known only after the run, so it is no input size.
"""

from __future__ import annotations

from workprof.formats.declare import NUMBER, TEXT, Format, Rule, SourceColumn

_TEXTS = (
    "hash",
    "native_id",
    "process",
    "tag",
    "name",
    "status",
    "module",
    "container",
    "hostname",
    "cpu_model",
    "workdir",
    "scratch",
    "queue",
    "error_action",
    "script",
    "env",
)
_NUMBERS = (
    "task_id",
    "exit",
    "attempt",
    "cpus",
    "time",
    "disk",
    "memory",
    "submit",
    "start",
    "complete",
    "duration",
    "realtime",
    "%cpu",
    "%mem",
    "rss",
    "vmem",
    "peak_rss",
    "peak_vmem",
    "rchar",
    "wchar",
    "syscr",
    "syscw",
    "read_bytes",
    "write_bytes",
    "vol_ctxt",
    "inv_ctxt",
)

MILLISECONDS = ("time", "duration", "realtime")
EPOCHS = ("submit", "start", "complete")
BYTES = ("disk", "memory", "rss", "vmem", "peak_rss", "peak_vmem", "rchar", "wchar", "read_bytes", "write_bytes")
PERCENTS = ("%cpu", "%mem")

FORMAT = Format(
    name="nextflow",
    title="Nextflow trace",
    columns=(
        *(SourceColumn(name, TEXT) for name in _TEXTS),
        *(SourceColumn(name, NUMBER) for name in _NUMBERS),
    ),
    rules=(
        Rule("job_name", "name"),
        Rule("task_name", "process"),
        Rule("node", "hostname"),
        Rule("status", "status"),
        Rule("submit_time_s", "submit", "ms"),
        Rule("start_time_s", "start", "ms"),
        Rule("end_time_s", "complete", "ms"),
        Rule("duration_s", "realtime", "ms"),
        Rule("requested_cpu_percent", "cpus", "cores"),
        Rule("requested_memory_bytes", "memory", "B"),
        Rule("time_limit_s", "time", "ms"),
        Rule("cpu_usage_percent", "%cpu", "percent"),
        Rule("peak_memory_bytes", "peak_rss", "B"),
        Rule("read_bytes", "read_bytes", "B"),
        Rule("write_bytes", "write_bytes", "B"),
        Rule("read_count", "syscr"),
        Rule("write_count", "syscw"),
    ),
    required=("realtime",),
    signature=("task_id", "native_id", "name", "realtime"),
    nulls=("", "-"),
    finished=("completed", "cached"),
    from_stem=("workload", "run_name"),
    units=(
        ("duration", "ms"),
        *((name, "B") for name in BYTES),
        ("%mem", "percent"),
    ),
)
