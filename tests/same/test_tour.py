"""The tour: every stop's figures and charts are those of its page, of the commands, and of the report it hands over."""

import time

import pytest

from tests.charts import records_for_classify, records_for_memory
from tests.same.conftest import PATIENCE_S
from tests.same.reading import FIGURE, Printed, bar
from workprof.core.units import format_count, format_share
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.replay import ReplaySettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow

SECTIONS = ("data", "profiles", "classify", "memory")
VIEWS = {
    "durations": ("jobs", {"durations_tab": "Observed", "durations_by": "profile"}),
    "memory": ("jobs", {"memory_tab": "Recommendation"}),
    "nodes": ("benchmarks", {"nodes_tab": "Ranking"}),
    "phases": ("telemetry", {"phases_tab": "Timeline"}),
}
"""Stop -> the data and the view of its page that draws the same."""


@pytest.fixture(scope="module")
def toured(samples):
    """The samples with their profiles; what takes minutes is kept as made by hand, since it is looked at only."""
    jobs = samples.hashes["jobs"]
    samples.library(lambda bench: bench.profiles(jobs, ProfileSettings()))
    tested, asked = records_for_classify.evaluation(), ClassifierSettings()
    samples.keep("jobs", lambda bench, ds: bench.classifier_evaluation.cached(ds, asked), tested)
    replayed = records_for_memory.replayed()
    samples.keep("jobs", lambda bench, ds: bench.replay.cached(ds, ReplaySettings()), replayed)
    samples.library(lambda bench: bench.recommendation(jobs, RecommendationSettings()))
    return samples


@pytest.fixture(scope="module")
def printed(toured):
    return toured.report("jobs", *SECTIONS)


def stop(toured, page, act=None):
    """Return what a stop shows, its charts by the names that they have on their pages."""
    shown = toured.page(page, "jobs", demo="1", act=act)
    return shown, {name.removeprefix(f"tour_{page}_"): traces for name, traces in shown.figures.items()}


def test_home_tells_of_the_memory_what_the_memory_page_draws(toured, printed):
    shown, charts = stop(toured, "home")
    told = toured.command("memory", "assess", toured.hashes["jobs"])
    assert list(charts) == ["memory-by-task"]
    assert charts["memory-by-task"] in printed.figures("memory")["memory-by-task"]
    assert set(shown.metrics) <= set(toured.page("home", "jobs").metrics)
    assert len(shown.metrics) == 8
    wasted = sum(one["wasted_gb_h"] for one in told["tasks"])
    assert f"{wasted:,.0f} GB·h" in shown.words
    assert f"{sum(one['n'] for one in told['tasks']):,} runs" in shown.words


def test_the_kinds_of_jobs_are_those_of_the_profiles(toured, printed):
    shown, charts = stop(toured, "profiles")
    told = toured.command("profiles", "fit", toured.hashes["jobs"])
    assert charts["profile-sizes"] in printed.figures("profiles")["profile-sizes"]
    sizes = bar(charts["profile-sizes"])
    assert sizes == {one["name"]: one["size"] for one in told["profiles"]} | {"Unclustered": told["n_outliers"]}
    page = toured.page("profiles", "jobs", profiles_tab="Map")
    assert set(shown.metrics) <= set(page.metrics)
    drawn, whole = places(charts["profile-map"]), places(page.figures["profile-map"])
    assert set(drawn) < set(whole)
    assert all(whole[row] == place for row, place in drawn.items())
    outside = told["n_outliers"] / told["n_rows"]
    assert f"{told['n_clusters']} kinds of jobs cover {format_share(1 - outside)} of" in shown.words
    assert f"of {format_count(told['n_rows'])} runs; {format_share(outside)} are like no group" in shown.words


def places(traces):
    """Return row -> place of every point of a map."""
    return {
        row[0] if isinstance(row, list) else row: (x, y)
        for trace in traces
        for row, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }


def test_how_well_a_kind_is_foretold_is_the_commands(toured, printed):
    shown, charts = stop(toured, "classify")
    told = toured.command("classify", "evaluate", toured.hashes["jobs"])["splits"]
    assert len(charts) == 2
    assert all(traces in printed.figures("classify")[name] for name, traces in charts.items())
    strict = told["by_group"]
    assert f"told right for {format_share(strict['accuracy'])} of the runs of groups" in shown.words
    assert f"for {format_share(strict['abstained_share'])} of these runs it is 'no profile'" in shown.words


@pytest.mark.parametrize("page", VIEWS)
def test_a_stop_draws_what_its_page_draws(toured, page):
    shown, charts = stop(toured, page)
    dataset, address = VIEWS[page]
    there = toured.page(page, dataset, **address)
    assert charts
    assert set(shown.metrics) <= set(there.metrics)
    for name, traces in charts.items():
        if page == "phases":  # fewer counters, each in a panel of its own
            lines = {trace["name"]: (trace["x"], trace["y"]) for trace in there.figures[name]}
            assert all(lines[trace["name"]] == (trace["x"], trace["y"]) for trace in traces)
        else:
            assert traces == there.figures[name]


def test_which_node_is_best_is_the_commands(toured):
    shown, charts = stop(toured, "nodes")
    told = toured.command("nodes", "rank", toured.hashes["benchmarks"])
    assert bar(charts["node-ranking"]) == {one["node"]: one["score"] for one in told["nodes"]}
    assert shown.metric("Best node") == [told["nodes"][0]["node"]]


def test_the_report_of_the_tour_holds_the_tables_of_the_command(toured, printed):
    def ready(test):
        end = time.monotonic() + PATIENCE_S
        while not test.get("download_button") and time.monotonic() < end:
            time.sleep(0.2)
            test.run()

    shown, _ = stop(toured, "report", act=ready)
    (bundle,) = (content for name, content in shown.files.items() if name.endswith(".zip"))
    (page,) = (content for name, content in shown.files.items() if name.endswith(".html"))
    handed = Printed(page.decode(), bundle)
    for section in SECTIONS:
        assert handed.figures(section) == printed.figures(section)
        assert handed.metrics(section) == printed.metrics(section)
        assert handed.csv(section) == printed.csv(section)
    charts = sum(len(one) for section in SECTIONS for one in printed.figures(section).values())
    assert f"{len(SECTIONS)} sections with {charts} figures" in shown.words
    target = toured.folder / "report.html"
    told = toured.command("report", toured.hashes["jobs"], "--sections", ",".join(SECTIONS), "-o", target)
    assert {one["name"] for one in told["sections"]} >= set(SECTIONS)
    assert FIGURE.findall(target.read_text()) == FIGURE.findall(page.decode())
