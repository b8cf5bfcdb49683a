"""Sweep: page, command, CSV files and report say the same of every run."""

import pytest

from tests.same.reading import bar, same_figures
from workprof.charts.sweep.runs import ALGORITHM_WORDS, METRIC_WORDS, SCALER_WORDS

pytestmark = pytest.mark.slow

VIEWS = {
    "Score map": {"sweep-acquires-hdbscan"},
    "All settings": {"sweep-parallel-coordinates"},
    "Target": {"sweep-targets"},
}
SCORES = ("n_clusters", "n_outliers", "acquires", "scores_v3", "avg_silhouette", "davies_bouldin", "dbcv", "ccpm")


@pytest.fixture(scope="module")
def told(many_jobs):
    return many_jobs.command("profiles", "sweep", "jobs")


@pytest.fixture(scope="module")
def printed(many_jobs, told):
    return many_jobs.report("jobs", "sweep")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_what_the_report_prints(many_jobs, printed, view):
    page = many_jobs.page("sweep", "jobs", sweep_tab=view)
    assert same_figures(page, printed, "sweep") == VIEWS[view]


def test_runs_of_the_page_are_the_commands(many_jobs, told, printed):
    page = many_jobs.page("sweep", "jobs", sweep_tab="Runs")
    assert page.files["jobs-sweep.csv"] == printed.csv("sweep")["sweep-runs"]
    table = page.csv("jobs-sweep.csv").replace({float("nan"): None})
    key = ["algorithm", "scaler", "metric", "size"]
    shown = {tuple(line[name] for name in key): line for line in table.to_dict("records")}
    runs = {_place(one): one for one in told["runs"]}
    assert set(shown) == set(runs)
    assert {name: [shown[key][name] for key in runs] for name in SCORES} == {
        name: [one[name] for one in runs.values()] for name in SCORES
    }


def _place(run):
    """Return a run's settings in the words of the page."""
    words = (ALGORITHM_WORDS[run["algorithm"]], SCALER_WORDS[run["scaler"]], METRIC_WORDS[run["metric"]])
    return (*words, run["grid_size"])


def test_the_summary_and_the_targets_are_the_commands(many_jobs, told, printed):
    page = many_jobs.page("sweep", "jobs", sweep_tab="Summary (Table IV)")
    assert page.files["jobs-sweep-summary.csv"] == printed.csv("sweep")["sweep-summary"]
    targets = bar(many_jobs.page("sweep", "jobs", sweep_tab="Target").figures["sweep-targets"])
    assert targets == {f"target {one['target_clusters']}": one["acquires"] for one in told["winners_by_target"]}
