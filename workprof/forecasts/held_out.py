"""What a forecaster predicts for jobs that it has never seen: the example that a reader can check.

One job in twenty is held out whole, with all its runs, and a forecaster of the same settings is trained on the others.
It learns duration and memory only: each quantity costs about a quarter of a training.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, latest_of, numbers_of
from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.forecasts.classifier import LABEL, UNIT_COLUMNS
from workprof.forecasts.errors import side_of
from workprof.forecasts.estimates import is_bound
from workprof.forecasts.forecaster import (
    Forecaster,
    ForecasterSettings,
    Forecasts,
    LoadedForecaster,
    train_forecaster,
)
from workprof.forecasts.splits import holdout

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.05
"""Of the jobs."""

TARGETS = ("duration_s", "peak_memory_bytes")


@dataclass(frozen=True)
class Compared:
    """A quantity of the held-out runs, as predicted and as it was, in the quantity's unit."""

    point: Floats  # (n_held_out,) in the order of `HeldOut.row_ids`
    low: Floats  # (n_held_out,) lower end of the interval
    high: Floats  # (n_held_out,) upper end
    actual: Floats  # (n_held_out,) NaN = not known, or known as a lower bound alone

    @property
    def inside(self) -> Bools:
        """(n_held_out,) whether the run needed what its interval holds."""
        held: Bools = side_of(self.low, self.high, self.actual) == 0
        return held

    @property
    def hit_rate(self) -> float:
        """The share of the known ones inside their intervals, NaN where none is known."""
        known = np.isfinite(self.actual)
        return float(self.inside[known].mean()) if known.any() else math.nan


@dataclass(frozen=True, repr=False)
class HeldOut(Shown):
    """A forecaster and the runs of the jobs that its training did not see."""

    settings: ForecasterSettings  # as given
    forecaster: Forecaster  # trained without those jobs, of `TARGETS`
    split: str  # 'by_job'; 'random' where jobs have no names, so that single runs are held out
    row_ids: Ints  # (n_held_out,) rising: the store's ids of the runs held out
    compared: dict[str, Compared]  # target -> its prediction and the fact of each of them
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
    test = test.sort_values("row_id", kind="stable")
    forecasts = LoadedForecaster(forecaster).forecast(test)
    compared = {
        target: Compared(
            one.point, one.low, one.high, np.where(is_bound(test, target), np.nan, numbers_of(test, target))
        )
        for target, one in forecasts.estimates.items()
    }
    return HeldOut(
        settings=settings,
        forecaster=forecaster,
        split=split,
        row_ids=test["row_id"].to_numpy(dtype=np.int64),
        compared=compared,
        example=_example(forecasts, compared, test),
        n_train=len(train),
        seconds=forecaster.seconds,
    )


def _example(forecasts: Forecasts, compared: Mapping[str, Compared], test: pd.DataFrame) -> int:
    """The row id of the run whose duration error is the median of those that are typical.

    Typical: with a predicted profile, and inside every interval; where none is, inside none is looked at, then neither.
    Without durations it is the one of median probability. Of equal ones it is the first.
    """
    predicted = ~forecasts.profiles.abstained
    inside = np.ones(len(test), dtype=bool)
    for one in compared.values():
        inside &= one.inside | ~np.isfinite(one.actual)
    measure = forecasts.profiles.probability
    if TARGETS[0] in compared:
        one = compared[TARGETS[0]]
        with np.errstate(divide="ignore", invalid="ignore"):
            measure = np.abs(np.log(one.point / one.actual))
    usable = np.isfinite(measure)
    among = next((at for at in (usable & predicted & inside, usable & predicted) if at.any()), np.ones_like(usable))
    order = np.flatnonzero(among)[np.argsort(measure[among], kind="stable")]
    return int(test["row_id"].iloc[int(order[(len(order) - 1) // 2])])
