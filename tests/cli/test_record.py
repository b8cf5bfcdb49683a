"""`workprof record`: files and JSON of a recording, series in one file, the job table, what is refused, its end."""

import csv
import getpass
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from tests.command_line import run_process
from workprof.cli.main import main
from workprof.cli.record import BEFORE, UsageFile
from workprof.phases.recorder.processes import descendants, process_table
from workprof.phases.recorder.recording import Outcome, Usage

KEYS = {"workload", "run", "started", "rows", "counters", "ended_after", "rc", "file", "status", "seconds_per_sample"}
QUICK = ("--no-perf", "--quiet", 0, "--interval", 0.2)
PATIENCE_S = 120.0


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
def test_a_series_in_one_file_is_a_dataset(workprof, tmp_path):
    path = tmp_path / "runs.csv"
    for run, command in (("1", "sleep 0.5; echo said"), ("2", "exit 3")):
        options = ("-o", path, "--append", "--workload", "nap", "--run", run, *QUICK, "--json")
        made = run_process("record", *options, "--", "sh", "-c", command, home=tmp_path)
        assert made.status == 0, made.err
        assert made.json.keys() >= KEYS
        assert made.json["rc"] == {"1": 0, "2": 3}[run]
        assert "said" in made.err or run == "2"
    assert made.json["status"] == "failed"
    rows = rows_of(path)
    assert [row["run"] for row in rows].count("2") == made.json["rows"] == 1
    assert list(rows[0])[:4] == ["workload", "run", "t", "cpu.user%"]
    assert len(rows[0]) == made.json["counters"] + 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["runs.csv", "runs.runs.jsonl"]
    loaded = workprof("ingest", path, "--name", "naps", "--json").json
    assert (loaded["kind"], loaded["format"], loaded["rows"]) == ("telemetry", "telemetry", len(rows))
    assert "failed_runs" in {check["name"] for check in loaded["checks"]}


@pytest.mark.slow
def test_usage_is_a_job_table_that_needs_no_mapping(workprof, tmp_path):
    usage = tmp_path / "usage.csv"
    code = "import time; x = bytearray(150_000_000); time.sleep(0.8)"
    for run, command in (("1", (sys.executable, "-c", code)), ("2", ("false",))):
        options = ("-o", tmp_path / "a.csv", "--usage", usage, "--workload", "alloc", "--run", run, *QUICK)
        assert run_process("record", *options, "--", *command, home=tmp_path).status == 0
    first, second = rows_of(usage)
    assert (first["job_name"], first["task_name"], first["status"]) == ("alloc-1", "alloc", "completed")
    assert 150e6 < float(first["peak_memory_bytes"]) < 250e6
    assert float(first["duration_s"]) >= 0.8
    assert (second["status"], second["ended_by"], second["requested_memory_bytes"]) == ("failed", "command", "")
    loaded = workprof("ingest", usage, "--name", "usage", "--json").json
    assert (loaded["kind"], loaded["format"], loaded["rows"], loaded["rejected"]) == ("jobs", "generic", 2, 0)
    task = workprof("memory", "assess", "usage", "--json").json["tasks"][0]
    assert (task["task"], task["n"]) == ("alloc", 1)
    assert task["peak_gb"]["max"] == pytest.approx(float(first["peak_memory_bytes"]) / 1e9)


@pytest.mark.slow
def test_usage_alone_stands_before_any_command(workprof, tmp_path):
    """Nothing of its own on stdout, the command's exit status, one line per run, no counters."""
    table = tmp_path / "runs.csv"
    for command, status in (("echo said", 0), ("exit 3", 3), ("kill -9 $$", 137)):
        made = run_process("record", "--usage", "-o", table, "--", "sh", "-c", command, home=tmp_path)
        assert (made.status, made.out) == (status, "said\n" if status == 0 else "")
    rows = rows_of(table)
    assert [row["exit_status"] for row in rows] == ["0", "3", "137"]
    assert [row["status"] for row in rows] == ["completed", "failed", "killed"]
    assert {(row["task_name"], row["user"], row["node"]) for row in rows} == {
        ("sh", getpass.getuser(), platform.node())
    }
    assert all(float(row["end_time_s"]) >= float(row["start_time_s"]) > 1.7e9 for row in rows)
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == ["runs.csv"]
    loaded = workprof("ingest", table, "--json").json
    assert (loaded["format"], loaded["rows"], loaded["rejected"]) == ("generic", 3, 0)


@pytest.mark.slow
def test_usage_of_a_command_is_its_own(tmp_path):
    """Only what stands before the command is the recorder's, with a -- and without."""
    command = ("echo", "--usage", "-v")
    for form in (("--", *command), command):
        made = run_process("record", "--interval", 0.5, "--usage", "-o", tmp_path / "u.csv", *form, home=tmp_path)
        assert (made.status, made.out) == (0, "--usage -v\n")
    made = run_process("record", *QUICK, "-o", tmp_path / "c.csv", *command, home=tmp_path)
    assert made.status == 0 and made.out.startswith("--usage -v\n")
    assert len(rows_of(tmp_path / "u.csv")) == 2 and (tmp_path / "c.csv").is_file()


def outcome_of(at, seconds, peak_bytes, rc=0):
    return Outcome(
        workload=f"task{at % 7}",
        run=str(at),
        started_s=1.7e9 + at,
        rows=1,
        counters=1,
        duration_s=seconds,
        ended_after_s=seconds,
        rc=rc,
        stopped=False,
        status="complete",
        seconds_per_sample=0.001,
        usage=Usage(seconds, peak_bytes, peak_bytes / 2, 150.0, 4096.0, 8192.0, 1.0, 2.0),
        notes=(),
    )


WRITER = """
import sys
from pathlib import Path
from tests.cli.test_record import outcome_of
from workprof.cli.record import UsageFile
first = int(sys.argv[2])
for at in range(first, first + 600):
    UsageFile(Path(sys.argv[1])).append(outcome_of(at, 10.0 + at, 1e9 + at, rc=at % 2))
"""


@pytest.mark.slow
def test_many_recorders_write_whole_lines_to_one_table(workprof, tmp_path):
    table = tmp_path / "usage.csv"
    words = [sys.executable, "-c", WRITER, str(table)]
    children = [subprocess.Popen([*words, str(first)]) for first in range(0, 1200, 600)]
    assert [child.wait(PATIENCE_S) for child in children] == [0] * 2
    lines = table.read_text().splitlines()
    assert len(lines) == 1201 and lines.count(lines[0]) == 1
    rows = rows_of(table)
    assert {row["run_name"] for row in rows} == {str(at) for at in range(1200)}
    loaded = workprof("ingest", table, "--name", "many", "--json").json
    assert (loaded["rows"], loaded["rejected"]) == (1200, 0)
    assert workprof("export", "many", "-o", tmp_path / "out.csv", "--json").json
    frame = pd.read_csv(tmp_path / "out.csv")
    runs = frame[frame["status"] == "completed"]
    assert len(runs) == 600
    used = sum((1e9 + at) * (10.0 + at) for at in range(0, 1200, 2))
    assert (runs["peak_memory_bytes"] * runs["duration_s"]).sum() == pytest.approx(used, rel=1e-9)
    assert workprof("memory", "assess", "many", "--json").json["n_runs"] == 600


def test_a_table_of_an_earlier_release_is_continued_and_a_last_line_without_an_end_is_ended(tmp_path):
    table = tmp_path / "usage.csv"
    table.write_text(",".join(BEFORE) + "\n" + "mine" + "," * (len(BEFORE) - 1))
    UsageFile(table).append(outcome_of(5, 1.0, 2e9))
    first, second = rows_of(table)
    assert (first["job_name"], second["job_name"], second["ended_by"]) == ("mine", "task5-5", "command")
    assert table.read_text().count("\n") == 3


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no command and no --seconds"),
        (("--usage", "--", "true"), "--usage names no job table"),
        (("--usage", "-o", "other.csv", "--", "true"), "other.csv holds another table"),
        (("--interval", 0, "--", "true"), "interval is 0.0 s"),
        (
            ("-o", "missing/a.csv", "--", "true"),
            "missing/a.csv cannot be written: there is no folder missing",
        ),
        (("-o", "a.txt", "--", "true"), "a.txt cannot be written"),
        (("--pid", 999999999, "--", "true"), "--pid 999999999 is no running process"),
        (("--usage", "other.csv", "--", "true"), "other.csv holds another table"),
        (("-o", "a.csv", *QUICK, "--", "no-such-program"), "'no-such-program' cannot be started"),
    ],
)
def test_what_is_refused_leaves_nothing(tmp_path, monkeypatch, capsys, arguments, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SystemExit) as ended:
        main(["record", *map(str, arguments)])
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["other.csv"]


def started(tmp_path, *options):
    """Start a recording of a command that goes on, and wait for its first row."""
    command = [sys.executable, "-m", "workprof.cli", "record", "-o", "a.csv", *map(str, QUICK), *options]
    child = subprocess.Popen(
        [*command, "--json", "--", "sh", "-c", "sleep 300 & timeout 300 sleep 300"],
        cwd=tmp_path,
        env=os.environ | {"WORKPROF_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    patience = time.monotonic() + PATIENCE_S
    partial = tmp_path / "a.csv.partial"
    while not partial.is_file() or partial.read_text().count("\n") < 3:
        assert child.poll() is None and time.monotonic() < patience, child.communicate()
        time.sleep(0.05)
    return child


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_recording_keeps_its_rows_and_is_marked(tmp_path, number):
    child = started(tmp_path, "--workload", "long")
    child.send_signal(number)
    out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, err
    told = json.loads(out)
    assert (told["status"], told["rc"], told["ended_after"]) == ("failed", None, None)
    assert len(rows_of(tmp_path / "a.csv")) == told["rows"] >= 2
    assert json.loads((tmp_path / "a.runs.jsonl").read_text())["status"] == "failed"
    assert not (tmp_path / "a.csv.partial").exists()


@pytest.mark.slow
def test_a_killed_recording_leaves_the_partial_file(workprof, tmp_path):
    child = started(tmp_path, "--seconds", "300")
    left = descendants(process_table(Path("/proc")), {child.pid}) - {child.pid}
    child.kill()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    child.communicate(timeout=PATIENCE_S)
    loaded = workprof("ingest", tmp_path / "a.csv.partial", "--name", "killed", "--json").json
    assert loaded["kind"] == "telemetry"
    assert loaded["rows"] >= 2
    assert "failed_runs" in {check["name"] for check in loaded["checks"]}
