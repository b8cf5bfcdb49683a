"""The routes of the service. What a question is asked by, and what it answers, follows from its declaration."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute

import workprof
from workprof.answers import told
from workprof.answers.decisions import decision_document
from workprof.answers.profiles import fit_answer
from workprof.answers.verdict import sentence, why
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import DatasetUnknown, DiskFull, HomeBusy, SettingsError, StepFailed, WorkprofError
from workprof.core.fields import Leaf, by_name, leaves, put, read
from workprof.core.question import Question
from workprof.core.records import to_json
from workprof.core.units import GB
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.formats.fields import DESCRIPTIONS, TEXT_FIELDS
from workprof.memory.resources import KEY_COLUMNS, MEMORY
from workprof.memory.verdict_rows import KEEP
from workprof.service.guard import PROBLEM, Guard, Limits, Metrics, Receive, Scope, Send, problem
from workprof.service.jobs import BadFields, FieldProblem, FieldReader, Job
from workprof.service.observations import LONGEST_ID, Run
from workprof.service.prediction import Batches, TooMany
from workprof.service.state import NotReady, Sized, State
from workprof.workbench.declared import DECLARED

try:
    import orjson

    def dumps(document: object) -> bytes:
        """A document as JSON."""
        return orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS)

    loads: Callable[[bytes], Any] = orjson.loads
except ImportError:  # pragma: no cover - the extra brings it

    def dumps(document: object) -> bytes:
        """A document as JSON."""
        return json.dumps(document, allow_nan=False).encode()

    loads = json.loads

MOST_JOBS = 10_000
"""Jobs, or finished runs, of one request."""
MOST_EXPLAINED = 100
BY = ("task", "profile", "user", "group")
"""Accepted for a release: sizes go by the finest key that is known."""
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
OF_OTHERS = ("nodes.", "phases.")
"""Beginnings of the questions about something else than jobs, which name their dataset."""
FURTHER = ("dataset", "explain", "by", "jobs", "runs")

EXAMPLE_JOB = {"user": "ana", "group": "vision", "task_name": "worker", "requested_memory_gb": 32, "instances": 4}
EXAMPLE_RUN = {
    "run": "4711.0",
    "task_name": "worker",
    "user": "ana",
    "end_time_s": 1.7e9,
    "duration_s": 840,
    "peak_memory_bytes": 9.1e9,
}


class Direct(APIRoute):
    """A route whose function gets the request alone: what it holds is checked by the fields' declaration."""

    def __init__(self, path: str, endpoint: Endpoint, **described: Any) -> None:
        super().__init__(path, endpoint, **described)

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

        self.app = respond


class Json(Response):
    """A JSON answer."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return dumps(content)


def refused(status: int, detail: str, **more: Any) -> Response:
    """A problem document."""
    headers = {"Retry-After": "1"} if status == 503 else None
    return Response(problem(status, detail, **more), status, headers, PROBLEM.decode())


def refusal_of(error: Exception) -> Response:
    """The problem document of an error."""
    if isinstance(error, BadFields):
        errors = [
            {"field": one.field, "value": one.value, "allowed": one.allowed}
            | ({} if one.job is None else {"job": one.job})
            for one in error.problems
        ]
        return refused(422, str(error), errors=errors)
    if isinstance(error, (NotReady, TooMany, HomeBusy)):
        return refused(503, str(error) or "too many jobs wait for an answer; ask again")
    statuses = ((DatasetUnknown, 404), (DiskFull, 507), (StepFailed, 500), (WorkprofError, 422))
    status = next((status for kind, status in statuses if isinstance(error, kind)), 500)
    if "WORKPROF_READONLY" in str(error):
        status = 403
    return refused(status, str(error) if isinstance(error, WorkprofError) else "the log says what went wrong")


async def document_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request; raises BadFields when it is none."""
    body = await request.body()
    try:
        document = loads(body or b"{}")
    except ValueError as error:
        raise BadFields([FieldProblem("body", body[:80].decode("utf-8", "replace"), f"JSON ({error})")]) from None
    if not isinstance(document, dict):
        raise BadFields([FieldProblem("body", document, "a JSON object")])
    return document


def jobs_of(document: Mapping[str, Any], reader: FieldReader) -> tuple[list[Job], bool]:
    """The jobs of a request, and whether it is about one alone, whose fields then stand in the document itself.

    Raises BadFields for what cannot be used.
    """
    if "jobs" not in document:
        return [reader.read({name: value for name, value in document.items() if name not in FURTHER})], True
    given = document["jobs"]
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_JOBS:
        size = len(given) if isinstance(given, list) else given
        raise BadFields([FieldProblem("jobs", size, f"a list of 1 to {MOST_JOBS:,} objects")])
    odd = [name for name in document if name not in FURTHER]
    if odd:
        raise BadFields([FieldProblem(odd[0], document[odd[0]], FURTHER)])
    jobs: list[Job] = []
    problems: list[FieldProblem] = []
    for number, one in enumerate(given):
        try:
            jobs.append(reader.read(one, number))
        except BadFields as error:
            problems += error.problems
    if problems:
        raise BadFields(problems)
    return jobs, False


def word_of(document: Mapping[str, Any], name: str, allowed: tuple[Any, ...], usual: Any) -> Any:
    """One of the allowed values of a request; raises BadFields for another one."""
    value = document.get(name, usual)
    if value not in allowed:
        raise BadFields([FieldProblem(name, value, allowed)])
    return value


def dataset_of(document: Mapping[str, Any]) -> str:
    """The dataset that a request names, '' for none."""
    name = document.get("dataset", "")
    if not isinstance(name, str):
        raise BadFields([FieldProblem("dataset", name, "a name, or 8 characters of a hash")])
    return name


def size_of(job: Job, sized: Sized) -> dict[str, Any]:
    """What to request for one job: the size of its row, else its request, with the reason."""
    asked = job.get("requested_memory_bytes")
    request = asked / GB if isinstance(asked, float) and asked > 0 else None
    found = sized.sizes.find(job, request)
    row = found.row
    kept = row is None or row.action == KEEP or found.size == request
    source = "advice" if not kept else "request" if request else "usual request" if row else "none"
    reason = "" if row is None else why(row, MEMORY, sized.verdict.memory.unit)
    rate = None if row is None else [row.kills_per_1000.low, row.kills_per_1000.high]
    after = [] if kept or row is None else [size for size in row.retry if found.size and size > found.size]
    return {
        "action": KEEP if kept or row is None else row.action,
        "by": None if row is None else list(row.by),
        "key": None if row is None else row.key,
        "size_gb": found.size,
        "next_gb": after,
        "then": "doubled after each further kill" if after else None,
        "requested_gb": request,
        "source": source,
        "why": "; ".join(filter(None, (reason, found.note))),
        "decision": None if row is None else decision_document(row.decision),
        "kills_per_1000": rate,
        "kill_interval": None if rate is None else [one / 1000 for one in rate],
        "runs": 0 if row is None else row.n_runs,
    }


def settings_from(question: Question[Any, Any], given: Mapping[str, Any]) -> Any:
    """The settings of a question that are named by their paths or options; the others are at their defaults.

    Raises BadFields for a name or a value that there is not.
    """
    own = leaves(question.settings)
    flags = {flag.lstrip("-").replace("-", "_"): leaf for leaf in own for flag in (leaf.flag, *leaf.about.also)}
    base = question.published() if question.published and given.get("mode") == "faithful" else None
    values: dict[str, Any] = {}
    for name, value in given.items():
        leaf = flags.get(name.replace("-", "_"))
        if leaf is None and name == "mode" and question.published and value in ("corrected", "faithful"):
            continue
        try:
            if leaf is not None and isinstance(value, str):
                values[leaf.path] = read(leaf, value)
            else:
                values |= by_name(own, [(leaf.path if leaf else name, value)])
        except SettingsError as error:
            known = sorted({*(one.path for one in own), *flags})
            allowed = known if "no setting" in str(error) else str(error).partition("; ")[2] or str(error)
            raise BadFields([FieldProblem(name, value, allowed)]) from None
    missing = [leaf for leaf in own if leaf.path in question.names and leaf.path not in values and not leaf.default]
    if missing:
        raise BadFields([FieldProblem(missing[0].path, None, missing[0].about.help)])
    try:
        return question.without_ignored(question.default(**values) if base is None else put(base, values))
    except SettingsError as error:
        about = next((name for name in given if name.replace("_", "-") in str(error).replace("_", "-")), "settings")
        raise BadFields([FieldProblem(about, given.get(about), str(error))]) from None


def parameters_of(question: Question[Any, Any]) -> list[dict[str, Any]]:
    """The settings of a question as parameters of OpenAPI."""
    usual = {
        "name": "dataset",
        "in": "query",
        "schema": {"type": "string"},
        "description": "Name, or 8 characters of the hash.",
    }
    return [usual, *(_parameter(leaf) for leaf in question.leaves)]


def _parameter(leaf: Leaf) -> dict[str, Any]:
    kinds = {int: "integer", float: "number", bool: "boolean"}
    schema: dict[str, Any] = {"type": kinds.get(leaf.kind, "string")}
    if leaf.about.unit == "bytes":
        schema = {"type": "string", "examples": ["8GB"]}
    elif leaf.about.choices and not (leaf.many or leaf.table):
        schema["enum"] = list(leaf.about.choices)
    default = to_json(leaf.default) if isinstance(leaf.default, (int, float, str, bool)) else None
    if default not in (None, ""):
        schema["default"] = default
    words = f"{leaf.about.help} {f'Empty: {leaf.about.empty}.' if leaf.about.empty else ''}".strip()
    return {"name": leaf.path, "in": "query", "required": False, "schema": schema, "description": words}


def body_of(schema: Mapping[str, Any], *examples: Any) -> dict[str, Any]:
    """The request body of a route for OpenAPI."""
    return {
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": schema,
                    "examples": {f"example {i + 1}": {"value": one} for i, one in enumerate(examples)},
                }
            },
        }
    }


def job_schema(more: Sequence[str] = ()) -> dict[str, Any]:
    """The schema of a job; `more` are further fields."""
    fields: dict[str, Any] = {
        name: {"type": "string" if name in TEXT_FIELDS else "number", "description": DESCRIPTIONS[name]}
        for name in (*SUBMIT_FIELDS, *more, "submit_time_s")
    }
    fields["requested_memory_gb"] = {"type": "number", "description": "The same in GB (1e9 bytes)."}
    return {"type": "object", "properties": fields}


def many(schema: Mapping[str, Any], name: str, **more: Any) -> dict[str, Any]:
    """The schema of one object, or of an object with a list of them."""
    listed = {
        "type": "object",
        "properties": {name: {"type": "array", "items": schema}, "dataset": {"type": "string"}, **more},
    }
    return {"oneOf": [schema, listed]}


class Routes:
    """What is answered under each path."""

    def __init__(self, state: State, metrics: Metrics, batches: Batches) -> None:
        self._state, self._metrics, self._batches = state, metrics, batches
        self.questions = [one for one in DECLARED.values() if hasattr(type(state.workbench), one.call)]

    async def predict(self, request: Request) -> Response:
        """Predict the profile, duration, memory, CPU and GPU use of one job or many, with intervals."""
        document = await document_of(request)
        model = self._state.model(dataset_of(document))
        explain = word_of(document, "explain", (True, False), usual=False)
        jobs, single = jobs_of(document, model.reader)
        if explain and len(jobs) > MOST_EXPLAINED:
            raise BadFields([FieldProblem("explain", True, f"at most {MOST_EXPLAINED} jobs with reasons at once")])
        if explain:
            result = await asyncio.to_thread(model.explain, jobs)
        else:
            result = await self._batches.predict(model, jobs)
        return Json(result[0] if single else {"dataset": model.dataset, "predictions": result})

    async def size(self, request: Request) -> Response:
        """Say what memory to request: first attempt, retries, kills in the next 1,000 runs and why."""
        document = await document_of(request)
        word_of(document, "by", BY, BY[0])
        sized = self._state.sizes(dataset_of(document))
        jobs, single = jobs_of(document, sized.reader)
        result = [size_of(one, sized) for one in jobs]
        answer = {"dataset": sized.dataset, "reason": sentence(sized.verdict), "sizes": result}
        return Json(result[0] if single else answer)

    async def observe(self, request: Request) -> Response:
        """Hand in finished runs, each with an id of its own; the answer comes once they are on the disk."""
        document = await document_of(request)
        dataset = dataset_of(document)
        journal, reader = self._state.journal(dataset), self._state.run_reader(dataset)
        given = document.get("runs", [{name: value for name, value in document.items() if name not in FURTHER}])
        if not isinstance(given, list) or not 1 <= len(given) <= MOST_JOBS:
            size = len(given) if isinstance(given, list) else given
            raise BadFields([FieldProblem("runs", size, f"a list of 1 to {MOST_JOBS:,} objects")])
        runs = [run_of(one, number, reader) for number, one in enumerate(given)]
        receipt = await asyncio.wrap_future(journal.add(runs))
        return Json(to_json(receipt) | {"drift": self._state.drift(dataset)})

    def observed(self, dataset: str = "") -> Response:
        """Tell how many finished runs are kept, how many bytes wait for the feedback loop, and what it found."""
        journal = self._state.journal(dataset)
        document = {"total": len(journal), "waiting_bytes": journal.unread, "drift": self._state.drift(dataset)}
        return Json(document)

    def profiles(self, dataset: str = "") -> Response:
        """List the job profiles of the default clustering."""
        chosen = self._state.hash_of(dataset)
        fit = self._state.workbench.profiles(chosen)
        names = self._state.workbench.profile_names(chosen)
        return Json(answer_json(fit_answer(fit, names)) | {"names": list(names)})

    def listed(self) -> Response:
        """List the questions that can be asked, with the names of their settings."""
        questions = self.questions
        return Json(
            [
                {"name": one.name, "title": one.title, "settings": [leaf.path for leaf in one.leaves]}
                for one in questions
            ]
        )

    def endpoint_of(self, question: Question[Any, Any]) -> Callable[[Request], Response]:
        """What answers one declared question."""

        def endpoint(request: Request) -> Response:
            given = dict(request.query_params)
            name = given.pop("dataset", "")
            if not name and question.name.startswith(OF_OTHERS):
                there = [one.name for one in self._state.workbench.datasets()]
                raise BadFields([FieldProblem("dataset", name, there)])
            settings = settings_from(question, given)
            result = getattr(self._state.workbench, question.call)(name or self._state.hash_of(""), settings)
            return Json(to_json(told.document_of(question, result)))

        return endpoint

    async def healthy(self) -> Response:
        """Tell that the process answers."""
        return Json({"status": "ok"})

    async def ready(self) -> Response:
        """Tell whether predictions can be made now."""
        waits = self._state.ready()
        return refused(503, waits) if waits else Json({"status": "ready"})

    async def counts(self) -> Response:
        """Show counters for Prometheus."""
        gauges = {
            "workprof_waiting_jobs": ("Jobs that wait for a prediction.", float(self._batches.waiting)),
            "workprof_observations": ("Finished runs kept.", float(self._state.n_observed)),
        }
        return PlainTextResponse(self._metrics.text(gauges), media_type="text/plain; version=0.0.4")


def make_app(state: State, *, token: str = "", limits: Limits | None = None) -> FastAPI:
    """The application on an open home, closed with it; each request has to carry the token, if there is one."""
    metrics = Metrics()
    batches = Batches(metrics.batch)
    routes = Routes(state, metrics, batches)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        yield
        batches.close()
        await asyncio.to_thread(state.close)

    app = FastAPI(
        title="workprof",
        version=workprof.__version__,
        description="Profiles, needs and sizes of jobs before they run, from the history of the cluster.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.add_middleware(Guard, token=token, limits=limits or Limits(), metrics=metrics)
    for kind in (WorkprofError, NotReady, TooMany, Exception):
        app.add_exception_handler(kind, _handler)
    app.add_exception_handler(404, _missing)
    app.add_exception_handler(405, _missing)
    job, by = job_schema(), {"type": "string", "enum": list(BY)}
    run = {"type": "object", "required": ["run"]}
    post = {
        "/v1/predict": (routes.predict, many(job, "jobs", explain={"type": "boolean"}), EXAMPLE_JOB, "jobs"),
        "/v1/size": (routes.size, many(job_schema(KEY_COLUMNS), "jobs", by=by), EXAMPLE_JOB, "jobs"),
        "/v1/observations": (routes.observe, many(run, "runs"), EXAMPLE_RUN, "runs"),
    }
    for path, (result, schema, one, several) in post.items():
        described = body_of(schema, one, {several: [one]})
        app.router.add_api_route(path, result, methods=["POST"], openapi_extra=described, route_class_override=Direct)
    get: dict[str, Callable[..., Any]] = {
        "/v1/observations": routes.observed,
        "/v1/profiles": routes.profiles,
        "/v1/questions": routes.listed,
        "/healthz": routes.healthy,
        "/readyz": routes.ready,
        "/metrics": routes.counts,
    }
    for path, shows in get.items():
        app.add_api_route(path, shows, methods=["GET"])
    for question in routes.questions:
        app.add_api_route(
            f"/v1/questions/{question.name}",
            routes.endpoint_of(question),
            methods=["GET"],
            summary=question.title,
            name=question.name,
            openapi_extra={"parameters": parameters_of(question)},
        )
    return app


def run_of(given: object, number: int, reader: FieldReader) -> Run:
    """A finished run; raises BadFields without an id, or for a field that cannot be used."""
    if not isinstance(given, Mapping):
        raise BadFields([FieldProblem("runs", given, "an object with 'run' and fields", number)])
    name = given.get("run")
    if not isinstance(name, (str, int)) or isinstance(name, bool) or not 1 <= len(str(name)) <= LONGEST_ID:
        raise BadFields([FieldProblem("run", name, f"an id of 1 to {LONGEST_ID} characters", number)])
    return Run(str(name), reader.read({key: value for key, value in given.items() if key != "run"}, number))


async def _handler(_: Request, error: Exception) -> Response:
    return refusal_of(error)


async def _missing(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    what = "there is no such route" if status == 404 else "this route takes another method"
    return refused(status, f"{what}; /openapi.json lists them")
