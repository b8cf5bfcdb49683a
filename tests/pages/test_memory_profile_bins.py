"""Memory's Bins about a profile: the library's numbers, the card's link, links of every age, and no profiles at all."""

import shutil

import pytest
import streamlit as st

from tests.charts import records_for_memory as given
from tests.pages import addresses
from tests.pages.all_views import unfolded
from tests.pages.conftest import problems, words
from workprof.answers.saved_runs import run_label
from workprof.core.settings import from_environment
from workprof.core.units import gb_h
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import ProfileNote
from workprof.workbench import Workbench

ROWS = 600
OTHER = ProfileSettings(min_cluster_size=40, min_samples=40)


def shown(test):
    return {metric.label: metric.value for metric in test.metric}


@pytest.fixture(scope="module")
def kept(tmp_path_factory, prepared):
    """A home with a part of the sample in two clusterings, a profile with a name, and a table without profiles."""
    folder = tmp_path_factory.mktemp("profiles")
    shutil.copytree(prepared[0], folder / "home")
    given.jobs().to_parquet(folder / "runs.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as bench:
            part = bench.sample(prepared[1].hash, "workload", ROWS, "part").hash
            for settings in (ProfileSettings(), OTHER):
                bench.profiles(part, settings)
            bench.set_profile_note(part, ProfileSettings(), ProfileNote(1, "long readers", ""))
            return folder / "home", part, bench.ingest([folder / "runs.parquet"]).hash


@pytest.fixture
def part(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def page(app, part):
    return lambda **more: app("memory", ds=part, memory_tab="Bins", **(unfolded("memory") | more))


def test_the_profiles_are_offered_by_their_names(page):
    test = page()
    assert problems(test) == []
    offered = test.selectbox(key="memory_profile")
    assert offered.value == "the task above"
    assert offered.options[0] == "The task"
    assert offered.options[1].endswith(" (P0)")
    assert offered.options[2] == "long readers (P1)"
    assert "Wasted" not in shown(test)


def test_such_a_plan_needs_the_profile_beforehand(page):
    test = page(memory_profile="P0")
    assert "needs the profile before the run" in words(test)
    test.button(key="memory_to_classify").click().run()
    assert test.exception.len == 0
    assert test.title[0].value == "Classify"


@pytest.mark.parametrize("link", ["1", "P1", "P1 an old name"])
def test_a_link_by_number_or_by_an_old_name_opens_the_profile(page, link):
    test = page(memory_profile=link)
    assert problems(test) == []
    assert test.selectbox(key="memory_profile").value == "long readers (P1)"
    assert test.query_params["memory_profile"] in ("long readers (P1)", ["long readers (P1)"])
    assert "in the link could not be read" not in words(test)
    test.selectbox(key="memory_profile").set_value("the task above").run()
    assert problems(test) == []
    assert "Wasted" not in shown(test)


@pytest.mark.some(2)
@pytest.mark.parametrize("link", ["999", "P1x", "nothing", "-1", "Outliers"])
def test_a_link_to_no_profile_is_told_and_the_task_is_shown(page, link):
    test = page(memory_profile=link)
    assert problems(test) == []
    assert f"`memory_profile` in the link could not be read: “{link}” is not one of the choices" in words(test).replace(
        "\\", ""
    )
    assert test.selectbox(key="memory_profile").value == "the task above"
    assert len(test.get("plotly_chart")) == 2


def test_another_clustering_has_profiles_of_its_own(page, part, house):
    name = next(one for one in page().selectbox(key="memory_clustering").options if "40 rows" in one)
    test = page(memory_profile="P0", memory_clustering=name)
    assert problems(test) == []
    found = house().workbench.profile_bins(part, ProfileBinSettings(0), fit=OTHER)
    assert shown(test)["Wasted"] == gb_h(found.wasted_gb_h)


def test_a_changed_view_opens_the_same_from_its_address_on_a_cold_server(page):
    warm = page(memory_profile="P0")
    skipped = {"memory_profile", "memory_edges"}
    assert addresses.change(warm, lambda name: name in skipped)
    warm.run()
    parameters = addresses.address(warm)
    st.cache_resource.clear()
    cold = page(**{name: value for name, value in parameters.items() if name not in ("ds", "memory_tab")})
    assert problems(cold) == problems(warm)
    assert addresses.values(cold) == addresses.values(warm)
    assert addresses.shown(cold) == addresses.shown(warm)
    assert warm.selectbox(key="memory_clustering").value != "default"


def test_a_full_task_name_of_a_link_stays_in_the_address(app, part, kept):
    test = app("memory", ds=kept[2], memory_tab="Bins", memory_task=given.LIGHT, **unfolded("memory"))
    assert problems(test) == []
    assert test.selectbox(key="memory_task").value == "LIGHT"
    assert test.query_params["memory_task"] in ("LIGHT", ["LIGHT"])


def test_edges_of_ones_own_and_a_scenario(page, part, house):
    test = page(memory_profile="P0", memory_edges="2, 1")
    assert problems(test) == []
    assert "put in increasing order" in words(test)
    test.text_input(key="memory_keep_bins_name").set_value("of a profile")
    next(button for button in test.button if button.label == "Save scenario").click().run()
    assert problems(test) == []
    (scenario,) = house().workbench.scenarios(part)
    assert scenario.settings["profile"].endswith(" (P0) (default)")
    assert scenario.settings["edges_gb"] == "1, 2"


def test_a_table_without_profiles_has_bins_of_its_tasks_and_the_way_to_profiles(app, part, kept):
    test = app("memory", ds=kept[2], memory_tab="Bins", **unfolded("memory"))
    assert problems(test) == []
    assert test.selectbox(key="memory_profile").options == ["The task"]
    test = app("memory", ds=kept[2], memory_tab="Bins", memory_profile="P0", **unfolded("memory"))
    assert problems(test) == []
    assert "`memory_profile` in the link could not be read" in words(test)
    assert len(test.get("plotly_chart")) == 2
    test.button(key="memory_find_profiles").click().run()
    assert test.title[0].value == "Profiles"


def test_the_card_leads_to_the_memory_plan_of_its_profile(app, part):
    test = app("profiles", ds=part)
    first = next(button for button in test.button if button.label == "Memory plan")
    assert "Its main task" in first.help
    first.click().run()
    assert problems(test) == []
    assert test.title[0].value == "Memory"
    assert test.selectbox(key="memory_profile").value.endswith(" (P0)")
    assert "Wasted" in shown(test)


def test_a_kept_run_opens_with_its_profile_and_clustering(app, part, house):
    house().workbench.profile_bins(part, ProfileBinSettings(1, BinSettings(k=4)), fit=OTHER)
    run = next(one for one in house().workbench.stored_runs() if one.step == "memory.profile_bins")
    test = app("runs", runs_run=run_label(run))
    assert problems(test) == []
    test.button(key="runs_open").click().run()
    assert problems(test) == []
    assert test.selectbox(key="memory_profile").value.endswith(" (P1)")
    assert "40 rows" in test.selectbox(key="memory_clustering").value
    assert test.slider(key="memory_k").value == 4
