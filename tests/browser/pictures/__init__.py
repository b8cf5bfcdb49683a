"""The pictures of the README: what each shows, and how it is taken."""

import io
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from tests.browser.views import BY_NAME

FOLDER = Path(__file__).parent
SIZE = {"width": 1280, "height": 800}
LARGEST_BYTES = 250_000
COLOURS = 128
"""Of the saved palette: the pages have few colours, and a palette is a third of the size."""
DRAWN = """
() => {
  const figures = [...document.querySelectorAll('[data-testid=stPlotlyChart]')];
  return figures.every(figure => figure.querySelector('.main-svg'))
    && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]');
}
"""
TO_THE_TOP = """
element => {
  element.scrollIntoView();
  document.querySelector('[data-testid=stMain]').scrollBy(0, -80);  // the header lies over the first lines
}
"""
PATIENCE_MS = 60_000
TABS = "[role=tablist]"


@dataclass(frozen=True)
class Picture:
    """One picture: its page, the view, and what its alternative text says; `at` is what stands at its top."""

    page: str
    tab: str
    alt: str
    more: str = ""
    at: str = ""

    @property
    def name(self):
        return f"{self.page}.png"

    def link(self, hashes):
        page = BY_NAME[self.page]
        return replace(page, more=self.more or page.more).link(hashes, self.tab)


PICTURES = (
    Picture("home", "", "Home: memory requested, used and unused, by day and profile, with what to request"),
    Picture("profiles", "Map", "Profiles: the jobs on a map, each profile with its name", at=TABS),
    Picture(
        "classify", "One job", "Classify: one job, its likely profiles, and what it will need", "classify_job=101", TABS
    ),
    Picture("memory", "Plan", "Memory: what to request from now on, what that saves, and the kills to expect"),
    Picture("nodes", "Ranking", "Nodes: machines ranked by their measured runs, with intervals", at=TABS),
    Picture("phases", "Timeline", "Phases: counters of a run over time, cut into phases", at=TABS),
)


def photograph(visitor, picture, hashes):
    """Return a picture as the bytes of a PNG with a palette."""
    visitor.page.set_viewport_size(SIZE)
    visitor.open(picture.link(hashes))
    if picture.at:
        visitor.page.locator(picture.at).first.evaluate(TO_THE_TOP)
    visitor.page.wait_for_function(DRAWN, timeout=PATIENCE_MS)
    visitor.settle()
    taken = Image.open(io.BytesIO(visitor.page.screenshot())).convert("RGB")
    small = io.BytesIO()
    taken.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()
