"""What pages show of many runs, each answer in a process that has nothing computed, against pandas over the file.

A trace of `synth pai` is ingested first, uncounted. The reference reads the columns of what tasks request and use from
the Parquet file, and adds up and ranks by task with pandas; the ratio is of its time to that of `memory assess`, which
tells of the same runs. `BENCH_ROWS=10000000 BENCH=large make bench` is the run of docs/scale.md.
"""

import math
import os
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Measured, Side, run_side

N_RUNS = 300_000
ANSWERS = ("columns", "over_time", "plan", "assess", "durations", "ledger", "ledger_runs")
BARS_S, BARS_MB = 60, 2_000

MADE = """
import time
from pathlib import Path
from workprof.core.settings import from_environment
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.synthetic.pai import write_pai_sample
started = time.perf_counter()
write_pai_sample(Path({path!r}), {rows})
with TraceStore(from_environment()) as store:
    report = store.ingest([Path({path!r})], IngestOptions())
seconds, told = time.perf_counter() - started, {{"rows": report.rows}}
"""

OURS = """
import time
from workprof.core.settings import from_environment
from workprof.forecasts.durations import DurationSettings
from workprof.memory.ledger_settings import LedgerRunsSettings
from workprof.workbench import Workbench
started, used = time.perf_counter(), time.process_time()
with Workbench(from_environment()) as bench:
    dataset = bench.datasets()[0].hash
    result = {{
        "columns": lambda: (bench.column_profiles(dataset), bench.counts(dataset), bench.time_coverage(dataset)),
        "over_time": lambda: bench.over_time(dataset),
        "plan": lambda: bench.verdict(dataset),
        "assess": lambda: bench.assessment(dataset),
        "durations": lambda: bench.observed_durations(dataset, DurationSettings(by="task_name")),
        "ledger": lambda: bench.ledger(dataset),
        "ledger_runs": lambda: bench.ledger_runs(dataset, LedgerRunsSettings(rule="memory")),
    }}[{answer!r}]()
seconds, told = time.perf_counter() - started, {{"cpu_s": time.process_time() - used}}
if {answer!r} == "assess":
    told["gb_h"], told["tasks"] = result.requested_gb_h, len(result.tasks)
"""

REFERENCE = """
import time
import pandas as pd
import numpy as np
started, used = time.perf_counter(), time.process_time()
names = ["task_name", "status", "start_time", "end_time", "plan_mem", "max_mem", "plan_cpu", "cpu_usage"]
jobs = pd.read_parquet({path!r}, columns=names)
jobs = jobs[jobs["status"] == "Terminated"]
jobs = jobs.assign(hours=(jobs["end_time"] - jobs["start_time"]) / 3600)
jobs = jobs[jobs["hours"] >= 0]
idle = np.maximum(jobs["plan_mem"] - jobs["max_mem"], 0.0).fillna(0.0)
jobs = jobs.assign(requested=jobs["plan_mem"] * jobs["hours"], wasted=idle * jobs["hours"])
by_task = jobs.groupby("task_name", observed=True)
sums = by_task[["requested", "wasted", "hours", "plan_cpu", "cpu_usage"]].sum()
sizes = by_task["max_mem"].quantile([0.25, 0.5, 0.75, 0.95, 1.0])
usual = jobs.groupby(["task_name", "plan_mem", "plan_cpu"], observed=True).size()
seconds = time.perf_counter() - started
told = {{"cpu_s": time.process_time() - used, "gb_h": sums["requested"].sum() * 2**30 / 1e9, "tasks": len(sums)}}
"""


def answered(answer: str, home: str) -> Side:
    return run_side(OURS.format(answer=answer), WORKPROF_HOME=home)


def words(answer: str, side: Side) -> str:
    return f"{answer} {float(str(side.told['cpu_s'])):.1f} s CPU, {side.mb:,.0f} MB"


def run() -> Measured:
    """Return the times and peaks; the note has every answer, and which miss 60 s on the clock or 2 GB."""
    rows = int(os.environ.get("BENCH_ROWS", N_RUNS))
    with tempfile.TemporaryDirectory() as folder:
        path, home = str(Path(folder) / "runs.parquet"), str(Path(folder) / "home")
        run_side(MADE.format(path=path, rows=rows), WORKPROF_HOME=home)
        ours = {answer: answered(answer, home) for answer in ANSWERS}
        theirs = run_side(REFERENCE.format(path=path))
    told, expected = ours["assess"].told, theirs.told
    if told["tasks"] != expected["tasks"] or not math.isclose(told["gb_h"], expected["gb_h"], rel_tol=1e-6):
        raise AssertionError(f"the sides disagree: {told}, {expected}")
    missed = [answer for answer, side in ours.items() if side.seconds > BARS_S or side.mb > BARS_MB]
    note = "; ".join(words(answer, side) for answer, side in ours.items())
    return Measured(
        ratio=theirs.seconds / ours["assess"].seconds,
        ours_s=ours["assess"].seconds,
        reference_s=theirs.seconds,
        ours_mb=max(side.mb for side in ours.values()),
        reference_mb=theirs.mb,
        reference="pandas adding up by task what the columns of the file hold",
        note=f"{rows:,} runs; {note}; missed: {', '.join(missed) or 'none'}",
    )
