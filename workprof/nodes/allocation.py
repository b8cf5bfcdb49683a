"""Tarema's allocation: tasks labelled by what they used before, placed on the group of nodes that suits them best.

Groups are ranked in each resource. A task is labelled in each by where its past use lies among that of all tasks: the
borders are the shares of the cluster that the groups hold, the weakest first, so that a group with a quarter of the
cores gets the quarter of the tasks that use them least. A task goes to the group whose ranks differ least from its
labels, the more powerful one on ties, and to the next where no node is free.

Source: Bader et al., Tarema: Adaptive Resource Allocation for Scalable Scientific Workflows in Heterogeneous Clusters,
IEEE BigData 2021. Ours differs: capacity is counted in places for tasks, not in cores, and labels are of all tasks at
once, where the published one learns them as the workflow runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import SettingsError

TAREMA, FASTEST, RANDOM = "tarema", "fastest-first", "random"
POLICIES = (TAREMA, FASTEST, RANDOM)


@dataclass(frozen=True)
class Cluster:
    """Nodes in groups.

    Attributes:
        group: (n_nodes,) group of each node, from 0.
        scores: (n_groups, n_resources) of each group, higher is better.
        places: (n_nodes,) tasks that run on a node at a time.
    """

    group: Ints
    scores: Floats
    places: Ints


def group_ranks(scores: Floats) -> Ints:
    """Return (n_groups, n_resources) ranks from 1 = weakest; equal scores share the lower rank."""
    return np.asarray(1 + (scores[None, :, :] < scores[:, None, :]).sum(axis=1), dtype=np.int64)


def task_labels(used: Floats, cluster: Cluster) -> Ints:
    """Return (n_tasks, n_resources) labels from 1 = uses least; 0 where the use is not known.

    Args:
        used: (n_tasks, n_resources) past use of each task; NaN = not known.
        cluster: whose groups set the borders.
    """
    places = np.bincount(cluster.group, weights=cluster.places, minlength=len(cluster.scores))
    ranks, labels = group_ranks(cluster.scores), np.zeros(used.shape, dtype=np.int64)
    for resource in range(used.shape[1]):
        known = np.isfinite(used[:, resource])
        if not known.any():
            continue
        levels = np.unique(ranks[:, resource])
        shares = np.array([places[ranks[:, resource] == level].sum() for level in levels]) / places.sum()
        borders = np.quantile(used[known, resource], np.minimum(np.cumsum(shares)[:-1], 1.0))
        labels[known, resource] = levels[np.searchsorted(borders, used[known, resource], side="left")]
    return labels


def preferred_groups(labels: Ints, cluster: Cluster) -> Ints:
    """Return (n_tasks, n_groups) groups, the most suitable first; a resource without a label does not count."""
    ranks = group_ranks(cluster.scores)
    apart = (np.abs(labels[:, None, :] - ranks[None, :, :]) * (labels[:, None, :] > 0)).sum(axis=2)
    power = ranks.sum(axis=1)
    return np.asarray([np.lexsort((np.arange(len(power)), -power, row)) for row in apart], dtype=np.int64)


def makespan(runtimes: Floats, cluster: Cluster, policy: str, used: Floats, seed: int = 0) -> float:
    """Return when the last task ends, each started in order as soon as there is a place.

    Args:
        runtimes: (n_tasks, n_groups) seconds of each task on a node of each group.
        cluster: nodes.
        policy: one of `POLICIES`; of the free nodes Tarema takes that of the group which suits best, 'fastest-first'
            that of the most powerful group, 'random' any.
        used: (n_tasks, n_resources) for the labels.
        seed: of the random choice.

    Raises:
        SettingsError: for another policy.
    """
    if policy not in POLICIES:
        raise SettingsError(f"policy is {policy!r}; choose from {', '.join(POLICIES)}")
    rng, power = np.random.default_rng(seed), group_ranks(cluster.scores).sum(axis=1)
    order = preferred_groups(task_labels(used, cluster), cluster)
    by_power: NDArray[Any] = np.lexsort((np.arange(len(power)), -power))
    node = np.repeat(np.arange(len(cluster.group)), cluster.places)  # one entry for each place
    free_at = np.zeros(len(node))
    for task, row in enumerate(runtimes):
        now = free_at.min()
        free = np.flatnonzero(free_at <= now)
        groups = cluster.group[node[free]]
        wanted = order[task] if policy == TAREMA else by_power
        place = rng.choice(free) if policy == RANDOM else free[np.argmin(np.argsort(wanted)[groups])]
        free_at[place] = now + row[cluster.group[node[place]]]
    return float(free_at.max())
