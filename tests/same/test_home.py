"""Home, of every kind of data: its figures are those of the commands, of the pages and of the rows themselves."""

import re

import pandas as pd
import pytest

from tests.charts import records_for_memory, records_for_phases
from tests.nodes.planted_nodes import runs_of
from tests.pages.test_nodes_page import SPEEDS
from workprof.core.units import compact, format_bytes, format_duration, format_share
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow
FOLDS = {"home_steps": "true", "home_data": "true"}


def test_a_job_trace_in_figures(jobs):
    told = jobs.command("profiles", "fit", "jobs")
    (entry,) = jobs.command("datasets")
    jobs.command("export", "jobs", "-o", jobs.folder / "out.parquet")
    rows = pd.read_parquet(jobs.folder / "out.parquet")
    page = jobs.page("home", "jobs", **FOLDS)
    details = {label: detail for label, _, detail in page.metrics}
    assert details["Jobs"] == f"{entry['rows']:,} runs"
    for label, column in (("Jobs", "job_name"), ("Nodes", "node")):
        (shown,) = page.metric(label)
        assert int(shown.replace(",", "")) == rows[column].nunique()
    assert (entry["jobs"], entry["users"]) == (rows["job_name"].nunique(), rows["user"].nunique())
    over_time = jobs.command("memory", "over-time", "jobs")
    unused = over_time["unused_gb_h"] / over_time["requested_gb_h"]
    assert f"{100 * unused:.0f} % of requested memory is never used: " in page.words
    assert f"Of {entry['rows']:,} runs by {entry['users']:,} users." in page.words
    assert page.metric("Requested") == [f"{compact(over_time['requested_gb_h'])} GB·h"]
    assert page.metric("Unused") == [f"{compact(over_time['unused_gb_h'])} GB·h"]
    assert page.metric("Median duration") == [format_duration(rows["duration_s"].median())]
    assert details["Median duration"] == f"p95 {format_duration(rows['duration_s'].quantile(0.95))}"
    assert page.metric("Median peak memory") == [format_bytes(rows["peak_memory_bytes"].median())]
    requested = f"{format_bytes(rows['requested_memory_bytes'].median())} requested"
    assert details["Median peak memory"] == requested
    assert f"{told['n_clusters']} profiles found with the default settings" in page.words


def test_recent_runs_are_the_commands(jobs):
    jobs.library(lambda bench: bench.profiles("jobs", ProfileSettings()))
    told = jobs.command("runs")
    page = jobs.page("home", "jobs", home_recent="true")
    times = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d(?= UTC)", page.words)
    assert times == [one["created"][:16].replace("T", " ") for one in told[:5]]


def test_requests_and_what_the_verdict_saves_in_figures(tasks):
    told = tasks.command("memory", "plan", "tasks")["recommended"]
    rows = records_for_memory.jobs()
    page = tasks.page("home", "tasks", **FOLDS)
    assert page.metric("Median duration") == [format_duration(rows["duration_s"].median())]
    assert page.metric("Median peak memory") == [format_bytes(rows["peak_memory_bytes"].median())]
    assert page.metric("Saved") == [format_share(told["saved_share"])]
    details = {label: detail for label, _, detail in page.metrics}
    assert details["Saved"].startswith(f"at {told['failures']:,} kill" if told["failures"] else "at no kill")


def test_home_draws_what_the_command_prints_of_memory_over_time(jobs):
    told = jobs.command("memory", "over-time", "jobs", "--by", "task", "--bin", "day")
    page = jobs.page("home", "jobs", home_by="task", home_bin="day")
    requested, used, _, cells = page.figures["home-over-time"]
    assert requested["y"] == pytest.approx([one["requested_gb_h"] for one in told["bins"]])
    assert used["y"] == pytest.approx([one["used_gb_h"] for one in told["bins"]])
    unused = {row["task"]: row["unused_gb_h"] for row in told["rows"]}
    row, place = cells["customdata"][0]
    chosen = {"home_cell": "true", "home_cell_row": row, "home_cell_bin": str(int(place))}
    cell = jobs.page("home", "jobs", act=lambda test: test.run(), home_by="task", home_bin="day", **chosen)
    assert f"{compact(unused[row][int(place)])} GB·h unused." in cell.words
    runs = jobs.command("memory", "over-time-runs", "jobs", "--by", "task", "--bin", "day", "--row", row, "--at", place)
    assert runs["unused_gb_h"] == pytest.approx(unused[row][int(place)])
    shown = cell.csv("jobs-over-time-runs.csv")
    assert shown["row_id"].tolist() == [one["row_id"] for one in runs["runs"]]


def test_home_draws_the_strip_of_times_of_the_data_page(tasks):
    home = tasks.page("home", "tasks", **FOLDS)
    data = tasks.page("data", "tasks", data_tab="Validation")
    assert home.figures["time-coverage"] == data.figures["time-coverage"]
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


def test_a_csv_file_begins_with_a_byte_order_mark_where_asked(tasks):
    plain = tasks.page("memory", "tasks", memory_tab="Plan").files["tasks-plan.csv"]
    marked = tasks.page(
        "memory", "tasks", act=lambda test: test.toggle(key="csv_mark").set_value(True).run(), memory_tab="Plan"
    )
    assert marked.files["tasks-plan.csv"] == b"\xef\xbb\xbf" + plain
