"""Reads tables of measured configurations: a CSV with a row for each measurement of a workload on a configuration."""

import io
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing, TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.measured import CONFIGURATIONS, Measured

NEEDED = ("machine", "count")
COSTS = ("cost", "price_per_h")
"""One of them says what a run costs: itself, or by the price of one machine per hour."""
RUNTIME = "runtime"
RUNTIMES = (RUNTIME, "runtime_s", "runtime_seconds")
"""Names that the column of runtimes may have."""
ABOVE_ZERO = ("count", RUNTIME, *COSTS)


def is_configurations(content: str) -> bool:
    """Whether a text begins with the header of such a table."""
    header = content.lstrip("\ufeff\r\n").partition("\n")[0]
    names = {name.strip().strip('"') for name in header.split(",")}
    return names >= {*NEEDED} and not (names.isdisjoint(RUNTIMES) or names.isdisjoint(COSTS))


def read_configurations(path: Path, origin: str = "") -> Measured:
    """The measurements of a CSV; one without a count, a runtime or a cost (price) above 0 is rejected.

    Empty lines do not count.

    Raises:
        TraceError: when it is no CSV, or when a quoted cell runs over a line's end: such cells have no place here, and
            a quote that is never closed would take whole lines with it.
        ColumnMissing: names the columns that are absent.
    """
    name = origin or path.name
    try:
        text = path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        table = pd.read_csv(io.StringIO("\n".join(line for _, line in lines)), skipinitialspace=True)
    except (ValueError, UnicodeError) as error:
        raise TraceError(f"{name}: this is no CSV ({error})") from error
    if len(table) != len(lines) - 1:
        raise TraceError(
            f"{name}: {len(lines) - 1:,} lines make {len(table):,} rows, since a quoted cell runs over the end of a "
            "line; close the quote"
        )
    table = table.rename(columns=lambda name: str(name).strip()).rename(columns=dict.fromkeys(RUNTIMES, RUNTIME))
    absent = [name for name in (*NEEDED, RUNTIME) if name not in table]
    absent += [" or ".join(COSTS)] if table.columns.isin(COSTS).sum() == 0 else []
    if absent:
        present = ", ".join(map(str, table))
        raise ColumnMissing(f"{name} has no column {', '.join(absent)}; it has {present}")
    rejected, usable = [], np.ones(len(table), dtype=np.bool_)
    for column in [name for name in ABOVE_ZERO if name in table]:
        numbers = pd.to_numeric(table[column], errors="coerce")
        usual, reason = np.isfinite(numbers) & (numbers > 0), "not a number above 0"
        if column == "count":
            usual, reason = usual & (numbers % 1 == 0), "not a whole number above 0"
        for row in np.flatnonzero(~usual).tolist():
            rejected.append(Unreadable(lines[row + 1][0], column, str(table[column].iloc[row]), reason))
            usable[row] = False
        table[column] = numbers
    for column in {"machine", "workload"} & set(table):
        table[column] = table[column].fillna("").astype(str)
    return Measured(CONFIGURATIONS, table[usable].reset_index(drop=True), len(table), tuple(rejected))
