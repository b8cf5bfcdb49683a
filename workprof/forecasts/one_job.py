"""What is said of single jobs: a profile, what each will need, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.forecasts.candidates import LEVELS
from workprof.forecasts.estimates import Estimates
from workprof.forecasts.explain import JobExplanation
from workprof.forecasts.forecaster import Forecasts, LoadedForecaster

if TYPE_CHECKING:
    import pandas as pd

SHOWN = np.searchsorted(np.round(LEVELS, 2), (0.1, 0.5, 0.9))
"""Positions of the shown quantiles in `LEVELS`."""


@dataclass(frozen=True)
class Need:
    """An estimate of one target for one job, in the target's unit."""

    point: float  # best guess in the sense of a small ratio error
    p10: float
    p50: float
    p90: float
    low: float  # ends of the interval that covers as promised
    high: float
    predictor: str  # what gave the point, chosen on validation runs at training


@dataclass(frozen=True)
class JobForecast:
    """What is said of one job."""

    profile: int  # the answer; -1 where it abstains
    probability: float  # of the most likely profile
    top: tuple[tuple[int, float], ...]  # up to three (profile, probability), likeliest first
    abstained: bool  # whether no profile is given
    reason: str  # why not; empty where one is
    needs: dict[str, Need]  # target -> estimate
    explanation: JobExplanation | None  # SHAP values of the most likely class; None where nobody asked


def job_forecasts(loaded: LoadedForecaster, jobs: pd.DataFrame, explained: int) -> Iterator[JobForecast]:
    """Yield what is said of each job, the first `explained` with SHAP values."""
    forecasts = loaded.forecast(jobs)
    for row in range(len(jobs)):
        yield job_forecast(forecasts, row, loaded.explain(jobs.iloc[[row]]) if row < explained else None)


def job_forecast(forecasts: Forecasts, row: int, explanation: JobExplanation | None) -> JobForecast:
    """One row of the forecasts."""
    profiles = forecasts.profiles
    top = zip(profiles.top[row], profiles.top_probability[row], strict=True)
    return JobForecast(
        profile=int(profiles.profile[row]),
        probability=float(profiles.probability[row]),
        top=tuple((int(profile), float(probability)) for profile, probability in top),
        abstained=bool(profiles.abstained[row]),
        reason=profiles.reason_text(row),
        needs={target: _need(result, row) for target, result in forecasts.estimates.items()},
        explanation=explanation,
    )


def _need(result: Estimates, row: int) -> Need:
    low, middle, high = result.quantiles[row, SHOWN].tolist()
    ends = float(result.low[row]), float(result.high[row])
    return Need(float(result.point[row]), low, middle, high, *ends, result.predictor)
