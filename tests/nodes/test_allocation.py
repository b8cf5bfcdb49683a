"""Tarema's allocation on clusters whose best placement is known."""

import numpy as np
import pytest

from workprof.core.errors import SettingsError
from workprof.nodes.allocation import Cluster, group_ranks, makespan, preferred_groups, task_labels

# a group good at computing and one good at memory, two nodes each
SPLIT = Cluster(np.array([0, 0, 1, 1]), np.array([[2.0, 1.0], [1.0, 2.0]]), np.ones(4, dtype=np.int64))
USED = np.array([[90.0, 10.0], [10.0, 90.0]] * 10)
RUNTIMES = np.array([[10.0, 20.0], [20.0, 10.0]] * 10)


def test_groups_are_ranked_from_the_weakest_and_equal_ones_alike():
    assert group_ranks(np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 4.0]])).tolist() == [[3, 1], [1, 1], [2, 3]]


def test_labels_follow_the_share_of_the_cluster_that_each_group_holds():
    cluster = Cluster(np.array([0, 1, 1, 1]), np.array([[1.0], [2.0]]), np.ones(4, dtype=np.int64))
    labels = task_labels(np.arange(101.0)[:, None], cluster)[:, 0]
    assert (labels == 1).sum() == 26  # a quarter of the tasks, the border itself among them
    assert (np.diff(labels) >= 0).all()
    assert task_labels(np.array([[np.nan], [1.0]]), cluster)[0, 0] == 0


def test_a_task_goes_where_ranks_and_labels_agree_and_on_ties_to_the_stronger():
    order = preferred_groups(task_labels(USED, SPLIT), SPLIT)
    assert order[:, 0].tolist() == [0, 1] * 10
    unknown = preferred_groups(
        np.zeros((1, 1), dtype=np.int64), Cluster(SPLIT.group, np.array([[1.0], [2.0]]), SPLIT.places)
    )
    assert unknown[0].tolist() == [1, 0]


def test_the_matching_placement_is_the_shortest():
    # 20 tasks of 10 s on four places, each where it is fast: 50 s, and no other placement is shorter
    assert makespan(RUNTIMES, SPLIT, "tarema", USED) == 50.0
    assert makespan(RUNTIMES, SPLIT, "fastest-first", USED) >= 50.0
    assert np.mean([makespan(RUNTIMES, SPLIT, "random", USED, seed) for seed in range(20)]) > 60.0
    with pytest.raises(SettingsError, match="policy is 'best'"):
        makespan(RUNTIMES, SPLIT, "best", USED)
