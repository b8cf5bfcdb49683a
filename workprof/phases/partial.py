"""Recognition of a part of a run: its samples are laid over known runs at every offset, and the cheapest place tells.

A part begins anywhere in the run that it is of. Samples are compared in the Mahalanobis distance that the runs of one
workload set about their means: counters that move together count once. A place costs the mean log of the squared
distances, so that few odd samples do not decide.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.phases.detector import NO_DISTANCE, Limits, about_means, limits_of, squared_distances, whitener_of
from workprof.phases.fingerprints import Normaliser, fit_normaliser, normalised
from workprof.phases.library import LibraryEdits, LibrarySettings, TrainHash, relabelled
from workprof.phases.matching import UNKNOWN, Unknown, rows_without
from workprof.phases.runs import Run, find_run, runs_of

if TYPE_CHECKING:
    import pandas as pd

MOST_SAMPLES = 600
"""Of the longest run; longer runs are compared by means of several steps."""
MOST_TIMES = 24
PLACES = 4
"""Where a part may begin in a known run whose like sets the limit: evenly from its start to the last such place."""
TELLING = 3
"""Counters named that tell the nearest workload from the next one."""

Every = Annotated[
    float,
    Setting(
        f"Time between two answers; {MOST_TIMES} at most, the others are left out evenly.",
        unit="s",
        above=0,
        most=86_400,
        key="phases_every",
        label="Answer every",
    ),
]


@settings
class CourseSettings:
    """One run as it goes on, against the others or those of another dataset."""

    unknown: Unknown
    every: Every = 5.0
    edits: LibraryEdits = field(default_factory=LibraryEdits)
    train_hash: TrainHash = ""
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class CoursePoint:
    """What a run is taken for by what is seen of it."""

    seconds: float  # seen
    workload: str  # the name, or 'unknown'
    nearest: str  # the nearest workload
    probability: float  # of the nearest among the known ones, 0-1
    second: str  # the next workload; '' with a single one
    score: float  # mean log of the squared distance of its samples, per counter
    limit: float  # above which the run is unknown; NaN where too few runs are known: nearest only
    run: str  # known run in which its like was found
    from_s: float  # where in that run; below 0 where that run is shorter and lies inside what is seen
    counters: tuple[str, ...]  # that tell the nearest workload from the next one, the strongest first


@dataclass(frozen=True, repr=False)
class Course(Shown):
    """One run as it goes on."""

    unknown: str  # name of the run
    workloads: tuple[str, ...]  # known ones
    points: tuple[CoursePoint, ...]
    probabilities: Floats  # (n_points, n_workloads) among the known ones
    n_known: int  # runs that are compared with
    notes: tuple[str, ...]
    seconds: float


def course(frames: Mapping[str, pd.DataFrame], settings: CourseSettings, progress: Progress = silent) -> Course:
    """What a run of 'samples' is taken for as it goes on; known are those of 'train', or all others.

    Raises:
        SettingsError: when there is no such run.
        NotEnoughData: when no two labelled runs of one of two workloads are left.
    """
    started = time.perf_counter()
    samples = frames["samples"]
    runs = runs_of(samples, settings.library.counters)
    unknown = runs.runs[find_run(runs, settings.unknown)]
    train = frames["train"] if "train" in frames else rows_without(samples, unknown.workload, unknown.run)
    known = runs_of(relabelled(train, settings.edits), runs.counters)
    labelled = [run for run in known.runs if run.workload and np.isfinite(run.values).any()]
    times = times_of([unknown], known.step_s, settings.every)
    recogniser = fit_recogniser(labelled, runs.counters, known.step_s, times, settings.library, progress)
    points, probabilities = recogniser.course(unknown)
    missing = [f"{name} is not recorded and is left out" for name in recogniser.missing(unknown)]
    paced = [f"steps are {runs.step_s:g} s, those of known runs {known.step_s:g} s; samples are compared step by step"]
    few = ["too few runs of each workload for a threshold: nearest only"] if recogniser.limits is None else []
    return Course(
        unknown=unknown.name,
        workloads=recogniser.workloads,
        points=points,
        probabilities=probabilities,
        n_known=len(labelled),
        notes=(*runs.notes, *unknown.notes, *(paced if runs.step_s != known.step_s else []), *missing, *few),
        seconds=time.perf_counter() - started,
    )


def times_of(runs: Sequence[Run], step_s: float, every: float) -> Floats:
    """When answers are given: at each multiple of `every` up to the median run's length, thinned to `MOST_TIMES`.

    Of runs that are shorter the only answer is at their end.
    """
    length = float(np.median([run.values.shape[1] for run in runs])) * step_s
    every = min(max(every, step_s), max(length, step_s))
    found = every * np.arange(1, max(1, math.floor(length / every + 1e-9)) + 1)
    kept = np.unique(np.linspace(0, len(found) - 1, min(MOST_TIMES, len(found))).round().astype(np.int64))
    result: Floats = np.asarray(found[kept], dtype=np.float64)
    return result


@dataclass(frozen=True)
class Samples:
    """Known runs sample by sample, and how samples are compared."""

    series: tuple[Floats, ...]  # (T, d) in standard deviations
    labels: Ints  # (n_runs,) number of the workload
    covariance: Floats  # (d, d) of samples about the means of their workloads, shrunk

    def laid_over(
        self, part: Floats, windows: Sequence[tuple[int, int]], among: Bools, *, plain: bool = False
    ) -> tuple[Floats, Ints]:
        """Costs and places (n_windows, n_runs) of windows (first sample, length) of a part (w, d) in each known run.

        `among` (d,) are the counters that are compared; `plain` compares them as they are, without the covariance.
        """
        from workprof.phases.kernels import least_costs  # noqa: PLC0415  numba

        if not among.any():
            raise NotEnoughData("a run has no value of any counter that is compared; leave it out, or record it again")
        root = np.eye(int(among.sum())) if plain else whitener_of(self.covariance[np.ix_(among, among)])
        squares = squared_distances(part[:, among] @ root, np.concatenate(self.series)[:, among] @ root) / among.sum()
        logs = np.log(np.maximum(squares, NO_DISTANCE))
        edges = np.cumsum([0, *map(len, self.series)])
        firsts, lengths = np.array(windows, dtype=np.int64).T
        result: tuple[Floats, Ints] = least_costs(
            logs, edges, np.ascontiguousarray(firsts), np.ascontiguousarray(lengths)
        )
        return result

    def unlikeness(self, part: Floats, windows: Windows, among: Bools, *, plain: bool = False) -> Floats:
        """(n_times, n_places, n_workloads) least cost in the runs of each workload."""
        costs, _ = self.laid_over(part, windows.of(len(part)), among, plain=plain)
        result = np.full((len(costs), int(self.labels.max()) + 1), np.inf)
        for label in np.unique(self.labels):
            result[:, label] = costs[:, self.labels == label].min(axis=1)
        return result.reshape(len(windows.lengths), windows.places, -1)


@dataclass(frozen=True)
class Windows:
    """Parts of runs, in samples: of each length, at some places. A run that has ended counts as it ended."""

    lengths: Ints
    places: int = PLACES  # 1 = at the beginning only

    def of(self, n: int) -> list[tuple[int, int]]:
        """First sample and length of each in a run of n samples, places within lengths."""
        return [
            (round(place / max(self.places - 1, 1) * (n - own)), own)
            for length in self.lengths.tolist()
            for own in [min(n, length)]
            for place in range(self.places)
        ]


def fit_samples(series: Sequence[Floats], labels: Ints) -> Samples:
    """What samples of labelled runs are compared by.

    Raises NotEnoughData without two runs to learn from, or where they are all the same.
    """
    if len(series) < 2:
        raise NotEnoughData(f"{len(series)} labelled runs; a part of a run is compared with at least two")
    states, lengths = np.concatenate(series), [len(one) for one in series]
    if not np.ptp(states, axis=0).any():
        raise NotEnoughData(f"no counter changes in {len(series)} labelled runs; nothing tells them apart")
    seconds = np.ones(len(states), dtype=np.int64)
    return Samples(tuple(series), labels, about_means(states, np.repeat(labels, lengths), seconds))


@dataclass(frozen=True)
class Recogniser:
    """Known runs, and from where on a part is unknown; in memory only."""

    normaliser: Normaliser
    settings: LibrarySettings
    step: int  # steps of the grid that a sample is the mean of
    step_s: float  # of the grid
    names: tuple[str, ...]  # of the known runs
    workloads: tuple[str, ...]
    samples: Samples
    times: Floats  # (n_times,) seconds
    limits: Floats | None  # (n_times,) None where no workload has three runs
    sharpness: Floats  # (n_times,) a workload is as probable as the power of -sharpness of its cost

    @property
    def windows(self) -> Windows:
        """The parts at each of the times."""
        return windows_of(self.times, self.step_s * self.step)

    def series(self, run: Run) -> Floats:
        """(T, d) samples of a run as they are compared."""
        return series_of(run, self.normaliser, self.settings, self.step)

    def there(self, run: Run) -> Bools:
        """(d,) which counters a run has."""
        return np.isin(self.normaliser.counters, self.missing(run), invert=True)

    def missing(self, run: Run) -> tuple[str, ...]:
        """Counters that a run lacks."""
        return normalised(run, self.normaliser, self.settings.fingerprints).missing

    def probabilities(self, costs: Floats) -> Floats:
        """(n_times, ..., n_workloads) of costs of the same shape."""
        return _softmax(-costs * self.sharpness.reshape(-1, *[1] * (costs.ndim - 1)))

    def course(self, run: Run) -> tuple[tuple[CoursePoint, ...], Floats]:
        """What a run is taken for at each time, and (n_times, n_workloads) probabilities."""
        there, part = self.there(run), self.series(run)
        windows = replace(self.windows, places=1)
        scores = self.samples.unlikeness(part, windows, there)[:, 0]
        costs, places = self.samples.laid_over(part, windows.of(len(part)), there)
        probabilities, points = self.probabilities(scores), []
        for at, (_, length) in enumerate(windows.of(len(part))):
            order = np.argsort(scores[at], kind="stable")
            best = [
                min(np.flatnonzero(self.samples.labels == label).tolist(), key=costs[at].__getitem__)
                for label in order[:2].tolist()
            ]
            score, limit = float(scores[at, order[0]]), math.nan if self.limits is None else float(self.limits[at])
            points.append(
                CoursePoint(
                    seconds=float(self.times[at]),
                    workload=UNKNOWN if score > limit else self.workloads[order[0]],
                    nearest=self.workloads[order[0]],
                    probability=float(probabilities[at, order[0]]),
                    second=self.workloads[order[1]] if len(order) > 1 else "",
                    score=score,
                    limit=limit,
                    run=self.names[best[0]],
                    from_s=float(places[at, best[0]]) * self.step * self.step_s,
                    counters=self._telling(part[:length], [(one, int(places[at, one])) for one in best], there),
                )
            )
        return tuple(points), probabilities

    def _telling(self, part: Floats, best: list[tuple[int, int]], there: Bools) -> tuple[str, ...]:
        """The counters by which the second best run is farther than the best, by their part of the distance."""
        if len(best) < 2:
            return ()
        root = whitener_of(self.samples.covariance[np.ix_(there, there)])
        parts = []
        for at, place in best:
            seen, held = part[max(0, -place) :], self.samples.series[at][max(0, place) :]
            n = min(len(seen), len(held))
            apart = (seen[:n] - held[:n])[:, there]
            parts.append((apart * (apart @ root @ root.T)).mean(axis=0))
        gain = parts[1] - parts[0]
        names = np.array(self.normaliser.counters)[there]
        return tuple(str(names[at]) for at in np.argsort(-gain, kind="stable")[:TELLING] if gain[at] > 0)


def windows_of(times: Floats, step_s: float) -> Windows:
    """The parts of runs up to each of (n_times,) seconds."""
    return Windows(np.maximum(1, (times / step_s).round()).astype(np.int64))


def step_of(runs: Sequence[Run]) -> int:
    """Steps of the grid that a sample is the mean of, so that the longest run has `MOST_SAMPLES` at most."""
    longest: int = max(run.values.shape[1] for run in runs)
    return max(1, math.ceil(longest / MOST_SAMPLES))


def series_of(run: Run, normaliser: Normaliser, settings: LibrarySettings, step: int) -> Floats:
    """(T, d) samples of a run as they are compared."""
    values = np.nan_to_num(normalised(run, normaliser, settings.fingerprints).for_statistics)
    starts = np.arange(0, values.shape[1], step)
    result: Floats = (np.add.reduceat(values, starts, axis=1) / np.diff([*starts, values.shape[1]])).T
    return result


def fit_recogniser(
    runs: Sequence[Run],
    counters: tuple[str, ...],
    step_s: float,
    times: Floats,
    settings: LibrarySettings,
    progress: Progress = silent,
) -> Recogniser:
    """What labelled runs tell of parts of others: costs, limits and probabilities at each time.

    Each known run is asked of libraries that lack it, in parts at `PLACES` places; see `detector.limits_of`.
    """
    workloads = tuple(sorted({run.workload for run in runs}))
    labels = np.array([workloads.index(run.workload) for run in runs], dtype=np.int64)
    normaliser = fit_normaliser(runs, counters, settings.fingerprints)
    step = step_of(runs)
    series = [series_of(run, normaliser, settings, step) for run in runs]
    recogniser = Recogniser(
        normaliser=normaliser,
        settings=settings,
        step=step,
        step_s=step_s,
        names=tuple(run.name for run in runs),
        workloads=workloads,
        samples=fit_samples(series, labels),
        times=times,
        limits=None,
        sharpness=np.ones(len(times)),
    )
    windows, every = recogniser.windows, np.ones(len(normaliser.counters), dtype=np.bool_)
    asked: dict[tuple[bytes, bytes], Floats] = {}
    scores, truth = [], []

    def held_back(at: int, place: int, out: Ints, rest: Ints) -> Floats:
        key = (out.tobytes(), rest.tobytes())
        if key not in asked:
            known = fit_samples([series[i] for i in rest], labels[rest])
            asked[key] = np.array([known.unlikeness(series[i], windows, every) for i in out])
            if len(out) + len(rest) == len(runs):
                scores.append(asked[key])
                truth.append(labels[out])
        own: Floats = asked[key][:, at, place]
        return own

    limits, sharpness = [], []
    for at in range(len(times)):
        found = []
        for place in range(PLACES):
            told = silent if asked else progress
            one = limits_of(labels, settings.seed, functools.partial(held_back, at, place), told)
            if one is None:
                return recogniser
            found.append(one)
        limits.append(_limit(found, settings))
        own = np.concatenate(scores)[:, at]
        sharpness.append(_sharpness(own.reshape(-1, own.shape[-1]), np.repeat(np.concatenate(truth), PLACES)))
    return replace(recogniser, limits=np.array(limits), sharpness=np.array(sharpness))


def _limit(found: Sequence[Limits], settings: LibrarySettings) -> float:
    scores = np.concatenate([one.scores for one in found])
    right = np.concatenate([one.right for one in found])
    pooled = Limits(scores, right, float(scores.mean()), max(float(scores.std()), 1e-9))
    c = settings.match.c
    return pooled.limit_for(settings.match.false_rejects) if c is None else pooled.limit_at(c)


def _sharpness(costs: Floats, truth: Ints) -> float:
    """The power at which the probabilities of held-back runs (n, n_workloads) are likeliest.

    Source: Platt (2000): one further run, taken for each workload alike, keeps it finite where all were right.
    """
    from scipy.optimize import minimize_scalar  # noqa: PLC0415  heavy

    odd = 1 / (len(truth) + 2)
    wanted = np.full(costs.shape, odd / max(costs.shape[1] - 1, 1))
    wanted[np.arange(len(truth)), truth] = 1 - odd
    finite = np.where(np.isfinite(costs), costs, np.nanmax(costs[np.isfinite(costs)]))

    def loss(power: float) -> float:
        return -float((wanted * np.log(np.maximum(_softmax(-math.exp(power) * finite), 1e-300))).sum())

    return math.exp(float(minimize_scalar(loss, bounds=(-3.0, 5.0), method="bounded").x))


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return result
