"""A home of its own for the commands of a file; they run in this process (see `tests.command_line`)."""

import pytest

from tests.command_line import run_here


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
def sample(home):
    """A small synthetic trace, loaded as 'small'."""
    path = home / "small.parquet"
    made = run_here("synth", "pai", "--rows", 3000, "-o", path, "--seed", 5, "--json", home=home)
    assert made.status == 0, made.err
    loaded = run_here("ingest", path, "--name", "small", "--json", home=home)
    assert loaded.status == 0, loaded.err
    return loaded.json
