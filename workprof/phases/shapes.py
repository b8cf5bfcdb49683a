"""Profiles of time series: runs grouped by the shape of their usage under dynamic time warping, each with its curve.

Groups by shape stand beside groups by the phases of runs and by today's aggregates (mean and maximum of each counter):
how far they agree, how well they hold for runs that were held back, and what they add to a forecast while a run goes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.phases.fingerprints import fit_normaliser, normalised, prints_of
from workprof.phases.library import LibraryEdits, LibrarySettings, relabelled
from workprof.phases.runs import Run, runs_of
from workprof.phases.similarity import phases_of, scale_of
from workprof.phases.typical import (
    MOST_RUNS,
    TypicalRun,
    TypicalSettings,
    barycenter,
    distance,
    most_moving,
    shortened_series,
    tslearn_part,
)

if TYPE_CHECKING:
    import pandas as pd

MEDOIDS, BARYCENTERS, DENSITY, PHASES, AGGREGATES, ALIKE = (
    *("medoids", "barycenters", "density", "phases"),
    *("aggregates", "alike"),
)
FEWEST_RUNS = 12
MOST_SHAPES = 8
RESTARTS = 4
"""Random beginnings of the search for medoids, beside the greedy one."""
NEIGHBOURS = 5
"""Learned runs that begin most alike; they vote on the group of a run that goes."""
MEMORY = ("anonpages", "rss", "memory")
"""Parts of a counter's name that tell of held memory, the best first."""


@settings
class ShapesSettings:
    """How runs are grouped by their shape."""

    grouping: Annotated[
        str,
        Setting(
            "Whose groups are shown.",
            choices={
                MEDOIDS: "k-medoids under time warping",
                BARYCENTERS: "k-means of tslearn, around barycenters",
                DENSITY: "hdbscan on the distances; leaves odd runs out",
            },
            shown={MEDOIDS: "k-medoids", BARYCENTERS: "Barycenters", DENSITY: "Density"},
            key="phases_shapes_grouping",
            label="Grouping",
        ),
    ] = MEDOIDS
    k: Annotated[
        int | None,
        Setting("Shapes.", least=2, most=20, key="phases_shapes_k", empty="by silhouette", label="Number of shapes"),
    ] = None
    most_runs: Annotated[
        int,
        Setting(
            "Runs that are compared with each other, drawn at random; the others join the closest shape.",
            unit="runs",
            least=FEWEST_RUNS,
            most=2_000,
            key="phases_shapes_runs",
            label="Runs compared",
        ),
    ] = 200
    seen: Annotated[
        float,
        Setting(
            "What is seen of a run when its time and memory are forecast, of the median run.",
            unit="share",
            above=0,
            most=1,
            key="phases_shapes_seen",
            label="Seen of a run",
        ),
    ] = 0.25
    shown: Annotated[
        int,
        Setting(
            "Counters that runs are compared by: those that move most.",
            least=1,
            most=12,
            key="phases_shapes_counters",
            label="Counters compared",
        ),
    ] = 4
    points: Annotated[
        int,
        Setting(
            "Most samples of a run; of a longer one, means of equal stretches.",
            unit="samples",
            least=8,
            most=500,
            key="phases_shapes_points",
            label="Most samples",
        ),
    ] = 60
    edits: LibraryEdits = field(default_factory=LibraryEdits)
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class Grouping:
    """One way to group runs. Silhouette and errors are of the half of the runs that was held back."""

    method: str
    n_groups: int
    agreement: float  # adjusted Rand index with the groups that are shown
    truth: float  # likewise with the workloads; NaN without labels
    silhouette: float  # in the method's own distance; NaN of one group
    # mean error of run time and peak memory over their mean, forecast from the median of the group that the begun run
    # is taken for; NaN where the dataset does not tell
    duration_error: float
    memory_error: float


@dataclass(frozen=True, repr=False)
class Shapes(Shown):
    """The shapes of the runs of a dataset; arrays are (n_runs,)."""

    settings: ShapesSettings
    counters: tuple[str, ...]  # that are compared
    runs: tuple[TypicalRun, ...]  # the typical curve of each shape, the largest first
    names: tuple[str, ...]
    workloads: tuple[str, ...]
    labels: Ints  # place in `runs`; -1 = none
    n_compared: int
    n_bounded: int  # comparisons of the others that a lower bound made needless
    groupings: tuple[Grouping, ...]
    memory_counter: str  # '' = none
    seconds: float


def shapes_of(frames: Mapping[str, pd.DataFrame], settings: ShapesSettings, progress: Progress = silent) -> Shapes:
    """The shapes of the runs of 'samples'.

    Raises NotEnoughData for fewer than `FEWEST_RUNS` runs.

    Sources: Petitjean et al. 2011 (DTW barycenter averaging) and hdbscan as libraries; PAM (Kaufman & Rousseeuw 1990).
    """
    started = time.perf_counter()
    library, fingerprints = settings.library, settings.library.fingerprints
    found = runs_of(relabelled(frames["samples"], settings.edits), library.counters)
    if len(found.runs) < FEWEST_RUNS:
        raise NotEnoughData(f"the dataset has {len(found.runs)} runs; shapes need at least {FEWEST_RUNS}")
    normaliser = fit_normaliser(found.runs, found.counters, fingerprints)
    whole = [np.nan_to_num(normalised(run, normaliser, fingerprints).for_statistics) for run in found.runs]
    chosen = most_moving(whole, settings.shown)
    parts = [one[chosen] for one in whole]
    series = [np.ascontiguousarray(shortened_series(one, settings.points).T) for one in parts]
    order = np.random.default_rng(library.seed).permutation(len(series))
    own = np.sort(order[: settings.most_runs])
    progress(0.1, "warping runs onto each other")
    compared = [series[at] for at in own]
    warped = distances(compared)
    learn = np.arange(0, len(own), 2)  # runs are sorted by workload
    k = settings.k or _best_k(warped[np.ix_(learn, learn)])
    progress(0.4, "phases of runs")
    prints = prints_of([found.runs[at] for at in own], normaliser, fingerprints)
    scale = scale_of(prints, library.match)
    by_phases = distances([phases_of(one, scale) for one in prints])
    table = _aggregates(compared)
    seen = beginnings([parts[at] for at in own], settings.seen, settings.points)
    begun = distances(seen)
    ways: dict[str, _Way] = {
        MEDOIDS: _Way(warped, begun, lambda at: medoids_of(warped[np.ix_(at, at)], k)[1]),
        BARYCENTERS: _Way(warped, begun, lambda at: _around_barycenters([compared[one] for one in at], k)),
        DENSITY: _Way(warped, begun, lambda at: _dense(warped[np.ix_(at, at)])),
        PHASES: _Way(by_phases, begun, lambda at: medoids_of(by_phases[np.ix_(at, at)], k)[1]),
        AGGREGATES: _Way(table, _aggregates(seen), lambda at: medoids_of(table[np.ix_(at, at)], k)[1]),
    }
    progress(0.7, "grouping runs")
    labels = {name: way.grouped(np.arange(len(own))) for name, way in ways.items()}
    runs = [found.runs[at] for at in own]
    memory = _memory_counter(found.counters)
    judged = _Judged(runs, learn, _peaks(runs, found.counters, memory), found.step_s)
    groupings = [judged.grouping(name, way, labels[name], labels[settings.grouping]) for name, way in ways.items()]
    shown, curves = _curves(labels[settings.grouping], compared, runs, found.step_s, progress)
    every, n_bounded = _with_others(shown, own, series, warped)
    return Shapes(
        settings=settings,
        counters=tuple(normaliser.counters[at] for at in chosen),
        runs=curves,
        names=tuple(run.name for run in found.runs),
        workloads=tuple(run.workload for run in found.runs),
        labels=every,
        n_compared=len(own),
        n_bounded=n_bounded,
        groupings=(*groupings, judged.alike()),
        memory_counter=memory,
        seconds=time.perf_counter() - started,
    )


def distances(series: Sequence[Floats]) -> Floats:
    """(n, n) warping costs of (length, d) series, per sample of the longer one."""
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    result = np.zeros((len(series), len(series)))

    def work(first: int, last: int) -> None:
        for i in range(first, last):
            for j in range(i):
                cost = warping_cost(series[i], series[j]) / max(len(series[i]), len(series[j]))
                result[i, j] = result[j, i] = cost

    share_out(work, len(series), 1, lambda _: None)
    return result


def beginnings(parts: Sequence[Floats], share: float, points: int) -> list[Floats]:
    """(length, d) first samples of (d, T) runs: of each as many, a share of the median run's.

    All are shortened by the factor that brings the median run to `points`: how long a run goes on changes nothing.
    """
    median = float(np.median([one.shape[1] for one in parts]))
    first = [one[:, : max(2, round(share * median))] for one in parts]
    rate = min(1.0, points / median)
    shortened = [shortened_series(one, max(2, round(rate * one.shape[1]))) for one in first]
    return [np.ascontiguousarray(one.T) for one in shortened]


def least_cost(first: Floats, second: Floats) -> float:
    """What the warping cost of two (length, d) series, per sample of the longer one, is at least.

    LB_Keogh with the whole run as its window: every point goes with one inside the other's range.
    """
    bounds = []
    for one, other in ((first, second), (second, first)):
        outside = np.maximum(one - other.max(axis=0), 0) + np.maximum(other.min(axis=0) - one, 0)
        bounds.append(float(outside.sum()))
    return max(bounds) / max(len(first), len(second))


def medoids_of(costs: Floats, k: int) -> tuple[Ints, Ints]:
    """(k,) places of the medoids and (n,) the medoid of each point: the least sum that swaps find."""
    n = len(costs)
    k = min(k, n)
    rng = np.random.default_rng(0)
    starts = [_greedy(costs, k), *(rng.choice(n, k, replace=False) for _ in range(RESTARTS))]
    found = min((_swapped(costs, start) for start in starts), key=lambda one: float(costs[:, one].min(axis=1).sum()))
    return found, costs[:, found].argmin(axis=1)


def _greedy(costs: Floats, k: int) -> Ints:
    chosen: list[int] = []
    nearest = np.full(len(costs), np.inf)
    for _ in range(k):
        sums = np.minimum(costs, nearest[:, None]).sum(axis=0)
        sums[chosen] = np.inf
        chosen.append(int(sums.argmin()))
        nearest = np.minimum(nearest, costs[:, chosen[-1]])
    return np.array(chosen)


def _swapped(costs: Floats, medoids: Ints) -> Ints:
    """The medoids after the best swap of one for a point that is none, again and again."""
    medoids = np.array(medoids)
    total = float(costs[:, medoids].min(axis=1).sum())
    while True:
        best = (total, 0, 0)
        for place in range(len(medoids)):
            others = np.delete(medoids, place)
            left = costs[:, others].min(axis=1) if len(others) else np.full(len(costs), np.inf)
            sums = np.minimum(costs, left[:, None]).sum(axis=0)
            at = int(sums.argmin())
            best = min(best, (float(sums[at]), place, at))
        if best[0] >= total - 1e-12:
            return medoids
        total, place, at = best
        medoids[place] = at


def _best_k(costs: Floats) -> int:
    """The number of groups with the widest silhouettes."""
    tried = range(2, min(MOST_SHAPES, len(costs) - 1) + 1)
    return max(tried, key=lambda k: _silhouette(costs, medoids_of(costs, k)[1]))


def _silhouette(costs: Floats, labels: Ints) -> float:
    from sklearn.metrics import silhouette_score  # noqa: PLC0415  heavy

    kept = labels >= 0
    n_groups = len(np.unique(labels[kept]))
    if not 1 < n_groups < int(kept.sum()):
        return float("nan")
    return float(silhouette_score(costs[np.ix_(kept, kept)], labels[kept], metric="precomputed"))


def _around_barycenters(series: Sequence[Floats], k: int) -> Ints:
    longest = max(map(len, series))
    padded = np.full((len(series), longest, series[0].shape[1]), np.nan)
    for place, one in enumerate(series):
        padded[place, : len(one)] = one
    model = tslearn_part("clustering").TimeSeriesKMeans(min(k, len(series)), metric="dtw", max_iter=10, random_state=0)
    return np.asarray(model.fit_predict(padded), dtype=np.int64)


def _dense(costs: Floats) -> Ints:
    from hdbscan import HDBSCAN  # noqa: PLC0415  heavy

    least = max(3, len(costs) // 20)
    return np.asarray(HDBSCAN(min_cluster_size=least, metric="precomputed").fit_predict(costs), dtype=np.int64)


def _aggregates(series: Sequence[Floats]) -> Floats:
    """(n, n) distances of runs by mean and maximum of each counter, in standard units."""
    from scipy.spatial.distance import cdist  # noqa: PLC0415  heavy

    table = np.array([np.concatenate([one.mean(axis=0), one.max(axis=0)]) for one in series])
    table = (table - table.mean(axis=0)) / np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    return np.asarray(cdist(table, table))


@dataclass(frozen=True)
class _Way:
    """A distance of runs, that of their beginnings, and what groups some of them."""

    costs: Floats  # (n, n)
    begun: Floats  # (n, n)
    grouped: Callable[[Ints], Ints]


def _memory_counter(counters: Sequence[str]) -> str:
    return next((one for part in MEMORY for one in counters if part in one.lower()), "")


def _peaks(runs: Sequence[Run], counters: Sequence[str], memory: str) -> Floats:
    if not memory:
        return np.full(len(runs), np.nan)
    rows = [run.values[list(counters).index(memory)] for run in runs]
    return np.array([np.nanmax(row) if np.isfinite(row).any() else np.nan for row in rows])


@dataclass(frozen=True)
class _Judged:
    """Compared runs: groups are learned from half of them and judged on the others."""

    runs: Sequence[Run]
    learn: Ints
    peaks: Floats
    step_s: float

    @property
    def held(self) -> Ints:
        return np.setdiff1d(np.arange(len(self.runs)), self.learn)

    @property
    def durations(self) -> Floats:
        return np.array([run.values.shape[1] * self.step_s for run in self.runs])

    def grouping(self, name: str, way: _Way, labels: Ints, shown: Ints) -> Grouping:
        from sklearn.metrics import adjusted_rand_score  # noqa: PLC0415  heavy

        learned = way.grouped(self.learn)
        across = way.costs[np.ix_(self.held, self.learn)]
        held = learned[across.argmin(axis=1)]
        near = np.argsort(way.begun[np.ix_(self.held, self.learn)], axis=1)[:, :NEIGHBOURS]
        votes = [int(np.bincount(learned[one] + 1).argmax()) - 1 for one in near]
        workloads = [run.workload for run in self.runs]
        return Grouping(
            method=name,
            n_groups=len(np.unique(labels[labels >= 0])),
            agreement=float(adjusted_rand_score(shown, labels)),
            truth=float(adjusted_rand_score(workloads, labels)) if len({*workloads}) > 1 else float("nan"),
            silhouette=_silhouette(way.costs[np.ix_(self.held, self.held)], held),
            duration_error=self._error(self.durations, learned, votes),
            memory_error=self._error(self.peaks, learned, votes),
        )

    def alike(self) -> Grouping:
        """The same forecast without any groups."""
        none, votes = np.zeros(len(self.learn), dtype=np.int64), [0] * len(self.held)
        errors = [self._error(amounts, none, votes) for amounts in (self.durations, self.peaks)]
        return Grouping(ALIKE, 1, float("nan"), float("nan"), float("nan"), *errors)

    def _error(self, amounts: Floats, learned: Ints, votes: Sequence[int]) -> float:
        truth, known = amounts[self.held], amounts[self.learn]
        if not np.isfinite(truth).all() or not np.isfinite(known).all() or not truth.sum() > 0:
            return float("nan")
        told = np.array([np.median(known[learned == label]) for label in votes])
        return float(np.abs(told - truth).sum() / truth.sum())


def _curves(
    labels: Ints,
    series: Sequence[Floats],
    runs: Sequence[Run],
    step_s: float,
    progress: Progress,
) -> tuple[Ints, tuple[TypicalRun, ...]]:
    """(n,) labels with the largest group first, and the barycenter of each group."""
    groups, sizes = np.unique(labels[labels >= 0], return_counts=True)
    order = groups[np.argsort(-sizes, kind="stable")]
    again = np.full(len(labels), -1, dtype=np.int64)
    found = []
    for place, group in enumerate(order.tolist()):
        progress(0.85 + 0.1 * place / len(order), f"typical curve of shape {place + 1}")
        own = np.flatnonzero(labels == group)
        again[own] = place
        kept = own[:MOST_RUNS]
        parts = [np.ascontiguousarray(series[at].T) for at in kept]
        middle = barycenter(parts, TypicalSettings().gamma)
        costs = np.array([distance(middle, part) for part in parts])
        found.append(
            TypicalRun(
                workload=f"shape {place + 1}",
                runs=tuple(runs[at].name for at in kept),
                n_left_out=len(own) - len(kept),
                levels=middle,
                duration_s=float(np.median([runs[at].values.shape[1] for at in own.tolist()])) * step_s,
                costs=costs,
                nearest=runs[int(kept[int(costs.argmin())])].name,
            )
        )
    return again, tuple(found)


def _with_others(shown: Ints, own: Ints, series: Sequence[Floats], warped: Floats) -> tuple[Ints, int]:
    """(n_runs,) labels of all runs: the others have that of the closest central run; and comparisons saved."""
    from workprof.phases.kernels import warping_cost  # noqa: PLC0415  numba

    result = np.full(len(series), -1, dtype=np.int64)
    result[own] = shown
    central = []
    for group in range(shown.max(initial=-1) + 1):
        members = np.flatnonzero(shown == group)
        central.append(series[own[members[int(warped[np.ix_(members, members)].sum(axis=0).argmin())]]])
    saved = 0
    for at in np.setdiff1d(np.arange(len(series)), own).tolist():
        bounds = [least_cost(series[at], one) for one in central]
        best = np.inf
        for group in np.argsort(bounds, kind="stable").tolist():
            if bounds[group] >= best:
                saved += 1
                continue
            cost = warping_cost(series[at], central[group]) / max(len(series[at]), len(central[group]))
            if cost < best:
                best, result[at] = cost, group
    return result, saved
