"""Slurm accounting: `sacct -P` with any `--format`; step lines are folded into their job.

K, M, G, T are powers of 1024. `ReqMem` ends in n (per node) or c (per core) before Slurm 21.08, and is of the whole job
since; 0 asks for a whole node and is no number of bytes. `MaxRSS` is the largest of one task: a job's peak is at least
that of its largest step. `Elapsed` of a running job is what it ran so far, and its End is Unknown.

Source: Slurm's manual pages of sacct and sbatch.
"""

from __future__ import annotations

from workprof.formats import values
from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn, Steps

NULLS = ("", "Unknown", "None", "None assigned", "N/A", "INVALID", "UNLIMITED", "Partition_Limit", "NULL")
_NUMBERS = (
    *("ReqCPUS", "NCPUS", "AllocCPUS", "ReqNodes", "NNodes", "AllocNodes", "NTasks", "ElapsedRaw", "CPUTimeRAW"),
    *("TotalCPU", "UserCPU", "SystemCPU", "CPUTime", "AveCPU", "MaxVMSize", "AveVMSize", "TimelimitRaw"),
)
_TEXTS = (
    *("JobID", "JobIDRaw", "JobName", "User", "UID", "Account", "Group", "Partition", "QOS", "State", "ExitCode"),
    *("Submit", "Eligible", "Start", "End", "Elapsed", "Timelimit", "ReqMem", "MaxRSS", "AveRSS", "NodeList"),
    *("ReqTRES", "AllocTRES", "TRESUsageInMax", "TRESUsageInAve", "TRESUsageInTot", "MaxDiskRead", "MaxDiskWrite"),
    *("WorkDir", "Comment", "DerivedExitCode", "Reservation", "Constraints", "SubmitLine", "Priority", "WCKey"),
)


def tres(column: str, name: str) -> str:
    """Return the SQL of one entry of a list of trackable resources ('cpu=4,mem=16G,gres/gpu:a100=2'), as a text."""
    return f"nullif(regexp_extract(\"{column}\", '(?:^|,){name}(?::[^=,]*)?=([^,]*)', 1), '')"


FORMAT = Format(
    name="slurm",
    title="Slurm accounting (sacct -P)",
    columns=(
        *(SourceColumn(name, TEXT) for name in _TEXTS),
        *(SourceColumn(name, NUMBER) for name in _NUMBERS),
    ),
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
        Rule("requested_memory_bytes", "ReqMem", "MiB", keep=True),
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
    units=(("TotalCPU", "s"), ("CPUTime", "s"), ("UserCPU", "s"), ("SystemCPU", "s"), ("MaxVMSize", "B")),
    steps=Steps(
        key="job_name",
        step=r"^([^.]+)\.",
        largest=("peak_memory_bytes", "mean_memory_bytes", "read_bytes", "write_bytes", "MaxVMSize", "TotalCPU"),
    ),
    made=(
        Made("duration_s", "coalesce(duration_s, ElapsedRaw)", may=("duration_s", "ElapsedRaw")),
        Made("time_limit_s", "coalesce(time_limit_s, 60 * TimelimitRaw)", may=("time_limit_s", "TimelimitRaw")),
        Made(
            "requested_cpu_percent",
            f"coalesce(100 * ReqCPUS, 100 * NCPUS, 100 * AllocCPUS, {values.amount(tres('ReqTRES', 'cpu'))})",
            may=("ReqCPUS", "NCPUS", "AllocCPUS", "ReqTRES"),
        ),
        Made(
            "requested_memory_bytes",
            f"nullif(requested_memory_bytes, 0) * CASE {values.per('ReqMem')} "
            "WHEN 'c' THEN requested_cpu_percent / 100 "
            "WHEN 'n' THEN coalesce(NNodes, AllocNodes, ReqNodes, 1) ELSE 1 END",
            needs=("ReqMem",),
            may=("requested_cpu_percent", "NNodes", "AllocNodes", "ReqNodes"),
        ),
        Made(
            "requested_memory_bytes",
            f"coalesce(requested_memory_bytes, {values.size(tres('ReqTRES', 'mem'))})",
            needs=("ReqTRES",),
            may=("requested_memory_bytes",),
        ),
        Made(
            "requested_gpu_percent",
            f"coalesce({values.amount(tres('ReqTRES', 'gres/gpu'))}, {values.amount(tres('AllocTRES', 'gres/gpu'))})",
            may=("ReqTRES", "AllocTRES"),
        ),
        Made(
            "peak_memory_bytes",
            f"coalesce(peak_memory_bytes, {values.size(tres('TRESUsageInMax', 'mem'))})",
            needs=("TRESUsageInMax",),
            may=("peak_memory_bytes",),
        ),
        Made("cpu_usage_percent", "100 * TotalCPU / nullif(duration_s, 0)", needs=("TotalCPU", "duration_s")),
        Made("status", "regexp_extract(status, '^[A-Za-z_]+')", needs=("status",)),
    ),
)
