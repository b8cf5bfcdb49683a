"""Re-cut, don't refit: the spanning tree is kept, and a change of size, method or epsilon only cuts it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workprof.errors import SettingsError
from workprof.profiles.clusters.clusters import cut
from workprof.profiles.clusters.spanning_tree import SpanningTree
from workprof.profiles.fit import STEPS, ProfileFit, describe, fit_profiles, grow_tree
from workprof.profiles.prepared import prepare
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.warming import warm_kernels
from workprof.progress import Progress, silent
from workprof.records import Made
from workprof.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

TREE = "profiles.tree"
"""Name of the by-product under which the spanning tree of a fit is kept."""


@dataclass(frozen=True)
class TreeSettings:
    """What a spanning tree depends on: the rows, their scaling, the metric and min_samples; nothing else."""

    features: tuple[str, ...]
    scaler: str
    metric: str
    min_samples: int
    mode: str
    sample_rows: int
    seed: int


def tree_settings(settings: ProfileSettings) -> TreeSettings:
    """Return the part of resolved settings that the tree depends on; the seed only where rows are drawn."""
    return TreeSettings(
        features=settings.features,
        scaler=settings.scaler,
        metric=settings.metric,
        min_samples=settings.min_samples,
        mode=settings.mode,
        sample_rows=settings.sample_rows,
        seed=settings.seed if settings.sample_rows else 0,
    )


def fit_keeping_tree(
    frames: Mapping[str, pd.DataFrame], settings: ProfileSettings, progress: Progress = silent
) -> Made:
    """Return the same record as `fit_profiles`, and the spanning tree as a by-product (HDBSCAN only)."""
    if settings.algorithm != "hdbscan":
        return Made(fit_profiles(frames, settings, progress), {})
    progress(0.0, "Getting ready")
    warm_kernels(settings)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings)
    tree = grow_tree(prepared, watch)
    with watch.step("cut", "Cutting the tree"):
        resolved = prepared.settings
        clusters = cut(tree, resolved.min_cluster_size, resolved.method, resolved.epsilon)
    return Made(describe(prepared, clusters, tree, watch), {TREE: tree})


def recut(
    frames: Mapping[str, pd.DataFrame], settings: ProfileSettings, tree: SpanningTree, progress: Progress = silent
) -> ProfileFit:
    """Return the clustering that a kept tree gives at other settings: the same record as a refit, in about a second.

    Args:
        frames: as in `fit_profiles`.
        settings: resolved; differ from the tree's in min_cluster_size, method, epsilon and what is scored only.
        tree: of `tree_settings(settings)`.
        progress: told each step.

    Raises:
        SettingsError: when the tree is not of these rows or this min_samples.
    """
    warm_kernels(settings)
    watch = Stopwatch(progress, STEPS)
    with watch.step("scale", "Scaling the features"):
        prepared = prepare(frames["jobs"], settings)
    _check(tree, len(prepared.row_ids), settings)
    with watch.step("cut", "Cutting the kept tree"):
        clusters = cut(tree, settings.min_cluster_size, settings.method, settings.epsilon)
    return describe(prepared, clusters, tree, watch)


def _check(tree: SpanningTree, n_rows: int, settings: ProfileSettings) -> None:
    asked = min(settings.min_samples, n_rows - 1)
    if (tree.n_rows, tree.metric, tree.min_samples) != (n_rows, settings.metric, asked):
        raise SettingsError(
            f"the kept tree spans {tree.n_rows:,} rows ({tree.metric}, min_samples {tree.min_samples}), asked is "
            f"{n_rows:,} rows ({settings.metric}, min_samples {asked}); fit again"
        )
