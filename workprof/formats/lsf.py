"""IBM Spectrum LSF: `bjobs -a -o "..." -json`, whose RECORDS hold the fields that `-o` named, as texts.

A list with a delimiter (`bjobs -o "... delimiter=','"`) has the same fields in columns.

Sizes (`5.2 Gbytes`) count in 1024s; a bare `mem` of a resource requirement is in MB. Moments have a year only where
LSB_DISPLAY_YEAR is set: without one they are not known, and the run time tells how long a job ran.

Source: LSF's command reference of bjobs (-o, -json) and its table of termination reasons.
"""

import contextlib
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from workprof.core.units import KIB, MIB
from workprof.formats.declare import (
    NUMBER,
    TEXT,
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
from workprof.formats.json_documents import Member, members, remarks
from workprof.formats.repeated_keys import RepeatedKeys

COPIED = (
    *("JOB_NAME", "USER", "USER_GROUP", "PROJ_NAME", "QUEUE", "EXEC_HOST", "FROM_HOST", "APPLICATION", "JOB_GROUP"),
    *("SUBMIT_TIME", "START_TIME", "FINISH_TIME", "RUN_TIME", "PEND_TIME", "RUNTIMELIMIT", "CPU_USED", "MAX_MEM"),
    *("AVG_MEM", "MEM", "SWAP", "MEMLIMIT", "EXIT_CODE", "EXIT_REASON", "COMMAND"),
)
MADE = ("job", "status", "slots", "gpus", "requested_memory")
COLUMNS = (*COPIED, *MADE)
NUMBERS = ("CPU_USED", "AVG_MEM", "slots", "gpus", "requested_memory")

TIMES = ("SUBMIT_TIME", "START_TIME", "FINISH_TIME")
REQUIREMENTS = ("COMBINED_RESREQ", "EFFECTIVE_RESREQ", "RES_REQ", "RESREQ")
SLOTS = ("NALLOC_SLOT", "SLOTS", "ALLOC_SLOT", "NREQ_SLOT", "MIN_REQ_PROC")
STATES = {
    **{"RUN": "running (RUN)", "PEND": "pending (PEND)", "PSUSP": "pending (PSUSP)", "WAIT": "waiting (WAIT)"},
    **{"USUSP": "suspended (USUSP)", "SSUSP": "suspended (SSUSP)", "PROV": "running (PROV)", "DONE": "DONE"},
}
REASONS = {
    **{"TERM_MEMLIMIT": "out of memory", "TERM_SWAP": "out of memory", "TERM_RUNLIMIT": "timed out"},
    **{"TERM_CPULIMIT": "timed out", "TERM_DEADLINE": "timed out", "TERM_REQUEUE_OWNER": "rerun"},
    **{"TERM_REQUEUE_ADMIN": "rerun", "TERM_REQUEUE_RC": "rerun"},
}
"""How a job ended whose termination reason LSF knows; the others of them were killed."""

OTHER_CELLS = "more or fewer cells than headings"
_HEADINGS = re.compile(r"[A-Z_]+([,;|^\t])[A-Z_]+(?:\1[A-Z_]+)*")
_RECORDS = re.compile(r'"RECORDS"\s*:\s*\[')
_YEAR = re.compile(r"\b\d{4}\b")
_MEMORY = re.compile(r"\brusage\[[^\]]*?\bmem\s*=\s*(\d+(?:\.\d*)?)\s*([KMGT]?)B?(?:/(job|host|task))?", re.IGNORECASE)
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:B|bytes)?$", re.IGNORECASE)
_POWERS = {"": MIB, "K": KIB, "M": MIB, "G": KIB**3, "T": KIB**4}


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins what bjobs writes, or its records without the document around them."""
    if head.lstrip()[:1] in ("{", "["):
        return bool(_RECORDS.search(head) or '"STAT"' in head) and '"JOBID"' in head
    return bool(_delimiter(head))


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job; raises TraceError where the document breaks off."""
    repeated, yearless = RepeatedKeys(), 0
    for given in sources:
        for member in _jobs(given, repeated):
            job = member.value
            if not isinstance(job, dict) or not _text(job.get("JOBID")) or job.get("ERROR"):
                why = _text(job.get("ERROR")) if isinstance(job, dict) else OTHER_CELLS * isinstance(job, list)
                yield Unreadable(member.line, "JOBID", json.dumps(job)[:500], why or "a job of LSF has a JOBID")
                continue
            fields = {key: text for key, value in job.items() if (text := _text(value)) not in ("", "-")}
            yearless += any(name in fields and not _YEAR.search(fields[name]) for name in TIMES)
            yield Read(member.line, _cells(fields))
    if yearless:
        message = (
            f"{yearless:,} jobs have moments without a year, which are not known; set LSB_DISPLAY_YEAR=y before bjobs"
        )
        yield Remark("no year", yearless, message, "warning")
    yield from remarks(repeated, "jobs")


def _delimiter(head: str) -> str:
    """What stands between the headings of a list of bjobs, '' where a text begins with none."""
    headings = head.lstrip("\ufeff").split("\n", 1)[0].replace('"', "").strip()
    match = _HEADINGS.fullmatch(headings)
    return match[1] if match and {"JOBID", "STAT"} <= {*headings.split(match[1])} else ""


def _jobs(given: Given, repeated: RepeatedKeys) -> Iterator[Member]:
    """The records of a document or of a list; a row of more or fewer cells than headings has these as its value."""
    lines = given.lines()
    _, first = next(lines, (1, ""))
    delimiter = _delimiter(first)
    if not delimiter:
        given.stream.seek(0)
        yield from members(given, {"RECORDS"}, repeated, "JOBID")
        return
    headings = next(csv.reader([first], delimiter=delimiter))
    for line, text in lines:  # each by itself: a quote of a command that is left open takes no other job in
        with contextlib.suppress(csv.Error):  # a cell of 131,072 characters
            cells = next(csv.reader([text], delimiter=delimiter), [])
            if len(cells) == len(headings):
                yield Member(line, "", dict(zip(headings, cells, strict=True)))
                continue
        if text.strip():
            yield Member(line, "", [text])


def _text(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _moment(text: str | None) -> str | None:
    """A moment as ISO 8601, without LSF's mark behind it ('Dec 28 19:56:01 2023 L'); None without a year."""
    words = (text or "").split()
    words = words[:-1] if words and words[-1] in ("L", "E", "X") else words
    if len(words) != 4 or not _YEAR.fullmatch(words[3]):
        return text if text and text[:4].isdigit() else None
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    month = months.index(words[0]) + 1 if words[0] in months else 0
    clock = words[2] if words[2].count(":") > 1 else f"{words[2]}:00"
    return f"{words[3]}-{month:02d}-{words[1]:0>2}T{clock}"


def _duration(text: str | None) -> str | None:
    """'300 second(s)', '10.0 min' and '60.0/host' as the parser of durations reads them."""
    return text.replace("second(s)", "s").split("/", 1)[0].strip() if text else None


def requested(fields: Mapping[str, str], slots: int, hosts: int) -> float | None:
    """The bytes reserved (of a task times the slots, of a host times the hosts), else the limit."""
    match = next((each for name in REQUIREMENTS if (each := _MEMORY.search(fields.get(name, "")))), None)
    if match is None:
        match = _SIZE.match(fields.get("MEMLIMIT", ""))
        return None if match is None else float(match.group(1)) * _POWERS[match.group(2).upper()]
    times = {"task": slots, "host": hosts}.get((match.group(3) or "").lower(), 1)
    return float(match.group(1)) * _POWERS[match.group(2).upper()] * times


def _status(fields: Mapping[str, str]) -> str | None:
    state = fields.get("STAT")
    if state != "EXIT":
        return STATES.get(state, state) if state else None
    reason = fields.get("EXIT_REASON", "").split(":", 1)[0]
    if reason.startswith("TERM_") and reason != "TERM_UNKNOWN":
        return f"{REASONS.get(reason, 'killed')} (EXIT, {reason})"
    return f"failed (EXIT {fields['EXIT_CODE']})" if "EXIT_CODE" in fields else "failed (EXIT)"


def _cells(fields: Mapping[str, str]) -> list[str | float | None]:
    index, job = fields.get("JOBINDEX", "0"), fields["JOBID"]
    slots = next(
        (int(fields[name]) for name in SLOTS if fields.get(name, "").isdecimal() and len(fields[name]) < 8), None
    )
    hosts = dict.fromkeys(host.split("*")[-1] for host in fields.get("EXEC_HOST", "").split(":"))
    cells: dict[str, str | float | None] = dict(fields)
    cells |= {name: _moment(fields.get(name)) for name in TIMES}
    cells |= {name: _duration(fields.get(name)) for name in ("RUN_TIME", "PEND_TIME", "RUNTIMELIMIT", "CPU_USED")}
    if fields.get("STAT") in STATES and fields.get("STAT") != "DONE":
        cells["FINISH_TIME"] = None  # what is shown is when it has to end
    cells |= {
        "job": job if index in ("0", "") or "[" in job else f"{job}[{index}]",
        "status": _status(fields),
        "slots": slots,
        "gpus": fields.get("GPU_NUM"),
        "EXEC_HOST": "+".join(hosts)[:200],
        "requested_memory": requested(fields, slots or 1, len(hosts)),
    }
    return [cells.get(name) for name in COLUMNS]


TASK = Made("task_name", r"regexp_replace(task_name, '\[[\d,:%-]+\](?:%\d+)?$', '')", needs=("task_name",))
"""The name of an array without its elements: 'fit[3]', 'fit[1-100]%10'."""

NOT_KNOWN = "LSF may reserve memory per job or per host: a job over several hosts may have requested more."

FORMAT = Format(
    name="lsf",
    title="LSF jobs (bjobs -json, or -o with a delimiter)",
    columns=tuple(SourceColumn(name, NUMBER if name in NUMBERS else TEXT) for name in COLUMNS),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "JOB_NAME"),
        Rule("user", "USER"),
        Rule("group", "PROJ_NAME"),
        Rule("workload", "QUEUE"),
        Rule("node", "EXEC_HOST"),
        Rule("status", "status"),
        Rule("submit_time_s", "SUBMIT_TIME"),
        Rule("start_time_s", "START_TIME"),
        Rule("end_time_s", "FINISH_TIME"),
        Rule("duration_s", "RUN_TIME", "s"),
        Rule("time_limit_s", "RUNTIMELIMIT", "min"),
        Rule("requested_cpu_percent", "slots", "cores"),
        Rule("requested_gpu_percent", "gpus", "cores"),
        Rule("requested_memory_bytes", "requested_memory", "B"),
        Rule("mean_memory_bytes", "AVG_MEM", "B"),
        Rule("peak_memory_bytes", "MAX_MEM", "B"),
    ),
    required=("job",),
    nulls=("", "-"),
    many_machines=True,
    finished=("done",),
    duration_from_times=True,
    units=(("CPU_USED", "s"),),
    made=(
        TASK,
        Made("cpu_usage_percent", "100 * CPU_USED / nullif(duration_s, 0)", needs=("CPU_USED", "duration_s")),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    not_known=NOT_KNOWN,
    rows_version=3,
)
