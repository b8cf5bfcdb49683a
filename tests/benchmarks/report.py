"""The report of the bundled sample with nothing computed, against pandas that reads and describes the same file.

The bar is 60 s for the first one; from what is kept it takes a few.
"""

import tempfile

from tests.benchmarks.measure import ROOT, Measured, run_side

SAMPLE = ROOT / "data" / "sample" / "pai_sample.parquet"
OURS = """
import contextlib, io, pathlib, time
from tests.command_line import run_here
folder = pathlib.Path({folder!r})
run_here("ingest", {sample!r}, home=folder / "home")
taken = []
for name in ("first.html", "again.html"):
    started = time.perf_counter()
    done = run_here("report", "pai_sample", "-o", folder / name, home=folder / "home")
    taken.append(time.perf_counter() - started)
    assert done.status == 0, done.err
seconds, told = taken[0], {{"again": taken[1], "bytes": (folder / "again.html").stat().st_size}}
"""
REFERENCE = """
import time
import pandas as pd
started = time.perf_counter()
pd.read_parquet({sample!r}).describe(include="all").to_html()
seconds, told = time.perf_counter() - started, {{}}
"""


def run() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        ours = run_side(OURS.format(folder=folder, sample=str(SAMPLE)))
        theirs = run_side(REFERENCE.format(sample=str(SAMPLE)))
    return Measured(
        ratio=None,
        ours_s=ours.seconds,
        reference_s=theirs.seconds,
        ours_mb=ours.mb,
        reference_mb=theirs.mb,
        reference="pandas describes the table; 60 s is the bar",
        note=f"again {ours.told['again']:.1f} s, {ours.told['bytes'] / 1e6:.1f} MB of HTML",
    )
