"""The feedback loop: finished jobs in, drift and advice out, a refit on demand."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.causes import CAUSES, causes_of
from workprof.core.errors import DatasetUnknown, NoRows, NotEnoughData, TraceError
from workprof.core.progress import Progress, silent
from workprof.core.records import canonical_json, digest
from workprof.core.roles import OBSERVE
from workprof.core.words import counted
from workprof.forecasts import questions
from workprof.forecasts.encoder import as_stored, name_of
from workprof.forecasts.feedback.assignment import new_rows
from workprof.forecasts.feedback.drift import FeedbackNow, assess, feedback_now
from workprof.forecasts.feedback.loop import FeedbackSettings, Observed, nothing_observed, observe
from workprof.forecasts.feedback.model import (
    FeedbackModel,
    FinishedJobs,
    Refit,
    RefitSettings,
    finished_jobs,
    with_finished,
)
from workprof.forecasts.feedback.windows import FeedbackState, start, start_again
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.formats import ended_well
from workprof.store.documents import FinishedTable
from workprof.store.reports import Dataset, IngestOptions
from workprof.store.trace_store import finished_rows, passing_trace
from workprof.workbench.forecasts import ForecastQuestions, learned_jobs, resolved_forecaster, with_profiles
from workprof.workbench.question_methods import Frames, ask


@dataclass(frozen=True)
class Loop:
    """One loop: its dataset, and settings with nothing left open."""

    entry: Dataset
    settings: FeedbackSettings

    @property
    def forecaster(self) -> ForecasterSettings:
        """Settings of the forecaster that is followed."""
        return self.settings.forecaster

    @property
    def digest(self) -> str:
        """Name under which its state is stored beside the dataset: the forecaster decides."""
        return digest(canonical_json(self.forecaster))

    @property
    def lock(self) -> str:
        """Key of the loop's one lock."""
        return f"feedback:{self.entry.hash}:{self.digest}"


@dataclass(frozen=True)
class InUse:
    """What a loop works with now; `again` = its refit is no longer kept, so it begins anew from the dataset's model."""

    state: FeedbackState
    model: FeedbackModel
    forecaster: LoadedForecaster
    again: bool = False


def _model_frames(
    bench: Any, entry: Dataset, settings: ForecasterSettings, _: Any, progress: Progress | None
) -> Frames:
    jobs = learned_jobs(bench, entry, questions.followed(settings), settings.unfinished)
    return with_profiles(bench, entry, settings.classifier.profiles, jobs, progress)


def _resolved_refit(bench: Any, entry: Dataset, settings: RefitSettings) -> RefitSettings:
    loop = bench._loop(entry.hash, FeedbackSettings(settings.forecaster))
    return RefitSettings(loop.forecaster, settings.observed or _files_digest(bench._observed_state(loop)))


def _refit_frames(bench: Any, entry: Dataset, settings: RefitSettings, _: Any, __: Progress | None) -> Frames:
    """A function that reads the dataset's jobs and the finished ones that are stored.

    Raises NotEnoughData when others are stored than the refit is about.
    """
    loop = bench._loop(entry.hash, FeedbackSettings(settings.forecaster))
    if settings.observed != _files_digest(bench._observed_state(loop)):
        raise NotEnoughData("other finished jobs were observed since then; refit with those of today")

    def read() -> Mapping[str, pd.DataFrame]:
        jobs = bench.frames_of(entry, questions.followed(settings.forecaster))()["jobs"]
        return {"jobs": with_finished(jobs, bench._store.finished_jobs(entry.hash, loop.digest, FinishedJobs))}

    return read


def _files_digest(state: FeedbackState) -> str:
    return digest(",".join(state.files))


class FeedbackQuestions(ForecastQuestions):
    """The questions of `workprof estimate observe` and of the page that shows the loop.

    A loop is named by its dataset and the settings of the forecaster that it follows. `refit` with `observed=""` is
    with every finished job observed by now; `adopt_refit` puts it to use.
    """

    feedback_model = ask(questions.FEEDBACK_MODEL, resolve=resolved_forecaster, frames=_model_frames)
    refit = ask(questions.REFIT, resolve=_resolved_refit, frames=_refit_frames)

    def observe(
        self,
        dataset: str,
        jobs: Path | str | pd.DataFrame,
        settings: FeedbackSettings | None = None,
        progress: Progress = silent,
        refit: bool = False,
        options: IngestOptions | None = None,
    ) -> Observed:
        """What finished jobs showed, with the loop's state kept; what it needs and is not kept is made here.

        The jobs are a file that `ingest` takes, read by `options`, the name of a dataset, or a table under the store's
        names. With `refit`, clustering and training are done again afterwards, finished jobs included.

        Raises:
            TraceError: when there is neither such a file nor such a dataset, or it cannot be read.
            NoRows: when it has no finished job.
            ColumnMissing: when it has no measured feature.
            NotEnoughData: when it has no usable target.
        """
        started = time.perf_counter()
        self._store.refuse(OBSERVE)
        loop = self._loop(dataset, settings)
        table, notes = self._finished_table(loop, jobs, options, progress)
        self._make_ready(loop, progress)
        folded = f"{loop.entry.name}: {counted(len(table), 'run')} learned of"
        with self._cache.lock(loop.lock), self._store.writing(folded):  # what is read must be what is written upon
            self._store.refuse_replaced(loop.entry.hash)
            result = self._fold_in(loop, table, progress)
        if refit or (loop.settings.refit and result.assessment.recluster_advised):
            request = RefitSettings(loop.forecaster, _files_digest(self._observed_state(loop)))
            self.refit(loop.entry.hash, request, progress)  # no lock of the loop is held meanwhile
            self.adopt_refit(loop.entry.hash, self.refit.key(loop.entry.hash, request), loop.settings)
            result = replace(result, refitted=True, history=self._observed_state(loop).history)
        return replace(result, notes=(*notes, *result.notes), seconds=time.perf_counter() - started)

    def feedback(self, dataset: str, settings: FeedbackSettings | None = None) -> FeedbackNow | None:
        """How the loop stands, or None before the first observation or where its model is not kept."""
        loop = self._loop(dataset, settings)
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        model = self._model_in_use(loop, state) if state else None
        return feedback_now(state, model, loop.settings) if state and model else None

    def adopt_refit(self, dataset: str, key: str, settings: FeedbackSettings | None = None) -> FeedbackState:
        """The state that goes on from a finished refit; raises NotEnoughData when there is no such refit."""
        loop = self._loop(dataset, settings)
        made = self._cache.get(key, Refit)
        if made is None:
            raise NotEnoughData("there is no such refit; start it again")
        with self._cache.lock(loop.lock), self._store.writing(f"{loop.entry.name}: refit"):
            self._store.refuse_replaced(loop.entry.hash)
            state = self._observed_state(loop)
            if state.model_key != key:
                state = start_again(state, made.model, key, now())
                self._store.save_feedback(loop.entry.hash, loop.digest, state)
        return state

    def _finished_table(
        self, loop: Loop, jobs: Path | str | pd.DataFrame, options: IngestOptions | None, progress: Progress
    ) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Finished jobs under the store's names, and what there is to say of them."""
        if isinstance(jobs, pd.DataFrame):
            return self._that_finished(loop.entry, as_stored(jobs))
        whole_hash = isinstance(jobs, str) and any(entry.hash == jobs for entry in self.datasets())
        if whole_hash or not os.path.exists(jobs):  # noqa: PTH110  a text that can be no path names a dataset
            return self._stored_jobs(loop, str(jobs))
        read = passing_trace(self.settings, [Path(jobs)], options, progress)
        notes = [f"{read.report.rejected:,} rows could not be read"] if read.report.rejected else []
        if read.unfinished:
            notes.append(f"{read.unfinished:,} rows of jobs that did not finish well were left out")
        if not len(read.jobs):
            raise NoRows(f"{Path(jobs).name}: none of its {read.report.rows:,} jobs has finished; nothing to observe")
        return read.jobs, (*notes, *_same_rows(read.report.hash, loop))

    def _that_finished(self, entry: Dataset, table: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """The rows of a table that finished, as those of a file are, and how the others ended in words."""
        told = with_finished_told(table, self.ingest_report(entry.hash).format)
        if "finished" not in told.columns:
            return table, ()
        others = counts_of(told)
        by_cause = ", ".join(f"{count:,} {cause}" for cause, count in others.items())
        finished = told[told["finished"]].drop(columns="finished")
        if others and not len(finished):
            raise NoRows(f"none of these {counted(len(table), 'job')} has finished ({by_cause}); nothing to observe")
        left_out = f"{counted(len(told) - len(finished), 'job')} did not finish well and were left out ({by_cause})"
        return finished, (left_out,) if others else ()

    def _stored_jobs(self, loop: Loop, name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
        try:
            entry = self._jobs_of(name)
        except DatasetUnknown as error:
            raise TraceError(f"{name}: no such file, and {error}; give a file of finished jobs or a dataset") from error
        return finished_rows(self._store, entry.hash), _same_rows(entry.hash, loop)

    def _make_ready(self, loop: Loop, progress: Progress) -> None:
        """Make what is not kept: profiles, forecaster, and what finished jobs are compared with."""
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        if state and state.model_key and self._cache.get(state.model_key, Refit) is not None:
            return
        self.forecaster(loop.entry.hash, loop.forecaster, progress)
        self.feedback_model(loop.entry.hash, loop.forecaster, progress)

    def _fold_in(self, loop: Loop, table: pd.DataFrame, progress: Progress) -> Observed:
        used = self._in_use(loop)
        rows = new_rows(table, used.state.files, used.state.seen)
        if not len(rows.jobs):
            return nothing_observed(rows, used.state, assess(used.state, used.model, loop.settings))
        forecasts = used.forecaster.forecast(rows.jobs, progress)
        state, result = observe(used.state, used.model, rows, forecasts, loop.settings, now())
        recent = finished_jobs(rows.jobs.iloc[-loop.settings.kept_jobs :], self._followed_columns(loop))
        finished = FinishedTable(recent, recent.rows, loop.settings.kept_jobs)
        self._store.save_observation(loop.entry.hash, loop.digest, state, finished)
        again = "the refit in use is no longer kept: the loop began anew from the dataset's own profiles"
        return replace(result, notes=(*result.notes, again)) if used.again else result

    def _loop(self, dataset: str, settings: FeedbackSettings | None) -> Loop:
        entry, given = self.dataset(dataset), settings or FeedbackSettings()
        return Loop(entry, replace(given, forecaster=resolved_forecaster(self, entry, given.forecaster)))

    def _in_use(self, loop: Loop) -> InUse:
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        made = self._cache.get(state.model_key, Refit) if state and state.model_key else None
        if state and made:
            return InUse(state, made.model, self._in_memory(state.model_key, made.forecaster))
        own = self.feedback_model.cached(loop.entry.hash, loop.forecaster).result
        if own is None:
            raise NotEnoughData("what finished jobs are compared with is not cached; make it first")
        again = bool(state and state.model_key)
        if state and again:
            state = start_again(state, own, "", now())
        own_forecaster = self.loaded_forecaster(loop.entry.hash, loop.forecaster)
        return InUse(state or start(own, now()), own, own_forecaster, again)

    def _model_in_use(self, loop: Loop, state: FeedbackState) -> FeedbackModel | None:
        if state.model_key:
            made = self._cache.get(state.model_key, Refit)
            return made.model if made else None
        return self.feedback_model.cached(loop.entry.hash, loop.forecaster).result

    def _observed_state(self, loop: Loop) -> FeedbackState:
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        if state is None:
            raise NotEnoughData("no finished job was observed yet; observe some first")
        return state

    def _followed_columns(self, loop: Loop) -> tuple[str, ...]:
        present = {column.name for column in self._store.columns(loop.entry.hash)}
        return tuple(name for name in questions.followed(loop.forecaster) if name in present)


def with_finished_told(jobs: pd.DataFrame, trace_format: str) -> pd.DataFrame:
    """A table with `finished` where it has a status, read in the words of a trace's format or of any table of jobs."""
    if "finished" in jobs.columns:
        return jobs.assign(finished=jobs["finished"].astype("object").fillna(value=True).astype("bool"))
    if "status" not in jobs.columns:
        return jobs
    texts = [status if pd.isna(status) else name_of(status) for status in jobs["status"].astype("object")]
    return jobs.assign(status=texts, finished=[ended_well(text, trace_format) for text in texts])


def counts_of(jobs: pd.DataFrame) -> dict[str, int]:
    """Cause -> how many runs of a table did not finish for it."""
    others = jobs[~jobs["finished"]] if "finished" in jobs.columns else jobs[:0]
    codes, counts = np.unique(causes_of(others), return_counts=True)
    return {CAUSES[code]: int(count) for code, count in zip(codes, counts, strict=True)}


def _same_rows(content: str, loop: Loop) -> tuple[str, ...]:
    if content != loop.entry.hash:
        return ()
    return ("these are the jobs that the forecaster learned from: they say nothing of how it does on new ones",)


def now() -> str:
    """The time as the history keeps it: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
