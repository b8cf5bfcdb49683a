"""What every part of the Classify page needs."""

from __future__ import annotations

from dataclasses import dataclass

from pages._frame.visit import Visit
from workprof.charts.classify.job import Naming
from workprof.forecasts.classifier import ClassifierModel
from workprof.forecasts.forecaster import ForecasterSettings, LoadedForecaster
from workprof.store.reports import Dataset


@dataclass(frozen=True)
class View:
    """A trained forecaster on the page: where it comes from, what it says, and what its profiles are called."""

    visit: Visit
    dataset: Dataset
    settings: ForecasterSettings
    loaded: LoadedForecaster
    naming: Naming

    @property
    def model(self) -> ClassifierModel:
        """The classifier."""
        return self.loaded.forecaster.classifier
