"""The quantity that is estimated, on a logarithmic scale and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.errors import NotEnoughData, SettingsError

TARGETS = {
    "duration_s": "s",
    "peak_memory_bytes": "B",
    "cpu_usage_percent": "percent",
    "gpu_usage_percent": "percent",
}
"""What can be estimated, and its unit."""

SMALLEST_SHARE = 1e-3
"""Of the median positive value: what lies below counts as this much on the logarithmic scale."""


@dataclass(frozen=True)
class LogScale:
    """A logarithmic scale that knows zero.

    Attributes:
        floor: smallest value that is told apart, in the target's unit; true zeros stand there.
    """

    floor: float

    def to_log(self, values: Floats) -> Floats:
        """Return natural logarithms."""
        return np.log(np.maximum(values, self.floor))

    def from_log(self, logs: Floats) -> Floats:
        """Return values in the target's unit, 0 at the floor."""
        values = np.exp(logs)
        return np.where(values <= self.floor * (1 + 1e-9), 0.0, values)


def check_target(name: str) -> str:
    """Return the name.

    Raises:
        SettingsError: when it cannot be estimated.
    """
    if name not in TARGETS:
        raise SettingsError(f"target is {name!r}; choose from {', '.join(TARGETS)}")
    return name


def fit_scale(values: Floats) -> LogScale:
    """Return the scale of some past values.

    Raises:
        NotEnoughData: when none is above zero.
    """
    positive = values[values > 0]
    if not len(positive):
        raise NotEnoughData("the target is zero in every past job; there is nothing to learn from it")
    return LogScale(float(max(positive.min() / 2, np.median(positive) * SMALLEST_SHARE)))
