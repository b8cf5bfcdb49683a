"""The recipes of the README run as they stand, and those of the library and the shell give the same sizes."""

import contextlib
import csv
import io
import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import run_here
from tests.memory.test_verdict import jobs

README = Path(__file__).resolve().parents[2] / "README.md"

pytestmark = pytest.mark.slow


def recipes():
    """Return the blocks of the README's chapter: one of Python, then those of a shell."""
    chapter = README.read_text(encoding="utf-8").partition("## Three recipes")[2].partition("\n## ")[0]
    return [block.removeprefix("python\n") for block in re.findall(r"```(.*?)```", chapter, re.DOTALL)]


def test_the_recipes_run_and_give_the_same_sizes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = jobs(1).drop(columns="finished")
    table["job_name"] = [f"j{at}" for at in range(len(table))]
    table["cpu_usage_percent"] = table["peak_memory_bytes"] / 1e8
    table.to_parquet("trace.parquet")
    python, sizes, profiles = recipes()
    held, printed = {}, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(python, "README.md", "exec"), held)
    assert "Smaller requests save" in printed.getvalue()
    for line in sizes.strip().splitlines():
        words = ["trace" if word == "NAME" else word for word in shlex.split(line)]
        done = run_here(*words[1:], home=tmp_path / "home")
        assert done.status == 0, (line, done.err)
    told = list(csv.DictReader(io.StringIO(Path("sizes.csv").read_text(encoding="utf-8"))))
    kept = held["found"].to_frame()
    assert [(row["user"], row["task_name"], row["action"]) for row in told] == list(
        kept[["user", "task_name", "action"]].itertuples(index=False, name=None)
    )
    assert [int(row["size_bytes"]) for row in told] == [round(size * 1e9) for size in kept["size_gb"]]
    selectors = re.findall(r"withName: '(\w+)'", Path("memory.config").read_text(encoding="utf-8"))
    assert set(selectors) <= {"t0", "t1", "t2"} != set()
    assert "profiles fit" in profiles
