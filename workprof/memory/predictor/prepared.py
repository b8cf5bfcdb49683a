"""One task's runs made ready for training: bins, parts, encoded inputs, and what was done on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.errors import NotEnoughData
from workprof.memory.bins.bins import bin_runs, edge_choices
from workprof.memory.bins.effect import SizedRuns, effect_of_edges, saved_share
from workprof.memory.bins.settings import BinSettings
from workprof.memory.predictor.encoder import RunEncoder, fit_encoder
from workprof.memory.predictor.facts import Facts, facts_of
from workprof.memory.predictor.settings import FAITHFUL, PredictorSettings
from workprof.memory.predictor.split import TwoParts, split_by_bin, split_by_use
from workprof.memory.predictor.tuning import LearningRows
from workprof.memory.runs import Runs, runs_of

if TYPE_CHECKING:
    import pandas as pd

FEWEST_RUNS = 10
"""Three parts of fewer runs hold next to nothing."""

MOST_RUNS = 5_000
"""A support vector machine takes time with the square of its runs; of a larger task so many are drawn."""


@dataclass(frozen=True)
class TaskRuns:
    """The runs of the task.

    Attributes:
        runs: those that are used.
        jobs: (n_runs rows) their rows of the table.
        static_bytes: the largest request, or the largest use where that is more: what one static size would be.
        bins: settings of the search, with a request for runs without one where none has any.
        notes: what was done otherwise than asked.
    """

    runs: Runs
    jobs: pd.DataFrame
    static_bytes: float
    bins: BinSettings
    notes: tuple[str, ...]


@dataclass(frozen=True)
class PredictorData:
    """What models of a task are trained and tested on.

    Attributes:
        task: its runs.
        edges_bytes: (n_bins,) rising.
        bins: (n_runs,) true bin of every run; the last one for runs above the top edge.
        learning: positions of the runs that models learn from.
        inner: the same split once more, in positions of `learning`: training and validation.
        test: positions of the test runs.
        facts: the inputs.
        encoder: fitted on the training part.
        learning_rows: encoded.
        test_inputs: (n_test, n_columns).
        optimal_improvement: time-based saving if every run came into its own bin.
        notes: what a reader must know.
    """

    task: TaskRuns
    edges_bytes: Floats
    bins: Ints
    learning: Ints
    inner: TwoParts
    test: Ints
    facts: Facts
    encoder: RunEncoder
    learning_rows: LearningRows
    test_inputs: Floats
    optimal_improvement: float
    notes: tuple[str, ...]


def predictor_data(jobs: pd.DataFrame, settings: PredictorSettings) -> PredictorData:
    """Return the runs of a task in parts, their bins and inputs.

    In corrected mode the edges come from the learning part alone, so that the test runs are new to them, too.

    Raises:
        SettingsError: for a task or an input that cannot be.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: with fewer than 10 runs.
    """
    task = _task_runs(jobs, settings)
    edges, learning, test = _edges_and_parts(task, settings)
    true = np.minimum(np.searchsorted(edges, task.runs.used_bytes), len(edges) - 1).astype(np.int64)
    facts = facts_of(task.jobs, settings.before_the_run, settings.after_the_run)
    inner = split_by_bin(true[learning], settings.validation_share, settings.seed + 1)
    encoder = fit_encoder(facts.table.iloc[learning[inner.kept]], facts.inputs)
    learned = LearningRows(encoder.encode(facts.table.iloc[learning]), true[learning])
    rows = np.arange(len(true)) if settings.mode == FAITHFUL else test
    return PredictorData(
        task=task,
        edges_bytes=edges,
        bins=true,
        learning=learning,
        inner=inner,
        test=test,
        facts=facts,
        encoder=encoder,
        learning_rows=learned,
        test_inputs=encoder.encode(facts.table.iloc[test]),
        optimal_improvement=_optimal(task, edges, rows),
        notes=(*task.notes, *facts.notes, *_part_notes(task, edges, true, test)),
    )


def run_hours(runs: Runs) -> Floats:
    """Return (n_runs,) hours, or 1 for every run where the clock has 0 for all of them."""
    return runs.hours if runs.hours.sum() > 0 else np.ones(len(runs))


def _task_runs(jobs: pd.DataFrame, settings: PredictorSettings) -> TaskRuns:
    bins, notes = settings.bins, []
    runs = runs_of(jobs, bins.target)
    runs = runs.of(bins.task) if bins.task else runs
    if np.isnan(runs.requested_bytes).all() and not bins.request_bytes:
        bins = replace(bins, request_bytes=float(runs.used_bytes.max()))
        notes.append("no run has a request: savings compare with the largest use, given to every run")
    elif not bins.request_bytes and np.isnan(runs.requested_bytes).any():
        known = ~np.isnan(runs.requested_bytes)
        notes.append(f"{int((~known).sum()):,} run(s) without a request are left out")
        runs = runs.take(known)
    if len(runs) < FEWEST_RUNS:
        raise NotEnoughData(f"{bins.task or 'the table'} has {len(runs)} usable runs; training needs {FEWEST_RUNS}")
    if len(runs) > MOST_RUNS:
        notes.append(f"{MOST_RUNS:,} of {len(runs):,} runs were drawn; more would not fit a support vector machine")
        chosen = np.random.default_rng(settings.seed).choice(len(runs), MOST_RUNS, replace=False)
        runs = runs.take(np.sort(chosen).astype(np.int64))
    if not runs.hours.sum() > 0:
        notes.append("every run time is 0, so every run counts as one hour")
    requested = np.nan_to_num(runs.requested_bytes, nan=bins.request_bytes)
    static = float(max(requested.max(), runs.used_bytes.max()))
    return TaskRuns(runs, jobs.iloc[runs.rows], static, bins, tuple(notes))


def _edges_and_parts(task: TaskRuns, settings: PredictorSettings) -> tuple[Floats, Ints, Ints]:
    """Return the edges, and positions of the learning and the test runs."""
    used, share, seed = task.runs.used_bytes, settings.test_share, settings.seed
    if task.bins.edges_bytes or settings.mode == FAITHFUL:
        edges = _given(task) if task.bins.edges_bytes else _searched(task, np.arange(len(used)))
        true = np.minimum(np.searchsorted(edges, used), len(edges) - 1).astype(np.int64)
        parts = split_by_bin(true, share, seed)
        return edges, parts.kept, parts.held_out
    parts = split_by_use(used, share, seed)
    return _searched(task, parts.kept), parts.kept, parts.held_out


def _searched(task: TaskRuns, rows: Ints) -> Floats:
    return edge_choices(bin_runs(task.jobs.iloc[rows], task.bins), task.bins)[-1].edges_bytes


def _given(task: TaskRuns) -> Floats:
    runs = task.runs
    sized = SizedRuns(runs.used_bytes, np.full(len(runs), task.static_bytes), runs.hours)
    return np.array(effect_of_edges(sized, task.bins.edges_bytes).edges_bytes)


def _optimal(task: TaskRuns, edges: Floats, rows: Ints) -> float:
    used, hours = task.runs.used_bytes[rows], run_hours(task.runs)[rows]
    places = np.searchsorted(edges, used)
    kept = np.where(places == len(edges), task.static_bytes, edges[np.minimum(places, len(edges) - 1)])
    return saved_share(kept, np.full(len(rows), task.static_bytes), hours)


def _part_notes(task: TaskRuns, edges: Floats, true: Ints, test: Ints) -> tuple[str, ...]:
    notes, k = [], task.bins.k
    if len(edges) < k and not task.bins.edges_bytes:
        notes.append(f"{len(edges)} bin(s) instead of {k}: the runs need no more sizes")
    counts, tested = np.bincount(true, minlength=len(edges)), np.bincount(true[test], minlength=len(edges))
    for b, (n, t) in enumerate(zip(counts.tolist(), tested.tolist(), strict=True)):
        if not n:
            notes.append(f"no run belongs into bin {b + 1}")
        elif not t:
            notes.append(f"bin {b + 1} has {n} run(s), too few for one of them to be tested")
    above = int((task.runs.used_bytes[test] > edges[-1]).sum())
    if above:
        notes.append(f"{above} test run(s) use more than the top edge: they fail in the last bin, too")
    return tuple(notes)
