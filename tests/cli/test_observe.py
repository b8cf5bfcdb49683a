"""`estimate observe`: the contract's keys, nothing counted twice, a state that survives the process, clear refusals."""

import pytest

from tests.command_line import run_process

KEYS = {"observed", "drift", "recluster_advised", "refitted", "acquires_history"}


@pytest.fixture(scope="module")
def finished(run_workprof, home, tmp_path_factory):
    """Two files of finished jobs of the same kinds as the sample's."""
    folder = tmp_path_factory.mktemp("finished")
    for seed in (6, 7):
        path = folder / f"finished-{seed}.parquet"
        made = run_workprof("synth", "pai", "--rows", 600, "-o", path, "--seed", seed, "--json", home=home)
        assert made.status == 0, made.err
    return folder


@pytest.mark.soak
def test_the_loop_goes_on_from_process_to_process(home, sample, finished):
    def workprof(*arguments):
        return run_process(*arguments, home=home)

    first = workprof("estimate", "observe", "small", "--jobs", finished / "finished-6.parquet", "--json").json
    assert set(first) >= KEYS
    assert 0 < first["observed"] <= 600
    assert first["observed"] + first["repeated"] == first["rows_read"]
    assert [entry["event"] for entry in first["acquires_history"]] == ["fit", "observe"]
    again = workprof("estimate", "observe", "small", "--jobs", finished / "finished-6.parquet", "--json").json
    assert again["observed"] == 0
    assert again["already_observed"]
    assert len(again["acquires_history"]) == 2
    assert "(P" in workprof("estimate", "observe", "small", "--jobs", finished / "finished-6.parquet").out
    second = workprof(
        "estimate", "observe", "small", "--jobs", finished / "finished-7.parquet", "--refit", "--json"
    ).json
    assert second["refitted"]
    assert [entry["event"] for entry in second["acquires_history"]] == ["fit", "observe", "observe", "refit"]
    assert second["acquires_history"][-1]["jobs"] == first["observed"] + second["observed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("small", "--jobs", "absent.parquet"), "no such file"),
        (("small",), "--jobs"),
    ],
)
def test_bad_input_ends_with_2(workprof, sample, arguments, words):
    ended = workprof("estimate", "observe", *arguments)
    assert ended.status == 2, ended.err
    assert words in ended.err
    assert "Traceback" not in ended.err


def test_a_home_that_must_not_be_written_refuses(workprof, sample):
    ended = workprof("estimate", "observe", "small", "--jobs", "small", WORKPROF_READONLY="1")
    assert ended.status == 2
    assert "WORKPROF_READONLY" in ended.err
