"""What a shell sees of loading, sampling, exporting: exact samples, schemas, refusals, read-only homes."""

import json

import pytest

pytestmark = pytest.mark.slow

ARRAY = '[{"job_name": "a", "duration_s": 1}, {"job_name": "b", "duration_s": 2}]'


def test_a_json_array_is_loaded(workprof, tmp_path):
    (tmp_path / "jobs.json").write_text(ARRAY)
    loaded = workprof("ingest", tmp_path / "jobs.json", "--name", "array", "--json")
    assert loaded.status == 0, loaded.err
    assert (loaded.json["rows"], loaded.json["rejected"]) == (2, 0)


def test_one_row_is_told_as_one(workprof, tmp_path):
    (tmp_path / "one.csv").write_text("job_name,duration_s\na,1\n")
    assert ": 1 row, 0 rejected" in workprof("ingest", tmp_path / "one.csv").out
    assert "1 row " in workprof("export", "one", "-o", tmp_path / "x.csv").out
    assert workprof("remove", "one", "--yes").out == "removed one (1 row)\n"


def test_lines_are_lost_only_where_that_is_accepted_and_everybody_is_told(workprof, tmp_path):
    rows = [f"j{at},{at},n{at}" for at in range(2, 1001)]
    rows[18], rows[498] = '"a, b",1,x', '"j500,5,x'
    (tmp_path / "open.csv").write_text("\n".join(["job_name,duration_s,note", *rows]) + "\n")
    refused = workprof("ingest", tmp_path / "open.csv", "--name", "open", "--json")
    assert (refused.status, refused.out) == (2, "")
    assert "line 500" in refused.err
    loaded = workprof("ingest", tmp_path / "open.csv", "--name", "open", "--accept-loss", "--json")
    assert loaded.status == 0, loaded.err
    assert loaded.json["lost"] == 1000 - 1 - loaded.json["rows"] - loaded.json["rejected"] == 500
    assert "500 lines lost" in loaded.err
    page = tmp_path / "report.html"
    made = workprof("report", "open", "-o", page, "--sections", "data", "--json")
    assert made.json["lost"] == 500
    assert page.read_text().count("500 lines lost") >= 3  # under the title, in the sentence, among the checks


def test_a_sound_file_loses_nothing(workprof, tmp_path):
    (tmp_path / "sound.csv").write_text('job_name,duration_s\n"a\nb",1\nc,x\n')
    loaded = workprof("ingest", tmp_path / "sound.csv", "--name", "sound", "--json").json
    assert (loaded["rows"], loaded["rejected"], loaded["lost"]) == (1, 1, 0)


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
