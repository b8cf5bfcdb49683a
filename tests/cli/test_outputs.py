"""Where commands write: refused before the work in one line with status 2; whole afterwards, or nothing is left."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workprof.cli import console
from workprof.core.errors import DiskFull, SettingsError
from workprof.store.outputs import append, checked_output, whole, write_whole

pytestmark = pytest.mark.slow

JOBS = "process,task_name,duration_s,requested_memory_bytes,peak_memory_bytes\n" + "".join(
    f"align,t{i},{10 + i},{8e9},{1e9 + i * 1e7}\n" for i in range(60)
)
COMMANDS = {
    "export": ("export", "jobs", "-o", "{}.csv"),
    "report": ("report", "jobs", "--sections", "data", "-o", "{}.html"),
    "bundle": ("report", "jobs", "--sections", "data", "-o", "fine.html", "--bundle", "{}.zip"),
    "plan": ("memory", "export", "jobs", "--to", "json", "-o", "{}.json"),
    "pai": ("synth", "pai", "--rows", 100, "-o", "{}.parquet"),
    "benchmarks": ("synth", "benchmarks", "--repeat", 1, "-o", "{}.jsonl"),
    "demand": ("synth", "demand", "--days", 3, "-o", "{}.parquet"),
    "telemetry": ("synth", "telemetry", "--runs", 1, "-o", "{}.csv"),
    "nextflow": ("synth", "nextflow", "--samples", 2, "-o", "{}.txt"),
    "suite": ("nodes", "suite", "--benchmarks", "cpu-sysbench", "--seconds-per-benchmark", 1, "-o", "{}.jsonl"),
    "record": ("record", "--no-perf", "--quiet", 0, "-o", "{}.csv", "--", "true"),
    "usage": ("record", "--no-perf", "--quiet", 0, "-o", "fine.csv", "--usage", "{}.csv", "--", "true"),
}
TABLES = ("synth", "pai-tables", "--jobs", 5, "-o", "{}")
TYPED = ("export", "report", "bundle", "pai", "benchmarks", "telemetry", "record")
"""Commands whose files must have their suffix."""


@pytest.fixture(scope="module")
def loaded(run_workprof, home, tmp_path_factory):
    path = tmp_path_factory.mktemp("jobs") / "jobs.csv"
    path.write_text(JOBS, encoding="utf-8")
    assert run_workprof("ingest", path, "--format", "generic", home=home).status == 0


@pytest.fixture
def place(loaded, tmp_path, monkeypatch):
    """A folder that commands run in; `tree` of it must not change by what is refused."""
    folder = tmp_path / "place"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    return folder


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(ended, words):
    """Check that a command ended with one clear line."""
    assert ended.status == 2, ended.err
    assert ended.out == ""
    (line,) = [line for line in ended.err.splitlines() if line]
    assert line.startswith("workprof: ")
    assert words in line


def at(command, stem):
    return [str(word).format(stem) for word in command]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_folder_and_a_place_in_no_folder_are_refused(workprof, place, command):
    suffix = next(str(word) for word in command if "{}" in str(word)).format("")
    (place / f"folder{suffix}").mkdir()
    (place / "file").write_text("", encoding="utf-8")
    before = tree(place)
    refused(workprof(*at(command, "folder")), f"folder{suffix} cannot be written: it is a folder; name a file in it")
    refused(workprof(*at(command, "no/x")), "cannot be written: there is no folder no; make it first")
    refused(workprof(*at(command, "file/x")), "cannot be written: there is no folder file; make it first")
    assert tree(place) == before


@pytest.mark.parametrize("command", [COMMANDS[name] for name in TYPED], ids=TYPED)
def test_another_suffix_is_refused_where_the_suffix_matters(workprof, place, command):
    words = [str(word).replace("{}", "x") + (".odd" if "{}" in str(word) else "") for word in command]
    refused(workprof(*words), ".odd cannot be written: it does not end in .")
    assert tree(place) == []


def test_the_folder_of_the_raw_tables_is_no_file_and_lies_in_one_that_is_there(workprof, place):
    (place / "file").write_text("kept", encoding="utf-8")
    refused(workprof(*at(TABLES, "file")), "file cannot be written: it is no folder; give a folder")
    refused(workprof(*at(TABLES, "no/tables")), "there is no folder no; make it first")
    assert tree(place) == ["file"]
    assert workprof(*at(TABLES, "tables")).status == 0
    before = tree(place)
    assert len(before) == 15
    assert workprof(*at(TABLES, "tables")).status == 0  # over the ones that are there
    assert tree(place) == before


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # Python keeps a compiled file that was cut short, and never loads it again
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from workprof.cli import main
main(sys.argv[2:])
"""


def limited(most_bytes, *words, home):
    """Run a command that may make no file longer than so many bytes: what it then meets is a full disk."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(most_bytes), *map(str, words)],
        env=os.environ | {"WORKPROF_HOME": str(home)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("command", "most_bytes"),
    [
        (("synth", "pai", "--rows", 3000, "-o", "x.parquet"), 20_000),
        (("synth", "pai-tables", "--jobs", 200, "-o", "x"), 20_000),
        (("synth", "benchmarks", "--repeat", 20, "-o", "x.jsonl"), 20_000),
        (("synth", "telemetry", "--runs", 5, "-o", "x.csv"), 20_000),
    ],
    ids=lambda one: one[1] if isinstance(one, tuple) else "",
)
def test_a_full_disk_is_told_in_one_line_and_nothing_is_left(place, home, command, most_bytes):
    ended = limited(most_bytes, *command, home=home)
    assert ended.returncode == 2, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"workprof: {command[-1]} was not written: no room on the disk of ")
    assert tree(place) == []


def test_a_recording_for_which_there_is_no_room_says_where_the_beginning_is(place, home):
    words = ("record", "--no-perf", "--quiet", 0, "--interval", 0.1, "--seconds", 3, "-o", "x.csv")
    ended = limited(6000, *words, home=home)
    assert ended.returncode == 2, ended.stderr
    assert "was not written; what was recorded before is in x.csv.partial: no room on the disk of" in ended.stderr
    assert tree(place) == ["x.csv.partial"]


def test_an_answer_for_which_there_is_no_room_is_told(place, home):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "workprof.cli", "datasets", "--json"],
            env=os.environ | {"WORKPROF_HOME": str(home)}, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300,
            check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "no room for what was to be written" in done.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("synth", "pai", "--rows", 999_999_999_999), "rows is 999,999,999,999; give at most 100,000,000"),
        (("synth", "pai-tables", "--jobs", 999_999_999_999), "jobs is 999,999,999,999; give at most 10,000,000"),
        (("synth", "benchmarks", "--repeat", 10**9), "3 nodes and repeat 1,000,000,000 are 18,000,000,000 runs"),
        (("synth", "benchmarks", "--nodes", 10**6), "nodes is 1,000,000; give at most 1,000"),
        (("synth", "telemetry", "--seconds", 10**9), "are 60,000,000,000 rows; give at most 1,000,000"),
        (("synth", "telemetry", "--runs", 10**9), "are 180,000,000,000 rows; give at most 1,000,000"),
    ],
)
def test_absurd_sizes_are_refused_at_once(workprof, place, command, words):
    suffix = {"pai": ".parquet", "pai-tables": "", "benchmarks": ".jsonl", "telemetry": ".csv"}[command[1]]
    refused(workprof(*command, "-o", f"x{suffix}"), words)
    assert tree(place) == []


def test_more_than_the_disk_holds_is_refused_at_once(tmp_path):
    """Of a disk that is smaller than the largest size; here a bound of its own stands for it."""
    from workprof.synthetic.report import check_room

    with pytest.raises(DiskFull, match=r"x was not written: 9 rows take about .*: no room on the disk of .* free\)"):
        check_room(tmp_path / "x", "9 rows", 1e18)
    check_room(tmp_path / "x", "9 rows", 1.0)


def test_what_is_no_regular_file_or_protected_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "ring.csv").symlink_to("ring.csv")
    for path, words in (
        (tmp_path / "pipe.csv", "it is no regular file"),
        (Path("/dev/null"), "it is no regular file"),
        (Path("/proc/x.csv"), r"cannot be written \("),
        (tmp_path / ("x" * 300), r"File name too long"),
    ):
        with pytest.raises(SettingsError, match=words):
            checked_output(path)
    assert checked_output(tmp_path / "new.csv", (".csv",)) == tmp_path / "new.csv"
    assert checked_output(tmp_path / "NEW.CSV", (".csv",)) == tmp_path / "NEW.CSV"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe.csv", "ring.csv"]


def test_an_error_of_any_kind_leaves_what_was_there(tmp_path):
    write_whole(tmp_path / "a", b"old")
    for error in (KeyboardInterrupt, ValueError):
        with pytest.raises(error), whole(tmp_path, tmp_path / "a") as aside:
            (aside / "a").write_bytes(b"half")
            raise error
    with pytest.raises(ValueError, match="again"), whole(tmp_path / "new", tmp_path / "new") as aside:
        raise ValueError("again")
    assert tree(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_lines_are_added_whole_under_one_header(tmp_path):
    for number in range(3):
        append(tmp_path / "lines", f"{number}\n", header="n\n")
    assert (tmp_path / "lines").read_text() == "n\n0\n1\n2\n"
    code = (
        "import resource, sys, pathlib\n"
        "from workprof.store.outputs import append\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))\n"
        "from workprof.core.errors import DiskFull\n"
        "for name in ('lines', 'new'):\n"
        "    try: append(pathlib.Path(name), 'x' * 50_000, note='the rest is there')\n"
        "    except DiskFull as error: print(error)\n"
    )
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": root}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("was not written; the rest is there: no room on the disk of") == 2
    assert (tmp_path / "lines").read_text() == "n\n0\n1\n2\n"
    assert tree(tmp_path) == ["lines"]


def test_what_is_written_is_there(workprof, place):
    for name in ("export", "plan", "telemetry", "benchmarks"):
        ended = workprof(*at(COMMANDS[name], name), "--json")
        assert ended.status == 0, ended.err
        assert Path(ended.json["file"]).stat().st_size
    assert json.loads((place / "plan.json").read_text(encoding="utf-8"))
    assert tree(place) == ["benchmarks.jsonl", "export.csv", "plan.json", "telemetry.csv", "telemetry.truth.json"]


def test_a_text_needs_no_document(capsys):
    made = []
    console.emit_of((), lambda: made.append("made"), False, lambda: "text")
    assert (made, capsys.readouterr().out) == ([], "text\n")
    console.emit_of((), lambda: ["made"], True, lambda: made.append("text") or "")
    assert (made, capsys.readouterr().out) == ([], '["made"]\n')
