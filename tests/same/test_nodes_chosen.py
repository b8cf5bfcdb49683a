"""Nodes, transfers and scenarios: errors of runtimes elsewhere and kept rankings are the command's own numbers."""

import numpy as np
import pytest

from tests.same.reading import bar
from workprof.answers.node_groups import transfer_answer, transfer_table
from workprof.answers.nodes import comparison_table
from workprof.core.answer import to_json as answer_json
from workprof.core.units import format_share
from workprof.nodes.transfer import TransferSettings

pytestmark = pytest.mark.slow

HEAD = "Workflow,Task,Label,Machine,NumberSequences,TaskInputSizeUncompressed,Realtime,%cpu"
SPEEDS = {"old": 1.0, "new": 2.0, "odd": 1.3}
FLOWS = ("align", "count", "merge")
SIZES = {"train-1": (1, 2, 3, 4), "train-2": (1.5, 2.5, 3.5, 4.5), "test": (20,)}


@pytest.fixture(scope="module")
def lab(nodes):
    """A folder with reports of three machines that are nearly, not exactly, as fast as their scores say.

    An interval takes 19 errors of other workflows on another machine, hence so many tasks.
    """
    folder = nodes.folder / "data" / "lab"
    random = np.random.default_rng(0)
    for machine, speed in SPEEDS.items():
        for flow in FLOWS:
            path = folder / machine / f"results_{flow}" / f"execution_report_{machine}.csv"
            path.parent.mkdir(parents=True)
            lines = [
                f"{flow},task{least},{label},{machine},{100 + size},{size * 1e9},"
                f"{(least + size) * 1000 / speed * random.uniform(0.9, 1.1):.3f},100"
                for least in range(5, 13)
                for label, sizes in SIZES.items()
                for size in sizes
            ]
            path.write_text("\n".join((HEAD, *lines)) + "\n")
    scores = [f"{machine},{100 * v:g},{90 * v:g},{80 * v:g},{50 * v:g}" for machine, v in SPEEDS.items()]
    (folder / "scores.csv").write_text("\n".join(("machine,cpu,linpack,memory,io", *scores)) + "\n")
    return folder


def test_transfers_to_other_machines(nodes, lab):
    words = ("--reports", lab, "--local", "old", "--targets", "new,odd", "--scores", lab / "scores.csv")
    told = nodes.command("nodes", "transfer", *words)
    settings = TransferSettings("old", ("new", "odd"))
    found = nodes.library(lambda bench: bench.runtime_transfer(lab, settings, lab / "scores.csv"))
    assert answer_json(transfer_answer(found.result, found.interval)) == told
    address = {"nodes_reports": "lab", "nodes_local": "old", "nodes_targets": ["new", "odd"]}
    address |= {"nodes_scores_file": "lab/scores.csv", "nodes_compared": "yes"}
    page = nodes.page("nodes", "runs", nodes_tab="Transfer", unfolded=("nodes_transfer_bars",), **address)
    medians = {name.removesuffix(" (ours)"): error for name, error in bar(page.figures["node-transfer"]).items()}
    assert len(medians) > 3
    assert medians == {name: one["median"] for name, one in told["methods"].items()}
    ours = told["methods"][told["default"]]
    assert f"Half of {ours['n']} predictions are within {format_share(ours['median'])}" in page.words
    interval = told["interval"]
    assert interval["n"] > 0
    assert f"held {format_share(interval['share'])} of {interval['n']} runtimes" in page.words
    assert f"upper end / lower end {interval['median_width']:.2f}" in page.words
    assert page.files["node-transfer.csv"] == transfer_table(found.result).csv()
    table = page.csv("node-transfer.csv")
    assert table["p95"].tolist() == [_method(told, name)["p95"] for name in table["method"]]


def _method(told, name):
    return told["methods"][name.removesuffix(" (ours)")]


KEPT = {"for cpu": {"nodes_w_cpu": "5"}, "by price": {"nodes_w_disk": "9", "nodes_prices": "small=0.5"}}
WEIGHTS = {"for cpu": "cpu=5,memory=1,disk=1,network=1", "by price": "cpu=1,memory=1,disk=9,network=1"}


def test_kept_rankings_side_by_side(nodes):
    for name, address in KEPT.items():
        nodes.page("nodes", "runs", nodes_tab="Ranking", act=_keeps(name), **address)
    kept = nodes.library(lambda bench: {one.name: one.settings for one in bench.node_scenarios("runs")})
    assert set(kept) == set(KEPT)
    found = nodes.library(lambda bench: {name: bench.node_ranking("runs", kept[name]) for name in kept})
    page = nodes.page("nodes", "runs", nodes_tab="Scenarios")
    assert page.files["runs-node-scenarios.csv"] == comparison_table(found).csv()
    table = page.csv("runs-node-scenarios.csv").set_index("node")
    for name, weights in WEIGHTS.items():
        told = nodes.command("nodes", "rank", "runs", "--weights", weights)
        assert table[f"{name}: score"].to_dict() == {one["node"]: one["score"] for one in told["nodes"]}
        assert table[f"{name}: place"].to_dict() == {one["node"]: one["rank"] for one in told["nodes"]}
        first = next(one["node"] for one in told["nodes"] if one["rank"] == 1)
        assert f"{first} in {name}" in page.words or f"{first} is first in all" in page.words
    priced = table["by price: score / price"].dropna().to_dict()
    assert priced == {"small": pytest.approx(table.loc["small", "by price: score"] / 0.5)}


def _keeps(name):
    """Return what a visitor does who keeps a ranking under a name."""

    def act(test):
        test.text_input(key="nodes_keep_name").set_value(name)
        next(button for button in test.button if button.label == "Save scenario").click().run()

    return act
