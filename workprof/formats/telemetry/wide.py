"""Any CSV file of counters: the user names the columns of time, run and workload; numbers are counters."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import ColumnMissing, SettingsError, TraceError
from workprof.core.units import DURATION_FACTORS
from workprof.formats.declare import Unreadable
from workprof.formats.generic import UNIT_SUFFIXES
from workprof.formats.measured import WORD_END, time_column
from workprof.formats.telemetry.samples import Samples, labelled, runs_apart, stem_of
from workprof.formats.telemetry.text_table import NO_VALUE, Numbers, TextTable, header_of, numbers, read_table
from workprof.formats.telemetry.times import CLOCK, is_epoch, of_day, seconds_of, since_start, usual_of
from workprof.store.reports import Check

FIELDS = ("t", "run", "workload", "status")
DELIMITERS = (",", ";", "\t", "|")
BARE_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)")
ABSENT = (*NO_VALUE, "-", "--", "None", "none", "[N/A]", "[Not Supported]")
"""No value, as Python, nvidia-smi and people write it too."""

LOOKED_AT = 1_000
"""So many cells that hold something tell what a column holds."""

WITH_UNIT = re.compile(
    r"[+-]?(?:\d{1,3}(?:[ ,.'_\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?\s*(?:%|[A-Za-zµ°][A-Za-zµ°/]{0,7})?", re.ASCII
)
"""A number for people: with a unit, or blanks between thousands."""

OWN_NAMES = {
    "run": ("run", "host", "hostname", "node", "nodename", "machine", "instance"),
    "workload": ("workload",),
}
"""Columns that name runs and workloads where the mapping names none: several hosts are runs, as in other formats."""

LEAST_TURNS = 5
SHORTEST_S, LONGEST_S = 1e-3, 100.0
"""Usual steps outside are doubtful where nothing says in which unit times are."""


@dataclass(frozen=True)
class Named:
    """Columns by field; '' = the file has none."""

    t: str
    run: str
    workload: str
    status: str
    date: str = ""  # of the day, where `t` is a clock

    @property
    def all(self) -> tuple[str, ...]:
        """Names that are no counters."""
        return tuple(name for name in (self.t, self.run, self.workload, self.status, self.date) if name)


def read_wide(path: Path, mapping: Mapping[str, str], origin: str, unit: str = "") -> Samples:
    """The samples of a CSV file; times since 1970 and clock times become seconds since the start of each run.

    `mapping`: 't', 'run', 'workload', 'status' -> column; a missing 't' is looked for under its usual names, runs and
    workloads under `OWN_NAMES`. A clock goes with the day of a column `date`. The unit is of times in numbers; '' = as
    the column's name tells, else s. The origin names the run where the file names none; an elapsed time that falls back
    to its start begins another run.

    Raises:
        ColumnMissing: when a column of the mapping, or one of time, is absent.
        SettingsError: when the mapping names another field.
    """
    table = read_table(path, origin, delimiter_of(path, origin))
    named = _named(table, mapping, origin)
    counters, texts = _counters(table, named)
    read = numbers(table, counters, origin, ABSENT)
    untimed = table.cells[named.t].str.strip().isin(ABSENT).to_numpy(dtype=bool)
    usable = ~(read.bad | untimed)
    cells = table.cells[usable]
    runs = cells[named.run].str.strip() if named.run else pd.Series(stem_of(origin), index=cells.index)
    workloads = cells[named.workload].str.strip() if named.workload else None
    told = unit or UNIT_SUFFIXES.get(WORD_END.split(named.t.lower().rstrip(")] "))[-1], "")
    dates = cells[named.date].str.strip().str.replace(BARE_DATE, r"\1-\2-\3", regex=True) if named.date else None
    t, elapsed = _times(cells[named.t], dates, runs, workloads, origin, DURATION_FACTORS.get(told, 1.0))
    frame = labelled(read.frame[usable], t, runs, workloads)
    if named.status:
        frame["status"] = cells[named.status].str.strip()
    checks = (*_text_checks(table, texts), *_mixed(frame, cells[[*texts, *counters]], texts))
    if elapsed:
        frame["run"], again = runs_apart(frame)
        checks += again + (() if told in DURATION_FACTORS else _doubt(t, named.t))
    return Samples(frame, _rejected(table, read, untimed, named.t), read.infinite, checks, of_any_kind=True)


def delimiter_of(path: Path, origin: str) -> str:
    """Which of comma, semicolon, tab and bar splits the first line into most fields.

    Raises TraceError when the first line is Excel's own, which only says what separates.
    """
    if header_of(path, origin, "\n")[0].lower().startswith("sep="):
        raise TraceError(f"{origin} begins with Excel's line sep=, above the names; take that line out")
    return max(DELIMITERS, key=lambda delimiter: len(header_of(path, origin, delimiter)))


def _named(table: TextTable, mapping: Mapping[str, str], origin: str) -> Named:
    unknown = [name for name in mapping if name not in FIELDS]
    if unknown:
        raise SettingsError(f"the mapping names {unknown[0]!r}; a file of counters has {', '.join(FIELDS)}")
    columns = list(table.cells.columns)
    lower = {str(name).lower(): str(name) for name in columns}
    given = {"t": time_column(columns)} | dict(mapping)
    for field, names in OWN_NAMES.items():
        labels = (lower[name] for name in names if name in lower and lower[name] not in given.values())
        name = next((one for one in labels if _labels(table.cells, one, given["t"], alone=one.lower() == field)), "")
        if name and field not in given:
            given[field] = name
    for field, column in given.items():
        if column not in columns:
            raise ColumnMissing(
                f"{origin}: there is no column {column or 'of time'!r}; say which it is with --map: "
                f'{{"{field}": {{"from": COLUMN}}}}; the file has {", ".join(columns[:20])}'
            )
    date = lower.get("date", "")
    clocked = date not in ("", given["t"]) and _filled(table.cells[given["t"]]).str.fullmatch(CLOCK).all()
    run, workload, status = (given.get(field, "") for field in FIELDS[1:])
    return Named(given["t"], run, workload, status, date if clocked else "")


def _labels(cells: pd.DataFrame, column: str, time: str, *, alone: bool) -> bool:
    """Tell whether a column names something, be it one thing alone; one of numbers, as 'run', may count processes.

    It names where it holds texts, or numbers that stand in blocks, or of which each has a row at each time.
    """
    values = cells[column].str.strip()
    blocks, each = int((values != values.shift()).sum()), values.nunique()
    if each < 2 and not alone:
        return False
    if not _holds_numbers(values):
        return True
    if blocks == each:
        return 2 * blocks <= len(values)
    return time in cells and each * cells[time].nunique() == len(cells) and not cells.duplicated([column, time]).any()


def _counters(table: TextTable, named: Named) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of numbers and those of texts."""
    counters: list[str] = []
    texts: list[str] = []
    for name in table.cells.columns:
        if name not in named.all:
            (counters if _holds_numbers(table.cells[name]) else texts).append(str(name))
    return tuple(counters), tuple(texts)


def _filled(cells: pd.Series) -> pd.Series:
    """The first cells that hold something; the whole column is looked at where its beginning is empty."""
    for part in (cells.head(LOOKED_AT), cells):
        stripped = part.str.strip()
        filled = stripped[~stripped.isin(ABSENT)].head(LOOKED_AT)
        if len(filled):
            break
    return filled


def _holds_numbers(cells: pd.Series) -> bool:
    """Tell whether half of what a column holds is numbers; a decimal comma is refused later, by name."""
    filled = _filled(cells)
    numeric = pd.to_numeric(filled.str.replace(",", ".", n=1), errors="coerce").notna()
    return bool(2 * numeric.sum() >= len(filled))


def _times(
    texts: pd.Series, dates: pd.Series | None, runs: pd.Series, workloads: pd.Series | None, origin: str, factor: float
) -> tuple[NDArray[np.float64], bool]:
    """Seconds since the start of each run, and whether they are elapsed times as written, times the factor."""
    keys = [runs] if workloads is None else [workloads, runs]
    plain = texts.str.strip().str.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?").all()
    if dates is not None:
        day_s = seconds_of(list(dates), origin)
        at = pd.Series(day_s + of_day(list(texts), origin), index=texts.index)
    elif plain and factor != 1.0:
        at = pd.to_numeric(texts.str.strip()) * factor
    else:
        at = pd.Series(
            seconds_of(list(texts), origin, list(texts.groupby(keys, sort=False).ngroup())), index=texts.index
        )
    elapsed = plain and not is_epoch(np.asarray(at))
    if elapsed:
        return np.asarray(at, dtype=np.float64), True
    since = at.groupby(keys, sort=False).transform(lambda one: since_start(one.to_numpy()))
    return np.asarray(since, dtype=np.float64), False


def _rejected(table: TextTable, read: Numbers, untimed: NDArray[np.bool_], column: str) -> tuple[Unreadable, ...]:
    lost = tuple(Unreadable(int(line), column, "", "no time") for line in table.lines[untimed & ~read.bad])
    return (*table.rejected, *read.rejected, *lost)


def _text_checks(table: TextTable, texts: tuple[str, ...]) -> tuple[Check, ...]:
    """What is left out: columns of texts, and the doubt about those that are numbers for people."""
    firsts = {name: _filled(table.cells[name]) for name in texts}
    counted = [name for name, filled in firsts.items() if 2 * filled.str.fullmatch(WITH_UNIT).sum() > len(filled)]
    shown = ", ".join(f"{name} ({firsts[name].iloc[0]!r})" for name in counted[:8])
    plain = [name for name in texts if name not in counted]
    result = (
        Check("numbers_with_units", "warning", len(counted), f"{len(counted):,} columns are left out, as their numbers "
              f"have units or signs between thousands: {shown}; write plain numbers"),
        Check("text_columns", "info", len(plain), f"{len(plain):,} columns of texts are left out: "
              f"{', '.join(plain[:8])}; one that names runs is given with --map"),
    )  # fmt: skip
    return tuple(check for check in result if check.count)


def _mixed(frame: pd.DataFrame, cells: pd.DataFrame, texts: tuple[str, ...]) -> tuple[Check, ...]:
    """The doubt about rows that a column tells apart: several hosts or devices, or a counter in each row."""
    keys = frame[["workload", "run", "t"]]
    again = bool(keys.duplicated().any())
    apart = (name for name in texts if again and not keys.assign(text=cells[name]).duplicated().any())
    first = cells[(frame.groupby(["workload", "run"], dropna=False, sort=False).ngroup() == 0).to_numpy()]
    turns = (str(name) for name in first if _takes_turns(first[name].head(LOOKED_AT)))
    name = next(itertools.chain(apart, turns), "")
    text = (
        f"{len(frame):,} rows of a run take turns in {name}: if it names runs, say so with --map: "
        f'{{"run": {{"from": "{name}"}}}}; if it names counters, give each a column'
    )
    return (Check("mixed_rows", "warning", len(frame), text),) if name else ()


def _takes_turns(cells: pd.Series) -> bool:
    """Tell whether the same values follow each other over and over, as names of hosts and numbers of devices do."""
    values = cells.str.strip().to_numpy()
    each = len(set(values))
    if each < 2 or len(values) < LEAST_TURNS * each or len(set(values[:each])) < each:
        return False
    return bool((values[each:] == values[:-each]).all())


def _doubt(t: NDArray[np.float64], column: str) -> tuple[Check, ...]:
    """The doubt about the unit of elapsed times."""
    step = usual_of(np.abs(np.diff(t)))
    if not step or SHORTEST_S <= step < LONGEST_S:
        return ()
    text = (
        f"{column} is taken for seconds, a sample every {step:g} s; if it counts otherwise, give its unit with --map: "
        f'{{"t": {{"from": "{column}", "unit": "ms"}}}}'
    )
    return (Check("unit_of_time", "warning", t.size, text),)
