"""Every command of the documents is really run, on real things in the place of its placeholders."""

import contextlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pandas as pd
import pytest

from tests.charts import records_for_phases
from tests.docs.commands import SERVING, fenced, mentioned_commands, options_of, placeholders, shown_commands
from tests.nodes import test_search
from tests.nodes.planted_nodes import runs_of
from tests.nodes.transfer_reports import MACHINES, planted
from tests.pages.conftest import SAMPLE
from tests.pages.test_nodes_page import SPEEDS, write
from workprof.cli.main import app
from workprof.core.settings import from_environment
from workprof.memory.decided import row_key
from workprof.workbench import Workbench

PATIENCE_S = 180
ROWS = 650
"""More than twice the smallest profile of `--preset paper`."""

TWO = {name: SPEEDS[name] for name in ("calm", "small")}

BOUND = {
    "NAME": "jobs",
    "NEW": "jobs",
    "OLD1,OLD2": "trace",
    "T": "worker",
    "U": "a-new-user",
    "RUNS": "runs",
    "BOX": "counters",
    "DIR": "reports",
    "COMMAND": "profiles",
    "1": "one step/1",
    "3": "0",
    "FILE": "trace.parquet",
    "trace.parquet": "trace.parquet",
    "jobs.csv": "jobs.csv",
    "map.json": "map.json",
    "finished.csv": "finished.csv",
    "big.bin": "big.bin",
    "plan.toml": "plan.toml",
    "nodes.toml": "nodes.toml",
    "TABLE": "configurations",
    "TABLE.csv": "configurations.csv",
    "SCORES.csv": "machines.csv",
}
"""Placeholder -> what it stands for here; a word that is neither here nor in WRITTEN fails the test."""

WITHIN = {"NAME": "jobs", "10,2000": "10,500"}
"""The same within a word ('NAME?period=2025-12'); people and rows are those of the home (`scratch`)."""

FIRST_DAY = "2025-11-20"
"""Of the trace, which lasts seven weeks: the documents ask for December and January, the last full month and the one
before it, and since the 5th of January."""

WRITTEN = {
    "memory.config", "sizes.csv", "job_submit.lua", "mem.conf", "mails.txt", "runs.jsonl", "box.csv", "report.html",
    "sample.parquet", "data/sample/pai_sample.parquet", "data/sample/benchmarks.jsonl", "durations.parquet",
    "fleet.jsonl", "mlruns",
}  # fmt: skip
"""Files that commands make."""

SMALLER = {
    ("estimate", "evaluate"): ("--split", "by_time"),
    ("report",): ("--sections", "data,memory"),
    ("synth", "pai"): ("--rows", "500"),
    ("nodes", "suite"): ("--seconds-per-benchmark", "1", "--repeat", "1", "--benchmarks", "disk-ioping", "--disk", "."),
    ("nodes", "fleet"): ("--append",),
    ("nodes", "detect"): ("--epochs", "2"),
    ("nodes", "search"): ("--seeds", "1", "--trials", "4"),
    ("record",): ("--no-perf", "--quiet", "0", "--interval", "0.2"),
    ("phases", "growing"): ("--counter", "app.flat"),
    ("phases", "evaluate"): ("--splits", "1", "--open-splits", "0"),
}
"""Command -> options that make it short, or fit the small data; the last word wins."""

COMMANDS = [one for one in shown_commands() if one.words[0] not in SERVING]
CHOSEN_RUN = ("--run", "--unknown")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A folder with everything that a placeholder stands for, and a home with the datasets."""
    folder = tmp_path_factory.mktemp("docs")
    rows = pd.read_parquet(SAMPLE).sample(ROWS, random_state=0)
    later = pd.Timestamp(FIRST_DAY).timestamp() - rows["start_time"].min()
    rows = rows.assign(start_time=rows["start_time"] + later, end_time=rows["end_time"] + later)
    rows.to_parquet(folder / "jobs.parquet")
    rows.head(ROWS // 2).to_parquet(folder / "trace.parquet")
    frame = pd.DataFrame({"id": ["a", "b", "c"], "runtime": [1.5, 2.5, 3.5], "user": ["u", "u", "v"]})
    frame.to_csv(folder / "jobs.csv", index=False)
    mapping = {"job_name": {"from": "id"}, "duration_s": {"from": "runtime", "unit": "s"}, "user": {"from": "user"}}
    (folder / "map.json").write_text(json.dumps(mapping))
    (folder / "plan.toml").write_text('[commands]\nnothing = "true"\n')
    suite = '[suite]\nseconds_per_benchmark = 1\nbenchmarks = ["disk-ioping"]\n'
    (folder / "nodes.toml").write_text(f'{suite}[[nodes]]\nname = "here"\n')
    (folder / "big.bin").write_bytes(os.urandom(2_000_000))
    (folder / "data" / "sample").mkdir(parents=True)
    write(folder / "runs.jsonl", runs_of(TWO, n_runs=10))
    records_for_phases.samples().to_csv(folder / "counters.csv", index=False)
    _reports(folder / "reports")
    test_search.table().to_csv(folder / "configurations.csv", index=False)
    test_search.SCORES.to_csv(folder / "machines.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        patch.delenv("WORKPROF_READONLY", raising=False)
        patch.delenv("WORKPROF_DASK", raising=False)
        patch.chdir(folder)
        with Workbench(from_environment()) as workbench:
            for name in ("jobs.parquet", "trace.parquet", "runs.jsonl", "counters.csv", "configurations.csv"):
                workbench.ingest([folder / name])
            workbench.export("jobs", folder / "finished.csv")
            memory = workbench.verdict("jobs").memory
            row = next(row for row in memory.rows if "user" in row.key)
        (folder / "runs.jsonl").unlink()  # a command makes it again
        yield folder, {"user=ann,task_name=train": row_key(row, memory), "ann": row.key["user"]}


def _reports(folder):
    """Write reports of three machines with planted speeds."""
    for machine, report in planted(dict.fromkeys(MACHINES, 1.0)).items():
        path = folder / machine / f"execution_report_{machine}.csv"
        path.parent.mkdir(parents=True)
        pd.DataFrame(
            {
                "Label": report["label"],
                "Machine": machine,
                "Workflow": report["workflow"],
                "NumberSequences": report["sequences"],
                "Task": report["task"],
                "Realtime": report["runtime_s"] * 1000,
                "%cpu": report["cpu_percent"],
                "TaskInputSizeUncompressed": report["input_bytes"],
            }
        ).to_csv(path, index=False)


def bound(shown, people):
    """Return a command's words with the placeholders and people bound, made short where it is long."""
    words = [people.get(word, word) for word in shown.words]
    for place, word in enumerate(words):
        parts = [{**WITHIN, **people}.get(part, part) for part in re.split(r"([?&=])", word)]
        words[place] = "".join(parts)
        name, found, value = words[place].partition("=")
        if found and not word.startswith("-"):
            words[place] = f"{name}={BOUND.get(value, value)}"
        elif word in BOUND and (not word.isdigit() or words[place - 1] in (*CHOSEN_RUN, "--profile")):
            words[place] = BOUND[word]
    more = next((more for start, more in SMALLER.items() if shown.starts(*start)), ())
    cut = words.index("--") if "--" in words else len(words)
    return [*words[:cut], *more, *words[cut:]]


def test_the_documents_show_commands_at_all():
    assert len(COMMANDS) > 20
    assert {one.words[0] for one in COMMANDS} >= {"ingest", "profiles", "classify", "memory", "nodes", "phases", "runs"}


@pytest.mark.parametrize("shown", COMMANDS, ids=lambda shown: shown.text)
def test_every_placeholder_is_known(shown):
    assert set(placeholders(shown.words)) - set(BOUND) - WRITTEN == set()


@pytest.mark.soak
@pytest.mark.parametrize("shown", COMMANDS, ids=lambda shown: shown.text)
def test_a_shown_command_runs(scratch, shown):
    folder, people = scratch
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        app(args=bound(shown, people), standalone_mode=False)
    if "--json" in shown.words:
        assert json.loads(printed.getvalue())
    else:
        assert printed.getvalue().strip()
    for file in WRITTEN & set(shown.words):
        assert (folder / file).stat().st_size > 100


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(fenced("python"))))
def test_the_python_of_the_documents_runs(scratch, capsys, place):
    document, snippet = fenced("python")[place]
    shrunk = snippet.replace("min_cluster_size=100", "min_cluster_size=30")  # the trace here has some hundred rows
    exec(compile(shrunk, document, "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("shown", mentioned_commands(), ids=lambda shown: f"{shown.place}: {shown.text}")
def test_a_mentioned_command_exists_with_its_options(shown):
    known = options_of(shown.words)
    assert known is not None, f"{shown.place}: there is no {shown.text!r}"
    given = {word.partition("=")[0] for word in _until_command(shown.words) if word.startswith("-") and word != "-"}
    assert given - known == set()


def _until_command(words):
    return words[: words.index("--")] if "--" in words else words


@pytest.mark.soak
@pytest.mark.slow
def test_the_dashboard_alone_answers_and_ends(tmp_path):
    """`workprof demo` does so in the tests of the command."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "workprof.cli", "serve", "--port", str(port)]
    server = subprocess.Popen(words, env=os.environ | {"WORKPROF_HOME": str(tmp_path / "home")}, cwd=tmp_path)
    try:
        end = time.monotonic() + PATIENCE_S
        while not _answers(port):
            assert server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.3)
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
    finally:
        server.kill()
        server.wait()


def _answers(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as response:
            return response.read() == b"ok"
    except OSError:
        return False
