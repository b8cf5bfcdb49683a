"""The tour: the same numbers as the pages, stop by stop, without a form; prepared once, beside the page."""

import time
from types import SimpleNamespace

import pytest
import streamlit as st

from pages._frame.visit import SAMPLES
from pages._tour import preparation
from tests.memory.test_verdict import jobs
from tests.pages import toured_home
from tests.pages.conftest import PATIENCE_S, problems
from tests.pages.toured_home import FILES
from workprof.answers.verdict import sentence
from workprof.background import Tasks
from workprof.core.words import markdown_text
from workprof.memory.questions import VERDICT
from workprof.memory.verdict import VerdictSettings
from workprof.report.tour import STOPS, missing, samples_of, stops_of, trade
from workprof.workbench import JOBS

FORMS = ("selectbox", "multiselect", "number_input", "text_input", "text_area", "slider", "toggle", "checkbox", "tabs")
PAGES = [stop.page for stop in STOPS]
VIEWS = {"memory": {"memory_tab": VERDICT.tab}}


@pytest.fixture
def toured(home, tmp_path_factory):
    """A home as `workprof demo` leaves it, a copy for each test: the hashes of its samples by kind."""
    return toured_home.make(home, tmp_path_factory)


def heading(test):
    return test.title[0].value


def place(test):
    return next(item.value for item in test.markdown if " of " in str(item.value)).strip("*")


def metrics(test):
    return {(item.label, item.value) for item in test.metric}


def until(test, done):
    """Run the page again until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not done(test) and time.monotonic() < end:
        time.sleep(0.2)
        test.run()
    assert done(test)
    return test


@pytest.mark.soak
@pytest.mark.slow
def test_next_leads_through_every_stop_in_order_without_a_form(app, house, toured):
    test = app("home", demo="1")
    for at, stop in enumerate(STOPS, start=1):
        assert problems(test) == []
        assert place(test) == f"{at} of {len(STOPS)} · {stop.title}"
        assert test.query_params["demo"] == "1"
        assert not any(test.get(form) for form in FORMS)
        assert [one.key for one in test.select_slider] == (["tour_kills"] if stop.page == "memory" else [])
        assert ("tour_hold_out" in [one.key for one in test.button]) == (stop.page == "classify")
        assert not test.sidebar.children
        told = stop.make(house().workbench, toured[JOBS])
        assert heading(test) == markdown_text(told.headline, 600)
        assert [item.proto.alt for item in test.get("plotly_chart")] == [chart.alt for chart in told.charts]
        button = test.button(key="tour_next")
        assert button.disabled == (at == len(STOPS))
        if not button.disabled:
            button.click().run()
    test.button(key="tour_previous").click().run()
    assert place(test) == f"{len(STOPS) - 1} of {len(STOPS)} · {STOPS[-2].title}"


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("page", [*PAGES, "durations", "nodes", "phases", "data", "help"])
def test_every_address_with_the_switch_opens_a_stop(app, toured, page):
    test = app(page, demo="1")
    assert problems(test) == []
    former = {"durations": 3}
    number = PAGES.index(page) + 1 if page in PAGES else former.get(page, 1)
    assert place(test).startswith(f"{number} of {len(STOPS)} · ")


@pytest.mark.slow
@pytest.mark.parametrize("page", ["home", "memory"])
def test_the_figures_of_a_stop_are_those_of_its_page(app, toured, page):
    on_tour = metrics(app(page, demo="1"))
    assert on_tour
    assert on_tour <= metrics(app(page, ds=toured[JOBS], **VIEWS.get(page, {})))


@pytest.mark.slow
def test_the_saving_of_the_tour_is_the_verdicts(app, house, toured):
    told = app("memory", demo="1").title[0].value
    found = house().workbench.verdict(toured[JOBS])
    assert told == markdown_text(sentence(found), 600)
    page = app("memory", ds=toured[JOBS])
    assert not any("are not computed yet" in str(item.value) for item in page.markdown)  # the defaults are the tour's


@pytest.mark.slow
def test_the_slider_moves_the_verdict(app, house, toured):
    test = app("memory", demo="1")
    for kills in ("0", "20%"):
        test.select_slider(key="tour_kills").set_value(kills).run()
        assert problems(test) == []
        told = trade(house().workbench, toured[JOBS], kills)
        assert heading(test) == markdown_text(told.headline, 600)
        assert [item.proto.alt for item in test.get("plotly_chart")] == [chart.alt for chart in told.charts]
    cautious, bold = (
        house().workbench.verdict(toured[JOBS], VerdictSettings(acceptable_kills=kills)) for kills in ("0", "20%")
    )
    assert cautious.memory.judged.expected_kills < bold.memory.judged.expected_kills


def test_what_failed_for_one_trace_is_not_told_of_another():
    tasks = Tasks("lost")
    begun = tasks.begin(preparation.LABEL.format("a"), lambda _: None)
    state = SimpleNamespace(reports=tasks)
    assert preparation.latest(state, SimpleNamespace(hash="a")).key == begun.key
    assert preparation.latest(state, SimpleNamespace(hash="b")) is None
    tasks.close()


@pytest.mark.slow
def test_leaving_leads_to_the_page_of_the_stop(app, toured):
    test = app("memory", demo="1")
    test.button(key="tour_leave").click().run()
    assert problems(test) == []
    assert heading(test) == "Memory"
    assert "demo" not in test.query_params
    assert test.query_params["ds"] == toured[JOBS]


@pytest.mark.slow
def test_the_report_is_made_beside_the_page_and_can_be_saved(app, toured):
    test = until(app("report", demo="1"), lambda test: test.get("download_button"))
    assert problems(test) == []
    assert heading(test).startswith("Decision")
    assert any("What this cannot promise" in str(item.value) for item in test.markdown)
    assert len(test.get("download_button")) == 3
    again = app("report", demo="1")  # another session finds it ready
    assert len(again.get("download_button")) == 3


@pytest.mark.slow
def test_a_read_only_server_shows_what_is_kept(app, toured, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    test = app("memory", demo="1")
    assert problems(test) == []
    assert place(test) == f"4 of {len(STOPS)} · Trade-off"


def test_a_read_only_server_says_what_is_missing(app, house, loaded, monkeypatch):
    monkeypatch.setenv("WORKPROF_READONLY", "1")
    test = app("home", demo="1")
    assert problems(test) == []
    words = test.info[0].value
    assert "the test of the classifier, the replay of sizing policies" in words
    assert "workprof demo" in words
    assert not test.button
    assert house().reports.views() == ()


def test_without_measured_samples_the_tour_lacks_what_is_of_jobs_only(app, house, loaded):
    app("data")
    workbench = house().workbench
    (kept,) = (one for one in workbench.stored_runs() if one.step == VERDICT.name)
    workbench.remove_run(kept.run)
    assert set(samples_of(workbench, FILES)) == {JOBS}
    assert missing(workbench, loaded.hash) == (
        *("the test of the classifier", "the requests", "the replay of sizing policies"),
    )


@pytest.mark.slow
def test_a_fresh_home_prepares_the_tour_with_progress_cancel_and_a_way_on(app, house, home):
    test = app("home")  # empty: the tour loads the samples
    next(button for button in test.main.button if button.label == "Start the tour").click().run()
    assert problems(test) == []
    assert heading(test) == "The tour is being prepared"
    assert {entry.kind for entry in house().workbench.datasets()} == set(SAMPLES)
    (work,) = house().reports.views()
    app("home", demo="1")  # a second session joins the work
    assert len(house().reports.views()) == 1
    next(button for button in test.button if button.key == f"cancel_{work.key}").click().run()
    house().reports.wait(work.key, PATIENCE_S)
    test.run()
    assert any("stopped" in item.value for item in test.info)
    assert not house().workbench.jobs() or not house().workbench.jobs()[0].active
    test.button(key="tour_go_on").click().run()
    assert problems(test) == []
    assert len(house().reports.views()) == 2
    st.cache_resource.clear()


@pytest.mark.slow
def test_a_sample_that_is_gone_is_loaded_again(app, house, toured):
    house().workbench.remove(toured["benchmarks"])
    test = app("home", demo="1")
    assert problems(test) == []
    assert place(test) == f"1 of {len(STOPS)} · Waste"
    assert set(samples_of(house().workbench, FILES)) == set(SAMPLES)


@pytest.mark.slow
def test_the_tour_is_of_the_chosen_trace_and_leaves_out_what_it_cannot_tell(app, house, toured):
    workbench = house().workbench
    table = jobs(3).drop(columns="finished").assign(duration_s=600.0, end_time_s=lambda one: one.start_time_s + 600)
    hashed = workbench.ingest(table).hash
    test = until(app("home", demo="1", ds=hashed), lambda test: "prepared" not in heading(test))
    assert problems(test) == []
    stops = stops_of(workbench, hashed)
    assert [stop.page for stop in stops] == ["home", "memory", "report"]  # no profiles: its runs differ in memory alone
    assert place(test) == f"1 of {len(stops)} · Waste"
    assert heading(test) == markdown_text(stops[0].make(workbench, hashed).headline, 600)
    assert any("another period may differ" in str(item.value) for item in test.warning)
    test.button(key="tour_next").click().run()
    assert test.query_params["ds"] in (hashed, [hashed])
    assert place(test) == "2 of 3 · Trade-off"
    last = app("report", demo="1", ds=hashed)
    assert heading(last).replace("\\", "").startswith("Decision: save ")


@pytest.mark.slow
def test_a_renamed_sample_is_still_the_sample(app, house, toured):
    house().workbench.rename(toured[JOBS], "another name")
    assert samples_of(house().workbench, FILES)[JOBS].name == "another name"
    assert problems(app("profiles", demo="1")) == []
