"""Small inputs after public reports, dropped on the Data page: what it says of each is what is expected of it."""

import html
import json
import re

import pytest

from tests.browser.conftest import PATIENCE_MS
from tests.command_line import run_here
from tests.shared_data import CASES, needs_cases

NINE = ("batch-01", "batch-03", "batch-05", "batch-09", "batch-21", "mess-04", "mess-07", "pods-20", "pods-28")
FEW = ("batch-09", "mess-04")
REFUSED = "batch-30"
CHECKS = {
    "batch-01": {"bad cells": 4},
    "batch-09": {"cut keys": 8},
    "mess-04": {"units disagree": 30},
    "mess-07": {"out of bounds": 1},
}
"""Of cells and rows that cannot be right, the checks that count them."""


def file_of(case):
    return next(path for path in CASES.glob(f"{case}-*") if not path.name.endswith(".expected.json"))


def expected_of(case):
    (path,) = CASES.glob(f"{case}-*.expected.json")
    told = json.loads(path.read_text())
    return told | told.get("expected", {})


def runs_of(case):
    """Return how many runs are expected: as the case says, else its lines, or its pods' containers."""
    wanted = expected_of(case)
    if "runs" in wanted or "pods" in wanted:
        return wanted.get("runs", wanted.get("pods"))
    text = file_of(case).read_text()
    if "containers" not in wanted:
        return len(text.splitlines()) - 1
    metrics = [series["metric"] for series in json.loads(text)["data"]["result"]]
    return len({(one["pod"], one["container"]) for one in metrics if one.get("container") in wanted["containers"]})


def shown_on(page):
    return " ".join(page.locator("[data-testid=stMain]").inner_text().split())


def begin_of(message):
    return " ".join(html.unescape(message).split())[:60]


@pytest.mark.soak
@needs_cases
@pytest.mark.parametrize("cases", [FEW, pytest.param(NINE, marks=pytest.mark.soak)], ids=["few", "all"])
def test_dropped_cases_are_shown_as_is_expected_of_them(server, visitors, tmp_path, cases):
    visitor = visitors(server, width=1440, height=1000)
    page = visitor.open("/data").page
    for case in cases:
        told = run_here("ingest", file_of(case), "--json", home=tmp_path / "home").json
        runs, found = runs_of(case), {check["name"]: check["count"] for check in told["checks"]}
        visitor.import_file(file_of(case))
        loaded = page.get_by_text(re.compile(rf"; {runs:,} rows? loaded")).first
        mapping = visitor.button("Import with this mapping")
        loaded.or_(mapping).first.wait_for(timeout=PATIENCE_MS)
        if mapping.is_visible():
            mapping.click()
        loaded.wait_for(timeout=PATIENCE_MS)
        page = visitor.open(f"/data?ds={told['hash']}").page
        shown = shown_on(page)
        assert re.search(rf"{runs:,} runs? loaded, (?:0|none) rejected", shown), (case, shown[:500])
        assert {name: found.get(name, 0) for name in CHECKS.get(case, {})} == CHECKS.get(case, {}), case
        if told["checks"]:
            table = page.get_by_test_id("stTable").first
            table.wait_for(timeout=PATIENCE_MS)
            findings = " ".join(table.inner_text().split())
            for check in told["checks"]:
                assert begin_of(check["message"]) in findings, (case, check)
    visitor.import_file(file_of(REFUSED))
    page.get_by_text(re.compile("output of seff")).first.wait_for(timeout=PATIENCE_MS)
    assert "sacct -a -P" in shown_on(page)
