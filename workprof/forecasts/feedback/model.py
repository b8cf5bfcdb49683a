"""What finished jobs are compared with: the profiles in scaled space, and needs and errors per profile at the fit.

A refit makes profiles, forecaster and references anew from the dataset and the finished jobs that are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.causes import causes_of
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.forecasts.estimates import TARGETS, ErrorsAtFit, LogScale, errors_at_fit, known_jobs
from workprof.forecasts.feedback.assignment import ProfileAssigner, fit_assigner, job_units
from workprof.forecasts.feedback.windows import ProfileReference, sketch
from workprof.forecasts.forecaster import Forecaster, ForecasterSettings, part_of, train_forecaster
from workprof.forecasts.weighted_samples import Units, effective_size
from workprof.profiles.features import draw_rows, prepare
from workprof.profiles.fit import ProfileFit, fit_profiles, labelled
from workprof.profiles.names import OUTLIERS
from workprof.profiles.scores import acquires
from workprof.profiles.silhouettes import exact_silhouettes

if TYPE_CHECKING:
    import pandas as pd

STEPS = {"file": 0.15, "errors": 1.0}
SCORED_ROWS = 2_000
"""Rows that ACQUIRES is measured on, at the fit as among recent jobs."""


@dataclass(frozen=True, repr=False)
class FeedbackModel(Shown):
    """What finished jobs are compared with."""

    settings: ForecasterSettings  # of the forecaster that is followed
    filing: ProfileAssigner  # where jobs belong
    targets: tuple[str, ...]  # that are followed
    floors: dict[str, float]  # target -> floor of its logarithmic scale, in the target's unit
    profiles: dict[str, ProfileReference]  # profile as text -> how it was; '-1' = rows far from every profile
    n_rows: int  # of the fit
    effective_rows: float  # independent jobs among them
    outlier_share: float  # of them, assigned as new jobs are, 0-1
    n_clusters: int  # of the clustering
    acquires: float  # of the clustering on a sample of its rows, assigned as new jobs are
    overall: dict[str, Floats]  # target -> (n_points,) log errors at the fit over all profiles
    seconds: float  # of making it


def build_feedback_model(
    frames: Mapping[str, pd.DataFrame], settings: ForecasterSettings, progress: Progress = silent
) -> FeedbackModel:
    """What finished jobs are compared with, from `frames["jobs"]` with its column 'profile'.

    Runs that did not finish take part in what is estimated, not in what finished jobs are compared with.

    Errors at the fit are those of the validation rows on which the forecaster chose and calibrated: jobs that its
    candidates had not seen.

    Raises NotEnoughData when there is no profile.
    """
    learned = frames["jobs"].reset_index(drop=True)
    ended = causes_of(learned) < 0
    jobs = learned[ended].reset_index(drop=True)
    watch = Stopwatch(progress, STEPS)
    with watch.step("file", "Filing the jobs of the fit as new ones are"):
        profiles = settings.classifier.profiles
        prepared = prepare(jobs, replace(profiles, must=(), must_not=()))  # the labels are there already
        ids = jobs["row_id"].to_numpy(dtype=np.int64) if "row_id" in jobs.columns else np.arange(len(jobs))
        rows = np.flatnonzero(np.isin(ids, prepared.row_ids))
        labels = numbers_of(jobs.iloc[rows], "profile")
        units = job_units(jobs)
        assigner, assigned = fit_assigner(prepared, np.nan_to_num(labels, nan=OUTLIERS).astype(np.int64), units[rows])
        drawn = draw_rows(len(assigned), SCORED_ROWS, profiles.seed)
        n_clusters = len(assigner.reach)
        score = acquires_of(
            prepared.points[drawn], assigned[drawn], assigner.metric, n_clusters, profiles.target_clusters
        )
    with watch.step("errors", "Measuring the errors at the fit") as report:
        measured = {
            name: ErrorsAtFit(one.floor, one.logs[ended], one.errors[ended])
            for name, one in _measured(learned, settings, report).items()
        }
    whole = np.full(len(jobs), OUTLIERS - 1, dtype=np.int64)
    whole[rows] = assigned
    references = {str(one): _reference(whole == one, measured, units) for one in range(OUTLIERS, n_clusters)}
    return FeedbackModel(
        settings=settings,
        filing=assigner,
        targets=tuple(measured),
        floors={name: one.floor for name, one in measured.items()},
        profiles=references,
        n_rows=len(assigned),
        effective_rows=effective_size(np.ones(len(rows)), units[rows]),
        outlier_share=float((assigned == OUTLIERS).mean()),
        n_clusters=n_clusters,
        acquires=score,
        overall={name: sketch(one.errors, units).points for name, one in measured.items()},
        seconds=watch.seconds,
    )


def acquires_of(points: Floats, labels: Ints, metric: str, n_clusters: int, target_clusters: int) -> float:
    """ACQUIRES of a clustering on some rows; NaN where these lie in fewer than two groups.

    Source: PolarisProfiler, with the clustering's true number of profiles. The published package passes the mean
    cluster size in its place, and silhouettes of unscaled features; these are of the scaled ones.
    """
    if len(np.unique(labels)) < 2:
        return float("nan")
    silhouette = exact_silhouettes(points, labels, metric).published_mean
    return acquires(silhouette, n_clusters, int((labels == OUTLIERS).sum()), len(labels), target_clusters)


def _measured(
    jobs: pd.DataFrame, settings: ForecasterSettings, report: Callable[[float], None]
) -> dict[str, ErrorsAtFit]:
    """Target -> values and errors of every row of the table, those that are learned as censored too."""
    measured: dict[str, ErrorsAtFit] = {}
    for i, target in enumerate(TARGETS):
        report(i / len(TARGETS))
        try:
            known = known_jobs(jobs.assign(place=np.arange(len(jobs))), target)
            at_fit = errors_at_fit(known, settings.of_target(target, known.jobs))
        except (ColumnMissing, NotEnoughData):
            continue  # the forecaster left it out for the same reason, and says so
        logs, errors = np.full(len(jobs), np.nan), np.full(len(jobs), np.nan)
        places = known.jobs["place"].to_numpy(dtype=np.int64)
        logs[places], errors[places] = at_fit.logs, at_fit.errors
        measured[target] = ErrorsAtFit(at_fit.floor, logs, errors)
    return measured


def _reference(rows: Bools, measured: Mapping[str, ErrorsAtFit], units: Units) -> ProfileReference:
    targets = list(measured.values())
    return ProfileReference(
        int(rows.sum()),
        tuple(sketch(target.logs[rows], units[rows]) for target in targets),
        tuple(sketch(target.errors[rows], units[rows]) for target in targets),
    )


def scale_of(model: FeedbackModel, target: str) -> LogScale:
    """The logarithmic scale of a target."""
    return LogScale(model.floors[target])


FIT_SHARE, FORECASTER_SHARE = 0.2, 0.65
"""Of the whole, as progress tells it."""


@settings
class RefitSettings:
    """Settings of a refit; its clustering keeps its settings, too."""

    forecaster: ForecasterSettings
    observed: Annotated[
        str, Setting("Digest of the finished jobs that are learned, too.", empty="those observed by now")
    ]


@dataclass(frozen=True, repr=False)
class Refit(Shown):
    """What a refit made."""

    profiles: ProfileFit  # of all jobs; row ids below 0 are finished jobs, which the store does not hold
    forecaster: Forecaster
    """Encoder, classifier and estimators, trained on all jobs: it knows metadata that came with them."""
    model: FeedbackModel  # what finished jobs are compared with from now on
    n_added: int  # finished jobs that were learned besides the dataset
    seconds: float  # of it all


@dataclass(frozen=True)
class FinishedJobs:
    """Finished jobs as arrays, stored until the next refit."""

    rows: int  # how many
    numbers: dict[str, Floats]  # column -> (n_rows,)
    codes: dict[str, Ints]  # column -> (n_rows,) positions in `texts`; -1 = missing
    texts: dict[str, NDArray[np.str_]]  # column -> (n_values,) distinct values


def refit(frames: Mapping[str, pd.DataFrame], settings: RefitSettings, progress: Progress = silent) -> Refit:
    """Everything made anew from `frames["jobs"]`; raises as `fit_profiles` and `train_forecaster`."""
    jobs, learned = frames["jobs"], settings.forecaster
    profiles = fit_profiles(frames, learned.classifier.profiles, part_of(progress, 0.0, FIT_SHARE))
    with_profiles = {"jobs": labelled(jobs, profiles)}
    forecaster = train_forecaster(with_profiles, learned, part_of(progress, FIT_SHARE, FORECASTER_SHARE))
    model = build_feedback_model(with_profiles, learned, part_of(progress, FORECASTER_SHARE, 1.0))
    added = int((jobs["row_id"].to_numpy() < 0).sum())
    return Refit(profiles, forecaster, model, added, profiles.seconds + forecaster.seconds + model.seconds)


def finished_jobs(jobs: pd.DataFrame, columns: tuple[str, ...]) -> FinishedJobs:
    """The named columns of finished jobs, as far as the table has them."""
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
    return FinishedJobs(len(jobs), numbers, codes, texts)


def with_finished(jobs: pd.DataFrame, finished: tuple[FinishedJobs, ...]) -> pd.DataFrame:
    """A dataset's rows and the finished jobs, oldest first, below them; ids of these are below 0."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    first, tables = 0, [jobs]
    for one in finished:
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
    """Tables of the same columns below one another: texts as categories, numbers as numbers."""
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
