"""The best 4 bins of 200,000 usages against divide and conquer over the same recurrence, vectorised per row."""

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_BINS = 200_000, 4

DATA = f"""
import time
import numpy as np
rng = np.random.default_rng(0)
used, hours = np.exp(rng.normal(22, 1.5, {N_RUNS})), rng.exponential(1.0, {N_RUNS})
"""

OURS = (
    DATA
    + f"""
from workprof.memory.bin_search import best_edges, needs_of
times = []
for _ in range(3):
    started = time.perf_counter()
    found = best_edges(needs_of(used, hours), {N_BINS})[-1]
    times.append(time.perf_counter() - started)
seconds = min(times)
told = {{"cost": found.cost, "first_s": times[0]}}
"""
)

REFERENCE = (
    DATA
    + f"""
def least_costs(sizes, totals, before):
    best = sizes * totals
    todo = [(1, len(sizes) - 1, 0, len(sizes) - 2)]
    while todo:
        low, high, first, last = todo.pop()
        if low > high:
            continue
        i = (low + high) // 2
        end = min(last, i - 1)
        costs = before[first:end + 1] + sizes[i] * (totals[i] - totals[first:end + 1])
        j = first + int(costs.argmin())
        best[i] = costs[j - first]
        todo += [(low, i - 1, first, j), (i + 1, high, j, last)]
    return best

started = time.perf_counter()
order = np.argsort(used)
sizes, totals = used[order], np.cumsum(hours[order])
layer = sizes * totals
for _ in range({N_BINS} - 2):
    layer = least_costs(sizes, totals, layer)
cost = float((layer[:-1] + sizes[-1] * (totals[-1] - totals[:-1])).min())
seconds = time.perf_counter() - started
told = {{"cost": cost}}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    costs = float(str(ours.told["cost"])), float(str(theirs.told["cost"]))
    if abs(costs[0] - costs[1]) > 1e-9 * costs[1]:
        raise AssertionError(f"the two costs differ: {costs}")
    return beside(
        ours,
        theirs,
        "divide and conquer, rows vectorised",
        note=f"{N_BINS} bins of {N_RUNS:,} usages; the first call took {float(str(ours.told['first_s'])):.2f} s",
    )
