"""workprof's own recordings: `workload,run,t,<counters>`, a row per sample; read, and written as they come."""

import csv
import errno
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import ColumnMissing, SettingsError
from workprof.formats.declare import Unreadable
from workprof.formats.telemetry.samples import KEYS, Samples, labelled, runs_apart
from workprof.formats.telemetry.text_table import TextTable, numbers, read_table
from workprof.store.outputs import append, checked_output, growing, whole
from workprof.store.reports import Check

__all__ = ["OUTCOMES", "STATUSES", "read_own"]

STATUSES = ("complete", "short", "failed")
T_DIGITS = 6


def read_own(path: Path, origin: str, outcomes: Path | None = None) -> Samples:
    """The samples of a recording; a line without workload, run or time is rejected.

    A name that ends in `.partial` is of a recording that was not finished. `outcomes` are the JSON lines that the
    recorder writes beside a recording, where they are to be had.

    Raises:
        ColumnMissing: when workload, run or t is absent.
        TraceError: on decimal commas.
    """
    table = read_table(path, origin)
    _require(table, origin)
    counters = tuple(name for name in table.cells.columns if name not in KEYS)
    read = numbers(table, ("t", *counters), origin)
    nameless = _nameless(table, read.frame["t"].to_numpy(dtype=np.float64)) & ~read.bad
    usable = ~(read.bad | nameless)
    cells, values = table.cells.loc[usable], read.frame.loc[usable]
    t = np.round(values["t"].to_numpy(dtype=np.float64), T_DIGITS)
    frame = labelled(values.drop(columns="t"), t, cells["run"].str.strip(), cells["workload"].str.strip())
    unknown = _unknown_statuses(cells)
    frame["status"] = _statuses(frame, cells, origin, _status_by_run(outcomes))
    frame["run"], again = runs_apart(frame)
    rejected = (*table.rejected, *read.rejected, *_lost(table, nameless))
    return Samples(frame, rejected, read.infinite, (*_status_checks(frame), *unknown, *again))


def _lost(table: TextTable, nameless: NDArray[np.bool_]) -> tuple[Unreadable, ...]:
    keys = table.cells.loc[nameless, list(KEYS[:3])].itertuples(index=False)
    return tuple(
        Unreadable(int(line), "", ",".join(map(str, texts)), "no workload, run or time")
        for line, texts in zip(table.lines[nameless], keys, strict=True)
    )


def _require(table: TextTable, origin: str) -> None:
    missing = [name for name in KEYS[:3] if name not in table.cells.columns]
    if missing:
        raise ColumnMissing(
            f"{origin}: column {missing[0]} is missing; a recording starts with {HEADER.rstrip(',')}, and another CSV "
            f"file of counters is read with --format wide and a mapping"
        )


def _nameless(table: TextTable, t: NDArray[np.float64]) -> NDArray[np.bool_]:
    empty = (table.cells["workload"].str.strip() == "") | (table.cells["run"].str.strip() == "")
    return np.asarray(empty.to_numpy(dtype=bool) | ~np.isfinite(t), dtype=bool)


def _statuses(
    frame: pd.DataFrame, cells: pd.DataFrame, origin: str, recorded: Mapping[tuple[str, str], str]
) -> pd.Series:
    """How each row's run ended: as its file says, as told beside it, or failed where the file is unfinished."""
    if "status" in cells:
        text = cells["status"].str.strip()
        return text.where(text.isin(STATUSES), None).set_axis(frame.index)
    pairs = list(zip(frame["workload"], frame["run"], strict=True))
    result = [recorded.get(pair) for pair in pairs]
    if origin.endswith(PARTIAL) and pairs:
        result = ["failed" if pair == pairs[-1] else status for pair, status in zip(pairs, result, strict=True)]
    return pd.Series(pd.array(result, dtype="str"), index=frame.index)


def _unknown_statuses(cells: pd.DataFrame) -> tuple[Check, ...]:
    words = cells["status"].str.strip() if "status" in cells else pd.Series([], dtype="str")
    unknown = words[~words.isin(("", *STATUSES))]
    text = f"{len(unknown):,} rows have a status that is none of {', '.join(STATUSES)}; it is left out"
    return (Check("unknown_statuses", "warning", len(unknown), text),) if len(unknown) else ()


def _status_by_run(outcomes: Path | None) -> dict[tuple[str, str], str]:
    """The status by workload and run; a line that is none is passed over, as the run then has no status."""
    statuses: dict[tuple[str, str], str] = {}
    for line in _lines_of(outcomes):
        try:
            outcome = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(outcome, dict) and outcome.get("status") in STATUSES:
            statuses[str(outcome.get("workload")), str(outcome.get("run"))] = outcome["status"]
    return statuses


def _lines_of(outcomes: Path | None) -> list[str]:
    """The lines of a file that may be there; none where its name would be too long for any."""
    try:
        there = outcomes is not None and outcomes.is_file()
        return outcomes.read_text(encoding="utf-8", errors="replace").splitlines() if outcomes and there else []
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return []
        raise


def _status_checks(frame: pd.DataFrame) -> tuple[Check, ...]:
    runs = frame.drop_duplicates(["workload", "run"])["status"].value_counts()
    words = {"short": "runs have fewer than 90 % of their samples", "failed": "runs did not end as planned"}
    return tuple(
        Check(f"{status}_runs", "warning", int(runs[status]), f"{runs[status]:,} {text}")
        for status, text in words.items()
        if status in runs
    )


HEADER = "workload,run,t,"
PARTIAL = ".partial"
"""How the name of a recording ends that was not finished."""

OUTCOMES = ".runs.jsonl"
"""How the name of the file beside a recording ends that tells how its runs ended."""

Cells = list[str]


def text_of(value: float) -> str:
    """A counter's text: 6 significant digits, '' = no value."""
    return f"{value:.6g}" if math.isfinite(value) else ""


def time_text(t_s: float) -> str:
    """A time's text: milliseconds, without trailing zeros, however long the recording."""
    return f"{t_s:.3f}".rstrip("0").rstrip(".")


def outcomes_of(path: Path) -> Path:
    """The file beside a recording that tells how its runs ended."""
    return path.with_name(path.name.split(".")[0] + OUTCOMES)


class RecordingFile:
    """One run on its way into a file of runs."""

    def __init__(self, path: Path, workload: str, run: str, *, append: bool = False) -> None:
        """Open the partial file beside `path`.

        Args:
            path: FILE.csv, in a folder that exists.
            workload: of every row.
            run: of every row.
            append: keep the runs that the file holds already; it is replaced otherwise.

        Raises SettingsError when it cannot be written there.
        """
        self.path = checked_output(path, (".csv",))
        self.partial = path.with_name(path.name + PARTIAL)
        self._note = f"what was recorded before is in {self.partial}"
        self._labels = [workload, run]
        self._append = append and path.is_file()
        if self._append:
            self._refuse_again()
        self._header: Cells = []
        with growing(self.partial):
            self._stream = self.partial.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._stream, lineterminator="\n")

    def _refuse_again(self) -> None:
        if any(cells[:2] == self._labels for cells in _rows_of(self.path)):
            workload, run = self._labels
            raise SettingsError(f"{self.path} holds run {run!r} of {workload!r} already; give another --run")

    def begin(self, columns: Iterable[str]) -> None:
        """Write the header."""
        self._header = [*HEADER.rstrip(",").split(","), *columns]
        self._put(self._header)

    def write(self, t_s: float, values: Iterable[float]) -> None:
        """Write one row; it is on its way to the disk when this returns."""
        self._put([*self._labels, time_text(t_s), *map(text_of, values)])

    def finish(self, late_columns: tuple[str, ...], late: NDArray[np.float64]) -> None:
        """Give the file its name, with the columns that are known only at the end, (n_rows, n_late_columns).

        Raises DiskFull when there is no room; the partial file stays.
        """
        with whole(self.path.parent, self.path, self._note) as aside:
            self._stream.close()
            with (aside / self.path.name).open("w", encoding="utf-8", newline="") as target:
                writer = csv.writer(target, lineterminator="\n")
                for cells in self._before([*self._header, *late_columns]):
                    writer.writerow(cells)
                for at, cells in enumerate(_rows_of(self.partial)):
                    values = late[at] if at < len(late) else np.full(len(late_columns), np.nan)
                    writer.writerow([*cells, *map(text_of, values)])
        self.partial.unlink()

    def abandon(self) -> None:
        """Close the partial file; one that never began is removed, another stays as it is."""
        self._stream.close()
        if not self._header:
            self.partial.unlink(missing_ok=True)

    def write_outcome(self, outcome: dict[str, Any]) -> None:
        """Write how the run ended beside the file, one JSON object per line."""
        place = outcomes_of(self.path)
        if not self._append:
            place.unlink(missing_ok=True)
        append(place, json.dumps(outcome) + "\n", note=f"the recording itself is in {self.path}")

    def _before(self, header: Cells) -> Iterable[Cells]:
        """Yield the header and the rows of earlier runs, laid onto it."""
        yield header
        if self._append:
            with self.path.open(encoding="utf-8", newline="") as stream:
                rows = csv.reader(stream)
                at = {name: place for place, name in enumerate(next(rows, []))}
                for cells in rows:
                    yield [cells[at[name]] if at.get(name, len(cells)) < len(cells) else "" for name in header]

    def _put(self, cells: Cells) -> None:
        with growing(self.partial, self._note):
            self._rows.writerow(cells)
            self._stream.flush()


def _rows_of(path: Path) -> Iterable[Cells]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        next(rows, None)
        yield from rows
