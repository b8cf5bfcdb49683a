"""The direct models' inputs: submit-time metadata, the plan, the time, and what the job's history cells needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_of
from workprof.profiles.classifier.submit_time import METADATA_FIELDS, PLAN_FIELDS
from workprof.profiles.estimation.cells import DEFAULT_BANDWIDTH_S, Cells, Past, recent_quantiles

if TYPE_CHECKING:
    import pandas as pd

FEWEST_ROWS = 3
"""A value with fewer training rows counts as not known."""

HISTORY_LEVELS = np.array([0.25, 0.5, 0.75])
HOUR_S, DAY_HOURS = 3600.0, 24.0


@dataclass(frozen=True)
class Vocabulary:
    """What the design knows of metadata and plan.

    Attributes:
        texts: metadata field -> its known values, from the one whose jobs needed least to the one whose jobs needed
            most: the place in this order is the field's number. One number per field instead of a column per value
            makes the trees seven times as fast; they can still tell any two values apart.
        numbers: plan fields.
    """

    texts: dict[str, tuple[str, ...]]
    numbers: tuple[str, ...]


def learn_vocabulary(jobs: pd.DataFrame, targets: Floats, fields: tuple[str, ...]) -> Vocabulary:
    """Return what these (training) rows know.

    Args:
        jobs: the rows.
        targets: (n_rows,) what they needed, in log units.
        fields: submit-time fields in use; a job's own name says nothing of a new job and is left out.
    """
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    known = {}
    for name in fields:
        if name in METADATA_FIELDS and name != "job_name":
            groups = pd.Series(targets).groupby(jobs[name].astype("object").to_numpy())
            means = groups.mean()[groups.size() >= FEWEST_ROWS].sort_values(kind="stable")
            known[name] = tuple(str(value) for value in means.index)
    return Vocabulary(known, tuple(name for name in fields if name in PLAN_FIELDS))


def encode(jobs: pd.DataFrame, vocabulary: Vocabulary, times: Floats) -> Floats:
    """Return (n_rows, n_columns) numbers without history; what is not given or not known is NaN.

    Args:
        jobs: the table.
        vocabulary: of the training rows.
        times: (n_rows,) s.
    """
    columns: list[Floats] = [times, times / HOUR_S % DAY_HOURS]
    columns += [numbers_of(jobs, name) for name in vocabulary.numbers]
    for name, known in vocabulary.texts.items():
        places = {value: float(place) for place, value in enumerate(known)}
        columns.append(np.array(jobs[name].astype("object").map(places), dtype=np.float64))
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
