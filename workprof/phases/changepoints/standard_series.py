"""Counters as the search for changes takes them: gap-free, around 0, in units of their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.errors import NotEnoughData
from workprof.phases.changepoints.noise import noise_sd
from workprof.phases.changepoints.prior import follows_noise
from workprof.phases.changepoints.settings import SHORTEST_SERIES, ChangePointSettings

MOSTLY = 0.5
"""Counters with a larger share of missing samples have no change."""

CONSTANT_SHARE = 1e-12


@dataclass(frozen=True)
class StandardSeries:
    """Counters ready for the search.

    Attributes:
        values: (n_counters, T) finite, less `level`, over `scale`; missing samples lie on straight lines between their
            neighbours.
        present: (n_counters, T) where there was a sample.
        level: (n_counters,) the prior mean of a phase.
        scale: (n_counters,) the noise sd where the prior follows it, else 1.
        noise_sd: (n_counters,) in the unit of the values given.
        constant: (n_counters,) all samples equal, up to rounding.
        mostly_missing: (n_counters,) more than half of the samples missing.
        short: (n_counters,) fewer than 4 samples present.
    """

    values: Floats
    present: Bools
    level: Floats
    scale: Floats
    noise_sd: Floats
    constant: Bools
    mostly_missing: Bools
    short: Bools

    @property
    def n_missing(self) -> Ints:
        """(n_counters,) samples that are missing."""
        result: Ints = np.count_nonzero(~self.present, axis=1).astype(np.int64)
        return result

    @property
    def usable(self) -> Bools:
        """(n_counters,) counters in which a change can be looked for."""
        result: Bools = ~(self.constant | self.mostly_missing | self.short)
        return result


def standard_series(values: Floats, settings: ChangePointSettings) -> StandardSeries:
    """Return the counters ready for the search; infinite samples count as missing.

    Args:
        values: (n_counters, T).
        settings: say the prior mean, and whether the prior follows the noise.

    Raises:
        NotEnoughData: when `values` is not a table of counters by samples.
    """
    if values.ndim != 2:
        raise NotEnoughData(f"change points need counters by samples, got an array of {values.ndim} dimensions")
    present = np.isfinite(values)
    series = _filled(np.asarray(values, dtype=np.float64), present)
    n_samples = series.shape[1]
    level, sd = _level(series, present, settings), _noise(series, present)
    scale = np.where(sd > 0, sd, 1.0) if follows_noise(settings) else np.ones(len(series))
    return StandardSeries(
        values=(series - level[:, None]) / scale[:, None],
        present=present,
        level=level,
        scale=scale,
        noise_sd=sd,
        constant=_constant(series),
        mostly_missing=np.count_nonzero(present, axis=1) < MOSTLY * n_samples,
        short=np.count_nonzero(present, axis=1) < SHORTEST_SERIES,
    )


def _filled(values: Floats, present: Bools) -> Floats:
    """Return the values with gaps bridged by straight lines, ends repeated; counters without any sample are 0."""
    series = np.where(present, values, 0.0)
    ticks = np.arange(values.shape[1])
    for i in np.flatnonzero(~present.all(axis=1) & present.any(axis=1)):
        series[i] = np.interp(ticks, ticks[present[i]], values[i, present[i]])
    return series


def _constant(series: Floats) -> Bools:
    if series.shape[1] == 0:
        return np.ones(len(series), dtype=bool)
    limit = CONSTANT_SHARE * np.maximum(1.0, np.abs(series.mean(axis=1)))
    result: Bools = series.std(axis=1) < limit
    return result


def _level(series: Floats, present: Bools, settings: ChangePointSettings) -> Floats:
    if settings.mu0 is not None:
        return np.full(len(series), float(settings.mu0))
    return np.array([np.median(row[seen]) if seen.any() else 0.0 for row, seen in zip(series, present, strict=True)])


def _noise(series: Floats, present: Bools) -> Floats:
    """Return the noise sd of the samples that are there; bridges have none."""
    if series.shape[1] < 2:
        return np.zeros(len(series))
    sd = noise_sd(series)
    for i in np.flatnonzero(~present.all(axis=1)):
        seen = series[i : i + 1, present[i]]
        sd[i] = noise_sd(seen)[0] if seen.shape[1] > 1 else 0.0
    return sd
