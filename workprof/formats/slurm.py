"""Slurm accounting: `sacct -P` with any `--format`; step lines are folded into their job.

K, M, G, T are powers of 1024. `ReqMem` ends in n (per node) or c (per core) before Slurm 21.08, and is of the whole job
since; 0 asks for a whole node and is no number of bytes. `MaxRSS` is the largest of one task. Request and use become
those of one node: the sum over tasks (TRESUsageInTot, else AveRSS x NTasks) by the number of nodes; of a job that of
its largest step. Where only `MaxRSS` is known of several tasks, the use is a lower bound. `Elapsed` of a running job is
what it ran so far, and its End is Unknown.

Source: Slurm's manual pages of sacct and sbatch.
"""

from collections.abc import Callable, Sequence

from workprof.core.units import MIB
from workprof.formats import values
from workprof.formats.declare import NUMBER, TEXT, AtOnce, Finding, Format, Made, Rule, SourceColumn, Steps

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
    *(
        "ReqTRES",
        "AllocTRES",
        "ReqGRES",
        "AllocGRES",
        *_TRES_USAGE,
        "ConsumedEnergy",
        "AveCPUFreq",
        "ReqCPUFreq",
        "ReqCPUFreqMin",
    ),
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

FREE_TEXTS = ("JobName", "WorkDir", "Comment", "AdminComment", "SystemComment", "Extra", "SubmitLine", "Container")

STATES = (
    "BOOT_FAIL|CANCELLED|COMPLETED|COMPLETING|CONFIGURING|DEADLINE|FAILED|NODE_FAIL|OUT_OF_ME[MORY+]*|PENDING|PREEMPTED|"
    "RUNNING|REQUEUED|RESIZING|REVOKED|SUSPENDED|TIMEOUT|STOPPED|SPECIAL_EXIT|REQUEUE_HOLD|REQUEUE_FED|SIGNALING|STAGE_OUT"
)
SHAPES = (
    *((name, r"\d+(?:_(?:\d+|\[[^|]*\]))?(?:\+\d+)?(?:\.[\w+]+)?") for name in ("JobID", "JobIDRaw")),
    ("State", rf"(?:{STATES})(?: by \d+|\+)?"),
    *((name, r"\d+:\d+") for name in ("ExitCode", "DerivedExitCode")),
    *((name, r"[A-Za-z][\w/:.\-]*=.*") for name in ("ReqTRES", "AllocTRES", *_TRES_USAGE)),
    *((name, r"[\w.@$+-]*") for name in ("User", "Group", "Partition", "QOS", "Cluster")),
)
"""What stands in columns of texts that are no free ones."""

_SPELLED = {column.name.lower(): column.name for column in COLUMNS}

OWN = frozenset(
    {"ReqMem", "MaxRSS", "AveRSS", "ReqTRES", "AllocTRES", "ElapsedRaw", "TimelimitRaw", "CPUTimeRAW", "TotalCPU"}
    | {"AllocCPUS", "ReqCPUS", "NCPUS", "NNodes", "NodeList", "MaxVMSize", "DerivedExitCode", *_TRES_USAGE}
)
"""Fields that nobody else spells so."""

MEMORY = frozenset({"ReqMem", "MaxRSS", "AveRSS", "ReqTRES", "AllocTRES", *_TRES_USAGE})


def headings(names: Sequence[str]) -> tuple[str, ...] | None:
    """The columns as sacct spells them, None where they are not sacct's.

    A width ('JobName%30') is left out. Another case of the letters ('jobid', 'maxrss') is taken for sacct's only where
    the state, a memory field and one more of its own are there: a table of `jobid` and `state` is anybody's. So is one
    of JobID and State with columns that sacct has not and none of its own (Moab's). Without JobID, JobIDRaw names the
    job.
    """
    bare = [name.strip().split("%", 1)[0] for name in names]
    exact = {name for name in bare if name in _SPELLED.values()}
    if {"JobID", "JobIDRaw"} & exact:
        if not exact & OWN and ("State" not in exact or len(exact) < len(bare)):
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
    """The SQL of one entry of a list of trackable resources ('cpu=4,mem=16G,gres/gpu:a100=2'), as a text."""
    return f"nullif(regexp_extract(\"{column}\", '(?:^|,){name}(?::[^=,]*)?=([^,]*)', 1), '')"


def _count(column: str) -> str:
    """The SQL of a count; a Parquet file may hold it as a text."""
    return f'TRY_CAST("{column}" AS DOUBLE)'


def _first(*options: str) -> str:
    return f"coalesce({', '.join(options)})"


def _read(column: str, name: str, reader: Callable[[str, float], str] = values.size, factor: float = 1.0) -> str:
    """The SQL of the number that an entry of a list of resources says; `factor` is that of a bare number."""
    return f"[{reader('each', factor)} for each in [{tres(column, name)}]][1]"


def _of_usage(field: str, name: str, columns: Sequence[str], reader: Callable[[str, float], str] = values.size) -> Made:
    """The field of a line that a list of its use tells, where no column of its own does."""
    read = (_read(column, name, reader) for column in columns)
    return Made(field, _first(field, *read), may=(field, *columns), of_line=True)


def _kinds(column: str, group: int) -> str:
    """The SQL of a list of the kinds of GPUs that a list of resources names (1), or of how many of each (2)."""
    return f"regexp_extract_all(\"{column}\", '(?:^|,)gres/gpu:([^=,]+)=([^,]*)', {group})"


def _gpus(column: str) -> str:
    """The SQL of all GPUs of a list of resources: the number without a kind, else the sum of all kinds."""
    whole = f"nullif(regexp_extract(\"{column}\", '(?:^|,)gres/gpu=([^,]*)', 1), '')"
    summed = f"list_sum([{values.amount('each')} for each in {_kinds(column, 2)}])"
    return f"CASE WHEN contains(\"{column}\", 'gres/gpu') THEN greatest({values.amount(whole)}, {summed}) END"


_GRES = r"(?:^|,|PER_JOB:)(?:gres[:/])?gpu(?::([A-Za-z][\w.\-]*))?[:=](\d+)"
"""A generic resource as Slurm before 20.11 lists it ('gpu:a100:2', 'gpu:2(S:0-1)'), or as a whole job requests it."""
_GRES_OF_A_NODE = _GRES.replace("^|,|PER_JOB:", "PER_NODE:")
_ANY_GRES = _GRES.replace("PER_JOB", "PER_(?:JOB|NODE)")


def _of_gres(column: str, pattern: str, group: int) -> str:
    """The SQL of a list of the kinds of GPUs that a list of resources names (1), or of how many of each (2)."""
    return f"regexp_extract_all(\"{column}\", '{pattern}', {group})"


def _gpus_of_gres(column: str) -> str:
    whole, each_node = (_of_gres(column, pattern, 2) for pattern in (_GRES, _GRES_OF_A_NODE))
    each = (
        f"[100 * TRY_CAST(each AS DOUBLE) * {times} for each in {of}]"
        for of, times in ((whole, "1"), (each_node, _NODES))
    )
    return f"list_sum(list_concat({', '.join(each)}))"


_RANGE = r"(?:\[|^)(\d+)-(\d+)\]?$"
_LISTED = (
    "CASE WHEN node NOT LIKE '%+' THEN list_sum([CASE WHEN regexp_matches(each, 'range') THEN 1 + TRY_CAST("
    "regexp_extract(each, 'range', 2) AS INTEGER) - TRY_CAST(regexp_extract(each, 'range', 1) AS INTEGER) ELSE 1 END "
    "for each in string_split(node, ',')]) END"
).replace("range", _RANGE)
"""The nodes that a list names ('n[001-004,007],gpu1'), unless the screen cut it off."""

_COUNTS_OF_NODES = ("NNodes", "AllocNodes", "ReqNodes")
_NODES, _TASKS = "coalesce(nodes_, 1)", "tasks_"
_SPREAD = Made(
    "nodes_",
    f"greatest({_first(*map(_count, _COUNTS_OF_NODES), values.plain(tres('AllocTRES', 'node')))}, 1)",
    may=(*_COUNTS_OF_NODES, "AllocTRES"),
    of_line=True,
    aside=True,
)
"""The nodes of a line, 1 where it does not tell them."""

_ALONE = r"regexp_matches(job_name, '\.(?:batch|extern|interactive)$')"
"""Steps of one task a node, whatever the file tells of their number."""

_SPLIT = Made(
    "tasks_",
    f"coalesce({_count('NTasks')}, CASE WHEN {_ALONE} THEN {_NODES} END)",
    needs=("job_name",),
    may=("NTasks", "nodes_"),
    of_line=True,
    aside=True,
)
_ALL_TASKS = Made(
    "of_all_tasks_",
    f"coalesce({_read('TRESUsageInTot', 'mem')}, mean_memory_bytes * {_TASKS})",
    may=("TRESUsageInTot", "mean_memory_bytes", "tasks_"),
    of_line=True,
    aside=True,
)
_LARGEST_TASK = Made(
    "of_largest_task_",
    f"coalesce(peak_memory_bytes, {_read('TRESUsageInMax', 'mem')})",
    may=("peak_memory_bytes", "TRESUsageInMax"),
    of_line=True,
    aside=True,
)
_MOST_TASKS_A_NODE = (
    f"CASE WHEN {_TASKS} IS NOT NULL THEN ceil({_TASKS} / {_NODES}) WHEN regexp_matches(job_name, '\\.\\d+$') "
    f"THEN coalesce(ceil({_first(*map(_count, ('AllocCPUS', 'NCPUS', 'ReqCPUS')))} / {_NODES}), 2) "
    f"WHEN {_NODES} > 1 THEN 2 ELSE 1 END"
)
"""A numbered step whose number of tasks is not told may have one a core, several where these are not told either; a job
over several nodes has several."""

_MAY_BE_MORE = Made(
    "peak_memory_is_lower_bound",
    f"CASE WHEN of_all_tasks_ > 0 AND ({_NODES} = 1 OR {_TASKS} % {_NODES} = 0) THEN 0 "
    f"ELSE of_largest_task_ * ({_MOST_TASKS_A_NODE}) END",
    needs=("job_name",),
    may=("of_largest_task_", "of_all_tasks_", "tasks_", "nodes_", "AllocCPUS", "NCPUS", "ReqCPUS"),
    of_line=True,
)
"""Bytes that a node may have held of a line's tasks, 0 where it is known; once folded it becomes 1 or 0."""

_OF_A_NUMBERED_STEP = (
    "CASE WHEN regexp_matches(job_name, '\\.\\d+$') THEN greatest(peak_memory_bytes, peak_memory_is_lower_bound) END"
)
"""Bytes that a node may have held of a step beside others that ran at the same time."""

_CPU_TIMES = (
    "TotalCPU",
    "UserCPU + SystemCPU",
    _read("TRESUsageInTot", "cpu", values.duration),
    f"AveCPU * {_count('NTasks')}",
)

_OTHER_USE = ("peak_memory_bytes", "read_bytes", "write_bytes")
_NO_CPU = f"TotalCPU = 0 AND duration_s > 0 AND ({' OR '.join(f'{name} > 0' for name in _OTHER_USE)})"
"""Some versions print 0 for a CPU time that they do not know."""

_CPU_TIMES_OF_JOBS = {"CPUTimeRAW": _count("CPUTimeRAW"), "CPUTime": "CPUTime"}
"""What sacct calls CPU time is the time elapsed times the cores."""

_OUT_OF_MEMORY = "status LIKE 'OUT_OF_ME%'"

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
        Rule("cluster", "Cluster"),
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
    many_machines=True,
    finished=("completed", "cd"),
    zero_is_unknown=("peak_memory_bytes",),
    duration_from_times=True,
    units=(
        *((name, "s") for name in _DURATIONS),
        *((name, "B") for name in _SIZES),
        *((name, "cores") for name in ("ReqCPUS", "NCPUS", "AllocCPUS")),
    ),
    counts=("ReqNodes", "NNodes", "AllocNodes", "NTasks", "ReqCPUS", "NCPUS", "AllocCPUS"),
    headings=headings,
    bare_quotes="|",
    free_texts=FREE_TEXTS,
    shapes=SHAPES,
    steps=Steps(
        key="job_name",
        step=r"^([^.]+)\.",
        largest=(
            *("peak_memory_bytes", "mean_memory_bytes", "read_bytes", "write_bytes", "MaxVMSize", "TotalCPU"),
            *("gpu_usage_percent", "peak_gpu_memory_bytes", "peak_memory_is_lower_bound", "out_of_memory_kills"),
        ),
        within=("cluster",),
        of_a_run=("user", "workload", "time_limit_s", "requested_memory_bytes"),
        at_once=(AtOnce("peak_memory_is_lower_bound", _OF_A_NUMBERED_STEP, apart="node"),),
    ),
    made=(
        Made(
            "NNodes",
            _first(*map(_count, ("NNodes", "AllocNodes")), values.plain(tres("AllocTRES", "node")), _LISTED),
            may=("NNodes", "AllocNodes", "AllocTRES", "node"),
            of_line=True,
        ),
        _of_usage("mean_memory_bytes", "mem", ("TRESUsageInAve",)),
        *(_SPREAD, _SPLIT, _ALL_TASKS, _LARGEST_TASK, _MAY_BE_MORE),
        Made(
            "peak_memory_bytes",
            f"greatest(of_largest_task_, of_all_tasks_ / {_NODES})",
            needs=("job_name",),
            may=("of_largest_task_", "of_all_tasks_", "nodes_"),
            of_line=True,
        ),
        Made(
            "out_of_memory_kills",
            f"CASE WHEN {_OUT_OF_MEMORY} THEN 2 WHEN contains(job_name, '.') AND status LIKE 'CANCELLED%' "
            "AND ExitCode = '0:9' THEN 1 ELSE 0 END",
            needs=("job_name", "status"),
            may=("ExitCode",),
            of_line=True,
        ),
        Made(
            "TotalCPU",
            f"coalesce({', '.join(f'nullif({time}, 0)' for time in _CPU_TIMES)}, TotalCPU)",
            may=("TotalCPU", "UserCPU", "SystemCPU", "TRESUsageInTot", "AveCPU", "NTasks"),
            of_line=True,
        ),
        _of_usage("read_bytes", "fs/disk", ("TRESUsageInTot", "TRESUsageInMax")),
        _of_usage("write_bytes", "fs/disk", ("TRESUsageOutTot", "TRESUsageOutMax")),
        _of_usage("peak_gpu_memory_bytes", "gres/gpumem", ("TRESUsageInMax",)),
        _of_usage("gpu_usage_percent", "gres/gpuutil", ("TRESUsageInAve",), values.amount),
        Made("duration_s", f"coalesce(duration_s, {_count('ElapsedRaw')})", may=("duration_s", "ElapsedRaw")),
        *(
            Made(
                "duration_s",
                f"coalesce(duration_s, {time} / nullif({_count(cores)}, 0))",
                needs=(name, cores),
                may=("duration_s",),
            )
            for name, time in _CPU_TIMES_OF_JOBS.items()
            for cores in ("AllocCPUS", "NCPUS")
        ),
        Made(
            "time_limit_s",
            f"coalesce(time_limit_s, 60 * {_count('TimelimitRaw')})",
            may=("time_limit_s", "TimelimitRaw"),
        ),
        Made(
            "requested_cpu_percent",
            _first(
                # a job that never started was given none
                *(f"nullif(100 * {_count(column)}, 0)" for column in ("ReqCPUS", "NCPUS", "AllocCPUS")),
                *(_read(column, "cpu", values.amount, 100.0) for column in ("ReqTRES", "AllocTRES")),
            ),
            may=("ReqCPUS", "NCPUS", "AllocCPUS", "ReqTRES", "AllocTRES"),
        ),
        Made(
            "requested_memory_bytes",
            f"nullif(requested_memory_bytes, 0) * CASE {values.per('ReqMem')} "
            f"WHEN 'c' THEN requested_cpu_percent / 100 / {_NODES} WHEN 'n' THEN 1 ELSE 1 / {_NODES} END",
            needs=("ReqMem",),
            may=("requested_cpu_percent", "nodes_"),
        ),
        Made(
            "requested_memory_bytes",
            _first(
                "requested_memory_bytes",
                *(f"{_read(column, 'mem', factor=MIB)} / {_NODES}" for column in ("ReqTRES", "AllocTRES")),
            ),
            may=("requested_memory_bytes", "ReqTRES", "AllocTRES", "nodes_"),
        ),
        Made(
            "requested_gpu_percent",
            _first(*map(_gpus, ("ReqTRES", "AllocTRES")), *map(_gpus_of_gres, ("AllocGRES", "ReqGRES"))),
            may=("ReqTRES", "AllocTRES", "AllocGRES", "ReqGRES", "nodes_"),
        ),
        Made(
            "gpu_type",
            _first(
                *(f"nullif(array_to_string({_kinds(column, 1)}, '+'), '')" for column in ("ReqTRES", "AllocTRES")),
                *(
                    f"nullif(trim(array_to_string({_of_gres(name, _ANY_GRES, 1)}, '+'), '+'), '')"
                    for name in ("AllocGRES", "ReqGRES")
                ),
            ),
            may=("ReqTRES", "AllocTRES", "AllocGRES", "ReqGRES"),
        ),
        Made(
            "cpu_usage_percent",
            f"CASE WHEN {_NO_CPU} THEN NULL ELSE 100 * TotalCPU / nullif(duration_s, 0) END",
            needs=("TotalCPU", "duration_s"),
            may=_OTHER_USE,
        ),
        Made(
            "peak_memory_is_lower_bound",
            "CASE WHEN peak_memory_bytes IS NOT NULL THEN (peak_memory_is_lower_bound > peak_memory_bytes)::DOUBLE END",
            needs=("peak_memory_is_lower_bound", "peak_memory_bytes"),
        ),
        Made(
            "out_of_memory_kills",
            "(out_of_memory_kills = 2 OR (out_of_memory_kills = 1 AND status LIKE 'FAILED%' "
            "AND ExitCode IN ('9:0', '0:9', '137:0') AND peak_memory_bytes > requested_memory_bytes))::DOUBLE",
            needs=("out_of_memory_kills", "status"),
            may=("ExitCode", "peak_memory_bytes", "requested_memory_bytes"),
        ),
        Made(
            "status",
            "CASE WHEN status LIKE 'OUT_OF_ME%' THEN 'OUT_OF_MEMORY' ELSE regexp_extract(status, '^[A-Za-z_]+') END",
            needs=("status",),
        ),
    ),
    findings=(
        Finding(
            "lower bound",
            "warning",
            "peak_memory_is_lower_bound = 1",
            "runs have the memory of their largest task (MaxRSS) or step alone where a node may have held several at "
            "once: a lower bound of their use; ask sacct for NTasks, NNodes, NodeList, AveRSS and TRESUsageInTot",
            needs=("peak_memory_is_lower_bound",),
        ),
        Finding(
            "several nodes",
            "info",
            "NNodes > 1",
            "runs are over several nodes: memory requested and used is that of one node (NNodes says of how many)",
            needs=("NNodes",),
        ),
        Finding(
            "CPU time of zero",
            "warning",
            "TotalCPU = 0 AND duration_s > 0 AND cpu_usage_percent IS NULL",
            "runs have a CPU time of 0 beside a duration and other use: it is not known, and counts as missing",
            needs=("TotalCPU", "duration_s", "cpu_usage_percent"),
        ),
        Finding(
            "killed for memory",
            "info",
            "out_of_memory_kills > 0 AND status NOT LIKE 'OUT_OF_ME%'",
            "runs were killed for memory though their state is another: a step was killed (0:9) above the request, or "
            "ran out of memory",
            needs=("out_of_memory_kills", "status"),
        ),
    ),
    not_known="Slurm samples memory: a peak between two samples is missed, so a size may be too small.",
    rows_version=11,
)
