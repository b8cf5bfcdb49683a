"""A script that is checked strictly sees the types of records, figures, forecasters and the rooms of a workbench."""

import os
import re
import subprocess
import sys

import pytest

from tests.sources import ROOT

SCRIPT = """\
import pandas as pd
import workprof as wp

jobs = pd.read_parquet("jobs.parquet")
fit = wp.profile(jobs)
reveal_type(fit.figure())
reveal_type(fit.to_frame())
fit.figure().write_html("map.html")
fitted = wp.Forecaster(jobs)
reveal_type(fitted.predict("new.csv"))
reveal_type(fitted.explain(jobs).effects)
with wp.Workbench(wp.from_environment()) as bench:
    reveal_type(bench.memory.plan("jobs"))
    reveal_type(bench.profiles("jobs"))
    reveal_type(bench.profiles.membership("jobs").figure())
    reveal_type(bench.data.ingest(jobs))
    reveal_type(bench.memory.decisions("jobs"))
"""
TYPES = (
    "shown.Figure",
    "DataFrame",
    "JobForecasts",
    "ndarray",
    "verdict.Verdict",
    "fit.ProfileFit",
    "shown.Figure",
    "reports.IngestReport",
    "tuple[workprof.memory.decisions.Decision, ...]",
)


@pytest.mark.soak
@pytest.mark.slow
def test_a_users_script_is_typed(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    cache = ["--cache-dir", os.environ.get("WORKPROF_MYPY_CACHE", str(tmp_path / "cache"))]
    words = [sys.executable, "-m", "mypy", "--strict", *cache, "script.py"]
    here = os.environ | {"MYPYPATH": str(ROOT)}
    told = subprocess.run(words, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=600, check=False)
    found = re.findall(r'Revealed type is "(.*)"', told.stdout)
    assert [want in have for want, have in zip(TYPES, found, strict=True)] == [True] * len(TYPES), told.stdout
    assert not re.search(r"script\.py:\d+: error", told.stdout)
