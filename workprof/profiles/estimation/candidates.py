"""Three ways to a job's conditional quantiles, trained on the same past jobs: recent history, forest, boosting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints, Positions
from workprof.profiles.estimation.boosting import as_bytes, boost, boosted_quantiles, from_bytes
from workprof.profiles.estimation.cells import DEFAULT_BANDWIDTH_S, Cells, Past, recent_quantiles, take_cells
from workprof.profiles.estimation.design import Vocabulary, encode, history, learn_vocabulary
from workprof.profiles.estimation.forest import Forest, forest_quantiles, grow_forest, load_forest, shared_jobs
from workprof.profiles.features import draw_rows

if TYPE_CHECKING:
    import pandas as pd
    from xgboost import Booster

CANDIDATES = ("recent", "forest", "boosted")
LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
MEDIAN = 3
"""Position of the median in LEVELS."""

MODEL_ROWS = 20_000
"""Forest and boosting learn from at most this many jobs, drawn at random; history looks at all of them."""


@dataclass(frozen=True)
class Trained:
    """What the three ways keep; the forest's positions count within `sampled`.

    Attributes:
        fields: submit-time fields in use.
        past: history.
        vocabulary: of the design.
        forest: its trees and leaves.
        boosted: (n_bytes,) XGBoost JSON.
        sampled: (n_sampled,) positions in `past` that forest and boosting learned from.
    """

    fields: tuple[str, ...]
    past: Past
    vocabulary: Vocabulary
    forest: Forest
    boosted: NDArray[np.uint8]
    sampled: Ints


@dataclass(frozen=True)
class Loaded:
    """Trained candidates with their trees in memory."""

    trained: Trained
    forest: Booster
    boosted: Booster


@dataclass(frozen=True)
class Answers:
    """What the candidates say of some jobs.

    Attributes:
        quantiles: (n_candidates, n_rows, n_levels) of the log target.
        level: (n_rows,) history level that was reached, 0 = narrowest.
        count: (n_rows,) past jobs in that cell that were used.
    """

    quantiles: Floats
    level: Ints
    count: Ints


def train_candidates(jobs: pd.DataFrame, past: Past, fields: tuple[str, ...], seed: int) -> Loaded:
    """Return the three ways trained on past jobs.

    Args:
        jobs: the past jobs' rows.
        past: their cells, log targets and units.
        fields: submit-time fields in use.
        seed: of every draw.
    """
    vocabulary = learn_vocabulary(jobs, past.targets, fields)
    sampled = draw_rows(len(jobs), MODEL_ROWS, seed)
    cells = take_cells(past.cells, sampled)
    known = encode(jobs.iloc[sampled], vocabulary, cells.times)
    design = np.column_stack([known, history(past, cells, past.units[sampled])])
    values = past.targets[sampled]
    forest, trees = grow_forest(design, values, seed)
    boosted = boost(design, values, LEVELS, seed)
    return Loaded(Trained(fields, past, vocabulary, forest, as_bytes(boosted), sampled), trees, boosted)


def load_candidates(trained: Trained) -> Loaded:
    """Return kept candidates with their trees in memory."""
    return Loaded(trained, load_forest(trained.forest), from_bytes(trained.boosted))


def ask(loaded: Loaded, jobs: pd.DataFrame, asked: Cells, units: Ints) -> Answers:
    """Return what each candidate says.

    Args:
        loaded: the candidates.
        jobs: the rows that are asked about.
        asked: their cells.
        units: (n_rows,) their units among the past jobs', -1 where they are new.
    """
    trained = loaded.trained
    recent = recent_quantiles(trained.past, asked, units, LEVELS, DEFAULT_BANDWIDTH_S)
    design = design_of(loaded, jobs, asked, units)
    quantiles = [
        recent.quantiles,
        forest_quantiles(trained.forest, loaded.forest, design, LEVELS),
        boosted_quantiles(loaded.boosted, design),
    ]
    return Answers(np.stack(quantiles), recent.level, recent.count)


def design_of(loaded: Loaded, jobs: pd.DataFrame, asked: Cells, units: Ints) -> Floats:
    """Return the (n_rows, n_columns) inputs of forest and boosting."""
    trained = loaded.trained
    return np.column_stack([encode(jobs, trained.vocabulary, asked.times), history(trained.past, asked, units)])


def nearest_jobs(loaded: Loaded, design: Floats, count: int) -> tuple[Positions, Floats]:
    """Return the past jobs that weigh most in the forest's answer for one job, and their shares of it.

    Args:
        loaded: the candidates.
        design: (1, n_columns).
        count: at most this many.
    """
    shared = shared_jobs(loaded.trained.forest, loaded.forest, design)[0]
    jobs, times = np.unique(shared[shared >= 0], return_counts=True)
    order = np.argsort(-times, kind="stable")[:count]
    return loaded.trained.sampled[jobs[order]].astype(np.int32), times[order] / max(1, int(times.sum()))
