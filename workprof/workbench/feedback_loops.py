"""What every question of a feedback loop stands on: its state, its model in use, the frames of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pandas as pd

from workprof.errors import NotEnoughData
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.feedback.assignment import TIMES
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.feedback.model import FeedbackModel, FinishedJobs, Refit, RefitSettings, with_finished
from workprof.forecasts.feedback.windows import FeedbackState, start, start_again
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.progress import Progress
from workprof.records import canonical_json, digest
from workprof.steps import Request, Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Frames
from workprof.workbench.forecasts import LOADED_AT_MOST, ForecastQuestions

MODEL = Step("profiles.feedback_model", 1, "workprof.forecasts.feedback.model:build_feedback_model")
REFIT = Step("profiles.feedback_refit", 1, "workprof.forecasts.feedback.model:refit")


@dataclass(frozen=True)
class Loop:
    """One loop: its dataset, settings with nothing left open, and the names under which its state is kept."""

    entry: Dataset
    settings: FeedbackSettings
    digest: str

    @property
    def forecaster(self) -> ForecasterSettings:
        """Settings of the forecaster that is followed."""
        return self.settings.forecaster

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


class FeedbackLoops(ForecastQuestions):
    """Loops, each named by its dataset and the settings of the forecaster that it follows."""

    def _loop(self, dataset: str, settings: FeedbackSettings | None) -> Loop:
        entry, given = self.dataset(dataset), settings or FeedbackSettings()
        asked = self._forecaster_settings(entry, given.forecaster)
        return Loop(entry, replace(given, forecaster=asked), digest(canonical_json(asked)))

    def _followed_profiles(self, loop: Loop) -> ProfileSettings:
        return loop.forecaster.classifier.profiles

    def _in_use(self, loop: Loop) -> InUse:
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        made = self._cache.get(state.model_key, Refit) if state and state.model_key else None
        if state and made:
            return InUse(state, made.model, self._loaded_refit(state.model_key, made))
        own = self._answer(MODEL, loop.entry, loop.forecaster, FeedbackModel).result
        if own is None:
            raise NotEnoughData("what finished jobs are compared with is not kept; make it first")
        again = bool(state and state.model_key)
        if state and again:
            state = start_again(state, own, "", now())
        return InUse(state or start(own, now()), own, self._own_forecaster(loop), again)

    def _kept_model(self, loop: Loop, state: FeedbackState) -> FeedbackModel | None:
        if state.model_key:
            made = self._cache.get(state.model_key, Refit)
            return made.model if made else None
        return self._answer(MODEL, loop.entry, loop.forecaster, FeedbackModel).result

    def _own_forecaster(self, loop: Loop) -> LoadedForecaster:
        return self.loaded_forecaster(loop.entry.hash, loop.forecaster)

    def _loaded_refit(self, key: str, made: Refit) -> LoadedForecaster:
        with self._guard:
            found = self._loaded.pop(key, None) or LoadedForecaster(made.forecaster)
            self._loaded[key] = found
            while len(self._loaded) > LOADED_AT_MOST:
                self._loaded.pop(next(iter(self._loaded)))
        return found

    def _observed_state(self, loop: Loop) -> FeedbackState:
        state = self._store.feedback(loop.entry.hash, loop.digest, FeedbackState)
        if state is None:
            raise NotEnoughData("no finished job was observed yet; observe some first")
        return state

    def _refit_request(self, loop: Loop) -> Request:
        observed = digest(",".join(self._observed_state(loop).files))
        return self._request(REFIT, loop.entry, RefitSettings(loop.forecaster, observed))

    def _all_jobs(self, loop: Loop) -> Frames:
        """Return a function that reads the dataset's jobs and the finished ones that are kept."""

        def read() -> Mapping[str, pd.DataFrame]:
            kept = self._store.finished_jobs(loop.entry.hash, loop.digest, FinishedJobs)
            return {"jobs": with_finished(self._store.frame(loop.entry.hash, self._followed_columns(loop)), kept)}

        return read

    def _labelled_jobs(self, loop: Loop, progress: Progress) -> Frames:
        def read() -> Mapping[str, pd.DataFrame]:
            found = self.profiles(loop.entry.hash, self._followed_profiles(loop), progress)
            jobs = self._store.frame(loop.entry.hash, self._followed_columns(loop))
            return {"jobs": jobs.assign(profile=jobs["row_id"].map(pd.Series(found.labels, index=found.row_ids)))}

        return read

    def _followed_columns(self, loop: Loop) -> tuple[str, ...]:
        """Return the columns that profiles, forecaster and comparison need, as far as the dataset has them."""
        features = self._followed_profiles(loop).features
        present = {column.name for column in self._store.columns(loop.entry.hash)}
        wanted = [*FEATURE_SETS.get(features[0], features), *SUBMIT_FIELDS, *TIMES, "duration_s", *TARGETS]
        return tuple(name for name in dict.fromkeys(wanted) if name in present)


def now() -> str:
    """Return the time as the history keeps it: ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
