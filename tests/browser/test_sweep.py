"""The Sweep page in a real browser: start, runs appear, cancel, resume, compare two."""

import re

import pytest

from tests.browser.conftest import running_server

PART = "sweep_sample_rows=12000"
SWEEP_MS = 120_000

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A server of this module's own, so that no other fit takes the place of a group."""
    with running_server(tmp_path_factory.mktemp("sweep") / "home") as running:
        yield running


def open_sweep(visitor, query=PART):
    visitor.open(f"/sweep?{query}")
    if visitor.button("Load sample").count():
        visitor.button("Load sample").click()
        visitor.settle()
        visitor.open(f"/sweep?{query}")  # the sample opens on Home
    return visitor


def finished(visitor):
    """Start the sweep unless it is complete, and wait for its end."""
    for words in ("Start sweep", "Resume sweep"):
        if visitor.button(words).count():
            visitor.button(words).click()
    visitor.page.get_by_text(re.compile(r"Complete: (\d+) of \1 settings")).wait_for(timeout=SWEEP_MS)
    return visitor.settle()


def test_a_sweep_starts_shows_its_runs_is_cancelled_goes_on_and_compares_two(swept, visitors):
    visitor = open_sweep(visitors(swept))
    page = visitor.page
    visitor.button("Start sweep").click()
    page.get_by_text(re.compile(r"^\d+ of 56 settings")).first.wait_for()
    page.get_by_text(re.compile("^Best [a-z ]+ so far")).first.wait_for(timeout=SWEEP_MS)
    page.locator("[data-testid=stPlotlyChart]").first.wait_for()

    visitor.button("Cancel").click()
    page.get_by_text(re.compile(r"Stopped at [1-9]\d* of \d+ settings")).wait_for(timeout=10_000)
    visitor.settle()

    finished(visitor)
    page.get_by_role("tab", name="Compare two").click()
    page.get_by_text(re.compile(r"^Runs that changed group: [\d,]+$")).wait_for()
    visitor.settle()
    assert page.locator("[data-testid=stMetricValue]").count() == 4
    assert visitor.wide() <= 0


def test_the_best_run_opens_in_profiles_with_its_settings(swept, visitors):
    visitor = finished(open_sweep(visitors(swept)))
    visitor.button("Open the chosen setting in Profiles").click()
    visitor.page.locator("h1").get_by_text("Profiles").wait_for()
    visitor.settle()
    visitor.button("Find profiles").click()
    visitor.page.locator(".st-key-answer").wait_for(timeout=SWEEP_MS)
    visitor.settle()
    assert "of 12,000 runs" in visitor.page.locator("[data-testid=stMain]").inner_text()


def test_a_slider_cuts_the_profiles_again_without_a_fit(swept, visitors):
    visitor = open_sweep(visitors(swept)).open("/profiles")
    page = visitor.page
    if visitor.button("Find profiles").count():
        visitor.button("Find profiles").click()
    page.locator(".st-key-answer").wait_for(timeout=SWEEP_MS)
    visitor.settle()
    before = page.locator(".st-key-answer").inner_text()
    page.get_by_role("slider", name=re.compile("^Minimum profile size")).first.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('.st-key-answer').innerText !== before",
        arg=before,
        timeout=20_000,
    )
    visitor.settle()
    assert "profiles_min_cluster_size=" in page.url
    assert "profiles_min_samples=45" in page.url
