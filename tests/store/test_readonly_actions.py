"""WORKPROF_READONLY: every method that changes the store is refused, by name, and the database stays as it was."""

import ast
import hashlib
import inspect
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import workprof.store
import workprof.workbench
from tests.charts import records_for_memory as given
from tests.command_line import run_here
from workprof.core.errors import WorkprofError
from workprof.core.refreshes import Refresh
from workprof.core.settings import Settings
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.scenarios import Scenario
from workprof.nodes.ranking import NodeScenario
from workprof.nodes.selection import RankSettings
from workprof.profiles.settings import ProfileSettings
from workprof.sources.fetched import State
from workprof.sources.source import Source
from workprof.store.documents import FinishedTable
from workprof.store.home import DATABASE
from workprof.store.reports import FieldSource, IngestOptions, ProfileNote
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "data" / "sample" / "benchmarks.jsonl"
BINS = BinSettings(task=given.HEAVY, k=2)
NOTE = ProfileNote(0, "a name", "a note")
SOURCE = Source("prod", "files", "/nowhere")
STORE = Path(workprof.store.__file__).parent

# How each method of the store that writes is called; the test below finds those that nobody listed.
WRITES = {
    "ingest": lambda store, it: store.ingest([it.path], it.options),
    "rename": lambda store, it: store.rename(it.hash, "another"),
    "remove": lambda store, it: store.remove(it.hash),
    "sample": lambda store, it: store.sample(it.hash, "task_name", 5, "few"),
    "set_note": lambda store, it: store.set_note("clustering", NOTE),
    "save_scenario": lambda store, it: store.save_scenario(it.hash, "a", "2026-01-01", it.scenario),
    "remove_scenario": lambda store, it: store.remove_scenario(it.hash, "kept"),
    "save_feedback": lambda store, it: store.save_feedback(it.hash, "digest", NOTE),
    "save_observation": lambda store, it: store.save_observation(it.hash, "digest", NOTE, FinishedTable(NOTE, 1, 9)),
    "forget_feedback": lambda store, it: store.forget_feedback(it.hash),
    "save_mapping": lambda store, it: store.save_mapping("mine", {"job_name": FieldSource("name")}),
    "rename_mapping": lambda store, it: store.rename_mapping("mine", "ours"),
    "remove_mapping": lambda store, it: store.remove_mapping("mine"),
    "save_decisions": lambda store, it: store.save_decisions("runs", {"user=ann": NOTE}),
    "save_scope": lambda store, it: store.save_scope("mine", "user=ann"),
    "remove_scope": lambda store, it: store.remove_scope("mine"),
    "save_notices": lambda store, it: store.save_notices("alert", {"mine": NOTE}),
    "save_source": lambda store, it: store.save_source("prod", SOURCE, State()),
    "remove_source": lambda store, it: store.remove_source("prod"),
    "take_in": lambda store, it: store.take_in("prod", None, State(), Refresh("prod", "2026-01-01")),
    "refresh_failed": lambda store, it: store.refresh_failed("prod", Refresh("prod", "2026-01-01", error="no")),
}
ASKED = {
    "ingest": lambda bench, it: bench.ingest([it.path]),
    "rename": lambda bench, it: bench.rename(it.hash, "another"),
    "remove": lambda bench, it: bench.remove(it.hash),
    "sample": lambda bench, it: bench.sample(it.hash, "task_name", 5, "few"),
    "set_profile_note": lambda bench, it: bench.set_profile_note(it.hash, ProfileSettings(min_cluster_size=20), NOTE),
    "save_scenario": lambda bench, it: bench.save_scenario(it.hash, it.scenario),
    "remove_scenario": lambda bench, it: bench.remove_scenario(it.hash, "kept"),
    "remove_unreadable": lambda bench, it: bench.remove_unreadable(it.hash),
    "save_node_scenario": lambda bench, it: bench.save_node_scenario(it.nodes, it.node_scenario),
    "remove_node_scenario": lambda bench, it: bench.remove_node_scenario(it.nodes, "kept"),
    "observe": lambda bench, it: bench.observe(it.hash, it.path, FeedbackSettings()),
    "pin_run": lambda bench, it: bench.pin_run(it.run, True),
    "unpin_run": lambda bench, it: bench.pin_run(it.run, False),
    "remove_run": lambda bench, it: bench.remove_run(it.run),
    "save_mapping": lambda bench, it: bench.save_mapping("mine", {"job_name": FieldSource("name")}),
    "rename_mapping": lambda bench, it: bench.rename_mapping("mine", "ours"),
    "remove_mapping": lambda bench, it: bench.remove_mapping("mine"),
    "decide": lambda bench, it: bench.decide(it.hash, f"task_name={given.HEAVY}", "accepted", every=True),
    "save_scope": lambda bench, it: bench.save_scope("mine", "user=ann"),
    "remove_scope": lambda bench, it: bench.remove_scope("mine"),
    "add_alert": lambda bench, it: bench.add_alert("mine", it.hash, "kills_per_day > 5"),
    "remove_alert": lambda bench, it: bench.remove_alert("mine"),
    "opt_out": lambda bench, it: bench.opt_out("ann"),
    "told": lambda bench, it: bench.told(()),
    "add_source": lambda bench, it: bench.add_source(SOURCE),
    "remove_source": lambda bench, it: bench.remove_source("prod"),
    "refresh": lambda bench, it: bench.refresh("prod"),
    "restore_decisions": lambda bench, it: bench.restore_decisions(it.hash, {"user=ann": None}),
}


OPENING = {"writing", "__init__"}
"""The lock itself; and the opening of a home, which a read-only one does without (test_readonly.py)."""


class It:
    """What the calls are about."""

    options = None
    hash = nodes = run = ""
    path = scenario = node_scenario = None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frozen")
    it = It()
    it.path = folder / "runs.parquet"
    given.jobs().to_parquet(it.path)
    settings = Settings(home=folder / "home", data=folder)
    with Workbench(settings) as bench:
        it.hash = bench.ingest([it.path]).hash
        bench.bins(it.hash, BINS)
        it.run = bench.stored_runs()[0].run
        nan = float("nan")
        it.scenario = Scenario("kept", "runs", it.hash, "", "p95", {}, nan, nan, nan, nan, nan, 0, -1, nan, "EUR", "")
        bench.save_scenario(it.hash, it.scenario)
        it.nodes = bench.ingest([BENCHMARKS]).hash
        it.node_scenario = NodeScenario("kept", it.nodes, RankSettings())
        bench.save_node_scenario(it.nodes, it.node_scenario)
    with duckdb.connect(str(settings.home / DATABASE)) as connection:
        connection.execute("INSERT INTO scenarios VALUES (?, 'broken', '2026-01-01', '{')", [it.hash])
    it.options = IngestOptions(name="new")
    return replace(settings, readonly=True), it


def everything(home):
    """Return the digest of the database and the name of every kept entry."""
    content = hashlib.sha256((home / DATABASE).read_bytes()).hexdigest()
    return content, sorted(str(path.relative_to(home)) for path in (home / "cache").rglob("*"))


@pytest.mark.parametrize(("where", "calls"), [(TraceStore, WRITES), (Workbench, ASKED)])
def test_every_change_is_refused_in_one_line_that_says_why(made, where, calls):
    settings, it = made
    before = everything(settings.home)
    with where(settings) as opened:
        for name, call in calls.items():
            with pytest.raises(WorkprofError, match=r"WORKPROF_READONLY is set[^\n]*unset it[^\n]*\Z"):
                call(opened, it)
            assert everything(settings.home) == before, name


def test_no_writer_is_forgotten():
    """Every function of the store that takes the write lock is behind a method of the list above."""
    writers = set()
    for path in STORE.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name not in OPENING and _uses(function, "writing"):
                writers.add(function.name)
    public = {name for name, _ in inspect.getmembers(TraceStore, inspect.isfunction) if not name.startswith("_")}
    behind = {"join", "grow", "growing_old", "_bring"}  # of `ingest_all`; two into a store of its own; of `take_in`
    assert writers - public - behind == set()
    assert writers - behind == set(WRITES)


def test_every_transaction_is_begun_under_the_write_lock():
    begun = set()
    for path in STORE.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(function, ast.FunctionDef)
                and function.name not in OPENING
                and not _uses(function, "writing")
            ):
                begun |= {f"{path.stem}.{function.name}"} if _uses(function, "transaction") else set()
    assert begun == {"ingest._loaded"}  # its caller holds the lock


def test_no_question_that_writes_is_forgotten():
    askers = set()
    for path in Path(workprof.workbench.__file__).parent.glob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                askers |= {function.name for node in ast.walk(function) if _writes(node)}
            elif isinstance(function, ast.Assign) and ast.unparse(function.value).startswith("of_store("):
                askers |= {function.targets[0].id} if function.value.args[0].attr in WRITES else set()
    behind = {"_fold_in", "adopt_refit", "set_library_edits"}  # of `observe`; of its refit; by `save_scenario`
    behind |= {"_name_again", "_name_one"}  # of `refresh`
    assert askers - behind <= set(ASKED)
    assert "rename" in askers


def _writes(node):
    """Tell whether this is `self._store.METHOD` of a method that writes."""
    owner = node.value if isinstance(node, ast.Attribute) and node.attr in WRITES else None
    return isinstance(owner, ast.Attribute) and owner.attr == "_store"


def _uses(function, name):
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(function))


def test_reading_and_asking_go_on_and_leave_the_database_alone(made):
    settings, it = made
    content = everything(settings.home)[0]
    with Workbench(settings) as bench:
        assert {entry.hash for entry in bench.datasets()} == {it.hash, it.nodes}
        assert bench.stored_run(it.run).step == "memory.bins"
        assert bench.bins(it.hash, BINS).edges_bytes  # kept
        assert bench.assessment(it.hash, AssessmentSettings()).tasks  # not kept: computed
        assert [scenario.name for scenario in bench.scenarios(it.hash)] == ["kept"]
    assert everything(settings.home)[0] == content


@pytest.mark.soak
def test_a_home_is_read_beside_whoever_may_write(made):
    settings, it = made
    for first, second in ((False, True), (True, False), (True, True)):
        with (
            TraceStore(replace(settings, readonly=first)) as one,
            TraceStore(replace(settings, readonly=second)) as other,
        ):
            assert [entry.hash for entry in one.datasets()] == [entry.hash for entry in other.datasets()]
            assert len(one.preview(it.hash)) == len(other.preview(it.hash))


COMMANDS = {
    "ingest": ["ingest", "{path}", "--name", "new"],
    "rename": ["rename", "{hash}", "another"],
    "remove": ["remove", "{hash}", "--yes"],
    "sample": ["sample", "{hash}", "--by", "task_name", "--rows", "5", "--name", "few"],
    "observe": ["estimate", "observe", "{hash}", "--jobs", "{path}"],
    "decide": ["memory", "decide", "{hash}", f"task_name={given.HEAVY}", "--accept", "--all"],
    "pin": ["runs", "pin", "{run}"],
    "unpin": ["runs", "unpin", "{run}"],
    "forget": ["runs", "remove", "{run}", "--yes"],
}


@pytest.mark.some(3)
@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_refuses_with_status_2_and_one_line(made, name):
    settings, it = made
    before = everything(settings.home)
    words = [word.format(path=it.path, hash=it.hash, run=it.run) for word in COMMANDS[name]]
    ended = run_here(*words, home=settings.home, WORKPROF_READONLY="1")
    assert ended.status == 2, ended.err
    assert ended.out == ""
    assert len(ended.err.strip().splitlines()) == 1
    assert "WORKPROF_READONLY is set" in ended.err
    assert everything(settings.home) == before
