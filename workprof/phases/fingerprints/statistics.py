"""A phase of one counter in eight numbers."""

from __future__ import annotations

import itertools

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.phases.fingerprints.adf import adf_statistic

MOMENTS = ("mean", "median", "variance", "adf")
QUANTILES = (0.10, 0.25, 0.75, 0.90)
BINS = (0.0, 0.25, 0.5, 1.0, 2.0, np.inf)
STATISTICS = {
    "quantiles": (*MOMENTS, *(f"q{share * 100:.0f}" for share in QUANTILES)),
    "hist": (*MOMENTS, *(f"share {low:g} to {high:g}" for low, high in itertools.pairwise(BINS))),
}
"""Names by the choice of distribution, in the order of the arrays."""


def phase_statistics(series: Floats, changes: Ints, distribution: str = "quantiles") -> Floats:
    """Return the statistics of each phase (n_phases, 8; 9 with 'hist').

    Args:
        series: (T,) of one counter; NaN are left out, and a phase without a sample is 0 throughout.
        changes: (n_phases - 1,) first samples of the phases after the first.
        distribution: 'quantiles' or 'hist', the shares of |y| in 0 - .25 - .5 - 1 - 2 - inf.

    Source:
        CWD: mean, median, variance, ADF statistic, "the distribution". Four quantiles stand for that: they are defined
        from two samples on. Variance in population form.
    """
    edges = [0, *changes.tolist(), len(series)]
    return np.array([_summary(series[a:b], distribution) for a, b in itertools.pairwise(edges)])


def _summary(phase: Floats, distribution: str) -> Floats:
    values = phase[~np.isnan(phase)]
    if not len(values):
        return np.zeros(len(STATISTICS[distribution]))
    moments = [values.mean(), float(np.median(values)), values.var(), adf_statistic(values)]
    further = _quantiles(values) if distribution == "quantiles" else _shares(values)
    return np.array([*moments, *further])


def _quantiles(values: Floats) -> Floats:
    """Return the quantiles by straight lines between the sorted values, as np.quantile has them, in less time."""
    ordered = np.sort(values)
    result: Floats = np.interp(np.array(QUANTILES) * (len(ordered) - 1), np.arange(len(ordered)), ordered)
    return result


def _shares(values: Floats) -> Floats:
    counts, _ = np.histogram(np.abs(values), BINS)
    return counts / len(values)
