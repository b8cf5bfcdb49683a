"""The thesis' bins: three edges found once on the initial history, a class of bin predicted from the input."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.memory.bins.search import best_edges, needs_of
from workprof.memory.policies.preset import filled_requests
from workprof.memory.policies.sequence import Sequence
from workprof.memory.retry import RetrySettings, Sizes

N_BINS = 3
HEADROOM = 1.05


class ThesisBins:
    """Three edges by the exact search on the initial history, weighted by time, the top at the largest request.

    Inner edges are raised by 5 % (below the top); the class comes from log(1 + input) alone; a failed run goes to the
    next edge, beyond the top it is doubled. Nothing is learnt after the initial history.

    Source: the thesis' section 5 as in memory.md 2.2: boosted trees (40, depth 2) or a balanced SVM (C = 10).

    Args:
        model: 'trees' or 'svm'.
    """

    def __init__(self, model: str = "trees") -> None:
        self.name = "thesis_bins" if model == "trees" else f"thesis_bins_{model}"
        self._model = model

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Return the sizes of the predicted bins."""
        edges = pinned_edges(runs, retry, N_BINS)
        x = np.log1p(np.maximum(runs.inputs, 0.0))[:, None]
        true = np.searchsorted(edges, runs.used_bytes[: runs.n_known]).clip(max=len(edges) - 1)
        predicted = self._predicted(x, true, runs)
        return Sizes(edges[predicted], np.tile(edges, (runs.n_sized, 1)))

    def _predicted(self, x: Floats, true: Ints, runs: Sequence) -> Ints:
        if len(np.unique(true)) == 1:
            return np.full(runs.n_sized, true[0])
        model = _trees(runs.seed) if self._model == "trees" else _svm()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one class with a single run is no news here
            found: Ints = model.fit(x[: runs.n_known], true).predict(x[runs.n_known :])
        return found


def pinned_edges(runs: Sequence, retry: RetrySettings, n_bins: int) -> Floats:
    """Return the edges of the initial history: top = largest request, or largest use where that is greater."""
    n = runs.n_known
    used = runs.used_bytes[:n]
    asked = filled_requests(runs.known(n), retry)
    top = float(max(asked.max(), used.max()))
    edges = best_edges(needs_of(used, runs.hours[:n], top), n_bins)[-1].edges_bytes
    return np.append(np.minimum(edges[:-1] * HEADROOM, top), top)


def _trees(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415  heavy

    return GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=seed)


def _svm() -> Any:
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415  heavy
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415  heavy
    from sklearn.svm import SVC  # noqa: PLC0415  heavy

    return make_pipeline(StandardScaler(), SVC(C=10, class_weight="balanced"))
