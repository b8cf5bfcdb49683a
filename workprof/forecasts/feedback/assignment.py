"""Finished jobs as they come in: which rows are new, and which profile each belongs to by what it measured.

A job belongs to the profile of the nearest clustered job, or to none. It is never assigned to the profile that was
predicted for it: that would confirm every prediction by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_if_present
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData
from workprof.forecasts.weighted_samples import Units
from workprof.profiles.features import FittedTransform, Prepared, apply_transform, draw_rows
from workprof.profiles.names import OUTLIERS

if TYPE_CHECKING:
    import pandas as pd

TIMES = ("end_time_s", "start_time_s", "submit_time_s")
STORE_COLUMNS = ("row_id",)
"""Given by the store, no part of what a row says."""


@dataclass(frozen=True)
class NewRows:
    """The rows of a table that were not observed before."""

    jobs: pd.DataFrame  # those rows, in the order in which they ended; first those without a time
    digest: str  # of the whole table, whatever the order of its rows
    hashes: Units  # (n_new,) of the rows; 0 for a row without a time, which nothing tells from a job just like it
    n_read: int  # rows of the table
    n_repeated: int  # rows that were observed before
    already: bool  # whether this very table was


def new_rows(jobs: pd.DataFrame, files: Sequence[str], seen: Units) -> NewRows:
    """What is new in a table of finished jobs, by digests of the tables and hashes of the rows observed so far.

    Raises NoRows for an empty table.
    """
    if not len(jobs):
        raise NoRows("there is no finished job in the table; nothing can be observed")
    hashes = row_hashes(jobs)
    digest = hashlib.blake2b(np.sort(hashes).tobytes(), digest_size=16).hexdigest()
    already = digest in files
    ended = ended_at(jobs)
    timed = np.isfinite(ended)
    repeated = (np.isin(hashes, seen) & timed) | already
    order = np.argsort(np.where(timed, ended, -np.inf), kind="stable")
    new = order[~repeated[order]]
    new_hashes = np.where(timed, hashes, np.uint64(0))[new]
    return NewRows(jobs.iloc[new], digest, new_hashes, len(jobs), int(repeated.sum()), already)


def row_hashes(jobs: pd.DataFrame) -> Units:
    """(n_rows,) 64-bit hashes of what the rows say, whatever the order of the columns."""
    from pandas.util import hash_pandas_object  # noqa: PLC0415  `import workprof` stays light

    names = sorted(str(name) for name in jobs.columns if name not in STORE_COLUMNS)
    return np.asarray(hash_pandas_object(jobs[names], index=False), dtype=np.uint64)


def job_units(jobs: pd.DataFrame, first: int = 0) -> Units:
    """(n_rows,) codes that rows of one job share; a row without a job name is a job of its own.

    `first` numbers the first row, so that nameless rows of several tables stay apart.
    """
    from pandas.util import hash_pandas_object  # noqa: PLC0415

    own = np.arange(first, first + len(jobs), dtype=np.uint64)
    if "job_name" not in jobs.columns:
        return own
    names = jobs["job_name"].astype("object")
    known = names.notna().to_numpy(dtype=np.bool_)
    codes = hash_pandas_object(names.where(names.notna(), "").astype(str), index=False).to_numpy(dtype=np.uint64)
    return np.where(known, codes, own)


def ended_at(jobs: pd.DataFrame) -> Floats:
    """(n_rows,) seconds on the trace's clock: the end, else start or submission plus duration, else NaN."""
    duration = numbers_if_present(jobs, "duration_s")
    ended = np.full(len(jobs), np.nan)
    for name in TIMES:
        given = numbers_if_present(jobs, name)
        if given is None:
            continue
        if name != "end_time_s" and duration is not None:
            given = given + np.nan_to_num(duration)
        ended = np.where(np.isnan(ended), given, ended)
    return ended


BASE_ROWS = 20_000
"""Clustered rows that new jobs are compared with; more are drawn from."""

CROSS_PARTS = 4
REACH = 0.99
"""Share of a profile's own jobs, each compared with other jobs only, that lie within the reach of the profile."""

FEWEST_FOR_REACH = 20
LEAST_MEASURED_SHARE = 0.5
"""Of the features: a row with fewer measured ones is not assigned."""


@dataclass(frozen=True)
class ProfileAssigner:
    """Clustered jobs in scaled space, and how far each profile reaches."""

    transform: FittedTransform  # of the clustering; new jobs go through the same
    metric: str  # of the clustering
    mode: str  # in 'faithful' a missing value is 0
    points: Floats  # (n_base, n_dims) scaled values
    labels: Ints  # (n_base,) their profiles
    reach: Floats  # (n_profiles,) farthest distance to the nearest job of the profile


@dataclass(frozen=True)
class Assignment:
    """Where finished jobs belong."""

    labels: Ints  # (n_rows,) profile; -1 = far from all of them, or not measured
    points: Floats  # (n_rows, n_dims) scaled values
    measured: Bools  # (n_rows,) whether enough features were measured to say so
    absent: tuple[str, ...]  # features that the table lacks


def fit_assigner(prepared: Prepared, labels: Ints, units: Units) -> tuple[ProfileAssigner, Ints]:
    """The assigner of a clustering, and (n_rows,) what it assigns to its own rows, no row beside its own job.

    The second is what new jobs are compared with: the clustering's own labels would call more rows outliers.

    `units` (n_rows,) are the job of each row.

    Raises NotEnoughData when there is no profile.
    """
    n_profiles = int(labels.max(initial=OUTLIERS)) + 1
    if not n_profiles:
        raise NotEnoughData("the clustering has no profile to file jobs under; lower min_cluster_size")
    nearest, distance = _across_jobs(prepared, labels, units)
    own = nearest == labels
    typical = float(np.quantile(distance[own], REACH)) if own.any() else 0.0
    reach = np.full(n_profiles, typical)
    for profile in range(n_profiles):
        rows = own & (labels == profile)
        if int(rows.sum()) >= FEWEST_FOR_REACH:
            reach[profile] = max(float(np.quantile(distance[rows], REACH)), 1e-3 * typical)
    base = _base(np.flatnonzero(labels >= 0), prepared.settings.seed)
    assigner = ProfileAssigner(
        prepared.transform,
        prepared.settings.metric,
        prepared.settings.mode,
        prepared.points[base],
        labels[base],
        reach,
    )
    return assigner, np.where(distance <= reach[nearest], nearest, OUTLIERS)


def assign_jobs(assigner: ProfileAssigner, jobs: pd.DataFrame) -> Assignment:
    """The profiles of finished jobs; raises ColumnMissing when the table has none of the features."""
    columns = {name: numbers_if_present(jobs, name) for name in assigner.transform.features}
    absent = tuple(name for name, column in columns.items() if column is None)
    if len(absent) == len(columns):
        raise ColumnMissing(
            f"the finished jobs have none of the measured columns that profiles are made of ({', '.join(columns)}); "
            f"add them, or map them under these names"
        )
    values = np.column_stack([np.full(len(jobs), np.nan) if one is None else one for one in columns.values()])
    measured = np.isfinite(values).mean(axis=1) >= LEAST_MEASURED_SHARE
    if assigner.mode == "faithful":
        values, measured = np.nan_to_num(values, nan=0.0), np.ones(len(jobs), dtype=np.bool_)
    points = apply_transform(assigner.transform, values)
    nearest, distance = _nearest(assigner.points, assigner.labels, points, assigner.metric)
    near = measured & (distance <= assigner.reach[nearest])
    return Assignment(np.where(near, nearest, OUTLIERS), points, measured, absent)


def _across_jobs(prepared: Prepared, labels: Ints, units: Units) -> tuple[Ints, Floats]:
    """Profile of, and distance to, the nearest clustered row of another job, for every row."""
    codes = np.unique(units, return_inverse=True)[1]
    rng = np.random.default_rng(prepared.settings.seed)
    part = (rng.permutation(int(codes.max(initial=0)) + 1) % CROSS_PARTS)[codes]
    nearest, distance = np.zeros(len(labels), dtype=np.int64), np.full(len(labels), np.inf)
    for number in range(CROSS_PARTS):
        queries = part == number
        base = _base(np.flatnonzero(~queries & (labels >= 0)), prepared.settings.seed)
        if len(base) and queries.any():
            nearest[queries], distance[queries] = _nearest(
                prepared.points[base], labels[base], prepared.points[queries], prepared.settings.metric
            )
    return nearest, distance


def _base(rows: Ints, seed: int) -> Ints:
    return np.asarray(rows[draw_rows(len(rows), BASE_ROWS, seed)], dtype=np.int64)


def _nearest(base: Floats, labels: Ints, points: Floats, metric: str) -> tuple[Ints, Floats]:
    from scipy.spatial import cKDTree  # noqa: PLC0415  heavy

    distance, place = cKDTree(base).query(points, p=1 if metric == "manhattan" else 2)
    return labels[place].astype(np.int64), np.asarray(distance, dtype=np.float64)
