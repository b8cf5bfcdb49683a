"""`workprof nodes suite`: the plan without a run, real runs in a file that can be ingested, refusals, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from workprof.cli.main import main
from workprof.nodes.metrics import BENCHMARKS

QUICK = ("--seconds-per-benchmark", 1, "--benchmarks", "disk-ioping")


@pytest.fixture
def suite(workprof, tmp_path):
    def ask(*arguments, **environment):
        return workprof("nodes", "suite", *arguments, "--disk", tmp_path, "--json", **environment)

    return ask


def test_dry_run_tells_the_plan(suite, tmp_path):
    ran = suite("--repeat", 5, "--stress", 0.2, "--budget", 60, "--dry-run", "-o", tmp_path / "runs.jsonl")
    assert ran.status == 0, ran.err
    found = ran.json
    assert len(found["plan"]) == 30
    assert {run["benchmark"] for run in found["plan"]} == set(BENCHMARKS)
    assert sum(bool(run["stress"]) for run in found["plan"]) == 6
    assert 0 < found["within_budget"] < 30
    assert found["expected_seconds"] <= 60
    assert found["missing"] == []
    assert (found["rows"], list(tmp_path.iterdir())) == (0, [])


def test_dry_run_tells_what_is_missing(workprof, tmp_path):
    asked = ("nodes", "suite", "--dry-run", "--benchmarks", "disk-fio")
    ran = workprof(*asked, "--json", PATH=str(tmp_path))
    assert ran.json["missing"] == [{"tool": "fio", "package": "fio"}]
    text = workprof(*asked, PATH=str(tmp_path))
    assert "not installed: fio (Debian package fio)" in text.out
    assert "1 of 1 runs within the budget" in text.out


@pytest.mark.slow
def test_runs_are_written_and_added_to(suite, tmp_path):
    path = tmp_path / "runs.jsonl"
    first = suite(*QUICK, "--node", "mine", "--note", "as it is", "-o", path)
    assert first.status == 0, first.err
    assert {name: first.json[name] for name in ("file", "rows", "failed", "interrupted")} == {
        "file": str(path),
        "rows": 1,
        "failed": 0,
        "interrupted": False,
    }
    assert "1/1 disk-ioping" in first.err
    again = suite(*QUICK, "--node", "other", "--append", "-o", path)
    assert again.status == 0, again.err
    one, two = (json.loads(line) for line in path.read_text().splitlines())
    assert (one["node"], two["node"]) == ("mine", "other")
    assert set(one) == {
        "node",
        "benchmark",
        "argv",
        "started",
        "finished",
        "stressed",
        "rc",
        "stdout",
        "stderr",
        "host",
        "provenance",
    }
    assert one["provenance"]["note"] == "as it is"
    assert str(tmp_path) not in path.read_text()
    assert [entry.name for entry in tmp_path.iterdir()] == ["runs.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no file is given; add -o RUNS.jsonl"),
        (("-o", "{tmp}/absent/runs.jsonl"), "cannot be written"),
        (("-o", "{tmp}/full.jsonl"), "exists; give another name, or --append"),
        (("-o", "{tmp}/new.jsonl", "--seconds-per-benchmark", "0.5"), "'0.5'; give a whole number of seconds"),
        (("-o", "{tmp}/new.jsonl", "--budget", "1"), "budget 1 s fits no run; the first takes"),
        (("-o", "{tmp}/new.jsonl", "--benchmarks", "gpu"), "benchmarks is 'gpu'"),
        (("-o", "{tmp}/new.jsonl", "--stress", "2"), "--stress is 2.0"),
    ],
)
def test_refusals_are_the_callers(capsys, tmp_path, arguments, said):
    (tmp_path / "full.jsonl").write_text("{}\n")
    with pytest.raises(SystemExit) as ended:
        main(["nodes", "suite", *(one.format(tmp=tmp_path) for one in arguments)])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not (tmp_path / "new.jsonl").exists()


def test_a_missing_tool_is_the_callers(suite, tmp_path):
    ran = suite(*QUICK, "-o", tmp_path / "runs.jsonl", PATH=str(tmp_path))
    assert ran.status == 2
    assert "not installed: ioping; on Debian: apt-get install ioping" in ran.err


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_measured(tmp_path):
    path = tmp_path / "runs.jsonl"
    asked = ("nodes", "suite", *QUICK, "--repeat", 500, "--disk", tmp_path, "-o", path, "--json")
    process = subprocess.Popen(
        [sys.executable, "-m", "workprof.cli", *map(str, asked)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"WORKPROF_HOME": str(tmp_path / "home")},
    )
    end = time.monotonic() + 120
    while time.monotonic() < end and not (path.exists() and path.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)  # an impatient second one changes nothing
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    answer = json.loads(out)
    lines = path.read_text().splitlines()
    assert answer["interrupted"]
    assert answer["rows"] == len(lines) >= 1
    assert all(json.loads(line)["benchmark"] == "disk-ioping" for line in lines)
    assert [entry.name for entry in tmp_path.iterdir()] == ["runs.jsonl"]
