"""Which runs a dataset of samples holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.columns import numbers_of
from workprof.errors import ColumnMissing
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd

UNTOLD = ""


@dataclass(frozen=True)
class RunListSettings:
    """A list of runs has no settings."""


@dataclass(frozen=True)
class RunLine:
    """One run.

    Attributes:
        workload: its label, '' where none is known.
        run: its name within the workload.
        samples: rows.
        first_s: time of the first sample; NaN without any time.
        last_s: of the last one.
        status: 'complete', 'short' or 'failed'; '' where it is not told.
    """

    workload: str
    run: str
    samples: int
    first_s: float
    last_s: float
    status: str

    @property
    def name(self) -> str:
        """Name as in `Run`."""
        return f"{self.workload}/{self.run}" if self.workload else self.run


@dataclass(frozen=True)
class RunList:
    """The runs by workload and name."""

    runs: tuple[RunLine, ...]

    @property
    def workloads(self) -> tuple[str, ...]:
        """Labels that there are, each once."""
        return tuple(dict.fromkeys(line.workload for line in self.runs if line.workload))


def run_list(frames: Mapping[str, pd.DataFrame], settings: RunListSettings, progress: Progress) -> RunList:
    """Return the runs of `frames['samples']`.

    Raises:
        ColumnMissing: without a column 'run' or 't'.
    """
    del settings, progress
    samples = frames["samples"]
    for name in ("run", "t"):
        if name not in samples.columns:
            raise ColumnMissing(f"the samples have no column {name!r}; give workload, run, t and counters")
    t, rows = numbers_of(samples, "t"), _rows(samples)
    status = _texts(samples, "status")
    return RunList(tuple(_line(key, own, t[own], status) for key, own in sorted(rows.items())))


def _line(
    key: tuple[str, str], rows: list[int], t: np.ndarray[tuple[int], np.dtype[np.float64]], status: list[str]
) -> RunLine:
    known = t[np.isfinite(t)]
    first, last = (float(known.min()), float(known.max())) if len(known) else (float("nan"), float("nan"))
    return RunLine(*key, len(rows), first, last, status[rows[-1]])


def _rows(samples: pd.DataFrame) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for row, key in enumerate(zip(_texts(samples, "workload"), _texts(samples, "run"), strict=True)):
        found.setdefault(key, []).append(row)
    return found


def _texts(samples: pd.DataFrame, name: str) -> list[str]:
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if name not in samples.columns:
        return [UNTOLD] * len(samples)
    return [UNTOLD if pd.isna(text) else str(text) for text in samples[name]]
