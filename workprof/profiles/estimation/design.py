"""The direct models' inputs: submit-time metadata, the plan, the time, and what the job's history cells needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.profiles.arrays import Floats, Ints
from workprof.profiles.columns import numbers_of
from workprof.profiles.estimation.cells import DEFAULT_BANDWIDTH_S, Cells, Past, recent_quantiles
from workprof.profiles.submit_time import METADATA_FIELDS, PLAN_FIELDS

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 3
MOST_VALUES = 60
"""A field's values with fewer rows, and those beyond the most frequent, are one pooled value."""

HISTORY_LEVELS = np.array([0.25, 0.5, 0.75])
HOUR_S, DAY_HOURS = 3600.0, 24.0


@dataclass(frozen=True)
class Vocabulary:
    """Columns of the design: metadata field -> texts with a column of their own, and the plan's numbers."""

    texts: dict[str, tuple[str, ...]]
    numbers: tuple[str, ...]


def learn_vocabulary(jobs: pd.DataFrame, fields: tuple[str, ...]) -> Vocabulary:
    """Return the values of each metadata field that are frequent enough in these (training) rows."""
    known = {}
    for name in fields:
        if name in METADATA_FIELDS and name != "job_name":  # a new job's name says nothing
            counts = jobs[name].astype("object").value_counts()
            known[name] = tuple(str(value) for value in counts[counts >= FEWEST_ROWS].index[:MOST_VALUES])
    return Vocabulary(known, tuple(name for name in fields if name in PLAN_FIELDS))


def encode(jobs: pd.DataFrame, vocabulary: Vocabulary, times: Floats) -> Floats:
    """Return (n_rows, n_columns) numbers without history; a missing plan stays NaN, an unseen value is all zero.

    Args:
        jobs: the table.
        vocabulary: of the training rows.
        times: (n_rows,) s.
    """
    columns: list[Floats] = [times, times / HOUR_S % DAY_HOURS]
    columns += [numbers_of(jobs, name) for name in vocabulary.numbers]
    for name, known in vocabulary.texts.items():
        texts = jobs[name].astype("object").where(jobs[name].notna(), None).to_numpy()
        columns += [(texts == value).astype(np.float64) for value in known]
    return np.column_stack(columns)


def history(past: Past, asked: Cells, asked_units: Ints) -> Floats:
    """Return (n_rows, 9) columns from recent and from all jobs of a row's cells, its own unit left out."""
    recent = recent_quantiles(past, asked, asked_units, HISTORY_LEVELS, DEFAULT_BANDWIDTH_S)
    flat = recent_quantiles(past, asked, asked_units, HISTORY_LEVELS, np.inf)
    return np.column_stack([recent.quantiles, flat.quantiles, recent.level, np.log1p(recent.count), _age(past, asked)])


def _age(past: Past, asked: Cells) -> Floats:
    """Return (n_rows,) log days to the end of what is known, 0 within it."""
    age_s: Floats = np.maximum(asked.times - past.cells.times.max(initial=0.0), 0.0)
    return np.log1p(age_s / (HOUR_S * DAY_HOURS))
