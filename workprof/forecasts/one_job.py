"""What is said of single jobs: a profile, what each will need, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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
    covers: float  # share that the interval can promise, 0-1: of few past jobs less than what is asked
    calibrated: bool  # whether p10, p50 and p90 hold for new jobs; forward in time they are as trained
    bounded: bool  # whether the point is kept between p10 and p90; else errors are clearly smaller without


@dataclass(frozen=True)
class JobForecast:
    """What is said of one job."""

    profile: int  # the answer; -1 where it abstains
    best: int  # the most likely profile
    probability: float  # of that
    top: tuple[tuple[int, float], ...]  # up to three (profile, probability), likeliest first
    abstained: bool  # whether no profile is given
    reason: str  # why not; empty where one is
    needs: dict[str, Need]  # target -> estimate
    explanation: JobExplanation | None  # SHAP values of the most likely class; None where nobody asked


def job_forecasts(loaded: LoadedForecaster, jobs: pd.DataFrame, explained: int) -> Iterator[JobForecast]:
    """Yield what is said of each job, the first `explained` with SHAP values."""
    for row, said in enumerate(every_job(loaded.forecast(jobs))):
        yield replace(said, explanation=loaded.explain(jobs.iloc[[row]])) if row < explained else said


def every_job(forecasts: Forecasts) -> list[JobForecast]:
    """What is said of each job, without reasons."""
    profiles = forecasts.profiles
    needs = {target: _needs(result) for target, result in forecasts.estimates.items()}
    rows = zip(
        profiles.profile.tolist(),
        profiles.best.tolist(),
        profiles.probability.tolist(),
        profiles.top.tolist(),
        profiles.top_probability.tolist(),
        profiles.abstained.tolist(),
        strict=True,
    )
    return [
        JobForecast(
            profile,
            best,
            probability,
            tuple(zip(top, top_probability, strict=True)),
            abstained,
            profiles.reason_text(row),
            {target: own[row] for target, own in needs.items()},
            None,
        )
        for row, (profile, best, probability, top, top_probability, abstained) in enumerate(rows)
    ]


def _needs(result: Estimates) -> list[Need]:
    covers = np.full(len(result.point), np.nan) if result.covers is None else result.covers
    columns = np.column_stack([result.point, result.quantiles[:, SHOWN], result.low, result.high]).tolist()
    rows = zip(columns, covers.tolist(), strict=True)
    return [
        Need(point, p10, p50, p90, low, high, result.predictor, share, result.calibrated, result.bounded)
        for (point, p10, p50, p90, low, high), share in rows
    ]
