"""Data: page, library, command, files and report say the same of what was loaded."""

import io
import re

import pandas as pd
import pytest

from tests.same.reading import same_figures
from workprof.charts.data import column_table

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def printed(jobs):
    return jobs.report("jobs", "data")


def test_columns_are_those_of_the_library_and_the_report(jobs, printed):
    page = jobs.page("data", "jobs", data_tab="Columns")
    columns = jobs.library(lambda bench: bench.column_profiles("jobs"))
    shown = next(table for table in page.tables if "median" in table.columns)
    table = column_table(columns)
    assert [list(bars) for bars in shown["histogram"]] == [list(bars) for bars in table["histogram"]]
    assert shown.drop(columns="histogram").astype(str).equals(table.drop(columns="histogram").astype(str))
    whole = pd.read_csv(io.BytesIO(printed.csv("data")["columns"]), dtype=str, keep_default_na=False)
    assert list(whole["median"]) == ["" if pd.isna(one) else one for one in table["median"]]
    means = {one.column.name: one.median for one in columns}
    exported = pd.read_csv(io.BytesIO(page.files["jobs.csv"]))
    assert means["duration_s"] == pytest.approx(exported["duration_s"].median(), rel=1e-12)


def test_the_strip_of_times_is_the_reports(jobs, printed):
    page = jobs.page("data", "jobs", data_tab="Columns")
    assert same_figures(page, printed, "data") == {"time-coverage"}


def test_exports_are_those_of_the_command(jobs):
    page = jobs.page("data", "jobs", data_tab="Preview")
    for kind in ("csv", "parquet"):
        target = jobs.folder / f"out.{kind}"
        answer = jobs.command("export", "jobs", "-o", target)
        assert answer["rows"] == len(_read(kind)(target))
        assert page.files[f"jobs.{kind}"] == target.read_bytes()
    first = next(table for table in page.tables if "duration_s" in table.columns)
    whole = pd.read_parquet(io.BytesIO(page.files["jobs.parquet"]))
    assert first["duration_s"].tolist() == whole["duration_s"].head(len(first)).tolist()


def _read(kind):
    return pd.read_csv if kind == "csv" else pd.read_parquet


FAULTY = """job_name,duration_s,start_time_s,peak_memory_bytes,requested_memory_bytes
good,10,100,5,10
good,20,200,5,10
greedy,30,300,50,10
backwards,-5,400,5,10
odd,many,500,5,10
odd,60,600,lots,10
"""


def test_checks_and_rejects_are_those_of_the_command(jobs):
    (jobs.folder / "faulty.csv").write_text(FAULTY)
    told = jobs.command("ingest", jobs.folder / "faulty.csv")
    jobs.hashes["faulty"] = told["hash"]
    page = jobs.page("data", "faulty", data_tab="Validation")
    checks = next(table for table in page.tables if "Level" in table.columns)
    assert len(told["checks"]) > 1
    shown = zip(map(_plain, checks["Level"]), checks["Rows"], map(_unescaped, checks["Finding"]), strict=True)
    assert sorted(shown) == sorted((one["level"], f"{one['count']:,}", one["message"]) for one in told["checks"])
    rejects = page.csv("faulty-rejects.csv")
    assert len(rejects) == told["rejected"] == 1
    assert f"{told['rows_read']} rows read" in page.words
    assert jobs.command("datasets")[0]["rows"] == told["rows"] == told["rows_read"] - told["rejected"]
    catalogue = next(table for table in page.tables if "hash" in table.columns)
    assert catalogue.set_index("name").loc["faulty", "rows"] == told["rows"]


def _unescaped(text):
    return re.sub(r"\\(.)", r"\1", text)


def _plain(level):
    return level.split("\xa0")[1]
