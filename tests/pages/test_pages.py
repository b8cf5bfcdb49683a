"""Every page in every state: no data, the sample, a real trace, a bad file, running, cancelled."""

import pytest

from pages._frame import look
from tests.pages.conftest import labels, problems, words
from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.answers.over_time import memory_sentence
from workprof.core.settings import from_environment
from workprof.memory.over_time import OverTimeSettings
from workprof.profiles.settings import GOOGLE9, ProfileSettings
from workprof.workbench import Workbench

PAGES = ("home", "data", "profiles")
NEEDED = {
    **dict.fromkeys((*PAGES, "classify", "sweep", "durations", "runs", "report"), ""),
    "memory": "peak_memory_bytes",
    "nodes": "columns are node, benchmark, argv, started",
    "phases": "counters by the second",
}
"""Page -> what it says that it needs where nothing is loaded."""
VIEWS = ("Profile", "Map", "Box plots", "Silhouettes", "Metadata")


@pytest.mark.parametrize("page", NEEDED)
def test_an_empty_home_offers_the_sample_and_says_what_a_page_needs(app, page):
    test = app(page)
    assert problems(test) == []
    assert "Load sample" in labels(test)
    assert NEEDED[page] in words(test)


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
def test_one_click_loads_the_sample(app, page):
    test = app(page)
    next(button for button in test.button if button.label == "Load sample").click().run()
    assert problems(test) == []
    assert "Load sample" not in labels(test)
    assert test.query_params["ds"]


@pytest.mark.parametrize("page", PAGES)
def test_the_sample_opens_on_every_page(app, loaded, page):
    test = app(page)
    assert problems(test) == []
    assert len(test.title) == 1
    assert loaded.hash[:8] in words(test)


FOLDS = {
    "Tree": "profiles_tree_fold",
    "Sizes": "profiles_sizes_fold",
    "Cluster tendency": "profiles_tendency_fold",
    "Is there anything to cluster?": "profiles_tendency_fold",
    "Unusual runs": "profiles_unusual_fold",
    "Export": "profiles_export_fold",
    "Take away": "profiles_export_fold",
}


@pytest.mark.some(2)
@pytest.mark.parametrize("tab", FOLDS)
def test_links_of_former_tabs_of_the_profiles_open_their_folds(app, loaded, tab):
    test = app("profiles", profiles_tab=tab)
    assert problems(test) == []
    assert test.session_state[FOLDS[tab]] is True
    assert "profiles_tab" not in test.query_params
    assert [one.label for one in test.tabs] == list(VIEWS)


@pytest.mark.parametrize(
    ("page", "former", "now"),
    [("profiles", "Export", "profiles_export_fold"), ("memory", "Ledger", "memory_explore")],
)
def test_a_link_of_a_former_view_is_followed_on_a_page_that_is_open(app, loaded, page, former, now):
    """Their controls are bound to the address then, which Streamlit lets nobody else write."""
    opened = {"profiles_export_fold": "true"} if page == "profiles" else {"memory_tab": "Explore"}
    test = app(page, **opened)
    assert problems(test) == []
    test.query_params.clear()
    test.query_params[f"{page}_tab"] = former
    test.run()
    assert problems(test) == []
    assert test.session_state[now] in (True, former)


def test_a_link_of_the_former_fold_of_quality_opens_the_silhouettes(app, loaded):
    test = app("profiles", profiles_quality="true")
    assert problems(test) == []
    assert len(test.metric) >= 11
    assert test.session_state["profiles_tab"] == "Silhouettes"


def test_a_phone_has_the_fingerprints_folded_above_every_view_but_the_first(app, loaded, monkeypatch):
    monkeypatch.setattr(look, "narrow", lambda: True)
    drawn = [
        any(one.key == "profiles_fingerprints_plot" for one in app("profiles", **given).get("plotly_chart"))
        for given in ({}, {"profiles_tab": "Metadata"})
    ]
    assert drawn == [True, False]


def test_profiles_are_used_everywhere_by_a_button_that_says_what_changes(app, loaded, house):
    other = ProfileSettings(min_cluster_size=80, min_samples=45)
    house().workbench.profiles(loaded.hash, other)
    test = app("profiles", profiles_min_cluster_size="80", profiles_min_samples="45")
    assert "Home, Memory, Durations, Nodes and the report show these" in words(
        test
    ) and "Classify trains for them" in words(test)
    test.button(key="profiles_everywhere").click().run()
    assert "Home, Classify, Memory, Durations, Nodes and Report use these profiles" in words(test)
    found = house().workbench.over_time(loaded.hash, OverTimeSettings(by="profile"), fit=other)
    test.switch_page("pages/home.py").run()
    assert problems(test) == []
    assert memory_sentence(found) in words(test)
    test.switch_page("pages/durations.py").run()
    assert "80 rows" in test.selectbox(key="durations_clustering").value
    test.switch_page("pages/classify.py").run()
    assert "at least 80 runs each" in words(test)


@pytest.mark.some(1)
@needs_shared_data
@pytest.mark.parametrize("page", PAGES)
def test_a_real_trace_opens_on_every_page(app, home, page):
    with Workbench(from_environment()) as workbench:
        report = workbench.ingest([PAI_SAMPLE])
        workbench.profiles(report.hash)
    test = app(page)
    assert problems(test) == []
    assert "686 runs" in words(test)


def test_a_link_with_the_start_of_a_hash_opens_it(app, loaded):
    assert loaded.hash[:8] in words(app("home", ds=loaded.hash[:10]))


def test_a_link_names_a_dataset_by_its_name(app, loaded):
    test = app("memory", ds=loaded.dataset)
    assert problems(test) == []
    assert test.query_params["ds"] in (loaded.hash, [loaded.hash])
    assert test.sidebar.selectbox(key="shell_dataset").value == loaded.hash


def test_presets_fill_the_form(app, loaded):
    test = app("profiles")
    test.button(key="preset_paper").click().run()
    assert test.number_input(key="profiles_min_cluster_size").value == 300
    test.button(key="preset_default").click().run()
    assert test.number_input(key="profiles_min_cluster_size").value == 0


def test_a_csv_of_pairs_fills_the_form(app, loaded):
    test = app("profiles", profiles_settings="true")
    assert "Google 2011 (DBSCAN)" not in labels(test)  # the trace has none of its columns
    test.file_uploader(key="profiles_pairs_upload").set_value(
        ("pairs.csv", b"must,1,2\nmust-not,3,4", "text/csv")
    ).run()
    assert test.text_input(key="profiles_must").value == "1+2"
    assert test.text_input(key="profiles_must_not").value == "3+4"
    assert "1 group of runs alike and 1 of runs unlike" in words(test)


def test_the_preset_of_googles_trace_fills_the_form_and_is_taken_back(app, house, tmp_path):
    names = ("job_name", *GOOGLE9)
    path = tmp_path / "windows.csv"
    path.write_text(
        "\n".join(",".join(map(str, row)) for row in (names, *((n, *range(n, n + 9)) for n in range(1, 60))))
    )
    test = app("profiles", ds=house().workbench.ingest([path]).hash)
    test.button(key="preset_google-2011").click().run()
    assert problems(test) == []
    assert test.multiselect(key="profiles_features").value == list(GOOGLE9)
    assert test.number_input(key="profiles_min_samples").value == 100
    assert (test.selectbox(key="profiles_algorithm").value, test.selectbox(key="profiles_set").value) == (
        "dbscan",
        "own",
    )
    test.button(key="preset_default").click().run()
    assert (test.selectbox(key="profiles_algorithm").value, test.selectbox(key="profiles_set").value) == (
        "hdbscan", "auto"
    )  # fmt: skip


def test_the_faithful_mode_is_flagged(app, loaded, house):
    house().workbench.profiles(loaded.hash, ProfileSettings(mode="faithful", sample_rows=1000))
    test = app("profiles", profiles_mode="faithful", profiles_sample_rows="1000")
    assert problems(test) == []
    assert "Published definitions" in words(test)


def test_a_fit_runs_in_the_background_is_cancelled_and_the_old_result_stays(app, loaded, house):
    test = app("profiles", profiles_quality="true")
    before = [metric.value for metric in test.metric]
    assert before
    test.number_input(key="profiles_min_samples").set_value(77)
    submit = next(button for button in test.button if button.label == "Find profiles with these settings")
    submit.click().run()
    assert problems(test) == []
    job = next(job for job in house().workbench.jobs() if job.step == "profiles.fit")
    if job.active:
        assert "previous settings" in words(test)
        assert [metric.value for metric in test.metric] == before
        house().workbench.cancel(job.key)
        test.run()
        assert "cancelled" in words(test)
    assert problems(test) == []


def test_settings_that_cannot_work_end_in_a_clear_message(app, loaded, house):
    test = app("profiles")
    test.number_input(key="profiles_min_cluster_size").set_value(1_000_000)
    next(button for button in test.button if button.label == "Find profiles with these settings").click().run()
    for job in house().workbench.jobs():
        house().workbench.wait(job.key, 60)
    test.run()
    assert test.exception.len == 0
    assert "cannot hold two profiles" in " ".join(item.value for item in test.info)


def test_a_name_given_to_a_profile_is_kept(app, loaded, house):
    test = app("profiles")
    field = next(item for item in test.text_input if item.key.startswith("note_name_"))
    field.set_value("short <b>ps</b>")
    next(button for button in test.button if button.label == "Save").click().run()
    assert problems(test) == []
    kept = house().workbench.profile_notes(loaded.hash, ProfileSettings())
    assert {profile: note.name for profile, note in kept.items()} == {int(field.key[10:]): "short <b>ps</b>"}
    assert test.session_state[f"note_popup_{field.key[10:]}"] is False  # it has done its work


def test_an_export_counts_profiles_without_the_unclustered(app, loaded, house):
    test = app("profiles", profiles_tab="Export")
    n = house().workbench.profiles(loaded.hash).scores.n_clusters
    assert f"Summary of {n} profiles (CSV)" in [one.proto.label for one in test.get("download_button")]
