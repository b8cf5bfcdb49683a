"""What a visitor waits for while twenty look at one server and a source is refreshed again and again.

Nineteen visitors speak Streamlit's web socket and open a page every THINK_S seconds; the twentieth clicks through the
menu in a real Chromium, as in `page_browser`, and is measured. A process of its own adds rows to the source's file and
refreshes it, without a pause; with BENCH_BESIDE=fit it finds profiles of the rows instead, as a job of the server does.
In turn with the same clicks by one visitor alone, while nothing else runs.
"""

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from tests.benchmarks.measure import Measured
from tests.benchmarks.page_browser import LINKS, PAUSE_MS, Site, quantile, taken_s, visited
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.load.servers import dashboard
from tests.load.visitor import opened
from workprof import Settings, Workbench
from workprof.sources.source import Source

VISITORS, THINK_S, BAR_S = 20, 8.0, 1.0
ROUNDS, ROWS = int(os.environ.get("BENCH_ROUNDS", "4")), int(os.environ.get("BENCH_ROWS", "20000"))
MENU = ("Memory", "Home", "Data", "Durations", "Runs", "Help")
REFRESHING = """
import os, pathlib, sys, time
from tests.benchmarks.page_refreshing import add_rows
from workprof import Settings, Workbench
from workprof.steps import NICENESS
os.nice(NICENESS)  # as `workprof refresh --every`
home, file = map(pathlib.Path, sys.argv[1:])
with Workbench(Settings(home=home, data=home.parent)) as bench:
    for at in range(1, 10_000):
        add_rows(file, at, 500)
        started = time.perf_counter()
        bench.refresh("grown")
        print(time.perf_counter() - started, flush=True)
"""
FITTING = """
import os, pathlib, sys, time
from workprof import ProfileSettings, Settings, Workbench
from workprof.steps import NICENESS
os.nice(NICENESS)  # as a job of the server
home, _ = map(pathlib.Path, sys.argv[1:])
with Workbench(Settings(home=home, data=home.parent)) as bench:
    for at in range(20, 10_000):
        started = time.perf_counter()
        bench.profiles("grown", ProfileSettings(features=("peak_memory_bytes", "duration_s"), min_cluster_size=at))
        print(time.perf_counter() - started, flush=True)
"""
BESIDE = {"refresh": REFRESHING, "fit": FITTING}


def add_rows(file: Path, seed: int, rows: int) -> None:
    draw = np.random.default_rng(seed)
    start = 1_767_225_600 + draw.integers(0, 30 * 86_400, rows)
    with file.open("a", encoding="utf-8") as stream:
        if not stream.tell():
            stream.write("job_name,user,task_name,start_time_s,end_time_s,requested_memory_bytes,peak_memory_bytes\n")
        for at, (begin, peak) in enumerate(zip(start, draw.uniform(2e9, 9e9, rows), strict=True)):
            stream.write(f"j{seed}-{at},u{at % 30},t{at % 7},{begin},{begin + 600 + at % 900},16e9,{peak:.0f}\n")


async def _visit(port: int, number: int, ended: threading.Event, answered: list[float]) -> None:
    await asyncio.sleep(number * THINK_S / VISITORS)
    async with opened(port, f"visitor {number}", ds="grown") as tab:
        for page in itertools.cycle(("memory", "", "data", "durations", "runs", "help")):
            if ended.is_set():
                return
            started = time.perf_counter()
            await tab.visit(page, ds="grown")
            answered.append(time.perf_counter() - started)
            await asyncio.sleep(max(0.0, THINK_S - answered[-1]))


@contextlib.contextmanager
def others(port: int, answered: list[float]):
    """Nineteen visitors, until the end."""
    ended = threading.Event()

    async def all_of_them() -> None:
        await asyncio.gather(*(_visit(port, number, ended, answered) for number in range(1, VISITORS)))

    thread = threading.Thread(target=lambda: asyncio.run(all_of_them()))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def clicks(browser, port: int) -> list[float]:
    site, taken = Site(Path("app.py"), Path(), MENU, "/?ds=grown"), []
    with visited(browser, site, port) as (page, _):
        for done in range(ROUNDS + 1):
            for name in MENU:
                names = [text.strip().splitlines()[-1] for text in page.locator(LINKS).all_inner_texts()]
                page.wait_for_timeout(PAUSE_MS)
                page.locator(LINKS).nth(names.index(name)).click()
                seconds = taken_s(page, site)
                taken += [seconds] if done else []
    return taken


def run() -> Measured:
    with tempfile.TemporaryDirectory(prefix="workprof-bench-") as scratch, sync_playwright() as playwright:
        home, file = Path(scratch) / "home", Path(scratch) / "runs.csv"
        add_rows(file, 0, ROWS)
        with Workbench(Settings(home=home, data=Path(scratch))) as bench:
            bench.add_source(Source("grown", "files", str(file)))
            bench.refresh("grown")
        browser, answered = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS), []
        with dashboard(home) as server:
            alone = clicks(browser, server.port)
            beside = os.environ.get("BENCH_BESIDE", "refresh")
            command = [sys.executable, "-c", BESIDE[beside], str(home), str(file)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as refreshing:
                with others(server.port, answered):
                    crowded = clicks(browser, server.port)
                refreshing.terminate()
                took = [float(line) for line in refreshing.stdout or ()]
        browser.close()
    p95, reference = quantile(crowded, 0.95), quantile(alone, 0.95)
    note = (
        f"{len(crowded)} page changes: median {quantile(crowded, 0.5):.2f} s, p95 {p95:.2f} s, most "
        f"{max(crowded):.2f} s; "
        f"{len(answered)} answers to the other {VISITORS - 1}: median {quantile(answered, 0.5):.2f} s, p95 "
        f"{quantile(answered, 0.95):.2f} s; {len(took)} times a {beside} of {ROWS:,} rows and more, median "
        f"{np.median(took or [0]):.1f} s; "
        f"alone: median {quantile(alone, 0.5):.2f} s"
    )
    return Measured(reference / p95, p95, reference, None, None, f"the same clicks alone; {BAR_S:g} s is the bar", note)
