"""Questions about jobs that were not run yet: one by its fields, many by a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.errors import SettingsError
from workprof.forecasts.candidates import LEVELS
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimates import Estimates
from workprof.forecasts.explain import JobExplanation
from workprof.forecasts.forecaster import ForecasterSettings, Forecasts, LoadedForecaster
from workprof.formats import rules_of
from workprof.formats.new_jobs import NewJobs, named_jobs, read_new_jobs
from workprof.progress import Progress, silent
from workprof.workbench.forecasts import TIMES, ForecastQuestions

EXPLAINED_ROWS = 200
"""Of a file: so many jobs are explained one by one."""


@dataclass(frozen=True)
class Need:
    """An estimate of one target for one job, in the target's unit.

    Attributes:
        point: best guess in the sense of a small ratio error.
        p10, p50, p90: quantiles.
        low, high: ends of the interval that covers as promised.
    """

    point: float
    p10: float
    p50: float
    p90: float
    low: float
    high: float


@dataclass(frozen=True)
class JobForecast:
    """What is said of one job.

    Attributes:
        profile: the answer; -1 where it abstains.
        probability: of the most likely profile.
        top: up to three (profile, probability), likeliest first.
        abstained: whether no profile is given.
        reason: why not; empty where one is.
        needs: target -> estimate.
        explanation: SHAP values of the most likely class; None beyond the first 200 rows of a file.
    """

    profile: int
    probability: float
    top: tuple[tuple[int, float], ...]
    abstained: bool
    reason: str
    needs: dict[str, Need]
    explanation: JobExplanation | None


@dataclass(frozen=True)
class FileForecasts:
    """What is said of the jobs of a file, and the file's columns that were not used."""

    jobs: tuple[JobForecast, ...]
    unknown: tuple[str, ...]


class NewJobQuestions(ForecastQuestions):
    """The questions that `workprof classify predict` and the Classify page ask."""

    def forecast_job(
        self, dataset: str, values: Mapping[str, str], settings: ForecasterSettings, progress: Progress = silent
    ) -> tuple[JobForecast, ...]:
        """Return what is said of one job, given as field = value; the forecaster is trained where none is kept.

        Raises:
            SettingsError: for a field that is not known at submission.
            TraceError: when a number is none.
        """
        entry = self._jobs_of(dataset)
        found = self.new_jobs(entry.hash, pd.DataFrame({name: [value] for name, value in values.items()}))
        if found.unknown:
            raise SettingsError(
                f"{', '.join(found.unknown)} is not known at submission; use {', '.join(SUBMIT_FIELDS)}"
            )
        self.forecaster(entry.hash, settings, progress)
        loaded = self.loaded_forecaster(entry.hash, settings)
        return tuple(job_forecasts(loaded, found.jobs, EXPLAINED_ROWS))

    def forecast_file(
        self, dataset: str, path: Path, settings: ForecasterSettings, progress: Progress = silent
    ) -> FileForecasts:
        """Return what is said of every job of a CSV file, answered 20,000 rows at a time.

        The file is read and checked before anything is trained.

        Raises:
            NoRows, TraceError, ColumnMissing: when the file cannot be used.
        """
        entry = self._jobs_of(dataset)
        read = [self.new_jobs(entry.hash, chunk) for chunk in read_new_jobs(path)]
        n_rows = sum(len(part.jobs) for part in read)
        self.forecaster(entry.hash, settings, progress)
        loaded = self.loaded_forecaster(entry.hash, settings)
        found: list[JobForecast] = []
        for part in read:
            progress(len(found) / n_rows, f"{len(found):,} of {n_rows:,} jobs answered")
            found += job_forecasts(loaded, part.jobs, EXPLAINED_ROWS - len(found))
        progress(1.0, f"{n_rows:,} jobs answered")
        return FileForecasts(tuple(found), read[0].unknown)

    def new_jobs(self, dataset: str, table: pd.DataFrame) -> NewJobs:
        """Return new jobs under the fields' names: the table may use those or the names of the dataset's trace.

        Raises:
            ColumnMissing: when no column is known at submission.
            TraceError: when a number is none.
        """
        return named_jobs(table, rules_of(self._jobs_of(dataset).format), (*SUBMIT_FIELDS, *TIMES))


def job_forecasts(loaded: LoadedForecaster, jobs: pd.DataFrame, explained: int) -> Iterator[JobForecast]:
    """Yield what is said of each job, the first `explained` with SHAP values."""
    said = loaded.forecast(jobs)
    for row in range(len(jobs)):
        yield job_forecast(said, row, loaded.explain(jobs.iloc[[row]]) if row < explained else None)


def job_forecast(said: Forecasts, row: int, explanation: JobExplanation | None) -> JobForecast:
    """Return one row of the forecasts."""
    profiles = said.profiles
    top = zip(profiles.top[row], profiles.top_probability[row], strict=True)
    return JobForecast(
        profile=int(profiles.profile[row]),
        probability=float(profiles.probability[row]),
        top=tuple((int(profile), float(probability)) for profile, probability in top),
        abstained=bool(profiles.abstained[row]),
        reason=profiles.reason_text(row),
        needs={target: _need(found, row) for target, found in said.estimates.items()},
        explanation=explanation,
    )


def _need(found: Estimates, row: int) -> Need:
    at = {level: float(value) for level, value in zip(np.round(LEVELS, 2), found.quantiles[row], strict=True)}
    return Need(float(found.point[row]), at[0.1], at[0.5], at[0.9], float(found.low[row]), float(found.high[row]))
