"""A bounded look into a table: its columns, and the numbers that the values of its first rows would become."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa

from workprof.core.arrays import Bools, Floats
from workprof.formats import generic, values
from workprof.store.text_shape import TextShape

LOOK_BYTES = 16 << 20
LOOK_ROWS = 100_000


@dataclass(frozen=True)
class Numbers:
    """What the values of a column say, row by row."""

    number: Floats  # in workprof's unit, a bare number as it stands; NaN = none
    bare: Bools  # it is a bare number, so that its unit is not in the text
    present: Bools  # there is a value

    def at(self, factor: float) -> Floats:
        """The numbers with `factor` for one unit of a bare one."""
        return np.where(self.bare, self.number * factor, self.number)

    @property
    def unread(self) -> Bools:
        """Values that say no number."""
        return self.present & np.isnan(self.number)


@dataclass(frozen=True)
class Look:
    """The first rows of a file."""

    columns: tuple[str, ...]  # in the file's order
    types: dict[str, str]  # column -> DuckDB type guessed from them, or of the schema
    texts: dict[str, Sequence[str | None]]  # column -> its values as texts, None = missing
    first_line: int  # of the first row, 0 where a file has no lines
    whole: bool  # there are no more rows
    delimiter: str = ""  # and `decimal`: of a delimited text
    decimal: str = "."
    grouped: Mapping[str, str] = field(default_factory=dict)  # column -> the sign between thousands of its numbers
    _read: dict[tuple[str, str], Numbers] = field(default_factory=dict, compare=False)

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return len(self.texts[self.columns[0]]) if self.columns else 0

    def present(self, column: str, most: int = LOOK_ROWS) -> list[str]:
        """The first values of a column that are there."""
        result = (value for value in self.texts[column] if value is not None)
        return [value for value, _ in zip(result, range(most), strict=False)]

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        result = duckdb.connect(config={"threads": 1})
        result.execute("SET TimeZone = 'UTC'")
        return result

    def numbers(self, column: str, quantity: str) -> Numbers:
        """What the values of a column say as a quantity of `values.number`."""
        key = column, quantity
        if key not in self._read:
            table = pa.table({"t": pa.array(self.texts[column], pa.string())})
            self._connection.register("look", table)
            cell = values.ungrouped("t", self.grouped.get(column, ""), self.decimal)
            number = values.number(cell, quantity, 1.0, generic.FORMAT.size_base, self.decimal)
            bare = values.plain(cell, self.decimal)
            none = "FALSE"
            if quantity in (values.TIME, values.TIME_DAY_FIRST):
                none = values.no_moment("t", values.OPEN, values.NOT_KNOWN, values.NOT_YET)
                number = f"CASE WHEN NOT {none} THEN {number} END"
            sql = f"SELECT {number} AS n, {bare} IS NOT NULL AS b, t IS NOT NULL AND NOT {none} AS p FROM look"
            result = self._connection.execute(sql).fetchnumpy()
            self._connection.unregister("look")
            read = np.ma.filled(np.ma.asarray(result["n"], dtype=np.float64), np.nan)
            self._read[key] = Numbers(
                read,
                np.ma.filled(np.ma.asarray(result["b"]), False).astype(bool),
                np.ma.filled(np.ma.asarray(result["p"]), False).astype(bool),
            )
        return self._read[key]


def texts_of(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> dict[str, Sequence[str | None]]:
    """The values of every column as texts; a short row lacks its last values."""
    nulls = frozenset(("", *generic.FORMAT.nulls))
    return {
        name: [
            None if cell is None or (text := str(cell)) in nulls or text.isspace() else text
            for row in rows
            for cell in (row[at] if at < len(row) else None,)
        ]
        for at, name in enumerate(columns)
    }


def cells_of(head: str, shape: TextShape, whole: bool) -> list[list[str]]:
    """The rows of a delimited text's beginning, as far as they stand there whole."""
    lines = head if whole else head[: head.rfind("\n") + 1]
    reader = csv.reader(io.StringIO(lines, newline=""), delimiter=shape.delimiter)
    result: list[list[str]] = []
    try:
        for row in reader:
            if row:
                result.append(row)
            if len(result) > LOOK_ROWS:
                break
    except csv.Error:  # the ingest tells of it, with its line
        pass
    return result[1:]
