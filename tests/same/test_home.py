"""Home, of every kind of data: its figures are those of the commands, of the pages and of the rows themselves."""

import re

import pandas as pd
import pytest

from tests.charts import records_for_memory, records_for_phases
from tests.nodes.planted_nodes import runs_of
from tests.pages.test_nodes_page import SPEEDS
from workprof.core.units import format_bytes, format_count, format_duration, format_share
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow


def test_a_job_trace_in_figures(jobs):
    told = jobs.command("profiles", "fit", "jobs")
    (entry,) = jobs.command("datasets")
    jobs.command("export", "jobs", "-o", jobs.folder / "out.parquet")
    rows = pd.read_parquet(jobs.folder / "out.parquet")
    page = jobs.page("home", "jobs")
    details = {label: detail for label, _, detail in page.metrics}
    assert details["Jobs"] == f"{entry['rows']:,} runs"
    for label, column in (("Jobs", "job_name"), ("Users", "user"), ("Nodes", "node")):
        (shown,) = page.metric(label)
        assert int(shown.replace(",", "")) == rows[column].nunique()
    assert (entry["jobs"], entry["users"]) == (rows["job_name"].nunique(), rows["user"].nunique())
    assert f"{entry['rows']:,} runs of {entry['jobs']:,} jobs by {entry['users']:,} users" in page.words
    assert page.metric("Median duration") == [format_duration(rows["duration_s"].median())]
    assert details["Median duration"] == f"p95 {format_duration(rows['duration_s'].quantile(0.95))}"
    assert page.metric("Median peak memory") == [format_bytes(rows["peak_memory_bytes"].median())]
    assert details["Median peak memory"] == f"of {format_bytes(rows['requested_memory_bytes'].median())} asked"
    assert set(page.metric("Clustered")) == {format_share(1 - told["n_outliers"] / told["n_rows"])}
    assert page.metric("Profiles") == [format_count(told["n_clusters"])]
    assert f"{told['n_clusters']} profiles found with the default settings" in page.words


def test_recent_runs_are_the_commands(jobs):
    jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    told = jobs.command("runs")
    page = jobs.page("home", "jobs")
    times = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d(?= UTC)", page.words)
    assert times == [one["created"][:16].replace("T", " ") for one in told[:5]]


def test_requests_and_what_is_recommended_in_figures(tasks):
    told = tasks.command("memory", "plan", "tasks")["recommended"]
    rows = records_for_memory.jobs()
    page = tasks.page("home", "tasks")
    assert page.metric("Median duration") == [format_duration(rows["duration_s"].median())]
    assert page.metric("Median peak memory") == [format_bytes(rows["peak_memory_bytes"].median())]
    assert page.metric("Memory saving") == [format_share(told["saved_share"])]
    assert page.metric("Kills") == [f"{told['failures']:,}"]
    assert page.metric("Clustered") == ["not yet"]


def test_without_profiles_home_draws_the_strip_of_times_of_the_data_page(tasks):
    home = tasks.page("home", "tasks")
    data = tasks.page("data", "tasks", data_tab="Time coverage")
    assert home.figures == {"time-coverage": data.figures["time-coverage"]}
    found = tasks.library(lambda bench: bench.time_coverage("tasks"))
    (bars,) = home.figures["time-coverage"]
    assert bars["y"] == found.rows.tolist()
    assert sum(bars["y"]) == len(records_for_memory.jobs())


def test_benchmark_runs_in_figures(nodes):
    runs = runs_of(SPEEDS, n_runs=6)
    page = nodes.page("home", "runs")
    assert page.metric("Runs") == [f"{len(runs):,}"]
    assert page.metric("Nodes") == [str(len(nodes.command("nodes", "rank", "runs")["nodes"]))]
    assert page.metric("Benchmarks") == [str(runs["benchmark"].nunique())]
    assert page.metric("Period") == [format_duration(runs["started_s"].max() - runs["started_s"].min())]


def test_counters_in_figures(phases):
    samples = records_for_phases.samples()
    page = phases.page("home", "counters")
    assert page.metric("Samples") == [f"{len(samples):,}"]
    assert page.metric("Runs") == [str(len(samples.groupby(["workload", "run"])))]
    assert page.metric("Workloads") == [str(samples["workload"].nunique())]
    detected = phases.command("phases", "detect", "counters", "--run", "one step/1")["counters"]
    assert page.metric("Counters") == [str(len(detected))]
