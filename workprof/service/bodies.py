"""What a request holds: a JSON document within bounds, and the jobs or runs in it."""

import contextlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from workprof.service.jobs import MOST_FIELDS, TWICE, BadFields, FieldProblem, FieldReader, Job
from workprof.service.models import BY, MOST_JOBS, Open
from workprof.service.observations import LONGEST_ID, Run
from workprof.service.state import NAMED

MOST_EXPLAINED = 100
MOST_OBJECTS, MOST_NAMES, MOST_VALUES = 50_000, 150_000, 1_000_000
"""Brackets, colons and commas of a body: each takes memory and time, even where it is refused."""
FURTHER = ("dataset", "explain", "by", "jobs", "runs")
ALLOWED: Mapping[str, Any] = {
    "jobs": f"a list of 1 to {MOST_JOBS:,} objects",
    "runs": f"a list of 1 to {MOST_JOBS:,} objects",
    "explain": (True, False),
    "by": BY,
    "dataset": NAMED,
    "run": f"an id of 1 to {LONGEST_ID} characters",
}


def document_of(body: bytes) -> dict[str, Any]:
    """The JSON object of a request; raises BadFields when it is none, or one that is too much."""
    objects = body.count(b"{") + body.count(b"[")
    names = min(MOST_NAMES, (objects + 1) * 2 * MOST_FIELDS)  # a colon may stand in a text, too
    for what, found, most in (
        ("objects and lists", objects, MOST_OBJECTS),
        ("names of fields", body.count(b":"), names),
        ("values", body.count(b","), MOST_VALUES),
    ):
        if found > most:
            raise BadFields([FieldProblem("body", f"{found:,} {what}", f"at most {most:,}; send fewer jobs at once")])
    try:
        document = orjson.loads(body or b"{}")
    except ValueError as error:
        raise BadFields([FieldProblem("body", body[:80].decode("utf-8", "replace"), f"JSON ({error})")]) from None
    if not isinstance(document, dict):
        raise BadFields([FieldProblem("body", document, "a JSON object")])
    if len(document) > MOST_FIELDS:
        raise BadFields([FieldProblem("body", len(document), f"at most {MOST_FIELDS} fields of a job")])
    _refuse_repeated(body, document)
    return document


def _refuse_repeated(body: bytes, document: Mapping[str, Any]) -> None:
    """Refuse an object with one name twice: of two values one would be lost. It is looked at where colons remain."""
    lists = (document.get(name) for name in ("jobs", "runs"))
    jobs = (one for held in lists if isinstance(held, list) for one in held if isinstance(one, dict))
    if body.count(b":") > len(document) + sum(map(len, jobs)):
        with contextlib.suppress(ValueError, RecursionError):  # what is read is a document already
            json.loads(body, object_pairs_hook=_object_of)


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise BadFields([FieldProblem(twice, found[twice], TWICE)])
    return found


def refuse_odd(document: Mapping[str, Any], model: type[Open]) -> None:
    """Refuse what is not as the model of a body says; raises BadFields."""
    try:
        model.model_validate({name: document[name] for name in (*FURTHER, "run") if name in document})
    except ValidationError as error:
        problems = []
        for one in error.errors(include_url=False, include_context=False):
            name = str(one["loc"][0])
            value = document.get(name)
            value = f"a list of {len(value):,}" if isinstance(value, list) else value
            problems.append(FieldProblem(name, value, ALLOWED.get(name, one["msg"])))
        raise BadFields([one for at, one in enumerate(problems) if one not in problems[:at]]) from None


def jobs_of(document: Mapping[str, Any], reader: FieldReader) -> tuple[list[Job], bool]:
    """The jobs of a request, and whether it is about one alone, whose fields then stand in the document itself.

    Raises BadFields for what cannot be used.
    """
    if "jobs" not in document:
        return [reader.read({name: value for name, value in document.items() if name not in FURTHER})], True
    _refuse_beside_a_list(document)
    return reader.read_all(document["jobs"]), False


def _refuse_beside_a_list(document: Mapping[str, Any]) -> None:
    odd = next((name for name in document if name not in FURTHER), None)
    if odd is not None:
        raise BadFields([FieldProblem(odd, document[odd], FURTHER)])


def runs_of(document: Mapping[str, Any], reader: FieldReader) -> list[Run]:
    """The finished runs of a request; raises BadFields without an id, or for a field that cannot be used."""
    if "runs" in document:
        _refuse_beside_a_list(document)
    given = document.get("runs", [{name: value for name, value in document.items() if name not in FURTHER}])
    names = []
    for number, one in enumerate(given):
        if not isinstance(one, Mapping):
            raise BadFields([FieldProblem("runs", one, "an object with 'run' and fields", number)])
        name = one.get("run")
        if not isinstance(name, (str, int)) or isinstance(name, bool) or not 1 <= len(str(name)) <= LONGEST_ID:
            raise BadFields([FieldProblem("run", name, ALLOWED["run"], number)])
        names.append(str(name))
    read = reader.read_all([{key: value for key, value in one.items() if key != "run"} for one in given])
    problems = [
        FieldProblem(
            "end_time_s", one["end_time_s"], f"a moment that is not before the start, {one['start_time_s']}", n
        )
        for n, one in enumerate(read)
        if one.get("end_time_s", math.inf) < one.get("start_time_s", -math.inf)
    ]
    if problems:
        raise BadFields(problems)
    return [Run(*pair) for pair in zip(names, read, strict=True)]
