"""The published errors as quantiles, with their true unit: a line to hold our own errors against, not a comparison.

They are of other jobs and of a model that was not published. Source: polarisprofiler.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Of the quantiles below: p5 ... p99 and the maximum."""

PERCENT_LIMITS = (5.0, 10.0, 20.0, 50.0, 100.0)
RATIO_LIMITS = (0.05, 0.2, 1.0, 5.0)


@dataclass(frozen=True)
class PublishedErrors:
    """Quantiles of one published error, as printed (about three digits).

    Attributes:
        name: column of the published file.
        target: our field of the same quantity.
        unit: 'percent' = 100 |p - t| / t with 0 for a true zero; 'ratio' = |p - t| / t, which the paper reads as per
            cent.
        n_rows: tested rows.
        quantiles: at `LEVELS`, in the unit.
        limits: in the unit.
        within: share of rows with an error of at most each limit.
        zero_share: share of rows with an error of exactly 0.
        words: whose errors, and what is not known of them.
    """

    name: str
    target: str
    unit: str
    n_rows: int
    quantiles: tuple[float, ...]
    limits: tuple[float, ...]
    within: tuple[float, ...]
    zero_share: float
    words: str

    def points(self, unit: str) -> tuple[tuple[float, float], ...]:
        """Return (error, share of rows at or below it) in 'percent' or 'ratio', rising; quantiles and limits together.

        The maximum is left out: it is one row.
        """
        scale = {("percent", "ratio"): 0.01, ("ratio", "percent"): 100.0}.get((self.unit, unit), 1.0)
        known = [*zip(self.quantiles[:-1], LEVELS[:-1], strict=True), *zip(self.limits, self.within, strict=True)]
        return tuple(sorted((error * scale, share) for error, share in known))


TEN_THOUSAND = "published run on 10,000 jobs, in per cent; its estimator is not recorded and its jobs are others"
NINE_HUNDRED = (
    "published run on 999 jobs with the mean of the predicted profile: ratios, which the paper reads as per cent; its "
    "model is not available, so this line cannot be recomputed"
)

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
    """Return the published lines of a target."""
    return tuple(line for line in PUBLISHED_ERRORS if line.target == target)
