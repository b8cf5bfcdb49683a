"""The commands that look at one thing: planted truth, the same numbers as the library's, and one clear line else."""

import contextlib
import io
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_classify, records_for_memory, records_for_phases
from tests.pages.conftest import SAMPLE
from workprof.answers.classifier import explanation_answer
from workprof.cli.main import app
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import WorkprofError
from workprof.core.records import to_json
from workprof.core.settings import from_environment
from workprof.core.units import GB
from workprof.forecasts.durations import DurationSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.facts import FactPointsSettings
from workprof.memory.why import WhySettings
from workprof.phases.library import LibraryEdits, LibraryViewSettings, RunLabel, faithful_library
from workprof.phases.matching import KnownMatchSettings, MatchRunSettings
from workprof.phases.timeline import AlignmentSettings, TimelineSettings
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

HEAVY, CPU = records_for_memory.HEAVY, records_for_phases.CPU
RUN, OTHER = "two steps/1", "one step/1"
FAITHFUL = ("--mode", "faithful")
ROUGH = ProfileSettings(min_cluster_size=60, seed=3)


@dataclass
class Home:
    """A home with three datasets: `tasks`, `counters`, `jobs`, and `plain`: 100 jobs of 1 to 100 s."""

    def ask(self, *words):
        """Return what a command prints as JSON."""
        return json.loads(self.text(*words, "--json"))

    def text(self, *words):
        """Return what a command prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            app(args=[str(word) for word in words], standalone_mode=False)
        return printed.getvalue()

    def library(self, ask):
        """Return what a question gives, as JSON would say it."""
        with Workbench(from_environment()) as bench:
            return to_json(ask(bench))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    records_for_memory.jobs().to_parquet(folder / "tasks.parquet")
    records_for_phases.samples().to_csv(folder / "counters.csv", index=False)
    seconds = np.arange(1.0, 101.0)
    users = np.where(seconds <= 40, "quick", "slow")
    plain = pd.DataFrame({"job_name": [f"j{i}" for i in range(100)], "user": users, "duration_s": seconds})
    plain.to_csv(folder / "plain.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as bench:
            for name in ("tasks.parquet", "counters.csv", "plain.csv"):
                bench.ingest([folder / name])
            bench.ingest([SAMPLE])
            bench.sample("pai_sample", "workload", 800, "jobs")
        yield Home()


def test_durations_are_those_that_were_planted(home):
    found = home.ask("durations", "plain", "--by", "user", "--slo", 25, "--quantile", "0.5,0.9,1")
    assert found["all"]["quantiles"] == {"p50": 50.0, "p90": 90.0, "p100": 100.0}
    assert found["all"]["within_slo"] == 0.25
    groups = {one["group"]: one for one in found["groups"]}
    assert groups["quick"]["quantiles"]["p50"] == 20.0
    assert (groups["quick"]["within_slo"], groups["slow"]["within_slo"]) == (25 / 40, 0.0)
    assert (groups["slow"]["rows"], groups["slow"]["max"], found["n_rows"]) == (60, 100.0, 100)
    assert found["left_out"] == {"missing": 0, "negative": 0, "zero": 0, "unfinished": 0}
    printed = home.text("durations", "plain", "--by", "user", "--slo", 25, "--quantile", "0.5")
    (line,) = (one for one in printed.splitlines() if one.startswith("quick  "))
    assert [cell.strip() for cell in line.split("  ") if cell.strip()][1:5] == ["40", "32 s", "62.5 %", "20 s"]


def test_a_curve_has_its_points_where_they_are_asked_for(home):
    found = home.ask("durations", "plain", "--by", "all", "--curves")
    assert found["all"]["points"] == list(range(1, 101))
    assert found["all"]["shares"][-1] == 1.0
    assert "points" not in home.ask("durations", "plain", "--by", "all")["all"]


def test_durations_by_profile_are_those_of_the_named_clustering(home):
    found = home.ask("durations", "jobs", "--fit", "min-cluster-size=60", "--fit", "seed=3", "--curves")
    library = home.library(lambda bench: bench.observed_durations("jobs", DurationSettings(), fit=ROUGH))
    named = {one["name"]: (one["n_rows"], one["points"], one["shares"]) for one in library["groups"]}
    assert {one["group"]: (one["rows"], one["points"], one["shares"]) for one in found["groups"]} == named
    usual = home.ask("durations", "jobs")
    assert len(usual["groups"]) != len(found["groups"])


def test_a_baseline_stands_beside_the_named_clustering(home):
    words = ("profiles", "baseline", "jobs", "--by", "user", "--fit", "min-cluster-size=60", "--fit", "seed=3")
    library = home.library(lambda bench: bench.baseline("jobs", BaselineSettings(by=(("user",),)), fit=ROUGH))
    found = home.ask(*words)
    assert {name: found[name] for name in ("labels", "profiles", "profiles_published")} == {
        name: library[name] for name in ("labels", "profiles", "profiles_published")
    }
    assert found["profiles"]["n_values"] > 1
    assert home.ask(*words[:5])["profiles"] is None
    assert "Manhattan" in home.text(*words)


def test_a_fact_has_the_librarys_points_and_boxes(home):
    found = home.ask("memory", "fact", "tasks", "--column", "duration_s", "--task", HEAVY)
    library = home.library(lambda bench: bench.fact_points("tasks", FactPointsSettings("duration_s", HEAVY)))
    assert (found["values"], found["used_gb"], found["n"]) == (library["values"], library["used_gb"], library["n"])
    assert (found["kind"], found["known"]) == ("number", "after the run")
    boxes = home.ask("memory", "fact", "tasks", "--column", "group")["boxes"]
    kept = home.library(lambda bench: bench.fact_points("tasks", FactPointsSettings("group")))["boxes"]
    assert {one["value"]: one["median_gb"] for one in boxes} == {one["task"]: one["median_gb"] for one in kept}
    assert "small" in home.text("memory", "fact", "tasks", "--column", "group")
    assert "Largest use (GB)" in home.text("memory", "fact", "tasks", "--column", "duration_s")


def test_a_size_has_the_librarys_reasons(home):
    found = home.ask("memory", "why", "tasks", "--task", HEAVY, "--failure-cost", 200)
    asked = WhySettings(HEAVY)
    cautious = home.library(
        lambda bench: bench.why_size("tasks", WhySettings(HEAVY, sizing=type(asked.sizing)(price_runs=200.0)))
    )
    assert found["size_gb"] == cautious["size_bytes"] / GB
    assert found["candidates"]["cost_gb_h"] == cautious["candidate_cost_gb_h"]
    assert sum(found["candidates"]["chosen"]) == 1
    assert found["size_gb"] > home.ask("memory", "why", "tasks", "--task", HEAVY)["size_gb"]
    assert " of the runs of HEAVY " in home.text("memory", "why", "tasks", "--task", HEAVY)


def test_more_bins_save_no_less_and_never_beat_the_bound(home):
    found = home.ask("memory", "curve", "tasks", "--task", HEAVY, "--weight", "count")
    library = home.library(lambda bench: bench.improvement("tasks", BinSettings(HEAVY, weight="count")))
    saved = [one["optimal_improvement"] for one in found["bins"]]
    assert saved == library["optimal_improvement"]
    assert saved == sorted(saved)
    assert saved[-1] <= found["oracle"]["optimal_improvement"]
    assert [one["k"] for one in found["bins"]] == list(range(1, 9))
    assert "perfect request + headroom" in home.text("memory", "curve", "tasks", "--task", HEAVY)


def test_the_runs_of_a_dataset_are_listed(home):
    found = home.ask("phases", "runs", "counters")
    assert found == home.library(lambda bench: bench.phase_runs("counters"))["runs"]
    assert len(found) == len(records_for_phases.STEPS) * records_for_phases.RUNS
    assert "two steps" in home.text("phases", "runs", "counters")


def test_a_timeline_has_its_planted_steps_and_the_samples_as_recorded(home):
    found = home.ask("phases", "show", "counters", "--run", RUN)
    one = found["counters"][CPU]
    assert one["boundaries_s"] == list(records_for_phases.STEPS["two steps"])
    rows = records_for_phases.samples().query("workload == 'two steps' and run == '1'")
    assert one["values"] == pytest.approx(rows[CPU].tolist())
    assert found["times_s"] == rows["t"].tolist()
    assert [phase["start_s"] for phase in one["phases"]] == [found["start_s"], *one["boundaries_s"]]
    library = home.library(lambda bench: bench.timeline("counters", TimelineSettings(RUN)))
    at = library["counters"].index(CPU)
    width = len(library["statistics"])
    values = [[phase[name] for name in library["statistics"]] for phase in one["phases"]]
    assert values == library["fingerprint"]["values"][at][: len(values)]
    assert width == len(values[0])


def test_a_stretch_and_boundaries_of_ones_own(home):
    own = f'own=[{{"counter": "{CPU}", "at_s": [9]}}]'
    found = home.ask("phases", "show", "counters", "--run", RUN, "--from", 4, "--to", 20, "--with", own)
    assert (found["start_s"], found["end_s"]) == (4.0, 20.0)
    assert found["counters"][CPU]["boundaries_s"] == [9.0]
    assert [name for name, one in found["counters"].items() if one["by_hand"]] == [CPU]
    assert "by hand" in home.text("phases", "show", "counters", "--run", RUN, "--with", own)


def test_fingerprints_are_the_librarys(home):
    found = home.ask("phases", "fingerprints", "counters", *FAITHFUL)
    library = home.library(lambda bench: bench.workload_library("counters", faithful_library()))
    assert [one["values"] for one in found["runs"]] == [one["values"] for one in library["fingerprints"]["prints"]]
    assert (found["thresholds"], found["c"]) == (library["thresholds"], library["c"])
    alone = home.ask("phases", "fingerprints", "counters", *FAITHFUL, "--run", RUN)["runs"]
    assert [f"{one['workload']}/{one['run']}" for one in alone] == [RUN]
    assert RUN in home.text("phases", "fingerprints", "counters", *FAITHFUL)


def test_distances_are_the_librarys_and_those_of_a_metric(home):
    found = home.ask("phases", "library", "counters", *FAITHFUL)
    library = home.library(
        lambda bench: bench.library_view("counters", LibraryViewSettings(library=faithful_library()))
    )
    for measure in ("ed", "dtw"):
        matrix = np.array(found["distances"][measure])
        assert matrix.tolist() == library[f"distances_{measure}"]
        assert (np.diag(matrix) == 0).all()
        assert (matrix == matrix.T).all()
    assert [one["run"] for one in found["runs"]] == library["names"]
    assert "Euclidean distances" in home.text("phases", "library", "counters", *FAITHFUL)


@pytest.mark.slow
def test_a_run_lies_on_itself_and_off_another(home):
    same = home.ask("phases", "align", "counters", "--first", RUN, "--second", RUN)
    assert same["cost"] == 0
    assert all(one == other for one, other in same["path"])
    found = home.ask("phases", "align", "counters", "--first", RUN, "--second", OTHER)
    library = home.library(lambda bench: bench.aligned_runs("counters", AlignmentSettings(RUN, OTHER)))
    assert (found["path"], found["cost"]) == (library["alignment"]["path"], library["alignment"]["cost"])
    assert "steps and 4 counters" in home.text("phases", "align", "counters", "--first", RUN, "--second", OTHER)


def test_a_match_takes_the_labels_given_by_hand(home):
    words = ("phases", "match", "counters", "--unknown", RUN, *FAITHFUL)
    plain = home.library(lambda bench: bench.match_run("counters", MatchRunSettings(RUN, faithful_library())))
    assert [one["workload"] for one in home.ask(*words)["matches"]] == [one["workload"] for one in plain["matches"]]
    edits = LibraryEdits(tuple(RunLabel("two steps", str(run), "renamed") for run in range(1, 5)))
    home.library(lambda bench: bench.set_library_edits("counters", edits))
    asked = KnownMatchSettings(RUN, edits, library=faithful_library())
    library = home.library(lambda bench: bench.known_match("counters", asked))
    found = home.ask(*words, "--edited")
    home.library(lambda bench: bench.set_library_edits("counters", LibraryEdits()))
    assert found["matches"] == library["matches"]
    assert "renamed" in {one["workload"] for one in found["matches"]}
    assert "renamed" not in {one["workload"] for one in home.ask(*words)["matches"]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("durations", "jobs", "--by", "nobody"), "by is 'nobody'"),
        (("durations", "jobs", "--quantile", "half"), "--quantile is 'half'"),
        (("durations", "jobs", "--quantile", "0.5,2"), "--quantile is '0.5,2'"),
        (("durations", "jobs", "--quantile", ","), "--quantile is ','"),
        (("durations", "jobs", "--fit", "size=3"), "there is no setting 'size'"),
        (("durations", "counters"), "holds counters by the second"),
        (("memory", "fact", "tasks", "--column", "nope"), "no column nope"),
        (("memory", "fact", "tasks", "--column", "group", "--task", "nope"), "no task 'nope'"),
        (("memory", "why", "tasks", "--task", "nope"), "no task 'nope'"),
        (("memory", "why", "tasks", "--task", HEAVY, "--input", "nope"), "no column nope"),
        (("memory", "curve", "tasks", "--task", HEAVY, "--weight", "none"), "weight is 'none'"),
        (("memory", "curve", "tasks", "--task", HEAVY, "--step", "wide"), "--step is 'wide'"),
        (("phases", "show", "counters", "--run", "nope"), "there is no run 'nope'"),
        (("phases", "show", "counters", "--from", "9", "--to", "3"), "the window is 9 to 3 s"),
        (("phases", "fingerprints", "counters", "--run", "nope"), "no labelled run 'nope'"),
        (("phases", "library", "jobs"), "holds a job trace"),
        (("phases", "align", "counters", "--first", RUN, "--second", "nope"), "there is no run 'nope'"),
        (("phases", "match", "counters", "--unknown", RUN, "--train", "nope"), "nope"),
    ],
)
def test_a_mistake_is_told_in_one_line(home, words, told):
    with pytest.raises(WorkprofError) as error:
        home.text(*words)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_mistake_ends_with_two(run_workprof, tmp_path):
    done = run_workprof("durations", "nothing", "--json", home=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert len(done.err.strip().splitlines()) == 1


def test_what_the_classifier_looks_at_adds_up_over_the_profiles():
    found = records_for_classify.global_explanation()
    answer = answer_json(explanation_answer(found))
    assert [one["field"] for one in answer["fields"]] == list(found.fields)
    assert [one["value"] for one in answer["values"]] == list(found.values)
    for one in (*answer["fields"], *answer["values"]):
        assert sum(one["by_profile"].values()) == pytest.approx(one["mean_abs_shap"])
