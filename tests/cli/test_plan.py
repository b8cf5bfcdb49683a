"""`memory plan`: the verdict in a shell and as a document."""

import io
import json
import math

import pandas as pd
import pytest

from tests.command_line import run_here
from tests.formats.one_of_each import FILES
from tests.memory.test_verdict import jobs
from workprof.formats import not_known

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workprof(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    table = home / "runs.parquet"
    jobs(3).drop(columns="finished").to_parquet(table)

    def run(*arguments):
        return run_here(*arguments, home=home)

    assert run("ingest", table, "--name", "runs").status == 0
    return run


def test_the_document_has_what_the_contract_says_and_adds_up(workprof):
    found = workprof("memory", "plan", "runs", "--json").json
    assert {"recommended", "applied", "today", "interval", "origins", "rows", "what_if"} <= found.keys()
    assert {"sizes", "reason", "baselines", "frontier"} <= found.keys()  # of the release before
    memory = [row for row in found["rows"] if row["resource"] == "memory"]
    saved = found["recommended"]["saved_share"] * found["today"]["booked_gb_h"]
    assert math.isclose(sum(row["saved_gb_h"] for row in memory), saved, rel_tol=1e-9)
    assert found["recommended"]["n_runs"] == found["today"]["n_runs"] == 300
    assert found["today"]["trace"]["n_runs"] == 600
    assert {"user", "task_name", "action", "request_gb", "size_gb", "retry_gb", "kills_per_1000", "why"} <= memory[
        0
    ].keys()
    assert len(found["origins"]) == 4


def test_both_ways_to_apply_sizes_name_the_other(workprof):
    table = workprof("memory", "plan", "runs", "--json").json
    follow = workprof("memory", "plan", "runs", "--applied", "submission", "--json").json
    assert table["otherwise"]["saved_share"] == pytest.approx(follow["recommended"]["saved_share"])
    assert follow["otherwise"]["saved_share"] == pytest.approx(table["recommended"]["saved_share"])


def test_what_if_says_who_breaks_and_counts_nodes(workprof):
    found = workprof("memory", "plan", "runs", "--times", "0.2", "--node-size", "64GB", "--json").json["what_if"]
    assert found["kills"] == sum(row["kills"] for row in found["broken"]) > 0
    assert found["nodes"]["size_gb"] == 64
    assert found["nodes"]["freed"] == found["nodes"]["before_peak"] - found["nodes"]["peak"]
    capped = workprof("memory", "plan", "runs", "--what-if-cap", "1GB", "--json").json["what_if"]
    assert capped["never_run"] > 0


def test_the_text_leads_with_one_sentence_and_refuses_nonsense(workprof):
    found = workprof("memory", "plan", "runs")
    first = found.out.splitlines()[0]
    assert first.startswith("Smaller requests save")
    assert len(first.split()) <= 22
    assert "largest of" in found.out
    refused = workprof("memory", "plan", "runs", "--acceptable-kills", "many")
    assert refused.status == 2
    assert "such as 0.5%" in refused.err


@pytest.mark.parametrize("kind", ["sacct", "swf"])
def test_the_plan_says_what_the_format_does_not(tmp_path, kind):
    given = FILES[kind]
    path = tmp_path / given.name
    path.write_bytes(given.content)
    loaded = run_here("ingest", path, "--json", home=tmp_path / "home").json
    notes = run_here("memory", "plan", loaded["dataset"], "--json", home=tmp_path / "home").json["notes"]
    assert not_known(loaded["format"]) in notes


def test_what_has_no_use_says_why_where_it_cannot_be_sized(tmp_path):
    path = tmp_path / "pods.json"
    path.write_bytes(FILES["kubectl"].content)
    loaded = run_here("ingest", path, "--json", home=tmp_path / "home").json
    refused = run_here("memory", "plan", loaded["dataset"], home=tmp_path / "home")
    assert refused.status == 2
    assert "peak_memory_bytes" in refused.err and not_known("kubernetes") in " ".join(refused.err.split())
    path = tmp_path / "bare.txt"
    path.write_text(
        "JobID|JobName|User|State|Submit|Start|End|Elapsed|ReqMem\n"
        "7|sort|ann|COMPLETED|2026-01-02T10:00:00|2026-01-02T10:00:00|2026-01-02T10:30:00|00:30:00|4G\n"
    )
    refused = run_here("size", path, home=tmp_path / "home")
    assert refused.status == 2 and "tell it as MaxRSS: export it, too" in " ".join(refused.err.split())


def test_the_answer_goes_to_a_file_or_to_stdout(workprof, tmp_path):
    told = workprof("memory", "plan", "runs", "--json").json
    printed = workprof("memory", "plan", "runs", "--csv")
    table = pd.read_csv(io.StringIO(printed.out))
    assert table["saved_gb_h"].tolist() == pytest.approx([row["saved_gb_h"] for row in told["rows"][: len(table)]])
    path = tmp_path / "plan.csv"
    answer = workprof("memory", "plan", "runs", "-o", path, "--json").json
    assert (answer["file"], answer["rows"], answer.keys() >= {"seconds"}) == (str(path), len(table), True)
    assert path.read_text() == printed.out
    words = workprof("memory", "plan", "runs", "--md").out
    assert words.replace("\\", "").startswith(f"**{told['sentence']}**")
    assert "| --: |" in words
    workprof("memory", "plan", "runs", "-o", tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["recommended"] == told["recommended"]
    for wrong, says in (
        (("--csv", "--md"), "either --csv or --md"),
        (("-o", tmp_path / "plan.xyz"), "neither .csv, .md, .parquet nor .json"),
        (("--csv", "--json"), "both print on stdout"),
        (("--csv", "-o", "absent/plan.csv"), "no folder absent"),
    ):
        refused = workprof("memory", "plan", "runs", *wrong)
        assert (refused.status, refused.out) == (2, "")
        assert says in refused.err


def test_options_of_the_release_before_pass_with_a_note(workprof):
    now = workprof("memory", "plan", "runs", "--what-if-cap", "2GB", "--node-size", "64GB", "--json").json
    former = workprof("memory", "plan", "runs", "--cap", "2GB", "--node", "64GB", "--by", "user", "--json")
    assert former.json["what_if"] == now["what_if"]
    assert former.json["rows"] == now["rows"]
    assert "note: --by goes with the next release: rows are by the finest key" in former.err
    assert "note: --cap goes with the next release: give --what-if-cap" in former.err
