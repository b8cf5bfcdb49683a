"""40 runs of 60 samples and 4 counters grouped around 3 medoids under time warping, against tslearn and all triples.

tslearn warps the same pairs in the same Manhattan distance, one by one; the medoids are then the best of all triples.
"""

from tests.benchmarks.measure import Measured, beside, run_side

N_RUNS, N_SAMPLES, N_COUNTERS, K = 40, 60, 4, 3

DATA = f"""
import time
import numpy as np
draw = np.random.default_rng(0)
series = [np.cumsum(draw.normal(size=({N_SAMPLES} - run % 7, {N_COUNTERS})), axis=0) for run in range({N_RUNS})]
"""

OURS = (
    DATA
    + f"""
from workprof.phases.shapes import distances, medoids_of
medoids_of(distances(series[:5]), 2)  # compiles, or loads what was compiled
took = []
for _ in range(9):
    started = time.perf_counter()
    costs = distances(series)
    medoids, _ = medoids_of(costs, {K})
    took.append(time.perf_counter() - started)
seconds = sorted(took)[4]
told = {{"cost": float(costs[:, medoids].min(axis=1).sum()), "medoids": sorted(medoids.tolist())}}
"""
)

REFERENCE = (
    DATA
    + f"""
import itertools, warnings
warnings.simplefilter("ignore")
from tslearn.metrics import dtw_path_from_metric
dtw_path_from_metric(series[0], series[1], metric="cityblock")
started = time.perf_counter()
costs = np.zeros(({N_RUNS}, {N_RUNS}))
for i, j in itertools.combinations(range({N_RUNS}), 2):
    cost = dtw_path_from_metric(series[i], series[j], metric="cityblock")[1] / max(len(series[i]), len(series[j]))
    costs[i, j] = costs[j, i] = cost
best = min(itertools.combinations(range({N_RUNS}), {K}), key=lambda one: costs[:, one].min(axis=1).sum())
seconds = time.perf_counter() - started
told = {{"cost": float(costs[:, best].min(axis=1).sum()), "medoids": sorted(best)}}
"""
)


def run() -> Measured:
    ours, theirs = run_side(OURS), run_side(REFERENCE)
    if ours.told["medoids"] != theirs.told["medoids"]:
        raise AssertionError(f"the medoids differ: {ours.told} and {theirs.told}")
    if abs(float(str(ours.told["cost"])) / float(str(theirs.told["cost"])) - 1) > 1e-9:
        raise AssertionError(f"the costs differ: {ours.told} and {theirs.told}")
    return beside(ours, theirs, "tslearn's dtw_path_from_metric pair by pair, and every triple of medoids")
