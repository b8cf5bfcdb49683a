"""The seven questions of a planner on the sample and two real traces: from Home, each is answered within two clicks.

A path is data: the links and tabs that are clicked, and what the page that they lead to must say. What needs a figure
of the library beside it (a user's task, a cut by 30 %, nodes of 64 GB) is in `test_first_questions`. WORKPROF_PICTURES
names a folder for pictures of the first screens, 1440 pixels light and 390 dark.
"""

import os
import re
from dataclasses import dataclass

import pytest

from tests.browser.conftest import PATIENCE_MS, ROOT, SAMPLE, running_server
from tests.shared_data import FOLDER, PAI_SAMPLE
from workprof.core.settings import from_environment
from workprof.nodes.selection import RankSettings
from workprof.phases.matching import MatchRunSettings
from workprof.workbench import Workbench

MOST_CLICKS = 2
AMOUNT = r"\d[\d.,]*( [kM])? GB·h"
TRACES = {
    "sample": SAMPLE,
    "workflow": FOLDER / "nextflow" / "trace_rnaseq.csv",
    "cluster": PAI_SAMPLE,
}
NODES, COUNTERS = (ROOT / "data" / "sample" / name for name in ("benchmarks.jsonl", "telemetry.csv"))

pytestmark = pytest.mark.soak


@dataclass(frozen=True)
class Path:
    """One question: how the links are called that are clicked, one after another, and what is then to be read."""

    question: str
    clicks: tuple[str, ...]
    answers: tuple[str, ...]


PATHS = (
    Path("what is wasted most", (r"Biggest waste: .+ unused",), (rf"{AMOUNT} unused",)),
    Path("what should I request", ("Open the memory plan",), (r"Smaller requests save|Keep the requests", AMOUNT)),
    Path("what breaks", (r"What breaks: [\d,]+ runs?",), (r"Kills", r"[\d,]+ today")),
    Path(
        "which profile is this job, how long, why",
        ("Classify",),
        (r"\(P\d+\)|No profile predicted", r"Actual", r"will need about [\d.]+ .?B and \d", r"the odds of"),
    ),
    Path("which node is bad", ("Nodes",), (r"has slowed by|No node has degraded|is \d+ % faster",)),
    Path("which is best for this profile", ("Profiles", "Best nodes"), (r"\(P\d+\)", r"fastest|no clear difference")),
    Path(
        "what would three sizes save",
        ("Memory", "Bins"),
        (r"[1-3] bins? .*(save|cost)s? (at most )?[\d.]+ %", r"Nodes of 64 GB at the peak: at least [\d,]+ as"),
    ),
    Path("is this workload known", ("Phases", "Match"), (r"matches “|matches no known workload|is most like “",)),
)


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """A server over the traces, imported and computed as its buttons do, and the hash of each."""
    folder = tmp_path_factory.mktemp("paths")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.node_ranking(workbench.ingest([NODES]).hash, RankSettings())
            counters = workbench.ingest([COUNTERS]).hash
            workbench.match_run(counters, MatchRunSettings(workbench.phase_runs(counters).runs[0].name))
            for name, path in TRACES.items():
                if path.is_file():
                    found[name] = workbench.ingest([path]).hash
                    workbench.profiles(found[name])
                    workbench.verdict(found[name])
                    workbench.forecaster(found[name])
    with running_server(folder / "home") as running:
        yield running, found


def named(visitor, name):
    """Return the link or button of a name; its icon's name may stand before it."""
    words = re.compile(rf"^(\w+\s+)?{name}")
    here = visitor.page.get_by_role("link", name=words).or_(visitor.page.get_by_role("button", name=words))
    return here.or_(visitor.page.get_by_role("tab", name=words)).first


def follow(visitor, path):
    """Click a path's links from Home; return what the last page says."""
    for name in path.clicks:
        named(visitor, name).click(timeout=PATIENCE_MS)
        visitor.page.wait_for_timeout(500)  # the address changes before the page begins to run
        visitor.settle()
    return visitor.page.locator("[data-testid=stMain]").inner_text()


def picture(visitors, visitor, server, name):
    """Keep the first screen of where a path ends, wide and light, and on a phone in the dark."""
    folder = os.environ.get("WORKPROF_PICTURES")
    if folder:
        visitor.page.screenshot(path=f"{folder}/{name}-1440.png")
        phone = visitors(server, width=390, height=844, dark=True).open(visitor.page.url.removeprefix(server.url))
        phone.page.screenshot(path=f"{folder}/{name}-390.png")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.question)
@pytest.mark.parametrize("trace", TRACES)
def test_a_question_is_answered_within_two_clicks(computed, visitors, trace, path):
    server, hashes = computed
    if trace not in hashes:
        pytest.skip("the real traces are not beside the checkout")
    assert len(path.clicks) <= MOST_CLICKS
    visitor = visitors(server).open(f"/?ds={hashes[trace]}")
    said = follow(visitor, path)
    picture(visitors, visitor, server, f"{trace}-{path.question.replace(' ', '-').replace(',', '')}")
    assert [answer for answer in path.answers if not re.search(answer, said)] == []


def test_the_biggest_waste_has_the_amount_that_home_named(computed, visitors):
    server, hashes = computed
    visitor = visitors(server).open(f"/?ds={hashes['sample']}")
    waste = re.search(AMOUNT, named(visitor, "Biggest waste: ").inner_text())[0]
    assert waste in follow(visitor, PATHS[0])
