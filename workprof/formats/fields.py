"""The fields of a job table: the names that every format's columns become."""

from dataclasses import dataclass

from workprof.core.units import DAY_S, GIB, KIB
from workprof.formats.declare import NUMBER, TEXT


@dataclass(frozen=True)
class Field:
    """A field of a job table: its DuckDB type and the unit it is kept in ('' = none)."""

    name: str
    type: str
    unit: str = ""


def _numbers(unit: str, *names: str) -> tuple[Field, ...]:
    return tuple(Field(name, NUMBER, unit) for name in names)


TEXT_FIELDS = (
    *("job_name", "task_name", "user", "group", "workload", "run_name", "node", "gpu_type", "status"),
    *("cluster", "namespace", "container"),
)

JOB_FIELDS: tuple[Field, ...] = (
    *(Field(name, TEXT) for name in TEXT_FIELDS),
    *_numbers("s", "submit_time_s", "start_time_s", "end_time_s", "duration_s"),
    *_numbers("", "instances"),
    *_numbers("percent", "requested_cpu_percent", "requested_gpu_percent"),
    *_numbers("B", "requested_memory_bytes"),
    *_numbers("s", "time_limit_s"),
    *_numbers("percent", "cpu_usage_percent", "gpu_usage_percent"),
    *_numbers("B", "mean_memory_bytes", "peak_memory_bytes", "mean_gpu_memory_bytes", "peak_gpu_memory_bytes"),
    *_numbers("B", "read_bytes", "write_bytes"),
    *_numbers("", "read_count", "write_count"),
    *_numbers("B", "input_bytes"),
    *_numbers("", "peak_memory_is_lower_bound", "out_of_memory_kills"),
    Field("windows", TEXT),
)

FIELDS: dict[str, Field] = {field.name: field for field in JOB_FIELDS}

DESCRIPTIONS: dict[str, str] = {
    "job_name": "The job: what a user submitted.",
    "task_name": "The task of the job: one role or step of it.",
    "user": "Who submitted the job.",
    "group": "The tag under which jobs are counted together (a team, or jobs of one kind).",
    "workload": "What kind of work the job does: a model, an application, a workflow.",
    "run_name": "One run of a workflow.",
    "node": "The machine that the run was on.",
    "gpu_type": "The GPU model requested.",
    "status": "How the run ended, in the trace's own words.",
    "submit_time_s": "When it was submitted, on the trace's clock.",
    "start_time_s": "When it began to run, on the trace's clock.",
    "end_time_s": "When it ended, on the trace's clock.",
    "duration_s": "How long it ran, without the time in the queue.",
    "instances": "Instances of the task.",
    "requested_cpu_percent": "CPU requested; 100 = one core.",
    "requested_gpu_percent": "GPU requested; 100 = one GPU.",
    "requested_memory_bytes": "Memory requested.",
    "time_limit_s": "Wall time requested: the run is ended after it.",
    "cpu_usage_percent": "Mean CPU use; 100 = one core.",
    "gpu_usage_percent": "Mean GPU use; 100 = one GPU.",
    "mean_memory_bytes": "Mean memory in use.",
    "peak_memory_bytes": "Most memory in use at any time.",
    "mean_gpu_memory_bytes": "Mean GPU memory in use.",
    "peak_gpu_memory_bytes": "Most GPU memory in use at any time.",
    "read_bytes": "Bytes read.",
    "write_bytes": "Bytes written.",
    "read_count": "Reads (calls).",
    "write_count": "Writes (calls).",
    "input_bytes": "Size of the input, known before the run.",
    "cluster": "The cluster that the run was on.",
    "namespace": "The Kubernetes namespace.",
    "container": "The container of the pod.",
    "peak_memory_is_lower_bound": "1 where peak_memory_bytes is only known to be at least so large, else 0.",
    "out_of_memory_kills": "How often the run was killed for memory: its use was then at least its limit.",
    "windows": "Use by window of a run that does not end: JSON with start_s, length_s and lists of peak_memory_bytes "
    "and cpu_usage_percent.",
}
"""What each field means; the schema of a dataset says it again."""

REQUEST, CPUS = "requested_memory_bytes", "requested_cpu_percent"
"""A request for each core, as Slurm's '4Gc', is of so many cores."""

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

TRUTH_FIELDS = ("peak_memory_is_lower_bound", "out_of_memory_kills")
"""Numbers that may be written as true and false."""

REQUESTS = (
    ("cpu_usage_percent", "requested_cpu_percent"),
    ("gpu_usage_percent", "requested_gpu_percent"),
    ("peak_memory_bytes", "requested_memory_bytes"),
)
"""A usage and the request that it is compared with."""

TIMING = ("start_time_s", "end_time_s", "duration_s")
"""A row whose cell of one of these cannot be read is a reject; any other field is missing in its row then."""

LONGEST_S, LATEST_S = 100 * 365.25 * DAY_S, 1e11


@dataclass(frozen=True)
class Bounds:
    """What a field can be, in its own unit."""

    most: float  # of a run on one machine, no more than the largest on earth has
    of_a_system: float  # of a run that takes a whole system
    least: float = 0.0


def _alike(bounds: Bounds, *names: str) -> dict[str, Bounds]:
    return dict.fromkeys(names, bounds)


BOUNDS: dict[str, Bounds] = {
    **_alike(Bounds(LATEST_S, LATEST_S), *TIME_FIELDS),
    **_alike(Bounds(LONGEST_S, LONGEST_S), "duration_s", "time_limit_s"),
    **_alike(Bounds(4_096 * 100.0, 2e7 * 100), "requested_cpu_percent", "cpu_usage_percent"),
    **_alike(Bounds(256 * 100.0, 1e6 * 100), "requested_gpu_percent", "gpu_usage_percent"),
    **_alike(
        Bounds(64.0 * GIB * KIB, 16.0 * GIB * KIB * KIB),
        *("requested_memory_bytes", "mean_memory_bytes", "peak_memory_bytes"),
        *("mean_gpu_memory_bytes", "peak_gpu_memory_bytes"),
    ),
    **_alike(Bounds(1e18, 1e18), "read_bytes", "write_bytes", "input_bytes"),
    **_alike(Bounds(1e15, 1e15), "read_count", "write_count"),
    **_alike(Bounds(1e9, 1e9), "instances", "out_of_memory_kills"),
    "peak_memory_is_lower_bound": Bounds(1, 1),
}
"""By field: a value outside is no value. The largest machines have 64 TiB, 2,048 threads and 16 GPUs; the largest
systems 10 PB and 11 million cores. A moment is before the year 5138."""

LARGEST_NUMBER = 1e150
"""Of any other column: its square is a number still."""

OF_QUANTITY = {"s": 1e15, "B": 1e21, "percent": 2e9}
"""The most that a further column can be, in the unit that its quantity is kept in; none is negative."""


def within(field: str, sql: str) -> str:
    """The SQL of a number of a field, NULL where it is out of bounds: a fallback is read then."""
    bounds = BOUNDS[field]
    return f"CASE WHEN ({sql}) BETWEEN {bounds.least!r} AND {bounds.of_a_system!r} THEN ({sql}) END"
