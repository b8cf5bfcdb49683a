"""Forecasts of a table of new jobs, beside the jobs themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workprof.core.causes import LOWER_BOUND
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.forecaster import Forecaster, ForecasterSettings, Forecasts, part_of, train_forecaster
from workprof.profiles.fit import ProfileFit, fit_profiles, labelled
from workprof.profiles.names import shown_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class JobForecasts(Shown):
    """What is predicted of new jobs."""

    jobs: pd.DataFrame  # the new jobs, one row each, under the names of the fields
    # profiles and, by target, estimates with intervals; bytes, seconds, percent of one core or GPU
    forecasts: Forecasts
    fit: ProfileFit  # the clustering that the profiles are of
    forecaster: Forecaster  # what was trained; it is reused by `workprof.forecasts.forecaster.LoadedForecaster`
    notes: tuple[str, ...] = ()  # columns and rows that were not used, in words

    @property
    def names(self) -> Mapping[int, str]:
        """Profile -> its name."""
        return shown_names(self.fit.cards, self.fit.typical_names)


FIT_SHARE = 0.3
"""Of the whole, as progress tells it."""


def learn_jobs(
    train: pd.DataFrame, settings: ForecasterSettings, progress: Progress = silent
) -> tuple[ProfileFit, Forecaster]:
    """The profiles of finished jobs, and a forecaster that learned them.

    `train` has `row_id`, the features of the profiles, submit-time fields and what is estimated, as `runs_to_learn`
    gives them; profiles are of the finished ones.

    Raises:
        ColumnMissing: when it lacks what is learned from.
        NotEnoughData: with too few rows or profiles.
    """
    finished = train[train["finished"].to_numpy(dtype=bool)].drop(columns=["finished", LOWER_BOUND])
    jobs = {"jobs": finished.reset_index(drop=True)}
    fit = fit_profiles(jobs, settings.classifier.profiles, part_of(progress, 0.0, FIT_SHARE))
    return fit, train_forecaster({"jobs": labelled(train, fit)}, settings, part_of(progress, FIT_SHARE, 1.0))
