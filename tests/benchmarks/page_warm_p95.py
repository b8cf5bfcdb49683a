"""The Memory page on 100,000 runs of 40 tasks: 95th percentile of an interaction once the page has been opened.

Streamlit's own test driver runs the page in this process: server time without the network and the browser's drawing.
Every interaction asks for something new (another number of bins, other edges, another price), so nothing is from the
cache.
"""

from tests.benchmarks.measure import Measured, run_side

N_RUNS, N_TASKS = 100_000, 40

CODE = f"""
import os, tempfile, time
from pathlib import Path
import numpy as np
import pandas as pd
folder = Path(tempfile.mkdtemp(prefix="workprof-bench-"))
os.environ["WORKPROF_HOME"] = str(folder / "home")
draw = np.random.default_rng(0)
task = draw.integers(0, {N_TASKS}, {N_RUNS})
jobs = pd.DataFrame({{"task_name": [f"task{{number}}" for number in task]}})
jobs["duration_s"] = draw.lognormal(5, 1, {N_RUNS})
jobs["peak_memory_bytes"] = 1e9 * draw.lognormal(0, 0.6, {N_RUNS}) * (1 + task % 7)
jobs["requested_memory_bytes"] = 4e9 * (1 + task % 7)
jobs["submit_time_s"] = np.arange({N_RUNS}) * 3.0
jobs.to_parquet(folder / "runs.parquet")
from streamlit.testing.v1 import AppTest
from workprof.settings import from_environment
from workprof.workbench import Workbench
with Workbench(from_environment()) as workbench:
    workbench.ingest([folder / "runs.parquet"])
test = AppTest.from_file("app.py", default_timeout=120).run()
test.switch_page("pages/memory.py").run()
taken = []
def timed(act):
    started = time.perf_counter()
    act().run()
    taken.append(time.perf_counter() - started)
    assert not test.exception and not test.error
def tab(name):
    test.session_state["memory_tab"] = name
    test.run()
tab("Bins")
for k in (1, 2, 4, 5, 6, 7, 8):
    timed(lambda: test.slider(key="memory_k").set_value(k))
for edges in ("1, 2, 3", "0.5, 2, 9", "1, 4, 9, 12", "2, 40", "1.5, 8"):
    timed(lambda: test.text_input(key="memory_edges").set_value(edges))
test.text_input(key="memory_edges").set_value("").run()
for headroom in (0.0, 10.0, 20.0, 15.0):
    timed(lambda: test.number_input(key="memory_headroom").set_value(headroom))
tab("Roll-up")
for margin in (5.0, 20.0, 30.0):
    timed(lambda: test.number_input(key="memory_margin").set_value(margin))
for price in (0.01, 0.02, 0.03):
    timed(lambda: test.number_input(key="memory_price").set_value(price))
tab("Tasks")
for light in (2.0, 3.0, 4.0):
    timed(lambda: test.number_input(key="memory_light").set_value(light))
seconds = float(np.quantile(taken, 0.95))
told = {{"median": float(np.median(taken)), "slowest": max(taken), "count": len(taken)}}
"""


def run() -> Measured:
    ours = run_side(CODE)
    told = ours.told
    return Measured(
        ratio=None,
        ours_s=ours.seconds,
        reference_s=None,
        ours_mb=ours.mb,
        reference_mb=None,
        reference="none: 0.3 s is the bar",
        note=f"{told['count']} interactions, median {told['median']:.3f} s, slowest {told['slowest']:.3f} s",
    )
