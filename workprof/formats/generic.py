"""Any job table: the user says which column is which field, in which unit; a look at the file only proposes.

A file whose columns already carry workprof's own field names (an export, for one) is taken as it is.
"""

import re

from workprof.core.units import MIB
from workprof.formats.declare import Format, Made, Rule, Steps
from workprof.formats.fields import FIELDS

FINISHED = (
    *("terminated", "completed", "complete", "succeeded", "success", "finished", "finish", "passed", "done", "ok"),
    "cd",  # Slurm's COMPLETED
    *("erledigt", "fertig", "abgeschlossen", "erfolgreich", "beendet"),
)
"""Words of runs that ended well, which tools cut short (`CD+`), or to which they add an exit code (`Completed (0)`)."""

STATES_OF_SLURM = (
    *("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED"),
    *("BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"),
)
"""States by their numbers in the table of jobs of Slurm's database, which `OF_SLURMS_DATABASE` tells."""
OF_SLURMS_DATABASE = frozenset(["id_job", "state", "time_start", "time_end"])


def _resource(number: int) -> str:
    """The SQL of a resource by its number in Slurm's database ('1=4,2=8192,4=2'): cores, MiB, nodes are 1, 2, 4."""
    each = (f"regexp_extract(CAST({column} AS VARCHAR), '(?:^|,){number}=(\\d+)', 1)" for column in RESOURCES)
    return f"coalesce({', '.join(f'TRY_CAST({one} AS DOUBLE)' for one in each)})"


RESOURCES = ("tres_req", "tres_alloc")
"""Columns of resources of a whole job there; `mem_req` is of a node, or 2**63 more than that of a core.

Source: Slurm's sources, slurmdbd's table of jobs and MEM_PER_CPU.
"""
OF_A_NODE = tuple(
    Made(
        "requested_memory_bytes",
        f"coalesce(requested_memory_bytes, {MIB!r} * {_resource(2)} / coalesce({_resource(4)}, 1))",
        needs=(column,),
        may=("requested_memory_bytes", *RESOURCES),
    )
    for column in RESOURCES
)

BEFORE_STATUS = r"^\s*(?:[A-Za-z]+_)*STAT(?:E|US)_"
"""What Google's APIs and others write before the word of a status: JOB_STATE_SUCCEEDED."""

FORMAT = Format(
    name="generic",
    title="Job table (CSV, Parquet, JSON lines)",
    rules=tuple(Rule(name, name, field.unit) for name, field in FIELDS.items()),
    nulls=("", "NULL", "null", "NA", "N/A", "-", "\\N"),
    many_machines=True,
    finished=(
        *FINISHED,
        *(f"{word}{end}" for word in FINISHED for end in ("+", " (0)", " (exit 0)", " (exit code 0)")),
        *("exited (0)", "exit (0)", "exit 0", "exit code 0"),
        *("0", "0.0", "0:0"),
    ),
    before_status=BEFORE_STATUS,
    duration_from_times=True,
    made=OF_A_NODE,
    rows_version=14,
)

STEPS = Steps(
    key="job_name",
    step=r"^(\d+(?:_\d+)?(?:\+\d+)?)\.(batch|extern|interactive|\d+)$",
    largest=(
        *("cpu_usage_percent", "gpu_usage_percent", "mean_memory_bytes", "peak_memory_bytes", "mean_gpu_memory_bytes"),
        *("peak_gpu_memory_bytes", "read_bytes", "write_bytes"),
    ),
)
"""Lines of Slurm's steps in a table with other headings; the second group of `step` is the step."""

SYNONYMS: dict[str, tuple[str, ...]] = {
    "job_name": (
        *("job name", "job", "job id", "jobs", "name", "id", "pod", "pod name", "application", "workload name"),
        *("workload id", "full display name", "display name", "training job name", "application name"),
        *("application id", "app name", "app id", "query id", "build", "build id"),
    ),
    "task_name": (
        *("task name", "task", "process", "step", "stage", "container", "task type", "rule", "task id", "job type"),
        *("program", "executable", "script", "command", "tool", "tool id", "flow name", "flow id", "flow"),
    ),
    "user": (
        *("user", "owner", "user name", "account", "submitted by", "requester", "job owner", "creator", "creator user"),
        *("creator name", "launched by", "started by", "created by user name", "session user", "prod user"),
        "spark user",
        *("user login", "user email", "creator email", "owner email", "email"),
    ),
    "group": ("group", "team", "project", "department", "group name", "lab", "tenant", "organisation", "account"),
    "workload": (
        *("workload", "workflow", "pipeline", "app", "queue", "namespace", "model", "partition", "queue name"),
        "pipeline name",
    ),
    "run_name": ("run name", "run", "run id"),
    "node": ("node", "machine", "host", "node name", "server", "instance", "node list", "exec host", "nodes"),
    "gpu_type": ("gpu type", "gpu model", "gpu name", "gpu", "gpu spec"),
    "status": (
        *("status", "state", "result", "outcome", "conclusion", "phase", "exit status", "exit code", "final state"),
        *("final status", "result state", "result status", "stat", "st", "exit", "return code", "exit value"),
        *("execution status", "training job status"),
        *("success", "succeeded", "successful", "ok", "passed"),
        *("failed", "failure", "error", "errored", "crashed", "killed"),
        *("cancelled", "canceled", "aborted", "timed out", "done", "completed", "oom killed", "oom", "oom kill"),
        "out of memory",
    ),
    "submit_time_s": ("submit", "submit time", "arrival"),
    "start_time_s": ("start", "start running", "start execution", "start training", "scheduled", "launch"),
    "end_time_s": ("end", "end running", "end execution", "end training"),
    "duration_s": (
        *("duration", "run time", "real time", "elapsed", "wall time", "wall clock", "wall clock time", "makespan"),
        *(
            *("wall time used", "run time used"),
            "job run time",
            "task run time",
            "execution time",
            "execution duration",
            "run duration",
            "elapsed wall clock",
            "elapsed wall time",
            "job wall clock time",
            "wall clock used",
            "seconds",
            "minutes",
            "hours",
            "run",
        ),
    ),
    "instances": ("instances", "instance count", "replicas", "replica count", "node count", "task count", "nodes"),
    "requested_cpu_percent": ("cpu requested", "cpu count", "cpu requested count", "galaxy slots", "cpu"),
    "requested_gpu_percent": ("gpu requested", "gpu count", "gpu requested count", "gpu"),
    "requested_memory_bytes": ("memory requested", "galaxy memory", "memory", "requested"),
    "time_limit_s": (
        *("time requested", "wall time requested", "wall clock requested", "run time requested"),
        "duration requested",
    ),
    "cpu_usage_percent": ("cpu used", "cpu mean", "cpu used mean", "cpu"),
    "gpu_usage_percent": ("gpu used", "gpu mean", "gpu used mean", "gpu worker used", "gpu"),
    "mean_memory_bytes": ("memory mean", "memory used mean", "rss mean"),
    "peak_memory_bytes": (
        *("rss peak", "memory peak", "memory used peak", "resident set size peak", "rss", "memory used"),
        *("resident set size", "vmem peak", "vmem", "peak", "used", "memory reservation peak"),
        "user memory reservation peak",
    ),
    "mean_gpu_memory_bytes": ("gpu memory mean", "gpu memory used mean", "gpu worker memory mean", "gpu memory"),
    "peak_gpu_memory_bytes": ("gpu memory peak", "gpu memory used peak", "gpu worker memory peak", "gpu memory used"),
    "read_bytes": ("read", "disk read", "data read", "io read"),
    "write_bytes": ("write", "disk write", "data write", "io write"),
    "read_count": ("syscr", "reads", "read operations"),
    "write_count": ("syscw", "writes", "write operations"),
    "input_bytes": ("input", "input size", "file size"),
    "out_of_memory_kills": ("oom killed", "oom", "oom kill", "oom kills", "out of memory"),
}
"""Names under which other systems keep a field, the likeliest first; in any order of words, and as `WORDS` spells."""

TRUTHS: dict[str, str] = {
    **dict.fromkeys(("success", "succeeded", "successful", "ok", "passed"), "finished"),
    **dict.fromkeys(("done", "completed"), "completed"),
    **dict.fromkeys(("failed", "failure", "error", "errored", "crashed"), "failed"),
    **{name: name for name in ("killed", "cancelled", "canceled", "aborted", "timed out")},
    **dict.fromkeys(("oom killed", "oom", "oom kill", "out of memory"), "out of memory"),
}
"""Names of statuses that are true or false -> the word for what is true."""

ASKED = re.compile(
    rf"(?:is|was|has)[ _-]?(?=(?:{'|'.join((*TRUTHS, 'complete', 'finished')).replace(' ', '[ _-]?')})$)", re.IGNORECASE
)
"""What stands before such a name where it asks: 'is_finished', 'hasFailed'."""

OF_TOOLS: dict[str, tuple[frozenset[str], dict[str, tuple[str, str]]]] = {
    "Jenkins": (
        frozenset(["duration", "timestamp", "estimatedDuration", "result"]),
        {"duration_s": ("duration", "ms"), "start_time_s": ("timestamp", "ms")},
    ),
    "Slurm's database": (
        OF_SLURMS_DATABASE,
        {
            "end_time_s": ("time_end", "s"),  # 'deleted' is 0 or 1
            "requested_memory_bytes": ("mem_req", "MiB"),
            "time_limit_s": ("timelimit", "min"),
        },
    ),
    "Flux": (
        frozenset(["t_submit", "t_run", "runtime", "duration"]),
        {
            "start_time_s": ("t_run", "s"),
            "end_time_s": ("t_cleanup", "s"),
            "duration_s": ("runtime", "s"),
            "time_limit_s": ("duration", "s"),
        },
    ),
    "PBS": (
        frozenset(["resources_used.walltime", "stime"]),
        {"submit_time_s": ("qtime", "s"), "start_time_s": ("stime", "s"), "end_time_s": ("obittime", "s")},
    ),
    "PanDA": (frozenset(["pandaid", "jobstatus", "maxrss"]), {"peak_memory_bytes": ("maxrss", "KB")}),
}
"""Tool -> names of columns that tell its tables, and field -> column and unit as its manual has them.

Source: Jenkins' REST API (builds), Slurm's sources (slurmdbd), flux-jobs(1), PBS's qstat(1), PanDA's table of jobs.
"""

OF_SQUEUE = frozenset(["JOBID", "TIME", "TIME_LIMIT"])
"""Headings of squeue, whose TIME is how long a job ran so far."""

OF_GALAXY = frozenset(["galaxy", "memory"])
"""Words of Galaxy's `galaxy_memory_mb`: what a job was given, in Slurm's MB, which are MiB."""
SLOTS_OF_AZURE = "requiredSlots"
"""Parts of a node of Azure Batch, as many as its pool says: no cores."""

OF_YARN = ({"final", "status"}, {"final", "state"}), {"undefined": "running"}
"""Names of the column of how applications of YARN ended, and its word for those that have not."""

FALSE_WORDS = {"finished": "failed", "completed": "not completed"}
"""Word for what is true -> that for what is false; of any other, this has finished."""

WRITTEN = frozenset(["program", "executable", "script", "command"])
"""Names of what may be written anew for every run: a task only where runs share it."""

SIZES_ONLY = frozenset(["requested", "peak", "used", "run"])
"""Names of memory, or of a duration, where its unit stands beside them, and of anything where none does."""

NUMBERED = re.compile(
    r"(?:(?:local[ _]?)?job|pod|process|application|app|workload|query|build|run)?[ _.-]*"
    r"(?:id|number|no|nr|uuid)(?:[ _.-]*raw)?|id_job",
    re.IGNORECASE,
)
"""Names of columns that tell runs apart: beside one, a job's name says what runs."""

OF_TWO = ("cpu", "gpu", "nodes", "account", "run", "oom killed", "oom", "oom kill", "out of memory")
"""Names of two fields: the values tell which, of an account whether another column is the user, of a run its unit, of
kills whether another column is the status."""

WORDS: dict[str, str] = {
    alias: word
    for word, aliases in {
        "memory": "mem ram",
        "requested": "req request requests reqs alloc allocated allocation plan planned reserved limit limits required",
        "peak": "max maximum highest most",
        "mean": "avg ave average",
        "used": "use usage util utilization utilisation utilized utilised consumed consumption actual",
        "cpu": "cpus core cores vcpu vcpus vcore vcores ncpu ncpus ncores processors slots",
        "gpu": "gpus ngpu ngpus accelerator accelerators",
        "worker": "wrk",
        "count": "num number n no nr inst",
        "start": "started starts begin began beginning begins",
        "end": "ended ends finish finished stop stopped complete completed completion deletion deleted",
        "submit": "submitted submission queued enqueued create created creation",
        "scheduled": "schedule",
        "launch": "launched",
        "duration": "durations",
        "elapsed": "elap",
        "execution": "exec",
        "command": "cmd",
        "run": "runs",
        "wall": "wallclocktime",
        "user": "username uid",
        "node": "nodename",
        "host": "hostname",
        "instances": "instance",
        "replicas": "replica",
        "task": "tasks",
        "read": "bytesread",
        "write": "written",
        "operations": "ops",
        "disk": "bytes",
        "organisation": "organization org",
        "vmem": "vmsize vms",
    }.items()
    for alias in aliases.split()
}
"""Other spelling of a word -> the one of `SYNONYMS`."""

IN_GERMAN: dict[str, str] = {
    alias: words
    for words, aliases in {
        "user": "benutzer nutzer anwender benutzername nutzername",
        "owner": "besitzer eigentümer",
        "group": "gruppe arbeitsgruppe",
        "project": "projekt",
        "department": "abteilung",
        "job": "auftrag",
        "job id": "auftragsnummer jobnummer",
        "job name": "auftragsname",
        "task": "aufgabe",
        "program": "programm",
        "command": "befehl",
        "queue": "warteschlange",
        "node": "knoten",
        "machine": "rechner maschine",
        "state": "zustand",
        "result": "ergebnis",
        "return code": "rückgabewert",
        "start": "startzeit startzeitpunkt beginn gestartet",
        "end": "ende endzeit endzeitpunkt",
        "submit": "eingereicht abgeschickt einreichzeit",
        "duration": "dauer",
        "run time": "laufzeit",
        "time requested": "zeitlimit",
        "memory": "speicher arbeitsspeicher hauptspeicher",
        "memory used": "speicherverbrauch speichernutzung",
        "memory requested": "speicheranforderung speicherlimit",
        "requested": "angefordert angeforderte angeforderter beantragt reserviert",
        "used": "genutzt genutzter benutzt verbraucht verwendet belegt",
        "peak": "maximal maximale maximaler spitze",
        "mean": "mittel mittlere mittlerer durchschnittlich durchschnittlicher",
        "cpu": "kerne kernanzahl prozessoren cpukerne",
        "count": "anzahl",
    }.items()
    for alias in aliases.split()
}
"""German word of a heading, in lower case -> the words of `SYNONYMS`."""

TOGETHER: dict[str, str] = {
    **IN_GERMAN,
    "jobid": "job id",
    "jobname": "job name",
    "taskname": "task name",
    "runtime": "run time",
    "realtime": "real time",
    "walltime": "wall time",
    "wallclock": "wall clock",
    "timelimit": "time requested",
    "timelimitraw": "time requested",
    "starttime": "start",
    "tstart": "start",
    "tend": "end",
    "endtime": "end",
    "submittime": "submit",
    "nodelist": "node list",
    "reqmem": "memory requested",
    "reqcpus": "cpu requested",
    "alloccpus": "cpu requested",
    "maxrss": "rss peak",
    "averss": "rss mean",
    "maxvmem": "vmem peak",
    "maxmem": "memory peak",
    "exitcode": "exit code",
    "exitstatus": "exit status",
    "returncode": "return code",
    "retcode": "return code",
    "numgpus": "gpu count",
    "numcpus": "cpu count",
    "corecount": "cpu count",
    "jobstatus": "status",
    "jobstate": "state",
    "creationtime": "submit",
    "produsername": "prod user name",
    "qsub": "submit",
    "jobnumber": "job id",
}
"""Words that are written as one."""

CORES = frozenset(
    [
        *("cpus", "cores", "vcpus", "vcores", "ncpu", "ncpus", "ncores", "processors", "slots"),
        *("gpus", "ngpu", "ngpus", "kerne", "kernanzahl", "prozessoren", "cpukerne"),
    ]
)
"""Words that say that a column counts whole cores or GPUs."""

FILLING = frozenset(
    [
        *("at", "date", "datetime", "timestamp", "ts", "utc", "epoch", "of", "the", "in", "on", "v", "total", "local"),
        *("am", "um"),
    ]
)
"""Words that say nothing of which field a column is."""

OF_A_RUN = frozenset(["job", "task", "run", "pod", "process", "instances", "name"])
"""Words that say nothing beside one of `TELLING`: 'job start', 'user name', 'pod phase'."""

MOMENTS = frozenset(["start", "end", "submit", "scheduled", "launch", "duration", "elapsed"])
"""Words beside which 'time' says nothing."""

TELLING = MOMENTS | frozenset(
    ["memory", "cpu", "gpu", "rss", "status", "state", "user", "node", "host", "owner", "phase"]
)
WITH_ID = frozenset(["user", "node", "host", "owner"])

SIZE_UNITS = ("KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB")

UNIT_SUFFIXES: dict[str, str] = {
    alias: unit
    for unit, aliases in {
        "ms": "ms msec msecs millis millisecond milliseconds",
        "us": "us usec usecs micros microsecond microseconds µs",
        "ns": "ns nanos nanosecond nanoseconds",
        "s": "s sec secs second seconds sek sekunden",
        "min": "min mins minute minutes minuten",
        "h": "h hr hrs hour hours std stunden",
        "d": "d day days tage",
        "B": "b byte bytes",
        "KB": "kb kbyte kbytes kilobytes",
        "KiB": "kib ki",
        "MB": "mb mbyte mbytes megabytes",
        "MiB": "mib mi",
        "GB": "gb gbyte gbytes gigabytes",
        "GiB": "gib gi",
        "TB": "tb tbyte tbytes terabytes",
        "TiB": "tib ti",
        "percent": "percent pct perc",
        "milli": "milli millicores millicore mcpu mcores",
        "share": "share ratio fraction",
    }.items()
    for alias in aliases.split()
}
"""Unit that a column name's last word tells, in lower case."""

UNITS_WITHIN = frozenset(
    name for name, unit in UNIT_SUFFIXES.items() if len(name) > 1 and unit in ("ms", "s", "h", *SIZE_UNITS)
)
"""Words that tell a unit within a name, too: 'max_mem_mb_used', 'elapsed_seconds_total'."""

BYTES, OF_MEMORY = frozenset(["byte", "bytes"]), frozenset(["memory", "mem", "ram", "rss", "vmem"])
"""Words that tell bytes within the name of a memory; 'bytes_read' counts what was read."""

REAL_TIME = frozenset(("real", "time"))
"""Nextflow's name of a duration: in milliseconds in its traces, whatever a copy of one is called."""

WALL = "wall"
"""Word of batch systems for a duration, which they count in seconds."""
