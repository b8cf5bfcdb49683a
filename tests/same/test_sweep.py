"""Sweep: page, command, CSV files and report say the same of every run."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from tests.same.reading import bar, same_figures
from workprof.answers.sweep import SCALER_WORDS, run_name, runner_up
from workprof.charts.sweep import moved_jobs
from workprof.core.table import csv_bytes
from workprof.profiles.names import name_at
from workprof.profiles.settings import ALGORITHM_WORDS, METRIC_WORDS
from workprof.profiles.sweep import SweepSettings

pytestmark = pytest.mark.slow

VIEWS = {
    "Score map": {"sweep-silhouette-clustered-hdbscan"},
    "All settings": {"sweep-parallel-coordinates"},
    "Target": {"sweep-targets"},
}
SCORES = (
    "n_clusters",
    "n_outliers",
    "acquires",
    "scores_v3",
    "avg_silhouette",
    "davies_bouldin",
    "relative_validity",
    "ccpm",
)


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
    page = many_jobs.page("sweep", "jobs", sweep_tab="Ranking")
    assert page.files["jobs-sweep.csv"] == printed.csv("sweep")["sweep-runs"]
    table = page.csv("jobs-sweep.csv").replace({float("nan"): None})
    key = ["algorithm", "scaler", "metric", "grid_size"]
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
    page = many_jobs.page("sweep", "jobs", sweep_tab="Summary")
    assert page.files["jobs-sweep-summary.csv"] == printed.csv("sweep")["sweep-summary"]
    targets = bar(many_jobs.page("sweep", "jobs", sweep_tab="Target").figures["sweep-targets"])
    assert targets == {f"target {one['target_clusters']}": one["acquires"] for one in told["winners_by_target"]}


def test_two_runs_differ_as_the_fits_of_their_settings_do(many_jobs, told):
    """The labels are those of `profiles fit` with each run's settings, and what differs is counted here anew."""
    state = many_jobs.library(lambda bench: bench.sweep_state("jobs", SweepSettings()))
    chosen = (state.best, runner_up(state.runs, state.best))
    ranked = sorted((one["acquires"] for one in told["runs"] if one["acquires"] is not None), reverse=True)
    assert [state.runs[place].scores.acquires for place in chosen] == ranked[:2]
    fits = [many_jobs.library(lambda bench, at=at: bench.profiles("jobs", state.runs[at].settings)) for at in chosen]
    before, after = (pd.Series(fit.labels, index=fit.row_ids) for fit in fits)
    names = [
        many_jobs.library(lambda bench, at=at: bench.profile_names("jobs", state.runs[at].settings)) for at in chosen
    ]
    first, second = (
        labels.map(lambda label, of=of: name_at(of, label)) for labels, of in zip((before, after), names, strict=True)
    )
    rows = pd.crosstab(first, second).rename_axis(index=None, columns=None)
    page = many_jobs.page("sweep", "jobs", sweep_tab="Compare two", unfolded=[_overlap_of(state, chosen)])
    inside = (before >= 0) & (after >= 0)
    agreed = adjusted_rand_score(before[inside], after[inside]), adjusted_rand_score(before, after)
    labels = ("Adjusted Rand", "Adjusted Rand, all runs")
    assert [page.metric(label) for label in labels] == [[f"{value:.3f}"] for value in agreed]
    assert page.metric("To outliers") == [f"{((before >= 0) & (after < 0)).sum():,}"]
    (back,) = (detail for label, _, detail in page.metrics if label == "To outliers")
    assert back == f"from outliers {((before < 0) & (after >= 0)).sum():,}"
    drawn = page.figures["sweep-overlap"][0]
    counts = pd.DataFrame(drawn["customdata"], index=drawn["y"], columns=drawn["x"])
    assert counts.sort_index(axis=1).equals(rows.loc[drawn["y"]].sort_index(axis=1))
    assert np.array(drawn["z"]).sum(axis=1).tolist() == pytest.approx([1.0] * len(rows))
    saved = page.csv("sweep-overlap.csv").set_index("first run")
    assert saved.equals(counts.rename_axis("first run"))
    moved = page.csv("moved-jobs.csv").set_index("row_id")
    assert page.metric("Moved") == [f"{len(moved):,}"]
    assert moved["first run"].tolist() == first[moved.index].tolist()
    assert moved["second run"].tolist() == second[moved.index].tolist()
    shown = next(table for table in page.tables if "second run" in table.columns)
    assert shown["row_id"].tolist() == moved.index[: len(shown)].tolist()
    found = many_jobs.library(lambda bench: bench.compare_sweep_runs("jobs", SweepSettings(), *chosen))
    table = many_jobs.library(lambda bench: moved_jobs(bench.rows("jobs", found.row_ids.tolist()), found, tuple(names)))
    assert page.files["moved-jobs.csv"] == csv_bytes(table)


def _overlap_of(state, chosen):
    """Return the key of the picture of two runs."""
    names = [run_name(run) for run in state.runs]
    return f"sweep_overlap_{names[chosen[0]]}_{names[chosen[1]]}"
