"""The OpenAPI document of the service: every route with its body, its answers and its refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import workprof
from workprof.service.models import Job, Problem, RunWithId, SizedJob

REFUSALS = {
    401: "No token, or another one.",
    403: "Not from here, or not on this home.",
    404: "There is no such dataset.",
    413: "The body is too large.",
    414: "The address is too long.",
    422: "Fields that cannot be used, or a dataset that the question cannot be asked of.",
    429: "More requests than one address may send.",
    500: "The log of the service says what went wrong.",
    503: "Not ready: ask again after the seconds of `Retry-After`.",
    504: "No answer in time.",
    507: "No room on the disk.",
}
OF_ALL = (403, 414, 429, 504)
"""Refusals of every route; of those that need a token, 401 too."""
REF = "#/components/schemas/{model}"


@dataclass(frozen=True, eq=False)
class Operation:
    """What one route takes and answers."""

    path: str
    method: str
    words: str
    answers: tuple[type[BaseModel], ...] = ()  # () = a text, unless `schema` says what
    schema: Mapping[str, Any] | None = None  # of an answer that is no model
    several: bool = False  # a list of them
    body: type[BaseModel] | None = None
    examples: Sequence[Mapping[str, Any]] = ()
    parameters: Sequence[Mapping[str, Any]] = ()
    refusals: tuple[int, ...] = ()  # beside those of every route
    open: bool = False  # needs no token
    name: str = ""  # for a client; '' = of the path
    headers: Mapping[str, str] = field(default_factory=dict)  # of the answer: name -> words

    @property
    def answer_name(self) -> str:
        """What a client calls an answer that is no model."""
        return f"{''.join(part.capitalize() for part in self.called.split('_'))}Answer"

    @property
    def called(self) -> str:
        """The operation, for a client."""
        return self.name or f"{self.method}_{self.path.rpartition('/')[2]}"

    def document(self, *, token: bool) -> dict[str, Any]:
        """The operation in OpenAPI."""
        kinds = [{"$ref": REF.format(model=one.__name__)} for one in self.answers]
        kinds += [{"$ref": REF.format(model=self.answer_name)}] if self.schema is not None else []
        schema: dict[str, Any] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        schema = {"type": "array", "items": schema} if self.several else schema
        shown = {"application/json": {"schema": schema}} if kinds else {"text/plain": {"schema": {"type": "string"}}}
        statuses = sorted({*OF_ALL, *self.refusals, *(() if self.open or not token else (401,))})
        told: dict[str, Any] = {
            "operationId": self.called,
            "summary": self.words,
            "responses": {"200": {"description": "The answer.", "content": shown}}
            | {str(status): _refusal(status) for status in statuses},
        }
        if self.headers:
            told["responses"]["200"]["headers"] = {
                name: {"description": words, "schema": {"type": "string"}} for name, words in self.headers.items()
            }
        if self.parameters:
            told["parameters"] = list(self.parameters)
        if self.body is not None:
            examples = {f"example {i + 1}": {"value": one} for i, one in enumerate(self.examples)}
            content = {"schema": {"$ref": REF.format(model=self.body.__name__)}, "examples": examples}
            told["requestBody"] = {"required": True, "content": {"application/json": content}}
        return told | ({"security": []} if self.open else {})


def _refusal(status: int) -> dict[str, Any]:
    shown = {"application/problem+json": {"schema": {"$ref": REF.format(model=Problem.__name__)}}}
    result: dict[str, Any] = {"description": REFUSALS[status], "content": shown}
    if status in (429, 503):
        words = "Seconds until it is worth another try."
        result["headers"] = {"Retry-After": {"description": words, "schema": {"type": "integer", "minimum": 1}}}
    return result


def document_of(operations: Sequence[Operation], *, token: bool) -> dict[str, Any]:
    """The OpenAPI document; `token`: each request has to carry one."""
    taken = [one.body for one in operations if one.body is not None] + [Job, SizedJob, RunWithId]
    given = [*dict.fromkeys(kind for one in operations for kind in one.answers), Problem]
    modes: list[tuple[Any, Any]] = [*((one, "validation") for one in taken), *((one, "serialization") for one in given)]
    _, schemas = models_json_schema(modes, ref_template=REF)
    every = schemas["$defs"] | {one.answer_name: one.schema for one in operations if one.schema is not None}
    paths: dict[str, Any] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method] = one.document(token=token)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "workprof",
            "version": workprof.__version__,
            "description": "Profiles, needs and sizes of jobs before they run, from the history of the cluster.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(every.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}] if token else [],
    }
