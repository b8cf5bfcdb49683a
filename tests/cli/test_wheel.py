"""The wheel works in a clean environment, from any folder: app, pages and sample are inside."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command, cwd, **environment):
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("WORKPROF_", "XDG_", "PYTHON"))}
    return kept | {"HOME": str(home)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, environment):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT, cwd=folder, **environment)
    return next(folder.glob("workprof-*.whl"))


@pytest.mark.soak
def test_the_wheel_holds_the_dashboard_and_the_sample(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"workprof/dashboard/app.py", "workprof/cli/commands.json"} <= names
    assert "workprof/dashboard/pages/profiles.py" in names
    assert "workprof/dashboard/.streamlit/config.toml" in names
    assert "workprof/dashboard/data/sample/pai_sample.parquet" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests")]


def pythons():
    """Return this Python, and a 3.13 where one is installed, by name or by pyenv."""
    named = [Path(one) for one in [shutil.which("python3.13")] if one]
    found = [*named, *sorted(Path.home().glob(".pyenv/versions/3.13*/bin/python3.13"))]
    asked = ((one, subprocess.run([one, "-m", "venv", "--help"], capture_output=True, check=False)) for one in found)
    works = [str(one) for one, done in asked if done.returncode == 0]
    return [sys.executable, *works[:1]]


@pytest.mark.soak
@pytest.mark.parametrize("base", pythons(), ids=lambda path: Path(path).name)
def test_a_clean_environment_opens_every_page(base, wheel, environment, tmp_path):
    run(base, "-m", "venv", tmp_path / "venv", cwd=tmp_path, **environment)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path, **environment)  # no extra; what pip takes today
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = tmp_path / "venv" / "bin" / "workprof"
    assert run(command, "--version", cwd=elsewhere, **environment).stdout.startswith("workprof ")
    checked = run(command, "demo", "--check", cwd=elsewhere, **environment)
    assert checked.stderr.count("ok ") >= 3
    assert "FAILED" not in checked.stderr
    assert list(elsewhere.iterdir()) == []
    sample = ROOT / "data" / "sample" / "pai_sample.parquet"
    sizes = run(command, "size", sample, cwd=elsewhere, **environment).stdout
    assert sizes.count("\n") > 100
    run(command, "ingest", sample, cwd=elsewhere, **environment)  # the check has a home of its own
    assert "save" in run(command, "memory", "plan", "pai_sample", cwd=elsewhere, **environment).stdout


USER = """\
import numpy as np
import pandas as pd
import workprof as wp

jobs = pd.DataFrame({"step": ["a", "b"] * 50, "gb": np.linspace(1, 2, 100), "s": 60.0})
sizes = wp.size_memory(jobs, task="step", peak="gb", duration="s", request=4)
changes = wp.change_points(np.r_[np.zeros(50), np.ones(50)])
fitted = wp.RuntimeRegressor(quantiles=(0.1, 0.9)).fit(jobs[["gb"]], jobs["s"])
reveal_type(sizes.figure())
reveal_type(sizes), reveal_type(sizes.to_frame()), reveal_type(changes.changes), reveal_type(fitted)
print(wp.durations(jobs, duration="s").n_rows, sizes.memory.judged.n_runs, wp.profile)
"""


@pytest.mark.soak
def test_types_of_the_installed_wheel_are_known(wheel, environment, tmp_path):
    """Whoever checks a script strictly sees the records' types; the wheel alone says them."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path, **environment)
    python, constraints = tmp_path / "venv" / "bin" / "python", ROOT / ".ci" / "constraints.txt"
    needed = [wheel, "mypy", "pandas-stubs"]
    run(python, "-m", "pip", "install", "--quiet", "-c", constraints, *needed, cwd=tmp_path, **environment)
    (tmp_path / "script.py").write_text(USER, encoding="utf-8")
    told = run(python, "-m", "mypy", "--strict", "script.py", cwd=tmp_path, **environment).stdout
    for kind in ("verdict.Verdict", "DataFrame", "shown.Figure", "dict[", "estimators.RuntimeRegressor"):
        assert kind in told, told
    assert "Success: no issues found" in told
