"""How well do fixed metadata labels separate the jobs' behaviour? Their silhouettes in three metrics (Table II)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Ints, numbers_if_present
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.core.units import format_count
from workprof.profiles.features import Prepared, prepare
from workprof.profiles.fit import warm_kernels
from workprof.profiles.metadata import metadata_fields, value_codes
from workprof.profiles.settings import METRICS, Features, Mode, ProfileSettings, SampleRows, Scaler, Seed, Silhouette
from workprof.profiles.silhouettes import exact_silhouettes, sampled_silhouettes

if TYPE_CHECKING:
    import pandas as pd

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

MISSING, NOT_SCORED = -2, -3
"""Labels of rows without a value, and of rows that are not scored; -1 is an outlier of a clustering."""

MOST_VALUES = 20_000
"""A label with more values groups next to nothing, and its distance sums would not fit the memory."""


@dataclass(frozen=True)
class LabelSilhouette:
    """Mean silhouettes of one label."""

    by: str  # the columns, joined by commas
    euclidean: float = float("nan")  # mean over the rows, -1 to 1; NaN where undefined
    cosine: float = float("nan")  # mean over the rows, -1 to 1; NaN where undefined
    manhattan: float = float("nan")  # mean over the rows, -1 to 1; NaN where undefined
    standard_errors: dict[str, float] = field(default_factory=dict)  # metric -> standard error, 0 when exact
    method: str = ""  # 'exact' or 'sampled'; '' where nothing was computed
    n_computed: int = 0  # rows whose silhouettes were computed
    n_values: int = 0  # distinct values, outliers not counted
    n_rows: int = 0  # rows that have one
    n_missing: int = 0  # rows without a value; they are left out
    n_outliers: int = 0  # rows labelled -1 (profiles only)
    reason: str = ""  # why there is no value, else ''
    published: dict[str, float] = field(default_factory=dict)
    """Metric -> Table II, unverified; empty where the paper has none."""


def measure(name: str, prepared: Prepared, labels: Ints) -> tuple[LabelSilhouette, LabelSilhouette]:
    """The record without the outliers and the one with them as a group; the same where there are none."""
    rows = labels > MISSING
    points, groups, settings = prepared.points[rows], labels[rows], prepared.settings
    n_inside, n_values = int((groups >= 0).sum()), len(np.unique(groups[groups >= 0]))
    record = LabelSilhouette(name, n_values=n_values, n_rows=n_inside, n_missing=int((labels == MISSING).sum()))
    record = replace(record, n_outliers=len(groups) - n_inside, reason=_why_not(n_values, n_inside))
    if record.reason and not (n_values == 1 and record.n_outliers):
        return record, record
    silhouettes = {}
    for metric in BASELINE_METRICS:
        if settings.silhouette == "exact":
            silhouettes[metric] = exact_silhouettes(points, groups, metric)
        else:
            silhouettes[metric] = sampled_silhouettes(points, groups, metric, settings.seed)
    record = replace(record, method=silhouettes["euclidean"].method, n_computed=silhouettes["euclidean"].n_computed)
    proper = {metric: (each.clustered_mean, each.clustered_se) for metric, each in silhouettes.items()}
    with_noise = {metric: (each.published_mean, each.published_se) for metric, each in silhouettes.items()}
    return _with_means(record, proper), _with_means(replace(record, reason=""), with_noise)


def of_label(prepared: Prepared, by: tuple[str, ...], scored: Bools) -> LabelSilhouette:
    """Silhouettes of one label among `scored` (n_rows,) rows; a row has it where none of the columns is missing."""
    name = ",".join(by)
    published = dict(zip(BASELINE_METRICS, PUBLISHED_SILHOUETTES.get(name, ()), strict=False))
    absent = [column for column in by if column not in prepared.jobs.columns]
    labels = np.where(scored, MISSING, NOT_SCORED)
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


TABLE_II = (("workload",), ("task_name",), ("workload", "task_name"))
PROFILE = "profile"
SMALLEST_ROWS = 5
STEPS = {"scale": 0.05, "silhouettes": 1.0}


@settings
class BaselineSettings:
    """Settings of the label baseline."""

    by: Annotated[
        tuple[tuple[str, ...], ...],
        Setting(
            "Label that is taken as clusters: a column, or columns A,B together; repeat.",
            named={"auto": ()},
            empty="workload, task_name, and both together, as in Table II",
            key="profiles_baseline_by",
            label="Labels, A+B,C,...",
        ),
    ] = ()
    features: Features = ()
    scaler: Scaler = "power"
    mode: Mode = "corrected"
    silhouette: Silhouette = ""
    rows: Annotated[
        str,
        Setting(
            "Rows that the labels are scored on; the profiles leave outliers out.",
            choices={"all": "every row that has the label", "clustered": "those that are in a profile, too"},
            shown={"all": "All", "clustered": "In profiles"},
            key="profiles_baseline_rows",
            label="Rows scored",
        ),
    ] = "all"
    sample_rows: SampleRows = 0
    seed: Seed = 0

    def __post_init__(self) -> None:
        if any(not names for names in self.by):
            raise SettingsError("by has a label without a column; name at least one column for each")

    def preparation(self) -> ProfileSettings:
        """The settings that prepare the rows; the size only has to fit any table."""
        return ProfileSettings(
            self.features,
            self.scaler,
            mode=self.mode,
            silhouette=self.silhouette,
            min_cluster_size=2,
            sample_rows=self.sample_rows,
            seed=self.seed,
        )


@dataclass(frozen=True, repr=False)
class Baseline(Shown):
    """The silhouettes of metadata labels, and those of the profiles beside them."""

    settings: BaselineSettings  # as given
    labels: tuple[LabelSilhouette, ...]  # one entry per label, in the order given
    profiles: LabelSilhouette | None  # of the column `profile`, outliers left out; None without that column
    profiles_published: LabelSilhouette | None
    """The same as the paper averages: outliers as a group of their own, mean over the others."""
    n_rows: int  # rows that were scaled
    features: tuple[str, ...]  # names that were used; what was left out or filled in is in the notes
    notes: tuple[str, ...]  # what a reader must know
    seconds: float  # time of the computation


def label_baseline(
    frames: Mapping[str, pd.DataFrame], settings: BaselineSettings, progress: Progress = silent
) -> Baseline:
    """Silhouettes of metadata labels on `frames["jobs"]`: the features, and the columns of the labels.

    Where `profile` is there (-1 = outlier, missing = not clustered), its silhouettes are put beside.

    Raises:
        ColumnMissing: when a named feature or label is absent, or the rows are 'clustered' ones without `profile`.
        NotEnoughData: with fewer than 5 rows or two usable features.

    Source: PolarisProfiler, Table II, for which no code is public. Ours differs: rows whose label is missing are left
    out and counted, and a sample carries its standard error.
    """
    jobs = frames["jobs"]
    _refuse(jobs, settings)
    progress(0.0, "Getting ready")
    for metric in METRICS:
        warm_kernels(ProfileSettings(metric=metric))
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(jobs, settings.preparation())
    numbers = numbers_if_present(prepared.jobs, PROFILE)
    profiles = None if numbers is None else np.nan_to_num(numbers, nan=MISSING).astype(np.int64)
    scored = np.ones(len(prepared.points), dtype=bool)
    if settings.rows == "clustered" and profiles is not None:
        scored = profiles >= 0
    labels: list[LabelSilhouette] = []
    n_parts = len(settings.by or TABLE_II) + (profiles is not None)
    with watch.step("silhouettes", "Comparing the labels") as report:
        for by in settings.by or TABLE_II:
            labels.append(of_label(prepared, by, scored))
            report(len(labels) / n_parts)
        beside = measure(PROFILE, prepared, profiles) if profiles is not None else (None, None)
    return Baseline(
        settings=settings,
        labels=tuple(labels),
        profiles=beside[0],
        profiles_published=beside[1],
        n_rows=len(prepared.points),
        features=prepared.matrix.names,
        notes=prepared.notes + _notes(tuple(labels), beside[0], settings),
        seconds=watch.seconds,
    )


def _refuse(jobs: pd.DataFrame, settings: BaselineSettings) -> None:
    if len(jobs) < SMALLEST_ROWS:
        raise NotEnoughData(f"{len(jobs)} rows are too few for a baseline; {SMALLEST_ROWS} are needed")
    wanted = [*(name for by in settings.by for name in by), *([PROFILE] if settings.rows == "clustered" else [])]
    absent = [name for name in dict.fromkeys(wanted) if name not in jobs.columns]
    if absent:
        there = ", ".join(metadata_fields(jobs)) or "none"
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; metadata columns here: {there}")


def _notes(
    labels: tuple[LabelSilhouette, ...], profiles: LabelSilhouette | None, settings: BaselineSettings
) -> tuple[str, ...]:
    notes = [f"{each.by} has no silhouette: {each.reason}." for each in labels if each.reason]
    for each in (*labels, *((profiles,) if profiles else ())):
        if each.n_missing and not each.reason:
            notes.append(f"{each.by}: {format_count(each.n_missing)} rows without a value are left out.")
        if each.method == "sampled":
            error = max(each.standard_errors.values())
            seen = f"{format_count(each.n_computed)} rows, each against all others"
            notes.append(f"{each.by}: estimated from {seen}; standard error at most {error:.4f}.")
    if profiles and profiles.n_outliers and settings.rows == "all":
        left_out = f"{format_count(profiles.n_outliers)} outliers"
        notes.append(f"The profiles leave out {left_out}, the labels keep them: an easier task for the profiles.")
    if profiles and not profiles.reason:
        notes.append("The profiles are cut by these very features, the labels are not: that favours the profiles.")
    if any(each.published for each in labels):
        notes.append("The paper's values are of other rows and 17 features, and not verified: no code is public.")
    return tuple(notes)
