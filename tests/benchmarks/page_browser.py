"""What a visitor waits for, in a real Chromium: the first open of a cold server, and page changes by the menu.

The bundled samples with their profiles, predictions and plan, in turn with an empty Streamlit app of two pages. A page
is complete when its title is there, the script has ended, the status is gone, its answer and every chart are drawn;
it took as long as until the last change of the document after that, from the navigation or from the click. What stands
inside a canvas is not seen: tables fill it for screen readers a third of a second after they are drawn.

First open: a server that has just become ready, a browser without a cache. Page changes: every page of the menu by a
click, ROUNDS times, after a round that is not counted. BENCH_HOME=folder measures a copy of that home instead.
"""

import contextlib
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.measure import Measured
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.load.servers import dashboard

ROUNDS = 6
OPENS = 5
FIRST_BAR_S, WARM_BAR_S = 2.5, 0.5
PAUSE_MS = 300
QUIET_MS = 400
PATIENCE_MS = 120_000
AHEAD_MS, BETWEEN_MS = 15_000, 4_000
"""Before the first step of a slider, while what it needs is loaded and computed; and between two."""
LINKS = "[data-testid=stSidebar] [data-testid=stPageLink-NavLink]:visible"
ORDER = (
    "Profiles",  # of jobs: makes the jobs the dataset of the pages that show any kind
    *("Home", "Data", "Sweep", "Classify", "Report", "Memory", "Runs", "Durations", "Help"),
    *("Nodes", "Phases"),  # with datasets of their own, which every later page of any kind would show
)
EMPTY_APP = """
import streamlit as st

def first():
    st.title("First")

def second():
    st.title("Second")

pages = [st.Page(first, title="One"), st.Page(second, title="Two")]
page = st.navigation(pages, position="hidden")
for one in pages:
    st.sidebar.page_link(one)
page.run()
"""
WATCH = """
window.watched = {from: 0, title: '', changed: 0, since: 0};
window.titleNow = () => document.querySelector('[data-testid=stMain] h1')?.textContent.trim() ?? '';
addEventListener('click', event => {
  if (event.isTrusted) Object.assign(watched, {from: performance.now(), title: titleNow(), since: 0});
}, true);
const drawn = one => !(one.target.closest ?? (() => null)).call(one.target, 'canvas');
new MutationObserver(all => { if (all.some(drawn)) watched.changed = performance.now(); })
  .observe(document, {subtree: true, childList: true, characterData: true});
const idle = one => one.target.dataset.testScriptState === 'notRunning';
new MutationObserver(all => { if (all.some(idle)) watched.ended = 1; })
  .observe(document, {subtree: true, attributes: true, attributeFilter: ['data-test-script-state']});
"""
TAKEN = """
([answer, quiet]) => {
  const shown = selector => [...document.querySelectorAll(selector)].filter(one => one.offsetParent);
  const complete = titleNow() && titleNow() !== watched.title
    && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-testid=stStatusWidget], [data-testid=stSkeleton], [data-stale=true]')
    && (!answer || shown('.st-key-answer p').length)
    && shown('[data-testid=stPlotlyChart]').every(chart => chart.querySelector('.main-svg'));
  const now = performance.now();
  watched.since = complete ? watched.since || now : 0;
  const ended = Math.max(watched.since, watched.changed);
  return complete && now - ended > quiet ? [ended - watched.from] : null;
}
"""


@dataclass
class Site:
    """One of the two apps: script, home, pages of the menu in order, address, if pages have an answer; what it took."""

    script: Path
    home: Path
    menu: tuple[str, ...]
    address: str = "/"
    answer: bool = False
    ready_s: list[float] = field(default_factory=list)
    first_s: list[float] = field(default_factory=list)
    warm_s: dict[str, list[float]] = field(default_factory=dict)

    @property
    def changes(self) -> list[float]:
        return [seconds for taken in self.warm_s.values() for seconds in taken]


@contextlib.contextmanager
def visited(browser: Browser, site: Site, port: int):
    """Give the page of a visitor without a cache who has opened the site, and the seconds that it took."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"http://127.0.0.1:{port}{site.address}", wait_until="commit")
    yield page, taken_s(page, site)
    context.close()


def taken_s(page: Page, site: Site) -> float:
    """Return how long the page took once it is complete."""
    found = page.wait_for_function(TAKEN, arg=[site.answer, QUIET_MS], polling="raf", timeout=PATIENCE_MS)
    return found.json_value()[0] / 1000


def first_open(browser: Browser, site: Site) -> None:
    started = time.perf_counter()
    with dashboard(site.home, script=site.script) as server:
        ready = time.perf_counter() - started
        with visited(browser, site, server.port) as (_, seconds):
            site.ready_s.append(ready)
            site.first_s.append(seconds)


def one_round(page: Page, site: Site) -> dict[str, float]:
    """Return the seconds of a click on each page of the menu."""
    names = [text.strip().splitlines()[-1] for text in page.locator(LINKS).all_inner_texts()]
    if sorted(names) != sorted(site.menu):
        raise RuntimeError(f"the menu has {', '.join(names)}")
    found = {}
    for name in site.menu:
        page.wait_for_timeout(PAUSE_MS)
        page.locator(LINKS).nth(names.index(name)).click()
        found[name] = taken_s(page, site)
    return found


def page_changes(browser: Browser, sites: tuple[Site, ...]) -> None:
    with contextlib.ExitStack() as opened:
        pages = []
        for site in sites:
            server = opened.enter_context(dashboard(site.home, script=site.script))
            pages.append(opened.enter_context(visited(browser, site, server.port))[0])
        for done in range(ROUNDS + 1):
            for site, page in zip(sites, pages, strict=True):
                for name, seconds in one_round(page, site).items():
                    if done:  # once each page has been there
                        site.warm_s.setdefault(name, []).append(seconds)


SLIDERS = {
    "re-cut, new": ("profiles", "recut_size", ["ArrowRight"] * 5),
    "re-cut, known": ("profiles", "recut_size", ["ArrowRight"] * 5),
    "kills": ("memory", "memory_kills", ["ArrowRight"] * 6),
}
"""What a step is -> page, key of the slider, keys that move it a step each."""
ANSWERED = """
address => location.href !== address && watched.ended && document.querySelector('.st-key-answer')?.innerText
  && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
"""


def slider_steps(browser: Browser, site: Site) -> dict[str, list[float]]:
    """Return the seconds from a key on a slider until the page has the answer and the script has ended, by step."""
    found: dict[str, list[float]] = {}
    with dashboard(site.home, script=site.script) as server:
        for name, (path, key, moves) in SLIDERS.items():
            with visited(browser, replace(site, address=f"/{path}{site.address[1:]}"), server.port) as (page, _):
                page.wait_for_timeout(AHEAD_MS)
                for move in moves:
                    page.locator(f".st-key-{key} input[type=range]").focus()
                    before, started = page.url, time.perf_counter()
                    page.evaluate("watched.ended = 0")  # a bound slider writes the address before the script runs
                    page.keyboard.press(move)
                    page.wait_for_function(ANSWERED, arg=before, polling="raf", timeout=PATIENCE_MS)
                    found.setdefault(name, []).append(time.perf_counter() - started)
                    page.wait_for_timeout(BETWEEN_MS)
    return found


def fitted_home(home: Path) -> str:
    """Fill a home with the bundled samples and what their pages show; return the hash of the sample of jobs."""
    from pages._frame.visit import SAMPLES
    from workprof import Settings, Workbench
    from workprof.report.tour import prepare, samples_of

    if "BENCH_HOME" in os.environ:
        shutil.copytree(os.environ["BENCH_HOME"], home)
    files = {kind: sample.path for kind, sample in SAMPLES.items()}
    with Workbench(Settings(home=home, data=home.parent)) as workbench:
        for path in files.values():
            workbench.ingest([path])
        samples = samples_of(workbench, files)
        jobs = samples["jobs"].hash
        if "BENCH_HOME" not in os.environ:
            prepare(workbench, samples)
            workbench.forecaster(jobs)
            workbench.held_out(jobs)
    return jobs


def run() -> Measured:
    with tempfile.TemporaryDirectory(prefix="workprof-bench-") as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        (folder / "empty.py").write_text(EMPTY_APP)
        address = f"/?ds={fitted_home(folder / 'home')}"
        empty = Site(folder / "empty.py", folder / "none", ("Two", "One"))
        ours = Site(Path("app.py"), folder / "home", ORDER, address, answer=True)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for _ in range(OPENS):
            for site in (empty, ours):
                first_open(browser, site)
        page_changes(browser, (empty, ours))
        sliders = slider_steps(browser, ours)
        browser.close()
    p95, reference = quantile(ours.changes, 0.95), quantile(empty.changes, 0.95)
    return Measured(
        ratio=reference / p95,
        ours_s=p95,
        reference_s=reference,
        ours_mb=None,
        reference_mb=None,
        reference=f"the same clicks on an empty Streamlit app; {WARM_BAR_S} s is the bar",
        note="; ".join((*notes(ours, empty), *(slider_words(*one) for one in sliders.items()))),
    )


def slider_words(name: str, seconds: list[float]) -> str:
    """Return such as 're-cut, new: median 0.80 s, most 1.10 s of 5 steps'."""
    return f"{name}: median {quantile(seconds, 0.5):.2f} s, most {max(seconds):.2f} s of {len(seconds)} steps"


def notes(ours: Site, empty: Site) -> list[str]:
    """Return the other figures in words."""
    first, warm = np.median(ours.first_s) / np.median(empty.first_s), quantile(ours.changes, 0.5)
    slowest = sorted(ours.warm_s.items(), key=lambda one: -quantile(one[1], 0.5))
    return [
        f"first open: median {np.median(ours.first_s):.2f} s, most {max(ours.first_s):.2f} s"
        f" (empty app {np.median(empty.first_s):.2f} and {max(empty.first_s):.2f} s; ratio {first:.1f};"
        f" {FIRST_BAR_S} s is the bar)",
        f"ready after {np.median(ours.ready_s):.1f} s (empty app {np.median(empty.ready_s):.1f} s)",
        f"{len(ours.changes)} page changes: median {warm:.2f} s (empty app {quantile(empty.changes, 0.5):.2f} s; ratio"
        f" {warm / quantile(empty.changes, 0.5):.1f}), p95 {quantile(ours.changes, 0.95):.2f} s"
        f" ({quantile(empty.changes, 0.95):.2f} s)",
        "medians: " + ", ".join(f"{name} {quantile(taken, 0.5):.2f} s" for name, taken in slowest),
    ]


def quantile(seconds: list[float], share: float) -> float:
    return float(np.quantile(seconds, share))
