"""Intervals that cover what they say: conformalised quantile regression on the log scale, by depth of history."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workprof.profiles.arrays import Floats, Ints

FEWEST_IN_STRATUM = 100
"""Calibration rows of a stratum of its own; smaller ones are calibrated together."""


@dataclass(frozen=True)
class Calibration:
    """How much wider (log units; below 0: narrower) the quantiles must be.

    Attributes:
        nominal: coverage that is promised, 0-1.
        margins: (n_levels + 1,) by history level, the last for jobs without any history.
        rows: (n_levels + 1,) calibration rows of each; 0 = calibrated with the others.
    """

    nominal: float
    margins: Floats
    rows: Ints


def calibrate(low: Floats, high: Floats, true: Floats, level: Ints, n_levels: int, nominal: float) -> Calibration:
    """Return the margins that make [low, high] cover `nominal` of rows that no model has seen.

    Args:
        low: (n_rows,) log lower quantile of validation rows.
        high: (n_rows,) log upper quantile.
        true: (n_rows,) log values.
        level: (n_rows,) history level of each row, 0 .. n_levels.
        n_levels: number of history levels.
        nominal: coverage, 0-1.

    Source:
        Conformalised quantile regression (Romano, Patterson, Candès, NeurIPS 2019), equations 6 to 8; the strata are
        those of Mondrian conformal prediction. Ours uses out-of-fold scores where jobs are few.
    """
    scores = np.maximum(low - true, true - high)
    rows = np.bincount(level, minlength=n_levels + 1)
    own = rows >= FEWEST_IN_STRATUM
    pooled = scores[~own[level]] if bool((~own[level]).sum() >= FEWEST_IN_STRATUM) else scores
    margins = np.array(
        [_margin(scores[level == at] if own[at] else pooled, nominal) for at in range(n_levels + 1)], dtype=np.float64
    )
    return Calibration(nominal, margins, np.where(own, rows, 0).astype(np.int64))


def interval(low: Floats, high: Floats, level: Ints, calibration: Calibration) -> tuple[Floats, Floats]:
    """Return the calibrated ends, (n_rows,) each, in log units; they never cross."""
    margin = calibration.margins[level]
    middle = (low + high) / 2
    return np.minimum(low - margin, middle), np.maximum(high + margin, middle)


def _margin(scores: Floats, nominal: float) -> float:
    """Return the ceil((n + 1) * nominal)-th smallest score, the largest where there are too few."""
    n = len(scores)
    rank = min(n, math.ceil((n + 1) * nominal))
    return float(np.partition(scores, rank - 1)[rank - 1])
