"""From an empty home to the first chart: one click, nothing typed, nothing fetched elsewhere; then the tour."""

import re

import pytest

from tests.browser.conftest import FRAMING, SETTLED, framed, running_server
from tests.pages import toured_home
from workprof.report.tour import STOPS

CHART = "[data-testid=stPlotlyChart] .main-svg"
PREPARED_MS = 600_000
"""The tour computes for half a minute on a laptop; a loaded machine may take long."""
PRESSES = 60


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A server as `workprof serve` starts it on a machine that never saw workprof; another site may frame it."""
    with running_server(tmp_path_factory.mktemp("fresh") / "home") as running:
        yield running


@pytest.fixture
def toured(tmp_path, tmp_path_factory):
    """A server that another site may frame, over a home as `workprof demo` leaves it."""
    toured_home.make(tmp_path / "home", tmp_path_factory)
    named = {"WORKPROF_FRAME_ANCESTORS": f"https://wiki.example.org, {FRAMING}"}
    with running_server(tmp_path / "home", **named) as running:
        yield running


def arrive(visitor, number):
    """Wait for a stop of the tour."""
    visitor.page.get_by_text(re.compile(rf"^{number} of {len(STOPS)} · ")).wait_for(timeout=PREPARED_MS)
    return visitor.settle()


def step(visitor, name):
    """Return a button of the tour; its name also tells its key."""
    return visitor.page.locator(f".st-key-tour_{name} button")


def press_until(visitor, key, last):
    """Press a key until the last stop is there; beyond it the key does nothing, so a press too many is no harm."""
    for _ in range(PRESSES):
        visitor.page.keyboard.press(key)
        visitor.page.wait_for_timeout(2_000)
        visitor.settle()
        if visitor.page.get_by_text(re.compile(rf"^{last} of {last} · ")).count():
            return
    raise AssertionError(f"{key} does not lead to stop {last}")


@pytest.mark.soak
def test_one_click_leads_from_an_empty_home_to_a_chart(fresh, visitors):
    visitor = visitors(fresh).open()
    main = visitor.page.locator("[data-testid=stMain]")
    names = [
        button.get_attribute("aria-label") or button.inner_text().strip().split("\n")[-1]
        for button in main.get_by_role("button").all()
    ]
    assert names == ["Help", "Load sample", "Upload", "Start the tour"]  # the first is the title's: the page's question
    assert main.get_by_role("textbox").count() == 0
    visitor.button("Load sample").click(timeout=PREPARED_MS)
    visitor.page.locator(CHART).first.wait_for(timeout=PREPARED_MS)
    visitor.settle()
    assert "ds=" in visitor.page.url
    assert main.get_by_role("heading", level=1).count() == 1


@pytest.mark.soak
def test_the_tour_prepares_itself_and_is_walked_with_keys_and_buttons(fresh, visitors):
    visitor = visitors(fresh).open()
    visitor.page.locator(".st-key-menu_tour button").click(timeout=PREPARED_MS)
    arrive(visitor, 1)
    visitor.page.locator(CHART).first.wait_for(timeout=PREPARED_MS)
    assert "demo=1" in visitor.page.url
    assert visitor.page.locator("[data-testid=stSidebar]:visible").count() == 0
    for number, stop in enumerate(STOPS[1:-1], start=2):
        step(visitor, "next").click(timeout=PREPARED_MS)
        arrive(visitor, number)
        assert f"/{stop.page}?demo=1" in visitor.page.url
        assert visitor.page.locator("h1").count() == 1
    press_until(visitor, "ArrowRight", len(STOPS))
    visitor.page.get_by_role("button", name=re.compile("Download HTML")).wait_for(timeout=PREPARED_MS)
    visitor.button("Leave the tour").click(timeout=PREPARED_MS)
    visitor.page.get_by_role("heading", name="Report", level=1).wait_for(timeout=PREPARED_MS)
    visitor.settle()
    assert "demo" not in visitor.page.url


@pytest.mark.soak
@pytest.mark.parametrize("width", [1440, 390])
def test_a_stop_opens_embedded_by_its_link(fresh, visitors, width):
    visitor = visitors(fresh, width=width, dark=width == 390)
    visitor.page.goto(f"{fresh.url}/memory?demo=1&embed=true")  # prepared by then, or prepared by this visit
    arrive(visitor, 4)
    assert step(visitor, "leave").count() == 0
    assert visitor.wide() <= 0
    step(visitor, "previous").click(timeout=PREPARED_MS)
    arrive(visitor, 3)
    assert "demo=1" in visitor.page.url
    assert step(visitor, "leave").count() == 0  # still embedded
    assert visitor.wide() <= 0


@pytest.mark.soak
def test_the_tour_stands_in_the_frame_of_a_site_that_was_named(toured, chromium):
    page = chromium.new_page()
    with framed(page, f"{toured.url}/memory?demo=1&embed=true") as (frame, said):
        frame.get_by_text(re.compile(rf"^4 of {len(STOPS)} · ")).wait_for(timeout=PREPARED_MS)
        frame.locator(".st-key-tour_next button").click(timeout=PREPARED_MS)
        frame.get_by_text(re.compile(rf"^5 of {len(STOPS)} · ")).wait_for(timeout=PREPARED_MS)
        assert not [text for text in said if "frame-ancestors" in text]
    page.close()


@pytest.mark.soak
def test_a_site_that_was_not_named_frames_nothing(server, chromium):
    page = chromium.new_page()
    page.goto(f"{server.url}/?demo=1&embed=true")
    page.wait_for_selector(SETTLED, timeout=PREPARED_MS)  # by itself it opens
    with framed(page, f"{server.url}/?demo=1&embed=true") as (frame, said):
        page.wait_for_timeout(3_000)
        assert frame.url == "chrome-error://chromewebdata/"
        assert frame.locator("[data-testid=stApp]").count() == 0
        assert [text for text in said if "frame-ancestors 'self'" in text]
    page.close()
