"""Intervals that cover what they say: conformalised quantile regression on the log scale, by depth of history."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.classifier.weighted_samples import effective_size

FEWEST_IN_STRATUM = 100
"""Independent calibration rows of a stratum of its own; smaller ones are calibrated together."""


@dataclass(frozen=True)
class Strata:
    """What is calibrated apart: (n_rows,) history level of each row, 0 .. n_levels, and the number of levels."""

    level: Ints
    n_levels: int


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


def calibrate(low: Floats, high: Floats, true: Floats, strata: Strata, units: Ints, nominal: float) -> Calibration:
    """Return the margins that make [low, high] cover `nominal` of the rows of units that no model has seen.

    Args:
        low: (n_rows,) log lower quantile of validation rows.
        high: (n_rows,) log upper quantile.
        true: (n_rows,) log values.
        strata: what is calibrated apart.
        units: (n_rows,) what the split keeps together.
        nominal: coverage, 0-1.

    Source:
        Conformalised quantile regression (Romano, Patterson, Candès, NeurIPS 2019), equations 6 to 8; the strata are
        those of Mondrian conformal prediction. Ours uses out-of-fold scores where units are few, and counts rows of one
        unit together (see `_margin`): a new job's rows are right or wrong together.
    """
    scores = np.maximum(low - true, true - high)
    level, found = strata.level, range(strata.n_levels + 1)
    worth = [effective_size(np.ones(int((level == at).sum())), units[level == at]) for at in found]
    own = np.array(worth) >= FEWEST_IN_STRATUM
    others = ~own[level]
    if effective_size(np.ones(int(others.sum())), units[others]) < FEWEST_IN_STRATUM:
        others = np.ones(len(level), dtype=np.bool_)
    chosen = [level == at if own[at] else others for at in found]
    margins = np.array([_margin(scores[rows], units[rows], nominal) for rows in chosen], dtype=np.float64)
    return Calibration(nominal, margins, np.bincount(level, minlength=len(own)) * own)


def interval(low: Floats, high: Floats, level: Ints, calibration: Calibration) -> tuple[Floats, Floats]:
    """Return the calibrated ends, (n_rows,) each, in log units; they never cross."""
    margin = calibration.margins[level]
    middle = (low + high) / 2
    return np.minimum(low - margin, middle), np.maximum(high + margin, middle)


def _margin(scores: Floats, units: Ints, nominal: float) -> float:
    """Return the smallest score that a share of nominal + (nominal - 1/2) / n does not exceed, at most the largest.

    n is the effective number of units. The published rank, ceil((n + 1) * nominal), puts the row that is asked for
    among the scores, larger than all; so does this, but with its unit, which is expected to hold 1 / n of the rows and
    to lie half below the margin where it lies across it. With units of one row both are the same up to one rank; with
    units of unequal sizes coverage is nominal on average over draws, where the published rank covers less.
    """
    share = nominal + (nominal - 0.5) / effective_size(np.ones(len(scores)), units)
    rank = min(len(scores), math.ceil(len(scores) * share - 1e-9))
    return float(np.partition(scores, rank - 1)[rank - 1])
