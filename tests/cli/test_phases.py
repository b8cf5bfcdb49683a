"""`workprof phases`: the contract's keys on planted runs, counters, modes, another dataset, input that is refused."""

import pytest

from tests.phases.planted_runs import planted


@pytest.fixture(scope="module")
def known(run_workprof, home):
    samples = planted(4, 4, seed=11)
    samples["proc.threads"] = 5
    train = samples[(samples["workload"] != "w3") & (samples["run"] != "4")]
    for name, frame in (("all", samples), ("train", train)):
        frame.to_csv(home / f"{name}.csv", index=False)
        made = run_workprof("ingest", home / f"{name}.csv", "--format", "telemetry", "--name", name, home=home)
        assert made.status == 0, made.err
    return home


@pytest.mark.slow
def test_detect_by_other_methods_and_counters(workprof, known):
    (known / "names.txt").write_text("c1\nc2\n")
    asked = ("phases", "detect", "all", "--run", "w1/2", "--counters", known / "names.txt")
    for more in (("--method", "pelt"), ("--hazard", 20), ("--readout", "exact"), ("--mode", "faithful")):
        assert set(workprof(*asked, *more, "--json").json["counters"]) == {"c1", "c2"}
    assert "c1" in workprof(*asked).out


@pytest.mark.slow
def test_counters_are_named_one_by_one(workprof, known):
    asked = ("phases", "detect", "all", "--run", "w1/2", "--counters")
    for text, names in (("c1", {"c1"}), ("c3,c1", {"c1", "c3"}), ('["c2"]', {"c2"})):
        assert set(workprof(*asked, text, "--json").json["counters"]) == names


@pytest.mark.slow
def test_what_is_learned_from_a_dataset_by_its_name_is_what_its_hash_says(workprof, known):
    asked = ("phases", "align", "all", "--first", "w1/4", "--second", "w1/1", "--train")
    listed = {one["dataset"]: one["hash"] for one in workprof("datasets", "--json").json}
    assert workprof(*asked, "train", "--json").json == workprof(*asked, listed["train"], "--json").json
    refused = workprof("phases", "align", "all", "--first", "w1/4", "--second", "w1/4", "--train", "train")
    assert refused.status == 2
    assert "there is no run 'w1/4'" in refused.err


@pytest.mark.slow
def test_evaluate_what_was_learned_elsewhere(workprof, known):
    asked = ("phases", "evaluate", "all", "--train", "train")
    found = workprof(*asked, "--json").json
    assert [one["workload"] for one in found["unknown"]] == ["w3"]
    assert found["known"]["n_test"] == 12
    assert "w3" in workprof(*asked).out


def test_all_counters_leave_out_those_of_the_processes(workprof, known):
    asked = ("phases", "detect", "all", "--run", "w1/2", "--counters")
    assert "proc.threads" not in workprof(*asked, "all", "--json").json["counters"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("detect", "all", "--run", "1"), "4 runs are called '1'"),
        (("detect", "all", "--counters", "no.such"), "counters is 'no.such'"),
    ],
)
def test_mistakes_are_told_in_one_line(workprof, known, arguments, words):
    ran = workprof("phases", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert words in ran.err
    assert "Traceback" not in ran.err
