"""Which predictor gives the best guess, and how the candidates are combined: both from rows that none was trained on.

Every predictor is tried: the simple rules, what learned, and the combination of both, which is judged on rows that took
no part in choosing its rules. The least error wins: a simple rule stays where nothing beats it. Forward in time, where
what won before may not win again, a winner that is not clearly better shares the guess with the best simple rule,
unless errors of both together are infinite that the rule's are not.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.forecasts.candidates import CANDIDATES, LEVELS, MEDIAN, POINTS, CandidateQuantiles, take_rows
from workprof.forecasts.errors import SAME, ErrorQuantiles, ratio_error, ratio_quantiles
from workprof.forecasts.intervals import Validated

MIXTURES: tuple[tuple[float, ...], ...] = (
    (1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, 0.0, 1.0),
    (0.5, 0.5, 0.0),
    (0.5, 0.0, 0.5),
    (0.0, 0.5, 0.5),
    (1 / 3, 1 / 3, 1 / 3),
)
RECENT = CANDIDATES.index("recent")
BAND = tuple(np.searchsorted(np.round(LEVELS, 2), (0.1, 0.9)).tolist())
"""Positions in LEVELS between which a best guess lies."""


def _sources(points: Floats) -> Floats:
    """Return (n_sources, n_rows): the points of `POINTS`, and what `SOURCES` names beside them."""
    recent, forest, boosted, backoff, _, slow = points
    of_trees, of_all = np.sort([forest, boosted, slow], axis=0)[1], np.sort(points, axis=0)[2:4].sum(axis=0) / 2
    return np.concatenate([points, [(recent + backoff) / 2, (boosted + slow) / 2, of_trees, of_all]])


SOURCES = (*POINTS, "recent and backoff", "boosted and slow", "median of the trees", "median of all")


@dataclass(frozen=True)
class Rule:
    """A point: the base, unless it lies further than the bounds from the centre."""

    base: int  # of SOURCES
    centre: int  # of SOURCES
    below: float  # log units that the point may lie below the centre
    above: float  # and above it; below 0: at least so much under it

    @property
    def text(self) -> str:
        """The rule for people."""
        base, centre = SOURCES[self.base].replace("_", " "), SOURCES[self.centre].replace("_", " ")
        if self.base == self.centre:
            return base
        ends = [f"{math.exp(self.above):.2g} times" if math.isfinite(self.above) else ""]
        ends += [f"at least {math.exp(-self.below):.2g} times" if math.isfinite(self.below) else ""]
        bounds = " and ".join(("at most " if place == 0 else "") + end for place, end in enumerate(ends) if end)
        return f"{base}, {bounds} {centre}" if bounds else base


BELOW = (0.0, 0.25, 0.6, 1.5, math.inf)
ABOVE = (-0.1, 0.0, 0.1, 0.25, 0.5, 1.0, math.inf)
RULES = tuple(Rule(place, place, 0.0, 0.0) for place in range(len(POINTS))) + tuple(
    Rule(SOURCES.index(base), SOURCES.index(centre), below, above)
    for base in ("recent", "backoff_medians", "recent and backoff", "median of all")
    for centre in ("forest", "boosted", "boosted_slow", "median of the trees", "boosted and slow")
    for below in BELOW
    for above in ABOVE
)
"""Every way to a point that is tried: each of `POINTS` alone, and history within bounds around what trees learned.

What history says of a job is nearly right or far off; trees are seldom far off. History within bounds keeps both: the
median error of the first, the large errors of the second."""


COMBINED = "combined"
SIMPLE = ("backoff_medians", "recent")
"""Predictors that learn nothing but medians of past jobs like this one."""
CONSTANT = "global_median"
"""Nothing for every job, which is tried where most validation rows need nothing: any other guess of these is infinitely
far off. As a candidate everywhere the median of all won on eager's memory by chance, at 2.5 times the best errors."""
TRIED = (*SIMPLE, *(name for name in POINTS if name not in SIMPLE), COMBINED, CONSTANT)
"""What the best guess may come from; of equal ones the first."""
BESIDE = "+"
"""Joins the names of two predictors whose guesses are averaged, as logarithms."""


@dataclass(frozen=True)
class Trial:
    """How one predictor did on validation rows."""

    name: str  # of TRIED, or two of them joined by BESIDE
    ratio_error: ErrorQuantiles  # |p - t| / t
    over_best: float  # mean of these three, each divided by the best single predictor's
    under_predicted_share: float  # rows with p < t, by more than `SAME`


@dataclass(frozen=True)
class Combination:
    """Where the best guess and the quantiles come from.

    The quantiles are a weighted mean of the candidates'. A planner who wants less risk than a best guess reads them.
    """

    weights: tuple[float, ...]  # of the quantiles of `CANDIDATES`, summing to 1
    rules: tuple[
        Rule, ...
    ]  # whose mean is the predictor COMBINED: the best on the validation rows, the very best first
    trials: tuple[Trial, ...]  # of every predictor on the validation rows, the chosen one first
    n_rows: int  # validation rows that the trials rest on
    middle: float = math.nan  # log median of these; the point of CONSTANT
    bounded: bool = True  # whether the point is kept between its p10 and p90

    @property
    def chosen(self) -> str:
        """The predictor that gives the best guess."""
        return self.trials[0].name

    @property
    def text(self) -> str:
        """The combination for people."""
        parts = zip(self.weights, CANDIDATES, strict=True)
        interval_from = " + ".join(f"{weight:.2g} {name}" for weight, name in parts if weight)
        first, *simple = (name.replace("_", " ") for name in self.chosen.split(BESIDE))
        rules = f": mean of {len(self.rules)} rules, first {self.rules[0].text}" if first == COMBINED else ""
        point = ", halfway to ".join((first + rules, *simple))
        return f"{point}{'' if self.bounded else ', beyond p10 and p90, too'}; interval from {interval_from}"


def mix(predicted: CandidateQuantiles, weights: tuple[float, ...], n_levels: int) -> Floats:
    """Return (n_rows, n_levels) weighted means of the candidates' log quantiles.

    A job without any history gets the quantiles of all past jobs alone: trees would take an unseen value for whatever
    known value is left over, and be sure of it. A row that reached level `n_levels` has no history.
    """
    mixed: Floats = np.tensordot(np.array(weights), predicted.quantiles, axes=1)
    return np.where((predicted.level >= n_levels)[:, None], predicted.quantiles[RECENT], mixed)


def _by_rules(predicted: CandidateQuantiles, rules: tuple[Rule, ...], n_levels: int) -> Floats:
    """Return (n_rules, n_rows) log points; a job without any history gets the median of all past jobs, as in `mix`."""
    sources = _sources(predicted.points)
    centre = sources[[rule.centre for rule in rules]]
    below, above = (np.array([getattr(rule, end) for rule in rules])[:, None] for end in ("below", "above"))
    points = centre + np.clip(sources[[rule.base for rule in rules]] - centre, -below, above)
    return np.where(predicted.level >= n_levels, predicted.quantiles[RECENT][:, MEDIAN], points)


def combined_point(predicted: CandidateQuantiles, rules: tuple[Rule, ...], n_levels: int) -> Floats:
    """Return (n_rows,) log points: the mean of the rules' points."""
    point: Floats = _by_rules(predicted, rules, n_levels).mean(axis=0)
    return point


def point_of(predicted: CandidateQuantiles, combination: Combination, n_levels: int) -> Floats:
    """(n_rows,) log points of the chosen predictor, of two the mean."""
    names, constant = combination.chosen.split(BESIDE), np.full(len(predicted.level), combination.middle)
    points = [
        combined_point(predicted, combination.rules, n_levels)
        if name == COMBINED
        else constant
        if name == CONSTANT
        else predicted.points[POINTS.index(name)]
        for name in names
    ]
    point: Floats = np.mean(points, axis=0)
    return point


def pinball_loss(quantiles: Floats, true: Floats) -> float:
    """Return the mean pinball loss of (n_rows, n_levels) log quantiles at `LEVELS` for (n_rows,) log values."""
    beyond = true[:, None] - quantiles
    return float(np.maximum(LEVELS * beyond, (LEVELS - 1) * beyond).mean())


ERROR_LEVELS = np.array([[0.4, 0.45, 0.5, 0.55, 0.6], [0.74, 0.77, 0.8, 0.83, 0.86], [0.875, 0.89, 0.9, 0.91, 0.925]])
"""What a rule's relative errors are compared at: around p50, p80 and p90, each as a mean of logarithms."""
SMALLEST_ERROR = 1e-3
UNBIASED_WITHIN = 0.02
BIAS_PRICE = 4.0
"""Of every part of 1 by which the share of under-predicted rows is further from a half than `UNBIASED_WITHIN`."""
BEST_RULES = 20
"""Rules of which the point is the mean: the best rule of some hundred jobs is the best partly by chance."""
ROWS_JUDGED = 2_000
"""Of the validation rows, evenly: a rule is not better known from more."""


def quantiles_of_sorted(values: Floats, levels: Floats) -> Floats:
    """(n_levels, n) quantiles of (n, n_values) finite values in rising order, as np.quantile gives them, at once."""
    at = levels * (values.shape[1] - 1)
    below = np.floor(at).astype(np.int64)
    share = (at - below)[:, None]
    low, high = values[:, below].T, values[:, np.minimum(below + 1, values.shape[1] - 1)].T
    step = high - low
    return np.asarray(np.where(share >= 0.5, high - step * (1 - share), low + step * share), dtype=np.float64)


def _errors(points: Floats, true: Floats) -> tuple[Floats, Bools]:
    """Return the relative errors of (n_rules, n_rows) log points, and which are too low."""
    with np.errstate(over="ignore"):
        errors = np.abs(np.expm1(np.minimum(points - true, np.log(np.finfo(np.float64).max) / 2)))
    return errors, points < true - SAME


def _rule_losses(errors: Floats, too_low: Bools) -> Floats:
    """Return (n_rules,) losses of the (n_rules, n_rows) `_errors` of rules in the order of `RULES`.

    The loss is how far the quantiles of the relative error lie above those of whichever of `POINTS` is best there: on
    average, and half of the worst, so that no quantile is bought with another; and the price of a biased guess.
    """
    at = quantiles_of_sorted(np.sort(errors, axis=1), ERROR_LEVELS.ravel()).reshape(*ERROR_LEVELS.shape, -1)
    result = np.log(np.maximum(at, SMALLEST_ERROR)).mean(axis=1)
    beyond = result - result[:, : len(POINTS)].min(axis=1, keepdims=True)
    bias = np.maximum(np.abs(too_low.mean(axis=1) - 0.5) - UNBIASED_WITHIN, 0.0)
    losses: Floats = beyond.mean(axis=0) + np.maximum(beyond.max(axis=0), 0.0) / 2 + BIAS_PRICE * bias
    return losses


PARTS = 5
"""Of the validation rows: the rules of a combination that is tried on one come from the others."""


@dataclass(frozen=True)
class _Judged:
    """What validation rows say whatever the target's unit; points are logarithms."""

    weights: tuple[float, ...]  # of MIXTURES
    rules: tuple[Rule, ...]  # the best
    tried: dict[str, Floats]  # predictor -> (n_judged,) points
    true: Floats  # (n_judged,)
    units: Ints  # (n_judged,)


def _judged(validated: Validated, n_levels: int) -> _Judged:
    """Return what is chosen without a unit; found once for the folds that share their validation rows."""
    if (found := validated.found.get(n_levels)) is not None:
        return cast(_Judged, found)
    predicted, true = validated.predicted, validated.true
    weights = min(MIXTURES, key=lambda one: pinball_loss(mix(predicted, one, n_levels), true))
    rows = _judged_rows(len(true))
    predicted, true = take_rows(predicted, rows), true[rows]
    points = _by_rules(predicted, RULES, n_levels)
    errors = _errors(points, true)
    tried = dict(zip(POINTS, predicted.points, strict=True))
    parts = _parts(validated.units[rows])
    if parts.any():
        tried[COMBINED] = _of_other_parts(points, errors, parts)
    rules = tuple(RULES[place] for place in _best_rules(*errors))
    result = _Judged(weights, rules, tried, true, validated.units[rows])
    validated.found[n_levels] = result
    return result


def _judged_rows(n_rows: int) -> Ints:
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, ROWS_JUDGED)).astype(np.int64))


def kept_between(point: Floats, quantiles: Floats) -> Floats:
    """(n_rows,) log points, none below its p10 or above its p90; quantiles are at `LEVELS`."""
    low, high = (quantiles[:, at] for at in BAND)
    return np.clip(point, low, high)


def is_bounded(point: Floats, quantiles: Floats, validated: Validated, back: Callable[[Floats], Floats]) -> bool:
    """Whether points are to be kept between their p10 and p90: unless, of validation rows, others are clearly better.

    Points come from another predictor than quantiles: by job 8.7 % of the best guesses of memory on PAI were above p90.
    Kept between, the errors of 16 tests stayed or fell (PAI's memory by job, p80 / p90: .386 / .709, then .357 / .618).
    """
    rows = _judged_rows(len(point))
    free, held = point[rows], kept_between(point[rows], quantiles[rows])
    if np.array_equal(free, held):
        return True
    return not _clearly_better({"free": free, "held": held}, validated.true[rows], validated.units[rows], back)


def choose(
    validated: Validated, n_levels: int, back: Callable[[Floats], Floats], *, forward: bool = False
) -> Combination:
    """Return what gives the best guess and the quantiles: the smallest losses on validation rows.

    Quantiles are judged by the pinball loss at all levels, points by the errors that are reported of them. `back` leads
    from the log scale to the target's unit; `forward`: the rows sought come later than all that is known.
    """
    judged = _judged(validated, n_levels)
    true, units, tried = judged.true, judged.units, dict(judged.tried)
    middle = float(np.median(true))
    if back(np.array([middle])) == 0:
        tried[CONSTANT] = np.full(len(true), middle)
    trials = _trials(tried, true, back)
    if forward and trials[0].name not in (*SIMPLE, CONSTANT):
        simple = next(trial.name for trial in trials if trial.name in SIMPLE)
        pair = {name: tried[name] for name in (trials[0].name, simple)}
        if not _clearly_better(pair, true, units, back):
            shared = BESIDE.join(pair)
            of_all = _trials(tried | {shared: np.mean(list(pair.values()), axis=0)}, true, back)
            best = simple if _infinite(of_all, shared) - _infinite(of_all, simple) else shared
            trials = tuple(sorted(of_all, key=lambda trial: trial.name != best))
    return Combination(judged.weights, judged.rules, trials, len(true), middle)


def _infinite(trials: tuple[Trial, ...], name: str) -> set[str]:
    """Which quantiles of the errors of one predictor are infinite."""
    one = next(trial.ratio_error for trial in trials if trial.name == name)
    return {level for level, error in vars(one).items() if math.isinf(error)}


CLEARLY = 3.0
"""Standard errors: of seven predictors that are as good as the simple rule, one seems better by two on one trace
in six, by three in one of a hundred."""
SAMPLES = 200
"""Of units, drawn with replacement, for a standard error."""


def _clearly_better(
    pair: dict[str, Floats], true: Floats, units: Ints, back: Callable[[Floats], Floats], seed: int = 0
) -> bool:
    """Whether the first of two predictors has smaller errors than the second by more than `CLEARLY` standard errors.

    What is compared is the mean log of the p50, p80 and p90 ratio errors.

    Source:
        Bootstrap over clusters: rows of one unit are right or wrong together.
    """
    needed, draw = back(true), np.random.default_rng(seed)
    errors = np.array([ratio_error(back(points), needed) for points in pair.values()])
    _, unit, sizes = np.unique(units, return_inverse=True, return_counts=True)
    rows_of = np.split(np.argsort(unit, kind="stable"), np.cumsum(sizes)[:-1])

    def gain(rows: Ints) -> float:
        at = np.quantile(errors[:, rows], (0.5, 0.8, 0.9), axis=1, method="higher")
        first, second = np.log(np.clip(at, SMALLEST_ERROR, MOST_OVER_BEST)).mean(axis=0)
        return float(second - first)

    drawn = [draw.integers(0, len(sizes), len(sizes)) for _ in range(SAMPLES)]
    spread = np.std([gain(np.concatenate([rows_of[one] for one in some])) for some in drawn])
    return gain(np.arange(len(true))) > CLEARLY * float(spread)


def _best_rules(errors: Floats, too_low: Bools) -> Ints:
    return np.argsort(_rule_losses(errors, too_low), kind="stable")[:BEST_RULES]


def _parts(units: Ints) -> Ints:
    """Return (n_rows,) parts, consecutive rows each; all rows of a unit are in that of its first."""
    _, first, unit = np.unique(units, return_index=True, return_inverse=True)
    parts: Ints = first[unit] * PARTS // len(units)
    return parts


def _of_other_parts(points: Floats, errors: tuple[Floats, Bools], parts: Ints) -> Floats:
    """Return (n_rows,) log points of the combination whose rules the rows of the other parts chose."""
    result = np.empty(len(parts))
    for part in np.unique(parts):
        rules = _best_rules(errors[0][:, parts != part], errors[1][:, parts != part])
        result[parts == part] = points[rules][:, parts == part].mean(axis=0)
    return result


MOST_OVER_BEST = 1e3
"""An error over one of zero, or an infinite one, counts as so many times the best."""


def _trials(tried: dict[str, Floats], true: Floats, back: Callable[[Floats], Floats]) -> tuple[Trial, ...]:
    """Return how each predictor's (n_rows,) log points did, the best first."""
    names, needed = (
        [*(name for name in TRIED if name in tried), *(name for name in tried if name not in TRIED)],
        back(true),
    )
    errors = {name: ratio_quantiles(back(tried[name]), needed) for name in names}
    at = np.array([[one.p50, one.p80, one.p90] for one in errors.values()])
    best = at[[name in POINTS for name in names]].min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        over = np.where(at == best, 1.0, np.minimum(at / best, MOST_OVER_BEST)).mean(axis=1)
    under = [float(np.mean(tried[name] < true - SAME)) for name in names]
    trials = [Trial(name, errors[name], float(over[i]), under[i]) for i, name in enumerate(names)]
    return tuple(sorted(trials, key=lambda trial: trial.over_best))
