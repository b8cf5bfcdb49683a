"""HTCondor: `condor_history -json` (and `condor_q -json`): a list of jobs, each an object of ClassAd attributes.

RequestMemory and MemoryUsage are in MiB, ResidentSetSize in KiB, times in seconds since 1970; 0 = it has not come. The
time of a job that was started again is that of its last start, where the pool tells it.

Source: HTCondor's manual, appendix of job ClassAd attributes, and condor_history.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workprof.formats.declare import (
    NUMBER,
    TEXT,
    Finding,
    Format,
    Given,
    Made,
    Read,
    Reader,
    Remark,
    Rule,
    SourceColumn,
    Unreadable,
)
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, elements, remarks
from workprof.formats.repeated_keys import RepeatedKeys

TEXTS = ("job", "task", "Owner", "AcctGroup", "JobBatchName", "DAGNodeName", "status", "node", "Cmd", "GlobalJobId")
NUMBERS = (
    *("QDate", "start", "end", "duration", "cpu_s", "RequestCpus", "RequestGpus", "RequestMemory", "MemoryUsage"),
    *("ResidentSetSize", "ImageSize", "RequestDisk", "DiskUsage", "NumJobStarts", "ExitCode", "ExitSignal"),
)
COLUMNS = (*TEXTS, *NUMBERS)

STATES = {1: "pending (idle)", 2: "running", 3: "removed", 4: "completed", 5: "held", 6: "running", 7: "suspended"}
RUNNING, REMOVED, COMPLETED, HELD = 2, 3, 4, 5
RUNS = (RUNNING, 6)  # or hands over its output
OVER_MEMORY = 34
"""HoldReasonCode of a job that used more memory than its slot had."""

_OWN = re.compile(r'"(?:JobStatus|RequestMemory|RemoteWallClockTime|JobUniverse|GlobalJobId|LastRemoteHost)"\s*:')


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins what HTCondor writes."""
    return head.lstrip().startswith(("[", "{")) and '"ClusterId"' in head and len(set(_OWN.findall(head))) > 1


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job; raises TraceError where the document breaks off."""
    repeated = RepeatedKeys()
    for given in sources:
        text = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
        while begin := text.peek():
            for line in elements(text) if begin == "[" else (text.line,):
                job, content = text.value()
                repeated.end_row()
                if not isinstance(job, dict) or _number(job.get("ClusterId")) is None:
                    yield Unreadable(
                        line, "ClusterId", content[:500], "a job of HTCondor is an object with a ClusterId"
                    )
                else:
                    cells = _cells(job)
                    yield Read(line, [cells.get(column) for column in COLUMNS])
    yield from remarks(repeated, "jobs")


def _number(value: object) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _moment(value: object) -> float | None:
    return _number(value) or None  # 0 = it has not come


def _plain(value: object) -> str | float | None:
    """A number or a text; what is neither (an expression) as its text."""
    if value is None or isinstance(value, str):
        return value
    number = _number(value)
    return json.dumps(value)[:200] if number is None else number


def _cells(job: Mapping[str, Any]) -> dict[str, str | float | None]:
    state = job.get("JobStatus")
    again = (_number(job.get("NumJobStarts")) or 1) > 1
    last = _number(job.get("LastRemoteWallClockTime")) if again else None
    duration = last or _number(job.get("RemoteWallClockTime"))
    start = _moment(job.get("JobCurrentStartDate")) or _moment(job.get("JobStartDate"))
    end = None
    if state in (REMOVED, COMPLETED, HELD):
        end = _moment(job.get("CompletionDate")) or _moment(job.get("EnteredCurrentStatus"))
    if again and last is None and start and end:
        duration = end - start
    if state in RUNS:
        duration = None  # that of its earlier starts; so far, 0
    times = [_number(job.get(name)) for name in ("RemoteUserCpu", "RemoteSysCpu")]
    known = [time for time in times if time is not None]
    command = job.get("Cmd")
    host = job.get("LastRemoteHost") or job.get("RemoteHost")
    cells = {name: _plain(job.get(name)) for name in COLUMNS}
    return cells | {
        "job": f"{job['ClusterId']:.0f}.{_number(job.get('ProcId')) or 0:.0f}",
        "task": job.get("DAGNodeName") or (command.rsplit("/", 1)[-1] if isinstance(command, str) else None),
        "AcctGroup": _plain(job.get("AcctGroup") or job.get("AccountingGroup")),
        "status": _status(job, state),
        "node": host.rsplit("@", 1)[-1] if isinstance(host, str) else None,
        "start": start,
        "end": end if start else None,
        "duration": duration if start else None,
        "cpu_s": sum(known) if known else None,
        "RequestGpus": _number(job.get("RequestGpus")) or None,
    }


def _status(job: Mapping[str, Any], state: object) -> str | None:
    if state == HELD and job.get("HoldReasonCode") == OVER_MEMORY:
        return "out of memory (held)"
    if state == COMPLETED and job.get("ExitBySignal") is True:
        return f"killed (signal {_plain(job.get('ExitSignal'))})"
    if state == COMPLETED and job.get("ExitCode") not in (0, None):
        return f"failed (exit {_plain(job.get('ExitCode'))})"
    return STATES.get(state) if isinstance(state, int) else None


FORMAT = Format(
    name="condor",
    title="HTCondor jobs (condor_history -json)",
    columns=(*(SourceColumn(name, TEXT) for name in TEXTS), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "task"),
        Rule("user", "Owner"),
        Rule("group", "AcctGroup"),
        Rule("workload", "JobBatchName"),
        Rule("node", "node"),
        Rule("status", "status"),
        Rule("submit_time_s", "QDate", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("duration_s", "duration", "s"),
        Rule("requested_cpu_percent", "RequestCpus", "cores"),
        Rule("requested_gpu_percent", "RequestGpus", "cores"),
        Rule("requested_memory_bytes", "RequestMemory", "MiB"),
        Rule("peak_memory_bytes", "MemoryUsage", "MiB"),
    ),
    required=("job",),
    finished=("completed",),
    duration_from_times=True,
    units=(
        ("cpu_s", "s"),
        ("ResidentSetSize", "KiB"),
        ("ImageSize", "KiB"),
        ("RequestDisk", "KiB"),
        ("DiskUsage", "KiB"),
    ),
    made=(
        Made(
            "peak_memory_bytes",
            "coalesce(nullif(peak_memory_bytes, 0), nullif(1024 * ResidentSetSize, 0))",
            needs=("ResidentSetSize",),
            may=("peak_memory_bytes",),
        ),
        Made(
            "cpu_usage_percent",
            "CASE WHEN cpu_s > 0 OR peak_memory_bytes IS NULL THEN 100 * cpu_s / nullif(duration_s, 0) END",
            needs=("cpu_s", "duration_s"),
            may=("peak_memory_bytes",),
        ),
    ),
    findings=(
        Finding(
            "CPU time of zero",
            "warning",
            "cpu_s = 0 AND duration_s > 0 AND cpu_usage_percent IS NULL",
            "runs have a CPU time of 0 beside a duration and other use: it is not known, and counts as missing",
            needs=("cpu_s", "duration_s", "cpu_usage_percent"),
        ),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    not_known="HTCondor tells the memory that it saw last or most, rounded up by some pools.",
    rows_version=2,
)
