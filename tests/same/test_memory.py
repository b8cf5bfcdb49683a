"""Memory: every view's figures, metrics and files are the library's, the command's and the report's."""

import json

import pytest

from tests.charts import records_for_memory as given
from tests.same.reading import ask_for_the_mark, bar, marked, same_figures, same_metrics
from workprof.answers.assessment import assessment_answer
from workprof.answers.bins import answer, profile_answer
from workprof.answers.ledger import ledger_answer
from workprof.answers.models import models_answer
from workprof.answers.policies import policy_name, replay_answer
from workprof.answers.schedule import schedule_answer
from workprof.core.answer import to_json as answer_json
from workprof.core.units import GB, format_share, gb_h
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.schedule import ScheduleSettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow

MODELS = PredictorSettings(bins=BinSettings(task=given.HEAVY), models=("svm",), sampling=("none",), trials=0)
STEPS = ("now", "bins", "margin", "model", "retries", "planned")
MODEL_PARAMETERS = {"memory_model": ["svm"], "memory_sampling": ["none"], "memory_trials": "0"}


@pytest.fixture(scope="module")
def printed(tasks):
    tasks.library(lambda bench: bench.replay("tasks", ReplaySettings()))
    return tasks.report("tasks", "memory")


def test_tasks(tasks, printed):
    found = tasks.library(lambda bench: bench.assessment("tasks", AssessmentSettings()))
    told = tasks.command("memory", "assess", "tasks")
    assert answer_json(assessment_answer(found)) == told
    page = tasks.page("memory", "tasks", memory_tab="Explore")
    assert same_figures(page, printed, "memory") == {"memory-by-task", "memory-classes"}
    same_metrics(page, printed, "memory")
    assert page.metric("Memory utilisation") == [format_share(told["memory"]["utilisation_by_time"])]
    assert page.files["tasks-tasks.csv"] == printed.csv("memory")["memory-tasks"]
    assert page.files["tasks-request-groups.csv"] == printed.csv("memory")["memory-groups"]
    table = page.csv("tasks-tasks.csv")
    assert table["wasted_gb_h"].tolist() == [one["wasted_gb_h"] for one in told["tasks"]]
    assert table["max_gb"].tolist() == [one["peak_gb"]["max"] for one in told["tasks"]]
    strengths = {one["column"]: one["strength"] for one in told["features"] if one["task"] == given.HEAVY}
    facts = {name: value for name, value in bar(page.figures["memory-facts"]).items() if name is not None}
    assert facts
    assert {name: strengths[name] for name in facts} == facts


def test_the_ledger(tasks):
    found = tasks.library(lambda bench: bench.ledger("tasks"))
    told = tasks.command("memory", "ledger", "tasks")
    assert answer_json(ledger_answer(found)) == told
    printed = tasks.report("tasks", "ledger")
    page = tasks.page("memory", "tasks", memory_tab="Ledger")
    assert same_figures(page, printed, "ledger") == {f"memory-ledger-{told['by']}"}
    same_metrics(page, printed, "ledger")
    table = page.csv(f"tasks-ledger-{told['by']}.csv")
    assert table["wasted_gb_h"].tolist() == [row["wasted_gb_h"] for row in (*told["rows"], told["totals"])]
    assert page.files["tasks-findings.csv"]
    document = json.loads(page.files["tasks-ledger.json"])
    assert document["findings"] == told["findings"]
    assert document["rows"] == told["rows"]
    home = tasks.page("home", "tasks", home_findings="true")
    for one in told["findings"][:5]:
        assert f"{one['evidence']['runs']:,} of {one['evidence']['of_runs']:,} runs" in home.words
        assert one["title"] in home.words


def test_nodes_needed(tasks):
    found = tasks.library(lambda bench: bench.schedule("tasks", ScheduleSettings()))
    told = tasks.command("memory", "schedule", "tasks")
    assert answer_json(schedule_answer(found)) == told
    page = tasks.page("memory", "tasks", memory_tab="Explore", memory_explore="Nodes needed")
    assert page.metric("Nodes needed")[0] == str(told["nodes_needed"])
    assert page.metric("Nodes saved by the plan")[0] == str(told["nodes_saved"])
    table = page.csv("tasks-nodes.csv")
    assert table["nodes_needed"].tolist() == [one["nodes_needed"] for one in told["outcomes"]]


def test_bins(tasks):
    asked = BinSettings(task=given.HEAVY)
    found = tasks.library(lambda bench: bench.bins("tasks", asked))
    told = tasks.command("memory", "bins", "tasks", "--task", given.HEAVY)
    assert answer_json(answer(found)) == told
    page = tasks.page("memory", "tasks", memory_tab="Bins", memory_task="HEAVY")
    assert page.metric("Saving, upper bound") == [format_share(told["time_based_saved_share"])]
    assert page.metric("Saving by count") == [format_share(told["saved_share"])]
    assert f"{format_share(told['time_based_optimal_improvement'])} by time" in page.words  # the thesis' formula
    (edges,) = (table for table in page.tables if "edge_gb" in table.columns)
    assert edges["edge_gb"].tolist() == told["edges_gb"]
    assert edges["runs"].tolist() == told["bin_runs"]
    (line,) = (trace for trace in page.figures["memory-improvement"] if trace.get("name") == "best limits")
    assert line["y"][2] == told["time_based_saved_share"]
    curve = tasks.command("memory", "curve", "tasks", "--task", given.HEAVY)
    assert line["y"] == [one["time_based_saved_share"] for one in curve["bins"]]


def test_bins_of_a_profile(jobs):
    fit = jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    told = jobs.command("memory", "bins", "jobs", "--profile", 0)
    asked = ProfileBinSettings(0, BinSettings(task=""))
    found = jobs.library(lambda bench: bench.profile_bins("jobs", asked))
    assert answer_json(profile_answer(found)) == told
    page = jobs.page("memory", "jobs", memory_tab="Bins", memory_profile="P0")
    rows = jobs.library(lambda bench: bench.past_jobs("jobs", fit.row_ids[fit.labels == 0].tolist()))
    gb = rows[["requested_memory_bytes", "peak_memory_bytes"]].to_numpy() / GB
    wasted = ((gb[:, 0] - gb[:, 1]).clip(min=0) * rows["duration_s"] / 3600).sum()
    assert told["wasted_gb_h"] == pytest.approx(wasted, rel=1e-9)
    assert page.metric("Wasted") == [gb_h(told["wasted_gb_h"])]
    assert page.metric("Saving, upper bound")[0] == format_share(told["time_based_saved_share"])
    (edges,) = (table for table in page.tables if "edge_gb" in table.columns)
    assert edges["edge_gb"].tolist() == told["edges_gb"]
    assert edges["runs"].tolist() == told["bin_runs"]


def test_models(tasks):
    found = tasks.library(lambda bench: bench.bin_models("tasks", MODELS))
    words = ("--task", given.HEAVY, "--models", "svm", "--sampling", "none", "--trials", "0")
    told = tasks.command("memory", "train", "tasks", *words)
    assert answer_json(models_answer(found)) == told
    page = tasks.page("memory", "tasks", memory_tab="Models", memory_task="HEAVY", **MODEL_PARAMETERS)
    (table,) = (table for table in page.tables if "accuracy" in table.columns)
    lines = sorted(table[["accuracy", "replayed_improvement"]].to_numpy().tolist())
    every = (*told["models"], *told["cheapest"], told["constant"], told["cheapest_constant"])
    trained = sorted([one["accuracy"], one["replayed_improvement"]] for one in every)
    assert lines == [pytest.approx(one, rel=1e-12) for one in trained]
    best = next(one for one in every if one["replayed_improvement"] == table["replayed_improvement"].max())
    steps = [best["waterfall"][f"{name}_gb_h"] for name in STEPS]
    assert page.figures["memory-waterfall"][0]["x"] == steps
    assert steps[-1] == pytest.approx(sum(steps[:-1]), rel=1e-9)


def test_policies(tasks, printed):
    found = tasks.library(lambda bench: bench.replay("tasks", ReplaySettings()))
    told = tasks.command("memory", "replay", "tasks")
    assert answer_json(replay_answer(found)) == told
    page = tasks.page("memory", "tasks", memory_tab="Compare")
    assert same_figures(page, printed, "memory") == {"memory-frontier", "memory-learning"}
    same_metrics(page, printed, "memory", n=4)
    assert page.files["tasks-policies.csv"] == printed.csv("memory")["memory-policies"]
    table = page.csv("tasks-policies.csv")
    assert sorted(table["wasted_gb_h"]) == sorted(one["wasted_gb_h"] for one in told["policies"].values())
    assert sorted(table["failures"]) == sorted(one["failures"] for one in told["policies"].values())
    named = ("workprof", "published rules", "requests enforced")
    marks = [trace for trace in page.figures["memory-frontier"] if trace.get("name") in named]
    drawn = {(x, y) for trace in marks for x, y in zip(trace["x"], trace["y"], strict=True)}
    every = {(one["failures"], one["wasted_gb_h"]) for one in told["policies"].values()}
    assert drawn <= every
    assert all(
        policy_name(name) in page.words
        for name, one in told["policies"].items()
        if (one["failures"], one["wasted_gb_h"]) not in drawn
    )  # off the axes, named in the note


EACH_FORM = {
    "csv": "csv",
    "json": "json",
    "nextflow": "config",
    "kubernetes": "yaml",
    "slurm": "lua",
    "slurm-partitions": "conf",
}


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("tab", "name", "shown", "words"),
    [
        (
            "Bins",
            "memory-bins",
            {"memory_task": "HEAVY", "memory_k": "4"},
            ("--bins", "--task", given.HEAVY, "-k", "4"),
        ),
        ("Compare", "memory-p95", {"memory_export_policy": "p95"}, ("--policy", "p95")),
        ("Plan", "memory-plan", {}, ()),
    ],
)
def test_the_files_of_any_sizes_are_the_commands(tasks, tab, name, shown, words):
    if tab == "Compare":
        tasks.command("memory", "replay", "tasks")
    page = tasks.page("memory", "tasks", memory_tab=tab, **shown)
    for to, ending in EACH_FORM.items():
        file = tasks.folder / f"sizes.{ending}"
        tasks.command("memory", "export", "tasks", "--to", to, "-o", file, *words)
        assert page.files[f"tasks-{name}.{ending}"] == file.read_bytes()


def test_every_csv_file_begins_with_the_mark_where_it_is_asked(tasks):
    pages = [tasks.page("memory", "tasks", memory_tab=tab, act=ask_for_the_mark) for tab in ("Plan", "Ledger")]
    assert marked(*pages) > {"tasks-memory-plan.csv", "tasks-findings.csv", "tasks-ledger.csv"}
