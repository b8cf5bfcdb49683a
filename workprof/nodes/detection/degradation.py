"""Without labels: how rare a run's distance from its history is among past runs, as a p-value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.nodes.detection.scene import Scene


def p_values(past: Floats, scores: Floats) -> Floats:
    """Return (1 + past scores at least as large) / (past scores + 1) of each score.

    Source: perona.md 4.3. Equal to the rank test of exchangeable runs, so at most alpha of normal runs lie at or below
    alpha.
    """
    ordered = np.sort(past)
    at_least = len(ordered) - np.searchsorted(ordered, scores, side="left")
    return np.asarray((1 + at_least) / (len(ordered) + 1))


def rarity(scene: Scene, past: Floats, false_alarm_share: float) -> Callable[[Floats, Ints], tuple[Floats, Bools]]:
    """Return the verdict by p-value among the training runs of the same benchmark.

    Args:
        scene: the runs.
        past: (n_scored,) scores of training runs.
        false_alarm_share: a run with a p-value up to this is flagged.
    """
    kinds = scene.table.type_id[scene.rows]

    def verdict(scores: Floats, rows: Ints) -> tuple[Floats, Bools]:
        told = np.ones(len(rows))
        for kind in np.unique(scene.table.type_id[rows]).tolist():
            here = scene.table.type_id[rows] == kind
            told[here] = p_values(past[(kinds == kind) & ~scene.anomalous], scores[here])
        return told, told <= false_alarm_share

    return verdict
