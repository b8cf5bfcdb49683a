"""Facts known before a run as numbers: one column per frequent value, scaled numbers, and what is missing marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_of
from workprof.memory.predictor.facts import InputFact

if TYPE_CHECKING:
    import pandas as pd

FEWEST_RARE_RUNS = 3
RARE_SHARE = 0.01
"""Of the training runs: what a value needs to stand for itself; all rarer ones, and unseen ones, are one value."""

MOST_VALUES = 50
"""Of one column that stand for themselves, the most frequent first."""


@dataclass(frozen=True)
class ValueCode:
    """A column of texts: its kept values, each a column, then 'rare or unseen' and 'not given'."""

    column: str
    kept: tuple[str, ...]

    def encode(self, table: pd.DataFrame) -> Floats:
        """Return (n_runs, n_kept + 2) zeros and ones."""
        place = {text: i for i, text in enumerate(self.kept)}
        rare, missing = len(self.kept), len(self.kept) + 1
        codes = [missing if text is None else place.get(text, rare) for text in _texts(table[self.column])]
        return np.eye(missing + 1)[np.array(codes, dtype=np.int64)]


@dataclass(frozen=True)
class NumberCode:
    """A column of numbers: its logarithm where that is less skewed, centred and scaled, and whether it was given."""

    column: str
    logarithm: bool
    centre: float
    scale: float
    middle: float

    def encode(self, table: pd.DataFrame) -> Floats:
        """Return (n_runs, 2): the number, the middle one where it is missing, and 1 where it was."""
        values = _rescaled(numbers_of(table, self.column), self.logarithm)
        missing = np.isnan(values)
        filled = np.where(missing, self.middle, values)
        return np.column_stack([(filled - self.centre) / self.scale, missing.astype(np.float64)])


@dataclass(frozen=True)
class RunEncoder:
    """A recipe fitted on training runs only; columns that are constant there are left out."""

    codes: tuple[ValueCode | NumberCode, ...]
    varying: tuple[tuple[int, ...], ...]

    def encode(self, table: pd.DataFrame) -> Floats:
        """Return (n_runs, n_columns); no value is missing."""
        parts = [code.encode(table)[:, list(kept)] for code, kept in zip(self.codes, self.varying, strict=True)]
        return np.column_stack(parts) if parts else np.zeros((len(table), 0))

    @property
    def columns_of(self) -> tuple[str, ...]:
        """(n_columns,) the input that each column comes from."""
        return tuple(code.column for code, kept in zip(self.codes, self.varying, strict=True) for _ in kept)


def fit_encoder(table: pd.DataFrame, inputs: tuple[InputFact, ...]) -> RunEncoder:
    """Return the recipe of training runs."""
    codes = tuple(
        _number_code(table, fact.column) if fact.numeric else _value_code(table, fact.column) for fact in inputs
    )
    encoded = [code.encode(table) for code in codes]
    varying = tuple(tuple(int(i) for i in np.flatnonzero(np.ptp(part, axis=0) > 0)) for part in encoded)
    return RunEncoder(codes, varying)


def _value_code(table: pd.DataFrame, column: str) -> ValueCode:
    texts = [text for text in _texts(table[column]) if text is not None]
    values, counts = np.unique(np.array(texts, dtype=np.str_), return_counts=True)
    fewest = max(FEWEST_RARE_RUNS, round(RARE_SHARE * len(table)))
    ranked = [int(i) for i in np.argsort(-counts, kind="stable") if counts[i] >= fewest]
    return ValueCode(column, tuple(str(values[i]) for i in ranked[:MOST_VALUES]))


def _number_code(table: pd.DataFrame, column: str) -> NumberCode:
    raw = numbers_of(table, column)
    given = raw[~np.isnan(raw)]
    if not len(given):
        return NumberCode(column, logarithm=False, centre=0.0, scale=1.0, middle=0.0)
    logarithm = bool(given.min() >= 0) and abs(_skewness(np.log1p(given))) < abs(_skewness(given))
    values = _rescaled(given, logarithm)
    centre, spread = float(values.mean()), float(values.std())
    return NumberCode(column, logarithm, centre, spread or 1.0, float(np.median(values)))


def _rescaled(values: Floats, logarithm: bool) -> Floats:
    """Return the values or their logarithm; a negative one, which training did not have, counts as 0 there."""
    return np.log1p(np.maximum(values, 0.0)) if logarithm else values


def _skewness(values: Floats) -> float:
    """Return the third standardised moment, 0 for equal values."""
    centred = values / np.abs(values).max() if np.abs(values).max() > 0 else values  # bytes cubed would lose digits
    centred = centred - centred.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return float((centred**3).mean()) / spread**3 if spread > 0 else 0.0


def _texts(column: pd.Series) -> list[str | None]:
    given = column.notna().tolist()
    return [str(value) if known else None for value, known in zip(column.tolist(), given, strict=True)]
