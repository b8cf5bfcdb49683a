"""Google's cluster traces of 2019: runs or usage windows of instances, with what they requested and used.

Times are microseconds, 600 s at the beginning of the trace, 0 = before it, the largest number = after it. CPU and
memory are shares (0-1) of the largest machine. A table is flat (`request_memory`), or as the public extracts have it,
with texts of two numbers (`{'cpus': 0.02, 'memory': 0.01}`). A run of `instance_usage` has a row for each five minutes.

Source: "Google cluster-usage traces v3", and the format's protocol buffers in google/cluster-data.
"""

from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn, Windows
from workprof.formats.fields import TIME_FIELDS

AFTER_S = 9e12
"""A time stamp beyond says 'after the end of the trace': the largest 64-bit number of microseconds."""

NOT_OVER = ("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "UPDATE_PENDING", "UPDATE_RUNNING", "RUNNING")
"""Events that do not end a run."""

EVENTS = (
    *("SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST"),
    *("UPDATE_PENDING", "UPDATE_RUNNING"),
)
"""Events in the order of their numbers, from 0 on."""

NULLS = ("", "NULL", "null", "None", "NaN", "nan", "NA", "<NA>", "\\N")
SHARES = (
    *("requested_memory_bytes", "mean_memory_bytes", "peak_memory_bytes"),
    *("requested_cpu_percent", "cpu_usage_percent"),
)
"""What a Borg trace gives as shares of the largest machine."""

_NESTED = ("resource_request", "average_usage", "maximum_usage")
SPELLED = tuple(
    f"{name}{sign}{part}" for name in (*_NESTED, "request") for sign in (".", "_") for part in ("cpus", "memory")
)


def _part(column: str, part: str) -> str:
    """The SQL of a number in a text such as "{'cpus': 0.02, 'memory': 0.01}"."""
    result = f"regexp_extract(\"{column}\", '[''\"]{part}[''\"]\\s*:\\s*[''\"]?([-+.0-9eE]+)', 1)"
    return f"TRY_CAST(nullif({result}, '') AS DOUBLE)"


def share(field: str, of: str, part: str, *others: str) -> Made:
    """How a field is made of the ways in which extracts write a share."""
    spelled = [name for name in (f"{of}.{part}", f"{of}_{part}") if name in SPELLED]
    named = [f'"{name}"' for name in (field, *spelled)]
    values = ", ".join((*named, _part(of, part), *(f'"{name}"' for name in others)))
    return Made(field, f"coalesce({values})", may=(field, *spelled, of, *others))


def status_of(events: tuple[str, ...]) -> Made:
    """How a status is made of an event that may be a number."""
    words = " ".join(f"WHEN '{at}' THEN '{event}'" for at, event in enumerate(events))
    return Made("status", f"CASE regexp_replace(trim(status), '\\.0+$', '') {words} ELSE status END", needs=("status",))


def still_running() -> tuple[Made, ...]:
    """How status, duration and end are made; a run that was going on when the trace ended has no end."""
    over = f"(end_time_s < {AFTER_S!r} AND NOT (end_time_s = 0 AND start_time_s > 0))"
    last = f"max(greatest(start_time_s, CASE WHEN {over} THEN end_time_s END)) OVER ()"
    words = ", ".join(f"'{event}'" for event in NOT_OVER)
    going = f"upper(trim(status)) IN ({words})"
    running = f"(coalesce({going}, FALSE) AND (NOT coalesce({over}, FALSE) OR end_time_s >= {last}))"
    times = ("start_time_s", "end_time_s")
    return (
        Made(
            "status",
            f"CASE WHEN status IS NULL AND start_time_s IS NOT NULL AND NOT coalesce({over}, FALSE) THEN 'RUNNING' "
            f"ELSE status END",
            needs=times,
            may=("status",),
        ),
        Made(
            "duration_s",
            f"CASE WHEN {running} THEN {last} - start_time_s "
            f"WHEN {over} AND end_time_s >= start_time_s THEN end_time_s - start_time_s END",
            needs=(*times, "status"),
        ),
        Made("end_time_s", f"CASE WHEN {over} AND NOT {running} THEN end_time_s END", needs=(*times, "status")),
    )


NOT_KNOWN = "What a run used in gaps between its windows is not known."

FORMAT = Format(
    name="borg",
    title="Borg (Google 2019): runs, or usage of instances",
    columns=(
        *(
            SourceColumn(name, TEXT)
            for name in (
                *("collection_id", "instance_index", "machine_id", "tier", "event", "user", "cluster"),
                *("collection_name", "collection_logical_name", *_NESTED),
            )
        ),
        *(
            SourceColumn(name, NUMBER)
            for name in (
                *("start_time", "end_time", "request_cpus", "request_memory", "average_usage_cpus"),
                *("average_usage_memory", "maximum_usage_cpus", "maximum_usage_memory", "assigned_memory"),
                *(name for name in SPELLED if not name.startswith("request_")),
            )
        ),
    ),
    rules=(
        Rule("job_name", "collection_id"),
        Rule("user", "user"),
        Rule("group", "tier"),
        Rule("node", "machine_id"),
        Rule("status", "event"),
        Rule("start_time_s", "start_time", "us"),
        Rule("end_time_s", "end_time", "us"),
        Rule("requested_cpu_percent", "request_cpus"),
        Rule("requested_memory_bytes", "request_memory"),
        Rule("cpu_usage_percent", "average_usage_cpus"),
        Rule("mean_memory_bytes", "average_usage_memory"),
        Rule("peak_memory_bytes", "maximum_usage_memory"),
    ),
    required=("collection_id", "start_time", "end_time"),
    signature=("collection_id", "instance_index", "start_time", "end_time"),
    nulls=NULLS,
    own_marks=TIME_FIELDS,
    finished=("finish", "6", "6.0"),
    made=(
        status_of(EVENTS),
        Made(
            "task_name",
            "coalesce(collection_logical_name, collection_name)",
            may=("collection_logical_name", "collection_name"),
        ),
        share("requested_cpu_percent", "resource_request", "cpus"),
        share("requested_memory_bytes", "resource_request", "memory", "assigned_memory"),
        share("cpu_usage_percent", "average_usage", "cpus"),
        share("mean_memory_bytes", "average_usage", "memory"),
        share("peak_memory_bytes", "maximum_usage", "memory"),
    ),
    windows=Windows(
        keys=("job_name", "instance_index"),
        longest_s=300,
        largest=("requested_cpu_percent", "requested_memory_bytes", "peak_memory_bytes", "maximum_usage_cpus"),
        means=("cpu_usage_percent", "mean_memory_bytes"),
        made=still_running(),
    ),
    normalised=SHARES,
    zero_is_unknown=("peak_memory_bytes",),
    not_known=NOT_KNOWN,
)
