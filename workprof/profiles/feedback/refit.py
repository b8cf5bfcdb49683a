"""A refit: profiles, forecaster and references made anew from the dataset and the finished jobs that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_of
from workprof.profiles.feedback.model import FeedbackModel, build_feedback_model
from workprof.profiles.fit import ProfileFit, fit_profiles
from workprof.profiles.forecaster import Forecaster, ForecasterSettings, train_forecaster
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

FIT_SHARE, FORECASTER_SHARE = 0.2, 0.65
"""Of the whole, as progress tells it."""


@dataclass(frozen=True)
class RefitSettings:
    """Settings of a refit.

    Attributes:
        forecaster: as asked; its clustering keeps its settings, too.
        observed: digest of the finished jobs that are learned besides the dataset.
    """

    forecaster: ForecasterSettings
    observed: str


@dataclass(frozen=True)
class Refit:
    """What a refit made.

    Attributes:
        profiles: of all jobs; row ids below 0 are finished jobs, which the store does not hold.
        forecaster: encoder, classifier and estimators, trained on all jobs: it knows metadata that came with them.
        model: what finished jobs are compared with from now on.
        n_added: finished jobs that were learned besides the dataset.
        seconds: of it all.
    """

    profiles: ProfileFit
    forecaster: Forecaster
    model: FeedbackModel
    n_added: int
    seconds: float


@dataclass(frozen=True)
class KeptJobs:
    """Finished jobs as arrays, to be kept until the next refit.

    Attributes:
        rows: how many.
        numbers: column -> (n_rows,).
        codes: column -> (n_rows,) positions in `texts`; -1 = missing.
        texts: column -> (n_values,) distinct values.
    """

    rows: int
    numbers: dict[str, Floats]
    codes: dict[str, Ints]
    texts: dict[str, NDArray[np.str_]]


def refit(frames: Mapping[str, pd.DataFrame], settings: RefitSettings, progress: Progress = silent) -> Refit:
    """Return everything made anew from `frames["jobs"]`.

    Raises:
        As `fit_profiles` and `train_forecaster`.
    """
    jobs, asked = frames["jobs"], settings.forecaster

    def told(first: float, last: float) -> Progress:
        return lambda share, words: progress(None if share is None else first + (last - first) * share, words)

    profiles = fit_profiles(frames, asked.classifier.profiles, told(0.0, FIT_SHARE))
    labels = dict(zip(profiles.row_ids.tolist(), profiles.labels.tolist(), strict=True))
    labelled = {"jobs": jobs.assign(profile=jobs["row_id"].map(labels))}
    forecaster = train_forecaster(labelled, asked, told(FIT_SHARE, FORECASTER_SHARE))
    model = build_feedback_model(labelled, asked, told(FORECASTER_SHARE, 1.0))
    added = int((jobs["row_id"].to_numpy() < 0).sum())
    return Refit(profiles, forecaster, model, added, profiles.seconds + forecaster.seconds + model.seconds)


def keep_jobs(jobs: pd.DataFrame, columns: tuple[str, ...]) -> KeptJobs:
    """Return the named columns of finished jobs, as far as the table has them."""
    numbers, codes, texts = {}, {}, {}
    for name in columns:
        if name not in jobs.columns:
            continue
        if jobs[name].dtype.kind in "biuf":
            numbers[name] = numbers_of(jobs, name)
            continue
        code, values = jobs[name].astype("object").factorize(use_na_sentinel=True)
        codes[name] = code.astype(np.int64)
        texts[name] = np.array([str(value) for value in values], dtype=np.str_)
    return KeptJobs(len(jobs), numbers, codes, texts)


def with_kept(jobs: pd.DataFrame, kept: tuple[KeptJobs, ...]) -> pd.DataFrame:
    """Return a dataset's rows and the finished jobs below them, under the dataset's columns; ids of these are below 0.

    Args:
        jobs: rows of the dataset, with `row_id`.
        kept: finished jobs, oldest first.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    first, tables = 0, [jobs]
    for one in kept:
        columns: dict[str, object] = {name: one.numbers.get(name) for name in jobs.columns if name in one.numbers}
        columns |= {
            name: pd.Categorical.from_codes(one.codes[name], categories=pd.Index(one.texts[name], dtype="str"))
            for name in jobs.columns
            if name in one.codes
        }
        ids = -1 - np.arange(first, first + one.rows, dtype=np.int64)
        tables.append(pd.DataFrame({"row_id": ids, **columns}).reindex(columns=jobs.columns))
        first += one.rows
    return joined_tables(tables)


def joined_tables(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Return tables of the same columns below one another: texts as categories, numbers as numbers."""
    import pandas as pd  # noqa: PLC0415

    columns: dict[str, object] = {}
    for name in tables[0].columns:
        parts = [table[name] for table in tables]
        if parts[0].dtype.kind in "biuf":
            numbers = np.concatenate([numbers_of(table, str(name)) for table in tables])
            columns[name] = numbers.astype(np.int64) if name == "row_id" else numbers
        else:
            columns[name] = pd.Categorical(np.concatenate([part.astype("object").to_numpy() for part in parts]))
    return pd.DataFrame(columns)
