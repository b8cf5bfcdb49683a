"""Input and machine of a known workload, t = f(w, i, Sigma): those of the recording that a run is most like.

A workload that is named WORKLOAD@INPUT@MACHINE tells both; either may be missing. Samples are compared as in `partial`,
in the distance that the runs of one name set about their means, with the recordings of the same workload alone.

How far that is right on inputs is measured with each machine held back, where there are two, and on machines with runs
held back. Beside it stand the recording with the nearest means of counters, and the value that most recordings have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.stats import Interval, wilson
from workprof.phases.fingerprints import fit_normaliser, normalised
from workprof.phases.library import LibrarySettings
from workprof.phases.partial import Windows, fit_samples, series_of, step_of, windows_of
from workprof.phases.runs import Run, Runs

MARK = "@"
INPUT, MACHINE = "input", "machine"


@dataclass(frozen=True)
class FacetFigures:
    """How well the input or the machine of a known workload is told; shares of the runs that were asked."""

    facet: str
    held_back: str  # 'machine' or 'run'
    n_runs: int  # asked: of a workload that was learned with this value and another one
    n_left_out: int  # that name the facet, but whose value or any other was not learned
    right: Floats  # (n_times,) from the start of the run
    interval: Interval  # of the last, Wilson's
    means: Floats  # (n_times,) by the nearest means of counters
    usual: float  # if the value of most recordings of the workload were the answer


def facets_of(label: str) -> dict[str, str]:
    """Workload, input and machine by a name; '' where it tells none."""
    return dict(zip(("workload", INPUT, MACHINE), [*label.split(MARK, 2), "", ""], strict=False))


def without_facets(runs: Runs) -> Runs:
    """The runs under the names of their workloads alone; a run's own name then has the rest."""
    return replace(runs, runs=tuple(_bare(run) for run in runs.runs))


def _bare(run: Run) -> Run:
    workload, mark, rest = run.workload.partition(MARK)
    return replace(run, workload=workload, run=f"{rest}/{run.run}") if mark and workload else run


def facet_figures(
    runs: Runs, times: Floats, settings: LibrarySettings, folds: Callable[[Ints], Ints]
) -> tuple[FacetFigures, ...]:
    """What recordings tell of inputs and machines at each of (n_times,) seconds; nothing where no name tells any.

    `folds` gives the part in which each run is held back, by the numbers of their names.
    """
    names = [facets_of(run.workload) for run in runs.runs]
    labels = np.unique([run.workload for run in runs.runs], return_inverse=True)[1].astype(np.int64)
    machines, machine = np.unique([one[MACHINE] for one in names], return_inverse=True)
    by_run = folds(labels)
    by_machine = len(machines[machines != ""]) > 1
    ways = {INPUT: machine if by_machine else by_run, MACHINE: by_run}
    result = []
    for facet, held in ways.items():
        asked = [at for at, one in enumerate(names) if one["workload"] and one[facet]]
        answers = [
            _answered(runs, labels, (np.flatnonzero(held != part), own), facet, times, settings)
            for part in np.unique(held)
            if len(own := np.array([at for at in asked if held[at] == part], dtype=np.int64))
        ]
        told = np.concatenate(answers) if answers else np.zeros((0, 2 * len(times) + 1))
        if len(told):
            right, means, usual = np.split(told.mean(axis=0), [len(times), 2 * len(times)])
            interval = wilson(float(told[:, len(times) - 1].sum()), len(told))
            what = MACHINE if facet == INPUT and by_machine else "run"
            left_out = len(asked) - len(told)
            result.append(FacetFigures(facet, what, len(told), left_out, right, interval, means, float(usual[0])))
    return tuple(result)


def _answered(
    runs: Runs, labels: Ints, parts: tuple[Ints, Ints], facet: str, times: Floats, settings: LibrarySettings
) -> Floats:
    """(n_asked, 2 n_times + 1) whether each answer is right: by samples, by means, and by the usual value."""
    train, asked = parts
    known = [runs.runs[at] for at in train]
    told = [facets_of(run.workload) for run in known]
    normaliser = fit_normaliser(known, runs.counters, settings.fingerprints)
    step = step_of(known)
    series = [series_of(run, normaliser, settings, step) for run in known]
    samples = fit_samples(series, labels[train])
    windows, result = Windows(windows_of(times, runs.step_s * step).lengths, places=1), []
    for run in (runs.runs[at] for at in asked):
        own = facets_of(run.workload)
        alike = np.array([at for at, one in enumerate(told) if one["workload"] == own["workload"] and one[facet]])
        values = np.array([told[at][facet] for at in alike])
        if own[facet] not in values or len(set(values.tolist())) < 2:
            continue
        part = series_of(run, normaliser, settings, step)
        lacking = normalised(run, normaliser, settings.fingerprints).missing
        there = np.isin(normaliser.counters, lacking, invert=True)
        costs, _ = samples.laid_over(part, windows.of(len(part)), there)
        near = [
            _nearest_means(part[:n, there], [series[at][:n, there] for at in alike]) for _, n in windows.of(len(part))
        ]
        kinds, counts = np.unique(values, return_counts=True)
        usual = float(kinds[counts == counts.max()].tolist().count(own[facet]) / (counts == counts.max()).sum())
        right = np.concatenate([values[costs[:, alike].argmin(axis=1)], values[near]]) == own[facet]
        result.append([*right.astype(np.float64), usual])
    return np.array(result).reshape(-1, 2 * len(times) + 1)


def _nearest_means(part: Floats, others: Sequence[Floats]) -> int:
    return int(np.argmin([((part.mean(axis=0) - one.mean(axis=0)) ** 2).sum() for one in others]))
