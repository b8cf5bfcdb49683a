"""Advice on nodes: the published formula by hand, weights from what jobs use, the ranking that follows from them."""

import numpy as np
import pandas as pd
import pytest

from tests.nodes.planted_nodes import runs_of
from workprof.core.errors import NotEnoughData
from workprof.core.progress import silent
from workprof.core.records import pack, to_json, unpack
from workprof.formats import rules_of
from workprof.formats.declare import NETWORK
from workprof.nodes.advice import (
    Advice,
    AdviceSettings,
    acquisition_with_scores,
    advise,
    proposed_weights,
    resource_use,
    scaled_scores,
    utilisation,
)
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.ranking import rank_nodes
from workprof.nodes.selection import RankSettings

SPEEDS = {"compute": {"cpu": 3.0, "memory": 1.0, "disk": 1.0}, "storage": {"cpu": 1.0, "memory": 1.0, "disk": 5.0}}


def jobs(n=40):
    """Return jobs: the first half keeps its cores busy, the second half moves bytes."""
    busy = np.arange(n) < n // 2
    return pd.DataFrame(
        {
            "cpu_usage_percent": np.where(busy, 190.0, 10.0),
            "requested_cpu_percent": 200.0,
            "mean_memory_bytes": 1e9,
            "requested_memory_bytes": 1e10,
            "read_bytes": np.where(busy, 1e3, 1e9),
            "write_bytes": np.where(busy, np.nan, 1e9),
            "duration_s": 10.0,
            "in_profile": busy,
        }
    )


def advised(table, **settings):
    frames = {"runs": runs_of(SPEEDS), "jobs": table}
    return advise(frames, AdviceSettings("hash", 0, "", RankSettings(n_draws=200, **settings)), silent)


def test_the_acquisition_rises_by_the_formula():
    acquisition = np.array([0.2, 0.1])
    scores = {
        "cpu-sysbench": np.array([1.0, 0.5]),
        "disk-fio": np.array([0.4, 1.0]),
        "disk-ioping": np.array([0.2, 1.0]),
    }
    used = {"cpu": 0.5, "disk": 0.25}
    bonus = np.array([0.5 * 1.0 + 0.25 * 0.6, 0.5 * 0.5 + 0.25 * 2.0])
    for n_profiled, power in ((1, 1), (2, 1), (3, 2), (5, 4)):
        slow = (acquisition + 0.01) * (1 + bonus / 6**power)
        assert acquisition_with_scores(acquisition, scores, used, n_profiled) == pytest.approx(slow)
    assert acquisition_with_scores(acquisition, scores, {}, 1) == pytest.approx(acquisition + 0.01)


def test_every_benchmark_type_has_its_place_in_the_formula():
    ones = {name: np.ones(1) for name in ASPECT_OF}
    used = dict.fromkeys(("cpu", "memory", "disk", "network"), 1.0)
    assert acquisition_with_scores(np.ones(1), ones, used, 1)[0] == pytest.approx(1.01 * 2)


def test_utilisation_weighs_runs_on_few_nodes_more():
    assert utilisation(np.array([50.0]), np.array([4])) == 0.5
    assert utilisation(np.array([25.0]), np.array([8])) == pytest.approx(0.0625)
    both = utilisation(np.array([50.0, 25.0]), np.array([4, 8]))
    assert both == pytest.approx((1.0 * 0.5 + 0.5 * 0.0625) / 1.5)


def test_scores_are_scaled_by_their_largest():
    scaled = scaled_scores({"cpu-sysbench": np.array([2.0, 4.0]), "disk-fio": np.zeros(2)})
    assert scaled["cpu-sysbench"].tolist() == [0.5, 1.0]
    assert scaled["disk-fio"].tolist() == [0.0, 0.0]


def test_weights_follow_what_the_jobs_use():
    table = jobs()
    members = table["in_profile"].to_numpy()
    busy = proposed_weights(resource_use(table, members))
    moving = proposed_weights(resource_use(table, ~members))
    assert busy == pytest.approx({"cpu": 0.95 / 1.05, "memory": 0.1 / 1.05, "disk": 0.0, "network": 0.0}, abs=1e-5)
    assert moving["disk"] == max(moving.values())
    assert sum(moving.values()) == pytest.approx(1.0)
    told = {one.aspect: one for one in resource_use(table, members)}
    assert told["cpu"].source == "cpu_usage_percent of requested_cpu_percent"
    assert np.isnan(told["network"].share)


def test_bytes_over_the_network_weigh_the_network():
    table = jobs().rename(columns={"read_bytes": "network_in_bytes", "write_bytes": "network_out_bytes"})
    told = {one.aspect: one for one in resource_use(table, ~table["in_profile"].to_numpy())}
    assert told["network"].share == 1.0
    assert np.isnan(told["disk"].share)
    assert {rule.field for rule in rules_of("pai-sample") if rule.over == NETWORK} == {"read_bytes", "write_bytes"}


def test_without_requests_use_is_a_share_of_what_is_much():
    table = jobs().drop(columns=["requested_cpu_percent", "mean_memory_bytes", "read_bytes", "write_bytes"])
    told = {one.aspect: one for one in resource_use(table, table["in_profile"].to_numpy())}
    assert told["cpu"].share == 1.0
    assert "95th percentile" in told["cpu"].source
    assert np.isnan(told["memory"].share)
    assert np.isnan(told["disk"].share)


def test_the_advice_is_the_ranking_by_the_proposed_weights():
    table = jobs()
    compute = advised(table)
    assert compute.ranking.nodes[0].node == "compute"
    weights = {name: share for name, share in compute.proposed.items() if share > 0}
    same = rank_nodes({"runs": runs_of(SPEEDS)}, RankSettings(weights=weights, n_draws=200), silent)
    assert [one.score for one in same.nodes] == [one.score for one in compute.ranking.nodes]
    storage = advised(table.assign(in_profile=~table["in_profile"]))
    assert storage.ranking.nodes[0].node == "storage"
    assert compute.n_jobs == 20


def test_weights_of_ones_own_win_and_prices_are_told():
    found = advised(jobs(), weights={"disk": 1.0}, prices_per_h={"storage": 10.0, "compute": 1.0})
    assert found.weights == {"disk": 1.0}
    assert found.proposed["cpu"] > 0.9
    best = found.ranking.nodes[0]
    assert (best.node, best.price_performance) == ("storage", pytest.approx(best.score / 10))


def test_jobs_that_tell_nothing_need_weights():
    bare = jobs()[["duration_s", "in_profile"]]
    with pytest.raises(NotEnoughData, match="give weights"):
        advised(bare)
    found = advised(bare, weights={"cpu": 1.0})
    assert (found.proposed, found.weights) == ({}, {"cpu": 1.0})
    with pytest.raises(NotEnoughData, match="no run in this clustering"):
        advised(jobs().assign(in_profile=False))


def test_an_advice_can_be_kept():
    found = advised(jobs())
    assert to_json(unpack(Advice, pack(found))) == to_json(found)
