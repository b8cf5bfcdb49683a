"""`memory decide`, `memory decisions`: kept by the name of the dataset, and followed by plan, exports and size."""

import csv
import io
import json

import duckdb
import pytest

from tests.command_line import run_here
from tests.memory.test_verdict import jobs
from workprof import Workbench, from_environment
from workprof.answers.decisions import EVERY_ROW
from workprof.store.home import DATABASE

pytestmark = pytest.mark.slow


@pytest.fixture
def workprof(tmp_path):
    table = tmp_path / "runs.parquet"
    jobs(3).drop(columns="finished").to_parquet(table)

    def run(*arguments, ends=0):
        found = run_here(*arguments, home=tmp_path / "home")
        assert found.status == ends, found.err
        return found

    run("ingest", table, "--name", "runs")
    return run


def memory(told):
    return [row for row in told["rows"] if row["resource"] == "memory"]


def exported(workprof, to="csv"):
    return workprof("memory", "export", "runs", "--to", to, "-o", "-").out


def csv_keys(text):
    return {(row["user"], row["task_name"]) for row in csv.DictReader(io.StringIO(text)) if row["resource"] == "memory"}


def test_what_is_decided_is_followed_by_plan_exports_and_size(workprof, tmp_path):
    beside = ("replay", "runs", "--policies", "preset"), ("schedule", "runs", "--memory", "64GB", "--cpus", "8")
    before = workprof("memory", "plan", "runs", "--json").json
    assert not [asked for asked in beside if EVERY_ROW in workprof("memory", *asked).err]
    first, second = memory(before)[:2]
    told = workprof("memory", "decide", "runs", first["row_key"], "--decline", "--note", "peak, soon", "--by", "ann")
    assert told.out.startswith(f"declined: {first['row_key']}\n")
    parts = f"user={second['user']},task_name={second['task_name']}"
    accepted = workprof("memory", "decide", "runs", parts, "--accept", "--json").json
    assert [one["row_key"] for one in accepted["decided"]] == [second["row_key"]]
    after = workprof("memory", "plan", "runs", "--json").json
    assert accepted["reason"] == after["reason"]
    saved = after["decided"]["if_all"]["saved_gb_h"] - first["saved_gb_h"]
    assert after["decided"]["if_all"]["saved_share"] == before["recommended"]["saved_share"]
    assert after["recommended"]["saved_gb_h"] == pytest.approx(saved)
    assert after["decided"]["accepted"]["saved_gb_h"] == pytest.approx(second["saved_gb_h"])
    assert after["decided"]["rows"] == {"accepted": 1, "declined": 1, "never_touch": 0, "noted": 0}
    row = memory(after)[0]
    assert (row["action"], row["size_gb"], row["saved_gb_h"]) == ("keep", row["request_gb"], 0)
    assert {name: row["decision"][name] for name in ("state", "note", "by")} == {
        "state": "declined",
        "note": "peak, soon",
        "by": "ann",
    }
    assert row["would"]["size"] == first["size_gb"]
    assert "declined by ann" in row["why"]
    assert "1 row is left out by decision" in after["reason"]
    assert [asked for asked in beside if EVERY_ROW in workprof("memory", *asked).err] == [*beside]

    text = exported(workprof)
    assert csv_keys(text) == {(one["user"], one["task_name"]) for one in memory(before)[1:]}
    (marked,) = [one for one in csv.DictReader(io.StringIO(text)) if one["decision"]]
    assert (marked["user"], marked["task_name"], marked["decision"]) == (*parts_of(second), "accepted")
    summary = workprof("memory", "export", "runs", "--to", "csv", "-o", tmp_path / "sizes.csv", "--json")
    assert summary.json["left_out"] == 1
    assert "Left out by decision: 1 row (1 declined, 0 never touched)." in summary.err

    kept = tmp_path / "decisions.json"
    kept.write_text(workprof("memory", "decisions", "runs", "--json").out)
    sized = workprof("size", tmp_path / "runs.parquet", "--decisions", kept)
    assert csv_keys(sized.out) == csv_keys(text)
    assert "Left out by decision" in sized.err


def parts_of(row):
    return row["user"], row["task_name"]


def test_decisions_outlive_a_removed_dataset_follow_a_rename_and_say_which_row_is_gone(workprof, tmp_path):
    first, second = memory(workprof("memory", "plan", "runs", "--json").json)[:2]
    workprof("memory", "decide", "runs", first["row_key"], "--never")
    workprof("memory", "decide", "runs", second["row_key"], "--accept")
    assert "2 decisions on its requests stay" in workprof("remove", "runs", "--yes").err
    later = jobs(4)
    later = later[(later["user"] != second["user"]) | (later["task_name"] != second["task_name"])]
    later.drop(columns="finished").to_parquet(tmp_path / "later.parquet")
    workprof("ingest", tmp_path / "later.parquet", "--name", "runs")
    told = workprof("memory", "plan", "runs", "--json").json
    (row,) = [one for one in memory(told) if one["row_key"] == first["row_key"]]
    assert (row["decision"]["state"], row["action"]) == ("never touch", "keep")
    assert [one["row_key"] for one in told["decided"]["missing"]] == [second["row_key"]]
    listed = workprof("memory", "decisions", "runs", "--json").json["decisions"]
    assert {one["row_key"]: one["there"] for one in listed} == {first["row_key"]: "yes", second["row_key"]: ""}
    workprof("rename", "runs", "renamed")
    assert workprof("memory", "plan", "renamed", "--json").json["decided"] == told["decided"]
    workprof("memory", "decide", "renamed", second["row_key"], "--clear")
    workprof("memory", "decide", "renamed", first["row_key"], "--clear")
    cleared = workprof("memory", "plan", "renamed", "--json").json
    assert cleared["decided"]["missing"] == []
    assert cleared["recommended"]["saved_share"] == cleared["decided"]["if_all"]["saved_share"]
    assert "Nothing has been decided" in workprof("memory", "decisions", "renamed").out


def test_files_for_slurm_and_nextflow_leave_a_row_as_it_is(workprof):
    first = memory(workprof("memory", "plan", "runs", "--json").json)[0]
    workprof("memory", "decide", "runs", f"task_name={first['task_name']}", "--never", "--all")
    lua = exported(workprof, "slurm")
    key = f'["user_name={first["user"]}\\010name={first["task_name"]}\\010'
    left = [line for line in lua.splitlines() if line.strip().startswith(key)]
    assert left and all('action = "keep"' in line for line in left)
    assert f"withName: '{first['task_name']}'" not in exported(workprof, "nextflow")
    assert "Left out by decision: 4 rows" in lua


def test_a_decision_that_cannot_be_read_is_told_and_removed_and_the_others_stay(workprof, tmp_path, monkeypatch):
    first, second = memory(workprof("memory", "plan", "runs", "--json").json)[:2]
    workprof("memory", "decide", "runs", first["row_key"], "--decline")
    with duckdb.connect(str(tmp_path / "home" / DATABASE)) as connection:
        connection.execute("INSERT INTO decisions VALUES ('runs', ?, '{')", [second["row_key"]])
    told = workprof("memory", "plan", "runs", "--json").json
    assert [bool(row["decision"]) for row in memory(told)[:2]] == [True, False]
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    with Workbench(from_environment()) as workbench:
        (odd,) = workbench.unreadable("runs")
        assert (odd.decision, second["row_key"] in odd.what) == (second["row_key"], True)
        workbench.remove_unreadable("runs")
        assert workbench.unreadable("runs") == ()
        assert [one.row_key for one in workbench.decisions("runs")] == [first["row_key"]]


def test_nonsense_ends_with_2_and_says_what_to_give(workprof, tmp_path):
    key = memory(workprof("memory", "plan", "runs", "--json").json)[0]["row_key"]
    for arguments, words in (
        ((key,), "--accept, --decline, --never, --note TEXT or --clear"),
        ((key, "--accept", "--never"), "give one of"),
        ((key, "--clear"), "no row is"),
        (("user=u1", "--accept"), "fits 3 rows"),
        (("u1", "--accept"), "names no row"),
        (("user=a,b", "--accept"), "%2C for a comma within a value"),
    ):
        assert words in workprof("memory", "decide", "runs", *arguments, ends=2).err
    odd = tmp_path / "odd.json"
    for content, words in (
        ("[", "it is no JSON in UTF-8; write it with"),
        ("", "it is no JSON in UTF-8; write it with"),
        ("{}", "holds no decisions"),
        ('[{"state": "x"}]', "state 'x'"),
    ):
        odd.write_text(content)
        assert words in workprof("size", tmp_path / "runs.parquet", "--decisions", odd, ends=2).err
    odd.write_text(json.dumps([{"state": "accepted", "row_key": "user=u1"}]))
    assert "entry 1 lacks one of" in workprof("size", tmp_path / "runs.parquet", "--decisions", odd, ends=2).err
