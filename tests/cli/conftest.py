"""Run the command as a user does: a process of its own, a home of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(scope="session")
def run_workprof():
    def run(*arguments, home: Path, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "workprof.cli", *map(str, arguments)],
            env=os.environ | {"WORKPROF_HOME": str(home)} | environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=1200,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def workprof(run_workprof, home):
    return lambda *arguments, **environment: run_workprof(*arguments, home=home, **environment)


@pytest.fixture(scope="module")
def sample(run_workprof, home):
    """A small synthetic trace, loaded as 'small'."""
    path = home / "small.parquet"
    made = run_workprof("synth", "pai", "--rows", 3000, "-o", path, "--seed", 5, "--json", home=home)
    assert made.status == 0, made.err
    loaded = run_workprof("ingest", path, "--name", "small", "--json", home=home)
    assert loaded.status == 0, loaded.err
    return loaded.json
