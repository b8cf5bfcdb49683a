"""A real browser loads the page again while a report is being made, and opens a link that cannot be read."""

import re
import threading

import pandas as pd
import pytest

from tests.browser.conftest import PATIENCE_MS, SAMPLE
from tests.browser.test_dashboard import load_sample

ROWS = 5_000
"""Enough that a report takes a minute where nothing is computed yet."""


def drop_uncomputed(visitor, folder):
    """Import a trace of which no other test has computed anything, and open its report page."""
    trace = folder / "uncomputed.parquet"
    pd.read_parquet(SAMPLE).sample(ROWS, random_state=23).to_parquet(trace)
    page = visitor.open("/data").page
    visitor.import_file(trace)
    page.get_by_text(re.compile(rf"{ROWS:,} rows read")).first.wait_for(timeout=PATIENCE_MS)
    visitor.settle()
    page.get_by_role("link", name="Report", exact=True).click()
    visitor.settle()


@pytest.mark.soak
def test_a_running_report_outlives_a_reload_of_the_browser(server, visitors, tmp_path):
    visitor = visitors(server)
    drop_uncomputed(visitor, tmp_path)
    stranger = visitors(server).open("/report")
    visitor.button("Generate report").click()
    visitor.button("Cancel").wait_for()
    visitor.page.wait_for_url(re.compile("work_report="))
    visitor.page.reload()
    visitor.page.get_by_text("Generating the report of").wait_for()
    stranger.page.reload()
    stranger.settle()
    assert stranger.page.get_by_text("Generating the report of").count() == 0
    visitor.button("Cancel").click()
    visitor.page.get_by_text("was cancelled").wait_for(timeout=60_000)
    visitor.settle()


@pytest.mark.soak
def test_what_a_link_holds_and_cannot_be_read_leaves_the_address(server, visitors):
    visitor = visitors(server).open("/profiles")
    load_sample(visitor)
    visitor.open("/profiles?profiles_seed=1e309&profiles_scaler=standard&profiles_metric=nonsense")
    visitor.page.get_by_text(re.compile("profiles_seed in the link could not be read")).wait_for()
    visitor.page.get_by_text(re.compile("profiles_metric in the link could not be read")).wait_for()
    assert "profiles_scaler=standard" in visitor.page.url
    assert "1e309" not in visitor.page.url and "nonsense" not in visitor.page.url


def test_back_leads_to_the_view_before_and_keeps_what_is_chosen(whole, visitors):
    visitor = visitors(whole.server).open(f"/memory?ds={whole.hashes.tasks}")
    page = visitor.page

    def opened():
        visitor.settle()
        return page.locator("[role=tab][aria-selected=true]").all_inner_texts()

    for name in ("Compare", "Bins"):
        page.get_by_role("tab", name=name, exact=True).click()
        page.wait_for_url(re.compile(f"memory_tab={name}"))
        assert opened() == [name]
    page.go_back()
    page.wait_for_url(re.compile("memory_tab=Compare"))
    assert opened() == ["Compare"]
    page.go_back()
    page.wait_for_url(lambda url: "memory_tab" not in url and "ds=" in url)
    assert opened() == ["Plan"]
    page.go_forward()
    page.wait_for_url(re.compile("memory_tab=Compare"))
    assert opened() == ["Compare"]


@pytest.mark.soak
def test_a_tab_stays_open_when_the_browser_sends_more_before_it_knows_the_new_address(server, visitors):
    """What the server sends is held back, as by a slow line: the second click still names the tab before."""
    visitor = visitors(server)
    page, held, late = visitor.page, [], threading.Event()

    def through(line):
        up = line.connect_to_server()
        line.on_message(up.send)
        up.on_message(lambda message: held.append((line, message)) if late.is_set() else line.send(message))

    page.route_web_socket(re.compile("/_stcore/stream"), through)
    visitor.open("/memory")
    load_sample(visitor)
    late.set()
    page.get_by_role("tab", name="Compare", exact=True).click()
    page.wait_for_timeout(1_500)
    page.set_viewport_size({"width": 390, "height": 900})  # the page asks for the width and runs again
    page.wait_for_timeout(1_500)
    late.clear()
    for line, message in held:
        line.send(message)
    visitor.settle()
    assert page.locator("[role=tab][aria-selected=true]").all_inner_texts() == ["Compare"]
    assert "memory_tab=Compare" in page.url
