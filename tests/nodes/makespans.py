"""How long tasks take on a cluster as a policy places them: what docs/results.md says of Tarema's allocation."""

import numpy as np

from workprof.nodes.allocation import group_ranks, preferred_groups, task_labels

TAREMA, FASTEST, RANDOM = "tarema", "fastest-first", "random"
POLICIES = (TAREMA, FASTEST, RANDOM)


def makespan(runtimes, cluster, policy, used, seed=0):
    """When the last task ends, each started in order as soon as there is a place; (n_tasks, n_groups) seconds.

    Of the free nodes Tarema takes that of the group which suits best by `used`, 'fastest-first' that of the most
    powerful group, 'random' any.
    """
    rng, power = np.random.default_rng(seed), group_ranks(cluster.scores).sum(axis=1)
    order = preferred_groups(task_labels(used, cluster), cluster)
    by_power = np.lexsort((np.arange(len(power)), -power))
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
