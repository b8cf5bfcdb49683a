"""Three ways to a job's conditional quantiles, trained on the same past jobs: recent history, forest, boosting.

Three further ways give a point only: the median of the job's cell, and boosting on metadata and plan, with XGBoost's
defaults and in small steps. None looks at time or recent history, so none is misled where these have changed.

The quantile forest grows trees on the log target and keeps past jobs in every leaf (after Meinshausen 2006). The
conditional distribution of a job is made of the past jobs that share its leaves, so that any quantile of it can be
read, and the jobs that count most are its nearest past jobs. Unlike the original, a leaf keeps at most six jobs drawn
at random: the quantiles are those of the same distribution with a little noise, in constant memory per leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints, Positions
from workprof.forecasts.boosting import from_json_bytes, to_json_bytes
from workprof.forecasts.history import (
    BANDWIDTHS_S,
    COLUMNS_OF_TIME,
    HISTORY_COLUMNS,
    HISTORY_LEVELS,
    Cells,
    Past,
    Recent,
    Vocabulary,
    backoff_medians,
    encode,
    history,
    learn_vocabulary,
    recent_quantiles,
    take_cells,
)
from workprof.profiles.features import draw_rows

if TYPE_CHECKING:
    import pandas as pd
    from xgboost import Booster

CANDIDATES = ("recent", "forest", "boosted")
POINTS = (*CANDIDATES, "backoff_medians", "boosted_plain", "boosted_slow")
"""What gives a point: the candidates' medians, and the three ways that know no distribution."""

LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
MEDIAN = 3
"""Position of the median in LEVELS."""
OF_HISTORY = np.searchsorted(LEVELS, HISTORY_LEVELS)
"""Positions of the history's levels."""

TREE_THREADS = 1
"""Two threads that wait for each other on a busy machine took 20 times as long as one (2 cores, load 5). XGBoost reads
tables and labels with all of them unless its own setting says otherwise: 15,000 rows in 16 to 30 ms of processor time
instead of 2."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """XGBoost reads and predicts with `TREE_THREADS` in this thread."""
    import xgboost  # noqa: PLC0415  heavy

    with xgboost.config_context(nthread=TREE_THREADS):
        yield


ROUNDS = 30
LEARNING_RATE = 0.25
BOOSTED_LEAVES = 12
BOOSTED_BINS = 32
"""Against 50 rounds of .2 at depth 5, half of the columns and 64 bins three fifths of the time, and no larger a pinball
loss on a held-out third by job (mean of three draws): synthetic sample .288 (.313) for durations, .154 (.155) for
memory, .131 (.134) for CPU, .275 (.281) for GPU; development sample .248 (.248), .064 (.064), .109 (.112) and
.375 (.383)."""
BOOSTED_SHARE = 0.7
COLUMNS_SHARE = 1 / 3
"""Of the columns, that a split may look at (Breiman 2001, for regression): trees that look at all of them follow the
past jobs' names, which say little of a new job."""


def _grown(parameters: dict[str, Any], matrix: Any, n_rounds: int) -> Booster:
    """The trees of `xgboost.train`, whose callbacks and copies take an eighth of the time.

    There are no names of columns, which a booster looks at before every tree: a fifth of the time of a small one.
    """
    import xgboost  # noqa: PLC0415  heavy

    booster: Any = xgboost.Booster(parameters, [matrix])
    booster._assign_dmatrix_features = lambda _: None
    for at in range(n_rounds):
        booster.update(matrix, at)
    del booster._assign_dmatrix_features
    result: Booster = booster
    return result


Binned = Callable[[int], Any]
"""Number of bins -> the inputs and targets in so many bins a column, as XGBoost has them."""


def _binned(design: Floats, values: Floats) -> Binned:
    import xgboost  # noqa: PLC0415  heavy

    return cache(lambda n_bins: xgboost.QuantileDMatrix(design, values, max_bin=n_bins))


def boost(design: Floats, values: Floats, levels: Floats, seed: int, binned: Binned | None = None) -> Booster:
    """Boosted trees for the quantiles `levels` of (n_past,) log targets from (n_past, n_columns) inputs.

    `binned` is of the same inputs and targets, where they are binned for other trees too.
    """
    parameters = {
        "objective": "reg:quantileerror",
        "quantile_alpha": levels,
        "eta": LEARNING_RATE,
        "max_depth": 0,
        "max_leaves": BOOSTED_LEAVES,
        "grow_policy": "lossguide",
        "subsample": BOOSTED_SHARE,
        "colsample_bynode": COLUMNS_SHARE,
        "max_bin": BOOSTED_BINS,
        "tree_method": "hist",
        "seed": seed,
        "nthread": TREE_THREADS,
    }
    matrix = (binned or _binned(design, values))(BOOSTED_BINS)
    return _grown(parameters, matrix, ROUNDS)


PLAIN_ROUNDS = 100
SLOW = {"eta": 0.08, "max_depth": 5, "subsample": 0.7, "colsample_bynode": 0.5, "min_child_weight": 3, "max_bin": 64}
"""Small steps on half of the columns follow single jobs less than XGBoost's defaults do. Development sample by job,
p80 of the relative error: duration 1.18 (defaults 1.31), CPU .53 (.56), GPU .87 (.90), memory .27 (.27)."""


def boost_plain(design: Floats, values: Floats, seed: int) -> tuple[Booster, Booster]:
    """Boosted trees for (n_past,) log targets from (n_past, n_columns) inputs without history.

    The first have XGBoost's defaults, the second take small steps (`SLOW`).
    """
    import xgboost  # noqa: PLC0415  heavy

    matrix = xgboost.DMatrix(design[:, COLUMNS_OF_TIME:], values)
    parameters = {"nthread": TREE_THREADS, "tree_method": "hist"}
    slow = parameters | SLOW | {"seed": seed}
    return _grown(parameters, matrix, PLAIN_ROUNDS), _grown(slow, matrix, PLAIN_ROUNDS)


def plain_points(boosters: tuple[Booster, Booster], encoded: Floats) -> Floats:
    """(2, n_rows) log points from the (n_rows, n_columns) of `encode`."""
    import xgboost  # noqa: PLC0415  heavy

    matrix = xgboost.DMatrix(encoded[:, COLUMNS_OF_TIME:])
    return np.stack([booster.predict(matrix) for booster in boosters]).astype(np.float64)


def boosted_quantiles(booster: Booster, design: Floats) -> Floats:
    """(n_rows, n_levels) quantiles of the log target, in rising order (separate models may cross)."""
    import xgboost  # noqa: PLC0415  heavy

    quantiles = booster.predict(xgboost.DMatrix(design)).reshape(len(design), -1)
    return np.sort(quantiles.astype(np.float64), axis=1)


MANY_ROWS = 5_000
FOREST_OF_FEW = (60, 4, 64)
FOREST_OF_MANY = (30, 8, 32)
"""Trees, jobs that a leaf keeps, and bins of a column; the latter from MANY_ROWS on, in half the time of 50 trees with
64 bins to depth 14. Pinball loss on the same held-out thirds of the synthetic sample: these .298 for durations, .148
for memory, .123 for CPU, .259 for GPU; those .291, .152, .123, .259; where splits look at all columns .410, .164,
.151, .272."""
FEWEST_PER_LEAF = 3
LEAVES_AT_MOST = 2_000
"""A leaf holds at least 1/2,000 of the jobs: beyond 6,000 jobs more would not make the estimate better."""

FOREST_DEPTH = 12
FOREST_SHARE = 0.63
"""Of the jobs, without replacement, for each tree: what a bootstrap sample holds of them."""


@dataclass(frozen=True)
class Forest:
    """A grown forest."""

    model: NDArray[np.uint8]  # (n_bytes,) XGBoost JSON of the trees
    kept: Positions  # (n_trees, n_nodes, n_members) positions of past jobs in each leaf, -1 where there are fewer
    targets: Floats  # (n_past,) the past jobs' log target


def grow_forest(
    design: Floats, values: Floats, seed: int, binned: Binned | None = None, *, stored: bool = True
) -> tuple[Forest, Booster]:
    """The forest of (n_past, n_columns) inputs and (n_past,) log targets, and its loaded trees.

    `binned` is as in `boost`, `stored` as in `train_candidates`.
    """
    n_trees, n_members, bins = FOREST_OF_MANY if len(values) >= MANY_ROWS else FOREST_OF_FEW
    parameters = {
        "objective": "reg:squarederror",
        "eta": 1.0,
        "num_parallel_tree": n_trees,
        "max_depth": FOREST_DEPTH,
        "min_child_weight": max(FEWEST_PER_LEAF, len(values) // LEAVES_AT_MOST),
        "subsample": FOREST_SHARE,
        "colsample_bynode": COLUMNS_SHARE,
        "reg_lambda": 0.0,
        "tree_method": "hist",
        "max_bin": bins,
        "seed": seed,
        "nthread": TREE_THREADS,
    }
    booster = _grown(parameters, (binned or _binned(design, values))(bins), 1)
    kept = _rows_in_leaves(_leaves(booster, design), n_members, seed)
    return Forest(to_json_bytes(booster) if stored else NO_BYTES, kept, values), booster


def forest_quantiles(forest: Forest, booster: Booster, design: Floats, levels: Floats) -> Floats:
    """(n_rows, n_levels) quantiles of the log target, of what the leaves of the booster's trees keep."""
    quantiles = np.empty((len(design), len(levels)))
    step = 2_000
    for first in range(0, len(design), step):
        shared = shared_jobs(forest, booster, design[first : first + step])
        values = np.where(shared >= 0, forest.targets[shared], np.inf)
        quantiles[first : first + step] = _row_quantiles(values, (shared >= 0).sum(axis=1), levels)
    return quantiles


def _row_quantiles(values: Floats, counts: Ints, levels: Floats) -> Floats:
    """(n_rows, n_levels) linear quantiles of each row's `counts` smallest values, all rows at once."""
    ordered = np.sort(values, axis=1)
    at = levels * (counts[:, None] - 1)
    below = np.floor(at).astype(np.int64)
    above = np.minimum(below + 1, counts[:, None] - 1)
    low, high = np.take_along_axis(ordered, below, axis=1), np.take_along_axis(ordered, above, axis=1)
    return np.asarray(low + (at - below) * (high - low), dtype=np.float64)


def shared_jobs(forest: Forest, booster: Booster, design: Floats) -> Positions:
    """(n_rows, n_trees * n_members) past jobs in the leaves of each row, -1 where a leaf has fewer."""
    leaves = _leaves(booster, design)
    trees = np.arange(leaves.shape[1])
    return forest.kept[trees, leaves].reshape(len(design), -1)


def _leaves(booster: Booster, design: Floats) -> Ints:
    import xgboost  # noqa: PLC0415  heavy

    leaves = booster.predict(xgboost.DMatrix(design), pred_leaf=True)
    return leaves.reshape(len(design), -1).astype(np.int64)


def _rows_in_leaves(leaves: Ints, n_members: int, seed: int) -> Positions:
    """Up to `n_members` random rows of each leaf of each tree."""
    n_rows, n_trees = leaves.shape
    kept = np.full((n_trees, int(leaves.max()) + 1, n_members), -1, dtype=np.int32)
    draw = np.random.default_rng(seed)
    small = np.ascontiguousarray(leaves.T).astype(np.min_scalar_type(kept.shape[1]))  # 16 bits are sorted by counting
    for tree in range(n_trees):
        shuffled = draw.permutation(n_rows)
        order = shuffled[np.argsort(small[tree, shuffled], kind="stable")]
        sorted_leaves = leaves[order, tree]
        sizes = np.bincount(sorted_leaves)
        rank = np.arange(n_rows) - (np.cumsum(sizes) - sizes)[sorted_leaves]
        wanted = rank < n_members
        kept[tree, sorted_leaves[wanted], rank[wanted]] = order[wanted]
    return kept


NO_BYTES = np.zeros(0, dtype=np.uint8)
MODEL_ROWS = 20_000
"""Forest and boosting learn from at most this many jobs, drawn at random; history looks at all of them."""


@dataclass(frozen=True)
class Candidates:
    """What the three ways keep; the forest's positions count within `sampled`."""

    fields: tuple[str, ...]  # submit-time fields in use
    past: Past  # history
    vocabulary: Vocabulary  # of the design
    forest: Forest  # its trees and leaves
    boosted: NDArray[np.uint8]  # (n_bytes,) XGBoost JSON
    plain: NDArray[np.uint8]  # (n_bytes,) XGBoost JSON, of the point without history
    slow: NDArray[np.uint8]  # (n_bytes,) the same in small steps
    sampled: Ints  # (n_sampled,) positions in `past` that forest and boosting learned from


@dataclass(frozen=True)
class LoadedCandidates:
    """Trained candidates with their trees in memory."""

    trained: Candidates
    forest: Booster
    boosted: Booster
    plain: tuple[Booster, Booster]  # with XGBoost's defaults, in small steps


@dataclass(frozen=True)
class CandidateQuantiles:
    """Quantiles and points of some jobs' needs, by each candidate."""

    quantiles: Floats  # (n_candidates, n_rows, n_levels) of the log target
    points: Floats  # (n_points, n_rows) log points of `POINTS`
    level: Ints  # (n_rows,) history level that was reached, 0 = narrowest
    count: Ints  # (n_rows,) past jobs in that cell that were used


def take_rows(predicted: CandidateQuantiles, rows: Ints) -> CandidateQuantiles:
    """The quantiles of some of the rows."""
    return CandidateQuantiles(
        predicted.quantiles[:, rows], predicted.points[:, rows], predicted.level[rows], predicted.count[rows]
    )


@_one_thread()
def train_candidates(
    jobs: pd.DataFrame, past: Past, fields: tuple[str, ...], seed: int, *, stored: bool = True
) -> LoadedCandidates:
    """The three ways trained on past jobs; those that are not `stored` have no bytes of their trees."""
    vocabulary = learn_vocabulary(jobs, past.targets, fields)
    sampled = draw_rows(len(jobs), MODEL_ROWS, seed)
    cells = take_cells(past.cells, sampled)
    known = encode(jobs.iloc[sampled], vocabulary, cells.times)
    design = np.column_stack([known, history(past, cells, past.units[sampled])])
    values = past.targets[sampled]
    binned = _binned(design, values)
    forest, trees = grow_forest(design, values, seed, binned, stored=stored)
    boosted = boost(design, values, LEVELS, seed, binned)
    plain = boost_plain(known, values, seed)
    boosted_json, plain_json, slow_json = (
        to_json_bytes(booster) if stored else NO_BYTES for booster in (boosted, *plain)
    )
    trained = Candidates(fields, past, vocabulary, forest, boosted_json, plain_json, slow_json, sampled)
    return LoadedCandidates(trained, trees, boosted, plain)


def load_candidates(trained: Candidates) -> LoadedCandidates:
    """Stored candidates with their trees in memory."""
    stored = (trained.forest.model, trained.boosted, trained.plain, trained.slow)
    forest, boosted, plain, slow = map(from_json_bytes, stored)
    for booster in (forest, boosted, plain, slow):
        booster.set_param({"nthread": TREE_THREADS})
    return LoadedCandidates(trained, forest, boosted, (plain, slow))


@_one_thread()
def predict_quantiles(loaded: LoadedCandidates, jobs: pd.DataFrame, queries: Cells, units: Ints) -> CandidateQuantiles:
    """The quantiles of each candidate; `units` (n_rows,) are among the past jobs', -1 where they are new."""
    trained = loaded.trained
    found = recent_quantiles(trained.past, queries, units, LEVELS, *BANDWIDTHS_S)
    recent, design = found[0], design_of(loaded, jobs, queries, units, at_history(found))
    quantiles = [
        recent.quantiles,
        forest_quantiles(trained.forest, loaded.forest, design, LEVELS),
        boosted_quantiles(loaded.boosted, design),
    ]
    plain = plain_points(loaded.plain, design[:, :-HISTORY_COLUMNS])
    return with_points(np.stack(quantiles), backoff_medians(trained.past, queries), plain, recent)


def with_points(quantiles: Floats, backoff: Floats, plain: Floats, recent: Recent) -> CandidateQuantiles:
    """All candidates from their (n_candidates, n_rows, n_levels) quantiles and the other points.

    `backoff` (n_rows,) are medians of the cells, `plain` is (2, n_rows) of `plain_points`.
    """
    points = np.concatenate([quantiles[:, :, MEDIAN], backoff[None], plain])
    return CandidateQuantiles(quantiles, points, recent.level, recent.count)


def at_history(found: Sequence[Recent]) -> list[Recent]:
    """What was found at `LEVELS`, at those of the history."""
    return [Recent(one.level, one.count, one.quantiles[:, OF_HISTORY]) for one in found]


def design_of(
    loaded: LoadedCandidates, jobs: pd.DataFrame, queries: Cells, units: Ints, found: Sequence[Recent] = ()
) -> Floats:
    """The (n_rows, n_columns) inputs of forest and boosting; `found` as in `history`."""
    past, vocabulary = loaded.trained.past, loaded.trained.vocabulary
    return np.column_stack([encode(jobs, vocabulary, queries.times), history(past, queries, units, found)])


@_one_thread()
def nearest_jobs(loaded: LoadedCandidates, design: Floats, count: int) -> tuple[Positions, Floats]:
    """At most `count` past jobs that weigh most in the forest's answer for one job, and their shares of it."""
    shared = shared_jobs(loaded.trained.forest, loaded.forest, design)[0]
    jobs, times = np.unique(shared[shared >= 0], return_counts=True)
    order = np.argsort(-times, kind="stable")[:count]
    return loaded.trained.sampled[jobs[order]].astype(np.int32), times[order] / max(1, int(times.sum()))
