"""Submit-time metadata of the rows, counted per profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

METADATA = ("workload", "task_name", "user", "group", "job_name", "gpu_type", "node")
"""Columns that say what was known when a job was submitted, in the order of the page; absent ones are skipped."""

CELL = ("workload", "task_name")
"""The metadata cell that purity is measured against: each published profile is one pair, but for 13 rows in all."""

NOT_GIVEN = "not given"
REST = "all others"
HEATMAP_VALUES = 30


@dataclass(frozen=True)
class CategoryShare:
    """How often one metadata value stands in a profile."""

    field: str
    value: str
    rows: int
    share: float


@dataclass(frozen=True)
class Heatmap:
    """Rows per profile and metadata value: `counts` is (n_groups, n_values), rest values pooled in the last column."""

    field: str
    profiles: Ints
    values: tuple[str, ...]
    counts: Ints


@dataclass(frozen=True)
class FieldCounts:
    """Occurrences of the values of one field in each group, the most frequent of a group first."""

    field: str  # column, or several joined by '/'
    texts: tuple[str, ...]  # (n_values,) values
    group: Ints  # (n_entries,) position of the group
    value: Ints  # (n_entries,) position in `texts`
    rows: Ints  # (n_entries,) rows of that group with that value
    first: Ints  # (n_groups + 1,) where each group's entries start

    def top(self, group: int, count: int, size: int) -> tuple[CategoryShare, ...]:
        """The `count` most frequent values of a group of `size` rows."""
        start, end = self.first[group], min(self.first[group + 1], self.first[group] + count)
        return tuple(
            CategoryShare(self.field, self.texts[self.value[i]], int(self.rows[i]), float(self.rows[i] / size))
            for i in range(start, end)
        )

    def _given(self, group: int) -> Ints:
        """(n,) places of the entries of a group that name a value, the most frequent first."""
        every: Ints = np.arange(self.first[group], self.first[group + 1], dtype=np.int64)
        lacking = "/".join([NOT_GIVEN] * (1 + self.field.count("/")))
        return every[self.value[every] != self.texts.index(lacking)] if lacking in self.texts else every

    def distinct(self, group: int) -> int:
        """How many values are given in a group."""
        return len(self._given(group))

    def purity(self, group: int, size: int) -> float:
        """The share of a group of `size` rows that has its most frequent value; NaN where none is given."""
        given = self._given(group)
        return float(self.rows[given[0]] / size) if len(given) else math.nan


def count_values(jobs: pd.DataFrame, columns: tuple[str, ...], groups: Ints, n_groups: int) -> FieldCounts:
    """The occurrences of the values (or combinations of values) of `columns` in each group.

    A missing value is a value of its own, 'not given'.
    """
    codes, values = value_codes(jobs, columns)
    width = max(1, len(values))
    entries, rows = np.unique(groups * width + codes, return_counts=True)
    group, value = entries // width, entries % width
    order = np.lexsort((value, -rows, group))
    first = np.searchsorted(group[order], np.arange(n_groups + 1))
    return FieldCounts("/".join(columns), values, group[order], value[order], rows[order], first.astype(np.int64))


def value_codes(jobs: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Ints, tuple[str, ...]]:
    """(n_rows,) codes of the combined values and the values as texts, in order of their texts."""
    codes, texts = np.zeros(len(jobs), dtype=np.int64), [""]
    for column in columns:
        part, uniques = jobs[column].astype("object").factorize(use_na_sentinel=True)
        names = [*(str(value) for value in uniques), NOT_GIVEN]
        part = np.where(part < 0, len(uniques), part).astype(np.int64)
        used, codes = np.unique(codes * len(names) + part, return_inverse=True)
        before = [f"{text}/" if column != columns[0] else "" for text in texts]
        texts = [f"{before[i // len(names)]}{names[i % len(names)]}" for i in used]
    order = np.argsort(np.array(texts, dtype=object), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[codes] if len(codes) else codes, tuple(texts[i] for i in order)


def metadata_fields(jobs: pd.DataFrame) -> tuple[str, ...]:
    """The metadata columns that the table has and that hold at least one value."""
    return tuple(name for name in METADATA if name in jobs.columns and bool(jobs[name].notna().any()))


def heatmap(counts: FieldCounts, profiles: Ints) -> Heatmap:
    """Rows per profile and value; beyond the 30 most frequent values the rest is one column."""
    totals = np.bincount(counts.value, weights=counts.rows, minlength=len(counts.texts))
    ranked = np.argsort(-totals, kind="stable")
    shown = ranked[:HEATMAP_VALUES] if len(ranked) > HEATMAP_VALUES + 1 else ranked
    column = np.full(len(counts.texts), len(shown), dtype=np.int64)
    column[shown] = np.arange(len(shown))
    names = tuple(counts.texts[i] for i in shown) + ((REST,) if len(shown) < len(ranked) else ())
    table = np.zeros((len(profiles), max(1, len(names))), dtype=np.int64)
    np.add.at(table, (counts.group, column[counts.value]), counts.rows)
    return Heatmap(counts.field, profiles, names, table)
