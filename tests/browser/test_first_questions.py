"""Three first questions of a planner, from Home, in at most two clicks: on the sample and on two real traces.

What should this user request for this task; what breaks if all requests are cut by 30 %; how many 64 GB nodes.
"""

import re
from dataclasses import dataclass, replace

import pytest

from tests.browser.conftest import PATIENCE_MS, SAMPLE, running_server
from tests.shared_data import FOLDER, PAI_SAMPLE
from workprof.answers.tasks import shown as last_part
from workprof.answers.verdict import what_if_sentence
from workprof.core.settings import from_environment
from workprof.memory.verdict import VerdictSettings
from workprof.memory.verdict_rows import LOWER
from workprof.memory.what_if import WhatIfSettings
from workprof.workbench import Workbench

MOST_CLICKS = 2
TRACES = {"sample": SAMPLE, "workflow": FOLDER / "nextflow" / "trace_methylseq.csv", "cluster": PAI_SAMPLE}
CUT, NODES = WhatIfSettings(times=0.7), WhatIfSettings(node_bytes=64e9)

pytestmark = pytest.mark.slow


@pytest.fixture(
    scope="module", params=[pytest.param(one, marks=[] if one == "sample" else pytest.mark.soak) for one in TRACES]
)
def asked(request, tmp_path_factory):
    """A server over a trace, and what the library says of it: the row of a user and task, and both what-ifs."""
    if not (path := TRACES[request.param]).is_file():
        pytest.skip("the real traces are not beside the checkout")
    home = tmp_path_factory.mktemp("questions") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(home))
        with Workbench(from_environment()) as workbench:
            trace = workbench.ingest([path]).hash
            row = next(one for one in workbench.verdict(trace).memory.rows if one.action == LOWER)
            words = [
                what_if_sentence(workbench.verdict(trace, replace(VerdictSettings(), what_if=asked)))
                for asked in (CUT, NODES)
            ]
    with running_server(home) as running:
        yield running, trace, (row, *words)


@dataclass
class Planner:
    """Somebody on Home whose clicks are counted."""

    visitor: object
    clicks: int = 0

    def click(self, locator):
        self.clicks += 1
        locator.click(timeout=PATIENCE_MS)
        self.visitor.page.wait_for_timeout(500)  # the address changes before the page begins to run
        self.visitor.settle()

    def follow(self, name):
        page = self.visitor.page
        words = re.compile(rf"^(\w+\s+)?{name}")
        self.click(page.get_by_role("link", name=words).or_(page.get_by_role("button", name=words)).first)

    def said(self):
        assert self.clicks <= MOST_CLICKS
        return self.visitor.page.locator("[data-testid=stMain]").inner_text()

    def cells(self):
        """The cells of the tables, as a screen reader has them."""
        assert self.clicks <= MOST_CLICKS
        return self.visitor.page.locator("[data-testid=stDataFrame] canvas [role=gridcell]").all_text_contents()


@pytest.fixture
def planner(asked, visitors):
    server, trace, told = asked
    return Planner(visitors(server).open(f"/?ds={trace}")), told


@pytest.mark.soak
def test_what_a_user_should_request_for_a_task(planner):
    somebody, (row, *_) = planner
    somebody.follow("Open the memory plan")
    find = somebody.visitor.page.get_by_role("textbox", name="Find")
    somebody.click(find)
    find.press_sequentially(" ".join(row.key.values()))
    find.press("Enter")
    somebody.visitor.page.wait_for_timeout(500)
    somebody.visitor.settle()
    cells = somebody.cells()
    for value in (*map(last_part, row.key.values()), row.action, str(row.request), str(row.size)):
        assert value in cells


@pytest.mark.soak
def test_what_breaks_if_all_requests_are_cut(planner):
    somebody, (_, cut, _) = planner
    somebody.follow("What if all requests are cut by 30 %")
    said = somebody.said()
    assert cut in said
    assert re.search(r"All requests times 0.7: (saves|adds) [\d.]+ %, kills [\d,]+ of [\d,]+ runs", said)
    assert ("Who breaks" in said) == ("kills 0 of" not in said)


@pytest.mark.soak
def test_how_many_nodes_of_64_gb(planner):
    somebody, (*_, nodes) = planner
    somebody.follow("How many 64 GB nodes")
    assert nodes in somebody.said()
    assert re.search(
        r"At the peak at least [\d,]+ nodes? of 64 GB (is|are) needed; with these sizes at least [\d,]+", nodes
    )
