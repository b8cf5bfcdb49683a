"""The commands that look at one thing: planted truth, the same numbers as the library's, and one clear line else."""

import contextlib
import io
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_classify, records_for_memory, records_for_phases
from tests.command_line import run_here
from tests.pages.conftest import SAMPLE
from workprof.answers.classifier import explanation_answer
from workprof.cli.main import app
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import WorkprofError
from workprof.core.records import to_json
from workprof.core.settings import from_environment
from workprof.forecasts.durations import DurationSettings
from workprof.phases.library import LibraryEdits, RunLabel, faithful_library
from workprof.phases.matching import KnownMatchSettings, MatchRunSettings
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


@pytest.mark.parametrize("limit", ["0", "-5", "nan", "inf"])
def test_a_limit_that_no_run_can_meet_or_miss_is_refused(tmp_path, limit):
    refused = run_here("durations", "plain", "--slo", limit, home=tmp_path)
    assert (refused.status, "--slo is" in refused.err) == (2, True)


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
        (("durations", "jobs", "--quantile", "half"), "--quantile is 'half'"),
        (("durations", "jobs", "--quantile", "0.5,2"), "--quantile is '0.5,2'"),
        (("durations", "jobs", "--quantile", ","), "--quantile is ','"),
        (("durations", "jobs", "--fit", "size=3"), "there is no setting 'size'"),
        (("durations", "counters"), "holds counters by the second"),
        (("memory", "fact", "tasks", "--column", "nope"), "no column nope"),
        (("memory", "why", "tasks", "--task", HEAVY, "--input", "nope"), "no column nope"),
        (("phases", "show", "counters", "--from", "9", "--to", "3"), "the window is 9 to 3 s"),
        (("phases", "fingerprints", "counters", "--run", "nope"), "no labelled run 'nope'"),
        (("phases", "library", "jobs"), "holds a job trace"),
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
