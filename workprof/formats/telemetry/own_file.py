"""Writes workprof's own recordings: each row at once to a partial file, which takes its name at the end."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.errors import SettingsError
from workprof.store.outputs import append, checked_output, growing, whole

HEADER = "workload,run,t,"
PARTIAL = ".partial"
"""How the name of a recording ends that was not finished."""

OUTCOMES = ".runs.jsonl"
"""How the name of the file beside a recording ends that tells how its runs ended."""

Cells = list[str]


def text_of(value: float) -> str:
    """Return a counter's text: 6 significant digits, '' = no value."""
    return f"{value:.6g}" if math.isfinite(value) else ""


def time_text(t_s: float) -> str:
    """Return a time's text: milliseconds, without trailing zeros, however long the recording."""
    return f"{t_s:.3f}".rstrip("0").rstrip(".")


def outcomes_of(path: Path) -> Path:
    """Return the file beside a recording that tells how its runs ended."""
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

        Raises:
            SettingsError: when it cannot be written there.
        """
        self.path = checked_output(path, (".csv",))
        self.partial = path.with_name(path.name + PARTIAL)
        self._kept = f"what was recorded before is in {self.partial}"
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
        """Give the file its name, with the columns that are known only at the end.

        Args:
            late_columns: their names.
            late: (n_rows, n_late_columns) their values.

        Raises:
            DiskFull: when there is no room; the partial file stays.
        """
        with whole(self.path.parent, self.path, self._kept) as aside:
            self._stream.close()
            with (aside / self.path.name).open("w", encoding="utf-8", newline="") as target:
                writer = csv.writer(target, lineterminator="\n")
                for cells in self._before([*self._header, *late_columns]):
                    writer.writerow(cells)
                for at, cells in enumerate(_rows_of(self.partial)):
                    told = late[at] if at < len(late) else np.full(len(late_columns), np.nan)
                    writer.writerow([*cells, *map(text_of, told)])
        self.partial.unlink()

    def abandon(self) -> None:
        """Close the partial file; one that never began is removed, another stays as it is."""
        self._stream.close()
        if not self._header:
            self.partial.unlink(missing_ok=True)

    def tell(self, outcome: dict[str, Any]) -> None:
        """Write how the run ended beside the file, one JSON object per line."""
        place = outcomes_of(self.path)
        if not self._append:
            place.unlink(missing_ok=True)
        append(place, json.dumps(outcome) + "\n", kept=f"the recording itself is in {self.path}")

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
        with growing(self.partial, self._kept):
            self._rows.writerow(cells)
            self._stream.flush()


def _rows_of(path: Path) -> Iterable[Cells]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        next(rows, None)
        yield from rows
