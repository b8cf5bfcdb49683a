"""Recordings in progress: which there are, and one of them followed sample by sample."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

from workprof.core.errors import ColumnMissing
from workprof.core.settings import Settings
from workprof.formats.telemetry.own import HEADER, PARTIAL
from workprof.phases.live import LiveLibrary, LiveRun, LiveView, detector_from

KEYS = tuple(HEADER.rstrip(",").split(","))
MOST_LISTED = 50
MOST_CAUGHT_UP = 600
"""Samples: of a recording that is longer when it is opened, the last ones are followed."""

LONGEST_HEADER = 200_000
UNFINISHED = ".whole" + PARTIAL


def recordings(settings: Settings) -> dict[str, Path]:
    """The recordings in progress in the data folder and in the home by name, the newest first."""
    result: dict[str, Path] = {}
    for folder in dict.fromkeys((settings.data, settings.home)):
        if folder.is_dir():
            files = [path for path in folder.glob(f"*.csv{PARTIAL}") if path.is_file() and not path.is_symlink()]
            result |= {
                path.name: path for path in files if not path.name.endswith(UNFINISHED) and path.name not in result
            }
    newest = sorted(result.items(), key=lambda item: -item[1].stat().st_mtime)
    return dict(newest[:MOST_LISTED])


def counters_of(path: Path) -> tuple[str, ...]:
    """The counters that a recording has so far.

    Raises ColumnMissing when the file does not begin as a recording does.
    """
    with path.open(encoding="utf-8", newline="", errors="replace") as stream:
        header = next(csv.reader([stream.readline(LONGEST_HEADER)]), [])
    if tuple(header[: len(KEYS)]) != KEYS:
        raise ColumnMissing(
            f"{path.name} does not begin with {','.join(KEYS)}; it is no recording of `workprof record`"
        )
    return tuple(header[len(KEYS) :])


class Following:
    """One recording, followed. In memory only."""

    def __init__(self, path: Path, known: LiveLibrary) -> None:
        """Start at the beginning of the file, or at its last samples where it is long."""
        self.path = path
        self._known, self._recognise = known, detector_from(known)
        self._header = counters_of(path)
        self._places = [self._header.index(name) for name in known.library.settings.counters]
        self._run: LiveRun | None = None
        self._offset = 0
        self._rest = b""
        self.skipped = 0
        self.damaged = 0
        self.ended = False

    def advance(self, before: LiveView | None = None, *, rematch: bool = True) -> LiveView | None:
        """Take what was written since, and return how the run stands; None before its first sample.

        Once the file is gone the recording has ended: what is known stays.
        """
        rows = self._new_rows()
        if self._offset and len(rows) > MOST_CAUGHT_UP:
            self.skipped += len(rows) - MOST_CAUGHT_UP
            rows = rows[-MOST_CAUGHT_UP:]
        for cells in rows:
            self._take(cells)
        if self._run is None:
            return None
        return self._run.view(before.match if before else None, rematch=rematch)

    def _new_rows(self) -> list[list[str]]:
        try:
            with self.path.open("rb") as stream:
                stream.seek(self._offset)
                content = self._rest + stream.read()
                self._offset = stream.tell()
        except FileNotFoundError:
            self.ended = True
            return []
        *whole, self._rest = content.split(b"\n")
        rows = list(csv.reader(line.decode("utf-8", errors="replace") for line in whole if line))
        return [cells for cells in rows if tuple(cells[: len(KEYS)]) != KEYS]

    def _take(self, cells: list[str]) -> None:
        width = len(KEYS) + len(self._header)
        t_s = _number(cells[2]) if len(cells) == width else math.nan
        if math.isnan(t_s):
            self.damaged += 1
            return
        if self._run is None:
            self._run = LiveRun(self._known, self._recognise, cells[0], cells[1])
        self._run.take(t_s, np.array([_number(cells[len(KEYS) + place]) for place in self._places]))


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
