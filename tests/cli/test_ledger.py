"""`workprof memory ledger`: its JSON is the library's, a time limit is mapped at ingest, files are written as asked."""

import json

import pytest

from workprof.answers.ledger import ledger_answer
from workprof.core.answer import to_json
from workprof.core.settings import from_environment
from workprof.memory.ledger_settings import LedgerPrices, LedgerSettings, Thresholds
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow


def timeless(document):
    return {name: value for name, value in document.items() if name != "seconds"}


def test_its_json_is_that_of_the_library(slurm, workprof, home, monkeypatch):
    told = workprof(
        *("memory", "ledger", "slurm", "--by", "task", "--memory-share", "0.4", "--price-gpu-h", "2.5"),
        *("--cores-per-node", "16", "--json"),
    )
    assert told.status == 0, told.err
    monkeypatch.setenv("WORKPROF_HOME", str(home))
    settings = LedgerSettings("task", rules=Thresholds(0.4, node_cores=16.0), prices=LedgerPrices(per_gpu_h=2.5))
    with Workbench(from_environment()) as bench:
        expected = to_json(ledger_answer(bench.ledger("slurm", settings)))
    assert timeless(told.json) == timeless(json.loads(json.dumps(expected)))
    assert {"totals", "rows", "findings"} <= told.json.keys()
    assert all({"rule", "evidence", "instead", "saved"} <= one.keys() for one in told.json["findings"])
    assert "runs did not finish well" in told.err


def test_the_filter_of_a_row_and_of_a_finding_are_options_that_list_their_runs(slurm, workprof):
    told = workprof("memory", "ledger", "slurm", "--json").json
    for one, wanted in (
        (told["rows"][0], told["rows"][0]["runs"]),
        *((finding, finding["evidence"]["runs"]) for finding in told["findings"][:4]),
    ):
        words = [word for name, value in one["filter"].items() for word in (f"--{name}", value)]
        runs = workprof("memory", "ledger-runs", "slurm", *words, "--most", 100_000, "--json")
        assert runs.status == 0, runs.err
        assert runs.json["n_runs"] == len(runs.json["runs"]) == wanted


def test_its_text_begins_with_the_answer_and_tells_what_was_not_judged(slurm, workprof):
    told = workprof("memory", "ledger", "slurm")
    assert "of requested memory is never used" in told.out.splitlines()[0]
    assert "Requested (GB·h)" in told.out
    assert "total" in told.out
    assert "note: Not judged is " in told.err
    runs = workprof("memory", "ledger-runs", "slurm", "--cause", "out of memory").out
    assert " runs held " in runs


@pytest.mark.parametrize("to", ["csv", "findings", "json", "mail"])
def test_it_is_written_to_a_file(slurm, workprof, tmp_path, to):
    file = tmp_path / "ledger.txt"
    told = workprof("memory", "ledger", "slurm", "--to", to, "-o", file, "--json")
    assert told.status == 0, told.err
    assert told.json["file"] == str(file)
    assert "ann" in file.read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--to", "csv"), "--to and -o together"),
        (("--to", "x", "-o", "f"), "choose from csv, findings, json, mail"),
        (("--by", "x"), "choose from user, group"),
        (("--by", "week", "--to", "mail", "-o", "f"), "--by user"),
        (("--memory-share", "2"), "at most 1"),
    ],
)
def test_what_it_cannot_do_is_said(slurm, workprof, words, reason, tmp_path):
    told = workprof("memory", "ledger", "slurm", *(tmp_path / "f" if word == "f" else word for word in words))
    assert told.status == 2
    assert reason in told.err


def test_rows_by_profile_rest_on_a_clustering_that_can_be_chosen(sample, workprof):
    usual = workprof("memory", "ledger", "small", "--by", "profile", "--json").json
    names = {row["name"] for row in usual["rows"]}
    assert "profile 0" in names
    fit = ("--fit", "min-cluster-size=300")
    fewer = workprof("memory", "ledger", "small", "--by", "profile", *fit, "--json").json
    assert len(fewer["rows"]) < len(usual["rows"])
    assert sum(row["runs"] for row in fewer["rows"]) == sum(row["runs"] for row in usual["rows"])
    runs = workprof("memory", "ledger-runs", "small", "--by", "profile", *fit, "--row", "profile 0", "--json").json
    assert runs["n_runs"] == next(row["runs"] for row in fewer["rows"] if row["name"] == "profile 0")
