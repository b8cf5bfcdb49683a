"""Finished jobs as they come in: which rows are new, which job each belongs to, when it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_if_present
from workprof.errors import NoRows
from workprof.profiles.classifier.weighted_samples import Units

if TYPE_CHECKING:
    import pandas as pd

TIMES = ("end_time_s", "start_time_s", "submit_time_s")
STORE_COLUMNS = ("row_id",)
"""Given by the store, no part of what a row says."""


@dataclass(frozen=True)
class NewRows:
    """The rows of a table that were not observed before.

    Attributes:
        jobs: those rows.
        digest: of the whole table, whatever the order of its rows.
        hashes: (n_new,) of the rows; 0 for a row without a time, which nothing tells from a job just like it.
        n_read: rows of the table.
        n_repeated: rows that were observed before.
        already: whether this very table was.
    """

    jobs: pd.DataFrame
    digest: str
    hashes: Units
    n_read: int
    n_repeated: int
    already: bool


def new_rows(jobs: pd.DataFrame, files: Sequence[str], seen: Units) -> NewRows:
    """Return what is new in a table of finished jobs.

    Args:
        jobs: one row per finished job, every column that the trace has.
        files: digests of the tables that were observed.
        seen: hashes of rows that were observed.

    Raises:
        NoRows: for an empty table.
    """
    if not len(jobs):
        raise NoRows("there is no finished job in the table; nothing can be observed")
    hashes = row_hashes(jobs)
    digest = hashlib.blake2b(np.sort(hashes).tobytes(), digest_size=16).hexdigest()
    already = digest in files
    timed = np.isfinite(ended_at(jobs))
    repeated = (np.isin(hashes, seen) & timed) | already
    kept = np.where(timed, hashes, np.uint64(0))[~repeated]
    return NewRows(jobs.loc[~repeated], digest, kept, len(jobs), int(repeated.sum()), already)


def row_hashes(jobs: pd.DataFrame) -> Units:
    """Return (n_rows,) 64-bit hashes of what the rows say, whatever the order of the columns."""
    from pandas.util import hash_pandas_object  # noqa: PLC0415  `import workprof` stays light

    names = sorted(str(name) for name in jobs.columns if name not in STORE_COLUMNS)
    return np.asarray(hash_pandas_object(jobs[names], index=False), dtype=np.uint64)


def job_units(jobs: pd.DataFrame, first: int = 0) -> Units:
    """Return (n_rows,) codes that rows of one job share; a row without a job name is a job of its own.

    Args:
        jobs: the table.
        first: number of its first row, so that nameless rows of several tables stay apart.
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
    """Return (n_rows,) seconds on the trace's clock: the end, else start or submission plus duration, else NaN."""
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
