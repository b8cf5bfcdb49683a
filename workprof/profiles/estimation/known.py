"""The jobs whose need is known: what an estimator learns from and is tested on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing, NotEnoughData

if TYPE_CHECKING:
    import pandas as pd

FEWEST_JOBS = 40
"""Fewer past jobs leave nothing to calibrate an interval on."""


@dataclass(frozen=True)
class KnownJobs:
    """The rows of a table whose target is known.

    Attributes:
        jobs: those rows.
        target: (n_rows,) values.
        n_left_out: rows without a finite value, or with one below zero.
    """

    jobs: pd.DataFrame
    target: Floats
    n_left_out: int


def known_jobs(jobs: pd.DataFrame, target: str) -> KnownJobs:
    """Return the rows whose target can be used.

    Raises:
        ColumnMissing: when the table lacks the target.
        NotEnoughData: with fewer than 40 of them.
    """
    if target not in jobs.columns:
        raise ColumnMissing(f"the table has no column {target}; choose another target")
    values = numbers_of(jobs, target)
    good = np.isfinite(values) & (values >= 0)
    if int(good.sum()) < FEWEST_JOBS:
        raise NotEnoughData(f"{int(good.sum())} jobs with a known {target}; at least {FEWEST_JOBS} are needed")
    return KnownJobs(jobs.loc[good].reset_index(drop=True), values[good], int((~good).sum()))
