"""Training and test parts inside each workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Ints


@dataclass(frozen=True)
class Split:
    """Positions of runs.

    Attributes:
        train: to learn from.
        test: runs of the same workloads that are held back.
    """

    train: Ints
    test: Ints


def stratified_splits(workloads: Sequence[str], n_splits: int, test_share: float, seed: int) -> tuple[Split, ...]:
    """Return splits that hold back max(1, round(share * n)) runs of each workload with at least two.

    A workload with one run has it in training. A proportional rule over all rows would leave some workloads of four
    runs with two to learn from, too few for a threshold.
    """
    labels, draw = np.array(workloads), np.random.default_rng(seed)
    return tuple(_split(labels, test_share, draw) for _ in range(n_splits))


def _split(labels: Ints, test_share: float, draw: np.random.Generator) -> Split:
    test = []
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        n_test = min(len(own) - 1, max(1, round(test_share * len(own))))
        test.append(draw.choice(own, n_test, replace=False))
    held = np.sort(np.concatenate(test))
    return Split(np.setdiff1d(np.arange(len(labels)), held), held)
