"""Many clusterings side by side: the paper's grid (Table III), run group by group, and what the runs say together.

The runs of a group share one transform, one metric and one search of the neighbours: the rows are scaled once, the
neighbours searched once, and every size is cut and scored.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.parallel import each
from workprof.core.progress import Progress, Stopwatch, silent
from workprof.core.shown import Shown
from workprof.profiles.features import Prepared, prepare
from workprof.profiles.fit import warm_kernels
from workprof.profiles.scores import ProfileScores, acquires, adjusted_rand, score, scores_v3
from workprof.profiles.settings import (
    ALGORITHM_WORDS,
    ALGORITHMS,
    METRICS,
    PUBLISHED_TARGET_CLUSTERS,
    Features,
    Mode,
    ProfileSettings,
    SampleRows,
    Seed,
    TargetClusters,
    default_features,
)
from workprof.profiles.tree import Neighbours, SpanningTree, build_spanning_tree, cut, find_neighbours, run_optics

if TYPE_CHECKING:
    import pandas as pd

GRID_SCALERS = ("standard", "minmax", "robust", "power")
GRID_METRICS = METRICS
GRID_SIZES = (50, 100, 200, 300, 400, 600, 1000)
"""Table III: 4 transforms x 7 sizes x 2 metrics = 56 runs per algorithm."""

COUPLED = 0
"""min_samples = min_cluster_size, as in the paper."""

PRESET_DECIDES = -1
QUICK_MIN_SAMPLES = 50
"""The quick preset's one value: the smallest of the grid, so that small profiles keep their shape."""

OPTICS_SWEEP_ROWS = 4_000
"""Rows of OPTICS in a sweep; the grid's sizes shrink with the sample, so that they stay the same share of the rows."""

SMALLEST_OPTICS_SIZE = 5


@dataclass(frozen=True)
class GroupSettings:
    """The runs of a sweep that share one transform, one metric and one search of the neighbours."""

    algorithm: str = "hdbscan"  # 'hdbscan' or 'optics'
    # `scaler`, `metric`, `features`, `mode`, `sample_rows`, `seed`, `silhouette`: as in `ProfileSettings`
    scaler: str = "power"
    metric: str = "euclidean"
    features: tuple[str, ...] = ()
    mode: str = "corrected"
    sizes: tuple[int, ...] = GRID_SIZES  # values of min_cluster_size
    min_samples: int = COUPLED  # one value for all runs, or 0 = coupled to the size, as in the paper
    silhouette: str = "sampled"
    sample_rows: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 2:
            raise SettingsError(f"sizes are {self.sizes}; give at least one, of 2 rows or more")
        if self.silhouette not in ("exact", "sampled"):
            raise SettingsError(f"silhouette is {self.silhouette!r}; use exact or sampled")
        self.of_size(self.sizes[0])

    def of_size(self, size: int) -> ProfileSettings:
        """The settings of one run."""
        return ProfileSettings(
            features=self.features,
            scaler=self.scaler,
            metric=self.metric,
            algorithm=self.algorithm,
            min_cluster_size=size,
            min_samples=self.min_samples or size,
            mode=self.mode,
            silhouette=self.silhouette,
            sample_rows=self.sample_rows,
            seed=self.seed,
        )


@settings
class SweepSettings:
    """Settings of a sweep; the grid of transforms, metrics and sizes is the same for both presets."""

    preset: Annotated[
        str,
        Setting(
            "Both run 4 transforms × 2 metrics × 7 sizes.",
            choices={
                "quick": "one number of minimum samples, sampled silhouettes, HDBSCAN: minutes",
                "paper": "Table III: minimum samples follow the size, exact silhouettes, OPTICS, too",
            },
            shown={"quick": "Quick", "paper": "Paper (Table III)"},
        ),
    ] = "quick"
    algorithms: Annotated[
        tuple[str, ...],
        Setting(
            "How profiles are found.",
            choices=ALGORITHMS,
            named={"auto": ()} | {name: (name,) for name in ALGORITHMS} | {"both": ALGORITHMS},
            shown=ALGORITHM_WORDS | {"auto": "Automatic", "both": "Both"},
            named_key="algorithms",
            empty="by preset: quick HDBSCAN, paper both",
        ),
    ] = ()
    min_samples: Annotated[
        int,
        Setting(
            "Neighbours that make a run's density: one number for all, or coupled to the minimum profile size.",
            least=PRESET_DECIDES,
            named={"auto": PRESET_DECIDES, "coupled": COUPLED},
            shown={"auto": "Automatic", "coupled": "As the minimum size", "one": "One number"},
            own="one",
            named_key="min_samples",
            key="sweep_one_min_samples",
            usual=QUICK_MIN_SAMPLES,
            label="Minimum samples",
        ),
    ] = PRESET_DECIDES
    silhouette: Annotated[
        str,
        Setting(
            "How silhouettes are computed.",
            choices={"exact": "every pair of runs", "sampled": "a sample, with its standard error"},
            named={"auto": ""},
            shown={"auto": "Automatic", "exact": "Exact", "sampled": "Sampled"},
            empty="by preset: quick sampled, paper exact",
        ),
    ] = ""
    features: Features = ()
    mode: Mode = "corrected"
    target_clusters: TargetClusters = PUBLISHED_TARGET_CLUSTERS
    sample_rows: SampleRows = 0
    seed: Seed = 0

    def groups(self) -> tuple[GroupSettings, ...]:
        """The groups of the grid, HDBSCAN first, in the order of Table III."""
        paper = self.preset == "paper"
        one = COUPLED if paper else QUICK_MIN_SAMPLES
        return tuple(
            GroupSettings(
                algorithm=algorithm,
                scaler=scaler,
                metric=metric,
                features=self.features or default_features(self.mode),
                mode=self.mode,
                min_samples=one if self.min_samples == PRESET_DECIDES else self.min_samples,
                silhouette=self.silhouette or ("exact" if paper else "sampled"),
                sample_rows=self.sample_rows,
                seed=self.seed,
            )
            for algorithm in self.algorithms or (ALGORITHMS if paper else ALGORITHMS[:1])
            for scaler in GRID_SCALERS
            for metric in GRID_METRICS
        )


def whole_sweep(group: GroupSettings) -> SweepSettings:
    """The sweep of one algorithm that a group is part of; raises NotEnoughData when no sweep holds such a group."""
    shared = ("min_samples", "silhouette", "features", "mode", "sample_rows", "seed")
    result = SweepSettings(algorithms=(group.algorithm,), **{name: getattr(group, name) for name in shared})
    if group not in result.groups():
        raise NotEnoughData("no single sweep makes these runs; take their settings one by one")
    return result


TRUTH = "truth_profile"


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep."""

    settings: ProfileSettings  # resolved
    grid_size: int  # the size in the grid (OPTICS on a sample uses a smaller one)
    scores: ProfileScores  # of the run
    labels: NDArray[np.int16]  # (n_rows,) profile of each clustered row, -1 = outlier
    seconds: float  # of this run, its share of what the group computes once included


@dataclass(frozen=True, repr=False)
class SweepGroup(Shown):
    """The runs of one group."""

    runs: tuple[SweepRun, ...]  # in rising order of size
    left_out: dict[str, str]  # size -> why the run is not there
    row_ids: NDArray[np.int64]  # (n_rows,) of the store
    n_sampled: int  # rows that were clustered
    seconds: float  # of the whole group


Pairs = Sequence[tuple[GroupSettings, "SweepGroup | None"]]


@dataclass(frozen=True)
class Standing:
    """How far a sweep is: left-out sizes, which the rows cannot hold, count as neither done nor open."""

    groups: int  # of the grid
    groups_done: int
    runs: int  # of the grid
    runs_done: int
    runs_left_out: int

    @classmethod
    def of(cls, pairs: Pairs) -> Standing:
        """The standing of a grid's groups, each with its result or None."""
        results = [result for _, result in pairs if result is not None]
        left_out = sum(len(result.left_out) for result in results)
        request = sum(len(settings.sizes) for settings, _ in pairs)
        return cls(len(pairs), len(results), request - left_out, sum(len(result.runs) for result in results), left_out)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.groups_done == self.groups

    def fraction(self, of_running_group: float | None) -> float:
        """The share of the groups that is done, 0-1, the part of the running one included."""
        return min(1.0, (self.groups_done + (of_running_group or 0.0)) / max(1, self.groups))


def sweep_group(frames: Mapping[str, pd.DataFrame], settings: GroupSettings, progress: Progress = silent) -> SweepGroup:
    """The runs of one group: the rows scaled once, the neighbours searched once for every size.

    With one min_samples the spanning tree is built once, too, and cut for each size. The fits may go to the
    cluster that the caller has chosen (`workprof.core.parallel`).

    Raises NotEnoughData when not even the smallest size fits the rows.
    """
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
        truth_only = replace(
            scaled, table=scaled.table[[]], jobs=scaled.jobs[[name for name in scaled.jobs.columns if name == TRUTH]]
        )
        runs = each(_run, (truth_only, shared), fitting.items())
        finished = []
        for run in runs:
            finished.append(replace(run, seconds=run.seconds + head_start_s))
            report(0.4 + 0.6 * len(finished) / len(fitting))
    left_out = {str(size): f"{n:,} rows cannot hold two profiles of {size:,}" for size in plan if size not in fitting}
    return SweepGroup(tuple(finished), left_out, scaled.row_ids, n, watch.seconds)


def _of_size(settings: GroupSettings, size: int, n_jobs: int) -> ProfileSettings:
    """The settings of one run; OPTICS takes a sample of many rows and the same share of them as its size."""
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


def _run(group: tuple[Prepared, _Shared], one: tuple[int, ProfileSettings]) -> SweepRun:
    """One run; everything that it needs is in its arguments, so that another machine can do it."""
    started = time.perf_counter()
    (scaled, shared), (grid_size, settings) = group, one
    resolved = replace(scaled.settings, min_cluster_size=settings.min_cluster_size, min_samples=settings.min_samples)
    tree = shared.tree
    if shared.neighbours is not None:
        tree = build_spanning_tree(shared.neighbours, settings.min_samples)
    if tree is None:
        clusters = run_optics(scaled.points, settings.metric, settings.min_samples)
    else:
        clusters = cut(tree, settings.min_cluster_size, settings.method, settings.epsilon)
    scores = score(replace(scaled, settings=resolved), clusters.labels, tree, validity=False).scores
    return SweepRun(resolved, grid_size, scores, clusters.labels.astype(np.int16), time.perf_counter() - started)


SUMMARISED = ("n_outliers", "n_clusters", "mean_cluster_size", "avg_silhouette", "davies_bouldin", "acquires")
TARGETS = (10, 20, 26, 50, 100)
"""Targets that show how much the winner hangs on the published 26."""


@dataclass(frozen=True)
class ScoreSummary:
    """One score over the runs of one algorithm; NaN where no run has it (a row of Table IV)."""

    algorithm: str
    score: str
    runs: int
    mean: float
    std: float
    minimum: float
    median: float
    maximum: float


@dataclass(frozen=True)
class TargetWinner:
    """The best run by ACQUIRES when another number of clusters is rewarded; `run` is its position, -1 = none."""

    target_clusters: int
    run: int
    acquires: float


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side."""

    adjusted_rand: float  # over the rows that neither run calls an outlier; NaN where there are none
    adjusted_rand_all: float  # over all common rows, outliers as a cluster
    row_ids: NDArray[np.int64]
    """Rows that moved: out of or into the outliers, or not to the cluster that took most of theirs."""
    before: NDArray[np.int64]  # (n_moved,) labels of those rows
    after: NDArray[np.int64]  # (n_moved,) labels of those rows
    n_common: int  # rows that both runs clustered
    overlap: NDArray[np.int64]  # (n_before + 1, n_after + 1) rows per pair of labels, outliers first


@dataclass(frozen=True)
class Sweep:
    """A sweep as it stands."""

    settings: SweepSettings  # as requested
    results: Pairs  # of every group of the grid
    runs: tuple[SweepRun, ...]  # the finished ones, in the order of the groups
    best: int  # position in `runs` of the highest ACQUIRES, -1 = none
    summary: tuple[ScoreSummary, ...]  # Table IV over the finished runs
    winners: tuple[TargetWinner, ...]  # best run by target number of clusters
    seconds: float  # of the finished groups

    @classmethod
    def of(cls, settings: SweepSettings, results: Pairs, **more: Any) -> Self:
        """The sweep of these groups, each with its result or None."""
        found = [result for _, result in results if result is not None]
        runs = tuple(at_target(run, settings.target_clusters) for result in found for run in result.runs)
        seconds = sum(result.seconds for result in found)
        return cls(
            settings, results, runs, best_run(runs), summarise_runs(runs), winners_by_target(runs), seconds, **more
        )

    @property
    def chosen(self) -> int:
        """The position of the setting to take, -1 = none."""
        return chosen_run(self.runs)

    @property
    def standing(self) -> Standing:
        """How far it is."""
        return Standing.of(self.results)


def at_target(run: SweepRun, target_clusters: int) -> SweepRun:
    """A run with the scores that depend on the target number of clusters taken at another target."""
    given = run.scores
    ingredients = (given.avg_silhouette, given.n_clusters, given.n_outliers, given.n_rows, target_clusters)
    scores = replace(given, acquires=acquires(*ingredients), scores_v3=scores_v3(*ingredients))
    return replace(run, scores=scores, settings=replace(run.settings, target_clusters=target_clusters))


def best_run(runs: Sequence[SweepRun]) -> int:
    """The position of the run with the highest ACQUIRES, -1 where no run has one."""
    scores = [run.scores.acquires if math.isfinite(run.scores.acquires) else -math.inf for run in runs]
    best = int(np.argmax(scores)) if scores else -1
    return best if best >= 0 and math.isfinite(scores[best]) else -1


LEAST_CLUSTERED = 0.7
"""Share of the runs that a setting has to cluster to be chosen for how far its profiles lie apart."""


def clustered_share(run: SweepRun) -> float:
    """The share of the runs that are in a profile."""
    return 1 - run.scores.n_outliers / run.scores.n_rows if run.scores.n_rows else 0.0


def chosen_run(runs: Sequence[SweepRun]) -> int:
    """The position of the best silhouette among the settings that cluster enough, else of the one that clusters most.

    -1 where no setting finds two profiles.
    """
    told = [i for i, run in enumerate(runs) if math.isfinite(run.scores.silhouette_clustered)]
    enough = [i for i in told if clustered_share(runs[i]) >= LEAST_CLUSTERED]
    if enough:
        return max(enough, key=lambda i: runs[i].scores.silhouette_clustered)
    return max(told, key=lambda i: clustered_share(runs[i]), default=-1)


def summarise_runs(runs: Sequence[SweepRun]) -> tuple[ScoreSummary, ...]:
    """Table IV: every score over the runs of every algorithm."""
    rows = []
    for algorithm in dict.fromkeys(run.settings.algorithm for run in runs):
        for name in SUMMARISED:
            values = np.array([getattr(run.scores, name) for run in runs if run.settings.algorithm == algorithm])
            rows.append(_summary(algorithm, name, values[np.isfinite(values)]))
    return tuple(rows)


def winners_by_target(runs: Sequence[SweepRun], targets: Sequence[int] = TARGETS) -> tuple[TargetWinner, ...]:
    """The winner for every target number of clusters: the published 26 is its own winner's count."""
    winners = []
    for target in targets:
        scores = np.array([at_target(run, target).scores.acquires for run in runs])
        run = int(np.nanargmax(scores)) if np.isfinite(scores).any() else -1
        winners.append(TargetWinner(target, run, float(scores[run]) if run >= 0 else math.nan))
    return tuple(winners)


def compare_runs(
    before: SweepRun, after: SweepRun, ids_before: NDArray[np.int64], ids_after: NDArray[np.int64]
) -> RunComparison:
    """How two runs differ on the rows, (n_rows,) ids rising of each, that both clustered.

    Raises SettingsError when they have no row in common.
    """
    common, at_before, at_after = np.intersect1d(ids_before, ids_after, assume_unique=True, return_indices=True)
    if not len(common):
        raise SettingsError("the two runs clustered different rows; choose runs of the same sample")
    a, b = before.labels[at_before].astype(np.int64), after.labels[at_after].astype(np.int64)
    overlap = np.zeros((a.max() + 2, b.max() + 2), dtype=np.int64)
    np.add.at(overlap, (a + 1, b + 1), 1)
    moved = _heirs(overlap)[a + 1] != b + 1
    inside = (a >= 0) & (b >= 0)
    return RunComparison(
        adjusted_rand=adjusted_rand(a[inside], b[inside]) if inside.any() else math.nan,
        adjusted_rand_all=adjusted_rand(a + 1, b + 1),
        row_ids=common[moved],
        before=a[moved],
        after=b[moved],
        n_common=len(common),
        overlap=overlap,
    )


def _heirs(overlap: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row of the overlap the column that its cluster became; outliers stay outliers, -1 = dissolved."""
    heirs = overlap[:, 1:].argmax(axis=1) + 1 if overlap.shape[1] > 1 else np.full(len(overlap), -1)
    heirs[overlap[:, 1:].sum(axis=1) == 0] = -1
    heirs[0] = 0
    return heirs


def _summary(algorithm: str, score: str, values: NDArray[np.float64]) -> ScoreSummary:
    if not len(values):
        return ScoreSummary(algorithm, score, 0, *[math.nan] * 5)
    std = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    low, middle, high = (float(value) for value in np.quantile(values, (0.0, 0.5, 1.0)))
    return ScoreSummary(algorithm, score, len(values), float(values.mean()), std, low, middle, high)
