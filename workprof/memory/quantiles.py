"""Sizes by an ensemble of quantile models times a safety factor, over the runs of all tasks.

Two gradient boostings, xgboost's and scikit-learn's histogram trees (LightGBM's algorithm), predict a high quantile of
a run's use from what is known of it at submission. Their mean or their larger one, times a factor, is the size. Which
of both and which factor cost least on the latest quarter of the known runs, which the models had not seen by then; the
models are then fitted on all.

Source: Blumenthal et al., arXiv 2604.18043. Ours differ: they predict a multiple of what the task has used, a label
counts by what runs with it used, and all is learned anew as runs end.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence as Several
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.memory.orders import Clock
from workprof.memory.policies import DEFAULT, Sequence
from workprof.memory.retry import RetrySettings, Sizes

QUANTILE = 0.95
FACTORS = (0.8, 0.9, 1.0, 1.05, 1.1, 1.2, 1.35, 1.5, 2.0)
VALIDATED = 0.25
"""Share of the known runs, the latest, on which way and factor are chosen."""

FEWEST_RUNS = 50
"""With fewer known runs of all tasks the size is the largest use seen."""

MOST_TIMES = 2.0
"""Of the task's largest known use: no first size is above."""

MOST_RUNS = 5_000
"""The latest known runs that models learn from."""

REFIT_GROWTH = 1.25
"""The models are fitted anew whenever the known runs have grown so many times."""

LATEST = 5
"""Runs of the task whose mean and largest use are inputs."""

ROUNDS, RATE, LEAF_RUNS = 60, 0.1, 5


class QuantileEnsemble:
    """The ensemble's sizes; after a failure the largest use seen, then doubled."""

    name = "quantile_ensemble"

    def __init__(self, foreseen: Mapping[str, Floats] | None = None) -> None:
        self._foreseen = foreseen or {}

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """What was foreseen for the runs to be sized; without that, by the runs of the task alone."""
        known = self._foreseen.get(runs.task)
        if known is None:
            own = Clock(runs.known_at.astype(np.float64) - 0.5, np.arange(len(runs), dtype=np.float64))
            known = foreseen_sizes((runs,), (own,), DEFAULT.price_runs)[runs.task]
        first, largest = known[runs.sized], runs.max_seen_bytes
        first = np.where(np.isfinite(first), np.minimum(first, MOST_TIMES * largest), largest)
        return Sizes(first, largest[:, None])


@dataclass
class _Past:
    """Logarithms of the uses of known runs."""

    n: int = 0
    total: float = 0.0
    largest: float = -math.inf
    latest: deque[float] = field(default_factory=lambda: deque(maxlen=LATEST))

    def add(self, use: float) -> None:
        self.n += 1
        self.total += use
        self.largest = max(self.largest, use)
        self.latest.append(use)

    @property
    def mean(self) -> float:
        return self.total / self.n if self.n else math.nan

    @property
    def traits(self) -> tuple[float, ...]:
        """Their number, then mean, largest, last, and mean and largest of the latest."""
        if not self.n:
            return (0.0, *(math.nan,) * 5)
        latest = self.latest
        return (float(self.n), self.mean, self.largest, latest[-1], sum(latest) / len(latest), max(latest))


@dataclass(frozen=True)
class Seen:
    """What was known of runs at submission: the tasks one after another, their rows as in their sequences."""

    # (n, n_inputs) logarithms of request and input, traits of the task's known uses, and the mean log use of the known
    # runs with the same value of each label; NaN = not known
    inputs: Floats
    usual: Floats  # (n,) mean log use of the task's known runs, else of all known ones; NaN before any
    order: Ints  # (n,) the runs as they become known
    known: Ints  # (n,) how many runs of all tasks were known


def seen_at_submission(runs: Several[Sequence], clocks: Several[Clock]) -> Seen:
    """What the known runs tell of every run at its own moment; of one that is not sized, just before it is known."""
    starts, names = np.cumsum([0, *map(len, runs)]), sorted({name for one in runs for name in one.labels})
    n = int(starts[-1])
    moment = np.full(n, np.nan)
    for one, clock, at in zip(runs, clocks, starts, strict=False):
        moment[at + one.sized] = clock.moment_s
    known_s = np.concatenate([clock.known_s for clock in clocks])
    order = np.argsort(known_s, kind="stable")
    task = np.repeat(np.arange(len(runs)), [len(one) for one in runs]).tolist()
    use = np.log(np.concatenate([one.used_bytes for one in runs])).tolist()
    codes = [np.column_stack([one.labels.get(name, np.full(len(one), -1)) for name in names]) for one in runs if names]
    labels = np.concatenate(codes).tolist() if codes else [[]] * n
    by_task: defaultdict[int, _Past] = defaultdict(_Past)
    by_label: defaultdict[tuple[int, int], _Past] = defaultdict(_Past)
    every = _Past()
    rows: list[tuple[float, ...]] = [()] * n
    usual, known = np.zeros(n), np.zeros(n, dtype=np.int64)

    def look(row: int) -> None:
        past = by_task[task[row]]
        usual[row], known[row] = (past if past.n else every).mean, every.n
        rows[row] = (*past.traits, *(by_label[label].mean if label[1] >= 0 else math.nan for label in _of(labels[row])))

    sized = np.flatnonzero(np.isfinite(moment))
    waiting = sized[np.argsort(moment[sized], kind="stable")].tolist()[::-1]
    for row in order.tolist():
        while waiting and moment[waiting[-1]] < known_s[row]:
            look(waiting.pop())
        if not math.isfinite(moment[row]):
            look(row)
        for past in (by_task[task[row]], every, *(by_label[one] for one in _of(labels[row]))):
            past.add(use[row])
    for row in waiting[::-1]:
        look(row)
    own = [np.column_stack([np.log(one.requested_bytes), np.log1p(np.maximum(one.inputs, 0.0))]) for one in runs]
    return Seen(np.column_stack([np.concatenate(own), np.array(rows)]), usual, order, known)


def _of(labels: list[int]) -> list[tuple[int, int]]:
    return list(enumerate(labels))


def foreseen_sizes(runs: Several[Sequence], clocks: Several[Clock], price_runs: float) -> dict[str, Floats]:
    """Task -> (n,) sizes of its runs, NaN where too few runs of all tasks were known.

    A failure costs so many mean runs where way and factor are chosen.
    """
    seen = seen_at_submission(runs, clocks)
    used, hours = (np.concatenate([getattr(one, name) for one in runs]) for name in ("used_bytes", "hours"))
    relative = seen.inputs.copy()
    relative[:, [0, *range(3, relative.shape[1])]] -= seen.usual[:, None]
    target, result = np.log(used) - seen.usual, np.full(len(used), np.nan)
    points = _fits(seen.known)
    for point, after in itertools.pairwise((*points, len(used) + 1)):
        asked = np.flatnonzero((seen.known >= point) & (seen.known < after))
        known = seen.order[:point][-MOST_RUNS:]
        known = known[np.isfinite(target[known])]
        if len(known) < FEWEST_RUNS:
            continue
        early, late = np.split(known, [len(known) - max(round(VALIDATED * len(known)), 1)])
        foreseen = _predicted(relative[early], target[early], relative[late])
        price = price_runs * float((used[known] * hours[known]).mean())
        largest = float(used[early].max())
        way, factor = chosen_way(foreseen, seen.usual[late], used[late], hours[late], largest, price)
        result[asked] = factor * np.exp(
            WAYS[way](_predicted(relative[known], target[known], relative[asked])) + seen.usual[asked]
        )
    parts = np.split(result, np.cumsum([len(one) for one in runs])[:-1])
    return {one.task: part for one, part in zip(runs, parts, strict=True)}


def _fits(known: Ints) -> list[int]:
    """Numbers of known runs at which the models are fitted."""
    points: list[int] = []
    for n in np.unique(known[known >= FEWEST_RUNS]).tolist():
        if not points or n >= points[-1] * REFIT_GROWTH:
            points.append(n)
    return points


def _mean(foreseen: Floats) -> Floats:
    """The mean of the predictions, not of their logarithms."""
    return np.asarray(np.log(np.exp(foreseen).mean(axis=0)))


def _larger(foreseen: Floats) -> Floats:
    return np.asarray(foreseen.max(axis=0))


WAYS = {"mean": _mean, "max": _larger}


def chosen_way(
    foreseen: Floats, usual: Floats, used: Floats, hours: Floats, largest: float, price: float
) -> tuple[str, float]:
    """The way and factor of least cost on some runs: what they hold, a failure with the attempt after it and its price.

    After a failure a run holds the largest use seen, or twice its size where that is more.
    """
    costs = {}
    for way, together in WAYS.items():
        for factor in FACTORS:
            size = factor * np.exp(together(foreseen) + usual)
            failed = size < used
            retried = np.where(failed, np.maximum(np.maximum(largest, 2 * size), used), 0.0)
            costs[way, factor] = float(((size + retried) * hours + price * failed).sum())
    return min(costs, key=lambda one: costs[one])


def _predicted(inputs: Floats, target: Floats, asked: Floats) -> Floats:
    """(2, n) quantiles of xgboost and of scikit-learn."""
    import xgboost  # noqa: PLC0415  heavy
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415  heavy

    varied = [len(np.unique(column[np.isfinite(column)])) > 1 for column in inputs.T]
    if not any(varied):
        return np.full((2, len(asked)), np.quantile(target, QUANTILE))
    inputs, asked = inputs[:, varied], asked[:, varied]
    options: dict[str, Any] = {"objective": "reg:quantileerror", "quantile_alpha": QUANTILE, "max_depth": 4}
    matrix = xgboost.QuantileDMatrix(inputs, target, nthread=1)
    booster = xgboost.train(options | {"eta": RATE, "nthread": 1, "seed": 0}, matrix, ROUNDS)
    trees = HistGradientBoostingRegressor(
        loss="quantile",
        quantile=QUANTILE,
        learning_rate=RATE,
        max_iter=ROUNDS,
        max_leaf_nodes=15,
        min_samples_leaf=LEAF_RUNS,
        early_stopping=False,
        random_state=0,
    )
    histogram = trees.fit(inputs, target).predict(asked)
    return np.array([booster.predict(xgboost.DMatrix(asked, nthread=1)), histogram])
