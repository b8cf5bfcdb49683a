"""Long work outlives a reload: a new session with the same address has its progress, its Cancel and its result."""

import json
import threading
import time

import pytest

from tests.pages.conftest import labels, problems, words
from workprof.background import Ingests, Tasks

PATIENCE_S = 120


@pytest.fixture
def gate():
    opened = threading.Event()
    yield opened
    opened.set()


def waiting_for(gate):
    def work(progress):
        while not gate.is_set():
            progress(0.4, "counting: 2 of 5")
            time.sleep(0.02)

    return work


def click(test, label):
    next(button for button in test.button if button.label == label).click()
    return test.run()


KINDS = {
    "work_report": ("report", "reports", "Generating the report of few"),
    "work_ingest": ("data", "ingests", "Loading few"),
}


@pytest.mark.parametrize("name", KINDS)
def test_running_work_is_there_after_a_reload_and_can_be_cancelled(app, few, house, gate, name):
    page, registry, told = KINDS[name]
    tasks = getattr(house(), registry)
    key = tasks.begin("few", waiting_for(gate)).key
    test = app(page, ds=few, **{name: key})
    assert problems(test) == []
    assert told in words(test)
    assert "It continues when this page is closed" in words(test)
    assert not any("could not be read" in item.value for item in test.warning)
    click(test, "Cancel")
    assert tasks.wait(key, PATIENCE_S).state == "cancelled"
    test.run()
    assert "was cancelled" in words(test)


@pytest.mark.parametrize("name", KINDS)
def test_work_that_the_server_forgot_is_told(app, few, name):
    test = app(KINDS[name][0], ds=few, **{name: "0" * 32})
    assert problems(test) == []
    assert f"`{name}` in the link could not be read: this server no longer has that computation" in words(test)
    assert "start it again" in words(test)
    assert name not in test.query_params


def test_a_report_is_found_again_with_its_result(app, few, house):
    warm = click(app("report", ds=few, report_sections="data"), "Generate report")
    key = warm.query_params["work_report"]
    key = key[0] if isinstance(key, list) else key
    assert house().reports.wait(key, PATIENCE_S).state == "done"
    cold = app("report", ds=few, report_sections="data", work_report=key)
    assert problems(cold) == []
    assert "1 of 1 sections" in words(cold)
    assert "other sections" not in words(cold)


def test_a_stranger_does_not_see_it(app, few, house, gate):
    house().reports.begin("few", waiting_for(gate))
    house().ingests.begin("few", waiting_for(gate))
    for page in ("report", "data"):
        test = app(page, ds=few)
        assert "Cancel" not in labels(test)
        assert any("2 computations running" in item.value for item in test.sidebar.markdown)


def _given(node):
    return json.loads(node.proto.json)


def test_a_copied_link_leaves_running_work_out(app, few, house, gate):
    key = house().reports.begin("few", waiting_for(gate)).key
    test = app("report", ds=few, report_note="x", work_report=key)
    assert test.query_params["work_report"] == key
    told = next(one for one in map(_given, test.main.get("bidi_component")) if "but" in one)
    assert told == {"name": "ds", "value": few, "but": "work_"}  # and the browser takes the rest of its address


def test_registries_are_of_the_kinds_that_pages_follow(house, few):
    assert isinstance(house().ingests, Ingests)
    assert all(isinstance(tasks, Tasks) for tasks in (house().reports, house().batches, house().observed))
