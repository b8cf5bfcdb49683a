"""A schedule of 600 runs on 12 nodes, served in order and with backfilling, against a loop over moments and nodes.

Told beside it: the whole answer of 100,000 runs on 100 nodes, with the fewest nodes as requested and with the plan.
`BENCH_ROWS` sets those runs.
"""

import os

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_NODES = 600, 12

DATA = f"""
import time
import numpy as np
def runs(n, n_nodes):
    rng = np.random.default_rng(0)
    lasts = np.round(rng.lognormal(7, 1.2, n))
    need = np.stack([rng.integers(1, 33, n) * 4_000_000_000, rng.integers(1, 17, n) * 1000], axis=1)
    has = np.array([256_000_000_000, 64_000])
    span = (need * lasts[:, None]).sum(axis=0) / has / n_nodes
    return np.sort(np.round(rng.uniform(0, span.max() / 0.95, n))), lasts, need, has
submit, lasts, need, has = runs({N_RUNS}, {N_NODES})
"""

OURS = (
    DATA
    + f"""
from workprof.memory.schedule_kernels import replay
def starts(n, backfill):
    start = np.full((2, n), np.nan)
    twice = np.concatenate([need[:n], need[:n]])
    nobody, ones = np.zeros(n, dtype=bool), np.ones(n, dtype=np.int64)
    rules, nodes = np.array([0, backfill, 1]), np.repeat(has[None], {N_NODES}, axis=0)
    replay(submit[:n], lasts[:n], lasts[:n] * 1.5, twice, nobody, ones, nodes, rules, start)
    return start[0]
starts(10, 1)
took = []
for _ in range(25):
    started = time.perf_counter()
    found = [starts({N_RUNS}, backfill) for backfill in (0, 1)]
    took.append(time.perf_counter() - started)
seconds = sorted(took)[12]
told = {{"waited": [float((one - submit).sum()) for one in found]}}
"""
)

REFERENCE = (
    DATA
    + f"""
from tests.memory.naive_schedule import simulate
asked = [
    (at, took, took * 1.5, tuple(amounts), None, 1)
    for at, took, amounts in zip(submit.tolist(), lasts.tolist(), need.tolist(), strict=True)
]
started = time.perf_counter()
found = [simulate(asked, {N_NODES}, has.tolist(), "first", backfill) for backfill in (False, True)]
seconds = time.perf_counter() - started
told = {{"waited": [sum(start - run[0] for (start, _), run in zip(one, asked, strict=True)) for one in found]}}
"""
)

WHOLE = (
    DATA
    + """
import pandas as pd
from workprof.memory.schedule import ScheduleSettings, schedule_of
submit, lasts, need, _ = runs({n}, 100)
rng = np.random.default_rng(1)
task = rng.integers(0, 200, {n})
jobs = pd.DataFrame({{
    "user": "u", "task_name": pd.Categorical.from_codes(task, [f"t{{one}}" for one in range(200)]),
    "submit_time_s": submit, "start_time_s": submit, "end_time_s": submit + lasts, "duration_s": lasts,
    "requested_memory_bytes": need[:, 0].astype(float), "requested_cpu_percent": need[:, 1] / 10,
    "peak_memory_bytes": need[:, 0] * rng.uniform(0.2, 0.6, {n}),
}})
asked = ScheduleSettings(nodes=100, memory_bytes=256e9, cpus=64.0)
schedule_of({{"jobs": jobs.iloc[:500]}}, asked)
started = time.perf_counter()
found = schedule_of({{"jobs": jobs}}, asked)
seconds = time.perf_counter() - started
told = {{"nodes": found.needed.nodes, "saved": found.saved}}
"""
)


def run() -> Measured:
    n = int(os.environ.get("BENCH_ROWS", "100000"))
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    if ours.told != theirs.told:
        raise AssertionError(f"the two schedules differ: {ours.told} and {theirs.told}")
    whole = run_side(WHOLE.format(n=n).replace("{{", "{").replace("}}", "}"))
    nodes, saved = whole.told["nodes"], whole.told["saved"]
    return beside(
        ours,
        theirs,
        "a loop over moments, runs and nodes (tests/memory/naive_schedule.py)",
        note=f"{n:,} runs on 100 nodes: {whole.seconds:.1f} s; {nodes} nodes, {saved} saved",
    )
