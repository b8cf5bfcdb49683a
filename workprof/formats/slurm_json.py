"""Slurm's JSON: `sacct --json` and documents like it, such as `squeue --json`, whose `jobs` are in the words of sacct.

Every job becomes a line of sacct's columns, and so does every step. Memory that is requested or given is in MiB, what a
step used in bytes; limits are minutes; 4294967294 and a number that is not set mean "no value".

Source: the OpenAPI schemas of slurmrestd (data_parser plugins v0.0.37 to v0.0.43).
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workprof.formats import slurm
from workprof.formats.declare import Given, Read, Reader, Remark, Unreadable
from workprof.formats.json_documents import members, remarks
from workprof.formats.repeated_keys import RepeatedKeys

COLUMNS = (
    *("JobID", "JobName", "User", "Account", "Group", "Partition", "QOS", "Cluster", "State", "Reason", "ExitCode"),
    *("Submit", "Eligible", "Start", "End", "Elapsed", "Suspended", "Timelimit", "ReqMem", "ReqCPUS", "AllocCPUS"),
    *("NNodes", "NTasks", "NodeList", "TotalCPU", "UserCPU", "SystemCPU", "MaxRSS", "AveRSS", "MaxVMSize"),
    *("MaxDiskRead", "MaxDiskWrite", "ReqTRES", "AllocTRES", "ReqGRES", "TRESUsageInMax", "TRESUsageInAve"),
    "TRESUsageInTot",
    *("ConsumedEnergyRaw", "Priority", "Reservation", "Constraints", "WCKey", "WorkDir", "SubmitLine"),
)

NO_VALUES = (4294967294, 4294967295, 18446744073709551614, 18446744073709551615)
"""What older versions write for "not set" and "infinite"."""

PER_CORE = 1 << 63
"""Bit of a request of memory that is of each core."""

MOST = 1e300
"""Larger whole numbers are no floating-point numbers; as infinite ones their rows are rejected."""

UNSTARTED = ("PENDING",)
UNENDED = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "SIGNALING", "STAGE_OUT")

_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_JOB = re.compile(r'"job_id"\s*:\s*\d')
_OWN = re.compile(r'"(?:job_state|tres_req_str|derived_exit_code|allocation_nodes|het_job_id|slurm|kill_request_user)"')
_OWN_ALONE = re.compile(
    r'"(?:tres_req_str|derived_exit_code|allocation_nodes|het_job_id|kill_request_user|state\.current)"'
    r'|"job_state"\s*:\s*\['
)


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins a document of Slurm's jobs, or its jobs without the document around them."""
    if head.lstrip().startswith("{") and _JOBS.search(head):
        return bool(_OWN.search(head))
    return head.lstrip()[:1] in ("{", "[") and bool(_JOB.search(head)) and bool(_OWN_ALONE.search(head))


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job and every step; raises TraceError where a document breaks off."""
    repeated = RepeatedKeys()
    for given in sources:
        for member in members(given, {"jobs"}, repeated, "job_id"):
            job = member.value
            if not isinstance(job, dict) or number(job.get("job_id")) is None:
                excerpt = json.dumps(job)[:500]
                yield Unreadable(member.line, "job_id", excerpt, "a job of Slurm is an object with a job_id")
                continue
            job_id, cells = _job(_nested(job))
            yield _row(member.line, cells)
            steps = job.get("steps")
            for step in steps if isinstance(steps, list) else ():
                if isinstance(step, dict):
                    yield _row(member.line, _step(job_id, step))
                else:
                    yield Unreadable(member.line, "steps", json.dumps(step)[:500], "a step of Slurm is an object")
    yield from remarks(repeated, "jobs")


def _nested(job: Mapping[str, Any]) -> dict[str, Any]:
    """A job whose objects are objects again where pandas made columns of their keys: `time.start`."""
    result: dict[str, Any] = {}
    for key, value in job.items():
        *path, last = key.split(".")
        place = result
        for each in path:
            there = place.setdefault(each, {})
            place = there if isinstance(there, dict) else {}
        place[last] = value
    return result


def number(value: object) -> int | float | None:
    """A number of Slurm, which may be an object that says whether it is set; None where it is not."""
    if isinstance(value, dict):
        return number(value.get("number")) if value.get("set", True) and not value.get("infinite") else None
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in NO_VALUES:
        return None
    return value if abs(value) < MOST else math.inf


def _row(line: int, cells: Mapping[str, str | float | None]) -> Read:
    return Read(line, tuple(cells.get(column) for column in COLUMNS))


def _at(value: object, *path: str) -> Any:
    """What stands under keys inside each other, None where one is not there."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str | None:
    """A text; of the others, what JSON calls them."""
    if value is None or isinstance(value, (dict, list)):
        return None
    return value if isinstance(value, str) else json.dumps(value)


def _state(value: object) -> str | None:
    """The state of a text, a list ('RUNNING' with flags after it), or an object with `current`."""
    if isinstance(value, dict):
        return _state(value.get("current"))
    if isinstance(value, list):
        return _text(value[0]) if value else None
    return _text(value)


def _moment(value: object) -> float | None:
    return number(value) or None  # 0 = it has not come


def _seconds(time: object, key: str) -> float | None:
    """Seconds and microseconds of CPU."""
    value = _at(time, key)
    seconds, micros = number(_at(value, "seconds")), number(_at(value, "microseconds"))
    return number(value) if seconds is None else seconds + (micros or 0) / 1e6


def _exit_code(value: object) -> str | None:
    code = number(_at(value, "return_code")) if isinstance(value, dict) else number(value)
    signal = number(_at(value, "signal", "id") or _at(value, "signal", "signal_id"))
    return None if code is None else f"{code:.0f}:{signal or 0:.0f}"


def _resources(value: object, *, mebibytes: bool) -> str | None:
    """A list of trackable resources as sacct prints it: 'cpu=4,mem=16M,gres/gpu:a100=2'."""
    if isinstance(value, str):
        return value
    parts = []
    for each in value if isinstance(value, list) else ():
        kind, count = _at(each, "type"), number(_at(each, "count"))
        if isinstance(kind, str) and count is not None:
            name = _at(each, "name")
            unit = "M" if mebibytes and kind == "mem" else ""
            parts.append(f"{kind}{f'/{name}' if name else ''}={count:.0f}{unit}")
    return ",".join(parts) or None


def _of_resources(value: object, kind: str, name: str = "") -> float | None:
    result = (each for each in (value if isinstance(value, list) else ()) if _at(each, "type") == kind)
    return next((number(_at(each, "count")) for each in result if (_at(each, "name") or "") == name), None)


def _requested_gres(job: Mapping[str, Any]) -> str | None:
    """The generic resources that each node, or the whole job, requests, as `ReqGRES` has them."""
    parts = [
        f"{prefix}:{part}"
        for key, prefix in (("tres_per_node", "PER_NODE"), ("tres_per_job", "PER_JOB"))
        for part in (_text(job.get(key)) or "").split(",")
        if part
    ]
    return ",".join(parts) or None


def _memory(whole: object, per_node: object, per_core: object) -> str | None:
    """A request as `ReqMem` has it: of the whole job, else per node or per core, whichever is set."""
    for value, ending in ((whole, ""), (per_node, "n"), (per_core, "c")):
        size = number(value)
        of_each_core = isinstance(size, int) and PER_CORE <= size < 2 * PER_CORE
        size = number(size - PER_CORE) if size and of_each_core else size
        if size:
            return f"{size:.0f}M{'c' if of_each_core else ending}"
    return None


def _job_id(job: Mapping[str, Any]) -> str:
    """The id as sacct prints it: '12', '12_3' or '12_[4-7]' of an array, '12+1' of a heterogeneous job."""
    array, het = number(_at(job, "array", "job_id") or job.get("array_job_id")), number(_at(job, "het", "job_id"))
    tasks = _at(job, "array", "task") or job.get("array_task_string")
    task = number(_at(job, "array", "task_id") if "array" in job else job.get("array_task_id"))
    if array and isinstance(tasks, str) and tasks:
        return f"{array:.0f}_[{tasks}]"
    if array and task is not None:
        return f"{array:.0f}_{task:.0f}"
    het = het or number(job.get("het_job_id"))
    if het:
        offset = number(_at(job, "het", "job_offset") if "het" in job else job.get("het_job_offset"))
        return f"{het:.0f}+{offset or 0:.0f}"
    return f"{number(job['job_id']) or 0:.0f}"


def _job(job: Mapping[str, Any]) -> tuple[str, dict[str, str | float | None]]:
    """The id and the cells of a job: those of sacct, else those of squeue."""
    job_id, state = _job_id(job), _state(job.get("state") or job.get("job_state"))
    time, required, wanted = job.get("time"), job.get("required"), _at(job, "tres", "requested")
    start, end = (_moment(_at(time, key) or job.get(f"{key}_time")) for key in ("start", "end"))
    elapsed = number(_at(time, "elapsed"))
    if elapsed is None and start and end and state not in UNENDED:
        elapsed = end - start
    given = _at(job, "tres", "allocated")
    return job_id, {
        "JobID": job_id,
        "JobName": _text(job.get("name")),
        "User": _text(job.get("user") or job.get("user_name") or _at(job, "association", "user")),
        "Account": _text(job.get("account")),
        "Group": _text(job.get("group") or job.get("group_name")),
        "Partition": _text(job.get("partition")),
        "QOS": _text(job.get("qos")),
        "Cluster": _text(job.get("cluster")),
        "State": state,
        "Reason": _text(_at(job, "state", "reason") or job.get("state_reason")),
        "ExitCode": _exit_code(job.get("exit_code")),
        "Submit": _moment(_at(time, "submission") or job.get("submit_time")),
        "Eligible": _moment(_at(time, "eligible") or job.get("eligible_time")),
        "Start": None if state in UNSTARTED else start,
        "End": None if state in UNENDED else end,
        "Elapsed": elapsed,
        "Suspended": number(_at(time, "suspended")),
        "Timelimit": number(_at(time, "limit") if time is not None else job.get("time_limit")),
        "ReqMem": _memory(
            _of_resources(wanted, "mem"),
            _at(required, "memory_per_node") or _at(required, "memory") or job.get("memory_per_node"),
            _at(required, "memory_per_cpu") or job.get("memory_per_cpu"),
        ),
        "ReqCPUS": _of_resources(wanted, "cpu") or number(_at(required, "CPUs") or job.get("cpus")) or None,
        "AllocCPUS": _of_resources(given, "cpu"),
        "NNodes": number(job.get("allocation_nodes") or job.get("node_count")) or None,
        "NodeList": _text(job.get("nodes")),
        "TotalCPU": _seconds(time, "total"),
        "UserCPU": _seconds(time, "user"),
        "SystemCPU": _seconds(time, "system"),
        "ReqTRES": _resources(wanted or job.get("tres_req_str"), mebibytes=True),
        "AllocTRES": _resources(given or job.get("tres_alloc_str"), mebibytes=True),
        "ReqGRES": _requested_gres(job),
        "Priority": _text(number(job.get("priority"))),
        "Reservation": _text(_at(job, "reservation", "name")),
        "Constraints": _text(job.get("constraints")),
        "WCKey": _text(_at(job, "wckey", "wckey") or job.get("wckey")),
        "WorkDir": _text(job.get("working_directory") or job.get("current_working_directory")),
        "SubmitLine": _text(job.get("submit_line")),
    }


def _step_id(job_id: str, step: Mapping[str, Any]) -> str:
    """The id of a step under that of its job: the last part of '12.batch', or `step_id` of an object."""
    step_id = _at(step, "step", "id")
    last = (
        _text(step_id.get("step_id") if isinstance(step_id, dict) else step_id)
        or _text(_at(step, "step", "name"))
        or "step"
    )
    return f"{job_id}.{last.rsplit('.', 1)[-1]}"


def _step(job_id: str, step: Mapping[str, Any]) -> dict[str, str | float | None]:
    time, used = step.get("time"), _at(step, "tres", "requested")
    most, mean = _at(used, "max"), _at(used, "average")
    return {
        "JobID": _step_id(job_id, step),
        "JobName": _text(_at(step, "step", "name")),
        "State": _state(step.get("state")),
        "ExitCode": _exit_code(step.get("exit_code")),
        "Start": _moment(_at(time, "start")),
        "End": _moment(_at(time, "end")),
        "Elapsed": number(_at(time, "elapsed")),
        "Suspended": number(_at(time, "suspended")),
        "NNodes": number(_at(step, "nodes", "count")),
        "NTasks": number(_at(step, "tasks", "count")),
        "AllocCPUS": _of_resources(_at(step, "tres", "allocated"), "cpu"),
        "TotalCPU": _seconds(time, "total"),
        "UserCPU": _seconds(time, "user"),
        "SystemCPU": _seconds(time, "system"),
        "MaxRSS": _of_resources(most, "mem"),
        "AveRSS": _of_resources(mean, "mem"),
        "MaxVMSize": _of_resources(most, "vmem"),
        "MaxDiskRead": _of_resources(most, "fs", "disk"),
        "MaxDiskWrite": _of_resources(_at(step, "tres", "consumed", "max"), "fs", "disk"),
        "AllocTRES": _resources(_at(step, "tres", "allocated"), mebibytes=True),
        "TRESUsageInMax": _resources(most, mebibytes=False),
        "TRESUsageInAve": _resources(mean, mebibytes=False),
        "TRESUsageInTot": _resources(_at(used, "total"), mebibytes=False),
        "ConsumedEnergyRaw": number(_at(step, "statistics", "energy", "consumed")),
    }


FORMAT = replace(
    slurm.FORMAT,
    name="slurm-json",
    title="Slurm accounting (sacct --json)",
    signature=(),
    headings=None,
    reader=Reader(recognises, COLUMNS, read),
)
