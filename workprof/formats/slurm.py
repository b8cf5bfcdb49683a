"""Slurm accounting: `sacct -P` with any `--format`; step lines are folded into their job.

K, M, G, T are powers of 1024. `ReqMem` ends in n (per node) or c (per core) before Slurm 21.08, and is of the whole job
since; 0 asks for a whole node and is no number of bytes. `MaxRSS` is the largest of one task: a job's peak is at least
that of its largest step. `Elapsed` of a running job is what it ran so far, and its End is Unknown.

Source: Slurm's manual pages of sacct and sbatch.
"""

from __future__ import annotations

from collections.abc import Sequence

from workprof.core.units import MIB
from workprof.formats import values
from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn, Steps

NULLS = (
    *("", "Unknown", "None", "None assigned", "N/A", "INVALID", "UNLIMITED", "Partition_Limit", "NULL"),
    *("nan", "NaN", "NaT", "<NA>"),
)
"""Slurm's words for "no value", and those of the tables that people join its lines in."""

_NUMBERS = (
    *("ReqCPUS", "NCPUS", "AllocCPUS", "ReqNodes", "NNodes", "AllocNodes", "NTasks", "ElapsedRaw", "CPUTimeRAW"),
    *("TimelimitRaw", "PlannedCPURAW", "ResvCPURAW", "ConsumedEnergyRaw", "Restarts"),
)
_DURATIONS = (
    *("TotalCPU", "UserCPU", "SystemCPU", "CPUTime", "AveCPU", "MinCPU", "Planned", "PlannedCPU", "Reserved"),
    *("ResvCPU", "Suspended"),
)
_SIZES = ("MaxVMSize", "AveVMSize", "AveDiskRead", "AveDiskWrite")
_TRES_USAGE = tuple(
    f"TRESUsage{way}{what}"
    for way in ("In", "Out")
    for what in ("Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")
)
_TEXTS = (
    *("JobID", "JobIDRaw", "JobName", "User", "UID", "Account", "Group", "GID", "Partition", "QOS", "QOSRAW", "QOSREQ"),
    *("State", "ExitCode", "DerivedExitCode", "Submit", "Eligible", "Start", "End", "Elapsed", "Timelimit"),
    *("ReqMem", "MaxRSS", "MaxRSSNode", "MaxRSSTask", "AveRSS", "MaxDiskRead", "MaxDiskWrite", "NodeList"),
    *("ReqTRES", "AllocTRES", *_TRES_USAGE, "ConsumedEnergy", "AveCPUFreq", "ReqCPUFreq", "ReqCPUFreqMin"),
    *("ReqCPUFreqMax", "ReqCPUFreqGov", "AvePages", "MaxPages", "MaxPagesNode", "MaxPagesTask", "MaxVMSizeNode"),
    *("MaxVMSizeTask", "MaxDiskReadNode", "MaxDiskReadTask", "MaxDiskWriteNode", "MaxDiskWriteTask", "MinCPUNode"),
    *("MinCPUTask", "WorkDir", "Comment", "AdminComment", "SystemComment", "Extra", "Reservation", "ReservationId"),
    *("Constraints", "SubmitLine", "Priority", "WCKey", "WCKeyID", "Cluster", "Container", "AssocID", "BlockID"),
    *("DBIndex", "FailedNode", "Flags", "Layout", "Licenses", "McsLabel", "Reason", "SLUID", "StdErr", "StdIn"),
    *("StdOut",),
)

COLUMNS = (
    *(SourceColumn(name, TEXT) for name in _TEXTS),
    *(SourceColumn(name, NUMBER) for name in (*_NUMBERS, *_DURATIONS, *_SIZES)),
)
"""Every field that sacct prints; sizes and durations are read from their texts."""

_SPELLED = {column.name.lower(): column.name for column in COLUMNS}

OWN = frozenset(
    {"ReqMem", "MaxRSS", "AveRSS", "ReqTRES", "AllocTRES", "ElapsedRaw", "TimelimitRaw", "CPUTimeRAW", "TotalCPU"}
    | {"AllocCPUS", "ReqCPUS", "NCPUS", "NNodes", "NodeList", "MaxVMSize", "DerivedExitCode", *_TRES_USAGE}
)
"""Fields that nobody else spells so."""

MEMORY = frozenset({"ReqMem", "MaxRSS", "AveRSS", "ReqTRES", "AllocTRES", *_TRES_USAGE})


def headings(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns as sacct spells them, None where they are not sacct's.

    A width ('JobName%30') is left out. Another case of the letters ('jobid', 'maxrss') is taken for sacct's only where
    the state, a memory field and one more of its own are there: a table of `jobid` and `state` is anybody's. Without
    JobID, JobIDRaw names the job.
    """
    bare = [name.strip().split("%", 1)[0] for name in names]
    exact = {name for name in bare if name in _SPELLED.values()}
    if {"JobID", "JobIDRaw"} & exact:
        if "State" not in exact and not exact & OWN:
            return None
    else:
        result = {_SPELLED[name.lower()] for name in bare if name.lower() in _SPELLED}
        own = result & OWN
        if not {"JobID", "JobIDRaw"} & result or "State" not in result or not own & MEMORY or len(own) < 2:
            return None
    spelled: list[str] = []
    for name, plain in zip(names, bare, strict=True):
        known = _SPELLED.get(plain.lower(), name)
        spelled.append(name if known in spelled else known)
    if "JobID" not in spelled:
        spelled[spelled.index("JobIDRaw")] = "JobID"
    return tuple(spelled)


def tres(column: str, name: str) -> str:
    """Return the SQL of one entry of a list of trackable resources ('cpu=4,mem=16G,gres/gpu:a100=2'), as a text."""
    return f"nullif(regexp_extract(\"{column}\", '(?:^|,){name}(?::[^=,]*)?=([^,]*)', 1), '')"


def _count(column: str) -> str:
    """Return the SQL of a count; a Parquet file may hold it as a text."""
    return f'TRY_CAST("{column}" AS DOUBLE)'


def _first(*options: str) -> str:
    return f"coalesce({', '.join(options)})"


def _of_usage(field: str, name: str, columns: Sequence[str], *, amount: bool = False) -> Made:
    """Return the field of a line that a list of its use tells, where no column of its own does."""
    read = (values.amount(tres(column, name), 1.0) if amount else values.size(tres(column, name)) for column in columns)
    return Made(field, _first(field, *read), may=(field, *columns), of_line=True)


FORMAT = Format(
    name="slurm",
    title="Slurm accounting (sacct -P)",
    columns=COLUMNS,
    rules=(
        Rule("job_name", "JobID"),
        Rule("task_name", "JobName"),
        Rule("user", "User"),
        Rule("group", "Account"),
        Rule("workload", "Partition"),
        Rule("node", "NodeList"),
        Rule("status", "State"),
        Rule("submit_time_s", "Submit"),
        Rule("start_time_s", "Start"),
        Rule("end_time_s", "End"),
        Rule("duration_s", "Elapsed", "s"),
        Rule("time_limit_s", "Timelimit", "min"),
        Rule("requested_memory_bytes", "ReqMem", "MiB", keep_source=True),
        Rule("peak_memory_bytes", "MaxRSS", "B"),
        Rule("mean_memory_bytes", "AveRSS", "B"),
        Rule("read_bytes", "MaxDiskRead", "B"),
        Rule("write_bytes", "MaxDiskWrite", "B"),
    ),
    required=("JobID",),
    signature=("JobID", "State"),
    nulls=NULLS,
    finished=("completed",),
    duration_from_times=True,
    units=(*((name, "s") for name in _DURATIONS), *((name, "B") for name in _SIZES)),
    headings=headings,
    bare_quotes="|",
    steps=Steps(
        key="job_name",
        step=r"^([^.]+)\.",
        largest=(
            *("peak_memory_bytes", "mean_memory_bytes", "read_bytes", "write_bytes", "MaxVMSize", "TotalCPU"),
            *("gpu_usage_percent", "peak_gpu_memory_bytes"),
        ),
    ),
    made=(
        _of_usage("peak_memory_bytes", "mem", ("TRESUsageInMax", "TRESUsageInTot")),
        _of_usage("mean_memory_bytes", "mem", ("TRESUsageInAve",)),
        _of_usage("read_bytes", "fs/disk", ("TRESUsageInTot", "TRESUsageInMax")),
        _of_usage("write_bytes", "fs/disk", ("TRESUsageOutTot", "TRESUsageOutMax")),
        _of_usage("peak_gpu_memory_bytes", "gres/gpumem", ("TRESUsageInMax",)),
        _of_usage("gpu_usage_percent", "gres/gpuutil", ("TRESUsageInAve",), amount=True),
        Made("duration_s", f"coalesce(duration_s, {_count('ElapsedRaw')})", may=("duration_s", "ElapsedRaw")),
        Made(
            "time_limit_s",
            f"coalesce(time_limit_s, 60 * {_count('TimelimitRaw')})",
            may=("time_limit_s", "TimelimitRaw"),
        ),
        Made(
            "requested_cpu_percent",
            _first(
                *(f"100 * {_count(column)}" for column in ("ReqCPUS", "NCPUS", "AllocCPUS")),
                *(values.amount(tres(column, "cpu")) for column in ("ReqTRES", "AllocTRES")),
            ),
            may=("ReqCPUS", "NCPUS", "AllocCPUS", "ReqTRES", "AllocTRES"),
        ),
        Made(
            "requested_memory_bytes",
            f"nullif(requested_memory_bytes, 0) * CASE {values.per('ReqMem')} "
            "WHEN 'c' THEN requested_cpu_percent / 100 "
            f"WHEN 'n' THEN {_first(*map(_count, ('NNodes', 'AllocNodes', 'ReqNodes')), '1')} ELSE 1 END",
            needs=("ReqMem",),
            may=("requested_cpu_percent", "NNodes", "AllocNodes", "ReqNodes"),
        ),
        Made(
            "requested_memory_bytes",
            _first(
                "requested_memory_bytes",
                *(values.size(tres(column, "mem"), MIB) for column in ("ReqTRES", "AllocTRES")),
            ),
            may=("requested_memory_bytes", "ReqTRES", "AllocTRES"),
        ),
        Made(
            "requested_gpu_percent",
            _first(*(values.amount(tres(column, "gres/gpu")) for column in ("ReqTRES", "AllocTRES"))),
            may=("ReqTRES", "AllocTRES"),
        ),
        Made(
            "gpu_type",
            _first(
                *(
                    f"nullif(regexp_extract(\"{column}\", 'gres/gpu:([^=,]+)=', 1), '')"
                    for column in ("ReqTRES", "AllocTRES")
                )
            ),
            may=("ReqTRES", "AllocTRES"),
        ),
        Made("cpu_usage_percent", "100 * TotalCPU / nullif(duration_s, 0)", needs=("TotalCPU", "duration_s")),
        Made(
            "status",
            "CASE WHEN status LIKE 'OUT_OF_ME%' THEN 'OUT_OF_MEMORY' ELSE regexp_extract(status, '^[A-Za-z_]+') END",
            needs=("status",),
        ),
    ),
)
