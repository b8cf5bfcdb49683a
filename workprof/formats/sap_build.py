"""Builds of a CI system, SAP's task execution data set: `build-data.csv`, separated by semicolons, one row per build.

`memreq` is in MiB: a limit holds the page cache too, whose peaks lie above `memreq` x 10^6 bytes.
A row has one moment, of which nothing says whether it is the start, and no run time.

Source: the README and rows of SAP/task-execution-data-set; its use in Blumenthal et al., arXiv 2604.18043.
"""

from workprof.core.units import HOUR_S
from workprof.formats.declare import NUMBER, TEXT, Finding, Format, Made, Rule, SourceColumn

_TEXTS = ("atom_id", "time", "location", "branch", "buildProfile", "makeType", "targets", "component")
_NUMBERS = ("memory_fail_count", "jobs", "localJobs", "max_rss", "max_cache", "memreq")

FORMAT = Format(
    name="sap-build",
    title="build-data.csv of CI builds",
    columns=(
        *(SourceColumn(name, TEXT) for name in (*_TEXTS, "ts_phase", "ts_status", "cgroup")),
        *(SourceColumn(name, NUMBER) for name in _NUMBERS),
    ),
    rules=(
        Rule("job_name", "atom_id"),
        Rule("cluster", "location"),
        Rule("group", "branch"),
        Rule("workload", "component"),
        Rule("task_name", "buildProfile", keep_source=True),
        Rule("status", "ts_status"),
        Rule("start_time_s", "time", "s"),
        Rule("requested_memory_bytes", "memreq", "MiB"),
        Rule("peak_memory_bytes", "max_rss", "B"),
    ),
    required=("max_rss",),
    signature=("memory_fail_count", "max_rss", "memreq"),
    further_signatures=(("atom_id", "buildProfile", "max_rss"), ("buildProfile", "localJobs", "max_rss")),
    nulls=("", "NULL", "None", "NaN", "nan", "NaT"),
    finished=("ok", "unstable"),
    units=(("max_cache", "B"),),
    made=(
        Made("task_name", "concat_ws(' ', task_name, targets)", needs=("task_name", "targets")),
        Made(
            "duration_s", f"CASE WHEN peak_memory_bytes IS NOT NULL THEN {HOUR_S!r} END", needs=("peak_memory_bytes",)
        ),
        Made(
            "out_of_memory_kills",
            "CASE WHEN memory_fail_count > 0 THEN 1 WHEN memory_fail_count = 0 THEN 0 END",
            needs=("memory_fail_count",),
        ),
    ),
    findings=(
        Finding(
            "no run times",
            "warning",
            "duration_s IS NOT NULL",
            "builds have no run time in the file. Each counts as one hour, so GB·h are the GB of builds",
            ("duration_s",),
        ),
        Finding(
            "start or end",
            "warning",
            "start_time_s IS NOT NULL",
            "builds have one moment. It counts as their start: the format does not say whether it is",
            ("start_time_s",),
        ),
        Finding(
            "memory ran out",
            "warning",
            "memory_fail_count > 0",
            "builds met their limit (memory_fail_count above 0), whatever their status says. They count as kills",
            ("memory_fail_count",),
        ),
    ),
    not_known="How long a build took is not in the file; each counts as one hour.",
)
