"""Questions of the feedback loop: finished jobs in, drift and advice out, a refit when it is asked for."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd

from workprof.errors import DatasetUnknown, NoRows, NotEnoughData, TraceError, WorkprofError
from workprof.forecasts.feedback.assignment import new_rows
from workprof.forecasts.feedback.drift import FeedbackNow, assess, feedback_now
from workprof.forecasts.feedback.loop import FeedbackSettings, Observed, nothing_observed, observe
from workprof.forecasts.feedback.model import FeedbackModel, Refit, finished_jobs
from workprof.forecasts.feedback.windows import FeedbackState, start_again
from workprof.forecasts.forecaster import LoadedForecaster
from workprof.jobs import JobView
from workprof.progress import Progress, silent
from workprof.store.documents import FinishedTable
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import finished_rows, passing_trace
from workprof.workbench.asking import Answer
from workprof.workbench.feedback_loops import MODEL, FeedbackLoops, Loop, now


class FeedbackQuestions(FeedbackLoops):
    """The questions of `workprof estimate observe` and of the page that shows the loop."""

    def observe(
        self,
        dataset: str,
        jobs: Path | str | pd.DataFrame,
        settings: FeedbackSettings | None = None,
        progress: Progress = silent,
        refit: bool = False,
        options: IngestOptions | None = None,
    ) -> Observed:
        """Return what finished jobs showed, with the loop's state kept; what it needs and is not kept is made here.

        Args:
            dataset: whose profiles and forecaster are followed.
            jobs: a file that `ingest` takes, the name of a dataset, or a table under the store's names.
            settings: of the loop.
            progress: told each step.
            refit: cluster and train again afterwards, finished jobs included.
            options: how to read a file.

        Raises:
            TraceError: when there is neither such a file nor such a dataset, or it cannot be read.
            NoRows: when it has no finished job.
            ColumnMissing: when it has no measured feature.
            NotEnoughData: when it has no usable target.
        """
        started = time.perf_counter()
        if self.settings.readonly:
            raise WorkprofError("WORKPROF_READONLY is set: finished jobs cannot be kept here; unset it to observe")
        loop = self._loop(dataset, settings)
        table, notes = self._finished_table(loop, jobs, options, progress)
        self._make_ready(loop, progress)
        with self._cache.lock(loop.lock):
            found = self._fold_in(loop, table, progress)
        if refit or (loop.settings.refit and found.assessment.recluster_advised):
            key = self._refit_here(loop, progress)
            self.adopt_refit(loop.entry.hash, key, loop.settings)
            found = replace(found, refitted=True, history=self._observed_state(loop).history)
        return replace(found, notes=(*notes, *found.notes), seconds=time.perf_counter() - started)

    def feedback_state(self, dataset: str, settings: FeedbackSettings | None = None) -> FeedbackState | None:
        """Return the loop's memory, or None before the first observation."""
        loop = self._loop(dataset, settings)
        return self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)

    def feedback(self, dataset: str, settings: FeedbackSettings | None = None) -> FeedbackNow | None:
        """Return how the loop stands, or None before the first observation or where its model is not kept."""
        loop = self._loop(dataset, settings)
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        model = self._kept_model(loop, state) if state else None
        return feedback_now(state, model, loop.settings) if state and model else None

    def feedback_model_answer(self, dataset: str, settings: FeedbackSettings) -> Answer[FeedbackModel]:
        """Return what finished jobs are compared with, and the job that makes it, without computing anything."""
        loop = self._loop(dataset, settings)
        return self._answer(MODEL, loop.entry, loop.forecaster, FeedbackModel)

    def start_feedback_model(self, dataset: str, settings: FeedbackSettings) -> JobView:
        """Start the making of what finished jobs are compared with, in a child process.

        Raises:
            NotEnoughData: when the profiles are not kept; find them first.
        """
        loop = self._loop(dataset, settings)
        if self.profiles.cached(loop.entry.hash, self._followed_profiles(loop)).result is None:
            raise NotEnoughData("the profiles that jobs are filed under are not there yet; find profiles first")
        return self._jobs.start(self._request(MODEL, loop.entry, loop.forecaster), self._labelled_jobs(loop, silent))

    def start_refit(self, dataset: str, settings: FeedbackSettings) -> JobView:
        """Start a refit in a child process; `adopt_refit` with the job's key puts it to use once it is done."""
        loop = self._loop(dataset, settings)
        return self._jobs.start(self._refit_request(loop), self._all_jobs(loop))

    def refit_answer(self, dataset: str, settings: FeedbackSettings) -> Answer[Refit]:
        """Return the refit with everything observed so far and the job that makes it, without computing anything.

        Raises:
            NotEnoughData: before the first observation.
        """
        key = self._refit_request(self._loop(dataset, settings)).key
        return Answer(key, self._cache.get(key, Refit), self._jobs.view(key))

    def adopt_refit(self, dataset: str, key: str, settings: FeedbackSettings | None = None) -> FeedbackState:
        """Return the state that goes on from a finished refit.

        Raises:
            NotEnoughData: when there is no such refit.
        """
        loop = self._loop(dataset, settings)
        made = self._cache.get(key, Refit)
        if made is None:
            raise NotEnoughData("there is no such refit; start it again")
        with self._cache.lock(loop.lock):
            state = self._observed_state(loop)
            if state.model_key != key:
                state = start_again(state, made.model, key, now())
                self._store.save_feedback(loop.entry.hash, loop.digest, state)
        return state

    def followed_forecaster(self, dataset: str, settings: FeedbackSettings | None = None) -> LoadedForecaster:
        """Return the forecaster in use: of the last refit that was adopted, else the dataset's own.

        Raises:
            NotEnoughData: when it was not trained yet.
        """
        loop = self._loop(dataset, settings)
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        made = self._cache.get(state.model_key, Refit) if state and state.model_key else None
        return self._loaded_refit(state.model_key, made) if state and made else self._own_forecaster(loop)

    def _finished_table(
        self, loop: Loop, jobs: Path | str | pd.DataFrame, options: IngestOptions | None, progress: Progress
    ) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """Return finished jobs under the store's names, and what there is to say of them."""
        if isinstance(jobs, pd.DataFrame):
            return jobs, ()
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
        request = self._request(MODEL, loop.entry, loop.forecaster)
        self._blocking(request, FeedbackModel, self._labelled_jobs(loop, progress), progress)

    def _fold_in(self, loop: Loop, table: pd.DataFrame, progress: Progress) -> Observed:
        used = self._in_use(loop)
        rows = new_rows(table, used.state.files, used.state.seen)
        if not len(rows.jobs):
            return nothing_observed(rows, used.state, assess(used.state, used.model, loop.settings))
        forecasts = used.forecaster.forecast(rows.jobs, progress)
        state, found = observe(used.state, used.model, rows, forecasts, loop.settings, now())
        kept = finished_jobs(rows.jobs.iloc[-loop.settings.kept_jobs :], self._followed_columns(loop))
        finished = FinishedTable(kept, kept.rows, loop.settings.kept_jobs)
        self._store.save_observation(loop.entry.hash, loop.digest, state, finished)
        again = "the refit in use is no longer kept: the loop began anew from the dataset's own profiles"
        return replace(found, notes=(*found.notes, again)) if used.again else found

    def _refit_here(self, loop: Loop, progress: Progress) -> str:
        """Make a refit here and now and return its key; no lock of the loop is held."""
        request = self._refit_request(loop)
        self._blocking(request, Refit, self._all_jobs(loop), progress)
        return request.key


def _same_rows(content: str, loop: Loop) -> tuple[str, ...]:
    if content != loop.entry.hash:
        return ()
    return ("these are the jobs that the forecaster learned from: they say nothing of how it does on new ones",)
