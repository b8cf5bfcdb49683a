"""Rows of a dataset as pandas frames.

Tables are never changed after their ingest, so DuckDB's own `rowid` (0 to n - 1 in file order) is the row's id, and a
scan gives rows in that order without a sort.
"""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from workprof.errors import ColumnMissing, SettingsError
from workprof.store.catalogue import Entry
from workprof.store.compile import FINISHED, ROW_ID
from workprof.store.connection import quoted
from workprof.store.mapping import shown
from workprof.store.reports import Column

LARGEST_PAGE = 100_000


def resolved(entry: Entry, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of these names (fields or the trace's own), each once.

    Raises:
        ColumnMissing: names what there is.
    """
    found: dict[str, Column] = {}
    for name in names:
        column = entry.column(name)
        if column is None:
            there = shown([known.name for known in entry.columns])
            raise ColumnMissing(f"dataset {entry.dataset.name} has no column {name!r}; it has {there}")
        found[column.name] = column
    return tuple(found.values())


def frame(
    cursor: duckdb.DuckDBPyConnection, entry: Entry, names: Sequence[str], *, finished_only: bool
) -> pd.DataFrame:
    """Return `row_id` (int64), numbers as float64 with NaN, texts as categories; in row order."""
    columns = resolved(entry, [name for name in names if name != ROW_ID])
    items = [f"rowid AS {ROW_ID}", *(_typed(column) for column in columns)]
    where = f" WHERE {FINISHED}" if finished_only else ""
    table = cursor.sql(f"SELECT {', '.join(items)} FROM {quoted(entry.table)}{where}").to_arrow_table()
    series = {ROW_ID: pd.Series(table.column(ROW_ID).to_numpy().astype(np.int64))}
    for column in columns:
        series[column.name] = _series(table.column(column.name), column)
    return pd.DataFrame(series)


def page(cursor: duckdb.DuckDBPyConnection, entry: Entry, limit: int, offset: int) -> pd.DataFrame:
    """Return rows as stored, with `row_id` first and `finished` last.

    Raises:
        SettingsError: when the page is out of bounds.
    """
    if not 0 <= limit <= LARGEST_PAGE or offset < 0:
        raise SettingsError(
            f"limit is {limit}, offset {offset}; use a limit up to {LARGEST_PAGE:,} and no negative offset"
        )
    items = _items(entry.columns)
    return cursor.execute(f"SELECT {items} FROM {quoted(entry.table)} LIMIT ? OFFSET ?", [limit, offset]).df()


def rows(cursor: duckdb.DuckDBPyConnection, entry: Entry, row_ids: Sequence[int], names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of these ids, in the order asked.

    Raises:
        SettingsError: when an id is none of the dataset's.
    """
    ids = [int(row_id) for row_id in row_ids]
    unknown = [row_id for row_id in ids if not 0 <= row_id < entry.dataset.rows]
    if unknown:
        raise SettingsError(
            f"row {unknown[0]} is not in dataset {entry.dataset.name}; rows are 0 to {entry.dataset.rows - 1}"
        )
    columns = resolved(entry, names) if names else entry.columns
    found = cursor.execute(
        f"SELECT {_items(columns)} FROM {quoted(entry.table)} WHERE rowid IN (SELECT unnest(CAST(? AS BIGINT[])))",
        [ids],
    ).df()
    return found.set_index(ROW_ID).loc[ids].reset_index()


def _items(columns: Sequence[Column]) -> str:
    return ", ".join([f"rowid AS {ROW_ID}", *(quoted(column.name) for column in columns), FINISHED])


def _typed(column: Column) -> str:
    name = quoted(column.name)
    return f"CAST({name} AS DOUBLE) AS {name}" if column.numeric else name


def _series(values: pa.ChunkedArray, column: Column) -> pd.Series:
    if column.numeric:
        return pd.Series(values.to_numpy(), dtype=np.float64)
    coded = values.combine_chunks().dictionary_encode()
    whole = coded if isinstance(coded, pa.DictionaryArray) else coded.combine_chunks()
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(whole.dictionary.to_pylist(), dtype="str")))
