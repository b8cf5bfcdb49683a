"""Every kept run about nodes and phases asked for again; and every step of the product has a recipe."""

from dataclasses import replace

import pytest

from tests.charts import records_for_nodes, records_for_phases
from tests.cli.test_runs import asked_again, keys, made, run_of, shell
from tests.nodes.planted_nodes import runs_of
from tests.pages.conftest import SAMPLE
from tests.pages.test_nodes_page import SPEEDS, write
from workprof.core.question import shell_of
from workprof.core.settings import from_environment
from workprof.nodes.advice import AdviceSettings
from workprof.nodes.allocation import AllocationSettings
from workprof.nodes.detection import DegradationSettings
from workprof.nodes.detection_data import DetectSettings as NodeDetectSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.history import HistorySettings
from workprof.nodes.questions import DETECT
from workprof.nodes.selection import RankSettings
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.early import EarlySettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.fingerprints import FingerprintSettings
from workprof.phases.growing import GrowingSettings
from workprof.phases.library import LibraryEdits, LibrarySettings, LibraryViewSettings, RunLabel, faithful_library
from workprof.phases.live import LiveSettings
from workprof.phases.matching import KnownMatchSettings, MatchRunSettings
from workprof.phases.methods import MethodsSettings
from workprof.phases.partial import CourseSettings
from workprof.phases.questions import DETECT as DETECT_PHASES, EVALUATE, KNOWN_MATCH, MATCH
from workprof.phases.shapes import ShapesSettings
from workprof.phases.timeline import AlignmentSettings, DetectSettings, OwnBoundaries, TimelineSettings
from workprof.phases.typical import TypicalSettings
from workprof.steps import about
from workprof.workbench import Workbench
from workprof.workbench.declared import DECLARED

RUN = "two steps/1"
FAITHFUL = faithful_library()
ROUGH = FingerprintSettings(log=False, change_points=ChangePointSettings(phases="joint", max_phases=3))
EDITS = LibraryEdits((RunLabel("one step", "2", "two steps"),))
RANKED = RankSettings(weights={"cpu": 2.0, "disk": 1.0}, seed=1, since_s=1e9, prices_per_h={"calm": 0.5, "twin": 1.0})

NODES = {
    "nodes.rank": lambda bench, ds: bench.node_ranking(ds, RANKED),
    "nodes.groups": lambda bench, ds: bench.node_groups(ds, GroupSettings(RankSettings(seed=2))),
    "nodes.history": lambda bench, ds: bench.node_history(ds, HistorySettings("none", 0.02, 0.2, 2)),
    "nodes.advice": lambda bench, ds: bench.node_advice(
        ds, AdviceSettings("jobs", 0, ranking=RankSettings(prices_per_h={"calm": 0.5}))
    ),
    "nodes.allocation": lambda bench, ds: bench.node_allocation(
        ds, AllocationSettings("jobs", places={"calm": 2}, grouping=GroupSettings(RankSettings(seed=2)))
    ),
}
PHASES = {
    "phases.runs": lambda bench, ds: bench.phase_runs(ds),
    "phases.detect": lambda bench, ds: bench.run_phases(ds, DetectSettings(RUN)),
    "phases.detect as published": lambda bench, ds: bench.run_phases(ds, DetectSettings(RUN, FAITHFUL)),
    "phases.match": lambda bench, ds: bench.match_run(ds, MatchRunSettings(RUN, _with_c(FAITHFUL, 2.0))),
    "phases.learn": lambda bench, ds: bench.workload_library(ds, FAITHFUL),
    "phases.evaluate": lambda bench, ds: bench.evaluate_phases(
        ds, EvaluationSettings(FAITHFUL, splits=1, open_splits=0)
    ),
    "phases.timeline": lambda bench, ds: bench.timeline(
        ds, TimelineSettings(RUN, own=(OwnBoundaries("app.cpu%", (9.0,)),))
    ),
    "phases.methods": lambda bench, ds: bench.phase_methods(ds, MethodsSettings(RUN, margin=3)),
    "phases.growing": lambda bench, ds: bench.growing_sizes(ds, GrowingSettings(3, "app.flat", 0.2, 0.3)),
    "phases.shapes": lambda bench, ds: bench.run_shapes(ds, ShapesSettings("density", 3, 12, 0.5, 2, 12, EDITS)),
    "phases.course": lambda bench, ds: bench.run_course(ds, CourseSettings(RUN, 7.0, EDITS)),
    "phases.early": lambda bench, ds: bench.early_recognition(ds, EarlySettings(12.0, excluded=False)),
    "phases.typical": lambda bench, ds: bench.typical_runs(ds, TypicalSettings(EDITS, 2, 12, 0.5)),
    "phases.known_match": lambda bench, ds: bench.known_match(ds, KnownMatchSettings(RUN, EDITS, library=FAITHFUL)),
    "phases.library": lambda bench, ds: bench.wait(
        bench.library_view.start(ds, LibraryViewSettings(EDITS, FAITHFUL)).key
    ),
    "phases.live_library": lambda bench, ds: bench.wait(bench.live_library.start(ds, LiveSettings(FAITHFUL)).key),
    "phases.align": lambda bench, ds: bench.aligned_runs(ds, AlignmentSettings("one step/1", RUN)),
}
FURTHER = {
    "nodes.groups of a weighted ranking": lambda bench, ds: bench.node_groups(ds, GroupSettings(RANKED)),
    "nodes.advice of a score": lambda bench, ds: bench.node_advice(
        ds, RankSettings(score="perona", seed=3), jobs="jobs", profile=0
    ),
    "phases.detect in a way of its own": lambda bench, ds: bench.run_phases(
        ds, DetectSettings(RUN, replace(LibrarySettings(counters=("app.cpu%",)), fingerprints=ROUGH))
    ),
    "phases.timeline of a stretch": lambda bench, ds: bench.timeline(
        ds, TimelineSettings(RUN, 4.0, 20.0, (), FAITHFUL)
    ),
    "phases.known_match of an unedited library": lambda bench, ds: bench.known_match(
        ds, KnownMatchSettings(RUN, library=FAITHFUL)
    ),
    "phases.known_match elsewhere": lambda bench, ds: bench.known_match(
        ds, KnownMatchSettings(RUN, train_hash=bench.dataset(ds).hash, library=FAITHFUL)
    ),
}
WITHOUT_COMMAND = {"phases.live_library": "what the page follows a recording with"}
"""Question -> what Runs tells instead of a command."""


def _with_c(library, c):
    return replace(library, match=replace(library.match, c=c))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with benchmark runs, jobs and counters; and the hash of each by its package."""
    folder = tmp_path_factory.mktemp("measured")
    write(folder / "runs.jsonl", runs_of({name: SPEEDS[name] for name in ("calm", "twin")}, n_runs=10))
    records_for_phases.samples().to_csv(folder / "counters.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        with Workbench(from_environment()) as bench:
            bench.ingest([SAMPLE])
            bench.sample("pai_sample", "workload", 400, "jobs")
            hashes = {
                "nodes": bench.ingest([folder / "runs.jsonl"]).hash,
                "phases": bench.ingest([folder / "counters.csv"]).hash,
            }
            bench.profiles("jobs")
    return folder / "home", hashes


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("question", [*NODES, *PHASES, *(pytest.param(one, marks=pytest.mark.soak) for one in FURTHER)])
def test_a_run_is_made_again_by_its_python_and_its_command(kept, bench, question):
    with bench() as opened:
        run = made(opened, question, (NODES | PHASES | FURTHER)[question], kept[1][question.partition(".")[0]])
    asked_again(bench, run, WITHOUT_COMMAND.get(question, ""))


@pytest.mark.soak
def test_a_detection_is_found_again_by_its_python_and_its_command(kept, bench):
    """Training takes long, so its result is made by hand: the key is what must be the same."""
    asked = NodeDetectSettings(epochs=1, false_alarm_share=0.1, train_share=0.5)
    with bench() as opened:
        key = opened.degradation.key(kept[1]["nodes"], asked)
        line = about(DETECT.step, key, "runs", DegradationSettings(asked), 12.0)
        opened._cache.put(key, records_for_nodes.detection(), line)
        code, command = opened.run_in_python(run_of(key)), opened.run_in_shell(run_of(key))
    before = keys(bench)
    exec(compile(code, "snippet", "exec"), {})
    shell(command)
    assert keys(bench) == before


def test_every_step_with_a_command_is_tried():
    tried = {question.partition(" ")[0] for question in PHASES}
    assert tried == {one.name for one in DECLARED.values() if one.page == "phases"}


def test_what_a_mode_sets_is_unset_and_what_is_listed_is_named():
    chosen = DetectSettings(RUN, LibrarySettings(counters=("app.cpu%", "a,b")))
    line = shell_of(DETECT_PHASES, "ab12", chosen)
    assert line == f"""workprof phases detect ab12 --run '{RUN}' --counters '["app.cpu%", "a,b"]'"""
    unset = MatchRunSettings(RUN, _with_c(FAITHFUL, None))
    line = shell_of(MATCH, "ab12", unset)
    assert line == f"workprof phases match ab12 --mode faithful --unknown '{RUN}' --c ''"
    elsewhere = EvaluationSettings(splits=3, trained_elsewhere=True, train_hash="cd34")
    assert shell_of(EVALUATE, "ab12", elsewhere) == "workprof phases evaluate ab12 --splits 3 --train cd34"


def test_labels_given_by_hand_are_part_of_the_command():
    line = shell_of(KNOWN_MATCH, "ab12", KnownMatchSettings(RUN, EDITS, "cd34"))
    labels = '[{"workload": "one step", "run": "2", "label": "two steps"}]'
    assert line == f"workprof phases match ab12 --unknown '{RUN}' --labels '{labels}' --train cd34"
