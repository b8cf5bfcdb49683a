"""Ingests in the background: progress, cancel, failure, and what is cleaned up."""

import sys
import threading
import time

from workprof.background import Ingests
from workprof.core.errors import TraceError
from workprof.store.reports import IngestOptions, IngestReport

REPORT = IngestReport("x", "ab", "jobs", "generic", 1, 1, 0, None, (), (), 0.1)


def test_steps_and_result_are_told(tmp_path):
    folder = tmp_path / "upload"
    folder.mkdir()

    def ingest(paths, options, progress):
        progress(0.1, "reading: 1 MiB")
        progress(0.2, "reading: 2 MiB")
        progress(0.9, "checking")
        return REPORT

    ingests = Ingests(ingest)
    view = ingests.wait(ingests.start("x.csv", [], IngestOptions(), discard=folder).key, 5)
    assert (view.state, view.steps, view.result) == ("done", ("reading", "checking"), REPORT)
    assert not folder.exists()


def test_cancel_acts_within_two_seconds():
    started = threading.Event()

    def ingest(paths, options, progress):
        while True:
            started.set()
            progress(None, "reading")
            time.sleep(0.05)

    ingests = Ingests(ingest)
    key = ingests.start("x.csv", [], IngestOptions()).key
    assert started.wait(5)
    before = time.monotonic()
    assert ingests.cancel(key).state == "cancelled"
    assert time.monotonic() - before < 2


def test_failures_are_told_and_mistakes_of_ours_get_a_number(caplog):
    def refuse(paths, options, progress):
        raise TraceError("line 3 is ragged")

    def mistake(paths, options, progress):
        raise ZeroDivisionError("secret detail")

    views = []
    for work in (refuse, mistake):
        ingests = Ingests(work)
        views.append(ingests.wait(ingests.start("x", [], IngestOptions()).key, 5))
    assert [view.state for view in views] == ["failed", "failed"]
    assert views[0].message == "line 3 is ragged"
    assert "secret" not in views[1].message
    assert "secret detail" in caplog.text


def test_an_unknown_ingest_is_none():
    ingests = Ingests(lambda *_: REPORT)
    assert ingests.view("x") is None
    assert ingests.cancel("x") is None
    assert ingests.wait("x") is None


def test_a_page_may_look_while_others_begin():
    """In CPython a dictionary that another thread changes cannot be gone through."""
    interval = sys.getswitchinterval()
    ingests, over, found = Ingests(lambda paths, options, progress: REPORT), threading.Event(), []

    def look():
        while not over.is_set():
            try:
                ingests.views()
            except RuntimeError as error:
                found.append(error)
                return

    looking = threading.Thread(target=look)
    sys.setswitchinterval(1e-6)
    try:
        looking.start()
        for _ in range(300):
            ingests.start("x.csv", [], IngestOptions())
    finally:
        sys.setswitchinterval(interval)
        over.set()
        looking.join()
    assert found == []
