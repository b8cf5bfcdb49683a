"""Every command on a trace that lacks something: an answer, or status 2 with one clear line; never a traceback."""

from functools import partial

import pytest

from tests import poor_traces

COMMANDS = (
    "datasets --json",
    "profiles fit D",
    "profiles hopkins D",
    "profiles baseline D",
    "profiles stability D --resamples 2",
    "durations D --by all",
    "durations D",
    "classify evaluate D",
    "memory assess D",
    "memory bins D --task t0",
    "memory curve D --task t0",
    "memory replay D",
    "memory plan D",
    "memory rollup D",
    "memory schedule D",
    "memory demand D",
    "memory fact D --column requested_cpu_percent",
    "memory why D --task t0",
    "memory ledger D",
    "memory ledger D --by week",
    "memory ledger-runs D",
    "memory over-time D",
    "memory over-time-runs D",
    "memory export D --to csv -o sizes.csv",
    "report D -o report.html",
    "export D -o rows.csv",
    "sample D --by job_name --rows 1 --name drawn",
    "runs",
)
SOAK = [pytest.mark.slow, pytest.mark.soak]
ANSWERED = {"datasets --json", "report D -o report.html", "export D -o rows.csv", "runs"}


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in ("running", "one") else SOAK) for name in poor_traces.POOR],
)
def test_every_command_answers_or_refuses_in_one_line(workprof, tmp_path, name):
    loaded = workprof("ingest", poor_traces.write(tmp_path, name), "--name", name, "--json")
    assert (loaded.status, loaded.json["rejected"]) == (0, 0), loaded.err
    wrong = {}
    for command in COMMANDS:
        words = [name if word == "D" else str(tmp_path / word) if "." in word else word for word in command.split()]
        ran = workprof(*[word if word != "drawn" else f"{name}-drawn" for word in words])
        lines = [line for line in ran.err.splitlines() if line.startswith("workprof: ")]
        refused = ran.status == 2 and len(lines) == 1 and "Traceback" not in ran.err and not ran.out
        if ran.status != 0 and (command in ANSWERED or not refused):
            wrong[command] = (ran.status, ran.err[-500:])
    assert wrong == {}


@pytest.mark.slow
def test_without_finished_runs_the_shell_says_why(run_workprof, tmp_path):
    workprof = partial(run_workprof, home=tmp_path / "home")
    loaded = workprof("ingest", poor_traces.write(tmp_path, "running"), "--name", "going", "--json").json
    assert (loaded["running"], loaded["never_started"]) == (60, 0)
    refused = workprof("profiles", "fit", "going")
    assert (refused.status, refused.out) == (2, "")
    assert "dataset going has no finished run (60 still running)" in refused.err
    assert "no run has finished" in workprof("memory", "rollup", "going").err
    ledger = workprof("memory", "ledger", "going")
    assert ledger.status == 0
    assert "60 runs still run at the end of the trace" in ledger.err
