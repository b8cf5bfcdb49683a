"""The form behind Narrow: users and a period are chosen in a browser, and every page is about these runs."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import PATIENCE_MS, SAMPLE, running_server
from workprof.core.scope import split
from workprof.core.settings import from_environment
from workprof.workbench import Workbench

USER = "08e43745b0f1"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("scope") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(home))
        with Workbench(from_environment()) as workbench:
            trace = workbench.ingest([SAMPLE]).hash
            part = workbench.dataset(f"{trace}?user={USER}")
            workbench.save_scope("the first user", f"user={USER}")
    with running_server(home) as running:
        yield running, part


def narrowing(somebody):
    """Open Data and its dialog, and return the page."""
    somebody.open("/data")
    somebody.page.get_by_role("button", name="Narrow").click(timeout=PATIENCE_MS)
    return somebody.page


@pytest.mark.soak
def test_a_user_is_chosen_and_goes_along_to_the_next_page(server, visitors):
    running, part = server
    page = narrowing(visitors(running))
    page.get_by_role("combobox", name="Users").fill(USER, timeout=PATIENCE_MS)
    page.get_by_role("option", name=USER).click(timeout=PATIENCE_MS)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show these runs").click(timeout=PATIENCE_MS)
    page.get_by_text(f"user {USER}: {part.rows:,} of 15,000 runs").wait_for(timeout=PATIENCE_MS)
    assert parse_qs(urlsplit(page.url).query)["ds"] == [part.hash]
    page.get_by_role("link", name="Durations").click(timeout=PATIENCE_MS)
    page.get_by_role("heading", name="Durations").wait_for(timeout=PATIENCE_MS)
    page.get_by_text(f"user {USER}: {part.rows:,} of 15,000 runs").wait_for(timeout=PATIENCE_MS)
    page.get_by_role("button", name="All runs").click(timeout=PATIENCE_MS)
    page.get_by_text(f"user {USER}: {part.rows:,} of 15,000 runs").wait_for(state="hidden", timeout=PATIENCE_MS)
    assert parse_qs(urlsplit(page.url).query)["ds"] == [split(part.hash)[0]]


def test_a_saved_scope_is_shown_by_the_page_and_not_in_the_address_alone(server, visitors):
    running, part = server
    page = narrowing(visitors(running))
    page.get_by_role("combobox", name="Saved scopes").click(timeout=PATIENCE_MS)
    page.get_by_role("option", name="the first user").click(timeout=PATIENCE_MS)
    page.get_by_role("button", name="Show it").click(timeout=PATIENCE_MS)
    page.get_by_text(f"user {USER}: {part.rows:,} of 15,000 runs").wait_for(timeout=PATIENCE_MS)
    assert parse_qs(urlsplit(page.url).query)["ds"] == [part.hash]
