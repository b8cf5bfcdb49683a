"""Cromwell's workflow metadata: one JSON document per workflow, each attempt of each shard of each call a row.

A document is walked through, not held: calls, and the sub workflows inside of them, are taken one by one. `start` to
`end` is the time of a call as Cromwell sees it, with its waiting for a place; `running_s` is that of its job, where the
events tell it. GB are a thousand million bytes and GiB 1024s, as in WDL. No use of memory is told.

Source: Cromwell's documentation of its REST API (metadata) and of execution statuses; the WDL specification for sizes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from workprof.core.errors import TraceError
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
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, elements, keys, remarks
from workprof.formats.repeated_keys import RepeatedKeys

DEPTH = 30
"""Sub workflows in each other; real ones are three or four deep."""

NUMBERS = ("cpu", "gpu_count", "shard", "attempt", "return_code", "running_s")
TEXTS = (
    *("call", "task", "workflow", "run", "status", "start", "end", "memory", "time_limit", "backend", "backend_status"),
    *("job_id", "cache_hit", "preemptible", "docker", "disks", "runtime_attributes", "failure"),
)
COLUMNS = (*TEXTS, *NUMBERS)

READ_KEYS = frozenset(
    {
        *("executionStatus", "start", "end", "attempt", "shardIndex", "runtimeAttributes", "returnCode", "backend"),
        *("backendStatus", "jobId", "callCaching", "failures", "executionEvents", "callRoot", "stdout", "preemptible"),
        *("subWorkflowId", "retryableFailure"),
    }
)
"""What a row is made of; commands, inputs and outputs are passed over."""

MEMORY = (("memory", ""), ("mem", ""), ("memory_gb", " GB"), ("memory_mb", " MB"))
LIMITS = ("time", "walltime", "wall_time", "runtime_minutes", "time_minutes", "maxRuntime")
"""Names that backends give the limit of a job's run time: a clock, or minutes."""

LIMIT = re.compile(r"(?:\d+-)?\d+(?::\d\d){0,2}(?:\.\d+)?$")

JOB_EVENTS = ("RunningJob", "UserAction")
LONGEST_FAILURE = 500
RUN = re.compile(r"/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")


@dataclass
class _Counts:
    """What is no row of its own."""

    expanded: int = 0
    absent: int = 0
    cached: int = 0


def _recognises(text: str, name: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    calls = '"calls"' in text and '"executionStatus"' in text
    return calls or ('"workflowProcessingEvents"' in text and '"workflowName"' in text)


def _read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    counts, repeated = _Counts(), RepeatedKeys()
    for given in sources:
        text = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
        while begin := text.peek():
            if begin == "[":
                for _ in elements(text):
                    yield from _workflow(text, given, (), counts, repeated)
            else:
                yield from _workflow(text, given, (), counts, repeated)
    texts = (
        ("sub workflows", "info", counts.expanded, "calls are sub workflows; the tasks in them are the rows"),
        (
            "sub workflows elsewhere",
            "warning",
            counts.absent,
            "calls are sub workflows that are not in the document: fetch it with expandSubWorkflows=true",
        ),
        (
            "call cache",
            "info",
            counts.cached,
            "calls were answered from the call cache: nothing ran, and their times count nowhere",
        ),
    )
    for name, level, count, words in texts:
        if count:
            yield Remark(name, count, f"{count:,} {words}", level)
    yield from remarks(repeated)


def _workflow(
    text: JsonWindow, given: Given, above: tuple[str, ...], counts: _Counts, repeated: RepeatedKeys
) -> Iterator[Read | Unreadable]:
    """Yield the rows of the workflow that comes next.

    Raises TraceError when it is too deep inside others, or broken.
    """
    if len(above) > DEPTH:
        raise TraceError(
            f"{given.name}: sub workflows are nested more than {DEPTH} deep at line {text.line:,}; load the metadata "
            f"of a workflow further down"
        )
    for key in keys(text):
        if key != "calls" or text.peek() != "{":
            text.value()
            continue
        for name in keys(text):
            if text.peek() != "[":
                line, (_, content) = text.line, text.value()
                yield Unreadable(line, name, content, "not a list of a call's attempts")
                continue
            for place, line in enumerate(elements(text)):
                if text.peek() == "{":
                    yield from _call(text, given, (*above, name), place, counts, repeated)
                else:
                    yield Unreadable(line, name, text.value()[1], "not an attempt of a call")


def _call(
    text: JsonWindow, given: Given, path: tuple[str, ...], place: int, counts: _Counts, repeated: RepeatedKeys
) -> Iterator[Read | Unreadable]:
    line, pairs, expanded = text.line, [], False
    for key in keys(text):
        if key == "subWorkflowMetadata" and text.peek() == "{":
            expanded = True
            yield from _workflow(text, given, (*path[:-1], f"{path[-1]}[{place}]"), counts, repeated)
            continue
        value, _ = text.value()
        if key in READ_KEYS:
            pairs.append((key, value))
    repeated.forget()
    call = repeated.hook(pairs)
    repeated.end_row()
    if expanded:
        counts.expanded += 1
    elif "subWorkflowId" in call and not call.get("runtimeAttributes"):
        counts.absent += 1
    else:
        row = _row(call, path, given)
        if row["cache_hit"] == "true":  # its start and end are those of a look-up
            counts.cached += 1
            row |= {"status": f"cached ({row['status']})", "start": None, "end": None}
        yield Read(line, [row[column] for column in COLUMNS])


def _row(call: Mapping[str, Any], path: tuple[str, ...], given: Given) -> dict[str, str | float | None]:
    attributes, shard = _dict(call.get("runtimeAttributes")), call.get("shardIndex")
    caching, failure = _dict(call.get("callCaching")), _failure(call.get("failures"))
    run = RUN.search(f"{_text(call.get('callRoot')) or _text(call.get('stdout')) or ''}/")
    numbered = isinstance(shard, int) and shard >= 0
    return {
        "call": "/".join(path) + (f"[{shard}]" if numbered else ""),
        "task": path[-1],
        "workflow": path[0].partition(".")[0].partition("[")[0],
        "run": run.group(1) if run else given.name.rpartition("/")[2].partition(".")[0],
        "status": _text(call.get("executionStatus")),
        "start": _text(call.get("start")),
        "end": _text(call.get("end")),
        "memory": next(
            (f"{_text(attributes[name])}{unit}" for name, unit in MEMORY if attributes.get(name) is not None), None
        ),
        "time_limit": next((str(attributes[name]) for name in LIMITS if LIMIT.match(str(attributes.get(name)))), None),
        "backend": _text(call.get("backend")),
        "backend_status": _text(call.get("backendStatus")),
        "job_id": _text(call.get("jobId")),
        "cache_hit": _text(caching.get("hit")),
        "preemptible": _text(attributes.get("preemptible", call.get("preemptible"))),
        "docker": _text(attributes.get("docker")),
        "disks": _text(attributes.get("disks")),
        "runtime_attributes": json.dumps(attributes) if attributes else None,
        "failure": failure,
        "cpu": _text(attributes.get("cpu", attributes.get("cpus"))),
        "gpu_count": _text(attributes.get("gpuCount", attributes.get("gpu_count"))),
        "shard": _text(shard) if numbered else None,
        "attempt": _text(call.get("attempt")),
        "return_code": _text(call.get("returnCode")),
        "running_s": _text(_running(call.get("executionEvents"))),
    }


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _failure(failures: object) -> str | None:
    """The first message of failures in which the causes are nested."""
    messages: list[str] = []
    for _ in range(DEPTH):
        if not isinstance(failures, list) or not failures:
            break
        first = _dict(failures[0])
        if isinstance(first.get("message"), str):
            messages.append(first["message"][:LONGEST_FAILURE])
        failures = first.get("causedBy")
    return "; ".join(messages)[:LONGEST_FAILURE] or None


def _running(events: object) -> float | None:
    """The seconds of the event that is the job itself."""
    for event in events if isinstance(events, list) else ():
        known = _dict(event)
        if known.get("description") in JOB_EVENTS:
            try:
                begin, end = (datetime.fromisoformat(str(known.get(name))) for name in ("startTime", "endTime"))
                return round((end - begin).total_seconds(), 3)
            except (ValueError, TypeError):  # no time, or one with and one without a zone
                return None
    return None


OUT_OF_MEMORY = r"out ?of ?memory|memory-retry-error-keys"

FORMAT = Format(
    name="cromwell",
    title="Cromwell workflow metadata",
    columns=(*(SourceColumn(name, TEXT) for name in TEXTS), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        Rule("job_name", "call"),
        Rule("task_name", "task"),
        Rule("workload", "workflow"),
        Rule("run_name", "run"),
        Rule("status", "status"),
        Rule("start_time_s", "start"),
        Rule("end_time_s", "end"),
        Rule("requested_cpu_percent", "cpu", "cores"),
        Rule("requested_gpu_percent", "gpu_count", "cores"),
        Rule("requested_memory_bytes", "memory", "B"),
        Rule("time_limit_s", "time_limit", "min"),
    ),
    finished=("done",),
    duration_from_times=True,
    size_base=1000,
    attempts="attempt",
    made=(
        Made(
            "status",
            "CASE WHEN lower(status) NOT IN ('failed', 'retryablefailure') THEN status "
            f"WHEN regexp_matches(lower(failure), '{OUT_OF_MEMORY}') THEN 'out of memory (' || status || ')' "
            "WHEN lower(backend_status) = 'preempted' OR contains(lower(failure), 'preempted') "
            "THEN 'preempted (' || status || ')' "
            "WHEN return_code IN (137, 140, 143) THEN 'killed (' || status || ', return code ' "
            "|| CAST(return_code AS INTEGER) || ')' ELSE status END",
            needs=("status", "failure", "backend_status", "return_code"),
        ),
    ),
    reader=Reader(_recognises, COLUMNS, _read, several=True),
    not_known="Cromwell does not tell what a task used: requests and times alone.",
    rows_version=2,
)
