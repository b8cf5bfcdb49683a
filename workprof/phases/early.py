"""How soon a run is recognised: the accuracy, and what is rejected, by how much of a held-back run was seen."""

from __future__ import annotations

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
from workprof.core.stats import Interval, wilson
from workprof.phases.detector import PhaseModel, fit_phase_model
from workprof.phases.facets import FacetFigures, facet_figures, without_facets
from workprof.phases.fingerprints import fingerprint, prints_of, stretches_of
from workprof.phases.library import LibrarySettings
from workprof.phases.partial import Every, Recogniser, fit_recogniser, times_of
from workprof.phases.runs import Run, Runs, runs_of

if TYPE_CHECKING:
    import pandas as pd

FOLDS = 4
"""Of the runs of each workload a quarter is held back in turn, by name; each run once."""
N_TREES = 60


@settings
class EarlySettings:
    """How recognition of a part of a run is measured."""

    every: Every = 5.0
    excluded: Annotated[
        bool,
        Setting(
            "Exclude each workload in turn: its runs must be called unknown. This takes most of the time.",
            key="phases_early_excluded",
            label="Each workload excluded once",
        ),
    ] = True
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class EarlyPoint:
    """Recognition once so much of a run is seen. Shares are of held-back runs; NaN without one.

    Intervals are Wilson's over runs: parts of a run are not independent of each other.
    """

    seconds: float  # seen
    right: float  # from the start of the run, rejections left aside
    right_interval: Interval
    right_anywhere: float  # of parts as long that begin anywhere
    anywhere_interval: Interval
    stated: float  # mean probability of the answer, from the start
    known_rejected: float  # of known runs, from the start; NaN where three of a workload are too few for a threshold
    known_interval: Interval
    unknown_rejected: float  # of runs of excluded workloads, from the start
    unknown_interval: Interval
    # right answers of other ways, from the start: the phase model as a live recording is matched now, trees on mean
    # and deviation of parts as long, and the same samples compared without the covariance
    phases: float
    trees: float
    plain: float


@dataclass(frozen=True)
class SourceFigures:
    """Recognition by the counters of one source alone."""

    source: str  # part of their names before the first dot
    n_counters: int
    right: Floats  # (n_points,) from the start


@dataclass(frozen=True, repr=False)
class Early(Shown):
    """Recognition by how much of a run is seen."""

    settings: EarlySettings
    n_runs: int  # held back, each once
    n_workloads: int
    points: tuple[EarlyPoint, ...]
    sources: tuple[SourceFigures, ...]  # the best first
    facets: tuple[FacetFigures, ...]  # of inputs and machines, where names tell them
    notes: tuple[str, ...]
    seconds: float


def early(frames: Mapping[str, pd.DataFrame], settings: EarlySettings, progress: Progress = silent) -> Early:
    """Recognition of the labelled runs of 'samples', each held back once; of what follows an '@' in names, apart.

    Raises NotEnoughData when fewer than two workloads have two runs, or none has three.
    """
    started = time.perf_counter()
    found = runs_of(frames["samples"], settings.library.counters)
    named = replace(found, runs=tuple(run for run in found.runs if run.workload and np.isfinite(run.values).any()))
    runs = without_facets(named)
    names, counts = np.unique(runs.workloads, return_counts=True)
    if (counts > 1).sum() < 2 or counts.max() < 3:  # two of one workload have to be left when a part is held back
        raise NotEnoughData(
            f"{len(names)} workloads, at most {counts.max(initial=0)} runs of one; record two of two, three of one"
        )
    labels = np.searchsorted(names, np.array(runs.workloads)).astype(np.int64)
    times = times_of(runs.runs, runs.step_s, settings.every)
    folds = _folds(labels)
    groups = range(len(names)) if settings.excluded and len(names) > 2 else range(0)
    steps, done = (int(folds.max()) + 1) * (1 + len(groups)), 0
    tally = _Tally(len(times))
    sources = sorted({_source(name) for name in runs.counters})
    for fold in np.unique(folds).tolist():
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        progress(done / steps, f"part {fold + 1} of {folds.max() + 1} held back")
        recogniser = _fitted(runs, train, times, settings)
        ways = _Others(recogniser, [runs.runs[i] for i in train])
        for run in (runs.runs[i] for i in test):
            if run.workload in recogniser.workloads:
                _ask_known(tally, recogniser, run, sources, ways)
        done += 1
        for group in groups:
            out = test[labels[test] == group]
            if len(out):
                progress(done / steps, f"part {fold + 1} of {folds.max() + 1}, without {names[group]}")
                without = _fitted(runs, train[labels[train] != group], times, settings)
                for run in (runs.runs[i] for i in out):
                    _ask_limit(tally, "unknown", without, _scores(without, run))
            done += 1
    return Early(
        settings=settings,
        n_runs=tally.n("right"),
        n_workloads=len(names),
        points=tuple(tally.point(at, float(seconds)) for at, seconds in enumerate(times)),
        sources=_sources(tally, sources, runs.counters),
        facets=facet_figures(named, times, settings.library, _folds),
        notes=(
            *runs.notes,
            *(
                [f"{len(found.runs) - len(runs.runs)} runs without a workload, or any value, are excluded"]
                * (len(found.runs) > len(runs.runs))
            ),
        ),
        seconds=time.perf_counter() - started,
    )


def _folds(labels: Ints) -> Ints:
    """(n_runs,) the part in which each run is held back: the runs of a workload in turn."""
    result = np.zeros(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        result[own] = np.arange(len(own)) % FOLDS
    return result


def _source(counter: str) -> str:
    return counter.partition(".")[0]


def _fitted(runs: Runs, train: Ints, times: Floats, settings: EarlySettings) -> Recogniser:
    own = [runs.runs[i] for i in train]
    return fit_recogniser(own, runs.counters, runs.step_s, times, settings.library)


def _scores(recogniser: Recogniser, run: Run, among: Bools | None = None, *, plain: bool = False) -> Floats:
    there = recogniser.there(run) if among is None else among
    return recogniser.samples.unlikeness(recogniser.series(run), recogniser.windows, there, plain=plain)


def _ask_limit(tally: _Tally, name: str, recogniser: Recogniser, scores: Floats) -> None:
    """Count whether a run is unknown from its start; nothing where too few runs are known for a limit."""
    if recogniser.limits is not None:
        tally.add(name, scores[:, 0].min(axis=-1) > recogniser.limits)


def _ask_known(tally: _Tally, recogniser: Recogniser, run: Run, sources: Sequence[str], ways: _Others) -> None:
    truth, scores = recogniser.workloads.index(run.workload), _scores(recogniser, run)
    begun = scores[:, 0]
    tally.add("right", begun.argmin(axis=-1) == truth)
    tally.add("anywhere", (scores.argmin(axis=-1) == truth).mean(axis=-1))
    tally.add("stated", recogniser.probabilities(begun).max(axis=-1))
    _ask_limit(tally, "known", recogniser, scores)
    tally.add("plain", _scores(recogniser, run, plain=True)[:, 0].argmin(axis=-1) == truth)
    for way, answers in ways.answers(run).items():
        tally.add(way, answers == truth)
    named = np.array([_source(name) for name in recogniser.normaliser.counters])
    for source in sources:
        among = (named == source) & recogniser.there(run)
        if among.any():
            tally.add(f"of {source}", _scores(recogniser, run, among)[:, 0].argmin(axis=-1) == truth)


class _Tally:
    """What was counted of each run, (n_times,) each."""

    def __init__(self, n_times: int) -> None:
        self._empty = np.full((1, n_times), np.nan)
        self._rows: dict[str, list[Floats]] = {}

    def add(self, name: str, values: Floats | Bools) -> None:
        self._rows.setdefault(name, []).append(np.asarray(values, dtype=np.float64))

    def n(self, name: str) -> int:
        return len(self._rows.get(name, ()))

    def share(self, name: str) -> Floats:
        result: Floats = np.mean(self._rows.get(name, self._empty), axis=0)
        return result

    def interval(self, name: str, at: int) -> Interval:
        return wilson(self.n(name) * float(np.nan_to_num(self.share(name)[at])), self.n(name))

    def point(self, at: int, seconds: float) -> EarlyPoint:
        return EarlyPoint(
            seconds=seconds,
            right=float(self.share("right")[at]),
            right_interval=self.interval("right", at),
            right_anywhere=float(self.share("anywhere")[at]),
            anywhere_interval=self.interval("anywhere", at),
            stated=float(self.share("stated")[at]),
            known_rejected=float(self.share("known")[at]),
            known_interval=self.interval("known", at),
            unknown_rejected=float(self.share("unknown")[at]),
            unknown_interval=self.interval("unknown", at),
            phases=float(self.share("phases")[at]),
            trees=float(self.share("trees")[at]),
            plain=float(self.share("plain")[at]),
        )


def _sources(tally: _Tally, sources: Sequence[str], counters: Sequence[str]) -> tuple[SourceFigures, ...]:
    figures = [
        SourceFigures(source, [_source(name) for name in counters].count(source), tally.share(f"of {source}"))
        for source in sources
        if tally.n(f"of {source}")
    ]
    return tuple(sorted(figures, key=lambda one: -float(one.right.mean())))


class _Others:
    """Other ways to tell the workload of a part that begins with the run, learned from the same runs."""

    def __init__(self, recogniser: Recogniser, runs: Sequence[Run]) -> None:
        from sklearn.ensemble import ExtraTreesClassifier  # noqa: PLC0415  heavy

        self._known, fingerprints = recogniser, recogniser.settings.fingerprints
        prints = prints_of(runs, recogniser.normaliser, fingerprints)
        labels, seed = recogniser.samples.labels, recogniser.settings.seed
        self._model: PhaseModel = fit_phase_model([stretches_of(one) for one in prints], labels, seed)
        self._trees = []
        for length in recogniser.windows.lengths.tolist():
            firsts = [range(0, max(1, len(one) - length + 1), max(1, length // 3)) for one in recogniser.samples.series]
            parts = [
                _digest(one[first : first + length])
                for one, own in zip(recogniser.samples.series, firsts, strict=True)
                for first in own
            ]
            trees = ExtraTreesClassifier(N_TREES, max_features=0.3, random_state=seed)
            self._trees.append(trees.fit(parts, np.repeat(labels, [len(own) for own in firsts])))

    def answers(self, run: Run) -> dict[str, Ints]:
        """Way -> (n_times,) number of the workload."""
        known, series = self._known, self._known.series(run)
        by_phases, by_trees = [], []
        for seconds, length, trees in zip(known.times, known.windows.lengths.tolist(), self._trees, strict=True):
            begun = replace(run, values=run.values[:, : max(1, round(seconds / known.step_s))])
            one = fingerprint(begun, known.normaliser, known.settings.fingerprints)
            by_phases.append(int(self._model.unlikeness([stretches_of(one)])[0].argmin()))
            by_trees.append(int(trees.predict([_digest(series[:length])])[0]))
        return {"phases": np.array(by_phases), "trees": np.array(by_trees)}


def _digest(part: Floats) -> Floats:
    result: Floats = np.concatenate([part.mean(axis=0), part.std(axis=0)])
    return result
