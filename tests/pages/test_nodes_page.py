"""The Nodes page in every state: no data, one run per node, every view, links, prices, advice, a running detection."""

import json
import re
import shutil
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages._nodes.ranking import after_edits
from pages._parts import clusterings
from pages._runs.links import parameters_of
from tests.charts import records_for_nodes as given
from tests.made_once import keep
from tests.nodes.planted_nodes import runs_of
from tests.pages.conftest import labels, problems, words
from workprof.answers.nodes import price_sentence, score_words
from workprof.charts.nodes.ranking import PRICE_UNIT, UNIT
from workprof.core.fields import read
from workprof.core.question import address_of
from workprof.core.settings import from_environment
from workprof.nodes.advice import AdviceSettings
from workprof.nodes.allocation import REPLAYED, AllocationSettings
from workprof.nodes.detection import DegradationSettings
from workprof.nodes.detection_data import DetectSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.questions import RANK
from workprof.nodes.ranking import per_price
from workprof.nodes.selection import RankSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench
from workprof.workbench.declared import DECLARED

SPEEDS = {
    "calm": {"cpu": 2.0, "memory": 1.0, "disk": 1.0, "network": 1.0},
    "twin": {"cpu": 1.9, "memory": 1.0, "disk": 1.0, "network": 1.0},
    "small": {"cpu": 1.0, "memory": 1.5, "disk": 3.0, "network": 1.0},
    "tiny": {"cpu": 0.9, "memory": 1.5, "disk": 2.9, "network": 1.0},
}


def write(path, frame):
    """Write runs as lines of a file of benchmark runs."""
    lines = []
    for row in frame.drop(columns=["row_id", "provenance"]).to_dict("records"):
        row["started"], row["finished"] = row.pop("started_s"), row.pop("finished_s")
        row["argv"], row["host"] = json.loads(row["argv"]), json.loads(row["host"])
        lines.append(json.dumps(row))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def kept(tmp_path_factory, prepared):
    """A home with jobs and their profiles, runs once per node, and as the newest: runs with a kept detection."""
    folder = tmp_path_factory.mktemp("nodes")
    shutil.copytree(prepared[0], folder / "home")
    few, many = write(folder / "few.jsonl", runs_of(SPEEDS, 1)), write(folder / "many.jsonl", runs_of(SPEEDS, n_runs=6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            once = workbench.ingest([few]).hash
            runs = workbench.ingest([many]).hash
            workbench.node_history(runs)
            for mode in ("corrected", "faithful"):
                asked = DegradationSettings(DetectSettings(mode=mode))
                keep(workbench, workbench.degradation, runs, asked, given.detection(("calm", "small")))
    return folder / "home", runs, once


@pytest.fixture
def runs(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def page(app, runs):
    def opened(tab="Ranking", **more):
        return app("nodes", nodes_tab=tab, **more)

    return opened


def test_a_home_with_jobs_only_says_that_benchmark_runs_are_missing(app, loaded):
    test = app("nodes", ds=loaded.hash)
    assert problems(test) == []
    assert "No dataset of benchmark runs is loaded yet" in words(test)


def test_one_run_per_node_gives_no_ranking_and_says_so(page, kept):
    test = page()
    test.sidebar.selectbox(key="shell_dataset").set_value(kept[2]).run()
    assert problems(test) == []
    assert "No ranking: fewer than 3 runs of a benchmark" in words(test)


def test_weights_in_the_link_turn_the_order(page):
    rest = {"nodes_w_memory": "0", "nodes_w_network": "0"}
    for cpu, disk, best in (("1", "0", "calm"), ("0", "1", "small")):
        test = page(nodes_w_cpu=cpu, nodes_w_disk=disk, **rest)
        assert next(metric.value for metric in test.metric if metric.label == "Best node") == best


def test_windows_nodes_and_nonsense_in_the_link(page):
    test = page(nodes_only="calm")
    assert problems(test) == []
    assert "the only node" in words(test)
    test = page(nodes_since="no date")
    assert test.exception.len == 0
    assert "`nodes_since` in the link could not be read" in words(test)
    test.text_input(key="nodes_since").set_value("no date").run()
    assert "give epoch seconds" in " ".join(item.value for item in test.error).replace("\\", "")
    test = page(nodes_since="2100-01-01")
    assert "no benchmark run is left" in " ".join(item.value for item in test.info).lower().replace("\\", "")
    assert test.exception.len == 0


def test_all_weights_zero_is_told(page):
    zero = dict.fromkeys(("nodes_w_cpu", "nodes_w_memory", "nodes_w_disk", "nodes_w_network"), "0")
    test = page(**zero)
    assert test.exception.len == 0
    assert "all weights are 0" in " ".join(item.value for item in test.error).replace("\\", "")


def test_prices_stand_in_the_link_and_give_score_per_price(page):
    test = page(nodes_prices="calm=2, small=0.5")
    assert problems(test) == []
    table = next(one.value for one in test.dataframe if "tied_with" in one.value.columns)
    by_node = table.set_index("node")
    score = float(by_node.loc["small", "score"].split()[0])
    assert by_node.loc["small", "price_performance"] == pytest.approx(score / 0.5, abs=0.011)
    test.text_input(key="nodes_prices").set_value("calm=free").run()
    assert "NAME=NUMBER" in " ".join(item.value for item in test.error).replace("\\", "")


def test_an_edited_price_goes_into_the_field():
    changes = {"edited_rows": {1: {"price": 0.25}, 0: {"price": None}}, "deleted_rows": [], "added_rows": []}
    assert after_edits(("a", "b"), {"a": 1.0, "c": 3.0}, changes) == "c=3.0,b=0.25"


def test_an_edited_price_of_a_name_with_commas_is_read_as_it_was_written():
    text = after_edits(("a,b=1", "c"), {}, {"edited_rows": {0: {"price": 0.5}, 1: {"price": 2}}})
    assert read(RANK.leaf("prices_per_h"), text) == {"a,b=1": 0.5, "c": 2.0}


RANKED = RankSettings(
    {"cpu": 0.5, "memory": 0.25, "disk": 0.25, "network": 0.0},
    exclude="stressed",
    since_s=1.5,
    nodes=("calm", "small", "twin"),
    prices_per_h={"calm": 2.0, "small": 0.1},
    confidence=0.9,
    n_draws=200,
    seed=3,
)
KEPT = {
    "nodes.rank": ("node_ranking", lambda jobs: RANKED),
    "nodes.groups": (
        "node_groups",
        lambda jobs: GroupSettings(RANKED, n_resamples=7, reference={"calm": "a", "small": "b,c", "twin": "a"}),
    ),
    "nodes.advice": ("node_advice", lambda jobs: AdviceSettings(jobs, 1, ranking=RANKED)),
    "nodes.allocation": (
        "node_allocation",
        lambda jobs: AllocationSettings(jobs, by="task_name", places={"calm": 4}, grouping=GroupSettings(RANKED)),
    ),
}


@pytest.mark.parametrize("step", KEPT)
def test_a_link_from_runs_or_a_shell_asks_with_every_setting(app, runs, house, step):
    method, make = KEPT[step]
    workbench = house().workbench
    settings = make(next(one.hash for one in workbench.datasets() if one.kind == "jobs"))
    question, asked = DECLARED[step], getattr(workbench, method)
    from_shell = dict(parse_qsl(urlsplit(address_of(question, runs, settings)).query))
    for link in (parameters_of(step, runs, settings), from_shell):
        workbench._cache.remove(asked.key(runs, settings))
        test = app("nodes", **link)
        assert problems(test) == []
        assert getattr(house().workbench, method).cached(runs, settings).result is not None


def test_a_link_to_a_detection_has_every_setting(app, runs, kept):
    settings = DegradationSettings(DetectSettings("corrected", "ewma", 0.7, 0.1, 2, 3, 4), kept[2])
    link = parameters_of("nodes.detect", runs, settings)
    test = app("nodes", **link)
    assert problems(test) == []
    assert "definitions: Default, detector: Weighted mean (EWMA)" in words(test)
    shown = {key: test.number_input(key=f"nodes_{key}").value for key in ("train_share", "alarms", "trials", "epochs")}
    assert shown == {"train_share": 70, "alarms": 10, "trials": 2, "epochs": 3}
    assert test.number_input(key="nodes_detect_seed").value == 4
    assert kept[2][:8] in test.selectbox(key="nodes_train").value


def test_groups_are_those_of_the_library_in_both_definitions(page, runs, house):
    test = page("Groups")
    found = house().workbench.node_groups(runs, GroupSettings())
    assert next(metric.value for metric in test.metric if metric.label == "Groups") == str(found.k)
    test = page("Groups", nodes_mode="faithful")
    assert problems(test) == []
    assert "published definitions" in words(test)


def test_advice_weighs_what_the_jobs_use(page, runs, house):
    test = page(nodes_profile="1")
    assert problems(test) == []
    assert test.session_state["nodes_tab"] == "Ranking"
    jobs = next(one for one in house().workbench.datasets() if one.kind == "jobs")
    found = house().workbench.node_advice(runs, jobs=jobs.hash, profile=1)
    name = house().workbench.profile_names(jobs.hash)[1]
    assert f"For {name} ({found.n_jobs:,} runs): {found.ranking.nodes[0].node} is" in words(test)
    table = next(one.value for one in test.dataframe if "tied_with" in one.value.columns)
    assert list(table["score"]) == [score_words(one) for one in found.ranking.nodes]
    assert problems(page(nodes_profile="999")) == []
    assert "`nodes_profile` in the link could not be read" in words(page(nodes_profile="999"))


def test_nodes_follow_the_clustering_that_is_used_everywhere(page, runs, house):
    workbench = house().workbench
    jobs, other = next(one for one in workbench.datasets() if one.kind == "jobs"), ProfileSettings(min_cluster_size=80)
    fit = workbench.profiles(jobs.hash, other)
    names, key = workbench.profile_names(jobs.hash, other), workbench.profiles.key(jobs.hash, other)
    assert names != workbench.profile_names(jobs.hash)
    test = page(nodes_profile="0", nodes_clustering=clusterings.name_of_key(house(), jobs, key))
    assert problems(test) == []
    found = workbench.node_advice(runs, AdviceSettings(jobs.hash, 0, key))
    assert found.n_jobs == (fit.labels == 0).sum() != workbench.node_advice(runs, jobs=jobs.hash, profile=0).n_jobs
    assert f"For {names[0]} ({found.n_jobs:,} runs): {found.ranking.nodes[0].node} is" in words(test)
    gone = AdviceSettings(jobs.hash, 0, f"{jobs.hash}:gone")
    assert workbench.node_advice(runs, gone).settings.clustering == workbench.profiles.key(jobs.hash)
    test = page("Groups", nodes_allocation="true", nodes_clustering=clusterings.name_of_key(house(), jobs, key))
    table = next(one.value for one in test.dataframe if "best_group" in one.value.columns)
    assert list(table["kind"]) == list(names[:-1])


def test_kinds_of_jobs_stand_below_the_groups_with_what_a_replay_gave(page, runs, house):
    assert "nodes_kinds" not in {item.key for item in page("Groups").selectbox}
    test = page("Groups", nodes_allocation="true")
    assert problems(test) == []
    workbench = house().workbench
    jobs = next(one for one in workbench.datasets() if one.kind == "jobs")
    found = workbench.node_allocation(runs, AllocationSettings(jobs.hash))
    assert REPLAYED[1:] in words(test)
    table = next(one.value for one in test.dataframe if "best_group" in one.value.columns)
    assert list(table["runs"]) == [one.n_jobs for one in found.kinds]
    assert list(table["kind"]) == list(workbench.profile_names(jobs.hash)[:-1])
    test.text_input(key="nodes_places").set_value("gone=2").run()
    assert "is no node here; the nodes are calm" in " ".join(item.value for item in test.error).replace("\\", "")


def test_a_former_link_for_a_profile_opens_its_ranking(page, runs, house):
    jobs = next(one for one in house().workbench.datasets() if one.kind == "jobs")
    names = house().workbench.profile_names(jobs.hash)
    for more, number in (({}, 0), ({"nodes_profile": "1"}, 1)):
        test = page("For a profile", **more)
        assert problems(test) == []
        assert f"For {names[number]} (" in words(test)


def test_weights_stand_where_they_count(page):
    for tab, shown in (("Ranking", True), ("Groups", False), ("Degradation", False), ("Scenarios", False)):
        keys = {item.key for item in page(tab).number_input}
        assert ("nodes_w_cpu" in keys) is shown


def test_prices_decide_what_the_chart_compares(page, runs, house):
    test = page(nodes_prices="calm=2, small=0.5")
    assert problems(test) == []
    settings = RankSettings(prices_per_h={"calm": 2.0, "small": 0.5})
    priced = per_price(house().workbench.node_ranking(runs, settings))
    assert price_sentence(priced) in words(test)
    assert json.loads(test.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"] == PRICE_UNIT
    test = page(nodes_prices="calm=2, small=0.5", nodes_by="speed")
    assert json.loads(test.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["title"]["text"] == UNIT
    assert "nodes_by" not in {item.key for item in page().selectbox}


def test_the_detection_shows_what_it_found_and_how_far_to_trust_it(page):
    test = page("Degradation", nodes_node="small")
    assert problems(test) == []
    assert len(test.get("plotly_chart")) == 2
    test.session_state["nodes_quality"] = test.session_state["nodes_method"] = True
    test.run()
    assert problems(test) == []
    assert "of small are flagged" in words(test)
    shown = {metric.label: metric.value for metric in test.metric}
    assert (shown["Detector"], shown["F1 of degraded"]) == ("Combined", "0.950")
    assert "newer runs are flagged, the newest ones of small (disk-fio)." in words(test)
    assert "A message of the detection." in words(test)
    assert len(test.get("plotly_chart")) == 5


def test_another_detection_is_asked_for_and_the_old_one_stays(page):
    test = page("Degradation")
    test.selectbox(key="nodes_detector").set_value("robust-z").run()
    assert problems(test) == []
    assert "for the previous settings" in words(test)
    assert "Detect degraded runs" in labels(test)
    assert len(test.get("plotly_chart")) == 2


def test_a_ranking_that_needs_the_network_asks_for_it(page, kept):
    test = page(nodes_score="perona")
    test.sidebar.selectbox(key="shell_dataset").set_value(kept[2]).run()
    assert problems(test) == []
    assert "Detect degraded runs" in labels(test)
    assert "need the network" in words(test)


def test_flagged_runs_can_be_left_out_and_the_published_score_is_flagged(page, runs, house):
    test = page(nodes_exclude="flagged")
    assert problems(test) == []
    found = house().workbench.node_ranking(runs, RankSettings(exclude="flagged"))
    assert found.left_out == {"flagged as anomalous": int(given.detection().runs.flag.sum())}
    test = page(nodes_score="perona")
    assert problems(test) == []
    assert "published definitions" in words(test)
    table = next(one.value for one in test.dataframe if "no_rank_because" in one.value.columns)
    assert sum("no usable run" in reason for reason in table["no_rank_because"]) == 2  # two nodes have no codes


def reports(folder):
    """Write reports of two machines; 'new' is twice as fast as 'old'."""
    head = "Workflow,Task,Label,Machine,NumberSequences,TaskInputSizeUncompressed,Realtime,%cpu"
    for machine, speed in (("old", 1.0), ("new", 2.0)):
        path = folder / machine / "results_flow" / f"execution_report_{machine}.csv"
        path.parent.mkdir(parents=True)
        lines = [
            f"flow,sort,{label},{machine},{100 + size},{size * 1e9},{(5 + size) * 1000 / speed},100"
            for label, sizes in (("train-1", (1, 2, 3, 4)), ("train-2", (1.5, 2.5, 3.5, 4.5)), ("test", (20,)))
            for size in sizes
        ]
        path.write_text("\n".join((head, *lines)) + "\n")
    (folder / "scores.csv").write_text("machine,cpu,linpack,memory,io\nold,100,,,50\nnew,200,,,50\n")


def test_transfer_compares_the_methods_on_reports_of_the_data_folder(page, tmp_path):
    reports(tmp_path / "data" / "lab")
    test = page("Transfer", nodes_reports="lab", nodes_local="old", nodes_scores_file="lab/scores.csv")
    assert problems(test) == []
    assert "Runtimes of 2 machines are there; the methods are not compared yet." in words(test)
    test.button(key="nodes_transfer").click().run()
    assert problems(test) == []
    assert "of the measured runtime" in words(test)
    assert len(test.get("plotly_chart")) == 1
    given = {name: test.query_params[name] for name in test.query_params if name != "nodes_tab"}
    assert given["nodes_compared"] in ("yes", ["yes"])
    linked = page("Transfer", **given)
    assert problems(linked) == []
    assert linked.get("plotly_chart")[0].proto.spec == test.get("plotly_chart")[0].proto.spec


def test_transfer_opens_on_an_example_whose_machines_are_told_apart(page):
    test = page("Transfer")
    assert problems(test) == []
    assert "This is an example of synthetic reports." in words(test)
    assert "Trained on n1, predicted on n2." in words(test)
    assert len(test.get("plotly_chart")) == 1
    error = float(re.search(r"([\d.]+) % of the measured runtime", words(test))[1])
    assert error < 20  # 5 % noise, and scores that tell the speed


def test_transfer_reads_nothing_outside_the_data_folder(page):
    for outside in ("../..", "/etc", "gone"):
        test = page("Transfer", nodes_reports=outside)
        assert test.exception.len == 0
        assert "`nodes_reports` in the link could not be read" in words(test)
        assert "is not in the data folder" in words(test)
        test.text_input(key="nodes_reports").set_value(outside).run()
        assert "is not in the data folder" in " ".join(item.value for item in test.error).replace("\\", "")


def test_scenarios_are_kept_compared_and_removed(page, house, runs):
    test = page("Ranking", nodes_w_cpu="5")
    test.text_input(key="nodes_keep_name").set_value("for cpu")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert problems(test) == []
    test = page("Ranking", nodes_w_disk="9", nodes_prices="small=0.5")
    test.text_input(key="nodes_keep_name").set_value("<b>disk</b>")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    kept = {one.name: one.settings for one in house().workbench.node_scenarios(runs)}
    assert kept["for cpu"].weights["cpu"] == 5
    assert kept["<b>disk</b>"].prices_per_h == {"small": 0.5}
    test = page("Scenarios")
    assert problems(test) == []
    table = next(item.value for item in test.dataframe if "for cpu: score" in item.value.columns)
    for name, settings in kept.items():
        found = {one.node: one.score for one in house().workbench.node_ranking(runs, settings).nodes}
        assert dict(zip(table["node"], table[f"{name}: score"], strict=True)) == found
    assert "calm in for cpu" in words(test)
    test.selectbox(key="nodes_doomed").set_value("for cpu")
    test.button(key="nodes_remove").click().run()
    assert problems(test) == []
    assert [one.name for one in house().workbench.node_scenarios(runs)] == ["<b>disk</b>"]


def test_a_scenario_needs_a_name(page):
    test = page("Ranking")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert "give a name" in problems(test)[0]


def test_without_scenarios_the_view_says_how_to_make_one(page):
    test = page("Scenarios")
    assert problems(test) == []
    assert "Save scenario" in words(test)


@pytest.mark.parametrize(("tab", "name"), [("Ranking", "nodes_jobs"), ("Degradation", "nodes_train")])
def test_a_link_to_data_that_is_gone_says_so(page, tab, name):
    test = page(tab, **{name: "<b>gone</b>"})
    assert problems(test) == []
    assert f"`{name}` in the link could not be read: “<b>gone" in words(test)
    assert "in the link" not in words(page(tab))


def test_a_missing_value_of_a_table_is_a_dash(page):
    assert {one.proto.placeholder for one in page().dataframe} == {"–"}


def test_the_sample_of_configurations_is_searched_from_the_page(page, house):
    """The button loads table and benchmark runs, the search runs as a job, the answer and both charts follow."""
    test = page("Search", nodes_search_trials="2", nodes_seeds="1")
    test.button(key="nodes_search_sample").click().run()
    assert not problems(test)
    workbench = house().workbench
    assert {"configurations", "configurations-nodes"} <= {one.name for one in workbench.datasets()}
    test.button(key="nodes_search").click().run()
    view = workbench.wait(workbench.jobs()[0].key, 120)
    assert view.state == "done", view.message
    test.run()
    assert not problems(test)
    assert len(test.get("plotly_chart")) == 2
