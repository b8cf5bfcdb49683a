"""The tour: every stop's figures and charts are those of its page, of the commands, and of the report it hands over."""

import time

import pytest

from tests.same.conftest import PATIENCE_S
from tests.same.reading import FIGURE, Printed
from workprof.core.units import format_count, format_share

pytestmark = pytest.mark.slow

SECTIONS = ("data", "profiles", "classify", "memory")
VIEWS = {"memory": ("jobs", {"memory_tab": "Plan"})}
"""Stop -> the data and the view of its page that draws the same."""


@pytest.fixture(scope="module")
def printed(samples):
    return samples.report("jobs", *SECTIONS)


def stop(samples, page, act=None):
    """Return what a stop shows, its charts by the names that they have on their pages."""
    shown = samples.page(page, "jobs", demo="1", act=act)
    return shown, {name.removeprefix(f"tour_{page}_"): traces for name, traces in shown.figures.items()}


@pytest.mark.soak
def test_the_waste_is_that_of_home_and_of_the_commands(samples):
    shown, charts = stop(samples, "home")
    over_time = samples.command("memory", "over-time", samples.hashes["jobs"])
    told = samples.command("memory", "assess", samples.hashes["jobs"])
    home = samples.page("home", "jobs")
    assert list(charts) == ["home-over-time"]
    assert charts["home-over-time"] == home.figures["home-over-time"]
    assert set(shown.metrics) <= set(home.metrics)
    assert len(shown.metrics) == 4
    unused = format_share(over_time["unused_gb_h"] / over_time["requested_gb_h"], 0)
    above = format_share(sum(one["n_over_request"] for one in told["tasks"]) / told["n_runs"])
    assert f"{unused} of requested memory is never used: " in shown.words
    assert f"yet {above} of the runs exceed theirs." in shown.words


def test_the_profiles_are_those_of_the_page(samples):
    shown, charts = stop(samples, "profiles")
    told = samples.command("profiles", "fit", samples.hashes["jobs"])
    page = samples.page("profiles", "jobs", profiles_tab="Map")
    drawn, whole = places(charts["profile-map"]), places(page.figures["profile-map"])
    assert set(drawn) < set(whole)
    assert all(whole[row] == place for row, place in drawn.items())
    outside = told["n_outliers"] / told["n_rows"]
    covered = f"{told['n_clusters']} profiles cover {format_share(1 - outside)} of {format_count(told['n_rows'])} runs."
    assert covered in shown.words


def places(traces):
    """Return row -> place of every point of a map."""
    return {
        row[0] if isinstance(row, list) else row: (x, y)
        for trace in traces
        for row, x, y in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
    }


@pytest.mark.soak
def test_how_well_a_profile_is_predicted_is_the_commands(samples, printed):
    shown, charts = stop(samples, "classify")
    told = samples.command("classify", "evaluate", samples.hashes["jobs"])["splits"]
    assert len(charts) == 1
    assert all(traces in printed.figures("classify")[name] for name, traces in charts.items())
    strict = told["by_group"]
    assert f"predicted correctly {format_share(strict['accuracy'])} of the time" in shown.words
    assert f"For {format_share(strict['abstained_share'])} of these runs the answer is 'no profile'" in shown.words


@pytest.mark.parametrize("page", VIEWS)
def test_a_stop_draws_what_its_page_draws(samples, page):
    shown, charts = stop(samples, page)
    dataset, address = VIEWS[page]
    there = samples.page(page, dataset, **address)
    assert charts
    assert set(shown.metrics) <= set(there.metrics)
    for name, traces in charts.items():
        assert traces == there.figures[name]


@pytest.mark.soak
def test_the_report_of_the_tour_holds_the_tables_of_the_command(samples, printed):
    def ready(test):
        end = time.monotonic() + PATIENCE_S
        while not test.get("download_button") and time.monotonic() < end:
            time.sleep(0.2)
            test.run()

    shown, _ = stop(samples, "report", act=ready)
    (bundle,) = (content for name, content in shown.files.items() if name.endswith(".zip"))
    (page,) = (content for name, content in shown.files.items() if name.endswith(".html"))
    handed = Printed(page.decode(), bundle)
    for section in SECTIONS:
        assert handed.figures(section) == printed.figures(section)
        assert handed.metrics(section) == printed.metrics(section)
        assert handed.csv(section) == printed.csv(section)
    found = samples.command("memory", "plan", samples.hashes["jobs"])
    assert shown.metric("Kills") == [f"{found['recommended']['failures']:,}"]
    assert "What this cannot promise" in shown.words
    target = samples.folder / "report.html"
    told = samples.command("report", samples.hashes["jobs"], "--sections", ",".join(SECTIONS), "-o", target)
    assert {one["name"] for one in told["sections"]} >= set(SECTIONS)
    assert FIGURE.findall(target.read_text()) == FIGURE.findall(page.decode())
