"""LSF's own accounting file, lsb.acct: a line per record, cells between blanks, texts in quotes.

Records of ended jobs (JOB_FINISH) are walked through in their published order; lists say their lengths before them.
Memory of `rusage` is in MB unless it says a unit, maxRMem in KB, both of 1024s; -1 = not known.

Source: LSF's configuration reference of lsb.acct (versions 7 to 10.1) and lsbatch.h for termination reasons.
"""

import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from workprof.core.errors import TraceError
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
from workprof.formats.last_lines import CUT, unended
from workprof.formats.lsf import NOT_KNOWN, REASONS, TASK, requested

FIRST = (
    *("event", "version", "eventTime", "jobId", "userId", "options", "numProcessors", "submitTime", "beginTime"),
    *("termTime", "startTime", "userName", "queue", "resReq", "dependCond", "preExecCmd", "fromHost", "cwd", "inFile"),
    *("outFile", "errFile", "jobFile"),
)
RUSAGE = (
    *("utime", "stime", "maxrss", "ixrss", "ismrss", "idrss", "isrss", "minflt", "majflt", "nswap", "inblock"),
    *("oublock", "ioch", "msgsnd", "msgrcv", "nsignals", "nvcsw", "nivcsw", "exutime"),
)
THEN = (
    *("jStatus", "hostFactor", "jobName", "command", *RUSAGE, "mailUser", "projectName", "exitStatus"),
    *("maxNumProcessors", "loginShell", "timeEvent", "idx", "maxRMem", "maxRSwap", "inFileSpool", "commandSpool"),
    *("rsvId", "sla", "exceptMask", "additionalInfo", "exitInfo", "warningAction", "warningTimePeriod", "chargedSAAP"),
    *("licenseProject", "app", "postExecCmd", "runtimeEstimation", "jobGroup", "requeueEValues", "options2"),
    *("resizeNotifyCmd", "lastResizeTime", "rsvId2", "jobDescription"),
)
NEEDED = THEN.index("maxRMem") + 1
"""Cells after the hosts without which a record is none; older versions end earlier than the newest."""

LAST = ("options3", "runLimit", "avgMem", "effectiveResReq")

EXIT, DONE = "32", "64"
TERMINATIONS = {
    **{1: "PREEMPT", 2: "WINDOW", 3: "LOAD", 5: "RUNLIMIT", 6: "DEADLINE", 7: "PROCESSLIMIT", 8: "FORCE_OWNER"},
    **{9: "FORCE_ADMIN", 10: "REQUEUE_OWNER", 11: "REQUEUE_ADMIN", 12: "CPULIMIT", 13: "CHKPNT", 14: "OWNER"},
    **{15: "ADMIN", 16: "MEMLIMIT", 17: "EXTERNAL_SIGNAL", 18: "RMS", 19: "ZOMBIE", 20: "SWAP", 21: "THREADLIMIT"},
}

TEXTS = ("job", "jobName", "userName", "projectName", "queue", "node", "status", "app", "command", "effectiveResReq")
NUMBERS = (
    *("submitTime", "startTime", "eventTime", "numProcessors", "requested_memory", "maxRMem", "maxRSwap", "cpu_s"),
    *("exitStatus", "exitInfo"),
)
COLUMNS = (*TEXTS, *NUMBERS)

MOST_LINES = 100
ADVICE = (
    'no record of a job that is known from LSF 7 to 10.1; print the jobs with `bjobs -u all -a -json -o "..."` '
    "(see the page of LSF), which is read"
)
_RECORD = re.compile(r'^"[A-Z][A-Z_0-9]+" "\d+(?:\.\d+)*" \d+ ')


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins an accounting file of LSF."""
    lines = [line for line in head.splitlines()[:20] if line.strip() and not line.startswith("#")]
    return bool(lines) and bool(_RECORD.match(lines[0])) and '"JOB_FINISH" ' in head


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job that ended; raises TraceError where no job of a file can be read; names what can be."""
    others = unsure = fewest = 0
    for given in sources:
        jobs = wrong = 0
        for number, cells, ended in _records(given):
            if not cells or cells[0] != "JOB_FINISH":
                others += 1
                continue
            record, length = _named(cells)
            cut = not ended and length < fewest
            if not record or cut:
                wrong += 1
                yield Unreadable(number, "", " ".join(cells)[:500], CUT if cut else ADVICE)
                continue
            jobs += 1
            unsure += not ended
            fewest = min(fewest or length, length)
            made = _cells(record)
            yield Read(number, [made.get(column) for column in COLUMNS])
        if wrong and not jobs:
            raise TraceError(f"{given.name}: {wrong:,} records of LSF's accounting, and {ADVICE}")
    if others:
        yield Remark("other records", others, f"{others:,} records are of no job that ended; they were passed over")
    yield from unended(unsure)


def _records(given: Given) -> Iterator[tuple[int, list[str], bool]]:
    """Yield every record's line, its cells, and whether its line ends; a text in quotes may go on in further lines."""
    lines = given.lines(ends=True)
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        text = line
        for _, more in itertools.islice(lines, MOST_LINES) if text.count('"') % 2 else ():
            text += more
            if text.count('"') % 2 == 0:
                break
        cells = next(csv.reader([text.rstrip("\r\n")], delimiter=" ", skipinitialspace=True), [])
        yield number, cells, text.endswith("\n")


def _named(cells: Sequence[str]) -> tuple[dict[str, str], int]:
    """The cells of a JOB_FINISH record by their names, none where they do not come out; and how many are in no list."""
    record = dict(zip(FIRST, cells, strict=False))
    at = len(FIRST)
    hosts: list[str] = []
    for _ in ("asked", "execution"):
        if at >= len(cells) or not cells[at].isdecimal() or int(cells[at]) > len(cells):
            return {}, 0
        hosts = list(cells[at + 1 : at + 1 + int(cells[at])])
        at += 1 + int(cells[at])
    rest = cells[at:]
    record |= dict(zip(THEN, rest, strict=False)) | {"hosts": "+".join(dict.fromkeys(hosts))}
    further = rest[len(THEN)] if len(rest) > len(THEN) else ""
    length = len(rest) - (2 * int(further) if further.isdecimal() else 0)
    if len(rest) < NEEDED or record["jStatus"] not in (EXIT, DONE):
        return {}, length
    numbers = ("eventTime", "jobId", "submitTime", "startTime", "numProcessors", "exitStatus", "idx")
    if not all(record[name].lstrip("-").isdecimal() for name in numbers):
        return {}, length
    return record | _end_of(rest[len(THEN) :]), length


def _end_of(cells: Sequence[str]) -> dict[str, str]:
    """What stands behind the lists of further submission fields and of hosts' usage, where it comes out."""
    if not cells or not cells[0].isdecimal():
        return {}
    at = 1 + 2 * int(cells[0])
    if at >= len(cells) or cells[at] != "0":  # usage by host: its length depends on the version
        return {}
    return dict(zip(LAST, cells[at + 1 :], strict=False))


def _float(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value >= 0 else None


def _cells(record: Mapping[str, str]) -> dict[str, str | float | None]:
    slots = max(int(record["numProcessors"]), 1)
    start = _float(record["startTime"]) or None
    cpu = [value for name in ("utime", "stime") if (value := _float(record[name])) is not None]
    fields = {"EFFECTIVE_RESREQ": record.get("effectiveResReq", ""), "RES_REQ": record["resReq"]}
    job, index = record["jobId"], record["idx"]
    return {
        **{name: record.get(name) for name in COLUMNS},
        "job": job if index == "0" else f"{job}[{index}]",
        "node": record["hosts"][:200],
        "status": _status(record),
        "startTime": start,
        "eventTime": _float(record["eventTime"]) if start else None,
        "numProcessors": slots,
        "requested_memory": requested(fields, slots, record["hosts"].count("+") + 1),
        "maxRMem": _float(record["maxRMem"]) or None,
        "maxRSwap": _float(record["maxRSwap"]) or None,
        "cpu_s": sum(cpu) if cpu else None,
    }


def _status(record: Mapping[str, str]) -> str:
    if record["jStatus"] == DONE:
        return "DONE"
    code = record.get("exitInfo", "")
    reason = f"TERM_{TERMINATIONS[int(code)]}" if code.isdecimal() and int(code) in TERMINATIONS else ""
    return f"{REASONS.get(reason, 'killed')} (EXIT, {reason})" if reason else f"failed (EXIT {record['exitStatus']})"


FORMAT = Format(
    name="lsb-acct",
    title="LSF accounting file (lsb.acct)",
    columns=(*(SourceColumn(name, TEXT) for name in TEXTS), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "jobName"),
        Rule("user", "userName"),
        Rule("group", "projectName"),
        Rule("workload", "queue"),
        Rule("node", "node"),
        Rule("status", "status"),
        Rule("submit_time_s", "submitTime", "s"),
        Rule("start_time_s", "startTime", "s"),
        Rule("end_time_s", "eventTime", "s"),
        Rule("requested_cpu_percent", "numProcessors", "cores"),
        Rule("requested_memory_bytes", "requested_memory", "B"),
        Rule("peak_memory_bytes", "maxRMem", "KiB"),
    ),
    required=("job",),
    many_machines=True,
    finished=("done",),
    duration_from_times=True,
    units=(("cpu_s", "s"), ("maxRSwap", "KiB")),
    made=(
        TASK,
        Made(
            "cpu_usage_percent",
            "100 * nullif(cpu_s, 0) / nullif(duration_s, 0)",
            needs=("cpu_s", "duration_s"),
        ),
    ),
    findings=(
        Finding(
            "CPU time of zero",
            "warning",
            "cpu_s = 0 AND duration_s > 0",
            "runs have a CPU time of 0 beside a duration: it is not known, and counts as missing",
            ("cpu_s", "duration_s"),
        ),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    not_known=NOT_KNOWN,
    rows_version=5,
)
