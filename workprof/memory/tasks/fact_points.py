"""One fact against the use of memory: points for a scatter plot, or a box for every category."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing, NotEnoughData
from workprof.memory.runs import runs_of
from workprof.memory.tasks.boxes import Box, box_of
from workprof.memory.tasks.facts import CATEGORY, NUMBER, is_numeric, known_when
from workprof.progress import Progress, silent
from workprof.units import GB

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 2_000
MOST_BOXES = 12
OTHER = "other"


@dataclass(frozen=True)
class FactPointsSettings:
    """Which fact.

    Attributes:
        column: of the table.
        task: name, '' = all tasks.
        target: what counts as use, one of `USAGE_COLUMNS`.
        seed: of the draw, where there are too many points.
    """

    column: str
    task: str = ""
    target: str = "peak_rss"
    seed: int = 0


@dataclass(frozen=True)
class FactPoints:
    """One fact against the use.

    Attributes:
        settings: as asked.
        kind: 'number' or 'category'.
        known: 'before the run', 'after the run' or 'unsure'.
        values: (n_points,) of a number; empty for a category.
        used_gb: (n_points,) use of the same runs; the largest and the smallest use are always there.
        boxes: of the most frequent categories, the last one 'other'; empty for a number.
        n: runs with a value.
        n_missing: runs without.
        seconds: of the computation.
    """

    settings: FactPointsSettings
    kind: str
    known: str
    values: Floats
    used_gb: Floats
    boxes: tuple[Box, ...]
    n: int
    n_missing: int
    seconds: float


def fact_points_of(
    frames: Mapping[str, pd.DataFrame], settings: FactPointsSettings, progress: Progress = silent
) -> FactPoints:
    """Return the points or boxes of one column.

    Raises:
        ColumnMissing: when the column is absent.
        SettingsError: when the task is.
        NotEnoughData: when no run has a value.
    """
    started = time.perf_counter()
    progress(None, "Reading the values")
    jobs = frames["jobs"]
    if settings.column not in jobs.columns:
        raise ColumnMissing(f"the table has no column {settings.column}; choose another fact")
    runs = runs_of(jobs, settings.target)
    runs = runs.of(settings.task) if settings.task else runs
    given = jobs[settings.column].iloc[runs.rows]
    numeric = is_numeric(given)
    there = ~np.isnan(numbers_of(jobs, settings.column)[runs.rows]) if numeric else given.notna().to_numpy(dtype=bool)
    if not there.any():
        raise NotEnoughData(f"none of {len(runs):,} runs has a value of {settings.column}; choose another fact")
    rows, used = runs.rows[there], runs.used_bytes[there] / GB
    shown = _drawn(used, settings.seed) if numeric else np.empty(0, dtype=np.int64)
    return FactPoints(
        settings=settings,
        kind=NUMBER if numeric else CATEGORY,
        known=known_when(settings.column),
        values=numbers_of(jobs, settings.column)[rows[shown]] if numeric else np.empty(0),
        used_gb=used[shown],
        boxes=() if numeric else _boxes(given[there].astype("object").map(str).to_numpy(dtype=object), used),
        n=len(rows),
        n_missing=len(runs) - len(rows),
        seconds=time.perf_counter() - started,
    )


def _drawn(used: Floats, seed: int) -> Ints:
    """Return the places of at most `MOST_POINTS` runs, the two extremes among them, in order of the table."""
    if len(used) <= MOST_POINTS:
        return np.arange(len(used))
    drawn = np.random.default_rng(seed).choice(len(used), MOST_POINTS - 2, replace=False)
    return np.unique(np.append(drawn, [used.argmin(), used.argmax()])).astype(np.int64)


def _boxes(names: np.ndarray[tuple[int], np.dtype[np.object_]], used: Floats) -> tuple[Box, ...]:
    kinds, place, counts = np.unique(names, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    boxes = [box_of(str(kinds[code]), used[place == code]) for code in order[:MOST_BOXES]]
    rest = np.isin(place, order[MOST_BOXES:])
    return (*boxes, box_of(OTHER, used[rest])) if rest.any() else tuple(boxes)
