"""How long a computation will take: a guess from the amount of work, set right by what earlier ones took here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workprof.charts.text import counted
from workprof.errors import SettingsError
from workprof.records import Packed, unpack
from workprof.units import format_duration

Settings = TypeVar("Settings")

STARTING_S = 2.0
"""Of a child process, on top of the work."""

SECONDS_PER_PAIR_CELL = 1e-10
"""Of rows² × features for exact silhouettes."""

OPTICS_SECONDS_PER_PAIR = 1.5e-7
"""Of rows² in one run. Like every constant of a guess, taken on two cores of a small machine."""

LATEST = 9
"""Earlier runs that count: the newest ones, as machines and versions change."""

SHORTEST_S = 0.05
"""Shorter runs tell more about their overhead than about the work."""


@dataclass(frozen=True)
class EarlierRun:
    """A kept computation: hash and finished rows of its dataset, its settings as a document, its seconds."""

    dataset: str
    n_rows: int
    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Pace:
    """How the work of this machine compares with the guess: measured / guessed seconds over `runs` earlier runs."""

    factor: float = 1.0
    runs: int = 0

    def words(self, seconds: float, what: str) -> str:
        """Return 'about 12 s (from 3 earlier fits here)', or that it is a guess."""
        ground = (
            f"from {counted(self.runs, f'earlier {what}')} here"
            if self.runs
            else f"a guess: no such {what} ran here yet"
        )
        return f"about {format_duration(float(round(seconds)))} ({ground})"


def pace(measured: Sequence[tuple[float, float]]) -> Pace:
    """Return the median of measured over guessed seconds of the newest runs; 1 where there are none.

    Args:
        measured: (guessed work, seconds) of earlier runs, newest first; both without the start of a process.
    """
    ratios = [seconds / guess for guess, seconds in measured if guess > 0 and seconds >= SHORTEST_S][:LATEST]
    return Pace(statistics.median(ratios), len(ratios)) if ratios else Pace()


def measured_with(
    earlier: Sequence[EarlierRun], cls: type[Settings], work: Callable[[Settings, int], float]
) -> list[tuple[Settings, float, float]]:
    """Return (settings, guessed work, seconds) of the earlier runs whose settings can still be read."""
    found = []
    for run in earlier:
        try:
            settings: Settings = unpack(cls, Packed(dict(run.settings), {}))
        except (KeyError, TypeError, ValueError, SettingsError):
            continue  # of another version: it can say nothing about this one
        found.append((settings, work(settings, run.n_rows), run.seconds))
    return found
