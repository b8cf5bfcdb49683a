"""`workprof report` writes one file, says what is in it, and refuses before it computes."""

import zipfile

import pandas as pd
import pytest

from tests.pages.conftest import SAMPLE


@pytest.fixture
def few(workprof, tmp_path):
    trace = tmp_path / "few.parquet"
    pd.read_parquet(SAMPLE).head(600).to_parquet(trace)
    assert workprof("ingest", trace).status == 0


@pytest.mark.slow
def test_a_report_is_one_file_and_a_bundle(workprof, few, tmp_path):
    page, bundle = tmp_path / "r.html", tmp_path / "r.zip"
    found = workprof("report", "few", "-o", page, "--bundle", bundle, "--sections", "data", "--note", "x", "--json")
    assert found.status == 0
    assert found.json["file"] == str(page)
    assert [(one["name"], one["status"]) for one in found.json["sections"]] == [("data", "done")]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "manifest.json" in zipfile.ZipFile(bundle).namelist()
    assert sorted(path.name for path in tmp_path.glob(".*.part")) == []


@pytest.mark.slow
def test_a_section_that_there_is_not_is_named(workprof, few, tmp_path):
    found = workprof("report", "few", "-o", tmp_path / "r.html", "--sections", "nothing")
    assert found.status == 2
    assert "choose from profiles, classify" in found.err


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), [("r.txt", "does not end in .html"), ("no/r.html", "there is no folder")])
def test_a_file_that_cannot_be_written_is_refused_first(workprof, few, tmp_path, name, words):
    found = workprof("report", "few", "-o", tmp_path / name)
    assert found.status == 2
    assert words in found.err
