"""A trace of shares of a machine says so on every answer, and how to get its own numbers back."""

import pytest

HEAD = "start_time,end_time,collection_id,instance_index,machine_id,tier,request_cpus,request_memory,"
HEAD += "average_usage_memory,maximum_usage_memory,event\n"
HOUR_US = 3_600_000_000
NOTE = "Memory and CPU are shares of the largest machine of the trace"


@pytest.fixture(scope="module")
def trace(home):
    path = home / "cell.csv"
    rows = [f"0,{HOUR_US},{at // 10},{at % 10},7,prod,0.1,0.02,0.005,0.01,FINISH\n" for at in range(60)]
    path.write_text(HEAD + "".join(rows))
    return path


@pytest.mark.slow
def test_every_answer_says_it_and_json_has_the_factor(workprof, trace, tmp_path):
    loaded = workprof("ingest", trace, "--name", "cell", "--json").json
    assert {one["resource"]: (one["whole_machine"], one["unit"]) for one in loaded["machine_shares"]} == {
        "memory": (1000.0, "GB"),
        "cpu": (100.0, "cores"),
    }
    assert NOTE in workprof("ingest", trace, "--name", "cell-again").out
    found = workprof("memory", "assess", "cell", "--json").json
    assert found["machine_shares"] == loaded["machine_shares"]
    assert found["requested_gb_h"] / 1000 == pytest.approx(60 * 0.02)
    assert found["used_gb_h"] / 1000 == pytest.approx(60 * 0.01)
    for command in (["assess"], ["ledger"]):
        assert workprof("memory", *command, "cell").out.startswith(NOTE), command
    assert workprof("memory", "ledger", "cell", "--json").json["machine_shares"] == loaded["machine_shares"]
    page = tmp_path / "report.html"
    assert workprof("report", "cell", "-o", page, "--sections", "data").status == 0
    assert NOTE in page.read_text()
    exported = workprof("memory", "export", "cell", "--to", "csv", "-o", tmp_path / "sizes.csv")
    assert NOTE in exported.err
    for command in (["export", "cell", "--to", "json"], ["ledger", "cell", "--to", "json"]):
        assert workprof("memory", *command, "-o", tmp_path / "out.txt").status == 0
        assert NOTE in (tmp_path / "out.txt").read_text(), command


@pytest.mark.slow
def test_with_the_size_of_the_machine_there_are_amounts(workprof, trace):
    sized = workprof(
        "ingest", trace, "--name", "sized", "--machine-memory", "512GB", "--machine-cores", 96, "--json"
    ).json
    assert [(one["whole_machine"], one["given"]) for one in sized["machine_shares"]] == [(512.0, True), (96.0, True)]
    found = workprof("memory", "assess", "sized", "--json").json
    assert found["requested_gb_h"] == pytest.approx(60 * 0.02 * 512)
    assert "taken to have 512 GB and 96 cores" in workprof("memory", "assess", "sized").out


@pytest.mark.slow
def test_amounts_say_nothing_and_take_no_machine(workprof, sample, trace):
    assert sample["machine_shares"] == []
    assert "machine_shares" not in workprof("memory", "assess", "small", "--json").json
    assert "share of" not in workprof("memory", "assess", "small").out
    refused = workprof("ingest", sample["dataset"], "--machine-memory", "big")
    assert (refused.status, refused.out) == (2, "")
    assert "size 'big' is not known" in refused.err
