"""Declared questions over HTTP: their settings from a query, and as parameters of OpenAPI."""

import functools
import json
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from workprof.answers.told import NAMED, TOLD
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, by_name, check_value, leaves, put, read
from workprof.core.question import Question
from workprof.core.records import to_json
from workprof.service.jobs import TWICE, BadFields, FieldProblem
from workprof.service.state import LONGEST_NAME

OF_OTHERS = ("nodes.", "phases.")
"""Beginnings of the questions about something else than jobs, which name their dataset."""
ANY: Mapping[str, Any] = {"description": "Any value."}
PLAIN = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


@functools.cache
def kept_schemas() -> dict[str, Any]:
    """Question -> JSON schema of the document that tells its answer (made by `python -m tests.golden`)."""
    made: dict[str, Any] = json.loads((Path(__file__).parent / "answers.json").read_text(encoding="utf-8"))
    return made


def answer_schema(question: Question[Any, Any]) -> Mapping[str, Any]:
    """JSON schema of a question's document: of the answer that tells it, else of the fields of its record."""
    if question.name in TOLD:
        told = {"type": "object", "properties": {"sentence": {"type": "string"}}}
        schema: Mapping[str, Any] = kept_schemas().get(question.name, told)
        return schema
    fields = _schema_of(question.result)
    if question.name in NAMED:
        return {"type": "object", "properties": fields["properties"] | kept_schemas()[question.name]["properties"]}
    return fields


def _schema_of(hint: Any, above: tuple[Any, ...] = ()) -> Mapping[str, Any]:
    """JSON schema of what `records.to_json` makes of a value of this type, within records of the types `above`."""
    origin, parts = get_origin(hint), [one for one in get_args(hint) if one is not ...]
    if hint is float:
        return {"type": ["number", "null"]}
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if is_dataclass(hint) and isinstance(hint, type) and hint not in above:
        fields = get_type_hints(hint).items()
        return {"type": "object", "properties": {name: _schema_of(one, (*above, hint)) for name, one in fields}}
    if origin is np.ndarray:
        return {"type": "array", "items": {"description": "A value, or a list of them."}}
    inside = [_schema_of(one, above) for one in parts] if isinstance(origin, type) else []
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(one, above) for one in parts]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": inside[1]}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": inside[0] if len(inside) == 1 else {"anyOf": inside} if inside else ANY}
    return ANY


def once(pairs: Iterable[tuple[str, str]], name: str) -> str:
    """The value of a parameter, '' where it is not given; raises BadFields where it is given twice."""
    values = [value for one, value in pairs if one == name]
    if len(values) > 1:
        raise BadFields([FieldProblem(name, ", ".join(values), TWICE)])
    return values[0] if values else ""


def settings_from(question: Question[Any, Any], pairs: Sequence[tuple[str, str]]) -> Any:
    """The settings of a question that are named by their paths or options; the others are at their defaults.

    A list may be given in several parts, each under the same name.

    Raises BadFields for a name or a value that there is not, and for one value given twice.
    """
    own, given = leaves(question.settings), dict(pairs)
    several = {leaf.path for leaf in own if leaf.many}
    once(pairs, "mode")
    flags = {flag.lstrip("-").replace("-", "_"): leaf for leaf in own for flag in (leaf.flag, *leaf.about.also)}
    base = question.published() if question.published and given.get("mode") == "faithful" else None
    values: dict[str, Any] = {}
    for name, value in pairs:
        leaf = flags.get(name.replace("-", "_"))
        if leaf is None and name == "mode" and question.published and value in ("corrected", "faithful"):
            continue
        try:
            now = by_name(own, [(name, value)]) if leaf is None else {leaf.path: read(leaf, value)}
            for one in own:
                if one.path in now:
                    check_value(one, now[one.path], flag=name)
        except SettingsError as error:
            known = sorted({*(one.path for one in own), *flags})
            allowed = known if "no setting" in str(error) else _allowed(error)
            raise BadFields([FieldProblem(name, value, allowed)]) from None
        for path, part in now.items():
            before = values.get(path, ())
            if path in values and not (path in several and isinstance(before, tuple) and isinstance(part, tuple)):
                raise BadFields([FieldProblem(name, value, TWICE)])
            values[path] = (*before, *part) if path in values else part
    needed = [leaf for leaf in own if leaf.path in question.names or not leaf.about.empty]
    missing = [leaf for leaf in needed if leaf.path not in values and _required(leaf, question)]
    if missing:
        raise BadFields([FieldProblem(missing[0].path, None, missing[0].about.help)])
    try:
        return question.without_ignored(question.default(**values) if base is None else put(base, values))
    except SettingsError as error:
        about = next((name for name in given if name.replace("_", "-") in str(error).replace("_", "-")), "settings")
        raise BadFields([FieldProblem(about, given.get(about), _allowed(error))]) from None


def _allowed(error: SettingsError) -> str:
    """What the words of an error say is allowed: what stands behind the name and the value."""
    return str(error).partition("; ")[2] or str(error)


def parameters_of(question: Question[Any, Any]) -> list[dict[str, Any]]:
    """The settings of a question as parameters of OpenAPI."""
    usual = {
        "name": "dataset",
        "in": "query",
        "required": question.name.startswith(OF_OTHERS),
        "schema": {"type": "string", "maxLength": LONGEST_NAME},
        "description": "Name, or 8 characters of the hash.",
    }
    return [usual, *(_parameter(leaf, required=_required(leaf, question)) for leaf in question.leaves)]


def _required(leaf: Leaf, question: Question[Any, Any]) -> bool:
    """Whether a question has no answer without this setting."""
    return leaf in question.named and (leaf.default is MISSING or leaf.default == "")


BOUNDS = {"least": "minimum", "most": "maximum", "above": "exclusiveMinimum", "below": "exclusiveMaximum"}
"""Bound of a setting -> its name in a JSON schema."""


def _parameter(leaf: Leaf, *, required: bool) -> dict[str, Any]:
    kinds = {int: "integer", float: "number", bool: "boolean"}
    schema: dict[str, Any] = {"type": kinds.get(leaf.kind, "string")}
    if leaf.about.unit == "bytes":
        schema = {"type": "string", "examples": ["8GB"]}
    elif leaf.about.choices and not (leaf.many or leaf.table):
        schema["enum"] = list(leaf.about.choices)
    elif leaf.number:
        schema |= {name: value for own, name in BOUNDS.items() if (value := getattr(leaf.about, own)) is not None}
    default = to_json(leaf.default) if isinstance(leaf.default, (int, float, str, bool)) else None
    if default not in (None, ""):
        schema["default"] = default
    words = f"{leaf.about.help} {f'Empty: {leaf.about.empty}.' if leaf.about.empty else ''}".strip()
    return {"name": leaf.path, "in": "query", "required": required, "schema": schema, "description": words}
