"""A report opens from a file, without a network and without a server, on screen and on paper."""

import pandas as pd
import pytest

from tests.browser.conftest import SAMPLE
from workprof.report.html import report_html
from workprof.report.report import make_report
from workprof.settings import from_environment
from workprof.workbench import Workbench


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


@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_draws_every_figure_offline(chromium, written, width):
    context = chromium.new_context(viewport={"width": width, "height": 900}, offline=True)
    page, requests, troubles = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.goto(written.as_uri(), wait_until="domcontentloaded", timeout=120_000)
    page.wait_for_function(
        "document.querySelectorAll('.plot').length === document.querySelectorAll('.plot .main-svg:first-child').length",
        timeout=120_000,
    )
    assert page.locator(".plot").count() >= 5
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert troubles == []
    assert page.get_by_text("Share chart").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert page.get_by_text("For the meeting").is_visible()
    context.close()


def test_a_report_prints(chromium, written):
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.goto(written.as_uri(), wait_until="domcontentloaded", timeout=120_000)
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    assert page.pdf()[:5] == b"%PDF-"
    context.close()
