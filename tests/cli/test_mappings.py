"""Mappings of generic files in a shell: the look, its JSON, loading with a file or a saved name."""

import json

import pytest

STEPS = "job,user,realtime\n" + "".join(f"j{at},u{at % 3},{50715 + at}\n" for at in range(30))
SHEET = "Job,Owner,Runtime (hours),RAM (GB)\n" + "".join(f"j{at % 4},u,1.5,16\n" for at in range(30))


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text(STEPS)
    return path


@pytest.mark.slow
def test_a_sheet_loads_and_says_what_it_took_for_what(workprof, tmp_path):
    (tmp_path / "sheet.csv").write_text(SHEET)
    told = workprof("ingest", tmp_path / "sheet.csv", "--name", "sheet")
    assert told.status == 0, told.err
    assert "RAM (GB)" in told.out and "requested_memory_bytes" in told.out
    loaded = workprof("ingest", tmp_path / "sheet.csv", "--json").json
    assert loaded["already_loaded"]
    assert loaded["mapping"] == {
        "task_name": {"from": "Job"},
        "user": {"from": "Owner"},
        "duration_s": {"from": "Runtime (hours)", "unit": "h"},
        "requested_memory_bytes": {"from": "RAM (GB)", "unit": "GB"},
    }


@pytest.mark.slow
def test_a_doubtful_unit_is_refused_and_looked_at(workprof, steps, tmp_path):
    refused = workprof("ingest", steps)
    assert (refused.status, refused.out) == (2, "")
    assert "50715 -> 50.7 s" in refused.err and "--look" in refused.err
    written = tmp_path / "map.json"
    looked = workprof("ingest", steps, "--look", "-o", written, "--json").json
    assert (looked["loads"], looked["missing"], looked["rows"], looked["whole"]) == (False, [], 30, True)
    evidence = looked["evidence"]["duration_s"]
    assert (evidence["unit"], evidence["sure"], evidence["values"][0]) == ("ms", False, ["50715", "50.7 s"])
    assert json.loads(written.read_text()) == looked["mapping"]
    text = workprof("ingest", steps, "--look").out
    assert "50715 -> 50.7 s" in text and "needs a mapping: " in text
    loaded = workprof("ingest", steps, "--map", written, "--name", "steps", "--json").json
    assert (loaded["rows"], loaded["mapping"]["duration_s"]) == (30, {"from": "realtime", "unit": "ms"})
    other = workprof("ingest", steps, "-o", written)
    assert (other.status, other.out) == (2, "") and "--look" in other.err


@pytest.mark.slow
def test_a_mapping_is_saved_used_renamed_and_removed(workprof, steps, tmp_path):
    workprof("ingest", steps, "--look", "-o", tmp_path / "map.json")
    assert workprof("mappings", "save", "flow", tmp_path / "map.json", "--json").json == {
        "mapping": "flow",
        "fields": 3,
    }
    refused = workprof("mappings", "save", "other", steps)
    assert refused.status == 2 and f"mapping {steps} cannot be read" in refused.err
    assert workprof("mappings", "rename", "flow", "nf steps").status == 0
    assert [one["name"] for one in workprof("mappings", "--json").json] == ["nf steps"]
    assert workprof("mappings", "show", "nf steps", "--json").json == json.loads((tmp_path / "map.json").read_text())
    loaded = workprof("ingest", steps, "--map", "nf steps", "--json").json
    assert loaded["rows"] == 30
    refused = workprof("ingest", steps, "--map", "flow")
    assert refused.status == 2 and "saved ones: nf steps" in refused.err
    assert workprof("mappings", "remove", "nf steps").status == 0
    assert workprof("mappings", "--json").json == []
    assert workprof("mappings", "remove", "nf steps").status == 2


def test_what_is_doubtful_in_a_given_mapping_is_printed(workprof, tmp_path):
    rows = "".join(f"j{at},600,{2048 * (at % 40 + 1)}\n" for at in range(80))
    (tmp_path / "condor.csv").write_text("job,duration_s,RequestMemory\n" + rows)
    mapping = {"job_name": {"from": "job"}, "requested_memory_bytes": {"from": "RequestMemory", "unit": "GB"}}
    (tmp_path / "map.json").write_text(json.dumps(mapping))
    told = workprof("ingest", tmp_path / "condor.csv", "--map", tmp_path / "map.json")
    assert told.status == 0 and "RequestMemory: " in told.err and "more than any node has" in told.err
