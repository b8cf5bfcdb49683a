"""Any CSV file of counters: the user names the columns of time, run and workload; numbers are counters."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import ColumnMissing, SettingsError
from workprof.core.units import DURATION_FACTORS
from workprof.formats.declare import Unreadable
from workprof.formats.generic import UNIT_SUFFIXES
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.text_table import NO_VALUE, Numbers, TextTable, header_of, numbers, read_table
from workprof.formats.telemetry.times import is_epoch, seconds_of, since_start
from workprof.store.reports import Check

FIELDS = ("t", "run", "workload", "status")
TIME_NAMES = ("t", "time", "timestamp", "elapsed", "elapsed_time", "ts", "date")
DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class Named:
    """Columns by field; '' = the file has none."""

    t: str
    run: str
    workload: str
    status: str

    @property
    def all(self) -> tuple[str, ...]:
        """Names that are no counters."""
        return tuple(name for name in (self.t, self.run, self.workload, self.status) if name)


def read_wide(path: Path, mapping: Mapping[str, str], origin: str, unit: str = "") -> Samples:
    """The samples of a CSV file; times since 1970 and clock times become seconds since the start of each run.

    `mapping`: 't', 'run', 'workload', 'status' -> column; a missing 't' is looked for under its usual names. The unit
    is of times in numbers; '' = as the column's name tells, else s. The origin names the run where the file names none.

    Raises:
        ColumnMissing: when a column of the mapping, or one of time, is absent.
        SettingsError: when the mapping names another field.
    """
    table = read_table(path, origin, delimiter_of(path))
    named = _named(table, mapping, origin)
    counters, texts = _counters(table, named)
    read = numbers(table, counters, origin)
    untimed = table.cells[named.t].str.strip().isin(NO_VALUE).to_numpy(dtype=bool)
    usable = ~(read.bad | untimed)
    cells = table.cells[usable]
    runs = cells[named.run].str.strip() if named.run else pd.Series(stem_of(origin), index=cells.index)
    workloads = cells[named.workload].str.strip() if named.workload else None
    told = UNIT_SUFFIXES.get(re.split(r"[^a-zµ]+", named.t.lower().rstrip(")] "))[-1], "s")
    t = _times(cells[named.t], runs, workloads, origin, DURATION_FACTORS.get(unit or told, 1.0))
    frame = labelled(read.frame[usable], t, runs, workloads)
    if named.status:
        frame["status"] = cells[named.status].str.strip()
    return Samples(frame, _rejected(table, read, untimed, named.t), read.infinite, _checks(texts))


def delimiter_of(path: Path) -> str:
    """Which of comma, semicolon and tab splits the first line into most fields."""
    return max(DELIMITERS, key=lambda delimiter: len(header_of(path, path.name, delimiter)))


def _named(table: TextTable, mapping: Mapping[str, str], origin: str) -> Named:
    unknown = [name for name in mapping if name not in FIELDS]
    if unknown:
        raise SettingsError(f"the mapping names {unknown[0]!r}; a file of counters has {', '.join(FIELDS)}")
    columns = list(table.cells.columns)
    lower = {str(name).lower(): str(name) for name in columns}
    given = {"t": next((lower[name] for name in TIME_NAMES if name in lower), "")} | dict(mapping)
    for field, column in given.items():
        if column not in columns:
            raise ColumnMissing(
                f"{origin}: there is no column {column or 'of time'!r}; say which it is with --map: "
                f'{{"{field}": {{"from": COLUMN}}}}; the file has {", ".join(columns[:20])}'
            )
    return Named(*(given.get(field, "") for field in FIELDS))


def _counters(table: TextTable, named: Named) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of numbers and those of texts, told by the first cell that holds something."""
    counters: list[str] = []
    texts: list[str] = []
    for name in table.cells.columns:
        if name not in named.all:
            (counters if _starts_with_number(table.cells[name]) else texts).append(str(name))
    return tuple(counters), tuple(texts)


def _starts_with_number(cells: pd.Series) -> bool:
    filled = cells[~cells.str.strip().isin(NO_VALUE)]
    if filled.empty:
        return True
    try:
        float(filled.iloc[0].replace(",", "."))  # a decimal comma is refused later, by name
    except ValueError:
        return False
    return True


def _times(
    texts: pd.Series, runs: pd.Series, workloads: pd.Series | None, origin: str, factor: float
) -> NDArray[np.float64]:
    """Seconds since the start of each run; numbers that do not count from 1970 are taken times the factor."""
    keys = [runs] if workloads is None else [workloads, runs]
    plain = texts.str.strip().str.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?").all()
    if plain and factor != 1.0:
        at = pd.to_numeric(texts.str.strip()) * factor
    else:
        at = pd.Series(
            seconds_of(list(texts), origin, list(texts.groupby(keys, sort=False).ngroup())), index=texts.index
        )
    elapsed = plain and not is_epoch(np.asarray(at))
    if elapsed:
        return np.asarray(at, dtype=np.float64)
    since = at.groupby(keys, sort=False).transform(lambda one: since_start(one.to_numpy()))
    return np.asarray(since, dtype=np.float64)


def _rejected(table: TextTable, read: Numbers, untimed: NDArray[np.bool_], column: str) -> tuple[Unreadable, ...]:
    lost = tuple(Unreadable(int(line), column, "", "no time") for line in table.lines[untimed & ~read.bad])
    return (*table.rejected, *read.rejected, *lost)


def _checks(texts: tuple[str, ...]) -> tuple[Check, ...]:
    if not texts:
        return ()
    text = f"{len(texts):,} columns hold texts and are left out: {', '.join(texts[:8])}"
    return (Check("text_columns", "info", len(texts), text),)
