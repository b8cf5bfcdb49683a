"""Questions about jobs before they run: their profile, what they will need, and how far to believe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from workprof.errors import ColumnMissing, NotEnoughData
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import TARGETS, EstimateEvaluationSettings
from workprof.forecasts.forecaster import Forecaster, ForecasterSettings, LoadedForecaster
from workprof.jobs import JobView
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress, silent
from workprof.settings import Settings
from workprof.steps import Request, Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames
from workprof.workbench.sweeps import SweepQuestions

TRAIN = Step("profiles.forecaster", 1, "workprof.forecasts.forecaster:train_forecaster")
CLASSIFIER = Step("profiles.classifier_evaluation", 1, "workprof.forecasts.classifier_evaluation:evaluate_classifier")
ESTIMATES = Step("profiles.estimate_evaluation", 1, "workprof.forecasts.estimate_evaluation:run_evaluation")

TIMES = ("submit_time_s", "start_time_s")
LOADED_AT_MOST = 4
"""Forecasters with their trees in memory."""


class ForecastQuestions(SweepQuestions):
    """The questions of the Classify and Durations pages."""

    def __init__(self, settings: Settings) -> None:
        """Open the home folder."""
        super().__init__(settings)
        self._loaded: dict[str, LoadedForecaster] = {}

    def forecaster(
        self, dataset: str, settings: ForecasterSettings | None = None, progress: Progress = silent
    ) -> Forecaster:
        """Return a trained forecaster: kept, or trained here and now (profiles too, where they are not kept)."""
        entry = self._jobs_of(dataset)
        asked = self._forecaster_settings(entry, settings or ForecasterSettings())
        frames = self._labelled(entry, asked.classifier.profiles, progress)
        return self._blocking(self._request(TRAIN, entry, asked), Forecaster, frames, progress)

    def forecaster_answer(self, dataset: str, settings: ForecasterSettings) -> Answer[Forecaster]:
        """Return the kept forecaster, and the job that trains it, without computing anything."""
        entry = self._jobs_of(dataset)
        return self._answer(TRAIN, entry, self._forecaster_settings(entry, settings), Forecaster)

    def start_forecaster(self, dataset: str, settings: ForecasterSettings) -> JobView:
        """Start the training in a child process.

        Raises:
            NotEnoughData: when the profiles that it learns are not kept; find them first.
        """
        entry = self._jobs_of(dataset)
        asked = self._forecaster_settings(entry, settings)
        return self._start(self._request(TRAIN, entry, asked), entry, asked.classifier.profiles)

    def loaded_forecaster(self, dataset: str, settings: ForecasterSettings) -> LoadedForecaster:
        """Return the forecaster with its trees in memory; the last few stay there.

        Raises:
            NotEnoughData: when it was not trained yet.
        """
        answer = self.forecaster_answer(dataset, settings)
        if answer.result is None:
            raise NotEnoughData("no forecaster is trained with these settings; train it first")
        with self._guard:
            found = self._loaded.pop(answer.key, None)
        found = found or LoadedForecaster(answer.result)  # seconds at first: nobody else waits for that
        with self._guard:
            self._loaded[answer.key] = found
            while len(self._loaded) > LOADED_AT_MOST:
                self._loaded.pop(next(iter(self._loaded)))
        return found

    def classifier_evaluation(
        self, dataset: str, settings: ClassifierSettings | None = None, progress: Progress = silent
    ) -> ClassifierEvaluation:
        """Return the classifier's scores under every split."""
        entry = self._jobs_of(dataset)
        asked = self._classifier_settings(entry, settings or ClassifierSettings())
        frames = self._labelled(entry, asked.profiles, progress)
        return self._blocking(self._request(CLASSIFIER, entry, asked), ClassifierEvaluation, frames, progress)

    def classifier_evaluation_answer(self, dataset: str, settings: ClassifierSettings) -> Answer[ClassifierEvaluation]:
        """Return the kept scores and their job."""
        entry = self._jobs_of(dataset)
        return self._answer(CLASSIFIER, entry, self._classifier_settings(entry, settings), ClassifierEvaluation)

    def start_classifier_evaluation(self, dataset: str, settings: ClassifierSettings) -> JobView:
        """Start the evaluation in a child process.

        Raises:
            NotEnoughData: when the profiles are not kept; find them first.
        """
        entry = self._jobs_of(dataset)
        asked = self._classifier_settings(entry, settings)
        return self._start(self._request(CLASSIFIER, entry, asked), entry, asked.profiles)

    def estimate_evaluation(
        self, dataset: str, settings: EstimateEvaluationSettings | None = None, progress: Progress = silent
    ) -> EstimateEvaluation:
        """Return the errors of every predictor; `settings.tested` names the dataset that is tested on, if any."""
        entry = self._jobs_of(dataset)
        asked = self._evaluation_settings(entry, settings or EstimateEvaluationSettings())
        request = self._request(ESTIMATES, entry, asked)
        return self._blocking(request, EstimateEvaluation, self._evaluation_frames(entry, asked, progress), progress)

    def estimate_evaluation_answer(
        self, dataset: str, settings: EstimateEvaluationSettings
    ) -> Answer[EstimateEvaluation]:
        """Return the kept errors and their job."""
        entry = self._jobs_of(dataset)
        return self._answer(ESTIMATES, entry, self._evaluation_settings(entry, settings), EstimateEvaluation)

    def start_estimate_evaluation(self, dataset: str, settings: EstimateEvaluationSettings) -> JobView:
        """Start the evaluation in a child process; predictors that use profiles take part where these are kept."""
        entry = self._jobs_of(dataset)
        asked = self._evaluation_settings(entry, settings)
        kept = self.profiles.cached(entry.hash, asked.profiles).result
        frames = self._evaluation_frames(entry, asked, silent, kept or False)
        return self._jobs.start(self._request(ESTIMATES, entry, asked), frames)

    def past_jobs(self, dataset: str, row_ids: Sequence[int]) -> pd.DataFrame:
        """Return rows of a dataset with their metadata, times and needs, in the order of the ids."""
        entry = self._jobs_of(dataset)
        jobs = self._jobs_frame(entry).set_index("row_id")
        return jobs.loc[list(row_ids)].reset_index()

    def _start(self, request: Request, entry: Dataset, profiles: ProfileSettings) -> JobView:
        kept = self.profiles.cached(entry.hash, profiles).result
        if kept is None:
            raise NotEnoughData("the profiles that this learns are not there yet; find profiles first")
        return self._jobs.start(request, self._with_labels(entry, kept))

    def _forecaster_settings(self, entry: Dataset, settings: ForecasterSettings) -> ForecasterSettings:
        return replace(settings, classifier=self._classifier_settings(entry, settings.classifier))

    def _classifier_settings(self, entry: Dataset, settings: ClassifierSettings) -> ClassifierSettings:
        fields = self._store.resolve(entry.hash, settings.fields) if settings.fields else ()
        return replace(settings, profiles=self.profiles.resolved(entry.hash, settings.profiles), fields=tuple(fields))

    def _evaluation_settings(self, entry: Dataset, settings: EstimateEvaluationSettings) -> EstimateEvaluationSettings:
        tested = self._jobs_of(settings.tested).hash if settings.tested else ""
        return replace(settings, profiles=self.profiles.resolved(entry.hash, settings.profiles), tested=tested)

    def _labelled(self, entry: Dataset, profiles: ProfileSettings, progress: Progress) -> Frames:
        """Return a function that finds the profiles where they are not kept, and reads the jobs with them."""

        def read() -> Mapping[str, pd.DataFrame]:
            return self._with_labels(entry, self.profiles(entry.hash, profiles, progress))()

        return read

    def _with_labels(self, entry: Dataset, found: ProfileFit) -> Frames:
        def read() -> dict[str, pd.DataFrame]:
            jobs = self._jobs_frame(entry)
            labels = pd.Series(found.labels, index=found.row_ids)
            return {"jobs": jobs.assign(profile=jobs["row_id"].map(labels))}

        return read

    def _evaluation_frames(
        self,
        entry: Dataset,
        asked: EstimateEvaluationSettings,
        progress: Progress,
        profiles: ProfileFit | bool = True,
    ) -> Frames:
        """Return a function that reads the jobs, with profiles where there are (True: where they can be found)."""

        def read() -> dict[str, pd.DataFrame]:
            found = self._profiles_if_any(entry, asked.profiles, progress) if profiles is True else profiles
            if isinstance(found, ProfileFit):
                frames = dict(self._with_labels(entry, found)())
            else:
                frames = {"jobs": self._jobs_frame(entry)}
            if asked.tested:
                frames["test"] = self._jobs_frame(self._jobs_of(asked.tested))
            return frames

        return read

    def _profiles_if_any(self, entry: Dataset, settings: ProfileSettings, progress: Progress) -> ProfileFit | bool:
        try:
            return self.profiles(entry.hash, settings, progress)
        except (ColumnMissing, NotEnoughData):
            return False  # the evaluation says in its notes that predictors from profiles are left out

    def _jobs_frame(self, entry: Dataset) -> pd.DataFrame:
        present = {column.name for column in self._store.columns(entry.hash)}
        wanted = dict.fromkeys([*SUBMIT_FIELDS, *TIMES, "duration_s", *TARGETS])
        return self._store.frame(entry.hash, [name for name in wanted if name in present])
