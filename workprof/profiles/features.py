"""Which columns of a job table are clustered on, and their values as one matrix with the missing ones marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.profiles.settings import FEATURE_SETS

if TYPE_CHECKING:
    import pandas as pd

SMALLEST_FEATURE_COUNT = 2


@dataclass(frozen=True)
class FeatureMatrix:
    """The chosen columns as numbers.

    Attributes:
        names: (n_features,) columns that are used.
        numbers: (n_rows, n_features) in the fields' own units; NaN = missing (0 instead in faithful mode).
        left_out: name -> reason of the columns that were asked for and cannot be used.
        missing: name -> rows without a finite value, for the columns that have any.
    """

    names: tuple[str, ...]
    numbers: Floats
    left_out: dict[str, str]
    missing: dict[str, int]


def expand_features(features: tuple[str, ...]) -> tuple[dict[str, bool], bool]:
    """Return name -> whether it was named by itself, in order and once each, and whether a set was among them.

    Raises:
        SettingsError: when nothing is named.
    """
    named: dict[str, bool] = {}
    for feature in features:
        for name in FEATURE_SETS.get(feature, (feature,)):
            named[name] = named.get(name, False) or feature not in FEATURE_SETS
    if not named:
        raise SettingsError(f"no features are named; use {', '.join(FEATURE_SETS)} or column names")
    return named, any(feature in FEATURE_SETS for feature in features)


def read_features(jobs: pd.DataFrame, features: tuple[str, ...], mode: str) -> FeatureMatrix:
    """Return the matrix of the named columns.

    Infinities count as missing. A column that is constant or has no value at all is left out with the reason, and so is
    a column of a set that the table lacks.

    Args:
        jobs: the table, one row per job.
        features: column names or names of sets.
        mode: 'corrected' keeps missing values missing, 'faithful' puts 0 in their place.

    Raises:
        ColumnMissing: when a column that was named by itself is absent.
        SettingsError: when such a column holds text.
        NotEnoughData: when fewer than two columns can be used.

    Source:
        PolarisProfiler sets NULL to 0 (faithful); corrected mode never does.
    """
    named, _ = expand_features(features)
    _refuse_absent(jobs, [name for name, alone in named.items() if alone])
    columns: dict[str, Floats] = {}
    left_out: dict[str, str] = {}
    missing: dict[str, int] = {}
    for name, alone in named.items():
        if name not in jobs.columns:
            left_out[name] = "not in this table"
            continue
        column = numbers_of(jobs, name)
        if alone:
            _refuse_text(jobs[name], column)
        gaps = int(np.isnan(column).sum())
        filled = np.nan_to_num(column, nan=0.0) if mode == "faithful" else column
        reason = _unusable(column, filled)
        if reason:
            left_out[name] = reason
            continue
        columns[name] = filled
        if gaps:
            missing[name] = gaps
    if len(columns) < SMALLEST_FEATURE_COUNT:
        raise NotEnoughData(_too_few(columns, left_out, jobs))
    values = np.column_stack(list(columns.values()))  # (n_rows, n_features)
    return FeatureMatrix(tuple(columns), np.ascontiguousarray(values), left_out, missing)


def numeric_columns(jobs: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns that could serve as features: numbers, without row ids and planted truth."""
    numbers = (str(name) for name in jobs.select_dtypes("number").columns)
    return tuple(name for name in numbers if not name.startswith(("row_id", "truth_")))


def _refuse_absent(jobs: pd.DataFrame, names: list[str]) -> None:
    absent = [name for name in names if name not in jobs.columns]
    if absent:
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; {_what_there_is(jobs)}")


def _refuse_text(column: pd.Series, values: Floats) -> None:
    if np.isnan(values).all() and column.notna().any():
        example = column.dropna().iloc[0]
        raise SettingsError(f"column {column.name} holds no numbers (for example {example!r}); choose a numeric column")


def _what_there_is(jobs: pd.DataFrame) -> str:
    return f"numeric columns here: {', '.join(numeric_columns(jobs)) or 'none'}"


def _unusable(column: Floats, filled: Floats) -> str:
    present = filled[~np.isnan(filled)]
    if not present.size or np.isnan(column).all():
        return "no value in any row"
    if present.min() == present.max():
        return f"constant ({present[0]:g})"
    return ""


def _too_few(columns: dict[str, Floats], left_out: dict[str, str], jobs: pd.DataFrame) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items()) or "only one was named"
    return (
        f"{len(columns)} usable feature(s) ({', '.join(columns) or 'none'}), at least {SMALLEST_FEATURE_COUNT} are "
        f"needed ({reasons}); {_what_there_is(jobs)}"
    )
