"""Predictions of single requests, made together: what arrives while one batch is computed is the next batch.

Many jobs at once cost little more than a single one, so the service keeps up with many clients.
"""

import asyncio
import functools
import gc
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from workprof.answers.forecasts import forecast_document
from workprof.core.records import digest
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.forecasts.one_job import every_job, job_forecasts
from workprof.forecasts.served import ServedForecaster
from workprof.service.jobs import FieldReader, Job, table_of
from workprof.workbench import Workbench
from workprof.workbench.runs import RUN_DIGITS

MOST_IN_BATCH = 512
MOST_WAITING = 20_000
"""Jobs; beyond that a request is refused at once, so that nobody waits for an answer that comes too late."""

FIRST_RATE, RENEWED = 1_000.0, 0.1
"""Jobs a second before any was answered; the share of the newest batch in what is measured."""

Predictions = list[dict[str, Any]]


class TooMany(Exception):
    """More waits than can be answered in time."""

    def __init__(self, what: str, wait_s: float) -> None:
        super().__init__(f"too many {what} wait for an answer; ask again")
        self.wait_s = wait_s  # until those that wait are answered


@dataclass(frozen=True)
class Learned:
    """What an answer rests on: which saved result, when it was computed, and of how many runs."""

    version: str  # its name in `workprof runs`
    trained: str  # ISO 8601, UTC
    dataset: str
    rows: int


def learned_of(workbench: Workbench, question: Any, dataset: str, settings: Any = None) -> Learned:
    """What is saved of a question; made now, where the disk did not take it."""
    key, entry = question.key(dataset, settings), workbench.dataset(dataset)
    run = next((one for one in workbench.stored_runs(digest(key)[:RUN_DIGITS]) if one.key == key), None)
    trained = run.created if run else datetime.now(UTC).isoformat(timespec="seconds")
    return Learned(run.run if run else "", trained, entry.name, entry.finished_rows)


@dataclass(frozen=True)
class Model:
    """A forecaster in memory, with the names of its profiles."""

    learned: Learned
    forecaster: LoadedForecaster
    served: ServedForecaster  # the same, for what comes often
    names: tuple[str, ...]
    reader: FieldReader

    def predict(self, jobs: Sequence[Job]) -> Predictions:
        """The JSON of each job."""
        return [forecast_document(one, self.names) for one in every_job(self.served.forecast(jobs))]

    @functools.cached_property
    def told(self) -> dict[str, Any]:
        """What every answer says of the model."""
        return asdict(self.learned)

    def explain(self, jobs: Sequence[Job]) -> Predictions:
        """The same with SHAP values."""
        table = table_of(jobs)
        return [forecast_document(one, self.names) for one in job_forecasts(self.forecaster, table, len(jobs))]


def load_model(workbench: Workbench, dataset: str, reader: FieldReader | None = None) -> Model:
    """The forecaster of a dataset; profiles and forecaster are made where they are not cached."""
    chosen, entry = ForecasterSettings(), workbench.dataset(dataset)
    workbench.forecaster(entry.hash, chosen)
    names = workbench.profile_names(entry.hash, chosen.classifier.profiles)
    forecaster = workbench.loaded_forecaster(entry.hash, workbench.forecaster.resolved(entry.hash, chosen))
    learned = learned_of(workbench, workbench.forecaster, entry.hash)
    model = Model(learned, forecaster, ServedForecaster(forecaster), names, reader or FieldReader())
    model.predict([{"task_name": ""}])  # what is compiled and made ready at the first use
    gc.unfreeze()  # a model before this one may be gone
    gc.collect()
    gc.freeze()  # what stays is not walked again: a collection of everything would stop all answers for 0.1 s and more
    return model


@dataclass(frozen=True)
class _Waiting:
    model: Model
    jobs: Sequence[Job]
    loop: asyncio.AbstractEventLoop
    predictions: asyncio.Future[Predictions]


class Batches:
    """The thread that answers; one per process."""

    def __init__(self, count_batch: Callable[[int], None] = lambda n_jobs: None) -> None:
        """Start it; `count_batch` is called with the jobs of every batch."""
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._count_batch = count_batch
        self.waiting = 0
        self._rate = FIRST_RATE  # jobs a second, as the last batches were answered
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="predictions", daemon=True)
        self._thread.start()

    def close(self, within_s: float | None = None) -> None:
        """End the thread after what it is at; wait for that so long at most."""
        self._queue.put(None)
        self._thread.join(within_s)

    async def predict(self, model: Model, jobs: Sequence[Job]) -> Predictions:
        """The JSON of each job; raises TooMany when too many wait already."""
        if self.waiting + len(jobs) > MOST_WAITING:
            raise TooMany("jobs", self.waiting / self._rate)
        loop = asyncio.get_running_loop()
        predictions: asyncio.Future[Predictions] = loop.create_future()
        with self._guard:
            self.waiting += len(jobs)
        self._queue.put(_Waiting(model, jobs, loop, predictions))
        return await predictions

    def _run(self) -> None:
        while True:
            first = self._queue.get()
            if first is None:
                return
            batch, n_jobs, last = [first], len(first.jobs), False
            while n_jobs < MOST_IN_BATCH and not last:
                try:
                    further = self._queue.get_nowait()
                except queue.Empty:
                    break
                if further is None:
                    last = True
                else:
                    batch.append(further)
                    n_jobs += len(further.jobs)
            started = time.perf_counter()
            self._predict_batch(batch)
            with self._guard:
                self.waiting -= n_jobs
                self._rate += RENEWED * (n_jobs / max(time.perf_counter() - started, 1e-6) - self._rate)
            self._count_batch(n_jobs)
            if last:
                return

    def _predict_batch(self, batch: list[_Waiting]) -> None:
        for model in {id(one.model): one.model for one in batch}.values():
            own = [one for one in batch if one.model is model]
            result: list[Predictions | Exception]
            try:
                predictions = iter(model.predict([job for one in own for job in one.jobs]))
                result = [[next(predictions) for _ in one.jobs] for one in own]
            except Exception as error:  # noqa: BLE001  told to everybody who waits for it
                result = [error] * len(own)
            for loop in {id(one.loop): one.loop for one in own}.values():
                pairs = [
                    (one.predictions, outcome) for one, outcome in zip(own, result, strict=True) if one.loop is loop
                ]
                loop.call_soon_threadsafe(_deliver, pairs)


def _deliver(pairs: Sequence[tuple[asyncio.Future[Predictions], Predictions | Exception]]) -> None:
    for predictions, outcome in pairs:
        if predictions.done():  # the request was given up
            continue
        if isinstance(outcome, Exception):
            predictions.set_exception(outcome)
        else:
            predictions.set_result(outcome)
