"""How the candidates are combined: chosen on validation rows, never on test rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.profiles.estimation.candidates import CANDIDATES, MEDIAN, Answers

MIXTURES: tuple[tuple[float, ...], ...] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.5, 0.5, 0.0),
    (0.5, 0.0, 0.5),
    (0.0, 0.5, 0.5),
    (1 / 3, 1 / 3, 1 / 3),
)
CAUTIONS = (0.0, 0.2, 0.4)
RECENT = CANDIDATES.index("recent")
LOWER_QUARTILE = 2
"""Position of the lower quartile in LEVELS."""


@dataclass(frozen=True)
class Combination:
    """Weights of the candidates' quantiles, and how far the point lies from the median towards the lower quartile.

    A ratio error punishes an over-estimate without limit and an under-estimate with at most 1, so the point that makes
    it small lies below the median where a job's history is wide, and at the median where it is narrow.

    Attributes:
        weights: of `CANDIDATES`, summing to 1.
        caution: 0 = the median, 1 = the lower quartile.
        loss: on the validation rows, of this choice.
    """

    weights: tuple[float, ...]
    caution: float
    loss: float

    @property
    def words(self) -> str:
        """The combination for people."""
        parts = " + ".join(
            f"{weight:.2g} {name}" for name, weight in zip(CANDIDATES, self.weights, strict=True) if weight
        )
        return f"{parts}, {self.caution:.0%} of the way from the median to the lower quartile"


def mix(answers: Answers, weights: tuple[float, ...], n_levels: int) -> Floats:
    """Return (n_rows, n_levels) weighted means of the candidates' log quantiles.

    A job without any history gets the quantiles of all past jobs alone: trees would take an unseen value for whatever
    known value is left over, and be sure of it.

    Args:
        answers: of the candidates.
        weights: of each.
        n_levels: history levels; a row that reached this one has no history.
    """
    mixed: Floats = np.tensordot(np.array(weights), answers.quantiles, axes=1)
    return np.where((answers.level >= n_levels)[:, None], answers.quantiles[RECENT], mixed)


def point_of(mixed: Floats, caution: float) -> Floats:
    """Return (n_rows,) log points from (n_rows, n_levels) log quantiles."""
    point: Floats = (1 - caution) * mixed[:, MEDIAN] + caution * mixed[:, LOWER_QUARTILE]
    return point


def point_loss(point: Floats, true: Floats) -> float:
    """Return the mean of log(1 + ratio error): small and large errors both count, none without bound.

    Args:
        point: (n_rows,) log estimates.
        true: (n_rows,) log values.
    """
    return float(np.mean(np.log1p(np.abs(np.expm1(np.minimum(point - true, 50.0))))))


def choose(answers: Answers, true: Floats, n_levels: int) -> Combination:
    """Return the mixture and caution with the smallest loss on validation rows.

    Args:
        answers: of candidates that were not trained on these rows.
        true: (n_rows,) log values.
        n_levels: history levels.
    """
    found = []
    for weights in MIXTURES:
        mixed = mix(answers, weights, n_levels)
        found += [Combination(weights, caution, point_loss(point_of(mixed, caution), true)) for caution in CAUTIONS]
    return min(found, key=lambda combination: combination.loss)
