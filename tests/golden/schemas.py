"""JSON schemas of the answers to questions, from the kept answers of their commands: names, kinds, rows of tables.

What an answer adds later is allowed beside what is named; any value may be missing, and null.
"""

import json
import re
from pathlib import Path

from tests.golden.answers import KEPT
from tests.golden.commands import ASKED
from workprof.answers import told
from workprof.workbench.declared import DECLARED

FILE = Path(told.__file__).parents[1] / "service" / "answers.json"
COMMANDS = {
    "memory.changes": ("changes", "changes-for-the-worse"),
    "profiles.durations": ("durations",),
    "profiles.classifier_alternatives": ("classify-compare",),
    "profiles.classifier_evaluation": ("classify-evaluate",),
    "profiles.explain_all": ("classify-explain",),
    "profiles.estimate_evaluation": ("estimate-evaluate",),
    "memory.profile_bins": ("memory-bins-of-a-profile",),
    "memory.improvement": ("memory-curve",),
    "memory.profile_improvement": ("memory-curve-of-a-profile",),
    "memory.tables": ("memory-train-tables",),
    "memory.verdict": ("memory-plan",),
    "nodes.advice": ("nodes-advise",),
    "nodes.allocation": ("nodes-allocate",),
    "phases.timeline": ("phases-show",),
    "phases.known_match": ("phases-match",),
}
"""Question -> kept commands, where they are not called as the question is."""
COUNTED = {"profiles.sweep": ("run",)}
"""Question -> names that are masked as those of saved runs are, and are numbers here."""
MASKED, NUMBER, MORE = "...", re.compile(r"(seconds|bytes|mb)$"), re.compile(r"\.\.\. \d+ items")
FIXED = re.compile(r"[a-z][a-z0-9_]*")
KINDS = {bool: "boolean", int: "number", float: "number", str: "string", type(None): "null"}
ANY = {"description": "Any value."}


def schema_of(values):
    """Return what all these values have in common."""
    kinds = {"null"}
    for one in values:
        kinds |= {KINDS[type(one)]} if type(one) in KINDS else set()
    objects = [one for one in values if isinstance(one, dict)]
    items = [item for one in values if isinstance(one, list) for item in one if not MORE.fullmatch(str(item))]
    told = {"type": sorted(kinds)}
    if objects:
        told["type"].append("object")
        told |= object_of(objects)
    if any(isinstance(one, list) for one in values):
        told["type"].append("array")
        told["items"] = schema_of(items)
    return told if len(told["type"]) > 1 else ANY


def object_of(objects):
    """Return the members of objects: their names, or one kind of value where the names are those of the trace."""
    names = list(dict.fromkeys(name for one in objects for name in one))
    rows = [value for one in objects for value in one.values()]
    like = len(names) > 1 and all(isinstance(one, dict) for one in rows) and len({tuple(one) for one in rows}) == 1
    if like or not all(map(FIXED.fullmatch, names)):
        return {"additionalProperties": schema_of(rows)}
    return {"properties": {name: schema_of([one[name] for one in objects if name in one]) for name in names}}


def documents_of(question):
    """Return the kept documents of a question."""
    usual = question.replace(".", "-").replace("_", "-")
    for name in COMMANDS.get(question) or [one for one in ASKED if one == usual or one.startswith(f"{usual}-")]:
        lines = (KEPT / f"{name}.txt").read_text(encoding="utf-8").split("\n")
        begin = next(at for at, line in enumerate(lines) if line in ("{", "["))
        told = lines[begin : lines.index({"{": "}", "[": "]"}[lines[begin]], begin) + 1]
        yield unmasked(json.loads("\n".join(told)), COUNTED.get(question, ()))


def unmasked(value, counted, name=""):
    """Return a document with a number where the kept one hides one."""
    if isinstance(value, dict):
        return {key: unmasked(item, counted, key) for key, item in value.items()}
    if isinstance(value, list):
        return [unmasked(item, counted, name) for item in value]
    if value == MASKED and name in ("step_seconds", "versions"):
        return {}
    return 0.0 if value == MASKED and (NUMBER.search(name) or name in counted) else value


def made():
    """Return the text of the file: the schema of every question that an answer tells, and of the profiles."""
    schemas = {}
    for name in (*told.NAMED, *(one.name for one in DECLARED.values() if one.name in told.TOLD)):
        documents = list(documents_of(name))
        assert documents, f"no kept answer of {name}"
        whole = schema_of(documents)
        (whole["type"],) = set(whole["type"]) - {"null"}
        if "properties" in whole:
            said = {"sentence": {"type": "string"}, "notes": {"type": "array", "items": {"type": "string"}}}
            whole["properties"] |= {key: one for key, one in said.items() if key in whole["properties"]}
        schemas[name] = whole
    lines = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in schemas.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
