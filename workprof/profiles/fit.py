"""One clustering from frame to record: features, clusters, scores, cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workprof.arrays import Floats, Ints
from workprof.profiles.clusters.clusters import Clusters, CondensedTree, cut
from workprof.profiles.clusters.neighbours import find_neighbours
from workprof.profiles.clusters.optics import run_optics
from workprof.profiles.clusters.spanning_tree import SpanningTree, build_spanning_tree
from workprof.profiles.metadata import CategoryShare, Heatmap
from workprof.profiles.notes import result_notes
from workprof.profiles.prepared import Prepared, prepare
from workprof.profiles.projection import project
from workprof.profiles.scalers import FittedTransform
from workprof.profiles.scores.scores import ProfileScores
from workprof.profiles.scores.scoring import score
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.spread import FeatureSpread, feature_spread
from workprof.profiles.summary import ProfileCard, RowResults, summarise
from workprof.profiles.warming import warm_kernels
from workprof.progress import Progress, silent
from workprof.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CategoryShare",
    "CondensedTree",
    "FeatureSpread",
    "Heatmap",
    "ProfileCard",
    "ProfileFit",
    "ProfileScores",
    "describe",
    "fit_profiles",
    "grow_tree",
]

STEPS = {"scale": 0.03, "neighbours": 0.4, "spanning tree": 0.7, "cut": 0.72, "scores": 0.92, "summary": 1.0}
"""Steps of a fit and the share of the whole that is done when each ends (times of the 100,001-row sample)."""


@dataclass(frozen=True)
class ProfileFit:
    """A clustering with all that a page shows of it.

    Attributes:
        settings: as asked, with sizes resolved to rows.
        features: names that were used.
        left_out: name -> reason of the features that were asked for but could not be used.
        imputed: name -> rows whose missing value was filled in.
        notes: warnings in words (over 40 % outliers, one profile over 80 %, a constant feature, a sample, ...).
        row_ids: (n_rows,) of the store.
        labels: (n_rows,) profile, from the largest (0) to the smallest, -1 = outlier.
        probabilities: (n_rows,) membership strength 0-1.
        silhouettes: (n_rows,) as published definition; NaN where not computed.
        map_xy: (n_rows, 2) principal components of the scaled features.
        map_explained: (2,) share of variance.
        seconds: time of the computation, scores included.
        step_seconds: the same by step.
        silhouettes_clustered: (n_rows,) among the non-outliers only; NaN for outliers and where not computed.
        transform: the fitted transform of the features, to be applied to new rows.
    """

    settings: ProfileSettings
    features: tuple[str, ...]
    left_out: dict[str, str]
    imputed: dict[str, int]
    notes: tuple[str, ...]
    row_ids: Ints
    labels: Ints
    probabilities: Floats
    silhouettes: Floats
    map_xy: Floats
    map_explained: Floats
    scores: ProfileScores
    cards: tuple[ProfileCard, ...]
    spread: FeatureSpread
    tree: CondensedTree | None
    heatmaps: tuple[Heatmap, ...]
    seconds: float
    step_seconds: dict[str, float]
    silhouettes_clustered: Floats | None = None
    transform: FittedTransform | None = None


def fit_profiles(
    frames: Mapping[str, pd.DataFrame], settings: ProfileSettings, progress: Progress = silent
) -> ProfileFit:
    """Return the clustering of `frames["jobs"]` with its scores and cards.

    Compiling is done before the clock starts, so `seconds` is the computation alone.

    Args:
        frames: 'jobs' -> one row per job: the features, and whatever of row_id, metadata, start_time_s and duration_s
            there is. `truth_profile`, where present, is used for `truth_adjusted_rand` only.
            `jobs.attrs["utc_offset_s"]` is added to start_time_s for hours and weekdays.
        settings: what to do.
        progress: told each step.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than two usable features, or not more than twice min_cluster_size rows.
    """
    progress(0.0, "Getting ready")
    warm_kernels(settings)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings)
    if settings.algorithm == "optics":
        return describe(prepared, _optics(prepared, watch), None, watch)
    tree = grow_tree(prepared, watch)
    with watch.step("cut", "Cutting the tree"):
        resolved = prepared.settings
        clusters = cut(tree, resolved.min_cluster_size, resolved.method, resolved.epsilon)
    return describe(prepared, clusters, tree, watch)


def grow_tree(prepared: Prepared, watch: Stopwatch) -> SpanningTree:
    """Return the spanning tree of the prepared rows; it depends on features, scaler, metric and min_samples only."""
    resolved = prepared.settings
    with watch.step("neighbours", "Finding the nearest rows") as report:
        neighbours = find_neighbours(prepared.points, resolved.metric, (resolved.min_samples,), report)
    with watch.step("spanning tree", "Building the spanning tree") as report:
        return build_spanning_tree(neighbours, resolved.min_samples, report)


def describe(prepared: Prepared, clusters: Clusters, tree: SpanningTree | None, watch: Stopwatch) -> ProfileFit:
    """Return the record of a clustering: scores, cards, spread, map, heat maps, notes."""
    with watch.step("scores", "Scoring the profiles") as report:
        scored = score(prepared, clusters.labels, tree, report)
    with watch.step("summary", "Describing the profiles"):
        names = prepared.matrix.names
        spread = feature_spread(prepared.points[:, : len(names)], prepared.matrix.numbers, clusters.labels, names)
        rows = RowResults(clusters.labels, scored.silhouettes.published, scored.silhouettes.clustered)
        summary = summarise(prepared.jobs, rows, spread, float(prepared.jobs.attrs.get("utc_offset_s", 0.0)))
        flat = project(prepared.points)
    return ProfileFit(
        settings=prepared.settings,
        features=names,
        left_out=prepared.matrix.left_out,
        imputed=prepared.matrix.missing,
        notes=prepared.notes + result_notes(scored.scores, clusters.labels),
        row_ids=prepared.row_ids,
        labels=clusters.labels,
        probabilities=clusters.probabilities,
        silhouettes=scored.silhouettes.published,
        map_xy=flat.xy,
        map_explained=flat.explained,
        scores=scored.scores,
        cards=summary.cards,
        spread=spread,
        tree=clusters.tree,
        heatmaps=summary.heatmaps,
        seconds=watch.seconds,
        step_seconds=watch.step_seconds,
        silhouettes_clustered=scored.silhouettes.clustered,
        transform=prepared.transform,
    )


def _optics(prepared: Prepared, watch: Stopwatch) -> Clusters:
    with watch.step("cut", "Running OPTICS"):
        return run_optics(prepared.points, prepared.settings.metric, prepared.settings.min_samples)
