"""Tables of commands as files, standard output, names that complete, and help that imports nothing."""

import io
import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from tests.command_line import run_here, run_process
from workprof.cli.main import MODULES, TITLES, WITHOUT_TABLE, registered

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def loaded(sample, home):
    assert run_here("profiles", "hopkins", "small", home=home).status == 0
    return sample


def table(text):
    return pd.read_csv(io.StringIO(text))


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "words",
    [
        ("datasets",),
        ("runs",),
        ("durations", "small", "--by", "user"),
        ("memory", "assess", "small"),
        ("memory", "ledger", "small"),
        ("memory", "decisions", "small"),
        ("classify", "predict", "small", "--set", "task_name=worker"),
        ("profiles", "fit", "small"),
    ],
    ids=" ".join,
)
def test_a_table_is_printed_and_written_in_every_kind(loaded, workprof, home, tmp_path, words):
    if words[0] == "memory":
        assert workprof("memory", "decide", "small", "task_name=worker", "--all", "--note", "x").status == 0
    printed = workprof(*words, "--csv")
    assert printed.status == 0, printed.err
    rows = table(printed.out)
    assert len(rows)
    assert workprof(*words, "--csv", "-o", "-").out == printed.out
    for ending in ("csv", "parquet", "md", "json"):
        path = tmp_path / f"x.{ending}"
        told = workprof(*words, "-o", path, "--json")
        assert told.status == 0, told.err
        assert (told.json["file"], told.json["rows"]) == (str(path), len(rows))
    assert len(pd.read_parquet(tmp_path / "x.parquet")) == len(rows)
    assert (tmp_path / "x.csv").read_text() == printed.out
    assert "| ---" in (tmp_path / "x.md").read_text()
    assert workprof(*words, "--md").out == (tmp_path / "x.md").read_text()
    untimed = workprof(*words, "--json").json
    written = json.loads((tmp_path / "x.json").read_text())
    assert type(written) is type(untimed)
    if isinstance(untimed, dict):
        assert written.keys() == untimed.keys()


def test_what_was_asked_once_is_forgotten_by_the_next_command(loaded, workprof, tmp_path):
    assert workprof("datasets", "-o", tmp_path / "x.csv").status == 0
    assert workprof("datasets").out.startswith("dataset ")
    assert workprof("datasets", "-o", "-").out == workprof("datasets").out
    assert workprof("datasets", "-o", "-", "--json").json == workprof("datasets", "--json").json


def test_a_table_is_chosen_by_name(loaded, workprof):
    names = [name for name, value in workprof("memory", "assess", "small", "--json").json.items() if _rows(value)]
    for name in ("tasks", "groups"):
        assert name in names
    first, other = (workprof("memory", "assess", "small", "--csv", *more).out for more in ((), ("--table", "groups")))
    assert table(first).columns.tolist() != table(other).columns.tolist()
    for wrong, says in (
        (("--csv", "--table", "x"), "choose from tasks"),
        (("--table", "tasks"), "changes nothing here"),
        (("--md", "--table", "tasks"), "changes nothing for .md"),
        (("--csv", "--parquet"), "either --csv or --parquet"),
        (("--parquet", "--json"), "both print on stdout"),
    ):
        refused = workprof("memory", "assess", "small", *wrong)
        assert (refused.status, refused.out) == (2, "")
        assert says in refused.err


def _rows(value):
    return isinstance(value, list) and value and isinstance(value[0], dict)


def test_parquet_goes_through_a_pipe(loaded, home):
    command = [sys.executable, "-m", "workprof.cli", "memory", "plan", "small", "--parquet"]
    done = subprocess.run(
        command, env=os.environ | {"WORKPROF_HOME": str(home)}, capture_output=True, timeout=300, check=True
    )
    assert {"action", "size_gb"} <= set(pd.read_parquet(io.BytesIO(done.stdout)).columns)


def test_every_output_takes_a_dash_for_standard_output(loaded, workprof, home, tmp_path):
    assert workprof("export", "small", "-o", tmp_path / "x.csv").status == 0
    printed = run_process("export", "small", "-o", "-", home=home)
    assert printed.out == (tmp_path / "x.csv").read_text()
    assert workprof("memory", "ledger", "small", "--to", "csv", "-o", tmp_path / "l.csv").status == 0
    assert workprof("memory", "ledger", "small", "--to", "csv", "-o", "-").out == (tmp_path / "l.csv").read_text()
    report = workprof("report", "small", "--sections", "data", "-o", "-")
    assert report.out.startswith("<!doctype html>")
    assert report.out.rstrip().endswith("</html>")
    refused = workprof("export", "small", "-o", "-", "--json")
    assert (refused.status, refused.out) == (2, "")


def completions(words, home, *before):
    line = ["workprof", *before, *words]
    done = subprocess.run(
        [sys.executable, "-c", "from workprof.cli.main import main; main()"],
        env=os.environ
        | {"WORKPROF_HOME": str(home)}
        | {"_WORKPROF_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(line), "COMP_CWORD": str(len(line) - 1)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.stdout.split()


def test_names_of_datasets_complete_in_a_shell(loaded, home, tmp_path):
    assert completions(("memory", "plan", "sm"), home) == ["small"]
    assert completions(("export", "sm"), tmp_path / "none", "--home", str(home)) == ["small"]
    assert completions(("datasets", "x"), tmp_path / "none") == []
    assert not (tmp_path / "none").exists()


def test_why_and_bins_name_the_tasks_that_they_know_when_none_is_given(loaded, workprof):
    refused = workprof("memory", "why", "small")
    assert (refused.status, refused.out) == (2, "")
    task = workprof("memory", "assess", "small", "--json").json["tasks"][0]["task"]
    assert f"give --task, such as --task {task}" in refused.err
    assert workprof("memory", "why", "small", "--task", task).status == 0
    assert f"note: of all; one alone: --task {task}" in workprof("memory", "bins", "small").err
    assert "one alone" not in workprof("memory", "bins", "small", "--task", task).err


def test_the_help_imports_no_command_and_says_what_each_does(home):
    words = "import sys; from workprof.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    done = subprocess.run(
        [sys.executable, "-c", f"{words}\nprint([one for one in sys.modules if one in ('pandas', 'duckdb', 'numpy')])"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.endswith("[]\n")
    for name, title in TITLES.items():
        assert f"  {name}" in done.stdout
        assert title in " ".join(done.stdout.split())
    assert set(TITLES) <= set(MODULES)


@pytest.mark.parametrize("name", TITLES)
def test_what_the_help_says_begins_as_the_commands_own(name):
    import typer

    own = typer.main.get_group(registered(MODULES[name])).commands[name].help
    assert _words(TITLES[name])[:3] == _words(own or "")[:3] or set(_words(TITLES[name])) & set(_words(own or ""))


def _words(text):
    return text.lower().replace(",", " ").replace(":", " ").replace(".", " ").split()


def test_commands_without_a_table_are_there():
    for path in WITHOUT_TABLE:
        name, *rest = path.split()
        assert name in MODULES
        if rest:
            group = _group(name)
            assert rest[0] in group


def _group(name):
    import typer

    return typer.main.get_group(registered(MODULES[name])).commands[name].commands


def test_durations_need_no_profiles(tmp_path):
    pd.DataFrame({"task_name": ["a", "b"] * 10, "duration_s": range(1, 21)}).to_csv(tmp_path / "r.csv", index=False)
    assert run_here("ingest", tmp_path / "r.csv", "--name", "r", home=tmp_path / "home").status == 0
    told = run_here("durations", "r", home=tmp_path / "home")
    assert told.status == 0
    assert "there are no profiles, so the durations are" in told.err
