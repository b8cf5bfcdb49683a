"""What the profiles are like: a card for each, boxes of the features (the paper's Fig. 4), a flat map of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, Ints, numbers_if_present
from workprof.core.units import DAY_S, HOUR_S, format_bytes, format_duration, format_share
from workprof.core.words import counted
from workprof.profiles.metadata import CELL, CategoryShare, FieldCounts, Heatmap, count_values, heatmap, metadata_fields

if TYPE_CHECKING:
    import pandas as pd


WHISKER = 1.5
"""Tukey's whiskers: the outermost rows within 1.5 interquartile ranges of the box."""


@dataclass(frozen=True)
class FeatureSpread:
    """Distribution of every feature in every profile, in scaled and in raw units, of the runs that have a value.

    NaN where no run of a profile has one. All arrays are (n_groups, n_features) in the order of `profiles` (outliers,
    -1, first where there are any) and `features`.
    """

    profiles: Ints  # (n_groups,) labels
    features: tuple[str, ...]  # names
    mean: Floats  # in scaled units
    std: Floats  # in scaled units
    lower: Floats  # end of the 1.5-IQR whisker, in scaled units
    q1: Floats  # of the box, in scaled units
    median: Floats  # in scaled units
    q3: Floats  # of the box, in scaled units
    upper: Floats  # end of the 1.5-IQR whisker, in scaled units
    raw_median: Floats  # in the field's own unit
    raw_q1: Floats  # in the field's own unit
    raw_q3: Floats  # in the field's own unit


def feature_spread(scaled: Floats, raw: Floats, labels: Ints, features: tuple[str, ...]) -> FeatureSpread:
    """The distribution of the features by profile, of what was measured: where `raw` is NaN, the value is left out.

    `raw` is in the fields' units.
    """
    scaled = np.where(np.isnan(raw), np.nan, scaled)  # what stands in for a missing value tells nothing of a profile
    profiles, codes = np.unique(labels, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(profiles)))
    groups = np.split(order, ends[:-1]) if len(profiles) else []
    boxes = np.array([_of_present(_box, scaled[rows]) for rows in groups]).reshape(len(groups), 7, len(features))
    quartiles = np.array([_of_present(_quartiles, raw[rows]) for rows in groups]).reshape(len(groups), 3, len(features))
    mean, std, lower, q1, median, q3, upper = np.ascontiguousarray(boxes.transpose(1, 0, 2))
    raw_q1, raw_median, raw_q3 = np.ascontiguousarray(quartiles.transpose(1, 0, 2))
    return FeatureSpread(
        profiles.astype(np.int64), features, mean, std, lower, q1, median, q3, upper, raw_median, raw_q1, raw_q3
    )


def _box(values: Floats) -> Floats:
    q1, median, q3 = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
    reach = WHISKER * (q3 - q1)
    lower = np.where(values >= q1 - reach, values, np.inf).min(axis=0)
    upper = np.where(values <= q3 + reach, values, -np.inf).max(axis=0)
    return np.array([values.mean(axis=0), values.std(axis=0), lower, q1, median, q3, upper])


def _quartiles(values: Floats) -> Floats:
    return np.quantile(values, [0.25, 0.5, 0.75], axis=0)


def _of_present(statistics: Callable[[Floats], Floats], values: Floats) -> Floats:
    """(n_statistics, n_features) of the values that are there; NaN where none is."""
    complete = ~np.isnan(values).any(axis=0)
    found = statistics(values[:, complete])
    result = np.full((len(found), values.shape[1]), np.nan)
    result[:, complete] = found
    for j in np.flatnonzero(~complete):
        present = values[~np.isnan(values[:, j]), j : j + 1]
        if present.size:
            result[:, j] = statistics(present)[:, 0]
    return result


@dataclass(frozen=True)
class FlatMap:
    """Rows in two dimensions."""

    xy: Floats  # (n_rows, 2) principal components
    explained: Floats  # (2,) share of the variance, 0-1
    loadings: Floats  # (2, n_dims) of the scaled columns


def project(points: Floats) -> FlatMap:
    """The first two principal components of the scaled rows; each component's largest loading is positive."""
    centred = points - points.mean(axis=0)
    covariance = centred.T @ centred / max(1, len(points) - 1)
    variances, vectors = np.linalg.eigh(covariance)  # ascending
    loadings = vectors[:, ::-1][:, :2].T
    largest = np.abs(loadings).argmax(axis=1)
    loadings = loadings * np.sign(loadings[np.arange(2), largest])[:, None]
    total = variances.sum()
    explained = np.clip(variances[::-1][:2], 0, None) / total if total > 0 else np.zeros(2)
    return FlatMap(centred @ loadings.T, explained, np.ascontiguousarray(loadings))


SPIKE_SHARE = 0.1
"""A duration that repeats, to the millisecond, in this share of a profile is a spike (such as PAI's 13 s)."""

SMALLEST_SPIKE_ROWS = 5
TAIL_FACTOR_P95 = 10.0
TAIL_FACTOR_MAX = 100.0
"""Heavy tail: p95 over 10 medians or the maximum over 100, the size of the gap between PAI's 13 s and 20 h."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
EPOCH_WEEKDAY = 3
"""1970-01-01 was a Thursday; Monday is 0."""


@dataclass(frozen=True)
class DurationShape:
    """How the durations of a profile are distributed."""

    quantiles_s: Floats  # p5, p25, p50, p75, p95, max; NaN without durations
    spike_s: float  # the duration that repeats most; NaN when it holds less than a tenth of the rows
    spike_share: float  # its share of the rows with a duration, 0-1; 0 without a spike

    @property
    def has_spike(self) -> bool:
        """Whether one duration holds a tenth of the rows."""
        return not np.isnan(self.spike_s)

    @property
    def has_heavy_tail(self) -> bool:
        """Whether the longest runs are far from the median."""
        median, p95, longest = self.quantiles_s[2], self.quantiles_s[4], self.quantiles_s[5]
        return bool(median > 0 and (p95 > TAIL_FACTOR_P95 * median or longest > TAIL_FACTOR_MAX * median))


def duration_shape(durations: Floats) -> DurationShape:
    """The shape of (n_rows,) durations in seconds; NaN are left out."""
    present = durations[~np.isnan(durations)]
    if not present.size:
        return DurationShape(np.full(len(QUANTILES), np.nan), float("nan"), 0.0)
    quantiles = np.quantile(present, QUANTILES)
    values, counts = np.unique(np.round(present, 3), return_counts=True)
    most = int(counts.argmax())
    share = counts[most] / len(present)
    if share < SPIKE_SHARE or counts[most] < SMALLEST_SPIKE_ROWS:
        return DurationShape(quantiles, float("nan"), 0.0)
    return DurationShape(quantiles, float(values[most]), float(share))


def duration_shapes(durations: Floats | None, groups: Ints, n_groups: int) -> tuple[DurationShape, ...]:
    """One shape per group; durations are in seconds, NaN = missing, None = no such column."""
    if durations is None:
        return tuple(duration_shape(np.empty(0)) for _ in range(n_groups))
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=n_groups))
    return tuple(duration_shape(part) for part in np.split(durations[order], ends[:-1]))


def arrivals(starts: Floats | None, groups: Ints, n_groups: int, timezone_offset_s: float) -> tuple[Ints, Ints]:
    """(n_groups, 24) rows by hour of day and (n_groups, 7) by weekday, Monday first; zeros without start times.

    `starts` are seconds since the epoch (PAI: since some Thursday, 00:00), NaN = missing. The offset is added first; it
    is 28,800 for UTC+8.
    """
    hours = np.zeros((n_groups, 24), dtype=np.int64)
    weekdays = np.zeros((n_groups, 7), dtype=np.int64)
    if starts is None:
        return hours, weekdays
    known = ~np.isnan(starts)
    local = starts[known] + timezone_offset_s
    np.add.at(hours, (groups[known], (local // HOUR_S % 24).astype(np.int64)), 1)
    np.add.at(weekdays, (groups[known], ((local // DAY_S + EPOCH_WEEKDAY) % 7).astype(np.int64)), 1)
    return hours, weekdays


STANDING_OUT = 0.5
"""A feature is worth a word when its profile mean is this far from the mean of the other profiles, in scaled units."""

LARGE = 1000
"""From here on a number is written out, without decimals."""

WORDS = {
    "cpu_usage_percent": "CPU use",
    "gpu_usage_percent": "GPU use",
    "mean_memory_bytes": "mean memory",
    "peak_memory_bytes": "peak memory",
    "mean_gpu_memory_bytes": "mean GPU memory",
    "peak_gpu_memory_bytes": "peak GPU memory",
    "read_bytes": "bytes read",
    "write_bytes": "bytes written",
    "read_count": "reads",
    "write_count": "writes",
    "requested_cpu_percent": "requested CPU",
    "requested_memory_bytes": "requested memory",
    "requested_gpu_percent": "requested GPU",
    "instances": "instances",
    "start_time_s": "start time",
    "end_time_s": "end time",
    "duration_s": "duration",
}


def takeaway(
    profile: int, size: int, share: float, cell: CategoryShare | None, shape: DurationShape, spread: FeatureSpread
) -> str:
    """One sentence on a profile: how many rows, of what kind, how long, what stands out."""
    name = f"Profile {profile}" if profile >= 0 else "Outliers"
    parts = [f"{name}: {counted(size, 'row')} ({format_share(share)})"]
    if cell is not None:
        how_much = "all" if cell.share == 1.0 else "mostly" if cell.share >= 0.5 else "most often"
        parts.append(f"{how_much} {cell.value}")
    more = "; ".join(part for part in (_duration_words(shape), _feature_words(profile, spread)) if part)
    return "; ".join(parts) + "." + (f" {more[:1].upper()}{more[1:]}." if more else "")


def _duration_words(shape: DurationShape) -> str:
    median, p95, longest = shape.quantiles_s[2], shape.quantiles_s[4], shape.quantiles_s[5]
    if np.isnan(median):
        return ""
    if shape.has_spike:
        spike = f"{format_share(shape.spike_share)} of the runs last {format_duration(shape.spike_s)}"
        return f"{spike}, the longest {format_duration(longest)}"
    return f"median run {format_duration(median)}, 95 % within {format_duration(p95)}"


def _feature_words(profile: int, spread: FeatureSpread) -> str:
    if profile < 0:
        return ""
    here = spread.profiles == profile
    others = ~here & (spread.profiles >= 0)
    if not others.any():
        return ""
    own, between, distance = spread.mean[here][0], spread.mean[others], np.zeros(len(spread.features))
    known = np.isfinite(own) & np.isfinite(between).any(axis=0)
    middle, apart = np.nanmean(between[:, known], axis=0), np.nanstd(between[:, known], axis=0)
    distance[known] = (own[known] - middle) / np.maximum(apart, STANDING_OUT)
    feature = int(np.abs(distance).argmax())
    if abs(distance[feature]) < STANDING_OUT:
        return ""
    name = spread.features[feature]
    level = "high" if distance[feature] > 0 else "low"
    value = float(spread.raw_median[here][0][feature])
    return f"{level} {WORDS.get(name, name)} (median {_format(name, value)})"


def _format(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        return format_bytes(value)
    if name == "duration_s":
        return format_duration(value)
    number = f"{value:,.0f}" if abs(value) >= LARGE else f"{value:.3g}"
    return number + (" %" if name.endswith("_percent") else "")


ONE_SHARE = 0.99
"""From this share on a profile is 'one job' or 'one metadata cell': the paper's own 26 have 13 odd rows of 75,398."""

TOP_VALUES = 3


@dataclass(frozen=True)
class ProfileCard:
    """What is known of one profile (or of the outliers, profile = -1)."""

    profile: int  # label, -1 = outliers
    size: int  # rows
    share: float  # of all clustered rows, 0-1
    silhouette: float
    """Mean over its rows (sampled where the fit says so), outliers as a cluster (published); NaN when undefined."""
    purity: float  # share of the most frequent (workload, task_name) pair, 0-1; NaN without such metadata
    job_purity: float  # share of the most frequent job, 0-1; 1 = the profile is one job; NaN without job names
    labels: tuple[str, ...]  # of warning or shape: 'one job', 'one metadata cell', 'spike', 'heavy tail'
    top_metadata: tuple[CategoryShare, ...]  # the most frequent values per field, most frequent first
    duration_quantiles_s: Floats  # p5, p25, p50, p75, p95, max; NaN without durations
    spike_s: float  # the duration that repeats most; NaN when no value holds a tenth of the rows
    spike_share: float  # its share of the rows
    arrivals_by_hour: Ints  # (24,) rows by hour of day of the start
    arrivals_by_weekday: Ints  # (7,) rows by weekday, Monday first
    n_users: int  # distinct values, 0 without the column
    n_groups: int  # distinct values, 0 without the column
    n_jobs: int  # distinct values, 0 without the column
    takeaway: str  # the profile in one sentence
    silhouette_clustered: float = float("nan")
    """Like `silhouette`, among the non-outliers only (the proper definition); NaN for the outliers."""


@dataclass(frozen=True)
class Summary:
    """Cards and heat maps of one clustering, outliers first where there are any."""

    cards: tuple[ProfileCard, ...]
    heatmaps: tuple[Heatmap, ...]


@dataclass(frozen=True)
class RowResults:
    """What the clustering says of each row."""

    labels: Ints  # (n_rows,) profile, -1 = outlier
    published: Floats  # (n_rows,) silhouettes with the outliers as a cluster; NaN where not computed
    clustered: Floats  # (n_rows,) silhouettes among the non-outliers; NaN where not computed


def summarise(jobs: pd.DataFrame, rows: RowResults, spread: FeatureSpread, timezone_offset_s: float = 0.0) -> Summary:
    """A card per profile and a heat map per metadata field, of whatever metadata and times the clustered rows have."""
    evidence = _gather(jobs, rows, spread, timezone_offset_s)
    cards = tuple(_card(evidence, i) for i in range(len(evidence.profiles)))
    heatmaps = tuple(heatmap(counts, evidence.profiles) for counts in evidence.fields.values())
    return Summary(cards, heatmaps)


@dataclass(frozen=True)
class _Evidence:
    """Everything that the cards are written from; arrays have one row per group, in the order of `profiles`."""

    profiles: Ints
    sizes: Ints
    fields: dict[str, FieldCounts]
    cells: FieldCounts | None
    shapes: tuple[DurationShape, ...]
    hours: Ints
    weekdays: Ints
    published: Floats
    clustered: Floats
    spread: FeatureSpread


def _gather(jobs: pd.DataFrame, rows: RowResults, spread: FeatureSpread, timezone_offset_s: float) -> _Evidence:
    profiles, groups = np.unique(rows.labels, return_inverse=True)
    width = len(profiles)
    names = metadata_fields(jobs)
    cell = tuple(name for name in CELL if name in names)
    hours, weekdays = arrivals(numbers_if_present(jobs, "start_time_s"), groups, width, timezone_offset_s)
    return _Evidence(
        profiles=profiles.astype(np.int64),
        sizes=np.bincount(groups, minlength=width),
        fields={name: count_values(jobs, (name,), groups, width) for name in names},
        cells=count_values(jobs, cell, groups, width) if cell else None,
        shapes=duration_shapes(numbers_if_present(jobs, "duration_s"), groups, width),
        hours=hours,
        weekdays=weekdays,
        published=_group_means(rows.published, groups, width),
        clustered=_group_means(rows.clustered, groups, width),
        spread=spread,
    )


def _card(evidence: _Evidence, i: int) -> ProfileCard:
    profile, size, shape = int(evidence.profiles[i]), int(evidence.sizes[i]), evidence.shapes[i]
    purity = evidence.cells.purity(i, size) if evidence.cells else float("nan")
    jobs = evidence.fields.get("job_name")
    job_purity = jobs.purity(i, size) if jobs else float("nan")
    share = size / int(evidence.sizes.sum())
    top_cell = evidence.cells.top(i, 1, size)[0] if evidence.cells else None
    return ProfileCard(
        profile=profile,
        size=size,
        share=share,
        silhouette=float(evidence.published[i]),
        purity=purity,
        job_purity=job_purity,
        labels=_labels(purity, job_purity, shape),
        top_metadata=tuple(item for counts in evidence.fields.values() for item in counts.top(i, TOP_VALUES, size)),
        duration_quantiles_s=shape.quantiles_s,
        spike_s=shape.spike_s,
        spike_share=shape.spike_share,
        arrivals_by_hour=evidence.hours[i],
        arrivals_by_weekday=evidence.weekdays[i],
        n_users=_distinct(evidence, "user", i),
        n_groups=_distinct(evidence, "group", i),
        n_jobs=_distinct(evidence, "job_name", i),
        takeaway=takeaway(profile, size, share, top_cell, shape, evidence.spread),
        silhouette_clustered=float(evidence.clustered[i]),
    )


def _labels(purity: float, job_purity: float, shape: DurationShape) -> tuple[str, ...]:
    holds = {
        "one job": job_purity >= ONE_SHARE,
        "one metadata cell": purity >= ONE_SHARE,
        "spike": shape.has_spike,
        "heavy tail": shape.has_heavy_tail,
    }
    return tuple(label for label, true in holds.items() if true)


def _distinct(evidence: _Evidence, field: str, i: int) -> int:
    return evidence.fields[field].distinct(i) if field in evidence.fields else 0


def _group_means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    known = ~np.isnan(values)
    counts = np.bincount(groups[known], minlength=n_groups)
    totals = np.bincount(groups[known], weights=values[known], minlength=n_groups)
    return np.where(counts > 0, totals / np.maximum(1, counts), np.nan)
