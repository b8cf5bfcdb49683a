"""Intervals that cover what they say, from rows that no candidate was trained on.

They are those of conformalised quantile regression on the log scale, by depth of history.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.forecasts.candidates import (
    LEVELS,
    MANY_ROWS,
    MEDIAN,
    MODEL_ROWS,
    CandidateQuantiles,
    predict_quantiles,
    train_candidates,
)
from workprof.forecasts.history import Keys, Past, take_cells
from workprof.forecasts.splits import BY_TIME, Fold, forward_folds, holdout, make_folds
from workprof.forecasts.weighted_samples import effective_size
from workprof.profiles.features import draw_rows

if TYPE_CHECKING:
    import pandas as pd

    from workprof.forecasts.estimates import EstimateSettings

FEWEST_IN_STRATUM = 100
"""Independent calibration rows of a stratum of its own; smaller ones are calibrated together."""


@dataclass(frozen=True)
class Strata:
    """What is calibrated apart."""

    level: Ints  # (n_rows,) history level of each row, 0 .. n_levels
    n_levels: int
    keys: Keys  # (n_levels, n_rows) of their history cells, the narrowest first


@dataclass(frozen=True)
class Calibration:
    """How much wider (log units; below 0: narrower) the quantiles must be."""

    nominal: float  # coverage that is promised, 0-1
    margins: Floats  # (n_levels + 1,) by history level, the last for jobs without any history
    rows: Ints  # (n_levels + 1,) calibration rows of each; 0 = calibrated with the others
    scores: Floats  # (n_rows,) log units by which each calibration row lies outside the quantiles, the earliest first
    keys: Keys  # (n_levels, n_rows) of the history cells of these rows, the narrowest first
    worth: Floats  # (n_rows,) one over the rows of each one's unit
    units: Floats | None = None  # (n_levels + 1,) independent rows that each margin rests on
    shifts: Floats | None = None  # (n_levels + 1, n_quantiles) log units that quantiles move; None = as trained

    def covers(self, level: Ints) -> Floats:
        """(n_rows,) the coverage that can be promised: of n independent rows at most n / (n + 1)."""
        if self.units is None:
            return np.full(len(level), self.nominal)
        return np.minimum(self.nominal, self.units / (self.units + 1))[level]


def calibrate(low: Floats, high: Floats, true: Floats, strata: Strata, units: Ints, nominal: float) -> Calibration:
    """Return the margins that make [low, high] cover `nominal` (0-1) of the rows of units that no model has seen.

    Of validation rows (n_rows,): low and high are log quantiles, `true` log values, `units` what the split
    keeps together.

    Source:
        Conformalised quantile regression (Romano, Patterson, Candès, NeurIPS 2019), equations 6 to 8; the strata are
        those of Mondrian conformal prediction. Ours uses out-of-fold scores where units are few, and counts rows of one
        unit together (see `_margin`): a new job's rows are right or wrong together.
    """
    scores = np.maximum(low - true, true - high)
    chosen, own = _calibrated_by(strata, units)
    margins = np.array([_margin(scores[rows], n, nominal) for rows, n in chosen], dtype=np.float64)
    n_units = np.array([n for _, n in chosen], dtype=np.float64)
    rows_of = np.bincount(strata.level, minlength=len(own)) * own
    return Calibration(nominal, margins, rows_of, scores, strata.keys, _worth(units), n_units)


def _calibrated_by(strata: Strata, units: Ints) -> tuple[list[tuple[Bools, float]], Bools]:
    """By history level the rows that calibrate it and how many units they are worth; (n_levels + 1,) its own rows."""

    def worth(rows: Bools) -> float:
        return effective_size(np.ones(int(rows.sum())), units[rows])

    level, all_levels = strata.level, range(strata.n_levels + 1)
    of_level = [(level == at, worth(level == at)) for at in all_levels]
    own = np.array([n for _, n in of_level]) >= FEWEST_IN_STRATUM
    others = ~own[level]
    if worth(others) < FEWEST_IN_STRATUM:
        others = np.ones(len(level), dtype=np.bool_)
    together = others, worth(others)
    return [of_level[at] if own[at] else together for at in all_levels], own


def learn_shifts(quantiles: Floats, true: Floats, strata: Strata, units: Ints) -> Floats:
    """(n_levels + 1, n_quantiles) log units that quantiles move, so that as many runs lie below as they say.

    Of validation rows as in `calibrate`: (n_rows, n_quantiles) log quantiles at `LEVELS`. The median stays.

    Source:
        One-sided conformalised quantile regression (Romano et al. 2019, theorem 2). By job on PAI (207 tested runs of
        three folds) 87, 89, 87 and 84 % of memory, CPU, duration and GPU were below p90, then 93, 94, 92 and 89 %; the
        pinball loss was .0745, .1262, .2041 and .3958, then .0744, .1236, .2030 and .3910. Forward in time runs that
        ended are no measure of later ones: by it the loss of eager and iwd rose by 3 to 57 %, others' fell by up to 4.
    """
    shifts = np.zeros((strata.n_levels + 1, len(LEVELS)))
    chosen, _ = _calibrated_by(strata, units)
    for at, share in enumerate(LEVELS.tolist()):
        if at != MEDIAN:
            way = 1.0 if at > MEDIAN else -1.0
            beyond = way * (true - quantiles[:, at])
            shifts[:, at] = [way * _margin(beyond[rows], n, max(share, 1 - share)) for rows, n in chosen]
    return shifts


def quantiles_within(quantiles: Floats, low: Floats, high: Floats, level: Ints, calibration: Calibration) -> Floats:
    """(n_rows, n_quantiles) log quantiles as calibrated, in rising order, none on the wrong side of the interval.

    `low` and `high` (n_rows,) are the ends of `interval`.
    """
    middle, moved = quantiles[:, MEDIAN : MEDIAN + 1], quantiles.copy()
    if calibration.shifts is not None:
        moved += calibration.shifts[level]
        moved[:, :MEDIAN] = np.minimum(moved[:, :MEDIAN], middle)
        moved[:, MEDIAN + 1 :] = np.maximum(moved[:, MEDIAN + 1 :], middle)
    outside = np.abs(LEVELS - 0.5) > calibration.nominal / 2 + 1e-9
    least = np.where(outside & (LEVELS > 0.5), high[:, None], np.where(outside, -np.inf, low[:, None]))
    most = np.where(outside & (LEVELS < 0.5), low[:, None], np.where(outside, np.inf, high[:, None]))
    return np.sort(np.clip(moved, least, most), axis=1)


def interval(low: Floats, high: Floats, level: Ints, calibration: Calibration) -> tuple[Floats, Floats]:
    """Return the calibrated ends, (n_rows,) each, in log units; they never cross."""
    return ends_of(low, high, calibration.margins[level])


def ends_of(low: Floats, high: Floats, margin: Floats) -> tuple[Floats, Floats]:
    """Return the quantiles moved apart by (n_rows,) margins; where these are below 0, at most to their middle."""
    middle = (low + high) / 2
    return np.minimum(low - margin, middle), np.maximum(high + margin, middle)


ADAPTATION = 0.01
"""Step of the level for a run outside or inside its interval, divided by the root of its job's runs: the runs of a job
are right or wrong together. A step of .002 to .05 for every run makes the intervals of a third of the synthetic sample
up to 400,000 times wide, for the same coverage."""
LATEST_SCORES = 1_000
"""Of the latest runs that have ended: what a margin is a quantile of."""
MISSES_WITHIN = (0.02, 0.3)
"""Between which the share of misses that is aimed at may move."""


@dataclass(frozen=True)
class Followed:
    """Runs in the order of time: scores as `Calibration` has them, and what is known when."""

    scores: Floats  # (n_rows,)
    started: Floats  # (n_rows,) s, when each is predicted: its submission, where that is known
    ended: Floats  # (n_rows,) s; from then on a run's score is known
    units: Ints  # (n_rows,) codes of their jobs, 0 .. n_jobs - 1
    keys: Keys  # (n_levels, n_rows) of their history cells, the narrowest first


CELL_WEIGHT = 10.0
"""Jobs of its own that a cell needs to have as much say as the next wider one. On PAI, four workflows and draws of the
synthetic sample 10 and 30 cover the same within .03; without cells eager's CPU was covered .998, twice as wide."""


def _worth(units: Ints) -> Floats:
    """(n_rows,) one over the rows of each one's unit: rows of a job are right or wrong together."""
    _, unit, sizes = np.unique(units, return_inverse=True, return_counts=True)
    worth: Floats = 1 / sizes[unit]
    return worth


def following_margins(calibration: Calibration, runs: Followed) -> Floats:
    """(n_rows,) log margins for later runs, each from the runs that had ended when it was submitted.

    Source:
        Adaptive conformal inference (Gibbs and Candès, NeurIPS 2021, equation 2): the level moves with each miss and
        each hit, the margin is that quantile of the past scores. Ours learns of a run when it ends, divides the step by
        the root of the runs of its job, keeps the level within `MISSES_WITHIN` and the latest `LATEST_SCORES` scores.
        Scores of a run's own cell weigh more, as in localised conformal prediction (Guan 2023): the distribution of a
        cell is shrunk towards that of the next wider one, as with Ferguson's (1973) prior of weight `CELL_WEIGHT`.
    """
    misses, n = 1 - calibration.nominal, len(runs.scores)
    ends, order = np.argsort(runs.ended, kind="stable"), np.lexsort((runs.ended, runs.started))
    first = min(len(calibration.scores), LATEST_SCORES)
    scores = np.concatenate([calibration.scores[len(calibration.scores) - first :], runs.scores[ends]])
    cells = np.concatenate([calibration.keys[:, len(calibration.scores) - first :], runs.keys[:, ends]], axis=1)
    worth = np.concatenate([calibration.worth[len(calibration.scores) - first :], _worth(runs.units)[ends]])
    steps = ADAPTATION / np.sqrt(np.bincount(runs.units)[runs.units])
    level, done, margins = misses, 0, np.zeros(n)
    for row in order:
        while done < n and runs.ended[ends[done]] <= runs.started[row] and ends[done] != row:
            run = ends[done]
            level = float(np.clip(level + steps[run] * (misses - (runs.scores[run] > margins[run])), *MISSES_WITHIN))
            done += 1
        known = slice(max(0, first + done - LATEST_SCORES), first + done)
        weights = _weights(cells[:, known] == runs.keys[:, row, None], worth[known])
        margins[row] = _weighted_margin(scores[known], weights, 1 - level)
    return margins


def _weights(same: Bools, worth: Floats) -> Floats:
    """(n_scores,) weights that sum to 1, from the (n_levels, n_scores) cells that scores share, the narrowest first."""
    weights: Floats = np.full(same.shape[1], 1 / same.shape[1])
    for own in same[::-1]:
        jobs = float(worth[own].sum())
        weights = (own * (jobs / max(1, int(own.sum()))) + CELL_WEIGHT * weights) / (jobs + CELL_WEIGHT)
    return weights


def _weighted_margin(scores: Floats, weights: Floats, share: float) -> float:
    """The smallest score that so much of the weight does not exceed, the run in question put among the scores."""
    order = np.argsort(scores, kind="stable")
    aim = share * (1 + float((weights**2).sum()))
    at = np.searchsorted(np.cumsum(weights[order]), aim - 1e-12)
    return float(scores[order[min(int(at), len(order) - 1)]])


def _margin(scores: Floats, n_units: float, nominal: float) -> float:
    """Return the smallest score that a share of nominal + (nominal - 1/2) / n does not exceed, at most the largest.

    n is the effective number of units that the scores are of. The published rank, ceil((n + 1) * nominal), puts the row
    in question among the scores, larger than all; so does this, but with its unit, which is expected to hold 1 / n of
    the rows and to lie half below the margin where it lies across it. With units of one row both are the same up to one
    rank; with units of unequal sizes coverage is nominal on average over draws, where the published rank covers less.
    """
    share = nominal + (nominal - 0.5) / n_units
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

    predicted: CandidateQuantiles  # of each candidate
    true: Floats  # (n_rows,) log values
    rows: Ints  # (n_rows,) their positions in the table that they were drawn from
    units: Ints  # (n_rows,) what the split keeps together
    keys: Keys  # (n_levels, n_rows) of their history cells

    @cached_property
    def found(self) -> dict[object, object]:
        """What was found of these rows, for whoever asks it again."""
        return {}


def validate(
    jobs: pd.DataFrame,
    past: Past,
    fields: tuple[str, ...],
    settings: EstimateSettings,
    report: Callable[[float], None],
    beside: Callable[[], None] | None = None,
) -> Validated:
    """Return the candidates' quantiles of rows that they were not trained on.

    `report` is told the share that is done, 0-1; `beside` is work that rests on no fold, done at the same time.
    """
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba

    if settings.split == BY_TIME:
        order = np.argsort(past.cells.times, kind="stable")
        folds = [Fold(fold.train, order[np.isin(order, fold.test)]) for fold in forward_folds(jobs)]
    elif effective_size(np.ones(len(past.units)), past.units) > FEW_UNITS:
        drawn = holdout(jobs, settings.split, VALIDATION_SHARE, settings.seed)
        in_time = np.argsort(past.cells.times[drawn.test], kind="stable")
        folds = [Fold(drawn.train, drawn.test[in_time])]
    else:
        folds = list(make_folds(jobs, settings.split, _n_folds(len(jobs)), settings.seed))
    result: dict[int, Validated] = {}

    def run_fold(at: int, _: int) -> None:
        if beside is not None and at == 0:  # the longest first
            beside()
            return
        fold = folds[at - (beside is not None)]
        result[at] = validate_rows(jobs, past, fields, settings.seed, fold.train, (fold.test,))[0]

    share_out(run_fold, len(folds) + (beside is not None), 1, report)
    return joined(result[at] for at in sorted(result))


VALIDATED_ROWS = MODEL_ROWS
"""Of each part, drawn at random: a choice or a margin is not better known from more."""


def validate_rows(
    jobs: pd.DataFrame, past: Past, fields: tuple[str, ...], seed: int, train: Ints, tests: tuple[Ints, ...]
) -> tuple[Validated, ...]:
    """Return what candidates that are trained on some rows say of each of several other parts of the table.

    `train` are (n_train,) positions, `tests` (n_test,) each, of which `VALIDATED_ROWS` count at most.
    """
    known = Past(take_cells(past.cells, train), past.targets[train], past.units[train])
    loaded = train_candidates(jobs.iloc[train], known, fields, seed, stored=False)
    return tuple(
        Validated(
            predict_quantiles(loaded, jobs.iloc[rows], take_cells(past.cells, rows), past.units[rows]),
            past.targets[rows],
            rows,
            past.units[rows],
            past.cells.keys[:, rows],
        )
        for rows in (test[draw_rows(len(test), VALIDATED_ROWS, seed)] for test in tests)
    )


def joined(parts: Iterable[Validated]) -> Validated:
    """Return the rows of all parts, one part after the other."""
    listed = list(parts)
    predicted = [part.predicted for part in listed]
    return Validated(
        CandidateQuantiles(
            np.concatenate([part.quantiles for part in predicted], axis=1),
            np.concatenate([part.points for part in predicted], axis=1),
            np.concatenate([part.level for part in predicted]),
            np.concatenate([part.count for part in predicted]),
        ),
        np.concatenate([part.true for part in listed]),
        np.concatenate([part.rows for part in listed]),
        np.concatenate([part.units for part in listed]),
        np.concatenate([part.keys for part in listed], axis=1),
    )
