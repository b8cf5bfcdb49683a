"""How far apart runs of one workload lie, and from where on a run belongs to none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.phases.settings import MatchSettings

FEWEST_RUNS = 3
"""Fewer runs of a workload give no threshold: it can be the nearest only."""


@dataclass(frozen=True)
class Threshold:
    """Distances among the training runs of one workload.

    Attributes:
        workload: label.
        n_runs: of it in training.
        mean: of all pairs; NaN for a single run.
        sd: of its pairs, or of all workloads' pairs about their own means; NaN where there are too few runs.
    """

    workload: str
    n_runs: int
    mean: float
    sd: float

    @property
    def usable(self) -> bool:
        """Whether there are enough runs to accept or reject."""
        return self.n_runs >= FEWEST_RUNS


def thresholds_of(workloads: Sequence[str], distances: Floats, settings: MatchSettings) -> tuple[Threshold, ...]:
    """Return mean and deviation of the distances inside each workload.

    Args:
        workloads: label of each training run.
        distances: (n_runs, n_runs) of one measure.
        settings: pooled or own spread.

    Source:
        CWD: mean ± one standard deviation of the distances among runs of one workload, on 70 % of the runs. The pooled
        spread is ours: three runs are three pairs.
    """
    labels = np.array(workloads)
    pairs = {name: _pairs(distances[np.ix_(labels == name, labels == name)]) for name in sorted(set(workloads))}
    spread = [own - own.mean() for own in pairs.values() if len(own) >= FEWEST_RUNS]
    pooled = float(np.concatenate(spread).std()) if spread else float("nan")
    return tuple(
        Threshold(
            name,
            int((labels == name).sum()),
            float(own.mean()) if len(own) else float("nan"),
            float("nan") if len(own) < FEWEST_RUNS else pooled if settings.pooled else float(own.std()),
        )
        for name, own in pairs.items()
    )


def chosen_c(
    workloads: Sequence[str], distances: Floats, thresholds: Sequence[Threshold], settings: MatchSettings
) -> float:
    """Return c: as set, or such that few training runs, each against the rest of its workload, would be rejected."""
    if settings.c is not None:
        return settings.c
    standing = own_standing(workloads, distances, thresholds)
    if not len(standing):
        return 1.0
    return float(np.quantile(standing, 1 - settings.false_rejects))


def own_standing(workloads: Sequence[str], distances: Floats, thresholds: Sequence[Threshold]) -> Floats:
    """Return (nearest distance to the rest of its workload - mean) / sd of each training run with a threshold."""
    labels, known = np.array(workloads), {one.workload: one for one in thresholds if one.usable}
    found = []
    for i, label in enumerate(workloads):
        if label in known:
            rest = (labels == label) & (np.arange(len(labels)) != i)
            found.append((float(distances[i, rest].min()) - known[label].mean) / max(known[label].sd, 1e-12))
    return np.array(found)


def accepts(threshold: Threshold, distance: float, c: float, *, two_sided: bool) -> bool | None:
    """Tell whether a distance is one of the workload's own; None = too few runs to tell."""
    if not threshold.usable:
        return None
    if two_sided and distance < threshold.mean - c * threshold.sd:
        return False
    return distance <= threshold.mean + c * threshold.sd


def _pairs(distances: Floats) -> Floats:
    result: Floats = distances[np.triu_indices(len(distances), 1)]
    return result
