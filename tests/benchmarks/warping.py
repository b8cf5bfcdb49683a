"""Two runs of 600 samples and 20 counters laid over each other, against `tslearn.metrics.dtw_path_from_metric`.

Both take the Manhattan distance between samples; the two must agree on path and cost.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_COUNTERS, N_SAMPLES, ROUNDS = 20, 600, 3

DATA = f"""
import time
import numpy as np
draw = np.random.default_rng(0)
first, second = np.cumsum(draw.normal(size=(2, {N_COUNTERS}, {N_SAMPLES})), axis=2)
times = []
"""

OURS = (
    DATA
    + f"""
from workprof.phases.timeline import alignment_of
alignment_of(first[:, :5], second[:, :5])  # compiles, or loads what was compiled
for _ in range({ROUNDS}):
    started = time.perf_counter()
    found = alignment_of(first, second)
    times.append(time.perf_counter() - started)
seconds = min(times)
told = {{"cost": found.cost, "path": found.path.tolist()}}
"""
)

REFERENCE = (
    DATA
    + f"""
import warnings
warnings.simplefilter("ignore")
from tslearn.metrics import dtw_path_from_metric
dtw_path_from_metric(first[:, :5].T, second[:, :5].T, metric="cityblock")
for _ in range({ROUNDS}):
    started = time.perf_counter()
    path, cost = dtw_path_from_metric(first.T, second.T, metric="cityblock")
    times.append(time.perf_counter() - started)
seconds = min(times)
told = {{"cost": float(cost), "path": [list(map(int, step)) for step in path]}}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    if abs(float(str(ours.told["cost"])) / float(str(theirs.told["cost"])) - 1) > 1e-9:
        raise AssertionError(f"the costs differ: {ours.told['cost']} and {theirs.told['cost']}")
    if ours.told["path"] != theirs.told["path"]:
        raise AssertionError("the paths differ")
    return beside(
        ours,
        theirs,
        "tslearn.metrics.dtw_path_from_metric",
        note=f"two runs of {N_SAMPLES} samples and {N_COUNTERS} counters",
    )
