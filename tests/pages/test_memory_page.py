"""The Memory page in every state: no data, wrong data, no requests, every view, training, replay, scenarios."""

import json
import shutil
import time

import numpy as np
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from pages._memory import plan, policies
from pages._memory.bins import after_edits
from pages._tour import slide
from tests.charts import records_for_memory as given
from tests.faults.soundness import until
from tests.pages.all_views import unfolded
from tests.pages.conftest import labels, problems, words
from workprof.answers.assessment import assessment_sentence
from workprof.answers.policies import acceptable, picked
from workprof.charts.memory.tasks import classes_chart
from workprof.core.settings import from_environment
from workprof.core.units import GB
from workprof.core.words import column_words
from workprof.memory.assessment import AssessmentSettings, ClassSettings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings
from workprof.memory.what_if import WhatIfSettings
from workprof.workbench import Workbench

VIEWS = ("Plan", "Tasks", "Bins", "Models", "Policies", "Ledger", "Scenarios")
MODELS = {"memory_trials": "0", "memory_sampling": "none", "memory_k": "2"}
POLICIES = {"memory_policies": ["workprof", "preset", "p95"]}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with a table of three tasks, the same one without requests, and kept models and a kept replay."""
    folder = tmp_path_factory.mktemp("memory")
    whole, bare, other = (folder / f"{name}.parquet" for name in ("runs", "bare", "other"))
    given.jobs().to_parquet(whole)
    given.jobs().drop(columns=["requested_memory_bytes"]).to_parquet(bare)
    given.jobs()[["task_name", "group", "duration_s"]].to_parquet(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            hashes = [workbench.ingest([path]).hash for path in (whole, bare, other)]
            bins = BinSettings(task=given.HEAVY, k=2)
            workbench.bin_models(hashes[0], PredictorSettings(bins=bins, sampling=("none",), trials=0))
            workbench.replay(hashes[0], ReplaySettings(policies=("workprof", "preset", "p95")))
    return folder / "home", hashes


@pytest.fixture
def runs(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1][0]


@pytest.fixture
def bare(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1][1]


@pytest.fixture
def other(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1][2]


@pytest.fixture
def killed(home, kept, tmp_path):
    """The table with a status: three of its runs were killed for memory; replayed."""
    shutil.copytree(kept[0], home)
    jobs = given.jobs()
    status = np.where(np.arange(len(jobs)) < 3, "OUT_OF_MEMORY", "COMPLETED")
    jobs.assign(status=status).to_parquet(tmp_path / "killed.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(home))
        with Workbench(from_environment()) as workbench:
            dataset = workbench.ingest([tmp_path / "killed.parquet"]).hash
            workbench.replay(dataset, ReplaySettings(policies=("workprof", "preset", "p95")))
    return dataset


@pytest.fixture
def page(app, runs):
    return lambda tab="Tasks", **more: app("memory", ds=runs, memory_tab=tab, **unfolded("memory"), **more)


def test_a_table_without_memory_names_what_is_missing(app, other):
    test = app("memory", ds=other)
    assert problems(test) == []
    assert "no column peak_memory_bytes (or rss)" in words(test)
    assert "Upload" in labels(test)


def test_a_view_begins_with_its_answer_and_folds_the_rest(app, runs, house):
    found = house().workbench.assessment(runs, AssessmentSettings())
    test = app("memory", ds=runs, memory_tab="Tasks")
    assert problems(test) == []
    assert test.main.markdown[1].value.replace("\\", "") == f"**{assessment_sentence(found)}**"
    assert len(test.metric) == 4
    assert [table.key for table in test.dataframe] == ["memory_tasks"]
    assert not test.get("plotly_chart")


def test_former_names_of_views_open_them(app, runs):
    views = {"Recommendation": "Plan", "Roll-up": "Plan", "What if": "Plan", "Ledger": "Explore", "Models": "Compare"}
    for former, now in views.items():
        test = app("memory", ds=runs, memory_tab=former)
        assert problems(test) == []
        assert test.session_state["memory_tab"] == now
    assert test.session_state["memory_compare"] == "Models"
    assert test.query_params["memory_compare"] in ("Models", ["Models"])


def test_every_slider_of_acceptable_kills_goes_as_far():
    assert {stops[-1] for stops in (plan.KILLS, policies.STOPS, slide.KILLS)} == {"50%"}


def test_the_acceptable_kills_choose_among_the_policies(page, runs, house):
    found = house().workbench.replay(runs, ReplaySettings(policies=("workprof", "preset", "p95")))
    for stop, kills in (("as today", None), ("0", 0.0), ("20%", 0.2 * found.n_test)):
        test = page("Policies", memory_policy_kills=stop, **POLICIES)
        assert problems(test) == []
        best = picked(found, 0.0, kills)
        assert {metric.label: metric.value for metric in test.metric}["Failed attempts"] == f"{best.failures:,.0f}"
        fewest = min(one.failures for one in found.frontier)
        assert best.failures <= max(acceptable(found, kills), fewest)


def test_the_limits_of_the_classes_can_be_set_and_found(page):
    test = page(memory_light="1", memory_moderate="2")
    assert problems(test) == []
    assert "(up to 1 GB), 2 moderate (up to 2 GB), 1 heavy" in words(test)
    test.segmented_control(key="memory_limits").set_value("auto").run()
    assert problems(test) == []
    assert "limits found" in words(test)


def test_every_setting_of_the_assessment_comes_from_a_link_to_its_control(page, house, runs):
    test = page(memory_limits="auto", memory_class_headroom="150", memory_class_weight="count")
    assert problems(test) == []
    assert test.number_input(key="memory_class_headroom").value == 150
    classes = ClassSettings("auto", headroom=1.5, weight="count")
    wanted, usual = (
        classes_chart(house().workbench.assessment(runs, AssessmentSettings(classes=one))).takeaway
        for one in (classes, ClassSettings("auto"))
    )
    assert wanted in words(test)
    assert usual not in words(test)


def test_without_requests_a_flat_one_is_asked_for(app, bare):
    for tab in VIEWS[:-1]:
        test = app("memory", ds=bare, memory_tab=tab)
        assert problems(test) == []
        assert "Assume one request for all (GB)" in words(test)
    test = app("memory", ds=bare, memory_tab="Bins")
    test.number_input(key="memory_request").set_value(64.0).run()
    assert problems(test) == []
    assert "of the GB·h that" in words(test)


def test_bins_say_which_one_the_next_run_of_a_task_gets(page, runs, house):
    test = page("Bins", memory_k="2")
    assert problems(test) == []
    found = house().workbench.bin_sizes(runs, BinSettings(task=given.HEAVY, k=2))
    (table,) = (one.value for one in test.dataframe if "bin_gb" in one.value.columns)
    assert table["size_name"].tolist() == [one.size_name for one in found.sizes]
    assert table["bin_gb"].tolist() == [one.size_bytes / GB for one in found.sizes]
    next(button for button in test.button if button.key == "memory_to_models").click().run()
    assert test.query_params["memory_compare"] == "Models"


def test_edges_of_ones_own_stand_in_the_address_and_take_effect(page):
    test = page("Bins", memory_edges="30, 5")
    assert problems(test) == []
    folded = [item.key for fold in test.expander for item in fold.text_input]
    assert "memory_edges" not in folded  # a link's limits are in sight
    assert "put in increasing order" in words(test)
    above = int((given.jobs()["peak_memory_bytes"] > 30 * GB).sum())
    assert f"{above} runs" in {metric.value for metric in test.metric}
    test.button(key="memory_edges_clear").click().run()
    assert problems(test) == []
    assert test.text_input(key="memory_edges").value == ""
    test.text_input(key="memory_edges").set_value("5, many").run()
    assert "'many' is no limit" in " ".join(item.value for item in test.error).replace("\\", "")
    assert len(test.get("plotly_chart")) == 2


def test_an_edited_edge_goes_into_the_field_and_no_edge_is_rounded_down():
    edges = (1.2345678901, 1.1, 64.0)
    changed = {"edited_rows": {2: {"edge_gb": 70.0}}, "deleted_rows": [], "added_rows": [{}]}
    assert after_edits(edges, changed) == "1.234568, 1.1, 70"
    changed = {"edited_rows": {}, "deleted_rows": [0], "added_rows": [{"edge_gb": 3.0}, {"edge_gb": None}]}
    assert after_edits(edges, changed) == "1.1, 64, 3"


def test_the_stride_search_is_flagged_and_can_be_made_as_published(page):
    test = page("Bins", memory_search="stride")
    assert problems(test) == []
    assert "published definitions" in words(test)
    test.button(key="memory_published").click().run()
    assert problems(test) == []
    shown = {name: test.session_state[f"memory_{name}"] for name in ("weight", "top", "search", "headroom", "step")}
    assert shown == {"weight": "count", "top": "pinned", "search": "stride", "headroom": 0.0, "step": 0.0}
    assert "as published" in words(test)


def test_a_task_of_an_old_link_that_is_not_there_is_told(page):
    test = page("Bins", memory_task="nothing like it")
    assert problems(test) == []
    assert "`memory_task` in the link could not be read" in words(test)


def test_kept_models_are_shown_with_estimate_replay_and_failures(page):
    test = page("Models", **MODELS)
    assert problems(test) == []
    shown = {metric.label for metric in test.metric}
    assert {"Replayed", "Estimated", "Failed attempts", "u-score"} <= shown
    assert len(test.get("plotly_chart")) == 4
    assert "Save scenario" in labels(test)


def test_one_fact_is_shown_and_can_be_chosen(page):
    test = page(memory_fact="group")
    assert problems(test) == []
    assert "group against the memory of 120 runs of HEAVY; it is known before the run" in words(test)
    test.selectbox(key="memory_fact").set_value("duration_s").run()
    assert problems(test) == []
    assert "not usable for prediction" in words(test)


def test_facts_of_after_the_run_have_to_be_ticked(page):
    test = page("Models")
    offered = test.multiselect(key="memory_after").options
    assert column_words("duration_s") in offered
    assert not {"group", column_words("group")} & {*offered}
    assert not test.multiselect(key="memory_after").value
    assert "Train the models" in labels(test)
    test.multiselect(key="memory_after").set_value(["duration_s"]).run()
    assert problems(test) == []
    assert test.query_params["memory_after"] == "duration_s"


def test_a_price_per_failure_picks_the_policy(page):
    test = page("Policies", **POLICIES)
    assert problems(test) == []
    assert len(test.get("plotly_chart")) == 4
    test.number_input(key="memory_pick").set_value(1e9).run()
    assert problems(test) == []
    assert {metric.label: metric.value for metric in test.metric}["Failed attempts"] == "0"
    assert "would need a second attempt" in words(test)


def test_a_replay_says_what_sizes_rest_on_and_what_did_not_finish(app, killed):
    test = app("memory", ds=killed, memory_tab="Policies", **unfolded("memory"), **POLICIES)
    assert problems(test) == []
    assert "Sized by workprof: " in words(test)
    assert "A run is known from its end on" in words(test)
    assert "3 out of memory" in words(test)
    assert "of which 3 tell a use of at least their limit" in words(test)


WHAT_IF = {"memory_times": "0.7", "memory_what_if_cap": "30"}


def test_a_what_if_is_kept_as_computed_and_comes_back_from_its_link(page, runs, house):
    test = page("Plan", **WHAT_IF)
    test.text_input(key="memory_keep_verdict_name").set_value("cut")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert problems(test) == []
    asked = VerdictSettings(what_if=WhatIfSettings(times=0.7, cap_bytes=30 * GB))
    found = house().workbench.verdict(runs, asked).memory.what_if
    (kept,) = house().workbench.scenarios(runs)
    assert kept.policy == "All requests times 0.7 and capped at 30 GB, in hindsight"
    assert (kept.saved_share, kept.n_failures, kept.n_never) == (found.saved_share, found.kills, found.never_run)
    assert found.never_run > 0
    test = page("Scenarios")
    assert problems(test) == []
    next(button for button in test.button if button.label == "Open cut").click().run()
    assert problems(test) == []
    shown = {name: test.number_input(key=name).value for name in WHAT_IF}
    assert shown == {"memory_times": 0.7, "memory_what_if_cap": 30.0}


def test_scenarios_are_kept_compared_and_removed(page, runs, house):
    test = page("Bins")
    test.text_input(key="memory_keep_bins_name").set_value("three *bins*")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert problems(test) == []
    assert "Saved as three *bins*" in words(test)
    test = page("Plan")
    test.text_input(key="memory_keep_verdict_name").set_value("one size")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    test = page("Scenarios")
    assert problems(test) == []
    assert list(test.dataframe[1].value.columns[1:]) == ["one size", "three *bins*"]
    assert "different tasks" in words(test)
    test.selectbox(key="memory_doomed").set_value("one size").run()
    test.button(key="memory_remove").click().run()
    assert problems(test) == []
    assert [one.name for one in house().workbench.scenarios(runs)] == ["three *bins*"]


def test_a_scenario_is_of_the_settings_that_its_result_belongs_to(page, runs, house):
    def save(test):
        return next(button for button in test.button if button.label == "Save scenario")

    test = page("Policies", **POLICIES)
    test.text_input(key="memory_keep_policy_name").set_value("twelve")
    test.number_input(key="memory_cold").set_value(12).run()
    assert "for the previous settings" in words(test)
    assert save(test).disabled
    assert "cannot be saved with the current ones" in words(test)
    next(button for button in test.button if button.label == "Replay the policies").click().run()
    until(lambda: not any(job.active for job in house().workbench.jobs()))
    test.run()
    assert not save(test).disabled
    test.text_input(key="memory_keep_policy_name").set_value("twelve")
    save(test).click().run()
    (kept,) = house().workbench.scenarios(runs)
    assert (kept.name, kept.settings["cold_runs"]) == ("twelve", 12)


def test_a_scenario_needs_a_name(page):
    test = page("Bins")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert test.exception.len == 0
    assert "give a name" in " ".join(item.value for item in test.error)


@pytest.mark.slow
def test_models_are_trained_in_the_background_and_cancelled(page, house):
    test = page("Models", memory_k="3", memory_trials="1000")
    test.button(key="memory_train").click().run()
    assert problems(test) == []
    assert "Cancel" in labels(test)
    workbench = house().workbench
    key = workbench.jobs()[0].key
    before = time.monotonic()
    next(button for button in test.button if button.label == "Cancel").click().run()
    until(lambda: not workbench.job(key).active)
    assert time.monotonic() - before < 5
    test.run()
    assert problems(test) == []
    assert "was cancelled" in words(test)


@pytest.mark.slow
def test_a_replay_runs_in_the_background_and_the_old_one_stays(page, house):
    test = page("Policies", **POLICIES)
    test.multiselect(key="memory_policies").set_value(["workprof", "preset"]).run()
    assert "for the previous settings" in words(test)
    test.button(key="memory_replay").click().run()
    workbench = house().workbench
    until(lambda: not workbench.jobs()[0].active)
    test.run()
    assert problems(test) == []
    assert len(next(one.value for one in test.dataframe if "total_gb_h" in one.value.columns)) == 2


def test_the_tables_of_the_thesis_stand_behind_a_fold(page, house):
    test = page("Models", **MODELS)
    assert "Make the tables" not in labels(test)
    test.session_state["memory_tables"] = True
    test.run()
    assert problems(test) == []
    test.button(key="memory_tables_make").click().run()
    workbench = house().workbench
    until(lambda: not workbench.jobs()[0].active)
    test.run()
    assert problems(test) == []
    eleven = next(one.value for one in test.dataframe if {"k", "estimated_improvement"} <= set(one.value.columns))
    assert eleven["k"].tolist() == [2, 3, 4]


def test_limits_have_four_digits_and_a_missing_value_is_a_dash(page):
    (editor,) = (one for one in page("Bins").dataframe if "edge_gb" in one.proto.columns)
    assert json.loads(editor.proto.columns)["edge_gb"]["type_config"]["format"] == "%.4g"
    texts = convert_arrow_bytes_to_pandas_df(editor.proto.arrow_data.styler.display_values)
    assert texts["runs_share"].str.endswith(" %").all()  # as in every other table
    assert editor.proto.placeholder == "–"
