"""A table declared once, column by column: name, unit, heading, format and help of a number, for every face."""

from __future__ import annotations

import csv
import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.text import spreadsheet_text
from workprof.core.units import compact, format_duration, format_share, gb, gb_h
from workprof.core.words import column_words, counted

MISSING = "–"
"""In a cell without a value."""


@dataclass(frozen=True)
class Measure:
    """How numbers of one unit are written."""

    form: str  # of a cell, as `Column.form`
    words: Callable[[float], str]  # with the unit, where no heading has it
    in_heading: bool = True  # the unit stands in brackets there


MEASURES = {
    "GB": Measure("%,.3g", gb),
    "GB·h": Measure("%,.4g", gb_h),
    "h": Measure("%,.3g", lambda value: f"{printed(value, '%,.3g')} h"),
    "s": Measure("%,.3g", format_duration),
    "share": Measure("percent", format_share, in_heading=False),
    "count": Measure("%,.0f", lambda value: f"{value:,.0f}", in_heading=False),
    "runs": Measure("%,.0f", lambda value: counted(int(value), "run"), in_heading=False),
    "USD": Measure("%,.2f", lambda value: f"{value:,.2f} USD"),
}
"""By unit. GB = 1e9 bytes; a share is 0-1 in documents and files, and shown in per cent."""

_FORM = re.compile(r"%(,?)\.(\d+)([fg])(.*)")


@dataclass(frozen=True)
class Column:
    """A column of a table, or a figure: a number, a text, or both ends of an interval."""

    name: str  # in CSV files and JSON documents; its unit is part of it
    value: str | Callable[[Any], Any] = ""  # path in the record ('peak_gb.p95'), or a function of it; '' = the name.
    # Several numbers are a list in JSON documents, one text elsewhere.
    heading: str = ""  # on a page, in a report and in a shell, without the unit; '' = the name in words
    form: str = ""  # of a number in a cell, as printf has it ('%.3g GB'); '' = that of the unit
    help: str = ""  # shown at the heading
    pinned: bool = False  # it stays in sight when the table is moved sideways
    width: str = ""  # 'small', 'medium' or 'large'; '' = by its content
    unit: str = ""  # of MEASURES; '' = a text, or a number as it is
    to: Column | None = None  # the upper end, where this is the lower one: shown as 'low to high'
    optional: bool = False  # where no row has a value it is in the JSON document only
    shown: bool = True  # False = it is in the JSON document only
    aside: bool = False  # in documents and files only: neither on a page nor in a shell
    said: Callable[[Any], str] | None = None  # of a record: its text for people, where the unit's words will not do
    also: tuple[str, ...] = field(default=(), kw_only=True)  # former names, kept in JSON documents for a release

    def of(self, record: Any) -> Any:
        """The value of one row."""
        if callable(self.value):
            return self.value(record)
        return functools.reduce(getattr, (self.value or self.name).split("."), record)

    def ends(self) -> tuple[Column, ...]:
        """The columns of documents and files: one, or both ends of an interval."""
        return (self,) if self.to is None else (self, self.to)

    @property
    def words(self) -> str:
        """The heading without its unit."""
        return self.heading or column_words(self.name)

    @property
    def title(self) -> str:
        """The heading with its unit."""
        measure = MEASURES.get(self.unit)
        return f"{self.heading} ({self.unit})" if self.heading and measure and measure.in_heading else self.words

    @property
    def number(self) -> bool:
        """Whether its cells are numbers on a page."""
        return bool(self.form or self.unit) and self.to is None and self.said is None

    @property
    def shown_form(self) -> str:
        """The format of its cells."""
        return self.form or (MEASURES[self.unit].form if self.unit else "")

    def cell(self, record: Any) -> str:
        """The text of one row under its heading."""
        return self._span(record, self._cell)

    def text(self, record: Any) -> str:
        """The value of a record with its unit, as a sentence has it."""
        return self._span(record, self._words)

    def _span(self, record: Any, written: Callable[[Any], str]) -> str:
        if self.said is not None:
            return self.said(record)
        low, *high = (end.of(record) for end in self.ends())
        if is_missing(low):
            return "" if is_missing(high[0] if high else low) else f"up to {written(high[0])}"
        if not high or is_missing(high[0]):
            return f"at least {written(low)}" if high else written(low)
        low_text, high_text = written(low), written(high[0])
        if low_text == high_text:
            return high_text
        mark = re.search(r"\D+$", high_text)  # '0.1 to 0.9 %'
        return f"{low_text.removesuffix(mark[0]) if mark else low_text} to {high_text}"

    def _cell(self, value: Any) -> str:
        if isinstance(value, (tuple, list)):
            return ", ".join(map(self._cell, value))
        if isinstance(value, str) or not self.shown_form or isinstance(value, (bool, np.bool_)):
            return _plain(value)
        return format_share(float(value)) if self.shown_form == "percent" else printed(float(value), self.shown_form)

    def _words(self, value: Any) -> str:
        if isinstance(value, (str, bool, np.bool_)) or not (self.unit or self.form):
            return _plain(value)
        return MEASURES[self.unit].words(float(value)) if self.unit else self._cell(value)


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN or ''."""
    return value is None or value == "" or (isinstance(value, (float, np.floating)) and math.isnan(value))


def printed(value: float, form: str) -> str:
    """A number as printf has it; '%.3g' has no exponent: all digits before the point, three in all after it."""
    found = _FORM.fullmatch(form)
    if found is None or not math.isfinite(value):
        return "no data" if math.isnan(value) else "infinite" if math.isinf(value) else form % value
    separator, digits, kind, mark = found[1], int(found[2]), found[3], found[4].replace("%%", "%")
    if kind == "f":
        return f"{value:{separator}.{digits}f}{mark}"
    rounded = float(f"{value:.{digits}g}")
    if rounded and abs(rounded) < 1e-4:
        return f"{value:.{digits}g}{mark}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0) if rounded else 0
    text = f"{value:{separator}.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{mark}"


def _plain(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_plain, value))
    if isinstance(value, (float, np.floating)):
        return compact(float(value))
    return f"{value:,}" if isinstance(value, (int, np.integer)) else str(value)


def frame(columns: Sequence[Column], records: Iterable[Any]) -> pd.DataFrame:
    """The table of records, one line each, under the columns' names in files; counts stay whole beside empty cells."""
    every = [end for column in columns for end in column.ends()]
    rows = [[_flat(end.of(record)) for end in every] for record in records]
    table = pd.DataFrame(rows, columns=[end.name for end in every])
    for at, kind in enumerate(table.dtypes):
        if kind == np.float64 and _counts(values := [row[at] for row in rows]):
            table.isetitem(at, pd.array(values, dtype="Int64"))
    return table


def _counts(values: Sequence[Any]) -> bool:
    """Whether the values are whole numbers and empty cells, which pandas makes floats."""
    present = [value for value in values if not is_missing(value)]
    return bool(present) and all(isinstance(value, (int, np.integer)) for value in present)


def _flat(value: Any) -> Any:
    return ", ".join(map(_exact, value)) if isinstance(value, (tuple, list)) else value


def _exact(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, (float, np.floating)) else str(value)


BYTE_ORDER_MARK = "\ufeff"
"""With it a spreadsheet takes a CSV file for UTF-8."""


def csv_bytes(table: pd.DataFrame, *, mark: bool = False) -> bytes:
    """A table as CSV in UTF-8, a byte order mark if asked; texts that it would run get an apostrophe."""
    safe = table.copy()
    for name in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[name]):
            safe[name] = [spreadsheet_text(item) if isinstance(item, str) else item for item in safe[name]]
    safe.columns = pd.Index([spreadsheet_text(str(name)) for name in safe.columns])
    text: str = safe.to_csv(index=False)
    if "\r" in text:  # the csv module leaves a lone CR bare, and a spreadsheet begins a row after it
        text = safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    return f"{BYTE_ORDER_MARK if mark else ''}{text}".encode(errors="replace")
