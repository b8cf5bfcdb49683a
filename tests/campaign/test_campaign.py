"""A campaign runs each of its runs once, whatever ends it on the way, and its runs become a dataset with sizes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.command_line import run_here
from workprof.campaign.journal import Journal
from workprof.campaign.plan import Node, plan_of, read_plan
from workprof.campaign.running import run_plan
from workprof.campaign.status import enlisted, status_of
from workprof.charts.campaign import campaign_ways
from workprof.core.campaigns import WAYS
from workprof.core.errors import SettingsError

PLAN = """
name = "trial"
repeats = {repeats}
at_once = {at_once}
retries = 1
memory = "2GB"

[inputs]
small = "small.txt"
large = "large.txt"

[commands]
count = "echo count >> {ledger}; wc -l < {{input}}; sleep {pause}"
keep = "echo keep >> {ledger}; head -c 20000000 /dev/zero | tail -c 1; sleep {pause}"
{more}
"""


def written(folder, repeats=2, at_once=2, pause=0.3, more=""):
    (folder / "small.txt").write_text("a\n" * 10)
    (folder / "large.txt").write_text("b\n" * 1000)
    plan, ledger = folder / "plan.toml", folder / "ledger.txt"
    plan.write_text(PLAN.format(repeats=repeats, at_once=at_once, ledger=ledger, pause=pause, more=more))
    return plan, ledger


@pytest.mark.slow
def test_runs_are_recorded_imported_and_sized_and_a_failure_is_tried_with_more_memory(tmp_path):
    more = """grow = "ulimit -v; test $(ulimit -v) -gt 2000000 && sleep 0.3"\nfail = "echo no such tool >&2; exit 3" """
    plan, ledger = written(tmp_path, more=more)
    done = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    states = Counter((one["command"], one["state"], one["attempt"]) for one in done.json["runs"])
    assert states == {
        ("count", "SIZED", 1): 4,
        ("keep", "SIZED", 1): 4,
        ("grow", "SIZED", 2): 4,
        ("fail", "FAILED", 2): 4,
    }
    reasons = {one["reason"] for one in done.json["runs"] if one["command"] == "fail"}
    assert reasons == {"exit 3: no such tool"}, "what the command said, not what was recorded of it"
    sizes = {one["command"]: one["size_gb"] for one in done.json["runs"] if one["state"] == "SIZED"}
    assert all(size is not None and 0 < size < 1 for size in sizes.values())
    (dataset,) = run_here("datasets", "--json", home=tmp_path / "home").json
    assert (dataset["dataset"], dataset["rows"], dataset["finished"]) == ("trial", 24, 12)
    assert Counter(ledger.read_text().split()) == {"count": 4, "keep": 4}
    again = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert again.json == done.json
    assert Counter(ledger.read_text().split()) == {"count": 4, "keep": 4}
    shown = run_here("campaign", "status", plan, home=tmp_path / "home")
    assert "trial: 12 of 16 done" in shown.out
    assert "4 runs of fail failed: exit 3" in shown.out
    told = run_here("campaign", "states", plan, "--json", home=tmp_path / "home").json
    assert {one["state"]: one["runs"] for one in told["states"] if one["runs"]} == {"SIZED": 12, "FAILED": 4}
    taken = {(one["before"], one["after"]): (one["runs"], one["times"]) for one in told["ways"] if one["runs"]}
    assert taken == {
        ("REGISTERED", "DEPLOYED"): (16, 16),
        ("DEPLOYED", "RUNNING"): (16, 16),
        ("RUNNING", "RUNNING"): (8, 8),
        ("RUNNING", "PROFILED"): (12, 12),
        ("RUNNING", "FAILED"): (4, 4),
        ("PROFILED", "SIZED"): (12, 12),
    }
    ((found,), unread) = enlisted(tmp_path / "home")
    assert (found.campaign, found.done, found.states, unread) == ("trial", 12, done.json["states"], ())


def kill_when(plan, home, runs):
    """Start a campaign and kill it with SIGKILL once so many of its runs are profiled."""
    command = [sys.executable, "-m", "workprof", "campaign", "run", str(plan)]
    process = subprocess.Popen(command, env=os.environ | {"WORKPROF_HOME": str(home)}, stderr=subprocess.PIPE)
    end = time.monotonic() + 400
    while time.monotonic() < end and process.poll() is None:
        states = Journal(plan.with_suffix(".campaign")).states.values()
        if sum(one.state == "PROFILED" for one in states) >= runs:
            break
        time.sleep(0.05)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    process.stderr.close()


@pytest.mark.soak
def test_sixty_runs_killed_three_times_are_sixty_results_and_none_is_done_twice(tmp_path):
    plan, ledger = written(tmp_path, repeats=15, at_once=4, pause=0.5)
    for runs in (7, 23, 41):
        kill_when(plan, tmp_path / "home", runs)
    done = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    assert done.json["states"] == {"SIZED": 60}
    assert len(list((tmp_path / "plan.campaign" / "results").glob("*.json"))) == 60
    assert Counter(ledger.read_text().split()) == {"count": 30, "keep": 30}
    (dataset,) = run_here("datasets", "--json", home=tmp_path / "home").json
    assert (dataset["rows"], dataset["finished"]) == (60, 60)


@pytest.mark.slow
def test_a_failed_run_that_was_killed_while_it_was_tried_again_is_tried_once_more(tmp_path):
    plan = plan_of({"commands": {"fail": "exit 3"}}, tmp_path / "plan.toml")
    journal, (run,) = Journal(tmp_path / "kept"), plan.runs
    with journal.held():
        run_plan(plan, journal)
        assert (journal.states[run.name].state, journal.states[run.name].attempt) == ("FAILED", 1)
        for state in ("DEPLOYED", "RUNNING"):
            journal.note(run.name, state, attempt=2)
        run_plan(plan, journal)
    assert (journal.states[run.name].state, journal.states[run.name].attempt) == ("FAILED", 2)
    assert [one["attempt"] for one in journal.results()] == [1, 2]


def test_a_line_that_a_kill_cut_short_is_passed_over(tmp_path):
    journal = Journal(tmp_path / "c")
    with journal.held():
        journal.note("a", "PROFILED", attempt=1)
        with (tmp_path / "c" / "journal.jsonl").open("a") as file:
            file.write('{"run": "b", "sta')
        journal.note("c", "RUNNING", attempt=2)
        with pytest.raises(SettingsError, match="another process"), Journal(tmp_path / "c").held():
            pass
    assert {name: one.state for name, one in Journal(tmp_path / "c").states.items()} == {
        "a": "PROFILED",
        "c": "RUNNING",
    }


def test_every_way_has_its_words_and_a_run_outside_of_the_plan_takes_none(tmp_path):
    plan, journal = read_plan(written(tmp_path)[0]), Journal(tmp_path / "c")
    one = plan.runs[0].name
    with journal.held():
        for before, after in WAYS:
            journal.note(one, before)
            journal.note(one, after)
        journal.note(one, "REGISTERED")
        journal.note("suite.local.0", "RUNNING")
        journal.note("suite.local.0", "PROFILED")
        journal.note("of.an.older.plan", "REGISTERED")
        journal.note("of.an.older.plan", "DEPLOYED")
    found = status_of(plan, Journal(journal.folder), tmp_path / "plan.toml")
    assert {(way.before, way.after) for way in found.ways if way.when} == set(WAYS)
    assert all(way.runs == 1 <= way.times for way in found.ways)
    assert ("DEPLOYED", "REGISTERED", "") in {(way.before, way.after, way.when) for way in found.ways}
    assert found.rounds == {"PROFILED": 1}
    chart = campaign_ways(found)
    assert next(iter(chart.figure.data[1].text)) == "REGISTERED<br>8"
    assert {mark.text for mark in chart.figure.layout.annotations if mark.text} == {"1", "1 again", "1 after a kill"}
    assert len(chart.data) == len(found.ways)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "commands"),
        ("[commands]\na = 'x {input}'", "names {input}"),
        ("repeats = 0\n[commands]\na = 'x'", "repeats is 0"),
        ("colour = 1\n[commands]\na = 'x'", "'colour' is not known"),
        ("lift = 0.5\n[commands]\na = 'x'", "lift is 0.5"),
        ("[commands]\n'../a' = 'x'", "is no name"),
        ("nodes = [{name = 'n', executor = 'pbs'}]\n[commands]\na = 'x'", "executor is 'pbs'"),
        ("nodes = [{name = 'n', executor = 'ssh'}]\n[commands]\na = 'x'", "ssh needs folder"),
        ("commands = [", "cannot be read"),
    ],
)
def test_a_plan_that_cannot_be_run_is_said(tmp_path, text, told):
    path = tmp_path / "plan.toml"
    path.write_text(text)
    done = run_here("campaign", "status", path, home=tmp_path / "home")
    assert done.status == 2
    assert told in done.err


def test_the_words_of_each_executor(tmp_path):
    def words(**node):
        return Node("n1", **node).argv(("true", "a b"), "sort.small.n1.1.ab12", memory)

    memory = 2**30
    assert words(options=("-p", "2222")) == ["true", "a b"]
    ssh = words(executor="ssh", host="me@n1", options=("-p", "2222"), folder="runs")
    assert ssh == ["ssh", "-p", "2222", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "me@n1", "true 'a b'"]
    slurm = words(executor="slurm", options=("--partition=short",), folder="/shared")
    assert slurm[:2] == ["srun", "--partition=short"]
    assert {"--nodelist=n1", "--mem=1024M"} <= set(slurm)
    assert slurm[-2:] == ["true", "a b"]
    memory = 0
    assert [one for one in slurm if one not in words(executor="slurm", options=slurm[1:2])] == ["--mem=1024M"]
    pod = words(executor="kubernetes", image="site/workprof", folder="/shared")
    assert pod[:4] == ["kubectl", "run", "sort-small-n1-1-ab12", "--rm"]
    (overrides,) = [word for word in pod if word.startswith("--overrides=")]
    assert json.loads(overrides.partition("=")[2]) == {"spec": {"nodeName": "n1"}}
    plan = plan_of({"commands": {"a": "true"}, "nodes": ["x", "y"], "repeats": 3}, tmp_path / "p.toml")
    assert len({run.name for run in plan.runs}) == 6
    written(tmp_path)
    assert len(read_plan(tmp_path / "plan.toml").runs) == 8
