"""What a real browser saves is, byte for byte, what the page's function gives and what the report's bundle holds."""

# ruff: noqa: TID251  the server of the tests holds the home

import urllib.parse

import pytest
import streamlit as st

from tests.browser.conftest import PATIENCE_MS, Visitor, chromium, running_server
from workprof.profiles.settings import ProfileSettings

__all__ = ["chromium"]
pytestmark = [pytest.mark.slow, pytest.mark.browser]

FILE = "jobs-profiles-table.csv"


@pytest.mark.soak
def test_a_saved_table_is_the_pages_and_the_reports(jobs, chromium, tmp_path):
    jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    shown = jobs.page("profiles", "jobs", profiles_tab="Export").files[FILE]
    printed = jobs.report("jobs", "profiles").csv("profiles")["profiles"]
    st.cache_resource.clear()
    address = urllib.parse.urlencode({"ds": jobs.hashes["jobs"], "profiles_tab": "Export"})
    with running_server(jobs.folder / "home") as server:
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        visitor = Visitor(page, server.url).watch()
        visitor.open(f"/profiles?{address}")
        button = page.locator(".st-key-profiles_summary_csv button")
        button.wait_for(timeout=PATIENCE_MS)
        with page.expect_download(timeout=PATIENCE_MS) as saved:
            button.click()
        assert saved.value.suggested_filename == FILE
        saved.value.save_as(tmp_path / FILE)
        page.close()
    assert (tmp_path / FILE).read_bytes() == shown == printed
