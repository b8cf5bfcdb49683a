"""Compiling before the clock starts."""

from __future__ import annotations

import numpy as np

from workprof.profiles.clusters.clusters import cut
from workprof.profiles.clusters.neighbours import find_neighbours
from workprof.profiles.clusters.spanning_tree import build_spanning_tree
from workprof.profiles.scores.silhouettes import exact_silhouettes
from workprof.profiles.settings import ProfileSettings

_WARM_ROWS = 64
_warmed: set[str] = set()


def warm_kernels(settings: ProfileSettings) -> None:
    """Compile (or load from the compiler's cache) every loop that a fit with these settings runs.

    The first time on a machine this takes some seconds, later a fraction of one.
    """
    from workprof.profiles.scores.distance_sums import group_points  # noqa: PLC0415  numba

    if settings.metric in _warmed:
        return
    points = np.random.default_rng(0).normal(size=(_WARM_ROWS, 2))
    labels = np.arange(_WARM_ROWS, dtype=np.int64) % 3 - 1
    exact_silhouettes(points, labels, settings.metric)
    group_points(points, labels + 1, settings.metric, np.float64).sums(labels + 1)
    cut(build_spanning_tree(find_neighbours(points, settings.metric, (3,)), 3), 5)
    _warmed.add(settings.metric)
