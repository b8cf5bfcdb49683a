"""Memory in use by day of 200,000 runs, against pandas: each run's share of each day that it touches, summed by day.

Told beside it: the whole answer (trend, seasons, levels, anomalies, forecast) for all runs and the largest tasks.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_DAYS = 200_000, 200

DATA = f"""
import time
import numpy as np
import pandas as pd
draw = np.random.default_rng(0)
start = np.sort(draw.uniform(0, {N_DAYS} * 86400, {N_RUNS}))
jobs = pd.DataFrame({{
    "task_name": pd.Categorical.from_codes(draw.integers(0, 50, {N_RUNS}), [f"t{{one}}" for one in range(50)]),
    "start_time_s": start, "duration_s": draw.lognormal(9, 1.5, {N_RUNS}),
    "peak_memory_bytes": draw.integers(1, 64, {N_RUNS}) * 1e9,
}})
edges = np.arange(0, ({N_DAYS} + 1) * 86400.0, 86400.0)
"""

OURS = (
    DATA
    + """
from workprof.memory.demand import USED, DemandSettings, _followed, demand_of
from workprof.memory.ledger_runs import ledger_runs
from workprof.memory.ledger_settings import LedgerSettings
followed = _followed(jobs, ledger_runs(jobs, LedgerSettings(by="task")), USED)
took = []
for _ in range(9):
    started = time.perf_counter()
    found = followed.series(edges)
    took.append(time.perf_counter() - started)
seconds = sorted(took)[4]
began = time.perf_counter()
demand_of({"jobs": jobs}, DemandSettings(of=USED))
told = {"gb": found.tolist(), "whole": time.perf_counter() - began}
"""
)

REFERENCE = (
    DATA
    + """
took = []
for _ in range(3):
    started = time.perf_counter()
    end = start + jobs["duration_s"].to_numpy()
    first, last = (start // 86400).astype(int), (end // 86400).astype(int)
    touched = np.repeat(np.arange(len(jobs)), last - first + 1)
    day = np.arange(len(touched)) - np.repeat(np.cumsum(last - first + 1) - (last - first + 1), last - first + 1)
    table = pd.DataFrame({"day": day + first[touched]})
    inside = np.minimum(end[touched], (table["day"] + 1) * 86400) - np.maximum(start[touched], table["day"] * 86400)
    table["gb"] = inside * jobs["peak_memory_bytes"].to_numpy()[touched] / 1e9 / 86400
    found = table.groupby("day")["gb"].sum().reindex(range(len(edges) - 1), fill_value=0.0)
    took.append(time.perf_counter() - started)
seconds = sorted(took)[1]
told = {"gb": found.tolist()}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    pairs = zip(ours.told["gb"], theirs.told["gb"], strict=True)  # type: ignore[call-overload]
    if any(abs(one / other - 1) > 1e-6 for one, other in pairs):
        raise AssertionError("the series differ")
    note = f"the whole answer for {N_RUNS:,} runs: {float(str(ours.told['whole'])):.1f} s"
    return beside(ours, theirs, "pandas: a line for each run and day, summed by day", note=note)
