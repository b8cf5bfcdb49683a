"""The questions of the Classify and Durations pages, declared in `workprof.forecasts.questions`, and of new jobs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from workprof.core.arrays import SUBMITTED, numbers_of
from workprof.core.causes import KILLS, LOWER_BOUND, was_killed_for_memory
from workprof.core.errors import (
    ColumnMissing,
    DatasetUnknown,
    NoRows,
    NotEnoughData,
    SettingsError,
    TraceError,
    WorkprofError,
)
from workprof.core.long_table import parts_of
from workprof.core.progress import Progress, silent
from workprof.core.settings import Settings
from workprof.core.text import near
from workprof.forecasts import questions
from workprof.forecasts.alternatives import AlternativeSettings
from workprof.forecasts.censored import runs_to_learn
from workprof.forecasts.classifier import ClassifierSettings, LoadedClassifier
from workprof.forecasts.durations import PROFILE, WHY_NO_PROFILES, DurationSettings
from workprof.forecasts.encoder import METADATA_FIELDS, SUBMIT_FIELDS
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import LEFT_OUT, TARGETS, EstimateEvaluationSettings
from workprof.forecasts.explain import GlobalExplanation, explain_all
from workprof.forecasts.forecaster import ExplanationSettings, Forecaster, ForecasterSettings, LoadedForecaster
from workprof.forecasts.held_out import HeldOut
from workprof.forecasts.one_job import JobForecast, job_forecasts
from workprof.forecasts.predictions import NO_PROFILE
from workprof.forecasts.splits import SPLITS
from workprof.formats.new_jobs import CHUNK_ROWS, FieldNames, NewJobs, named_jobs, read_new_jobs
from workprof.profiles.fit import labelled
from workprof.profiles.settings import ProfileSettings
from workprof.steps import about
from workprof.store.reports import Dataset
from workprof.workbench.profiles import fit_in_rows
from workprof.workbench.question_methods import Frames, ask
from workprof.workbench.sweeps import SweepQuestions

LOADED_AT_MOST = 4
"""Forecasters with their trees in memory."""

EXPLAINED_ROWS = 200
"""Of a file: so many jobs are explained one by one."""


@dataclass(frozen=True)
class LoadedHeldOut:
    """The runs that were held out, and the forecaster that did not see them."""

    held_out: HeldOut
    forecaster: LoadedForecaster


@dataclass(frozen=True)
class FileForecasts:
    """What is said of the jobs of a file, and the file's columns that were not used."""

    jobs: tuple[JobForecast, ...]
    unknown: tuple[str, ...]


def with_profiles(
    bench: Any,
    entry: Dataset,
    fit: ProfileSettings,
    jobs_read: Callable[[], pd.DataFrame],
    progress: Progress | None,
    *,
    needed: bool = True,
) -> Frames:
    """A function that reads the jobs, and the profile of each.

    `progress` is told while profiles are found that are not cached; None = those that are not are not found. Where
    profiles are not `needed`, the column is left out if there are none.

    Raises NotEnoughData when profiles are needed, not cached, and not to be found.
    """
    cached = bench.profiles.cached(entry.hash, fit).result if progress is None else None
    if progress is None and cached is None and needed:
        raise NotEnoughData("the profiles that this rests on are not there yet; find profiles first")

    def read() -> Mapping[str, pd.DataFrame]:
        result, why = cached, ""
        if progress is not None:
            try:
                result = bench.profiles(entry.hash, fit, progress)
            except (ColumnMissing, NotEnoughData) as error:
                if needed:
                    raise
                why = str(error)
        jobs = jobs_read()
        if why:
            jobs.attrs[WHY_NO_PROFILES] = why
        return {"jobs": jobs if result is None else labelled(jobs, result)}

    return read


def finished_jobs(bench: Any, entry: Dataset, columns: Sequence[str], latest: int | None) -> Callable[[], pd.DataFrame]:
    """A function that reads columns, as far as they are present, of the latest finished runs."""
    return lambda: cast(pd.DataFrame, bench.frames_of(entry, columns, latest=latest)()["jobs"])


BOUNDS = ("status", KILLS, LOWER_BOUND)
"""Columns that tell whose use of memory is a lower bound."""


def _has_bounds(jobs: pd.DataFrame) -> bool:
    marked = LOWER_BOUND in jobs.columns and bool((jobs[LOWER_BOUND] > 0).any())
    return marked or bool(was_killed_for_memory(jobs).any())


def learned_jobs(
    bench: Any, entry: Dataset, columns: Sequence[str], unfinished: str, latest: int | None = None
) -> Callable[[], pd.DataFrame]:
    """A function that reads columns, as far as they are present, of the runs that are learned.

    `unfinished` tells whether runs that were cut short are among them. `finished` tells which did not finish, where
    there are some, those killed for memory among them.
    """

    def read() -> pd.DataFrame:
        left_out = unfinished == LEFT_OUT
        if left_out and not any(map(_has_bounds, parts_of(bench.table_of(entry, BOUNDS)()["jobs"]))):
            return finished_jobs(bench, entry, columns, latest)()
        every = bench.frames_of(entry, (*columns, *BOUNDS), every=True)()["jobs"]
        return runs_to_learn(every, cut_short=not left_out, targets=tuple(TARGETS))

    return read


def _classifier(bench: Any, entry: Dataset, settings: ClassifierSettings) -> ClassifierSettings:
    fields = bench._store.resolve(entry.hash, settings.fields)
    return replace(settings, profiles=bench.profiles.resolved(entry.hash, settings.profiles), fields=fields)


def resolved_forecaster(bench: Any, entry: Dataset, settings: ForecasterSettings) -> ForecasterSettings:
    """The settings with nothing left open: equal ones share a key, and a feedback loop."""
    return replace(settings, classifier=_classifier(bench, entry, settings.classifier))


def _explanation(bench: Any, entry: Dataset, settings: ExplanationSettings) -> ExplanationSettings:
    return replace(settings, forecaster=resolved_forecaster(bench, entry, settings.forecaster))


def _alternatives(bench: Any, entry: Dataset, settings: AlternativeSettings) -> AlternativeSettings:
    return replace(settings, classifier=_classifier(bench, entry, settings.classifier))


def _evaluation(bench: Any, entry: Dataset, settings: EstimateEvaluationSettings) -> EstimateEvaluationSettings:
    tested = bench._jobs_of(settings.tested).hash if settings.tested else ""
    return replace(settings, profiles=bench.profiles.resolved(entry.hash, settings.profiles), tested=tested)


def _labelled(
    bench: Any, entry: Dataset, settings: ClassifierSettings | ForecasterSettings, _: Any, progress: Progress | None
) -> Frames:
    """What reads the jobs with the profiles that the settings name."""
    if isinstance(settings, ClassifierSettings):
        finished = finished_jobs(bench, entry, questions.LEARNED, settings.latest_runs)
        return with_profiles(bench, entry, settings.profiles, finished, progress)
    jobs = learned_jobs(bench, entry, questions.LEARNED, settings.unfinished, settings.classifier.latest_runs)
    return with_profiles(bench, entry, settings.classifier.profiles, jobs, progress)


def _compared(bench: Any, entry: Dataset, settings: AlternativeSettings, _: Any, progress: Progress | None) -> Frames:
    return _labelled(bench, entry, settings.classifier, _, progress)


def _evaluation_frames(
    bench: Any, entry: Dataset, settings: EstimateEvaluationSettings, _: Any, progress: Progress | None
) -> Frames:
    """The jobs, with profiles where there are: the evaluation says in its notes which predictors lack them."""
    own = settings.estimates
    jobs = learned_jobs(bench, entry, questions.LEARNED, own.unfinished, own.latest_runs)
    learned = with_profiles(bench, entry, settings.profiles, jobs, progress, needed=False)

    def read() -> Mapping[str, pd.DataFrame]:
        if not settings.tested:
            return learned()
        tested = learned_jobs(bench, bench._jobs_of(settings.tested), questions.LEARNED, LEFT_OUT)
        return {**learned(), "test": tested()}

    return read


def _clustering(_: Any, __: Dataset, settings: DurationSettings, fit: ProfileSettings | None) -> ProfileSettings | None:
    return (fit or ProfileSettings()) if settings.by == PROFILE else None


def _duration_frames(
    bench: Any, entry: Dataset, settings: DurationSettings, fit: ProfileSettings | None, progress: Progress | None
) -> Frames:
    columns = questions.OBSERVED_DURATIONS.columns(settings) or ()
    frames: Frames = bench.frames_of(entry, columns, every=True)
    if fit is None:
        return frames
    return with_profiles(bench, entry, fit, lambda: frames()["jobs"], progress, needed=progress is None)


def _explained(
    bench: Any, entry: Dataset, settings: ExplanationSettings, _: object, progress: Progress
) -> GlobalExplanation:
    """Mean |SHAP| of a forecaster, trained first where none is cached, over a sample of the dataset's jobs."""
    step = questions.EXPLAIN.step
    key = step.key(entry.hash, settings)
    with bench._cache.lock(key):
        cached: GlobalExplanation | None = bench._cache.get(key, GlobalExplanation)
        if cached is not None:
            return cached
        classifier = LoadedClassifier(bench.forecaster(entry.hash, settings.forecaster, progress).classifier)
        jobs = finished_jobs(bench, entry, questions.LEARNED, settings.forecaster.classifier.latest_runs)()
        made = explain_all(classifier, jobs, settings.n_sampled, settings.forecaster.classifier.seed, progress)
        words = {one.name: one.source for one in bench.columns(entry.hash) if one.source}
        made = replace(made, words={name: words[name] for name in made.fields if name in words})
        bench._cache.put(key, made, about(step, key, entry.name, settings, made.seconds))
    return made


def _not_in_a_child(*_: Any) -> Frames:
    raise WorkprofError("a trained forecaster is explained here, not in the background; call for the result itself")


class ForecastQuestions(SweepQuestions):
    """The questions of the Classify and Durations pages and of their commands."""

    observed_durations = ask(questions.OBSERVED_DURATIONS, fit=_clustering, frames=_duration_frames)
    forecaster = ask(questions.FORECASTER, resolve=resolved_forecaster, frames=_labelled)
    held_out = ask(questions.HELD_OUT, resolve=resolved_forecaster, frames=_labelled)
    classifier_evaluation = ask(questions.EVALUATE_CLASSIFIER, resolve=_classifier, frames=_labelled)
    classifier_alternatives = ask(questions.ALTERNATIVES, resolve=_alternatives, frames=_compared)
    embeddings = ask(questions.EMBEDDINGS, resolve=fit_in_rows)
    global_explanation = ask(questions.EXPLAIN, resolve=_explanation, frames=_not_in_a_child, shortcut=_explained)
    estimate_evaluation = ask(questions.EVALUATE_ESTIMATES, resolve=_evaluation, frames=_evaluation_frames)

    def estimate_evaluations(self, dataset: str, settings: EstimateEvaluationSettings) -> dict[str, EstimateEvaluation]:
        """The evaluations that are cached under each split, all other settings as given; computes nothing."""
        evaluations = {}
        for split in SPLITS:
            one = replace(settings, estimates=replace(settings.estimates, split=split))
            if (result := self.estimate_evaluation.cached(dataset, one).result) is not None:
                evaluations[split] = result
        return evaluations

    def __init__(self, settings: Settings) -> None:
        """Open the home folder."""
        super().__init__(settings)
        self._loaded: dict[str, LoadedForecaster] = {}

    def loaded_forecaster(self, dataset: str, settings: ForecasterSettings) -> LoadedForecaster:
        """The forecaster with its trees in memory; the last few stay there.

        Raises NotEnoughData when it was not trained yet.
        """
        result = self.forecaster.cached(dataset, settings)
        if result.result is None:
            raise NotEnoughData("no forecaster is trained with these settings; train it first")
        return self._in_memory(result.key, result.result)

    def loaded_held_out(self, dataset: str, settings: ForecasterSettings) -> LoadedHeldOut | None:
        """The held-out runs with the forecaster that did not see them, its trees in memory; None = not made."""
        result = self.held_out.cached(dataset, settings)
        if result.result is None:
            return None
        return LoadedHeldOut(result.result, self._in_memory(result.key, result.result.forecaster))

    def recent_job(self, dataset: str, clustering: ProfileSettings) -> int:
        """The row id of the finished job with a profile that was submitted last; without times the last row.

        Where no job has a profile, or none was found yet, it is the last of all.

        Raises NoRows when the dataset has no finished job.
        """
        entry = self._jobs_of(dataset)
        jobs = self.frames_of(entry, questions.LEARNED)()["jobs"]
        result = self.profiles.cached(entry.hash, clustering).result
        if result is not None:
            inside = jobs[jobs["row_id"].isin(result.row_ids[result.labels != NO_PROFILE])]
            jobs = inside if len(inside) else jobs
        if not len(jobs):
            raise NoRows(f"dataset {entry.name} has no finished job")
        for name in SUBMITTED:
            if name in jobs.columns and bool(jobs[name].notna().any()):
                return int(jobs["row_id"].iloc[int(np.nanargmax(numbers_of(jobs, name)))])
        return int(jobs["row_id"].iloc[-1])

    def _in_memory(self, key: str, forecaster: Forecaster) -> LoadedForecaster:
        with self._cache.lock(f"{key} in memory"):  # seconds at first, once: others wait for the same one only
            loaded = self._loaded.get(key) or LoadedForecaster(forecaster)
            with self._guard:
                self._loaded.pop(key, None)
                self._loaded[key] = loaded
                while len(self._loaded) > LOADED_AT_MOST:
                    self._loaded.pop(next(iter(self._loaded)))
        return loaded

    def past_jobs(self, dataset: str, row_ids: Sequence[int]) -> pd.DataFrame:
        """Rows of a dataset, in the order of the ids: metadata, times, needs and what tells lower bounds of these."""
        jobs = self.frames_of(self._jobs_of(dataset), (*questions.LEARNED, *BOUNDS), every=True)()["jobs"]
        return jobs.assign(**{KILLS: was_killed_for_memory(jobs)}).set_index("row_id").loc[list(row_ids)].reset_index()

    def forecast_job(
        self, dataset: str, values: Mapping[str, str], settings: ForecasterSettings, progress: Progress = silent
    ) -> tuple[JobForecast, ...]:
        """What is said of one job, given as field = value; the forecaster is trained where none is kept.

        Raises:
            SettingsError: for a field that is not known at submission.
            TraceError: when a number is none.
        """
        entry = self._jobs_of(dataset)
        given = self.new_jobs(entry.hash, pd.DataFrame({name: [value] for name, value in values.items()}))
        if given.unknown:
            raise SettingsError(
                f"{', '.join(given.unknown)} is not known at submission; use {', '.join(SUBMIT_FIELDS)}"
                f"{near(given.unknown[0], SUBMIT_FIELDS)}"
            )
        self.forecaster(entry.hash, settings, progress)
        loaded = self.loaded_forecaster(entry.hash, settings)
        return tuple(job_forecasts(loaded, given.jobs, EXPLAINED_ROWS))

    def forecast_file(
        self, dataset: str, jobs: Path | str, settings: ForecasterSettings, progress: Progress = silent
    ) -> FileForecasts:
        """What is said of every job of a CSV file, or of another dataset, answered 20,000 rows at a time.

        The jobs are read and checked before anything is trained. Of a dataset they are as they were submitted, those
        without an end too.

        Raises NoRows, TraceError and ColumnMissing when the jobs cannot be used.
        """
        entry = self._jobs_of(dataset)
        read = [self.new_jobs(entry.hash, part) for part in self._parts_of(jobs)]
        n_rows = sum(len(part.jobs) for part in read)
        self.forecaster(entry.hash, settings, progress)
        loaded = self.loaded_forecaster(entry.hash, settings)
        result: list[JobForecast] = []
        for part in read:
            progress(len(result) / n_rows, f"{len(result):,} of {n_rows:,} jobs answered")
            result += job_forecasts(loaded, part.jobs, EXPLAINED_ROWS - len(result))
        progress(1.0, f"{n_rows:,} jobs answered")
        return FileForecasts(tuple(result), read[0].unknown)

    def _parts_of(self, jobs: Path | str) -> Iterator[pd.DataFrame]:
        if os.path.exists(jobs):  # noqa: PTH110  a text that can be no path names a dataset
            return read_new_jobs(Path(jobs))
        try:
            entry = self._jobs_of(str(jobs))
        except DatasetUnknown as error:
            raise TraceError(f"{jobs}: no such file, and {error}; give a CSV file of jobs or a dataset") from error
        table = self.frames_of(entry, (*SUBMIT_FIELDS, *SUBMITTED), every=True)()["jobs"].drop(columns="finished")
        return (table.iloc[start : start + CHUNK_ROWS] for start in range(0, len(table), CHUNK_ROWS))

    def new_jobs(self, dataset: str, table: pd.DataFrame) -> NewJobs:
        """New jobs under the fields' names: the table may use those or the names of the dataset's trace.

        Raises:
            ColumnMissing: when no column is known at submission.
            TraceError: when a number is none.
        """
        report = self.ingest_report(self._jobs_of(dataset).hash)
        return named_jobs(table, FieldNames.of_trace((*SUBMIT_FIELDS, *SUBMITTED), report.format, report.mapping))

    def search_jobs(self, dataset: str, text: str, limit: int = 20) -> pd.DataFrame:
        """Finished jobs with `row_id` and their metadata whose fields hold every word of a text.

        A whole number also finds the row of that number, as the first.

        Raises:
            ColumnMissing: when the dataset has no metadata to search.
            SettingsError: when the limit or the text is out of bounds.
        """
        entry = self._jobs_of(dataset)
        present = {column.name for column in self._store.columns(entry.hash) if not column.numeric}
        fields = [name for name in METADATA_FIELDS if name in present]
        if not fields:
            raise ColumnMissing(f"dataset {entry.name} has none of {', '.join(METADATA_FIELDS)}; nothing to search in")
        return self._store.search_jobs(entry.hash, fields, text, limit)

    def random_job(self, dataset: str, seed: int) -> int:
        """The row id of a finished job drawn with a seed; raises NoRows when the dataset has no finished job."""
        entry = self._jobs_of(dataset)
        position = int(np.random.default_rng(seed).integers(max(entry.finished_rows, 1)))
        return self._store.nth_finished(entry.hash, position)
