"""What the classifier looks at over all jobs, kept like every other result."""

from __future__ import annotations

from dataclasses import dataclass, field

from workprof.errors import NotEnoughData
from workprof.forecasts.classifier import LoadedClassifier
from workprof.forecasts.explain import SAMPLE_ROWS, GlobalExplanation, explain_all
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.workbench.forecasts import ForecastQuestions

EXPLAIN = Step("profiles.explain_all", 1, "workprof.forecasts.explain:explain_all")


@dataclass(frozen=True)
class ExplanationSettings:
    """Settings of a global explanation: the forecaster that is explained, and the rows that are drawn."""

    forecaster: ForecasterSettings = field(default_factory=ForecasterSettings)
    n_sampled: int = SAMPLE_ROWS


class ExplanationQuestions(ForecastQuestions):
    """The question of the global SHAP figures."""

    def global_explanation(
        self, dataset: str, settings: ExplanationSettings, progress: Progress = silent
    ) -> GlobalExplanation:
        """Return mean |SHAP| over a sample of the dataset's jobs: kept, or computed here and now.

        Raises:
            NotEnoughData: when no forecaster is trained with these settings.
            SettingsError: for a sample out of bounds.
        """
        entry = self._jobs_of(dataset)
        key = self._explanation_key(entry.hash, settings)
        with self._cache.lock(key):
            kept = self._cache.get(key, GlobalExplanation)
            if kept is not None:
                return kept
            trained = self.forecaster_answer(entry.hash, settings.forecaster).result
            if trained is None:
                raise NotEnoughData("no forecaster is trained with these settings; train it first")
            loaded, seed = LoadedClassifier(trained.classifier), settings.forecaster.classifier.seed
            made = explain_all(loaded, self._jobs_frame(entry), settings.n_sampled, seed, progress)
            self._cache.put(key, made, EXPLAIN.about(key, entry.name, settings, made.seconds))
        return made

    def kept_global_explanation(self, dataset: str, settings: ExplanationSettings) -> GlobalExplanation | None:
        """Return the same where it is kept, without computing anything."""
        return self._cache.get(self._explanation_key(dataset, settings), GlobalExplanation)

    def _explanation_key(self, dataset: str, settings: ExplanationSettings) -> str:
        entry = self._jobs_of(dataset)
        resolved = self._forecaster_settings(entry, settings.forecaster)
        return EXPLAIN.key(entry.hash, ExplanationSettings(resolved, settings.n_sampled))
