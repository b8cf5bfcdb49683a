"""Nodes: every view's figures, metrics and files are the library's, the command's and the report's."""

import pytest

from pages._runs.links import parameters_of
from tests.same.reading import bar, same_figures, same_metrics
from workprof.answers.degradation import detection_answer
from workprof.answers.node_groups import advice_answer, allocation_answer, groups_answer
from workprof.answers.node_history import history_answer
from workprof.answers.nodes import rank_answer
from workprof.core.answer import to_json as answer_json
from workprof.nodes.advice import AdviceSettings
from workprof.nodes.allocation import AllocationSettings
from workprof.nodes.selection import RankSettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def printed(nodes):
    return nodes.report("runs", "nodes", "degradation")


def test_ranking(nodes, printed):
    found = nodes.library(lambda bench: bench.node_ranking("runs"))
    told = nodes.command("nodes", "rank", "runs")
    assert answer_json(rank_answer(found)) == told
    page = nodes.page("nodes", "runs", nodes_tab="Ranking")
    assert same_figures(page, printed, "nodes") == {"node-ranking", "node-aspects"}
    same_metrics(page, printed, "nodes")
    assert page.files["runs-nodes-ranking.csv"] == printed.csv("nodes")["nodes"]
    assert bar(page.figures["node-ranking"]) == {one["node"]: one["score"] for one in told["nodes"]}
    aspects = {trace["name"]: trace["y"] for trace in page.figures["node-aspects"]}
    assert aspects == {
        one["node"]: [one["aspects"][name]["score"] for name in ("cpu", "memory", "disk", "network")]
        for one in told["nodes"]
    }
    best, worst = told["nodes"][0], told["nodes"][-1]
    assert page.metric("Best node") == [best["node"]]
    assert page.metric("Best / worst") == [f"{best['score'] / worst['score']:.1f} ×"]


def test_groups(nodes, printed):
    found = nodes.library(lambda bench: bench.node_groups("runs"))
    told = nodes.command("nodes", "groups", "runs")
    assert answer_json(groups_answer(found)) == told
    page = nodes.page("nodes", "runs", nodes_tab="Groups")
    assert same_figures(page, printed, "nodes") == {"node-groups-silhouettes"}
    assert page.files["runs-node-groups.csv"] == printed.csv("nodes")["node-groups"]
    bars = bar(page.figures["node-groups-silhouettes"], "x", "y")
    assert bars == {int(k): value for k, value in told["silhouettes"].items()}
    assert page.metric("Groups") == [str(told["k"])]


def test_advice_for_a_profile(nodes):
    nodes.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    told = nodes.command("nodes", "advise", "runs", "--jobs", "jobs", "--profile", 0)
    found = nodes.library(lambda bench: bench.node_advice("runs", AdviceSettings("jobs", 0)))
    assert answer_json(advice_answer(found)) == told
    page = nodes.page("nodes", "runs", nodes_tab="For a profile")
    assert bar(page.figures["node-ranking"]) == {one["node"]: one["score"] for one in told["nodes"]}
    table = page.csv("nodes-for-profile-0.csv")
    assert table["score"].tolist() == [one["score"] for one in told["nodes"]]


@pytest.mark.parametrize("by", ["profile", "task_name"])
def test_allocation(nodes, by):
    nodes.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    told = nodes.command("nodes", "allocate", "runs", "--jobs", "jobs", "--by", by)
    found = nodes.library(lambda bench: bench.node_allocation("runs", AllocationSettings("jobs", by=by)))
    assert answer_json(allocation_answer(found)) == told
    page = nodes.page("nodes", "runs", nodes_tab="Groups", nodes_allocation="true", nodes_kinds=by)
    table = page.csv("runs-node-allocation.csv")
    assert table["runs"].tolist() == [one["n_jobs"] for one in told["kinds"]]
    assert [int(text.partition(":")[0]) for text in table["best_group"]] == [one["groups"][0] for one in told["kinds"]]
    assert table["cpu_median_percent"].tolist() == [one["used"]["cpu"] for one in told["kinds"]]


def test_degradation(nodes, printed):
    found = nodes.library(lambda bench: bench.degradation("runs"))
    told = nodes.command("nodes", "detect", "runs")
    assert answer_json(detection_answer(found)) == told
    opened = {"nodes_quality": "true", "nodes_method": "true"}
    page = nodes.page("nodes", "runs", nodes_tab="Degradation", **opened)
    assert same_figures(page, printed, "degradation") == {
        "node-degradation", "node-timeline", "node-code-map", "node-reliability", "node-reconstruction-errors",
    }  # fmt: skip
    same_metrics(page, printed, "degradation")
    assert page.files["node-detectors.csv"] == printed.csv("degradation")["node-detectors"]
    table = page.csv("node-detectors.csv").set_index("detector")
    used = told["detectors"][told["detector"]]
    assert table.loc[f"{told['detector']} (used)", "f1_anomalous"] == used["f1_anomalous"]
    assert page.metric("Flagged") == [f"{sum(one['flag'] for one in told['runs']):,}"]


def test_nodes_over_time(nodes):
    found = nodes.library(lambda bench: bench.node_history("runs"))
    told = nodes.command("nodes", "history", "runs")
    assert answer_json(history_answer(found)) == told
    page = nodes.page("nodes", "runs", nodes_tab="Over time")
    assert set(page.figures) == {"node-verdicts", "node-course"}
    assert page.csv("node-states.csv")["node"].tolist() == [one["node"] for one in told["nodes"]]


def test_a_kept_ranking_opens_with_its_settings(nodes):
    asked = RankSettings(weights={"cpu": 2.0, "disk": 1.0}, nodes=("calm", "small", "tiny"), since_s=1e9)
    found = nodes.library(lambda bench: bench.node_ranking("runs", asked))
    parameters = parameters_of("nodes.rank", nodes.hashes["runs"], asked)
    page = nodes.page("nodes", "runs", **{name: value for name, value in parameters.items() if name != "ds"})
    assert bar(page.figures["node-ranking"]) == {one.node: one.score for one in found.nodes}
