"""Mean silhouettes of fixed labels in three metrics, and what the paper's Table II prints for its labels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from workprof.arrays import Bools, Ints
from workprof.profiles.metadata import value_codes
from workprof.profiles.prepared import Prepared
from workprof.profiles.scores.silhouettes import exact_silhouettes, sampled_silhouettes
from workprof.units import format_count

BASELINE_METRICS = ("euclidean", "cosine", "manhattan")

PUBLISHED_SILHOUETTES = {
    "workload": (0.17, 0.03, 0.21),
    "task_name": (-0.07, -0.19, -0.10),
    "workload,task_name": (0.02, -0.01, 0.08),
}
"""PolarisProfiler, Table II, in the order of BASELINE_METRICS, for its 100,001 rows.

Unverified: neither repository has code for it. That the three values are Euclidean, cosine and Manhattan in this order
is our reading.
"""

MISSING, NOT_ASKED = -2, -3
"""Labels of rows without a value, and of rows that are not scored; -1 is an outlier of a clustering."""

MOST_VALUES = 20_000
"""A label with more values groups next to nothing, and its distance sums would not fit the memory."""


@dataclass(frozen=True)
class LabelSilhouette:
    """Mean silhouettes of one label.

    Attributes:
        by: the columns, joined by commas.
        euclidean, cosine, manhattan: mean over the rows, -1 to 1; NaN where undefined.
        standard_errors: metric -> standard error, 0 when exact.
        method: 'exact' or 'sampled'; '' where nothing was computed.
        n_computed: rows whose silhouettes were computed.
        n_values: distinct values, outliers not counted.
        n_rows: rows that have one.
        n_missing: rows without a value; they are left out.
        n_outliers: rows labelled -1 (profiles only).
        reason: why there is no value, else ''.
        published: metric -> Table II, unverified; empty where the paper has none.
    """

    by: str
    euclidean: float = float("nan")
    cosine: float = float("nan")
    manhattan: float = float("nan")
    standard_errors: dict[str, float] = field(default_factory=dict)
    method: str = ""
    n_computed: int = 0
    n_values: int = 0
    n_rows: int = 0
    n_missing: int = 0
    n_outliers: int = 0
    reason: str = ""
    published: dict[str, float] = field(default_factory=dict)


def measure(name: str, prepared: Prepared, labels: Ints) -> tuple[LabelSilhouette, LabelSilhouette]:
    """Return the record without the outliers and the one with them as a group; the same where there are none.

    Args:
        name: for the record.
        prepared: scaled rows; its settings say 'exact' or 'sampled'.
        labels: (n_rows,) group, -1 = outlier, MISSING or NOT_ASKED.
    """
    rows = labels > MISSING
    points, groups, settings = prepared.points[rows], labels[rows], prepared.settings
    n_inside, n_values = int((groups >= 0).sum()), len(np.unique(groups[groups >= 0]))
    record = LabelSilhouette(name, n_values=n_values, n_rows=n_inside, n_missing=int((labels == MISSING).sum()))
    record = replace(record, n_outliers=len(groups) - n_inside, reason=_why_not(n_values, n_inside))
    if record.reason and not (n_values == 1 and record.n_outliers):
        return record, record
    found = {}
    for metric in BASELINE_METRICS:
        if settings.silhouette == "exact":
            found[metric] = exact_silhouettes(points, groups, metric)
        else:
            found[metric] = sampled_silhouettes(points, groups, metric, settings.seed)
    record = replace(record, method=found["euclidean"].method, n_computed=found["euclidean"].n_computed)
    proper = {metric: (each.clustered_mean, each.clustered_se) for metric, each in found.items()}
    with_noise = {metric: (each.published_mean, each.published_se) for metric, each in found.items()}
    return _with_means(record, proper), _with_means(replace(record, reason=""), with_noise)


def of_label(prepared: Prepared, by: tuple[str, ...], scored: Bools) -> LabelSilhouette:
    """Return the silhouettes of one label.

    Args:
        prepared: scaled rows with their metadata.
        by: the columns; a row has the label where none of them is missing.
        scored: (n_rows,) rows that count.
    """
    name = ",".join(by)
    published = dict(zip(BASELINE_METRICS, PUBLISHED_SILHOUETTES.get(name, ()), strict=False))
    absent = [column for column in by if column not in prepared.jobs.columns]
    labels = np.where(scored, MISSING, NOT_ASKED)
    if absent:
        reason = f"the table has no column {', '.join(absent)}"
        return LabelSilhouette(name, n_missing=int(scored.sum()), reason=reason, published=published)
    rows = scored & prepared.jobs[list(by)].notna().all(axis=1).to_numpy(dtype=bool)
    labels[rows], _ = value_codes(prepared.jobs.loc[rows], by)
    return replace(measure(name, prepared, labels)[0], published=published)


def _with_means(record: LabelSilhouette, means: dict[str, tuple[float, float]]) -> LabelSilhouette:
    errors = {metric: error for metric, (_, error) in means.items()}
    (euclidean, _), (cosine, _), (manhattan, _) = (means[metric] for metric in BASELINE_METRICS)
    return replace(record, euclidean=euclidean, cosine=cosine, manhattan=manhattan, standard_errors=errors)


def _why_not(n_values: int, n_rows: int) -> str:
    if n_rows == 0:
        return "no row has a value"
    if n_values == 1:
        return "one value only: a silhouette compares groups"
    if n_values == n_rows:
        return "every row has a value of its own"
    if n_values > MOST_VALUES:
        return f"{format_count(n_values)} values, more than {format_count(MOST_VALUES)}: next to nothing is grouped"
    return ""
