"""One group of a sweep: the rows are scaled once, the neighbours searched once, and every size is cut and scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.profiles.clusters.clusters import cut
from workprof.profiles.clusters.neighbours import Neighbours, find_neighbours
from workprof.profiles.clusters.optics import run_optics
from workprof.profiles.clusters.spanning_tree import SpanningTree, build_spanning_tree
from workprof.profiles.prepared import Prepared, prepare
from workprof.profiles.scores.scores import ProfileScores
from workprof.profiles.scores.scoring import score
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep.settings import OPTICS_SWEEP_ROWS, SMALLEST_OPTICS_SIZE, GroupSettings
from workprof.profiles.warming import warm_kernels
from workprof.progress import Progress, silent
from workprof.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pandas as pd

TRUTH = "truth_profile"


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep.

    Attributes:
        settings: resolved.
        grid_size: the size that the grid asked for (OPTICS on a sample uses a smaller one).
        scores: of the run.
        labels: (n_rows,) profile of each clustered row, -1 = outlier.
        seconds: of this run, its share of what the group computes once included.
    """

    settings: ProfileSettings
    grid_size: int
    scores: ProfileScores
    labels: NDArray[np.int16]
    seconds: float


@dataclass(frozen=True)
class SweepGroup:
    """The runs of one group.

    Attributes:
        runs: in rising order of size.
        left_out: size -> why the run is not there.
        row_ids: (n_rows,) of the store.
        n_sampled: rows that were clustered.
        seconds: of the whole group.
    """

    runs: tuple[SweepRun, ...]
    left_out: dict[str, str]
    row_ids: NDArray[np.int64]
    n_sampled: int
    seconds: float


def sweep_group(frames: Mapping[str, pd.DataFrame], settings: GroupSettings, progress: Progress = silent) -> SweepGroup:
    """Return the runs of one group: the rows scaled once, the neighbours searched once for every size.

    With one min_samples the spanning tree is built once, too, and cut for each size. The fits are joblib calls: a
    parallel backend that the caller has chosen takes them over.

    Args:
        frames: 'jobs' -> as in `fit_profiles`.
        settings: which runs.
        progress: told each run.

    Raises:
        NotEnoughData: when not even the smallest size fits the rows.
    """
    from joblib import Parallel, delayed  # noqa: PLC0415  heavy

    jobs = frames["jobs"]
    plan = {size: _of_size(settings, size, len(jobs)) for size in settings.sizes}
    smallest = plan[min(plan)]
    if settings.algorithm == "hdbscan":
        progress(0.0, "Getting ready")
        warm_kernels(smallest)
    watch = Stopwatch(progress, {"group": 1.0})
    with watch.step("group", f"{settings.algorithm}, {settings.scaler}, {settings.metric}") as report:
        scaled = prepare(jobs, smallest)
        n = len(scaled.row_ids)
        fitting = {size: run for size, run in plan.items() if n > 2 * run.min_cluster_size}
        shared = _share(scaled, list(fitting.values()), report)
        head_start_s = watch.seconds / len(fitting)
        truth_only = replace(scaled, jobs=scaled.jobs[[name for name in scaled.jobs.columns if name == TRUTH]])
        runs = Parallel(return_as="generator")(
            delayed(_run)(truth_only, shared, size, run) for size, run in fitting.items()
        )
        finished = []
        for run in runs:
            finished.append(replace(run, seconds=run.seconds + head_start_s))
            report(0.4 + 0.6 * len(finished) / len(fitting))
    left_out = {str(size): f"{n:,} rows cannot hold two profiles of {size:,}" for size in plan if size not in fitting}
    return SweepGroup(tuple(finished), left_out, scaled.row_ids, n, watch.seconds)


def _of_size(settings: GroupSettings, size: int, n_jobs: int) -> ProfileSettings:
    """Return the settings of one run; OPTICS takes a sample of many rows and the same share of them as its size."""
    run = settings.of_size(size)
    if settings.algorithm == "hdbscan" or settings.sample_rows or n_jobs <= OPTICS_SWEEP_ROWS:
        return run
    shrunk = max(SMALLEST_OPTICS_SIZE, round(size * OPTICS_SWEEP_ROWS / n_jobs))
    return replace(run, min_cluster_size=shrunk, min_samples=shrunk, sample_rows=OPTICS_SWEEP_ROWS)


@dataclass(frozen=True)
class _Shared:
    """What the runs of a group have in common: neighbours, and with one min_samples the tree, too."""

    neighbours: Neighbours | None = None
    tree: SpanningTree | None = None


def _share(scaled: Prepared, runs: list[ProfileSettings], report: Callable[[float], None]) -> _Shared:
    if scaled.settings.algorithm == "optics":
        return _Shared()
    neighbour_counts = tuple(sorted({run.min_samples for run in runs}))
    neighbours = find_neighbours(scaled.points, scaled.settings.metric, neighbour_counts, lambda x: report(0.4 * x))
    if len(neighbour_counts) > 1:
        return _Shared(neighbours=neighbours)
    return _Shared(tree=build_spanning_tree(neighbours, neighbour_counts[0]))


def _run(scaled: Prepared, shared: _Shared, grid_size: int, settings: ProfileSettings) -> SweepRun:
    """Return one run; everything that it needs is in its arguments, so that another machine can do it."""
    started = time.perf_counter()
    mine = replace(scaled, settings=replace(scaled.settings, **_sizes(settings)))
    tree = shared.tree
    if shared.neighbours is not None:
        tree = build_spanning_tree(shared.neighbours, settings.min_samples)
    if tree is None:
        clusters = run_optics(scaled.points, settings.metric, settings.min_samples)
    else:
        clusters = cut(tree, settings.min_cluster_size, settings.method, settings.epsilon)
    scores = score(mine, clusters.labels, tree).scores
    return SweepRun(mine.settings, grid_size, scores, clusters.labels.astype(np.int16), time.perf_counter() - started)


def _sizes(settings: ProfileSettings) -> dict[str, Any]:
    return {"min_cluster_size": settings.min_cluster_size, "min_samples": settings.min_samples}
