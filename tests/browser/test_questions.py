"""Classify and Memory in a real browser: a random job and its reasons, edges of a link and edges typed in."""

import numpy as np
import pandas as pd
import pytest

from tests.browser.conftest import PATIENCE_MS, running_server
from workprof.core.settings import from_environment
from workprof.workbench import Workbench


def sized_runs(path):
    """Write a generic trace of two tasks, in the fields' names."""
    draw = np.random.default_rng(0)
    task = np.where(np.arange(160) % 2 == 0, "sort", "scan")
    table = pd.DataFrame({"task_name": task, "duration_s": draw.uniform(50, 500, 160)})
    table["peak_memory_bytes"] = np.where(task == "sort", 4e9, 9e8) * draw.lognormal(0, 0.3, 160)
    table["requested_memory_bytes"] = 20e9
    table["submit_time_s"] = np.arange(160) * 60.0
    table.to_parquet(path)
    return path


@pytest.fixture(scope="module")
def sized(tmp_path_factory):
    """A server over a home with a trace of two tasks, and the hash of the trace."""
    folder = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            runs = workbench.ingest([sized_runs(folder / "runs.parquet")]).hash
    with running_server(folder / "home") as running:
        yield running, runs


@pytest.mark.soak
def test_a_random_job_gets_its_answer_and_its_reasons(whole, visitors):
    visitor = visitors(whole.server).open(f"/classify?ds={whole.hashes.jobs}")
    visitor.button("Random job").click()
    visitor.page.get_by_text("Actual: ").wait_for(timeout=PATIENCE_MS)
    visitor.settle()
    assert "classify_job=" in visitor.page.url
    visitor.page.locator("[data-testid=stPlotlyChart]").nth(2).wait_for(timeout=PATIENCE_MS)  # three at least


@pytest.mark.soak
def test_edges_in_the_link_are_the_edges_on_the_page(sized, visitors):
    server, runs = sized
    visitor = visitors(server).open(f"/memory?ds={runs}&memory_tab=Bins&memory_edges=3,7,20")
    assert "3 GB" in visitor.page.locator("[data-testid=stMain]").inner_text()
    field = visitor.page.get_by_role("textbox", name="Custom limits (GB)")
    assert field.input_value() == "3,7,20"
    field.fill("5, 21")
    field.press("Enter")
    visitor.page.wait_for_url("**memory_edges=5*", timeout=PATIENCE_MS)
    visitor.settle()
    assert "21 GB" in visitor.page.locator("[data-testid=stMain]").inner_text()
