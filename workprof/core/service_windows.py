"""Windows of services, read from the field `windows`, which the readers of pods write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ServiceWindows:
    """The windows of the rows of a table, one after another; arrays are (n,)."""

    row: NDArray[np.intp]  # place of the window's run in the table
    start_s: Floats  # when it begins, on the trace's clock
    length_s: Floats  # its length
    peak_memory_bytes: Floats  # and `cpu_usage_percent`: NaN = no sample
    cpu_usage_percent: Floats

    @property
    def end_s(self) -> Floats:
        """When it is known."""
        return self.start_s + self.length_s


def service_windows(frame: pd.DataFrame) -> ServiceWindows:
    """The windows of a table's rows; a row without has none, nor has a text that holds none."""
    rows: list[NDArray[np.intp]] = []
    columns: tuple[list[Floats], ...] = ([], [], [], [])
    texts: Sequence[object] = frame["windows"].tolist() if "windows" in frame else ()
    for row, text in enumerate(texts):
        read = _read(text)
        if read is not None:
            rows.append(np.full(read[0].size, row))
            for column, values in zip(columns, read, strict=True):
                column.append(values)
    every = [np.concatenate(column) if column else np.empty(0) for column in columns]
    return ServiceWindows(np.concatenate(rows) if rows else np.empty(0, dtype=np.intp), *every)


def _read(text: object) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Starts, lengths, peaks and CPU of a text's windows."""
    if not isinstance(text, str):
        return None
    try:
        told = json.loads(text)
        start, length = float(told["start_s"]), float(told["length_s"])
        peaks, cores = (np.array(told[name], dtype=np.float64) for name in ("peak_memory_bytes", "cpu_usage_percent"))
    except (KeyError, TypeError, ValueError):
        return None
    if peaks.ndim != 1 or peaks.shape != cores.shape or not np.isfinite((start, length)).all() or length <= 0:
        return None
    starts = start + length * np.arange(peaks.size, dtype=np.float64)
    return starts, np.full(peaks.size, length), peaks, cores
