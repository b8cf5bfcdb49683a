"""A forecaster that is fitted once: predictions and explanations of new jobs, saved and loaded as a file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from workprof.core.errors import SettingsError, TraceError
from workprof.core.progress import Progress, silent
from workprof.core.records import Packed, pack, unpack
from workprof.forecasts.censored import runs_to_learn
from workprof.forecasts.encoder import never_missing
from workprof.forecasts.estimates import LEFT_OUT, TARGETS
from workprof.forecasts.explain import MOST_SAMPLE_ROWS, GlobalExplanation, explain_all
from workprof.forecasts.forecaster import Forecaster as Trained, ForecasterSettings, LoadedForecaster
from workprof.forecasts.job_table import JobForecasts, learn_jobs
from workprof.library.tables import (
    ROW_ID,
    Columns,
    Jobs,
    checked_settings,
    jobs_of,
    new_jobs_of,
    refuse_few_features,
    sources_of,
    told,
)
from workprof.profiles.fit import ProfileFit
from workprof.store.in_memory import Given
from workprof.store.reports import FieldSource

DOCUMENT, ARRAYS = "forecaster.json", "arrays.npz"
KIND, VERSION = "workprof forecaster", 1


@dataclass(frozen=True)
class Learned:
    """What a forecaster consists of; nothing in it is executed when it is read back."""

    trained: Trained  # classifier and estimators, trees as XGBoost's JSON
    fit: ProfileFit  # the clustering that the profiles are of
    format: str  # that the training jobs were read as; '' = by the names of their columns alone
    rules: dict[str, tuple[str, FieldSource]]  # column -> field and unit, as the training jobs were read
    columns: dict[str, FieldSource]  # field -> column, as given
    notes: tuple[str, ...]  # on the training jobs


class Forecaster:
    """Profiles, durations, memory and use of jobs before they run, learned once of finished ones.

    Args:
        train: finished jobs, as a DataFrame, Arrow or Polars table, or the path of a trace: what is known at submission
            (user, group, task, requests ...) and what they used.
        columns: field -> column, or (column, unit), where the tables' names are not those of the fields; new jobs are
            read by the same.
        settings: of profiles, classifier and intervals.
        progress: told what is done.

    Raises:
        ColumnMissing: when the table lacks what is learned from.
        NotEnoughData: with too few jobs or profiles.
    """

    def __init__(
        self,
        train: Given,
        *,
        columns: Columns | None = None,
        settings: ForecasterSettings | None = None,
        progress: Progress = silent,
    ) -> None:
        """Learn from the jobs."""
        chosen = checked_settings(settings, ForecasterSettings)
        jobs = jobs_of(train, {}, columns)
        refuse_few_features(jobs, chosen.classifier.profiles.features, chosen.classifier.profiles.mode)
        rows = runs_to_learn(jobs.frame, cut_short=chosen.unfinished != LEFT_OUT, targets=tuple(TARGETS))
        left_out = len(jobs.frame) - len(rows)
        lost = (f"{left_out:,} of {len(jobs.frame):,} runs did not finish and are left out.",) if left_out else ()
        with told(jobs, *lost):
            fit, trained = learn_jobs(rows, chosen, progress)
        notes = (*lost, *jobs.notes)
        self._take(Learned(trained, fit, jobs.format, jobs.rules, sources_of({}, columns), notes))

    def _take(self, learned: Learned) -> None:
        self._learned = learned
        self._loaded = LoadedForecaster(learned.trained)

    @property
    def fit(self) -> ProfileFit:
        """The clustering that the profiles are of."""
        return self._learned.fit

    @property
    def settings(self) -> ForecasterSettings:
        """It was trained with."""
        return self._learned.trained.settings

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not used of the training jobs, and what cannot be estimated, in words."""
        trained = self._learned.trained
        left_out = (f"{target} is not estimated: {why}" for target, why in trained.left_out.items())
        return (*self._learned.notes, *trained.classifier.notes, *left_out)

    def predict(self, new: Given, progress: Progress = silent) -> JobForecasts:
        """The profiles and needs of new jobs; `.to_frame()` has one row per job.

        They are mapped as the training jobs were; columns that are not used are told in `.notes`.

        Raises:
            ColumnMissing: when the table has none of the fields that were learned from.
            TraceError: when a value cannot be read.
        """
        jobs, notes = self._jobs(new)
        forecasts = self._loaded.forecast(jobs, progress)
        return JobForecasts(jobs, forecasts, self._learned.fit, self._learned.trained, notes)

    def explain(self, new: Given, progress: Progress = silent) -> GlobalExplanation:
        """SHAP values of new jobs, at most 20,000 of them, drawn at random: why they get their profiles.

        `.to_shap(profile)` is a `shap.Explanation` for every plot of shap, with the table's own words.

        Raises:
            As `predict`.
        """
        jobs, _ = self._jobs(new)
        seed, words = self.settings.classifier.seed, {field: name for name, (field, _) in self._learned.rules.items()}
        made = explain_all(self._loaded.classifier, jobs, min(len(jobs), MOST_SAMPLE_ROWS), seed, progress)
        return replace(made, words=words)

    def _jobs(self, new: Given) -> tuple[pd.DataFrame, tuple[str, ...]]:
        known = self._learned
        named = {field: (one.column, one.unit) if one.unit else one.column for field, one in known.columns.items()}
        mapped = new_jobs_of(new, Jobs(pd.DataFrame(), (), known.format, known.rules, (), ()), named)
        lacked = [
            name
            for name in never_missing(known.trained.classifier.encoder)
            if name not in mapped.frame.columns or mapped.frame[name].isna().any()
        ]
        notes = (*known.notes, *(f"New jobs: {note}" for note in mapped.notes))
        if lacked and known.trained.classifier.learned is not None:
            alike = "which every run learned had: their profiles are means over runs alike"
            notes += (f"New jobs lack {', '.join(lacked)}, {alike}.",)
        return mapped.frame.drop(columns=[ROW_ID]), notes

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the forecaster to a file: a ZIP archive of JSON and NumPy arrays, without pickles; return its path."""
        target, packed = Path(path), pack(self._learned)
        arrays = io.BytesIO()
        np.savez(arrays, **packed.arrays)  # type: ignore[arg-type]
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(DOCUMENT, json.dumps({"kind": KIND, "version": VERSION, "record": packed.document}))
            archive.writestr(ARRAYS, arrays.getvalue())
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The forecaster of a file that `save` wrote.

        Raises:
            TraceError: when the file holds none, or a damaged one.
            SettingsError: when another version of workprof wrote it.
        """
        source = Path(path)
        try:
            with zipfile.ZipFile(source) as archive:
                document: Any = json.loads(archive.read(DOCUMENT))
                with np.load(io.BytesIO(archive.read(ARRAYS)), allow_pickle=False) as arrays:
                    held = {name: arrays[name] for name in arrays.files}
            if document["kind"] != KIND:
                raise KeyError("kind")
        except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
            raise TraceError(
                f"{source.name} is no saved forecaster ({error}); save one with Forecaster.save"
            ) from error
        if document["version"] != VERSION:
            raise SettingsError(
                f"{source.name} is a forecaster of version {document['version']}, this is {VERSION}; fit it again"
            )
        result = cls.__new__(cls)
        result._take(unpack(Learned, Packed(document["record"], held)))
        return result

    def __repr__(self) -> str:
        trained = self._learned.trained
        return (
            f"Forecaster({trained.classifier.n_rows:,} jobs, {self.fit.scores.n_clusters} profiles, estimates "
            f"{', '.join(trained.estimators) or 'none'})"
        )


def forecast(
    train: Given,
    new: Given,
    *,
    columns: Mapping[str, Any] | None = None,
    settings: ForecasterSettings | None = None,
    progress: Progress = silent,
) -> JobForecasts:
    """Predict the profile of new jobs and what they will need, before they run; `Forecaster` is fitted once for many.

    Args:
        train: finished jobs: what is known at submission (user, group, task, requests ...) and what they used.
        new: jobs with what is known at submission.
        columns: field -> column of both, where the tables' names are not those of the fields.
        settings: of profiles, classifier and intervals.
        progress: told what is done.

    Returns:
        profiles and estimates; `.to_frame()` has one row per new job.

    Raises:
        ColumnMissing: when either table lacks what is learned from.
        NotEnoughData: with too few jobs or profiles.
    """
    return Forecaster(train, columns=columns, settings=settings, progress=progress).predict(new)
