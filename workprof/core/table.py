"""A table declared once, column by column: its name in files, heading, format and help, on a page and in a shell."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: in CSV files and JSON documents; its unit is part of it.
        value: path in the record of a row ('peak_gb.p95'), or a function of it; '' = the name.
        heading: on a page; '' = the name in words.
        form: how a page prints a number, as printf has it ('%.3g GB').
        help: shown at the heading.
        pinned: it stays in sight when the table is moved sideways.
        width: 'small', 'medium' or 'large'; '' = by its content.
    """

    name: str
    value: str | Callable[[Any], Any] = ""
    heading: str = ""
    form: str = ""
    help: str = ""
    pinned: bool = False
    width: str = ""

    def of(self, record: Any) -> Any:
        """Return the value of one row."""
        if callable(self.value):
            return self.value(record)
        return functools.reduce(getattr, (self.value or self.name).split("."), record)


def frame(columns: Sequence[Column], records: Iterable[Any]) -> pd.DataFrame:
    """Return the table of records, one line each, under the columns' names in files."""
    rows = [[column.of(record) for column in columns] for record in records]
    return pd.DataFrame(rows, columns=[column.name for column in columns])
