"""WORKPROF_READONLY on every page: it opens, says so, and every control that would change the store is off."""

import hashlib
import shutil

import pandas as pd
import pytest

from pages._frame.visit import READONLY
from tests.charts import records_for_memory as given
from tests.pages import whole_home
from tests.pages.conftest import SAMPLE, problems, words
from workprof.core.settings import from_environment
from workprof.memory.bin_search import BinSettings
from workprof.memory.scenarios import Scenario
from workprof.profiles.settings import ProfileSettings
from workprof.store.home import DATABASE
from workprof.workbench import Workbench

PAGES = ("home", "data", "profiles", "classify", "sweep", "durations", "memory", "nodes", "phases", "runs", "report")
ROWS = 500


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with jobs and their profiles, and a memory table with kept bins and a scenario."""
    folder = tmp_path_factory.mktemp("readonly")
    given.jobs().to_parquet(folder / "tasks.parquet")
    pd.read_parquet(SAMPLE).head(ROWS).to_parquet(folder / "jobs.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as bench:
            jobs = bench.ingest([folder / "jobs.parquet"]).hash
            bench.profiles(jobs, ProfileSettings())
            tasks = bench.ingest([folder / "tasks.parquet"]).hash
            bench.bins(tasks, BinSettings(task=given.HEAVY, k=2))
            nan = float("nan")
            numbers = (nan, nan, nan, nan, nan, 0, -1, nan)
            bench.save_scenario(tasks, Scenario("kept", "tasks", tasks, "", "p95", {}, *numbers, "EUR", ""))
    return folder / "home", jobs, tasks


@pytest.fixture
def readonly(app, home, kept, monkeypatch):
    """Return a function that opens a page read-only; at the end the database must be as it was."""
    shutil.copytree(kept[0], home)
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    before = content(home)
    yield app
    assert content(home) == before


def content(home):
    return hashlib.sha256((home / DATABASE).read_bytes()).hexdigest()


def off(test, label):
    """Check that a page's buttons of this label are there, are off, and say why."""
    found = [button for button in test.button if button.label == label]
    assert found, [button.label for button in test.button]
    assert all(button.disabled and button.help == READONLY for button in found)


@pytest.mark.some(2)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_and_says_so(readonly, kept, page):
    test = readonly(page, ds=kept[1])
    assert problems(test) == []
    assert "Read-only: everything can be viewed" in " ".join(item.value for item in test.sidebar.caption)


def test_nothing_can_be_loaded_renamed_or_removed(readonly, kept):
    test = readonly("data", ds=kept[1])
    off(test, "Rename")
    off(test, "Remove")
    assert "This server is read-only: datasets cannot be imported." in words(test)
    assert "Import" not in [button.label for button in test.button]
    assert len(test.file_uploader) == 0


def test_the_sample_cannot_be_loaded(readonly):
    off(readonly("nodes"), "Load sample")
    off(readonly("phases"), "Load sample")


def test_profiles_cannot_be_named(readonly, kept):
    test = readonly("profiles", ds=kept[1])
    off(test, "Name and note")
    assert len(test.text_area) == 0


def test_scenarios_cannot_be_kept_or_removed(readonly, kept):
    test = readonly("memory", ds=kept[2], memory_tab="Bins", memory_k="2")
    off(test, "Save scenario")
    test = readonly("memory", ds=kept[2], memory_tab="Scenarios")
    off(test, "Remove scenario")
    assert problems(test) == []


def test_runs_cannot_be_pinned_or_removed(readonly, kept):
    test = readonly("runs")
    off(test, "Pin")
    assert all(button.disabled for button in test.button if button.label == "Forget it")


@pytest.mark.slow
def test_finished_jobs_cannot_be_kept(app, home, tmp_path_factory, monkeypatch):
    jobs = whole_home.make(home.parent, tmp_path_factory).jobs  # whose forecaster is trained
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    before = content(home)
    test = app("classify", ds=jobs, classify_tab="Drift")
    assert problems(test) == []
    assert "finished jobs cannot be added" in words(test)
    assert "Observe" not in [button.label for button in test.button]
    assert content(home) == before


def test_a_kept_result_opens_and_another_is_computed(readonly, kept, house):
    test = readonly("memory", ds=kept[2], memory_tab="Bins", memory_k="2")
    assert problems(test) == []
    first = [metric.value for metric in test.metric]
    other = readonly("memory", ds=kept[2], memory_tab="Bins", memory_k="3")
    assert problems(other) == []
    assert [metric.value for metric in other.metric] != first


@pytest.mark.parametrize(("said", "off"), [("on", True), ("TRUE", True), (" 1 ", True), ("0", False), ("", False)])
def test_the_switch_takes_what_people_write(monkeypatch, said, off):
    monkeypatch.setenv("WORKPROF_READONLY", said)
    assert from_environment().readonly == off


def test_a_slip_of_the_pen_is_told_and_not_taken_for_no(app, loaded, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "ja")
    test = app("data")
    (told,) = problems(test)
    assert "READONLY is 'ja'" in told.replace("\\", "")


def test_a_home_without_a_database_is_told(app, home, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    test = app("home")
    (told,) = problems(test)
    assert "holds no database" in told.replace("\\", "")
    assert not home.exists()
