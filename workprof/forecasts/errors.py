"""How wrong predictions are, each measure under its own name and unit, and the published errors to hold ours against.

A ratio, a percentage, a factor and a signed error are different quantities; the published evaluation reads a ratio as
per cent. A true zero is never a free pass here: any other prediction is infinitely far off in ratio and factor.
"""

from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints

CURVE_POINTS = 201
"""Quantiles per error curve."""


@dataclass(frozen=True)
class ErrorQuantiles:
    """Quantiles of a measure over the tested rows."""

    p50: float
    p80: float
    p90: float


@dataclass(frozen=True)
class FactorQuantiles:
    """Quantiles of the factor error."""

    p50: float
    p90: float


@dataclass(frozen=True)
class PredictorErrors:
    """Errors of one predictor."""

    name: str  # of the predictor
    share_within_5pct: float  # rows with a ratio error of at most 0.05, as a share 0-1; the others alike
    share_within_20pct: float
    share_within_100pct: float
    share_within_500pct: float
    ratio_error: ErrorQuantiles  # |p - t| / t
    factor_error: FactorQuantiles  # max(p / t, t / p)
    within_2x: float  # share of rows with a factor error of at most 2
    mae: float  # mean absolute error in the target's unit
    under_predicted_share: float  # rows with p < t, by more than `SAME`
    curve: Floats  # (3, CURVE_POINTS) quantiles at `curve_levels()` of the signed, the ratio and the factor error


@dataclass(frozen=True)
class ErrorDifference:
    """Quantiles of one predictor's ratio error minus those of another, with their bootstrap error."""

    difference: Floats  # (3,) at 50, 80 and 90 %; below 0: smaller errors
    low: Floats  # (3,) lower end of each in samples of jobs
    high: Floats  # (3,) upper end


def curve_levels() -> Floats:
    """(CURVE_POINTS,) probabilities of the error curves."""
    return np.linspace(0.0, 1.0, CURVE_POINTS)


def ratio_error(predicted: Floats, true: Floats) -> Floats:
    """|p - t| / t; 0 where both are 0, infinite where only t is.

    Source: What the published notebook computes and its axis calls per cent.
    """
    return _divided(np.abs(predicted - true), true)


def signed_error(predicted: Floats, true: Floats) -> Floats:
    """(p - t) / t: below 0 is under-predicted."""
    return _divided(predicted - true, true)


def factor_error(predicted: Floats, true: Floats) -> Floats:
    """max(p / t, t / p), 1 where both are 0."""
    larger, smaller = np.maximum(predicted, true), np.minimum(predicted, true)
    return np.where(larger == smaller, 1.0, _divided(larger, smaller))


SAME = 1e-9
"""Share of a value that is no difference: one that went through logarithms comes back a little off."""


def side_of(low: Floats, high: Floats, true: Floats) -> Floats:
    """(n_rows,) 1 where a value is above its interval, -1 below, 0 inside or at an end; NaN where one is not known."""
    sides = np.where(true > high * (1 + SAME), 1.0, np.where(true < low * (1 - SAME), -1.0, 0.0))
    return np.where(np.isnan(low + high + true), np.nan, sides)


def summarise_errors(name: str, predicted: Floats, true: Floats) -> PredictorErrors:
    """The errors of one predictor over (n_rows,) predictions and true values."""
    ratio, factor = ratio_error(predicted, true), factor_error(predicted, true)
    return PredictorErrors(
        name=name,
        share_within_5pct=float(np.mean(ratio <= 0.05)),
        share_within_20pct=float(np.mean(ratio <= 0.2)),
        share_within_100pct=float(np.mean(ratio <= 1.0)),
        share_within_500pct=float(np.mean(ratio <= 5.0)),
        ratio_error=_error_quantiles(ratio),
        factor_error=FactorQuantiles(*(_quantile(factor, level) for level in (0.5, 0.9))),
        within_2x=float(np.mean(factor <= 2.0)),
        mae=float(np.mean(np.abs(predicted - true))),
        under_predicted_share=float(np.mean(side_of(predicted, predicted, true) > 0)),
        curve=np.array([_quantiles(errors) for errors in (signed_error(predicted, true), ratio, factor)]),
    )


def ratio_quantiles(predicted: Floats, true: Floats) -> ErrorQuantiles:
    """The quantiles of the ratio error over (n_rows,) predictions and true values."""
    return _error_quantiles(ratio_error(predicted, true))


def _error_quantiles(ratio: Floats) -> ErrorQuantiles:
    return ErrorQuantiles(*(_quantile(ratio, level) for level in (0.5, 0.8, 0.9)))


BOOTSTRAP_SAMPLES = 200
COMPARED_AT = np.array([0.5, 0.8, 0.9])


def compare_errors(
    predicted: dict[str, Floats], of: str, true: Floats, units: Ints, confidence: float = 0.95, seed: int = 0
) -> dict[str, ErrorDifference]:
    """Return, for every other predictor, how much lower (below 0) or higher the errors of one are.

    Samples are drawn job by job: rows of one job are right or wrong together.

    `units` (n_rows,) are codes of the jobs, 0 .. n_jobs - 1. Each difference lies between the ends with the confidence.

    Source: Percentile bootstrap (Efron 1979) over clusters.
    """
    names = [of, *(name for name in predicted if name != of)]
    errors = [ratio_error(predicted[name], true) for name in names]
    order = [np.argsort(one) for one in errors]
    draw, n_units = np.random.default_rng(seed), int(units.max(initial=-1)) + 1

    def differences(times: Ints) -> Floats:
        wanted = np.ceil(COMPARED_AT * (times.sum() - 1))  # of the rows as often as their unit is drawn, in order
        places = [np.searchsorted(np.cumsum(times[one]), wanted, side="right") for one in order]
        at = np.array([one[rows[place]] for one, rows, place in zip(errors, order, places, strict=True)])
        with np.errstate(invalid="ignore"):
            apart: Floats = np.nan_to_num(at[:1] - at, nan=0.0, posinf=np.inf, neginf=-np.inf)
        return apart  # none where both are infinite

    own, samples = differences(np.ones(len(true), dtype=np.int64)), []
    for _ in range(BOOTSTRAP_SAMPLES):
        times = np.bincount(draw.integers(0, n_units, n_units), minlength=n_units)
        samples.append(differences(times[units]))
    rest = (1 - confidence) / 2
    low, high = np.quantile(samples, [rest, 1 - rest], axis=0, method="nearest")
    return {name: ErrorDifference(own[place], low[place], high[place]) for place, name in enumerate(names[1:], start=1)}


def _divided(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = above / below
    return np.where(above == 0, 0.0, quotient)


def _quantile(values: Floats, level: float) -> float:
    return float(quantiles_at(values, np.array([level]))[0])


def _quantiles(values: Floats) -> Floats:
    return quantiles_at(values, curve_levels())


def quantiles_at(values: Floats, levels: Floats) -> Floats:
    """Linear quantiles; an infinite neighbour makes the quantile infinite instead of undefined."""
    ordered = np.sort(values)
    at = levels * (len(ordered) - 1)
    low, high = ordered[np.floor(at).astype(int)], ordered[np.ceil(at).astype(int)]
    share = at - np.floor(at)
    with np.errstate(invalid="ignore"):
        between = low + share * (high - low)
    return np.where(low == high, low, np.where(np.isinf(high) & (share > 0), np.inf, between))


LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Of the published quantiles: p5 ... p99 and the maximum.

The published errors are a line to hold our own against, not a comparison: they are of other jobs and of a model that
was not published.
"""

PERCENT_LIMITS = (5.0, 10.0, 20.0, 50.0, 100.0)
RATIO_LIMITS = (0.05, 0.2, 1.0, 5.0)


@dataclass(frozen=True)
class PublishedErrors:
    """Quantiles of one published error, as printed (about three digits)."""

    name: str  # column of the published file
    target: str  # our field of the same quantity
    unit: str
    """'percent' = 100 |p - t| / t with 0 for a true zero; 'ratio' = |p - t| / t, which the paper reads as per
    cent."""
    n_rows: int  # tested rows
    quantiles: tuple[float, ...]  # at `LEVELS`, in the unit
    limits: tuple[float, ...]  # in the unit
    within: tuple[float, ...]  # share of rows with an error of at most each limit
    zero_share: float  # share of rows with an error of exactly 0
    words: str  # whose errors, and what is not known of them

    def points(self, unit: str) -> tuple[tuple[float, float], ...]:
        """(error, share of rows at or below it) in 'percent' or 'ratio', rising; quantiles and limits together.

        The maximum is left out: it is one row.
        """
        scale = {("percent", "ratio"): 0.01, ("ratio", "percent"): 100.0}.get((self.unit, unit), 1.0)
        known = [*zip(self.quantiles[:-1], LEVELS[:-1], strict=True), *zip(self.limits, self.within, strict=True)]
        return tuple(sorted((error * scale, share) for error, share in known))


TEN_THOUSAND = "published run on 10,000 jobs, in per cent; its estimator is not recorded and its jobs are others"
NINE_HUNDRED = "published run on 999 jobs with the mean of the predicted profile, in ratios; its model is not available"

MEMORY = PublishedErrors(
    name="Memory",
    target="peak_memory_bytes",
    unit="percent",
    n_rows=10_000,
    quantiles=(1.60, 2.59, 5.45, 13.8, 38.9, 46.4, 70.9, 102.0, 578.0, 1.3e5),
    limits=PERCENT_LIMITS,
    within=(0.232, 0.393, 0.612, 0.820, 0.949),
    zero_share=0.001,
    words=TEN_THOUSAND,
)
GPU = PublishedErrors(
    name="GPU",
    target="gpu_usage_percent",
    unit="percent",
    n_rows=10_000,
    quantiles=(1.56, 7.48, 25.8, 67.3, 87.1, 91.0, 97.8, 250.0, 2652.0, 6.6e5),
    limits=PERCENT_LIMITS,
    within=(0.079, 0.121, 0.201, 0.400, 0.916),
    zero_share=0.039,
    words=TEN_THOUSAND,
)
CPU = PublishedErrors(
    name="CPU",
    target="cpu_usage_percent",
    unit="percent",
    n_rows=10_000,
    quantiles=(2.92, 6.07, 15.6, 28.3, 73.5, 84.9, 161.0, 272.0, 1045.0, 5385.0),
    limits=PERCENT_LIMITS,
    within=(0.085, 0.159, 0.367, 0.602, 0.853),
    zero_share=0.000,
    words=TEN_THOUSAND,
)
DURATION = PublishedErrors(
    name="Duration",
    target="duration_s",
    unit="percent",
    n_rows=10_000,
    quantiles=(0.0, 0.0, 16.8, 68.7, 94.1, 96.0, 99.7, 244.0, 1027.0, 2.3e4),
    limits=PERCENT_LIMITS,
    within=(0.165, 0.220, 0.263, 0.385, 0.911),
    zero_share=0.141,
    words=TEN_THOUSAND,
)
DURATION_999 = PublishedErrors(
    name="Duration",
    target="duration_s",
    unit="ratio",
    n_rows=999,
    quantiles=(0.154, 0.243, 0.327, 0.973, 4.01, 4.92, 10.1, 17.1, 46.6, 213.6),
    limits=RATIO_LIMITS,
    within=(0.012, 0.085, 0.546, 0.804),
    zero_share=0.0,
    words=NINE_HUNDRED,
)

PUBLISHED_ERRORS = (MEMORY, GPU, CPU, DURATION, DURATION_999)


def published_errors(target: str) -> tuple[PublishedErrors, ...]:
    """The published lines of a target."""
    return tuple(line for line in PUBLISHED_ERRORS if line.target == target)
