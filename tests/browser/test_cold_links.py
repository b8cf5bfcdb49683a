"""A copied link on a server that was started anew, in a clean browser: the same numbers on every page."""

import re
import urllib.parse

import pytest

from tests.browser.conftest import PATIENCE_MS, Visitor, running_server
from tests.load.visits import EXPECTED
from tests.pages import whole_home

SPEED = re.compile(r"(Answered|computed) in .*?(?=[;.](\s|$))", re.MULTILINE)
SIZE = str(whole_home.OTHER_SIZE)
PAGES = {
    "profiles": {"profiles_min_cluster_size": SIZE, "profiles_min_samples": SIZE, "profiles_tab": "Metadata"},
    "classify": {"classify_job": "7", "classify_class": "likeliest"},
    "durations": {"durations_percentile": "55", "durations_by": "task_name", "durations_complement": "true"},
    "sweep": {"sweep_tab": "Score map", "sweep_score": "Separation as published"},
    "memory": {"memory_tab": "Bins", "memory_k": "2", "memory_headroom": "12"},
    "nodes": {"nodes_w_cpu": "3", "nodes_prices": "calm=0.5"},
    "phases": {"phases_run": whole_home.RUN, "phases_from": "2", "phases_to": "20"},
    "report": {},
    "help": {"help_tab": "Glossary"},
    "data": {"data_tab": "Columns"},
    "runs": {"runs_step": "memory.replay"},  # the last: it counts what the other pages have computed
}
DATASETS = {"memory": "tasks", "nodes": "nodes", "phases": "phases"}

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    return folder / "home", whole_home.make(folder, tmp_path_factory)


def address(page, hashes):
    parameters = {"ds": getattr(hashes, DATASETS.get(page, "jobs")), **PAGES[page]}
    return f"/{page}?{urllib.parse.urlencode(parameters)}"


def text(visitor):
    """Return the words of the page's body as they stand once nothing changes any more."""
    seen = ""
    for _ in range(40):
        now = visitor.settle().page.get_by_test_id("stMain").inner_text()
        if now == seen:
            return EXPECTED.sub("some time", SPEED.sub("", now))
        seen = now
    raise AssertionError(f"the page goes on changing: {seen[:400]}")


def copied(visitor):
    """Return the link that the page offers, without the server's name and port."""
    found = urllib.parse.urlsplit(visitor.copied_link())
    return f"{found.path}?{found.query}"


def changed_by_hand(visitor):
    """Change one control of the Memory page with the keyboard, as a visitor does."""
    field = visitor.page.get_by_role("spinbutton", name="Headroom (%)")
    field.fill("30")
    field.press("Enter")
    visitor.page.wait_for_url("**memory_headroom=30**")


@pytest.fixture(scope="module")
def warm(whole, chromium):
    """What a visitor saw on every page of a server that has ended, and the links that the pages offered."""
    home, hashes = whole
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    seen, links = {}, {}
    with running_server(home) as server:
        visitor = Visitor(context.new_page(), server.url).watch()
        for page in PAGES:
            visitor.open(address(page, hashes))
            if page == "memory":
                changed_by_hand(visitor)
            seen[page], links[page] = text(visitor), copied(visitor)
        context.close()
    assert visitor.troubles == []
    return seen, links


@pytest.fixture(scope="module")
def cold(whole, warm):
    with running_server(whole[0]) as server:
        yield server


def test_copied_links_open_the_same_numbers_on_a_server_that_was_started_anew(warm, cold, visitors):
    seen, links = warm
    assert "memory_headroom=30" in links["memory"]
    for page, link in links.items():
        visitor = visitors(cold).open(link)
        assert text(visitor) == seen[page], page
        visitor.page.close()


def test_reset_empties_the_address_and_the_next_change_starts_from_the_defaults(whole, cold, visitors):
    visitor = visitors(cold).open(address("memory", whole[1]))
    visitor.button("Reset").click()
    visitor.page.wait_for_url(lambda url: "memory_k" not in url and "memory_headroom" not in url)
    visitor.settle()
    assert visitor.page.get_by_role("spinbutton", name="Headroom (%)").input_value() == "5"
    assert "memory_tab=Bins" in visitor.page.url
    changed_by_hand(visitor)
    assert "memory_k" not in visitor.page.url


def test_a_link_between_pages_carries_the_dataset_and_what_it_says(whole, cold, visitors):
    jobs = whole[1].jobs
    visitor = visitors(cold).open(f"/profiles?ds={jobs}&profiles_tab=Profile")
    visitor.button("Durations").click()
    visitor.page.wait_for_url("**/durations?**")
    visitor.settle()
    assert f"ds={jobs}" in visitor.page.url
    assert visitor.page.get_by_role("heading", name="Durations").count()
    visitor.open(f"/profiles?ds={jobs}&profiles_tab=Profile")
    visitor.button("Memory plan").click()
    visitor.page.wait_for_url("**/memory?**memory_tab=Bins**")
    visitor.settle()
    assert "memory_profile=" in visitor.page.url
    visitor.page.get_by_text("How many bins").wait_for()
    assert f"ds={jobs}" in visitor.page.url
