"""Grid Engine (SGE, Son of Grid Engine, Univa/Altair, Gridware): `qacct -j` and the accounting file that it reads.

Requests stand in the category (`-l h_vmem=4G,h_rt=3600`): memory is per slot. K, M, G count in 1024s, k, m, g in 1000s.
maxvmem is the most virtual memory, which is what h_vmem limits; where it is 0 the largest resident size stands for it.

Gridware's accounting file (accounting.jsonl) has an object of JSON a line, with the same fields.

Source: the manual pages accounting(5), qacct(1) and sge_types(1); sge_accounting(5) of the Open Cluster Scheduler 9.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from workprof.core.units import KIB
from workprof.formats.cells import PLAIN
from workprof.formats.declare import (
    NUMBER,
    TEXT,
    AtOnce,
    Format,
    Given,
    Made,
    Read,
    Reader,
    Remark,
    Rule,
    SourceColumn,
    Steps,
    Unreadable,
)
from workprof.formats.last_lines import CUT, unended

FIELDS = (
    *("qname", "hostname", "group", "owner", "jobname", "jobnumber", "account", "priority", "qsub_time", "start_time"),
    *("end_time", "failed", "exit_status", "ru_wallclock", "ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss"),
    *("ru_ismrss", "ru_idrss", "ru_isrss", "ru_minflt", "ru_majflt", "ru_nswap", "ru_inblock", "ru_oublock"),
    *("ru_msgsnd", "ru_msgrcv", "ru_nsignals", "ru_nvcsw", "ru_nivcsw", "project", "department", "granted_pe"),
    *("slots", "taskid", "cpu", "mem", "io", "category", "iow", "pe_taskid", "maxvmem", "arid", "ar_submission_time"),
)
"""Fields of a line of the accounting file, under the names that qacct gives them."""

COPIED = (
    *("jobname", "owner", "qname", "hostname", "account", "project", "department", "granted_pe", "slots", "priority"),
    *("qsub_time", "start_time", "end_time", "failed", "exit_status", "ru_wallclock", "cpu", "mem", "io", "maxvmem"),
    *("maxrss", "ru_maxrss", "category"),
)
MADE = ("job", "team", "status", "requested_memory", "time_limit")
COLUMNS = (*COPIED, *MADE)

NUMBERS = ("slots", "cpu", "maxrss", "ru_maxrss", "requested_memory")

NULLS = ("", "-/-", "NONE", "none", "undefined", "NaN")
TIMES = ("qsub_time", "start_time", "end_time")
LEAST_FIELDS = 43
MOST_COLONS = 8
FIRST_LINES = 20
MOSTLY = 0.8
FIRST_MS, FIRST_US = 1e11, 1e14
"""Epochs above are milliseconds (Univa), or microseconds (Gridware)."""

SPELLED = {"job_name": "jobname", "job_number": "jobnumber", "submission_time": "qsub_time", "task_number": "taskid"}
"""Names of the manual and of JSON lines -> what qacct calls a field."""

MEMORY = ("h_vmem", "m_mem_free", "mem_free", "mem_requested", "h_rss", "virtual_free", "s_vmem")
"""Requests of memory, the one that counts first."""

FACTORS = {"": 1, "k": 1e3, "K": KIB, "m": 1e6, "M": KIB**2, "g": 1e9, "G": KIB**3, "t": 1e12, "T": KIB**4}
AGAIN = (24, 25, 30)
"""Values of `failed` that mean: the job is scheduled anew."""

ENFORCED, AFTER = 37, 100
"""Values of `failed` of a job that the scheduler or a signal ended."""

_KEYS = {"job_number", "qname", "ru_wallclock", "exit_status"}
_RULE = re.compile(r"^={20,}\s*$")
_NUMBER = re.compile(r"^(\d+(?:\.\d+)?)([kKmMgGtT]?)$")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([KMGT]?)B?$")
_RESOURCES = re.compile(r"(?:^|\s)-l\s+(\S+)")
_FRACTION = re.compile(r"(\d\d:\d\d:\d\d)\.\d+$")


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins what qacct prints, or an accounting file."""
    there = head.splitlines()
    ended = there if head.endswith("\n") or len(there) < 2 else there[:-1]  # the last line may be cut
    lines = [line for line in ended[:FIRST_LINES] if line.strip() and line[0] != "#"]
    if not lines:
        return False
    if _RULE.match(lines[0]):
        return any(line.split()[:1] == ["qname"] for line in lines)
    if lines[0].startswith("{"):
        return _object(lines[0]).keys() >= _KEYS
    return sum(_is_line(line.split(":")) for line in lines) >= MOSTLY * len(lines)


def _object(text: str) -> dict[str, str]:
    """The fields of a line of JSON, {} of what is none."""
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(result, dict):
        return {}
    return {key: str(value) for key, value in result.items() if isinstance(value, (str, int, float))}


def _is_line(cells: Sequence[str]) -> bool:
    return len(cells) >= LEAST_FIELDS and all(cells[FIELDS.index(name)].isdecimal() for name in ("jobnumber", *TIMES))


def _split(text: str) -> list[str] | None:
    """The cells of a line, None where it is none.

    Colons within a job's name or its requests are put back where the numbers behind them show how many there are.
    """
    parts = text.split(":")
    if _is_sound(parts):
        return parts
    colons = itertools.product(range(MOST_COLONS + 1), repeat=2)
    for in_name, in_category in sorted(colons, key=sum):
        joined = _joined(_joined(parts, FIELDS.index("jobname"), in_name), FIELDS.index("category"), in_category)
        if _is_sound(joined):
            return joined
    return parts if _is_line(parts) else None


def _joined(parts: Sequence[str], at: int, further: int) -> list[str]:
    """Cells with one and some further ones behind it as one."""
    return [*parts[:at], ":".join(parts[at : at + 1 + further]), *parts[at + 1 + further :]]


def _is_sound(cells: Sequence[str]) -> bool:
    """Tell whether numbers stand where a line has them, behind its texts too."""
    behind = [cells[at] for at in (FIELDS.index(name) for name in ("iow", "maxvmem", "arid")) if at < len(cells)]
    return _is_line(cells) and all(PLAIN.fullmatch(cell) for cell in behind)


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job, and for every part of a parallel one that has a record of its own."""
    virtual = without_slots = unsure = mixed = fewest = 0
    for given in sources:
        for line, result, ended in _records(given):
            if isinstance(result, str):
                yield Unreadable(line, "", result, "no record of Grid Engine's accounting")
                continue
            if not ended and len(result) < fewest:
                yield Unreadable(line, "", " ".join(result.values()), CUT)
                continue
            unsure += not ended
            fewest = min(fewest or len(result), len(result))
            virtual += _bytes(result.get("maxvmem", "")) > 0
            without_slots += _whole_number(result.get("slots", "")) == 0
            mixed += len({_per_second(float(text)) for name in TIMES if (text := _epoch(result, name))}) > 1
            yield Read(line, _cells(result))
    if virtual:
        text = (
            f"the memory of {virtual:,} records is virtual (maxvmem): what h_vmem limits, and more than was resident; "
            "without a request of h_vmem a size that rests on it is too large"
        )
        yield Remark("memory is virtual", virtual, text)
    if without_slots:
        text = f"{without_slots:,} records have 0 slots: what they requested is not known"
        yield Remark("slots of zero", without_slots, text, "warning")
    if mixed:
        text = f"{mixed:,} records have moments in several units (s, ms, us): each is read in its own"
        yield Remark("units disagree", mixed, text, "warning")
    yield from unended(unsure)


def _records(given: Given) -> Iterator[tuple[int, dict[str, str] | str, bool]]:
    """Yield where a record begins, its fields or the text of what is none, and whether its last line ends."""
    record: dict[str, str] | None = None
    begun, skipped, ended = 0, False, True
    for line, raw in given.lines(ends=True):
        text = raw.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        if _RULE.match(text):
            if record:
                yield begun, _whole(record), True
            record, begun, skipped = {}, line, False
        elif text.startswith("Total System Usage"):
            skipped = True  # the sums after the last record
        elif record is None and text.startswith("{"):
            fields = {SPELLED.get(key, key): value for key, value in _object(text).items()}
            yield line, _whole(fields) if fields else text, True
        elif record is None:
            cells = _split(text)
            yield line, dict(zip(FIELDS, cells, strict=False)) if cells else text, raw.endswith("\n")
        elif not skipped:
            key, _, value = text.strip().partition(" ")
            record[key], ended = value.strip(), raw.endswith("\n")
    if record:
        yield begun, _whole(record), ended


def _whole(record: dict[str, str]) -> dict[str, str] | str:
    """A record of qacct; one without a job number is none."""
    if record.get("jobnumber", "").isdecimal():
        return record
    return " ".join(f"{key} {value}" for key, value in record.items())


def _resources(record: Mapping[str, str]) -> dict[str, str]:
    """What a job requested with -l: of its category, else of the command that submitted it."""
    for source in ("category", "submit_cmd"):
        result = ",".join(_RESOURCES.findall(record.get(source, "")))
        if result:
            return dict(part.split("=", 1) for part in result.split(",") if "=" in part)
    return {}


def _requested(record: Mapping[str, str]) -> float | str | None:
    """The bytes of all slots, None where how many these are is not known; what is no size stays a text."""
    resources, slots = _resources(record), _whole_number(record.get("slots", "1"))
    if slots is None or slots < 1:
        return None
    told = [resources[name] for name in MEMORY if name in resources]
    sizes = [float(size.group(1)) * FACTORS[size.group(2)] * slots for size in map(_NUMBER.match, told) if size]
    return next((size for size in sizes if size), None) if sizes or not told else told[0]


def _whole_number(text: str) -> int | None:
    """The number that a text begins with ('100 : assumedly after job', '137 (Killed)')."""
    match = re.match(r"\s*(-?\d{1,9})\b", text)
    return int(match.group(1)) if match else None


def _bytes(text: str) -> float:
    match = _SIZE.match(text.strip())
    return float(match.group(1)) * FACTORS[match.group(2)] if match else 0.0


def _seconds(text: str) -> float:
    parts = text.strip().rstrip("s").split(":")
    try:
        return sum(float(part) * 60.0**power for power, part in enumerate(reversed(parts)))
    except ValueError:
        return 0.0


def _moment(text: str) -> str | float | None:
    """A moment: epochs in seconds, texts without fractions of a second, None for one that has not come."""
    if text.strip().isdecimal():
        return float(text) / _per_second(float(text)) or None
    return _FRACTION.sub(r"\1", text.strip())


def _epoch(record: Mapping[str, str], name: str) -> str:
    """The digits of a moment that has come, '' where it is written otherwise."""
    text = record.get(name, "").strip()
    return text.lstrip("0") if text.isdecimal() else ""


def _per_second(epoch: float) -> float:
    return 1e6 if epoch > FIRST_US else 1e3 if epoch > FIRST_MS else 1.0


def _status(record: Mapping[str, str]) -> str | None:
    """How a job ended: by `failed`, its exit status, and whether it passed its request."""
    failed, code = (_whole_number(record.get(name, "")) for name in ("failed", "exit_status"))
    if failed in AGAIN:
        return f"rerun (failed {failed})"
    if not failed:
        return None if code is None else f"failed (exit {code})" if code else "completed"
    if failed not in (ENFORCED, AFTER):
        return f"failed (failed {failed})"
    requested, limit = _requested(record), _seconds(_resources(record).get("h_rt", ""))
    if isinstance(requested, float) and _bytes(record.get("maxvmem", "")) >= requested:
        word = "out of memory"
    elif failed == ENFORCED or 0 < limit <= _seconds(record.get("ru_wallclock", "")):
        word = "timed out"
    else:
        word = "killed"
    return f"{word} (failed {failed})"


def _cells(record: Mapping[str, str]) -> list[str | float | None]:
    task, part = record.get("taskid", ""), record.get("pe_taskid", "")
    job = record["jobnumber"] + (f".{task}" if task.isdecimal() and task != "0" else "")
    project = record.get("project", "")
    resident = record.get("ru_maxrss", "")
    cells: dict[str, str | float | None] = dict(record)
    cells |= {name: _moment(record.get(name, "")) for name in TIMES}
    cells |= {
        "job": job if part in NULLS else f"{job} part {part}",
        "team": record.get("group") if project in NULLS else project,
        "status": _status(record),
        "slots": None if record.get("slots") == "0" else record.get("slots"),
        "ru_maxrss": f"{resident}K" if _NUMBER.match(resident) else resident,
        "requested_memory": _requested(record),
        "time_limit": _resources(record).get("h_rt"),
    }
    return [cells.get(name) for name in COLUMNS]


FORMAT = Format(
    name="sge",
    title="Grid Engine accounting (qacct -j)",
    columns=tuple(SourceColumn(name, NUMBER if name in NUMBERS else TEXT) for name in COLUMNS),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "jobname"),
        Rule("user", "owner"),
        Rule("group", "team"),
        Rule("workload", "qname"),
        Rule("node", "hostname"),
        Rule("status", "status"),
        Rule("submit_time_s", "qsub_time", "s"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("duration_s", "ru_wallclock", "s"),
        Rule("time_limit_s", "time_limit", "s"),
        Rule("requested_cpu_percent", "slots", "cores"),
        Rule("requested_memory_bytes", "requested_memory", "B"),
        Rule("peak_memory_bytes", "maxvmem", "B"),
    ),
    required=("job",),
    nulls=(*NULLS, "INFINITY"),
    many_machines=True,
    finished=("completed",),
    zero_is_unknown=("peak_memory_bytes", "cpu_usage_percent"),
    month_first=True,  # qacct prints 05/26/2024 10:00:00.123
    duration_from_times=True,
    units=(("cpu", "s"), ("maxrss", "B"), ("ru_maxrss", "B")),
    steps=Steps(
        key="job_name",
        step=r"^(.+) part ",
        largest=("peak_memory_bytes",),
        at_once=(AtOnce("peak_memory_bytes", "peak_memory_bytes"),),
        summed=("cpu",),
    ),
    made=(
        Made(
            "peak_memory_bytes",
            "coalesce(nullif(peak_memory_bytes, 0), nullif(maxrss, 0), nullif(ru_maxrss, 0), peak_memory_bytes)",
            may=("peak_memory_bytes", "maxrss", "ru_maxrss"),
            of_line=True,
        ),
        Made(
            "cpu_usage_percent",
            "100 * cpu / nullif(duration_s, 0)",
            needs=("cpu", "duration_s"),
        ),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    not_known="maxvmem is virtual memory: more than was resident, so a size may be larger than needed.",
    rows_version=3,
)
