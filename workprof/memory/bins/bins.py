"""Bins of one task: the edges that a search finds (or that were given) and what they would save."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing
from workprof.memory.bins.effect import BinEffect, SizedRuns, effect_of_edges
from workprof.memory.bins.search import EdgeChoice, best_edges, needs_of
from workprof.memory.bins.settings import COST, COUNT, EXACT, PINNED, STRIDE, BinSettings
from workprof.memory.bins.stride_search import exhaustive_trials, stride_edges, usual_stride_bytes
from workprof.memory.flat_requests import requesting, with_flat_request
from workprof.memory.runs import Runs, runs_of
from workprof.memory.usage_curve import UsageCurve, usage_curve
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

GIVEN = "given"
"""Name of the search when the edges were given."""


@dataclass(frozen=True)
class Bins:
    """Bin edges of a task.

    Attributes:
        settings: as asked.
        edges_bytes: increasing, the headroom in them; fewer than k where the runs need fewer sizes.
        optimal_improvement: see `BinEffect`.
        time_based_optimal_improvement: see `BinEffect`.
        search: 'exact', 'stride' or 'given'.
        stride_bytes: of the stride search, else 0.
        n_trials: choices that the thesis' exhaustive stride search would try; 0 for the other searches.
        static_bytes: the one request that the optimal improvements compare with.
        effect: all figures.
        usage: the ECDF of what the runs used.
        left_out: reason -> rows.
        messages: what was done otherwise than asked.
        seconds: of the computation.
    """

    settings: BinSettings
    edges_bytes: tuple[float, ...]
    optimal_improvement: float
    time_based_optimal_improvement: float
    search: str
    stride_bytes: float
    n_trials: float
    static_bytes: float
    effect: BinEffect
    usage: UsageCurve
    left_out: dict[str, int]
    messages: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class BinRuns:
    """The runs of a task, ready for a search.

    Attributes:
        runs: those that have a request.
        weights: (n,) by which the search counts them.
        left_out: reason -> rows.
        messages: what was done otherwise than asked.
    """

    runs: SizedRuns
    weights: Floats
    left_out: dict[str, int]
    messages: tuple[str, ...]


def bins_of(frames: Mapping[str, pd.DataFrame], settings: BinSettings, progress: Progress = silent) -> Bins:
    """Return bins of a task.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; `price_column` where costs are asked for.
        settings: of the search, or the edges.
        progress: told once.

    Raises:
        SettingsError: for a task that is not there, or edges that are no sizes.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run of the task has a request.
    """
    started = time.perf_counter()
    progress(None, "Looking for the best bins")
    found = bin_runs(frames["jobs"], settings)
    runs, given = found.runs, bool(settings.edges_bytes)
    edges = settings.edges_bytes if given else tuple(edge_choices(found, settings)[-1].edges_bytes.tolist())
    effect = effect_of_edges(runs, edges)
    stride = _stride(runs, settings) if settings.search == STRIDE and not given else 0.0
    return Bins(
        settings=settings,
        edges_bytes=effect.edges_bytes,
        optimal_improvement=effect.optimal_improvement,
        time_based_optimal_improvement=effect.time_based_optimal_improvement,
        search=GIVEN if given else settings.search,
        stride_bytes=stride,
        n_trials=exhaustive_trials(stride, runs.static_bytes, settings.k) if stride else 0.0,
        static_bytes=runs.static_bytes,
        effect=effect,
        usage=usage_curve(runs.used_bytes, runs.hours),
        left_out=found.left_out,
        messages=(*found.messages, *effect.messages),
        seconds=time.perf_counter() - started,
    )


def edge_choices(found: BinRuns, settings: BinSettings) -> tuple[EdgeChoice, ...]:
    """Return the best edges for 1 .. k bins; every run has its headroom in the bin that it comes into."""
    runs = found.runs
    needed = needed_bytes(runs.used_bytes, settings)
    top = runs.static_bytes if settings.top == PINNED else None
    if settings.search == EXACT:
        return best_edges(needs_of(needed, found.weights, top), settings.k)
    stride = _stride(runs, settings)
    if top is None:
        top = float(np.ceil(needed.max() / stride) * stride)
    return stride_edges(needed, found.weights, stride, top, settings.k)


def needed_bytes(used_bytes: Floats, settings: BinSettings) -> Floats:
    """Return (n,) uses with headroom, rounded up to the step."""
    wanted = used_bytes * (1.0 + settings.headroom)
    return np.ceil(wanted / settings.step_bytes) * settings.step_bytes if settings.step_bytes else wanted


def bin_runs(jobs: pd.DataFrame, settings: BinSettings) -> BinRuns:
    """Return the runs of the settings' task that have a request, and their weights."""
    runs = runs_of(jobs, settings.target)
    if settings.task:
        runs = runs.of(settings.task)
    runs = requesting(with_flat_request(runs, settings.request_bytes))
    weights, messages = _weights(jobs, runs, settings)
    sized = SizedRuns(runs.used_bytes, runs.requested_bytes, runs.hours)
    return BinRuns(sized, weights, dict(runs.left_out), messages)


def _weights(jobs: pd.DataFrame, runs: Runs, settings: BinSettings) -> tuple[Floats, tuple[str, ...]]:
    ones = np.ones(len(runs))
    if settings.weight == COUNT:
        return ones, ()
    weights, messages = runs.hours, []
    if settings.weight == COST and settings.price_column:
        if settings.price_column not in jobs.columns:
            raise ColumnMissing(f"the table has no column {settings.price_column}; leave the price column empty")
        prices = numbers_of(jobs, settings.price_column)[runs.rows]
        priced = prices >= 0
        if not priced.all():
            messages.append(f"{int((~priced).sum()):,} runs without a price count nothing")
        weights = weights * np.where(priced, prices, 0.0)
    if not weights.sum() > 0:
        return ones, (*messages, f"no run has a {settings.weight} above 0, so every run counts as one")
    return weights, tuple(messages)


def _stride(runs: SizedRuns, settings: BinSettings) -> float:
    return settings.stride_bytes or usual_stride_bytes(runs.static_bytes)
