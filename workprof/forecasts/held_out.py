"""What a forecaster predicts for jobs that it has never seen: the example that a reader can check.

One job in twenty is held out whole, with all its runs, and a forecaster of the same settings is trained on the others.
It learns duration and memory only: each quantity costs about a quarter of a training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Ints, latest_of, numbers_of
from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.classifier import LABEL, UNIT_COLUMNS
from workprof.forecasts.forecaster import Forecaster, ForecasterSettings, LoadedForecaster, train_forecaster
from workprof.forecasts.splits import holdout

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.05
"""Of the jobs."""

TARGETS = ("duration_s", "peak_memory_bytes")


@dataclass(frozen=True, repr=False)
class HeldOut(Shown):
    """A forecaster and the runs of the jobs that its training did not see."""

    settings: ForecasterSettings  # as given
    forecaster: Forecaster  # trained without those jobs, of `TARGETS`
    split: str  # 'by_job'; 'random' where jobs have no names, so that single runs are held out
    row_ids: Ints  # (n_held_out,) rising: the store's ids of the runs held out
    example: int  # one of them: a typical one (see `_example`)
    n_train: int  # runs that the forecaster learned from
    seconds: float  # of training


def hold_out(frames: Mapping[str, pd.DataFrame], settings: ForecasterSettings, progress: Progress = silent) -> HeldOut:
    """A forecaster of `frames["jobs"]` with its column 'profile', trained without one job in twenty.

    Every job has the same chance to be held out, whatever its number of runs.

    Raises:
        ColumnMissing: without profiles or any submit-time field.
        NotEnoughData: with too few rows, jobs or profiles.
    """
    jobs, _ = latest_of(frames["jobs"], settings.classifier.latest_runs)
    split = "by_job" if UNIT_COLUMNS[0] in jobs.columns else "random"
    fold = holdout(jobs, split, SHARE, settings.classifier.seed)
    train, test = jobs.iloc[fold.train], jobs.iloc[fold.test]
    test = test[test[LABEL].notna()]
    if not len(test):
        raise NotEnoughData("no run of the held-out jobs was clustered; there is no example to predict")
    forecaster = train_forecaster({"jobs": train}, settings, progress, TARGETS)
    return HeldOut(
        settings=settings,
        forecaster=forecaster,
        split=split,
        row_ids=np.sort(test["row_id"].to_numpy(dtype=np.int64)),
        example=_example(forecaster, test),
        n_train=len(train),
        seconds=forecaster.seconds,
    )


def _example(forecaster: Forecaster, test: pd.DataFrame) -> int:
    """The row id of the run with a predicted profile whose duration error is the median of all such runs.

    So the example is as far off as half of the runs are; without durations it is the one of median probability. It is
    not chosen by whether its profile is right. Of equal ones it is the first.
    """
    forecasts = LoadedForecaster(forecaster).forecast(test)
    predicted = ~forecasts.profiles.abstained
    measure = forecasts.profiles.probability
    if TARGETS[0] in forecasts.estimates:
        actual, point = numbers_of(test, TARGETS[0]), forecasts.estimates[TARGETS[0]].point
        with np.errstate(divide="ignore", invalid="ignore"):
            measure = np.abs(np.log(point / actual))
    usable = np.isfinite(measure)
    among = np.flatnonzero(usable & predicted) if (usable & predicted).any() else np.arange(len(test))
    order = among[np.argsort(measure[among], kind="stable")]
    return int(test["row_id"].iloc[int(order[(len(order) - 1) // 2])])
