"""PBS Pro, OpenPBS and Torque: the server's accounting log, one record a line, and `qstat -x -f -F json`.

A record E ends a run, R an attempt that is run again; S without either is a job that still runs, Q one that waits,
D or A without E one that was deleted or aborted. Sizes (`16gb`) count in 1024s; resources_used.mem is the most memory
that the job held.

Source: the accounting chapters of the PBS Professional and Torque administrator's guides.
"""

import contextlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from workprof.core.units import HOUR_S, KIB
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
from workprof.formats.json_documents import Mending, members, remarks
from workprof.formats.last_lines import CUT, unended
from workprof.formats.repeated_keys import RepeatedKeys

OWN = (
    *("jobname", "user", "group", "account", "project", "queue", "owner", "ctime", "qtime", "etime", "start", "end"),
    *("exec_host", "session", "run_count", "Exit_status"),
    *(f"Resource_List.{name}" for name in ("mem", "pmem", "vmem", "ncpus", "ngpus", "nodect", "nodes", "select")),
    *(f"Resource_List.{name}" for name in ("place", "walltime", "cput")),
    *(f"resources_used.{name}" for name in ("mem", "vmem", "cput", "cpupercent", "ncpus", "walltime", "energy_used")),
)
"""Attributes of a record that become columns."""

MADE = ("status", "cores", "gpus", "requested_memory", "peak_memory", "node", "team")
COLUMNS = ("job", *OWN, *MADE)

LISTS = ("Resource_List.nodes", "Resource_List.select")
FIRST_LINES = 20
MOSTLY = 0.8
MOST_TEXT = 200

_RECORD = re.compile(r"^(\d\d)/(\d\d)/(\d{4}) (\d\d:\d\d:\d\d);([A-Za-z]);([^;]*);(.*)$", re.DOTALL)
_LOCAL = re.compile(r"^\d{4}-\d\d-\d\dT")
HALF_HOUR_S, FURTHEST_S, LATE_S = 1800, 14 * HOUR_S, 300
"""Zones are half hours from UTC (but Nepal), 14 hours at most; a record is written minutes after its moment."""
_KEY = re.compile(r"(?:^|\s)([A-Za-z_][\w.\-]*)=")
_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([kmgtp]?)([bw]?)$", re.IGNORECASE)
_JOBS = re.compile(r'"Jobs"\s*:\s*\{|^\s*\{\s*"\d+[^"]*"\s*:\s*\{')
_PBS = re.compile(r'"(?:pbs_version|pbs_server|job_state|Job_Owner)"')

OVER_LIMITS = {-29: "timed out", -28: "timed out", -27: "out of memory", -26: "out of memory"}
"""Exit status of a job that PBS itself ended because it passed a limit."""

KILLS = {256 + 15: "killed", 256 + 9: "killed", 128 + 15: "killed", 128 + 9: "killed"}
STATES = {
    **{"Q": "queued", "H": "waiting (held)", "W": "waiting", "T": "waiting (moving)", "M": "waiting (moved)"},
    **{"R": "running", "E": "running (exiting)", "S": "suspended", "U": "suspended", "B": "running (array)"},
}
"""States of qstat; F and X have ended."""


def size(text: str) -> float | None:
    """The bytes of '16gb', '123kb', '512mw' (words of 8 bytes), '1024'; None where it is none."""
    match = _SIZE.match(text.strip())
    if match is None:
        return None
    unit = KIB ** " kmgtp".index(match.group(2).lower() or " ")
    return float(match.group(1)) * float(unit) * (8 if match.group(3).lower() == "w" else 1)


def attributes(text: str) -> dict[str, str]:
    """The attributes of a record; a value may hold blanks, and stand in quotes."""
    keys = list(_KEY.finditer(text))
    ends = [key.start() for key in keys[1:]] + [len(text)]
    return {key.group(1): text[key.end() : end].strip().strip("\"'") for key, end in zip(keys, ends, strict=False)}


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins an accounting log."""
    lines = [line for line in head.splitlines()[:FIRST_LINES] if line.strip()]
    return bool(lines) and sum(bool(_RECORD.match(line)) for line in lines) >= MOSTLY * len(lines)


def recognises_json(head: str, name: str) -> bool:
    """Tell whether a text begins a document of PBS jobs."""
    return head.lstrip().startswith("{") and bool(_JOBS.search(head)) and bool(_PBS.search(head))


class _Log:
    """What is known of the jobs that have not ended, and what was passed over, while the records are read."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, dict[str, str]]] = {}
        self._others: Counter[str] = Counter()
        self._left: dict[str, None] = {}
        self._arrays = 0
        self._last: defaultdict[str, set[str]] = defaultdict(set)  # last attributes of the records of a kind
        self._unended = 0
        self._zone_s: float | None = None  # the server's time less UTC, as its latest record of a start or an end tells
        self._left_local = 0

    def record(self, line: int, text: str) -> Read | Unreadable | None:
        """The run that a record ends, None where it ends none; the text has its line end."""
        record = _RECORD.match(text)
        if record is None:
            return Unreadable(line, "", text, "no record of an accounting log")
        month, day, year, time, kind, job, rest = record.groups()
        values = attributes(rest)
        local = f"{year}-{month}-{day}T{time}"
        self._learn_zone(local, values.get({"S": "start", "E": "end"}.get(kind, ""), ""))
        moment = self._utc(local)
        last, known = next(reversed(values), ""), self._last["E" if kind == "R" else kind]
        if not text.endswith("\n"):
            if known and last not in known:
                return Unreadable(line, "", text, CUT)
            self._unended += 1
        known.add(last)
        if kind in "ER":
            return self._end(line, moment, job, values, again=kind == "R")
        if kind not in "QSTDA":
            self._others[kind] += 1
            return None
        first, before = self._open.get(job, (line, {}))
        word = {"Q": "queued", "D": "deleted", "A": "aborted"}.get(kind, "running")
        now = {"qtime": moment, **before, **values, "record": word, "moment": moment}
        self._open[job] = (first, now)
        return None

    def rest(self) -> Iterator[Read | Remark]:
        """Yield a row for every job that has not ended, then what was passed over."""
        for job, (line, values) in self._open.items():
            if "start" in values and values["record"] in ("deleted", "aborted"):
                values["end"] = values["moment"]
            yield Read(line, _cells(job, self._in_utc(values), values["record"]))
        if self._left_local:
            text = (
                f"{self._left_local:,} ends and submissions are in the server's zone, which no record tells: left out"
            )
            yield Remark("local moments", self._left_local, text, "warning")
        if self._others:
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(self._others.items()))
            message = f"records that are no runs were passed over: {kinds}"
            yield Remark("other records", sum(self._others.values()), message)
        if self._left:
            names = ", ".join(sorted(self._left))[:500]
            yield Remark("other attributes", len(self._left), f"attributes that were left out: {names}")
        yield from _of_arrays(self._arrays)
        yield from unended(self._unended)

    def _end(self, line: int, moment: str, job: str, values: dict[str, str], *, again: bool) -> Read | None:
        _, before = self._open.pop(job, (line, {}))
        if "[]" in job and not any(key.startswith("resources_used.") for key in values):
            self._arrays += 1
            return None
        ended = {"end": moment, **before, **values}
        if again:
            self._open[job] = (line, {key: before[key] for key in before if key != "start"} | {"record": "queued"})
            if "start" not in ended:
                return None
        self._left.update(dict.fromkeys(values.keys() - OWN))
        return Read(line, _cells(job, self._in_utc(ended), "rerun" if again else _ended(ended)))

    def _learn_zone(self, local: str, epoch: str) -> None:
        """Take the server's zone from a record's moment, and the same moment in s since 1970."""
        with contextlib.suppress(ValueError):
            ahead_s = _seconds(local) - float(epoch)
            zone_s = round(ahead_s / HALF_HOUR_S) * HALF_HOUR_S
            if abs(zone_s) <= FURTHEST_S and abs(ahead_s - zone_s) <= LATE_S:
                self._zone_s = zone_s

    def _utc(self, local: str) -> str:
        """A record's moment in s since 1970, as it is while the zone is not known."""
        try:
            return local if self._zone_s is None else f"{_seconds(local) - self._zone_s:.0f}"
        except ValueError:
            return local

    def _in_utc(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """What is known of a run, without moments of the server's time beside one in s since 1970."""
        result = dict(values)
        for name in ("qtime", "end"):
            if _LOCAL.match(result.get(name, "")):
                result[name] = self._utc(result[name])
                if self._zone_s is None and result.get("start", "").isdigit():
                    del result[name]
                    self._left_local += 1
        return result


def _seconds(local: str) -> float:
    return datetime.fromisoformat(f"{local}+00:00").timestamp()


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every run, then one for every job that has not ended by the end of the log."""
    log = _Log()
    for given in sources:
        for line, text in given.lines(ends=True):
            result = log.record(line, text) if text.strip() else None
            if result is not None:
                yield result
    yield from log.rest()


def _of_arrays(count: int) -> Iterator[Remark]:
    if count:
        yield Remark("arrays", count, f"{count:,} records of whole arrays are no runs; those of their jobs are")


def read_json(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every job of a document; raises TraceError where it breaks off."""
    repeated, mending, arrays = RepeatedKeys(), Mending(), 0
    for given in sources:
        for member in members(given, {"Jobs"}, repeated, "job_state", mending, keyed=True):
            job = member.value
            if not isinstance(job, dict):
                yield Unreadable(member.line, member.key, json.dumps(job)[:500], "a job of PBS is an object")
                continue
            values, state = _of_json(job), job.get("job_state")
            if state == "B" or ("[]" in member.key and "resources_used.walltime" not in values):
                arrays += 1
                continue
            status = STATES.get(state) if isinstance(state, str) else None
            if status is not None:
                values.pop("end", None)
            elif "start" not in values:
                status = "deleted"
            yield Read(member.line, _cells(member.key, values, status or _ended(values)))
    yield from remarks(repeated, "jobs")
    yield from _of_arrays(arrays)
    if mending.count:
        text = (
            "values that are no JSON were mended: numbers with leading zeros became texts, unknown escapes plain text"
        )
        yield Remark("mended JSON", mending.count, f"{mending.count:,} {text}")


NAMES = {
    **{"Job_Name": "jobname", "Account_Name": "account", "Job_Owner": "owner", "euser": "user", "egroup": "group"},
    **{"stime": "start", "obittime": "end", "session_id": "session"},
}
MOMENTS = ("ctime", "qtime", "etime", "start", "end")
"""Names of qstat, where the log has others."""


def _of_json(job: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of a job of qstat as those of a record."""
    values: dict[str, str] = {}
    for key, value in job.items():
        if isinstance(value, dict):
            values |= {f"{key}.{inner}": _plain(each) for inner, each in value.items() if each is not None}
        elif value is not None:
            name, plain = NAMES.get(key, key), _plain(value)
            values[name] = " ".join(plain.split()) if name in MOMENTS else plain  # 'Wed May  8 ...'
    if "user" not in values and "owner" in values:
        values["user"] = values["owner"].split("@")[0]
    return values


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _ended(values: Mapping[str, str]) -> str | None:
    """How a run ended: by its exit status, and whether it passed its request."""
    try:
        code = int(values["Exit_status"])
    except (KeyError, ValueError):
        return values.get("record") if values.get("record") in ("deleted", "aborted") else None
    if not code:
        return "completed"
    word = OVER_LIMITS.get(code) or KILLS.get(code, "failed")
    if word == "killed":
        word = "out of memory" if _passed(values, "mem") else "timed out" if _passed(values, "walltime") else word
        word = "deleted" if word == "killed" and values.get("record") == "deleted" else word
    return f"{word} (exit {code})"


def _passed(values: Mapping[str, str], name: str) -> bool:
    """Tell whether a run used as much as it requested."""
    of = size if name == "mem" else _clock
    used, requested = (of(values.get(f"{what}.{name}", "")) for what in ("resources_used", "Resource_List"))
    return used is not None and requested is not None and used >= requested > 0


def _clock(text: str) -> float | None:
    parts = text.split(":")
    if not text or not all(part.isdecimal() for part in parts):
        return None
    return float(sum(int(part) * 60**power for power, part in enumerate(reversed(parts))))


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else None


def _chunks(values: Mapping[str, str]) -> list[tuple[int, dict[str, str]]]:
    """The chunks of a request: how many, and what each has ('2:ncpus=4:mem=8gb+1:ppn=2')."""
    text = next((values[name] for name in reversed(LISTS) if name in values), "")
    chunks = []
    for chunk in text.split("+") if text else ():
        parts = chunk.split(":")
        named = dict(part.split("=", 1) for part in parts if "=" in part)
        chunks.append((_count(parts[0]) or 1, named))
    return chunks


def _over(chunks: Sequence[tuple[int, dict[str, str]]], *names: str) -> float | None:
    """The sum over chunks of the first of some resources that each has, None where none has any."""
    result = [(times, next((has[name] for name in names if name in has), None)) for times, has in chunks]
    known = [times * value for times, text in result if text is not None and (value := size(text)) is not None]
    return float(sum(known)) if known else None


def _requested(values: Mapping[str, str]) -> dict[str, str | float | None]:
    """Cores, GPUs and bytes that a job requested; what is no number stays a text, so that it is told."""
    chunks = _chunks(values)
    cores: float | None = _over(chunks, "ncpus", "ppn")
    named = values.get("Resource_List.ncpus")
    listed = _count(named)
    if cores is None or ("Resource_List.select" in values and listed):
        cores = listed or _count(values.get("Resource_List.procs")) or _count(values.get("total_execution_slots"))
        cores = cores or (float(sum(times for times, _ in chunks)) if chunks else None)
    unread = named is not None and listed is None
    memory: str | float | None = values.get("Resource_List.mem")
    if memory is not None:
        read = size(str(memory))
        memory = memory if read is None else read
    elif (each := size(values.get("Resource_List.pmem", ""))) is not None:
        memory = each * (cores or 1)
    else:
        memory = _over(chunks, "mem")
    gpus = _count(values.get("Resource_List.ngpus"))
    return {
        "cores": named if cores is None and unread else cores,
        "requested_memory": memory,
        "gpus": gpus or _over(chunks, "ngpus", "gpus"),
    }


def _cells(job: str, values: Mapping[str, str], status: str | None) -> list[str | float | None]:
    used = values.get("resources_used.mem")
    peak = None if used is None else size(used)
    hosts = dict.fromkeys(part.split("/")[0].strip("(") for part in values.get("exec_host", "").split("+"))
    made: dict[str, str | float | None] = {
        "status": status,
        "peak_memory": used if peak is None else peak,
        "team": values.get("account") or values.get("group"),
        "node": "+".join(hosts)[:MOST_TEXT] or None,
        **_requested(values),
    }
    return [job, *(values.get(name) for name in OWN), *(made[name] for name in MADE)]


_DURATIONS = ("resources_used.cput", "Resource_List.cput")
_COUNTS = ("cores", "gpus")

FORMAT = Format(
    name="pbs",
    title="PBS or Torque accounting log",
    columns=tuple(SourceColumn(name, NUMBER if name in (*_COUNTS, *_DURATIONS) else TEXT) for name in COLUMNS),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "jobname"),
        Rule("user", "user"),
        Rule("group", "team"),
        Rule("workload", "queue"),
        Rule("node", "node"),
        Rule("status", "status"),
        Rule("submit_time_s", "qtime", "s"),
        Rule("start_time_s", "start", "s"),
        Rule("end_time_s", "end", "s"),
        Rule("duration_s", "resources_used.walltime", "s"),
        Rule("time_limit_s", "Resource_List.walltime", "s"),
        Rule("requested_cpu_percent", "cores", "cores"),
        Rule("requested_gpu_percent", "gpus", "cores"),
        Rule("requested_memory_bytes", "requested_memory", "B"),
        Rule("peak_memory_bytes", "peak_memory", "B"),
    ),
    required=("job",),
    nulls=("", "UNLIMITED", "N/A"),
    many_machines=True,
    finished=("completed",),
    zero_is_missing=("submit_time_s", "start_time_s", "end_time_s"),
    zero_is_unknown=("peak_memory_bytes", "cpu_usage_percent"),
    duration_from_times=True,
    units=tuple((name, "s") for name in _DURATIONS),
    made=(
        Made(
            "cpu_usage_percent",
            '100 * "resources_used.cput" / nullif(duration_s, 0)',
            needs=("resources_used.cput", "duration_s"),
        ),
    ),
    reader=Reader(recognises, COLUMNS, read, several=True),
    not_known="PBS samples memory: a short peak may be missed, so a size may be too small.",
    rows_version=4,
)

JSON = replace(
    FORMAT,
    name="pbs-json",
    title="PBS jobs (qstat -x -f -F json)",
    reader=Reader(recognises_json, COLUMNS, read_json),
)
