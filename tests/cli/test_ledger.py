"""`workprof memory ledger`: its JSON is the library's, a time limit is mapped at ingest, files are written as asked."""

import pytest

pytestmark = pytest.mark.slow


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
        (("--by", "week", "--to", "mail", "-o", "f"), "--by user"),
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


def test_json_and_text_call_profiles_alike(sample, workprof):
    named = workprof("profiles", "fit", "small", "--json").json["profiles"]
    names = {f"profile {one['profile']}": one["name"] for one in named} | {"no profile": "Unclustered"}
    for command in ("ledger", "over-time"):
        told = workprof("memory", command, "small", "--by", "profile", "--json").json
        text = workprof("memory", command, "small", "--by", "profile").out
        assert told["sentence"].split(" ", 3)[:3] == text.split(" ", 3)[:3]
        assert any(name in told["sentence"] for name in names.values()), told["sentence"]
        assert not any(f"{word} " in told["sentence"] for word in names)
    runs = workprof("memory", "ledger-runs", "small", "--by", "profile", "--row", "profile 0")
    assert names["profile 0"][:20] in runs.out
    listed = workprof("memory", "ledger-runs", "small", "--by", "profile", "--row", "profile 0", "--json").json
    assert {one["profile"] for one in listed["runs"]} == {"profile 0"}
