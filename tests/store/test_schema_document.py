"""The schema of a dataset as JSON: every column with what it means."""

import json

import pytest

from workprof.formats.fields import DESCRIPTIONS
from workprof.store.reports import IngestOptions
from workprof.synthetic.pai import write_pai_sample

KEYS = ["name", "type", "unit", "source", "description"]


@pytest.fixture
def trace(store, write):
    path = write(
        "t.csv",
        'task_id,native_id,name,status,realtime,peak_rss,mood ü,truth_profile\n1,7,a,COMPLETED,1000,2048,"x",3\n',
    )
    store.ingest([path], IngestOptions())
    return store


def test_every_column_in_order_with_unit_source_and_description(trace):
    document = json.loads(trace.schema_document("t"))
    assert (document["dataset"], document["hash"]) == ("t", trace.dataset("t").hash)
    assert (document["format"], document["join"], document["rows"]) == ("nextflow", "corrected", 1)
    assert [column["name"] for column in document["columns"]] == [column.name for column in trace.columns("t")]
    assert all(list(column) == KEYS and column["description"] for column in document["columns"])
    by_name = {column["name"]: column for column in document["columns"]}
    assert by_name["duration_s"] == {
        "name": "duration_s",
        "type": "DOUBLE",
        "unit": "s",
        "source": "realtime",
        "description": DESCRIPTIONS["duration_s"],
    }
    assert by_name["workload"]["source"] is None  # made of the file's name
    assert by_name["mood ü"]["unit"] is None
    assert "Planted truth" in by_name["truth_profile"]["description"]
    assert trace.schema_document("t").isascii()  # so that no hidden character stands in it


def test_it_is_exported_under_its_suffix(trace, tmp_path):
    assert trace.export("t", tmp_path / "t.schema.json") == 1
    assert (tmp_path / "t.schema.json").read_text(encoding="utf-8") == trace.schema_document("t")
    assert [path.name for path in tmp_path.iterdir() if "schema" in path.name] == ["t.schema.json"]


@pytest.mark.slow
def test_the_columns_are_those_of_the_exported_file(store, tmp_path):
    write_pai_sample(tmp_path / "sample.parquet", 300, seed=4)
    store.ingest([tmp_path / "sample.parquet"], IngestOptions(name="p"))
    store.export("p", tmp_path / "p.csv")
    header = (tmp_path / "p.csv").read_text().split("\n", 1)[0].split(",")
    assert [column["name"] for column in json.loads(store.schema_document("p"))["columns"]] == header
