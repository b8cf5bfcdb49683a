"""The local minimum-waste policy on 6,000 runs of 60 tasks against a plain loop over runs and candidates.

Told beside it: our own policy, which has 48 such choices to make for every run, on the same runs.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_TASKS = 6000, 60

DATA = f"""
import time
import numpy as np
from workprof.memory.policies import Sequence
rng = np.random.default_rng(0)
sequences = []
for task in range({N_TASKS}):
    n = {N_RUNS} // {N_TASKS}
    inputs = rng.lognormal(3, 1, n)
    used = 1e9 * (0.5 + inputs / 10) * rng.lognormal(0, 0.1, n)
    sequences.append(Sequence(str(task), used, rng.lognormal(0, 1, n), np.full(n, 64e9), inputs, 30, 1e9))
"""

OURS = (
    DATA
    + """
from workprof.memory.policies import policy_named
from workprof.memory.retry import RetrySettings
def sized(name):
    policy = policy_named(name)
    policy.sizes(sequences[0], RetrySettings())
    started = time.perf_counter()
    total = sum(float(policy.sizes(one, RetrySettings()).first_bytes.sum()) for one in sequences)
    return time.perf_counter() - started, total
seconds, total = sized("local_min_waste")
told = {"total": total, "workprof_s": sized("workprof")[0]}
"""
)

REFERENCE = (
    DATA
    + """
from tests.memory.naive_replay import local_weights, min_waste_size
started = time.perf_counter()
total = 0.0
for one in sequences:
    for t in range(one.n_known, len(one)):
        weights = local_weights(one.inputs[:t], one.inputs[t])
        total += min_waste_size(one.used_bytes[:t], one.hours[:t], weights)
seconds = time.perf_counter() - started
told = {"total": float(total)}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    totals = float(str(ours.told["total"])), float(str(theirs.told["total"]))
    if abs(totals[0] / totals[1] - 1) > 1e-9:
        raise AssertionError(f"the two replays differ: {totals[0]} and {totals[1]} bytes")
    return beside(
        ours,
        theirs,
        "a loop over runs and candidates (NumPy)",
        note=f"workprof, 48 ways of sizing: {float(str(ours.told['workprof_s'])):.2f} s on the same runs",
    )
