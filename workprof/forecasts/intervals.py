"""Which candidates to combine, and intervals that cover what they say: both from rows that no candidate was trained on.

The intervals are those of conformalised quantile regression on the log scale, by depth of history.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.forecasts.candidates import (
    CANDIDATES,
    LEVELS,
    MANY_ROWS,
    MEDIAN,
    POINTS,
    CandidateQuantiles,
    predict_quantiles,
    train_candidates,
)
from workprof.forecasts.history import Past, take_cells
from workprof.forecasts.splits import holdout, make_folds
from workprof.forecasts.weighted_samples import effective_size

if TYPE_CHECKING:
    import pandas as pd

    from workprof.forecasts.estimates import EstimateSettings

MIXTURES: tuple[tuple[float, ...], ...] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.5, 0.5, 0.0),
    (0.5, 0.0, 0.5),
    (0.0, 0.5, 0.5),
    (1 / 3, 1 / 3, 1 / 3),
)
STEPS_OF_SHARES = 4
RECENT = CANDIDATES.index("recent")


@dataclass(frozen=True)
class Combination:
    """How the candidates' answers become one: quantiles as a weighted mean, the point as a weighted median.

    The point aims at the median: as many needs lie above it as below. A planner who wants less risk reads a quantile.
    """

    weights: tuple[float, ...]  # of the quantiles of `CANDIDATES`, summing to 1
    shares: tuple[float, ...]  # of `POINTS` in the weighted median, summing to 1
    loss: float  # mean absolute log error of the point on the validation rows

    @property
    def text(self) -> str:
        """The combination for people."""
        return f"median of {_parts(self.shares, POINTS)}; interval from {_parts(self.weights, CANDIDATES)}"


def _parts(weights: tuple[float, ...], names: tuple[str, ...]) -> str:
    parts = (f"{weight:.2g} {name.replace('_', ' ')}" for weight, name in zip(weights, names, strict=True) if weight)
    return " + ".join(parts)


def mix(answers: CandidateQuantiles, weights: tuple[float, ...], n_levels: int) -> Floats:
    """Return (n_rows, n_levels) weighted means of the candidates' log quantiles.

    A job without any history gets the quantiles of all past jobs alone: trees would take an unseen value for whatever
    known value is left over, and be sure of it.

    Args:
        answers: quantiles of the candidates.
        weights: of each.
        n_levels: history levels; a row that reached this one has no history.
    """
    mixed: Floats = np.tensordot(np.array(weights), answers.quantiles, axes=1)
    return np.where((answers.level >= n_levels)[:, None], answers.quantiles[RECENT], mixed)


def point_of(answers: CandidateQuantiles, shares: tuple[float, ...], n_levels: int) -> Floats:
    """Return (n_rows,) log points: the weighted median of the candidates' points.

    Unlike a mean it is not drawn away by one candidate that is far off. A job without any history gets the median of
    all past jobs, as in `mix`.
    """
    order = np.argsort(answers.points, axis=0, kind="stable")
    points, shared = np.take_along_axis(answers.points, order, axis=0), np.cumsum(np.array(shares)[order], axis=0)
    ends = [(shared > half).argmax(axis=0)[None] for half in (0.5 - 1e-9, 0.5 + 1e-9)]  # unlike where half is reached
    lower, upper = (np.take_along_axis(points, place, axis=0)[0] for place in ends)
    point: Floats = np.where(answers.level >= n_levels, answers.quantiles[RECENT][:, MEDIAN], (lower + upper) / 2)
    return point


def pinball_loss(quantiles: Floats, true: Floats) -> float:
    """Return the mean pinball loss of (n_rows, n_levels) log quantiles at `LEVELS` for (n_rows,) log values."""
    beyond = true[:, None] - quantiles
    return float(np.maximum(LEVELS * beyond, (LEVELS - 1) * beyond).mean())


def share_choices(n_points: int = len(POINTS)) -> tuple[tuple[float, ...], ...]:
    """Return every way to give out shares in steps of a quarter; the candidates alone are among them."""
    steps = itertools.product(range(STEPS_OF_SHARES + 1), repeat=n_points)
    return tuple(tuple(part / STEPS_OF_SHARES for part in parts) for parts in steps if sum(parts) == STEPS_OF_SHARES)


def choose(answers: CandidateQuantiles, true: Floats, n_levels: int) -> Combination:
    """Return the weights and the shares with the smallest losses on validation rows.

    Quantiles are judged by the pinball loss at all levels, points by that of the median: their mean absolute log error.

    Args:
        answers: of candidates that were not trained on these rows.
        true: (n_rows,) log values.
        n_levels: history levels.
    """
    weights = min(MIXTURES, key=lambda one: pinball_loss(mix(answers, one, n_levels), true))
    losses = {one: float(np.abs(point_of(answers, one, n_levels) - true).mean()) for one in share_choices()}
    shares = min(losses, key=lambda one: losses[one])
    return Combination(weights, shares, losses[shares])


FEWEST_IN_STRATUM = 100
"""Independent calibration rows of a stratum of its own; smaller ones are calibrated together."""


@dataclass(frozen=True)
class Strata:
    """What is calibrated apart: (n_rows,) history level of each row, 0 .. n_levels, and the number of levels."""

    level: Ints
    n_levels: int


@dataclass(frozen=True)
class Calibration:
    """How much wider (log units; below 0: narrower) the quantiles must be."""

    nominal: float  # coverage that is promised, 0-1
    margins: Floats  # (n_levels + 1,) by history level, the last for jobs without any history
    rows: Ints  # (n_levels + 1,) calibration rows of each; 0 = calibrated with the others


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
    level, strata_range = strata.level, range(strata.n_levels + 1)
    worth = [effective_size(np.ones(int((level == at).sum())), units[level == at]) for at in strata_range]
    own = np.array(worth) >= FEWEST_IN_STRATUM
    others = ~own[level]
    if effective_size(np.ones(int(others.sum())), units[others]) < FEWEST_IN_STRATUM:
        others = np.ones(len(level), dtype=np.bool_)
    chosen = [level == at if own[at] else others for at in strata_range]
    margins = np.array([_margin(scores[rows], units[rows], nominal) for rows in chosen], dtype=np.float64)
    return Calibration(nominal, margins, np.bincount(level, minlength=len(own)) * own)


def interval(low: Floats, high: Floats, level: Ints, calibration: Calibration) -> tuple[Floats, Floats]:
    """Return the calibrated ends, (n_rows,) each, in log units; they never cross."""
    margin = calibration.margins[level]
    middle = (low + high) / 2
    return np.minimum(low - margin, middle), np.maximum(high + margin, middle)


def _margin(scores: Floats, units: Ints, nominal: float) -> float:
    """Return the smallest score that a share of nominal + (nominal - 1/2) / n does not exceed, at most the largest.

    n is the effective number of units. The published rank, ceil((n + 1) * nominal), puts the row in question
    among the scores, larger than all; so does this, but with its unit, which is expected to hold 1 / n of the rows and
    to lie half below the margin where it lies across it. With units of one row both are the same up to one rank; with
    units of unequal sizes coverage is nominal on average over draws, where the published rank covers less.
    """
    share = nominal + (nominal - 0.5) / effective_size(np.ones(len(scores)), units)
    rank = min(len(scores), math.ceil(len(scores) * share - 1e-9))
    return float(np.partition(scores, rank - 1)[rank - 1])


VALIDATION_FOLDS = {"few": 5, "many": 3}
"""From MANY_ROWS on three folds leave enough to learn from; on 686 jobs (mean of three seeds) five gave a median
error of .374 and three .381."""
VALIDATION_SHARE = 0.25
FEW_UNITS = 1_000
"""Up to so many units (rows, jobs or groups, as the split keeps them together; of equal size, or worth as much), every
past job is a validation row once; above, a quarter of them is enough."""


def _n_folds(n_rows: int) -> int:
    return VALIDATION_FOLDS["few" if n_rows < MANY_ROWS else "many"]


@dataclass(frozen=True)
class Validated:
    """Quantiles of rows that the candidates were not trained on."""

    answers: CandidateQuantiles  # of each candidate
    true: Floats  # (n_rows,) log values
    rows: Ints  # (n_rows,) their positions among the past jobs
    units: Ints  # (n_rows,) what the split keeps together


def validate(
    jobs: pd.DataFrame,
    past: Past,
    fields: tuple[str, ...],
    settings: EstimateSettings,
    report: Callable[[float], None],
) -> Validated:
    """Return the candidates' quantiles of rows that they were not trained on."""
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba

    if settings.split == "by_time" or effective_size(np.ones(len(past.units)), past.units) > FEW_UNITS:
        folds = [holdout(jobs, settings.split, VALIDATION_SHARE, settings.seed)]
    else:
        folds = list(make_folds(jobs, settings.split, _n_folds(len(jobs)), settings.seed))
    found: dict[int, CandidateQuantiles] = {}

    def answer(at: int, _: int) -> None:
        train, test = folds[at].train, folds[at].test
        known = Past(take_cells(past.cells, train), past.targets[train], past.units[train])
        loaded = train_candidates(jobs.iloc[train], known, fields, settings.seed)
        found[at] = predict_quantiles(loaded, jobs.iloc[test], take_cells(past.cells, test), past.units[test])

    share_out(answer, len(folds), 1, report)
    parts = [found[at] for at in range(len(folds))]
    answers = CandidateQuantiles(
        np.concatenate([part.quantiles for part in parts], axis=1),
        np.concatenate([part.points for part in parts], axis=1),
        np.concatenate([part.level for part in parts]),
        np.concatenate([part.count for part in parts]),
    )
    rows = np.concatenate([fold.test for fold in folds])
    return Validated(answers, past.targets[rows], rows, past.units[rows])
