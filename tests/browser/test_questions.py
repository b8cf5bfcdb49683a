"""Classify, Durations and Memory in a real browser: every tab in both themes at two widths, a job, an edge, a price."""

import numpy as np
import pandas as pd
import pytest

from tests.browser.conftest import PATIENCE_MS, SAMPLE, running_server
from workprof.profiles.estimation.settings import EstimateEvaluationSettings, EstimateSettings
from workprof.profiles.forecaster import ForecasterSettings
from workprof.settings import from_environment
from workprof.workbench import Workbench

SIZES = {1440: 900, 390: 844}
TABS = {
    "classify": ("classify_tab", ("One job&classify_job=3", "Batch", "Model", "Finished jobs")),
    "durations": ("durations_tab", ("Observed", "Prediction error&durations_split=by_time")),
    "memory": ("memory_tab", ("Tasks", "Bins", "Models", "Policies", "Roll-up", "Scenarios")),
}


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
def asked(tmp_path_factory):
    """A server over a home: a part of the sample clustered, learned from and tested, and a trace that was replayed."""
    folder = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            whole = workbench.ingest([SAMPLE])
            part = workbench.dataset(workbench.sample(whole.hash, "workload", 500, "part").dataset).hash
            workbench.forecaster(part, ForecasterSettings())
            workbench.classifier_evaluation(part)
            workbench.estimate_evaluation(part, EstimateEvaluationSettings(EstimateSettings(split="by_time")))
            runs = workbench.ingest([sized_runs(folder / "runs.parquet")]).hash
            workbench.replay(runs)
    with running_server(folder / "home") as running:
        yield running, {"classify": part, "durations": part, "memory": runs}


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("page", TABS)
def test_every_tab_opens_in_both_themes(asked, visitors, page, width):
    server, datasets = asked
    key, tabs = TABS[page]
    for dark in (False, True):
        visitor = visitors(server, width=width, height=SIZES[width], dark=dark)
        for tab in tabs:
            visitor.open(f"/{page}?ds={datasets[page][:8]}&{key}={tab.replace(' ', '+')}")
            assert visitor.wide() <= 0, tab
            assert visitor.page.get_by_role("tab", selected=True).inner_text() == tab.partition("&")[0]


def test_a_random_job_gets_its_answer_and_its_reasons(asked, visitors):
    server, datasets = asked
    visitor = visitors(server).open(f"/classify?ds={datasets['classify'][:8]}")
    visitor.button("Random job").click()
    visitor.page.get_by_text("What really happened").wait_for(timeout=PATIENCE_MS)
    visitor.settle()
    assert "classify_job=" in visitor.page.url
    assert visitor.page.locator("[data-testid=stPlotlyChart]").count() >= 3


def test_edges_in_the_link_are_the_edges_on_the_page(asked, visitors):
    server, datasets = asked
    visitor = visitors(server).open(f"/memory?ds={datasets['memory'][:8]}&memory_tab=Bins&memory_edges=3,7,20")
    assert "3 GB" in visitor.page.locator("[data-testid=stMain]").inner_text()
    field = visitor.page.get_by_role("textbox", name="Own edges (GB)")
    field.fill("5, 21")
    field.press("Enter")
    visitor.page.wait_for_url("**memory_edges=5*", timeout=PATIENCE_MS)
    visitor.settle()
    assert "21 GB" in visitor.page.locator("[data-testid=stMain]").inner_text()
