"""`workprof memory over-time` and its runs: JSON, text, and the cell that its runs make."""

import pytest

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("over-time", "slurm", "--bin", "minute"), "bins of one minute"),
        (("over-time-runs", "slurm", "--row", "nobody"), "no row 'nobody'"),
        (("over-time-runs", "slurm", "--at", 4_999), "no bin 4999"),
    ],
)
def test_a_mistake_is_one_clear_line(slurm, workprof, words, message):
    told = workprof("memory", *words)
    assert told.status == 2
    assert message in told.err
    assert len(told.err.strip().splitlines()) == 1
