"""A kept computation as a piece of Python that asks the workbench for it again."""

from __future__ import annotations

import json
import math
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from typing import Any

from workprof.visible import visible

WIDEST = 96
INDENT = "    "


@dataclass(frozen=True)
class Question:
    """What is asked of the workbench.

    Attributes:
        method: its name.
        dataset: content hash.
        dataset_name: for people.
        settings: record that the method takes; None = it takes none.
        clustering: (name of the argument, its settings) where a clustering's labels are part of the question.
        more: further arguments of the method.
        before, after: further lines around it.
    """

    method: str
    dataset: str
    dataset_name: str
    settings: object | None
    clustering: tuple[str, object] | None = None
    more: dict[str, str | int] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def python_of(question: Question) -> str:
    """Return the whole piece; it opens the home folder that WORKPROF_HOME names, and prints the result's class."""
    asked = [] if question.settings is None else [question.settings]
    records = asked + ([question.clustering[1]] if question.clustering else [])
    lines = [
        "from workprof import Workbench, from_environment",
        *_imports(records),
        "",
        f"dataset = {code_of(question.dataset)}  # {' '.join(question.dataset_name.split())}",
        *(f"settings = {code_of(record)}" for record in asked),
    ]
    first = "dataset, settings=settings" if question.more else "dataset, settings" if asked else "dataset"
    arguments = ", ".join([first, *(f"{name}={code_of(value)}" for name, value in question.more.items())])
    before = list(question.before)
    if question.clustering:
        name, clustering = question.clustering
        lines.append(f"clustering = {code_of(clustering)}")
        arguments += f", {name}=clustering"
        before.append("workbench.profiles(dataset, clustering)")
    call = f"found = workbench.{question.method}({arguments})"
    inside = [*before, call, *question.after, "print(type(found).__name__)"]
    return "\n".join(
        [*lines, "", "with Workbench(from_environment()) as workbench:", *(INDENT + one for one in inside)]
    )


def code_of(value: object, depth: int = 0) -> str:
    """Return a record of settings as Python; fields that are at their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        given = [(one.name, getattr(value, one.name)) for one in fields(value) if not _at_default(value, one)]
        parts = [f"{name}={code_of(item, depth + 1)}" for name, item in given]
        return _call(type(value).__name__, parts, depth)
    if isinstance(value, str):
        return visible(json.dumps(value, ensure_ascii=False))
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, tuple):
        items = [code_of(item, depth + 1) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{code_of(key)}: {code_of(item, depth + 1)}" for key, item in value.items()) + "}"
    return repr(value)


def _call(name: str, parts: list[str], depth: int) -> str:
    line = f"{name}({', '.join(parts)})"
    if len(line) + len(INDENT) * depth <= WIDEST and "\n" not in line:
        return line
    inner = INDENT * (depth + 1)
    return f"{name}(\n" + "".join(f"{inner}{part},\n" for part in parts) + f"{INDENT * depth})"


def _at_default(record: object, one: Any) -> bool:
    if one.default is not MISSING:
        return bool(getattr(record, one.name) == one.default)
    return one.default_factory is not MISSING and bool(getattr(record, one.name) == one.default_factory())


def _imports(records: list[object]) -> list[str]:
    """Return the lines that import every class that the code names."""
    named: dict[str, set[str]] = {}
    for record in records:
        for cls in _classes(record):
            named.setdefault(cls.__module__, set()).add(cls.__name__)
    return [f"from {module} import {', '.join(sorted(found))}" for module, found in sorted(named.items())]


def _classes(value: object) -> list[type]:
    if isinstance(value, tuple):
        return [cls for item in value for cls in _classes(item)]
    if not is_dataclass(value) or isinstance(value, type):
        return []
    found: list[type] = [type(value)]
    for one in fields(value):
        if not _at_default(value, one):
            found += _classes(getattr(value, one.name))
    return found
