"""The routes of the service. What a question is asked by, and what it answers, follows from its declaration."""

import asyncio
import functools
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from workprof.answers import told
from workprof.answers.decisions import decision_document
from workprof.answers.how_long import earlier_runs, expected
from workprof.answers.profiles import fit_answer
from workprof.answers.verdict import sentence, why_found
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import (
    DatasetUnknown,
    DiskFull,
    HomeBusy,
    NotAllowed,
    SettingsError,
    StepFailed,
    WorkprofError,
)
from workprof.core.question import Question
from workprof.core.records import to_json
from workprof.core.roles import Role
from workprof.core.scope import split
from workprof.core.units import GB
from workprof.memory.resources import MEMORY
from workprof.memory.verdict_rows import KEEP
from workprof.profiles.questions import FIT
from workprof.service import models
from workprof.service.bodies import MOST_EXPLAINED, document_of, jobs_of, refuse_odd, runs_of
from workprof.service.guard import (
    PROBLEM,
    ROLE,
    TRUSTED,
    UNEXPECTED,
    WHO,
    Doors,
    Guard,
    Limits,
    problem,
    retry_after,
)
from workprof.service.jobs import BadFields, FieldProblem, Job
from workprof.service.metrics import CONTENT_TYPE_LATEST, Metrics
from workprof.service.models import EXAMPLE_JOB, EXAMPLE_RUN
from workprof.service.observations import Receipt
from workprof.service.openapi import REF, Operation, document_of as openapi_of
from workprof.service.prediction import Batches, TooMany, learned_of
from workprof.service.questions import OF_OTHERS, answer_schema, kept_schemas, once, parameters_of, settings_from
from workprof.service.state import FORECASTER, LONGEST_NAME, SIZES, NotReady, Sized, State
from workprof.workbench.declared import DECLARED
from workprof.workbench.question_methods import Bound

T = TypeVar("T")
Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
LARGE_BODY = 65_536
"""Bytes; a larger one is read in a thread of its own."""
QUESTIONS = "/v1/questions/"
QUICK, SHORT, LONG, MOST_HEAVY = 4, 2, 1, 32
"""Threads for what takes milliseconds, for short computations and for long ones, and how many of either may wait."""
LONG_S = 10.0
"""What is expected to take more waits for the threads of long ones, so that it holds up nothing short."""
CLOSE_S = 1.0
"""What an end waits for each thing that is still going on."""
BUSY_S = 2.0
"""Another process writes into the home for about so long."""


HEADERS = {"Model-Version": "The saved result, as in `workprof runs`.", "Model-Trained": "When it was computed, UTC."}
"""Of the answer to a question, whose document is that of its command."""


PROFILES = kept_schemas()["profiles.fit"]["properties"] | {
    "names": {"type": "array", "items": {"type": "string"}},
    "model": {"$ref": REF.format(model=models.Learned.__name__)},
}
"""Of the profiles of the default clustering, with their names and what they rest on."""


class Json(Response):
    """A JSON answer."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes."""
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def refused(
    status: int, detail: str, *, wait_s: float = 0.0, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    """A problem document."""
    headers = {"Retry-After": retry_after(wait_s).decode()} if wait_s else headers
    return Response(problem(status, detail, **more), status, headers, PROBLEM.decode())


def refusal_of(error: Exception) -> Response:
    """The problem document of an error."""
    if isinstance(error, BadFields):
        return refused(422, str(error), errors=[one.to_json() for one in error.problems])
    if isinstance(error, (NotReady, TooMany)):
        return refused(503, str(error), wait_s=error.wait_s)
    if isinstance(error, HomeBusy):
        return refused(503, str(error), wait_s=BUSY_S)
    statuses = ((DatasetUnknown, 404), (DiskFull, 507), (StepFailed, 500), (WorkprofError, 422))
    status = next((status for kind, status in statuses if isinstance(error, kind)), 500)
    if isinstance(error, NotAllowed) or "WORKPROF_READONLY" in str(error):
        status = 403
    if status == 422 and not isinstance(error, SettingsError):
        return refused(status, str(error), title="Cannot be answered")
    return refused(status, str(error) if isinstance(error, WorkprofError) else UNEXPECTED)


def size_of(job: Job, sized: Sized) -> dict[str, Any]:
    """What to request for one job: the size of its row, else its request, with the reason."""
    asked = job.get("requested_memory_bytes")
    request = asked / GB if isinstance(asked, float) and asked > 0 else None
    found = sized.find(job, request)
    row = found.row
    kept = row is None or row.action == KEEP or found.size == request
    source = "advice" if not kept else "request" if request else "usual request" if row else "none"
    rate = None if found.kills_per_1000 is None else [found.kills_per_1000.low, found.kills_per_1000.high]
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
        "why": why_found(found, MEMORY, sized.verdict.memory.unit),
        "decision": None if row is None else decision_document(row.decision),
        "kills_per_1000": rate,
        "kill_interval": None if rate is None else [one / 1000 for one in rate],
        "runs": 0 if row is None else row.n_runs,
    }


class Lane:
    """Threads for computations of one kind, how many wait for them, and what one took of late."""

    def __init__(self, name: str, n_threads: int, usual_s: float) -> None:
        self.pool = ThreadPoolExecutor(n_threads, name)
        self._n_threads, self._waiting, self._usual_s = n_threads, 0, usual_s

    async def run(self, work: Callable[[], T]) -> T:
        """The result; raises TooMany where too much waits."""
        if self._waiting >= MOST_HEAVY:
            raise TooMany("questions", self._waiting * self._usual_s / self._n_threads)
        loop = asyncio.get_running_loop()
        self._waiting += 1
        future = self.pool.submit(self._measured, work)
        future.add_done_callback(lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._done))
        return await asyncio.wrap_future(future)

    def _done(self) -> None:
        self._waiting -= 1

    def _measured(self, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return work()
        finally:
            self._usual_s += (time.perf_counter() - started - self._usual_s) / 4


class States:
    """What answers by role: viewers have a home of their own that is open for looking only."""

    def __init__(self, state: State, viewers: Callable[[], State] | None) -> None:
        self.whole, self._open = state, viewers
        self._viewers: State | None = None
        self._guard = threading.Lock()

    def at_hand(self, request: Request) -> State | None:
        """What answers whoever sent a request; None where it is to be opened first."""
        whole = request.scope.get(ROLE, Role.VIEWER) > Role.VIEWER or self._open is None
        return self.whole if whole else self._viewers

    def opened(self) -> State:
        """What answers viewers."""
        with self._guard:
            if self._viewers is None:
                self._viewers = self._open() if self._open else self.whole
            return self._viewers

    def close(self, within_s: float) -> None:
        """Close all of them."""
        for one in filter(None, (self._viewers, self.whole)):
            one.close(within_s)


class Threads:
    """Where work is done beside the event loop: a few threads for look-ups, others for what is computed."""

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(QUICK, "quick")
        self._short, self._long = Lane("short", SHORT, LONG_S / 4), Lane("long", LONG, LONG_S)

    def close(self) -> None:
        """Begin nothing more."""
        for pool in (self._quick, self._short.pool, self._long.pool):
            pool.shutdown(wait=False, cancel_futures=True)

    async def quick(self, work: Callable[..., T], *args: Any) -> T:
        """What takes milliseconds."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, functools.partial(work, *args))

    async def heavy(self, work: Callable[..., T], *args: Any, takes_s: float = 0.0) -> T:
        """What is computed, in about so many seconds; raises TooMany where too much waits for that."""
        lane = self._long if takes_s > LONG_S else self._short
        return await lane.run(functools.partial(work, *args))


class Routes:
    """What is answered under each path."""

    def __init__(self, states: States, metrics: Metrics, batches: Batches, threads: Threads) -> None:
        self._states, self._metrics, self._batches, self._threads = states, metrics, batches, threads
        self.questions = [one for one in DECLARED.values() if hasattr(type(states.whole.workbench), one.call)]

    async def _state(self, request: Request) -> State:
        state = self._states.at_hand(request)
        return await self._threads.quick(self._states.opened) if state is None else state

    async def _read(self, request: Request, model: type[models.Open]) -> dict[str, Any]:
        """The document of a body."""
        body = await request.body()
        document = document_of(body) if len(body) <= LARGE_BODY else await self._threads.quick(document_of, body)
        refuse_odd(document, model)
        return document

    async def _jobs(self, document: Mapping[str, Any], reader: Any) -> tuple[list[Job], bool]:
        read = functools.partial(jobs_of, document, reader)
        return await self._threads.quick(read) if "jobs" in document else read()

    async def predict(self, request: Request) -> Response:
        """Predict the profile, duration, memory, CPU and GPU use of one job or many, with intervals."""
        document = await self._read(request, models.PredictBody)
        dataset, explain = document.get("dataset", ""), document.get("explain", False)
        state = await self._state(request)
        model = state.at_hand(FORECASTER, dataset) or await self._threads.quick(state.model, dataset)
        jobs, single = await self._jobs(document, model.reader)
        if explain and len(jobs) > MOST_EXPLAINED:
            raise BadFields([FieldProblem("explain", True, f"at most {MOST_EXPLAINED} jobs with reasons at once")])
        if explain:
            result = await self._threads.heavy(model.explain, jobs)
        else:
            result = await self._batches.predict(model, jobs)
        several = {"dataset": model.learned.dataset, "model": model.told, "predictions": result}
        return Json(result[0] | {"model": model.told} if single else several)

    async def size(self, request: Request) -> Response:
        """Say what memory to request: first attempt, retries, kills in the next 1,000 runs and why."""
        document = await self._read(request, models.SizeBody)
        dataset = document.get("dataset", "")
        state = await self._state(request)
        sized: Sized = state.at_hand(SIZES, dataset) or await self._threads.quick(state.sizes, dataset)
        jobs, single = await self._jobs(document, sized.reader)
        learned = asdict(sized.learned)
        if single:
            return Json(size_of(jobs[0], sized) | {"model": learned})
        result = await self._threads.quick(lambda: [size_of(one, sized) for one in jobs])
        return Json({"dataset": sized.dataset, "model": learned, "reason": sentence(sized.verdict), "sizes": result})

    async def observe(self, request: Request) -> Response:
        """Hand in finished runs, each with an id of its own; the answer comes once they are on the disk."""
        document = await self._read(request, models.ObserveBody)
        dataset = document.get("dataset", "")

        state = await self._state(request)

        def hand_in() -> tuple[Future[Receipt], str, dict[str, int]]:
            journal, reader = state.journal(dataset), state.run_reader(dataset)
            whole, runs = split(state.workbench.dataset(state.hash_of(dataset)).name)[0], runs_of(document, reader)
            return journal.add(runs), whole, state.not_finished(runs, dataset)

        written, whole, not_finished = await self._threads.quick(hand_in)
        receipt = await asyncio.wrap_future(written)
        if receipt.accepted:
            who = (request.scope.get(WHO, ""), request.scope.get(ROLE, Role.VIEWER))
            await self._threads.quick(state.note, who, whole, receipt.accepted)
        return Json(to_json(receipt) | {"not_finished": not_finished, "drift": state.drift(dataset)})

    async def observed(self, request: Request) -> Response:
        """Tell how many finished runs are kept, how many bytes wait for the feedback loop, and what it found."""
        dataset = once(request.query_params.multi_items(), "dataset")

        state = await self._state(request)

        def look() -> dict[str, Any]:
            journal = state.kept_journal(dataset)
            total, waiting = (len(journal), journal.unread) if journal else (0, 0)
            return {"total": total, "waiting_bytes": waiting, "drift": state.drift(dataset)}

        return Json(await self._threads.quick(look))

    async def profiles(self, request: Request) -> Response:
        """List the job profiles of the default clustering."""
        dataset = once(request.query_params.multi_items(), "dataset")

        state = await self._state(request)

        def found() -> dict[str, Any]:
            chosen, bench = state.hash_of(dataset), state.workbench
            fit, names = bench.profiles(chosen), bench.profile_names(chosen)
            model = {"model": asdict(learned_of(bench, bench.profiles, chosen))}
            return answer_json(fit_answer(fit, names)) | {"names": list(names)} | model

        return Json(await self._threads.heavy(found))

    async def listed(self, _: Request) -> Response:
        """List the questions that can be asked, with their commands and the names of their settings."""
        return Json(
            [
                {
                    "name": one.name,
                    "title": one.title,
                    "command": " ".join(("workprof", *one.words)),
                    "settings": [leaf.path for leaf in one.leaves],
                }
                for one in self.questions
            ]
        )

    def endpoint_of(self, question: Question[Any, Any]) -> Endpoint:
        """What answers one declared question."""

        async def endpoint(request: Request) -> Response:
            given, state = request.query_params.multi_items(), await self._state(request)
            name = once(given, "dataset")
            if not name and question.name.startswith(OF_OTHERS):
                there = [one.name for one in await self._threads.quick(state.workbench.datasets)]
                raise BadFields([FieldProblem("dataset", name, there)])
            state.refuse_long(name)
            settings = settings_from(question, [pair for pair in given if pair[0] != "dataset"])

            bench = state.workbench
            asked = getattr(bench, question.call)

            def told_of(chosen: str, result: Any) -> Response | None:
                if result is None:
                    return None
                headers = {}
                if isinstance(asked, Bound):  # else it is answered of several results, as a sweep is
                    learned = learned_of(bench, asked, chosen, settings)
                    headers = {"Model-Version": learned.version, "Model-Trained": learned.trained}
                names = functools.partial(bench.profile_names, chosen, settings if question is FIT else None)
                return Json(to_json(told.document_of(question, result, names=names)), headers=headers)

            def kept() -> Response | float:
                """What is kept, else the seconds that it takes to make it."""
                chosen = name or state.hash_of("")
                result = asked.cached(chosen, settings).result if isinstance(asked, Bound) else None
                return told_of(chosen, result) or takes_s(chosen)

            def takes_s(chosen: str) -> float:
                rows, earlier = (
                    bench.dataset(chosen).finished_rows,
                    earlier_runs(bench.datasets(), bench.runs(), question.step.name),
                )
                return expected(question.step.name, settings, rows, earlier).seconds

            def found() -> Response | None:
                chosen = name or state.hash_of("")
                return told_of(chosen, asked(chosen, settings))

            told_or_s = await self._threads.quick(kept)
            if isinstance(told_or_s, Response):
                return told_or_s
            return await self._threads.heavy(found, takes_s=told_or_s) or Json({})

        return endpoint

    async def healthy(self, _: Request) -> Response:
        """Tell that the process answers."""
        return Json({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """Tell whether predictions can be made now; of what is missing, to those who may know datasets."""
        words, wait_s = await self._threads.quick(self._states.whole.ready)
        if not words:
            return Json({"status": "ready"})
        named = request.scope[TRUSTED] and request.scope[ROLE] > Role.VIEWER
        return refused(503, words if named else "predictions or sizes are not ready", wait_s=wait_s)

    async def counts(self, request: Request) -> Response:
        """Show counters for Prometheus, and the alerts that the caller may see."""
        state = await self._state(request)
        return Response(self._metrics.text(state.checked), media_type=CONTENT_TYPE_LATEST)

    def operations(self) -> dict[Operation, Endpoint]:
        """Every route and what answers it."""
        named = [{"name": "dataset", "in": "query", "schema": {"type": "string", "maxLength": LONGEST_NAME}}]
        asked, sent = (404, 422, 500, 503), (404, 413, 422, 500, 503)
        jobs, runs = (EXAMPLE_JOB, {"jobs": [EXAMPLE_JOB]}), (EXAMPLE_RUN, {"runs": [EXAMPLE_RUN]})

        def at(path: str, endpoint: Endpoint, *answers: type[BaseModel], **more: Any) -> tuple[Operation, Endpoint]:
            method = "post" if "body" in more else "get"
            return Operation(path, method, (endpoint.__doc__ or "").strip(), answers, **more), endpoint

        def took(body: type[BaseModel], examples: Any, *refusals: int) -> dict[str, Any]:
            return {"body": body, "examples": examples, "refusals": (*sent, *refusals)}

        def about(*refusals: int) -> dict[str, Any]:
            return {"parameters": named, "refusals": (*asked, *refusals)}

        result = dict(
            (
                at(
                    *("/v1/predict", self.predict, models.Predictions, models.OnePrediction),
                    **took(models.PredictBody, jobs),
                ),
                at("/v1/size", self.size, models.SizeList, models.OneSize, **took(models.SizeBody, jobs)),
                at("/v1/observations", self.observe, models.Receipt, **took(models.ObserveBody, runs, 507)),
                at("/v1/observations", self.observed, models.Observed, **about()),
                at("/v1/profiles", self.profiles, schema={"type": "object", "properties": PROFILES}, **about()),
                at("/v1/questions", self.listed, models.Listed, several=True),
                at("/healthz", self.healthy, models.Status, open=True),
                at("/readyz", self.ready, models.Status, open=True, refusals=(503,)),
                at("/metrics", self.counts),
            )
        )
        for one in self.questions:
            more: dict[str, Any] = {"parameters": parameters_of(one), "refusals": (*asked, 507), "name": one.call}
            more["headers"] = HEADERS
            told_as = Operation(QUESTIONS + one.name, "get", one.title, schema=answer_schema(one), **more)
            result[told_as] = self.endpoint_of(one)
        return result


def make_app(
    state: State,
    viewers: Callable[[], State] | None = None,
    *,
    doors: Doors | None = None,
    limits: Limits | None = None,
) -> Starlette:
    """The application on an open home, closed with it.

    Args:
        state: answers planners and admins; everybody without the next.
        viewers: opens what answers viewers, when the first of them asks.
        doors: who may ask; None = every program of this machine.
        limits: of requests.
    """
    doors, states = doors or Doors(), States(state, viewers)
    metrics, threads = Metrics(), Threads()
    batches = Batches(metrics.batch)
    metrics.show("workprof_waiting_jobs", "Jobs that wait for a prediction.", lambda: batches.waiting)
    metrics.show("workprof_observations", "Finished runs kept.", lambda: state.n_observed)
    asked = Routes(states, metrics, batches, threads)
    operations = asked.operations()
    openapi = orjson.dumps(openapi_of(list(operations), token=doors.closed))

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        threads.close()
        batches.close(CLOSE_S)
        await asyncio.to_thread(states.close, CLOSE_S)

    async def described(_: Request) -> Response:
        return Response(openapi, media_type="application/json")

    routes = [Route("/openapi.json", described)]
    routes += [Route(one.path, endpoint, methods=[one.method.upper()]) for one, endpoint in operations.items()]
    at = {one.path: endpoint for one, endpoint in operations.items()}
    commands = {".".join(one.words): at[QUESTIONS + one.name] for one in reversed(asked.questions)}
    routes += [Route(path, one) for words, one in commands.items() if (path := QUESTIONS + words) not in at]
    handlers: dict[Any, Any] = dict.fromkeys((WorkprofError, NotReady, TooMany), _handler)
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, doors=doors, limits=limits or Limits(), metrics=metrics)],
        exception_handlers=handlers | dict.fromkeys((404, 405), _missing),
        lifespan=life,
    )


async def _handler(_: Request, error: Exception) -> Response:
    return refusal_of(error)


async def _missing(_: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    what = "there is no such route" if status == 404 else "this route takes another method"
    return refused(status, f"{what}; /openapi.json lists them", headers=getattr(error, "headers", None))
