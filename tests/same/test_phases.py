"""Phases: every view's figures, metrics and files are the library's, the command's and the report's."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.charts import records_for_phases as given
from tests.same.reading import same_figures, same_metrics
from workprof.answers.phases import phases_answer
from workprof.answers.recognition import evaluation_answer, match_answer, threshold_table
from workprof.charts.phases.evaluation import distance_matrix
from workprof.charts.phases.matches import first_of_each_source, live_chart
from workprof.core.answer import to_json as answer_json
from workprof.core.table import csv_bytes
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibraryView, LibraryViewSettings, faithful_library
from workprof.phases.live import LiveSettings
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings, TimelineSettings
from workprof.workbench.recordings import Following

pytestmark = pytest.mark.slow

RUN = "two steps/1"
STEM = "two_steps-1-fingerprint"
PUBLISHED = {"phases_mode": "faithful"}
NO_PHASE = "no phase"


def test_timeline(phases):
    printed = phases.report("counters", "phases")
    page = phases.page("phases", "counters", phases_tab="Timeline", phases_run="one step/1")
    assert same_figures(page, printed, "phases") == {"phases-timeline"}
    page = phases.page("phases", "counters", phases_tab="Timeline", phases_run=RUN)
    found = phases.library(lambda bench: bench.run_phases("counters", DetectSettings(RUN)))
    told = phases.command("phases", "detect", "counters", "--run", RUN)
    assert answer_json(phases_answer(found)) == told
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
    assert answer_json(match_answer(found)) == told
    page = phases.page("phases", "counters", phases_tab="Match", phases_run=RUN, phases_nearest="true")
    assert page.figures["phases-unlikeness"][0]["x"] == sorted(told["scores"].values())
    nearest = [one["distance_ed"] for one in told["matches"]]
    assert page.figures["phases-match-euclidean"][0]["x"] == nearest
    assert page.metric("Workload") == [told["verdict"]]
    (distance,) = page.metric("Distance (log-odds)")
    assert float(distance.replace("−", "-")) == pytest.approx(told["score"], rel=0.06)
    drawn = {trace["name"] for trace in page.figures["phases-overlay"]}
    assert RUN in drawn
    assert any(name.startswith(f"{told['nearest']}/") for name in drawn - {RUN})
    assert page.csv("two_steps-1-match.csv")["distance_ed"].tolist() == nearest
    assert json.loads(page.files["two_steps-1-match.json"])["verdict"]["workload"] == told["verdict"]


def test_evaluation(phases):
    found = phases.library(lambda bench: bench.evaluate_phases("counters", EvaluationSettings()))
    told = phases.command("phases", "evaluate", "counters")
    assert answer_json(evaluation_answer(found)) == told
    printed = phases.report("counters", "recognition")
    page = phases.page("phases", "counters", phases_tab="Evaluation", phases_run=RUN)
    assert same_figures(page, printed, "recognition") == set(printed.figures("recognition"))
    same_metrics(page, printed, "recognition")
    for name in ("phases-known", "phases-unknown", "phases-distances"):
        assert page.files[f"{name}.csv"] == printed.csv("recognition")[name]


@pytest.fixture(scope="module")
def told(phases):
    return phases.command("phases", "detect", "counters", "--run", RUN)


@pytest.mark.parametrize("statistic", ["mean", "q90"])
def test_a_cell_of_the_fingerprint_is_the_commands_statistic(phases, told, statistic):
    address = {"phases_run": RUN, "phases_statistic": statistic, "phases_every": "true"}
    address |= {"phases_tab": "Fingerprint", "phases_cells": "true"}
    page = phases.page("phases", "counters", unfolded=("phases_fingerprint",), **address)
    cells = page.figures["phases-fingerprint"][0]
    phase_of = {name: [one[f"z_{statistic}"] for one in found["phases"]] for name, found in told["counters"].items()}
    counters = json.loads(page.files[f"{STEM}.json"])["counters"]
    for name, row in zip(counters, cells["z"], strict=True):
        assert [value for value in row if value is not None] == phase_of[name]
    table = page.csv("phases-fingerprint.csv")
    for name, values in phase_of.items():
        assert table[(table["counter"] == name) & ~table["padding"]]["value"].tolist() == values
    crossed = page.figures["phases-fingerprint"][1]
    assert len(crossed["x"]) == table["padding"].sum() == sum(row.count(None) for row in cells["z"])


def test_a_fingerprint_in_a_file_is_the_commands(phases, told):
    page = phases.page("phases", "counters", phases_tab="Fingerprint", phases_run=RUN)
    document = json.loads(page.files[f"{STEM}.json"])
    arrays = np.load(io.BytesIO(page.files[f"{STEM}.npz"]), allow_pickle=False)
    found = phases.library(lambda bench: bench.timeline("counters", TimelineSettings(RUN)))
    values = found.fingerprint.values
    assert np.array_equal(arrays["values"], values)
    assert document["dataset"] == phases.hashes["counters"]
    for place, name in enumerate(document["counters"]):
        own = told["counters"][name]["phases"]
        assert arrays["n_phases"][place] == len(own)
        rows = [[one[f"z_{statistic}"] for statistic in document["statistics"]] for one in own]
        assert values[place, : len(own)].tolist() == rows


@pytest.fixture(scope="module")
def known(phases):
    """The look at the library as published, made in a child process as the page's button makes it."""
    settings = LibraryViewSettings(library=faithful_library())

    def made(bench):
        bench.wait(bench.library_view.start("counters", settings).key, 300)
        return bench.library_view.cached("counters", settings).result

    found = phases.library(made)
    assert isinstance(found, LibraryView)
    return found


@pytest.mark.parametrize(("by", "measure"), [("euclidean", "ed"), ("dtw", "dtw")])
def test_distances_between_known_runs(phases, known, by, measure):
    address = PUBLISHED | {"phases_distance": by}
    opened = (f"phases_matrix_{by}",)
    page = phases.page("phases", "counters", phases_tab="Library", unfolded=opened, **address)
    drawn = np.array(page.figures[f"phases-library-{by}"][0]["z"], dtype=float)
    distances = known.distances(measure)
    told = phases.command("phases", "library", "counters", "--mode", "faithful")
    assert told["distances"][measure] == distances.tolist()
    off = ~np.eye(len(distances), dtype=bool)
    assert drawn[off].tolist() == distances[off].tolist()
    assert page.files[f"phases-library-{by}.csv"] == csv_bytes(distance_matrix(known, by).data)
    table = page.csv(f"phases-library-{by}.csv").drop(columns="run").to_numpy()
    assert table.tolist() == distances.tolist()
    nearest = np.where(off, table, np.inf).argmin(axis=1)
    labels = np.array(known.workloads)
    assert f"is of the same workload for {(labels[nearest] == labels).sum()} of {len(labels)} runs" in page.words


def test_limits_of_known_workloads_follow_from_the_distances(phases, known):
    page = phases.page("phases", "counters", phases_tab="Library", **PUBLISHED)
    assert page.files["phases-thresholds.csv"] == threshold_table(known).csv()
    table = page.csv("phases-thresholds.csv").set_index("workload")
    labels = np.array(known.workloads)
    assert table["runs"].to_dict() == {name: (labels == name).sum() for name in given.STEPS}
    for by, measure in (("euclidean", "ed"), ("dtw", "dtw")):
        for name in given.STEPS:
            own = np.flatnonzero(labels == name)
            inside = known.distances(measure)[np.ix_(own, own)][np.triu_indices(len(own), 1)]
            assert table.loc[name, f"{by}_mean"] == pytest.approx(inside.mean(), rel=1e-9)
        limit = table[f"{by}_mean"] + known.c[measure] * table[f"{by}_sd"]
        assert table[f"{by}_limit"].tolist() == limit.tolist()


@pytest.fixture
def recording(phases):
    """Samples of a recording in progress, in the data folder, and its file."""
    folder = phases.folder / "data"
    folder.mkdir(exist_ok=True)
    path = folder / "now.csv.partial"
    samples = given.samples().query("workload == 'one step' and run == '2'").drop(columns="status").head(18)
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(samples.columns)
        rows.writerows(samples.to_numpy().tolist())
    yield samples, path
    path.unlink()


def test_a_recording_in_progress_is_followed_as_the_library_follows_it(phases, recording):
    samples, path = recording
    library = faithful_library(given.COUNTERS)
    library = replace(library, fingerprints=replace(library.fingerprints, normalise="train"))
    settings = LiveSettings(library)

    def made(bench):
        bench.wait(bench.live_library.start("counters", settings).key, 300)
        return Following(path, bench.live_library.cached("counters", settings).result).advance()

    found = phases.library(made)
    page = phases.page("phases", "counters", phases_tab="Live", unfolded=("phases_live_chart",), **PUBLISHED)
    assert page.metric("Recorded") == [f"{samples['t'].max():g} s"]
    assert page.metric("Phases so far") == [str(max(len(own) + 1 for own in found.changes_s))]
    assert page.metric("Changing now") == [f"{(found.recent > 0.5).sum()} of {len(found.counters)}"]
    (nearest,) = (detail for label, _, detail in page.metrics if label == "Verdict so far")
    assert nearest == f"nearest: {found.match.verdict.nearest}" == "nearest: one step"
    lines = {trace["name"]: trace for trace in page.figures["phases-live"] if trace["type"] == "scatter"}
    for name in (given.CPU, given.NET):
        assert lines[name]["x"] == samples["t"].tolist()
        assert lines[name]["y"] == samples[name].tolist()
    assert page.files["phases-live.csv"] == csv_bytes(live_chart(found, first_of_each_source(found.counters)).data)
    assert page.csv("phases-live.csv")[given.CPU].tolist() == samples[given.CPU].tolist()
