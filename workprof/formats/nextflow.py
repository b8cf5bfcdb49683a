"""Nextflow traces: a header row, comma or tab, '-' = no value, any of the fields in any order.

Plain numbers (`trace.raw = true`) are bytes and milliseconds; otherwise Nextflow writes '1.5 GB', '3m 4s' and '99.8%'.
`realtime` is the execution; `duration` includes the queue. rchar is known only after the run, so it is no input size.
Every attempt of a task has a line of its own.

Source: Nextflow's documentation of trace files and of the exit statuses that it tries again by convention.
"""

import re
from collections.abc import Sequence

from workprof.formats.declare import NUMBER, TEXT, Finding, Format, Made, Rule, SourceColumn

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

BYTES = ("disk", "memory", "rss", "vmem", "peak_rss", "peak_vmem", "rchar", "wchar", "read_bytes", "write_bytes")

TELLING = (
    *("hash", "native_id", "exit", "error_action", "workdir", "%cpu", "%mem", "peak_rss", "peak_vmem"),
    *("rchar", "wchar", "syscr", "syscw", "vol_ctxt", "inv_ctxt"),
)
"""Fields that beside a task's name and `realtime` only Nextflow writes."""

SIGNATURES = (
    ("task_id", "native_id", "name", "realtime"),
    *((name, "realtime", telling) for name in ("name", "process") for telling in TELLING),
    *((name, "status", "exit", "start", "complete") for name in ("name", "process")),
)

SPELLED = {"pcpu": "%cpu", "pmem": "%mem"}


def headings(names: Sequence[str]) -> tuple[str, ...] | None:
    """The fields as a trace spells them, None where they are not those of one.

    Seqera Platform and the weblog spell some in their own way: 'peakRss', 'pcpu'.
    """
    result: list[str] = []
    for name in names:
        plain = re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
        known = SPELLED.get(plain, plain)
        result.append(known if known in (*_TEXTS, *_NUMBERS) and known not in (*names, *result) else name)
    return tuple(result) if any(set(each) <= set(result) for each in SIGNATURES) else None


NAME, TAG = r"^([^\s(]+)", r"\((.*\D.*)\)\s*$"
"""A task's name is its process and, in brackets, its tag; a task without one has its number there."""

SIGNALS = "(137, 140, 143)"
"""Exit statuses after SIGKILL, SIGUSR2 and SIGTERM: how kernels and schedulers end what takes too much."""

CACHED = "upper(status) = 'CACHED'"
"""A task that `-resume` took from an earlier run: its line repeats what that run took."""

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
    headings=headings,
    nulls=("", "-"),
    finished=("completed",),
    zero_is_unknown=("peak_memory_bytes",),
    attempts="attempt",
    free_texts=("name", "tag", "script", "env"),
    shapes=(("status", "[A-Za-z]+"), ("hash", "[0-9a-f]{2}/[0-9a-f]{4,}"), ("exit", r"-?\d+")),
    from_stem=("workload", "run_name"),
    units=(
        ("duration", "ms"),
        *((name, "B") for name in BYTES),
        ("%mem", "percent"),
    ),
    made=(
        Made(
            "task_name",
            f"coalesce(task_name, nullif(regexp_extract(job_name, '{NAME}', 1), ''))",
            needs=("job_name",),
            may=("task_name",),
        ),
        Made("tag", f"nullif(regexp_extract(job_name, '{TAG}', 1), '')", needs=("job_name",)),
        Made("peak_memory_bytes", "coalesce(peak_memory_bytes, rss)", ("rss",), ("peak_memory_bytes",)),
        Made(
            "end_time_s",
            "coalesce(end_time_s, submit_time_s + duration / 1000)",
            needs=("submit_time_s", "duration"),
            may=("end_time_s",),
        ),
        Made(
            "duration_s",
            "coalesce(duration_s, CASE WHEN end_time_s >= start_time_s THEN end_time_s - start_time_s END)",
            needs=("start_time_s", "end_time_s"),
            may=("duration_s",),
        ),
        Made(
            "status",
            f"CASE WHEN upper(status) IN ('FAILED', 'ABORTED') AND TRY_CAST(exit AS INTEGER) IN {SIGNALS} THEN CASE "
            "WHEN TRY_CAST(exit AS INTEGER) = 137 AND peak_memory_bytes >= requested_memory_bytes THEN 'out of memory' "
            "WHEN duration_s >= time_limit_s THEN 'timed out' ELSE 'killed' END "
            "|| ' (' || status || ', exit ' || TRY_CAST(exit AS INTEGER) || ')' ELSE status END",
            needs=("status", "exit"),
            may=("peak_memory_bytes", "requested_memory_bytes", "duration_s", "time_limit_s"),
        ),
        *(
            Made(field, f"CASE WHEN {CACHED} THEN NULL ELSE {field} END", needs=(field, "status"))
            for field in ("start_time_s", "end_time_s", "duration_s")
        ),
    ),
    findings=(
        Finding(
            "call cache",
            "info",
            CACHED,
            "tasks were answered from an earlier run (CACHED): nothing ran, and their times count nowhere",
            ("status",),
        ),
    ),
    rows_version=4,
    not_known="Sizes that are written for people are rounded: 1.5 GB is known to 3 %.",
)
