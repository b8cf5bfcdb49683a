"""Cards: what a planner wants to know of each profile, its warnings and one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_if_present
from workprof.profiles.metadata import (
    CELL,
    CategoryShare,
    FieldCounts,
    Heatmap,
    count_values,
    heatmap,
    metadata_fields,
)
from workprof.profiles.shape import DurationShape, arrivals, duration_shapes
from workprof.profiles.takeaway import takeaway

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.spread import FeatureSpread

ONE_SHARE = 0.99
"""From this share on a profile is 'one job' or 'one metadata cell': the paper's own 26 have 13 odd rows of 75,398."""

TOP_VALUES = 3


@dataclass(frozen=True)
class ProfileCard:
    """What is known of one profile (or of the outliers, profile = -1).

    Attributes:
        profile: label, -1 = outliers.
        size: rows.
        share: of all clustered rows, 0-1.
        silhouette: mean over its rows (sampled where the fit says so), outliers as a cluster (published); NaN when
            undefined.
        purity: share of the most frequent (workload, task_name) pair, 0-1; NaN without such metadata.
        job_purity: share of the most frequent job, 0-1; 1 = the profile is one job; NaN without job names.
        labels: words of warning or shape: 'one job', 'one metadata cell', 'spike', 'heavy tail', ...
        top_metadata: the most frequent values per field, most frequent first.
        duration_quantiles_s: p5, p25, p50, p75, p95, max; NaN without durations.
        spike_s: the duration that repeats most, in whole seconds; NaN when no value holds a tenth of the rows.
        spike_share: its share of the rows.
        arrivals_by_hour: (24,) rows by hour of day of the start.
        arrivals_by_weekday: (7,) rows by weekday, Monday first.
        n_users, n_groups, n_jobs: distinct values, 0 without the column.
        takeaway: the profile in one sentence.
        silhouette_clustered: like `silhouette`, among the non-outliers only (the proper definition); NaN for the
            outliers.
    """

    profile: int
    size: int
    share: float
    silhouette: float
    purity: float
    job_purity: float
    labels: tuple[str, ...]
    top_metadata: tuple[CategoryShare, ...]
    duration_quantiles_s: Floats
    spike_s: float
    spike_share: float
    arrivals_by_hour: Ints
    arrivals_by_weekday: Ints
    n_users: int
    n_groups: int
    n_jobs: int
    takeaway: str
    silhouette_clustered: float = float("nan")


@dataclass(frozen=True)
class Summary:
    """Cards and heat maps of one clustering, outliers first where there are any."""

    cards: tuple[ProfileCard, ...]
    heatmaps: tuple[Heatmap, ...]


@dataclass(frozen=True)
class RowResults:
    """What the clustering says of each row.

    Attributes:
        labels: (n_rows,) profile, -1 = outlier.
        published: (n_rows,) silhouettes with the outliers as a cluster; NaN where not computed.
        clustered: (n_rows,) silhouettes among the non-outliers; NaN where not computed.
    """

    labels: Ints
    published: Floats
    clustered: Floats


def summarise(jobs: pd.DataFrame, rows: RowResults, spread: FeatureSpread, timezone_offset_s: float = 0.0) -> Summary:
    """Return a card per profile and a heat map per metadata field.

    Args:
        jobs: the clustered rows with whatever metadata, `start_time_s` and `duration_s` they have.
        rows: labels and silhouettes.
        spread: of the same labels.
        timezone_offset_s: added to `start_time_s` before hours and weekdays are read off.
    """
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
    purity = evidence.cells.top_rows(i) / size if evidence.cells else float("nan")
    jobs = evidence.fields.get("job_name")
    job_purity = jobs.top_rows(i) / size if jobs else float("nan")
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
    found = {
        "one job": job_purity >= ONE_SHARE,
        "one metadata cell": purity >= ONE_SHARE,
        "spike": shape.has_spike,
        "heavy tail": shape.has_heavy_tail,
    }
    return tuple(label for label, holds in found.items() if holds)


def _distinct(evidence: _Evidence, field: str, i: int) -> int:
    return evidence.fields[field].distinct(i) if field in evidence.fields else 0


def _group_means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    known = ~np.isnan(values)
    counts = np.bincount(groups[known], minlength=n_groups)
    totals = np.bincount(groups[known], weights=values[known], minlength=n_groups)
    return np.where(counts > 0, totals / np.maximum(1, counts), np.nan)
