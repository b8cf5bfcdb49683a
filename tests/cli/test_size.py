"""`workprof size`: a trace in, sizes out on standard output, and nothing is kept."""

import csv
import io
import os
import subprocess
import sys

import pytest

from tests.memory.test_verdict import jobs

pytestmark = pytest.mark.slow


def test_sizes_are_those_of_the_home_and_none_is_made(workprof, home, tmp_path):
    path = tmp_path / "runs.csv"
    jobs(3).drop(columns="finished").to_csv(path, index=False)
    told = workprof("size", path, "--acceptable-kills", "1%")
    assert told.status == 0, told.err
    assert not list(home.iterdir())
    assert "Smaller requests save" in told.err
    assert workprof("ingest", path, "--name", "runs").status == 0
    kept = workprof("memory", "export", "runs", "--to", "csv", "-o", "-", "--acceptable-kills", "1%").out
    assert told.out == kept
    written = workprof("size", path, "--acceptable-kills", "1%", "-o", tmp_path / "sizes.csv")
    assert written.out.endswith(f"rows written to {tmp_path / 'sizes.csv'}\n")
    assert (tmp_path / "sizes.csv").read_text() == kept
    rows = list(csv.DictReader(io.StringIO(told.out)))
    assert {row["action"] for row in rows} >= {"lower"}
    piped = subprocess.run(
        [sys.executable, "-m", "workprof.cli", "size", "-", "--to", "slurm"],
        input=path.read_bytes(),
        capture_output=True,
        env=os.environ | {"WORKPROF_HOME": str(tmp_path / "none")},
        timeout=300,
        check=True,
    )
    assert b"function slurm_job_submit" in piped.stdout
    assert not (tmp_path / "none").exists()


def test_a_scope_is_sized_as_a_file_cut_by_hand(workprof, tmp_path):
    runs = jobs(4).drop(columns="finished")
    user, middle = runs["user"].mode()[0], runs["start_time_s"].median()
    day = int(middle // 86400)
    runs.to_csv(tmp_path / "runs.csv", index=False)
    inside = (runs["user"] == user) & (runs["start_time_s"] >= 86400 * day)
    assert 50 < inside.sum() < len(runs) // 2
    runs[inside].to_csv(tmp_path / "cut.csv", index=False)
    scoped = workprof("size", tmp_path / "runs.csv", "--only", f"user={user}", "--period", f"{day}..")
    cut = workprof("size", tmp_path / "cut.csv")
    assert scoped.status == cut.status == 0, scoped.err
    table, wanted = (list(csv.DictReader(io.StringIO(one.out))) for one in (scoped, cut))
    assert table and {row["user"] for row in table} == {user}
    assert {row["dataset"] for row in table} == {f"runs?user={user}&period={day}.."}
    for row in (*table, *wanted):
        del row["dataset"], row["dataset_hash"]
    assert table == wanted
    refused = workprof("size", tmp_path / "runs.csv", "--only", "user=nobody")
    assert (refused.status, refused.out) == (2, "")


def test_what_cannot_be_sized_ends_with_2_and_one_line(workprof, tmp_path):
    path = tmp_path / "runs.csv"
    jobs(3).drop(columns=["finished", "requested_memory_bytes"]).to_csv(path, index=False)
    for arguments, words in (
        (("size", path), "request"),
        (("size", path, "--to", "xml"), "--to is 'xml'"),
        (("size", tmp_path / "no.csv"), "no.csv"),
        (("size", path, "-o", tmp_path / "no" / "x.csv"), "no folder"),
    ):
        ended = workprof(*arguments)
        assert (ended.status, ended.out) == (2, "")
        assert words in ended.err
