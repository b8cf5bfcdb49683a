"""New rows of a source until the new verdict is there, against the same rows and verdict in a home that has nothing.

ROWS runs are there, a hundredth as many come. Both read the whole file; the refresh also finds what is new, changed or
gone, and keeps the last good state until it has ended. speed.md's goal is 60 s for 10,000 into 1,000,000
(`BENCH_ROWS=1000000`).
"""

import os
import tempfile

from tests.benchmarks.measure import Measured, run_side

ROWS = int(os.environ.get("BENCH_ROWS", "200000"))
MORE = ROWS // 100
OPENED = """
import pathlib, time
from tests.benchmarks.page_refreshing import add_rows
from workprof import IngestOptions, Settings, Workbench
from workprof.sources.source import Source
folder = pathlib.Path({folder!r})
with Workbench(Settings(home=folder / {home!r}, data=folder)) as bench:
"""
OURS = """
    add_rows(folder / "grown.csv", 0, {rows})
    bench.add_source(Source("grown", "files", str(folder / "grown.csv")))
    bench.refresh("grown")
    bench.verdict("grown")
    add_rows(folder / "grown.csv", 1, {more})
    started = time.perf_counter()
    came = bench.refresh("grown")
"""
REFERENCE = """
    started = time.perf_counter()
    bench.ingest([folder / "grown.csv"], IngestOptions(name="grown"))
"""
TOLD = """
    found = bench.verdict("grown")
    seconds = time.perf_counter() - started
    told = {"rows": bench.dataset("grown").rows, "saved": round(found.memory.judged.saved_share, 9)}
"""


def run() -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        given = {"folder": folder, "rows": ROWS, "more": MORE}
        ours, theirs = (
            run_side((OPENED + side).format(home=home, **given) + TOLD)
            for home, side in (("ours", OURS), ("theirs", REFERENCE))
        )
    if ours.told != theirs.told:
        raise RuntimeError(f"a refresh tells {ours.told}, an import of the same file {theirs.told}")
    return Measured(
        ratio=theirs.seconds / ours.seconds,
        ours_s=ours.seconds,
        reference_s=theirs.seconds,
        ours_mb=ours.mb,
        reference_mb=theirs.mb,
        reference="an import of the whole file into an empty home, and its verdict",
        note=f"{MORE:,} new runs into {ROWS:,}, until the new verdict",
    )
