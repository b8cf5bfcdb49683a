"""No text of an uploaded file becomes a formula: one rule, in cells and headers, in exports and downloads."""

import pandas as pd
import pytest

from workprof.core.settings import Settings
from workprof.core.table import csv_bytes
from workprof.core.text import FORMULA_STARTS, spreadsheet_text
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(start):
    assert spreadsheet_text(f"{start}1") == f"'{start}1"
    assert spreadsheet_text(f"a{start}1") == f"a{start}1"
    assert spreadsheet_text("") == ""


@pytest.mark.slow
def test_downloads_and_exports_escape_headers_and_cells_alike(tmp_path):
    names = ["=1+1", "+a", "-b", "@c", "plain"]
    source = pd.DataFrame(
        {"job_name": ["=x", "y"], "duration_s": [1.0, 2.0], "delta": [1.0, -2.0]}
        | {name: ["-1a", "b"] for name in names}
    )
    source.to_csv(tmp_path / "in.csv", index=False)
    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path)) as store:
        store.ingest([tmp_path / "in.csv"], IngestOptions())
        store.export("in", tmp_path / "out.csv")
        again = store.ingest([tmp_path / "out.csv"], IngestOptions())
        assert again.rows == 2
    exported = (tmp_path / "out.csv").read_text().splitlines()
    downloaded = csv_bytes(source).decode().splitlines()
    assert exported == downloaded
    assert exported[0] == "job_name,duration_s,delta,'=1+1,'+a,'-b,'@c,plain"
    assert exported[1:] == ["'=x,1.0,1.0" + ",'-1a" * 5, "y,2.0,-2.0" + ",b" * 5]
