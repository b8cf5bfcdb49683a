"""Durations and arrivals of a profile: quantiles, the value that repeats (spike), the long tail, hours and weekdays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.units import DAY_S, HOUR_S

SPIKE_SHARE = 0.1
"""A whole-second duration that holds this share of a profile is a spike (PAI's 13 s: polarisprofiler.md, 5c)."""

SMALLEST_SPIKE_ROWS = 5
TAIL_FACTOR_P95 = 10.0
TAIL_FACTOR_MAX = 100.0
"""Heavy tail: p95 over 10 medians or the maximum over 100, the size of the gap between PAI's 13 s and 20 h."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday; Monday is 0."""


@dataclass(frozen=True)
class DurationShape:
    """How the durations of a profile are distributed.

    Attributes:
        quantiles_s: p5, p25, p50, p75, p95, max; NaN without durations.
        spike_s: the whole-second duration that repeats most; NaN when it holds less than a tenth of the rows.
        spike_share: its share of the rows with a duration, 0-1; 0 without a spike.
    """

    quantiles_s: Floats
    spike_s: float
    spike_share: float

    @property
    def has_spike(self) -> bool:
        """Whether one duration holds a tenth of the rows."""
        return not np.isnan(self.spike_s)

    @property
    def has_heavy_tail(self) -> bool:
        """Whether the longest runs are far from the median."""
        median, p95, longest = self.quantiles_s[2], self.quantiles_s[4], self.quantiles_s[5]
        return bool(median > 0 and (p95 > TAIL_FACTOR_P95 * median or longest > TAIL_FACTOR_MAX * median))


def duration_shape(durations: Floats) -> DurationShape:
    """Return the shape of (n_rows,) durations in seconds; NaN are left out."""
    present = durations[~np.isnan(durations)]
    if not present.size:
        return DurationShape(np.full(len(QUANTILES), np.nan), float("nan"), 0.0)
    quantiles = np.quantile(present, QUANTILES)
    values, counts = np.unique(np.rint(present), return_counts=True)
    most = int(counts.argmax())
    share = counts[most] / len(present)
    if share < SPIKE_SHARE or counts[most] < SMALLEST_SPIKE_ROWS:
        return DurationShape(quantiles, float("nan"), 0.0)
    return DurationShape(quantiles, float(values[most]), float(share))


def duration_shapes(durations: Floats | None, groups: Ints, n_groups: int) -> tuple[DurationShape, ...]:
    """Return one shape per group.

    Args:
        durations: (n_rows,) seconds, NaN = missing; None without such a column.
        groups: (n_rows,) position of each row's group.
        n_groups: number of groups.
    """
    if durations is None:
        return tuple(duration_shape(np.empty(0)) for _ in range(n_groups))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    return tuple(duration_shape(part) for part in np.split(durations[order], ends[:-1]))


def arrivals(starts: Floats | None, groups: Ints, n_groups: int, timezone_offset_s: float) -> tuple[Ints, Ints]:
    """Return (n_groups, 24) rows by hour of day and (n_groups, 7) by weekday, Monday first; zeros without start times.

    Args:
        starts: (n_rows,) seconds since the epoch (PAI: since some Thursday, 00:00), NaN = missing.
        groups: (n_rows,) position of each row's group.
        n_groups: number of groups.
        timezone_offset_s: added first; 28,800 for UTC+8.
    """
    hours = np.zeros((n_groups, 24), dtype=np.int64)
    weekdays = np.zeros((n_groups, 7), dtype=np.int64)
    if starts is None:
        return hours, weekdays
    known = ~np.isnan(starts)
    local = starts[known] + timezone_offset_s
    np.add.at(hours, (groups[known], (local // HOUR_S % 24).astype(np.int64)), 1)
    np.add.at(weekdays, (groups[known], ((local // DAY_S + EPOCH_WEEKDAY) % 7).astype(np.int64)), 1)
    return hours, weekdays
