"""Each command once in a process of its own: what it prints is what the same line prints inside the tests."""

import json

import pytest

from tests.command_line import run_here, run_process
from workprof.cli.main import MODULES

SERVING = {"demo", "serve"}
"""Have their own tests: these end when they are told to."""

LINES = {
    "ingest": ("ingest", "{trace}", "--name", "again"),
    "pull": ("pull", "--from", "nowhere.duckdb", "--as", "x"),
    "datasets": ("datasets",),
    "mappings": ("mappings",),
    "rename": ("rename", "small", "small"),
    "remove": ("remove", "nothing", "--yes"),
    "export": ("export", "small", "-o", "{folder}/out.csv"),
    "sample": ("sample", "small", "--by", "task_name", "--rows", "50", "--name", "few"),
    "durations": ("durations", "small", "--by", "user"),
    "size": ("size", "nowhere.csv"),
    "compare": ("compare", "small", "nothing"),
    "changes": ("changes", "small"),
    "scopes": ("scopes",),
    "report": ("report", "nothing", "-o", "{folder}/report.html"),
    "record": ("record", "--interval", "-1", "true"),
    "synth": ("synth", "pai", "--rows", "500", "-o", "{folder}/made.parquet"),
    "profiles": ("profiles", "hopkins", "nothing"),
    "memory": ("memory", "assess", "small"),
    "classify": ("classify", "evaluate", "nothing"),
    "estimate": ("estimate", "evaluate", "--train", "nothing"),
    "nodes": ("nodes", "rank", "nothing"),
    "phases": ("phases", "runs", "nothing"),
    "runs": ("runs",),
    "airflow-dag": ("airflow-dag", "nowhere.toml", "-o", "{folder}/dag.py"),
    "source": ("source",),
    "refresh": ("refresh", "nothing"),
    "user": ("user",),
    "audit": ("audit",),
    "alert": ("alert",),
    "check": ("check", "nothing"),
    "digest": ("digest", "nothing"),
    "campaign": ("campaign", "status", "nowhere.toml"),
}


def test_every_command_has_its_line():
    assert set(LINES) == set(MODULES) - SERVING


def untimed(answer):
    """Return an answer without the seconds that it took and the moment at which it was made."""
    if isinstance(answer, dict):
        return {name: untimed(one) for name, one in answer.items() if name not in {"seconds", "created"}}
    return [untimed(one) for one in answer] if isinstance(answer, list) else answer


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_a_process_of_its_own_says_the_same(sample, home, tmp_path, name):
    words = [word.format(trace=home / "small.parquet", folder=tmp_path) for word in (*LINES[name], "--json")]
    ran, here = run_process(*words, home=home), run_here(*words, home=home)
    assert (ran.status, ran.err) == (here.status, here.err)
    assert ran.status in (0, 2)
    if ran.out:
        assert untimed(json.loads(ran.out)) == untimed(here.json)
