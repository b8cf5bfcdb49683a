"""How good predictions of memory bins are: accuracy, u-score, under-estimates, and the thesis' estimate of the saving.

Bins are numbered from 0, the smallest, upwards; shares are 0-1, the u-score is in percent as published.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.memory.replay.intervals import Interval, wilson

PENALTY = 10.0
"""What an under-estimate weighs in the thesis' u-score when an over-estimate weighs 1."""


@dataclass(frozen=True)
class BinScores:
    """Scores of predicted bins.

    Attributes:
        n: runs that were predicted.
        accuracy: share of runs in their own bin.
        over_rate: share predicted above their bin.
        u_rate: share predicted below their bin; these runs fail at first.
        u_score: 100 (over + penalty x under) / n; 0 is perfect, lower is better.
        u_rate_interval: Wilson, 95 %.
        confusion: (n_bins, n_bins) runs; rows = true bin, columns = predicted; under-estimates stand left of the
            diagonal.
    """

    n: int
    accuracy: float
    over_rate: float
    u_rate: float
    u_score: float
    u_rate_interval: Interval
    confusion: Ints

    @property
    def under_estimates(self) -> Ints:
        """(n_bins, n_bins) the confusion matrix with everything but the under-estimates set to 0."""
        return np.tril(self.confusion, -1)


def bin_scores(true: Ints, predicted: Ints, n_bins: int, penalty: float = PENALTY) -> BinScores:
    """Return the scores of predicted bins.

    Args:
        true: (n,) bins.
        predicted: (n,) bins.
        n_bins: how many bins there are.
        penalty: weight of an under-estimate.

    Raises:
        NotEnoughData: without a run.

    Source:
        memory.md 4.4, after the thesis' section 5; ours differs in nothing.
    """
    n = len(true)
    if not n:
        raise NotEnoughData("no run is left to be scored; give more runs or a larger test share")
    confusion = np.bincount(true * n_bins + predicted, minlength=n_bins**2).reshape(n_bins, n_bins).astype(np.int64)
    under, over = int(np.tril(confusion, -1).sum()), int(np.triu(confusion, 1).sum())
    return BinScores(
        n=n,
        accuracy=(n - under - over) / n,
        over_rate=over / n,
        u_rate=under / n,
        u_score=100 * (over + penalty * under) / n,
        u_rate_interval=wilson(under, n),
        confusion=confusion,
    )


def run_costs(true: Ints, predicted: Ints, penalty: float = PENALTY) -> Floats:
    """Return (n,) 0, 1 (above its bin) or the penalty (below it) of each run; 100 x their mean is the u-score."""
    return np.where(predicted < true, penalty, np.where(predicted > true, 1.0, 0.0))


def u_score_of(accuracy: float, u_rate: float, penalty: float = PENALTY) -> float:
    """Return the u-score in percent of two shares: (100 - accuracy) + (penalty - 1) u_rate."""
    return 100 * ((1 - accuracy) + (penalty - 1) * u_rate)


def u_rate_of(accuracy: float, u_score: float, penalty: float = PENALTY) -> float:
    """Return the share of under-estimates that an accuracy (share) and a u-score (percent) imply; penalty above 1."""
    return (u_score / 100 - (1 - accuracy)) / (penalty - 1)


def estimated_improvement(optimal_time_based: float, accuracy: float, u_rate: float) -> float:
    """Return the thesis' estimate of the saving as a share: optimal x accuracy - u_rate.

    It knows neither how far off a prediction is nor what a failed attempt costs; the replay does.
    """
    return optimal_time_based * accuracy - u_rate
