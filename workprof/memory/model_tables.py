"""The published Tables 7 to 11 for any task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import MOST_BINS
from workprof.memory.models import ModelResult, PredictorResult, train_predictors

if TYPE_CHECKING:
    import pandas as pd


PUBLISHED_K = (2, 3, 4)


@settings
class TableSettings:
    """Which numbers of bins the tables compare; the models' own number of bins and limits do not matter."""

    predictor: PredictorSettings = field(default_factory=PredictorSettings)
    k: Annotated[
        tuple[int, ...],
        Setting(
            "Numbers of bins, each once.", least=1, most=MOST_BINS, flag="--numbers", key="memory_numbers", some=True
        ),
    ] = PUBLISHED_K

    def __post_init__(self) -> None:
        if len(set(self.k)) < len(self.k):
            raise SettingsError(f"k is {self.k}; give each number of bins once")


@dataclass(frozen=True)
class ModelRow:
    """Tables 7 and 8: the sampling with the lowest u-score of one model and one number of bins."""

    k: int
    model: str
    sampling: str
    accuracy: float
    u_score: float


@dataclass(frozen=True)
class SamplingRow:
    """Tables 9 and 10: the u-score of one model, one sampling and one number of bins."""

    k: int
    model: str
    sampling: str
    done: str  # the sampling that was possible
    u_score: float


@dataclass(frozen=True)
class BinningRow:
    """Table 11, and the replay beside it: the model with the lowest u-score of one number of bins."""

    k: int
    edges_bytes: tuple[float, ...]
    model: str
    optimal_improvement: float
    accuracy: float
    u_rate: float
    u_rate_interval: Interval
    estimated_improvement: float
    replayed_improvement: float


@dataclass(frozen=True, repr=False)
class PredictorTables(Shown):
    """The tables of one task."""

    settings: TableSettings
    models: tuple[ModelRow, ...]  # Tables 7 and 8
    samplings: tuple[SamplingRow, ...]  # Tables 9 and 10
    binnings: tuple[BinningRow, ...]  # Table 11
    best_k_by_estimate: int  # the number of bins that the thesis' formula prefers; the smaller of equals
    best_k_by_replay: int  # the one that the replay prefers
    ranks_differ: bool  # whether the two put any two binnings in opposite order
    notes: tuple[str, ...]  # of every binning, with its number
    seconds: float  # of it all


def train_tables(
    frames: Mapping[str, pd.DataFrame], settings: TableSettings, progress: Progress = silent
) -> PredictorTables:
    """Tables 7-11 of a task; every binning is tested on the same runs unless the bins themselves decide them.

    Raises:
        SettingsError: for a task or an input that cannot be.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: with fewer than 10 usable runs.

    Source: The load-aware provisioning thesis, Tables 7 (task 1) and 8 (task 2), 9 (SVM), 10 (XGBoost) and 11. Its
    choice of models is not always that of the lowest u-score, which it calls the primary measure; ours is.
    """
    started = time.perf_counter()
    results = []
    for place, k in enumerate(settings.k):

        def report(share: float | None, message: str, place: int = place, k: int = k) -> None:
            progress(None if share is None else (place + share) / len(settings.k), f"{k} bins: {message}")

        bins = replace(settings.predictor.bins, k=k, edges_bytes=())
        results.append(train_predictors(frames, replace(settings.predictor, bins=bins), report))
    return tables_of(settings, tuple(results), time.perf_counter() - started)


def tables_of(settings: TableSettings, results: tuple[PredictorResult, ...], seconds: float = 0.0) -> PredictorTables:
    """The tables of results that are there, one for every number of bins in the settings."""
    pairs = list(zip(settings.k, results, strict=True))
    binnings = tuple(_binning(k, result) for k, result in pairs)
    turned = any(
        (a.estimated_improvement - b.estimated_improvement) * (a.replayed_improvement - b.replayed_improvement) < 0
        for i, a in enumerate(binnings)
        for b in binnings[:i]
    )
    return PredictorTables(
        settings=settings,
        models=tuple(
            ModelRow(k, best.model, best.sampling, best.accuracy, best.u_score)
            for k, result in pairs
            for best in (_lowest(result, model) for model in settings.predictor.models)
        ),
        samplings=tuple(
            SamplingRow(k, m.model, m.sampling, m.sampling_done, m.u_score)
            for k, result in pairs
            for m in result.models
        ),
        binnings=binnings,
        best_k_by_estimate=max(binnings, key=lambda row: row.estimated_improvement).k,
        best_k_by_replay=max(binnings, key=lambda row: row.replayed_improvement).k,
        ranks_differ=turned,
        notes=tuple(f"{k} bins: {note}" for k, result in pairs for note in result.notes),
        seconds=seconds,
    )


def _lowest(result: PredictorResult, model: str = "") -> ModelResult:
    """The result with the lowest u-score, of one model or of all; the more accurate of equals."""
    candidates = [m for m in result.models if not model or m.model == model]
    return min(candidates, key=lambda m: (m.u_score, -m.accuracy))


def _binning(k: int, result: PredictorResult) -> BinningRow:
    best = _lowest(result)
    return BinningRow(
        k=k,
        edges_bytes=tuple(result.edges_bytes.tolist()),
        model=best.name,
        optimal_improvement=result.optimal_improvement,
        accuracy=best.accuracy,
        u_rate=best.u_rate,
        u_rate_interval=best.u_rate_interval,
        estimated_improvement=best.estimated_improvement,
        replayed_improvement=best.replayed_improvement,
    )
