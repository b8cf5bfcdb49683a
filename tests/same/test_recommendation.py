"""One recommendation: Home, Memory, the tour, the report, the command and the library say the same figures."""

import html
import io
import json

import pandas as pd
import pytest

from tests.charts import records_for_classify, records_for_memory
from tests.same.reading import same_metrics
from workprof.charts.memory.recommendation import recommendation_sentence
from workprof.core.units import compact, format_share
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow

FIGURES = ("Memory saving", "Kills", "Wasted", "Judged on")


def told_figures(told):
    """Return label -> value as pages print them, from the JSON of the command."""
    best = told["recommended"]
    wasted = best["wasted_gb_h"]
    return {
        "Memory saving": format_share(best["saved_share"]),
        "Kills": f"{best['failures']:,}",
        "Wasted": f"{compact(wasted)} GB·h",
        "Judged on": f"{best['n_runs']:,} runs",
    }


@pytest.mark.parametrize("more", [{}, {"memory_kills": "5%"}], ids=["default", "more kills"])
def test_the_page_shows_what_the_command_prints(tasks, more):
    options = ["--acceptable-kills", more["memory_kills"]] if more else []
    told = tasks.command("memory", "recommendation", "tasks", *options)
    page = tasks.page("memory", "tasks", memory_tab="Plan", **more)
    assert {label: page.metric(label)[0] for label in FIGURES} == told_figures(told)
    assert told["reason"] in page.words
    marks = {trace["name"]: (trace["x"][0], trace["y"][0]) for trace in page.figures["memory-recommendation"]}
    for name, one in (
        ("requested", told["baselines"]["requested"]),
        ("requests enforced", told["baselines"]["enforced"]),
    ):
        assert marks[name] == (one["failures"], pytest.approx(one["wasted_gb_h"]))
    best = told["recommended"]
    name = "recommended: keep the requests" if best["kept"] else "recommended"
    assert marks[name] == (best["failures"], pytest.approx(best["wasted_gb_h"]))
    sizes = page.csv("tasks-recommended.csv")
    assert sizes["full_name"].tolist() == [one["key"] for one in told["sizes"]]
    assert sizes["size_gb"].tolist() == pytest.approx([one["size_gb"] for one in told["sizes"]])
    assert (sizes["kept"] == "request kept").tolist() == [one["kept"] for one in told["sizes"]]


def test_the_export_holds_the_sizes_that_the_command_lists(tasks):
    told = tasks.command("memory", "recommendation", "tasks")
    target = tasks.folder / "recommended.json"
    tasks.command("memory", "export", "tasks", "--policy", "recommended", "--to", "json", "-o", target)
    exported = {one["task"]: one for one in json.loads(target.read_text())["tasks"]}
    assert set(exported) == {one["key"] for one in told["sizes"]}
    for one in told["sizes"]:
        size = exported[one["key"]]
        assert [size["size_gb"], *size["next_gb"]] == pytest.approx([one["size_gb"], *one["next_gb"]])
        assert (size["n_killed"], size["n_tested"]) == (one["n_killed"], one["n_tested"])


def test_home_report_and_library_say_the_same(tasks):
    told = tasks.command("memory", "recommendation", "tasks")
    found = tasks.library(lambda bench: bench.recommendation("tasks", RecommendationSettings()))
    assert found.recommended.wasted_gb_h == told["recommended"]["wasted_gb_h"]
    home, memory = tasks.page("home", "tasks"), tasks.page("memory", "tasks")
    assert {label: home.metric(label) for label in FIGURES[:2]} == {
        label: memory.metric(label) for label in FIGURES[:2]
    }
    assert {label: home.metric(label)[0] for label in FIGURES[:2]}.items() <= told_figures(told).items()
    sentence = recommendation_sentence(found)
    assert sentence in home.words
    assert sentence in memory.words
    printed = tasks.report("tasks", "memory")
    same_metrics(memory, printed, "memory", len(FIGURES))
    for name in ("memory-recommendation", "memory-recommended-sizes"):
        assert memory.figures[name] in printed.figures("memory")[name]
    assert sentence in html.unescape(printed.page)
    there = pd.read_csv(io.BytesIO(printed.csv("memory")["memory-recommended"]))
    assert there["size_gb"].tolist() == pytest.approx([one["size_gb"] for one in told["sizes"]])


@pytest.mark.soak
def test_the_tour_says_the_same(samples):
    jobs = samples.hashes["jobs"]
    samples.library(lambda bench: bench.profiles(jobs, ProfileSettings()))
    samples.keep(
        "jobs",
        lambda bench, ds: bench.classifier_evaluation.cached(ds, ClassifierSettings()),
        records_for_classify.evaluation(),
    )
    samples.keep("jobs", lambda bench, ds: bench.replay.cached(ds, ReplaySettings()), records_for_memory.replayed())
    told = samples.command("memory", "recommendation", jobs)
    stop = samples.page("memory", "jobs", demo="1")
    home = samples.page("home", "jobs")
    assert {label: stop.metric(label)[0] for label in FIGURES} == told_figures(told)
    assert told["reason"] in stop.words
    assert told["reason"] in home.words
    assert {label: home.metric(label)[0] for label in FIGURES[:2]}.items() <= told_figures(told).items()
    page = samples.page("memory", "jobs")
    assert stop.figures["tour_memory_memory-recommendation"] == page.figures["memory-recommendation"]
