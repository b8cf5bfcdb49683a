"""Philly, Microsoft's GPU clusters of 2017: `cluster_job_log`, a JSON list of jobs with their scheduling attempts.

Every attempt is a run. The job's status is that of its last attempt; an attempt that another one followed has failed. A
last attempt without an end was running when the log was taken. A job that was never scheduled is a row without times.

Source: the README of msr-fiddle/philly-traces.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.json_documents import members
from workprof.formats.repeated_keys import RepeatedKeys

COLUMNS = ("jobid", "attempt", "user", "vc", "status", "submitted_time", "start_time", "end_time", "gpus", "machines")
KEYS = ('"attempts"', '"vc"', '"jobid"', '"submitted_time"')
FAILED = "Failed"
SHOWN = 500
NOTHING = ("", "None", "null")


def recognises(head: str, _: str) -> bool:
    """Tell whether a text begins like a job log."""
    return head.lstrip()[:1] == "[" and all(key in head for key in KEYS)


def read(files: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row per attempt, then the number of jobs without any."""
    waiting = 0
    for file in files:
        for member in members(file, (), RepeatedKeys()):
            if not isinstance(member.value, Mapping):
                yield Unreadable(member.line, "", str(member.value)[:SHOWN], "not a job: no object")
                continue
            attempts = member.value.get("attempts") or []
            if not isinstance(attempts, list) or not all(isinstance(one, Mapping) for one in attempts):
                yield Unreadable(member.line, "attempts", str(attempts)[:SHOWN], "not a list of attempts")
                continue
            waiting += not attempts
            for at, attempt in enumerate(attempts or [{}], start=1):
                yield Read(member.line, _cells(member.value, attempt, at, last=at >= len(attempts)))
    if waiting:
        yield Remark("jobs without attempts", waiting, f"{waiting:,} jobs were never scheduled: rows without times")


def _cells(job: Mapping[str, Any], attempt: Mapping[str, Any], at: int, *, last: bool) -> list[str | float | None]:
    start, end = _text(attempt.get("start_time")), _text(attempt.get("end_time"))
    status = _text(job.get("status")) if last else FAILED
    if last and start and not end:
        status = None  # it was running
    detail = attempt.get("detail") or []
    machines = [one for one in detail if isinstance(one, Mapping)] if isinstance(detail, list) else []
    counts = [len(one["gpus"]) for one in machines if isinstance(one.get("gpus"), list)]
    names = ",".join(name for one in machines if (name := _text(one.get("ip"))))
    return [
        *(_text(job.get("jobid")), float(at), _text(job.get("user")), _text(job.get("vc")), status),
        *(_text(job.get("submitted_time")), start, end, float(sum(counts)) if counts else None, names or None),
    ]


def _text(value: object) -> str | None:
    text = "" if value is None else str(value).strip()
    return None if text in NOTHING else text


FORMAT = Format(
    name="philly",
    title="Philly cluster_job_log",
    columns=tuple(SourceColumn(name, NUMBER if name in ("attempt", "gpus") else TEXT) for name in COLUMNS),
    rules=(
        Rule("job_name", "jobid"),
        Rule("user", "user"),
        Rule("group", "vc"),
        Rule("node", "machines"),
        Rule("status", "status"),
        Rule("submit_time_s", "submitted_time", "s"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("requested_gpu_percent", "gpus", "cores"),
    ),
    required=("jobid",),
    many_machines=True,
    finished=("pass",),
    duration_from_times=True,
    attempts="attempt",
    reader=Reader(recognises, COLUMNS, read),
    not_known="Memory is not in the trace, neither requested nor used.",
)
