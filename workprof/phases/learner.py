"""The learner of the paper: boosted trees on flattened fingerprints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.errors import NotEnoughData
from workprof.phases.fingerprints import Fingerprint, padded

N_TREES = 100
DEPTH = 3
ROW_SHARE = 0.8
"""On few rows and thousands of columns; a square root of the columns per split is as good as all and much quicker."""


@dataclass(frozen=True)
class Learner:
    """A fitted learner; in memory only.

    Attributes:
        trees: the model.
        phases: to which every fingerprint is cut or padded: the most of the training runs.
        workloads: in the order of the columns of `probabilities`.
    """

    trees: Any
    phases: int
    workloads: tuple[str, ...]

    def probabilities(self, prints: Sequence[Fingerprint]) -> Floats:
        """Return the probability of each workload (n_runs, n_workloads)."""
        result: Floats = self.trees.predict_proba(flattened(prints, self.phases))
        return result

    def truncated(self, prints: Sequence[Fingerprint]) -> Bools:
        """Return which runs had more phases than the training runs and were cut (n_runs,)."""
        return np.array([one.phases > self.phases for one in prints])


def fit_learner(prints: Sequence[Fingerprint], seed: int) -> Learner:
    """Return a learner of labelled fingerprints.

    Raises:
        NotEnoughData: when there are fewer than two workloads.

    Source:
        CWD: gradient-boosted trees on fingerprints, "binary" while its Table III has several classes; ours has several.
    """
    phases = max(one.phases for one in prints)
    labels = np.array([one.workload for one in prints])
    trees = boosted(flattened(prints, phases), labels, seed)
    return Learner(trees, phases, tuple(str(name) for name in trees.classes_))


def boosted(features: Floats, labels: Any, seed: int) -> Any:
    """Return boosted trees as the learner and its baseline without phases have them.

    Raises:
        NotEnoughData: when there are fewer than two workloads.
    """
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415  heavy

    if len(np.unique(labels)) < 2:
        raise NotEnoughData("one workload gives nothing to tell apart; give at least two")
    trees = GradientBoostingClassifier(
        n_estimators=N_TREES, max_depth=DEPTH, max_features="sqrt", subsample=ROW_SHARE, random_state=seed
    )
    return trees.fit(features, labels)


def flattened(prints: Sequence[Fingerprint], phases: int) -> Floats:
    """Return fingerprints as rows (n_runs, n_counters * phases * k)."""
    return np.array([padded(one.values, phases).ravel() for one in prints])
