"""The whole way in a real browser: upload, ingest, fit, lasso, table; cancel; two sessions; cold deep links."""

import re
import time

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, SAMPLE, running_server

SIZES = {1440: 900, 390: 844}
ROWS = {(1440, False): 1500, (1440, True): 3050, (390, False): 3100, (390, True): 3150}
FIT_MS = 180_000
"""The first fit of a fresh machine compiles its loops."""
SELECTED = re.compile(r"^[\d,]+ runs selected$")
ANSWER = ".st-key-answer"


def draw_lasso(visitor):
    """Drag around the middle of the map."""
    page = visitor.page
    plot = page.locator("[data-testid=stTabs] [data-testid=stPlotlyChart] .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    corners = [(0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75), (0.25, 0.3)]
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=6)
    page.mouse.up()


def choose_tab(visitor, name):
    visitor.page.get_by_role("tab", name=name, exact=True).click()
    visitor.settle()


def load_sample(visitor):
    if visitor.button("Load sample").count():
        visitor.button("Load sample").click()
        visitor.settle()


def find_profiles(visitor):
    load_sample(visitor)
    if visitor.button("Find profiles").count():
        visitor.button("Find profiles").click()
    visitor.page.locator(ANSWER).wait_for(timeout=FIT_MS)
    visitor.settle()


@pytest.mark.parametrize(
    ("width", "dark"),
    [pytest.param(*one, marks=[] if one == (1440, False) else pytest.mark.soak) for one in ROWS],
)
def test_from_upload_to_the_jobs_behind_a_lasso(server, visitors, tmp_path, width, dark):
    trace = tmp_path / f"trace_{width}_{dark}.parquet"
    pd.read_parquet(SAMPLE).head(ROWS[width, dark]).to_parquet(trace)
    visitor = visitors(server, width=width, height=SIZES[width], dark=dark)
    page = visitor.open("/data").page
    visitor.import_file(trace)
    page.get_by_text(re.compile(rf"{ROWS[width, dark]:,} rows read")).first.wait_for(timeout=PATIENCE_MS)
    visitor.settle()
    assert visitor.wide() <= 0

    visitor.open("/profiles?" + page.url.partition("?")[2])
    find_profiles(visitor)
    choose_tab(visitor, "Map")
    draw_lasso(visitor)
    page.get_by_text(SELECTED).filter(has_not_text=re.compile("^0 ")).first.wait_for()
    page.locator("[data-testid=stDataFrame]").last.wait_for()
    assert visitor.wide() <= 0


def start_long_fit(visitor, seed):
    """Start a fit that takes a while; the seed makes it one of its own."""
    visitor.open(f"/profiles?profiles_algorithm=optics&profiles_seed={seed}")
    load_sample(visitor)
    visitor.button("Find profiles").click()
    visitor.button("Cancel").wait_for()


CANCELLED_S = 4
"""Two seconds where nothing else runs; the soak has two processes beside this one."""


@pytest.mark.soak
def test_cancel_acts_within_seconds(server, visitors):
    visitor = visitors(server)
    start_long_fit(visitor, 11)
    before = time.monotonic()
    visitor.button("Cancel").click()
    visitor.page.get_by_text("was cancelled").wait_for(timeout=10_000)
    assert time.monotonic() - before < CANCELLED_S
    visitor.settle()


def seconds_to_the_columns(visitor):
    visitor.open("/")
    before = time.monotonic()
    visitor.page.get_by_role("link", name="Data", exact=True).click()
    visitor.page.get_by_role("tab", name="Columns").click()
    visitor.page.get_by_text("the small bars show the distribution").wait_for()
    return time.monotonic() - before


@pytest.mark.soak
def test_another_session_stays_responsive_during_a_fit(server, visitors):
    busy, other = visitors(server).open("/"), visitors(server)
    load_sample(busy)
    alone = seconds_to_the_columns(other)
    start_long_fit(busy, 12)
    assert seconds_to_the_columns(other) < 5 * alone
    other.page.get_by_text("computation running").wait_for()
    busy.button("Cancel").click()
    busy.page.get_by_text("was cancelled").wait_for()


@pytest.mark.soak
@pytest.mark.parametrize(
    ("path", "title"),
    [
        pytest.param("/", "Cluster overview", marks=pytest.mark.soak),
        pytest.param("/data", "Data", marks=pytest.mark.soak),
        ("/profiles", "Profiles"),
    ],
)
def test_a_deep_link_is_the_first_thing_a_cold_server_is_asked(visitors, tmp_path, path, title):
    with running_server(tmp_path / "home") as cold:
        visitor = visitors(cold).open(path)
        assert visitor.page.title() == "workprof"
        assert visitor.page.locator("h1").all_inner_texts() == [title]
        assert visitor.page.get_by_text("Page not found").count() == 0
        assert visitor.button("Load sample").is_visible()
        visitor.page.close()  # before its server ends, or it tells that it lost it


@pytest.mark.soak
def test_a_copied_link_opens_the_same_numbers_in_a_clean_browser(server, visitors):
    first = visitors(server).open("/profiles")
    find_profiles(first)
    choose_tab(first, "Silhouettes")
    link = first.copied_link()
    second = visitors(server)
    second.page.goto(link)
    second.settle()
    second.page.locator(ANSWER).wait_for()
    assert second.page.locator(ANSWER).inner_text() == first.page.locator(ANSWER).inner_text()
    assert second.page.get_by_role("tab", name="Silhouettes").get_attribute("aria-selected") == "true"


@pytest.mark.soak
def test_a_copied_link_leaves_running_work_out_and_is_shown_where_copying_is_forbidden(server, visitors):
    visitor = visitors(server).open("/profiles")
    find_profiles(visitor)
    visitor.page.evaluate("history.replaceState(null, '', location.href + '&work_fit=secret')")
    assert "secret" in visitor.page.url
    link = visitor.copied_link()
    assert link.startswith(f"{server.url}/profiles?")
    assert "ds=" in link
    assert "work_fit" not in link
    visitor.page.wait_for_timeout(2500)
    visitor.page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    visitor.page.evaluate("document.execCommand = () => false")
    visitor.button("Copy link").click()
    assert visitor.page.get_by_role("textbox", name="Link to this page").input_value() == link
    assert visitor.button("Press Ctrl+C").is_visible()


def selected_rows(visitor):
    return visitor.page.get_by_text(SELECTED).first.inner_text()


@pytest.mark.soak
def test_a_lasso_is_in_the_copied_link(server, visitors):
    first = visitors(server).open("/profiles")
    find_profiles(first)
    choose_tab(first, "Map")
    draw_lasso(first)
    first.page.get_by_text(SELECTED).filter(has_not_text=re.compile("^0 ")).first.wait_for()
    first.page.wait_for_url(re.compile("profiles_selected=l"), timeout=PATIENCE_MS)
    first.settle()
    link = first.copied_link()
    second = visitors(server)
    second.page.goto(link)
    second.settle()
    assert selected_rows(second) == selected_rows(first)
    drawn = second.page.locator("[data-testid=stTabs] [data-testid=stPlotlyChart] .shapelayer path")
    expect(drawn).to_have_count(1, timeout=PATIENCE_MS)
    second.button("Clear the selection").click()
    expect(second.page.get_by_text(SELECTED).first).to_have_text(re.compile("^0 "), timeout=PATIENCE_MS)
    second.settle()
    assert "profiles_selected" not in second.page.url


@pytest.mark.soak
def test_a_control_of_a_closed_view_comes_back(server, visitors):
    visitor = visitors(server).open("/profiles?profiles_tab=Box+plots&profiles_box_feature=write_bytes")
    find_profiles(visitor)
    assert "profiles_box_feature=write_bytes" in visitor.page.url
    choose_tab(visitor, "Silhouettes")
    assert "profiles_box_feature=write_bytes" in visitor.page.url  # it writes the address itself, as its words differ
    choose_tab(visitor, "Box plots")
    assert "profiles_box_feature=write_bytes" in visitor.page.url
