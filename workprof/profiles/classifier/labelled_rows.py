"""The rows that a classifier learns from: jobs that have a label, as many as it takes, texts as categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Ints
from workprof.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.profiles.classifier.predictions import NO_PROFILE
from workprof.profiles.classifier.settings import ClassifierSettings
from workprof.profiles.classifier.submit_time import METADATA_FIELDS

if TYPE_CHECKING:
    import pandas as pd

LABEL = "profile"
"""Column of a job table that holds the labels of a clustering."""

FEWEST_ROWS = 20
UNIT_COLUMNS = ("job_name", "group")
"""What the hold-out keeps together."""


def labelled(jobs: pd.DataFrame) -> tuple[pd.DataFrame, Ints]:
    """Return the rows that have a label, and (n_rows,) labels.

    Raises:
        ColumnMissing: without the column 'profile'.
    """
    if LABEL not in jobs.columns:
        raise ColumnMissing(f"the table has no column {LABEL}; fit profiles first")
    kept = jobs[jobs[LABEL].notna()]
    return kept, kept[LABEL].to_numpy(dtype=np.int64)


def used_rows(jobs: pd.DataFrame, labels: Ints, settings: ClassifierSettings) -> tuple[pd.DataFrame, Ints, Ints]:
    """Return the rows to train on, their (n_rows,) class positions and the (n_classes,) classes.

    Raises:
        SettingsError: when there is not one label per job.
        NotEnoughData: with fewer than 20 rows or fewer than two profiles.
    """
    if len(labels) != len(jobs):
        raise SettingsError(f"{len(labels)} labels for {len(jobs)} jobs; give one per job")
    if settings.mode == "faithful":
        jobs, labels = jobs[labels != NO_PROFILE], labels[labels != NO_PROFILE]
    classes, targets = np.unique(labels, return_inverse=True)
    n_profiles = int((classes != NO_PROFILE).sum())
    if len(jobs) < FEWEST_ROWS or n_profiles < 2:
        raise NotEnoughData(
            f"{len(jobs)} rows in {n_profiles} profile(s) are too few to learn from; at least {FEWEST_ROWS} rows "
            "and two profiles are needed: add rows, or fit smaller profiles"
        )
    return jobs, targets.astype(np.int64), classes


def coded(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its texts as categories, as the store gives them: every later look at them is quicker."""
    texts = [name for name in jobs.columns if name in {*METADATA_FIELDS, *UNIT_COLUMNS}]
    return jobs.astype(dict.fromkeys(texts, "category"))
