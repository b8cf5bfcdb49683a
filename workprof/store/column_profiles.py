"""Distribution of every column of a dataset, and its coverage of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from workprof.errors import SettingsError
from workprof.store.catalogue import Entry, one
from workprof.store.connection import quoted
from workprof.store.reports import Column, ColumnProfile, TimeCoverage

HISTOGRAM_BINS = 24
TOP_VALUES = 5
EXACT_UP_TO_ROWS = 250_000
"""Above this, quantiles come from a t-digest (DuckDB's approx_quantile)."""
MOSTLY_UNIQUE_SHARE = 0.5
"""A text column with more distinct values than this share of its rows has no telling top values."""

QUANTILES = "[0.01, 0.5, 0.95, 0.99]"
NAN = math.nan
NO_COUNTS: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


def column_profiles(cursor: duckdb.DuckDBPyConnection, entry: Entry) -> tuple[ColumnProfile, ...]:
    """Return one profile per column: one scan for the figures, one more per column for its bars."""
    if not entry.columns:
        return ()
    exact = entry.dataset.rows <= EXACT_UP_TO_ROWS
    items = [item for column in entry.columns for item in _items(column, exact)]
    figures = one(cursor, f"SELECT {', '.join(items)} FROM {quoted(entry.table)}")
    per_column = [figures[at : at + 5] for at in range(0, len(figures), 5)]
    return tuple(_profile(cursor, entry, column, row) for column, row in zip(entry.columns, per_column, strict=True))


def time_coverage(cursor: duckdb.DuckDBPyConnection, entry: Entry, bins: int) -> TimeCoverage:
    """Return rows started per bin of equal width.

    Raises:
        SettingsError: when `bins` is out of bounds.
    """
    if not 1 <= bins <= 10_000:
        raise SettingsError(f"bins is {bins}; use 1 to 10,000")
    column = entry.column("start_time_s")
    if column is None:
        return TimeCoverage(np.zeros(0), NO_COUNTS, entry.dataset.rows)
    name = quoted(column.name)
    low, high, present = one(cursor, f"SELECT min({name}), max({name}), count({name}) FROM {quoted(entry.table)}")
    if not present:
        return TimeCoverage(np.zeros(0), NO_COUNTS, entry.dataset.rows)
    high = high if high > low else low + 1.0
    counts = _counts(cursor, entry, column, low, high, bins)
    return TimeCoverage(np.linspace(low, high, bins + 1), counts, entry.dataset.rows - int(present))


def _items(column: Column, exact: bool) -> Sequence[str]:
    name = quoted(column.name)
    distinct = f"approx_count_distinct({name})"
    if not column.numeric:
        return (f"count({name})", distinct, "NULL", "NULL", "NULL")
    value = f"CAST({name} AS DOUBLE)"
    quantiles = f"quantile_cont({value}, {QUANTILES})" if exact else f"approx_quantile({value}, {QUANTILES})"
    return (f"count({name})", distinct, f"min({value})", f"max({value})", quantiles)


def _profile(cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, figures: Sequence[Any]) -> ColumnProfile:
    present, distinct, low, high, quantiles = figures
    rows = entry.dataset.rows
    p1, median, p95, p99 = quantiles or (NAN, NAN, NAN, NAN)
    return ColumnProfile(
        column=column,
        rows=rows,
        missing_share=1 - present / rows if rows else 0.0,
        distinct=min(int(distinct), int(present)),
        minimum=NAN if low is None else float(low),
        median=float(median),
        p95=float(p95),
        maximum=NAN if high is None else float(high),
        top=() if column.numeric else _top(cursor, entry, column, int(distinct)),
        histogram=_histogram(cursor, entry, column, p1, p99) if column.numeric and present else NO_COUNTS,
    )


def _histogram(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, low: float, high: float
) -> NDArray[np.int64]:
    return _counts(cursor, entry, column, low, high if high > low else low + 1.0, HISTOGRAM_BINS)


def _counts(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, low: float, high: float, bins: int
) -> NDArray[np.int64]:
    value = f"CAST({quoted(column.name)} AS DOUBLE)"
    found = cursor.execute(
        f"SELECT least(CAST(floor(({value} - ?) / ? * ?) AS BIGINT), ?) AS bin, count(*) FROM {quoted(entry.table)} "
        f"WHERE {value} BETWEEN ? AND ? GROUP BY bin",
        [low, high - low, bins, bins - 1, low, high],
    ).fetchall()
    counts = np.zeros(bins, dtype=np.int64)
    for position, count in found:
        counts[position] = count
    return counts


def _top(cursor: duckdb.DuckDBPyConnection, entry: Entry, column: Column, distinct: int) -> tuple[tuple[str, int], ...]:
    if entry.dataset.rows > EXACT_UP_TO_ROWS and distinct > MOSTLY_UNIQUE_SHARE * entry.dataset.rows:
        return ()
    name = quoted(column.name)
    found = cursor.execute(
        f"SELECT {name}, count(*) AS n FROM {quoted(entry.table)} WHERE {name} IS NOT NULL "
        f"GROUP BY {name} ORDER BY n DESC, {name} LIMIT {TOP_VALUES}"
    ).fetchall()
    return tuple((str(value), int(count)) for value, count in found)
