"""The published use of scores in a search for a cloud configuration: a bonus on the acquisition that fades."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workprof.arrays import Floats, Ints

TYPES_OF_RESOURCE = {
    "memory": ("memory-sysbench",),
    "cpu": ("cpu-sysbench",),
    "disk": ("disk-fio", "disk-ioping"),
    "network": ("network-qperf", "network-iperf3"),
}
BASE = 0.01
N_TYPES = 6
NODES_UNIT = 4.0


def utilisation(mean_percent: Floats, n_nodes: Ints) -> float:
    """Return how much a resource is used in profiled runs, 0-1.

    Args:
        mean_percent: (n_runs,) mean utilisation of each run, 0-100.
        n_nodes: (n_runs,) nodes of each run; runs on few nodes count more.

    Source: perona.md 4.1: (mean / 100)^(n / 4) per run, weighted by 4 / n.
    """
    shares = (mean_percent / 100) ** (n_nodes / NODES_UNIT)
    return float(np.average(shares, weights=NODES_UNIT / n_nodes))


def scaled_scores(scores: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the scores of each type divided by their largest absolute value over the candidates."""
    return {name: values / (float(np.abs(values).max(initial=0.0)) or 1.0) for name, values in scores.items()}


def acquisition_with_scores(
    acquisition: Floats, scores: Mapping[str, Floats], used: Mapping[str, float], n_profiled: int
) -> Floats:
    """Return (n_candidates,) acquisition raised by the scores of what the workload uses; the candidate is its argmax.

    Args:
        acquisition: (n_candidates,) of the search, 1 everywhere for the first points.
        scores: benchmark type -> (n_candidates,) scores, scaled by `scaled_scores`; a type that is absent scores 0.
        used: resource -> utilisation 0-1, see `utilisation`.
        n_profiled: runs profiled so far; the bonus fades as 1 / 6^max(1, n - 1).

    Source: perona.md 4.1, acq' = (acq + .01) (1 + sum u s / 6^max(1, m - 1)).
    """
    nothing = np.zeros(len(acquisition))
    bonus = sum(
        (
            used.get(resource, 0.0) * scores.get(name, nothing)
            for resource, types in TYPES_OF_RESOURCE.items()
            for name in types
        ),
        nothing,
    )
    raised: Floats = (acquisition + BASE) * (1 + bonus / N_TYPES ** max(1, n_profiled - 1))
    return raised
