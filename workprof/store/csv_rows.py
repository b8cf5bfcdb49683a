"""CSV texts that we write into the spool, and which line of the input each of their rows comes from."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from workprof.store.home import open_private


class CsvWriter:
    """Writes CSV rows with LF; quotes a carriage return.

    Before Python 3.13 the csv module quotes only what its own line end holds.
    """

    def __init__(self, target: IO[str]) -> None:
        self._target = target
        self._writer = csv.writer(self, lineterminator="\r\n")

    def writerow(self, row: Sequence[object]) -> None:
        """Write a row."""
        self._writer.writerow(row)

    def write(self, line: str) -> None:
        """Take a line of the csv module."""
        self._target.write(line[:-2] + "\n")


class Places:
    """Writes which line of the input a row of the CSV comes from, wherever the two stop running in step.

    DuckDB's line numbers count rows: a line break inside a cell does not count.
    """

    def __init__(self, target: IO[str]) -> None:
        self._writer = CsvWriter(target)
        self._here, self._shift = 1, 0
        self._writer.writerow([1, 1])

    def note(self, there: int) -> None:
        """Take in the next row: the line that it comes from."""
        self._here += 1
        if there - self._here != self._shift:
            self._shift = there - self._here
            self._writer.writerow([self._here, there])


def written_text(path: Path) -> IO[str]:
    """Open a CSV text of our own to write."""
    return open_private(path, "w", newline="", errors="replace")
