"""What is imported before the first question loads no library that only some questions need."""

import subprocess
import sys

import pytest

from tests.command_line import run_here
from tests.memory.test_verdict import jobs

pytestmark = pytest.mark.slow

HEAVY = {
    "distributed",
    "hdbscan",
    "imblearn",
    "numba",
    "optuna",
    "ruptures",
    "statsmodels",
    "scipy",
    "shap",
    "sklearn",
    "tslearn",
    "urllib3",
    "xgboost",
}


def loaded(code, parts=1):
    """Return the packages outside the standard library that a fresh interpreter has loaded after some code.

    `parts`: of their dotted names.
    """
    script = f"import sys; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    packages = {".".join(name.split(".")[:parts]) for name in done.stdout.split()}
    return {name for name in packages if not name.startswith("_")} - set(sys.stdlib_module_names)


def test_the_package_alone_loads_nothing():
    assert loaded("import workprof") == {"workprof"}


def test_the_workbench_loads_no_library_of_some_questions_only_and_draws_nothing():
    assert loaded("import workprof.workbench") & (HEAVY | {"plotly", "streamlit", "typer"}) == set()


COMMANDS = "import typer; from workprof.cli.main import app; commands = dict(typer.main.get_command(app).commands)"
"""All of them are imported and made."""


def test_the_first_page_and_the_commands_load_no_library_of_some_questions_only():
    assert loaded(f"{COMMANDS}; import pages._shell") & HEAVY == set()


def test_the_version_is_told_without_the_workbench_and_its_libraries():
    found = loaded("from workprof.cli.main import app; app(args=['--version'], standalone_mode=False)")
    assert "typer" in found
    assert found & (HEAVY | {"duckdb", "numpy", "pandas", "plotly", "psutil", "pyarrow"}) == set()


def test_a_plan_imports_no_room_that_it_does_not_need(tmp_path, monkeypatch):
    jobs(3).drop(columns="finished").to_parquet(tmp_path / "runs.parquet")
    assert run_here("ingest", tmp_path / "runs.parquet", home=tmp_path / "home").status == 0
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    run = "with suppress(SystemExit), redirect_stdout(sys.stderr): main(['memory', 'plan', 'runs'])"
    begin = "from contextlib import redirect_stdout, suppress; from workprof.cli.main import main"
    found = loaded(f"{begin}; exec({run!r})", parts=2)
    assert {"workprof.memory", "workprof.workbench"} <= found
    assert found & {"workprof.forecasts", "workprof.nodes", "workprof.phases", "workprof.sources"} == set()


FRAMES = HEAVY | {"duckdb", "numpy", "orjson", "pandas", "plotly", "psutil", "pyarrow"}


@pytest.mark.parametrize(
    "line", ["--help", "memory", "memory plan --help", "classify predict --help", "memory plan", "x"]
)
def test_help_and_errors_of_usage_import_no_command(line):
    run = f"with suppress(SystemExit), redirect_stdout(sys.stderr): main({line.split()!r})"
    found = loaded(
        "from contextlib import redirect_stdout, suppress; from workprof.cli.main import main; " + f"exec({run!r})"
    )
    assert "typer" in found
    assert found & FRAMES == set()
