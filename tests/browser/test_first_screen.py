"""Every page as the menu opens it: its first screen has the answer, a chart and a control; it is short, fits a phone.

Axe and the console find nothing. The other views, the dark theme and other windows are looked at in `test_views`.
"""

import pytest

from tests.browser import axe
from tests.browser.seen import cut_words, faint_words, outline_faults
from tests.browser.views import BY_NAME

WIDE, PHONE = (1440, 900), (390, 844)
MOST_HIGH = 2500
LEAST_SEEN = 0.6
"""Share of the chart that stands on the first screen."""
DRAWN_MS = 1500
"""From the end of the run until charts have their place."""
TEXTS = ("data", "report", "runs", "help")
"""Pages whose answer is about a table or a text."""
CONTROLS = ", ".join(
    f"[data-testid={name}]"
    for name in ("stSelectbox", "stSlider", "stNumberInput", "stButtonGroup", "stMultiSelect", "stTextInput")
)
"""Settings; a button is none: every page has Copy link and Reset."""
PLACES = """
controls => {
  const main = document.querySelector('[data-testid=stMain]');
  const first = selector => {
    const seen = [...main.querySelectorAll(selector)].filter(one => one.offsetParent);
    const box = seen.length ? seen[0].getBoundingClientRect() : null;
    return box && {top: box.top, bottom: box.bottom};
  };
  return {
    height: main.scrollHeight,
    answer: first('.st-key-answer'),
    chart: first('[data-testid=stPlotlyChart]'),
    control: first(controls),
  };
}
"""


def seen_share(box):
    """Return which share of a box stands on the first screen."""
    return (min(box["bottom"], WIDE[1]) - box["top"]) / (box["bottom"] - box["top"])


def faults(name, places):
    """Return what is wrong with a first screen."""
    told = []
    if places["height"] > MOST_HIGH:
        told.append(f"{places['height']} px high")
    if not places["answer"] or places["answer"]["bottom"] > WIDE[1]:
        told.append(f"answer at {places['answer']}")
    if not places["control"] or places["control"]["bottom"] > WIDE[1]:
        told.append(f"control at {places['control']}")
    if name not in TEXTS and (not places["chart"] or seen_share(places["chart"]) < LEAST_SEEN):
        told.append(f"chart at {places['chart']}")
    return told


def as_the_menu(page, hashes):
    """Return the address of a page without a view."""
    return page.link(hashes).partition(f"{page.name}_tab=")[0].rstrip("&")


@pytest.mark.some(3)
@pytest.mark.parametrize("name", BY_NAME)
def test_the_first_screen_has_the_answer_and_the_page_is_sound(whole, visitors, name):
    visitor = visitors(whole.server).open(as_the_menu(BY_NAME[name], whole.hashes))
    visitor.page.wait_for_timeout(DRAWN_MS)
    found = faults(name, visitor.page.evaluate(PLACES, CONTROLS))
    found += [*axe.violations(visitor.page), *outline_faults(visitor.page), *faint_words(visitor.page)]
    if visitor.wide() > 0:
        found.append(f"{visitor.wide()} px wider than its window")
    visitor.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    visitor.page.wait_for_timeout(DRAWN_MS)
    if visitor.wide() > 0:
        found.append(f"{visitor.wide()} px wider than a phone")
    found += cut_words(visitor.page)
    assert found == []


def test_what_is_missing_is_named():
    box = {"top": 700, "bottom": 1100}
    assert faults("home", {"height": 2600, "answer": None, "chart": box, "control": box}) == [
        "2600 px high",
        "answer at None",
        f"control at {box}",
        f"chart at {box}",
    ]
    near = {"top": 100, "bottom": 400}
    assert faults("home", {"height": 900, "answer": near, "chart": near, "control": near}) == []
    assert faults("help", {"height": 900, "answer": near, "chart": None, "control": near}) == []


OUTSIDE = """() => {
  const chart = document.querySelector('.st-key-profiles_fingerprints_plot .main-svg').getBoundingClientRect();
  const labels = document.querySelectorAll('.st-key-profiles_fingerprints_plot :is(.xtick, .ytick) text');
  return [...labels].filter(one => {
    const at = one.getBoundingClientRect();
    return at.left < chart.left || at.top < chart.top || at.right > chart.right;
  }).map(one => one.textContent);
}"""
"""Names of rows and features that the chart cuts off."""


@pytest.mark.soak
def test_the_fingerprints_suit_the_width_of_the_window(whole, visitors):
    address = as_the_menu(BY_NAME["profiles"], whole.hashes)
    visitor = visitors(whole.server, width=PHONE[0], height=PHONE[1]).open(address)
    charts = visitor.page.locator(".st-key-profiles_fingerprints_plot [role=figure]")
    beside = visitor.page.locator(".st-key-profiles_fingerprints_plot [role=figure][aria-label*='; then runs']")
    charts.locator(".main-svg").first.wait_for()
    beside.wait_for(state="detached")  # the page knows its width once the browser has told it
    assert charts.count() == 1
    assert visitor.page.evaluate(OUTSIDE) == []
    visitor.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    beside.wait_for()
    assert charts.count() == 1
    assert visitor.page.evaluate(OUTSIDE) == []
