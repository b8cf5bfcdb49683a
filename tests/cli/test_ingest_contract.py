"""What a shell sees of loading, sampling, exporting: exact samples, schemas, refusals, read-only homes."""

import json

import pytest

ARRAY = '[{"job_name": "a", "duration_s": 1}, {"job_name": "b", "duration_s": 2}]'


def test_a_json_array_is_loaded(workprof, tmp_path):
    (tmp_path / "jobs.json").write_text(ARRAY)
    loaded = workprof("ingest", tmp_path / "jobs.json", "--name", "array", "--json")
    assert loaded.status == 0, loaded.err
    assert (loaded.json["rows"], loaded.json["rejected"]) == (2, 0)


@pytest.mark.slow
def test_a_sample_has_exactly_the_rows_asked_for(workprof, sample):
    drawn = workprof("sample", "small", "--by", "gpu_type", "--rows", 601, "--name", "exact", "--json").json
    assert drawn["rows"] == sum(stratum["rows_out"] for stratum in drawn["strata"]) == 601
    refused = workprof("sample", "small", "--by", "gpu_type", "--rows", 10**9, "--name", "all")
    assert refused.status == 2
    assert "at most" in refused.err


def test_the_schema_is_exported(workprof, sample, tmp_path):
    answer = workprof("export", "small", "-o", tmp_path / "small.schema.json", "--json").json
    assert set(answer) >= {"file", "rows", "seconds"}
    columns = json.loads((tmp_path / "small.schema.json").read_text())["columns"]
    assert {"name", "type", "unit", "source", "description"} == set(columns[0])
    assert workprof("export", "small", "-o", tmp_path / "small.schema.json").out.startswith("wrote the schema to ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--join", "faithful"], "belongs to format pai-tables"),
        (["--grain", "job"], "belongs to format pai-tables"),
        (["b.json"], "one file"),
    ],
)
def test_what_a_single_file_cannot_do_is_refused(workprof, tmp_path, options, words):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(ARRAY)
    more = [tmp_path / option if option.endswith(".json") else option for option in options]
    refused = workprof("ingest", tmp_path / "a.json", *more)
    assert (refused.status, refused.out) == (2, "")
    assert words in refused.err


@pytest.mark.parametrize("command", [["datasets"], ["serve", "--port", "18999"], ["ingest", "x.csv"]])
def test_a_read_only_home_is_never_made(run_workprof, tmp_path, command):
    ran = run_workprof(*command, home=tmp_path / "none", WORKPROF_READONLY="1")
    assert (ran.status, ran.out) == (2, "")
    assert "WORKPROF_READONLY" in ran.err
    assert not (tmp_path / "none").exists()
