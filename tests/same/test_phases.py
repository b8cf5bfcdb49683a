"""Phases: every view's figures, metrics and files are the library's, the command's and the report's."""

import json

import pytest

from tests.same.reading import same_figures, same_metrics
from workprof.cli.phases import evaluation_json, match_json, phases_json
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings
from workprof.records import to_json

pytestmark = pytest.mark.slow

RUN = "two steps/1"


def test_timeline(phases):
    printed = phases.report("counters", "phases")
    page = phases.page("phases", "counters", phases_tab="Timeline", phases_run="one step/1")
    assert same_figures(page, printed, "phases") == {"phases-timeline"}
    page = phases.page("phases", "counters", phases_tab="Timeline", phases_run=RUN)
    found = phases.library(lambda bench: bench.run_phases("counters", DetectSettings(RUN)))
    told = phases.command("phases", "detect", "counters", "--run", RUN)
    assert to_json(phases_json(found)) == told
    shown = phases.command("phases", "show", "counters", "--run", RUN)
    (line,) = (trace for trace in page.figures["phases-timeline"] if trace["name"] == "app.cpu%")
    assert line["x"] == [shown["start_s"], *shown["times_s"]]  # a sample holds for the step before it
    assert line["y"][1:] == shown["counters"]["app.cpu%"]["values"]
    table = page.csv("counters-phases.csv")
    for name, one in told["counters"].items():
        if one["phases"] and (table["counter"] == name).any():
            mine = table[table["counter"] == name]
            assert mine["start_s"].tolist() == [phase["start_s"] for phase in one["phases"]]
            assert mine["end_s"].tolist() == [phase["end_s"] for phase in one["phases"]]
    assert set(table["counter"]) <= set(told["counters"])
    assert (table["counter"] == "app.cpu%").sum() == 3
    assert {name for name in printed.csv("phases") if "one_step" in name} == {"phases-one_step-1"}


def test_match(phases):
    asked = MatchRunSettings(RUN)
    found = phases.library(lambda bench: bench.match_run("counters", asked))
    told = phases.command("phases", "match", "counters", "--unknown", RUN)
    assert to_json(match_json(found)) == told
    page = phases.page("phases", "counters", phases_tab="Match", phases_run=RUN)
    assert page.figures["phases-unlikeness"][0]["x"] == sorted(told["scores"].values())
    nearest = [one["distance_ed"] for one in told["matches"]]
    assert page.figures["phases-match-euclidean"][0]["x"] == nearest
    assert page.metric("Confidence") == [f"{told['confidence'] * 100:.0f} %"]
    assert page.csv("two_steps-1-match.csv")["distance_euclidean"].tolist() == nearest
    assert json.loads(page.files["two_steps-1-match.json"])["verdict"]["workload"] == told["verdict"]


def test_evaluation(phases):
    found = phases.library(lambda bench: bench.evaluate_phases("counters", EvaluationSettings()))
    told = phases.command("phases", "evaluate", "counters")
    assert to_json(evaluation_json(found)) == told
    printed = phases.report("counters", "recognition")
    page = phases.page("phases", "counters", phases_tab="Evaluation", phases_run=RUN)
    assert same_figures(page, printed, "recognition") == set(printed.figures("recognition"))
    same_metrics(page, printed, "recognition")
    for name in ("phases-known", "phases-unknown", "phases-distances"):
        assert page.files[f"{name}.csv"] == printed.csv("recognition")[name]
