"""The first visit after a server start, results on disk: the slowest of three pages, each on a server of its own.

From the message of a browser that has loaded the front end to the end of the answer; the 100,001-row sample and its
profiles are kept in the home.
"""

import asyncio
import time

from tests.benchmarks.dashboard_home import worked_home
from tests.benchmarks.measure import Measured, run_side
from tests.load.servers import dashboard
from tests.load.visitor import opened

PAGES = ("", "profiles", "memory")
LIBRARIES = """
import time
started = time.perf_counter()
import duckdb, pandas, plotly.graph_objects, pyarrow.parquet, streamlit
seconds, told = time.perf_counter() - started, {}
"""


async def first_visit_s(port: int, page: str, jobs: str) -> float:
    started = time.perf_counter()
    async with opened(port, "cold", page, ds=jobs):
        return time.perf_counter() - started


def run() -> Measured:
    home = worked_home()
    for page in PAGES:  # what the first run ever computes is kept on disk
        with dashboard(home.folder) as server:
            asyncio.run(first_visit_s(server.port, page, home.jobs))
    taken, cpu_s = {}, {}
    for page in PAGES:
        with dashboard(home.folder) as server:
            before, name = server.cpu_s(), page or "home"
            taken[name] = asyncio.run(first_visit_s(server.port, page, home.jobs))
            cpu_s[name] = server.cpu_s() - before
    reference = run_side(LIBRARIES)
    slowest = max(taken.values())
    return Measured(
        ratio=reference.seconds / slowest,
        ours_s=slowest,
        reference_s=reference.seconds,
        ours_mb=None,
        reference_mb=None,
        reference="import duckdb, pandas, plotly, pyarrow, streamlit; 3 s is the bar",
        note=", ".join(f"{page} {seconds:.2f} s ({cpu_s[page]:.2f} s of CPU)" for page, seconds in taken.items()),
    )
