"""`workprof memory over-time` and its runs: JSON, text, and the cell that its runs make."""

import pytest

pytestmark = pytest.mark.slow


def test_the_sums_of_the_bins_are_the_ledgers(slurm, workprof):
    told = workprof("memory", "over-time", "slurm", "--by", "task", "--bin", "day", "--json")
    assert told.status == 0, told.err
    found = told.json
    ledger = workprof("memory", "ledger", "slurm", "--by", "task", "--json").json
    assert found["bin_seconds"] == 86_400
    assert found["unused_gb_h"] == pytest.approx(ledger["totals"]["wasted_gb_h"])
    assert sum(one["unused_gb_h"] for one in found["bins"]) == pytest.approx(found["unused_gb_h"])
    by_row = {row["task"]: sum(row["unused_gb_h"]) for row in found["rows"]}
    wasted = {row["name"]: row["wasted_gb_h"] for row in ledger["rows"]}
    assert by_row == pytest.approx(wasted)


def test_a_cell_opens_the_runs_that_make_it(slurm, workprof):
    found = workprof("memory", "over-time", "slurm", "--by", "user", "--json").json
    row = found["rows"][0]
    at = max(range(len(row["unused_gb_h"])), key=row["unused_gb_h"].__getitem__)
    words = ("--by", "user", "--row", row["user"], "--at", at, "--most", 100_000)
    told = workprof("memory", "over-time-runs", "slurm", *words, "--json")
    assert told.status == 0, told.err
    assert told.json["n_runs"] == len(told.json["runs"]) == row["n_runs"][at]
    assert told.json["unused_gb_h"] == pytest.approx(row["unused_gb_h"][at])
    assert {one["user"] for one in told.json["runs"]} == {row["user"]}
    text = workprof("memory", "over-time-runs", "slurm", *words[:-2], "--most", 3)
    assert len(text.out.splitlines()) == 2 + 1 + 3
    assert text.out.startswith(f"{row['n_runs'][at]:,} runs: ")


def test_its_text_leads_with_the_answer(slurm, workprof):
    told = workprof("memory", "over-time", "slurm", "--by", "task", "--bin", "week")
    assert told.status == 0, told.err
    first = told.out.splitlines()[0]
    assert "of requested memory is never used" in first
    assert "GB·h" in first
    assert "Most unused" in told.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("over-time", "slurm", "--bin", "minute"), "bins of one minute"),
        (("over-time", "slurm", "--by", "colour"), "colour"),
        (("over-time-runs", "slurm", "--row", "nobody"), "no row 'nobody'"),
        (("over-time-runs", "slurm", "--at", 4_999), "no bin 4999"),
    ],
)
def test_a_mistake_is_one_clear_line(slurm, workprof, words, message):
    told = workprof("memory", *words)
    assert told.status == 2
    assert message in told.err
    assert len(told.err.strip().splitlines()) == 1
