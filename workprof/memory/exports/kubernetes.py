"""A plan as Kubernetes patches: one document per task with requests and limits of memory, in MiB.

The patches are strategic merges for a Deployment, to be changed to the kind and name of your own objects: a trace
knows tasks, not objects. Names follow RFC 1123; the task's own name stands in an annotation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from workprof.memory.exports.about import Origin, header_lines, mebibytes, one_line, risk_line, settings_line
from workprof.memory.plans.plans import Plan, PlannedTask
from workprof.records import digest

MOST_NAME = 63
_NOT_ALLOWED = re.compile(r"[^a-z0-9]+")
_DIGEST_BYTES = 4


def plan_kubernetes(plan: Plan, origin: Origin, kind: str = "Deployment", api_version: str = "apps/v1") -> str:
    """Return the plan as YAML documents, one per task.

    Args:
        plan: sizes and risk.
        origin: where the plan comes from.
        kind: of the patched objects, such as Deployment, StatefulSet or Job.
        api_version: of that kind.
    """
    comments = [f"# {line}" for line in header_lines(origin, plan.settings)]
    comments.append(f"# The kind {one_line(kind)} and the names are to be adapted to your objects.")
    names = object_names(tuple(task.task for task in plan.tasks))
    shared = _Shared(kind, api_version, f"{origin.dataset} ({origin.dataset_hash})", settings_line(plan.settings))
    documents = [_document(task, name, shared) for task, name in zip(plan.tasks, names, strict=True)]
    return "\n".join(comments) + "\n" + "".join(documents)


@dataclass(frozen=True)
class _Shared:
    """What all documents of an export say alike."""

    kind: str
    api_version: str
    dataset: str
    settings: str


def object_names(tasks: tuple[str, ...]) -> tuple[str, ...]:
    """Return names by RFC 1123 (a-z, 0-9, '-', at most 63); a digest tells apart tasks that would share one."""
    plain = [_NOT_ALLOWED.sub("-", task.lower()).strip("-") for task in tasks]
    names = []
    for task, name in zip(tasks, plain, strict=True):
        if name and len(name) <= MOST_NAME and plain.count(name) == 1:
            names.append(name)
        else:
            ending = digest(task, size=_DIGEST_BYTES)
            start = name[: MOST_NAME - len(ending) - 1].strip("-") or "task"
            names.append(f"{start}-{ending}")
    return tuple(names)


def _document(task: PlannedTask, name: str, shared: _Shared) -> str:
    size = f"{mebibytes(task.size_bytes)}Mi"
    annotations = {
        "workprof/task": task.task,
        "workprof/dataset": shared.dataset,
        "workprof/settings": shared.settings,
        "workprof/risk": risk_line(task),
    }
    return "\n".join(
        [
            "---",
            f"apiVersion: {yaml_text(shared.api_version)}",
            f"kind: {yaml_text(shared.kind)}",
            "metadata:",
            f"  name: {yaml_text(name)}",
            "  annotations:",
            *(f"    {key}: {yaml_text(value)}" for key, value in annotations.items()),
            "spec:",
            "  template:",
            "    spec:",
            "      containers:",
            f"        - name: {yaml_text(name)}",
            "          resources:",
            "            requests:",
            f"              memory: {yaml_text(size)}",
            "            limits:",
            f"              memory: {yaml_text(size)}",
            "",
        ]
    )


def yaml_text(text: str) -> str:
    """Return a YAML text in double quotes, every unusual character as a code."""
    return '"' + "".join(_yaml_character(character) for character in text) + '"'


def _yaml_character(character: str) -> str:
    if character in '\\"':
        return "\\" + character
    if " " <= character <= "~":
        return character
    if "\ud800" <= character <= "\udfff":  # half a character alone, which no YAML reader takes
        return "\\ufffd"
    return f"\\U{ord(character):08x}"
