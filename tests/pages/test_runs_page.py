"""The Runs page: nothing computed, filters and links, one run, two runs, pins, removal, jobs without a result."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from pages._runs import links
from tests.charts import records_for_memory as given
from tests.pages.conftest import SAMPLE, problems, words
from workprof.answers.saved_runs import changed_words
from workprof.campaign.journal import Journal
from workprof.campaign.plan import read_plan
from workprof.campaign.status import enlist
from workprof.core.records import canonical_json
from workprof.core.settings import from_environment
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.ledger_settings import LedgerSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings
from workprof.phases.library import LibrarySettings
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import AlignmentSettings
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.sweep import GroupSettings
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED

BINS = BinSettings(task=given.HEAVY, k=2, headroom=0.1)
REPLAY = ReplaySettings(policies=("workprof", "preset"))
BESIDE = BaselineSettings((("user",), ("user", "workload")), rows="clustered", sample_rows=600, seed=3)
ROUGH = ProfileSettings(min_cluster_size=60, sample_rows=600, seed=3)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with two datasets and a handful of runs; their labels by a short name."""
    folder = tmp_path_factory.mktemp("runs")
    given.jobs().to_parquet(folder / "memory.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as bench:
            memory = bench.ingest([folder / "memory.parquet"]).hash
            jobs = bench.ingest([SAMPLE]).hash
            asked = {
                "bins": lambda: bench.bins(memory, BINS),
                "other bins": lambda: bench.bins(memory, BinSettings(task=given.HEAVY, k=3)),
                "replay": lambda: bench.replay(memory, REPLAY),
                "verdict": lambda: bench.verdict(memory, VerdictSettings(applied="submission")),
                "fit": lambda: bench.profiles(jobs, ROUGH),
                "hopkins": lambda: bench.hopkins(jobs, HopkinsSettings(seed=3, n_sampled=30, resamples=2)),
                "baseline": lambda: bench.baseline(jobs, BESIDE, fit=ROUGH),
                "stability": lambda: bench.stability(jobs, StabilitySettings(ROUGH, 2, 0.7, 400, 3)),
            }
            found = {name: made(bench, ask) for name, ask in asked.items()}
            bench.ledger(jobs, LedgerSettings(by="profile"), fit=ROUGH)  # which Profiles would add up at every visit
    return folder / "home", found


def made(bench, ask):
    before = {one.key for one in bench.stored_runs()}
    ask()
    new = [one for one in bench.stored_runs() if one.key not in before and one.step != "profiles.tree"]
    return new[0]


@pytest.fixture
def runs(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


def button(test, label):
    return next(one for one in test.button if one.label == label)


def label(run):
    return f"{run.run} {run.step}"


def table(test):
    return test.dataframe[0].value


def test_data_without_a_computation_say_so(app, home, tmp_path):
    """Runs without requests: of others Home adds up the ledger on the way."""
    bare = pd.DataFrame({"job_name": "a", "duration_s": np.arange(1.0, 301.0)})
    bare.to_csv(tmp_path / "bare.csv", index=False)
    with Workbench(from_environment()) as bench:
        bench.ingest([tmp_path / "bare.csv"])
    test = app("runs")
    assert problems(test) == []
    assert "Nothing is computed yet" in words(test)


def test_every_run_is_listed_and_the_filters_stand_in_the_address(app, runs):
    test = app("runs")
    assert problems(test) == []
    assert set(table(test)["run"]) >= {run.run for run in runs.values()}
    test = app("runs", runs_step="memory.bins", runs_dataset="memory")
    assert problems(test) == []
    assert set(table(test)["run"]) == {runs["bins"].run, runs["other bins"].run}
    assert "2 of them are shown" in words(test)
    test = app("runs", runs_pinned="true")
    assert problems(test) == []
    assert "No saved result of this dataset and type" in words(test)


def test_a_run_of_a_link_is_shown_with_its_code(app, runs):
    test = app("runs", runs_run=label(runs["bins"]))
    assert problems(test) == []
    assert "Headroom: 10.0 %" in words(test)
    python, shell = (code.value for code in test.code)
    assert "workbench.bins(dataset, settings)" in python
    assert "--headroom 0.1" in shell
    assert "workprof memory bins" in shell
    assert "Bins of a task of memory" in [one.value.replace("\\", "") for one in test.header]
    assert "Reproduce in Python" in words(test)
    assert runs["bins"].step not in words(test)


def test_a_link_to_a_run_that_is_not_kept_says_so(app, runs):
    test = app("runs", runs_run="0123456789ab memory.bins")
    assert problems(test) == []
    assert "`runs_run` in the link could not be read: “0123456789ab memory.bins” is not one of" in words(test)


def test_a_clicked_line_is_chosen(app, runs):
    test = app("runs")
    position = list(table(test)["run"]).index(runs["replay"].run)
    test.session_state["runs_table"] = {"selection": {"rows": [position], "columns": []}}
    test.run()
    assert problems(test) == []


def test_two_runs_are_set_side_by_side(app, runs):
    test = app("runs", runs_run=label(runs["bins"]), runs_other=label(runs["other bins"]))
    assert problems(test) == []
    settings, numbers = (test.dataframe[i].value for i in (1, 2))
    assert set(settings["setting"]) == {"k", "headroom"}
    assert "optimal_improvement" in set(numbers["number"])
    assert "2 settings differ" in words(test)


def test_a_run_is_pinned_and_stays_so(app, runs, house):
    test = app("runs", runs_run=label(runs["bins"]))
    test.button(key="runs_pin").click().run()
    assert problems(test) == []
    assert house().workbench.stored_run(runs["bins"].run).pinned
    assert button(test, "Unpin")
    test = app("runs", runs_pinned="true")
    assert list(table(test)["run"]) == [runs["bins"].run]


def test_a_run_is_removed_after_a_question(app, runs, house):
    test = app("runs", runs_run=label(runs["bins"]))
    assert "can be computed again" in words(test)
    test.button(key="runs_remove_now").click().run()
    assert problems(test) == []
    assert runs["bins"].run not in {one.run for one in house().workbench.stored_runs()}


def test_a_job_without_a_result_is_listed(app, runs, house):
    workbench = house().workbench
    dataset = runs["bins"].dataset_hash
    job = workbench.bin_models.start(dataset, PredictorSettings(bins=BinSettings(task="no such task")))
    workbench.wait(job.key, 60)
    begun = workbench.bin_models.start(dataset, PredictorSettings(bins=BinSettings(task="neither")), ahead_s=1.0)
    workbench.wait(begun.key, 60)  # by the server, which lists what failed for somebody alone
    test = app("runs")
    assert problems(test) == []
    (shown,) = (one.value for one in test.dataframe if "state" in one.value.columns)
    assert shown["state"].tolist() == ["failed"]
    assert shown["step"].tolist() == ["memory.train"]
    assert shown["what"].tolist() == [STORED["memory.train"].finds]
    assert "no such task" in shown["message"].iloc[0]


@pytest.mark.parametrize("name", ["bins", "replay", "verdict", "fit"])
def test_opening_a_run_shows_it_and_computes_nothing(app, runs, house, name):
    run = runs[name]
    settings = house().workbench.run_settings(run.run)
    page = links.page_of(run.step)
    parameters = links.parameters_of(run.step, run.dataset_hash, settings, given_label(run))
    before = {one.key for one in house().workbench.stored_runs() if one.step == run.step}
    test = app(page, **parameters)
    assert problems(test) == []
    assert {one.key for one in house().workbench.stored_runs() if one.step == run.step} == before
    assert house().workbench.jobs() == ()
    assert "for the previous settings" not in words(test)
    assert test.metric or test.get("plotly_chart")


def test_a_tree_opens_the_clustering_that_is_cut_from_it(app, runs, house):
    fit = runs["fit"]
    (tree,) = (one for one in house().workbench.stored_runs() if one.step == "profiles.tree")
    settings = house().workbench.run_settings(tree.run)
    test = app("profiles", **links.parameters_of(tree.step, tree.dataset_hash, settings))
    assert problems(test) == []
    assert test.session_state["profiles_min_samples"] == fit.settings["min_samples"]
    assert test.session_state["profiles_sample_rows"] == fit.settings["sample_rows"]


@pytest.mark.parametrize(
    ("name", "title"), [("baseline", "Label baseline (Table II)"), ("stability", "Stability of the profiles")]
)
def test_a_result_beside_profiles_opens_with_its_settings_and_its_clustering(app, runs, house, name, title):
    run, workbench = runs[name], house().workbench
    parameters = links.parameters_of(run.step, run.dataset_hash, workbench.run_settings(run.run))
    if run.clustering:
        parameters |= links.fit_parameters(run.step, workbench.clustering_of(run))
    test = app("profiles", **parameters)
    assert problems(test) == []
    labels = [one.label for one in test.button]
    assert "Compute: Hopkins statistic" in labels
    assert f"Compute: {title}" not in labels
    assert workbench.jobs() == ()


def test_the_settings_of_a_hopkins_statistic_stand_in_its_link(app, runs, house):
    run, workbench = runs["hopkins"], house().workbench
    workbench.profiles(run.dataset_hash, ProfileSettings(seed=3))
    test = app("profiles", **links.parameters_of(run.step, run.dataset_hash, workbench.run_settings(run.run)))
    assert problems(test) == []
    assert "Compute: Hopkins statistic" not in [one.label for one in test.button]


def given_label(run):
    return "HEAVY" if run.step == "memory.bins" else ""


def test_the_button_opens_the_page(app, runs):
    test = app("runs", runs_run=label(runs["fit"]))
    test.button(key="runs_open").click().run()
    assert problems(test) == []
    assert test.title[0].value == "Profiles"


def test_every_step_has_a_view_and_words():
    assert [step for step, question in STORED.items() if not question.finds] == []
    shown = [one for step, one in STORED.items() if step.partition(".")[0] in ("memory", "nodes", "phases")]
    assert [one.name for one in shown if not one.tab and one.page != "home"] == []


def test_every_step_has_a_page():
    jobs = {"profiles", "sweep", "classify", "durations", "memory"}
    assert {links.page_of(step) for step in STORED} == jobs | {"home", "nodes", "phases"}


def test_changed_settings_are_told_in_words(runs):
    with Workbench(from_environment()) as bench:
        bins, stability = (bench.stored_run(runs[name].run) for name in ("bins", "stability"))
    assert bins.changed["headroom"] == "0.1"
    assert "Headroom: 10.0 %" in changed_words(bins.settings, BinSettings)
    told = changed_words(stability.settings, StabilitySettings)
    assert told and not any("_" in words or "[" in words for words in told)


def test_only_what_differs_from_the_defaults_is_told_where_some_setting_has_none():
    """An alignment has two runs to choose, so its class cannot be made without arguments."""
    asked = AlignmentSettings("a/1", "b/2", library=LibrarySettings(mode="faithful"))
    given = json.loads(canonical_json(asked))
    assert changed_words(given, AlignmentSettings) == ("First: a/1", "Laid over: b/2", "Mode: As published")
    assert changed_words(json.loads(canonical_json(MatchRunSettings("a/1"))), MatchRunSettings) == ("Run: a/1",)


def test_a_part_of_a_clustering_tells_what_of_the_clustering_it_has():
    given = json.loads(canonical_json(GroupSettings(scaler="standard", metric="manhattan", min_samples=50)))
    told = ("Scaler: Standard (z-score)", "Distance: Manhattan", "Minimum samples: 50")
    assert changed_words(given, GroupSettings) == told
    assert changed_words(json.loads(canonical_json(GroupSettings())), GroupSettings) == ()


PLAN = 'name = "trial"\nrepeats = 2\n[commands]\nkeep = "true"\nfail = "false"\n'


def test_campaigns_are_shown_with_their_progress_and_the_reasons_of_failures(app, home, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    runs = read_plan(plan).runs
    journal = Journal(tmp_path / "plan.campaign")
    with journal.held():
        for number, run in enumerate(runs):
            more = {"reason": "exit <b>*no*</b>: said nothing"} if run.command == "fail" else {}
            journal.note(run.name, "FAILED" if more else "PROFILED", attempt=1 + number, **more)
    enlist(home, plan, journal.folder)
    enlist(home, tmp_path / "gone.toml", tmp_path / "gone.campaign")
    test = app("runs")
    (bar,) = test.get("progress")
    assert bar.proto.value == 50
    assert bar.proto.text.replace("\\", "") == "2 of 4 runs of trial are done: 2 PROFILED, 2 FAILED."
    assert [item.value.replace("\\", "") for item in test.error] == ["2 runs of fail failed: exit <b>*no*</b>."]
    assert "gone.toml: the plan cannot be read" in words(test)
    (table,) = (item.value for item in test.dataframe if "attempt" in item.value)
    assert list(table["attempt"]) == [1, 2, 3, 4]
    test = app("runs", runs_state="FAILED")
    assert not test.exception
    (table,) = (item.value for item in test.dataframe if "attempt" in item.value)
    assert set(table["state"]) == {"FAILED"}
