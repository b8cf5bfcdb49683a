"""The verdict of 60,000 runs, both ways to apply it, against the plain rule's loop over runs and their peers.

Of 40 keys and of 200: the loop is slower the more peers a run has. The ratio is the smaller one; both are told.
`BENCH_ROWS` sets the runs of our side, of 200 keys, for its own time and memory at scale, without a reference.
"""

import os

from tests.benchmarks.measure import Measured, Side, run_side

N_RUNS, KEYS = 60_000, (200, 40)

DATA = """
import time
import numpy as np
import pandas as pd
def trace(n, n_keys, seed=0):
    rng = np.random.default_rng(seed)
    key = rng.integers(0, n_keys, n)
    share = rng.uniform(0.05, 0.9, n_keys)[key]
    start = np.sort(rng.uniform(0, 60 * n, n))
    seconds = rng.lognormal(6, 1, n)
    return pd.DataFrame({{
        "user": pd.Categorical.from_codes(key % 40, [f"u{{one}}" for one in range(40)]),
        "task_name": pd.Categorical.from_codes(key, [f"t{{one}}" for one in range(n_keys)]),
        "requested_memory_bytes": 32e9,
        "peak_memory_bytes": 32e9 * share * rng.lognormal(0, 0.15, n),
        "submit_time_s": start, "start_time_s": start, "end_time_s": start + seconds, "duration_s": seconds,
    }})
"""

OURS = (
    DATA
    + """
from workprof.memory.verdict import VerdictSettings, verdict_of
verdict_of({{"jobs": trace(2000, 20)}}, VerdictSettings())
jobs = {{"jobs": trace({rows}, {keys})}}
took = []
for _ in range({times}):
    started = time.perf_counter()
    judged = verdict_of(jobs, VerdictSettings(latest_runs=100_000_000)).memory.judged
    took.append(time.perf_counter() - started)
seconds = sorted(took)[len(took) // 2]
told = {{"saved": judged.saved_share, "kills": judged.kills}}
"""
)

REFERENCE = (
    DATA
    + """
from tests.memory.naive_plain_rule import judge
jobs = trace({rows}, {keys})
started = time.perf_counter()
judged = [judge(jobs, 5, 1.25, table=table) for table in (True, False)]
seconds = time.perf_counter() - started
told = {{"saved": judged[0].saved_share, "kills": judged[0].kills}}
"""
)


def sides(n_keys: int) -> tuple[Side, Side]:
    """Run both on the same trace: ours five times, of which the median counts, the loop once."""
    ours = run_side(OURS.format(rows=N_RUNS, keys=n_keys, times=5))
    return ours, run_side(REFERENCE.format(rows=N_RUNS, keys=n_keys))


def saved(side: Side) -> float:
    return float(str(side.told["saved"]))


def run() -> Measured:
    rows = int(os.environ.get("BENCH_ROWS", N_RUNS))
    if rows != N_RUNS:
        ours = run_side(OURS.format(rows=rows, keys=KEYS[0], times=1))
        return Measured(
            ratio=None,
            ours_s=ours.seconds,
            reference_s=None,
            ours_mb=ours.mb,
            reference_mb=None,
            reference="none: too many runs for the loop",
            note=f"{rows:,} runs of {KEYS[0]} keys, saved {saved(ours):.3f}",
        )
    found = {n_keys: sides(n_keys) for n_keys in KEYS}
    ratios = {n_keys: theirs.seconds / ours.seconds for n_keys, (ours, theirs) in found.items()}
    hardest = min(ratios, key=lambda n_keys: ratios[n_keys])
    ours, theirs = found[hardest]
    told = [
        f"{n_keys} keys: {ratios[n_keys]:.0f} times, saved {saved(ours):.3f} against {saved(theirs):.3f}"
        for n_keys, (ours, theirs) in found.items()
    ]
    return Measured(
        ratio=ratios[hardest],
        ours_s=ours.seconds,
        reference_s=theirs.seconds,
        ours_mb=ours.mb,
        reference_mb=theirs.mb,
        reference="the plain rule's loop over runs and their peers (tests/memory/naive_plain_rule.py)",
        note="; ".join(told),
    )
