"""WfCommons' instances (WfFormat 1.0 to 1.6): a JSON document per run of a workflow, one run per task.

Runtimes are in seconds, sizes in bytes; before version 1.4 memory is in KB of 1000 bytes. The units of what older tasks
read and wrote depend on the engine: they are left out. A task is named by its category, its program or its name without
its number.

Source: the README of wfcommons/WfFormat, and its migration of older versions.
"""

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workprof.formats.declare import NUMBER, TEXT, Format, Given, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.formats.json_documents import MAX_MEMBER_CHARACTERS, JsonWindow, Part, parts, remarks
from workprof.formats.repeated_keys import RepeatedKeys

TEXTS = ("task_id", "task", "workflow", "machine", "type", "program", "start")
NUMBERS = ("runtime", "cores", "avg_cpu", "memory", "read", "written", "input")
COLUMNS = (*TEXTS, *NUMBERS)

TOLD = (("workflow", "specification", "tasks"), ("workflow", "specification", "files"))
RAN = (("workflow", "execution", "tasks"), ("workflow", "tasks"), ("workflow", "jobs"))
KB, MOST = 1000.0, 1e300

_OWN = re.compile(r'"(?:specification|makespan|makespanInSeconds|runtimeInSeconds)"\s*:')
_NUMBERED = re.compile(r"_(?:ID)?\d+$")


def _recognises(text: str, name: str) -> bool:
    head = text.lstrip()[:1] == "{" and '"schemaVersion"' in text and '"workflow"' in text
    return head and bool(_OWN.search(text))


def _read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    repeated, unrun = RepeatedKeys(), 0
    for given in sources:
        window = JsonWindow(given.stream, given.name, repeated, MAX_MEMBER_CHARACTERS)
        for _, document in itertools.groupby(parts(window, (*TOLD, *RAN)), key=lambda part: part.document):
            rows = list(_rows(list(document)))
            repeated.end_row()
            unrun += not rows
            yield from rows
    if unrun:
        yield Remark("not run", unrun, f"{unrun:,} documents tell of no execution: they hold no runs", "warning")
    yield from remarks(repeated, "documents")


def _rows(document: Sequence[Part]) -> Iterator[Read | Unreadable]:
    whole = {part.path: part.value for part in document if not part.element}
    names: dict[str | None, Mapping[str, Any]] = {}
    sizes: dict[str | None, float] = {}
    for part in document:
        if part.element and part.path in TOLD and isinstance(part.value, dict):
            if part.path == TOLD[0]:
                names[_text(part.value.get("id"))] = part.value
            else:
                sizes[_text(part.value.get("id"))] = _number(part.value.get("sizeInBytes")) or 0.0
    for part in document:
        if part.element and part.path in RAN:
            if isinstance(part.value, dict):
                cells = _cells(part.value, names.get(_text(part.value.get("id")), {}), sizes) | {
                    "workflow": _text(whole.get(("name",)))
                }
                yield Read(part.line, [cells.get(column) for column in COLUMNS])
            else:
                yield Unreadable(part.line, "tasks", json.dumps(part.value)[:500], "a task is an object")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < MOST else math.inf


def _cells(
    ran: Mapping[str, Any], told: Mapping[str, Any], sizes: Mapping[str | None, float]
) -> dict[str, str | float | None]:
    """The cells of a task that ran; `told` is what the specification says of it."""
    command = ran.get("command")
    program = _text(command.get("program")) if isinstance(command, dict) else None
    name = _text(told.get("name")) or _text(ran.get("name")) or _text(ran.get("id")) or ""
    machines = ran.get("machines")
    kilobytes = _number(ran.get("memory"))
    return {
        "task_id": name if name.endswith(own := _text(ran.get("id")) or "") else f"{name}_{own}",
        "task": _text(ran.get("category")) or _NUMBERED.sub("", name) or program,
        "machine": "+".join(map(str, machines)) if isinstance(machines, list) else _text(ran.get("machine")),
        "type": _text(ran.get("type")),
        "program": program,
        "start": _text(ran.get("executedAt")),
        "runtime": _number(ran.get("runtimeInSeconds", ran.get("runtime"))),
        "cores": _number(ran.get("coreCount", ran.get("cores"))),
        "avg_cpu": _number(ran.get("avgCPU")),
        "memory": _number(ran.get("memoryInBytes")) if kilobytes is None else KB * kilobytes,
        "read": _number(ran.get("readBytes")),
        "written": _number(ran.get("writtenBytes")),
        "input": _input(ran, told, sizes),
    }


def _input(ran: Mapping[str, Any], told: Mapping[str, Any], sizes: Mapping[str | None, float]) -> float | None:
    """The bytes of the files that a task reads, None where none is told."""
    if isinstance(named := told.get("inputFiles"), list):
        known = [sizes[each] for each in named if isinstance(each, str) and each in sizes]
    else:
        files = ran.get("files")
        inputs = [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []
        inputs = [each for each in inputs if str(each.get("link")).lower() == "input"]
        known = [size for each in inputs if (size := _number(each.get("sizeInBytes", each.get("size")))) is not None]
    return sum(known) if known else None


FORMAT = Format(
    name="wfcommons",
    title="WfCommons instances of workflows",
    columns=(*(SourceColumn(name, TEXT) for name in TEXTS), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        Rule("job_name", "task_id"),
        Rule("task_name", "task"),
        Rule("workload", "workflow"),
        Rule("node", "machine"),
        Rule("start_time_s", "start"),
        Rule("duration_s", "runtime", "s"),
        Rule("requested_cpu_percent", "cores", "cores"),
        Rule("cpu_usage_percent", "avg_cpu", "percent"),
        Rule("peak_memory_bytes", "memory", "B"),
        Rule("read_bytes", "read", "B"),
        Rule("write_bytes", "written", "B"),
        Rule("input_bytes", "input", "B"),
    ),
    many_machines=True,
    zero_is_unknown=("peak_memory_bytes", "cpu_usage_percent"),
    reader=Reader(_recognises, COLUMNS, _read, several=True),
    not_known="Instances tell no requested memory, and how a task ended neither.",
)
