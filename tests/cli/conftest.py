"""A home of its own for the commands of a file; they run in this process (see `tests.command_line`)."""

import json
import shutil

import pytest

from tests.command_line import run_here
from tests.made_once import made_once
from tests.memory.slurm_dump import MAPPING, dump
from workprof.core.settings import from_environment
from workprof.workbench import Workbench


@pytest.fixture(scope="session")
def run_workprof():
    return run_here


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def workprof(home):
    return lambda *arguments, **environment: run_here(*arguments, home=home, **environment)


@pytest.fixture(scope="module")
def sample(home, tmp_path_factory):
    """A small synthetic trace, loaded as 'small', and its profiles."""
    if any(home.iterdir()):  # other datasets are there already
        return _small(home)
    folder, loaded = made_once(tmp_path_factory, "small", _small)
    shutil.copytree(folder, home, dirs_exist_ok=True)
    return loaded


def _small(home):
    path = home / "small.parquet"
    commands = (
        ("synth", "pai", "--rows", 3000, "-o", path, "--seed", 5, "--json"),
        ("ingest", path, "--name", "small", "--json"),
        ("profiles", "fit", "small", "--json"),
    )
    done = [run_here(*words, home=home) for words in commands]
    assert [one.status for one in done] == [0, 0, 0], done[-1].err
    return done[1].json


@pytest.fixture(scope="module")
def slurm(home):
    """A dump of Slurm, loaded as 'slurm'."""
    dump(600).to_csv(home / "slurm.csv", index=False)
    (home / "map.json").write_text(json.dumps(MAPPING))
    loaded = run_here(
        *("ingest", home / "slurm.csv", "--format", "generic", "--map", home / "map.json"),
        *("--name", "slurm", "--json"),
        home=home,
    )
    assert loaded.status == 0, loaded.err
    return loaded.json


@pytest.fixture
def bench(kept, tmp_path, monkeypatch):
    """A copy of the home in `kept`, to be opened as often as needed."""
    shutil.copytree(kept[0], tmp_path / "home")
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WORKPROF_READONLY", raising=False)
    monkeypatch.chdir(tmp_path)
    return lambda: Workbench(from_environment())
