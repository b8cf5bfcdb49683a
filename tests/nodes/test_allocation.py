"""Tarema's allocation on clusters whose best placement is known."""

import numpy as np
import pandas as pd
import pytest

from tests.nodes.makespans import makespan
from tests.nodes.planted_nodes import runs_of
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.progress import silent
from workprof.core.records import pack, to_json, unpack
from workprof.nodes.allocation import (
    REPLAYED,
    Allocation,
    AllocationSettings,
    Cluster,
    allocate,
    group_ranks,
    preferred_groups,
    task_labels,
)
from workprof.nodes.groups import GroupSettings
from workprof.nodes.selection import RankSettings

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


SPEEDS = {
    "fast-1": {"cpu": 3.0, "memory": 1.0, "disk": 1.0},
    "fast-2": {"cpu": 2.9, "memory": 1.0, "disk": 1.0},
    "store-1": {"cpu": 1.0, "memory": 1.0, "disk": 5.0},
    "store-2": {"cpu": 1.0, "memory": 1.0, "disk": 4.9},
}
FEW = RankSettings(n_draws=100)


def jobs(**more):
    """Return 20 jobs that compute, 10 that move bytes, and 2 of no kind."""
    moves = np.arange(32) >= 20
    kind = pd.Series(np.where(moves, "move", "compute")).where(np.arange(32) < 30)
    table = {"kind": kind, "cpu_usage_percent": np.where(moves, 20.0, 380.0) + np.arange(32), "duration_s": 10.0}
    table |= {"read_bytes": np.where(moves, 1e9, 1e3), "write_bytes": np.where(moves, np.nan, 0.0)}
    return pd.DataFrame(table | more)


def allocated(table, speeds=SPEEDS, **settings):
    asked = AllocationSettings("hash", by="task_name", grouping=GroupSettings(FEW), **settings)
    return allocate({"runs": runs_of(speeds), "jobs": table}, asked, silent)


def test_each_kind_goes_to_the_nodes_that_are_good_at_what_it_uses():
    result = allocated(jobs())
    assert [one.nodes for one in result.groups] == [("fast-1", "fast-2"), ("store-1", "store-2")]
    assert [one.ranks for one in result.groups] == [{"cpu": 2, "disk": 1}, {"cpu": 1, "disk": 2}]
    assert [one.places for one in result.groups] == [2, 2]
    compute, move = result.kinds
    assert (compute.name, compute.n_jobs, compute.labels, compute.groups) == (
        *("compute", 20, {"cpu": 2, "disk": 1}, (0, 1)),
    )
    assert (move.name, move.n_jobs, move.labels, move.groups) == ("move", 10, {"cpu": 1, "disk": 2}, (1, 0))
    assert compute.used == {"cpu": 380.0 + 9.5, "disk": 100.0}
    assert [(one.aspect, one.source, one.unit) for one in result.resources] == [
        ("cpu", "cpu_usage_percent", "%"),
        ("disk", "read_bytes + write_bytes per second", "bytes per second"),
    ]
    assert result.resources[0].borders == (float(np.median(jobs()["cpu_usage_percent"])),)
    assert "2 of them have no task name: they count for the labels only" in result.notes
    assert REPLAYED in result.notes
    assert to_json(unpack(Allocation, pack(result))) == to_json(result)


def test_places_are_the_share_of_a_group_and_name_its_nodes():
    result = allocated(jobs(), places={"store-1": 7, "store-2": 7})
    assert [one.places for one in result.groups] == [2, 14]
    assert result.resources[0].borders == (float(np.quantile(jobs()["cpu_usage_percent"], 14 / 16)),)
    assert result.kinds[0].labels["cpu"] == 1  # the two fast nodes are an eighth of the cluster
    with pytest.raises(SettingsError, match=r"'gone'.*the nodes are fast-1, fast-2, store-1, store-2"):
        allocated(jobs(), places={"gone": 2})


def test_the_best_column_of_memory_tells_it_and_what_the_trace_lacks_does_not_count():
    speeds = {name: one | {"memory": one["cpu"]} for name, one in SPEEDS.items()}
    result = allocated(jobs(mean_memory_bytes=1e9, peak_memory_bytes=2e9).drop(columns="duration_s"), speeds)
    assert result.kinds[0].used["memory"] == 2e9
    assert set(result.kinds[0].labels) == {"cpu", "memory"}
    assert "disk does not count: the trace has no bytes read or written with a run time" in result.notes


def test_a_node_without_a_group_is_named_and_may_have_places():
    table = runs_of(SPEEDS | {"half": {"cpu": 1.0}})
    asked = AllocationSettings("hash", places={"half": 3}, grouping=GroupSettings(FEW))
    result = allocate({"runs": table, "jobs": jobs()}, asked, silent)
    assert [one.places for one in result.groups] == [2, 2]
    assert "half is in no group: no usable run of memory, disk" in result.notes


def test_a_kind_whose_use_is_not_known_has_no_label():
    table = jobs()
    table.loc[table["kind"] == "move", "cpu_usage_percent"] = np.nan
    assert allocated(table).kinds[1].labels == {"cpu": 0, "disk": 2}


def test_nodes_of_one_group_leave_nothing_to_choose():
    result = allocated(jobs(), dict.fromkeys("abc", SPEEDS["fast-1"]))
    assert [one.groups for one in result.kinds] == [(0,), (0,)]
    assert result.notes[0] == "the nodes form one group, so that there is nothing to choose between"


def test_published_groups_are_placed_on_by_what_they_compare():
    speeds = SPEEDS | {"slow": {"cpu": 0.5, "memory": 2.0, "disk": 1.0}}
    asked = AllocationSettings("hash", grouping=GroupSettings(FEW, mode="faithful"))
    result = allocate({"runs": runs_of(speeds), "jobs": jobs(peak_memory_bytes=1e9)}, asked, silent)
    assert {name for one in result.groups for name in one.ranks} == {"cpu", "memory"}
    assert sorted(one.ranks["cpu"] for one in result.groups) == [1, 2, 3]


def test_jobs_that_tell_nothing_are_refused():
    with pytest.raises(NotEnoughData, match="no value of cpu_usage_percent, peak_memory_bytes"):
        allocated(jobs()[["kind", "duration_s"]])
    with pytest.raises(NotEnoughData, match="no run of the trace has a task name"):
        allocated(jobs(kind=None))
