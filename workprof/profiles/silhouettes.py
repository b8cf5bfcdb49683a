"""Exact and sampled silhouettes, with the outliers as a cluster (published) and without them (proper), from one pass.

The silhouette of a row is (b - a) / max(a, b): a = mean distance to the other rows of its own group, b = the smallest
mean distance to another group. Exact means every pair: the distances are taken in single precision and summed in
double, and rows whose distances are too small against the size of the numbers for that are done again in double
precision.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import SettingsError
from workprof.profiles.features import draw_per_group

SILHOUETTE_METRICS = ("euclidean", "manhattan", "cosine")
SAMPLE_ROWS = 5_000
"""Rows of the sampled estimate: a standard error near 0.005 (each silhouette lies within -1 .. 1)."""

CHUNK_ROWS = 1_024
SINGLE_PRECISION_MARGIN = 2e4
"""Rows whose mean distances are below this many rounding steps are done again in double precision: 1e-4 needs 2e4."""


@dataclass(frozen=True)
class Silhouettes:
    """Silhouettes of a clustering."""

    published: Floats  # (n_rows,) with the outliers as a cluster; NaN where not computed or undefined
    clustered: Floats  # (n_rows,) among the non-outliers; NaN for outliers and where not computed or undefined
    published_mean: float  # of `published` over the non-outliers, as the paper averages
    clustered_mean: float  # of `clustered`
    published_se: float  # standard error of published_mean, 0 when exact
    clustered_se: float  # standard error of clustered_mean, 0 when exact
    method: str  # 'exact' or 'sampled'
    n_computed: int  # rows whose silhouettes were computed


def exact_silhouettes(
    points: Floats, labels: Ints, metric: str, report: Callable[[float], None] | None = None
) -> Silhouettes:
    """Silhouettes of every row, of finite values; label -1 = outlier.

    Raises SettingsError for another metric.

    Source: Rousseeuw 1987, as in scikit-learn (a group of one row has 0); equal to it within 1e-4.
    """
    rows = np.arange(len(labels), dtype=np.int64)
    published, clustered = row_silhouettes(points, labels, metric, rows, report)
    inside = labels >= 0
    return Silhouettes(
        published, clustered, _mean(published[inside]), _mean(clustered[inside]), 0.0, 0.0, "exact", len(rows)
    )


def sampled_silhouettes(
    points: Floats, labels: Ints, metric: str, seed: int, report: Callable[[float], None] | None = None
) -> Silhouettes:
    """The silhouettes of a stratified random sample of about 5,000 rows, each exact against all rows.

    The means weight the groups by their size; the standard errors are those of a stratified sample without replacement.
    """
    _, codes = np.unique(labels, return_inverse=True)
    rows = draw_per_group(codes, SAMPLE_ROWS, seed)
    if len(rows) == len(labels):
        return exact_silhouettes(points, labels, metric, report)
    published, clustered = row_silhouettes(points, labels, metric, rows, report)
    inside = rows[labels[rows] >= 0]
    sizes = np.bincount(labels[labels >= 0]) if len(inside) else np.zeros(0, dtype=np.int64)
    published_mean, published_se = _stratified(published[inside], labels[inside], sizes)
    clustered_mean, clustered_se = _stratified(clustered[inside], labels[inside], sizes)
    return Silhouettes(
        published, clustered, published_mean, clustered_mean, published_se, clustered_se, "sampled", len(rows)
    )


def row_silhouettes(
    points: Floats, labels: Ints, metric: str, rows: Ints, report: Callable[[float], None] | None = None
) -> tuple[Floats, Floats]:
    """(n_rows,) published and (n_rows,) proper silhouettes of the rows at some positions, NaN elsewhere.

    Raises SettingsError for another metric.
    """
    if metric not in SILHOUETTE_METRICS:
        raise SettingsError(f"metric is {metric!r}; use one of {', '.join(SILHOUETTE_METRICS)}")
    published, clustered = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    groups, codes = np.unique(labels, return_inverse=True)
    if len(groups) < 2 or len(groups) == len(labels) or not len(rows):
        return published, clustered
    parts = _Parts(published, clustered, np.full(len(labels), np.inf), codes.astype(np.int64), bool(groups[0] == -1))
    rounding = _compute(points, metric, rows, parts, np.float32, report)
    too_close = rows[parts.larger[rows] < SINGLE_PRECISION_MARGIN * rounding[rows]]
    if len(too_close):
        _compute(points, metric, too_close, parts, np.float64, None)
    return published, clustered


@dataclass(frozen=True)
class _Parts:
    """Where the threads write, and what they read: `larger` is max(a, b) of each row, `codes` its group."""

    published: Floats
    clustered: Floats
    larger: Floats
    codes: Ints
    noise_first: bool


def _compute(
    points: Floats, metric: str, rows: Ints, parts: _Parts, dtype: type, report: Callable[[float], None] | None
) -> Floats:
    """Write the silhouettes of `rows` into `parts`; return (n_rows,) rounding step of each row's distances."""
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba
    from workprof.profiles.kernels.distance_sums import group_points  # noqa: PLC0415

    grouped = group_points(points, parts.codes, metric, dtype)

    def work(first: int, last: int) -> None:
        some = rows[first:last]
        own, sums = parts.codes[some], grouped.sums(some)
        parts.published[some], parts.larger[some] = _combine(sums, own, grouped.sizes)
        if not parts.noise_first:
            parts.clustered[some] = parts.published[some]
        elif len(grouped.sizes) > 2:
            inside = own > 0
            parts.clustered[some[inside]], _ = _combine(sums[inside, 1:], own[inside] - 1, grouped.sizes[1:])

    share_out(work, len(rows), CHUNK_ROWS, report)
    return grouped.rounding


def _combine(sums: Floats, own: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """The silhouettes and max(a, b) of rows whose distance sums to all groups are given."""
    here = np.arange(len(own))
    a = sums[here, own] / np.maximum(1, sizes[own] - 1)
    means = sums / sizes
    means[here, own] = np.inf
    b = means.min(axis=1)
    larger = np.maximum(a, b)
    values = np.divide(b - a, larger, out=np.zeros(len(own)), where=larger > 0)
    values[sizes[own] == 1] = 0.0
    return values, larger


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _stratified(values: Floats, groups: Ints, sizes: Ints) -> tuple[float, float]:
    """The mean over all rows estimated from a stratified sample, and its standard error."""
    if not len(values) or np.isnan(values).all():
        return float("nan"), float("nan")
    drawn = np.bincount(groups, minlength=len(sizes))
    means = np.bincount(groups, weights=values, minlength=len(sizes)) / np.maximum(1, drawn)
    squares = np.bincount(groups, weights=(values - means[groups]) ** 2, minlength=len(sizes))
    variance = squares / np.maximum(1, drawn - 1)
    weight = sizes / sizes.sum()
    unseen = 1.0 - drawn / np.maximum(1, sizes)
    error = np.sqrt((weight**2 * variance * unseen / np.maximum(1, drawn)).sum())
    return float((weight * means).sum()), float(error)
