"""From an empty home to a memory plan with the keyboard alone: every stop on the way shows where the focus is."""

import re

import pandas as pd
import pytest

from tests.browser.conftest import PATIENCE_MS, SAMPLE, SETTLED, running_server

FIT_MS = 480_000
ROWS = 2000
MOST_STOPS = 80
UPLOAD = r"^upload\s+Upload$"
WHERE = """
() => {
  const at = document.activeElement;
  if (at.matches('body, main')) return at.tagName;
  const named = at.labels && at.labels.length ? at.labels[0].innerText : '';
  const told = at.getAttribute('aria-label') || named || at.innerText || at.getAttribute('data-testid') || at.tagName;
  return told.trim();
}
"""
# What has the focus looks different from what it looks like without: it, or the frame around it.
SHOWN = """
async () => {
  const at = document.activeElement;
  const told = () => {
    document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 1e6).forEach(one => one.finish());
    const looks = [];
    for (let one = at, up = 0; one && up < 5; one = one.parentElement, up += 1) {
      const look = getComputedStyle(one);
      const outline = look.outlineStyle === 'none' ? '' : look.outlineWidth + look.outlineColor;
      looks.push([outline, look.boxShadow, look.borderColor, look.backgroundColor].join(' '));
    }
    return looks.join();
  };
  // The window and its scrolling part are no controls; the link of the open page always looks focused.
  // Streamlit's uploader draws its own field and buttons, its table the chosen cell on a canvas.
  const own = '[data-testid="stFileUploader"] *, canvas, [data-testid*="grid-canvas"]';
  if (at.matches(own)) return true;
  const path = address => new URL(address, location).pathname;
  if (at.matches('body, main') || (at.href && path(at.href) === location.pathname)) return true;
  const focused = told();
  at.blur();
  await new Promise(drawn => setTimeout(drawn, 100));  // some controls draw their frame from a state of their own
  const left = told();
  at.focus({preventScroll: true});
  return focused !== left;
}
"""
ANSWERS_ANEW = "before => ![undefined, before].includes(document.querySelector('.st-key-answer')?.innerText)"


class Hands:
    """A visitor who has a keyboard and no mouse."""

    def __init__(self, visitor):
        self.visitor, self.page = visitor, visitor.page
        self.unseen = []
        # Playwright catches file choosers only while someone listens, and may start too late for a key pressed at once.
        self.page.on("filechooser", lambda chooser: None)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def go_to(self, name, key="Tab"):
        """Press Tab until the focus is on what is called so; remember stops that do not show the focus."""
        stops = []
        for _ in range(MOST_STOPS):
            self.press(key)
            stops.append(self.page.evaluate(WHERE))
            if not self.page.evaluate(SHOWN):
                self.unseen.append(stops[-1])
            if re.search(name, stops[-1]):
                return
        raise AssertionError(f"{name} is not reached with {key}: {stops}")

    def settle(self):
        """Wait as long as a first computation takes: its loops are compiled on a fresh machine."""
        self.page.wait_for_selector(SETTLED, timeout=FIT_MS)
        self.visitor.settle()

    def choose(self, path):
        """Open the file chooser by Enter and choose a file."""
        with self.page.expect_file_chooser(timeout=PATIENCE_MS) as chooser:
            self.press("Enter")
        chooser.value.set_files(str(path))

    def copies_the_link(self):
        """Press Enter on Copy link: the focus stays, or is on the address and comes back where a browser forbids it."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.press("Enter")
        self.visitor.button("Copied").wait_for()
        assert self.page.evaluate(WHERE) == "Copied"
        link = self.page.evaluate("navigator.clipboard.readText()")
        assert "ds=" in link
        self.page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
        self.page.evaluate("document.execCommand = () => false")
        self.press("Enter")
        self.visitor.button("Press Ctrl+C").wait_for()
        assert self.page.evaluate(WHERE) == "Link to this page"
        assert self.page.evaluate("document.activeElement.value") == link
        assert self.page.evaluate("document.getSelection().toString()") == link
        self.visitor.button("Copy link").wait_for()
        assert self.page.evaluate(WHERE) == "Copy link"

    def plans(self):
        """Accept more kills for another verdict, and end on the tab."""
        self.go_to(r"^Plan$")
        self.page.locator(".st-key-answer").wait_for(timeout=FIT_MS)
        self.settle()
        planned = self.page.locator(".st-key-answer").inner_text()
        self.go_to(r"^Acceptable kills$")
        self.press("End")
        self.page.wait_for_function(ANSWERS_ANEW, arg=planned, timeout=FIT_MS)
        self.settle()
        assert "memory_kills=5" in self.page.url
        self.go_to(r"^Plan$", "Shift+Tab")


@pytest.fixture
def fresh(tmp_path):
    with running_server(tmp_path / "home") as running:
        yield running


@pytest.mark.soak
def test_from_an_empty_home_to_a_memory_plan_without_a_mouse(fresh, visitors, tmp_path):
    trace = tmp_path / "trace.parquet"
    pd.read_parquet(SAMPLE).head(ROWS).to_parquet(trace)
    hands = Hands(visitors(fresh).open("/"))
    page = hands.page

    hands.go_to(UPLOAD)
    hands.press("Enter")
    page.locator("h1").get_by_text("Data").wait_for()
    hands.settle()
    hands.go_to(UPLOAD)
    hands.choose(trace)
    hands.settle()
    hands.go_to(r"Import$")
    hands.press("Enter")
    page.get_by_text(re.compile(rf"{ROWS:,} rows read")).first.wait_for(timeout=PATIENCE_MS)
    hands.settle()

    hands.go_to(r"Profiles$", "Shift+Tab")
    hands.press("Enter")
    page.locator("h1").get_by_text("Profiles").wait_for()
    hands.settle()
    hands.go_to(r"Find profiles$")
    hands.press("Enter")
    page.locator(".st-key-answer").wait_for(timeout=FIT_MS)
    hands.settle()

    hands.go_to(r"Memory$", "Shift+Tab")
    hands.press("Enter")
    page.locator("h1").get_by_text("Memory").wait_for()
    hands.settle()
    hands.go_to(r"^Copy link$")
    hands.copies_the_link()
    hands.plans()
    hands.press("ArrowRight")
    page.get_by_text("Memory used, task by task").wait_for(timeout=FIT_MS)
    hands.settle()
    hands.press("ArrowRight")
    page.get_by_role("slider", name="Bins").wait_for(timeout=FIT_MS)
    hands.settle()
    before = page.locator("[data-testid=stMain] strong").first.inner_text()
    hands.go_to(r"^Bins$")
    hands.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('[data-testid=stMain] strong')?.innerText !== before",
        arg=before,
        timeout=FIT_MS,
    )
    hands.settle()
    assert page.locator("[data-testid=stMain] strong").first.inner_text().startswith("4 bins")
    assert hands.unseen == []
