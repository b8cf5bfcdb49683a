"""Google's cluster trace of 2011: parts of `task_usage` and of `task_events`, without a header.

Times are microseconds, 600 s at the beginning of the trace; CPU and memory are shares (0-1) of the largest machine. A
task has a row of usage for each five minutes, and one event for each change of its state: its rows fold into runs.

Source: "Google cluster-usage traces: format + schema" and schema.csv of the trace.
"""

from collections.abc import Sequence

from workprof.formats.borg import AFTER_S, NOT_KNOWN, NULLS, status_of, still_running
from workprof.formats.borg_events import ENDS, NO_USE, REQUESTS, STARTS, TIMES
from workprof.formats.cells import mostly, number, whole, word
from workprof.formats.declare import ACTIVE, NUMBER, TEXT, Events, Format, Rule, SourceColumn, Windows
from workprof.formats.fields import TIME_FIELDS

EVENTS = ("SUBMIT", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING", "UPDATE_RUNNING")
"""Events in the order of their numbers, from 0 on."""

WINDOW_US = 300e6
LATEST_US = 9.3e18
USAGE = (
    *("start_time", "end_time", "job_id", "task_index", "machine_id", "cpu_rate", "canonical_memory_usage"),
    *("assigned_memory_usage", "unmapped_page_cache", "total_page_cache", "maximum_memory_usage", "disk_io_time"),
    *("local_disk_space_usage", "maximum_cpu_rate", "maximum_disk_io_time", "cycles_per_instruction"),
    *("memory_accesses_per_instruction", "sample_portion", "aggregation_type", "sampled_cpu_usage"),
)
TASK = (
    *("time", "missing_info", "job_id", "task_index", "machine_id", "event_type", "user", "scheduling_class"),
    *("priority", "cpu_request", "memory_request", "disk_space_request", "different_machines_restriction"),
)
_TEXTS = ("job_id", "task_index", "machine_id", "event_type", "user")
SHARED = ("requested_memory_bytes", "mean_memory_bytes", "peak_memory_bytes", "cpu_usage_percent")


def is_usage(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of task_usage; the first parts of the trace lack its last column."""
    return mostly(rows, _is_window)


def is_events(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of task_events."""
    return mostly(rows, _is_event)


def _is_window(row: Sequence[str]) -> bool:
    return (
        len(row) in (len(USAGE) - 1, len(USAGE))
        and all(whole(cell) for cell in row[:4])
        and 0 <= float(row[1]) - float(row[0]) <= WINDOW_US
        and all(number(cell, 0, LATEST_US, missing=True) for cell in row[4:])
        and row[18].strip() in ("", "0", "1")
    )


def _is_event(row: Sequence[str]) -> bool:
    return (
        len(row) == len(TASK)
        and all(whole(row[at]) for at in (0, 2, 3, 8))
        and row[5].strip() in map(str, range(len(EVENTS)))
        and (word(row[6]) or not row[6].strip())
        and row[7].strip() in ("0", "1", "2", "3")
        and all(number(cell, 0, 1, missing=True) for cell in row[9:13])
    )


def _columns(names: Sequence[str]) -> tuple[SourceColumn, ...]:
    return tuple(SourceColumn(name, TEXT if name in _TEXTS else NUMBER) for name in names)


FORMAT = Format(
    name="borg-2011-usage",
    title="Borg 2011 task_usage",
    columns=_columns(USAGE),
    rules=(
        Rule("job_name", "job_id"),
        Rule("node", "machine_id"),
        Rule("start_time_s", "start_time", "us"),
        Rule("end_time_s", "end_time", "us"),
        Rule("requested_memory_bytes", "assigned_memory_usage"),
        Rule("cpu_usage_percent", "cpu_rate"),
        Rule("mean_memory_bytes", "canonical_memory_usage"),
        Rule("peak_memory_bytes", "maximum_memory_usage"),
    ),
    nulls=NULLS,
    own_marks=TIME_FIELDS,
    windows=Windows(
        keys=("job_name", "task_index"),
        longest_s=300,
        largest=("requested_memory_bytes", "peak_memory_bytes", "maximum_cpu_rate"),
        means=("cpu_usage_percent", "mean_memory_bytes"),
        spread={
            "cpu_rate_sd": ("sd", "cpu_usage_percent"),
            "canonical_memory_sd": ("sd", "mean_memory_bytes"),
            "local_disk_mean": ("mean", "local_disk_space_usage"),
            "local_disk_sd": ("sd", "local_disk_space_usage"),
            "active_tasks_mean": ("mean", ACTIVE),
            "active_tasks_sd": ("sd", ACTIVE),
        },
        made=still_running(),
    ),
    normalised=SHARED,
    zero_is_unknown=("peak_memory_bytes",),
    header=False,
    recognises=is_usage,
    not_known=NOT_KNOWN,
)

TASK_EVENTS = Format(
    name="borg-2011-events",
    title="Borg 2011 task_events",
    columns=_columns(TASK),
    rules=(
        Rule("job_name", "job_id"),
        Rule("user", "user"),
        Rule("node", "machine_id"),
        Rule("status", "event_type"),
        Rule("submit_time_s", "time", "us"),
        Rule("requested_cpu_percent", "cpu_request"),
        Rule("requested_memory_bytes", "memory_request"),
    ),
    nulls=NULLS,
    finished=("finish",),
    made=(status_of(EVENTS),),
    events=Events(
        keys=("job_name", "task_index"),
        submits=("SUBMIT",),
        starts=STARTS,
        ends=ENDS,
        largest=REQUESTS,
        latest_s=AFTER_S,
        made=TIMES,
    ),
    normalised=REQUESTS,
    header=False,
    recognises=is_events,
    not_known=NO_USE,
)
