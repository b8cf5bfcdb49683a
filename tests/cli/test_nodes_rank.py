"""`workprof nodes rank|groups|advise`: the contract's keys, options that change the answer, input that is refused."""

import json
import math

import pytest

from tests.nodes.planted_nodes import runs_of
from workprof.core.errors import SettingsError
from workprof.core.fields import read
from workprof.nodes.questions import RANK

SPEEDS = {
    "big": {"cpu": 4.0, "memory": 1.0, "disk": 1.0, "network": 1.0},
    "mid": {"cpu": 2.0, "memory": 1.0, "disk": 1.5, "network": 1.0},
    "small": {"cpu": 1.0, "memory": 1.0, "disk": 3.0, "network": 1.0},
}


def lines_of(frame):
    """Return the lines of a file of benchmark runs."""
    for row in frame.drop(columns=["row_id", "provenance"]).to_dict("records"):
        row["started"], row["finished"] = row.pop("started_s"), row.pop("finished_s")
        row["argv"], row["host"] = json.loads(row["argv"]), json.loads(row["host"])
        yield json.dumps(row)


@pytest.fixture(scope="module")
def runs(run_workprof, home):
    path = home / "runs.jsonl"
    path.write_text("\n".join(lines_of(runs_of(SPEEDS, n_runs=6))))
    made = run_workprof("ingest", path, "--format", "benchmarks", "--name", "nodes", home=home)
    assert made.status == 0, made.err


@pytest.mark.slow
def test_weights_prices_and_nodes_change_the_answer(workprof, runs):
    disk = workprof("nodes", "rank", "nodes", "--weights", "disk=2", "--prices", "small=0.5,big=2", "--json").json
    assert [one["node"] for one in disk["nodes"]] == ["small", "mid", "big"]
    assert disk["weights"] == {"disk": 1.0}
    first, second = disk["nodes"][:2]
    assert first["price_performance"] == pytest.approx(first["score"] / 0.5)
    assert second["price_performance"] is None
    two = workprof("nodes", "rank", "nodes", "--weights", "cpu=1", "--nodes", "mid,small", "--json").json
    assert [one["node"] for one in two["nodes"]] == ["mid", "small"]
    late = workprof("nodes", "rank", "nodes", "--since", "2100-01-01", "--json")
    assert late.status == 2
    assert "no benchmark run is left to compare" in late.err


def test_an_option_that_changes_nothing_is_named(workprof, runs):
    plain = workprof("nodes", "groups", "nodes", "--resamples", 0, "--json")
    weighted = workprof(
        "nodes", "groups", "nodes", "--resamples", 0, "--weights", "cpu=1", "--with", "ranking.confidence=0.9", "--json"
    )
    assert weighted.json == plain.json
    assert weighted.err.splitlines() == [
        "note: --weights changes nothing here",
        "note: --confidence changes nothing here",
        *plain.err.splitlines(),
    ]


def test_help_says_how_a_table_is_written(workprof):
    told = workprof("nodes", "rank", "--help").out
    assert "--weights NAME=NUMBER,..." in told
    assert "Default: all alike." in " ".join(told.split())


@pytest.mark.slow
def test_advise_for_a_profile_of_jobs(workprof, runs, sample):
    found = workprof("nodes", "advise", "nodes", "--jobs", "small", "--profile", 0, "--json")
    assert found.status == 0, found.err
    advice = found.json
    assert set(advice) >= {"weights", "nodes"}
    assert math.isclose(sum(advice["weights"].values()), 1.0)
    assert all(set(one) >= {"node", "score", "interval", "price_performance"} for one in advice["nodes"])
    own = workprof("nodes", "advise", "nodes", "--jobs", "small", "--profile", 0, "--weights", "disk=1", "--json").json
    assert own["weights"] == {"disk": 1.0}
    assert own["nodes"][0]["node"] == "small"
    assert own["proposed"] == advice["proposed"]
    assert "Weights: " in workprof("nodes", "advise", "nodes", "--jobs", "small", "--profile", 0).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rank", "nodes", "--nodes", "gone"), "'gone' is not in this dataset"),
        (("advise", "nodes", "--jobs", "nodes", "--profile", "0"), "holds benchmark runs"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(workprof, runs, arguments, words):
    done = workprof("nodes", *arguments)
    assert done.status == 2
    assert words in done.err
    assert done.out == ""


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "words"), [("999", "no run in this clustering"), ("-1", "profile is -1")])
def test_a_profile_that_there_is_not_is_refused(workprof, runs, sample, profile, words):
    done = workprof("nodes", "advise", "nodes", "--jobs", "small", "--profile", profile)
    assert done.status == 2
    assert words in done.err


LEAVES = {leaf.path: leaf for leaf in RANK.leaves}


def test_pairs_and_moments_are_read_strictly():
    weights, since = LEAVES["weights"], LEAVES["since_s"]
    assert read(weights, "cpu=1, disk=0.5") == {"cpu": 1.0, "disk": 0.5}
    assert read(weights, "") == {}
    for wrong in ("cpu", "cpu=fast", "cpu=1,cpu=2", "=1", "cpu="):
        with pytest.raises(SettingsError, match="NAME="):
            read(weights, wrong)
    assert read(since, "") is None
    assert read(since, "12.5") == 12.5
    assert read(since, "1970-01-02") == read(since, "1970-01-02T01:00+01:00") == 86_400.0
    with pytest.raises(SettingsError, match="epoch seconds"):
        read(since, "soon")
