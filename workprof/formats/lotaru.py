"""Execution reports of Lotaru and files of machine scores: CSV in, checked frames with units in the names out.

Source: the execution reports of Lotaru (Bader et al. 2022). `Realtime` is in milliseconds,
`TaskInputSizeUncompressed` in bytes, `%cpu` 100 = one core.
A report lies at FOLDER/<machine>/results_<workflow>/execution_report_<machine>.csv; any depth below <machine> will do.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.core.units import factor
from workprof.store.lines import refuse_other_count, rows_under_header

TEXTS = {"Workflow": "workflow", "Task": "task", "Label": "label", "Machine": "machine"}
NUMBERS = {
    "NumberSequences": ("sequences", 1.0),
    "TaskInputSizeUncompressed": ("input_bytes", factor("B")),
    "Realtime": ("runtime_s", factor("ms")),
    "%cpu": ("cpu_percent", factor("percent")),
}
"""Column -> our name and what one unit is in ours."""

NEEDED = ("sequences", "input_bytes", "runtime_s")
LABELS = ("test", "train-1", "train-2")
ABSENT = ("", "-", "NA", "NaN", "nan", "null")
SCORE_COLUMNS = ("machine", "cpu", "linpack", "memory", "io")
SHOWN_LINES = 3


@dataclass(frozen=True)
class ExecutionReports:
    """Reports of several machines."""

    # machine -> workflow, task, label, sequences, input_bytes, runtime_s, cpu_percent (NaN = absent)
    by_machine: dict[str, pd.DataFrame]
    notes: tuple[str, ...]  # what was left out and what looks odd


def read_reports(folder: Path, machines: tuple[str, ...]) -> ExecutionReports:
    """The reports of the machines, of a folder with a folder per machine.

    Raises:
        NoRows: when the folder, a machine's folder or its reports are absent, or nothing usable is in them.
        ColumnMissing: when a report lacks a column.
        TraceError: when a file is no CSV text, or a number is none.
    """
    if not folder.is_dir():
        raise NoRows(f"{folder} is no folder; give the one that holds a folder per machine")
    frames, notes = {}, []
    for machine in dict.fromkeys(machines):
        rows = pd.concat([_report(path) for path in _files(folder, machine)], ignore_index=True)
        frames[machine], more = _usable(rows, machine)
        notes += more
    return ExecutionReports(frames, tuple(notes))


def read_scores(path: Path) -> pd.DataFrame:
    """Machine, cpu, linpack, memory, io of a CSV file; blank = NaN, not measured.

    Raises:
        NoRows: when the file is absent or has no row.
        ColumnMissing, TraceError: as `read_reports`.
    """
    if not path.is_file():
        raise NoRows(f"{path} is no file; give a CSV with the columns {','.join(SCORE_COLUMNS)}")
    table = _table(path, SCORE_COLUMNS)
    names = table["machine"].str.strip()
    if names.isin(ABSENT).any():
        raise TraceError(f"{path}: a row has no machine name")
    return pd.DataFrame({"machine": names} | {name: _numbers(table[name], path) for name in SCORE_COLUMNS[1:]})


def _files(folder: Path, machine: str) -> list[Path]:
    here = sorted(one.name for one in folder.iterdir() if one.is_dir())
    if machine not in here:
        raise NoRows(f"{folder} has no folder {machine!r}; machines there: {', '.join(here) or 'none'}")
    result = sorted((folder / machine).rglob("execution_report_*.csv"))
    if not result:
        raise NoRows(f"{folder / machine} holds no execution_report_*.csv")
    return result


def _report(path: Path) -> pd.DataFrame:
    table = _table(path, (*TEXTS, *NUMBERS))
    texts = {ours: table[name].str.strip() for name, ours in TEXTS.items()}
    numbers = {ours: _numbers(table[name], path) * unit for name, (ours, unit) in NUMBERS.items()}
    return pd.DataFrame(texts | numbers)


def _usable(rows: pd.DataFrame, machine: str) -> tuple[pd.DataFrame, list[str]]:
    notes = []
    whole = (rows[["workflow", "task"]] != "").all(axis=1)
    for name in NEEDED:
        whole &= rows[name] > 0
    if not whole.all():
        notes.append(
            f"{machine}: {int((~whole).sum())} of {len(rows)} rows are left out: no task, size or runtime above 0"
        )
    others = sorted(set(rows["label"]) - set(LABELS))
    if others:
        count = int(rows["label"].isin(others).sum())
        notes.append(f"{machine}: {count} rows are left out: their label is none of {', '.join(LABELS)}")
    named = sorted(set(rows["machine"]) - {machine})
    if named:
        notes.append(f"{machine}: rows name another machine: {', '.join(named)}; the folder's name counts")
    usable = rows[whole & rows["label"].isin(LABELS)].drop(columns="machine").reset_index(drop=True)
    if usable.empty:
        raise NoRows(f"the reports of {machine} hold no row that can be used; {'; '.join(notes) or 'they are empty'}")
    return usable, notes


def _table(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    there = rows_under_header(path, str(path))
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise TraceError(f"{path} cannot be read as CSV: {str(error).splitlines()[0]}") from None
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes surplus fields for row names and shifts the others
        raise TraceError(f"{path}: its rows have more fields than its header")
    refuse_other_count(str(path), len(table), there)
    table.columns = table.columns.str.strip()
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise ColumnMissing(f"{path} has no column {', '.join(lacking)}; it has: {', '.join(map(str, table.columns))}")
    if table.empty:
        raise NoRows(f"{path} has a header and no row")
    return table.fillna("")  # a line cut short


def _numbers(texts: pd.Series, path: Path) -> pd.Series:
    bare = texts.str.strip()
    absent = bare.isin(ABSENT)
    numbers = pd.to_numeric(bare.where(~absent, None), errors="coerce").astype(np.float64)
    wrong = np.flatnonzero(~absent & ~np.isfinite(numbers))
    if len(wrong):
        text = ", ".join(f"{bare.iloc[row]!r} in row {row + 1}" for row in wrong[:SHOWN_LINES])
        raise TraceError(f"{path}, column {texts.name}: {text} is no plain number; write numbers without a unit")
    return numbers
