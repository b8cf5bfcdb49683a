"""Google's `instance_events` and `collection_events` of 2019: what happened to each instance, or job, and when.

Events of one instance fold into its attempts: from SUBMIT over SCHEDULE to EVICT, FAIL, FINISH, KILL or LOST. There is
what was requested, and no use. Units are those of `borg`.

Source: "Google cluster-usage traces v3", and the format's protocol buffers in google/cluster-data.
"""

from workprof.formats.borg import AFTER_S, EVENTS, NULLS, SPELLED, share, status_of
from workprof.formats.declare import NUMBER, TEXT, Events, Format, Made, Rule, SourceColumn
from workprof.formats.fields import TIME_FIELDS

REQUESTS = ("requested_cpu_percent", "requested_memory_bytes")
STARTS = ("SCHEDULE",)
ENDS = ("EVICT", "FAIL", "FINISH", "KILL", "LOST")

TIMES = (
    Made("end_time_s", f"CASE WHEN end_time_s < {AFTER_S!r} THEN end_time_s END", needs=("end_time_s",)),
    Made(
        "status",
        "CASE WHEN end_time_s IS NULL AND start_time_s IS NOT NULL THEN 'SCHEDULE' ELSE status END",
        needs=("start_time_s", "end_time_s", "status"),
    ),
    Made(
        "duration_s",
        "CASE WHEN end_time_s >= start_time_s THEN end_time_s - start_time_s ELSE duration_s END",
        needs=("start_time_s", "end_time_s", "duration_s"),
    ),
)
"""Times of an attempt; an end after the trace is none."""

NO_USE = "There is no use of memory in events."

FORMAT = Format(
    name="borg-events",
    title="Borg events (Google 2019)",
    columns=(
        *(
            SourceColumn(name, TEXT)
            for name in (
                *("type", "collection_id", "instance_index", "machine_id", "user", "collection_name"),
                *("collection_logical_name", "resource_request", "scheduling_class"),
            )
        ),
        *(SourceColumn(name, NUMBER) for name in ("time", "request_cpus", "request_memory", *SPELLED)),
    ),
    rules=(
        Rule("job_name", "collection_id"),
        Rule("user", "user"),
        Rule("node", "machine_id"),
        Rule("status", "type"),
        Rule("submit_time_s", "time", "us"),
        Rule("requested_cpu_percent", "request_cpus"),
        Rule("requested_memory_bytes", "request_memory"),
    ),
    required=("time", "type", "collection_id"),
    signature=("time", "type", "collection_id", "scheduling_class"),
    further_signatures=(("time", "type", "collection_id", "instance_index"),),
    nulls=NULLS,
    own_marks=TIME_FIELDS,
    finished=("finish",),
    made=(
        status_of(EVENTS),
        Made(
            "task_name",
            "coalesce(collection_logical_name, collection_name)",
            may=("collection_logical_name", "collection_name"),
        ),
        share("requested_cpu_percent", "resource_request", "cpus"),
        share("requested_memory_bytes", "resource_request", "memory"),
    ),
    events=Events(
        keys=("job_name", "instance_index"),
        submits=("SUBMIT",),
        starts=STARTS,
        ends=ENDS,
        largest=REQUESTS,
        latest_s=AFTER_S,
        made=TIMES,
    ),
    normalised=REQUESTS,
    not_known=NO_USE,
)
