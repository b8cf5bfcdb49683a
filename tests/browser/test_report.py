"""A report opens from a file, without a network and without a server, on screen and on paper."""

import re

import pandas as pd
import pytest

from tests.browser.conftest import SAMPLE
from workprof.core.settings import from_environment
from workprof.report.html import report_html
from workprof.report.report import make_report
from workprof.workbench import Workbench

DRAWN = "document.querySelectorAll('.plot').length === document.querySelectorAll('.plot .main-svg:first-child').length"
PAPER_PX, PAPER_HIGH_PX = 718, 1047
"""An A4 page less a margin of one centimetre, at 96 dots an inch."""
MARGIN = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")
FITTING = """
() => [...document.querySelectorAll('.plot .main-svg, .plot text')]
  .every(one => one.getBoundingClientRect().right <= document.documentElement.clientWidth + 1)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    trace = folder / "few.parquet"
    pd.read_parquet(SAMPLE).head(2000).to_parquet(trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.ingest([trace])
            made = make_report(workbench, "few", ["data", "memory"], note="For the meeting")
    path = folder / "report.html"
    path.write_text(report_html(made), encoding="utf-8")
    return path


@pytest.mark.some(1)
@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_draws_every_figure_offline(chromium, written, width):
    context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
    page, requests, troubles = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.goto(written.as_uri(), wait_until="domcontentloaded", timeout=120_000)
    page.wait_for_function(DRAWN, timeout=120_000)
    assert page.locator(".plot").count() >= 5
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert troubles == []
    assert page.get_by_text("Share chart").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert page.get_by_text("For the meeting").is_visible()
    context.close()


@pytest.mark.soak
def test_a_report_prints(chromium, written):
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto(written.as_uri(), wait_until="domcontentloaded", timeout=120_000)
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    assert page.pdf()[:5] == b"%PDF-"
    context.close()


def test_a_printed_report_has_its_decision_on_one_page_a_page_for_each_section_and_whole_figures(chromium, written):
    context = chromium.new_context(offline=True, viewport={"width": PAPER_PX, "height": 1000})
    page = context.new_page()
    page.goto(written.as_uri(), wait_until="domcontentloaded", timeout=120_000)
    page.wait_for_function(DRAWN, timeout=120_000)
    page.emulate_media(media="print")
    page.wait_for_function(FITTING, timeout=20_000)
    assert page.evaluate("document.querySelector('#decision').getBoundingClientRect().bottom") <= PAPER_HIGH_PX
    pages = re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4", margin=MARGIN))
    assert len(pages) >= 1 + page.locator("section").count()
    heights = page.locator("figure").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert max(heights) <= PAPER_HIGH_PX
    context.close()
